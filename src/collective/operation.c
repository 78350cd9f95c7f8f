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

#include "base/fiber.h"
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
    if (!tutti__is_worker() && f->progress) f->progress(f->progress_context, done, total, phase);
}

/* Until it ends, seconds_total holds when it began. */
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

void tutti__stats_settle(tutti_file *f, const tutti_stats *stats) {
    pthread_mutex_lock(&f->lock);
    tutti__stats_add(&f->all, stats);
    f->last = *stats;
    pthread_mutex_unlock(&f->lock);
}

tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err) {
    tutti__trace_event("operation", operation, stats->seconds_total, stats->bytes, -1);
    stats->seconds_total = tutti__now() - stats->seconds_total;
    (void)tutti__store_account(NULL);
    tutti__stats_settle(f, stats);
    if (err != TUTTI_OK) tutti__error_context(operation, f->path, -1);
    return err;
}

/* ---- planning */

void tutti__plan_segment_drop(tutti_plan *p) {
    if (p->held > 0 && p->file->team) p->file->team->background -= p->held;
    p->held = 0;
    tutti__segment_drop(&p->segment);
}

void tutti__plan_destroy(tutti_plan **pp) {
    tutti_plan *p = *pp;
    if (!p) return;
    tutti__run_free(&p->run);
    tutti__two_phase_free(&p->two);
    tutti__plan_segment_drop(p);
    tutti__access_drop(&p->own);
    tutti__free(p);
    *pp = NULL;
}

void tutti__plan_release(tutti_plan **pp) {
    tutti_plan *p = *pp;
    if (!p) return;
    tutti__plan_segment_drop(p);
    if (p->run) tutti__run_sleep(p->run);
    if (!tutti__remember_rest(p)) tutti__plan_destroy(&p);
    *pp = NULL;
}

/* How a two-phase plan moves bytes, in the words of the options. */
static void way_explain(const tutti_plan *p, char *out, size_t size) {
    const tutti__two_phase *t = p->two;
    tutti_options o = p->file->opt;
    char exchange[16] = "", pipeline[16] = "", step[24] = "";
    o.exchange = t->stepwise ? t->kind : t->shared ? TUTTI_EXCHANGE_SHM : TUTTI_EXCHANGE_TWO_SIDED;
    o.pipeline = t->pipeline;
    if (tutti_options_get(&o, "exchange", exchange, sizeof exchange) != TUTTI_OK ||
        tutti_options_get(&o, "pipeline", pipeline, sizeof pipeline) != TUTTI_OK)
        return;
    if (t->stepwise && t->step > 0) snprintf(step, sizeof step, " step %d", t->step);
    snprintf(out, size, "exchange %s%s, pipeline %s", exchange, step, pipeline);
}

/* Complete the explanation, and say it if asked to. */
static void plan_explain(tutti_plan *p, const char *why, int overlap) {
    const tutti_file *f = p->file;
    char way[96] = "";
    int n = snprintf(p->explain, sizeof p->explain, "%s", why);
    if (p->run) way_explain(p, way, sizeof way);
    if (p->run && n < (int)sizeof p->explain)
        n += snprintf(p->explain + n, sizeof p->explain - (size_t)n,
                      "; %s; %d aggregator%s in %d group%s, windows of %lld bytes", way,
                      p->two->domains.aggregators, p->two->domains.aggregators == 1 ? "" : "s",
                      p->two->groups->n, p->two->groups->n == 1 ? "" : "s",
                      (long long)p->two->domains.window);
    if (p->means.resident && n < (int)sizeof p->explain)
        n += snprintf(p->explain + n, sizeof p->explain - (size_t)n, "; in the background");
    if (overlap && n < (int)sizeof p->explain)
        snprintf(p->explain + n, sizeof p->explain - (size_t)n, "; ranks overlap, in rank order");
    if (f->opt.explain && f->team->rank == 0)
        fprintf(stderr, "tutti: %s of '%s': %s\n", p->is_write ? "write" : "read", f->path,
                p->explain);
}

/* In the background bytes wait in staging memory, whatever the way would be otherwise. */
static void method_in_background(tutti_plan *p, char *why, size_t size) {
    const tutti_options *o = &p->file->opt;
    const int named = !p->is_write && o->method_read ? o->method_read : o->method;
    if (p->means.resident && named == TUTTI_METHOD_AUTO && p->method != TUTTI_METHOD_TWO_PHASE) {
        p->method = TUTTI_METHOD_TWO_PHASE;
        snprintf(why, size, "two-phase: for the background");
    }
    if (p->method != TUTTI_METHOD_TWO_PHASE) p->means.resident = 0;
}

/* Seen at once, and not only when the windows have been counted. */
static void resident_if_possible(tutti_plan *p, const tutti__summary *s) {
    const tutti_off nodes = p->file->team->nodes.n;
    if (s->bytes / nodes > p->file->opt.background_bytes || p->file->atomic) p->means.resident = 0;
}

static int may_be_joint(const tutti_plan *p, const tutti__summary *s) {
    const tutti_file *f = p->file;
    return s->bytes > 0 && s->bytes == s->hi - s->lo && s->bytes <= TUTTI__BOARD_ROOM &&
           !p->resident && !f->atomic && !f->opt.direct_io;
}

tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) {
    char *why = p->choice.why;
    int overlap = 0;
    tutti__choose(p->file, s, p->is_write, &p->choice);
    p->method = p->choice.method;
    resident_if_possible(p, s);
    method_in_background(p, why, sizeof p->choice.why);
    const int staged = p->method == TUTTI_METHOD_TWO_PHASE || p->method == TUTTI_METHOD_ROOT;
    if (s->bytes > 0 && (staged || (p->is_write && s->ranks > 1)))
        TUTTI_TRY(tutti__two_phase_make(p, s, 0, 0, &overlap));
    if (!p->run) {
        tutti__two_phase_free(&p->two);
        p->means.resident = 0;
    }
    p->in_turn = p->is_write && (overlap || p->method == TUTTI_METHOD_SIEVE);
    p->lo = s->lo;
    p->bytes = s->bytes;
    p->joint = p->is_write && !overlap && may_be_joint(p, s);
    plan_explain(p, why, overlap);
    if (p->file->opt.explain && p->file->team->rank == 0)
        tutti__choose_explain(p->file, s, p->is_write);
    return TUTTI_OK;
}

/* ---- running */

tutti_err tutti__operation_direct(tutti__op *op) {
    if (op->atomic) return tutti__run_atomic(op);
    if (op->plan->method == TUTTI_METHOD_SIEVE) return tutti__run_sieve(op);
    return tutti__run_list(op, op->plan->method == TUTTI_METHOD_INDEPENDENT ? 1 : 1024);
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
    tutti_err err = tutti__operation_refresh(op); /* of what the last one has written */
    if (err == TUTTI_OK) err = tutti__operation_direct(op);
    if (err == TUTTI_OK) err = tutti__operation_flush(op); /* before the next one writes */
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

/* Windows of MPI are fenced by calls that block, and locked inside of fibers: never both. */
static int64_t plan_name(const tutti_plan *p) {
    const int fences = p->run && p->two->stepwise && p->two->kind == TUTTI_EXCHANGE_FENCE;
    return 2 * p->number + (fences && tutti__fiber_inside());
}

tutti_err tutti__operation_resume(tutti__found *io, tutti_store *store, int how, tutti_err mine) {
    enum { SIZE, BLOCKS, DISPLACEMENT, NUMBERS };
    tutti_plan *p = io->plan;
    tutti_off size = 0;
    const tutti__call call = {.kind = p->is_write ? TUTTI__CALL_RUN_WRITE : TUTTI__CALL_RUN_READ,
                              .agrees = plan_name(p),
                              .what = "which plan they run, or how"};
    if (mine == TUTTI_OK && !p->is_write) mine = tutti__store_size(store, &size);
    tutti__range r[NUMBERS] = {{size, size}, {how == TUTTI__AT_ONCE, how == TUTTI__AT_ONCE}};
    r[DISPLACEMENT] = (tutti__range){io->displacement, io->displacement};
    TUTTI_TRY(tutti__team_call(p->file->team, &call, mine, NUMBERS, r));
    TUTTI_CHECK(r[DISPLACEMENT].min == r[DISPLACEMENT].max, TUTTI_ERR_MISMATCH,
                "displacements from %lld to %lld", (long long)r[DISPLACEMENT].min,
                (long long)r[DISPLACEMENT].max);
    io->size = r[SIZE].max;
    io->apart = r[BLOCKS].min == 0;
    if (!p->run || tutti__run_ready(p)) return TUTTI_OK;
    tutti__run_prepare(
        p); /* not before: others may still have been in an operation before this one */
    return tutti__team_agree(p->file->team, TUTTI_OK);
}

tutti_err tutti__operation_agree(tutti_file *f, const tutti__found *found, tutti_err mine) {
    if (found->done) return mine;
    return found->apart ? tutti__team_agree_apart(f->team, tutti__team_tag_apart(f->team), mine)
                        : tutti__team_agree(f->team, mine);
}

tutti__op tutti__operation_make(tutti_plan *p, const tutti__means *means, void *buf,
                                tutti_off displacement, tutti_off size) {
    const tutti_off shift = p->file->origin + displacement;
    const int atomic = p->file->atomic;
    return (tutti__op){.plan = p,
                       .file = p->file,
                       .store = means->store,
                       .stats = means->stats,
                       .buf = buf,
                       .shift = shift,
                       .eof = p->is_write ? TUTTI__OFF_END : size - shift,
                       .resident = p->means.resident && !atomic,
                       .atomic = atomic};
}

/* Holes that are written over are read before. */
tutti_err tutti__operation_refresh(const tutti__op *op) {
    const int reads = !op->plan->is_write || tutti__sieve_can_write(op->file);
    if (!reads || !op->file->incoherent) return TUTTI_OK;
    return tutti__store_refresh(op->store);
}

tutti_err tutti__operation_flush(const tutti__op *op) {
    if (!op->plan->is_write || !op->file->incoherent) return TUTTI_OK;
    return tutti__store_flush(op->store);
}

/* A plan from before atomic mode may be for staging: what it knows of overlaps still counts. */
static tutti_err move(tutti__op *op) {
    const tutti_plan *p = op->plan;
    if (p->run && !op->atomic) return tutti__run_two_phase(op);
    return p->in_turn || (p->run && p->two->ordered) ? run_in_turn(op)
                                                     : tutti__operation_direct(op);
}

/* Every rank takes its part in moving, whatever happened to it before. */
tutti_err tutti__operation_move(tutti__op *op) {
    const tutti_err before = tutti__operation_refresh(op);
    const tutti_error_info first = *tutti_last_error();
    const tutti_err err = move(op);
    if (err == TUTTI_OK && before != TUTTI_OK) tutti__error_assign(&first);
    if (err != TUTTI_OK || before != TUTTI_OK) return err != TUTTI_OK ? err : before;
    return tutti__operation_flush(op);
}

void tutti__operation_hasten(const tutti__op *op) {
    const tutti_plan *p = op->plan;
    tutti_off lo = tutti__side_lo(p->access->file), hi = tutti__side_hi(p->access->file);
    if (!p->is_write) return;
    if (p->run) {
        if (p->two->my_agg < 0) return;
        tutti__domains_extent(&p->two->domains, p->two->my_agg, &lo, &hi);
    }
    tutti__store_hasten(op->store, op->shift + lo, op->shift + hi);
}

void tutti__operation_explain(tutti_file *f, const tutti_plan *p) {
    if (f->explained == p->number) return;
    f->explained = p->number;
    snprintf(f->explain, sizeof f->explain, "%s", p->explain);
}

tutti_err tutti__operation_long_enough(tutti_off size, tutti_off least) {
    TUTTI_CHECK(size >= least, TUTTI_ERR_TRUNCATED, "the file has %lld bytes, not %lld",
                (long long)size, (long long)least);
    return TUTTI_OK;
}

void tutti__operation_done(tutti__op *op) {
    const tutti_plan *p = op->plan;
    if (!p->is_write) op->moved += tutti__access_repeat(p->access, op->buf, 0, op->moved);
    op->stats->bytes += op->moved;
    op->stats->runs += tutti_access_runs_count(op->plan->access);
    tutti__file_report(op->file, op->moved, op->moved, "file");
}
