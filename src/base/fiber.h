/* base: fibers.  A fiber is a function with its own stack that can be suspended and
 * resumed later by the same thread.  Code that waits in a loop which calls tutti__fiber_leave
 * thus progresses each time it is resumed: in this way a non-blocking
 * collective operation uses the same code as a blocking one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FIBER_H
#define TUTTI_FIBER_H

#include "base/memory.h"

typedef struct tutti__fiber tutti__fiber;
typedef void tutti__fiber_fn(void *context);

/* Make a fiber that will run fn(context).  It belongs to the thread that creates it. */
tutti_err tutti__fiber_make(tutti__fiber_fn *fn, void *context, tutti__fiber **out) TUTTI_MUST_USE;
/* Run it until it leaves or returns; returns 1 if it has returned.  Must not be called inside a
 * fiber.  Each side keeps its own last error. */
int tutti__fiber_resume(tutti__fiber *f);
/* Inside a fiber: return to the code that resumed it; returns 1 when resumed again.  Outside:
 * returns 0 at once. */
int tutti__fiber_leave(void);
int tutti__fiber_inside(void); /* whether this code runs in a fiber */
/* Seconds for which the current fiber has not been running since its creation; 0 outside. */
double tutti__fiber_absent(void);
/* A clock that stops in this time. */
double tutti__fiber_clock(void);
/* Return whether it has been resumed and has not returned. */
int tutti__fiber_halfway(const tutti__fiber *f);
/* Free a fiber that has returned or was never resumed; nulls it. */
void tutti__fiber_free(tutti__fiber **f);

#endif
