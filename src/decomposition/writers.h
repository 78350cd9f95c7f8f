/* decomposition: the writers of items that several ranks hold.
 *
 *   rules, balance, tally   choices and their statistics, for items of one process     no MPI
 *   range                   the items of a range of numbers, from the records of all ranks
 *   chain                   a rule applied along all ranges
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WRITERS_H
#define TUTTI_WRITERS_H

#include "decomposition/join.h"
#include "decomposition/rules.h"

/* ---- range.c */

/* Sent for an item by each of its holders. */
typedef struct tutti__mention {
    int64_t number;
    tutti_count load;
    int64_t own;
} tutti__mention;

/* The answer. */
typedef struct tutti__verdict {
    tutti_off position;
    int writer;
    int copied;
} tutti__verdict;

/* The items of the range of this rank. */
typedef struct tutti__range_items {
    const char *what;              /* for messages: "item" */
    const tutti__join *join;       /* mentions of all ranks; */
    tutti_count m;                 /* number of mentions, */
    const tutti__mention *came;    /* [m] in the order of the directory, */
    const tutti__numbered *sorted; /* [m] by number, then by holder */
    tutti_off *given;              /* [m] positions passed by the holders; NULL: none */
    tutti__items items;            /* those with load, in the following arrays */
    int64_t *number;
    tutti_off *bytes;
    tutti_count *start;
    int *holder, *owner;
    int *writer;
    tutti_off total; /* bytes of all; beyond 2^62: too many */
    tutti_count copies, shared;
} tutti__range_items;

/* Items of a range that several ranks hold. */
typedef struct tutti__shared_items {
    tutti_count n;
    int64_t *number;      /* [n] ascending */
    tutti_count *start;   /* [n + 1] in `mention` */
    tutti_count *mention; /* index in the join, by rank */
} tutti__shared_items;

/* Items from a join of tutti__mention, checked.  tutti__range_free after an error too.
 * owners: exactly one holder must own each item.   Not collective. */
tutti_err tutti__range_group(const tutti__join *join, const char *what, tutti_off value_bytes,
                             int owners, tutti__range_items *out) TUTTI_MUST_USE;
void tutti__range_free(tutti__range_items *g);
/* The answer to each mention, once writers are known; items begin at `position`.   verdicts: [m] */
void tutti__range_verdicts(const tutti__range_items *g, tutti_off position,
                           tutti__verdict *verdicts);
/* The items that several ranks hold.   Not collective. */
tutti_err tutti__range_shared(const tutti__range_items *g, tutti__shared_items *out) TUTTI_MUST_USE;

/* ---- chain.c */
/* Choose the writers of all ranges' items.  *position_out: where the items of this range begin.
 * stats_out, shares_out: statistics and shares ([ranks], tutti__free) of all ranks; both NULL: they are not wanted, and no rank has
 * memory for all ranks unless writers are balanced.   Collective; whether they are wanted must be the same on all ranks. */
tutti_err tutti__chain_choose(tutti__team *t, const tutti_replicas_choice *c, tutti__range_items *g,
                              tutti_replicas_stats *stats_out, tutti_replicas_share **shares_out,
                              tutti_off *position_out) TUTTI_MUST_USE;

#endif
