/* access: sides without what later ones cover.
 *
 *   rank 0   |=====  =====  =====|
 *   rank 1              |===== =========|
 *   rank 2                                 |===|
 *            '---------'--------'-------'--'---'
 *                       contested
 *
 * Regions where the bounds of several sides meet are contested; elsewhere a side keeps what it has,
 * as a slice.  If the sides of a contested region turn out to be disjoint in it (they interleave),
 * nobody loses anything there.  Otherwise their runs are merged in the order of the file: at each
 * place the last of the sides that are there has it.  What is left of a side is a list, or loops
 * where it is regular.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "access/side_set.h"

/* Runs that are looked at before giving up: a part of a second, and 64 MiB meanwhile. */
#define MOST_RUNS ((int64_t)1 << 22)

typedef struct {
    tutti_off lo, hi;
} range;

/* One side on its way. */
typedef struct {
    int index;            /* its place among the sides */
    tutti__side side;     /* borrowed */
    tutti_off first, end; /* bounds of its bytes within the range that is asked for */
    tutti_off done;       /* up to here its parts are known */
    tutti__side *part;    /* what is left of it so far */
    tutti_count parts, room;
    /* in a contested region: */
    tutti__cursor *cursor;
    tutti_off at, run_end; /* its next run: begins at `at`, no more if that is the region's end */
    tutti_off held_to;     /* its run at the sweep's place ends there */
    int held;              /* it is among the holders */
    tutti__extents left;
} party;

typedef struct {
    party *v;
    size_t n;
    party **live, **heap, **holders; /* [n] rooms */
    size_t live_n;
    int64_t budget; /* runs */
    size_t limit;
} trim;

static tutti_err give_up(void) {
    TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED, "sides overlap too irregularly to be cut");
}

static tutti_off offset_at(tutti__side s, tutti_off stream) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti__cursor_seek(&c, s, stream);
    (void)tutti__cursor_peek(&c, &b);
    return b.offset;
}

/* ---- parts of a side */

static tutti_err part_add(party *p, tutti__side s) {
    if (!s.node) return TUTTI_OK;
    if (p->parts == p->room) {
        const tutti_count room = 2 * p->room + 4;
        tutti__side *v = tutti__realloc(p->part, (size_t)room * sizeof *v);
        if (!v) {
            tutti__side_free(&s);
            return TUTTI_ERR_NOMEM;
        }
        p->part = v;
        p->room = room;
    }
    p->part[p->parts++] = s;
    return TUTTI_OK;
}

/* All it has up to `to`. */
static tutti_err part_keep(party *p, tutti_off to) {
    tutti__side s = {0, NULL};
    if (to <= p->done) return TUTTI_OK;
    TUTTI_TRY(tutti__side_slice(p->side, tutti__side_tell(p->side, p->done),
                                tutti__side_tell(p->side, to), &s));
    p->done = to;
    return part_add(p, s);
}

/* What the sweep has left of it. */
static tutti_err part_left(party *p, tutti_off to) {
    const size_t n = p->left.n;
    tutti__side s = {0, NULL};
    tutti_off *v = tutti__malloc(n * 2 * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        v[i] = p->left.v[i].offset;
        v[n + i] = p->left.v[i].bytes;
    }
    const tutti_err err = tutti__side_list((tutti_count)n, v, v + n, 0, &s);
    tutti__free(v);
    TUTTI_TRY(err);
    p->done = to;
    return part_add(p, s);
}

/* ---- the sweep: a heap of next runs, first on top, and one of holders, the last side on top */

static int run_before(const party *a, const party *b) {
    return a->at < b->at;
}
static int later_side(const party *a, const party *b) {
    return a->index > b->index;
}

typedef int before_fn(const party *a, const party *b);

static inline void heap_sink(party **h, size_t n, size_t i, before_fn *before) {
    party *p = h[i];
    for (size_t k = 2 * i + 1; k < n; i = k, k = 2 * i + 1) {
        if (k + 1 < n && before(h[k + 1], h[k])) k++;
        if (!before(h[k], p)) break;
        h[i] = h[k];
    }
    h[i] = p;
}

static inline void heap_push(party **h, size_t *n, party *p, before_fn *before) {
    size_t i = (*n)++;
    for (; i > 0 && before(p, h[(i - 1) / 2]); i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = p;
}

static inline void heap_pop(party **h, size_t *n, before_fn *before) {
    h[0] = h[--*n];
    if (*n > 0) heap_sink(h, *n, 0, before);
}

/* Its next run within the region; 0: there is none. */
static int next_run(party *p, const range *r) {
    tutti__burst b;
    if (!tutti__cursor_peek(p->cursor, &b) || b.offset >= r->hi) return 0;
    tutti__cursor_skip(p->cursor, b.bytes);
    p->at = b.offset;
    p->run_end = tutti__min(b.offset + b.bytes, r->hi);
    return 1;
}

static tutti_err sweep(trim *t, const range *r, tutti__cursor *cursors) {
    size_t runs = 0, holders = 0;
    for (size_t i = 0; i < t->live_n; i++) {
        party *p = t->live[i];
        p->left.n = 0;
        p->held = 0;
        p->cursor = &cursors[i];
        tutti__cursor_seek(p->cursor, p->side, tutti__side_tell(p->side, r->lo));
        if (next_run(p, r)) heap_push(t->heap, &runs, p, run_before);
    }
    for (tutti_off at = r->lo; runs > 0 || holders > 0;) {
        while (holders > 0 && t->holders[0]->held_to <= at) {
            t->holders[0]->held = 0;
            heap_pop(t->holders, &holders, later_side);
        }
        if (holders == 0) {
            if (runs == 0) break;
            at = tutti__max(at, t->heap[0]->at);
        }
        while (runs > 0 && t->heap[0]->at <= at) { /* those that begin here hold, too */
            party *p = t->heap[0];
            if (--t->budget < 0) return give_up();
            p->held_to = p->run_end;
            if (!p->held) heap_push(t->holders, &holders, p, later_side);
            p->held = 1;
            if (next_run(p, r))
                heap_sink(t->heap, runs, 0, run_before);
            else
                heap_pop(t->heap, &runs, run_before);
        }
        party *p = t->holders[0];
        if (p->held_to <= at) continue;
        const tutti_off to = runs > 0 ? tutti__min(p->held_to, t->heap[0]->at) : p->held_to;
        const tutti__joiner j = {&p->left, 0, 0};
        TUTTI_TRY(tutti__join_extent(&j, at, to));
        at = to;
    }
    return TUTTI_OK;
}

/* ---- regions */

static tutti_err region_disjoint(const trim *t, const range *r, int *disjoint_out) {
    tutti__side *s = tutti__malloc(t->live_n * sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < t->live_n; i++) s[i] = t->live[i]->side;
    const tutti_err err =
        tutti__sides_disjoint((int)t->live_n, s, r->lo, r->hi, disjoint_out, NULL);
    tutti__free(s);
    return err;
}

/* A contested region, with the sides that reach into it. */
static tutti_err region_divide(trim *t, const range *r) {
    int disjoint = 0;
    TUTTI_TRY(region_disjoint(t, r, &disjoint));
    if (disjoint) return TUTTI_OK;
    tutti__cursor *cursors = tutti__malloc(t->live_n * sizeof *cursors);
    if (!cursors) return TUTTI_ERR_NOMEM;
    const tutti_err err = sweep(t, r, cursors);
    tutti__free(cursors);
    TUTTI_TRY(err);
    for (size_t i = 0; i < t->live_n; i++) {
        party *p = t->live[i];
        tutti_off left = 0;
        for (size_t k = 0; k < p->left.n; k++) left += p->left.v[k].bytes;
        if (left == tutti__side_bytes_in(p->side, r->lo, r->hi)) continue;
        TUTTI_TRY(part_keep(p, r->lo));
        TUTTI_TRY(part_left(p, r->hi));
    }
    return TUTTI_OK;
}

/* Regions in order: where a side begins before the end of all that began before it.  Between two of
 * them at most one side goes on, so that all regions together have not many more sides than there
 * are. */
static tutti_err regions(trim *t) {
    size_t next = 0;
    tutti_off reach = INT64_MIN;
    for (size_t i = 0; i < t->n;) {
        range r = {t->v[i].first, 0};
        if (r.lo >= reach) { /* nobody is there yet */
            reach = t->v[i++].end;
            continue;
        }
        for (r.hi = r.lo; i < t->n && t->v[i].first <= r.hi && t->v[i].first < reach; i++) {
            r.hi = tutti__max(r.hi, tutti__min(reach, t->v[i].end));
            reach = tutti__max(reach, t->v[i].end);
        }
        for (; next < t->n && t->v[next].first < r.hi; next++) t->live[t->live_n++] = &t->v[next];
        size_t kept = 0;
        for (size_t k = 0; k < t->live_n; k++)
            if (t->live[k]->end > r.lo) t->live[kept++] = t->live[k];
        t->live_n = kept;
        TUTTI_TRY(region_divide(t, &r));
    }
    return TUTTI_OK;
}

/* ---- all of it */

static int by_first(const void *a, const void *b) {
    const party *p = a, *q = b;
    if (p->first != q->first) return p->first < q->first ? -1 : 1;
    return p->index - q->index;
}

static void parties_find(trim *t, int n, const tutti__side *sides, tutti_off lo, tutti_off hi) {
    for (int i = 0; i < n; i++) {
        const tutti_off from = tutti__side_tell(sides[i], lo), to = tutti__side_tell(sides[i], hi);
        TUTTI_ASSERT(tutti__side_monotone(sides[i]) && tutti__side_is_valid(sides[i]));
        if (from >= to) continue;
        const tutti_off first = offset_at(sides[i], from), end = offset_at(sides[i], to - 1) + 1;
        t->v[t->n++] =
            (party){.index = i, .side = sides[i], .first = first, .end = end, .done = first};
    }
    qsort(t->v, t->n, sizeof *t->v, by_first);
}

/* The side of a party; what is new counts. */
static tutti_err party_result(trim *t, party *p, tutti__side *out) {
    tutti__side s = {0, NULL};
    TUTTI_TRY(part_keep(p, p->end));
    const tutti_count parts = p->parts;
    p->parts = 0;
    if (parts == 1)
        s = p->part[0]; /* the very same, if nothing was lost */
    else
        TUTTI_TRY(tutti__side_cat(parts, p->part, &s));
    const size_t size = s.node && s.node != p->side.node ? tutti__side_size(s) : 0;
    if (size > t->limit) {
        tutti__side_free(&s);
        return give_up();
    }
    TUTTI_ASSERT(tutti__side_is_valid(s) && tutti__side_monotone(s));
    TUTTI_ASSERT(tutti__side_bytes(s) <= tutti__side_bytes(p->side));
    t->limit -= size;
    *out = s;
    return TUTTI_OK;
}

tutti_err tutti__sides_trim(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                            tutti__side *trimmed_out, size_t limit) {
    const size_t count = (size_t)tutti__max(n, 0);
    trim t = {.budget = MOST_RUNS, .limit = limit};
    tutti_err err = TUTTI_ERR_NOMEM;
    tutti__side *result = tutti__calloc(count, sizeof *result);
    t.v = tutti__malloc(count * sizeof *t.v);
    t.live = tutti__malloc(count * 3 * sizeof *t.live);
    if (result && t.v && t.live) {
        t.heap = t.live + count;
        t.holders = t.heap + count;
        parties_find(&t, n, sides, lo, hi);
        err = regions(&t);
        for (size_t i = 0; i < t.n && err == TUTTI_OK; i++)
            err = party_result(&t, &t.v[i], &result[t.v[i].index]);
        for (size_t i = 0; i < t.n; i++) {
            for (tutti_count k = 0; k < t.v[i].parts; k++) tutti__side_free(&t.v[i].part[k]);
            tutti__free(t.v[i].part);
            tutti__extents_free(&t.v[i].left);
        }
    }
    for (size_t i = 0; i < count && result; i++) {
        if (err == TUTTI_OK)
            trimmed_out[i] = result[i];
        else
            tutti__side_free(&result[i]);
    }
    tutti__free(t.live);
    tutti__free(t.v);
    tutti__free(result);
    return err;
}
