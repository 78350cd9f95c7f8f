/* collective: carrying a two-phase plan out: the walker, and the loop that drives all parts.
 * See run.h for the whole picture.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/run.h"

#include <string.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "collective/cycles.h"

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
    }
    return TUTTI_OK;
}

/* Operations that are not in the background exchange one after the other, and share buffers. */
static tutti_err aux_make(const tutti_plan *p, tutti__run *r) {
    const tutti__two_phase *t = p->two;
    tutti__segment *team = &p->file->team->aux;
    const size_t bytes = (size_t)(r->auxes + r->mirrors) * (size_t)t->domains.window;
    if (!t->messages || bytes == 0 || r->own) return TUTTI_OK;
    if (!p->means.resident && team->bytes >= bytes) return TUTTI_OK;
    char *base = tutti__malloc_aligned(4096, bytes);
    if (!base) return TUTTI_ERR_NOMEM;
    if (p->means.resident) {
        r->own = base;
        return TUTTI_OK;
    }
    tutti__segment_drop(team);
    *team = (tutti__segment){base, bytes, 0};
    return TUTTI_OK;
}

tutti_err tutti__run_make(tutti_plan *p) {
    tutti__two_phase *t = p->two;
    tutti__run *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    p->run = r;
    r->two = t;
    r->file = p->file;
    r->homes = t->my_agg >= 0 && !t->stepwise ? t->homes : 0;
    r->mirrors = t->carries > 0 ? t->mirrors : 0;
    r->auxes = (int)tutti__min(r->homes, p->file->opt.sub_buffers);
    TUTTI_TRY(aux_make(p, r));
    r->carry_next = tutti__calloc((size_t)t->carries + 1, sizeof *r->carry_next);
    r->stay_next = tutti__calloc((size_t)t->stays + 1, sizeof *r->stay_next);
    if (!r->carry_next || !r->stay_next) return TUTTI_ERR_NOMEM;
    return t->stepwise ? tutti__cycles_make(r, p->is_write) : works_make(r);
}

void tutti__run_free(tutti__run **pr) {
    tutti__run *r = *pr;
    if (!r) return;
    for (int i = 0; r->work && i < r->homes + r->mirrors; i++) {
        tutti__free(r->work[i].traffic);
        tutti__window_io_free(&r->work[i].io);
        tutti__extents_free(&r->work[i].extents);
    }
    tutti__cycles_free(&r->cycles);
    tutti__free(r->work);
    tutti__free(r->carry_next);
    tutti__free(r->stay_next);
    tutti__free(r->own);
    tutti__free(r);
    *pr = NULL;
}

/* Lists of runs grow with what was in the windows. */
enum { RUNS_KEPT = 256 };

static void work_sleep(tutti__work *w) {
    if (w->io.room > RUNS_KEPT || w->io.extents.room > RUNS_KEPT) tutti__window_io_free(&w->io);
    if (w->extents.room > RUNS_KEPT) tutti__extents_free(&w->extents);
}

void tutti__run_sleep(tutti__run *r) {
    for (int i = 0; r->work && i < r->homes + r->mirrors; i++) work_sleep(&r->work[i]);
    if (r->cycles) tutti__cycles_sleep(r->cycles);
    tutti__free(r->own);
    r->own = NULL;
}

tutti_err tutti__run_wake(tutti_plan *p) {
    if (p->two->stepwise) return tutti__cycles_wake(p->run, p->is_write);
    return aux_make(p, p->run);
}

/* ---- starting */

static tutti__stage stage_of(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    char *base =
        p->means.resident ? p->segment.base : p->file->team->segment[t->shared ? 0 : 1].base;
    return (tutti__stage){base, t->groups->size, t->homes + t->mirrors, t->domains.window};
}

static tutti__stage_form *form_of(const tutti_plan *p) {
    return &p->file->team->form[p->two->shared ? 0 : 1];
}

int tutti__run_ready(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    if (t->stepwise || p->means.resident) return 1;
    return form_of(p)->slots == t->homes + t->mirrors && form_of(p)->window == t->domains.window;
}

void tutti__run_prepare(const tutti_plan *p) {
    if (p->two->stepwise) return;
    const tutti__stage stage = stage_of(p);
    if (!p->means.resident) *form_of(p) = (tutti__stage_form){stage.slots, stage.window};
    for (int i = 0; i < p->two->homes + p->two->mirrors; i++)
        tutti__slot_make(tutti__stage_slot(&stage, p->two->groups->me, i));
}

tutti_count tutti__stay_after(const tutti__run *r, const tutti__stay *s, tutti_count cycle) {
    tutti_off lo, hi;
    const tutti__side file = tutti__plan_walk(r->op->plan)->file;
    const tutti_count c = tutti__route_next(&r->two->domains, file, s->aggregator, cycle);
    if (c < 0) return -1;
    tutti__domains_window(&r->two->domains, s->aggregator, c, &lo, &hi);
    return tutti__side_next(file, lo) < r->op->eof ? c : -1;
}

static void run_start(tutti__run *r, tutti__op *op) {
    const tutti__two_phase *t = r->two;
    r->op = op;
    r->err = TUTTI_OK;
    r->stage = stage_of(op->plan);
    r->tag = tutti__team_tag(r->file->team);
    r->done = 0;
    r->holding = 0;
    r->started = tutti__now();
    r->total = tutti__side_tell(op->plan->access->file, op->eof);
    r->home_next = t->my_agg >= 0 ? tutti__load_next(r, &t->home, 0) : -1;
    for (int i = 0; i < t->carries; i++) r->carry_next[i] = tutti__load_next(r, &t->carry[i], 0);
    for (int i = 0; i < t->stays; i++)
        r->stay_next[i] = tutti__stay_after(r, &t->stay[i], t->stay[i].first);
    r->aux = !t->messages ? NULL : r->own ? r->own : r->file->team->aux.base;
    for (int i = 0; i < r->homes + r->mirrors; i++) {
        tutti__work *w = &r->work[i];
        const int slot = i < r->homes ? i : t->homes + (i - r->homes);
        const int aux = i < r->homes ? i % r->auxes : r->auxes + i - r->homes;
        if (r->aux) w->aux = r->aux + (tutti_off)aux * t->domains.window;
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
    for (int i = r->homes; !r->holding && i < r->homes + r->mirrors; i++)
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
    const tutti_access *a = tutti__plan_walk(r->op->plan);
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
    const tutti_off bytes = r->op->plan->is_write
                                ? tutti__access_to_stage(a, r->op->buf, lo, hi, stage, lo)
                                : tutti__access_from_stage(a, r->op->buf, lo, hi, stage, lo);
    tutti__slot_moved(tutti__stage_slot(&r->stage, s->member, slot), bytes);
    tutti__trace_event("exchange", "copy", start, bytes, r->stay_next[i]);
    r->op->stats->copied_bytes += bytes;
    r->done += bytes;
    r->stay_next[i] = tutti__stay_after(r, s, r->stay_next[i] + 1);
    tutti__file_report(r->file, r->done, r->total, "exchange");
}

/* The cycle I come to next, or -1. */
static tutti_count walk_next(const tutti__run *r) {
    tutti_count best = -1;
    for (int i = 0; i < r->two->stays; i++)
        if (r->stay_next[i] >= 0 && (best < 0 || r->stay_next[i] < best)) best = r->stay_next[i];
    return best;
}

/* My own bytes, cycle by cycle. */
static void walk(tutti__run *r) {
    tutti_count cycle;
    while ((cycle = walk_next(r)) >= 0)
        for (int i = 0; i < r->two->stays; i++) {
            if (r->stay_next[i] != cycle) continue;
            walk_to(r, i);
            (void)tutti__run_progress(r);
        }
    r->op->moved = r->two->walk ? r->total : r->done; /* what others write for it counts */
}

typedef int busy_fn(const tutti__run *r);

static void wait_while(tutti__run *r, busy_fn *busy) {
    while (busy(r))
        if (!tutti__run_progress(r)) tutti__yield();
}

/* Has some window bytes to get, or a mirror to give away? */
static int run_exchanges(const tutti__run *r) {
    if (r->home_next >= 0) return 1;
    for (int i = 0; i < r->two->carries; i++)
        if (r->carry_next[i] >= 0) return 1;
    for (int i = 0; i < r->homes + r->mirrors; i++)
        if (r->work[i].phase == TUTTI__FILL || r->work[i].phase == TUTTI__SEND) return 1;
    return 0;
}

static int run_opens(const tutti__run *r) {
    return r->home_next >= 0;
}

/* Time that is not file access is exchange. */
static void count_exchange(const tutti__op *op, double start, double file_before) {
    op->stats->seconds_exchange +=
        tutti__fiber_clock() - start - (op->stats->seconds_file - file_before);
}

static tutti_err run_outcome(const tutti__run *r) {
    if (r->err != TUTTI_OK) tutti__error_assign(&r->info);
    return r->err;
}

tutti_err tutti__run_two_phase(tutti__op *op) {
    tutti__run *r = op->plan->run;
    if (r->cycles) return tutti__cycles_run(op);
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    run_start(r, op);
    walk(r);
    wait_while(r, run_busy);
    count_exchange(op, start, file_before);
    return run_outcome(r);
}

void tutti__run_depart(tutti__op *op) {
    tutti__run *r = op->plan->run;
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    run_start(r, op);
    r->holding = !op->plan->is_write;
    if (op->plan->is_write) walk(r);
    wait_while(r, op->plan->is_write ? run_exchanges : run_opens);
    count_exchange(op, start, file_before);
}

tutti_err tutti__run_arrive(tutti__op *op) {
    tutti__run *r = op->plan->run;
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    r->holding = 0;
    if (!op->plan->is_write) walk(r);
    wait_while(r, run_busy);
    count_exchange(op, start, file_before);
    return run_outcome(r);
}

void tutti__run_abort(tutti__run *r) {
    if (r->cycles) {
        tutti__cycles_abort(r->cycles);
        return;
    }
    for (int i = 0; i < r->homes; i++)
        if (r->work[i].request && tutti__store_finish(&r->work[i].request, NULL) != TUTTI_OK)
            r->work[i].request = NULL;
}
