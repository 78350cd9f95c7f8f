/* engine: state of a run that is common to both engines: the next windows of this rank, and its
 * first error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/fiber.h"
#include "base/trace.h"

tutti_err tutti__run_make(tutti_plan *p) {
    tutti__run *r = p->run = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    r->two = p->two;
    r->file = p->file;
    const size_t n = (size_t)p->two->destinations + 1;
    r->destination_next = tutti__calloc(n, sizeof *r->destination_next);
    return r->destination_next ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

void tutti__run_free(tutti__run *r) {
    tutti__free(r->destination_next);
    tutti__free(r);
}

void tutti__run_start(tutti__run *r, tutti__op *op) {
    const tutti__two_phase *t = r->two;
    r->op = op;
    r->access = t->trimmed ? t->trimmed : op->access;
    r->user = (tutti__user){r->access, op->buf, op->parts, t->trimmed != NULL};
    r->err = TUTTI_OK;
    r->done = 0;
    r->started = tutti__now();
    r->total = tutti__side_tell(op->access->file, op->eof);
    r->window_next = t->my_agg >= 0 ? tutti__incoming_next(t, &t->incoming, 0, op->eof) : -1;
    for (int i = 0; i < t->destinations; i++)
        r->destination_next[i] =
            tutti__destination_after(r, &t->destination[i], t->destination[i].first);
    TUTTI_ASSERT(tutti__run_is_valid(r));
}

tutti_err tutti__run_end(tutti__run *r) {
    TUTTI_ASSERT(tutti__run_is_valid(r));
    r->op->moved = r->two->trimmed ? r->total : r->done;
    if (r->err != TUTTI_OK) tutti__error_assign(&r->info);
    return r->err;
}

void tutti__run_fail(tutti__run *r, tutti_err err) {
    if (r->err != TUTTI_OK) return;
    r->err = err;
    r->info = *tutti_last_error();
}

int tutti__run_too_early(const tutti__run *r) {
    const int wait = r->file->opt.stagger;
    return wait > 0 && tutti__now() < r->started + 1e-6 * wait * r->two->my_agg;
}

tutti__turn tutti__turn_begin(const tutti__run *r) {
    return (tutti__turn){tutti__fiber_clock(), r->op->stats->seconds_file};
}

void tutti__turn_was_file(tutti__run *r, const tutti__turn *t) {
    r->op->stats->seconds_file = t->file + tutti__fiber_clock() - t->start;
}

void tutti__turn_rest_is_exchange(tutti__run *r, const tutti__turn *t) {
    const double file = r->op->stats->seconds_file - t->file;
    r->op->stats->seconds_exchange += tutti__fiber_clock() - t->start - file;
}

tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle) {
    tutti_off lo, hi;
    const tutti__side file = r->access->file;
    const tutti_count c = tutti__route_next(&r->two->domains, file, s->aggregator, cycle);
    if (c < 0) return -1;
    tutti__domains_window(&r->two->domains, s->aggregator, c, &lo, &hi);
    return tutti__side_next(file, lo) < r->op->eof ? c : -1;
}
