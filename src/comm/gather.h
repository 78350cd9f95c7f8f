/* comm: bytes of all ranks on rank 0, with a length known only to the sender: one collective
 * communication, along a
 * binomial tree.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_GATHER_H
#define TUTTI_GATHER_H

#include "comm/team.h"

/* Rank 0 gets the bytes of all ranks in rank order, to be freed by tutti__free.   Collective.
 * @param mine   this rank's error; a rank that failed sends no bytes
 * @return rank 0: the error of the lowest rank that failed, which is its last error.  Other ranks: TUTTI_OK, unless MPI fails; the
 *         caller has to agree on the outcome.  *out is NULL on failure and on other ranks. */
tutti_err tutti__team_gather(tutti__team *t, tutti_err mine, const void *data, int64_t bytes,
                             void **out, int64_t *bytes_out) TUTTI_MUST_USE;
/* For tests: set the maximum message size in bytes; default: 2^30.
 * Not collective; `bytes` must be the same on all ranks. */
void tutti__gather_set_piece(int64_t bytes);

#endif
