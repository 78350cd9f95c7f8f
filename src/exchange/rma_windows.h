/* exchange: MPI windows of sub-buffers, for puts and gets of other ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RMA_WINDOWS_H
#define TUTTI_RMA_WINDOWS_H

#include "comm/team.h"

/* Maximum number of windows of a team, one for each sub-buffer of a plan. */
#define TUTTI__RMA_WINDOWS 16
typedef struct tutti__rma_windows {
    int n;
    /* bytes of this rank in each window; 0: not an aggregator */
    tutti_off bytes[TUTTI__RMA_WINDOWS];
    MPI_Win win[TUTTI__RMA_WINDOWS];
    MPI_Comm barrier[TUTTI__RMA_WINDOWS]; /* communicators for barriers, or MPI_COMM_NULL */
    char *base[TUTTI__RMA_WINDOWS];       /* page-aligned memory of this rank; NULL: none */
    /* [ranks] offset of the page-aligned memory of each rank in each window; NULL: all are 0 */
    int *shift[TUTTI__RMA_WINDOWS];
} tutti__rma_windows;

/* Return the offset of the page-aligned memory of rank r in window i. */
static inline MPI_Aint tutti__rma_windows_shift(const tutti__rma_windows *w, int i, int r) {
    return w->shift[i] ? w->shift[i][r] : 0;
}

/* Ensure that the team has at least `n` windows with at least `bytes` bytes of this rank each,
 * aligned to pages (0: this rank is not an aggregator), and a communicator for each.  Existing
 * windows are kept if they are large enough and have at most `capacity` bytes of this rank in
 * total.  Otherwise they are replaced by windows of exactly this size, without their contents.  If
 * plans use the old windows (the staging's `pins`), no window becomes smaller, and the old windows
 * are kept if the allocation fails.  The windows are freed with the team.  Collective; returns the
 * same code on all ranks. */
tutti_err tutti__rma_windows_ensure(tutti__team *t, int n, tutti_off bytes,
                                    tutti_off capacity) TUTTI_MUST_USE;
/* Free all windows.  Collective. */
void tutti__rma_windows_drop(tutti__rma_windows *w);

#endif
