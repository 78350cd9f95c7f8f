/* decomposition: slices of many ranks compared without a table of all of them.   No MPI.
 *
 * Whether slices divide a space is known from sums over all ranks: the generating function of a slice,
 *
 *     sum over its entries of  x_0^i_0 * x_1^i_1 * ...  =  product over dimensions of geometric sums
 *
 * at fixed points, modulo the prime 2^61 - 1.  Slices that cover every entry once have the sum of the whole space.
 * Any other slices with as many entries differ from it at a random point but for a chance of (sum of the shape) / 2^61
 * (Schwartz and Zippel), and two points are compared.
 *
 * Slices that overlap are found in cells: boxes that divide the space, each compared by one rank.  A rank sends its slice
 * to the cells in which it has entries.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SLICE_COMPARE_H
#define TUTTI_SLICE_COMPARE_H

#include <tutti/decomposition.h>
#include "base/memory.h"

/* Indices in each dimension: from, from + step, ... below to. */
typedef struct tutti__indices {
    int ndims;
    tutti_count from[TUTTI_MAX_DIMS], to[TUTTI_MAX_DIMS], step[TUTTI_MAX_DIMS];
} tutti__indices;

/* The next index, the last dimension running fastest; 0: there is none.  x begins with `from`. */
int tutti__indices_next(const tutti__indices *of, tutti_count *x);

/* The entries of `own` that `other` has too, as indices of own's entries; 0: there are none.  Strides are >= 1, neither
 * slice is empty. */
int tutti__slices_intersect(int ndims, const tutti_slice *own, const tutti_slice *other,
                            tutti__indices *out);

/* Its generating function at TUTTI__SLICE_POINTS points, in words of at most 31 bits, which are to be summed. */
enum { TUTTI__SLICE_POINTS = 2, TUTTI__SLICE_WORDS = 2 * TUTTI__SLICE_POINTS };
void tutti__slice_words(int ndims, const tutti_slice *s, int64_t *words_out);
/* Whether sums of words are those of the whole space. */
int tutti__slices_divide(int ndims, const tutti_count *shape, const int64_t *words);

/* Cells: shares of each dimension. */
typedef struct tutti__cells {
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], n[TUTTI_MAX_DIMS];
    tutti_count all;
} tutti__cells;

/* The share of a dimension that the slice has, in units of 2^-20; to be summed for tutti__cells_choose. */
int64_t tutti__slice_share(const tutti_slice *s, tutti_count extent, int d);
/* At most `most` cells, about as large as the mean of `slices` slices.   shares: [ndims] sums; dimensions whose sum is 0 are not
 * divided. */
tutti__cells tutti__cells_choose(int ndims, const tutti_count *shape, const int64_t *shares,
                                 tutti_count slices, int most);
/* The cells in which a slice has entries, ascending; *cell_out is to be freed. */
tutti_err tutti__cells_of_slice(const tutti__cells *c, const tutti_slice *s, tutti_count *n_out,
                                int **cell_out) TUTTI_MUST_USE;
/* The cell of an entry. */
int tutti__cell_of(const tutti__cells *c, const tutti_count *x);

/* A slice of a rank: an item of tutti__cell_compare. */
typedef struct tutti__rank_slice {
    int rank;
    tutti_slice slice;
} tutti__rank_slice;
/* A rank, and a slice of a higher rank that overlaps its own. */
typedef struct tutti__slice_overlap {
    int rank;
    tutti_count higher; /* index in v */
} tutti__slice_overlap;
/* The overlaps of n slices whose first common entry is in the cell, by rank.  Slices that are equal to the slice of a higher
 * rank are only compared with the highest of these.  v is reordered; *out is to be freed. */
tutti_err tutti__cell_compare(const tutti__cells *c, int cell, tutti_count n, tutti__rank_slice *v,
                              tutti_count *overlaps_out, tutti__slice_overlap **out) TUTTI_MUST_USE;

#endif
