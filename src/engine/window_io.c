/* engine: which runs of the file a window stands for, and moving them.
 *
 *   reading   the bytes that somebody wants, in as few requests as small holes allow
 *   writing   the bytes that somebody has named; where holes may be written over, small ones are
 *             filled in first, from the file or with zeros
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include <string.h>

#include "base/trace.h"

/* Read at a time when holes are filled in. */
static const tutti_off BITE = 256 << 10;

static tutti_err run_add(tutti__window_io *w, tutti_off offset, tutti_off bytes) {
    if (w->n >= w->room) {
        const int room = w->room ? 2 * w->room : 64;
        tutti_io_run *run = tutti__realloc(w->run, (size_t)room * sizeof *run);
        if (!run) return TUTTI_ERR_NOMEM;
        w->run = run;
        w->room = room;
    }
    w->run[w->n++] = (tutti_io_run){w->shift + offset, w->stage + (offset - w->lo), (size_t)bytes};
    w->asked += bytes;
    return TUTTI_OK;
}

/* Offset behind the last byte of a side in the window, which has some. */
static tutti_off side_end(tutti__side s, tutti_off hi) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti__cursor_seek(&c, s, tutti__side_tell(s, hi) - 1);
    (void)tutti__cursor_peek(&c, &b);
    return b.offset + 1;
}

/* ---- reading */

/* From the first to the last byte that somebody wants. */
typedef struct {
    tutti_off first, last;
    int dense;     /* with small holes only, since one rank's bytes go from end to end with such */
    int irregular; /* some rank's bytes are a list */
} span;

static span span_of(const tutti__window_io *w) {
    tutti_off from = 0, to = 0; /* the longest stretch of one side with small holes only */
    span all = {TUTTI__OFF_END, 0, 0, 0};
    for (int i = 0; i < w->incoming->n; i++) {
        const tutti__side s = w->incoming->side[i];
        all.irregular |= tutti__side_irregular(s);
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        const tutti_off first = tutti__side_next(s, w->lo), last = side_end(s, w->hi);
        all.first = tutti__min(all.first, first);
        all.last = tutti__max(all.last, last);
        if (last - first <= to - from || tutti__side_hole(s) > w->gap) continue;
        from = first;
        to = last;
    }
    all.dense = to > from && from - all.first <= w->gap && all.last - to <= w->gap;
    return all;
}

/* The extents that somebody wants, with small holes closed. */
static tutti_err wanted_union(tutti__window_io *w, const span *all) {
    int n = 0;
    tutti_err err = TUTTI_OK;
    tutti__side *v = tutti__malloc((size_t)w->incoming->n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < w->incoming->n && err == TUTTI_OK; i++) {
        const tutti__side s = w->incoming->side[i];
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        err = tutti__side_coarse(s, w->gap, &v[n]);
        if (err == TUTTI_OK) n++;
    }
    if (err == TUTTI_OK) err = tutti__sides_union(n, v, all->first, all->last, w->gap, &w->extents);
    while (n > 0) tutti__side_free(&v[--n]);
    tutti__free(v);
    return err;
}

/* In lists that are most of the window (if they do not overlap) nobody looks for holes. */
static tutti_err wanted_add(tutti__window_io *w) {
    const span all = span_of(w);
    if (all.dense || (2 * w->total >= w->hi - w->lo && all.irregular))
        return run_add(w, all.first, all.last - all.first);
    TUTTI_TRY(wanted_union(w, &all));
    for (size_t i = 0; i < w->extents.n; i++)
        TUTTI_TRY(run_add(w, w->extents.v[i].offset, w->extents.v[i].bytes));
    return TUTTI_OK;
}

/* ---- writing */

static tutti_off extent_end(const tutti__extent *e) {
    return e->offset + e->bytes;
}

/* Put what the file has in [lo, hi) into the holes between extents [from, to); `bite` is for
 * that. */
static tutti_err holes_fill(tutti__window_io *w, size_t from, size_t to, char *bite) {
    const tutti__extent *e = w->extents.v;
    const tutti_off end = extent_end(&e[to - 1]);
    size_t i = from; /* the hole behind extent i is the next one */
    for (tutti_off lo = extent_end(&e[from]); lo < end && i + 1 < to;) {
        tutti_off done = 0, hi = tutti__min(lo + BITE, end);
        const tutti_io_run run = {w->shift + lo, bite, (size_t)(hi - lo)};
        TUTTI_TRY(tutti__store_read(w->mend, &run, 1, &done));
        if (done < hi - lo) memset(bite + done, 0, (size_t)(hi - lo - done));
        for (; i + 1 < to && extent_end(&e[i]) < hi; i++) {
            const tutti_off a = tutti__max(extent_end(&e[i]), lo),
                            b = tutti__min(e[i + 1].offset, hi);
            memcpy(w->stage + (a - w->lo), bite + (a - lo), (size_t)(b - a));
            if (e[i + 1].offset > hi) break; /* it goes on in the next bite */
        }
        lo = tutti__max(hi, extent_end(&e[i]));
    }
    return TUTTI_OK;
}

/* Extents with small holes between them that may be written over become one run, if that saves
 * requests. */
static tutti_err mended_add(tutti__window_io *w, char *bite) {
    const tutti__extent *e = w->extents.v;
    for (size_t from = 0, to; from < w->extents.n; from = to) {
        for (to = from + 1; to < w->extents.n; to++) {
            const tutti_off hole = extent_end(&e[to - 1]);
            if (e[to].offset - hole > w->gap || (!w->mend && hole < w->zeros)) break;
        }
        if (to - from <= 2) {
            to = from + 1;
        } else if (extent_end(&e[from]) >= w->zeros) { /* behind the end of the file */
            for (size_t i = from; i + 1 < to; i++) {
                const tutti_off hole = extent_end(&e[i]);
                memset(w->stage + (hole - w->lo), 0, (size_t)(e[i + 1].offset - hole));
            }
        } else {
            TUTTI_TRY(holes_fill(w, from, to, bite));
        }
        TUTTI_TRY(run_add(w, e[from].offset, extent_end(&e[to - 1]) - e[from].offset));
    }
    return TUTTI_OK;
}

static tutti_err named_add(tutti__window_io *w) {
    TUTTI_TRY(tutti__sides_union(w->incoming->n, w->incoming->side, w->lo, w->hi, 0, &w->extents));
    if ((w->mend || w->zeros < w->hi) && w->extents.n > 2) {
        char *bite = tutti__malloc_aligned(4096, (size_t)tutti__min(BITE, w->hi - w->lo));
        if (!bite) return TUTTI_ERR_NOMEM;
        const tutti_err err = mended_add(w, bite);
        tutti__free(bite);
        return err;
    }
    for (size_t i = 0; i < w->extents.n; i++)
        TUTTI_TRY(run_add(w, w->extents.v[i].offset, w->extents.v[i].bytes));
    return TUTTI_OK;
}

/* Checksums of blocks that are all here. */
static tutti_err window_sums(const tutti__op *op, const tutti__window_io *w) {
    const tutti_off by = op->shift - op->file->origin;
    if (w->total == w->hi - w->lo)
        return tutti__sums_add(op->sums, w->lo + by, w->stage, w->hi - w->lo);
    for (size_t i = 0; i < w->extents.n; i++) {
        const tutti__extent e = w->extents.v[i];
        TUTTI_TRY(tutti__sums_add(op->sums, e.offset + by, w->stage + (e.offset - w->lo), e.bytes));
    }
    return TUTTI_OK;
}

/* ---- the access */

int tutti__window_io_prepare(tutti__run *r, tutti__window_io *w) {
    const tutti__op *op = r->op;
    const tutti_off size = w->hi - w->lo;
    TUTTI_ASSERT(!w->request);
    w->n = 0;
    w->asked = 0;
    w->extents.n = 0;
    w->since = tutti__now();
    if (r->err != TUTTI_OK) return 0;
    /* Holes are written over only by an operation that blocks, while no other is under way: one
     * that is could be writing there. */
    w->shift = op->shift;
    w->gap = r->two->gap;
    w->mend = op->sole && tutti__file_may_rmw(op->file) ? op->store : NULL;
    w->zeros = op->sole ? op->zeros : TUTTI__OFF_END;
    tutti_err err = !op->is_write      ? wanted_add(w)
                    : w->total == size ? run_add(w, w->lo, size)
                                       : named_add(w);
    if (err == TUTTI_OK && op->is_write && op->sums) err = window_sums(op, w);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    op->stats->windows++;
    op->stats->seconds_file += tutti__now() - w->since;
    TUTTI_ASSERT(err != TUTTI_OK || tutti__window_io_is_valid(w, op->is_write));
    return err == TUTTI_OK && w->n > 0;
}

void tutti__window_io_submit(tutti__run *r, tutti__window_io *w) {
    const double start = tutti__now();
    w->since = start;
    const tutti_err err =
        tutti__store_begin(r->op->store, r->op->is_write, w->run, w->n, &w->request);
    if (err != TUTTI_OK) {
        w->request = NULL;
        tutti__run_fail(r, err);
    }
    r->op->stats->seconds_file += tutti__now() - start;
}

void tutti__window_io_begin(tutti__run *r, tutti__window_io *w) {
    if (tutti__window_io_prepare(r, w)) tutti__window_io_submit(r, w);
}

int tutti__window_io_end(tutti__run *r, tutti__window_io *w, int wait) {
    if (!w->request) return 1;
    const double start = tutti__now();
    const int ended = tutti__store_test(w->request);
    if (ended || wait) {
        tutti_off done = 0;
        /* before it has ended the store's threads may still write when it did */
        const double when = ended ? tutti__store_ended(w->request) : 0;
        const tutti_err err = tutti__store_finish(&w->request, &done);
        tutti__window_io_outcome(r, w, err, done, ended ? when : tutti__now());
    }
    r->op->stats->seconds_file += tutti__now() - start;
    return ended || wait;
}

void tutti__window_io_outcome(tutti__run *r, const tutti__window_io *w, tutti_err err,
                              tutti_off done, double when) {
    const int is_write = r->op->is_write;
    if (err == TUTTI_OK && !is_write && done < w->asked)
        err = tutti__error_set(TUTTI_ERR_TRUNCATED, 0, w->shift + w->lo,
                               "%lld of %lld bytes are gone", (long long)(w->asked - done),
                               (long long)w->asked);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    tutti__trace_span("store", is_write ? "write" : "read", w->since, when, w->asked, w->cycle);
}

void tutti__window_io_abort(tutti__window_io *w) {
    if (w->request && tutti__store_finish(&w->request, NULL) != TUTTI_OK) w->request = NULL;
}

void tutti__window_io_free(tutti__window_io *w) {
    tutti__free(w->run);
    w->run = NULL;
    w->n = w->room = 0;
    tutti__extents_free(&w->extents);
}
