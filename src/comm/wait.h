/* comm: waiting.  Nothing in the library blocks in MPI.  A rank that waits for shared memory polls
 * for a few microseconds, then sleeps until one of them signals, or for a
 * millisecond, after which it progresses MPI.  A rank that waits for messages polls, with
 * increasing sleeps.  Inside a fiber every wait returns to the function that resumed it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "base/event.h"
#include "comm/team.h"

/* One wait:   tutti__wait w = tutti__wait_begin(t, event);  while (!condition) tutti__wait_turn(&w); */
typedef struct tutti__wait {
    const tutti__team *team;
    tutti__event *event; /* NULL: for messages */
    uint32_t seen;       /* of the event, before the condition was checked */
    int transfers; /* other ranks of this node copy large data: yields are faster than sleeps */
    int turns;
    double since; /* start of yielding */
} tutti__wait;
tutti__wait tutti__wait_begin(const tutti__team *t, tutti__event *e);
void tutti__wait_turn(tutti__wait *w);

/* Yield the core once: other operations of this thread progress
 * first.   Not collective. */
void tutti__yield(void);
/* Set the function that this thread calls while waiting; NULL: none.  Returns the number of
 * operations that it
 * progresses.   Not collective. */
typedef int tutti__idle_fn(void);
void tutti__on_idle(tutti__idle_fn *fn);

/* Wait for n requests of MPI.   Not collective. */
tutti_err tutti__team_finish(int n, MPI_Request *requests) TUTTI_MUST_USE;
/* Let MPI progress messages, also those of the program: for ranks that wait for others without a
 * request of MPI.   Not collective. */
void tutti__mpi_progress(const tutti__team *t);

#endif
