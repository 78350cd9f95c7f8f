/* plan: summary of the requests of all ranks: a few sums and bounds, and a coarse histogram.
 *
 * A summary is reduced over the ranks (min, max, sum); the empty summary is the identity element.
 * The histogram divides [lo, hi) into TUTTI__HISTOGRAM equal buckets; filling it takes one seek per
 * bucket within the bounds of the side, regardless of its number of runs.  Sums saturate.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan/domains.h"
#include "plan/scale.h"

static tutti_off add_saturated(tutti_off a, tutti_off b) {
    tutti_off r;
    return tutti__add_ok(a, b, &r) ? r : INT64_MAX;
}

tutti__summary tutti__summary_empty(void) {
    return (tutti__summary){.lo = INT64_MAX,
                            .hi = INT64_MIN,
                            .run = INT64_MAX,
                            .piece = INT64_MAX,
                            .first = INT64_MAX,
                            .last = INT64_MIN,
                            .min_bytes = INT64_MAX,
                            .start_min = INT64_MAX,
                            .start_max = INT64_MIN};
}

tutti__summary tutti__summary_of(tutti__side file, tutti_count memory_runs) {
    const tutti_off bytes = tutti__side_bytes(file);
    const tutti_count runs = tutti__side_runs(file);
    if (runs == 0) return tutti__summary_empty();
    const int64_t hash = (int64_t)tutti__side_hash(file);
    return (tutti__summary){.lo = tutti__side_lo(file),
                            .hi = tutti__side_hi(file),
                            .bytes = bytes,
                            .extents = tutti__side_hi(file) - tutti__side_lo(file),
                            .runs = runs,
                            .ranks = 1,
                            .max_bytes = bytes,
                            .run = bytes / runs,
                            .piece = bytes / tutti__max(runs, memory_runs),
                            .first = hash,
                            .last = hash,
                            .min_bytes = bytes,
                            .start_min = INT64_MIN, /* differs from start_max: not in rank order */
                            .start_max = INT64_MAX};
}

void tutti__summary_set_rank(tutti__summary *s, int rank) {
    tutti_off before;
    if (s->bytes == 0 || !tutti__mul_ok(s->bytes, rank, &before)) return;
    s->start_min = s->start_max = s->lo - before;
}

tutti__summary tutti__summary_merge(tutti__summary a, tutti__summary b) {
    return (tutti__summary){.lo = tutti__min(a.lo, b.lo),
                            .hi = tutti__max(a.hi, b.hi),
                            .bytes = add_saturated(a.bytes, b.bytes),
                            .extents = add_saturated(a.extents, b.extents),
                            .runs = add_saturated(a.runs, b.runs),
                            .ranks = a.ranks + b.ranks,
                            .max_bytes = tutti__max(a.max_bytes, b.max_bytes),
                            .run = tutti__min(a.run, b.run),
                            .piece = tutti__min(a.piece, b.piece),
                            .first = tutti__min(a.first, b.first),
                            .last = tutti__max(a.last, b.last),
                            .min_bytes = tutti__min(a.min_bytes, b.min_bytes),
                            .start_min = tutti__min(a.start_min, b.start_min),
                            .start_max = tutti__max(a.start_max, b.start_max),
                            .cold = a.cold || b.cold};
}

void tutti__histogram_add(tutti__side file, tutti_off lo, tutti_off hi,
                          tutti_off bucket[TUTTI__HISTOGRAM]) {
    const tutti_off from = tutti__max(lo, tutti__side_lo(file));
    const tutti_off to = tutti__min(hi, tutti__side_hi(file));
    if (tutti__side_bytes(file) == 0 || from >= to) return;

    const tutti_off last = tutti__part_of(hi - lo, to - 1 - lo, TUTTI__HISTOGRAM);
    tutti_off i = tutti__part_of(hi - lo, from - lo, TUTTI__HISTOGRAM);
    tutti_off before = tutti__side_tell(file, from);
    for (; i <= last; i++) {
        const tutti_off edge = lo + tutti__cut(hi - lo, i + 1, TUTTI__HISTOGRAM);
        const tutti_off upto = tutti__side_tell(file, tutti__min(edge, to));
        bucket[i] = add_saturated(bucket[i], upto - before);
        before = upto;
    }
}
