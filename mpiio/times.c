/* mpiio: the time that a process spent in MPI_File_ calls of this library or (TUTTI_MPIIO=off) of
 * the MPI library, and the number of files that it opened.  They are reported when the process
 * ends, if `tutti run` requests it:
 *
 *   TUTTI_MPIIO_REPORT=1     rank 0 prints a line that the library was active
 *   TUTTI_MPIIO_TIMES=FILE   every rank appends a line to FILE: seconds, files
 *
 * MPI_Wait and similar calls are not MPI_File_ calls, and are not counted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiio.h"

static int wanted; /* set before main */
static int64_t nanoseconds, files;
static _Thread_local int depth; /* nesting depth: nested calls are counted once */

double mpiio_timed_begin(void) {
    return wanted && depth++ == 0 ? mpiio_now() : 0;
}

void mpiio_timed_end(const double *since) {
    if (!wanted) return;
    depth--;
    if (*since > 0)
        __atomic_fetch_add(&nanoseconds, (int64_t)(1e9 * (mpiio_now() - *since)), __ATOMIC_RELAXED);
}

void mpiio_timed_file(void) {
    __atomic_fetch_add(&files, 1, __ATOMIC_RELAXED);
}

/* Return whether this is rank 0, from variables set by the launchers of the MPI libraries and by
 * Slurm. */
static int is_first_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = secure_getenv(names[i]);
        if (text) return strcmp(text, "0") == 0;
    }
    return 1;
}

__attribute__((constructor)) static void times_wanted(void) {
    wanted = secure_getenv("TUTTI_MPIIO_REPORT") || secure_getenv("TUTTI_MPIIO_TIMES");
}

/* Shells and wrappers that start the program have no MPI, and print nothing. */
__attribute__((destructor)) static void times_tell(void) {
    int initialized = 0;
    if (!wanted || PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized) return;
    const char *path = secure_getenv("TUTTI_MPIIO_TIMES");
    const char *asked = secure_getenv("TUTTI_MPIIO_REPORT");
    const int fd = path && *path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd >= 0) {
        char line[64];
        const int n = snprintf(line, sizeof line, "%.9f %lld\n", 1e-9 * (double)nanoseconds,
                               (long long)files);
        if (write(fd, line, (size_t)n) != n) fprintf(stderr, "tutti: '%s' is incomplete\n", path);
        close(fd);
    }
    if (!asked || strcmp(asked, "1") != 0 || !is_first_rank()) return;
    if (mpiio_off())
        fprintf(stderr, "tutti: not active: TUTTI_MPIIO is off\n");
    else if (files == 0)
        fprintf(stderr, "tutti: active, but the program opened no file by MPI-IO\n");
    else
        fprintf(stderr, "tutti: active for %lld file%s; rank 0 was %.3f s in calls of MPI_File_\n",
                (long long)files, files == 1 ? "" : "s", 1e-9 * (double)nanoseconds);
}
