/* base: events, implemented with futexes in shared memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/event.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tutti__event_wake(tutti__event *e) {
    (void)syscall(SYS_futex, &e->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int tutti__event_sleep(tutti__event *e, uint32_t seen, long nanoseconds) {
    const struct timespec most = {.tv_sec = 0, .tv_nsec = nanoseconds};
    atomic_fetch_add(&e->sleepers, 1);
    (void)syscall(SYS_futex, &e->count, FUTEX_WAIT, seen, &most, NULL, 0);
    atomic_fetch_sub(&e->sleepers, 1);
    return atomic_load(&e->count) != seen;
}
