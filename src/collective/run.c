/* collective: carrying a two-phase plan out: the walker, and the loop that drives all parts.
 * See run.h for the whole picture.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/run.h"

#include <string.h>

#include "base/trace.h"

/* ---- memory, allocated with the plan so that running needs hardly any */

static tutti_err works_make(tutti__run *r) {
    const tutti__two_phase *t = r->two;
    const int slots = r->homes + r->mirrors;
    r->work = tutti__calloc((size_t)slots + 1, sizeof *r->work);
    if (!r->work) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < slots; i++) {
        const int room = i < r->homes ? t->home.batches : 1;
        r->work[i].traffic = tutti__calloc((size_t)room + 1, sizeof *r->work[i].traffic);
        if (!r->work[i].traffic) return TUTTI_ERR_NOMEM;
        if (r->aux) r->work[i].aux = r->aux + (tutti_off)i * t->domains.window;
    }
    return TUTTI_OK;
}

tutti_err tutti__run_make(tutti_plan *p) {
    tutti__two_phase *t = p->two;
    tutti__run *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    p->run = r;
    r->two = t;
    r->file = p->file;
    r->homes = t->my_agg >= 0 ? t->homes : 0;
    r->mirrors = t->carries > 0 ? t->mirrors : 0;
    const size_t slots = (size_t)r->homes + (size_t)r->mirrors;
    if (t->messages && slots > 0) {
        r->aux = tutti__malloc_aligned(4096, slots * (size_t)t->domains.window);
        if (!r->aux) return TUTTI_ERR_NOMEM;
    }
    r->carry_next = tutti__calloc((size_t)t->carries + 1, sizeof *r->carry_next);
    r->stay_next = tutti__calloc((size_t)t->stays + 1, sizeof *r->stay_next);
    if (!r->carry_next || !r->stay_next) return TUTTI_ERR_NOMEM;
    return works_make(r);
}

void tutti__run_free(tutti__run **pr) {
    tutti__run *r = *pr;
    if (!r) return;
    for (int i = 0; r->work && i < r->homes + r->mirrors; i++) {
        tutti__free(r->work[i].traffic);
        tutti__free(r->work[i].io);
        tutti__extents_free(&r->work[i].extents);
        tutti__extents_free(&r->work[i].file);
    }
    tutti__free(r->work);
    tutti__free(r->carry_next);
    tutti__free(r->stay_next);
    tutti__free(r->aux);
    tutti__free(r);
    *pr = NULL;
}

/* ---- starting */

static tutti__stage stage_of(const tutti__two_phase *t, const tutti__team *team) {
    return (tutti__stage){team->segment[t->shared ? 0 : 1].base, t->groups->size,
                          t->homes + t->mirrors, t->domains.window};
}

void tutti__run_prepare(const tutti_plan *p) {
    const tutti__stage stage = stage_of(p->two, p->file->team);
    for (int i = 0; i < p->two->homes + p->two->mirrors; i++)
        tutti__slot_close(tutti__stage_slot(&stage, p->two->groups->me, i));
}

static tutti_count stay_after(const tutti__run *r, const tutti__stay *s, tutti_count cycle) {
    tutti_off lo, hi;
    const tutti_count c =
        tutti__route_next(&r->two->domains, r->op->plan->access->file, s->aggregator, cycle);
    if (c < 0) return -1;
    tutti__domains_window(&r->two->domains, s->aggregator, c, &lo, &hi);
    return tutti__side_next(r->op->plan->access->file, lo) < r->op->eof ? c : -1;
}

static void run_start(tutti__run *r, tutti__op *op) {
    const tutti__two_phase *t = r->two;
    r->op = op;
    r->err = TUTTI_OK;
    r->stage = stage_of(t, r->file->team);
    r->tag = tutti__team_tag(r->file->team);
    r->done = 0;
    r->total = tutti__side_tell(op->plan->access->file, op->eof);
    r->home_next = t->my_agg >= 0 ? tutti__load_next(r, &t->home, 0) : -1;
    for (int i = 0; i < t->carries; i++) r->carry_next[i] = tutti__load_next(r, &t->carry[i], 0);
    for (int i = 0; i < t->stays; i++)
        r->stay_next[i] = stay_after(r, &t->stay[i], t->stay[i].first);
    for (int i = 0; i < r->homes + r->mirrors; i++) {
        tutti__work *w = &r->work[i];
        const int slot = i < r->homes ? i : t->homes + (i - r->homes);
        w->phase = TUTTI__IDLE;
        w->slot = tutti__stage_slot(&r->stage, t->groups->me, slot);
        w->stage = tutti__stage_buffer(&r->stage, t->groups->me, slot);
    }
}

void tutti__run_fail(tutti__run *r, tutti_err err) {
    if (r->err != TUTTI_OK) return;
    r->err = err;
    r->info = *tutti_last_error();
}

/* ---- the loop */

int tutti__run_progress(tutti__run *r) {
    int moved = 0;
    for (int i = 0; i < r->homes; i++) moved |= tutti__home_progress(r, &r->work[i]);
    for (int i = r->homes; i < r->homes + r->mirrors; i++)
        moved |= tutti__carry_progress(r, &r->work[i]);
    return moved;
}

static int run_busy(const tutti__run *r) {
    if (r->home_next >= 0) return 1;
    for (int i = 0; i < r->two->carries; i++)
        if (r->carry_next[i] >= 0) return 1;
    for (int i = 0; i < r->homes + r->mirrors; i++)
        if (r->work[i].phase != TUTTI__IDLE) return 1;
    return 0;
}

/* Wait for the window, copy my bytes, say so. */
static void walk_to(tutti__run *r, int i) {
    const tutti__stay *s = &r->two->stay[i];
    const tutti_plan *p = r->op->plan;
    const int first = s->mirror ? r->two->homes : 0;
    const int n = s->mirror ? r->two->mirrors : r->two->homes;
    const int64_t key = tutti__slot_key(s->aggregator, r->stay_next[i]);
    int slot;
    while ((slot = tutti__stage_find(&r->stage, s->member, first, n, key)) < 0)
        if (!tutti__run_progress(r)) tutti__yield();

    tutti_off lo, hi;
    const double start = tutti__trace_on() ? tutti__now() : 0;
    char *stage = tutti__stage_buffer(&r->stage, s->member, slot);
    tutti__domains_window(&r->two->domains, s->aggregator, r->stay_next[i], &lo, &hi);
    hi = tutti__min(hi, r->op->eof);
    const tutti_off bytes =
        p->is_write ? tutti__access_to_stage(p->access, r->op->buf, lo, hi, stage, lo)
                    : tutti__access_from_stage(p->access, r->op->buf, lo, hi, stage, lo);
    tutti__slot_moved(tutti__stage_slot(&r->stage, s->member, slot), bytes);
    tutti__trace_event("exchange", "copy", start, bytes, r->stay_next[i]);
    r->file->last.copied_bytes += bytes;
    r->done += bytes;
    r->stay_next[i] = stay_after(r, s, r->stay_next[i] + 1);
    tutti__file_report(r->file, r->done, r->total, "exchange");
}

/* The cycle I come to next, or -1. */
static tutti_count walk_next(const tutti__run *r) {
    tutti_count best = -1;
    for (int i = 0; i < r->two->stays; i++)
        if (r->stay_next[i] >= 0 && (best < 0 || r->stay_next[i] < best)) best = r->stay_next[i];
    return best;
}

tutti_err tutti__run_two_phase(tutti__op *op) {
    tutti__run *r = op->plan->run;
    const double start = tutti__now(), file_before = op->file->last.seconds_file;
    tutti_count cycle;
    run_start(r, op);
    while ((cycle = walk_next(r)) >= 0)
        for (int i = 0; i < r->two->stays; i++) {
            if (r->stay_next[i] != cycle) continue;
            walk_to(r, i);
            (void)tutti__run_progress(r);
        }
    while (run_busy(r))
        if (!tutti__run_progress(r)) tutti__yield();
    op->moved = r->done;
    op->file->last.seconds_exchange +=
        tutti__now() - start - (op->file->last.seconds_file - file_before);
    if (r->err != TUTTI_OK) tutti__error_assign(&r->info);
    return r->err;
}
