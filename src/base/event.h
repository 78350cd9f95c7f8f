/* base: an event in memory that several processes share: it counts changes, and a change
 * wakes the processes that sleep until the next one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EVENT_H
#define TUTTI_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct tutti__event {               /* initially all zero */
    _Alignas(64) _Atomic uint32_t count;    /* signalled changes, modulo 2^32 */
    _Alignas(64) _Atomic uint32_t sleepers; /* threads in tutti__event_sleep */
} tutti__event;

void tutti__event_wake(tutti__event *e);
/* Count a change and wake the sleeping threads.  The caller has already stored the changed data. */
static inline void tutti__event_signal(tutti__event *e) {
    atomic_fetch_add(&e->count, 1);
    if (atomic_load(&e->sleepers) > 0) tutti__event_wake(e);
}

/* Sleep until the count differs from `seen` or the given nanoseconds have passed.
 * @return 0 if the count is unchanged */
int tutti__event_sleep(tutti__event *e, uint32_t seen, long nanoseconds);

#endif
