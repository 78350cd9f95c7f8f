/* comm: long file operations in a separate thread, so that a fiber can yield during blocking system
 * calls (fsync, a database transaction).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BY_THREAD_H
#define TUTTI_BY_THREAD_H

#include "base/memory.h"

typedef tutti_err tutti__job_fn(void *context);

/* Call fn(context), which must not call MPI, and return its result and last error.  Inside a fiber,
 * fn runs in a separate thread while the fiber yields; otherwise, or if no thread can be created,
 * in this thread.  Not collective. */
tutti_err tutti__by_thread(tutti__job_fn *fn, void *context) TUTTI_MUST_USE;
typedef void tutti__meanwhile_fn(void *other);
/* Like tutti__by_thread, but always in a separate thread if one can be created.  Until fn returns,
 * `meanwhile`, which may be NULL, is called repeatedly with the argument `other`.  Not
 * collective. */
tutti_err tutti__by_thread_meanwhile(tutti__job_fn *fn, void *context,
                                     tutti__meanwhile_fn *meanwhile, void *other) TUTTI_MUST_USE;

#endif
