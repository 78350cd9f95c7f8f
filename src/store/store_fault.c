/* store: a wrapper that injects faults, for tests.
 *
 * The N-th call of the chosen operation and all later ones fail without reaching the inner store;
 * all other calls are forwarded.  An asynchronous request is counted when it begins, and fails when
 * it finishes.  With the fault `held`, a test decides when transfers may end, so that overlapping
 * work can be observed on a busy machine; a transfer that is never released fails after
 * RELEASE_TIMEOUT milliseconds.  Short transfers are simulated in span.c, so that the loops that
 * continue them are tested.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fault.h"
#include "store/store.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"

typedef struct fault_store {
    tutti_store base;
    tutti_store_ops ops; /* table with the name and the properties of the inner store */
    tutti_store *inner;
    tutti__fault fault;
    _Atomic tutti_count calls; /* calls of the operation fault.what so far */
} fault_store;

typedef struct fault_request {
    tutti_store_request base;
    tutti_store_request *inner; /* NULL: not begun, because the request must fail */
    int is_write;
    tutti_off offset; /* offset of the first run, for the error message */
    double due;       /* earliest end of the transfer; 0: any time */
} fault_request;

/* Return the inner store, which adds its accesses to the statistics of the wrapper. */
static tutti_store *inner_of(fault_store *f) {
    if (f->inner->stats != f->base.stats) f->inner->stats = f->base.stats;
    return f->inner;
}

/* Return the earliest end of a transfer that begins now, for the fault `slow`; 0: any time. */
static double earliest_end(const fault_store *f) {
    return f->fault.what == TUTTI__FAULT_SLOW ? tutti__now() + 1e-3 * (double)f->fault.n : 0;
}

static void wait_until(double when) {
    const double left = when > 0 ? when - tutti__now() : 0;
    if (left > 0) usleep((useconds_t)(1e6 * left));
}

#define RELEASE_TIMEOUT 30000 /* milliseconds that a transfer waits for its release */

/* Wait at most `milliseconds` for the release of transfers; returns 1 if they may end. */
static int wait_released(const fault_store *f, int milliseconds) {
    struct pollfd p = {.fd = (int)f->fault.n, .events = POLLIN};
    if (f->fault.what != TUTTI__FAULT_HELD) return 1;
    while (poll(&p, 1, milliseconds) < 0 && errno == EINTR) continue;
    return p.revents != 0;
}

static tutti_err wait_for_release(const fault_store *f) {
    if (wait_released(f, RELEASE_TIMEOUT)) return TUTTI_OK;
    char text[80];
    snprintf(text, sizeof text, "injected fault 'held': transfer was not released within %d ms",
             RELEASE_TIMEOUT);
    return tutti__error_sys(ETIMEDOUT, -1, text);
}

/* Count a call of the operation `what`; returns 1 if it must fail. */
static int is_failing_call(fault_store *f, tutti__fault_what what) {
    if (f->fault.what != what) return 0;
    return atomic_fetch_add(&f->calls, 1) + 1 >= f->fault.n;
}

static tutti_err inject_fault(const fault_store *f, const char *operation, tutti_off offset) {
    const tutti_err err =
        tutti__error_sys(f->fault.sys_errno, offset, "an injected fault made the operation fail");
    tutti__error_context(operation, NULL, -1);
    return err;
}

static tutti_off first_offset(const tutti_io_run *runs, int n) {
    return n > 0 ? runs[0].offset : -1;
}

static tutti_err fault_close(tutti_store *s) {
    fault_store *f = (fault_store *)s;
    (void)inner_of(f);
    tutti_err err = tutti__store_close(&f->inner);
    if (err == TUTTI_OK && is_failing_call(f, TUTTI__FAULT_CLOSE))
        err = inject_fault(f, "close", -1);
    tutti__free(f);
    return err;
}

static tutti_err fault_write(tutti_store *s, const tutti_io_run *runs, int n) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_WRITE))
        return inject_fault(f, "write", first_offset(runs, n));
    wait_until(earliest_end(f));
    TUTTI_TRY(wait_for_release(f));
    return tutti__store_write(inner_of(f), runs, n);
}

static tutti_err fault_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_READ))
        return inject_fault(f, "read", first_offset(runs, n));
    wait_until(earliest_end(f));
    TUTTI_TRY(wait_for_release(f));
    return tutti__store_read(inner_of(f), runs, n, done_out);
}

static tutti_err fault_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                             tutti_store_request **r_out) {
    fault_store *f = (fault_store *)s;
    fault_request *r = tutti__calloc(1, sizeof *r);
    tutti_err err = TUTTI_OK;
    if (!r) return TUTTI_ERR_NOMEM;
    r->base.store = s;
    r->is_write = is_write;
    r->offset = first_offset(runs, n);
    r->due = earliest_end(f);
    if (!is_failing_call(f, is_write ? TUTTI__FAULT_WRITE : TUTTI__FAULT_READ))
        err = tutti__store_begin(inner_of(f), is_write, runs, n, &r->inner);
    if (err != TUTTI_OK) {
        tutti__free(r);
        return err;
    }
    *r_out = &r->base;
    return TUTTI_OK;
}

static int fault_test(tutti_store_request *base) {
    fault_request *r = (fault_request *)base;
    fault_store *f = (fault_store *)base->store;
    if (r->due > tutti__now() || !wait_released(f, 0)) return 0;
    (void)inner_of(f);
    if (r->inner && !tutti__store_test(r->inner)) return 0;
    base->ended = r->inner ? tutti__store_ended(r->inner) : 0;
    if (base->ended < r->due) base->ended = r->due;
    return 1;
}

static tutti_err fault_finish(tutti_store_request *base, tutti_off *done_out) {
    fault_request *r = (fault_request *)base;
    fault_store *f = (fault_store *)base->store;
    wait_until(r->due);
    const tutti_err release_err = wait_for_release(f);
    (void)inner_of(f);
    const tutti_err err = r->inner ? tutti__store_finish(&r->inner, done_out)
                                   : inject_fault(f, r->is_write ? "write" : "read", r->offset);
    tutti__free(r);
    return err != TUTTI_OK ? err : release_err;
}

static tutti_err fault_size(tutti_store *s, tutti_off *size_out) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_SIZE)) return inject_fault(f, "size", -1);
    return tutti__store_size(inner_of(f), size_out);
}

static tutti_err fault_resize(tutti_store *s, tutti_off size) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_RESIZE)) return inject_fault(f, "resize", size);
    return tutti__store_resize(inner_of(f), size);
}

static tutti_err fault_preallocate(tutti_store *s, tutti_off size) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_RESIZE)) return inject_fault(f, "preallocate", size);
    return tutti__store_preallocate(inner_of(f), size);
}

static int fault_descriptor(const tutti_store *s) {
    return tutti__store_descriptor(((const fault_store *)s)->inner);
}

static tutti_err fault_flush(tutti_store *s) {
    return tutti__store_flush(inner_of((fault_store *)s));
}

static tutti_err fault_refresh(tutti_store *s) {
    return tutti__store_refresh(inner_of((fault_store *)s));
}

static tutti_err fault_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi) {
    return tutti__store_lock(inner_of((fault_store *)s), kind, lo, hi);
}

static void fault_start_writeback(tutti_store *s, tutti_off lo, tutti_off hi) {
    tutti__store_write_behind(inner_of((fault_store *)s), lo, hi);
}

static int fault_cached(tutti_store *s, tutti_off offset) {
    return tutti__store_cached(inner_of((fault_store *)s), offset);
}

static tutti_err fault_sync(tutti_store *s) {
    fault_store *f = (fault_store *)s;
    if (is_failing_call(f, TUTTI__FAULT_SYNC)) return inject_fault(f, "sync", -1);
    return tutti__store_sync(inner_of(f));
}

/* The wrapper is reentrant; the inner store has its own lock, if it needs one. */
static const tutti_store_ops fault_ops = {.reentrant = 1,
                                          .close = fault_close,
                                          .write = fault_write,
                                          .read = fault_read,
                                          .begin = fault_begin,
                                          .test = fault_test,
                                          .finish = fault_finish,
                                          .size = fault_size,
                                          .resize = fault_resize,
                                          .preallocate = fault_preallocate,
                                          .sync = fault_sync,
                                          .descriptor = fault_descriptor,
                                          .flush = fault_flush,
                                          .refresh = fault_refresh,
                                          .is_cached = fault_cached,
                                          .lock = fault_lock,
                                          .start_writeback = fault_start_writeback};

tutti_err tutti__fault_wrap(tutti_store *inner, const tutti__fault *fault,
                            tutti_store **store_out) {
    fault_store *f = tutti__calloc(1, sizeof *f);
    if (!f) return TUTTI_ERR_NOMEM;
    f->ops = fault_ops;
    f->ops.name = inner->ops->name;
    f->ops.asynchronous = inner->ops->asynchronous;
    f->base = (tutti_store){.ops = &f->ops, .stats = inner->stats, .layout = inner->layout};
    f->inner = inner;
    f->fault = *fault;
    if (fault->what >= TUTTI__FAULT_SLOW) f->base.layout.synchronous = 1; /* transfers take time */
    *store_out = &f->base;
    return TUTTI_OK;
}
