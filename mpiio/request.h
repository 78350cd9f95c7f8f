/* mpiio: MPI requests that complete when an operation of Tutti does.
 *
 * They are generalized requests, so that MPI_Wait and its kin take them among others.  An error must not come
 * out of a generalized request (it would go to the handler of MPI_COMM_WORLD): the request completes in peace,
 * and waits.c, which sees MPI_Wait and its kin first, hands the error to the file's handler and returns it.
 *
 * Who moves operations on: MPI_Wait, MPI_Test and their kin; every use of Tutti; and, where the MPI library
 * has a place for it (progress.c), everything else of MPI that waits.  None of these needs a thread, so that
 * any thread level does.
 *
 *   mpiio_enter(f);
 *   err = tutti_file_write_start(f->file, access, buf, &r);
 *   mpiio_leave(f);
 *   if (err == TUTTI_OK) code = mpiio_request_make(f, r, done, context, request);
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_REQUEST_H
#define TUTTI_MPIIO_REQUEST_H

#include "mpiio.h"

/* Around every use of Tutti.  Locks the file (NULL: none, e.g. in open): one thread at a time.  While a thread is
 * inside, the MPI calls that Tutti makes in it go straight to the MPI library and move nothing on.  Pairs
 * may be nested with different files, never with the same.  Error handlers, callbacks of the program and
 * MPI_Wait & co are called outside. */
void mpiio_enter(mpiio_file *f);
void mpiio_leave(mpiio_file *f);

/* Called once when the operation is complete, with its outcome and its bytes, from within some MPI call of some
 * thread: it may compute and free (external32 unpacks here) but not communicate, nor use Tutti.
 * Returns the bytes for the status. */
typedef tutti_off mpiio_done_fn(void *context, tutti_err outcome, tutti_off bytes);

/* Make a request for `r`, which is taken over.  `done` may be NULL.  Outside.  Returns an MPI code without
 * calling a handler; on failure nothing has happened to r, and done is not called. */
int mpiio_request_make(mpiio_file *f, tutti_request *r, mpiio_done_fn *done, void *context,
                       MPI_Request *out);

/* Move all requests of the process on; 1: some of them got complete.  Never waits; nothing happens inside. */
int mpiio_requests_progress(void);

/* Wait until no request of a file is under way: those that the program freed early, and those it forgot.
 * Before closing, outside.  Errors that are still to be told go to the handler of MPI_FILE_NULL. */
void mpiio_requests_settle(mpiio_file *f);

/* At MPI_Finalize: from now on none moves on. */
void mpiio_requests_end(void);

#endif
