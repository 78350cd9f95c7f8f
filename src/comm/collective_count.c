/* comm: counters of collective communications and of received bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/collective_count.h"

#include <stdatomic.h>

static _Atomic int64_t count, received;

void tutti__collective_add(void) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

int64_t tutti__collective_count(void) {
    return atomic_load_explicit(&count, memory_order_relaxed);
}

void tutti__received_add(size_t bytes) {
    atomic_fetch_add_explicit(&received, (int64_t)bytes, memory_order_relaxed);
}

int64_t tutti__received_bytes(void) {
    return atomic_load_explicit(&received, memory_order_relaxed);
}
