/* mpiio: MPI requests that complete when an operation of Tutti does.
 *
 * They are generalized requests, so that MPI_Wait and similar calls accept them with others.  An error
 * must not be returned by a generalized request (it would go to the handler of MPI_COMM_WORLD): the
 * request completes without an error, and waits.c, which replaces MPI_Wait and similar calls,
 * passes the error to the handler of the file and returns it.
 *
 * Operations progress in MPI_Wait, MPI_Test and similar calls; in every use of Tutti; and, if the MPI
 * library supports it (progress.c), in all other waiting calls of MPI.  None of these needs
 * a thread, so that any thread level is sufficient.
 *
 *   q = mpiio_request_new(f);
 *   code = mpiio_request_handle(q);  (in a collective call a rank that fails here takes part
 *                                     without an access)
 *   mpiio_enter(f);
 *   err = tutti_file_write_start(f->file, access, buf, &r);
 *   mpiio_leave(f);
 *   if (err == TUTTI_OK) *request = mpiio_request_go(q, r, done, context);
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_REQUEST_H
#define TUTTI_MPIIO_REQUEST_H

#include "mpiio.h"

typedef struct mpiio_request mpiio_request;

/* Around every use of Tutti.  Locks the file (NULL: none, e.g. in open): one thread at a time.
 * While a thread is inside, the MPI calls of Tutti are passed to the MPI library and
 * progress nothing.  Pairs may be nested with different files, never with the same.  Error handlers,
 * callbacks of the program and MPI_Wait & co are called outside. */
void mpiio_enter(mpiio_file *f);
void mpiio_leave(mpiio_file *f);

/* Called once when the operation is complete, with its outcome and its bytes, from within some MPI
 * call of some thread: it may compute and free (external32 unpacks here) but not communicate, nor
 * use Tutti.  Returns the bytes for the status. */
typedef tutti_off mpiio_done_fn(void *context, tutti_err outcome, tutti_off bytes);

/* For an operation to be started: memory (NULL: exhausted), and a handle of the
 * MPI library for it.  Neither calls an error handler. */
mpiio_request *mpiio_request_new(mpiio_file *f);
int mpiio_request_handle(mpiio_request *q); /* q may be NULL, which is an error too */
/* The request has started: q and r are taken over.  Without a handle it progresses until it is
 * complete, so that a rank that has failed reports its error to the others.   `done` may be NULL.
 * Outside. */
MPI_Request mpiio_request_go(mpiio_request *q, tutti_request *r, mpiio_done_fn *done,
                             void *context);
/* The operation has not started.   q may be NULL. */
void mpiio_request_drop(mpiio_request *q);

/* Progress all requests of the process; 1: some of them completed.  Never waits; no effect
 * inside. */
int mpiio_requests_progress(void);

/* Wait until no request of a file is in progress: those that the program freed early or did not complete.
 * Called before close, outside mpiio_enter.  Remaining errors go to the handler of MPI_FILE_NULL. */
void mpiio_requests_settle(mpiio_file *f);

/* At MPI_Finalize: from now on none moves on. */
void mpiio_requests_end(void);

#endif
