/* collective: making a plan from the summary of the requests of all ranks.
 *
 *   method          chosen by predicted times (choose.c), or by an option
 *   -> decide       aggregators, file domains, windows: the same on every rank, no memory per rank
 *   -> describe     destinations, descriptions to the aggregators, overlaps
 *   -> memory       staging, and memory of the engine
 *   -> vote         all ranks accept the plan, or none does
 *
 * If memory is insufficient or ranks overlap, planning is repeated: for an operation that is not in
 * the background, without shared memory, or with writes in rank order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/options_impl.h"
#include "collective/find.h"

#include <stdio.h>

#include "comm/consensus.h"
#include "comm/vote.h"
#include "direct/direct.h"
#include "plan/scale.h"
#include "twophase/overlap.h"

/* Complete p->explain, and print it if the option explain is set. */
static void explain_plan(tutti_plan *p, int overlap) {
    const tutti_file *f = p->file;
    const tutti__two_phase *t = p->two;
    const size_t size = sizeof p->explain;
    char exchange[16] = "", pipeline[16] = "", step[24] = "", instead[64] = "";
    size_t n = (size_t)snprintf(p->explain, size, "%s", p->choice.why);
    if (p->run) { /* use the names of option values */
        const int kind = t->literal  ? t->kind
                         : t->shared ? TUTTI_EXCHANGE_SHM
                                     : TUTTI_EXCHANGE_TWO_SIDED;
        tutti__options_choice(TUTTI_CHOICES_exchange, kind, exchange, sizeof exchange);
        tutti__options_choice(TUTTI_CHOICES_pipeline, t->pipeline, pipeline, sizeof pipeline);
        if (t->literal && t->step > 0) snprintf(step, sizeof step, " step %d", t->step);
        if (t->literal && kind != f->opt.exchange) /* see tutti__two_phase_decide */
            snprintf(instead, sizeof instead, " (%s would block in a call that must not block)",
                     f->opt.exchange == TUTTI_EXCHANGE_FENCE ? "fence" : "lock");
    }
    if (p->run && n < size)
        n += (size_t)snprintf(
            p->explain + n, size - n,
            "; exchange %s%s%s, pipeline %s; store %s; %d aggregator%s in %d group%s, windows of "
            "%lld bytes",
            exchange, step, instead, pipeline, p->means.store->ops->name, t->domains.aggregators,
            t->domains.aggregators == 1 ? "" : "s", t->groups->n, t->groups->n == 1 ? "" : "s",
            (long long)t->domains.window);
    if (p->run && t->domains.kind == TUTTI_DOMAINS_ARRAY && n < size)
        n +=
            (size_t)snprintf(p->explain + n, size - n,
                             "; domains are blocks of %lld of the array's %lld slabs of %lld bytes",
                             (long long)tutti__blocks(t->domains.slabs.n, t->domains.aggregators),
                             (long long)t->domains.slabs.n, (long long)t->domains.slabs.slab);
    if (p->run && !p->asked.is_write && n < size)
        n +=
            (size_t)snprintf(p->explain + n, size - n, "; holes up to %lld bytes are also read: %s",
                             (long long)p->choice.gap, p->choice.gap_why);
    if (p->means.resident && n < size)
        n += (size_t)snprintf(p->explain + n, size - n, "; in the background");
    if (overlap && n < size)
        snprintf(p->explain + n, size - n, "; ranks overlap, %s",
                 p->run && !t->ordered ? "the highest writes" : "in rank order");
    if (f->opt.explain && f->team->rank == 0)
        fprintf(stderr, "tutti: %s of '%s': %s\n", p->asked.is_write ? "write" : "read", f->path,
                p->explain);
}

static void forget_forms(tutti__team *t) {
    t->staging->form[0].slots = t->staging->form[1].slots = 0;
}

/* Minimal buffer size of data sieving; with a smaller buffer it is slower than list I/O. */
static const tutti_off SIEVE_LEAST = 64 << 10;

/* ---- two phases */

/* Variants of planning. */
typedef struct {
    /* every rank is its own group: data is sent in messages, not through shared memory */
    int singles;
    int ordered; /* the data of ranks is placed in rank order */
} attempt;

/* Remove bytes that higher ranks also write; `overlaps_here`: ranks overlap in the domain of this
 * rank.  *large_out, the same on all ranks: the plan would be too large.   Collective, agrees. */
static tutti_err remove_overlap(tutti_plan *p, int overlaps_here, int *large_out) {
    int is_large = 0;
    const tutti_err err = tutti__overlap_trim(p, overlaps_here, &is_large);
    int64_t large = is_large, bytes = (int64_t)tutti__plan_bytes(p);
    const tutti__reduction all[] = {{TUTTI__MAX, &large}, {TUTTI__MAX, &bytes}};
    TUTTI_TRY(tutti__team_reduce(p->file->team, err, 2, all));
    *large_out = large > 0;
    p->cache.described = tutti__max(p->cache.described, bytes);
    return TUTTI_OK;
}

/* Use two-phase I/O, since a checksum needs the complete block on one rank. */
static void stage_for_checksums(tutti_plan *p) {
    p->choice.method = TUTTI_METHOD_TWO_PHASE;
    snprintf(p->choice.why, sizeof p->choice.why, "two-phase: for checksums");
}

/* Choose the method from the summary of all requests. */
static void choose_method(tutti_plan *p, const tutti__summary *s) {
    tutti__choose(p->file, s, p->asked.is_write, &p->choice);
    if (s->broken && !tutti__is_staged(p->choice.method)) stage_for_checksums(p);
}

/* Try to plan with the variant *how.  *again_out: the plan must be cleared and planned again with
 * the new *how.   Collective, agrees. */
static tutti_err try_two_phase(tutti_plan *p, const tutti__summary *s, attempt *how,
                               int *overlap_out, int *again_out) {
    tutti__team *team = p->file->team;
    tutti__two_phase *t = p->two;
    tutti_off where = -1;
    int overlap = 0, fits = 1;

    *again_out = 0;
    t->ordered = how->ordered;
    if (!tutti__is_staged(p->choice.method) && !p->asked.is_write) return TUTTI_OK;
    *again_out = 1;
    TUTTI_TRY(tutti__two_phase_decide(p, s, how->singles)); /* only MPI errors are possible */
    if (tutti__is_staged(p->choice.method) && !p->means.resident && p->means.memory_limit > 0 &&
        tutti__plan_moving(p) > p->means.memory_limit) {
        /* even the smallest windows do not fit: bytes are transferred directly between memory and
         * file */
        p->choice.method = TUTTI_METHOD_LIST;
        snprintf(p->choice.why, sizeof p->choice.why,
                 "list: %lld bytes a node are too few to stage", (long long)p->means.memory_limit);
        how->ordered = 0;
        return TUTTI_OK;
    }
    p->engine = t->literal ? &tutti__engine_literal : &tutti__engine_staged;
    tutti_err err = tutti__two_phase_describe(p, &overlap, &where);
    if (p->means.resident) TUTTI_TRY(tutti__resident_slots(p, err, &fits));
    if (!fits) {
        p->cache.degraded |= t->elsewhere > 0;
        tutti__resident_not(p);
        /* undo the choice of a method for staging in the background */
        if (p->means.memory_limit > 0) choose_method(p, s);
        return TUTTI_OK;
    }
    const int staged = tutti__is_staged(p->choice.method);
    tutti_err memory = TUTTI_OK;
    if (staged) {
        TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
        memory = p->engine->memory(p);
    }
    if (err == TUTTI_OK && memory != TUTTI_OK && !t->shared && !p->means.resident)
        err = memory;
    else if (err == TUTTI_OK && memory == TUTTI_OK && staged)
        err = p->engine->make(p);
    if (p->run) p->engine->prepare(p);

    int64_t any_overlap = overlap, last_overlap = overlap ? where : -1;
    int64_t no_shared = memory != TUTTI_OK && t->shared && !p->means.resident;
    int64_t no_resident = memory != TUTTI_OK && p->means.resident;
    int64_t bytes = p->run ? (int64_t)tutti__plan_bytes(p) : 0;
    const tutti__reduction all[] = {{TUTTI__MAX, &any_overlap},
                                    {TUTTI__MAX, &last_overlap},
                                    {TUTTI__MAX, &no_shared},
                                    {TUTTI__MAX, &no_resident},
                                    {TUTTI__MAX, &bytes}};
    const tutti_err agreed = tutti__team_reduce(team, err, sizeof all / sizeof *all, all);
    /* some ranks have not closed their slots */
    if (agreed != TUTTI_OK || no_shared || no_resident) forget_forms(team);
    TUTTI_TRY(agreed);
    p->cache.described = tutti__max(p->cache.described, bytes);
    p->cache.degraded |= no_shared || no_resident;
    if (no_resident) {
        tutti__resident_not(p);
        return TUTTI_OK;
    }
    if (no_shared) { /* try again with messages */
        how->singles = 1;
        return TUTTI_OK;
    }
    TUTTI_CHECK(!any_overlap || !p->file->opt.check, TUTTI_ERR_OVERLAP,
                "two ranks write the same bytes, at offset %lld",
                (long long)(last_overlap + p->file->origin + p->means.base));
    if (any_overlap) *overlap_out = 1;
    *again_out = 0;
    if (any_overlap && !staged && p->means.block > 0) {
        stage_for_checksums(p); /* in the file the bytes of the highest rank must remain */
        *again_out = 1;
        return TUTTI_OK;
    }
    if (any_overlap && staged) TUTTI_TRY(remove_overlap(p, overlap, again_out));
    /* the trimmed plan is too large: try again, with data placed in rank order */
    if (*again_out) {
        tutti__resident_not(p);
        how->singles = how->ordered = 1;
    }
    return TUTTI_OK;
}

tutti_err tutti__plan_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) {
    *awake_out = 1;
    if (!p->means.resident && p->engine == &tutti__engine_staged && p->engine->ready(p))
        return TUTTI_OK;
    p->two->elsewhere = elsewhere;
    *awake_out = !p->means.resident || tutti__resident_fits(p);
    if (!*awake_out) return TUTTI_OK;
    tutti_err err = p->engine->memory(p);
    if (err == TUTTI_OK) err = p->engine->wake(p);
    if (err == TUTTI_OK) p->engine->prepare(p);
    int64_t failed = err != TUTTI_OK;
    TUTTI_TRY(tutti__team_max(p->file->team, TUTTI_OK, &failed));
    if (!failed) return TUTTI_OK;
    tutti__error_clear(); /* the caller makes another plan */
    forget_forms(p->file->team);
    *awake_out = 0;
    return TUTTI_OK;
}

/* ---- planning for all methods */

tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) {
    const tutti_file *f = p->file;
    const tutti_options *o = &f->opt;
    int overlap = 0;

    /* choose the method, and test early whether the bytes fit into the memory for operations in the
     * background; tutti__resident_slots tests this exactly */
    choose_method(p, s);
    const tutti_off on_node = s->bytes / f->team->nodes.n;
    if (on_node > o->background_bytes ||
        (p->means.memory_limit > 0 && on_node > p->means.memory_limit) || f->atomic.on)
        p->means.resident = 0;
    const int named = !p->asked.is_write && o->method_read ? o->method_read : o->method;
    if (p->means.resident && named == TUTTI_METHOD_AUTO &&
        p->choice.method != TUTTI_METHOD_TWO_PHASE) {
        p->choice.method = TUTTI_METHOD_TWO_PHASE;
        snprintf(p->choice.why, sizeof p->choice.why, "two-phase: for the background");
    }
    if (p->choice.method != TUTTI_METHOD_TWO_PHASE) p->means.resident = 0;

    /* writes by methods without staging are also planned, to detect overlaps between ranks, unless
     * the summary excludes overlaps */
    attempt how = {0, 0};
    const int proves =
        p->asked.is_write && s->ranks > 1 && !tutti__summary_is_in_rank_order(s, f->team->size);
    for (int again = s->bytes > 0 && (tutti__is_staged(p->choice.method) || proves); again;) {
        TUTTI_TRY(try_two_phase(p, s, &how, &overlap, &again));
        if (!again) break;
        tutti__plan_run_free(p);
        tutti__two_phase_clear(p->two);
    }
    if (!p->run) {
        tutti__two_phase_free(&p->two);
        p->means.resident = 0;
    }
    if (p->choice.method == TUTTI_METHOD_SIEVE && p->means.memory_limit > 0 &&
        tutti__sieve_bytes(f, p->means.memory_limit) < SIEVE_LEAST)
        p->choice.method = TUTTI_METHOD_LIST;
    p->in_rank_order = p->asked.is_write && (overlap || p->choice.method == TUTTI_METHOD_SIEVE);
    p->cache.lo = s->lo;
    p->cache.bytes = s->bytes;
    p->cache.span = s->bytes > 0 ? s->hi - s->lo : 0;
    /* a small write without holes: one rank may write for all (small.c) */
    p->cache.joint = p->asked.is_write && !overlap && s->bytes > 0 && s->bytes == s->hi - s->lo &&
                     s->bytes <= TUTTI__CONSENSUS_DATA_BYTES && !p->cache.resident &&
                     !f->atomic.on && !o->direct_io;
    explain_plan(p, overlap);
    if (o->explain && f->team->rank == 0) tutti__choose_explain(f, s, p->asked.is_write);
    return TUTTI_OK;
}
