/* base: searching and sorting ascending arrays.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SORTED_H
#define TUTTI_SORTED_H

#include <stddef.h>
#include <tutti/types.h>

/* Return the index of the first of n ascending values that is >= x; n if all are less.  Not
 * collective. */
tutti_count tutti__lower_bound(const int64_t *v, tutti_count n, int64_t x);
/* Like tutti__lower_bound, for items of `size` bytes.  compare(item, key) returns a negative value
 * if the item is less than the key. */
tutti_count tutti__lower_bound_by(const void *items, tutti_count n, size_t size, const void *key,
                                  int (*compare)(const void *item, const void *key));
/* Return the index of x among n ascending values; -1: not found.  Takes constant time if the values
 * up to x are consecutive. */
tutti_count tutti__sorted_find(const int64_t *v, tutti_count n, int64_t x);
/* Return the index of the interval that contains x: the largest i < n with start[i] <= x; 0 if
 * none. */
tutti_count tutti__interval_of(const int64_t *start, tutti_count n, int64_t x);

/* Comparison function for qsort of int64_t values, ascending. */
int tutti__compare_int64(const void *a, const void *b);
/* Sort and remove duplicates; returns the number of values that remain.  Fast for short and for
 * sorted arrays. */
tutti_count tutti__sort_unique(int64_t *v, tutti_count n);

#endif
