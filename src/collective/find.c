/* collective: finding the plan of a request, step by step.
 *
 *   START       determine the error of this rank, and the cached plans that fit it (plan_cache.c)
 *   POSTED      the team has shared memory: this rank has answered and waits for the other ranks
 *   COLLECTED   all ranks have answered; in most cases no vote is needed, since they reuse a plan,
 *               or make the first plan of a file from the answers
 *   WRITING     all bytes are in shared memory, and one rank writes them for all (small.c)
 *   STATUS_POSTED  this rank has transferred its bytes and posted the outcome
 *   FAILED      the transfer of a rank failed: a vote reports its error
 *   VOTE        agree by messages on the call, the summary of all requests, any error, and the size
 *               of the file; then a cached plan that fits all ranks, or a new one (plan_make.c)
 *
 * Steps do not access the file.  FAILED and VOTE wait for messages, and so does COLLECTED if the
 * plan has staging.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include <string.h>

#include "base/fiber.h"
#include "base/hash.h"
#include "comm/call.h"

/* Bits of finding.answers; finding.all has the bits that are set on all ranks. */
enum {
    FINE = 1,     /* this rank has no error */
    MOVED = 2,    /* the bytes of this rank have been transferred */
    BLOCKS = 4,   /* the call blocks */
    SPLIT = 8,    /* the call begins a split operation */
    OUTSIDE = 16, /* the request is not executed in a fiber */
    /* File access continues in the background.  Split and started operations end differently, so
     * the mode is used only if all ranks have the same bit. */
    SPLIT_RESIDENT = 32,
    STARTED_RESIDENT = 64,
    RESIDENT = SPLIT_RESIDENT | STARTED_RESIDENT, /* mask for either bit */
    STEPWISE = 128,                               /* the request progresses without a fiber */
    SUMMARIZED = 256 /* the cache is empty, and the answers contain contributions to a new plan */
};

/* Indices of the ranges of a consensus. */
enum { CALL, SIZE = CALL + TUTTI__ANNOUNCEMENTS, BACKGROUND, GATHERED, COLD, PLANS };

/* The contribution of a rank to a new plan; after a reduction, of all ranks. */
typedef struct {
    tutti__summary all;
    /* size of the largest description in bytes; whether many bytes are in partial blocks */
    int64_t described, broken;
} contribution;
enum { SUMMARY_NUMBERS = 16 }; /* numbers of a contribution */

/* TUTTI__OFF_END as a number of a consensus, in which INT64_MAX means no value. */
static const int64_t NO_END = INT64_MAX - 1;

enum { START = 1, POSTED, COLLECTED, WRITING, STATUS_POSTED, FAILED, VOTE };

/* Shared memory for the consensus is allocated after this number of votes, since the allocation
 * takes longer than several votes. */
enum { VOTES_BEFORE_CONSENSUS = 8 };

/* ---- results */

/* Use the plan `p`, which fits all ranks.  r->found.plan stays NULL if the plan cannot be made
 * ready. */
static tutti_err reuse_plan(tutti_request *r, const tutti__finding *x, tutti_plan *p) {
    int awake = 1;
    if (p->cache.resident && !(x->all & RESIDENT)) return TUTTI_OK;
    if (p->run) TUTTI_TRY(tutti__plan_wake(p, x->background, &awake));
    if (!awake) {
        tutti__plan_cache_evict(p);
        return TUTTI_OK;
    }
    tutti__plan_cache_take(p);
    r->found.plan = p;
    r->found.owns_plan = 1;
    r->found.apart = !(x->all & BLOCKS);
    r->found.all_split = (x->all & SPLIT) != 0;
    r->stats.plan_hits++;
    r->found.displacement = r->op.base + x->displacement;
    r->found.file_size = x->size;
    r->found.moved = x->moved && !p->run;
    r->found.done = (x->all & MOVED) && !p->run;
    if (!r->op.parts) {
        const tutti_off by = r->op.access->memory.disp - p->asked.access->memory.disp;
        r->op.buf = (char *)((uintptr_t)r->op.buf + (uintptr_t)by);
    } else if (!r->found.moved) {
        tutti__parts_start(r->op.parts, p->asked.batch, x->displacement);
    }
    r->op.moved = r->found.moved ? x->count : 0;
    return TUTTI_OK;
}

/* Complete a request whose bytes were gathered from all ranks and written by one rank. */
static void accept_written(tutti_request *r, const tutti__finding *x) {
    tutti__plan_cache_take(x->match);
    r->found.plan = x->match;
    r->found.owns_plan = 1;
    r->found.apart = !(x->all & BLOCKS);
    r->found.all_split = (x->all & SPLIT) != 0;
    r->stats.plan_hits++;
    r->found.moved = r->found.done = 1;
    r->op.moved = x->count;
}

/* Make a new plan from the contributions of all ranks. */
static tutti_err make_plan(tutti_request *r, const tutti__finding *x, const contribution *c) {
    tutti_file *f = r->op.file;
    tutti__summary all = c->all;
    all.cold = x->cold && all.bytes > 0 && all.hi - all.lo >= TUTTI__COLD_SPAN;
    all.broken = c->broken > 0;
    tutti_plan *p = f->plans.blank;
    /* the plan belongs to the caller and is not cached */
    const int own = r->asked.how == TUTTI__PLAN_ONLY;
    f->plans.blank = NULL;
    p->number = ++f->plans.made;
    p->asked.is_write = r->op.is_write;
    p->cache.resident =
        own ? r->progress.background == TUTTI_BACKGROUND_IO_ONLY : (x->all & RESIDENT) != 0;
    p->means = (tutti__means){r->op.store,    r->op.stats, p->cache.resident,
                              r->op.capacity, x->block,    r->op.base};
    /* a plan of the caller that may run in the background may also run in a fiber */
    p->cache.inside = !(x->all & OUTSIDE) || (own && p->cache.resident);
    p->asked.own = tutti__access_share(r->op.access);
    p->asked.access = &p->asked.own;
    if (r->op.parts) {
        p->asked.batch = tutti__batch_ref(r->op.parts->batch);
        tutti__parts_start(r->op.parts, p->asked.batch, 0);
    }
    p->cache.worth = all.max_bytes / TUTTI__CACHED_PART;
    p->cache.described = c->described;
    const tutti_err err = tutti__plan_make(p, &all);
    if (err != TUTTI_OK) {
        tutti__plan_destroy(&p);
        return err;
    }
    if (!own) tutti__plan_cache_add(p);
    r->found.plan = p;
    r->found.displacement = r->op.base;
    r->found.owns_plan = 1;
    r->found.apart = !(x->all & BLOCKS);
    r->found.all_split = (x->all & SPLIT) != 0;
    r->found.file_size = x->size;
    return TUTTI_OK;
}

/* ---- the contribution of this rank */

void tutti__find_start(const tutti_request *r, tutti__finding *x) {
    const tutti__op *op = &r->op;
    const int fine = x->local_err == TUTTI_OK;
    TUTTI_ASSERT(!fine || op->access);
    x->phase = START;
    x->err = TUTTI_OK;
    x->bytes = !fine ? 0 : op->parts ? op->parts->batch->bytes : tutti_access_bytes(op->access);
    tutti__file_report(op->file, 0, x->bytes, "plan");
    x->block = op->checksums ? op->checksums->bytes : 0;
    const int64_t also[] = {r->asked.least, op->capacity, x->block, op->base};
    x->call = (tutti__call){
        .object = r->asked.how == TUTTI__PLAN_ONLY ? "plan" : "file",
        .name = op->is_write ? "write" : "read",
        .hash = tutti__hash((uint64_t)r->asked.agrees ^ TUTTI__HASH_START, also, sizeof also),
        .what = "the arguments of the operation"};
    const int ends_later = r->asked.how == TUTTI__SPLIT || r->asked.how == TUTTI__STARTED;
    x->inside = ends_later && (r->progress.finding || tutti__fiber_inside());
    x->n = x->moved = x->has_match = 0;
    x->cold = fine && !op->is_write && tutti__choose_cold(op->file, op->access, op->store);
    x->gathered = (tutti__range){-1, -1};
    x->match = NULL;
    x->size = op->is_write ? TUTTI__OFF_END : 0;
    x->count = 0;
    x->background = op->file->team->staging->background;
    if (r->asked.how != TUTTI__PLAN_ONLY) tutti__plan_cache_match(r, x);
}

/* List the numbers of a contribution and their reductions. */
static void list_numbers(contribution *c, tutti__reduction to[SUMMARY_NUMBERS]) {
    tutti__summary *s = &c->all;
    const tutti__reduction list[SUMMARY_NUMBERS] = {
        {TUTTI__MIN, &s->lo},        {TUTTI__MAX, &s->hi},        {TUTTI__SUM, &s->bytes},
        {TUTTI__SUM, &s->extents},   {TUTTI__SUM, &s->runs},      {TUTTI__SUM, &s->ranks},
        {TUTTI__MAX, &s->max_bytes}, {TUTTI__MIN, &s->run},       {TUTTI__MIN, &s->piece},
        {TUTTI__MIN, &s->first},     {TUTTI__MAX, &s->last},      {TUTTI__MIN, &s->min_bytes},
        {TUTTI__MIN, &s->start_min}, {TUTTI__MAX, &s->start_max}, {TUTTI__MAX, &c->described},
        {TUTTI__MAX, &c->broken},
    };
    memcpy(to, list, sizeof list);
}

/* Determine what this rank contributes to a new plan: memory for the plan, the size of the file,
 * and numbers.  After an error, which becomes x->local_err, the numbers are those of an empty
 * request. */
static void summarize(tutti_request *r, tutti__finding *x, contribution *c,
                      tutti__reduction numbers[SUMMARY_NUMBERS]) {
    enum { LONG = 16 }; /* length of a long run in blocks */
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    tutti__batch *b = op->parts ? op->parts->batch : NULL;
    *c = (contribution){.all = tutti__summary_empty()};
    list_numbers(c, numbers);
    if (x->local_err == TUTTI_OK && !f->plans.blank)
        x->local_err = tutti__plan_alloc(f, &f->plans.blank);
    if (x->local_err == TUTTI_OK) x->local_err = tutti__file_end(op, &x->size);
    if (x->local_err == TUTTI_OK && b) { /* only a new plan needs the union of the parts */
        x->local_err = tutti__batch_unite(b);
        op->access = &b->all;
    }
    if (x->local_err != TUTTI_OK) return;
    const tutti__side s = op->access->file;
    tutti_count runs = b ? 0 : tutti__side_runs(op->access->memory);
    for (int i = 0; b && i < b->n; i++) runs += tutti__side_runs(b->part[i].access.memory);
    c->all = tutti__summary_of(s, runs);
    tutti__summary_set_rank(&c->all, f->team->rank);
    c->described = (tutti_off)(b ? tutti__batch_size(b) : tutti_access_size(op->access));
    /* checksums are requested, and many bytes of this rank are in partial blocks; long runs have
     * partial blocks only at their ends, which the caller reads again */
    c->broken = op->is_write && x->block > 0 && tutti__side_grain(s) % x->block != 0 &&
                c->all.bytes < LONG * x->block * c->all.runs;
}

/* Put the contribution to a new plan into the answers, instead of displacements, since the cache is
 * empty.  INT64_MAX means no value in a consensus. */
static void post_contribution(tutti_request *r, tutti__finding *x) {
    tutti__reduction number[SUMMARY_NUMBERS];
    contribution c;
    summarize(r, x, &c, number);
    for (int i = 0; i < SUMMARY_NUMBERS; i++) {
        const int64_t v = *number[i].number;
        x->range[i] = tutti__range_of(number[i].op == TUTTI__MIN ? v : tutti__min(v, NO_END));
    }
    x->numbers = SUMMARY_NUMBERS;
}

/* The size of the file according to the answers of all ranks. */
static tutti_off size_of_all(const tutti__finding *x) {
    const int64_t size = x->range_of_all[SIZE].max;
    return size == NO_END ? TUTTI__OFF_END : size;
}

/* Make a plan from the contributions in the answers of all ranks. */
static tutti_err plan_by_contributions(tutti_request *r, tutti__finding *x) {
    tutti__reduction number[SUMMARY_NUMBERS];
    contribution c;
    list_numbers(&c, number);
    for (int i = 0; i < SUMMARY_NUMBERS; i++) {
        const tutti__range v = x->range_of_all[PLANS + i];
        *number[i].number = number[i].op == TUTTI__MIN   ? v.min
                            : number[i].op == TUTTI__MAX ? v.max
                                                         : x->sum_of_all[i];
    }
    x->size = size_of_all(x);
    x->background = x->range_of_all[BACKGROUND].max;
    return make_plan(r, x, &c);
}

static void post_answers(const tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    tutti__range *v = x->range_of_all;
    tutti__call_announce(t, &x->call, x->local_err, v + CALL);
    v[SIZE] = tutti__range_of(tutti__min(x->size, NO_END));
    v[BACKGROUND] = (tutti__range){x->background, x->background};
    v[GATHERED] = x->gathered;
    v[COLD] = (tutti__range){x->cold, x->cold};
    memcpy(v + PLANS, x->range, (size_t)x->numbers * sizeof *v);
    tutti__consensus_answer(t, x->answers, PLANS + x->numbers, v);
}

/* ---- answers of all ranks */

/* Return the cached plan that all ranks can use if they are in the same call without an error;
 * otherwise NULL. */
static tutti_plan *plan_of_all(const tutti_request *r, tutti__finding *x) {
    if (!(x->all & FINE) || tutti__calls_differ(x->range_of_all + CALL)) return NULL;
    return tutti__plan_cache_choose(r->op.file, x, x->range_of_all + PLANS);
}

/* Collect the answers of all ranks.  If all ranks have gathered their bytes for the same plan, the
 * first rank that reaches this code writes the bytes. */
static tutti__find_result collect_answers(const tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    x->all = tutti__consensus_collect(t, x->answers, PLANS + x->numbers, x->range_of_all);
    for (int i = 0; (x->all & SUMMARIZED) && i < SUMMARY_NUMBERS; i++)
        x->sum_of_all[i] = tutti__consensus_sum(t, PLANS + i, x->range[i].min);
    x->cold = (int)x->range_of_all[COLD].max;
    x->phase = COLLECTED;
    tutti_plan *p = plan_of_all(r, x);
    if (!p || !tutti__small_is_gathered(p, &x->range_of_all[GATHERED])) return TUTTI__FIND_WAIT;
    x->phase = WRITING;
    x->match = p;
    return tutti__small_claim(r->op.file) ? TUTTI__FIND_WRITE : TUTTI__FIND_WAIT;
}

/* Reuse a plan without staging, which needs no messages: a read has transferred its data
 * beforehand; a write transfers its bytes next and posts the outcome.  Returns TUTTI__FIND_BLOCK if
 * messages are needed. */
static tutti__find_result reuse_without_staging(tutti_request *r, tutti__finding *x) {
    const int moved = (x->all & MOVED) != 0;
    tutti_plan *p = plan_of_all(r, x);
    if (!p || p->run || p->cache.resident) return TUTTI__FIND_BLOCK;
    if (!moved && !(p->cache.joint && (x->all & STEPWISE))) return TUTTI__FIND_BLOCK;
    if (reuse_plan(r, x, p) != TUTTI_OK) return TUTTI__FIND_BLOCK;
    return moved ? TUTTI__FIND_END : TUTTI__FIND_MOVE;
}

static tutti_err find_cached(tutti_request *r, tutti__finding *x) {
    const tutti__range *v = x->range_of_all;
    TUTTI_TRY(tutti__call_compare(r->op.file->team, &x->call, v + CALL));
    if (x->all & FINE) TUTTI_TRY(tutti__call_agree(&x->call, v + CALL));
    tutti_plan *p = tutti__plan_cache_choose(r->op.file, x, v + PLANS);
    /* all ranks have read, but with different plans, so the size of the file is unknown */
    if (p && p->run && (x->all & MOVED)) return TUTTI_OK;
    x->n = 0; /* a vote does not compare the ranges again */
    if (!(x->all & FINE) || !p) return TUTTI_OK;
    x->size = size_of_all(x);
    x->background = v[BACKGROUND].max;
    return reuse_plan(r, x, p);
}

/* Agree on the summary of all requests by a vote; reuse a plan that fits all ranks, or make one. */
static tutti_err find_by_vote(tutti_request *r, tutti__finding *x) {
    tutti_file *f = r->op.file;
    tutti__reduction reduction[SUMMARY_NUMBERS + 3];
    int64_t cold = x->cold;
    contribution c;
    tutti__vote v;
    summarize(r, x, &c, reduction);
    reduction[SUMMARY_NUMBERS] = (tutti__reduction){TUTTI__MAX, &x->size};
    reduction[SUMMARY_NUMBERS + 1] = (tutti__reduction){TUTTI__MAX, &x->background};
    reduction[SUMMARY_NUMBERS + 2] = (tutti__reduction){TUTTI__MAX, &cold};
    tutti__vote_init(&v);
    v.reductions = sizeof reduction / sizeof *reduction;
    v.reduction = reduction;
    v.yes = x->answers;
    v.ranges = x->n; /* 0 after a consensus */
    memcpy(v.range, x->range, (size_t)x->n * sizeof *x->range);
    const tutti_err err = tutti__team_call_vote(f->team, &x->call, x->local_err, &v);
    if (err != TUTTI_OK) tutti__plan_destroy(&f->plans.blank);
    TUTTI_TRY(err);
    TUTTI_ASSERT(f->plans.blank && r->op.access); /* all ranks have passed valid arguments */
    x->cold = cold > 0;
    tutti_plan *p = tutti__plan_cache_choose(f, x, v.range);
    x->all = v.yes;
    if (p) TUTTI_TRY(reuse_plan(r, x, p));
    return r->found.plan ? TUTTI_OK : make_plan(r, x, &c);
}

/* ---- steps */

/* Execute a step that waits for messages. */
static tutti__find_result step_by_messages(tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    tutti_err err = TUTTI_OK;
    if (x->phase == FAILED) /* the failed rank reports its error */
        err = tutti__team_agree_tagged(t, TUTTI__VOTE_TAG, x->local_err);
    else if (x->phase == COLLECTED)
        err = find_cached(r, x);
    const int summarized = (x->all & FINE) && (x->all & SUMMARIZED);
    if (err == TUTTI_OK && !r->found.plan && x->phase == COLLECTED && summarized) {
        err = plan_by_contributions(r, x);
    } else if (err == TUTTI_OK && !r->found.plan) {
        err = find_by_vote(r, x);
        if (err == TUTTI_OK && !t->consensus.tried &&
            ++t->consensus.requests >= VOTES_BEFORE_CONSENSUS)
            err = tutti__consensus_make(t);
    }
    x->err = err;
    return TUTTI__FIND_END;
}

tutti__find_result tutti__find_step(tutti_request *r, tutti__finding *x, int may_block) {
    tutti__team *t = r->op.file->team;
    tutti__find_result result = TUTTI__FIND_WAIT;
    if (x->phase == START) {
        const int split = r->asked.how == TUTTI__SPLIT, started = r->asked.how == TUTTI__STARTED;
        const int resident = r->progress.background == TUTTI_BACKGROUND_IO_ONLY;
        const int ready = tutti__consensus_ready(t);
        x->numbers = x->n;
        if (ready && x->n == 0) post_contribution(r, x);
        x->answers = (x->local_err == TUTTI_OK ? FINE : 0) | (x->moved ? MOVED : 0) |
                     (split || started ? 0 : BLOCKS) | (split ? SPLIT : 0) |
                     (x->inside ? 0 : OUTSIDE) | (split && resident ? SPLIT_RESIDENT : 0) |
                     (started && resident ? STARTED_RESIDENT : 0) |
                     (r->progress.finding ? STEPWISE : 0) | (ready && x->n == 0 ? SUMMARIZED : 0);
        x->phase = ready ? POSTED : VOTE;
        if (x->phase == POSTED) post_answers(r, x);
    }
    if (x->phase == POSTED) {
        if (!tutti__consensus_is_complete(t)) return TUTTI__FIND_WAIT;
        result = collect_answers(r, x);
        if (x->phase == WRITING) return result;
    }
    if (x->phase == COLLECTED && !may_block) {
        return reuse_without_staging(r, x);
    }
    if (x->phase == WRITING) {
        if (!tutti__consensus_work_is_done(t)) return TUTTI__FIND_WAIT;
        x->phase = FAILED;
        if (tutti__consensus_work_outcome(t)) {
            accept_written(r, x);
            return TUTTI__FIND_END;
        }
    } else if (x->phase == STATUS_POSTED) {
        if (!tutti__consensus_is_complete(t)) return TUTTI__FIND_WAIT;
        x->phase = FAILED;
        if (tutti__consensus_collect(t, x->local_err == TUTTI_OK, 0, NULL)) {
            r->found.moved = r->found.done = 1;
            return TUTTI__FIND_END;
        }
        r->found.owns_plan = 0;
        tutti__plan_release(&r->found.plan);
    }
    return may_block ? step_by_messages(r, x) : TUTTI__FIND_BLOCK;
}

void tutti__find_wait(const tutti_request *r, const tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    if (x->phase == WRITING)
        (void)tutti__consensus_work_outcome(t);
    else
        tutti__consensus_wait(t);
}

void tutti__find_written(const tutti_request *r, tutti__finding *x, tutti_err outcome) {
    x->local_err = outcome;
    tutti__consensus_work_end(r->op.file->team, outcome == TUTTI_OK);
}

void tutti__find_moved(const tutti_request *r, tutti__finding *x, tutti_err outcome) {
    x->local_err = tutti__operation_under_way(outcome);
    tutti__consensus_answer(r->op.file->team, x->local_err == TUTTI_OK, 0, NULL);
    x->phase = STATUS_POSTED;
}
