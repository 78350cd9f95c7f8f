/* exchange: functions common to all exchanges of the literal engine: order of messages, memory,
 * start and end of shuffles.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/shuffle.h"

#include <string.h>
#include <tutti/options.h>

#include "access/copy_bytes.h"
#include "base/fiber.h"
#include "comm/wait.h"
#include "exchange/staging.h"

/* ---- turns */

static int ring_distance(const tutti__team *t, int from, int to) {
    return (to - from + t->size) % t->size;
}

int tutti__ring_of_memory(const tutti__team *t, int peer, int is_write) {
    return is_write ? ring_distance(t, t->rank, peer) : ring_distance(t, peer, t->rank);
}

int tutti__ring_of_window(const tutti__team *t, int peer, int is_write) {
    return tutti__ring_of_memory(t, peer, !is_write);
}

/* ---- memory */

/* Return whether one send area, or one receive area, is enough for all sub-buffers. */
static int one_send(int kind, int step) {
    if (kind == TUTTI_EXCHANGE_TWO_SIDED) return step <= 2 || step == 5;
    return kind == TUTTI_EXCHANGE_LOCK;
}
static int one_receive(int kind, int step) {
    return kind == TUTTI_EXCHANGE_TWO_SIDED && step <= 2;
}

/* Compute the number of send and receive areas.  Puts and gets use send areas only. */
static void areas_of(int kind, int step, int slots, int *sends_out, int *receives_out) {
    *sends_out = one_send(kind, step) ? 1 : slots;
    *receives_out = one_receive(kind, step) ? 1 : slots;
    if (kind != TUTTI_EXCHANGE_TWO_SIDED) *receives_out = 0;
}

int tutti__exchange_buffers(int kind, int step, int slots) {
    int sends, receives;
    areas_of(kind, step, slots, &sends, &receives);
    return slots + sends + receives;
}

static char *take_bytes(char **from, tutti_off bytes) {
    char *at = *from;
    *from += bytes;
    return at;
}

tutti_err tutti__exchange_make(tutti__exchange *x, tutti__team *t, int kind, int step,
                               const tutti__needs *q, tutti__shuffle *shuffles) {
    const int two_sided = kind == TUTTI_EXCHANGE_TWO_SIDED;
    int n[3];
    memset(x, 0, sizeof *x);
    x->team = t;
    x->kind = kind;
    x->step = step;
    x->slots = q->slots;
    x->window = q->window;
    x->is_write = q->is_write;
    areas_of(kind, step, q->slots, &n[0], &n[1]);
    if (!(q->is_write || !two_sided ? q->of_memory : q->of_window)) n[0] = 0;
    if (!(q->is_write ? q->of_window : q->of_memory)) n[1] = 0;
    n[2] = two_sided && q->aggregates ? q->slots : 0;
    const size_t bytes = (size_t)(n[0] + n[1] + n[2]) * (size_t)q->window;
    TUTTI_TRY(tutti__staging_borrow(t, bytes, &x->lent));
    x->memory = x->lent.base;
    /* Divide the memory into the areas of parcels that are sent, put or got, the areas of
     * received parcels, and the sub-buffers. */
    char *at = x->memory;
    if (n[0] > 0 && one_send(x->kind, x->step)) x->send = take_bytes(&at, q->window);
    if (n[1] > 0 && one_receive(x->kind, x->step)) x->receive = take_bytes(&at, q->window);
    for (int i = 0; i < q->slots; i++) {
        tutti__shuffle *s = &shuffles[i];
        tutti__parcels *out = q->is_write ? &s->of_memory : &s->of_window;
        tutti__parcels *in = q->is_write ? &s->of_window : &s->of_memory;
        if (x->kind != TUTTI_EXCHANGE_TWO_SIDED) out = &s->of_memory;
        if (n[0] > 0 && !x->send) out->area = take_bytes(&at, q->window);
        if (n[1] > 0 && !x->receive) in->area = take_bytes(&at, q->window);
        if (n[2] > 0) s->buffer = take_bytes(&at, q->window);
        s->index = i;
    }
    return two_sided ? TUTTI_OK : tutti__puts_make(&x->puts);
}

void tutti__exchange_free(tutti__exchange *x, tutti__team *team) {
    tutti__staging_return(team, &x->lent);
    tutti__free(x->puts);
    memset(x, 0, sizeof *x);
}

/* ---- an operation */

void tutti__exchange_start(tutti__exchange *x, tutti__shuffle *shuffles) {
    /* MPI has no non-blocking fence.  Inside a fiber, where other operations of this thread must
     * progress, windows are locked instead. */
    const int is_fenced = x->kind == TUTTI_EXCHANGE_FENCE && !tutti__fiber_inside();
    if (x->kind == TUTTI_EXCHANGE_TWO_SIDED)
        x->ops = x->step <= 2 ? &tutti__shuffle_blocking : &tutti__shuffle_posted;
    else
        x->ops = is_fenced ? &tutti__shuffle_fence : &tutti__shuffle_lock;
    x->tag = tutti__team_tag(x->team);
    x->err = TUTTI_OK;
    x->moved = 0;
    x->flights = 0;
    for (int i = 0; i < x->slots; i++) {
        shuffles[i].flying = 0;
        if (x->kind != TUTTI_EXCHANGE_TWO_SIDED && x->team->staging->rma_windows.bytes[i] > 0)
            shuffles[i].buffer = x->team->staging->rma_windows.base[i];
    }
}

static void parcels_start(tutti__parcels *l) {
    l->first = l->next = l->open = 0;
    l->used = 0;
    for (int i = 0; i < l->n; i++) l->v[i].done = 0;
}

void tutti__shuffle_init(tutti__exchange *x, tutti__shuffle *s) {
    TUTTI_ASSERT(!s->flying && x->flights < TUTTI__RMA_WINDOWS);
    parcels_start(&s->of_memory);
    parcels_start(&s->of_window);
    s->flying = 1;
    x->flight[x->flights++] = s;
    x->ops->init(x, s);
}

static void flight_end(tutti__exchange *x, tutti__shuffle *s) {
    int kept = 0;
    for (int i = 0; i < x->flights; i++)
        if (x->flight[i] != s) x->flight[kept++] = x->flight[i];
    x->flights = kept;
    s->flying = 0;
}

int tutti__shuffle_test(tutti__exchange *x, tutti__shuffle *s) {
    if (!s->flying) return 1;
    if (!x->ops->test(x, s)) return 0;
    flight_end(x, s);
    return 1;
}

void tutti__shuffle_wait(tutti__exchange *x, tutti__shuffle *s) {
    if (!s->flying) return;
    if (x->ops->wait) {
        x->ops->wait(x, s);
        flight_end(x, s);
        return;
    }
    tutti__wait w = tutti__transfer_wait_begin(x->team);
    while (!tutti__shuffle_test(x, s)) {
        tutti__exchange_progress(x);
        tutti__wait_turn(&w);
    }
}
