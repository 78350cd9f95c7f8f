/* access: searching for a shared byte in a group of overlapping views by stride arithmetic.
 *
 * A VEC with bytes in [first, end) is periodic also in the gap before its first copy and in the gap
 * after its last copy, where it has no bytes:
 *
 *        gap           stride
 *     |-------[####]---[####]---[####]-------|      cuts are allowed anywhere in the two outer gaps
 *
 * Therefore the range is divided at the fewest points such that in every piece each view either has
 * no bytes or is periodic (interval stabbing of the outer gaps by a greedy algorithm).  A piece has
 * the lcm of the strides of its views as a period, and examining one period is sufficient.  In one
 * period a VEC with that stride has one or two copies, which replace it, and the search continues
 * with their children.  A copy that extends beyond the period becomes two views, which are clipped
 * to the period.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "access/side_set.h"

/* Maximum copies of a VEC in a piece for which the VEC is replaced by its copies: in a piece that
 * was reduced to one period, and in any other piece. */
#define COPIES_IN_PERIOD 4
#define COPIES_OTHERWISE 64

/* The range must be divided at some point of [lo, hi]. */
typedef struct {
    tutti_off lo, hi;
} cut;

static int by_hi(const void *a, const void *b) {
    const cut *c = a, *d = b;
    return (c->hi > d->hi) - (c->hi < d->hi);
}

static size_t add_cut(const tutti__group *g, tutti_off lo, tutti_off hi, cut *c) {
    if (lo <= g->lo || hi >= g->hi) return 0;
    *c = (cut){lo, hi};
    return 1;
}

/* List the wanted cuts: the outer gaps of all VECs, and the bounds of the union of all other views;
 * returns their number. */
static size_t wanted_cuts(const tutti__group *g, cut *c) {
    tutti_off first = INT64_MAX, end = INT64_MIN;
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const tutti__node *node = g->v[i].side.node;
        const tutti_off lo = tutti__side_lo(g->v[i].side), hi = tutti__side_hi(g->v[i].side);
        if (node->kind == TUTTI__VEC) {
            const tutti__node *child = node->vec.child;
            const tutti_off gap = node->vec.stride - (child->hi - child->lo);
            n += add_cut(g, lo - gap, lo, c + n);
            n += add_cut(g, hi, hi + gap, c + n);
        } else {
            first = tutti__min(first, g->v[i].first);
            end = tutti__max(end, g->v[i].end);
        }
    }
    n += add_cut(g, first, first, c + n);
    return n + add_cut(g, end, end, c + n);
}

/* Find the copies of a VEC that may have bytes in [lo, hi); returns their number, and the index of
 * the first in *first_out. */
static tutti_count copies_in(tutti__side s, tutti_off lo, tutti_off hi, tutti_count *first_out) {
    const tutti__node *child = s.node->vec.child;
    const tutti_off stride = s.node->vec.stride;
    const tutti_off before = lo - s.disp - child->hi, last = hi - 1 - s.disp - child->lo;
    const tutti_count first = before < 0 ? 0 : before / stride + 1;
    const tutti_count end = last < 0 ? 0 : tutti__min(last / stride + 1, s.node->vec.count);
    *first_out = first;
    return tutti__max(end - first, 0);
}

/* Search for a shared byte of VECs that are all periodic in [g->lo, g->hi). */
static tutti_err examine_period(tutti__overlap *o, tutti__group *g) {
    /* the lcm of all strides, or 0 if it is not shorter than the range */
    tutti_off period = 1;
    for (size_t i = 0; i < g->n && period > 0; i++) {
        const tutti_off stride = g->v[i].side.node->vec.stride;
        if (!tutti__mul_ok(period / tutti__gcd(period, stride), stride, &period) ||
            period >= g->hi - g->lo)
            period = 0;
    }
    if (period) g->hi = g->lo + period;

    /* views with few copies are replaced by their copies: count the new and the remaining views */
    const tutti_count most = period ? COPIES_IN_PERIOD : COPIES_OTHERWISE;
    size_t n = 0, kept = 0;
    tutti_count first;
    for (size_t i = 0; i < g->n; i++) {
        const tutti_count copies = copies_in(g->v[i].side, g->lo, g->hi, &first);
        n += copies > most ? 1 : (size_t)copies;
        kept += copies > most;
    }
    if (!period && kept == g->n) return tutti__group_by_marks(o, g);

    tutti__view *v = tutti__malloc(n * sizeof *v), *to = v;
    if (!v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++) {
        const tutti__side s = g->v[i].side;
        const tutti_count copies = copies_in(s, g->lo, g->hi, &first);
        if (copies > most) (to++)->side = s;
        for (tutti_count k = first; copies <= most && k < first + copies; k++)
            (to++)->side = (tutti__side){s.disp + k * s.node->vec.stride, s.node->vec.child};
    }
    o->budget -= (int64_t)n;
    const tutti_err err = o->examine(o, v, n, g->lo, g->hi, g->level + 1);
    tutti__free(v);
    return err;
}

/* Search for a shared byte in [lo, hi), a piece between two cuts. */
static tutti_err examine_piece(tutti__overlap *o, const tutti__group *g, tutti_off lo,
                               tutti_off hi) {
    tutti__group piece = {NULL, 0, lo, hi, g->level};
    int irregular = 0;
    tutti_err err = TUTTI_OK;

    piece.v = tutti__malloc(g->n * sizeof *piece.v);
    if (!piece.v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++) {
        if (g->v[i].first >= hi || g->v[i].end <= lo) continue;
        irregular |= g->v[i].side.node->kind != TUTTI__VEC;
        piece.v[piece.n++] = g->v[i];
    }
    o->budget -= (int64_t)(piece.n + g->n / 8);
    if (piece.n > 1) err = irregular ? tutti__group_by_marks(o, &piece) : examine_period(o, &piece);
    tutti__free(piece.v);
    return err;
}

tutti_err tutti__group_by_period(tutti__overlap *o, const tutti__group *g) {
    const size_t most = 2 * g->n + 2;
    cut *c = tutti__malloc(most * sizeof *c);
    tutti_off *at = tutti__malloc((most + 1) * sizeof *at);
    tutti_err err = c && at ? TUTTI_OK : TUTTI_ERR_NOMEM;
    tutti_off lo = g->lo;

    if (err == TUTTI_OK) {
        /* choose the fewest points such that every wanted cut contains one, in ascending order */
        const size_t n = wanted_cuts(g, c);
        size_t points = 0;
        qsort(c, n, sizeof *c, by_hi);
        for (size_t i = 0; i < n; i++)
            if (points == 0 || at[points - 1] < c[i].lo) at[points++] = c[i].hi;
        at[points++] = g->hi;
        for (size_t i = 0; i < points && err == TUTTI_OK && !o->shared; lo = at[i++])
            err = examine_piece(o, g, lo, at[i]);
    }
    tutti__free(at);
    tutti__free(c);
    return err;
}
