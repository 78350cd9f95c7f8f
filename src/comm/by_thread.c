/* comm: executing a function in a separate thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/by_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/fiber.h"
#include "comm/wait.h"

typedef struct {
    tutti__job_fn *fn;
    void *context;          /* argument of fn */
    tutti_err outcome;      /* result of fn */
    tutti_error_info error; /* last error of the thread */
    atomic_int done;        /* whether fn has returned and the fields above are set */
} job;

static void *job_main(void *context) {
    job *j = context;
    j->outcome = j->fn(j->context);
    j->error = *tutti_last_error(); /* the last error is per thread */
    atomic_store_explicit(&j->done, 1, memory_order_release);
    return NULL;
}

tutti_err tutti__by_thread_meanwhile(tutti__job_fn *fn, void *context,
                                     tutti__meanwhile_fn *meanwhile, void *other) {
    /* `j` is valid until pthread_join */
    job j = {.fn = fn, .context = context};
    pthread_t thread;
    /* the new thread blocks all signals: threads of the program handle them */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&thread, NULL, job_main, &j);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) return fn(context);
    tutti__wait w = tutti__wait_begin(NULL, NULL);
    w.transfers = meanwhile != NULL;
    while (!atomic_load_explicit(&j.done, memory_order_acquire)) {
        if (meanwhile) meanwhile(other);
        tutti__wait_turn(&w);
    }
    pthread_join(thread, NULL);
    if (j.outcome != TUTTI_OK) tutti__error_assign(&j.error);
    return j.outcome;
}

tutti_err tutti__by_thread(tutti__job_fn *fn, void *context) {
    return tutti__fiber_inside() ? tutti__by_thread_meanwhile(fn, context, NULL, NULL)
                                 : fn(context);
}
