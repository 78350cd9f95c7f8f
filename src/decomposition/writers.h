/* decomposition: the writers of items that several ranks hold.
 *
 *   rules, balance, tally   choices and their statistics, for items of one process, without MPI
 *   range                   the items of a range of numbers, from the records of all ranks
 *   chain                   a rule applied along all ranges
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WRITERS_H
#define TUTTI_WRITERS_H

#include "decomposition/join.h"
#include "decomposition/rules.h"

/* ---- range.c */

/* Record that each holder of an item sends to the rank of its range. */
typedef struct tutti__mention {
    int64_t number;
    tutti_count load;
    int64_t own;
} tutti__mention;

/* Answer to a mention. */
typedef struct tutti__verdict {
    tutti_off position;
    int writer;
    int copied;
} tutti__verdict;

/* The items of the range of this rank. */
typedef struct tutti__range_items {
    const char *what;               /* kind of the items for error messages, e.g. "item" */
    const tutti__join *join;        /* mentions of all ranks in this range */
    tutti_count m;                  /* number of mentions */
    const tutti__mention *received; /* [m] mentions, sorted by holder, then by number */
    const tutti__numbered *sorted; /* [m] indices in `received`, sorted by number, then by holder */
    tutti_off *given;              /* [m] file positions passed by the holders; NULL: not passed */
    tutti__items items;            /* items with load > 0; refers to the following arrays */
    int64_t *number;
    tutti_off *bytes;
    tutti_count *start;
    int *holder, *owner;
    int *writer;
    tutti_off total; /* sum of the bytes of all items; above 2^62: overflow */
    tutti_count copies, shared;
} tutti__range_items;

/* Items of a range that several ranks hold. */
typedef struct tutti__shared_items {
    tutti_count n;
    int64_t *number;      /* [n] ascending */
    tutti_count *start;   /* [n + 1] index in `mention` */
    tutti_count *mention; /* indices of the mentions of each item in the join, by rank */
} tutti__shared_items;

/* Check and list the items of a join of tutti__mention.  The caller calls tutti__range_free, also
 * after an error.   owners: exactly one holder must own each item.   Not collective. */
tutti_err tutti__range_group(const tutti__join *join, const char *what, tutti_off value_bytes,
                             int owners, tutti__range_items *out) TUTTI_MUST_USE;
void tutti__range_free(tutti__range_items *g);
/* Set the answer to each mention, after the choice of writers; the first item is at file position
 * `position`.   verdicts: [m] */
void tutti__range_verdicts(const tutti__range_items *g, tutti_off position,
                           tutti__verdict *verdicts);
/* List the items that several ranks hold.   Not collective. */
tutti_err tutti__range_shared(const tutti__range_items *g, tutti__shared_items *out) TUTTI_MUST_USE;

/* ---- chain.c */
/* Choose the writers of the items of all ranges.  *position_out: file position of the first item of
 * this range.  stats_out, shares_out: statistics and shares ([ranks], freed with tutti__free) of
 * all ranks.  If both are NULL on all ranks, no memory per rank is needed unless writers are
 * balanced.   Collective. */
tutti_err tutti__chain_choose(tutti__team *t, const tutti_replicas_choice *c, tutti__range_items *g,
                              tutti_replicas_stats *stats_out, tutti_replicas_share **shares_out,
                              tutti_off *position_out) TUTTI_MUST_USE;

#endif
