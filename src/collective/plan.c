/* collective: the public calls that move bytes: one-shot, split, independent, and plans.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include "base/trace.h"

#define CHECK_FILE(f) TUTTI_CHECK((f) != NULL, TUTTI_ERR_ARG, "the file handle is NULL")
#define CHECK_PLAN(p) TUTTI_CHECK((p) != NULL, TUTTI_ERR_ARG, "the plan handle is NULL")

/* ---- one-shot */

static tutti_err no_split(const tutti_file *f) {
    TUTTI_CHECK(!f->split, TUTTI_ERR_STATE, "a split collective is under way on this file");
    return TUTTI_OK;
}

/* Plan and run.  Collective.  *p_out, if not NULL, keeps the plan. */
static tutti_err transfer(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                          tutti_off *count_out, tutti_plan **p_out) {
    tutti_plan *p = NULL;
    tutti_off size = 0;
    tutti_err err = no_split(f);
    if (err == TUTTI_OK) err = tutti__file_usable(f, a, buf, is_write);
    err = tutti__operation_plan(f, a, is_write, err, &size, &p);
    if (err == TUTTI_OK) err = tutti__operation_run(p, buf, f->origin, size, count_out);
    if (err == TUTTI_OK && p_out)
        *p_out = p;
    else
        tutti__plan_release(&p);
    return err;
}

tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                           tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    return tutti__operation_end(f, "write", start, transfer(f, a, (void *)buf, 1, count_out, NULL));
}

tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    return tutti__operation_end(f, "read", start, transfer(f, a, buf, 0, count_out, NULL));
}

/* ---- independent */

static tutti_err independent(tutti_file *f, const tutti_access *a, void *buf, int is_write,
                             tutti_off *count_out) {
    tutti_off size = 0;
    TUTTI_TRY(tutti__file_usable(f, a, buf, is_write));
    if (!is_write) TUTTI_TRY(tutti__store_size(f->store, &size));
    tutti_plan p = {.file = f, .is_write = is_write};
    TUTTI_TRY(tutti_access_copy(a, &p.access));
    tutti__op op = {&p, f, buf, f->origin, is_write ? TUTTI__OFF_END : size - f->origin, 0};
    /* nobody else may be between a read and the write that follows: alone, only reads are sieved */
    const tutti_err err = f->opt.method == TUTTI_METHOD_SIEVE && !is_write
                              ? tutti__run_sieve(&op)
                              : tutti__run_list(&op, 1024);
    f->last.operations++;
    f->last.runs += tutti_access_runs_count(a);
    tutti_access_free(&p.access);
    if (err != TUTTI_OK) return tutti__operation_under_way(err);
    f->last.bytes += op.moved;
    if (count_out) *count_out = op.moved;
    return TUTTI_OK;
}

tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a, const void *buf,
                                       tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    const tutti_err err = independent(f, a, (void *)buf, 1, count_out);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    return tutti__operation_end(f, "independent write", start, err);
}

tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                      tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    const tutti_err err = independent(f, a, buf, 0, count_out);
    if (err != TUTTI_OK) tutti__error_context(NULL, NULL, f->team->rank);
    return tutti__operation_end(f, "independent read", start, err);
}

/* ---- split: all is done in begin; end tells the outcome */

static tutti_err split_begin(tutti_file *f, const tutti_access *a, void *buf, int is_write) {
    tutti_plan *p = NULL;
    tutti_off count = 0;
    TUTTI_TRY(transfer(f, a, buf, is_write, &count, &p));
    p->count = count;
    f->split = p;
    f->planned = 1;
    return TUTTI_OK;
}

static tutti_err split_end(tutti_file *f, int is_write, tutti_off *count_out) {
    const int fits = f->split && f->split->is_write == is_write;
    tutti_err err = TUTTI_OK;
    if (!fits)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1, "no split %s has begun on this file",
                               is_write ? "write" : "read");
    TUTTI_TRY(tutti__team_agree(f->team, err));
    TUTTI_ASSERT(fits);
    if (count_out) *count_out = f->split->count;
    tutti__plan_release(&f->split);
    return TUTTI_OK;
}

tutti_err tutti_file_write_begin(tutti_file *f, const tutti_access *a, const void *buf) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    return tutti__operation_end(f, "write_begin", start, split_begin(f, a, (void *)buf, 1));
}

tutti_err tutti_file_read_begin(tutti_file *f, const tutti_access *a, void *buf) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    return tutti__operation_end(f, "read_begin", start, split_begin(f, a, buf, 0));
}

tutti_err tutti_file_write_end(tutti_file *f, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const tutti_err err = split_end(f, 1, count_out);
    if (err != TUTTI_OK) tutti__error_context("write_end", f->path, -1);
    return err;
}

tutti_err tutti_file_read_end(tutti_file *f, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    const tutti_err err = split_end(f, 0, count_out);
    if (err != TUTTI_OK) tutti__error_context("read_end", f->path, -1);
    return err;
}

/* ---- plans */

static tutti_err plan_new(tutti_file *f, const tutti_access *a, int is_write, tutti_plan **p_out) {
    TUTTI_KEEP_ERRNO;
    tutti_off size = 0;
    CHECK_FILE(f);
    const double start = tutti__operation_begin(f);
    tutti_err err = TUTTI_OK;
    if (!p_out) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the plan");
    if (err == TUTTI_OK) err = no_split(f);
    /* any address will do for the check: the buffer comes later */
    if (err == TUTTI_OK) err = tutti__file_usable(f, a, f, is_write);
    tutti_plan *p = NULL;
    err = tutti__operation_plan(f, a, is_write, err, &size, &p);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(p_out);
        f->plans++;
        f->planned = 1;
        *p_out = p;
    }
    return tutti__operation_end(f, "plan", start, err);
}

tutti_err tutti_plan_write(tutti_file *f, const tutti_access *a, tutti_plan **p_out) {
    return plan_new(f, a, 1, p_out);
}

tutti_err tutti_plan_read(tutti_file *f, const tutti_access *a, tutti_plan **p_out) {
    return plan_new(f, a, 0, p_out);
}

static tutti_err start_allowed(const tutti_plan *p, const void *buf, tutti_off displacement) {
    tutti_off lo, hi;
    TUTTI_TRY(no_split(p->file));
    TUTTI_CHECK(!p->started, TUTTI_ERR_STATE, "the plan has been started and not waited for");
    TUTTI_TRY(tutti__file_usable(p->file, p->access, buf, p->is_write));
    const int fits =
        tutti__add_ok(p->file->origin + tutti__side_lo(p->access->file), displacement, &lo) &&
        tutti__add_ok(p->file->origin + tutti__side_hi(p->access->file), displacement, &hi);
    TUTTI_CHECK(fits && (lo >= 0 || tutti_access_bytes(p->access) == 0), TUTTI_ERR_ARG,
                "displacement %lld leads out of the file", (long long)displacement);
    return TUTTI_OK;
}

/* The vote that starts a run of a plan: may all, with the same displacement, and how long is the file? */
static tutti_err start_vote(tutti_plan *p, const void *buf, tutti_off displacement,
                            tutti_off *size_out) {
    tutti__vote v;
    tutti_off size = 0;
    tutti_err err = start_allowed(p, buf, displacement);
    if (err == TUTTI_OK && !p->is_write) err = tutti__store_size(p->file->store, &size);
    if (err == TUTTI_OK && p->run) tutti__run_prepare(p);
    tutti__vote_init(&v);
    v.min[0] = v.max[0] = displacement;
    v.max[1] = size;
    TUTTI_TRY(tutti__team_vote(p->file->team, err, &v));
    TUTTI_CHECK(v.min[0] == v.max[0], TUTTI_ERR_MISMATCH, "displacements from %lld to %lld",
                (long long)v.min[0], (long long)v.max[0]);
    *size_out = v.max[1];
    return TUTTI_OK;
}

tutti_err tutti_plan_start(tutti_plan *p, void *buf, tutti_off displacement) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    tutti_file *f = p->file;
    tutti_off size = 0;
    const double start = tutti__operation_begin(f);
    const tutti_err err = start_vote(p, buf, displacement, &size);
    if (err != TUTTI_OK) return tutti__operation_end(f, p->is_write ? "write" : "read", start, err);
    f->last.plan_reuses += p->used;
    p->count = 0;
    p->outcome = tutti__operation_run(p, buf, f->origin + displacement, size, &p->count);
    p->started = 1;
    (void)tutti__operation_end(f, p->is_write ? "write" : "read", start, p->outcome);
    if (p->outcome != TUTTI_OK) p->trouble = *tutti_last_error();
    return TUTTI_OK;
}

tutti_err tutti_plan_wait(tutti_plan *p, tutti_off *count_out) {
    CHECK_PLAN(p);
    TUTTI_CHECK(p->started, TUTTI_ERR_STATE, "the plan has not been started");
    p->started = 0;
    if (p->outcome != TUTTI_OK) {
        tutti__error_assign(&p->trouble);
        return p->outcome;
    }
    if (count_out) *count_out = p->count;
    return TUTTI_OK;
}

tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_off *count_out) {
    TUTTI_TRY(tutti_plan_start(p, buf, displacement));
    return tutti_plan_wait(p, count_out);
}

const char *tutti_plan_explain(const tutti_plan *p) {
    return p ? p->explain : "";
}

size_t tutti_plan_size(const tutti_plan *p) {
    return p ? sizeof *p + tutti_access_size(p->access) + tutti__two_phase_size(p->two) : 0;
}

void tutti_plan_free(tutti_plan **p) {
    if (!p || !*p) return;
    tutti_file *f = (*p)->file;
    tutti__plan_release(p);
    if (--f->plans == 0 && !f->team) tutti__free(f); /* MPI_Finalize has closed it */
}
