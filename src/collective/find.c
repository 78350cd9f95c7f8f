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

/* Room for a plan: what can be had before anything is known of it. */
static tutti_err blank_ensure(tutti_file *f) {
    if (f->blank) return TUTTI_OK;
    tutti_plan *p = tutti__calloc(1, sizeof *p);
    if (!p) return TUTTI_ERR_NOMEM;
    p->file = f;
    const tutti_err err = tutti__two_phase_alloc(p);
    if (err == TUTTI_OK)
        f->blank = p;
    else
        tutti__plan_destroy(&p);
    return err;
}

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
           (tutti__fiber_inside() ? 0 : OUTSIDE);
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
                            .run = v->min[1]};
}

static tutti_err plan_anew(const tutti__ask *q, const tutti__means *means, const tutti__vote *v,
                           tutti__found *out) {
    const tutti__summary sum = vote_summary(v);
    tutti_plan *p = blank_fill(q, means, v->yes);
    p->heavy = v->max[4] > TUTTI__KEPT_BYTES;
    const tutti_err err = tutti__plan_make(p, &sum);
    if (err != TUTTI_OK) {
        tutti__plan_destroy(&p);
        return err;
    }
    if (!q->fresh) tutti__remember_keep(p);
    *out = (tutti__found){.plan = p, .buf = q->buf, .size = v->max[2]};
    return TUTTI_OK;
}

/* ---- plans that are remembered */

/* Everybody can use `p`.  *out stays empty if it cannot be made ready. */
static tutti_err plan_again(const tutti__ask *q, const tutti__sought *s, tutti_plan *p,
                            int all_moved, tutti__found *out) {
    TUTTI_ASSERT(q->access); /* nobody has refused */
    const uintptr_t buf = (uintptr_t)q->buf;
    const tutti_off memory = q->access->memory.disp - p->access->memory.disp;
    int awake = 1;
    if (p->resident && !all_resident(s->all)) return TUTTI_OK;
    if (p->run) TUTTI_TRY(tutti__two_phase_wake(p, s->background, &awake));
    if (!awake) {
        tutti__remember_drop(p);
        return TUTTI_OK;
    }
    tutti__remember_use(p);
    out->plan = p;
    out->buf = (char *)(buf + (uintptr_t)memory);
    out->displacement = s->displacement;
    out->size = s->size;
    out->moved = s->moved && !p->run;
    out->done = all_moved && !p->run;
    out->count = out->moved ? s->count : 0;
    return TUTTI_OK;
}

/* Everybody's bytes are on the board. */
static tutti_err plan_jointly(const tutti__means *means, const tutti__sought *s, tutti_plan *p,
                              tutti__found *out) {
    TUTTI_TRY(tutti__remember_joint(p, means, s->displacement));
    tutti__remember_use(p);
    *out = (tutti__found){.plan = p, .moved = 1, .done = 1, .count = s->count};
    return TUTTI_OK;
}

/* By a nod: one look at each other's answers is all that it takes. */
static tutti_err find_by_nod(const tutti__ask *q, const tutti__means *means, tutti__sought *s,
                             tutti_err mine, tutti__found *out) {
    enum { CALL, SIZE = CALL + TUTTI__CALL_TELLS, BACKGROUND, DATA, PLANS };
    tutti_file *f = q->file;
    tutti__range r[TUTTI__NODS];
    const tutti__call call = call_of(q);
    tutti__call_tell(f->team, &call, mine, r + CALL);
    r[SIZE] = (tutti__range){s->size, s->size};
    r[BACKGROUND] = (tutti__range){s->background, s->background};
    r[DATA] = s->data;
    memcpy(r + PLANS, s->range, (size_t)s->n * sizeof *r);
    const int64_t all = tutti__team_nod(f->team, answers_of(q, means, mine, s), PLANS + s->n, r);
    TUTTI_TRY(tutti__call_compare(r + CALL));
    if (all & FINE) TUTTI_TRY(tutti__call_agree(&call, r + CALL));
    s->all = all;
    tutti_plan *p = tutti__remember_pick(f, s->n, r + PLANS, &s->displacement);
    /* everybody has read by a plan without staging, but not by the same: nobody has asked for the size */
    if (p && p->run && (all & MOVED)) return TUTTI_OK;
    s->n = 0; /* a vote needs not ask again */
    if (!(all & FINE) || !p) return TUTTI_OK;
    s->size = r[SIZE].max;
    s->background = r[BACKGROUND].max;
    if (tutti__remember_is_joint(p, &r[DATA])) return plan_jointly(means, s, p, out);
    return plan_again(q, s, p, (all & MOVED) != 0, out);
}

static tutti_err find_by_vote(const tutti__ask *q, const tutti__means *means, tutti__sought *s,
                              tutti_err mine, tutti__found *out) {
    tutti__vote v;
    const tutti__call call = call_of(q);
    if (mine == TUTTI_OK) mine = blank_ensure(q->file);
    if (mine == TUTTI_OK && !q->is_write) mine = tutti__store_size(means->store, &s->size);
    vote_fill(&v, q, mine, s, answers_of(q, means, mine, s));
    const tutti_err err = tutti__team_call_vote(q->file->team, &call, mine, &v);
    if (err != TUTTI_OK) tutti__plan_destroy(&q->file->blank);
    TUTTI_TRY(err);
    TUTTI_ASSERT(q->file->blank && q->access); /* nobody has refused */
    tutti_plan *p = tutti__remember_pick(q->file, s->n, v.range, &s->displacement);
    s->size = v.max[2];
    s->background = v.max[3];
    s->all = v.yes;
    if (p) TUTTI_TRY(plan_again(q, s, p, (v.yes & MOVED) != 0, out));
    return out->plan ? TUTTI_OK : plan_anew(q, means, &v, out);
}

static tutti_err find(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                      tutti__found *out) {
    tutti__sought s;
    TUTTI_ASSERT(mine != TUTTI_OK || q->access);
    s.n = s.moved = 0;
    s.data = (tutti__range){-1, -1};
    s.mine = NULL;
    s.size = s.count = 0;
    s.background = q->file->team->background;
    if (!q->fresh) {
        tutti__remember_seek(q, means, mine, &s);
        if (mine == TUTTI_OK) mine = tutti__remember_move(q, means, &s);
    }
    if (tutti__team_nods(q->file->team)) TUTTI_TRY(find_by_nod(q, means, &s, mine, out));
    if (!out->plan) {
        TUTTI_TRY(find_by_vote(q, means, &s, mine, out));
        TUTTI_TRY(tutti__board_wish(q->file->team)); /* now that all are known to be here */
    }
    out->apart = !(s.all & BLOCKS);
    out->split = (s.all & SPLIT) != 0;
    return TUTTI_OK;
}

tutti_err tutti__operation_find(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                                tutti__found *out) {
    tutti_stats *stats = means->stats;
    /* an operation that blocks has begun right now */
    const double start = q->at_once ? stats->seconds_total : tutti__now();
    const double clock = start - tutti__fiber_absent();
    tutti__found found = {.plan = NULL};
    tutti__file_report(q->file, 0, q->access ? tutti_access_bytes(q->access) : 0, "plan");
    const tutti_err err = find(q, means, mine, &found);
    tutti__trace_event("plan", "plan", start, -1, -1);
    if (found.plan && found.plan->hits > 0) {
        stats->plan_hits++;
    } else {
        stats->plans++;
        stats->seconds_plan += tutti__fiber_clock() - clock - stats->seconds_file;
    }
    if (err == TUTTI_OK) *out = found;
    return err;
}
