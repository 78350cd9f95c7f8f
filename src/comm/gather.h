/* comm: gathering byte sequences, whose lengths are known only to their senders, on rank 0 along a
 * binomial tree.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_GATHER_H
#define TUTTI_GATHER_H

#include "comm/team.h"

/* Gather the bytes of all ranks on rank 0, in rank order, to be freed by tutti__free.  Collective.
 * @param local_err   this rank's error; a rank that failed sends no bytes
 * @return on rank 0 the error of the lowest rank that failed; on other ranks TUTTI_OK unless MPI
 *         fails.  The caller must distribute the result of rank 0.  *out is NULL on failure and on
 *         other ranks. */
tutti_err tutti__team_gather(tutti__team *t, tutti_err local_err, const void *data, int64_t bytes,
                             void **out, int64_t *bytes_out) TUTTI_MUST_USE;
/* For tests: set the maximum message size in bytes; default: 2^30.
 * Not collective; `bytes` must be the same on all ranks. */
void tutti__gather_set_piece(int64_t bytes);

#endif
