/* engine: the aggregator.  Each of its windows goes through these phases:
 *
 *   write   IDLE -> FILL   the slot is open, messages from other groups are awaited
 *               [-> FULL   in the background, where the pipeline says so: all of them fill first]
 *                -> STORE  the window's named bytes go to the file: one run if it is full,
 *                          otherwise exactly the runs that somebody named
 *   read    IDLE -> FETCH  the bytes somebody wants come from the file, once, with small gaps
 *                -> SERVE  the slot is open, other groups get one message each
 *
 * With overlapping writers (ordered) every contribution is a message, received and placed one after
 * the other in rank order, so that the highest rank wins.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"

/* ---- what may overlap: Feki and Gabriel's algorithms as gates of the state machines.  One rank's
 * windows pass them in the order of their cycles. */

typedef struct {
    int blocks;               /* file access does */
    int work_one;             /* one window is in work at a time */
    int fill_one, store_one;  /* write: one is being filled, stored at a time */
    int fetch_one, serve_one; /* read: one is being fetched, served at a time */
    int in_turn; /* write: all are full before one is stored; read: fetched before one is served */
} gate;

/* clang-format off */
static const gate gates[2][TUTTI_PIPELINE_WRITE_COMM_2 + 1] = {{
    /*                               blocks  work  fill  store  fetch  serve  in turn */
    [TUTTI_PIPELINE_NONE]         = {1,      1,    0,    0,     0,     0,     0},
    [TUTTI_PIPELINE_COMM]         = {1,      0,    0,    0,     1,     0,     0},
    [TUTTI_PIPELINE_WRITE]        = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM]   = {0,      0,    1,    1,     1,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM_2] = {0,      0,    0,    0,     0,     0,     0},
}, {/* in halves: in the background, where windows have memory of their own and no file access is
     * waited for, what is left of them; see cycles.h */
    [TUTTI_PIPELINE_NONE]         = {0,      0,    1,    0,     0,     1,     1},
    [TUTTI_PIPELINE_COMM]         = {0,      0,    0,    0,     0,     0,     1},
    [TUTTI_PIPELINE_WRITE]        = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM]   = {0,      0,    1,    0,     0,     1,     0},
    [TUTTI_PIPELINE_WRITE_COMM_2] = {0,      0,    0,    0,     0,     0,     0},
}};
/* clang-format on */

/* Has some window still to be filled, or fetched? */
static int some_wait(const tutti__run *r) {
    if (r->window_next >= 0) return 1;
    for (int i = 0; i < r->window_slots; i++)
        if (r->window[i].phase == TUTTI__FILL ||
            (r->window[i].phase == TUTTI__FETCH && r->window[i].io.request))
            return 1;
    return 0;
}

/* Is another window in this phase, or, if that is IDLE, in any other? */
static int other_in(const tutti__run *r, const tutti__window *w, tutti__phase phase) {
    for (int i = 0; i < r->window_slots; i++)
        if (&r->window[i] != w && (r->window[i].phase == phase) == (phase != TUTTI__IDLE)) return 1;
    return 0;
}

/* Has another window that shares the auxiliary buffer messages in it? */
static int aux_taken(const tutti__run *r, const tutti__window *w) {
    for (int i = 0; r->aux && i < r->window_slots; i++) {
        const tutti__window *o = &r->window[i];
        if (o != w && o->aux == w->aux && (o->phase == TUTTI__FILL || o->phase == TUTTI__SERVE))
            return 1;
    }
    return 0;
}

/* Take the next cycle's window, if one may be opened now. */
static int window_open(tutti__run *r, tutti__window *w) {
    const tutti__two_phase *t = r->two;
    const gate *g = &gates[r->halves != 0][r->two->pipeline];
    if (r->window_next < 0) return 0;
    if (g->work_one && other_in(r, w, TUTTI__IDLE)) return 0;
    if (r->op->is_write ? g->fill_one && other_in(r, w, TUTTI__FILL)
                        : g->fetch_one && other_in(r, w, TUTTI__FETCH))
        return 0;
    tutti__window_begin(r, w, &t->incoming, r->window_next);
    for (int i = 0; i < w->incoming->sender_groups; i++) {
        const tutti__sender_group *b = &w->incoming->senders[i];
        if (!t->ordered && b->group == t->groups->mine)
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

/* With overlaps: one message at a time, in rank order.  1 if all have been placed. */
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
        if (aux_taken(r, w) || !window_open(r, w)) return 0;
        if (!t->ordered) (void)receive_any(r, w); /* receives first */
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
        if (g->store_one && other_in(r, w, TUTTI__STORE)) return 0;
        if (r->halves) tutti__slot_close(w->slot); /* nobody waits for the file */
        if (!g->in_turn) break;
        w->phase = TUTTI__FULL;
        return 1;
    case TUTTI__FULL:
        if (some_wait(r)) return 0;
        break;
    default:
        if (!tutti__window_io_end(r, &w->io, 0)) return 0;
        tutti__slot_close(w->slot);
        w->phase = TUTTI__IDLE;
        return 1;
    }

    /* It is full.  Its checksums are work of this rank alone: others may write meanwhile. */
    if (!w->listed) (void)tutti__window_io_prepare(r, &w->io);
    w->listed = 1;

    /* Writes through the page cache of a local file system exclude each other in the
     * kernel, and whoever waits there keeps a core busy.  So the ranks of a node write one after
     * the other; those who wait copy meanwhile, or let others.  Where an access costs time and not
     * processor, that would only add those times up. */
    const int waits = f->layout.remote || f->layout.synchronous || f->opt.direct_io;
    const int excludes =
        t->shared && t->groups->size > 1 && !waits && !r->op->store->ops->asynchronous;
    tutti__slot *first = excludes ? tutti__stage_slot(&r->stage, 0, 0) : NULL;
    if (first && !tutti__slot_writer_enter(first)) return 0;
    /* who is about to block lets others fill the next windows meanwhile, if they may */
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

/* Send what fits into the auxiliary buffer, wait, go on.  1 if all has been sent. */
static int send_all(tutti__run *r, tutti__window *w) {
    int in_flight = 0, waiting = 0;
    for (int i = 0; i < w->traffics; i++) {
        tutti__traffic *m = &w->traffic[i];
        if (m->started && !m->done) m->done = tutti__traffic_test(r, m);
        in_flight += m->started && !m->done;
        waiting += !m->started;
    }
    if (!waiting) return !in_flight;
    /* messages to one rank must leave in order: those of earlier windows first */
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
        if (tutti__run_too_early(r) || !window_open(r, w)) return 0;
        tutti__slot_in_file(w->slot);
        tutti__window_io_begin(r, &w->io);
        if (g->blocks) (void)tutti__window_io_end(r, &w->io, 1);
        w->phase = TUTTI__FETCH;
        return 1;
    case TUTTI__FETCH:
        if (!tutti__window_io_end(r, &w->io, 0)) return 0;
        tutti__slot_close(w->slot);
        if (!tutti__window_is_first(r, w)) return 0;
        if (r->holding || (g->in_turn && some_wait(r)) || aux_taken(r, w) ||
            (g->serve_one && other_in(r, w, TUTTI__SERVE)))
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
