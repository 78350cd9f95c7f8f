/* collective: the thread of background `all`: it carries out the requests of one file, one after the
 * other, while the caller computes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WORKER_H
#define TUTTI_WORKER_H

#include "collective/collective_impl.h"

typedef void tutti__worker_fn(tutti_request *r);

/* Hand a request over to the file's thread, which is made if there is none yet; it will call fn(r). */
tutti_err tutti__worker_give(tutti_file *f, tutti_request *r, tutti__worker_fn *fn) TUTTI_MUST_USE;
/* Sleep until something has changed, at most about `microseconds`. */
void tutti__worker_wait(tutti_file *f, long microseconds);
/* Has it nothing left to do? */
int tutti__worker_idle(tutti_file *f);
/* End the thread once it is idle. */
void tutti__worker_end(tutti_file *f);
/* At MPI_Finalize: end it if it is idle or soon will be; otherwise it never calls MPI again, and 0. */
int tutti__worker_stop(tutti_file *f);

#endif
