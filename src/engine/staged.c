/* engine: the staged engine: windows open as they become ready, in memory that the ranks of a node
 * share.  This file allocates the memory of the engine, copies the bytes of this rank, and contains
 * the loop that advances all roles; run.h gives an overview.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"
#include "comm/wait.h"

/* ---- memory, allocated with the plan, so that the execution allocates almost no memory */

static tutti_err staged_memory(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const size_t bytes =
        tutti__stage_bytes(t->groups->size, t->window_slots + t->relay_slots, t->domains.window);
    return p->means.resident ? tutti__resident_ensure(p, bytes)
                             : tutti__staging_ensure(p->file->team, t->shared, bytes);
}

/* Allocate buffers for messages.  Operations that are not in the background run one after the
 * other, and share the buffers of the team. */
static tutti_err staged_wake(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    tutti__run *r = p->run;
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
    const tutti__two_phase *t = p->two;
    TUTTI_TRY(tutti__run_make(p));
    tutti__run *r = p->run;
    r->window_slots = t->my_agg >= 0 ? t->window_slots : 0;
    r->relay_slots = t->relays > 0 ? t->relay_slots : 0;
    r->auxes = (int)tutti__min(r->window_slots, p->file->opt.sub_buffers);
    TUTTI_TRY(staged_wake(p));
    const int slots = r->window_slots + r->relay_slots;
    r->relay_next = tutti__calloc((size_t)t->relays + 1, sizeof *r->relay_next);
    r->window = tutti__calloc((size_t)slots + 1, sizeof *r->window);
    if (!r->relay_next || !r->window) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < slots; i++) {
        const int capacity = i < r->window_slots ? t->incoming.sender_groups : 1;
        r->window[i].traffic = tutti__calloc((size_t)capacity + 1, sizeof *r->window[i].traffic);
        if (!r->window[i].traffic) return TUTTI_ERR_NOMEM;
    }
    return TUTTI_OK;
}

static void staged_free(tutti__run *r) {
    for (int i = 0; r->window && i < r->window_slots + r->relay_slots; i++) {
        tutti__free(r->window[i].traffic);
        tutti__window_io_free(&r->window[i].io);
        tutti__extents_free(&r->window[i].extents);
    }
    tutti__free(r->window);
    tutti__free(r->relay_next);
    tutti__free(r->own);
    tutti__run_free(r);
}

/* Longer lists of runs are freed after a run. */
enum { RUNS_KEPT = 256 };

static void staged_sleep(tutti__run *r) {
    for (int i = 0; r->window && i < r->window_slots + r->relay_slots; i++) {
        tutti__window *w = &r->window[i];
        if (w->io.capacity > RUNS_KEPT || w->io.extents.capacity > RUNS_KEPT)
            tutti__window_io_free(&w->io);
        if (w->extents.capacity > RUNS_KEPT) tutti__extents_free(&w->extents);
    }
    tutti__free(r->own);
    r->own = NULL;
}

/* ---- starting */

static tutti__stage stage_of(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    char *base = p->means.resident ? p->memory.segment.base
                                   : p->file->team->staging->segment[t->shared ? 0 : 1].base;
    return (tutti__stage){base, t->groups->size, t->window_slots + t->relay_slots,
                          t->domains.window};
}

static int staged_ready(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const tutti__stage_form *form = &p->file->team->staging->form[t->shared ? 0 : 1];
    if (p->means.resident) return 1;
    return form->slots == t->window_slots + t->relay_slots && form->window == t->domains.window;
}

static void staged_prepare(const tutti_plan *p) {
    const tutti__stage stage = stage_of(p);
    if (!p->means.resident)
        p->file->team->staging->form[p->two->shared ? 0 : 1] =
            (tutti__stage_form){stage.slots, stage.window};
    if (p->two->groups->me == 0) *tutti__stage_event(&stage) = (tutti__event){.count = 0};
    for (int i = 0; i < stage.slots; i++)
        tutti__slot_make(tutti__stage_slot(&stage, p->two->groups->me, i));
}

/* ---- the loop */

/* Advance all windows; return 1 if some window has advanced. */
static int progress_windows(tutti__run *r) {
    const int is_write = r->op->is_write, n = r->window_slots;
    int moved = 0;
    for (int i = 0; i < (r->holding ? n : n + r->relay_slots); i++) {
        tutti__window *w = &r->window[i];
        TUTTI_ASSERT(tutti__window_is_valid(r, w));
        if (i < n)
            moved |= is_write ? tutti__aggregator_write(r, w) : tutti__aggregator_read(r, w);
        else
            moved |= is_write ? tutti__relay_write(r, w) : tutti__relay_read(r, w);
        TUTTI_ASSERT(tutti__window_is_valid(r, w));
    }
    return moved;
}

/* Test whether this rank waits for the file: for its own access, for its turn to begin one, or for
 * a window of destination `s` (may be NULL). */
static int waits_for_file(const tutti__run *r, const tutti__destination *s) {
    const tutti__two_phase *t = r->two;
    if (r->halves == TUTTI__FIRST_HALF) return tutti__run_too_early(r);
    for (int i = 0; i < r->window_slots; i++)
        if (r->window[i].io.request || (r->window[i].phase == TUTTI__FILL && r->window[i].full))
            return 1;
    if (!r->op->is_write && r->window_next >= 0 && tutti__run_too_early(r)) return 1;
    return s && !s->by_relay && tutti__stage_in_file(&r->stage, s->member, 0, t->window_slots);
}

/* Advance windows, or wait.  Only ranks that share the stage signal its event: messages, file
 * accesses in the background and the option stagger are polled. */
static void progress_or_wait(tutti__run *r, const tutti__destination *s, tutti__wait *w) {
    const tutti__turn turn = tutti__turn_begin(r);
    if (progress_windows(r)) {
        *w = tutti__wait_begin(r->file->team, r->event);
        return;
    }
    int polls = r->two->messages || r->file->opt.stagger > 0;
    for (int i = 0; i < r->window_slots; i++) polls |= r->window[i].io.request != NULL;
    w->event = polls ? NULL : r->event;
    w->transfers = 1;
    tutti__wait_turn(w);
    if (waits_for_file(r, s)) tutti__turn_was_file(r, &turn);
}

/* Copy the bytes of this rank, cycle by cycle: wait until the window is open, copy, add the bytes
 * to the slot. */
static void copy_own_bytes(tutti__run *r) {
    const tutti__two_phase *t = r->two;
    const tutti__op *op = r->op;
    for (;;) {
        tutti_count cycle = -1;
        for (int i = 0; i < t->destinations; i++)
            if (r->destination_next[i] >= 0 && (cycle < 0 || r->destination_next[i] < cycle))
                cycle = r->destination_next[i];
        if (cycle < 0) return;

        for (int i = 0; i < t->destinations; i++) {
            const tutti__destination *s = &t->destination[i];
            if (r->destination_next[i] != cycle) continue;
            const int64_t key = tutti__slot_key(s->aggregator, cycle);
            const int first = s->by_relay ? t->window_slots : 0;
            const int n = s->by_relay ? t->relay_slots : t->window_slots;
            int slot;
            tutti__wait w = tutti__wait_begin(r->file->team, r->event);
            while ((slot = tutti__stage_find(&r->stage, s->member, first, n, key)) < 0)
                progress_or_wait(r, s, &w);

            tutti_off lo, hi;
            const double start = tutti__trace_on() ? tutti__now() : 0;
            char *stage = tutti__stage_buffer(&r->stage, s->member, slot);
            tutti__domains_window(&t->domains, s->aggregator, cycle, &lo, &hi);
            hi = tutti__min(hi, op->eof);
            tutti_off bytes = 0;
            const tutti_err err = op->is_write
                                      ? tutti__user_to_stage(&r->user, lo, hi, stage, &bytes)
                                      : tutti__user_from_stage(&r->user, lo, hi, stage, &bytes);
            if (err != TUTTI_OK) tutti__run_fail(r, err);
            tutti__slot_moved(tutti__stage_slot(&r->stage, s->member, slot), bytes);
            if (s->member != t->groups->me) tutti__event_signal(r->event);
            tutti__trace_event("exchange", "copy", start, bytes, cycle);
            op->stats->copied_bytes += bytes;
            r->done += bytes;
            r->destination_next[i] = tutti__destination_after(r, s, cycle + 1);
            tutti__file_report(r->file, r->done, r->total, "exchange");
            (void)progress_windows(r);
        }
    }
}

/* Milestones of a run: all windows have been opened; all windows are complete, and relays have sent
 * their messages; the run has ended. */
typedef enum { OPENED, EXCHANGED, ENDED } milestone;

static int has_reached(const tutti__run *r, milestone m) {
    if (r->window_next >= 0) return 0;
    for (int i = 0; m > OPENED && i < r->two->relays; i++)
        if (r->relay_next[i] >= 0) return 0;
    for (int i = 0; m > OPENED && i < r->window_slots + r->relay_slots; i++) {
        const tutti__phase phase = r->window[i].phase;
        const int waits = phase == TUTTI__FILL || phase == TUTTI__FULL || phase == TUTTI__SEND;
        if (m == ENDED ? phase != TUTTI__IDLE : waits) return 0;
    }
    return 1;
}

static tutti_err staged_run(tutti_plan *p, tutti__op *op, int halves) {
    tutti__run *r = p->run;
    const tutti__two_phase *t = r->two;
    const int ends = halves & TUTTI__SECOND_HALF;
    r->op = op;
    const tutti__turn all = tutti__turn_begin(r);
    if (halves & TUTTI__FIRST_HALF) { /* all windows are idle */
        tutti__run_start(r, op);
        r->stage = stage_of(p);
        r->event = tutti__stage_event(&r->stage);
        r->tag = tutti__team_tag(r->file->team);
        for (int i = 0; i < t->relays; i++)
            r->relay_next[i] = tutti__incoming_next(t, &t->relay[i], 0, op->eof);
        r->aux = !t->messages ? NULL : r->own ? r->own : r->file->team->staging->aux.base;
        for (int i = 0; i < r->window_slots + r->relay_slots; i++) {
            tutti__window *w = &r->window[i];
            const int slot = i < r->window_slots ? i : t->window_slots + (i - r->window_slots);
            const int aux = i < r->window_slots ? i % r->auxes : r->auxes + i - r->window_slots;
            if (r->aux) w->aux = r->aux + (tutti_off)aux * t->domains.window;
            w->phase = TUTTI__IDLE;
            w->slot = tutti__stage_slot(&r->stage, t->groups->me, slot);
            w->stage = tutti__stage_buffer(&r->stage, t->groups->me, slot);
        }
    }
    r->holding = !ends && !op->is_write;
    r->halves = halves == TUTTI__BOTH_HALVES ? 0 : halves;
    if (halves & (op->is_write ? TUTTI__FIRST_HALF : TUTTI__SECOND_HALF)) copy_own_bytes(r);
    tutti__wait w = tutti__wait_begin(r->file->team, r->event);
    while (!has_reached(r, ends ? ENDED : op->is_write ? EXCHANGED : OPENED))
        progress_or_wait(r, NULL, &w);
    tutti__turn_rest_is_exchange(r, &all);
    const tutti_err err = ends ? tutti__run_end(r) : TUTTI_OK;
    /* All ranks execute operations that are not in the background in the same order, so all ranks
     * trim after the same operation. */
    if (!p->means.resident)
        tutti__staging_trim(r->file->team, t->shared, r->stage.slots * r->stage.window);
    return err;
}

static void staged_abort(tutti__run *r) {
    for (int i = 0; i < r->window_slots; i++) tutti__window_io_abort(&r->window[i].io);
}

const tutti__engine tutti__engine_staged = {.memory = staged_memory,
                                            .make = staged_make,
                                            .free = staged_free,
                                            .sleep = staged_sleep,
                                            .wake = staged_wake,
                                            .ready = staged_ready,
                                            .prepare = staged_prepare,
                                            .run = staged_run,
                                            .abort = staged_abort};
