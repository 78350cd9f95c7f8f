/* collective: threads that execute requests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "comm/wait.h"

enum { MOST_THREADS = 64 };

struct tutti__worker {
    tutti__worker_fn *fn;
    pthread_t thread[MOST_THREADS];
    int threads;
    pthread_mutex_t lock;
    /* `work` signals new requests to the threads, `news` signals changes to waiting callers */
    pthread_cond_t work, news;
    tutti_request *first, *last;
    int busy, ends;
    _Atomic int parks; /* MPI_Finalize has begun: threads stop in their next wait */
};

static _Thread_local struct tutti__worker *me;

static int park_thread(void) {
    while (atomic_load(&me->parks)) pause();
    return 0;
}

static tutti_request *take_request(struct tutti__worker *w) {
    while (!w->first && !w->ends) pthread_cond_wait(&w->work, &w->lock);
    tutti_request *r = w->first;
    if (!r) return NULL;
    w->first = r->next.of_worker;
    if (!w->first) w->last = NULL;
    w->busy++;
    return r;
}

static void *run_requests(void *context) {
    struct tutti__worker *w = context;
    tutti_request *r;
    me = w;
    tutti__worker_mark();
    tutti__on_idle(park_thread);
    pthread_mutex_lock(&w->lock);
    while ((r = take_request(w))) {
        pthread_mutex_unlock(&w->lock);
        w->fn(r); /* afterwards the request belongs to the caller */
        pthread_mutex_lock(&w->lock);
        w->busy--;
        pthread_cond_broadcast(&w->news);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static tutti_err make_worker(tutti__worker_fn *fn, struct tutti__worker **out) {
    struct tutti__worker *w = tutti__calloc(1, sizeof *w);
    if (!w) return TUTTI_ERR_NOMEM;
    w->fn = fn;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->news, NULL);
    *out = w;
    return TUTTI_OK;
}

/* Add a thread if all are busy, up to `most`.  The caller holds w->lock.  Fails only if no thread
 * exists. */
static tutti_err add_thread(struct tutti__worker *w, int most) {
    const int wanted = (int)tutti__max(1, tutti__min(most, MOST_THREADS));
    if (w->threads > 0 && (w->threads >= wanted || (!w->first && w->busy < w->threads)))
        return TUTTI_OK;
    sigset_t all, before; /* signals are handled by threads of the program */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&w->thread[w->threads], NULL, run_requests, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0) w->threads++;
    if (w->threads == 0)
        return tutti__error_set(TUTTI_ERR_NOMEM, code, -1,
                                "cannot create a thread for background I/O");
    return TUTTI_OK;
}

tutti_err tutti__worker_give(struct tutti__worker **pw, int most, tutti__worker_fn *fn,
                             tutti_request *r) {
    if (!*pw) TUTTI_TRY(make_worker(fn, pw));
    struct tutti__worker *w = *pw;
    pthread_mutex_lock(&w->lock);
    const tutti_err err = add_thread(w, most);
    if (err == TUTTI_OK) {
        r->next.of_worker = NULL;
        if (w->last)
            w->last->next.of_worker = r;
        else
            w->first = r;
        w->last = r;
        pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    return err;
}

void tutti__worker_wait(struct tutti__worker *w, const tutti_request *r, long microseconds) {
    struct timespec until;
    if (!w) return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += microseconds * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    /* a state that the thread of a request sets before it takes the lock is visible here */
    const int is_complete =
        r && atomic_load_explicit(&r->progress.state, memory_order_acquire) == TUTTI__COMPLETED;
    if (!is_complete && (w->first || w->busy))
        (void)pthread_cond_timedwait(&w->news, &w->lock, &until);
    pthread_mutex_unlock(&w->lock);
}

int tutti__worker_idle(struct tutti__worker *w) {
    if (!w) return 1;
    pthread_mutex_lock(&w->lock);
    const int idle = !w->first && !w->busy;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void tutti__worker_end(struct tutti__worker **pw) {
    struct tutti__worker *w = *pw;
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->ends = 1;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++) pthread_join(w->thread[i], NULL);
    pthread_cond_destroy(&w->news);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    tutti__free(w);
    *pw = NULL;
}

enum { PATIENCE = 1000 }; /* milliseconds */

int tutti__worker_stop(struct tutti__worker **pw) {
    for (int i = 0; i < PATIENCE && !tutti__worker_idle(*pw); i++) usleep(1000);
    if (tutti__worker_idle(*pw)) {
        tutti__worker_end(pw);
        return 1;
    }
    atomic_store(&(*pw)->parks, 1);
    usleep(20000); /* the threads check `parks` in every turn of a wait */
    return 0;
}
