/* store: uring, Linux's io_uring through liburing.
 *
 * Each open file has a ring with queue_depth entries.  All pieces that can start are added to the
 * ring together and submitted with one system call.  Large pieces of asynchronous requests that use
 * the page cache are executed by kernel threads (IOSQE_ASYNC); otherwise the kernel would copy them
 * during the submission, and begin would not be asynchronous.
 *
 * A lock protects the ring.  A blocking write or read that finds the ring in use makes
 * its own system calls instead of waiting.
 *
 * If the kernel cannot create a ring (too old, disabled, in a container), the store threads is used
 * instead, and its name is reported.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifdef TUTTI_HAVE_URING
#include "store/store.h"
#include "store/inflight.h"
#include "base/memory.h"

#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <unistd.h>

/* Minimum bytes of a piece for a kernel thread; smaller pieces are copied faster during the
 * submission. */
#define BACKGROUND_BYTES ((size_t)16 << 10)

typedef struct uring_store {
    tutti__fdfile f;
    pthread_mutex_t lock; /* protects all fields below and the fields of all requests */
    tutti__inflight q;
    struct io_uring ring;
} uring_store;

/* Add the call of a flight to the ring, which has an entry for every flight. */
static void enqueue_call(uring_store *u, tutti__flight *x, int in_background) {
    const tutti__io_call *c = &x->call;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    TUTTI_ASSERT(sqe);
    if (x->r->is_write)
        io_uring_prep_writev(sqe, c->fd, c->iov, (unsigned)c->niov, (uint64_t)c->offset);
    else
        io_uring_prep_readv(sqe, c->fd, c->iov, (unsigned)c->niov, (uint64_t)c->offset);
    if (in_background) io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
    io_uring_sqe_set_data(sqe, x);
}

/* Collect ended calls; the rest of a short transfer is added to the ring again. */
static void collect_completions(uring_store *u) {
    struct io_uring_cqe *cqe;
    while (io_uring_peek_cqe(&u->ring, &cqe) == 0) {
        tutti__flight *x = io_uring_cqe_get_data(cqe);
        const int result = cqe->res;
        io_uring_cqe_seen(&u->ring, cqe);
        /* -EINTR, -EAGAIN, -ECANCELED: nothing was transferred because of a signal, because the
         * call would have had to wait, or because the submitting thread has ended; the call is
         * repeated. */
        if (tutti__inflight_landed(
                &u->q, x,
                (result == -EINTR || result == -EAGAIN || result == -ECANCELED) ? -EINTR : result))
            enqueue_call(u, x, result == -EAGAIN);
    }
}

/* Pause after the kernel has refused calls. */
enum { REFUSED_MICROSECONDS = 50 };

/* Start as many calls as possible, and wait until `wait` calls (0 or 1) have ended.  Calls that the
 * kernel does not accept now (EAGAIN or EBUSY when memory is short) remain in the ring. */
static void submit_calls(uring_store *u, int background, unsigned wait) {
    tutti__flight *x;
    while ((x = tutti__inflight_next(&u->q)) != NULL)
        enqueue_call(u, x,
                     background && x->call.fd == u->f.fd && x->call.bytes >= BACKGROUND_BYTES);
    if (io_uring_sq_ready(&u->ring) == 0 && wait == 0) return;
    tutti__store_stats(&u->f.base)->system_calls++;
    const int taken = io_uring_submit_and_wait(&u->ring, wait);
    if (taken < 0 && taken != -EINTR) (void)usleep(REFUSED_MICROSECONDS);
}

static tutti_err finish_request(tutti__ioreq *r, int background, tutti_off *done_out) {
    uring_store *u = (uring_store *)r->base.store;
    for (collect_completions(u); !tutti__ioreq_ended(r); collect_completions(u))
        submit_calls(u, background, 1);
    tutti__ioqueue_remove(&u->q.queue, r);
    return tutti__ioreq_judge(r, done_out);
}

static tutti_err enqueue_request(uring_store *u, int is_write, const tutti_io_run *runs, int n,
                                 tutti__ioreq **r_out) {
    TUTTI_TRY(tutti__ioreq_make(&u->f, is_write, runs, n, r_out));
    tutti__ioqueue_add(&u->q.queue, *r_out);
    return TUTTI_OK;
}

static tutti_err transfer_runs(uring_store *u, int is_write, const tutti_io_run *runs, int n,
                               tutti_off *done_out) {
    tutti__ioreq *r;
    TUTTI_TRY(enqueue_request(u, is_write, runs, n, &r));
    return finish_request(r, 0, done_out);
}

static tutti_err uring_write(tutti_store *s, const tutti_io_run *runs, int n) {
    uring_store *u = (uring_store *)s;
    tutti_off done;
    if (pthread_mutex_trylock(&u->lock) != 0) return tutti__fdfile_write(s, runs, n);
    const tutti_err err = transfer_runs(u, 1, runs, n, &done);
    pthread_mutex_unlock(&u->lock);
    return err;
}

static tutti_err uring_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    uring_store *u = (uring_store *)s;
    if (pthread_mutex_trylock(&u->lock) != 0) return tutti__fdfile_read(s, runs, n, done_out);
    const tutti_err err = transfer_runs(u, 0, runs, n, done_out);
    pthread_mutex_unlock(&u->lock);
    return err;
}

static tutti_err uring_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                             tutti_store_request **r_out) {
    uring_store *u = (uring_store *)s;
    tutti__ioreq *r;
    pthread_mutex_lock(&u->lock);
    const tutti_err err = enqueue_request(u, is_write, runs, n, &r);
    if (err == TUTTI_OK) {
        submit_calls(u, 1, 0);
        *r_out = &r->base;
    }
    pthread_mutex_unlock(&u->lock);
    return err;
}

static int uring_test(tutti_store_request *base) {
    uring_store *u = (uring_store *)base->store;
    tutti__ioreq *r = (tutti__ioreq *)base;
    pthread_mutex_lock(&u->lock);
    collect_completions(u);
    if (!tutti__ioreq_ended(r)) submit_calls(u, 1, 0);
    const int ended = tutti__ioreq_ended(r);
    pthread_mutex_unlock(&u->lock);
    return ended;
}

static tutti_err uring_finish(tutti_store_request *base, tutti_off *done_out) {
    uring_store *u = (uring_store *)base->store;
    pthread_mutex_lock(&u->lock);
    const tutti_err err = finish_request((tutti__ioreq *)base, 1, done_out);
    pthread_mutex_unlock(&u->lock);
    return err;
}

/* The ring is created before the file is opened, so that a failure to create it does not affect the
 * file. */
static tutti_err uring_open(const char *path, int flags, int permissions, const tutti_options *opt,
                            tutti_stats *stats, tutti_store **store_out) {
    uring_store *u = tutti__calloc(1, sizeof *u);
    if (!u) return TUTTI_ERR_NOMEM;
    u->f.base = (tutti_store){.ops = &tutti__store_uring, .stats = stats};
    if (io_uring_queue_init(tutti__inflight_depth(opt->queue_depth), &u->ring, 0) < 0) {
        tutti__free(u);
        return tutti__store_threads.open(path, flags, permissions, opt, stats, store_out);
    }
    tutti_err err = tutti__fdfile_open(&u->f, path, flags, permissions, opt);
    if (err == TUTTI_OK) {
        err = tutti__inflight_make(&u->q, &u->f, opt->queue_depth, TUTTI__IOV_ASYNC);
        if (err != TUTTI_OK) tutti__fdfile_abandon(&u->f, path);
    }
    if (err != TUTTI_OK) {
        io_uring_queue_exit(&u->ring);
        tutti__free(u);
        return err;
    }
    pthread_mutex_init(&u->lock, NULL);
    *store_out = &u->f.base;
    return TUTTI_OK;
}

static tutti_err uring_close(tutti_store *s) {
    uring_store *u = (uring_store *)s;
    io_uring_queue_exit(&u->ring);
    tutti__inflight_free(&u->q);
    pthread_mutex_destroy(&u->lock);
    const tutti_err err = tutti__fdfile_shut(&u->f);
    tutti__free(u);
    return err;
}

const tutti_store_ops tutti__store_uring = {.name = "uring",
                                            .reentrant = 1,
                                            .asynchronous = 1,
                                            .open = uring_open,
                                            .close = uring_close,
                                            .write = uring_write,
                                            .read = uring_read,
                                            .begin = uring_begin,
                                            .test = uring_test,
                                            .finish = uring_finish,
                                            TUTTI__FDFILE_OPS};
#endif
