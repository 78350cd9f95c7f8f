/* store: calls in progress, shared by uring and aio.  A flight holds one piece that is being
 * transferred; the option queue_depth gives their number.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_INFLIGHT_H
#define TUTTI_INFLIGHT_H

#include "store/ioreq.h"

typedef struct tutti__flight {
    tutti__ioreq *r; /* NULL: free */
    struct tutti__flight *next_free;
    tutti__span piece;
    tutti__io_call call; /* to be started, or pending */
    tutti__tally tally;
} tutti__flight;

typedef struct tutti__inflight {
    tutti__fdfile *f;
    tutti__ioqueue queue;
    tutti__flight *flights;
    tutti__flight *free;
    struct iovec *iov;
    int n, active;
} tutti__inflight;

/* The number of flights for a value of queue_depth. */
unsigned tutti__inflight_depth(int queue_depth);

/* `max_iov`: number of memory ranges per call of the store. */
tutti_err tutti__inflight_make(tutti__inflight *q, tutti__fdfile *f, int queue_depth,
                               int max_iov) TUTTI_MUST_USE;
void tutti__inflight_free(tutti__inflight *q);

/* The next call that can be started now, or NULL. */
tutti__flight *tutti__inflight_next(tutti__inflight *q);

/* A call has ended: bytes transferred or -errno.  Returns 1 if `x` has a new call, which must be
 * started. */
int tutti__inflight_landed(tutti__inflight *q, tutti__flight *x, ssize_t result);

#endif
