/* file: checks, start and end of all operations, and their statistics.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "file/operation.h"

#include <string.h>

#include "base/trace.h"

static _Thread_local int is_worker; /* whether this thread executes operations in the background */

void tutti__worker_mark(void) {
    is_worker = 1;
}

tutti_err tutti__access_usable(const tutti_access *a) {
    if (!a) return tutti__error_refusal();
    return tutti__handle_check(&a->handle, &tutti__access_class);
}

tutti_err tutti__file_allows(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) {
    TUTTI_CHECK(f->mode & (is_write ? TUTTI_WRITE : TUTTI_READ), TUTTI_ERR_MODE,
                "the file was not opened for %s", is_write ? "writing" : "reading");
    if (!buf && tutti_access_bytes(a) > 0) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(buf != NULL || tutti_access_bytes(a) == 0, TUTTI_ERR_ARG,
                "argument buf is NULL, but the access has %lld bytes",
                (long long)tutti_access_bytes(a));
    tutti_off end;
    TUTTI_CHECK(tutti__add_ok(f->origin, tutti__side_hi(a->file), &end), TUTTI_ERR_OVERFLOW,
                "access ends at offset %lld relative to origin %lld: the end must be < 2^63",
                (long long)tutti__side_hi(a->file), (long long)f->origin);
    return TUTTI_OK;
}

tutti_err tutti__file_allows_parts(const tutti_file *f, const tutti__parts *p, int bufs,
                                   int is_write) {
    const tutti_access none = {.repeats = {{0, NULL}, {0, NULL}}};
    TUTTI_TRY(tutti__file_allows(f, &none, NULL, is_write));
    for (int i = 0; i < p->batch->n; i++)
        TUTTI_TRY(tutti__file_allows(f, &p->batch->part[i].access, bufs ? p->io[i].buf : f->path,
                                     is_write));
    return TUTTI_OK;
}

void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase) {
    if (!is_worker && f->progress.report)
        f->progress.report(f->progress.context, done, total, phase);
}

/* Until the operation ends, seconds_total is its start time. */
void tutti__operation_begin(tutti_stats *stats) {
    memset(stats, 0, sizeof *stats);
    stats->seconds_total = tutti__now();
    (void)tutti__store_account(stats);
}

void tutti__stats_add(tutti_stats *to, const tutti_stats *from) {
#define ADD(ctype, name, help) to->name += from->name;
    TUTTI_STATS_TABLE(ADD)
#undef ADD
}

void tutti__stats_settle(tutti_file *f, const tutti_stats *stats, int is_last) {
    pthread_mutex_lock(&f->lock);
    tutti__stats_add(&f->stats.all, stats);
    if (is_last) f->stats.last = *stats;
    pthread_mutex_unlock(&f->lock);
}

tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err) {
    tutti__trace_call(operation, f->trace.number, stats->seconds_total, stats->bytes);
    stats->seconds_total = tutti__now() - stats->seconds_total;
    (void)tutti__store_account(NULL);
    tutti__stats_settle(f, stats, 1);
    if (err != TUTTI_OK) tutti__error_context(operation, f->path, -1);
    return err;
}

/* Replace positive codes, which state that nothing has changed, by TUTTI_ERR_IO. */
tutti_err tutti__operation_under_way(tutti_err err) {
    if (err <= TUTTI_OK) return err;
    tutti_error_info info = *tutti_last_error();
    info.code = TUTTI_ERR_IO;
    tutti__error_assign(&info);
    return TUTTI_ERR_IO;
}

/* Writes may need current data, too: they may read holes and write them back. */
tutti_err tutti__operation_refresh(const tutti__op *op) {
    const int reads = !op->is_write || tutti__file_may_rmw(op->file);
    if (!reads || !op->file->layout.incoherent) return TUTTI_OK;
    return tutti__store_refresh(op->store);
}

tutti_err tutti__operation_flush(const tutti__op *op) {
    if (!op->is_write || !op->file->layout.incoherent) return TUTTI_OK;
    return tutti__store_flush(op->store);
}

int tutti__operation_stretch(const tutti__op *op, tutti_off size, tutti_off *at, tutti_off *lo_out,
                             tutti_off *hi_out) {
    const tutti__side s = op->access->file;
    const tutti_off lo = tutti__side_offset(s, *at);
    if (lo >= op->eof) return 0;
    const tutti_off limit = lo > TUTTI__OFF_END - size ? op->eof : tutti__min(lo + size, op->eof);
    *at = tutti__side_tell(s, limit);
    *lo_out = lo;
    *hi_out = tutti__side_offset(s, *at - 1) + 1;
    return 1;
}

tutti_err tutti__file_end(const tutti__op *op, tutti_off *size_out) {
    const tutti_file *f = op->file;
    if (!op->is_write || (f->opt.sole_writer && f->independent.n == 0))
        return tutti__store_size(op->store, size_out);
    *size_out = TUTTI__OFF_END;
    return TUTTI_OK;
}
