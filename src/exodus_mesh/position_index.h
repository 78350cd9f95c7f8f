/* exodus_mesh: sets of positions: union and lookup.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_POSITION_INDEX_H
#define TUTTI_POSITION_INDEX_H

#include "base/memory.h"
#include "base/sorted.h"

/* Ascending positions, with a table of their indices if the table is at most a few times larger
 * than the positions.  Positions without gaps need no table. */
typedef struct tutti__position_index {
    tutti_count n;
    const tutti_count *position; /* [n] memory of the caller */
    tutti_count first, span;
    int is_range; /* whether the positions are first ... first + n - 1 */
    /* [span] index + 1 of position first + i, 0: none; NULL: there is no table */
    int32_t *index;
} tutti__position_index;

/* A list of positions, in any order. */
typedef struct tutti__position_list {
    tutti_count n;
    const tutti_count *v;
} tutti__position_list;
/* List the distinct values of several lists in ascending order; the caller frees *out with
 * tutti__free. */
tutti_err tutti__positions_unite(int lists, const tutti__position_list *list, tutti_count *n_out,
                                 tutti_count **out) TUTTI_MUST_USE;

tutti_err tutti__position_index_make(tutti_count n, const tutti_count *position,
                                     tutti__position_index *out) TUTTI_MUST_USE;
void tutti__position_index_free(tutti__position_index *x);

/* Return the index of a position; -1: not found. */
static inline tutti_count tutti__position_find(const tutti__position_index *x,
                                               tutti_count position) {
    const tutti_count at = position - x->first;
    if (x->is_range) return at < 0 || at >= x->span ? -1 : at;
    if (!x->index) return tutti__sorted_find(x->position, x->n, position);
    return at < 0 || at >= x->span ? -1 : x->index[at] - 1;
}
/* Replace n positions, all of which are in the index, by their indices. */
void tutti__positions_to_indices(const tutti__position_index *x, tutti_count n, tutti_count *io);
/* Return the number of consecutive positions that start with position[i]; `position` has n
 * ascending positions. */
static inline tutti_count tutti__run_length(const tutti_count *position, tutti_count i,
                                            tutti_count n) {
    tutti_count end = i + 1;
    if (i < n && position[n - 1] - position[i] == n - 1 - i) return n - i;
    while (end < n && position[end] == position[i] + end - i) end++;
    return i < n ? end - i : 0;
}

#endif
