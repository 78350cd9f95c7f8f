/* collective: independent accesses by one rank, in any thread.
 *
 * Independent accesses call the store directly; several threads may do so at once.  Their
 * statistics are added under the lock of the file when they end.  Non-blocking accesses are
 * executed by a few threads of the file, which do not call MPI and so work with any thread level.
 * A short read marks the end of the file, so that the size of the file is not needed beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"

#include <stdatomic.h>
#include <string.h>

#include "base/trace.h"
#include "collective/worker.h"
#include "direct/direct.h"

#define CHECK_FILE(f) TUTTI_TRY(tutti__file_live(f))

/* ---- blocking accesses */

/* Only reads are sieved: another rank could write between the read and the write of a sieved
 * write. */
static tutti_err move_independent(tutti__op *op) {
    tutti_off size = 0;
    if (op->atomic) return tutti__run_atomic(op);
    if (op->file->opt.method != TUTTI_METHOD_SIEVE || op->is_write)
        return tutti__run_list(op, TUTTI__LIST_BATCH);
    TUTTI_TRY(tutti__store_size(op->store, &size));
    op->eof = size - op->shift;
    return tutti__run_sieve(op);
}

/* Execute a request on this rank only, and return its error code. */
static tutti_err access_independently(tutti_request *r) {
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    op->store = f->store;
    op->stats = &r->stats;
    op->shift = f->origin;
    op->eof = TUTTI__OFF_END;
    op->eof_unknown = 1;
    op->atomic = f->atomic.on;
    const tutti_err err = move_independent(op);
    r->stats.operations++;
    r->stats.runs += tutti_access_runs_count(op->access);
    if (err != TUTTI_OK) return tutti__operation_under_way(err);
    if (op->parts)
        op->moved = tutti__parts_count(op->parts, op->is_write, op->eof);
    else if (!op->is_write)
        op->moved += tutti__access_repeat(op->access, op->buf, 0, op->moved);
    r->stats.bytes += op->moved;
    r->result.count = op->moved;
    return TUTTI_OK;
}

static tutti_request make_independent(tutti_file *f, const tutti_access *a, void *buf,
                                      int is_write) {
    return (tutti_request){.asked.name = is_write ? "independent write" : "independent read",
                           .op = {.file = f, .access = a, .is_write = is_write, .buf = buf},
                           .asked.how = TUTTI__INDEPENDENT};
}

tutti_err tutti__independent(tutti_request *r, tutti_off *count_out) {
    tutti_file *f = r->op.file;
    tutti__operation_begin(&r->stats);
    tutti_err err = r->asked.refused == TUTTI_OK ? tutti__request_usable(r) : r->asked.refused;
    atomic_fetch_add(&f->independent.n, 1);
    if (err == TUTTI_OK) err = access_independently(r);
    atomic_fetch_sub(&f->independent.n, 1);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    if (err == TUTTI_OK && count_out) *count_out = r->result.count;
    return tutti__operation_end(f, &r->stats, r->asked.name, err);
}

tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a, const void *buf,
                                       tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = make_independent(f, a, (void *)buf, 1);
    return tutti__independent(&r, count_out);
}

tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                      tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = make_independent(f, a, buf, 0);
    return tutti__independent(&r, count_out);
}

tutti_err tutti_file_size_independent(tutti_file *f, tutti_off *size_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    tutti_off size = 0;
    CHECK_FILE(f);
    TUTTI_CHECK(size_out != NULL, TUTTI_ERR_ARG, "argument size_out is NULL");
    memset(&stats, 0, sizeof stats);
    tutti_stats *before = tutti__store_account(&stats);
    const tutti_err err = tutti__store_size(f->store, &size);
    (void)tutti__store_account(before);
    tutti__stats_settle(f, &stats, 0);
    if (err == TUTTI_OK)
        *size_out = size;
    else
        tutti__error_context("size", f->path, f->team->rank);
    return err;
}

/* ---- non-blocking */

/* The caller holds f->lock. */
static void unlist_independent(tutti_file *f, const tutti_request *r) {
    tutti_request **at = &f->independent.first;
    while (*at != r) at = &(*at)->next.of_file;
    *at = r->next.of_file;
}

static void free_independent(tutti_request *r) {
    tutti__handle_remove(&r->handle);
    tutti_access_free(&r->access);
    tutti__free(r);
}

static int is_complete(const tutti_request *r) {
    return atomic_load_explicit(&r->progress.state, memory_order_acquire) == TUTTI__COMPLETED;
}

static void run_independent(tutti_request *r) {
    tutti_file *f = r->op.file;
    const double since = tutti__now();
    tutti_stats *before = tutti__store_account(&r->stats);
    r->result.outcome = access_independently(r);
    (void)tutti__store_account(before);
    r->stats.seconds_total = tutti__now() - since;
    tutti__trace_call(r->asked.name, f->trace.number, since, r->stats.bytes);
    if (r->result.outcome != TUTTI_OK) {
        tutti__error_context(r->asked.name, f->path, f->team->rank);
        r->result.error = *tutti_last_error();
    }
    if (r->op.is_write)
        tutti__store_write_behind(f->store, f->origin + tutti__side_lo(r->access->file),
                                  f->origin + tutti__side_hi(r->access->file));
    /* A completed request belongs to the caller, unless it has been abandoned. */
    pthread_mutex_lock(&f->lock);
    const int abandoned = r->progress.abandoned;
    if (abandoned) unlist_independent(f, r);
    atomic_fetch_sub(&f->independent.n, 1);
    atomic_store_explicit(&r->progress.state, TUTTI__COMPLETED, memory_order_release);
    pthread_mutex_unlock(&f->lock);
    if (!abandoned) return;
    tutti__stats_settle(f, &r->stats, 1);
    free_independent(r);
}

/* Submit a request to the threads of the file; execute it here if no thread exists. */
static void submit_independent(tutti_request *r) {
    tutti_file *f = r->op.file;
    TUTTI_KEEP_LAST_ERROR;
    atomic_fetch_add(&f->independent.n, 1);
    pthread_mutex_lock(&f->lock);
    r->next.of_file = f->independent.first;
    f->independent.first = r;
    const tutti_err err =
        tutti__worker_give(&f->independent.helpers, f->opt.io_threads, run_independent, r);
    pthread_mutex_unlock(&f->lock);
    if (err != TUTTI_OK) run_independent(r);
}

static tutti_err start_independent(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                                   tutti_request **r_out) {
    CHECK_FILE(f);
    TUTTI_CHECK(r_out != NULL, TUTTI_ERR_ARG, "argument r_out is NULL");
    const tutti_request asked = make_independent(f, a, buf, is_write);
    tutti_request *r = NULL;
    tutti_err err = tutti__request_usable(&asked);
    if (err == TUTTI_OK && !(r = tutti__malloc(sizeof *r))) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        *r = asked;
        err = tutti_access_copy(a, &r->access);
    }
    if (err != TUTTI_OK) {
        tutti__free(r);
        tutti__error_context(asked.asked.name, f->path, f->team->rank);
        return err;
    }
    r->op.access = r->access;
    tutti__handle_add(&r->handle, &tutti__request_class);
    *r_out = r;
    submit_independent(r);
    return TUTTI_OK;
}

tutti_err tutti_file_write_independent_start(tutti_file *f, const tutti_access *a, const void *buf,
                                             tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return start_independent(f, a, (void *)buf, 1, r_out);
}

tutti_err tutti_file_read_independent_start(tutti_file *f, const tutti_access *a, void *buf,
                                            tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return start_independent(f, a, buf, 0, r_out);
}

/* ---- completion of non-blocking accesses */

tutti_err tutti__independent_collect(tutti_request **pr, tutti_off *count_out) {
    tutti_request *r = *pr;
    tutti_file *f = r->op.file;
    const tutti_err err = r->result.outcome;
    if (f) { /* the file is still open */
        pthread_mutex_lock(&f->lock);
        unlist_independent(f, r);
        pthread_mutex_unlock(&f->lock);
        tutti__stats_settle(f, &r->stats, 1);
    }
    if (err != TUTTI_OK) tutti__error_assign(&r->result.error);
    if (err == TUTTI_OK && count_out) *count_out = r->result.count;
    free_independent(r);
    *pr = NULL;
    return err;
}

void tutti__independent_wait(tutti_request *r, long microseconds) {
    if (is_complete(r)) return;
    pthread_mutex_lock(&r->op.file->lock);
    struct tutti__worker *w = r->op.file->independent.helpers;
    pthread_mutex_unlock(&r->op.file->lock);
    tutti__worker_wait(w, r, microseconds);
}

void tutti__independent_abandon(tutti_request *r) {
    tutti_file *f = r->op.file;
    if (f) {
        pthread_mutex_lock(&f->lock);
        r->progress.abandoned = 1;
        const int under_way = !is_complete(r);
        if (!under_way) unlist_independent(f, r);
        pthread_mutex_unlock(&f->lock);
        if (under_way) return;
        tutti__stats_settle(f, &r->stats, 1);
    }
    free_independent(r);
}

void tutti__independent_end(tutti_file *f) {
    tutti__worker_end(&f->independent.helpers);
    while (f->independent.first) {
        tutti_request *r = f->independent.first;
        f->independent.first = r->next.of_file;
        r->op.file = NULL;
        tutti__stats_settle(f, &r->stats, 0);
    }
}
