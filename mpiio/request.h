/* mpiio: MPI requests that complete when an operation of Tutti completes.
 *
 * The requests are generalized requests, so that MPI_Wait and similar calls accept them together
 * with other requests.  A generalized request must not return an error, which would go to the
 * handler of MPI_COMM_WORLD.  So the request completes without an error, and waits.c, which
 * replaces MPI_Wait and similar calls, passes the error to the handler of the file and returns it.
 *
 * Operations progress in MPI_Wait, MPI_Test and similar calls; in every use of Tutti; and, if the
 * MPI library supports it (progress.c), in all other waiting calls of MPI.  None of these needs a
 * thread, so that any thread level is sufficient.
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

/* Enclose every use of Tutti.  mpiio_enter locks the file (NULL: no file, e.g. in open).  Between
 * the calls, MPI calls of Tutti are passed to the MPI library and do not progress requests.  Pairs
 * of calls may be nested for different files, but not for the same file.  Error handlers and
 * callbacks of the program, and MPI_Wait and similar calls, must be called outside. */
void mpiio_enter(mpiio_file *f);
void mpiio_leave(mpiio_file *f);

/* Function called once when the operation is complete, with its outcome and bytes, within any MPI
 * call of any thread.  It may compute and free memory (external32 data is unpacked), but must not
 * communicate or use Tutti.  Returns the bytes for the status. */
typedef tutti_off mpiio_done_fn(void *context, tutti_err outcome, tutti_off bytes);

/* Allocate a request for an operation to be started (NULL: out of memory); create its handle of the
 * MPI library.  Neither function calls an error handler. */
mpiio_request *mpiio_request_new(mpiio_file *f);
int mpiio_request_handle(mpiio_request *q); /* q may be NULL, which is an error */
/* Register a started operation; takes over q and r.  Without a handle the request progresses until
 * it is complete, so that a rank that has failed reports its error to the other ranks.   `done` may
 * be NULL.  Must be called outside mpiio_enter. */
MPI_Request mpiio_request_go(mpiio_request *q, tutti_request *r, mpiio_done_fn *done,
                             void *context);
/* Free a request whose operation has not started.   q may be NULL. */
void mpiio_request_drop(mpiio_request *q);

/* Progress all requests of the process; return 1 if some have completed.  Never waits; has no
 * effect between mpiio_enter and mpiio_leave. */
int mpiio_requests_progress(void);

/* Wait until a pending request is complete, but only for a short time; return 0 without waiting if
 * another thread progresses requests.  The caller has a reference to the request. */
int mpiio_request_wait(mpiio_request *q);

/* ---- pause.c */
/* Pause between two polls of the MPI library.  *since must be 0 in the first pause of a loop, which
 * sets it to the current time. */
void mpiio_pause(double *since);

/* ---- request.c */
/* Wait for all pending requests of a file, i.e. requests that the program freed early or did not
 * complete.  Called before close, outside mpiio_enter.  Remaining errors go to the handler of
 * MPI_FILE_NULL. */
void mpiio_requests_settle(mpiio_file *f);

/* Stop the progress of requests, at MPI_Finalize. */
void mpiio_requests_end(void);

#endif
