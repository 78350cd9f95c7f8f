/* mpiio: MPI requests that complete when an operation of Tutti does.
 *
 * They are generalized requests, so that MPI_Wait and its kin take them among others.  An error
 * must not come out of a generalized request (it would go to the handler of MPI_COMM_WORLD): the
 * request completes in peace, and waits.c, which sees MPI_Wait and its kin first, hands the error
 * to the file's handler and returns it.
 *
 * Who moves operations on: MPI_Wait, MPI_Test and their kin; every use of Tutti; and, where the MPI
 * library has a place for it (progress.c), everything else of MPI that waits.  None of these needs
 * a thread, so that any thread level does.
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
 * While a thread is inside, the MPI calls that Tutti makes in it go straight to the MPI library and
 * move nothing on.  Pairs may be nested with different files, never with the same.  Error handlers,
 * callbacks of the program and MPI_Wait & co are called outside. */
void mpiio_enter(mpiio_file *f);
void mpiio_leave(mpiio_file *f);

/* Called once when the operation is complete, with its outcome and its bytes, from within some MPI
 * call of some thread: it may compute and free (external32 unpacks here) but not communicate, nor
 * use Tutti.  Returns the bytes for the status. */
typedef tutti_off mpiio_done_fn(void *context, tutti_err outcome, tutti_off bytes);

/* For an operation that is going to be started: memory (NULL: there is none), and a handle of the
 * MPI library's for it.  Both without calling a handler. */
mpiio_request *mpiio_request_new(mpiio_file *f);
int mpiio_request_handle(mpiio_request *q); /* q may be NULL: that is a complaint too */
/* The request has started: q and r are taken over.  Without a handle it progresses until it is
 * complete, so that a rank that has failed reports its error to the others.   `done` may be NULL.
 * Outside. */
MPI_Request mpiio_request_go(mpiio_request *q, tutti_request *r, mpiio_done_fn *done,
                             void *context);
/* It has not.   q may be NULL. */
void mpiio_request_drop(mpiio_request *q);

/* Move all requests of the process on; 1: some of them got complete.  Never waits; nothing happens
 * inside. */
int mpiio_requests_progress(void);

/* Wait until no request of a file is in progress: those that the program freed early or forgot.
 * Before closing, outside.  Remaining errors go to the handler of MPI_FILE_NULL. */
void mpiio_requests_settle(mpiio_file *f);

/* At MPI_Finalize: from now on none moves on. */
void mpiio_requests_end(void);

#endif
