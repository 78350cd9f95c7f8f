/* base: an event in memory that several processes share: changes that others may wait for are
 * counted, and those that sleep until the next one are woken.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EVENT_H
#define TUTTI_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct tutti__event { /* zeroed at first */
    _Alignas(64) _Atomic uint32_t count;
    _Alignas(64) _Atomic uint32_t sleepers;
} tutti__event;

void tutti__event_wake(tutti__event *e);
/* The change that others wait for has been stored before. */
static inline void tutti__event_signal(tutti__event *e) {
    atomic_fetch_add(&e->count, 1);
    if (atomic_load(&e->sleepers) > 0) tutti__event_wake(e);
}

/* Sleep until the count differs from `seen` or the given nanoseconds have passed.
 * @return 0 if the count is unchanged */
int tutti__event_sleep(tutti__event *e, uint32_t seen, long nanoseconds);

#endif
