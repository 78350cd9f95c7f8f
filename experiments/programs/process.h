/* What benches of one operation measure of a process: clocks, and its memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BENCH_PROCESS_H
#define TUTTI_BENCH_PROCESS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double clock_of(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line of /proc/self/status, in bytes. */
static inline double status(const char *key) {
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) kib = strtod(line + strlen(key) + 1, NULL);
    if (f) fclose(f);
    return kib * 1024;
}

/* From now on VmHWM counts anew. */
static inline void forget_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f) return;
    fputs("5", f);
    fclose(f);
}

static inline double reduce(double x, MPI_Op op) {
    double all = 0;
    MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

#endif
