/* engine: bytes and messages of an active window, for aggregator and relay.  Sender and receiver
 * derive the layout of a message from the same descriptions, so messages contain only data.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include <string.h>

#include "base/trace.h"

void tutti__window_begin(tutti__run *r, tutti__window *w, const tutti__incoming *l,
                         tutti_count cycle) {
    w->incoming = l;
    w->cycle = cycle;
    tutti__domains_window(&r->two->domains, l->aggregator, cycle, &w->lo, &w->hi);
    w->hi = tutti__min(w->hi, r->op->eof);
    w->local = w->total = w->aux_used = 0;
    w->traffics = 0;
    w->full = w->listed = 0;
    w->extents.n = 0;
    w->since = tutti__trace_on() ? tutti__now() : 0;
}

int tutti__window_is_first(const tutti__run *r, const tutti__window *w) {
    for (int i = 0; i < r->window_slots + r->relay_slots; i++) {
        const tutti__window *o = &r->window[i];
        if (o->phase == w->phase && o->incoming == w->incoming && o->cycle < w->cycle) return 0;
    }
    return 1;
}

tutti_off tutti__senders_bytes(const tutti__incoming *l, const tutti__sender_group *b, tutti_off lo,
                               tutti_off hi) {
    tutti_off n = 0;
    for (int i = b->first; i < b->first + b->n; i++) {
        n += tutti__side_bytes_in(l->side[i], lo, hi);
        if (l->lost) n -= tutti__side_bytes_in(l->lost[i], lo, hi);
    }
    return n;
}

void tutti__traffic_add(tutti__run *r, tutti__window *w, const tutti__sender_group *b) {
    const tutti_off bytes = tutti__senders_bytes(w->incoming, b, w->lo, w->hi);
    if (bytes == 0) return;
    w->total += bytes;
    tutti__traffic *m = &w->traffic[w->traffics++];
    memset(m, 0, sizeof *m);
    m->senders = b;
    m->first = w->extents.n;
    const tutti_err err =
        tutti__sides_union(b->n, w->incoming->side + b->first, w->lo, w->hi, 0, &w->extents);
    m->n = w->extents.n - m->first;
    /* the peer still exchanges the message; the receive buffer suffices for any size */
    if (err != TUTTI_OK) {
        const int receives = r->op->is_write == (w->incoming == &r->two->incoming);
        tutti__run_fail(r, err);
        w->extents.n = m->first;
        m->n = 0;
        m->bytes = receives ? tutti__min(bytes, w->hi - w->lo) : 0;
        return;
    }
    for (size_t i = m->first; i < w->extents.n; i++) m->bytes += w->extents.v[i].bytes;
}

int tutti__traffic_place(tutti__window *w, tutti__traffic *m) {
    const tutti_off free_bytes = w->hi - w->lo - w->aux_used;
    if (m->n == 1) {
        m->at = w->stage + (w->extents.v[m->first].offset - w->lo);
        return 1;
    }
    if (m->bytes > free_bytes && w->aux_used > 0) return 0;
    m->at = w->aux + w->aux_used;
    w->aux_used += m->bytes;
    return 1;
}

void tutti__traffic_unpack(tutti__run *r, tutti__window *w, tutti__traffic *m) {
    const char *from = m->at;
    if (m->n <= 1) return;
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const tutti__extent *e = &w->extents.v[i];
        memcpy(w->stage + (e->offset - w->lo), from, (size_t)e->bytes);
        from += e->bytes;
    }
    r->op->stats->copied_bytes += m->bytes;
}

void tutti__traffic_send(tutti__run *r, tutti__window *w, tutti__traffic *m) {
    char *to = m->at;
    for (size_t i = m->first; m->n > 1 && i < m->first + m->n; i++) {
        const tutti__extent *e = &w->extents.v[i];
        memcpy(to, w->stage + (e->offset - w->lo), (size_t)e->bytes);
        to += e->bytes;
    }
    if (m->n > 1) r->op->stats->copied_bytes += m->bytes;
    const tutti_err err =
        tutti__message_send(r->file->team, m->senders->peer, r->tag, m->at, m->bytes, &m->message);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    m->started = 1;
    r->op->stats->messages++;
    r->op->stats->message_bytes += m->bytes;
}

void tutti__traffic_receive(tutti__run *r, tutti__traffic *m) {
    const tutti_err err = tutti__message_receive(r->file->team, m->senders->peer, r->tag, m->at,
                                                 m->bytes, &m->message);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    m->started = 1;
}

int tutti__traffic_test(tutti__run *r, tutti__traffic *m) {
    int done = 1;
    const tutti_err err = tutti__message_test(&m->message, &done);
    if (err != TUTTI_OK) tutti__run_fail(r, err);
    return done;
}
