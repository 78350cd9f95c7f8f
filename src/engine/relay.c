/* engine: the carrier.  It owns relay_slots of windows that are at home in another group: its group's
 * ranks fill (or empty) a mirror through shared memory, the carrier exchanges one message per window
 * with the window's home.
 *
 *   write   IDLE -> FILL     the mirror is open
 *                -> SEND     one message with the bytes this group has named
 *   read    IDLE -> RECEIVE  one message with the bytes this group wants, each once
 *                -> SERVE    the mirror is open
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"

/* The load whose next window comes first in walk order, or -1. */
static int relay_first(const tutti__run *r) {
    int best = -1;
    for (int i = 0; i < r->two->relays; i++) {
        if (r->relay_next[i] < 0) continue;
        if (best < 0 || r->relay_next[i] < r->relay_next[best]) best = i;
    }
    return best;
}

/* Take the next window in which this group has bytes (reading, the end of the file may leave none). */
static int relay_begin(tutti__run *r, tutti__work *w) {
    int i;
    while ((i = relay_first(r)) >= 0) {
        const tutti__incoming *l = &r->two->relay[i];
        tutti__work_begin(r, w, l, r->relay_next[i]);
        r->relay_next[i] = tutti__incoming_next(r, l, w->cycle + 1);
        w->local = tutti__senders_bytes(l, &l->senders[0], w->lo, w->hi);
        if (w->local == 0) continue;
        (void)tutti__traffic_add(r, w, &l->senders[0]);
        (void)tutti__traffic_place(w, &w->traffic[0]);
        return 1;
    }
    return 0;
}

static void relay_open(const tutti__work *w) {
    tutti__slot_open(w->slot, tutti__slot_key(w->incoming->aggregator, w->cycle));
}

static int relay_write(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (!relay_begin(r, w)) return 0;
        relay_open(w);
        w->phase = TUTTI__FILL;
        return 1;
    case TUTTI__FILL:
        if (!tutti__slot_is_done(w->slot, w->local) || !tutti__work_is_first(r, w)) return 0;
        tutti__slot_close(w->slot);
        tutti__traffic_send(r, w, &w->traffic[0]);
        w->phase = TUTTI__SEND;
        return 1;
    default:
        if (!tutti__traffic_test(r, &w->traffic[0])) return 0;
        tutti__trace_event("exchange", "carry", w->since, w->local, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}

static int relay_read(tutti__run *r, tutti__work *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (!relay_begin(r, w)) return 0;
        tutti__traffic_receive(r, &w->traffic[0]);
        w->phase = TUTTI__RECEIVE;
        return 1;
    case TUTTI__RECEIVE:
        if (!tutti__traffic_test(r, &w->traffic[0])) return 0;
        tutti__traffic_unpack(r, w, &w->traffic[0]);
        relay_open(w);
        w->phase = TUTTI__SERVE;
        return 1;
    default:
        if (!tutti__slot_is_done(w->slot, w->local)) return 0;
        tutti__slot_close(w->slot);
        tutti__trace_event("exchange", "carry", w->since, w->local, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}

int tutti__relay_progress(tutti__run *r, tutti__work *w) {
    return r->op->is_write ? relay_write(r, w) : relay_read(r, w);
}
