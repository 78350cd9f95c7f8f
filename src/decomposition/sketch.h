/* decomposition: sketches of numbers: weighted samples from which ranges with about as many numbers are chosen.   No MPI.
 *
 * Sketches of several sets of numbers are one array, by set, then by number; a number is in it once.  Two of them merge into one of limited size: more
 * samples than that are replaced by samples at equal distances of weight, from a pseudo-random start.  A bound is then wrong by
 * about the weight of one sample.  The result of a merge does not depend on the order of the two, so that ranks that
 * exchange their sketches get the same one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SKETCH_H
#define TUTTI_SKETCH_H

#include "base/memory.h"

enum { TUTTI__SKETCH_SETS = 5 };      /* at most */
enum { TUTTI__SKETCH_SAMPLES = 768 }; /* of all sets, at most */

typedef struct tutti__sample {
    int64_t number;
    uint64_t weight : 60, set : 4;
} tutti__sample;

/* Numbers of this rank, >= 0, in any order: fields of an array. */
typedef struct tutti__number_set {
    tutti_count n;
    const void *first;
    size_t stride; /* in bytes */
} tutti__number_set;

static inline int64_t tutti__number_at(const tutti__number_set *s, tutti_count i) {
    return *(const int64_t *)(const void *)((const char *)s->first + (size_t)i * s->stride);
}

/* Order of samples, for qsort. */
int tutti__sample_compare(const void *a, const void *b);
/* At most `most` samples of a set; returns how many.   out: [most] */
int tutti__sketch_make(const tutti__number_set *s, int set, int most, tutti__sample *out);
/* Merge sketches a and b, at most `most` samples of each set; returns how many.   out: [na + nb] */
int tutti__sketch_merge(int most, int na, const tutti__sample *a, int nb, const tutti__sample *b,
                        tutti__sample *out);
/* A division of a weight: range k of `ranges` begins at k * unit / all of it. */
typedef struct tutti__weight_division {
    int ranges;
    tutti_count unit, all;
} tutti__weight_division;
/* The first numbers of the ranges of a set, whose weight is that of its samples.   bound: [ranges]; bound[0] is 0; without
 * samples all others are INT64_MAX. */
void tutti__sketch_bounds(int n, const tutti__sample *v, int set, const tutti__weight_division *d,
                          int64_t *bound);

#endif
