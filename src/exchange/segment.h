/* exchange: staging memory that the ranks of a group share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SEGMENT_H
#define TUTTI_SEGMENT_H

#include "comm/team.h"

/* Make sure that the team's segment for its nodes (shared = 1) or for single ranks (shared = 0) has
 * at least `bytes` bytes.  What it held is gone if it had to grow; if it cannot, it destinations as it was.
 * Collective on the node if shared; the same answer on all its ranks.  The memory is really there:
 * a full /dev/shm is an error here, not a SIGBUS later. */
tutti_err tutti__segment_ensure(tutti__team *t, int shared, size_t bytes) TUTTI_MUST_USE;

/* Remove names in /dev/shm that an operation cut short has left.   Local. */
void tutti__segments_unlink(void);

/* A segment of its own for one operation, under the same conditions. */
tutti_err tutti__segment_make(tutti__team *t, int shared, size_t bytes,
                              tutti__segment *out) TUTTI_MUST_USE;

#endif
