/* collective: the plan of an operation: one that is remembered, or a new one.
 *
 *   what this rank has against the request, and which plans it could use (remember.c)
 *   -> nod, if the team can      all are in this call and use a plan again; most often that is all
 *   -> vote                      otherwise: this call, summary of all requests, anybody's complaint,
 *                                size of the file
 *   -> plan
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <string.h>

#include "base/fiber.h"
#include "base/trace.h"

/* ---- new plans */

/* What may be true of all ranks. */
enum {
    FINE = 1,      /* nothing against it */
    MOVED = 2,     /* this rank's bytes have been moved */
    BLOCKS = 4,    /* a call that blocks */
    SPLIT = 8,     /* the first half of a split one */
    STARTED = 16,  /* one that does not wait */
    RESIDENT = 32, /* file access is to go on by itself */
    OUTSIDE = 64   /* not in a fiber */
};

/* What waits in memory for its file access ends in different ways: all ranks do it in the same, or
 * none. */
static int all_resident(int64_t all) {
    return (all & RESIDENT) && (all & (SPLIT | STARTED));
}

static int64_t answers_of(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                          const tutti__sought *s) {
    return (mine == TUTTI_OK ? FINE : 0) | (s->moved ? MOVED : 0) |
           (q->how == TUTTI__AT_ONCE ? BLOCKS : 0) | (q->how == TUTTI__SPLIT ? SPLIT : 0) |
           (q->how == TUTTI__STARTED ? STARTED : 0) | (means->resident ? RESIDENT : 0) |
           (q->inside ? 0 : OUTSIDE);
}

static tutti__call call_of(const tutti__ask *q) {
    const tutti__call_kind kind = q->fresh ? TUTTI__CALL_PLAN_WRITE : TUTTI__CALL_WRITE;
    return (tutti__call){.kind = q->is_write ? kind : kind + 1, /* the read that belongs to it */
                         .agrees = q->agrees,
                         .what = "what they ask for"};
}

static tutti_plan *blank_fill(const tutti__ask *q, const tutti__means *means, int64_t all) {
    tutti_plan *p = q->file->blank;
    q->file->blank = NULL;
    p->number = ++q->file->planned_n;
    p->is_write = q->is_write;
    p->means = *means;
    p->resident = p->means.resident = q->fresh ? means->resident : all_resident(all);
    p->inside = !(all & OUTSIDE);
    p->own = tutti__access_share(q->access);
    p->access = &p->own;
    return p;
}

/* The run is what one request to the file system could carry without staging: the access may be more
 * broken in memory than in the file. */
static tutti__summary summary_of(const tutti_access *a) {
    tutti__summary s = tutti__summary_of(a->file);
    const tutti_count runs = tutti__side_runs(a->memory);
    if (runs > 0) s.run = tutti__min(s.run, s.bytes / runs);
    return s;
}

/* What all ranks say of the request; with it, unless a nod has told already, of plans that are remembered. */
static void vote_fill(tutti__vote *v, const tutti__ask *q, tutti_err mine, const tutti__sought *s,
                      int64_t answers) {
    const tutti__summary sum = mine == TUTTI_OK ? summary_of(q->access) : tutti__summary_empty();
    tutti__vote_init(v);
    v->min[0] = sum.lo;
    v->min[1] = sum.run;
    v->max[0] = sum.hi;
    v->max[1] = sum.max_bytes;
    v->max[2] = s->size;
    v->max[3] = s->background;
    v->max[5] = s->cold;
    v->max[4] = mine == TUTTI_OK ? (tutti_off)tutti_access_size(q->access) : 0;
    v->sum[0] = sum.bytes;
    v->sum[1] = sum.runs;
    v->sum[2] = sum.ranks;
    v->yes = answers;
    v->ranges = s->n;
    memcpy(v->range, s->range, (size_t)s->n * sizeof *s->range);
}

static tutti__summary vote_summary(const tutti__vote *v) {
    return (tutti__summary){.lo = v->min[0],
                            .hi = v->max[0],
                            .bytes = v->sum[0],
                            .runs = v->sum[1],
                            .ranks = v->sum[2],
                            .max_bytes = v->max[1],
                            .run = v->min[1],
                            .cold = v->max[5] > 0 && v->sum[0] >= TUTTI__COLD_BYTES};
}

static tutti_err plan_anew(const tutti__ask *q, const tutti__means *means, const tutti__vote *v,
                           tutti__found *out) {
    const tutti__summary sum = vote_summary(v);
    tutti_plan *p = blank_fill(q, means, v->yes);
    p->heavy = v->max[4] > TUTTI__CACHED_BYTES;
    const tutti_err err = tutti__plan_make(p, &sum);
    if (err != TUTTI_OK) {
        tutti__plan_destroy(&p);
        return err;
    }
    if (!q->fresh) tutti__plan_cache_add(p);
    *out = (tutti__found){.plan = p, .buf = q->buf, .size = v->max[2]};
    return TUTTI_OK;
}

/* ---- plans that are remembered */

/* Everybody can use `p`.  *out destinations empty if it cannot be made ready. */
static tutti_err plan_again(const tutti__ask *q, const tutti__sought *s, tutti_plan *p,
                            int all_moved, tutti__found *out) {
    TUTTI_ASSERT(q->access); /* nobody has refused */
    const uintptr_t buf = (uintptr_t)q->buf;
    const tutti_off memory = q->access->memory.disp - p->access->memory.disp;
    int awake = 1;
    if (p->resident && !all_resident(s->all)) return TUTTI_OK;
    if (p->run) TUTTI_TRY(tutti__two_phase_wake(p, s->background, &awake));
    if (!awake) {
        tutti__plan_cache_evict(p);
        return TUTTI_OK;
    }
    tutti__plan_cache_take(p);
    out->plan = p;
    out->buf = (char *)(buf + (uintptr_t)memory);
    out->displacement = s->displacement;
    out->size = s->size;
    out->moved = s->moved && !p->run;
    out->done = all_moved && !p->run;
    out->count = out->moved ? s->count : 0;
    return TUTTI_OK;
}

/* Everybody's bytes are on the board, and one rank has written them. */
static void plan_jointly(const tutti__search *x, tutti__found *out) {
    tutti__plan_cache_take(x->plan);
    *out = (tutti__found){.plan = x->plan, .moved = 1, .done = 1, .count = x->s.count};
}

/* ---- by a nod: one look at each other's answers is all that it takes */

enum { CALL, SIZE = CALL + TUTTI__CALL_TELLS, BACKGROUND, DATA, COLD, PLANS };
enum { UNSAID, SAID, HEARD, WRITING, FAILED };

void tutti__search_begin(tutti__search *x, const tutti__ask *q, const tutti__means *means,
                         tutti_err mine) {
    x->ask = *q;
    x->means = *means;
    x->mine = mine;
    x->phase = UNSAID;
}

static void search_prepare(tutti__search *x) {
    const tutti__ask *q = &x->ask;
    tutti__sought *s = &x->s;
    TUTTI_ASSERT(x->mine != TUTTI_OK || q->access);
    tutti__file_report(q->file, 0, x->mine == TUTTI_OK ? tutti_access_bytes(q->access) : 0, "plan");
    s->n = s->moved = s->some = 0;
    s->cold = x->mine == TUTTI_OK && !q->is_write &&
              tutti__choose_cold(q->file, q->access, x->means.store);
    s->data = (tutti__range){-1, -1};
    s->mine = NULL;
    s->size = q->is_write ? TUTTI__OFF_END : 0;
    s->count = 0;
    s->background = q->file->team->background;
    if (q->fresh) return;
    tutti__plan_cache_match(q, &x->means, x->mine, s);
    if (x->mine == TUTTI_OK) x->mine = tutti__small_begin(q, &x->means, s);
}

static int search_says(const tutti__search *x) {
    return PLANS + x->s.n;
}

static void search_say(tutti__search *x) {
    const tutti__sought *s = &x->s;
    tutti__team *t = x->ask.file->team;
    const tutti__call call = call_of(&x->ask);
    tutti__call_tell(t, &call, x->mine, x->r + CALL);
    x->r[SIZE] = (tutti__range){s->size, s->size};
    x->r[BACKGROUND] = (tutti__range){s->background, s->background};
    x->r[DATA] = s->data;
    x->r[COLD] = (tutti__range){s->cold, s->cold};
    memcpy(x->r + PLANS, s->range, (size_t)s->n * sizeof *x->r);
    x->yes = answers_of(&x->ask, &x->means, x->mine, s);
    tutti__consensus_say(t, x->yes, search_says(x), x->r);
    x->phase = SAID;
}

static void search_hear(tutti__search *x) {
    x->yes = tutti__consensus_hear(x->ask.file->team, x->yes, search_says(x), x->r);
    x->s.all = x->yes;
    x->s.cold = (int)x->r[COLD].max;
    x->phase = HEARD;
}

/* The plan that all have put their bytes on the board for, or NULL.  The same on all ranks. */
static tutti_plan *joint_plan(tutti__search *x) {
    if (!(x->yes & FINE) || tutti__calls_differ(x->r + CALL)) return NULL;
    tutti_plan *p = tutti__plan_cache_choose(x->ask.file, &x->s, x->r + PLANS, &x->s.displacement);
    return p && tutti__small_is_gathered(p, &x->r[DATA]) ? p : NULL;
}

/* The first rank to come here writes. */
static void joint_begin(tutti__search *x) {
    x->phase = WRITING;
    if (!tutti__small_claim(x->ask.file)) return;
    x->mine = tutti__small_write(x->plan, &x->means, x->s.displacement);
}

/* It has told. */
static int joint_went_well(tutti__search *x) {
    if (tutti__consensus_told(x->ask.file->team)) return 1;
    x->phase = FAILED;
    return 0;
}

static tutti_err find_heard(tutti__search *x, tutti__found *out) {
    tutti__sought *s = &x->s;
    tutti_file *f = x->ask.file;
    const tutti__call call = call_of(&x->ask);
    TUTTI_TRY(tutti__call_compare(x->r + CALL));
    if (x->yes & FINE) TUTTI_TRY(tutti__call_agree(&call, x->r + CALL));
    tutti_plan *p = tutti__plan_cache_choose(f, s, x->r + PLANS, &s->displacement);
    /* everybody has read by a plan without staging, but not by the same: nobody has asked for the
     * size */
    if (p && p->run && (x->yes & MOVED)) return TUTTI_OK;
    s->n = 0; /* a vote needs not ask again */
    if (!(x->yes & FINE) || !p) return TUTTI_OK;
    s->size = x->r[SIZE].max;
    s->background = x->r[BACKGROUND].max;
    return plan_again(&x->ask, s, p, (x->yes & MOVED) != 0, out);
}

static tutti_err find_by_vote(const tutti__ask *q, const tutti__means *means, tutti__sought *s,
                              tutti_err mine, tutti__found *out) {
    tutti__vote v;
    const tutti__call call = call_of(q);
    if (mine == TUTTI_OK && !q->file->blank) mine = tutti__plan_alloc(q->file, &q->file->blank);
    if (mine == TUTTI_OK) mine = tutti__operation_ask(q->file, means->store, q->is_write, &s->size);
    vote_fill(&v, q, mine, s, answers_of(q, means, mine, s));
    const tutti_err err = tutti__team_call_vote(q->file->team, &call, mine, &v);
    if (err != TUTTI_OK) tutti__plan_destroy(&q->file->blank);
    TUTTI_TRY(err);
    TUTTI_ASSERT(q->file->blank && q->access); /* nobody has refused */
    s->cold = (int)v.max[5];
    tutti_plan *p = tutti__plan_cache_choose(q->file, s, v.range, &s->displacement);
    s->size = v.max[2];
    s->background = v.max[3];
    s->all = v.yes;
    if (p) TUTTI_TRY(plan_again(q, s, p, (v.yes & MOVED) != 0, out));
    return out->plan ? TUTTI_OK : plan_anew(q, means, &v, out);
}

/* From wherever it is. */
static tutti_err find_rest(tutti__search *x, tutti__found *out) {
    tutti__team *t = x->ask.file->team;
    if (x->phase == UNSAID) {
        search_prepare(x);
        if (tutti__consensus_ready(t)) search_say(x);
    }
    if (x->phase == SAID) search_hear(x);
    if (x->phase == HEARD && (x->plan = joint_plan(x))) joint_begin(x);
    if (x->phase == WRITING && joint_went_well(x)) plan_jointly(x, out);
    /* it did not go well: a vote tells everybody what the writer knows */
    if (x->phase == FAILED) return tutti__team_agree_apart(t, TUTTI__VOTE_TAG, x->mine);
    if (x->phase == HEARD) TUTTI_TRY(find_heard(x, out));
    if (!out->plan) {
        TUTTI_TRY(find_by_vote(&x->ask, &x->means, &x->s, x->mine, out));
        TUTTI_TRY(tutti__consensus_wish(t)); /* now that all are known to be here */
    }
    out->apart = !(x->s.all & BLOCKS);
    out->split = (x->s.all & SPLIT) != 0;
    return TUTTI_OK;
}

static void found_count(const tutti__found *found, tutti_stats *stats, double planning) {
    if (found->plan && found->plan->hits > 0) {
        stats->plan_hits++;
    } else {
        stats->plans++;
        stats->seconds_plan += planning - stats->seconds_file;
    }
}

tutti_err tutti__search_rest(tutti__search *x, tutti__found *out) {
    tutti_stats *stats = x->means.stats;
    /* an operation that blocks has begun right now */
    const double start = x->ask.how == TUTTI__AT_ONCE ? stats->seconds_total : tutti__now();
    const double clock = start - tutti__fiber_absent();
    tutti__found found = {.plan = NULL};
    const tutti_err err = find_rest(x, &found);
    tutti__trace_event("plan", "plan", start, -1, -1);
    found_count(&found, stats, tutti__fiber_clock() - clock);
    if (err == TUTTI_OK) *out = found;
    return err;
}

int tutti__search_step(tutti__search *x, tutti__found *out) {
    tutti__team *t = x->ask.file->team;
    if (x->phase == UNSAID) {
        search_prepare(x);
        search_say(x);
    }
    if (x->phase == SAID) {
        if (!tutti__team_nod_said(t)) return TUTTI__SEARCH_WAITS;
        search_hear(x);
        x->plan = joint_plan(x);
        if (x->plan) joint_begin(x);
    }
    if (x->phase == WRITING && !tutti__consensus_has_told(t)) return TUTTI__SEARCH_WAITS;
    tutti__found found = {.plan = NULL};
    if (x->phase == WRITING && joint_went_well(x)) {
        plan_jointly(x, &found);
    } else if (x->phase == HEARD && (x->yes & FINE) && (x->yes & MOVED)) {
        if (tutti__calls_differ(x->r + CALL)) return TUTTI__SEARCH_GOES_ON;
        tutti_plan *p =
            tutti__plan_cache_choose(x->ask.file, &x->s, x->r + PLANS, &x->s.displacement);
        if (!p || p->run || p->resident) return TUTTI__SEARCH_GOES_ON;
        if (plan_again(&x->ask, &x->s, p, 1, &found) != TUTTI_OK) return TUTTI__SEARCH_GOES_ON;
    }
    if (!found.plan) return TUTTI__SEARCH_GOES_ON;
    found_count(&found, x->means.stats, 0);
    *out = found;
    return TUTTI__SEARCH_DONE;
}

tutti_err tutti__operation_find(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                                tutti__found *out) {
    tutti__search x;
    tutti__search_begin(&x, q, means, mine);
    return tutti__search_rest(&x, out);
}
