/* Recursive coordinate bisection (Berger and Bokhari, IEEE Trans. Computers 36(5), 1987).
 *
 * k parts are divided into k / 2 parts and the rest.  The points are sorted along the longest side
 * of their bounding box and divided where their weights come closest to the same proportion.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rcb.h"

#include <stdlib.h>

#include "base/memory.h"

typedef struct {
    double x; /* coordinate along the axis of the current cut */
    tutti_count point;
} placed;

typedef struct {
    const double *coordinates;
    const tutti_count *weight; /* [n]; NULL: all weights are 1 */
    placed *v;                 /* [n] points, sorted by the cuts made so far */
    int *part;
} bisection;

/* Points v[from] ... v[to - 1], to be divided into parts first ... first + parts - 1. */
typedef struct {
    tutti_count from, to;
    int first, parts;
} piece;

static int compare_points(const void *a, const void *b) {
    const placed *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

static tutti_count point_weight(const bisection *b, tutti_count i) {
    return b->weight ? b->weight[b->v[i].point] : 1;
}

/* Return the index of the first point after the cut that has `left` parts before it. */
static tutti_count find_cut(const bisection *b, const piece *p, int left) {
    const tutti_count n = p->to - p->from, right = p->parts - left;
    const tutti_count least = n >= p->parts ? left : n > right ? n - right : 0;
    const tutti_count most = n >= p->parts ? n - right : n < left ? n : left;
    tutti_count all = 0, before = 0, at = p->from;
    for (tutti_count i = p->from; i < p->to; i++) all += point_weight(b, i);
    if (all == 0) { /* weights of 0 count as 1 */
        const tutti_count share = (tutti_count)((__int128)n * left / p->parts);
        return p->from + (share < least ? least : share > most ? most : share);
    }
    /* the next point is before the cut if this brings the weight before the cut closer to its
     * share */
    const __int128 twice = 2 * (__int128)all * left;
    for (; at - p->from < most; at++) {
        const tutti_count w = point_weight(b, at);
        if (at - p->from >= least && (2 * (__int128)before + w) * p->parts > twice) break;
        before += w;
    }
    return at;
}

static void divide_piece(bisection *b, piece p) {
    while (p.parts > 1 && p.from < p.to) {
        /* find the longest side; of sides of equal length, the first */
        double longest = -1;
        int best = 0;
        for (int k = 0; k < 3; k++) {
            double low = b->coordinates[3 * b->v[p.from].point + k], high = low;
            for (tutti_count i = p.from + 1; i < p.to; i++) {
                const double x = b->coordinates[3 * b->v[i].point + k];
                if (x < low) low = x;
                if (x > high) high = x;
            }
            if (high / 2 - low / 2 > longest) { /* halves: the difference may overflow */
                longest = high / 2 - low / 2;
                best = k;
            }
        }
        const int axis = best, left = p.parts / 2;
        for (tutti_count i = p.from; i < p.to; i++)
            b->v[i].x = b->coordinates[3 * b->v[i].point + axis];
        qsort(b->v + p.from, (size_t)(p.to - p.from), sizeof *b->v, compare_points);
        const tutti_count at = find_cut(b, &p, left);
        /* recursion depth <= 31, since parts are halved */
        divide_piece(b, (piece){p.from, at, p.first, left});
        p = (piece){at, p.to, p.first + left, p.parts - left};
    }
    for (tutti_count i = p.from; i < p.to; i++) b->part[b->v[i].point] = p.first;
}

tutti_err tutti__rcb(tutti_count n, const double *coordinates, const tutti_count *weight, int parts,
                     int *part_out) {
    tutti_count any = 0;
    for (tutti_count i = 0; i < n && weight; i++) any |= weight[i];
    bisection b = {.coordinates = coordinates,
                   .weight = any ? weight : NULL,
                   .v = tutti__malloc((size_t)n * sizeof *b.v),
                   .part = part_out};
    if (!b.v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) b.v[i] = (placed){0, i};
    divide_piece(&b, (piece){0, n, 0, parts});
    tutti__free(b.v);
    return TUTTI_OK;
}
