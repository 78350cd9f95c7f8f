/* mpiio: progress of requests while the program waits in other calls of the MPI library.
 *
 *   Open MPI   has a list of functions that its progress engine calls; any library may add a
 *              function (opal_progress_register, in libopen-pal)
 *   MPICH      has no public interface for this, but with UCX all waiting calls go through one
 *              function of UCX, which is replaced here.  With MPI_THREAD_MULTIPLE MPICH holds locks
 *              there that its functions would need, so requests do not progress.
 *   others     only MPI_Wait, MPI_Test and similar calls progress requests (waits.c)
 *
 * The callback is called very often, in every wait of MPI, and checks for work at most once per
 * PAUSE.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "request_impl.h"

enum { PAUSE = 5000 }; /* nanoseconds */

enum { UNKNOWN, NOWHERE, EVERYWHERE };
static atomic_int where;
static _Atomic int64_t last;      /* time of the last check */
static int (*progress_all)(void); /* set before `where` is EVERYWHERE */

/* Return whether the last check was at least PAUSE ago. */
static int long_enough(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (now - atomic_load_explicit(&last, memory_order_relaxed) < PAUSE) return 0;
    atomic_store_explicit(&last, now, memory_order_relaxed);
    return 1;
}

int mpiio_progress_everywhere(void) {
    return atomic_load_explicit(&where, memory_order_relaxed) == EVERYWHERE;
}

static void *symbol_of(const char *name, const char *library) {
    void *symbol = dlsym(RTLD_NEXT, name);
    void *handle = symbol ? NULL : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : symbol;
}

#ifdef MPICH_VERSION

typedef unsigned ucx_fn(void *worker);

static atomic_int ucx_is_used;

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static ucx_fn *_Atomic real;
    if (!real) real = (ucx_fn *)symbol_of("ucp_worker_progress", "libucp.so.0");
    if (!real) abort(); /* impossible: the caller is in this library */
    const unsigned events = real(worker);
    atomic_store_explicit(&ucx_is_used, 1, memory_order_relaxed);
    if (!events && mpiio_progress_everywhere() && !mpiio_requests_idle() && long_enough())
        progress_all();
    return events;
}

static int arrange_progress(void) {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return atomic_load(&ucx_is_used) && level < MPI_THREAD_MULTIPLE;
}

#else

typedef int opal_fn(int (*callback)(void));

static int progress_callback(void) {
    if (!mpiio_progress_everywhere() || mpiio_requests_idle() || !long_enough()) return 0;
    return progress_all();
}

/* Register the callback once; after MPI_Finalize Open MPI never calls it. */
static int arrange_progress(void) {
    opal_fn *add = (opal_fn *)symbol_of("opal_progress_register", "libopen-pal.so.40");
    return add && add(progress_callback) == 0;
}

#endif

void mpiio_progress_begin(int (*progress)(void)) {
    int unknown = UNKNOWN;
    progress_all = progress;
    if (atomic_compare_exchange_strong(&where, &unknown, NOWHERE) && arrange_progress())
        atomic_store(&where, EVERYWHERE);
}

void mpiio_progress_end(void) {
    atomic_store(&where, NOWHERE);
}
