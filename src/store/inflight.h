/* store: asynchronous calls in progress, used by the stores uring and aio.  A flight has one piece
 * that is being transferred; the option queue_depth is the number of flights.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_INFLIGHT_H
#define TUTTI_INFLIGHT_H

#include "store/ioreq.h"

typedef struct tutti__flight {
    tutti__ioreq *r;                 /* request of the piece; NULL: the flight is free */
    struct tutti__flight *next_free; /* list of free flights */
    tutti__span piece;               /* bytes not yet transferred */
    tutti__io_call call;             /* call that is pending or must be started */
    tutti__tally tally;              /* results of the calls of the piece so far */
} tutti__flight;

typedef struct tutti__inflight {
    tutti__fdfile *f;
    tutti__ioqueue queue;   /* requests with pieces to start */
    tutti__flight *flights; /* [n] */
    tutti__flight *free;    /* list of free flights */
    struct iovec *iov;      /* [n * max_iov] memory ranges of all flights */
    int n, active;          /* number of flights, and of those in progress */
} tutti__inflight;

/* Return the number of flights for a value of the option queue_depth. */
unsigned tutti__inflight_depth(int queue_depth);

/* Allocate the flights; `max_iov` is the maximum number of memory ranges per call. */
tutti_err tutti__inflight_make(tutti__inflight *q, tutti__fdfile *f, int queue_depth,
                               int max_iov) TUTTI_MUST_USE;
void tutti__inflight_free(tutti__inflight *q);

/* Return a flight whose call must be started now; NULL: no flight is free, or no piece is left. */
tutti__flight *tutti__inflight_next(tutti__inflight *q);

/* Record that the call of a flight has ended; `result` is the bytes transferred or -errno.  Returns
 * 1 if the flight has a new call, which must be started. */
int tutti__inflight_landed(tutti__inflight *q, tutti__flight *x, ssize_t result);

#endif
