/* engine: carrying a two-phase plan out: the walker, and the loop that drives all parts.
 * See run.h for the whole picture.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include <string.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "comm/wait.h"

/* ---- memory, allocated with the plan so that running needs hardly any */

static tutti_err staged_memory(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const size_t bytes =
        tutti__stage_bytes(t->groups->size, t->window_slots + t->relay_slots, t->domains.window);
    return p->means.resident ? tutti__resident_ensure(p, bytes)
                             : tutti__staging_ensure(p->file->team, t->shared, bytes);
}

static tutti_err works_make(tutti__run *r) {
    const tutti__two_phase *t = r->two;
    const int slots = r->window_slots + r->relay_slots;
    r->work = tutti__calloc((size_t)slots + 1, sizeof *r->work);
    if (!r->work) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < slots; i++) {
        const int room = i < r->window_slots ? t->incoming.sender_groups : 1;
        r->work[i].traffic = tutti__calloc((size_t)room + 1, sizeof *r->work[i].traffic);
        if (!r->work[i].traffic) return TUTTI_ERR_NOMEM;
    }
    return TUTTI_OK;
}

/* Operations that are not in the background exchange one after the other, and share buffers. */
static tutti_err aux_make(const tutti_plan *p, tutti__run *r) {
    const tutti__two_phase *t = p->two;
    tutti__segment *team = &p->file->team->staging->aux;
    const size_t bytes = (size_t)(r->auxes + r->relay_slots) * (size_t)t->domains.window;
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

static tutti_err staged_make(tutti_plan *p) {
    tutti__two_phase *t = p->two;
    tutti__run *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    p->run = r;
    r->two = t;
    r->file = p->file;
    r->window_slots = t->my_agg >= 0 ? t->window_slots : 0;
    r->relay_slots = t->relays > 0 ? t->relay_slots : 0;
    r->auxes = (int)tutti__min(r->window_slots, p->file->opt.sub_buffers);
    TUTTI_TRY(aux_make(p, r));
    r->relay_next = tutti__calloc((size_t)t->relays + 1, sizeof *r->relay_next);
    r->destination_next = tutti__calloc((size_t)t->destinations + 1, sizeof *r->destination_next);
    if (!r->relay_next || !r->destination_next) return TUTTI_ERR_NOMEM;
    return works_make(r);
}

static void staged_free(tutti__run *r) {
    for (int i = 0; r->work && i < r->window_slots + r->relay_slots; i++) {
        tutti__free(r->work[i].traffic);
        tutti__window_io_free(&r->work[i].io);
        tutti__extents_free(&r->work[i].extents);
    }
    tutti__free(r->work);
    tutti__free(r->relay_next);
    tutti__free(r->destination_next);
    tutti__free(r->own);
    tutti__free(r);
}

/* Lists of runs grow with what was in the windows. */
enum { RUNS_KEPT = 256 };

static void work_sleep(tutti__work *w) {
    if (w->io.room > RUNS_KEPT || w->io.extents.room > RUNS_KEPT) tutti__window_io_free(&w->io);
    if (w->extents.room > RUNS_KEPT) tutti__extents_free(&w->extents);
}

static void staged_sleep(tutti__run *r) {
    for (int i = 0; r->work && i < r->window_slots + r->relay_slots; i++) work_sleep(&r->work[i]);
    tutti__free(r->own);
    r->own = NULL;
}

static tutti_err staged_wake(tutti_plan *p) {
    return aux_make(p, p->run);
}

/* ---- starting */

static tutti__stage stage_of(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    char *base = p->means.resident ? p->segment.base
                                   : p->file->team->staging->segment[t->shared ? 0 : 1].base;
    return (tutti__stage){base, t->groups->size, t->window_slots + t->relay_slots,
                          t->domains.window};
}

static tutti__stage_form *form_of(const tutti_plan *p) {
    return &p->file->team->staging->form[p->two->shared ? 0 : 1];
}

static int staged_ready(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    if (p->means.resident) return 1;
    return form_of(p)->slots == t->window_slots + t->relay_slots &&
           form_of(p)->window == t->domains.window;
}

static void staged_prepare(const tutti_plan *p) {
    const tutti__stage stage = stage_of(p);
    if (!p->means.resident) *form_of(p) = (tutti__stage_form){stage.slots, stage.window};
    for (int i = 0; i < p->two->window_slots + p->two->relay_slots; i++)
        tutti__slot_make(tutti__stage_slot(&stage, p->two->groups->me, i));
}

static void run_start(const tutti_plan *p, tutti__run *r, tutti__op *op) {
    const tutti__two_phase *t = r->two;
    tutti__run_start(r, op);
    r->stage = stage_of(p);
    r->tag = tutti__team_tag(r->file->team);
    r->holding = 0;
    for (int i = 0; i < t->relays; i++) r->relay_next[i] = tutti__incoming_next(r, &t->relay[i], 0);
    r->aux = !t->messages ? NULL : r->own ? r->own : r->file->team->staging->aux.base;
    for (int i = 0; i < r->window_slots + r->relay_slots; i++) {
        tutti__work *w = &r->work[i];
        const int slot = i < r->window_slots ? i : t->window_slots + (i - r->window_slots);
        const int aux = i < r->window_slots ? i % r->auxes : r->auxes + i - r->window_slots;
        if (r->aux) w->aux = r->aux + (tutti_off)aux * t->domains.window;
        w->phase = TUTTI__IDLE;
        w->slot = tutti__stage_slot(&r->stage, t->groups->me, slot);
        w->stage = tutti__stage_buffer(&r->stage, t->groups->me, slot);
    }
}

/* ---- the loop */

int tutti__run_progress(tutti__run *r) {
    int moved = 0;
    for (int i = 0; i < r->window_slots; i++) moved |= tutti__aggregator_progress(r, &r->work[i]);
    for (int i = r->window_slots; !r->holding && i < r->window_slots + r->relay_slots; i++)
        moved |= tutti__relay_progress(r, &r->work[i]);
    return moved;
}

static int run_busy(const tutti__run *r) {
    if (r->window_next >= 0) return 1;
    for (int i = 0; i < r->two->relays; i++)
        if (r->relay_next[i] >= 0) return 1;
    for (int i = 0; i < r->window_slots + r->relay_slots; i++)
        if (r->work[i].phase != TUTTI__IDLE) return 1;
    return 0;
}

/* Wait for the window, copy my bytes, say so. */
static void walk_to(tutti__run *r, int i) {
    const tutti__destination *s = &r->two->destination[i];
    const tutti__op *op = r->op;
    const int first = s->by_relay ? r->two->window_slots : 0;
    const int n = s->by_relay ? r->two->relay_slots : r->two->window_slots;
    const int64_t key = tutti__slot_key(s->aggregator, r->destination_next[i]);
    int slot;
    while ((slot = tutti__stage_find(&r->stage, s->member, first, n, key)) < 0)
        if (!tutti__run_progress(r)) tutti__yield();

    tutti_off lo, hi;
    const double start = tutti__trace_on() ? tutti__now() : 0;
    char *stage = tutti__stage_buffer(&r->stage, s->member, slot);
    tutti__domains_window(&r->two->domains, s->aggregator, r->destination_next[i], &lo, &hi);
    hi = tutti__min(hi, r->op->eof);
    const tutti_off bytes = op->is_write
                                ? tutti__access_to_stage(r->access, op->buf, lo, hi, stage, lo)
                                : tutti__access_from_stage(r->access, op->buf, lo, hi, stage, lo);
    tutti__slot_moved(tutti__stage_slot(&r->stage, s->member, slot), bytes);
    tutti__trace_event("exchange", "copy", start, bytes, r->destination_next[i]);
    r->op->stats->copied_bytes += bytes;
    r->done += bytes;
    r->destination_next[i] = tutti__destination_after(r, s, r->destination_next[i] + 1);
    tutti__file_report(r->file, r->done, r->total, "exchange");
}

/* The cycle I come to next, or -1. */
static tutti_count walk_next(const tutti__run *r) {
    tutti_count best = -1;
    for (int i = 0; i < r->two->destinations; i++)
        if (r->destination_next[i] >= 0 && (best < 0 || r->destination_next[i] < best))
            best = r->destination_next[i];
    return best;
}

/* My own bytes, cycle by cycle. */
static void walk(tutti__run *r) {
    tutti_count cycle;
    while ((cycle = walk_next(r)) >= 0)
        for (int i = 0; i < r->two->destinations; i++) {
            if (r->destination_next[i] != cycle) continue;
            walk_to(r, i);
            (void)tutti__run_progress(r);
        }
    r->op->moved = tutti__run_moved(r);
}

typedef int busy_fn(const tutti__run *r);

static void wait_while(tutti__run *r, busy_fn *busy) {
    while (busy(r))
        if (!tutti__run_progress(r)) tutti__yield();
}

/* Has some window bytes to get, or a mirror to give away? */
static int run_exchanges(const tutti__run *r) {
    if (r->window_next >= 0) return 1;
    for (int i = 0; i < r->two->relays; i++)
        if (r->relay_next[i] >= 0) return 1;
    for (int i = 0; i < r->window_slots + r->relay_slots; i++)
        if (r->work[i].phase == TUTTI__FILL || r->work[i].phase == TUTTI__SEND) return 1;
    return 0;
}

static int run_opens(const tutti__run *r) {
    return r->window_next >= 0;
}

/* Time that is not file access is exchange. */
static void count_exchange(const tutti__op *op, double start, double file_before) {
    op->stats->seconds_exchange +=
        tutti__fiber_clock() - start - (op->stats->seconds_file - file_before);
}

static tutti_err staged_run(tutti_plan *p, tutti__op *op) {
    tutti__run *r = p->run;
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    run_start(p, r, op);
    walk(r);
    wait_while(r, run_busy);
    count_exchange(op, start, file_before);
    return tutti__run_outcome(r);
}

static void staged_depart(tutti_plan *p, tutti__op *op) {
    tutti__run *r = p->run;
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    run_start(p, r, op);
    r->holding = !op->is_write;
    if (op->is_write) walk(r);
    wait_while(r, op->is_write ? run_exchanges : run_opens);
    count_exchange(op, start, file_before);
}

static tutti_err staged_arrive(tutti_plan *p, tutti__op *op) {
    tutti__run *r = p->run;
    const double start = tutti__fiber_clock(), file_before = op->stats->seconds_file;
    r->holding = 0;
    if (!op->is_write) walk(r);
    wait_while(r, run_busy);
    count_exchange(op, start, file_before);
    return tutti__run_outcome(r);
}

static void staged_abort(tutti__run *r) {
    for (int i = 0; i < r->window_slots; i++)
        if (r->work[i].request && tutti__store_finish(&r->work[i].request, NULL) != TUTTI_OK)
            r->work[i].request = NULL;
}

const tutti__engine tutti__engine_staged = {.memory = staged_memory,
                                            .make = staged_make,
                                            .free = staged_free,
                                            .sleep = staged_sleep,
                                            .wake = staged_wake,
                                            .ready = staged_ready,
                                            .prepare = staged_prepare,
                                            .run = staged_run,
                                            .depart = staged_depart,
                                            .arrive = staged_arrive,
                                            .abort = staged_abort};
