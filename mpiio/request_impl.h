/* mpiio: the struct of a request, for request.c, request_table.c, progress.c and waits.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_REQUEST_IMPL_H
#define TUTTI_MPIIO_REQUEST_IMPL_H

#include <stdatomic.h>

#include "request.h"

/* A request exists while it has references: one of the MPI library until it calls free_fn (MPICH:
 * in MPI_Request_free; Open MPI: after completion), one of the list of pending requests, and one of
 * a call that waits for the request. */
struct mpiio_request {
    /* MPI_REQUEST_NULL: this rank has failed, and reports its error to the other ranks */
    MPI_Request handle;
    mpiio_file *file;     /* NULL: the file has been closed */
    tutti_request *tutti; /* NULL: the operation is complete */
    mpiio_done_fn *done;
    void *context;
    atomic_int settled; /* `bytes`, `code` and `message` are set */
    tutti_off bytes;    /* bytes for the status */
    int code;           /* error class to report, or MPI_SUCCESS */
    char *message;      /* message of Tutti for the error; may be NULL */
    int references;
    struct mpiio_request *next;    /* list of pending requests */
    struct mpiio_request *chained; /* bucket of the table */
    struct mpiio_request *waited;  /* list of requests of one waiting call */
    /* index in the requests of the waiting call; -1: no waiting call */
    int index;
};

/* Number of existing requests: if it is 0 (or less, after MPI_Finalize), every MPI_Wait and
 * MPI_Test is passed through at once. */
extern atomic_int mpiio_requests_alive;
extern _Thread_local int mpiio_depth; /* number of calls of mpiio_enter minus mpiio_leave */

static inline int mpiio_requests_idle(void) {
    return atomic_load_explicit(&mpiio_requests_alive, memory_order_relaxed) <= 0 ||
           mpiio_depth > 0;
}

/* Return whether the outcome of a request can be read; another thread may have written it. */
static inline int mpiio_request_settled(const mpiio_request *q) {
    return atomic_load_explicit(&q->settled, memory_order_acquire);
}

/* ---- valid.c */
int mpiio_request_is_valid(const mpiio_request *q); /* q must have a reference */

/* ---- request_table.c */
/* Add a request to the list and, if it has a handle, to the table; each holds a reference. */
void mpiio_request_add(mpiio_request *q);
/* Remove a request from the table, and release the reference. */
void mpiio_request_drop_handle(mpiio_request *q);
/* Remove a request from the list; the caller gets the reference, and releases it by
 * mpiio_request_let_go. */
void mpiio_request_arrived(mpiio_request *q);
void mpiio_request_let_go(mpiio_request *q);
/* Return the next pending request; for NULL the first one. */
mpiio_request *mpiio_request_after(const mpiio_request *q);
int mpiio_requests_under_way(const mpiio_file *f);
/* Remove references to a file that is closed; the outcome of its requests is not reported. */
void mpiio_requests_forget(const mpiio_file *f);

/* Return the requests of this library among n handles, linked by `waited`, each with a reference
 * and its index. */
mpiio_request *mpiio_requests_among(int n, const MPI_Request *handles);
void mpiio_requests_release(mpiio_request *among);

/* ---- progress.c */
/* Arrange that the MPI library calls `progress` while it waits; called at the first request. */
void mpiio_progress_begin(int (*progress)(void));
void mpiio_progress_end(void);
/* Return whether the MPI library progresses requests in every wait; otherwise only MPI_Wait and
 * similar calls do. */
int mpiio_progress_everywhere(void);

#endif
