/* exchange: memory and MPI windows of a team, which are kept between operations, since their
 * creation is expensive, and freed with the team.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STAGING_H
#define TUTTI_STAGING_H

#include <stdatomic.h>
#include "exchange/rma_windows.h"
#include "exchange/segment.h"

/* The division of staging memory into slots, which are all closed. */
typedef struct tutti__stage_form {
    int slots;        /* slots per rank; 0: the memory is not divided */
    tutti_off window; /* bytes per slot */
} tutti__stage_form;

typedef struct tutti__staging {
    tutti__segment segment[2]; /* [0] for the team's `nodes`, [1] for its `singles` */
    tutti__stage_form form[2]; /* current division of each segment */
    tutti__segment spare;      /* memory of an ended split operation, for reuse by the next */
    tutti__segment aux;        /* message buffers, used by one operation at a time */
    tutti__segment kept;       /* memory of a freed plan, see tutti__staging_borrow */
    tutti__segment consensus;  /* memory of the team's consensus, see comm/consensus.h */
    tutti__rma_windows rma_windows;
    atomic_int pins;      /* number of plans that use rma_windows */
    tutti_off background; /* bytes per node used by split and non-blocking operations in progress */
    /* whether the memory is kept between operations and files; the same on all ranks */
    enum { TUTTI__KEEPS_UNDECIDED, TUTTI__KEEPS, TUTTI__KEEPS_LITTLE } keeps;
} tutti__staging;

/* Ensure that t->staging exists.  Not collective. */
tutti_err tutti__staging_attach(tutti__team *t) TUTTI_MUST_USE;

/* The first few teams of a process keep their memory between operations and, after their file is
 * closed, for the next file.  Other teams keep at most TUTTI__KEPT_BYTES per rank, and only between
 * operations.  tutti__staging_decide decides this when a team opens its first file; `keepers` is
 * the maximum over all ranks of tutti__staging_keepers, the number of teams of this process that
 * keep their memory.  Not collective. */
enum { TUTTI__KEPT_BYTES = 64 << 10 };
int64_t tutti__staging_keepers(void);
void tutti__staging_decide(tutti__team *t, int64_t keepers);
/* Release memory when the team's file is closed.  Does not communicate; all ranks must call it. */
void tutti__staging_release(tutti__team *t);
/* Release the segment for nodes (shared = 1) or for single ranks (0) after an operation that used
 * `bytes` bytes of it per rank, unless the team keeps memory of this size.  All ranks must call it,
 * after the same operations. */
void tutti__staging_trim(tutti__team *t, int shared, tutti_off bytes);

/* Ensure that the segment of the team for its nodes (shared = 1) or for single ranks (shared = 0)
 * has at least `bytes` bytes.  If it grows, its contents are lost; if it cannot grow, it is
 * unchanged.   Collective on the node if shared; returns the code of tutti__segment_make. */
tutti_err tutti__staging_ensure(tutti__team *t, int shared, size_t bytes) TUTTI_MUST_USE;

/* Keep the memory of an ended split operation for the next one; then *s is empty.  No effect on *s
 * if the team does not keep memory.  All ranks must call it. */
void tutti__staging_spare(tutti__team *t, tutti__segment *s);

/* Borrow page-aligned memory of this rank for one plan, and return it (`t` is NULL if the team has
 * been freed).  The largest returned segment is kept for the next plan, since allocating pages
 * takes longer than copying into them.  Not collective; thread-safe. */
tutti_err tutti__staging_borrow(tutti__team *t, size_t bytes, tutti__segment *out) TUTTI_MUST_USE;
void tutti__staging_return(tutti__team *t, tutti__segment *s);

#endif
