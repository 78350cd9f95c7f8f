/* Preloaded into MPICH's ranks: yield the core when a poll for messages found none.
 * Debian's MPICH (ch4 over UCX) polls without ever yielding, so that with more ranks than cores
 * each message waits for the end of another process's time slice.  All polling goes through one
 * function of UCX, which this one replaces.  Without UCX it is never called.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

typedef unsigned progress_fn(void *worker);

unsigned ucp_worker_progress(void *worker);

/* The real function: next in the search order, or in a library that was opened privately. */
static progress_fn *real_progress(void) {
    void *symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!symbol) {
        void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (ucp) symbol = dlsym(ucp, "ucp_worker_progress");
    }
    if (!symbol) abort();
    return (progress_fn *)symbol;
}

unsigned ucp_worker_progress(void *worker) {
    static progress_fn *volatile real;
    if (!real) real = real_progress();
    const unsigned events = real(worker);
    if (!events) sched_yield();
    return events;
}
