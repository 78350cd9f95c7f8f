/* comm: waiting.  The library does not block in MPI calls.  A rank that waits for a change in
 * shared memory polls for some microseconds, then sleeps until another rank signals the event, at
 * most for a millisecond, after which it lets MPI progress.  A rank that waits for messages polls,
 * with increasing sleeps.  Inside a fiber, every wait suspends the fiber.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "base/event.h"
#include "comm/team.h"

/* State of one wait, used as follows:
 *     tutti__wait w = tutti__wait_begin(t, event);
 *     while (!condition) tutti__wait_turn(&w);
 * A turn lets other operations of this thread progress. */
typedef struct tutti__wait {
    const tutti__team *team; /* used only with an event */
    tutti__event *event;     /* event to wait for; NULL: wait for messages */
    uint32_t seen;           /* count of the event before the last check of the condition */
    /* whether large data is copied or sent in the meantime: yielding is then faster than
     * sleeping */
    int transfers;
    int turns;    /* polls so far, up to SPINS */
    double since; /* time of the first turn after these polls; 0: none yet */
    /* seconds of yielding so far; a yield to another process counts as SWITCH (wait.c) */
    double spun;
    int own; /* number of operations counted by tutti__idle_fn that this wait is for */
} tutti__wait;
tutti__wait tutti__wait_begin(const tutti__team *t, tutti__event *e);
/* Begin to wait for messages with large data, or for a file access during such messages. */
static inline tutti__wait tutti__transfer_wait_begin(const tutti__team *t) {
    return (tutti__wait){.team = t, .transfers = 1};
}
void tutti__wait_turn(tutti__wait *w);

typedef int tutti__idle_fn(void); /* returns the number of operations that it progresses */
/* Set the function that this thread calls while waiting; NULL: none.  Not collective. */
void tutti__on_idle(tutti__idle_fn *fn);

/* Wait for n MPI requests.  Not collective. */
tutti_err tutti__team_finish(int n, MPI_Request *requests) TUTTI_MUST_USE;
/* Let MPI progress messages, including those of the program; for ranks that wait without an MPI
 * request.  Not collective. */
void tutti__mpi_progress(const tutti__team *t);

#endif
