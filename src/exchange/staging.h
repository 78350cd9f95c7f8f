/* exchange: the memory and the windows that a team keeps from one operation to the next, since
 * making them is expensive.  It is stored in the team and freed with it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STAGING_H
#define TUTTI_STAGING_H

#include <stdatomic.h>
#include "exchange/rma_windows.h"
#include "exchange/segment.h"

/* The division of staging memory into slots of windows of this size; all slots are closed.
 * 0 slots: the contents are unknown. */
typedef struct tutti__stage_form {
    int slots;
    tutti_off window;
} tutti__stage_form;

typedef struct tutti__staging {
    tutti__segment segment[2]; /* [0] for the team's `nodes`, [1] for its `singles` */
    tutti__stage_form form[2]; /* how each of those two is divided now */
    tutti__segment spare;      /* of a split operation that has ended, for the next one */
    tutti__segment aux;        /* message buffers of operations that run one after the other */
    tutti__segment kept;       /* of a plan that was freed, see tutti__staging_borrow */
    tutti__segment consensus;  /* memory of the consensus of the team, see comm/consensus.h */
    tutti__rma_windows rma_windows;
    atomic_int pins;      /* number of plans for these windows, or smaller ones */
    tutti_off background; /* bytes per node in use by operations in the background */
} tutti__staging;

/* Ensure that the team has a `staging`.  Not collective. */
tutti_err tutti__staging_attach(tutti__team *t) TUTTI_MUST_USE;

/* The team's file is closed: its memory is kept for the next file, unless the program has had several
 * files open at the same time.  Not collective, on all ranks. */
void tutti__staging_release(tutti__team *t);

/* Ensure that the segment of the team for its nodes (shared = 1) or for single ranks (shared = 0)
 * has at least `bytes` bytes.  Its contents are lost if it had to grow; if it cannot grow, it is
 * unchanged.   Collective on the node, with the same result as tutti__segment_make. */
tutti_err tutti__staging_ensure(tutti__team *t, int shared, size_t bytes) TUTTI_MUST_USE;

/* Memory of this rank for one plan, page aligned, and its release (`t` NULL: the team has been
 * freed).  The largest released one is kept for the next plan, since new pages take longer than
 * copies into them.   Not collective; threads may free plans while others make
 * some. */
tutti_err tutti__staging_borrow(tutti__team *t, size_t bytes, tutti__segment *out) TUTTI_MUST_USE;
void tutti__staging_return(tutti__team *t, tutti__segment *s);

#endif
