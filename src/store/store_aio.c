/* store: aio, POSIX asynchronous I/O (aio_write, aio_read, aio_suspend).
 *
 * Each piece is one contiguous transfer, since the interface has no vectors; at most queue_depth
 * transfers are in progress.  A transfer that the system cannot queue is executed synchronously.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "store/inflight.h"
#include "base/memory.h"

#include <aio.h>
#include <errno.h>
#include <signal.h>

typedef struct aio_store {
    tutti__fdfile f;
    tutti__inflight q;
    struct aiocb *control;      /* [q.n], one per flight */
    const struct aiocb **await; /* [q.n], argument of aio_suspend: the pending items of `control` */
} aio_store;

static struct aiocb *control_of(aio_store *a, const tutti__flight *x) {
    return &a->control[x - a->q.flights];
}

/* Start the call of a flight.  If the system cannot queue it, execute the call and the following
 * calls of the flight synchronously. */
static void start_call(aio_store *a, tutti__flight *x) {
    int again = 1;
    while (again) {
        x->tally.system_calls++;
        struct aiocb *cb = control_of(a, x);
        *cb = (struct aiocb){.aio_fildes = x->call.fd,
                             .aio_offset = x->call.offset,
                             .aio_buf = x->call.iov[0].iov_base,
                             .aio_nbytes = x->call.iov[0].iov_len,
                             .aio_sigevent.sigev_notify = SIGEV_NONE};
        if ((x->r->is_write ? aio_write(cb) : aio_read(cb)) == 0) return;
        again = tutti__inflight_landed(&a->q, x, tutti__span_call(x->r->is_write, &x->call));
    }
}

static void launch_all(aio_store *a) {
    tutti__flight *x;
    while ((x = tutti__inflight_next(&a->q)) != NULL) start_call(a, x);
}

static tutti_err aio_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                           tutti_store_request **r_out) {
    aio_store *a = (aio_store *)s;
    tutti__ioreq *r;
    TUTTI_TRY(tutti__ioreq_make(&a->f, is_write, runs, n, &r));
    tutti__ioqueue_add(&a->q.queue, r);
    launch_all(a);
    *r_out = &r->base;
    return TUTTI_OK;
}

static int aio_test(tutti_store_request *base) {
    tutti__ioreq *r = (tutti__ioreq *)base;
    /* Collect ended calls, and start as many new ones as possible. */
    if (!tutti__ioreq_ended(r)) {
        aio_store *a = (aio_store *)base->store;
        for (int i = 0; i < a->q.n && a->q.active > 0; i++) {
            tutti__flight *x = &a->q.flights[i];
            if (!x->r) continue;
            const int status = aio_error(control_of(a, x));
            if (status == EINPROGRESS) continue;
            const ssize_t moved = aio_return(control_of(a, x));
            if (tutti__inflight_landed(&a->q, x, status == 0 ? moved : -status)) start_call(a, x);
        }
        launch_all(a);
    }
    return tutti__ioreq_ended(r);
}

static tutti_err aio_finish(tutti_store_request *base, tutti_off *done_out) {
    aio_store *a = (aio_store *)base->store;
    tutti__ioreq *r = (tutti__ioreq *)base;
    while (!aio_test(base)) {
        int n = 0;
        for (int i = 0; i < a->q.n; i++)
            if (a->q.flights[i].r) a->await[n++] = &a->control[i];
        if (n > 0) (void)aio_suspend(a->await, n, NULL);
    }
    tutti__ioqueue_remove(&a->q.queue, r);
    return tutti__ioreq_judge(r, done_out);
}

static tutti_err store_aio_write(tutti_store *s, const tutti_io_run *runs, int n) {
    tutti_store_request *r;
    tutti_off done;
    TUTTI_TRY(aio_begin(s, 1, runs, n, &r));
    return aio_finish(r, &done);
}

static tutti_err store_aio_read(tutti_store *s, const tutti_io_run *runs, int n,
                                tutti_off *done_out) {
    tutti_store_request *r;
    TUTTI_TRY(aio_begin(s, 0, runs, n, &r));
    return aio_finish(r, done_out);
}

static tutti_err store_aio_close(tutti_store *s) {
    aio_store *a = (aio_store *)s;
    tutti__inflight_free(&a->q);
    const tutti_err err = tutti__fdfile_shut(&a->f);
    tutti__free(a->control);
    tutti__free(a->await);
    tutti__free(a);
    return err;
}

static tutti_err aio_open(const char *path, int flags, int permissions, const tutti_options *opt,
                          tutti_stats *stats, tutti_store **store_out) {
    aio_store *a = tutti__calloc(1, sizeof *a);
    if (!a) return TUTTI_ERR_NOMEM;
    a->f.base = (tutti_store){.ops = &tutti__store_aio, .stats = stats};
    tutti_err err = tutti__fdfile_open(&a->f, path, flags, permissions, opt);
    if (err != TUTTI_OK) goto undo_store;
    err = tutti__inflight_make(&a->q, &a->f, opt->queue_depth, 1);
    if (err != TUTTI_OK) goto undo_file;
    a->control = tutti__calloc((size_t)a->q.n, sizeof *a->control);
    a->await = tutti__calloc((size_t)a->q.n, sizeof *a->await);
    err = a->control && a->await ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err != TUTTI_OK) goto undo_controls;
    *store_out = &a->f.base;
    return TUTTI_OK;

undo_controls:
    tutti__free(a->control);
    tutti__free(a->await);
    tutti__inflight_free(&a->q);
undo_file:
    tutti__fdfile_abandon(&a->f, path);
undo_store:
    tutti__free(a);
    return err;
}

const tutti_store_ops tutti__store_aio = {.name = "aio",
                                          .asynchronous = 1,
                                          .open = aio_open,
                                          .close = store_aio_close,
                                          .write = store_aio_write,
                                          .read = store_aio_read,
                                          .begin = aio_begin,
                                          .test = aio_test,
                                          .finish = aio_finish,
                                          TUTTI__FDFILE_OPS};
