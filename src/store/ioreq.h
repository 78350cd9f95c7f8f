/* store: a request of an asynchronous store.  It is divided into pieces of one system call each,
 * and collects their results.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_IOREQ_H
#define TUTTI_IOREQ_H

#include "store/fdfile.h"

/* Pieces are at most this long, so that several threads can share a large run. */
#define TUTTI__PIECE_BYTES ((size_t)4 << 20)

typedef struct tutti__ioreq {
    tutti_store_request base;
    struct tutti__ioreq *next; /* in the queue of requests that have pieces left */
    int queued;
    int is_write;
    int active;       /* pieces that have started and not ended */
    tutti_off bytes;  /* of the whole list */
    tutti__span rest; /* not yet started */
    tutti__tally tally;
    tutti_io_run runs[];
} tutti__ioreq;

/* Copy and check the request. */
tutti_err tutti__ioreq_make(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                            tutti__ioreq **r_out) TUTTI_MUST_USE;

/* Assign the next piece to `call` (whose limits are set); 0: none. */
int tutti__ioreq_take(tutti__ioreq *r, tutti__io_call *call, tutti__span *piece_out);

/* A piece has ended with its own tally; after an error or the end of the file no further piece
 * starts.  The last one records when the request ended. */
void tutti__ioreq_return(tutti__ioreq *r, const tutti__tally *t);

static inline int tutti__ioreq_ended(const tutti__ioreq *r) {
    return r->active == 0 && r->rest.left == 0;
}

/* Return the result of an ended request, add it to the statistics, free it. */
tutti_err tutti__ioreq_judge(tutti__ioreq *r, tutti_off *done_out) TUTTI_MUST_USE;

/* First in, first out. */
typedef struct tutti__ioqueue {
    tutti__ioreq *head, *tail;
} tutti__ioqueue;

void tutti__ioqueue_add(tutti__ioqueue *q, tutti__ioreq *r);
void tutti__ioqueue_remove(tutti__ioqueue *q, tutti__ioreq *r); /* if it is queued */
/* The first request with a piece to start, or NULL; requests without one are removed. */
tutti__ioreq *tutti__ioqueue_first(tutti__ioqueue *q);

#endif
