/* comm: the smallest of everybody's numbers, found while other things go on.
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
/* Is m->least known?  An error of MPI ends it too, with this rank's own number. */
tutti_err tutti__minimum_test(tutti__minimum *m, int *done_out) TUTTI_MUST_USE;

#endif
