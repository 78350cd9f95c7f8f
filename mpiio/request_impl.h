/* mpiio: the struct of a request, for request.c, request_table.c, progress.c and waits.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_REQUEST_IMPL_H
#define TUTTI_MPIIO_REQUEST_IMPL_H

#include <stdatomic.h>

#include "request.h"

/* It exists while it has references: of the MPI library until it calls free_fn, which
 * happens in MPI_Request_free in MPICH and after completion in Open MPI; of the list of requests
 * in progress until it is complete; and of a call that waits for it. */
struct mpiio_request {
    MPI_Request
        handle; /* MPI_REQUEST_NULL: this rank has failed, and reports its error to the others */
    mpiio_file *file;     /* NULL: it has been closed */
    tutti_request *tutti; /* NULL: complete */
    mpiio_done_fn *done;
    void *context;
    atomic_int settled; /* the next three are */
    tutti_off bytes;    /* for the status */
    int code;           /* MPI_SUCCESS, or the class to report ... */
    char *message;      /* the message of Tutti for it */
    int references;
    struct mpiio_request *next;    /* under way */
    struct mpiio_request *chained; /* in the table */
    struct mpiio_request *waited;  /* by the same call of the program ... */
    int index;                     /* ... which has it here; -1: no call has */
};

/* Number of existing requests: if it is 0 (or less, after MPI_Finalize), every MPI_Wait and
 * MPI_Test is passed through at once. */
extern atomic_int mpiio_requests_alive;
extern _Thread_local int mpiio_depth; /* mpiio_enter less mpiio_leave */

static inline int mpiio_requests_idle(void) {
    return atomic_load_explicit(&mpiio_requests_alive, memory_order_relaxed) <= 0 ||
           mpiio_depth > 0;
}

/* 1: its outcome may be read, regardless of which thread wrote it. */
static inline int mpiio_request_settled(const mpiio_request *q) {
    return atomic_load_explicit(&q->settled, memory_order_acquire);
}

/* ---- valid.c */
int mpiio_request_is_valid(const mpiio_request *q); /* one with a reference */

/* ---- request_table.c */
/* Into the list, and into the table if it has a handle, with a reference of each. */
void mpiio_request_add(mpiio_request *q);
/* Remove it from the table, and release the reference. */
void mpiio_request_drop_handle(mpiio_request *q);
/* Remove it from the list; the caller gets the reference. */
void mpiio_request_arrived(mpiio_request *q);
void mpiio_request_let_go(mpiio_request *q);
/* The next pending request; after NULL: the first. */
mpiio_request *mpiio_request_after(const mpiio_request *q);
int mpiio_requests_under_way(const mpiio_file *f);
/* The file is closed; the outcome of its requests is no longer reported. */
void mpiio_requests_forget(const mpiio_file *f);

/* Requests of the drop-in among n handles, linked by `waited`, each with a reference and its index. */
mpiio_request *mpiio_requests_among(int n, const MPI_Request *handles);
void mpiio_requests_release(mpiio_request *among);

/* ---- progress.c */
/* At the first request: arrange that the MPI library calls `progress` while it waits. */
void mpiio_progress_begin(int (*progress)(void));
void mpiio_progress_end(void);
/* Whether it progresses requests in every wait; otherwise only MPI_Wait and the like do. */
int mpiio_progress_everywhere(void);

#endif
