/* collective: moving the bytes of an operation by its plan.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdio.h>

#include "base/fiber.h"

static tutti_err move_directly(const tutti_plan *p, tutti__op *op) {
    if (op->atomic) return tutti__run_atomic(op);
    if (p->method == TUTTI_METHOD_SIEVE) return tutti__run_sieve(op);
    return tutti__run_list(op, p->method == TUTTI_METHOD_INDEPENDENT ? 1 : TUTTI__LIST_BATCH);
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
static tutti_err run_in_rank_order(const tutti_plan *p, tutti__op *op) {
    tutti__team *t = op->file->team;
    const int tag = tutti__team_tag(t);
    tutti__message m = {.active = 0};
    if (t->rank > 0) {
        TUTTI_TRY(tutti__message_receive(t, t->rank - 1, tag, NULL, 0, &m));
        TUTTI_TRY(message_wait(&m));
    }
    tutti_err err = tutti__operation_refresh(op); /* of what the last one has written */
    if (err == TUTTI_OK) err = move_directly(p, op);
    if (err == TUTTI_OK) err = tutti__operation_flush(op); /* before the next one writes */
    if (t->rank + 1 < t->size) {
        const tutti_error_info info = *tutti_last_error();
        TUTTI_TRY(tutti__message_send(t, t->rank + 1, tag, NULL, 0, &m));
        TUTTI_TRY(message_wait(&m));
        if (err != TUTTI_OK) tutti__error_assign(&info);
    }
    return err;
}

tutti_err tutti__operation_ask(tutti_file *f, tutti_store *store, int is_write,
                               tutti_off *size_out) {
    if (!is_write || (f->opt.sole_writer && !tutti__independent_any(f)))
        return tutti__store_size(store, size_out);
    *size_out = TUTTI__OFF_END;
    return TUTTI_OK;
}

/* Windows of MPI are fenced by calls that block, and locked inside of fibers: never both. */
static int64_t plan_name(const tutti_plan *p) {
    const int fences = p->run && p->two->literal && p->two->kind == TUTTI_EXCHANGE_FENCE;
    return 2 * p->number + (fences && tutti__fiber_inside());
}

tutti_err tutti__operation_resume(tutti__found *io, tutti_store *store, int how, tutti_err mine) {
    enum { SIZE, BLOCKS, DISPLACEMENT, NUMBERS };
    tutti_plan *p = io->plan;
    tutti_off size = 0;
    const tutti__call call = {.kind = p->is_write ? TUTTI__CALL_RUN_WRITE : TUTTI__CALL_RUN_READ,
                              .agrees = plan_name(p),
                              .what = "which plan they run, or how"};
    if (mine == TUTTI_OK) mine = tutti__operation_ask(p->file, store, p->is_write, &size);
    tutti__range r[NUMBERS] = {{size, size}, {how == TUTTI__AT_ONCE, how == TUTTI__AT_ONCE}};
    r[DISPLACEMENT] = (tutti__range){io->displacement, io->displacement};
    TUTTI_TRY(tutti__team_call(p->file->team, &call, mine, NUMBERS, r));
    TUTTI_CHECK(r[DISPLACEMENT].min == r[DISPLACEMENT].max, TUTTI_ERR_MISMATCH,
                "displacements from %lld to %lld", (long long)r[DISPLACEMENT].min,
                (long long)r[DISPLACEMENT].max);
    io->size = r[SIZE].max;
    io->apart = r[BLOCKS].min == 0;
    if (!p->run || p->engine->ready(p)) return TUTTI_OK;
    p->engine->prepare(p); /* not before: others may have been in an operation before this one */
    return tutti__team_agree(p->file->team, TUTTI_OK);
}

tutti_err tutti__operation_agree(tutti_file *f, const tutti__found *found, tutti_err mine) {
    if (found->done) return mine;
    return found->apart ? tutti__team_agree_apart(f->team, tutti__team_tag_apart(f->team), mine)
                        : tutti__team_agree(f->team, mine);
}

tutti__op tutti__operation_make(const tutti_plan *p, const tutti__means *means, void *buf,
                                tutti_off displacement, tutti_off size) {
    tutti__op op = {.file = p->file,
                    .store = means->store,
                    .stats = means->stats,
                    .access = p->access,
                    .is_write = p->is_write,
                    .buf = buf,
                    .room = p->means.room,
                    .atomic = p->file->atomic};
    tutti__operation_place(&op, displacement, size);
    return op;
}

/* A plan from before atomic mode may be for staging: what it knows of overlaps still counts. */
static tutti_err move(tutti_plan *p, tutti__op *op) {
    if (p->run && !op->atomic) return p->engine->run(p, op);
    return p->in_rank_order || (p->run && p->two->ordered) ? run_in_rank_order(p, op)
                                                           : move_directly(p, op);
}

/* Every rank takes its part in moving, whatever happened to it before. */
tutti_err tutti__operation_move(tutti_plan *p, tutti__op *op) {
    const tutti_err before = tutti__operation_refresh(op);
    const tutti_error_info first = *tutti_last_error();
    const tutti_err err = move(p, op);
    if (err == TUTTI_OK && before != TUTTI_OK) tutti__error_assign(&first);
    if (err != TUTTI_OK || before != TUTTI_OK) return err != TUTTI_OK ? err : before;
    return tutti__operation_flush(op);
}

void tutti__operation_write_behind(const tutti_plan *p, const tutti__op *op) {
    tutti_off lo = tutti__side_lo(p->access->file), hi = tutti__side_hi(p->access->file);
    if (!p->is_write) return;
    if (p->run) {
        if (p->two->my_agg < 0) return;
        tutti__domains_extent(&p->two->domains, p->two->my_agg, &lo, &hi);
    }
    tutti__store_write_behind(op->store, op->shift + lo, op->shift + hi);
}

void tutti__operation_explain(tutti_file *f, const tutti_plan *p) {
    if (f->explained == p->number) return;
    f->explained = p->number;
    snprintf(f->explain, sizeof f->explain, "%s", p->explain);
}

tutti_err tutti__plan_usable(const tutti_plan *p, const void *buf, tutti_off displacement) {
    tutti_off lo, hi;
    TUTTI_CHECK(!p->request, TUTTI_ERR_STATE, "the plan has been started and not waited for");
    TUTTI_TRY(tutti__file_allows(p->file, p->access, buf, p->is_write));
    const int fits =
        tutti__add_ok(p->file->origin + tutti__side_lo(p->access->file), displacement, &lo) &&
        tutti__add_ok(p->file->origin + tutti__side_hi(p->access->file), displacement, &hi);
    TUTTI_CHECK(fits && (lo >= 0 || tutti_access_bytes(p->access) == 0), TUTTI_ERR_ARG,
                "displacement %lld leads out of the file", (long long)displacement);
    return TUTTI_OK;
}
