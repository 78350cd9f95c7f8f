/* exchange: sub-buffers that other ranks can put into and get from.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RMA_WINDOWS_H
#define TUTTI_RMA_WINDOWS_H

#include "comm/team.h"

/* Windows that a team keeps: one for each sub-buffer of a plan. */
#define TUTTI__RMA_WINDOWS 16
typedef struct tutti__rma_windows {
    int n;
    tutti_off bytes[TUTTI__RMA_WINDOWS]; /* of this rank */
    MPI_Win win[TUTTI__RMA_WINDOWS];
    MPI_Comm barrier[TUTTI__RMA_WINDOWS]; /* or MPI_COMM_NULL */
    char *base[TUTTI__RMA_WINDOWS];
    /* [ranks] start of the bytes of each rank; NULL: 0 */
    int *shift[TUTTI__RMA_WINDOWS];
} tutti__rma_windows;

/* The start of the bytes of rank r in window i. */
static inline MPI_Aint tutti__rma_windows_shift(const tutti__rma_windows *w, int i, int r) {
    return w->shift[i] ? w->shift[i][r] : 0;
}

/* Ensure that the team has at least `n` windows with at least `bytes` bytes of this rank each,
 * in separate pages (0: it is not an aggregator), and a communicator for each.  If the
 * existing ones suffice, and have at most `room` bytes of this rank together, they are kept.
 * Otherwise they are rebuilt with exactly that size, and their contents are lost; unless plans
 * have been made for the old ones (the staging's `pins`): then no window becomes smaller, and if
 * new ones cannot be allocated the old ones are kept.  They are freed with the team.   Collective;
 * the same result on all ranks. */
tutti_err tutti__rma_windows_ensure(tutti__team *t, int n, tutti_off bytes,
                                    tutti_off room) TUTTI_MUST_USE;
/* Collective. */
void tutti__rma_windows_drop(tutti__rma_windows *w);

#endif
