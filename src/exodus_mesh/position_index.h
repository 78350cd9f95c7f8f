/* exodus_mesh: sets of positions with constant-time lookup.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_POSITION_INDEX_H
#define TUTTI_POSITION_INDEX_H

#include "base/memory.h"
#include "base/sorted.h"

/* Positions, ascending.  `bits` has a bit for each position from `first` on, if that takes no more memory than the positions. */
typedef struct tutti__position_index {
    tutti_count n;
    const tutti_count *position; /* [n] of the caller */
    tutti_count first, words;
    uint64_t *bits;      /* [words]; NULL: positions are searched */
    tutti_count *before; /* [words] positions in the words before */
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

/* The index of a position; -1: it is not there. */
static inline tutti_count tutti__position_find(const tutti__position_index *x,
                                               tutti_count position) {
    if (!x->bits) return tutti__sorted_find(x->position, x->n, position);
    const tutti_count bit = position - x->first, word = bit >> 6;
    if (bit < 0 || word >= x->words || !(x->bits[word] >> (bit & 63) & 1)) return -1;
    const uint64_t below = x->bits[word] & (((uint64_t)1 << (bit & 63)) - 1);
    return x->before[word] + __builtin_popcountll(below);
}

#endif
