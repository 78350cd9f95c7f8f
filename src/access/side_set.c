/* access: sets of sides: disjointness, shared bytes and union.
 *
 * Only sides whose intervals [first, end) overlap can share a byte, so the views are sorted by
 * their first byte and divided into groups of overlapping intervals; for most patterns all groups
 * have one view.  Groups of several views are processed from simple to complex nodes:
 *   CAT    is replaced by its parts (parts of one side never share a byte), and the group is
 *          examined again
 *   RUN    every other view is queried for its next byte after the start of the run; then the run
 *          is removed
 *   VEC    stride arithmetic (side_periodic.c), which continues with the children in one period
 *   other  bitmaps (side_marks.c)
 * The union appends a group as one run if its views are disjoint and fill its interval, iterates
 * over the runs of single views, and uses bitmaps for all other groups.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "access/list_read.h"
#include "access/side_set.h"

/* Maximum recursion depth and steps of arithmetic before bitmaps are used. */
#define MAX_LEVEL 64
#define BUDGET (8 << 20)
/* Mean number of parts per view above which bitmaps are used, since they are faster for irregular
 * patterns. */
#define MAX_PARTS 64

static int compare_starts(const void *a, const void *b) {
    const tutti__view *v = a, *w = b;
    return (v->first > w->first) - (v->first < w->first);
}

/* Clip the views to [lo, hi), remove views without bytes, and sort by first byte; returns the
 * number of remaining views. */
static size_t clip_views(tutti__view *v, size_t n, tutti_off lo, tutti_off hi) {
    size_t kept = 0;
    int sorted = 1;
    for (size_t i = 0; i < n; i++) {
        const tutti__side s = v[i].side;
        const tutti_off start = tutti__side_lo(s);
        if (start >= hi || tutti__side_hi(s) <= lo) continue;
        const tutti_off first = start >= lo ? start : tutti__side_next(s, lo);
        if (first >= hi) continue;
        tutti_off end = tutti__side_hi(s);
        if (end > hi) { /* set `end` to the end of the last byte before hi */
            tutti__cursor c;
            tutti__burst b;
            tutti__cursor_seek(&c, s, tutti__side_tell(s, hi) - 1);
            end = tutti__cursor_peek(&c, &b) ? b.offset + 1 : hi;
        }
        v[kept] = (tutti__view){s, first, end};
        if (kept > 0 && v[kept - 1].first > first) sorted = 0;
        kept++;
    }
    if (!sorted) qsort(v, kept, sizeof *v, compare_starts);
    return kept;
}

/* ---- CATs */

/* Find the parts of a CAT whose bounds overlap [lo, hi), relative to its origin: returns their
 * number, and the index of the first in *first_out. */
static size_t parts_in(const tutti__node *n, tutti_off lo, tutti_off hi, tutti_count *first_out) {
    tutti_count first = 0, end = n->cat.n, i;
    while (first < end) {
        const tutti_count mid = first + (end - first) / 2;
        if (n->cat.part[mid].disp + n->cat.part[mid].node->hi <= lo)
            first = mid + 1;
        else
            end = mid;
    }
    for (i = first; i < n->cat.n && n->cat.part[i].disp + n->cat.part[i].node->lo < hi;) i++;
    *first_out = first;
    return (size_t)(i - first);
}

static tutti_err examine_parts(tutti__overlap *o, const tutti__group *g, size_t parts) {
    tutti__view *v = tutti__malloc((g->n + parts) * sizeof *v);
    size_t n = 0;
    tutti_err err;

    if (!v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++) {
        const tutti__side s = g->v[i].side;
        tutti_count first;
        if (s.node->kind != TUTTI__CAT) {
            v[n++].side = s;
            continue;
        }
        const size_t inside = parts_in(s.node, g->lo - s.disp, g->hi - s.disp, &first);
        for (size_t k = 0; k < inside; k++) {
            const tutti__part *p = &s.node->cat.part[first + (tutti_count)k];
            v[n++].side = (tutti__side){s.disp + p->disp, p->node};
        }
    }
    err = o->examine(o, v, n, g->lo, g->hi, g->level + 1);
    tutti__free(v);
    return err;
}

/* ---- RUNs */

static tutti_err examine_runs(tutti__overlap *o, const tutti__group *g) {
    tutti__view *rest;
    size_t n = 0;
    tutti_err err;

    for (size_t i = 0; i < g->n; i++) {
        const tutti__view *run = &g->v[i], *other = g->v;
        if (run->side.node->kind != TUTTI__RUN) continue;
        for (; other < g->v + g->n && other->first < run->end; other++) {
            tutti_off at = tutti__max(run->first, other->first);
            const tutti_off end = tutti__min(run->end, other->end);
            if (other == run || at >= end) continue;
            if (other->side.node->kind != TUTTI__RUN) at = tutti__side_next(other->side, at);
            if (at >= end) continue;
            o->shared = 1;
            o->where = at;
            return TUTTI_OK;
        }
    }
    rest = tutti__malloc(g->n * sizeof *rest);
    if (!rest) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++)
        if (g->v[i].side.node->kind != TUTTI__RUN) rest[n++] = g->v[i];
    err = o->examine(o, rest, n, g->lo, g->hi, g->level + 1);
    tutti__free(rest);
    return err;
}

/* ---- groups */

static tutti_err examine_group(tutti__overlap *o, tutti__group *g) {
    const tutti__view *v = g->v;
    size_t parts = 0, runs = 0;

    /* the first byte of a view is shared if the previous view is a RUN that contains it */
    for (size_t i = 0; i + 1 < g->n; i++) {
        if (v[i].side.node->kind != TUTTI__RUN || v[i + 1].first >= v[i].end) continue;
        o->shared = 1;
        o->where = v[i + 1].first;
        return TUTTI_OK;
    }

    /* shared bytes are after the start of the second view and before the second largest end */
    tutti_off last = INT64_MIN, but_one = INT64_MIN;
    for (size_t i = 0; i < g->n; i++) {
        but_one = tutti__max(but_one, tutti__min(v[i].end, last));
        last = tutti__max(last, v[i].end);
    }
    g->lo = v[1].first;
    g->hi = but_one;
    if (g->lo >= g->hi) return TUTTI_OK;

    for (size_t i = 0; i < g->n; i++) {
        const tutti__side s = v[i].side;
        tutti_count first;
        if (s.node->kind == TUTTI__RUN) runs++;
        if (s.node->kind == TUTTI__CAT)
            parts += parts_in(s.node, g->lo - s.disp, g->hi - s.disp, &first);
    }
    o->budget -= (int64_t)parts + (int64_t)tutti__min((tutti_off)(runs * g->n), BUDGET);
    if (g->level >= MAX_LEVEL || o->budget < 0 || parts > MAX_PARTS * (g->n + 16))
        return tutti__group_by_marks(o, g);
    if (parts > 0) return examine_parts(o, g, parts);
    if (runs > 0) return examine_runs(o, g);
    return tutti__group_by_period(o, g);
}

/* Return the index after the group of overlapping intervals that starts at view i; *end_out is its
 * end. */
static size_t find_group_end(const tutti__view *v, size_t n, size_t i, tutti_off *end_out) {
    tutti_off end = v[i].end;
    for (i++; i < n && v[i].first < end; i++) end = tutti__max(end, v[i].end);
    *end_out = end;
    return i;
}

static tutti_err views_examine(tutti__overlap *o, tutti__view *v, size_t n, tutti_off lo,
                               tutti_off hi, int level) {
    n = clip_views(v, n, lo, hi);
    for (size_t i = 0, j; i < n && !o->shared; i = j) {
        tutti_off end;
        j = find_group_end(v, n, i, &end);
        tutti__group g = {v + i, j - i, v[i].first, end, level};
        if (g.n > 1) TUTTI_TRY(examine_group(o, &g));
    }
    return TUTTI_OK;
}

/* ---- entry points */

static tutti__view *views_of(int n, const tutti__side *sides, size_t *n_out) {
    tutti__view *v = tutti__malloc((size_t)tutti__max(n, 0) * sizeof *v);
    size_t kept = 0;
    if (!v) return NULL;
    for (int i = 0; i < n; i++) {
        TUTTI_ASSERT(tutti__side_monotone(sides[i]) && tutti__side_is_valid(sides[i]));
        if (sides[i].node) v[kept++].side = sides[i];
    }
    *n_out = kept;
    return v;
}

tutti_err tutti__sides_disjoint(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                                int *disjoint_out, tutti_off *where_out) {
    tutti__overlap o = {.budget = BUDGET, .examine = views_examine};
    size_t count = 0;
    tutti__view *v = views_of(n, sides, &count);
    tutti_err err;

    if (!v) return TUTTI_ERR_NOMEM;
    err = views_examine(&o, v, count, lo, hi, 0);
    tutti__free(v);
    if (err != TUTTI_OK) return err;
    TUTTI_ASSERT(!o.shared || (o.where >= lo && o.where < hi));
    *disjoint_out = !o.shared;
    if (o.shared && where_out) *where_out = o.where;
    return TUTTI_OK;
}

/* Append the runs of one view. */
static tutti_err join_view(const tutti__joiner *j, const tutti__view *v) {
    tutti_off shown;
    tutti__cursor c;
    tutti__burst b;

    tutti__cursor_seek(&c, v->side, tutti__side_tell(v->side, v->first));
    if (!tutti__cursor_peek(&c, &b)) return TUTTI_OK;
    do {
        shown = b.bytes * b.count;
        if (b.offset >= v->end) break;
        if (b.count > 1 && b.stride - b.bytes <= j->max_gap) {
            b.bytes += (b.count - 1) * b.stride;
            b.count = 1;
        }
        for (; b.count > 0 && b.offset < v->end; b.count--, b.offset += b.stride)
            TUTTI_TRY(tutti__join_extent(j, b.offset, tutti__min(b.offset + b.bytes, v->end)));
    } while (tutti__cursor_after(&c, shown, &b));
    return TUTTI_OK;
}

/* Determine whether the views fill [g->lo, g->hi) exactly, with every byte in one view; `disjoint`:
 * the views are known to share no byte. */
static tutti_err is_filled(const tutti__group *g, int disjoint, int *filled_out) {
    tutti__overlap o = {.budget = BUDGET, .examine = views_examine};
    tutti_off bytes = 0;
    tutti__view *v;
    tutti_err err;

    for (size_t i = 0; i < g->n; i++) bytes += tutti__side_bytes_in(g->v[i].side, g->lo, g->hi);
    *filled_out = bytes == g->hi - g->lo;
    if (!*filled_out || g->n == 1 || disjoint) return TUTTI_OK;
    v = tutti__malloc(g->n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++) v[i] = g->v[i];
    err = views_examine(&o, v, g->n, g->lo, g->hi, 0);
    tutti__free(v);
    *filled_out = !o.shared;
    return err;
}

static tutti_err join_views(const tutti__joiner *j, const tutti__view *v, size_t n) {
    for (size_t i = 0, k; i < n; i = k) {
        tutti_off end;
        k = find_group_end(v, n, i, &end);
        const tutti__group g = {(tutti__view *)v + i, k - i, v[i].first, end, 0};
        int filled = 1;
        if (g.hi - g.lo > j->max_gap) TUTTI_TRY(is_filled(&g, j->io->disjoint, &filled));
        if (filled)
            TUTTI_TRY(tutti__join_extent(j, g.lo, g.hi));
        else if (g.n == 1)
            TUTTI_TRY(join_view(j, g.v));
        else
            TUTTI_TRY(tutti__union_by_marks(&g, j));
    }
    return TUTTI_OK;
}

tutti_err tutti__sides_union(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                             tutti_off max_gap, tutti__extents *io) {
    const tutti__joiner j = {io, io->n, max_gap};
    size_t count = 0;
    tutti__view *v = views_of(n, sides, &count);
    tutti_err err;

    if (!v) return TUTTI_ERR_NOMEM;
    count = clip_views(v, count, lo, hi);
    err = join_views(&j, v, count);
    if (err != TUTTI_OK) io->n = j.own;
    tutti__free(v);
    return err;
}

tutti_err tutti__sides_shared(int n, const tutti__side *const *sides, tutti_off lo, tutti_off hi,
                              tutti__extents *const *shared, int *done_out) {
    tutti__view *v = tutti__malloc((size_t)tutti__max(n, 1) * sizeof *v);
    tutti__extents **x = tutti__malloc((size_t)tutti__max(n, 1) * sizeof *x);
    tutti__group g = {v, 0, lo, hi, 0};
    tutti_err err = v && x ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; err == TUTTI_OK && i < n; i++) {
        const tutti_off first = tutti__side_next(*sides[i], lo);
        if (first >= hi) continue;
        x[g.n] = shared[i];
        v[g.n++] = (tutti__view){*sides[i], first, hi};
    }
    *done_out = err == TUTTI_OK && (g.n < 2 || tutti__marks_are_few(&g));
    if (*done_out && g.n > 1) err = tutti__shared_by_marks(&g, x);
    tutti__free(v);
    tutti__free(x);
    return err;
}

void tutti__extents_free(tutti__extents *e) {
    if (!e) return;
    tutti__free(e->v);
    *e = (tutti__extents){0};
}
