/* simulated: events for SimGrid's SMPI only, instead of base/event.c.  All ranks are in one thread,
 * which a futex would stop: a rank that waits lets simulated time pass until the count has changed.
 * It looks more rarely the longer it has waited, so that a sleep ends at most 1/16 too late.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/event.h"

#include <simgrid/actor.h>

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
