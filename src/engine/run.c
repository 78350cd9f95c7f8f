/* engine: what both engines know of a run: the next windows of this rank's part, its first trouble.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/run.h"

tutti_count tutti__stay_after(const tutti__run *r, const tutti__stay *s, tutti_count cycle) {
    tutti_off lo, hi;
    const tutti_count c =
        tutti__route_next(&r->two->domains, r->op->access->file, s->aggregator, cycle);
    if (c < 0) return -1;
    tutti__domains_window(&r->two->domains, s->aggregator, c, &lo, &hi);
    return tutti__side_next(r->op->access->file, lo) < r->op->eof ? c : -1;
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

tutti_count tutti__load_next(const tutti__run *r, const tutti__load *l, tutti_count from) {
    const tutti__domains *d = &r->two->domains;
    tutti_off lo, hi;
    const tutti_count best = tutti__load_cycle(d, l, from);
    if (best < 0) return -1;
    tutti__domains_window(d, l->aggregator, best, &lo, &hi);
    return lo < r->op->eof ? best : -1;
}
