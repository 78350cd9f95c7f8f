/* comm: prefix and suffix reductions over ranks.  Takes log2(ranks) rounds of messages
 * and no table of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SCAN_H
#define TUTTI_SCAN_H

#include "comm/team.h"

/* An associative operation on values of a fixed size, with the identity element `none`. */
typedef struct tutti__scan_operation {
    size_t bytes;     /* bytes of a value, at most TUTTI__SCAN_BYTES */
    const void *none; /* identity element */
    /* replaces *left by the combination of *left and *right */
    void (*append)(void *left, const void *right);
} tutti__scan_operation;
enum { TUTTI__SCAN_BYTES = 128 };

/* Reduce the values `own` of all lower ranks to *before_out and of all higher ranks to *behind_out.
 * Collective; `s` must be the same on all ranks. */
tutti_err tutti__team_scan(tutti__team *t, const tutti__scan_operation *s, const void *own,
                           void *before_out, void *behind_out) TUTTI_MUST_USE;

#endif
