/* store: the functions that other modules call.
 *
 * They check requests for all stores and provide defaults for optional operations.  Synchronous and
 * asynchronous stores behave alike: begin fails only if the request could not be started, and
 * finish returns the result of the transfer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "base/memory.h"
#include "base/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* ---- locking ------------------------------------------------------------------------------- */

static void lock_store(tutti_store *s) {
    if (s->guard) pthread_mutex_lock(s->guard);
}

/* Release the lock of a store that is not reentrant; returns `err`. */
static tutti_err unlock_store(tutti_store *s, tutti_err err) {
    if (s->guard) pthread_mutex_unlock(s->guard);
    return err;
}

/* ---- close ----------------------------------------------------------------------------------- */

/* Set the operation of the last error if `err` is an error; returns `err`. */
static tutti_err add_operation(const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, NULL, -1);
    return err;
}

tutti_err tutti__store_close(tutti_store **s) {
    if (!s || !*s) return TUTTI_OK;
    pthread_mutex_t *guard = (*s)->guard;
    const tutti_err err = (*s)->ops->close(*s);
    if (guard) pthread_mutex_destroy(guard);
    tutti__free(guard);
    *s = NULL;
    return add_operation("close", err);
}

/* ---- write and read -------------------------------------------------------------------------- */

/* Check that no offset is negative, and that neither the end of a run nor the sum of all bytes
 * overflows. */
static tutti_err check_runs(const tutti_io_run *runs, int n, tutti_off *bytes_out) {
    tutti_off bytes = 0, end, sum;
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %d: must be >= 0", n);
    TUTTI_CHECK(n == 0 || runs, TUTTI_ERR_ARG, "argument runs is NULL, but n is %d", n);
    for (int i = 0; i < n; i++) {
        TUTTI_CHECK(runs[i].offset >= 0, TUTTI_ERR_ARG, "run %d has offset %lld: must be >= 0", i,
                    (long long)runs[i].offset);
        if (runs[i].bytes > 0 && !runs[i].memory)
            return tutti__error_set(TUTTI_ERR_ARG, 0, runs[i].offset,
                                    "run %d has %zu bytes, but its memory is NULL", i,
                                    runs[i].bytes);
        if (runs[i].bytes > (size_t)INT64_MAX ||
            !tutti__add_ok(runs[i].offset, (tutti_off)runs[i].bytes, &end) ||
            !tutti__add_ok(bytes, (tutti_off)runs[i].bytes, &sum))
            return tutti__error_set(
                TUTTI_ERR_OVERFLOW, 0, runs[i].offset,
                "run %d has %zu bytes at offset %lld, after %lld bytes of other runs: end and sum "
                "must be < 2^63",
                i, runs[i].bytes, (long long)runs[i].offset, (long long)bytes);
        bytes = sum;
    }
    *bytes_out = bytes;
    return TUTTI_OK;
}

tutti_err tutti__store_write(tutti_store *s, const tutti_io_run *runs, int n) {
    tutti_off bytes = 0;
    tutti_err err = check_runs(runs, n, &bytes);
    if (err == TUTTI_OK && bytes > 0) {
        lock_store(s);
        err = unlock_store(s, s->ops->write(s, runs, n));
    }
    return add_operation("write", err);
}

static tutti_err checked_read(tutti_store *s, const tutti_io_run *runs, int n,
                              tutti_off *done_out) {
    tutti_off bytes, done = 0;
    TUTTI_TRY(check_runs(runs, n, &bytes));
    if (bytes > 0) {
        lock_store(s);
        TUTTI_TRY(unlock_store(s, s->ops->read(s, runs, n, &done)));
    }
    if (done_out) *done_out = done;
    return TUTTI_OK;
}

tutti_err tutti__store_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    return add_operation("read", checked_read(s, runs, n, done_out));
}

/* ---- begin, test, finish --------------------------------------------------------------------- */

/* The result of a request of a synchronous store, which begin has already executed. */
typedef struct done_request {
    tutti_store_request base;
    tutti_off done;
    tutti_err err;
    tutti_error_info info; /* the error, if err is not TUTTI_OK */
} done_request;

static tutti_err begin_at_once(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                               tutti_store_request **r_out) {
    done_request *r = tutti__malloc(sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    r->base.store = s;
    r->done = 0;
    r->err = is_write ? add_operation("write", s->ops->write(s, runs, n))
                      : add_operation("read", s->ops->read(s, runs, n, &r->done));
    if (r->err != TUTTI_OK) r->info = *tutti_last_error();
    if (is_write)
        for (int i = 0; i < n; i++) r->done += (tutti_off)runs[i].bytes;
    r->base.ended = tutti__now();
    *r_out = &r->base;
    return TUTTI_OK;
}

tutti_err tutti__store_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                             tutti_store_request **r_out) {
    tutti_off bytes;
    tutti_err err = check_runs(runs, n, &bytes);
    if (err == TUTTI_OK) {
        lock_store(s);
        err = unlock_store(s, s->ops->begin ? s->ops->begin(s, is_write, runs, n, r_out)
                                            : begin_at_once(s, is_write, runs, n, r_out));
    }
    return add_operation(is_write ? "write" : "read", err);
}

int tutti__store_test(tutti_store_request *r) {
    tutti_store *s = r->store;
    if (!s->ops->test) return 1;
    lock_store(s);
    const int ended = s->ops->test(r);
    (void)unlock_store(s, TUTTI_OK);
    return ended;
}

double tutti__store_ended(const tutti_store_request *r) {
    return r->ended > 0 ? r->ended : tutti__now();
}

static tutti_err finish_at_once(tutti_store_request *base, tutti_off *done_out) {
    done_request *r = (done_request *)base;
    const tutti_err err = r->err;
    if (err != TUTTI_OK)
        tutti__error_assign(&r->info);
    else
        *done_out = r->done;
    tutti__free(r);
    return err;
}

tutti_err tutti__store_finish(tutti_store_request **r, tutti_off *done_out) {
    tutti_off done = 0;
    if (!r || !*r) return TUTTI_OK;
    tutti_store *s = (*r)->store;
    lock_store(s);
    const tutti_err err =
        unlock_store(s, s->ops->begin ? s->ops->finish(*r, &done) : finish_at_once(*r, &done));
    *r = NULL;
    if (err == TUTTI_OK && done_out) *done_out = done;
    return err;
}

/* ---- size, sync, locks, page cache ----------------------------------------------------------- */

tutti_err tutti__store_size(tutti_store *s, tutti_off *size_out) {
    lock_store(s);
    return add_operation("size", unlock_store(s, s->ops->size(s, size_out)));
}

static tutti_err check_new_size(tutti_off size) {
    TUTTI_CHECK(size >= 0, TUTTI_ERR_ARG, "size is %lld: must be >= 0", (long long)size);
    return TUTTI_OK;
}

tutti_err tutti__store_resize(tutti_store *s, tutti_off size) {
    lock_store(s);
    tutti_err err = check_new_size(size);
    if (err == TUTTI_OK) err = s->ops->resize(s, size);
    return add_operation("resize", unlock_store(s, err));
}

tutti_err tutti__store_preallocate(tutti_store *s, tutti_off size) {
    lock_store(s);
    tutti_off now = 0;
    tutti_err err = check_new_size(size);
    if (err == TUTTI_OK && s->ops->preallocate) {
        err = s->ops->preallocate(s, size);
    } else if (err == TUTTI_OK) {
        err = s->ops->size(s, &now);
        if (err == TUTTI_OK && size > now) err = s->ops->resize(s, size);
    }
    return add_operation("preallocate", unlock_store(s, err));
}

tutti_err tutti__store_sync(tutti_store *s) {
    return s->ops->sync ? add_operation("sync", s->ops->sync(s)) : TUTTI_OK;
}

int tutti__store_descriptor(const tutti_store *s) {
    return s->ops->descriptor ? s->ops->descriptor(s) : -1;
}

tutti_err tutti__store_flush(tutti_store *s) {
    return s->ops->flush ? add_operation("write", s->ops->flush(s)) : TUTTI_OK;
}

tutti_err tutti__store_refresh(tutti_store *s) {
    return s->ops->refresh ? add_operation("read", s->ops->refresh(s)) : TUTTI_OK;
}

tutti_err tutti__store_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi) {
    return s->ops->lock ? add_operation("lock", s->ops->lock(s, kind, lo, hi)) : TUTTI_OK;
}

void tutti__store_write_behind(tutti_store *s, tutti_off lo, tutti_off hi) {
    if (s->ops->start_writeback && lo < hi) s->ops->start_writeback(s, lo, hi);
}

int tutti__store_cached(tutti_store *s, tutti_off offset) {
    return s->ops->is_cached ? s->ops->is_cached(s, offset) : -1;
}
