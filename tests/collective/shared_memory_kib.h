/* The shared memory of this process.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SHARED_MEMORY_KIB_H
#define TUTTI_TESTS_SHARED_MEMORY_KIB_H

#include <stdio.h>

/* Return the KiB of shared memory that this rank has mapped and touched, or a negative number. */
static long shared_memory_kib(void) {
    char line[200];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) (void)sscanf(line, "RssShmem: %ld", &kib);
    if (f) fclose(f);
    return kib;
}

#endif
