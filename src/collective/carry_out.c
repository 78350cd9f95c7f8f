/* collective: one collective write or read, from the public call to the outcome.
 *
 *   check         arguments of this rank; errors are part of the first agreement     request.c
 *   small         repeated small request: transfer first, then one agreement          small.c
 *   summary       bounds, bytes, runs of all requests; cached plan that fits all       find.c
 *   method        by predicted times                                                     choose.c
 *   domains       aggregators, their file domains, windows                               twophase/
 *   descriptors   exchange of Thakur and Choudhary's File Access Descriptors, which ranks send
 *                 to the aggregators; these build their File Domain Access Tables from them
 *   windows       exchange <-> file, window by window or cycle by cycle                  engine/
 *   agreement     the same outcome on all ranks                                          this file
 *
 * With a cached plan the steps method, domains and descriptors are skipped.  Split and
 * non-blocking operations execute the same steps in two halves: the first contains the steps that
 * need the other ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include <stdio.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "comm/call.h"
#include "comm/vote.h"
#include "comm/wait.h"
#include "direct/direct.h"
#include "exchange/message.h"

/* ---- checks and agreement before the transfer */

tutti_err tutti__plan_usable(const tutti_plan *p, const tutti__op *op, tutti_off displacement) {
    tutti_off lo, hi;
    TUTTI_CHECK(!p->request, TUTTI_ERR_STATE, "the plan has been started and not waited for");
    if (op->parts)
        TUTTI_TRY(tutti__file_allows_parts(p->file, op->parts, 1, p->asked.is_write));
    else
        TUTTI_TRY(tutti__file_allows(p->file, p->asked.access, op->buf, p->asked.is_write));
    const int fits =
        tutti__add_ok(p->file->origin + tutti__side_lo(p->asked.access->file), displacement, &lo) &&
        tutti__add_ok(p->file->origin + tutti__side_hi(p->asked.access->file), displacement, &hi);
    TUTTI_CHECK(fits && (lo >= 0 || tutti_access_bytes(p->asked.access) == 0), TUTTI_ERR_ARG,
                "displacement is %lld: offsets of the access would exceed the range [0, 2^63)",
                (long long)displacement);
    return TUTTI_OK;
}

tutti_err tutti__request_usable(const tutti_request *r) {
    const tutti__op *op = &r->op;
    if (r->found.plan) return tutti__plan_usable(r->found.plan, op, r->found.displacement);
    if (op->parts) return tutti__file_allows_parts(op->file, op->parts, 1, op->is_write);
    TUTTI_TRY(tutti__access_usable(op->access));
    return tutti__file_allows(op->file, op->access, op->buf, op->is_write);
}

/* Check that all ranks run the plan of this request, at the same displacement.   Collective,
 * agrees. */
static tutti_err agree_on_plan(tutti_request *r) {
    enum { SIZE, BLOCKS, DISPLACEMENT, NUMBERS };
    tutti_plan *p = r->found.plan;
    tutti_err local_err = r->asked.refused;
    tutti_off size = 0;
    /* MPI windows are fenced by blocking calls, which are not allowed inside fibers */
    const int fences = p->run && p->two->literal && p->two->kind == TUTTI_EXCHANGE_FENCE;
    r->stats.plan_reuses += p->used;
    if (local_err == TUTTI_OK) local_err = tutti__file_end(&r->op, &size);
    const int blocks = r->asked.how == TUTTI__AT_ONCE;
    tutti__range all[NUMBERS] = {{size, size}, {blocks, blocks}};
    all[DISPLACEMENT] = (tutti__range){r->found.displacement, r->found.displacement};
    const tutti__call call = {.object = "plan",
                              .name = p->asked.is_write ? "run_write" : "run",
                              .hash = 2 * (uint64_t)p->number + (fences && tutti__fiber_inside()),
                              .what = "the plan or its execution mode",
                              .ranges = NUMBERS,
                              .range = all};
    TUTTI_TRY(tutti__team_call(p->file->team, &call, local_err));
    TUTTI_CHECK(all[DISPLACEMENT].min == all[DISPLACEMENT].max, TUTTI_ERR_MISMATCH,
                "ranks use different displacements, from %lld to %lld",
                (long long)all[DISPLACEMENT].min, (long long)all[DISPLACEMENT].max);
    r->found.file_size = all[SIZE].max;
    r->found.apart = all[BLOCKS].min == 0;
    if (!p->run || p->engine->ready(p)) return TUTTI_OK;
    /* The plan is woken only after the agreement: before it, other ranks may still have been in the
     * previous operation. */
    int awake = 0;
    TUTTI_TRY(tutti__plan_wake(p, p->two->elsewhere, &awake));
    TUTTI_CHECK(awake, TUTTI_ERR_NOMEM, "cannot allocate staging memory for the plan");
    return TUTTI_OK;
}

/* ---- transfer of the bytes */

/* Transfer the bytes of this rank without an exchange. */
static tutti_err move_directly(const tutti_plan *p, tutti__op *op) {
    if (op->atomic) return tutti__run_atomic(op);
    if (p->choice.method == TUTTI_METHOD_SIEVE) return tutti__run_sieve(op);
    return tutti__run_list(op,
                           p->choice.method == TUTTI_METHOD_INDEPENDENT ? 1 : TUTTI__LIST_BATCH);
}

static tutti_err wait_for_message(const tutti__team *t, tutti__message *m) {
    int done = 0;
    tutti__wait w = tutti__wait_begin(t, NULL);
    for (;;) {
        TUTTI_TRY(tutti__message_test(m, &done));
        if (done) return TUTTI_OK;
        tutti__wait_turn(&w);
    }
}

/* Transfer the bytes one rank after the other, in rank order: an empty message starts the next
 * rank. */
static tutti_err move_in_rank_order(const tutti_plan *p, tutti__op *op) {
    tutti__team *t = op->file->team;
    const int tag = tutti__team_tag(t);
    tutti__message m = {.active = 0};
    if (t->rank > 0) {
        TUTTI_TRY(tutti__message_receive(t, t->rank - 1, tag, NULL, 0, &m));
        TUTTI_TRY(wait_for_message(t, &m));
    }
    tutti_err err = tutti__operation_refresh(op); /* makes the data of the previous rank visible */
    if (err == TUTTI_OK) err = move_directly(p, op);
    /* must precede writes of the next rank */
    if (err == TUTTI_OK) err = tutti__operation_flush(op);
    if (t->rank + 1 < t->size) {
        const tutti_error_info info = *tutti_last_error();
        TUTTI_TRY(tutti__message_send(t, t->rank + 1, tag, NULL, 0, &m));
        TUTTI_TRY(wait_for_message(t, &m));
        if (err != TUTTI_OK) tutti__error_assign(&info);
    }
    return err;
}

/* In atomic mode a plan with staging is executed without its engine; the result of its search for
 * overlaps is still valid. */
tutti_err tutti__move_bytes(tutti_plan *p, tutti__op *op) {
    tutti_err err;
    const tutti_err before = tutti__operation_refresh(op);
    const tutti_error_info first = *tutti_last_error();
    if (p->run && !op->atomic)
        err = p->engine->run(p, op, TUTTI__BOTH_HALVES);
    else if (p->in_rank_order || (p->run && p->two->ordered))
        err = move_in_rank_order(p, op);
    else
        err = move_directly(p, op);
    if (err == TUTTI_OK && before != TUTTI_OK) tutti__error_assign(&first);
    if (err != TUTTI_OK || before != TUTTI_OK) return err != TUTTI_OK ? err : before;
    return tutti__operation_flush(op);
}

/* Start writeback of data written in the background, so that a later sync takes less time. */
static void start_writeback(const tutti_plan *p, const tutti__op *op) {
    tutti_off lo = tutti__side_lo(p->asked.access->file),
              hi = tutti__side_hi(p->asked.access->file);
    if (!p->asked.is_write) return;
    if (p->run) {
        if (p->two->my_agg < 0) return;
        tutti__domains_extent(&p->two->domains, p->two->my_agg, &lo, &hi);
    }
    tutti__store_write_behind(op->store, op->shift + lo, op->shift + hi);
}

/* ---- finding the plan */

tutti__find_result tutti__find_progress(tutti_request *r, tutti__finding *x, int may_block) {
    if (x->phase == 0) {
        tutti__find_start(r, x);
        if (x->has_match) x->local_err = tutti__small_begin(r, x);
    }
    for (;;) {
        const tutti__find_result result = tutti__find_step(r, x, may_block);
        if (result == TUTTI__FIND_WRITE) {
            const tutti_err err = tutti__small_write(x->match, r, x->displacement);
            tutti__find_written(r, x, err);
        } else if (result == TUTTI__FIND_MOVE) {
            tutti__placed(r);
            tutti__find_moved(r, x, tutti__move_bytes(r->found.plan, &r->op));
        } else if (result == TUTTI__FIND_WAIT && may_block) {
            tutti__find_wait(r, x);
        } else {
            return result;
        }
    }
}

tutti_err tutti__plan_find(tutti_request *r) {
    tutti__finding here, *x = r->progress.finding;
    if (!x) {
        x = &here;
        x->phase = 0;
        x->local_err = r->asked.refused;
    }
    /* a blocking operation has just begun */
    const int blocks = r->asked.how == TUTTI__AT_ONCE || r->asked.how == TUTTI__PLAN_ONLY;
    const double start = blocks ? r->stats.seconds_total : tutti__now();
    const double clock = start - tutti__fiber_absent();
    (void)tutti__find_progress(r, x, 1);
    tutti__trace_event("plan", "plan", start, -1, -1);
    if (!r->found.plan || r->found.plan->cache.hits == 0) {
        r->stats.plans++; /* planning time excludes file access, which is counted separately */
        r->stats.seconds_plan += tutti__fiber_clock() - clock - r->stats.seconds_file;
    }
    return x->err;
}

/* ---- begin and end of a request */

int tutti__request_is_valid(const tutti_request *r) {
    const tutti__op *op = &r->op;
    const int asked =
        op->file && op->file->team && r->asked.name && r->asked.how != TUTTI__INDEPENDENT;
    const int fine = r->asked.refused != TUTTI_OK || r->found.plan || op->access;
    const int found = !r->found.owns_plan || r->found.plan;
    /* `done` (all ranks) implies `moved` (this rank) */
    const int found_well = !r->found.done || r->found.moved;
    const int placed = !r->progress.resident ||
                       (r->found.plan && r->found.plan->run && r->asked.how != TUTTI__AT_ONCE);
    const int ended =
        !r->result.over || r->result.outcome == TUTTI_OK || r->result.error.code != TUTTI_OK;
    return asked && fine && found && found_well && placed && ended;
}

/* Record the outcome `err`, which all ranks have.  On success update counts, and copy read data to
 * all memory locations that refer to the same bytes. */
static void complete_request(tutti_request *r, tutti_err err) {
    tutti__op *op = &r->op;
    r->result.over = 1;
    r->result.outcome = err;
    r->found.plan->used = 1;
    r->stats.operations++;
    if (err != TUTTI_OK) {
        r->result.error = *tutti_last_error();
        return;
    }
    if (op->parts)
        op->moved = tutti__parts_count(op->parts, op->is_write, op->eof);
    else if (!op->is_write)
        op->moved += tutti__access_repeat(op->access, op->buf, 0, op->moved);
    r->result.count = op->moved;
    r->stats.bytes += op->moved;
    r->stats.runs += tutti_access_runs_count(op->access);
    tutti__file_report(op->file, op->moved, op->moved, "file");
}

void tutti__placed(tutti_request *r) {
    const tutti_plan *p = r->found.plan;
    const tutti_file *f = p->file;
    tutti__op *op = &r->op;
    const int waits = r->asked.how == TUTTI__AT_ONCE;
    op->access = p->asked.access;
    op->capacity = p->means.memory_limit;
    op->atomic = f->atomic.on;
    op->cold = p->choice.cold;
    op->sole = waits && !f->requests.first;
    op->shift = f->origin + r->found.displacement;
    const tutti_off end =
        r->found.file_size == TUTTI__OFF_END ? TUTTI__OFF_END : r->found.file_size - op->shift;
    /* if the bytes have already been moved, file_size is unknown */
    op->eof = op->is_write || r->found.moved ? TUTTI__OFF_END : end;
    op->zeros = end;
    r->progress.resident = !waits && p->means.resident && !op->atomic;
    if (!waits && r->progress.background != TUTTI_BACKGROUND_NONE) {
        const int left = r->progress.background == TUTTI_BACKGROUND_ALL ||
                         (r->progress.resident && op->store->ops->asynchronous);
        r->stats.background += left; /* file access is done by a thread or the kernel */
        r->stats.foreground += !left;
    }
}

void tutti__request_first_half(tutti_request *r) {
    const int waits = r->asked.how == TUTTI__AT_ONCE;
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    TUTTI_ASSERT(tutti__request_is_valid(r) && !r->result.over);

    /* planning already uses the statistics and the store */
    op->stats = &r->stats;
    op->store = r->progress.background != TUTTI_BACKGROUND_NONE && f->background_store
                    ? f->background_store
                    : f->store;
    if (r->asked.refused != TUTTI_OK) tutti__error_assign(&r->result.error);
    tutti_err err = TUTTI_OK;
    if (!r->found.done) err = r->found.plan ? agree_on_plan(r) : tutti__plan_find(r);
    if (err == TUTTI_OK && r->found.file_size < r->asked.least) /* same result on all ranks */
        err = tutti__error_set(TUTTI_ERR_TRUNCATED, 0, -1,
                               "short read: the file has only %lld of %lld bytes",
                               (long long)r->found.file_size, (long long)r->asked.least);
    if (err != TUTTI_OK) {
        r->result.over = 1;
        r->result.outcome = err;
        r->result.error = *tutti_last_error();
        return;
    }

    tutti__placed(r);
    if (r->asked.staging_out) *r->asked.staging_out = tutti__plan_staging(r->found.plan);
    if (r->found.done) {
        complete_request(r, TUTTI_OK);
        return;
    }

    /* whether the final agreement of all ranks takes place in this call */
    const int here = waits ? !r->found.apart : r->found.all_split && !r->progress.resident;
    r->progress.tag = here ? -1 : tutti__team_vote_tag(f->team);
    if (r->progress.resident)
        r->result.outcome = tutti__operation_refresh(op);
    else if (!r->found.moved)
        r->result.outcome = tutti__move_bytes(r->found.plan, op);
    if (r->result.outcome != TUTTI_OK) r->result.error = *tutti_last_error();
    if (r->progress.resident)
        (void)r->found.plan->engine->run(r->found.plan, op, TUTTI__FIRST_HALF);
    if (!waits) start_writeback(r->found.plan, op);
}

void tutti__request_second_half(tutti_request *r) {
    tutti__team *t = r->op.file->team;
    TUTTI_ASSERT(tutti__request_is_valid(r) && !r->result.over && r->found.plan);
    tutti_err err = r->result.outcome;
    if (r->progress.resident) {
        const tutti_err last =
            r->found.plan->engine->run(r->found.plan, &r->op, TUTTI__SECOND_HALF);
        if (err == TUTTI_OK) err = last == TUTTI_OK ? tutti__operation_flush(&r->op) : last;
    }
    /* the first error is returned */
    if (r->result.outcome != TUTTI_OK) tutti__error_assign(&r->result.error);
    err = tutti__operation_under_way(err);
    err = r->progress.tag < 0 ? tutti__team_agree(t, err)
                              : tutti__team_agree_tagged(t, r->progress.tag, err);
    complete_request(r, err);
    TUTTI_ASSERT(tutti__request_is_valid(r));
}

void tutti__plan_explained(tutti_file *f, const tutti_plan *p) {
    if (f->explain.number == p->number) return;
    f->explain.number = p->number;
    snprintf(f->explain.text, sizeof f->explain.text, "%s", p->explain);
}
