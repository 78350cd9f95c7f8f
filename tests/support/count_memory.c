/* Linked into every test program that contains the library: the program fails if the library has not freed
 * all its memory at exit.  This check has no measurable cost, while LeakSanitizer needs a second per program
 * because of leaks in MPI libraries.
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
