/* decomposition: sketches of numbers: weighted samples, from which ranges with about equally many
 * numbers are chosen.  No MPI.
 *
 * The sketches of several sets of numbers are one array, sorted by set, then by number, without
 * duplicates.  Two sketches merge into one sketch of limited size: if there are too many samples,
 * they are replaced by samples at equal distances of weight, from a pseudo-random start.  The error
 * of a bound is then about the weight of one sample.  The result of a merge does not depend on the
 * order of the two sketches, so that ranks that exchange their sketches get the same result.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SKETCH_H
#define TUTTI_SKETCH_H

#include "base/memory.h"

enum { TUTTI__SKETCH_SETS = 5 };      /* maximal number of sets */
enum { TUTTI__SKETCH_SAMPLES = 768 }; /* maximal number of samples of all sets */

typedef struct tutti__sample {
    int64_t number;
    uint64_t weight : 60, set : 4;
} tutti__sample;

/* Numbers of this rank, >= 0, in any order: a field in each element of an array. */
typedef struct tutti__number_set {
    tutti_count n;
    const void *first;
    size_t stride; /* distance between numbers in bytes */
} tutti__number_set;

static inline int64_t tutti__number_at(const tutti__number_set *s, tutti_count i) {
    return *(const int64_t *)(const void *)((const char *)s->first + (size_t)i * s->stride);
}

/* Compare samples by set, then by number, for qsort. */
int tutti__sample_compare(const void *a, const void *b);
/* Take at most `most` samples of a set; return the number of samples.   out: [most] */
int tutti__sketch_make(const tutti__number_set *s, int set, int most, tutti__sample *out);
/* Merge sketches a and b, with at most `most` samples of each set in the result; return the number
 * of samples.   out: [na + nb] */
int tutti__sketch_merge(int most, int na, const tutti__sample *a, int nb, const tutti__sample *b,
                        tutti__sample *out);
/* A division of a total weight: range k of `ranges` begins at the fraction k * unit / all of the
 * weight. */
typedef struct tutti__weight_division {
    int ranges;
    tutti_count unit, all;
} tutti__weight_division;
/* Determine the first number of each range of a set from n samples.   bound: [ranges]; bound[0] is
 * 0; without samples all others are INT64_MAX. */
void tutti__sketch_bounds(int n, const tutti__sample *v, int set, const tutti__weight_division *d,
                          int64_t *bound);

#endif
