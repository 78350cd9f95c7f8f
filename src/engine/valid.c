/* engine: invariants between the steps of an engine, which also hold after errors.  Debug and
 * sanitizer builds assert them (TUTTI_ASSERT) before and after each step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

int tutti__run_is_valid(const tutti__run *r) {
    const tutti__two_phase *t = r->two;
    if (!r->op || !r->access || !tutti__two_phase_is_valid(t)) return 0;
    if (r->window_next < -1 || (r->window_next >= 0 && t->my_agg < 0)) return 0;
    if (r->window_slots > t->window_slots || r->relay_slots > t->relay_slots) return 0;
    for (int i = 0; i < t->destinations; i++)
        if (r->destination_next[i] < -1) return 0;
    return r->done >= 0 && r->total >= 0 && (t->trimmed || r->done <= r->total);
}

/* Check that a slot is open exactly while ranks copy, and that only an aggregator accesses the
 * file. */
int tutti__window_is_valid(const tutti__run *r, const tutti__window *w) {
    const int is_write = r->op->is_write, relays = w >= r->window + r->window_slots;
    const int copies = (w->phase == TUTTI__FILL && !w->full) || w->phase == TUTTI__SERVE;
    const int accesses = w->phase == TUTTI__STORE || w->phase == TUTTI__FETCH;
    if (w->io.request && !accesses) return 0;
    const int closed = tutti__slot_is_open(w->slot, TUTTI__CLOSED);
    if (!copies && !closed && !tutti__slot_is_open(w->slot, TUTTI__IN_FILE)) return 0;
    if (w->phase == TUTTI__IDLE && !closed) return 0;
    if (w->phase == TUTTI__IDLE) return 1;
    if (copies && !tutti__slot_is_open(w->slot, tutti__slot_key(w->incoming->aggregator, w->cycle)))
        return 0;
    if (w->phase != TUTTI__FILL &&
        is_write !=
            (w->phase == TUTTI__FULL || w->phase == TUTTI__STORE || w->phase == TUTTI__SEND))
        return 0;
    if (relays ? accesses || w->phase == TUTTI__FULL
               : w->phase == TUTTI__SEND || w->phase == TUTTI__RECEIVE)
        return 0;
    if (w->lo < 0 || w->hi <= w->lo || w->hi - w->lo > r->two->domains.window) return 0;
    return w->local >= 0 && w->local <= w->total && w->aux_used <= w->hi - w->lo &&
           w->traffics <= (relays ? 1 : w->incoming->sender_groups);
}

/* Check that runs are inside the window, ascend, and do not overlap. */
int tutti__window_io_is_valid(const tutti__window_io *w, int is_write) {
    tutti_off requested = 0, last = w->shift + w->lo;
    if (w->n < 0 || (size_t)w->n > w->capacity || (is_write && w->total > w->hi - w->lo)) return 0;
    for (int i = 0; i < w->n; i++) {
        const tutti_io_run *run = &w->run[i];
        if (run->bytes == 0 || run->offset < last) return 0;
        if ((char *)run->memory - w->stage != run->offset - w->shift - w->lo) return 0;
        last = run->offset + (tutti_off)run->bytes;
        requested += (tutti_off)run->bytes;
    }
    return last <= w->shift + w->hi && requested == w->requested;
}
