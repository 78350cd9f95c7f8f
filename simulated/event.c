/* simulated: events for SimGrid's SMPI, instead of base/event.c.  All ranks run in one thread,
 * which a futex would block.  Therefore a waiting rank sleeps in simulated time until the count has
 * changed.  The intervals between checks grow with the time waited, so that a wait is at most 1/16
 * too long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/event.h"

#include <simgrid/actor.h>

/* SHORTEST: minimum seconds between two checks; SHARE: interval as a share of the time waited. */
static const double SHORTEST = 50e-9, SHARE = 1.0 / 16;

void tutti__event_wake(tutti__event *e) {
    (void)e;
}

int tutti__event_sleep(tutti__event *e, uint32_t seen, long nanoseconds) {
    const double most = 1e-9 * (double)nanoseconds;
    double slept = 0;
    while (atomic_load(&e->count) == seen && slept < most) {
        const double next = slept * SHARE > SHORTEST ? slept * SHARE : SHORTEST;
        sg_actor_sleep_for(next);
        slept += next;
    }
    return atomic_load(&e->count) != seen;
}
