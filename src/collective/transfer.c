/* collective: the public calls that move bytes at once: collective and independent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdio.h>

#define CHECK_FILE(f) TUTTI_CHECK((f) != NULL, TUTTI_ERR_ARG, "the file handle is NULL")

/* ---- collective */

/* Move the bytes and agree.  Collective. */
static tutti_err move_and_agree(tutti__op *op, tutti_off *count_out) {
    tutti_file *f = op->file;
    tutti_err err = tutti__operation_under_way(tutti__operation_move(op));
    err = tutti__team_agree(f->team, err);
    op->plan->used = 1;
    op->stats->operations++;
    snprintf(f->explain, sizeof f->explain, "%s", op->plan->explain);
    if (err != TUTTI_OK) return err;
    tutti__operation_done(op);
    if (count_out) *count_out = op->moved;
    return TUTTI_OK;
}

static tutti_err transfer(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                          tutti_stats *stats, tutti_off *count_out) {
    const tutti__means means = {f->store, stats, 0};
    tutti_plan *p = NULL;
    tutti_off size = 0;
    tutti_err err = tutti__file_usable(f, a, buf, is_write);
    err = tutti__operation_plan(f, a, is_write, &means, err, &size, &p);
    if (err == TUTTI_OK) {
        tutti__op op = tutti__operation_make(p, &means, buf, 0, size);
        err = move_and_agree(&op, count_out);
    }
    tutti__plan_release(&p);
    return err;
}

tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                           tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    CHECK_FILE(f);
    tutti__requests_settle(f);
    tutti__operation_begin(f, &stats);
    const tutti_err err = transfer(f, a, (void *)buf, 1, &stats, count_out);
    return tutti__operation_end(f, &stats, "write", err);
}

tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    CHECK_FILE(f);
    tutti__requests_settle(f);
    tutti__operation_begin(f, &stats);
    const tutti_err err = transfer(f, a, buf, 0, &stats, count_out);
    return tutti__operation_end(f, &stats, "read", err);
}

static tutti_err plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_stats *stats,
                          tutti_off *count_out) {
    const tutti__means means = {p->file->store, stats, 0};
    tutti_off size = 0;
    const tutti_err mine = tutti__plan_usable(p, buf, displacement);
    TUTTI_TRY(tutti__operation_resume(p, means.store, displacement, mine, &size));
    stats->plan_reuses += p->used;
    tutti__op op = tutti__operation_make(p, &means, buf, displacement, size);
    return move_and_agree(&op, count_out);
}

tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    TUTTI_CHECK(p != NULL, TUTTI_ERR_ARG, "the plan handle is NULL");
    tutti_file *f = p->file;
    tutti__requests_settle(f);
    tutti__operation_begin(f, &stats);
    const tutti_err err = plan_run(p, buf, displacement, &stats, count_out);
    return tutti__operation_end(f, &stats, p->is_write ? "write" : "read", err);
}

/* ---- independent */

static tutti_err independent(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                             tutti_stats *stats, tutti_off *count_out) {
    const tutti__means means = {f->store, stats, 0};
    tutti_off size = 0;
    TUTTI_TRY(tutti__file_usable(f, a, buf, is_write));
    if (!is_write) TUTTI_TRY(tutti__store_size(f->store, &size));
    tutti_plan p = {.file = f, .is_write = is_write};
    TUTTI_TRY(tutti_access_copy(a, &p.access));
    tutti__op op = tutti__operation_make(&p, &means, buf, 0, size);
    /* nobody else may be between a read and the write that follows: alone, only reads are sieved */
    const tutti_err err = f->opt.method == TUTTI_METHOD_SIEVE && !is_write
                              ? tutti__run_sieve(&op)
                              : tutti__run_list(&op, 1024);
    stats->operations++;
    stats->runs += tutti_access_runs_count(a);
    tutti_access_free(&p.access);
    if (err != TUTTI_OK) return tutti__operation_under_way(err);
    stats->bytes += op.moved;
    if (count_out) *count_out = op.moved;
    return TUTTI_OK;
}

tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a, const void *buf,
                                       tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    CHECK_FILE(f);
    tutti__operation_begin(f, &stats);
    const tutti_err err = independent(f, a, (void *)buf, 1, &stats, count_out);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    return tutti__operation_end(f, &stats, "independent write", err);
}

tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                      tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    CHECK_FILE(f);
    tutti__operation_begin(f, &stats);
    const tutti_err err = independent(f, a, buf, 0, &stats, count_out);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    return tutti__operation_end(f, &stats, "independent read", err);
}
