/* decomposition: incidence lists (CSR), distributed in shares (shares.h): the elements of each node, the
 * ranks that have each element.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_INCIDENCE_H
#define TUTTI_INCIDENCE_H

#include "decomposition/shares.h"

/* The list of each item first ... first + n - 1. */
typedef struct tutti__incidence {
    tutti_count all, first, n;
    tutti_count *start; /* [n + 1] */
    tutti_count *with;  /* ascending for each item, without duplicates */
} tutti__incidence;
void tutti__incidence_free(tutti__incidence *i);
/* Lists of items first ... first + n - 1 from pairs of these items, in any order.  i: `first` and `n`
 * are set.   Not collective. */
tutti_err tutti__incidence_fill(tutti__incidence *i, tutti_count n,
                                const tutti__pair *pairs) TUTTI_MUST_USE;
/* Lists of this rank's share from the pairs of all ranks.   Collective. */
tutti_err tutti__incidence_make(tutti__team *t, tutti_err local_err, const tutti__pairs *pairs,
                                tutti__incidence *out) TUTTI_MUST_USE;

/* Items, ascending, and the list of each. */
typedef struct tutti__entries {
    tutti_count n;
    tutti_count *position; /* [n] the items */
    tutti_count *start;    /* [n + 1] */
    tutti_count *to;
} tutti__entries;
void tutti__entries_free(tutti__entries *e);
/* The values of all lists, ascending, without duplicates: tutti__free.   Not collective. */
tutti_err tutti__entries_targets(const tutti__entries *e, tutti_count *n_out,
                                 tutti_count **out) TUTTI_MUST_USE;
/* The lists of n items, ascending, of any share.   Collective. */
tutti_err tutti__incidence_fetch(tutti__team *t, tutti_err local_err, const tutti__incidence *i,
                                 tutti_count n, const tutti_count *items,
                                 tutti__entries *out) TUTTI_MUST_USE;

#endif
