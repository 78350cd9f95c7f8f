/* mpiio: functions of the MPI library.  This library precedes the MPI library in symbol lookup, so
 * that the next symbol of a name is that of the MPI library.  Since this library is linked with the
 * MPI library, this also works if a program has loaded MPI privately (Python).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "mpiio.h"

/* Check that the program uses the MPI for which this library was built; otherwise handles would be
 * misinterpreted.  Each MPI is identified by a symbol to which programs refer because of its
 * mpi.h. */
static void check_mpi(void) {
#ifdef OPEN_MPI
    static const char ours[] = "Open MPI", other[] = "MPICH", symbol_of_other[] = "MPIR_Dup_fn";
#else
    static const char ours[] = "MPICH", other[] = "Open MPI",
                      symbol_of_other[] = "ompi_mpi_comm_world";
#endif
    if (!dlsym(RTLD_DEFAULT, symbol_of_other)) return;
    fprintf(stderr,
            "libtutti-mpiio: this library was built for %s, but the program uses %s: preload the "
            "libtutti-mpiio.so of a Tutti that was built for %s\n",
            ours, other, other);
    _exit(1);
}

__attribute__((constructor)) static void check_at_load(void) {
    check_mpi();
}

static int off;
static pthread_once_t off_once = PTHREAD_ONCE_INIT;

static void off_read(void) {
    check_mpi(); /* check again, since another MPI may have been loaded in the meantime */
    static const char *const words[] = {"off", "0", "no", "false", "disable"};
    const char *text = secure_getenv("TUTTI_MPIIO");
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) off = 1;
}

int mpiio_off(void) {
    pthread_once(&off_once, off_read);
    return off;
}

void *mpiio_real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    fprintf(stderr,
            "libtutti-mpiio: there is no %s after this library: it must come before the MPI\n",
            name);
    abort();
}

double mpiio_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
