/* exodus_mesh: sets of positions with constant-time lookup.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_POSITION_INDEX_H
#define TUTTI_POSITION_INDEX_H

#include "base/memory.h"
#include "base/sorted.h"

/* Positions, ascending, with a table of their indices if it takes no more memory than a few times the positions. */
typedef struct tutti__position_index {
    tutti_count n;
    const tutti_count *position; /* [n] of the caller */
    tutti_count first, span;
    /* [span] index + 1 of position first + i, 0: none; NULL: positions are searched */
    int32_t *index;
} tutti__position_index;

/* The different values of some lists, ascending: *out, tutti__free. */
typedef struct tutti__position_list {
    tutti_count n;
    const tutti_count *v;
} tutti__position_list;
tutti_err tutti__positions_unite(int lists, const tutti__position_list *list, tutti_count *n_out,
                                 tutti_count **out) TUTTI_MUST_USE;

tutti_err tutti__position_index_make(tutti_count n, const tutti_count *position,
                                     tutti__position_index *out) TUTTI_MUST_USE;
void tutti__position_index_free(tutti__position_index *x);

/* The index of a position; -1: not found. */
static inline tutti_count tutti__position_find(const tutti__position_index *x,
                                               tutti_count position) {
    if (!x->index) return tutti__sorted_find(x->position, x->n, position);
    const tutti_count at = position - x->first;
    return at < 0 || at >= x->span ? -1 : x->index[at] - 1;
}

#endif
