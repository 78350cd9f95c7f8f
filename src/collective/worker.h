/* collective: threads that execute requests of one file in the background.  Background `all` uses
 * one thread, which communicates with other ranks and executes requests one after the other.
 * Independent accesses use a few threads, which only access the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WORKER_H
#define TUTTI_WORKER_H

#include "collective/request.h"

struct tutti__worker;
typedef void tutti__worker_fn(tutti_request *r);

/* Submit a request: a thread of *w calls fn(r); `fn` must be the same for all requests.  *w is
 * created if necessary, and up to `most` threads are created while all are busy. */
tutti_err tutti__worker_give(struct tutti__worker **w, int most, tutti__worker_fn *fn,
                             tutti_request *r) TUTTI_MUST_USE;
/* Sleep until `r` (NULL: some request) is complete, at most for about this time. */
void tutti__worker_wait(struct tutti__worker *w, const tutti_request *r, long microseconds);
/* Return whether no request is queued or running. */
int tutti__worker_idle(struct tutti__worker *w);
/* Wait until all requests have been executed, then end the threads. */
void tutti__worker_end(struct tutti__worker **w);
/* End the threads at MPI_Finalize if they become idle soon; otherwise make them stop before the
 * next MPI call, and return 0. */
int tutti__worker_stop(struct tutti__worker **w);

#endif
