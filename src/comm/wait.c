/* comm: waiting.  All waits of the library use this file.
 *
 * On a machine with other load, sched_yield gives up the core for a whole time slice, while a
 * sleeping rank is woken immediately.  If only ranks of the program run, sched_yield is faster.
 * Therefore a wait first yields for a short time and then sleeps; after a yield that took a time
 * slice, this thread does not yield for some time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/wait.h"

#include <sched.h>
#include <time.h>

#include "base/fiber.h"
#include "base/machine.h"
#include "base/trace.h"

/* polls before the first yield, if every rank has its own core: about two microseconds */
enum { SPINS = 200 };
/* Seconds of yielding before sleep; duration of a yield that indicates other load. */
static const double YIELD_SECONDS = 20e-6, SLICE = 1e-3;
/* Time without yields after such a yield: it starts at the first value, since another rank may have
 * used the core, and doubles up to the second one while yields remain long. */
static const double CROWDED_SECONDS = 1e-3, MOST_CROWDED_SECONDS = 0.1;
/* A yield of at least this number of seconds has let another process run, in most cases another
 * rank, and counts as this number of seconds, except during transfers. */
static const double SWITCH = 2e-6;
/* Seconds of yielding before sleep in waits for messages; in waits while large data is copied or
 * sent, for which other ranks need the core for milliseconds. */
static const double MESSAGE_YIELD_SECONDS = 1e-3, TRANSFER_YIELD_SECONDS = 5e-3;
/* A sleep without an event takes SLEEP_SHARE of the time waited so far, at most LONGEST_SLEEP
 * seconds, so that messages are not delayed much. */
static const double SLEEP_SHARE = 0.1, LONGEST_SLEEP = 1e-3;
/* Maximum seconds of a sleep of a thread that has other operations to progress. */
static const double SHORT_SLEEP = 1e-4;

static _Thread_local tutti__idle_fn *idle;
/* time until which this thread avoids yields; seconds without yields after the last long one */
static _Thread_local double crowded_until, crowded_seconds;

void tutti__on_idle(tutti__idle_fn *fn) {
    idle = fn;
}

/* Yield the core; a long yield indicates that another program used it.  Returns the time after. */
static double yield_core(double now) {
    sched_yield();
    const double after = tutti__now();
    if (after - now > SLICE) {
        crowded_seconds *= 2;
        if (crowded_seconds < CROWDED_SECONDS) crowded_seconds = CROWDED_SECONDS;
        if (crowded_seconds > MOST_CROWDED_SECONDS) crowded_seconds = MOST_CROWDED_SECONDS;
        crowded_until = after + crowded_seconds;
    } else {
        crowded_seconds /= 2;
    }
    return after;
}

tutti__wait tutti__wait_begin(const tutti__team *t, tutti__event *e) {
    return (tutti__wait){.team = t, .event = e, .seen = e ? atomic_load(&e->count) : 0};
}

void tutti__wait_turn(tutti__wait *w) {
    if (tutti__fiber_leave()) return;
    if (w->event && w->turns++ < SPINS && tutti__cores() >= w->team->nodes.largest) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        w->seen = atomic_load(&w->event->count);
        return;
    }
    const int others = (idle ? idle() : 0) - w->own;
    const double now = tutti__now();
    if (w->since == 0) w->since = now;
    const double yields = w->transfers ? TRANSFER_YIELD_SECONDS
                          : w->event   ? YIELD_SECONDS
                                       : MESSAGE_YIELD_SECONDS;
    const int crowded = now < crowded_until && !w->transfers;
    if (!crowded && w->spun < yields) {
        const double seconds = yield_core(now) - now;
        w->spun += seconds < SWITCH || w->transfers ? seconds : SWITCH;
    } else if (w->event) {
        const double most = others > 0 ? SHORT_SLEEP : LONGEST_SLEEP;
        if (!tutti__event_sleep(w->event, w->seen, (long)(1e9 * most)))
            tutti__mpi_progress(w->team);
    } else {
        const double share = SLEEP_SHARE * (now - w->since);
        const double seconds = share < LONGEST_SLEEP ? share : LONGEST_SLEEP;
        (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
    }
    if (w->event) w->seen = atomic_load(&w->event->count);
}

tutti_err tutti__team_finish(int n, MPI_Request *requests) {
    tutti__wait w = tutti__wait_begin(NULL, NULL);
    for (int i = 0; i < n;) {
        int done = 0;
        TUTTI_MPI(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
        if (done)
            i++;
        else
            tutti__wait_turn(&w);
    }
    return TUTTI_OK;
}

void tutti__mpi_progress(const tutti__team *t) {
    int found = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, 0, t->comm, &found, MPI_STATUS_IGNORE);
}
