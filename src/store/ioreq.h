/* store: a request of an asynchronous store, which is divided into pieces of one system call each.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_IOREQ_H
#define TUTTI_IOREQ_H

#include "store/fdfile.h"

/* Maximum bytes of a piece, so that several threads can share a large run. */
#define TUTTI__PIECE_BYTES ((size_t)4 << 20)

typedef struct tutti__ioreq {
    tutti_store_request base;
    struct tutti__ioreq *next; /* next request in the tutti__ioqueue */
    int queued;                /* whether the request is in the queue */
    int is_write;
    int active;         /* number of pieces that have started and not ended */
    tutti_off bytes;    /* bytes of all runs */
    tutti__span rest;   /* bytes that are not yet part of a started piece */
    tutti__tally tally; /* combined results of the ended pieces */
    tutti_io_run runs[];
} tutti__ioreq;

/* Check a request and copy its runs. */
tutti_err tutti__ioreq_make(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                            tutti__ioreq **r_out) TUTTI_MUST_USE;

/* Set *call, whose limits the caller has set, to the next piece; returns 0 if no bytes are left. */
int tutti__ioreq_take(tutti__ioreq *r, tutti__io_call *call, tutti__span *piece_out);

/* Add the results *t of an ended piece; after an error or the end of the file no further piece
 * starts.  With the last piece, the time at which the request ended is recorded. */
void tutti__ioreq_return(tutti__ioreq *r, const tutti__tally *t);

static inline int tutti__ioreq_ended(const tutti__ioreq *r) {
    return r->active == 0 && r->rest.left == 0;
}

/* Add an ended request to the statistics, free it, and return its result. */
tutti_err tutti__ioreq_judge(tutti__ioreq *r, tutti_off *done_out) TUTTI_MUST_USE;

/* A first-in, first-out queue of requests. */
typedef struct tutti__ioqueue {
    tutti__ioreq *head, *tail;
} tutti__ioqueue;

void tutti__ioqueue_add(tutti__ioqueue *q, tutti__ioreq *r);
void tutti__ioqueue_remove(tutti__ioqueue *q, tutti__ioreq *r); /* no effect if not queued */
/* Return the first request with bytes left to start, or NULL; requests before it are removed. */
tutti__ioreq *tutti__ioqueue_first(tutti__ioqueue *q);

#endif
