/* decomposition: sketches of numbers (sketch.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "decomposition/rules.h"

int tutti__sample_compare(const void *a, const void *b) {
    const tutti__sample *x = a, *y = b;
    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Merge sorted samples with equal numbers; return the number of remaining samples. */
static int unite_equal(int n, tutti__sample *v) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (kept > 0 && tutti__sample_compare(&v[kept - 1], &v[i]) == 0)
            v[kept - 1].weight += v[i].weight;
        else
            v[kept++] = v[i];
    }
    return kept;
}

int tutti__sketch_make(const tutti__number_set *s, int set, int most, tutti__sample *out) {
    const int n = (int)tutti__min(s->n, most);
    int ascending = 1;
    for (int k = 0; k < n; k++) {
        const tutti_count lo = tutti_size_share(s->n, n, k), hi = tutti_size_share(s->n, n, k + 1);
        /* the position in the interval is pseudo-random and differs between ranks, so that samples
         * do not coincide with a pattern of the numbers */
        const uint64_t seed = tutti__scramble((uint64_t)tutti__number_at(s, lo)) ^ (uint64_t)lo;
        const tutti_count at = (tutti_count)(tutti__scramble(seed) % (uint64_t)(hi - lo));
        out[k] = (tutti__sample){.number = tutti__number_at(s, lo + at),
                                 .weight = (uint64_t)(hi - lo),
                                 .set = (uint64_t)set};
        ascending &= k == 0 || out[k - 1].number <= out[k].number;
    }
    if (!ascending) qsort(out, (size_t)n, sizeof *out, tutti__sample_compare);
    return unite_equal(n, out);
}

/* Return the start of part k if `all` is divided into `most` equal parts. */
static uint64_t part_of(uint64_t all, int most, int k) {
    return (uint64_t)((unsigned __int128)all * (unsigned)k / (unsigned)most);
}

/* Reduce n samples of one set in place to at most `most`; return the number of remaining
 * samples. */
static int reduce_samples(int n, tutti__sample *v, int most) {
    uint64_t all = 0, before = 0;
    int i = 0, kept = 0;
    if (n <= most) return n;
    for (int k = 0; k < n; k++) all += v[k].weight;
    const uint64_t start = tutti__scramble(all ^ (uint64_t)v[0].number);
    tutti__sample current = v[0];
    int last = -1; /* index of the last sample that was kept */
    for (int k = 0; k < most; k++) {
        const uint64_t lo = part_of(all, most, k), hi = part_of(all, most, k + 1);
        if (hi == lo) continue;
        const uint64_t at = lo + start % (hi - lo);
        while (before + current.weight <= at) {
            before += current.weight;
            current = v[++i];
        }
        if (last == i) {
            v[kept - 1].weight += hi - lo;
        } else { /* kept <= i: overwritten entries have been read */
            v[kept] = current;
            v[kept++].weight = hi - lo;
            last = i;
        }
    }
    return kept;
}

int tutti__sketch_merge(int most, int na, const tutti__sample *a, int nb, const tutti__sample *b,
                        tutti__sample *out) {
    int n = 0, all = 0;
    for (int i = 0, j = 0; i < na || j < nb; n++) {
        const int from_b = i == na || (j < nb && tutti__sample_compare(&b[j], &a[i]) < 0);
        out[n] = from_b ? b[j++] : a[i++];
    }
    n = unite_equal(n, out);
    for (int from = 0, to = 0; from < n; from = to) {
        while (to < n && out[to].set == out[from].set) to++;
        const int kept = reduce_samples(to - from, out + from, most);
        memmove(out + all, out + from, (size_t)kept * sizeof *out);
        all += kept;
    }
    return all;
}

void tutti__sketch_bounds(int n, const tutti__sample *v, int set, const tutti__weight_division *d,
                          int64_t *bound) {
    unsigned __int128 total = 0, before = 0;
    int i = 0;
    for (int k = 0; k < n; k++)
        if (v[k].set == (uint64_t)set) total += v[k].weight;
    bound[0] = 0;
    for (int k = 1; k < d->ranges; k++) {
        /* find the first sample such that the weight before it and half of its weight reach the
         * bound of range k */
        while (i < n &&
               (v[i].set != (uint64_t)set || (2 * before + v[i].weight) * (uint64_t)d->all <
                                                 2 * total * (uint64_t)k * (uint64_t)d->unit)) {
            if (v[i].set == (uint64_t)set) before += v[i].weight;
            i++;
        }
        bound[k] = i < n ? v[i].number : INT64_MAX;
    }
}
