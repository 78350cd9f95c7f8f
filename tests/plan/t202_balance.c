/* TEST ranks=0 timeout=60 */
/* Requests with holes: with AUTO no aggregator is idle, and all have about the same number of bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

/* Return the bytes of all sides in the domain of aggregator a. */
static tutti_off domain_bytes(const tutti__domains *d, int n, const tutti__side *side, int a) {
    tutti_off lo, hi, sum = 0;
    tutti__domains_extent(d, a, &lo, &hi);
    for (int i = 0; i < n; i++) sum += tutti__side_bytes_in(side[i], lo, hi);
    return sum;
}

typedef struct {
    tutti_off least, most, total;
} load;

static load domains_load(const tutti__domains *d, int n, const tutti__side *side) {
    load l = {INT64_MAX, 0, 0};
    for (int a = 0; a < d->aggregators; a++) {
        const tutti_off bytes = domain_bytes(d, n, side, a);
        l.least = tutti__min(l.least, bytes);
        l.most = tutti__max(l.most, bytes);
        l.total += bytes;
    }
    return l;
}

/* Thakur and Choudhary, Figure 7(B): ranks 0 and 1 read the upper and lower halves of one block of columns
 * of a column-major array, ranks 2 and 3 those of another block.  With domains of equal size, aggregators
 * of columns that no rank reads are idle. */
static void check_figure_7b(void) {
    const tutti_off column = 400 * 8;
    tutti__side side[4];
    for (int r = 0; r < 4; r++)
        side[r] = side_strided(r / 2 * 300 * column + r % 2 * column / 2, 100, column / 2, column);

    const cut_options even = {TUTTI_DOMAINS_EVEN, 4, 512, 1 << 16};
    tutti__domains d = sides_domains(4, side, even);
    load l = domains_load(&d, 4, side);
    CHECK_EQ(l.least, 0);
    CHECK_EQ(l.total, 200 * column);

    for (int aggregators = 2; aggregators <= 40; aggregators++) {
        const cut_options any = {TUTTI_DOMAINS_AUTO, aggregators, 512, 1 << 16};
        d = sides_domains(4, side, any);
        if (aggregators >= 4) CHECK_EQ(d.kind, TUTTI_DOMAINS_BALANCED);
        l = domains_load(&d, 4, side);
        CHECK_EQ(l.total, 200 * column);
        CHECK(l.least > 0, "%d aggregators", aggregators);
        CHECK((double)l.most <= 1.25 * (double)l.total / aggregators, "%d aggregators: %lld",
              aggregators, (long long)l.most);
    }
    sides_free(4, side);
}

/* If holes are evenly distributed, domains have equal sizes in spite of the histogram. */
static void check_evenly_sparse(void) {
    tutti__side side = side_strided(4096, 10000, 100, 1000);
    const cut_options any = {TUTTI_DOMAINS_AUTO, 8, 512, 1 << 16};
    const tutti__summary s = sides_summary(1, &side);
    CHECK_EQ(tutti__domains_want_histogram(&s, TUTTI_DOMAINS_AUTO), 1);
    CHECK_EQ(sides_domains(1, &side, any).kind, TUTTI_DOMAINS_EVEN);
    tutti__side_free(&side);
}

static void check_wanted(void) {
    const tutti__summary none = tutti__summary_empty();
    const tutti__summary dense = {.lo = 10, .hi = 1010, .bytes = 1000, .runs = 1, .ranks = 1};
    const tutti__summary sparse = {.lo = 10, .hi = 1010, .bytes = 500, .runs = 9, .ranks = 2};
    for (int kind = TUTTI_DOMAINS_AUTO; kind <= TUTTI_DOMAINS_CYCLIC; kind++)
        CHECK_EQ(tutti__domains_want_histogram(&none, kind), 0);
    CHECK_EQ(tutti__domains_want_histogram(&dense, TUTTI_DOMAINS_AUTO), 0);
    CHECK_EQ(tutti__domains_want_histogram(&dense, TUTTI_DOMAINS_EVEN), 0);
    CHECK_EQ(tutti__domains_want_histogram(&sparse, TUTTI_DOMAINS_AUTO), 1);
    CHECK_EQ(tutti__domains_want_histogram(&sparse, TUTTI_DOMAINS_BALANCED), 1);
    CHECK_EQ(tutti__domains_want_histogram(&sparse, TUTTI_DOMAINS_EVEN), 0);
    CHECK_EQ(tutti__domains_want_histogram(&sparse, TUTTI_DOMAINS_CYCLIC), 0);
}

enum { RANKS = 12 };

static void random_sides(tutti__side side[RANKS]) {
    for (int r = 0; r < RANKS; r++) {
        const tutti_off bytes = 1 + rnd(2000);
        side[r] = side_strided(rnd(10000000), 1 + rnd(500), bytes, bytes + rnd(3000));
    }
}

/* Check that each bucket counts the bytes of all sides between its edges. */
static void check_histogram(void) {
    tutti__side side[RANKS];
    tutti_off bucket[TUTTI__HISTOGRAM] = {0};
    random_sides(side);
    const tutti__summary s = sides_summary(RANKS, side);
    const tutti_off extent = s.hi - s.lo;
    for (int r = 0; r < RANKS; r++) tutti__histogram_add(side[r], s.lo, s.hi, bucket);
    for (tutti_off i = 0; i < TUTTI__HISTOGRAM; i++) {
        const tutti_off lo = s.lo + extent * i / TUTTI__HISTOGRAM;
        const tutti_off hi = s.lo + extent * (i + 1) / TUTTI__HISTOGRAM;
        tutti_off sum = 0;
        for (int r = 0; r < RANKS; r++) sum += tutti__side_bytes_in(side[r], lo, hi);
        CHECK_EQ(bucket[i], sum);
    }
    sides_free(RANKS, side);
}

/* BALANCED: no aggregator exceeds the mean by more than the rounding to buckets and aligned units. */
static void check_balanced(void) {
    tutti__side side[RANKS];
    random_sides(side);
    const cut_options options = {TUTTI_DOMAINS_BALANCED, 1 + (int)rnd(30), 1 + rnd(4096), 65536};
    const tutti__domains d = sides_domains(RANKS, side, options);
    const load l = domains_load(&d, RANKS, side);
    tutti_off most = 0;
    for (int i = 0; i < TUTTI__HISTOGRAM; i++)
        most = tutti__max(most, d.before[i + 1] - d.before[i]);
    CHECK_EQ(d.kind, TUTTI_DOMAINS_BALANCED);
    CHECK_EQ(l.total, sides_summary(RANKS, side).bytes);
    CHECK(l.most <= l.total / d.aggregators + 2 * most + RANKS * options.align, "%lld of %lld",
          (long long)l.most, (long long)l.total);
    sides_free(RANKS, side);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(102);
    check_figure_7b();
    check_evenly_sparse();
    check_wanted();
    for (int i = 0; i < 100; i++) check_histogram();
    for (int i = 0; i < 300; i++) check_balanced();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
