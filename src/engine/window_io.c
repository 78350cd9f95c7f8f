/* engine: which runs of the file a window stands for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/window_io.h"

#include <string.h>

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
    int dense; /* with small holes only, since one rank's bytes go from end to end with such */
} span;

static span span_of(const tutti__window_io *w) {
    tutti_off from = 0, to = 0; /* the longest stretch of one side with small holes only */
    span all = {TUTTI__OFF_END, 0, 0};
    for (int i = 0; i < w->incoming->n; i++) {
        const tutti__side s = w->incoming->side[i];
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

static int any_irregular(const tutti__window_io *w) {
    for (int i = 0; i < w->incoming->n; i++)
        if (tutti__side_irregular(w->incoming->side[i])) return 1;
    return 0;
}

/* The sides that have bytes here, with small holes closed; *n_out of them have been made, also on failure. */
static tutti_err sides_coarse(const tutti__window_io *w, tutti__side *v, int *n_out) {
    *n_out = 0;
    for (int i = 0; i < w->incoming->n; i++) {
        const tutti__side s = w->incoming->side[i];
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        TUTTI_TRY(tutti__side_coarse(s, w->gap, &v[*n_out]));
        ++*n_out;
    }
    return TUTTI_OK;
}

static tutti_err wanted_union(tutti__window_io *w, const span *all) {
    int n = 0;
    tutti__side *v = tutti__malloc((size_t)w->incoming->n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    tutti_err err = sides_coarse(w, v, &n);
    if (err == TUTTI_OK) err = tutti__sides_union(n, v, all->first, all->last, w->gap, &w->extents);
    while (n > 0) tutti__side_free(&v[--n]);
    tutti__free(v);
    return err;
}

/* Of lists that are most of the window (if they do not overlap) nobody looks for holes. */
static tutti_err wanted_add(tutti__window_io *w) {
    const span all = span_of(w);
    if (all.dense || (2 * w->total >= w->hi - w->lo && any_irregular(w)))
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

/* Put what the file has in [lo, hi) into the holes between extents [from, to); `bite` is for that. */
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

/* Behind the end of the file, which all agree on, nothing is there to be read. */
static void holes_clear(const tutti__window_io *w, size_t from, size_t to) {
    const tutti__extent *e = w->extents.v;
    for (size_t i = from; i + 1 < to; i++) {
        const tutti_off hole = extent_end(&e[i]);
        memset(w->stage + (hole - w->lo), 0, (size_t)(e[i + 1].offset - hole));
    }
}

/* Is the hole behind an extent small, and may it be written over? */
static int hole_closes(const tutti__window_io *w, const tutti__extent *e) {
    const tutti_off hole = extent_end(e);
    return e[1].offset - hole <= w->gap && (w->mend || hole >= w->zeros);
}

/* Extents with small holes between them become one run, if that saves requests. */
static tutti_err mended_add(tutti__window_io *w, char *bite) {
    const tutti__extent *e = w->extents.v;
    for (size_t from = 0, to; from < w->extents.n; from = to) {
        for (to = from + 1; to < w->extents.n && hole_closes(w, &e[to - 1]);) to++;
        if (to - from <= 2)
            to = from + 1;
        else if (extent_end(&e[from]) >= w->zeros)
            holes_clear(w, from, to);
        else
            TUTTI_TRY(holes_fill(w, from, to, bite));
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

tutti_err tutti__window_io_make(tutti__window_io *w, int is_write) {
    const tutti_off size = w->hi - w->lo;
    w->n = 0;
    w->asked = 0;
    w->extents.n = 0;
    if (!is_write) return wanted_add(w);
    return w->total == size ? run_add(w, w->lo, size) : named_add(w);
}

void tutti__window_mend(tutti__window_io *w, const tutti__op *op) {
    const int alone = !tutti__is_worker() && !op->file->requests;
    w->mend = alone && tutti__file_may_rmw(op->file) ? op->store : NULL;
    w->zeros = alone ? op->zeros : TUTTI__OFF_END;
}

void tutti__window_io_free(tutti__window_io *w) {
    tutti__free(w->run);
    w->run = NULL;
    w->n = w->room = 0;
    tutti__extents_free(&w->extents);
}
