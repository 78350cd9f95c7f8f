/* collective: the thread of background `all`.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

typedef struct errand {
    tutti_request *request;
    tutti__worker_fn *fn;
    struct errand *next;
} errand;

struct tutti__worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, news; /* for the thread, for its caller */
    errand *first, *last;
    int busy, ends;
    _Atomic int parks; /* MPI is going: do not come back from waiting */
};

static _Thread_local struct tutti__worker *me;

int tutti__is_worker(void) {
    return me != NULL;
}

static void park(void) {
    while (atomic_load(&me->parks)) pause();
}

static errand *worker_take(struct tutti__worker *w) {
    while (!w->first && !w->ends) pthread_cond_wait(&w->work, &w->lock);
    errand *e = w->first;
    if (!e) return NULL;
    w->first = e->next;
    if (!w->first) w->last = NULL;
    w->busy = 1;
    return e;
}

static void *worker_main(void *context) {
    struct tutti__worker *w = context;
    errand *e;
    me = w;
    tutti__on_idle(park);
    pthread_mutex_lock(&w->lock);
    while ((e = worker_take(w))) {
        pthread_mutex_unlock(&w->lock);
        e->fn(e->request);
        tutti__free(e);
        pthread_mutex_lock(&w->lock);
        w->busy = 0;
        pthread_cond_broadcast(&w->news);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static tutti_err worker_make(tutti_file *f) {
    struct tutti__worker *w = tutti__calloc(1, sizeof *w);
    if (!w) return TUTTI_ERR_NOMEM;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->news, NULL);
    sigset_t all, before; /* signals are the program's, not ours */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&w->thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        tutti__free(w);
        return tutti__error_set(TUTTI_ERR_NOMEM, code, -1, "no thread for the background");
    }
    f->worker = w;
    return TUTTI_OK;
}

tutti_err tutti__worker_give(tutti_file *f, tutti_request *r, tutti__worker_fn *fn) {
    if (!f->worker) TUTTI_TRY(worker_make(f));
    struct tutti__worker *w = f->worker;
    errand *e = tutti__calloc(1, sizeof *e);
    if (!e) return TUTTI_ERR_NOMEM;
    e->request = r;
    e->fn = fn;
    pthread_mutex_lock(&w->lock);
    if (w->last)
        w->last->next = e;
    else
        w->first = e;
    w->last = e;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
    return TUTTI_OK;
}

void tutti__worker_wait(tutti_file *f, long microseconds) {
    struct tutti__worker *w = f->worker;
    struct timespec until;
    if (!w) return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += microseconds * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    if (w->first || w->busy) (void)pthread_cond_timedwait(&w->news, &w->lock, &until);
    pthread_mutex_unlock(&w->lock);
}

int tutti__worker_idle(tutti_file *f) {
    struct tutti__worker *w = f->worker;
    if (!w) return 1;
    pthread_mutex_lock(&w->lock);
    const int idle = !w->first && !w->busy;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void tutti__worker_end(tutti_file *f) {
    struct tutti__worker *w = f->worker;
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->ends = 1;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->news);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    tutti__free(w);
    f->worker = NULL;
}

enum { PATIENCE = 1000 }; /* milliseconds */

int tutti__worker_stop(tutti_file *f) {
    for (int i = 0; i < PATIENCE && !tutti__worker_idle(f); i++) usleep(1000);
    if (tutti__worker_idle(f)) {
        tutti__worker_end(f);
        return 1;
    }
    atomic_store(&f->worker->parks, 1);
    usleep(20000); /* it comes by soon, since it yields wherever it waits */
    return 0;
}
