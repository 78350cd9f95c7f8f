/* collective: what all operations have in common: checks, planning, running, agreement, accounts.
 *
 *   check (local) -> vote: summary of all requests, anybody's complaint, size of the file
 *                 -> method -> plan (letters, proof, vote)
 *                 -> run    -> agreement on the outcome
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/trace.h"

tutti_err tutti__file_usable(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) {
    TUTTI_CHECK(a != NULL, TUTTI_ERR_ARG, "the access is NULL");
    TUTTI_CHECK(f->mode & (is_write ? TUTTI_WRITE : TUTTI_READ), TUTTI_ERR_MODE,
                "the file was not opened for %s", is_write ? "writing" : "reading");
    TUTTI_CHECK(buf != NULL || tutti_access_bytes(a) == 0, TUTTI_ERR_ARG,
                "the buffer is NULL but the access has %lld bytes",
                (long long)tutti_access_bytes(a));
    tutti_off end;
    TUTTI_CHECK(tutti__add_ok(f->origin, tutti__side_hi(a->file), &end), TUTTI_ERR_OVERFLOW,
                "the access ends beyond 2^63 bytes");
    return TUTTI_OK;
}

void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase) {
    if (f->progress) f->progress(f->progress_context, done, total, phase);
}

double tutti__operation_begin(tutti_file *f) {
    memset(&f->last, 0, sizeof f->last);
    return tutti__now();
}

static void stats_add(tutti_stats *to, const tutti_stats *from) {
#define ADD(ctype, name, help) to->name += from->name;
    TUTTI_STATS_TABLE(ADD)
#undef ADD
}

tutti_err tutti__operation_end(tutti_file *f, const char *operation, double start, tutti_err err) {
    f->last.seconds_total = tutti__now() - start;
    stats_add(&f->all, &f->last);
    tutti__trace_event("operation", operation, start, f->last.bytes, -1);
    if (err != TUTTI_OK) tutti__error_context(operation, f->path, -1);
    return err;
}

/* ---- planning */

static tutti_err plan_alloc(tutti_file *f, const tutti_access *a, int is_write, tutti_plan **out) {
    tutti_plan *p = tutti__calloc(1, sizeof *p);
    if (!p) return TUTTI_ERR_NOMEM;
    *out = p;
    p->file = f;
    p->is_write = is_write;
    TUTTI_TRY(tutti_access_copy(a, &p->access));
    return tutti__two_phase_alloc(p);
}

void tutti__plan_release(tutti_plan **pp) {
    tutti_plan *p = *pp;
    if (!p) return;
    tutti__run_free(&p->run);
    tutti__two_phase_free(&p->two);
    tutti_access_free(&p->access);
    tutti__free(p);
    *pp = NULL;
}

/* The run is what one request to the file system could carry without staging: the access may be more
 * broken in memory than in the file. */
static tutti__summary summary_of(const tutti_access *a) {
    tutti__summary s = tutti__summary_of(a->file);
    const tutti_count runs = tutti__side_runs(a->memory);
    if (runs > 0) s.run = tutti__min(s.run, s.bytes / runs);
    return s;
}

static tutti_err plan_vote(tutti_file *f, const tutti_plan *p, tutti_err mine, tutti__summary *s,
                           tutti_off *size_out) {
    tutti__vote v;
    tutti_off size = 0;
    *s = mine == TUTTI_OK ? summary_of(p->access) : tutti__summary_empty();
    if (mine == TUTTI_OK && !p->is_write) mine = tutti__store_size(f->store, &size);
    tutti__vote_init(&v);
    v.min[0] = s->lo;
    v.min[1] = s->run;
    v.max[0] = s->hi;
    v.max[1] = s->max_bytes;
    v.max[2] = size;
    v.sum[0] = s->bytes;
    v.sum[1] = s->runs;
    v.sum[2] = s->ranks;
    TUTTI_TRY(tutti__team_vote(f->team, mine, &v));
    *s = (tutti__summary){.lo = v.min[0],
                          .hi = v.max[0],
                          .bytes = v.sum[0],
                          .runs = v.sum[1],
                          .ranks = v.sum[2],
                          .max_bytes = v.max[1],
                          .run = v.min[1]};
    *size_out = v.max[2];
    return TUTTI_OK;
}

/* Complete the explanation, and say it if asked to. */
static void plan_explain(tutti_plan *p, const char *why, int overlap) {
    const tutti_file *f = p->file;
    int n = snprintf(p->explain, sizeof p->explain, "%s", why);
    if (p->run && n < (int)sizeof p->explain)
        n += snprintf(p->explain + n, sizeof p->explain - (size_t)n,
                      "; %d aggregator%s in %d group%s, windows of %lld bytes",
                      p->two->domains.aggregators, p->two->domains.aggregators == 1 ? "" : "s",
                      p->two->groups->n, p->two->groups->n == 1 ? "" : "s",
                      (long long)p->two->domains.window);
    if (overlap && n < (int)sizeof p->explain)
        snprintf(p->explain + n, sizeof p->explain - (size_t)n, "; ranks overlap, in rank order");
    if (f->opt.explain && f->team->rank == 0)
        fprintf(stderr, "tutti: %s of '%s': %s\n", p->is_write ? "write" : "read", f->path,
                p->explain);
}

static tutti_err plan_make(tutti_plan *p, const tutti__summary *s) {
    char why[160];
    int overlap = 0;
    p->method = tutti__method_choose(p->file, s, p->is_write, why, sizeof why);
    const int staged = p->method == TUTTI_METHOD_TWO_PHASE || p->method == TUTTI_METHOD_ROOT;
    if (s->bytes > 0 && (staged || (p->is_write && s->ranks > 1)))
        TUTTI_TRY(tutti__two_phase_make(p, s, 0, 0, &overlap));
    if (!p->run) tutti__two_phase_free(&p->two);
    p->in_turn = p->is_write && (overlap || p->method == TUTTI_METHOD_SIEVE);
    plan_explain(p, why, overlap);
    return TUTTI_OK;
}

tutti_err tutti__operation_plan(tutti_file *f, const tutti_access *a, int is_write, tutti_err mine,
                                tutti_off *size_out, tutti_plan **out) {
    tutti_plan *p = NULL;
    tutti__summary s;
    const double start = tutti__now();
    tutti__file_report(f, 0, a ? tutti_access_bytes(a) : 0, "plan");
    if (mine == TUTTI_OK) mine = plan_alloc(f, a, is_write, &p);
    tutti_err err = plan_vote(f, p, mine, &s, size_out);
    TUTTI_ASSERT(err != TUTTI_OK || p);
    if (err == TUTTI_OK) err = plan_make(p, &s);
    f->last.seconds_plan += tutti__now() - start;
    f->last.plans++;
    tutti__trace_event("plan", "plan", start, -1, -1);
    if (err != TUTTI_OK) {
        tutti__plan_release(&p);
        return err;
    }
    *out = p;
    return TUTTI_OK;
}

/* ---- running */

static tutti_err run_direct(tutti__op *op) {
    const double start = tutti__now(), file_before = op->file->last.seconds_file;
    tutti_err err;
    if (op->plan->method == TUTTI_METHOD_SIEVE)
        err = tutti__run_sieve(op);
    else
        err = tutti__run_list(op, op->plan->method == TUTTI_METHOD_INDEPENDENT ? 1 : 1024);
    op->file->last.seconds_exchange +=
        tutti__now() - start - (op->file->last.seconds_file - file_before);
    return err;
}

static tutti_err message_wait(tutti__message *m) {
    int done = 0;
    for (;;) {
        TUTTI_TRY(tutti__message_test(m, &done));
        if (done) return TUTTI_OK;
        tutti__yield();
    }
}

/* One rank after the other, in rank order: an empty message says whose turn it is. */
static tutti_err run_in_turn(tutti__op *op) {
    tutti__team *t = op->file->team;
    const int tag = tutti__team_tag(t);
    tutti__message m = {.active = 0};
    if (t->rank > 0) {
        TUTTI_TRY(tutti__message_receive(t, t->rank - 1, tag, NULL, 0, &m));
        TUTTI_TRY(message_wait(&m));
    }
    const tutti_err err = run_direct(op);
    if (t->rank + 1 < t->size) {
        const tutti_error_info info = *tutti_last_error();
        TUTTI_TRY(tutti__message_send(t, t->rank + 1, tag, NULL, 0, &m));
        TUTTI_TRY(message_wait(&m));
        if (err != TUTTI_OK) tutti__error_assign(&info);
    }
    return err;
}

/* Positive codes promise that nothing has happened, which nobody knows any more. */
tutti_err tutti__operation_under_way(tutti_err err) {
    if (err <= TUTTI_OK) return err;
    tutti_error_info info = *tutti_last_error();
    info.code = TUTTI_ERR_IO;
    tutti__error_assign(&info);
    return TUTTI_ERR_IO;
}

tutti_err tutti__operation_run(tutti_plan *p, void *buf, tutti_off shift, tutti_off size,
                               tutti_off *count_out) {
    tutti_file *f = p->file;
    tutti__op op = {p, f, buf, shift, p->is_write ? TUTTI__OFF_END : size - shift, 0};
    tutti_err err;
    if (p->run)
        err = tutti__run_two_phase(&op);
    else
        err = p->in_turn ? run_in_turn(&op) : run_direct(&op);
    err = tutti__team_agree(f->team, tutti__operation_under_way(err));
    p->used = 1;
    f->last.operations++;
    snprintf(f->explain, sizeof f->explain, "%s", p->explain);
    if (err != TUTTI_OK) return err;
    f->last.bytes += op.moved;
    f->last.runs += tutti_access_runs_count(p->access);
    tutti__file_report(f, op.moved, op.moved, "file");
    if (count_out) *count_out = op.moved;
    return TUTTI_OK;
}
