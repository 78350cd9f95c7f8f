/* collective: home, the aggregator's part.
 *
 *   write   IDLE -> FILL   the slot is open, messages from other groups are awaited
 *                -> STORE  the window's named bytes go to the file: one run if it is full,
 *                          otherwise exactly the runs that somebody named
 *   read    IDLE -> FETCH  the bytes somebody wants come from the file, once; small gaps along with them
 *                -> SERVE  the slot is open, other groups get one message each
 *
 * With overlapping writers (ordered) every contribution is a message, received and placed one after the
 * other in rank order, so that the highest rank wins.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/run.h"

#include "base/trace.h"

/* A gap of this size is read along when fetching: cheaper than another request. */
static const tutti_off READ_GAP = 32 << 10;

/* ---- file side */

static tutti_err io_add(tutti__run *r, tutti__work *w, int n, tutti_off offset, tutti_off bytes) {
    if (n >= w->io_room) {
        const int room = w->io_room ? 2 * w->io_room : 64;
        tutti_io_run *io = tutti__realloc(w->io, (size_t)room * sizeof *io);
        if (!io) return TUTTI_ERR_NOMEM;
        w->io = io;
        w->io_room = room;
    }
    w->io[n] = (tutti_io_run){r->op->shift + offset, w->stage + (offset - w->lo), (size_t)bytes};
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

/* More than half of the window is wanted: read from the first to the last wanted byte. */
static tutti_err fetch_span(tutti__run *r, tutti__work *w) {
    tutti_off first = TUTTI__OFF_END, last = 0;
    for (int i = 0; i < w->load->n; i++) {
        const tutti__side s = w->load->side[i];
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        first = tutti__min(first, tutti__side_next(s, w->lo));
        last = tutti__max(last, side_end(s, w->hi));
    }
    return io_add(r, w, 0, first, last - first);
}

/* Fill w->io; returns the number of runs in *n_out. */
static tutti_err io_make(tutti__run *r, tutti__work *w, int is_write, int *n_out) {
    w->asked = 0;
    *n_out = 1;
    if (is_write && !r->two->ordered && w->total == w->hi - w->lo)
        return io_add(r, w, 0, w->lo, w->hi - w->lo);
    if (!is_write && 2 * w->total >= w->hi - w->lo) return fetch_span(r, w);
    TUTTI_TRY(tutti__sides_union(w->load->n, w->load->side, w->lo, w->hi, is_write ? 0 : READ_GAP,
                                 &w->file));
    for (size_t i = 0; i < w->file.n; i++)
        TUTTI_TRY(io_add(r, w, (int)i, w->file.v[i].offset, w->file.v[i].bytes));
    *n_out = (int)w->file.n;
    return TUTTI_OK;
}

static void io_begin(tutti__run *r, tutti__work *w, int is_write) {
    int n = 0;
    w->request = NULL;
    if (r->err != TUTTI_OK) return;
    const double start = tutti__now();
    tutti_err err = io_make(r, w, is_write, &n);
    if (err == TUTTI_OK && n > 0)
        err = tutti__store_begin(r->file->store, is_write, w->io, n, &w->request);
    if (err != TUTTI_OK) {
        tutti__run_fail(r, err);
        w->request = NULL;
    }
    r->file->last.seconds_file += tutti__now() - start;
    r->file->last.windows++;
}

/* 1 if the file access has ended. */
static int io_ended(tutti__run *r, tutti__work *w, int is_write) {
    tutti_off done = 0;
    if (!w->request) return 1;
    const double start = tutti__now();
    const int ended = tutti__store_test(w->request);
    if (ended) {
        const tutti_err err = tutti__store_finish(&w->request, &done);
        if (err != TUTTI_OK)
            tutti__run_fail(r, err);
        else if (!is_write && done < w->asked)
            tutti__run_fail(r, tutti__error_set(TUTTI_ERR_TRUNCATED, 0, r->op->shift + w->lo,
                                                "%lld of %lld bytes are gone",
                                                (long long)(w->asked - done), (long long)w->asked));
    }
    r->file->last.seconds_file += tutti__now() - start;
    return ended;
}

/* ---- exchange side */

static int is_local(const tutti__run *r, const tutti__batch *b) {
    return !r->two->ordered && b->group == r->two->groups->mine;
}

static void window_open(tutti__run *r, tutti__work *w) {
    tutti__work_begin(r, w, &r->two->home, r->home_next);
    for (int i = 0; i < w->load->batches; i++) {
        const tutti__batch *b = &w->load->batch[i];
        if (is_local(r, b))
            w->local += tutti__batch_bytes(w->load, b, w->lo, w->hi);
        else
            (void)tutti__traffic_add(r, w, b);
    }
    w->total += w->local;
    r->home_next = tutti__load_next(r, &r->two->home, w->cycle + 1);
}

/* Writing with overlaps: one message at a time, in rank order.  1 if all have been placed. */
static int receive_ordered(tutti__run *r, tutti__work *w) {
    if (!tutti__work_is_first(r, w)) return 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->done) continue;
        if (!m->started) {
            m->at = m->n == 1 ? w->stage + (w->extents.v[m->first].offset - w->lo) : w->aux;
            tutti__traffic_receive(r, m);
        }
        if (!tutti__traffic_test(r, m)) return 0;
        tutti__traffic_unpack(r, w, m);
        m->done = 1;
    }
    return 1;
}

static int receive_any(tutti__run *r, tutti__work *w) {
    int all = 1;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->done) continue;
        if (!m->started && tutti__traffic_place(w, m)) tutti__traffic_receive(r, m);
        if (m->started && tutti__traffic_test(r, m)) {
            tutti__traffic_unpack(r, w, m);
            m->done = 1;
        }
        all &= m->done;
    }
    return all;
}

/* Has an earlier window messages that wait for room?  Messages to one rank must leave in order. */
static int earlier_unsent(const tutti__run *r, const tutti__work *w) {
    for (int i = 0; i < r->homes; i++) {
        const tutti__work *o = &r->work[i];
        if (o->phase != TUTTI__SERVE || o->cycle >= w->cycle) continue;
        for (int k = 0; k < o->traffics; k++)
            if (!o->traffic[k].started) return 1;
    }
    return 0;
}

/* Reading: send what fits into the auxiliary buffer, wait, go on.  1 if all has been sent. */
static int send_all(tutti__run *r, tutti__work *w) {
    int in_flight = 0, waiting = 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->started && !m->done) m->done = tutti__traffic_test(r, m);
        in_flight += m->started && !m->done;
        waiting += !m->started;
    }
    if (waiting && earlier_unsent(r, w)) return 0;
    if (waiting && !in_flight) w->aux_used = 0;
    for (int i = 0; i < w->traffics && waiting; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->started || !tutti__traffic_place(w, m)) continue;
        tutti__traffic_send(r, w, m);
    }
    return !waiting && !in_flight;
}

static int home_write(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (r->home_next < 0) return 0;
        window_open(r, w);
        if (!r->two->ordered) (void)receive_any(r, w); /* receives first */
        tutti__slot_open(w->slot, tutti__slot_key(r->two->my_agg, w->cycle));
        w->phase = TUTTI__FILL;
        return 1;
    case TUTTI__FILL:
        if (!(r->two->ordered ? receive_ordered(r, w) : receive_any(r, w))) return 0;
        if (!tutti__slot_is_done(w->slot, w->local)) return 0;
        tutti__slot_close(w->slot);
        tutti__trace_event("exchange", "fill", w->since, w->total, w->cycle);
        w->since = tutti__now();
        io_begin(r, w, 1);
        w->phase = TUTTI__STORE;
        return 1;
    default:
        if (!io_ended(r, w, 1)) return 0;
        tutti__trace_event("store", "write", w->since, w->asked, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}

static int home_read(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (r->home_next < 0) return 0;
        window_open(r, w);
        w->since = tutti__now();
        io_begin(r, w, 0);
        w->phase = TUTTI__FETCH;
        return 1;
    case TUTTI__FETCH:
        if (!io_ended(r, w, 0) || !tutti__work_is_first(r, w)) return 0;
        tutti__trace_event("store", "read", w->since, w->asked, w->cycle);
        w->since = tutti__now();
        tutti__slot_open(w->slot, tutti__slot_key(r->two->my_agg, w->cycle));
        (void)send_all(r, w);
        w->phase = TUTTI__SERVE;
        return 1;
    default:
        if (!send_all(r, w)) return 0;
        if (!tutti__slot_is_done(w->slot, w->local)) return 0;
        tutti__slot_close(w->slot);
        tutti__trace_event("exchange", "serve", w->since, w->total, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}

int tutti__home_progress(tutti__run *r, tutti__work *w) {
    return r->op->plan->is_write ? home_write(r, w) : home_read(r, w);
}
