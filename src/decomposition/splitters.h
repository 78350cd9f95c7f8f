/* decomposition: ranges of numbers that are scattered over ranks, one range per rank, chosen so that each has about as many
 * numbers.  Equal numbers are in one range; ranges ascend with the ranks.
 *
 * No rank has the bounds of all ranges.  Ranks form groups of about sqrt(ranks) consecutive ones.  All ranks know the bounds of
 * groups, the members of a group those of its ranks, and a rank asks one member of each group in which it has numbers:
 *
 *     sketches of all numbers, reduced over all ranks                   ->  bounds of groups
 *     samples of the numbers of each group, to its members, reduced     ->  bounds of ranks
 *     own numbers of a group, or only the group if they are many        ->  ranges of these numbers
 *
 * Up to TUTTI__SPLIT_GROUP ranks are one group: the first step suffices.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPLITTERS_H
#define TUTTI_SPLITTERS_H

#include "comm/vote.h"
#include "decomposition/sketch.h"

enum { TUTTI__SPLIT_GROUP = 32, TUTTI__SPLIT_SUMS = 2 * TUTTI__SKETCH_SETS };

/* Ranks in groups. */
typedef struct tutti__rank_groups {
    int ranks, size, n; /* ranks per group, but for the last one; groups */
} tutti__rank_groups;
/* size: 0: the default.   Not collective. */
tutti__rank_groups tutti__rank_groups_of(int ranks, int size);
/* For tests: the least size by default; the same on all ranks.   Not collective. */
void tutti__rank_groups_set_least(int ranks);

/* The range that begins with `first`. */
typedef struct tutti__range_start {
    int64_t first;
    int rank, set;
} tutti__range_start;

typedef struct tutti__splitters {
    int sets;
    tutti__range_start
        *start; /* by set, then by number: all ranges that own numbers are in, without empty ones */
    tutti_count set_start[TUTTI__SKETCH_SETS + 1];              /* those of a set */
    int64_t first[TUTTI__SKETCH_SETS], end[TUTTI__SKETCH_SETS]; /* the range of this rank */
} tutti__splitters;

/* Numbers to be split, and further values, which are summed over all ranks. */
typedef struct tutti__split {
    tutti__number_set set[TUTTI__SKETCH_SETS];
    int64_t sum[TUTTI__SPLIT_SUMS];
} tutti__split;

/* Memory for one call of tutti__splitters_make, which all ranks must have before: to be freed, after an error too.  group_size:
 * 0: the default.   Not collective. */
typedef struct tutti__splitting tutti__splitting;
tutti_err tutti__splitting_make(tutti__team *t, int group_size, int sets,
                                tutti__splitting **out) TUTTI_MUST_USE;
void tutti__splitting_free(tutti__splitting **s);

/* Choose the ranges for the numbers of all ranks.  local_err: the error of this rank so far.   Collective; all ranks have the same
 * outcome. */
tutti_err tutti__splitters_make(tutti__splitting *s, tutti_err local_err, tutti__split *io,
                                tutti__splitters *out) TUTTI_MUST_USE;
void tutti__splitters_free(tutti__splitters *s);
/* The range that a number of this rank is in: an index of `start`.   Not collective. */
tutti_count tutti__splitters_find(const tutti__splitters *s, int set, int64_t number);

#endif
