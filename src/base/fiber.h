/* base: fibers.  A fiber is a function with its own stack that can be suspended and
 * resumed later by the same thread.  A waiting loop that calls tutti__fiber_leave makes progress
 * each time the fiber is resumed, so non-blocking and blocking collective operations use the same
 * code.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FIBER_H
#define TUTTI_FIBER_H

#include "base/memory.h"

typedef struct tutti__fiber tutti__fiber;
typedef void tutti__fiber_fn(void *context);

/* Make a fiber that will run fn(context).  It belongs to the thread that creates it. */
tutti_err tutti__fiber_make(tutti__fiber_fn *fn, void *context, tutti__fiber **out) TUTTI_MUST_USE;
/* Run the fiber until it calls tutti__fiber_leave or returns; returns 1 if it has returned.  Must
 * not be called inside a fiber.  Fiber and caller have separate last errors. */
int tutti__fiber_resume(tutti__fiber *f);
/* Inside a fiber: suspend it, and return 1 when it is resumed.  Outside a fiber: return 0
 * immediately. */
int tutti__fiber_leave(void);
int tutti__fiber_inside(void); /* whether the caller runs in a fiber */
/* Seconds for which the current fiber has been suspended since its creation; 0 outside a fiber. */
double tutti__fiber_absent(void);
/* tutti__now() without the time for which the current fiber was suspended. */
double tutti__fiber_clock(void);
/* Return whether the fiber has been resumed at least once and has not returned; 0 if f is NULL. */
int tutti__fiber_halfway(const tutti__fiber *f);
/* Free a fiber that has returned or was never resumed, and set *f to NULL. */
void tutti__fiber_free(tutti__fiber **f);

#endif
