/* exchange: memory that the ranks of a group share, or of one rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SEGMENT_H
#define TUTTI_SEGMENT_H

#include "comm/team.h"

typedef struct tutti__segment {
    char *base;
    size_t bytes;
    int shared; /* mapped, not allocated */
} tutti__segment;

/* Memory of `bytes` bytes, page aligned: one for all ranks of the node (shared = 1), or for this
 * rank (shared = 0).  Collective on the node if shared; the same answer on all its ranks.  The
 * memory is really there: a full /dev/shm is an error here, not a SIGBUS later. */
tutti_err tutti__segment_make(tutti__team *t, int shared, size_t bytes,
                              tutti__segment *out) TUTTI_MUST_USE;
/* Not collective. */
void tutti__segment_drop(tutti__segment *s);

#endif
