/* mpiio: pauses of loops that poll the MPI library, as in comm/wait.c.
 *
 * A loop first yields the core for POLL_SECONDS, since a message from a rank of this node arrives
 * within a few microseconds; then it sleeps, for increasing times.  If a yield takes longer than
 * SLICE, another program uses the core: then all pauses of this thread in the next CROWDED_SECONDS
 * sleep.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <time.h>

#include "request.h"

static const double POLL_SECONDS = 1e-3, SLICE = 1e-3, CROWDED_SECONDS = 0.1;
/* A pause takes this share of the time polled so far, and at most LONGEST_PAUSE seconds. */
static const double PAUSE_SHARE = 0.1, LONGEST_PAUSE = 1e-3;

static _Thread_local double no_yield_until;

void mpiio_pause(double *since) {
    const double now = mpiio_now();
    if (*since == 0) *since = now;
    if (now >= no_yield_until && now - *since < POLL_SECONDS) {
        sched_yield();
        const double after = mpiio_now();
        if (after - now > SLICE) no_yield_until = after + CROWDED_SECONDS;
        return;
    }
    const double share = PAUSE_SHARE * (now - *since);
    const double seconds = share < LONGEST_PAUSE ? share : LONGEST_PAUSE;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}
