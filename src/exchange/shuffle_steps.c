/* exchange: two-sided communication, in the five steps (variants) of Dickens and Thakur.
 *
 *   1, 2   for i = 1 ... P-1: send to rank me + i and receive from rank me - i by one
 *          MPI_Sendrecv, since blocking sends in a ring would deadlock.  Step 1 copies byte by
 *          byte, step 2 by memcpy.
 *   3      begin all sends, then all receives, then copy own bytes, then copy received data
 *          to its position
 *   4      like step 3, with receives before sends
 *   5      begin all receives, then send one message after the other from one buffer
 *
 * Every message is packed and unpacked, even if its bytes are contiguous, as in the paper.
 * Messages that do not fit into an area wait until earlier messages have ended; see shuffle.h for
 * the order.  Turns without bytes are skipped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/shuffle.h"

#include "comm/wait.h"

static tutti__parcels *sends_of(const tutti__exchange *x, tutti__shuffle *s) {
    return x->is_write ? &s->of_memory : &s->of_window;
}

static tutti__parcels *receives_of(const tutti__exchange *x, tutti__shuffle *s) {
    return x->is_write ? &s->of_window : &s->of_memory;
}

static void pack_parcel(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                        char *to) {
    if (x->is_write)
        tutti__memory_pack(x, p, to);
    else
        tutti__window_pack(x, s, p, to);
    tutti__exchange_sent(x, p->bytes);
}

static void unpack_parcel(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                          const char *from) {
    if (x->is_write)
        tutti__window_unpack(x, s, p, from);
    else
        tutti__memory_unpack(x, p, from);
}

/* ---- steps 1 and 2 */

static void blocking_init(tutti__exchange *x, tutti__shuffle *s) {
    tutti__parcels *out = sends_of(x, s), *in = receives_of(x, s);
    while (out->next < out->n || in->next < in->n) {
        const tutti__parcel *o = out->next < out->n ? &out->v[out->next] : NULL;
        const tutti__parcel *i = in->next < in->n ? &in->v[in->next] : NULL;
        if (o && i && o->turn < i->turn)
            i = NULL;
        else if (o && i && i->turn < o->turn)
            o = NULL;
        tutti__pass p = {-1, -1, x->tag, x->send, 0, x->receive, 0};
        if (o) {
            pack_parcel(x, s, o, x->send);
            p.to = o->peer;
            p.out_bytes = o->bytes;
        }
        if (i) {
            p.from = i->peer;
            p.in_bytes = i->bytes;
        }
        tutti__exchange_fail(x, tutti__message_pass(x->team, &p));
        if (i) unpack_parcel(x, s, i, x->receive);
        out->next += o != NULL;
        in->next += i != NULL;
    }
    tutti__exchange_own(x, s);
}

static int blocking_test(tutti__exchange *x, tutti__shuffle *s) {
    (void)x, (void)s;
    return 1;
}

const tutti__shuffle_ops tutti__shuffle_blocking = {
    .name = "blocking", .init = blocking_init, .test = blocking_test};

/* ---- steps 3, 4 and 5 */

/* Return whether all older shuffles have begun all their sends, or receives, since messages are
 * matched in order. */
static int is_my_turn(const tutti__exchange *x, const tutti__shuffle *s, int sending) {
    for (int i = 0; i < x->flights && x->flight[i] != s; i++) {
        const tutti__parcels *l =
            sending ? sends_of(x, x->flight[i]) : receives_of(x, x->flight[i]);
        if (l->next < l->n) return 0;
    }
    return 1;
}

/* Begin, in order, as many messages of one direction as fit into the area. */
static void lane_begin(tutti__exchange *x, tutti__shuffle *s, int sending) {
    tutti__parcels *l = sending ? sends_of(x, s) : receives_of(x, s);
    if (l->next == l->n || !is_my_turn(x, s, sending)) return;
    if (l->open == 0) l->used = 0;
    for (; l->next < l->n; l->next++, l->open++) {
        tutti__parcel *p = &l->v[l->next];
        if (l->used + p->bytes > x->window) return;
        p->at = l->area + l->used;
        l->used += p->bytes;
        tutti_err err;
        if (sending) {
            pack_parcel(x, s, p, p->at);
            err = tutti__message_send(x->team, p->peer, x->tag, p->at, p->bytes, &p->message);
        } else {
            err = tutti__message_receive(x->team, p->peer, x->tag, p->at, p->bytes, &p->message);
        }
        if (err != TUTTI_OK) p->message.active = 0;
        tutti__exchange_fail(x, err);
    }
}

/* Test the pending messages of one direction; completed receives are unpacked. */
static void lane_end(tutti__exchange *x, tutti__shuffle *s, int sending) {
    tutti__parcels *l = sending ? sends_of(x, s) : receives_of(x, s);
    for (int i = l->first; i < l->next; i++) {
        tutti__parcel *p = &l->v[i];
        int ended = p->done;
        if (!p->done) tutti__exchange_fail(x, tutti__message_test(&p->message, &ended));
        if (ended && !p->done) {
            if (!sending) unpack_parcel(x, s, p, p->at);
            p->done = 1;
            l->open--;
        }
        if (p->done && i == l->first) l->first++;
    }
}

static int posted_test(tutti__exchange *x, tutti__shuffle *s) {
    const tutti__parcels *out = sends_of(x, s), *in = receives_of(x, s);
    lane_end(x, s, 0);
    lane_begin(x, s, 0);
    if (x->step != 5) {
        lane_end(x, s, 1);
        lane_begin(x, s, 1);
    }
    return out->first == out->n && in->first == in->n;
}

/* Return whether all receives of older shuffles, and those of this shuffle up to `turn`, have
 * begun. */
static int receives_begun(const tutti__exchange *x, tutti__shuffle *s, int turn) {
    const tutti__parcels *in = receives_of(x, s);
    if (!is_my_turn(x, s, 0)) return 0;
    return in->next == in->n || in->v[in->next].turn > turn;
}

static void posted_init(tutti__exchange *x, tutti__shuffle *s) {
    if (x->step == 3) lane_begin(x, s, 1);
    lane_begin(x, s, 0);
    if (x->step == 4) lane_begin(x, s, 1);
    if (x->step == 5) {
        tutti__parcels *out = sends_of(x, s);
        for (; out->next < out->n; out->next++) {
            const tutti__parcel *p = &out->v[out->next];
            tutti__wait w = tutti__transfer_wait_begin(x->team);
            while (!receives_begun(x, s, p->turn)) {
                tutti__exchange_progress(x);
                if (!receives_begun(x, s, p->turn)) tutti__wait_turn(&w);
            }
            pack_parcel(x, s, p, x->send);
            const tutti__pass pass = {p->peer, -1, x->tag, x->send, p->bytes, NULL, 0};
            tutti__exchange_fail(x, tutti__message_pass(x->team, &pass));
        }
        out->first = out->next;
    }
    tutti__exchange_own(x, s);
}

const tutti__shuffle_ops tutti__shuffle_posted = {
    .name = "posted", .init = posted_init, .test = posted_test};
