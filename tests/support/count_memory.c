/* Linked into every test program that has the library inside: at its end the library must have
 * freed all its memory. The count has no measurable cost; LeakSanitizer, which would find the same
 * leaks, needs a second because of the leaks of an MPI.
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
