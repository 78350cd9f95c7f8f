/* engine: home, the aggregator's part.
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
#include "engine/run.h"

#include "base/trace.h"

/* ---- file side */

static tutti_err io_make(tutti__run *r, tutti__work *w, int is_write) {
    w->io.incoming = w->incoming;
    w->io.lo = w->lo;
    w->io.hi = w->hi;
    w->io.total = r->two->ordered && is_write ? 0 : w->total;
    w->io.stage = w->stage;
    w->io.shift = r->op->shift;
    w->io.gap = r->two->gap;
    tutti__window_mend(&w->io, r->op);
    return tutti__window_io_make(&w->io, is_write);
}

/* Take in what came of a file access, waiting for it if it has not ended. */
static void io_finish(tutti__run *r, tutti__work *w, int is_write) {
    tutti_off done = 0;
    const tutti_err err = tutti__store_finish(&w->request, &done);
    if (err != TUTTI_OK)
        tutti__run_fail(r, err);
    else if (!is_write && done < w->io.asked)
        tutti__run_fail(r,
                        tutti__error_set(TUTTI_ERR_TRUNCATED, 0, r->op->shift + w->lo,
                                         "%lld of %lld bytes are gone",
                                         (long long)(w->io.asked - done), (long long)w->io.asked));
}

static int blocks(const tutti__run *r) {
    return r->two->pipeline == TUTTI_PIPELINE_NONE || r->two->pipeline == TUTTI_PIPELINE_COMM;
}

/* Pipelines that block wait for it here. */
static void io_begin(tutti__run *r, tutti__work *w, int is_write) {
    w->request = NULL;
    w->since = w->ended = tutti__now(); /* nothing happens after an error */
    if (r->err != TUTTI_OK) return;
    tutti_err err = io_make(r, w, is_write);
    if (err == TUTTI_OK && w->io.n > 0)
        err = tutti__store_begin(r->op->store, is_write, w->io.run, w->io.n, &w->request);
    if (err != TUTTI_OK) {
        tutti__run_fail(r, err);
        w->request = NULL;
    }
    if (w->request && blocks(r)) io_finish(r, w, is_write);
    w->ended = tutti__now(); /* known better if it is under way now */
    r->op->stats->seconds_file += w->ended - w->since;
    r->op->stats->windows++;
}

/* Writes through the page cache of a local file system exclude each other in the kernel, and whoever waits there
 * keeps a core busy.  The ranks of a node take turns instead; those who wait for theirs copy, or let others.
 * Where an access costs time and not processor, turns would only add those times up.   NULL: no turns. */
static tutti__slot *turns_of(const tutti__run *r) {
    const tutti_file *f = r->file;
    const int waits = f->remote || f->synchronous || f->opt.direct_io;
    const int in_rank_order =
        r->two->shared && r->two->groups->size > 1 && !waits && !r->op->store->ops->asynchronous;
    return in_rank_order ? tutti__stage_slot(&r->stage, 0, 0) : NULL;
}

/* 1 if the file access has ended. */
static int io_ended(tutti__run *r, tutti__work *w, int is_write) {
    if (!w->request) return 1;
    const double start = tutti__now();
    const int ended = tutti__store_test(w->request);
    if (ended) {
        w->ended = tutti__store_ended(w->request);
        io_finish(r, w, is_write);
    }
    r->op->stats->seconds_file += tutti__now() - start;
    return ended;
}

/* ---- exchange side */

static int is_local(const tutti__run *r, const tutti__sender_group *b) {
    return !r->two->ordered && b->group == r->two->groups->mine;
}

static void window_open(tutti__run *r, tutti__work *w) {
    tutti__work_begin(r, w, &r->two->incoming, r->window_next);
    for (int i = 0; i < w->incoming->sender_groups; i++) {
        const tutti__sender_group *b = &w->incoming->senders[i];
        if (is_local(r, b))
            w->local += tutti__senders_bytes(w->incoming, b, w->lo, w->hi);
        else
            (void)tutti__traffic_add(r, w, b);
    }
    w->total += w->local;
    r->window_next = tutti__incoming_next(r, &r->two->incoming, w->cycle + 1);
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
    for (int i = 0; i < r->window_slots; i++) {
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

/* ---- what may overlap: Feki and Gabriel's algorithms as gates of the state machines.  One rank's
 * windows pass them in the order of their cycles.
 *
 *                  write: open the next     ... store it            read: fetch the next     ... serve it
 *   none           none is in work          blocking                none is in work          -
 *   comm           at once                  blocking                none is being fetched,   -
 *                                                                   blocking
 *   write          none is being filled     -                       none is being fetched    none is served
 *   write-comm     none is being filled     none is being stored    none is being fetched    none is served
 *   write-comm-2   at once                  -                       at once                  -
 */

static int any_in(const tutti__run *r, const tutti__work *w, tutti__phase phase) {
    for (int i = 0; i < r->window_slots; i++)
        if (&r->work[i] != w && r->work[i].phase == phase) return 1;
    return 0;
}

static int none_in_work(const tutti__run *r) {
    for (int i = 0; i < r->window_slots; i++)
        if (r->work[i].phase != TUTTI__IDLE) return 0;
    return 1;
}

static int alternates(const tutti__run *r) {
    return r->two->pipeline == TUTTI_PIPELINE_WRITE ||
           r->two->pipeline == TUTTI_PIPELINE_WRITE_COMM;
}

/* `first` is the phase that a window opens with. */
static int may_open(const tutti__run *r, const tutti__work *w, tutti__phase first) {
    if (r->window_next < 0) return 0;
    if (r->two->pipeline == TUTTI_PIPELINE_NONE) return none_in_work(r);
    const int at_once = !alternates(r) && !(blocks(r) && first == TUTTI__FETCH);
    return at_once || !any_in(r, w, first);
}

/* The option `stagger`: aggregators start one after the other. */
static int too_early(const tutti__run *r) {
    const int wait = r->file->opt.stagger;
    return wait > 0 && tutti__now() < r->started + 1e-6 * wait * r->two->my_agg;
}

/* Homes that share an auxiliary buffer take turns. */
static int aux_taken(const tutti__run *r, const tutti__work *w) {
    for (int i = 0; r->aux && i < r->window_slots; i++) {
        const tutti__work *o = &r->work[i];
        if (o != w && o->aux == w->aux && (o->phase == TUTTI__FILL || o->phase == TUTTI__SERVE))
            return 1;
    }
    return 0;
}

static int write_open(tutti__run *r, tutti__work *w) {
    if (!may_open(r, w, TUTTI__FILL) || aux_taken(r, w)) return 0;
    window_open(r, w);
    if (!r->two->ordered) (void)receive_any(r, w); /* receives first */
    tutti__slot_open(w->slot, tutti__slot_key(r->two->my_agg, w->cycle));
    w->phase = TUTTI__FILL;
    return 1;
}

static int write_ended(tutti__run *r, tutti__work *w) {
    if (!io_ended(r, w, 1)) return 0;
    tutti__trace_span("store", "write", w->since, w->ended, w->io.asked, w->cycle);
    w->phase = TUTTI__IDLE;
    return 1;
}

/* Whoever is about to block lets others fill the next windows meanwhile, if they may. */
static void write_open_next(tutti__run *r) {
    for (int i = 0; blocks(r) && i < r->window_slots; i++)
        if (r->work[i].phase == TUTTI__IDLE) (void)write_open(r, &r->work[i]);
}

static int write_begin(tutti__run *r, tutti__work *w) {
    tutti__slot *turns = turns_of(r);
    if (turns && !tutti__slot_writer_enter(turns)) return 0;
    tutti__slot_close(w->slot);
    tutti__trace_event("exchange", "fill", w->since, w->total, w->cycle);
    write_open_next(r);
    io_begin(r, w, 1);
    if (turns) tutti__slot_writer_leave(turns);
    w->phase = TUTTI__STORE;
    if (blocks(r)) (void)write_ended(r, w);
    return 1;
}

static int aggregator_write(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        return write_open(r, w);
    case TUTTI__FILL:
        if (!(r->two->ordered ? receive_ordered(r, w) : receive_any(r, w))) return 0;
        if (!tutti__slot_is_done(w->slot, w->local) || too_early(r)) return 0;
        if (r->two->pipeline == TUTTI_PIPELINE_WRITE_COMM && any_in(r, w, TUTTI__STORE)) return 0;
        return write_begin(r, w);
    default:
        return write_ended(r, w);
    }
}

static int aggregator_read(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (!may_open(r, w, TUTTI__FETCH) || too_early(r)) return 0;
        window_open(r, w);
        io_begin(r, w, 0);
        w->phase = TUTTI__FETCH;
        return 1;
    case TUTTI__FETCH:
        if (!io_ended(r, w, 0) || !tutti__work_is_first(r, w)) return 0;
        if (r->holding || aux_taken(r, w) || (alternates(r) && any_in(r, w, TUTTI__SERVE)))
            return 0;
        tutti__trace_span("store", "read", w->since, w->ended, w->io.asked, w->cycle);
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

int tutti__aggregator_progress(tutti__run *r, tutti__work *w) {
    return r->op->is_write ? aggregator_write(r, w) : aggregator_read(r, w);
}
