/* store: asynchronous calls in progress.
 *
 * Requests wait in a queue; while a flight is free, it gets the next piece of the first request.
 * After a short transfer, a call for the rest of the piece is started in the same flight.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/inflight.h"
#include "base/memory.h"

#define MOST_FLIGHTS 1024

unsigned tutti__inflight_depth(int queue_depth) {
    return (unsigned)tutti__max(1, tutti__min(queue_depth, MOST_FLIGHTS));
}

tutti_err tutti__inflight_make(tutti__inflight *q, tutti__fdfile *f, int queue_depth, int max_iov) {
    const size_t limit = (size_t)tutti__min((tutti_off)f->max_bytes, (tutti_off)TUTTI__PIECE_BYTES);
    *q = (tutti__inflight){.f = f};
    q->n = (int)tutti__inflight_depth(queue_depth);
    q->flights = tutti__calloc((size_t)q->n, sizeof *q->flights);
    if (!q->flights) return TUTTI_ERR_NOMEM;
    q->iov = tutti__calloc((size_t)q->n * (size_t)max_iov, sizeof *q->iov);
    if (!q->iov) {
        tutti__free(q->flights);
        return TUTTI_ERR_NOMEM;
    }
    for (int i = q->n - 1; i >= 0; i--) {
        tutti__flight *x = &q->flights[i];
        x->call.iov = q->iov + (size_t)i * (size_t)max_iov;
        x->call.max_iov = max_iov;
        x->call.max_bytes = limit;
        x->next_free = q->free;
        q->free = x;
    }
    return TUTTI_OK;
}

void tutti__inflight_free(tutti__inflight *q) {
    TUTTI_ASSERT(q->active == 0);
    tutti__free(q->iov);
    tutti__free(q->flights);
}

tutti__flight *tutti__inflight_next(tutti__inflight *q) {
    tutti__flight *x = q->free;
    tutti__ioreq *r = x ? tutti__ioqueue_first(&q->queue) : NULL;
    if (!r || !tutti__ioreq_take(r, &x->call, &x->piece)) return NULL;
    q->free = x->next_free;
    q->active++;
    x->r = r;
    x->tally = tutti__tally_start();
    return x;
}

int tutti__inflight_landed(tutti__inflight *q, tutti__flight *x, ssize_t result) {
    if (tutti__span_moved(q->f, x->r->is_write, &x->piece, result, &x->tally)) {
        tutti__span_cut(q->f, x->piece, &x->call);
        return 1;
    }
    tutti__ioreq_return(x->r, &x->tally);
    x->r = NULL;
    x->next_free = q->free;
    q->free = x;
    q->active--;
    return 0;
}
