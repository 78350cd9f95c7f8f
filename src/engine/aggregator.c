/* engine: the aggregator.  Each of its windows goes through these phases:
 *
 *   write   IDLE -> FILL   the slot is open, messages from other groups are awaited
 *               [-> FULL   in the background, depending on the pipeline: all windows fill first]
 *                -> STORE  the bytes are written: one run if the window is full, otherwise exactly
 *                          the runs that ranks have requested
 *   read    IDLE -> FETCH  the requested bytes are read once, with small holes
 *                -> SERVE  the slot is open, other groups get one message each
 *
 * With overlapping writers (ordered) every contribution is a message.  Messages are received and
 * placed one after the other in rank order, so that the bytes of the highest rank remain.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"

/* ---- overlap: the algorithms of Feki and Gabriel as conditions for phase changes of windows.  The
 * windows of one rank satisfy the conditions in the order of their cycles. */

typedef struct {
    int blocks;               /* whether file access blocks */
    int work_one;             /* whether only one window is active at a time */
    int fill_one, store_one;  /* write: whether only one window is filled (stored) at a time */
    int fetch_one, serve_one; /* read: whether only one window is fetched (served) at a time */
    /* write: whether all windows are full before one is stored; read: whether all are fetched
     * before one is served */
    int all_first;
} gate;

/* clang-format off */
static const gate gates[2][TUTTI_PIPELINE_WRITE_COMM_2 + 1] = {{
    /*                               blocks  work  fill  store  fetch  serve  all first */
    [TUTTI_PIPELINE_NONE]         = {1,      1,    0,    0,     0,     0,     0},
    [TUTTI_PIPELINE_COMM]         = {1,      0,    0,    0,     1,     0,     0},
    [TUTTI_PIPELINE_WRITE]        = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM]   = {0,      0,    1,    1,     1,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM_2] = {0,      0,    0,    0,     0,     0,     0},
}, {/* operations in two halves (in the background): windows have their own memory, and no file
     * access blocks; see cycles.h */

    [TUTTI_PIPELINE_NONE]         = {0,      0,    1,    0,     0,     1,     1},
    [TUTTI_PIPELINE_COMM]         = {0,      0,    0,    0,     0,     0,     1},
    [TUTTI_PIPELINE_WRITE]        = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM]   = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM_2] = {0,      0,    0,    0,     0,     0,     0},
}};
/* clang-format on */

/* Return whether some window has not been filled (write) or fetched (read) completely. */
static int has_incomplete_window(const tutti__run *r) {
    if (r->window_next >= 0) return 1;
    for (int i = 0; i < r->window_slots; i++)
        if (r->window[i].phase == TUTTI__FILL ||
            (r->window[i].phase == TUTTI__FETCH && r->window[i].io.request))
            return 1;
    return 0;
}

/* Return whether a window other than `w` is in `phase`; for TUTTI__IDLE: is not idle. */
static int is_other_in(const tutti__run *r, const tutti__window *w, tutti__phase phase) {
    for (int i = 0; i < r->window_slots; i++)
        if (&r->window[i] != w && (r->window[i].phase == phase) == (phase != TUTTI__IDLE)) return 1;
    return 0;
}

/* Return whether another window has messages in the same auxiliary buffer. */
static int is_aux_in_use(const tutti__run *r, const tutti__window *w) {
    for (int i = 0; r->aux && i < r->window_slots; i++) {
        const tutti__window *o = &r->window[i];
        if (o != w && o->aux == w->aux && (o->phase == TUTTI__FILL || o->phase == TUTTI__SERVE))
            return 1;
    }
    return 0;
}

/* Open the window of the next cycle in `w`; return 0 if no window may be opened now. */
static int open_next_window(tutti__run *r, tutti__window *w) {
    const tutti__two_phase *t = r->two;
    const gate *g = &gates[r->halves != 0][r->two->pipeline];
    if (r->window_next < 0) return 0;
    if (g->work_one && is_other_in(r, w, TUTTI__IDLE)) return 0;
    if (r->op->is_write ? g->fill_one && is_other_in(r, w, TUTTI__FILL)
                        : g->fetch_one && is_other_in(r, w, TUTTI__FETCH))
        return 0;
    tutti__window_begin(r, w, &t->incoming, r->window_next);
    for (int i = 0; i < w->incoming->sender_groups; i++) {
        const tutti__sender_group *b = &w->incoming->senders[i];
        if (!t->ordered && b->group == t->groups->own)
            w->local += tutti__senders_bytes(w->incoming, b, w->lo, w->hi);
        else
            tutti__traffic_add(r, w, b);
    }
    w->total += w->local;
    w->io.incoming = w->incoming;
    w->io.cycle = w->cycle;
    w->io.lo = w->lo;
    w->io.hi = w->hi;
    w->io.total = t->ordered && r->op->is_write ? 0 : w->total;
    w->io.stage = w->stage;
    r->window_next = tutti__incoming_next(t, &t->incoming, w->cycle + 1, r->op->eof);
    return 1;
}

/* ---- writing */

/* Receive messages of overlapping ranks one at a time, in rank order.  Return 1 if all have been
 * placed. */
static int receive_ordered(tutti__run *r, tutti__window *w) {
    if (!tutti__window_is_first(r, w)) return 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->done) continue;
        if (!m->started) {
            w->aux_used = 0;
            (void)tutti__traffic_place(w, m);
            tutti__traffic_receive(r, m);
        }
        if (!tutti__traffic_test(r, m)) return 0;
        tutti__traffic_unpack(r, w, m);
        m->done = 1;
    }
    return 1;
}

static int receive_any(tutti__run *r, tutti__window *w) {
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

int tutti__aggregator_write(tutti__run *r, tutti__window *w) {
    const tutti__two_phase *t = r->two;
    const tutti_file *f = r->file;
    const gate *g = &gates[r->halves != 0][r->two->pipeline];
    switch (w->phase) {
    case TUTTI__IDLE:
        if (is_aux_in_use(r, w) || !open_next_window(r, w)) return 0;
        if (!t->ordered) (void)receive_any(r, w); /* post receives first */
        tutti__slot_open(w->slot, tutti__slot_key(t->my_agg, w->cycle));
        tutti__event_signal(r->event);
        w->phase = TUTTI__FILL;
        return 1;
    case TUTTI__FILL:
        if (!w->full) {
            if (!(t->ordered ? receive_ordered(r, w) : receive_any(r, w))) return 0;
            if (!tutti__slot_is_done(w->slot, w->local)) return 0;
            w->full = 1;
            tutti__slot_in_file(w->slot);
            tutti__trace_event("exchange", "fill", w->since, w->total, w->cycle);
        }
        if (tutti__run_too_early(r)) return 0;
        if (g->store_one && is_other_in(r, w, TUTTI__STORE)) return 0;
        if (r->halves) tutti__slot_close(w->slot); /* no rank waits for the file */
        if (!g->all_first) break;
        w->phase = TUTTI__FULL;
        return 1;
    case TUTTI__FULL:
        if (has_incomplete_window(r)) return 0;
        break;
    default:
        if (!tutti__window_io_end(r, &w->io, 0)) return 0;
        tutti__slot_close(w->slot);
        w->phase = TUTTI__IDLE;
        return 1;
    }

    /* The window is full.  Other ranks may write while this rank computes checksums. */
    if (!w->listed) (void)tutti__window_io_prepare(r, &w->io);
    w->listed = 1;

    /* The kernel serializes writes through the page cache of a local file system, and a rank that
     * waits there keeps a core busy.  So the ranks of a node write one after the other, and the
     * other ranks copy in the meantime, or yield.  If accesses wait for a device or a server, they
     * are not serialized, since the waiting times would add up. */
    const int waits = f->layout.remote || f->layout.synchronous || f->opt.direct_io;
    const int excludes =
        t->shared && t->groups->size > 1 && !waits && !r->op->store->ops->asynchronous;
    tutti__slot *first = excludes ? tutti__stage_slot(&r->stage, 0, 0) : NULL;
    if (first && !tutti__slot_writer_enter(first)) return 0;
    /* before this rank blocks, it opens the next windows, so that other ranks can fill them */
    for (int i = 0; g->blocks && i < r->window_slots; i++)
        if (r->window[i].phase == TUTTI__IDLE) (void)tutti__aggregator_write(r, &r->window[i]);
    if (w->io.n > 0 && r->err == TUTTI_OK) tutti__window_io_submit(r, &w->io);
    if (g->blocks) (void)tutti__window_io_end(r, &w->io, 1);
    if (first) {
        tutti__slot_writer_leave(first);
        tutti__event_signal(r->event);
    }
    if (g->blocks) tutti__slot_close(w->slot);
    w->phase = g->blocks ? TUTTI__IDLE : TUTTI__STORE;
    return 1;
}

/* ---- reading */

/* Send as many messages as fit into the auxiliary buffer at a time.  Return 1 if all have been
 * sent. */
static int send_all(tutti__run *r, tutti__window *w) {
    int in_flight = 0, waiting = 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->started && !m->done) m->done = tutti__traffic_test(r, m);
        in_flight += m->started && !m->done;
        waiting += !m->started;
    }
    if (!waiting) return !in_flight;
    /* messages to a rank must be sent in the order of windows: wait until earlier windows have sent
     * theirs */
    for (int i = 0; i < r->window_slots; i++) {
        const tutti__window *o = &r->window[i];
        if (o->phase != TUTTI__SERVE || o->cycle >= w->cycle) continue;
        for (int k = 0; k < o->traffics; k++)
            if (!o->traffic[k].started) return 0;
    }
    if (!in_flight) w->aux_used = 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (!m->started && tutti__traffic_place(w, m)) tutti__traffic_send(r, w, m);
    }
    return 0;
}

int tutti__aggregator_read(tutti__run *r, tutti__window *w) {
    const gate *g = &gates[r->halves != 0][r->two->pipeline];
    switch (w->phase) {
    case TUTTI__IDLE:
        if (tutti__run_too_early(r) || !open_next_window(r, w)) return 0;
        tutti__slot_in_file(w->slot);
        tutti__window_io_begin(r, &w->io);
        if (g->blocks) (void)tutti__window_io_end(r, &w->io, 1);
        w->phase = TUTTI__FETCH;
        return 1;
    case TUTTI__FETCH:
        if (!tutti__window_io_end(r, &w->io, 0)) return 0;
        tutti__slot_close(w->slot);
        if (!tutti__window_is_first(r, w)) return 0;
        if (r->holding || (g->all_first && has_incomplete_window(r)) || is_aux_in_use(r, w) ||
            (g->serve_one && is_other_in(r, w, TUTTI__SERVE)))
            return 0;
        w->since = tutti__now();
        tutti__slot_open(w->slot, tutti__slot_key(r->two->my_agg, w->cycle));
        tutti__event_signal(r->event);
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
