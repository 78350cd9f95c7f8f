/* engine: the file runs of a window, and the access to these runs.
 *
 *   read    the requested bytes, with small holes to save requests
 *   write   the requested bytes; if holes may be overwritten, small ones are filled first, from the
 *           file or with zeros
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include <string.h>

#include "base/trace.h"

/* Bytes that are read at a time to fill holes. */
static const tutti_off FILL_BYTES = 256 << 10;

static tutti_err add_run(tutti__window_io *w, tutti_off offset, tutti_off bytes) {
    TUTTI_TRY(tutti__grow(&w->run, (size_t)w->n + 1, &w->capacity, sizeof *w->run));
    w->run[w->n++] = (tutti_io_run){w->shift + offset, w->stage + (offset - w->lo), (size_t)bytes};
    w->requested += bytes;
    return TUTTI_OK;
}

/* ---- reading */

/* The section of a window from the first to the last requested byte. */
typedef struct {
    tutti_off first, last;
    int is_dense;     /* all holes are small: one side nearly spans the section */
    int is_irregular; /* some side is a list of runs */
} span;

static span find_span(const tutti__window_io *w) {
    tutti_off from = 0, to = 0; /* the longest section of one side with small holes only */
    span all = {TUTTI__OFF_END, 0, 0, 0};
    for (int i = 0; i < w->incoming->n; i++) {
        const tutti__side s = w->incoming->side[i];
        all.is_irregular |= tutti__side_irregular(s);
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        tutti__cursor c;
        tutti__burst b = {0, 0, 0, 0};
        tutti__cursor_seek(&c, s, tutti__side_tell(s, w->hi) - 1);
        (void)tutti__cursor_peek(&c, &b);
        const tutti_off first = tutti__side_next(s, w->lo), last = b.offset + 1;
        all.first = tutti__min(all.first, first);
        all.last = tutti__max(all.last, last);
        if (last - first <= to - from || tutti__side_hole(s) > w->gap) continue;
        from = first;
        to = last;
    }
    all.is_dense = to > from && from - all.first <= w->gap && all.last - to <= w->gap;
    return all;
}

/* Add the runs to be read.  If all holes are small, or if irregular sides cover most of the window,
 * one run is read without a search for holes. */
static tutti_err add_read_runs(tutti__window_io *w) {
    const span all = find_span(w);
    if (all.is_dense || (2 * w->total >= w->hi - w->lo && all.is_irregular))
        return add_run(w, all.first, all.last - all.first);
    /* Add the requested extents, joined over small holes. */
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
    if (err == TUTTI_OK) err = tutti__sides_union(n, v, all.first, all.last, w->gap, &w->extents);
    while (n > 0) tutti__side_free(&v[--n]);
    tutti__free(v);
    TUTTI_TRY(err);
    for (size_t i = 0; i < w->extents.n; i++)
        TUTTI_TRY(add_run(w, w->extents.v[i].offset, w->extents.v[i].bytes));
    return TUTTI_OK;
}

/* ---- writing */

static tutti_off extent_end(const tutti__extent *e) {
    return e->offset + e->bytes;
}

/* Fill the holes between extents [from, to) with bytes of the file, read through `buffer`. */
static tutti_err fill_window_holes(tutti__window_io *w, size_t from, size_t to, char *buffer) {
    const tutti__extent *e = w->extents.v;
    const tutti_off end = extent_end(&e[to - 1]);
    size_t i = from; /* the next hole is after extent i */
    for (tutti_off lo = extent_end(&e[from]); lo < end && i + 1 < to;) {
        tutti_off done = 0, hi = tutti__min(lo + FILL_BYTES, end);
        const tutti_io_run run = {w->shift + lo, buffer, (size_t)(hi - lo)};
        TUTTI_TRY(tutti__store_read(w->fill_store, &run, 1, &done));
        if (done < hi - lo) memset(buffer + done, 0, (size_t)(hi - lo - done));
        for (; i + 1 < to && extent_end(&e[i]) < hi; i++) {
            const tutti_off a = tutti__max(extent_end(&e[i]), lo),
                            b = tutti__min(e[i + 1].offset, hi);
            memcpy(w->stage + (a - w->lo), buffer + (a - lo), (size_t)(b - a));
            if (e[i + 1].offset > hi) break; /* the hole continues in the next buffer */
        }
        lo = tutti__max(hi, extent_end(&e[i]));
    }
    return TUTTI_OK;
}

/* Join extents over small holes that may be overwritten, if that saves requests. */
static tutti_err add_filled_runs(tutti__window_io *w, char *buffer) {
    const tutti__extent *e = w->extents.v;
    for (size_t from = 0, to; from < w->extents.n; from = to) {
        for (to = from + 1; to < w->extents.n; to++) {
            const tutti_off hole = extent_end(&e[to - 1]);
            if (e[to].offset - hole > w->gap || (!w->fill_store && hole < w->zeros)) break;
        }
        if (to - from <= 2) {
            to = from + 1;
        } else if (extent_end(&e[from]) >= w->zeros) {
            /* the holes are beyond the end of the file */
            for (size_t i = from; i + 1 < to; i++) {
                const tutti_off hole = extent_end(&e[i]);
                memset(w->stage + (hole - w->lo), 0, (size_t)(e[i + 1].offset - hole));
            }
        } else {
            TUTTI_TRY(fill_window_holes(w, from, to, buffer));
        }
        TUTTI_TRY(add_run(w, e[from].offset, extent_end(&e[to - 1]) - e[from].offset));
    }
    return TUTTI_OK;
}

static tutti_err add_write_runs(tutti__window_io *w) {
    /* the plan has determined that the sources share no byte, unless they are ordered or have lost
     * bytes to higher ranks */
    w->extents.disjoint = w->total > 0 && !w->incoming->lost;
    TUTTI_TRY(tutti__sides_union(w->incoming->n, w->incoming->side, w->lo, w->hi, 0, &w->extents));
    if ((w->fill_store || w->zeros < w->hi) && w->extents.n > 2) {
        char *buffer = tutti__malloc_aligned(4096, (size_t)tutti__min(FILL_BYTES, w->hi - w->lo));
        if (!buffer) return TUTTI_ERR_NOMEM;
        const tutti_err err = add_filled_runs(w, buffer);
        tutti__free(buffer);
        return err;
    }
    for (size_t i = 0; i < w->extents.n; i++)
        TUTTI_TRY(add_run(w, w->extents.v[i].offset, w->extents.v[i].bytes));
    return TUTTI_OK;
}

/* Add the checksums of blocks that the window contains completely. */
static tutti_err checksum_window(const tutti__op *op, const tutti__window_io *w) {
    const tutti_off by = op->shift - op->file->origin;
    if (w->total == w->hi - w->lo)
        return tutti__checksums_add(op->checksums, w->lo + by, w->stage, w->hi - w->lo);
    for (size_t i = 0; i < w->extents.n; i++) {
        const tutti__extent e = w->extents.v[i];
        TUTTI_TRY(tutti__checksums_add(op->checksums, e.offset + by, w->stage + (e.offset - w->lo),
                                       e.bytes));
    }
    return TUTTI_OK;
}

/* ---- the access */

int tutti__window_io_prepare(tutti__run *r, tutti__window_io *w) {
    const tutti__op *op = r->op;
    const tutti_off size = w->hi - w->lo;
    TUTTI_ASSERT(!w->request);
    w->n = 0;
    w->requested = 0;
    w->extents.n = 0;
    w->since = tutti__now();
    if (r->err != TUTTI_OK) return 0;
    /* Holes are overwritten only by a blocking operation while no other operation is pending, which
     * could write into the holes at the same time. */
    w->shift = op->shift;
    w->gap = r->two->gap;
    w->fill_store = op->sole && tutti__file_may_rmw(op->file) ? op->store : NULL;
    w->zeros = op->sole ? op->zeros : TUTTI__OFF_END;
    tutti_err err = !op->is_write      ? add_read_runs(w)
                    : w->total == size ? add_run(w, w->lo, size)
                                       : add_write_runs(w);
    if (err == TUTTI_OK && op->is_write && op->checksums) err = checksum_window(op, w);
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
        /* until the request has ended, threads of the store may write its end time */
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
    if (err == TUTTI_OK && !is_write && done < w->requested)
        err = tutti__error_set(TUTTI_ERR_TRUNCATED, 0, w->shift + w->lo,
                               "short read: %lld of %lld bytes", (long long)done,
                               (long long)w->requested);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    tutti__trace_span("store", is_write ? "write" : "read", w->since, when, w->requested, w->cycle);
}

void tutti__window_io_abort(tutti__window_io *w) {
    if (w->request && tutti__store_finish(&w->request, NULL) != TUTTI_OK) w->request = NULL;
}

void tutti__window_io_free(tutti__window_io *w) {
    tutti__free(w->run);
    w->run = NULL;
    w->n = 0;
    w->capacity = 0;
    tutti__extents_free(&w->extents);
}
