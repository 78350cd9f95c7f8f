/* comm: long file operations without blocking the caller: blocking system calls (fsync, a
 * transaction of a database) are made by a thread while a fiber waits.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BY_THREAD_H
#define TUTTI_BY_THREAD_H

#include "base/memory.h"

typedef tutti_err tutti__job_fn(void *context);

/* fn(context), which calls no MPI, and its last error.  Inside a fiber it runs in a separate thread, until
 * whose end the fiber yields; otherwise, or without a thread, in this thread.   Not collective. */
tutti_err tutti__by_thread(tutti__job_fn *fn, void *context) TUTTI_MUST_USE;
/* The same by a thread in all cases, if one can be created: until its end meanwhile(other), which
 * may be NULL, is called repeatedly.   Not collective. */
typedef void tutti__meanwhile_fn(void *other);
tutti_err tutti__by_thread_meanwhile(tutti__job_fn *fn, void *context,
                                     tutti__meanwhile_fn *meanwhile, void *other) TUTTI_MUST_USE;

#endif
