/* base: constant properties of the machine.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/machine.h"

#include <stdatomic.h>
#include <unistd.h>

int tutti__cores(void) {
    static atomic_int known;
    int cores = atomic_load_explicit(&known, memory_order_relaxed);
    if (cores > 0) return cores;
    const long now = sysconf(_SC_NPROCESSORS_ONLN);
    cores = now > 0 ? (int)now : 1;
    atomic_store_explicit(&known, cores, memory_order_relaxed);
    return cores;
}
