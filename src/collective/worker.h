/* collective: threads that execute requests of one file in the background.  One for background `all`,
 * which communicates with other ranks and executes requests one after the other; a few for independent
 * accesses, which only access the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WORKER_H
#define TUTTI_WORKER_H

#include "collective/request.h"

struct tutti__worker;
typedef void tutti__worker_fn(tutti_request *r);

/* Submit a request: a thread of *w, which is created if necessary, calls fn(r),
 * the same for all requests.  Threads are added up to `most` while all are busy. */
tutti_err tutti__worker_give(struct tutti__worker **w, int most, tutti__worker_fn *fn,
                             tutti_request *r) TUTTI_MUST_USE;
/* Sleep until something has changed, or `r` is complete (NULL: any), at most about this time. */
void tutti__worker_wait(struct tutti__worker *w, const tutti_request *r, long microseconds);
/* Return whether it is idle. */
int tutti__worker_idle(struct tutti__worker *w);
/* End the threads once they are idle. */
void tutti__worker_end(struct tutti__worker **w);
/* At MPI_Finalize: end it if it is idle or soon will be; otherwise it never calls MPI again; returns
 * 0. */
int tutti__worker_stop(struct tutti__worker **w);

#endif
