/* decomposition: comparison of slices (slice_compare.h).
 *
 * The intersection of two slices has indices first, first + step, ... in each dimension of either
 * slice:
 *
 *     own       0 . . 1 . . 2 . . 3 . . 4        stride 3
 *     higher    . . . 0 . 1 . 2 . 3 . 4          stride 2
 *     common          ^           ^              own 1, 3: from 1, every 2nd
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/slice_compare.h"

#include <stdlib.h>
#include <string.h>

#include "decomposition/rules.h"

/* ---- intersections */

int tutti__indices_next(const tutti__indices *of, tutti_count *x) {
    for (int d = of->ndims - 1; d >= 0; d--) {
        if (of->to[d] - x[d] > of->step[d]) {
            x[d] += of->step[d];
            return 1;
        }
        x[d] = of->from[d];
    }
    return 0;
}

/* Find the indices of `own` along dimension d that `other` also has; return 0 if there are none. */
static int intersect_along(const tutti_slice *own, const tutti_slice *other, int d,
                           tutti__indices *out) {
    const tutti_count stride = own->stride[d], others = other->stride[d];
    const tutti_count n = (own->hi[d] - own->lo[d] - 1) / stride + 1;
    tutti_count a = stride;
    tutti_count b = others;
    while (b != 0) {
        const tutti_count rest = a % b;
        a = b;
        b = rest;
    }
    const tutti_count step = others / a;
    tutti_count i =
        other->lo[d] > own->lo[d] ? (other->lo[d] - own->lo[d] + stride - 1) / stride : 0;
    /* the remainders below repeat after `step` indices */
    for (const tutti_count end = tutti__min(n, i + step); i < end; i++) {
        const tutti_count x = own->lo[d] + i * stride;
        if (x >= other->hi[d]) return 0;
        if ((x - other->lo[d]) % others != 0) continue;
        out->from[d] = i;
        out->step[d] = step;
        out->to[d] = tutti__min(n, i + (other->hi[d] - 1 - x) / stride + 1);
        return 1;
    }
    return 0;
}

int tutti__slices_intersect(int ndims, const tutti_slice *own, const tutti_slice *other,
                            tutti__indices *out) {
    out->ndims = ndims;
    for (int d = 0; d < ndims; d++)
        if (own->hi[d] <= other->lo[d] || other->hi[d] <= own->lo[d]) return 0;
    for (int d = 0; d < ndims; d++)
        if (!intersect_along(own, other, d, out)) return 0;
    return 1;
}

/* ---- generating functions */

enum { PRIME_BITS = 61, WORD_BITS = 31 };
static const uint64_t PRIME = ((uint64_t)1 << PRIME_BITS) - 1;

static uint64_t reduce_word(unsigned __int128 x) {
    uint64_t r = (uint64_t)(x & PRIME) + (uint64_t)(x >> PRIME_BITS);
    r = (r & PRIME) + (r >> PRIME_BITS);
    return r >= PRIME ? r - PRIME : r;
}

static uint64_t multiply_mod(uint64_t a, uint64_t b) {
    return reduce_word((unsigned __int128)a * b);
}

static uint64_t power_mod(uint64_t x, tutti_count n) {
    uint64_t y = 1;
    for (; n > 0; n >>= 1, x = multiply_mod(x, x))
        if (n & 1) y = multiply_mod(y, x);
    return y;
}

/* Return 1 + y + ... + y^(n - 1) modulo the prime, computed from the highest bit of n: s(2 m) =
 * s(m) (1 + y^m). */
static uint64_t geometric_sum(uint64_t y, tutti_count n) {
    uint64_t s = 0, p = 1; /* sum of m terms, and y^m */
    for (int bit = 62; bit >= 0; bit--) {
        s = multiply_mod(s, reduce_word((unsigned __int128)p + 1));
        p = multiply_mod(p, p);
        if (n >> bit & 1) {
            s = reduce_word((unsigned __int128)s + p);
            p = multiply_mod(p, y);
        }
    }
    return s;
}

static uint64_t generating_function(int ndims, const tutti_slice *s, int point) {
    uint64_t all = 1;
    for (int d = 0; d < ndims; d++) {
        const uint64_t x = reduce_word(tutti__scramble((uint64_t)(point * TUTTI_MAX_DIMS + d + 1)));
        const tutti_count n = (s->hi[d] - s->lo[d] - 1) / s->stride[d] + 1;
        all = multiply_mod(all, power_mod(x, s->lo[d]));
        all = multiply_mod(all, geometric_sum(power_mod(x, s->stride[d]), n));
    }
    return all;
}

void tutti__slice_words(int ndims, const tutti_slice *s, int64_t *words_out) {
    for (int i = 0; i < TUTTI__SLICE_POINTS; i++) {
        const uint64_t v = generating_function(ndims, s, i);
        words_out[2 * i] = (int64_t)(v & (((uint64_t)1 << WORD_BITS) - 1));
        words_out[2 * i + 1] = (int64_t)(v >> WORD_BITS);
    }
}

int tutti__slices_divide(int ndims, const tutti_count *shape, const int64_t *words) {
    const tutti_slice all = tutti_slice_all(ndims, shape);
    for (int i = 0; i < TUTTI__SLICE_POINTS; i++) {
        const unsigned __int128 sum =
            ((unsigned __int128)(uint64_t)words[2 * i + 1] << WORD_BITS) + (uint64_t)words[2 * i];
        if (reduce_word(sum) != generating_function(ndims, &all, i)) return 0;
    }
    return 1;
}

/* ---- cells */

enum { SHARE_BITS = 20 };

int64_t tutti__slice_share(const tutti_slice *s, tutti_count extent, int d) {
    const tutti_count n = (s->hi[d] - s->lo[d] - 1) / s->stride[d] + 1;
    return (int64_t)(((__int128)n << SHARE_BITS) / extent) + 1;
}

tutti__cells tutti__cells_choose(int ndims, const tutti_count *shape, const int64_t *shares,
                                 tutti_count slices, int most) {
    tutti__cells c = {.ndims = ndims};
    for (int d = 0; d < ndims; d++) {
        c.shape[d] = shape[d];
        c.n[d] = shares[d] == 0 ? 1 : (tutti_count)(((__int128)slices << SHARE_BITS) / shares[d]);
        c.n[d] = tutti__max(tutti__min(tutti__min(c.n[d], most), shape[d]), 1);
    }
    for (;;) {
        int largest = 0;
        __int128 all = 1; /* at most most^2: not multiplied further once it exceeds `most` */
        for (int d = 0; d < ndims; d++) {
            all = all > most ? all : all * c.n[d];
            if (c.n[d] > c.n[largest]) largest = d;
        }
        c.all = (tutti_count)all;
        if (all <= most) return c;
        c.n[largest] = (c.n[largest] + 1) / 2;
    }
}

/* Return the share of dimension d that contains index x. */
static tutti_count share_of(const tutti__cells *c, int d, tutti_count x) {
    tutti_count k = (tutti_count)((__int128)x * c->n[d] / c->shape[d]);
    while (tutti_size_share(c->shape[d], c->n[d], k + 1) <= x) k++;
    return k;
}

int tutti__cell_of(const tutti__cells *c, const tutti_count *x) {
    tutti_count at = 0;
    for (int d = 0; d < c->ndims; d++) at = at * c->n[d] + share_of(c, d, x[d]);
    return (int)at;
}

/* Return the next share of dimension d after k in which the slice has indices; -1: none. */
static tutti_count next_share(const tutti__cells *c, const tutti_slice *s, int d, tutti_count k) {
    const tutti_count end = tutti_size_share(c->shape[d], c->n[d], k + 1), stride = s->stride[d];
    if (end >= s->hi[d]) return -1;
    const tutti_count x = s->lo[d] + (end - s->lo[d] + stride - 1) / stride * stride;
    return x < s->hi[d] ? share_of(c, d, x) : -1;
}

tutti_err tutti__cells_of_slice(const tutti__cells *c, const tutti_slice *s, tutti_count *n_out,
                                int **cell_out) {
    tutti_count k[TUTTI_MAX_DIMS], n = 0;
    size_t capacity = 0;
    int *cell = NULL;
    for (int d = 0; d < c->ndims; d++) k[d] = share_of(c, d, s->lo[d]);
    for (int d = 0; d >= 0;) {
        tutti_count at = 0;
        for (d = 0; d < c->ndims; d++) at = at * c->n[d] + k[d];
        if (tutti__grow(&cell, (size_t)n + 1, &capacity, sizeof *cell) != TUTTI_OK) {
            tutti__free(cell);
            return TUTTI_ERR_NOMEM;
        }
        cell[n++] = (int)at;
        for (d = c->ndims - 1; d >= 0; d--) {
            const tutti_count next = next_share(c, s, d, k[d]);
            k[d] = next >= 0 ? next : share_of(c, d, s->lo[d]);
            if (next >= 0) break;
        }
    }
    *n_out = n;
    *cell_out = cell;
    return TUTTI_OK;
}

/* ---- the slices of a cell */

/* Order by slice, then by rank. */
static int compare_slices(const void *a, const void *b) {
    const tutti__rank_slice *x = a, *y = b;
    const int order = memcmp(&x->slice, &y->slice, sizeof x->slice);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Return whether two slices overlap and their first common entry is in the cell. */
static int overlap_in_cell(const tutti__cells *c, int cell, const tutti_slice *a,
                           const tutti_slice *b) {
    tutti__indices both;
    tutti_count x[TUTTI_MAX_DIMS];
    if (!tutti__slices_intersect(c->ndims, a, b, &both)) return 0;
    for (int d = 0; d < c->ndims; d++) x[d] = a->lo[d] + both.from[d] * a->stride[d];
    return tutti__cell_of(c, x) == cell;
}

tutti_err tutti__cell_compare(const tutti__cells *c, int cell, tutti_count n, tutti__rank_slice *v,
                              tutti_count *overlaps_out, tutti__slice_overlap **out) {
    tutti__slice_overlap *found = NULL;
    tutti_count overlaps = 0, highest = n - 1;
    size_t capacity = 0;
    /* next_last[i]: first index >= i of a slice that is the last of several equal slices */
    tutti_count *next_last = tutti__malloc((size_t)(n + 1) * sizeof *next_last);
    if (!next_last) return TUTTI_ERR_NOMEM;
    qsort(v, (size_t)n, sizeof *v, compare_slices);
    for (tutti_count i = n - 1; i >= 0; i--) {
        if (i + 1 < n && memcmp(&v[i].slice, &v[i + 1].slice, sizeof v[i].slice) != 0) highest = i;
        next_last[i] = highest;
    }
    for (tutti_count i = 0; i < n; i++) {
        const int is_last = next_last[i] == i;
        for (tutti_count j = is_last ? next_last[0] : next_last[i]; j < n;
             j = is_last && j + 1 < n ? next_last[j + 1] : n) {
            if (v[j].rank <= v[i].rank || !overlap_in_cell(c, cell, &v[i].slice, &v[j].slice))
                continue;
            if (tutti__grow(&found, (size_t)overlaps + 1, &capacity, sizeof *found) != TUTTI_OK) {
                tutti__free(next_last);
                tutti__free(found);
                return TUTTI_ERR_NOMEM;
            }
            found[overlaps++] = (tutti__slice_overlap){v[i].rank, j};
        }
    }
    tutti__free(next_last);
    *overlaps_out = overlaps;
    *out = found;
    return TUTTI_OK;
}
