/* comm: non-blocking computation of the minimum over all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MINIMUM_H
#define TUTTI_MINIMUM_H

#include "comm/team.h"

typedef struct tutti__minimum {
    MPI_Request request;
    int active;           /* whether `request` is pending */
    int64_t local, least; /* value of this rank; minimum, once it is known */
} tutti__minimum;

/* Start the reduction of `local`, without waiting.  Collective. */
tutti_err tutti__minimum_begin(tutti__team *t, int64_t local, tutti__minimum *m) TUTTI_MUST_USE;
/* Test whether the reduction is complete and m->least is valid.  After an MPI error it is complete,
 * and m->least is the value of this rank.  Not collective. */
tutti_err tutti__minimum_test(tutti__minimum *m, int *done_out) TUTTI_MUST_USE;

#endif
