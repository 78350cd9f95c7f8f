/* comm: the minimum over all ranks, computed while other operations progress.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MINIMUM_H
#define TUTTI_MINIMUM_H

#include "comm/team.h"

typedef struct tutti__minimum {
    MPI_Request request;
    int active;
    int64_t mine, least;
} tutti__minimum;

/* Collective, in the same order on all ranks; does not wait. */
tutti_err tutti__minimum_begin(tutti__team *t, int64_t mine, tutti__minimum *m) TUTTI_MUST_USE;
/* Test whether m->least is known.  An MPI error ends it too, with the number of this rank. */
tutti_err tutti__minimum_test(tutti__minimum *m, int *done_out) TUTTI_MUST_USE;

#endif
