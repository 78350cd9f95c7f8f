/* decomposition: ranges of numbers that are scattered over ranks, one range per rank, with about
 * the same number of numbers.  Equal numbers are in one range; ranges ascend with the ranks.
 *
 * No rank has the bounds of all ranges.  Groups consist of about sqrt(ranks) consecutive ranks.
 * All ranks have the bounds of groups, the members of a group have the bounds of its ranks, and a
 * rank queries one member of each group in which it has numbers:
 *
 *     sketches of all numbers, reduced over all ranks                   ->  bounds of groups
 *     samples of the numbers of a group, reduced over its members       ->  bounds of ranks
 *     numbers of this rank in a group, or only the group if many        ->  ranges of these numbers
 *
 * Up to TUTTI__SPLIT_GROUP ranks are one group, and only the first step is needed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPLITTERS_H
#define TUTTI_SPLITTERS_H

#include "comm/vote.h"
#include "decomposition/sketch.h"

enum { TUTTI__SPLIT_GROUP = 32, TUTTI__SPLIT_SUMS = 2 * TUTTI__SKETCH_SETS };

/* Division of ranks into groups of consecutive ranks. */
typedef struct tutti__rank_groups {
    /* number of ranks; ranks per group (the last may have fewer); number of groups */
    int ranks, size, n;
} tutti__rank_groups;
/* Return the groups of `ranks` ranks with `size` ranks each; 0: default size.   Not collective. */
tutti__rank_groups tutti__rank_groups_of(int ranks, int size);
/* For tests: set the minimal default size of groups; must be the same on all ranks.   Not
 * collective. */
void tutti__rank_groups_set_least(int ranks);

/* Start of a range: the range of set `set` that begins with number `first` belongs to `rank`. */
typedef struct tutti__range_start {
    int64_t first;
    int rank, set;
} tutti__range_start;

typedef struct tutti__splitters {
    int sets;
    /* ranges that contain numbers of this rank, by set, then by number */
    tutti__range_start *start;
    /* index in `start` of the first range of each set */
    tutti_count set_start[TUTTI__SKETCH_SETS + 1];
    /* range of this rank for each set */
    int64_t first[TUTTI__SKETCH_SETS], end[TUTTI__SKETCH_SETS];
} tutti__splitters;

/* Sets of numbers to be split, and additional values, which are summed over all ranks. */
typedef struct tutti__split {
    tutti__number_set set[TUTTI__SKETCH_SETS];
    int64_t sum[TUTTI__SPLIT_SUMS];
} tutti__split;

typedef struct tutti__splitting tutti__splitting;
/* Allocate memory for one call of tutti__splitters_make, which all ranks must have before the call.
 * The caller frees it, also after an error.   group_size: 0: default.   Not collective. */
tutti_err tutti__splitting_make(tutti__team *t, int group_size, int sets,
                                tutti__splitting **out) TUTTI_MUST_USE;
void tutti__splitting_free(tutti__splitting **s);

/* Choose the ranges for the numbers of all ranks.  local_err: the error of this rank so far.
 * Collective; all ranks return the same error. */
tutti_err tutti__splitters_make(tutti__splitting *s, tutti_err local_err, tutti__split *io,
                                tutti__splitters *out) TUTTI_MUST_USE;
void tutti__splitters_free(tutti__splitters *s);
/* Return the index in s->start of the range that contains a number of this rank.   Not
 * collective. */
tutti_count tutti__splitters_find(const tutti__splitters *s, int set, int64_t number);

#endif
