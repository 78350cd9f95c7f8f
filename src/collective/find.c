/* collective: finding the plan of a request.
 *
 *   what this rank has against the request, and which cached plans it could use (plan_cache.c)
 *   -> consensus, if the team has     all are in this call and use a plan again; most often that is
 *      shared memory                  all that it takes (small.c)
 *   -> vote                           otherwise: this call, summary of all requests, anybody's
 *                                     complaint, size of the file
 *   -> plan                           a cached one that fits all, or a new one (plan_make.c)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include <string.h>

#include "base/fiber.h"
#include "base/hash.h"
#include "base/trace.h"
#include "comm/call.h"

/* What may be true of all ranks. */
enum {
    FINE = 1,     /* nothing against it */
    MOVED = 2,    /* this rank's bytes have been moved */
    BLOCKS = 4,   /* a call that blocks */
    SPLIT = 8,    /* the first half of a split one */
    OUTSIDE = 16, /* not in a fiber */
    /* File access is to go on by itself.  What waits in memory for that ends in different ways: all
     * ranks do it in the same, or none. */
    SPLIT_RESIDENT = 32,
    STARTED_RESIDENT = 64,
    RESIDENT = SPLIT_RESIDENT | STARTED_RESIDENT, /* one of the two */
    STEPWISE = 128                                /* it moves on by tutti__finding_step */
};

/* What is said by the ranges of a consensus. */
enum { CALL, SIZE = CALL + TUTTI__CALL_TELLS, BACKGROUND, GATHERED, COLD, PLANS };

/* How far finding has come. */
enum { UNSAID, SAID, HEARD, WRITING, TOLD, FAILED };

/* After so many votes shared memory is made, to agree by that; fewer are not worth the time. */
enum { WISHES = 8 };

/* ---- what is found */

/* Everybody can use `p`.  r->found.plan stays NULL if it cannot be made ready. */
static tutti_err plan_again(tutti_request *r, const tutti__finding *x, tutti_plan *p) {
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

/* Everybody's bytes were gathered, and one rank has written them. */
static void plan_for_all(tutti_request *r, const tutti__finding *x) {
    tutti__plan_cache_take(x->fits);
    r->found.plan = x->fits;
    r->found.owns_plan = 1;
    r->stats.plan_hits++;
    r->found.moved = r->found.done = 1;
    r->op.moved = x->count;
}

/* A new plan, by the summary of all requests.  `described`: bytes of the largest description. */
static tutti_err plan_anew(tutti_request *r, const tutti__finding *x, const tutti__summary *all,
                           tutti_off described) {
    tutti_file *f = r->op.file;
    tutti_plan *p = f->plans.blank;
    const int own = r->asked.how == TUTTI__PLAN_ONLY; /* the caller's, not to be cached */
    f->plans.blank = NULL;
    p->number = ++f->plans.made;
    p->asked.is_write = r->op.is_write;
    p->cache.resident =
        own ? r->progress.background == TUTTI_BACKGROUND_IO_ONLY : (x->all & RESIDENT) != 0;
    p->means = (tutti__means){r->op.store, r->op.stats, p->cache.resident,
                              r->op.room,  x->block,    r->op.base};
    /* one of the caller's own that may go on in the background may be started, too */
    p->cache.inside = !(x->all & OUTSIDE) || (own && p->cache.resident);
    p->asked.own = tutti__access_share(r->op.access);
    p->asked.access = &p->asked.own;
    if (r->op.parts) {
        p->asked.batch = tutti__batch_ref(r->op.parts->batch);
        tutti__parts_start(r->op.parts, p->asked.batch, 0);
    }
    p->cache.worth = all->max_bytes / TUTTI__CACHED_PART;
    p->cache.described = described;
    const tutti_err err = tutti__plan_make(p, all);
    if (err != TUTTI_OK) {
        tutti__plan_destroy(&p);
        return err;
    }
    if (!own) tutti__plan_cache_add(p);
    r->found.plan = p;
    r->found.displacement = r->op.base;
    r->found.owns_plan = 1;
    r->found.file_size = x->size;
    return TUTTI_OK;
}

/* ---- what is said */

/* What this rank knows before it has heard of the others.   Local. */
static void prepare(const tutti_request *r, tutti__finding *x) {
    const tutti__op *op = &r->op;
    const int fine = x->mine == TUTTI_OK;
    TUTTI_ASSERT(!fine || op->access);
    x->bytes = !fine ? 0 : op->parts ? op->parts->batch->bytes : tutti_access_bytes(op->access);
    tutti__file_report(op->file, 0, x->bytes, "plan");
    /* which call this is, and all of it that agrees */
    x->block = op->sums ? op->sums->bytes : 0;
    const int64_t also[] = {r->asked.least, op->room, x->block, op->base};
    x->call = (tutti__call){
        .object = r->asked.how == TUTTI__PLAN_ONLY ? "plan" : "file",
        .name = op->is_write ? "write" : "read",
        .hash = tutti__hash((uint64_t)r->asked.agrees ^ TUTTI__HASH_START, also, sizeof also),
        .what = "what they ask for"};
    /* which bytes, and what has become of them */
    const int split = r->asked.how == TUTTI__SPLIT, started = r->asked.how == TUTTI__STARTED;
    x->inside = (split || started) && (r->progress.finding || tutti__fiber_inside());
    x->n = x->moved = x->some = 0;
    x->cold = fine && !op->is_write && tutti__choose_cold(op->file, op->access, op->store);
    x->gathered = (tutti__range){-1, -1};
    x->fits = NULL;
    x->size = op->is_write ? TUTTI__OFF_END : 0;
    x->count = 0;
    x->background = op->file->team->staging->background;
    if (r->asked.how != TUTTI__PLAN_ONLY) tutti__plan_cache_match(r, x);
    if (x->some) x->mine = tutti__small_begin(r, x);
    const int resident = r->progress.background == TUTTI_BACKGROUND_IO_ONLY;
    x->answers = (x->mine == TUTTI_OK ? FINE : 0) | (x->moved ? MOVED : 0) |
                 (split || started ? 0 : BLOCKS) | (split ? SPLIT : 0) | (x->inside ? 0 : OUTSIDE) |
                 (split && resident ? SPLIT_RESIDENT : 0) |
                 (started && resident ? STARTED_RESIDENT : 0) |
                 (r->progress.finding ? STEPWISE : 0);
}

static void say(const tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    tutti__call_tell(t, &x->call, x->mine, x->said + CALL);
    x->said[SIZE] = (tutti__range){x->size, x->size};
    x->said[BACKGROUND] = (tutti__range){x->background, x->background};
    x->said[GATHERED] = x->gathered;
    x->said[COLD] = (tutti__range){x->cold, x->cold};
    memcpy(x->said + PLANS, x->range, (size_t)x->n * sizeof *x->said);
    tutti__consensus_say(t, x->answers, PLANS + x->n, x->said);
    x->phase = SAID;
}

/* What all say.  If they have gathered their bytes for a plan, the first rank to come here
 * writes. */
static void hear(const tutti_request *r, tutti__finding *x) {
    tutti_file *f = r->op.file;
    x->all = tutti__consensus_hear(f->team, x->answers, PLANS + x->n, x->said);
    x->cold = (int)x->said[COLD].max;
    x->phase = HEARD;
    if (!(x->all & FINE) || tutti__calls_differ(x->said + CALL)) return;
    tutti_plan *p = tutti__plan_cache_choose(f, x, x->said + PLANS);
    if (!p || !tutti__small_is_gathered(p, &x->said[GATHERED])) return;
    x->phase = WRITING;
    x->fits = p;
    if (tutti__small_claim(f)) x->mine = tutti__small_write(p, r, x->displacement);
}

/* All have been heard: a cached plan, if one fits. */
static tutti_err find_cached(tutti_request *r, tutti__finding *x) {
    TUTTI_TRY(tutti__call_compare(r->op.file->team, &x->call, x->said + CALL));
    if (x->all & FINE) TUTTI_TRY(tutti__call_agree(&x->call, x->said + CALL));
    tutti_plan *p = tutti__plan_cache_choose(r->op.file, x, x->said + PLANS);
    /* everybody has read by a plan without staging, but not by the same: nobody knows the size */
    if (p && p->run && (x->all & MOVED)) return TUTTI_OK;
    x->n = 0; /* a vote needs not ask again */
    if (!(x->all & FINE) || !p) return TUTTI_OK;
    x->size = x->said[SIZE].max;
    x->background = x->said[BACKGROUND].max;
    return plan_again(r, x, p);
}

/* By messages: with the summary of all requests, for a new plan. */
static tutti_err find_by_vote(tutti_request *r, tutti__finding *x) {
    enum { LONG = 16 }; /* blocks */
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    tutti__batch *b = op->parts ? op->parts->batch : NULL;
    tutti__vote v;
    if (x->mine == TUTTI_OK && !f->plans.blank) x->mine = tutti__plan_alloc(f, &f->plans.blank);
    if (x->mine == TUTTI_OK) x->mine = tutti__file_end(op, &x->size);
    if (x->mine == TUTTI_OK && b) { /* what parts have together is needed only now */
        x->mine = tutti__batch_unite(b);
        op->access = &b->all;
    }
    tutti__summary all = tutti__summary_empty(); /* this rank's, then all ranks' */
    int64_t described = 0, cold = x->cold, broken = 0;
    const tutti__reduction reduction[] = {
        {TUTTI__MIN, &all.lo},    {TUTTI__MAX, &all.hi},    {TUTTI__SUM, &all.bytes},
        {TUTTI__SUM, &all.runs},  {TUTTI__SUM, &all.ranks}, {TUTTI__MAX, &all.max_bytes},
        {TUTTI__MIN, &all.run},   {TUTTI__MAX, &x->size},   {TUTTI__MAX, &x->background},
        {TUTTI__MAX, &described}, {TUTTI__MAX, &cold},      {TUTTI__MAX, &broken},
    };
    if (x->mine == TUTTI_OK) {
        /* the run is what one request to the file system could carry without staging: the access
         * may be more broken in memory than in the file */
        const tutti__side s = op->access->file;
        tutti_count runs = b ? 0 : tutti__side_runs(op->access->memory);
        for (int i = 0; b && i < b->n; i++) runs += tutti__side_runs(b->part[i].access.memory);
        all = tutti__summary_of(s);
        if (runs > 0) all.run = tutti__min(all.run, all.bytes / runs);
        described = (tutti_off)(b ? tutti__batch_size(b) : tutti_access_size(op->access));
        /* checksums are wanted, and much of what this rank has are parts of blocks; of long runs
         * only the ends are, which whoever wants the checksums reads again */
        broken = op->is_write && x->block > 0 && tutti__side_grain(s) % x->block != 0 &&
                 all.bytes < LONG * x->block * all.runs;
    }
    tutti__vote_init(&v);
    v.reductions = sizeof reduction / sizeof *reduction;
    v.reduction = reduction;
    v.yes = x->answers;
    v.ranges = x->n; /* unless a consensus has told already */
    memcpy(v.range, x->range, (size_t)x->n * sizeof *x->range);
    const tutti_err err = tutti__team_call_vote(f->team, &x->call, x->mine, &v);
    if (err != TUTTI_OK) tutti__plan_destroy(&f->plans.blank);
    TUTTI_TRY(err);
    TUTTI_ASSERT(f->plans.blank && op->access); /* no rank has refused */
    x->cold = cold > 0;
    tutti_plan *p = tutti__plan_cache_choose(f, x, v.range);
    x->all = v.yes;
    if (p) TUTTI_TRY(plan_again(r, x, p));
    all.cold = x->cold && all.bytes >= TUTTI__COLD_BYTES;
    all.broken = broken > 0;
    return r->found.plan ? TUTTI_OK : plan_anew(r, x, &all, described);
}

/* ---- from wherever it is */

tutti_err tutti__plan_find(tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    tutti__finding here;
    tutti_err err = TUTTI_OK;
    /* an operation that blocks has begun right now */
    const int blocks = r->asked.how == TUTTI__AT_ONCE || r->asked.how == TUTTI__PLAN_ONLY;
    const double start = blocks ? r->stats.seconds_total : tutti__now();
    const double clock = start - tutti__fiber_absent();
    if (!x) {
        x = &here;
        x->mine = r->asked.refused;
        x->phase = UNSAID;
    }
    if (x->phase == UNSAID) {
        prepare(r, x);
        if (tutti__consensus_ready(t)) say(r, x);
    }
    if (x->phase == SAID) hear(r, x);
    if (x->phase == WRITING && tutti__consensus_told(t))
        plan_for_all(r, x);
    else if (x->phase == WRITING || x->phase == FAILED) /* a vote tells what the writer knows */
        err = tutti__team_agree_apart(t, TUTTI__VOTE_TAG, x->mine);
    else if (x->phase == HEARD)
        err = find_cached(r, x);
    if (err == TUTTI_OK && !r->found.plan) {
        err = find_by_vote(r, x);
        /* operations go on and on, and all are known to be here */
        if (err == TUTTI_OK && !t->consensus.tried && ++t->consensus.wishes >= WISHES)
            err = tutti__consensus_make(t);
    }
    if (err == TUTTI_OK) {
        r->found.apart = !(x->all & BLOCKS);
        r->found.all_split = (x->all & SPLIT) != 0;
    }

    tutti__trace_event("plan", "plan", start, -1, -1);
    if (!r->found.plan ||
        r->found.plan->cache.hits == 0) { /* seconds of file access are counted already */
        r->stats.plans++;
        r->stats.seconds_plan += tutti__fiber_clock() - clock - r->stats.seconds_file;
    }
    return err;
}

/* All ranks have been heard.  A small plan without staging needs nothing else: what was read first
 * has been moved; what is to be written each rank writes now, and says how that went. */
static int step_cached(tutti_request *r, tutti__finding *x) {
    const int moved = (x->all & MOVED) != 0;
    if (!(x->all & FINE) || tutti__calls_differ(x->said + CALL)) return TUTTI__FINDING_GOES_ON;
    tutti_plan *p = tutti__plan_cache_choose(r->op.file, x, x->said + PLANS);
    if (!p || p->run || p->cache.resident) return TUTTI__FINDING_GOES_ON;
    if (!moved && !(p->cache.joint && (x->all & STEPWISE))) return TUTTI__FINDING_GOES_ON;
    if (plan_again(r, x, p) != TUTTI_OK) return TUTTI__FINDING_GOES_ON;
    return moved ? TUTTI__FINDING_DONE : TUTTI__FINDING_MOVE;
}

void tutti__finding_moved(const tutti_request *r, tutti__finding *x, tutti_err outcome) {
    x->mine = tutti__operation_under_way(outcome);
    x->all = outcome == TUTTI_OK;
    tutti__consensus_say(r->op.file->team, x->all, 0, NULL);
    x->phase = TOLD;
}

int tutti__finding_step(tutti_request *r, tutti__finding *x) {
    tutti__team *t = r->op.file->team;
    if (x->phase == UNSAID) {
        prepare(r, x);
        say(r, x);
    }
    if (x->phase == SAID) {
        if (!tutti__consensus_said(t)) return TUTTI__FINDING_WAITS;
        hear(r, x);
    }
    if (x->phase == HEARD) return step_cached(r, x);
    if (x->phase == WRITING) {
        if (!tutti__consensus_has_told(t)) return TUTTI__FINDING_WAITS;
        if (tutti__consensus_told(t)) {
            plan_for_all(r, x);
            return TUTTI__FINDING_DONE;
        }
    } else if (x->phase == TOLD) {
        if (!tutti__consensus_said(t)) return TUTTI__FINDING_WAITS;
        if (tutti__consensus_hear(t, x->all, 0, NULL)) {
            r->found.moved = r->found.done = 1;
            return TUTTI__FINDING_DONE;
        }
        r->found.owns_plan = 0;
        tutti__plan_release(&r->found.plan);
    }
    x->phase = FAILED;
    return TUTTI__FINDING_GOES_ON;
}
