/* Common part of tests of the plan: sides of accesses.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_PLAN_TEST_H
#define TUTTI_TESTS_PLAN_TEST_H

#include <tutti/options.h>
#include "check.h"
#include "plan/domains.h"

/* Return the side of `count` runs of `bytes` bytes, `stride` apart, the first at `offset`. */
static inline tutti__side side_strided(tutti_off offset, tutti_count count, tutti_off bytes,
                                       tutti_off stride) {
    tutti__side run = {0}, all = {0};
    CHECK_OK(tutti__side_run(offset, bytes, &run));
    if (count == 1) return run;
    CHECK_OK(tutti__side_vec(run, count, stride, &all));
    return all;
}

/* Return the side of block (row, col) of a row-major n x n array of `size`-byte elements in p x p blocks. */
static inline tutti__side side_block(tutti_count n, tutti_off size, int p, int row, int col) {
    const tutti_count edge = n / p;
    return side_strided((row * edge * n + col * edge) * size, edge, edge * size, n * size);
}

/* Return the summary of n sides, which ranks compute by a reduction. */
static inline tutti__summary sides_summary(int n, const tutti__side *side) {
    tutti__summary s = tutti__summary_empty();
    for (int i = 0; i < n; i++) s = tutti__summary_merge(s, tutti__summary_of(side[i], 0));
    return s;
}

typedef struct {
    int kind, aggregators;
    tutti_off align, window;
} cut_options;

static inline tutti__domains sides_domains(int n, const tutti__side *side, cut_options o) {
    const tutti__summary s = sides_summary(n, side);
    const int want = tutti__domains_want_histogram(&s, o.kind);
    tutti_off bucket[TUTTI__HISTOGRAM] = {0};
    tutti__domains d;
    for (int i = 0; i < n && want; i++) tutti__histogram_add(side[i], s.lo, s.hi, bucket);
    const tutti__domain_rule rule = {o.kind,   o.aggregators,        o.align,
                                     o.window, want ? bucket : NULL, NULL};
    tutti__domains_make(&s, &rule, &d);
    return d;
}

static inline void sides_free(int n, tutti__side *side) {
    for (int i = 0; i < n; i++) tutti__side_free(&side[i]);
}

#endif
