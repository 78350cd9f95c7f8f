/* comm: prefix and suffix reductions over ranks.  One collective communication of log2(ranks)
 * rounds, without a table of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SCAN_H
#define TUTTI_SCAN_H

#include "comm/team.h"

/* A value of a sequence of ranks, and how two adjacent sequences become one: associative, and one value, `none`, is of no
 * ranks. */
typedef struct tutti__scan_operation {
    size_t bytes; /* of a value */
    const void *none;
    void (*append)(void *left, const void *right); /* left becomes that of both */
} tutti__scan_operation;
enum { TUTTI__SCAN_BYTES = 128 }; /* at most */

/* The values of the ranks before and behind this one.   Collective; the scan must be the same on all ranks. */
tutti_err tutti__team_scan(tutti__team *t, const tutti__scan_operation *s, const void *own,
                           void *before_out, void *behind_out) TUTTI_MUST_USE;

#endif
