/* engine: the relay.  A relay owns relay_slots for windows of aggregators in other groups.  The
 * ranks of its group fill (or empty) a copy of the window through shared memory, and the relay
 * exchanges one message per window with the aggregator.
 *
 *   write   IDLE -> FILL     the slot is open
 *                -> SEND     one message with the bytes of this group
 *   read    IDLE -> RECEIVE  one message with the requested bytes of this group, each byte once
 *                -> SERVE    the slot is open
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"

/* Begin the next window that has bytes of this group; skip read windows past the end of the file.
 * @return 0 if no such window is left */
static int begin_relay_window(tutti__run *r, tutti__window *w) {
    for (;;) {
        int i = -1;
        for (int k = 0; k < r->two->relays; k++)
            if (r->relay_next[k] >= 0 && (i < 0 || r->relay_next[k] < r->relay_next[i])) i = k;
        if (i < 0) return 0;
        const tutti__incoming *l = &r->two->relay[i];
        tutti__window_begin(r, w, l, r->relay_next[i]);
        r->relay_next[i] = tutti__incoming_next(r->two, l, w->cycle + 1, r->op->eof);
        w->local = tutti__senders_bytes(l, &l->senders[0], w->lo, w->hi);
        if (w->local == 0) continue;
        tutti__traffic_add(r, w, &l->senders[0]);
        (void)tutti__traffic_place(w, &w->traffic[0]);
        return 1;
    }
}

int tutti__relay_write(tutti__run *r, tutti__window *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (!begin_relay_window(r, w)) return 0;
        tutti__slot_open(w->slot, tutti__slot_key(w->incoming->aggregator, w->cycle));
        tutti__event_signal(r->event);
        w->phase = TUTTI__FILL;
        return 1;
    case TUTTI__FILL:
        if (!tutti__slot_is_done(w->slot, w->local) || !tutti__window_is_first(r, w)) return 0;
        tutti__slot_close(w->slot);
        tutti__traffic_send(r, w, &w->traffic[0]);
        w->phase = TUTTI__SEND;
        return 1;
    default:
        if (!tutti__traffic_test(r, &w->traffic[0])) return 0;
        tutti__trace_event("exchange", "relay", w->since, w->local, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}

int tutti__relay_read(tutti__run *r, tutti__window *w) {
    switch (w->phase) {
    case TUTTI__IDLE:
        if (!begin_relay_window(r, w)) return 0;
        tutti__traffic_receive(r, &w->traffic[0]);
        w->phase = TUTTI__RECEIVE;
        return 1;
    case TUTTI__RECEIVE:
        if (!tutti__traffic_test(r, &w->traffic[0])) return 0;
        tutti__traffic_unpack(r, w, &w->traffic[0]);
        tutti__slot_open(w->slot, tutti__slot_key(w->incoming->aggregator, w->cycle));
        tutti__event_signal(r->event);
        w->phase = TUTTI__SERVE;
        return 1;
    default:
        if (!tutti__slot_is_done(w->slot, w->local)) return 0;
        tutti__slot_close(w->slot);
        tutti__trace_event("exchange", "relay", w->since, w->local, w->cycle);
        w->phase = TUTTI__IDLE;
        return 1;
    }
}
