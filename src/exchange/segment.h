/* exchange: memory segments, shared by the ranks of a node or private to a rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SEGMENT_H
#define TUTTI_SEGMENT_H

#include "comm/team.h"

typedef struct tutti__segment {
    char *base;
    size_t bytes;
    int shared; /* whether the memory is mapped, not allocated */
} tutti__segment;

/* Allocate `bytes` bytes, page aligned: one segment for all ranks of the node (shared = 1), or one
 * for this rank (shared = 0).  Collective on the node if shared, with the same result on all its
 * ranks.  The pages are allocated, so a full /dev/shm is an error here, not a SIGBUS later. */
tutti_err tutti__segment_make(tutti__team *t, int shared, size_t bytes,
                              tutti__segment *out) TUTTI_MUST_USE;
/* Release a segment on this rank.  Not collective. */
void tutti__segment_drop(tutti__segment *s);

#endif
