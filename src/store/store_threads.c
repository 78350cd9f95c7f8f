/* store: threads, asynchronous requests executed by a few threads of the library.
 *
 * begin adds a request to the queue.  Worker threads take a piece of a request while holding the
 * lock, and release the lock during the transfer.  finish transfers the remaining pieces of its
 * request and waits for the pieces of the workers.
 *
 * The workers only access files: they do not use MPI, statistics or the last error, and block all
 * signals.  They start with the first begin and end at close.  If no thread can be created, test
 * and finish transfer the pieces.  Synchronous requests are executed in the calling thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "store/ioreq.h"
#include "base/memory.h"

#include <pthread.h>
#include <signal.h>

#define MOST_THREADS 256

typedef struct threads_store {
    tutti__fdfile f;
    pthread_mutex_t lock; /* protects all fields below and the fields of all requests */
    pthread_cond_t work;  /* signalled when a request is queued, or `stop` is set */
    pthread_cond_t ended; /* signalled when a request has ended */
    tutti__ioqueue queue;
    int unfinished;      /* number of requests that have not ended */
    tutti_off lo, hi;    /* bytes whose writeback is started when all requests have ended */
    int stop;            /* whether the threads must end */
    int wanted, running; /* number of threads to create, and created */
    pthread_t *threads;  /* [running] */
} threads_store;

/* Start writeback if all requests have ended.  The caller holds the lock. */
static void write_behind_if_idle(threads_store *t) {
    if (t->unfinished > 0 || t->lo >= t->hi) return;
    tutti__fdfile_write_behind(&t->f.base, t->lo, t->hi);
    t->lo = t->hi = 0;
}

/* Transfer one piece of `r`.  The caller holds the lock, which is released during the transfer. */
static void work_on(threads_store *t, tutti__ioreq *r) {
    struct iovec iov[TUTTI__IOV_ASYNC];
    tutti__io_call call = {.iov = iov, .max_iov = TUTTI__IOV_ASYNC};
    tutti__tally tally = tutti__tally_start();
    tutti__span piece;
    call.max_bytes = t->f.max_bytes < TUTTI__PIECE_BYTES ? t->f.max_bytes : TUTTI__PIECE_BYTES;
    if (!tutti__ioreq_take(r, &call, &piece)) return;
    pthread_mutex_unlock(&t->lock);
    tutti__span_transfer(&t->f, r->is_write, &piece, &call, &tally);
    pthread_mutex_lock(&t->lock);
    tutti__ioreq_return(r, &tally);
    if (!tutti__ioreq_ended(r)) return;
    t->unfinished--;
    write_behind_if_idle(t);
    pthread_cond_broadcast(&t->ended);
}

static void *run_worker(void *arg) {
    threads_store *t = arg;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        tutti__ioreq *r = tutti__ioqueue_first(&t->queue);
        if (r)
            work_on(t, r);
        else if (t->stop)
            break;
        else
            pthread_cond_wait(&t->work, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static tutti_err threads_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                               tutti_store_request **r_out) {
    threads_store *t = (threads_store *)s;
    tutti__ioreq *r;
    TUTTI_TRY(tutti__ioreq_make(&t->f, is_write, runs, n, &r));
    /* Create the threads; if some or all cannot be created, the store continues without them. */
    if (t->running < t->wanted) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (t->running < t->wanted &&
               pthread_create(&t->threads[t->running], NULL, run_worker, t) == 0)
            t->running++;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        t->wanted = t->running;
    }
    pthread_mutex_lock(&t->lock);
    tutti__ioqueue_add(&t->queue, r);
    t->unfinished += !tutti__ioreq_ended(r);
    if (r->rest.left > (tutti_off)TUTTI__PIECE_BYTES)
        pthread_cond_broadcast(&t->work);
    else
        pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    *r_out = &r->base;
    return TUTTI_OK;
}

static int threads_test(tutti_store_request *base) {
    threads_store *t = (threads_store *)base->store;
    tutti__ioreq *r = (tutti__ioreq *)base;
    pthread_mutex_lock(&t->lock);
    if (t->running == 0) work_on(t, r);
    const int ended = tutti__ioreq_ended(r);
    pthread_mutex_unlock(&t->lock);
    return ended;
}

static tutti_err threads_finish(tutti_store_request *base, tutti_off *done_out) {
    threads_store *t = (threads_store *)base->store;
    tutti__ioreq *r = (tutti__ioreq *)base;
    pthread_mutex_lock(&t->lock);
    while (!tutti__ioreq_ended(r)) {
        if (r->rest.left > 0)
            work_on(t, r);
        else
            pthread_cond_wait(&t->ended, &t->lock);
    }
    tutti__ioqueue_remove(&t->queue, r);
    pthread_mutex_unlock(&t->lock);
    return tutti__ioreq_judge(r, done_out);
}

static void threads_start_writeback(tutti_store *s, tutti_off lo, tutti_off hi) {
    threads_store *t = (threads_store *)s;
    pthread_mutex_lock(&t->lock);
    tutti__interval_grow(&t->lo, &t->hi, lo, hi);
    write_behind_if_idle(t);
    pthread_mutex_unlock(&t->lock);
}

static tutti_err threads_open(const char *path, int flags, int permissions,
                              const tutti_options *opt, tutti_stats *stats,
                              tutti_store **store_out) {
    tutti_err err = TUTTI_ERR_NOMEM;
    threads_store *t = tutti__calloc(1, sizeof *t);
    if (!t) return TUTTI_ERR_NOMEM;
    t->f.base = (tutti_store){.ops = &tutti__store_threads, .stats = stats};
    t->wanted = (int)tutti__min(opt->io_threads, opt->queue_depth);
    t->wanted = (int)tutti__max(1, tutti__min(t->wanted, MOST_THREADS));
    t->threads = tutti__calloc((size_t)t->wanted, sizeof *t->threads);
    if (!t->threads) goto undo_store;
    err = tutti__fdfile_open(&t->f, path, flags, permissions, opt);
    if (err != TUTTI_OK) goto undo_threads;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->ended, NULL);
    *store_out = &t->f.base;
    return TUTTI_OK;

undo_threads:
    tutti__free(t->threads);
undo_store:
    tutti__free(t);
    return err;
}

static tutti_err threads_close(tutti_store *s) {
    threads_store *t = (threads_store *)s;
    pthread_mutex_lock(&t->lock);
    t->stop = 1;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->running; i++) pthread_join(t->threads[i], NULL);
    pthread_cond_destroy(&t->ended);
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    const tutti_err err = tutti__fdfile_shut(&t->f);
    tutti__free(t->threads);
    tutti__free(t);
    return err;
}

const tutti_store_ops tutti__store_threads = {.name = "threads",
                                              .reentrant = 1,
                                              .asynchronous = 1,
                                              .open = threads_open,
                                              .close = threads_close,
                                              .write = tutti__fdfile_write,
                                              .read = tutti__fdfile_read,
                                              .begin = threads_begin,
                                              .test = threads_test,
                                              .finish = threads_finish,
                                              .start_writeback = threads_start_writeback,
                                              TUTTI__FDFILE_OPS};
