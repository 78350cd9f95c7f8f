/* Linked into every test program that has the library inside: at its end the library must have
 * freed all its memory. The count costs nothing; LeakSanitizer, which would find the same, takes a
 * second for what an MPI leaves behind.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"

static void __attribute__((destructor)) count_memory(void) {
    const long live = tutti__memory_live();
    if (live == 0) return;
    fprintf(stderr, "%ld blocks of the library's memory were not freed\n", live);
    _exit(1);
}
