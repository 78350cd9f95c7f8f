/* decomposition: comparison of the slices of many ranks without a table of all slices.  No MPI.
 *
 * Whether slices divide a space follows from sums over all ranks of the generating functions of
 * slices,
 *
 *     sum over the entries of a slice of  x_0^i_0 * x_1^i_1 * ...
 *         =  product over the dimensions of geometric sums
 *
 * at fixed points, modulo the prime 2^61 - 1.  If slices cover every entry once, the sum is that of
 * the whole space.  Otherwise the sums are equal at a random point only with a probability of (sum
 * of the shape) / 2^61 (Schwartz and Zippel).  Two points are compared.
 *
 * Overlaps are detected in cells, which are boxes that divide the space, one per rank.  A rank
 * sends its slice to the cells in which it has entries.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SLICE_COMPARE_H
#define TUTTI_SLICE_COMPARE_H

#include <tutti/decomposition.h>
#include "base/memory.h"

/* Indices from, from + step, ... below `to` in each dimension. */
typedef struct tutti__indices {
    int ndims;
    tutti_count from[TUTTI_MAX_DIMS], to[TUTTI_MAX_DIMS], step[TUTTI_MAX_DIMS];
} tutti__indices;

/* Advance x to the next index; the last dimension varies fastest.  Returns 0 if there is none.  x
 * begins with `from`. */
int tutti__indices_next(const tutti__indices *of, tutti_count *x);

/* Find the entries of `own` that `other` also has, as indices in `own`; return 0 if there are none.
 * Strides must be >= 1, and both slices not empty. */
int tutti__slices_intersect(int ndims, const tutti_slice *own, const tutti_slice *other,
                            tutti__indices *out);

enum { TUTTI__SLICE_POINTS = 2, TUTTI__SLICE_WORDS = 2 * TUTTI__SLICE_POINTS };
/* Compute the generating function of a slice at TUTTI__SLICE_POINTS points, in words of at most 31
 * bits, which are to be summed over all ranks. */
void tutti__slice_words(int ndims, const tutti_slice *s, int64_t *words_out);
/* Return whether the sums of words of all slices equal the words of the whole space. */
int tutti__slices_divide(int ndims, const tutti_count *shape, const int64_t *words);

/* Cells: each dimension d of the space is divided into n[d] shares; `all` is the number of
 * cells. */
typedef struct tutti__cells {
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], n[TUTTI_MAX_DIMS];
    tutti_count all;
} tutti__cells;

/* Return the fraction of dimension d that the slice has, in units of 2^-20; to be summed over all
 * ranks for tutti__cells_choose. */
int64_t tutti__slice_share(const tutti_slice *s, tutti_count extent, int d);
/* Choose at most `most` cells, about as large as the mean of `slices` slices.   shares: [ndims]
 * sums of tutti__slice_share; dimensions whose sum is 0 are not divided. */
tutti__cells tutti__cells_choose(int ndims, const tutti_count *shape, const int64_t *shares,
                                 tutti_count slices, int most);
/* List the cells in which a slice has entries, ascending; the caller frees *cell_out. */
tutti_err tutti__cells_of_slice(const tutti__cells *c, const tutti_slice *s, tutti_count *n_out,
                                int **cell_out) TUTTI_MUST_USE;
/* Return the cell that contains the entry with index x. */
int tutti__cell_of(const tutti__cells *c, const tutti_count *x);

/* The slice of a rank, for tutti__cell_compare. */
typedef struct tutti__rank_slice {
    int rank;
    tutti_slice slice;
} tutti__rank_slice;
/* An overlap: a rank, and the slice of a higher rank that overlaps the slice of `rank`. */
typedef struct tutti__slice_overlap {
    int rank;
    tutti_count higher; /* index of this slice in `v` of tutti__cell_compare */
} tutti__slice_overlap;
/* Find the overlaps of n slices whose first common entry is in the cell, grouped by the lower rank.
 * A slice that equals the slice of a higher rank is only compared with the highest rank with this
 * slice.  v is reordered; the caller frees *out. */
tutti_err tutti__cell_compare(const tutti__cells *c, int cell, tutti_count n, tutti__rank_slice *v,
                              tutti_count *overlaps_out, tutti__slice_overlap **out) TUTTI_MUST_USE;

#endif
