/* engine: what both engines know of a run: the next windows of this rank's part, its first trouble.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

#include "base/trace.h"

tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle) {
    tutti_off lo, hi;
    const tutti__side file = r->access->file;
    const tutti_count c = tutti__route_next(&r->two->domains, file, s->aggregator, cycle);
    if (c < 0) return -1;
    tutti__domains_window(&r->two->domains, s->aggregator, c, &lo, &hi);
    return tutti__side_next(file, lo) < r->op->eof ? c : -1;
}

void tutti__run_fail(tutti__run *r, tutti_err err) {
    if (r->err != TUTTI_OK) return;
    r->err = err;
    r->info = *tutti_last_error();
}

tutti_err tutti__run_outcome(const tutti__run *r) {
    if (r->err != TUTTI_OK) tutti__error_assign(&r->info);
    return r->err;
}

tutti_count tutti__incoming_next(const tutti__run *r, const tutti__incoming *l, tutti_count from) {
    const tutti__domains *d = &r->two->domains;
    tutti_off lo, hi;
    const tutti_count best = tutti__incoming_cycle(d, l, from);
    if (best < 0) return -1;
    tutti__domains_window(d, l->aggregator, best, &lo, &hi);
    return lo < r->op->eof ? best : -1;
}

void tutti__run_start(tutti__run *r, tutti__op *op) {
    const tutti__two_phase *t = r->two;
    r->op = op;
    r->access = t->walk ? t->walk : op->access;
    r->err = TUTTI_OK;
    r->done = 0;
    r->started = tutti__now();
    r->total = tutti__side_tell(op->access->file, op->eof);
    r->window_next = t->my_agg >= 0 ? tutti__incoming_next(r, &t->incoming, 0) : -1;
    for (int i = 0; i < t->destinations; i++)
        r->destination_next[i] =
            tutti__destination_after(r, &t->destination[i], t->destination[i].first);
}

tutti_off tutti__run_moved(const tutti__run *r) {
    return r->two->walk ? r->total : r->done;
}
