/* collective: independent accesses: one rank alone, any thread.
 *
 * They go straight to the store, whose write and read several threads may call at once; what they count is added
 * under the file's lock when they end.  Those that do not block are carried out by a few threads
 * of the file that touch nothing but it, so that they go on under any thread level of MPI.  The
 * end of the file is where a read comes short: nobody needs to know the size beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdatomic.h>
#include <string.h>

#include "base/trace.h"
#include "collective/worker.h"

#define CHECK_FILE(f) TUTTI_CHECK((f) != NULL, TUTTI_ERR_ARG, "the file handle is NULL")

static const char *name_of(int is_write) {
    return is_write ? "independent write" : "independent read";
}

/* ---- one access, at once */

/* Nobody else may be between a read and the write that follows: alone, only reads are sieved. */
static tutti_err move_alone(tutti__op *op) {
    tutti_off size = 0;
    if (op->atomic) return tutti__run_atomic(op);
    if (op->file->opt.method != TUTTI_METHOD_SIEVE || op->plan->is_write)
        return tutti__run_list(op, 1024);
    TUTTI_TRY(tutti__store_size(op->store, &size));
    op->eof = size - op->shift;
    return tutti__run_sieve(op);
}

static tutti_err access_alone(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                              tutti_stats *stats, tutti_off *moved_out) {
    const tutti__means means = {f->store, stats, 0};
    tutti_plan p = {.file = f, .is_write = is_write, .access = (tutti_access *)a};
    tutti__op op = tutti__operation_make(&p, &means, buf, 0, 0);
    op.eof = TUTTI__OFF_END;
    op.alone = 1;
    const tutti_err err = move_alone(&op);
    stats->operations++;
    stats->runs += tutti_access_runs_count(a);
    if (err != TUTTI_OK) return tutti__operation_under_way(err);
    if (!is_write) op.moved += tutti__access_repeat(a, buf, 0, op.moved);
    stats->bytes += op.moved;
    *moved_out = op.moved;
    return TUTTI_OK;
}

static tutti_err independent(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                             tutti_off *count_out) {
    tutti_stats stats;
    tutti_off moved = 0;
    CHECK_FILE(f);
    tutti__operation_begin(&stats);
    tutti_err err = tutti__file_usable(f, a, buf, is_write);
    if (err == TUTTI_OK) err = access_alone(f, a, buf, is_write, &stats, &moved);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    if (err == TUTTI_OK && count_out) *count_out = moved;
    return tutti__operation_end(f, &stats, name_of(is_write), err);
}

tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a, const void *buf,
                                       tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    return independent(f, a, (void *)buf, 1, count_out);
}

tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                      tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    return independent(f, a, buf, 0, count_out);
}

tutti_err tutti_file_size_independent(tutti_file *f, tutti_off *size_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    tutti_off size = 0;
    CHECK_FILE(f);
    TUTTI_CHECK(size_out != NULL, TUTTI_ERR_ARG, "nowhere to put the size");
    memset(&stats, 0, sizeof stats);
    tutti_stats *before = tutti__store_account(&stats);
    const tutti_err err = tutti__store_size(f->store, &size);
    (void)tutti__store_account(before);
    pthread_mutex_lock(&f->lock);
    tutti__stats_add(&f->all, &stats);
    pthread_mutex_unlock(&f->lock);
    if (err == TUTTI_OK)
        *size_out = size;
    else
        tutti__error_context("size", f->path, f->team->rank);
    return err;
}

/* ---- under way */

static void list_add(tutti_file *f, tutti_request *r) {
    pthread_mutex_lock(&f->lock);
    r->next = f->alone;
    f->alone = r;
    pthread_mutex_unlock(&f->lock);
}

/* The lock is held. */
static void list_remove(tutti_file *f, const tutti_request *r) {
    tutti_request **at = &f->alone;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
}

static void alone_free(tutti_request *r) {
    tutti_access_free(&r->access);
    tutti__free(r);
}

int tutti__alone_arrived(const tutti_request *r) {
    return atomic_load_explicit(&r->state, memory_order_acquire) == TUTTI__ARRIVED;
}

/* From the moment it has arrived it is the caller's, unless nobody cares any more. */
static void alone_arrive(tutti_request *r) {
    tutti_file *f = r->file;
    pthread_mutex_lock(&f->lock);
    const int abandoned = r->abandoned;
    if (abandoned) list_remove(f, r);
    atomic_store_explicit(&r->state, TUTTI__ARRIVED, memory_order_release);
    pthread_mutex_unlock(&f->lock);
    if (!abandoned) return;
    tutti__stats_settle(f, &r->stats);
    alone_free(r);
}

static void alone_travel(tutti_request *r) {
    tutti_file *f = r->file;
    const double since = tutti__now();
    tutti_stats *before = tutti__store_account(&r->stats);
    r->outcome = access_alone(f, r->access, r->buf, r->is_write, &r->stats, &r->count);
    (void)tutti__store_account(before);
    r->stats.seconds_total = tutti__now() - since;
    tutti__trace_event("operation", r->name, since, r->stats.bytes, -1);
    if (r->outcome != TUTTI_OK) {
        tutti__error_context(r->name, f->path, f->team->rank);
        r->trouble = *tutti_last_error();
    }
    if (r->is_write)
        tutti__store_hasten(f->store, f->origin + tutti__side_lo(r->access->file),
                            f->origin + tutti__side_hi(r->access->file));
    alone_arrive(r);
}

/* Without a thread it is carried out here. */
static void alone_send(tutti_request *r) {
    tutti_file *f = r->file;
    const tutti_error_info keep = *tutti_last_error();
    list_add(f, r);
    pthread_mutex_lock(&f->lock);
    const tutti_err err = tutti__worker_give(&f->helpers, f->opt.io_threads, alone_travel, r);
    pthread_mutex_unlock(&f->lock);
    if (err == TUTTI_OK) return;
    alone_travel(r);
    tutti__error_assign(&keep);
}

static tutti_err alone_make(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                            tutti_request **out) {
    TUTTI_TRY(tutti__file_usable(f, a, buf, is_write));
    tutti_request *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    r->file = f;
    r->alone = 1;
    r->name = name_of(is_write);
    r->is_write = is_write;
    r->buf = buf;
    const tutti_err err = tutti_access_copy(a, &r->access);
    if (err != TUTTI_OK) {
        tutti__free(r);
        return err;
    }
    *out = r;
    return TUTTI_OK;
}

static tutti_err independent_start(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                                   tutti_request **r_out) {
    tutti_request *r = NULL;
    CHECK_FILE(f);
    TUTTI_CHECK(r_out != NULL, TUTTI_ERR_ARG, "nowhere to put the request");
    const tutti_err err = alone_make(f, a, buf, is_write, &r);
    if (err != TUTTI_OK) {
        tutti__error_context(name_of(is_write), f->path, f->team->rank);
        return err;
    }
    *r_out = r;
    alone_send(r);
    return TUTTI_OK;
}

tutti_err tutti_file_write_independent_start(tutti_file *f, const tutti_access *a, const void *buf,
                                             tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return independent_start(f, a, (void *)buf, 1, r_out);
}

tutti_err tutti_file_read_independent_start(tutti_file *f, const tutti_access *a, void *buf,
                                            tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return independent_start(f, a, buf, 0, r_out);
}

/* ---- their end */

tutti_err tutti__alone_collect(tutti_request **pr, tutti_off *count_out) {
    tutti_request *r = *pr;
    tutti_file *f = r->file;
    const tutti_err err = r->outcome;
    if (f) { /* it is still open */
        pthread_mutex_lock(&f->lock);
        list_remove(f, r);
        pthread_mutex_unlock(&f->lock);
        tutti__stats_settle(f, &r->stats);
    }
    if (err != TUTTI_OK) tutti__error_assign(&r->trouble);
    if (err == TUTTI_OK && count_out) *count_out = r->count;
    alone_free(r);
    *pr = NULL;
    return err;
}

void tutti__alone_wait(tutti_request *r, long microseconds) {
    if (tutti__alone_arrived(r)) return;
    pthread_mutex_lock(&r->file->lock);
    struct tutti__worker *w = r->file->helpers;
    pthread_mutex_unlock(&r->file->lock);
    tutti__worker_wait(w, r, microseconds);
}

void tutti__alone_abandon(tutti_request *r) {
    tutti_file *f = r->file;
    if (f) {
        pthread_mutex_lock(&f->lock);
        r->abandoned = 1;
        const int under_way = !tutti__alone_arrived(r);
        if (!under_way) list_remove(f, r);
        pthread_mutex_unlock(&f->lock);
        if (under_way) return;
        tutti__stats_settle(f, &r->stats);
    }
    alone_free(r);
}

void tutti__alone_end(tutti_file *f) {
    tutti__worker_end(&f->helpers);
    while (f->alone) {
        tutti_request *r = f->alone;
        f->alone = r->next;
        r->file = NULL;
        tutti__stats_add(&f->all, &r->stats);
    }
}
