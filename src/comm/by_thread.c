/* comm: jobs for threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/by_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/fiber.h"
#include "comm/wait.h"

typedef struct {
    tutti__job_fn *fn;
    void *context;
    tutti_err outcome;
    tutti_error_info trouble;
    atomic_int done;
} job;

static void *job_main(void *context) {
    job *j = context;
    j->outcome = j->fn(j->context);
    j->trouble = *tutti_last_error(); /* it is a thread's own */
    atomic_store_explicit(&j->done, 1, memory_order_release);
    return NULL;
}

tutti_err tutti__by_thread(tutti__job_fn *fn, void *context) {
    job j = {.fn = fn, .context = context}; /* on the fiber's stack, which stays where it is */
    pthread_t thread;
    sigset_t all, before; /* signals are the program's, not ours */
    if (!tutti__fiber_inside()) return fn(context);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&thread, NULL, job_main, &j);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) return fn(context);
    while (!atomic_load_explicit(&j.done, memory_order_acquire)) tutti__yield();
    pthread_join(thread, NULL);
    if (j.outcome != TUTTI_OK) tutti__error_assign(&j.trouble);
    return j.outcome;
}
