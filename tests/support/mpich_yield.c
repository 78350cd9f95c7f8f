/* Preloaded into ranks of MPICH: yields the core after a poll without messages.  Debian's MPICH (ch4 over
 * UCX) polls without yielding, so that with more ranks than cores each message waits for the end of another
 * process's time slice.  All polls call one function of UCX, which this file replaces; without UCX the
 * function is never called.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

typedef unsigned progress_fn(void *worker);

unsigned ucp_worker_progress(void *worker);

/* Return the function of UCX: the next one in search order, or that of a library opened with RTLD_LOCAL. */
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
