/* decomposition: incidence lists (CSR), distributed in shares (shares.h), e.g. the elements of each
 * node, or the ranks that have each element.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_INCIDENCE_H
#define TUTTI_INCIDENCE_H

#include "decomposition/shares.h"

/* The lists of items first ... first + n - 1 of `all` items. */
typedef struct tutti__incidence {
    tutti_count all, first, n;
    tutti_count *start; /* [n + 1] index in `with` */
    tutti_count *with;  /* values of all lists; ascending in each list, without duplicates */
} tutti__incidence;
void tutti__incidence_free(tutti__incidence *i);
/* Make the lists of items first ... first + n - 1 from n pairs of these items in any order.   i:
 * `first` and `n` must be set.   Not collective. */
tutti_err tutti__incidence_fill(tutti__incidence *i, tutti_count n,
                                const tutti__pair *pairs) TUTTI_MUST_USE;
/* Make the lists of this rank's share from the pairs of all ranks.   Collective. */
tutti_err tutti__incidence_make(tutti__team *t, tutti_err local_err, const tutti__pairs *pairs,
                                tutti__incidence *out) TUTTI_MUST_USE;

/* Ascending items, and the list of each. */
typedef struct tutti__entries {
    tutti_count n;
    tutti_count *position; /* [n] item numbers */
    tutti_count *start;    /* [n + 1] index in `to` */
    tutti_count *to;       /* values of all lists */
} tutti__entries;
void tutti__entries_free(tutti__entries *e);
/* Return the values of all lists, ascending, without duplicates; the caller frees *out with
 * tutti__free.   Not collective. */
tutti_err tutti__entries_targets(const tutti__entries *e, tutti_count *n_out,
                                 tutti_count **out) TUTTI_MUST_USE;
/* Fetch the lists of n ascending items of any share.   Collective. */
tutti_err tutti__incidence_fetch(tutti__team *t, tutti_err local_err, const tutti__incidence *i,
                                 tutti_count n, const tutti_count *items,
                                 tutti__entries *out) TUTTI_MUST_USE;

#endif
