/* TEST ranks=0 timeout=60 */
/* Domains of random requests: the windows tile [lo, hi) exactly and are aligned, and
 * tutti__domains_find returns the window of each offset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

static const int kinds[] = {TUTTI_DOMAINS_AUTO, TUTTI_DOMAINS_EVEN, TUTTI_DOMAINS_BALANCED,
                            TUTTI_DOMAINS_CYCLIC};

static tutti_off random_align(void) {
    static const tutti_off aligns[] = {1, 1, 3, 7, 512, 4096, 65536, 1 << 20};
    return aligns[rnd(8)];
}

static tutti__summary random_summary(void) {
    const tutti_off lo = rnd((tutti_off)1 << (4 + rnd(58)));
    const tutti_off extent = 1 + rnd((tutti_off)1 << (1 + rnd(60)));
    return (tutti__summary){
        .lo = lo, .hi = lo + extent, .bytes = extent, .runs = 1, .ranks = 1, .max_bytes = extent};
}

static tutti_off edge(tutti_off lo, tutti_off hi, int i) {
    return lo + (tutti_off)((__int128)(hi - lo) * i / TUTTI__HISTOGRAM);
}

/* Make a histogram that is flat, random, mostly empty, or concentrated in one bucket; buckets of width 0
 * have no bytes. */
static void random_buckets(tutti_off lo, tutti_off hi, tutti_off bucket[TUTTI__HISTOGRAM]) {
    const int shape = (int)rnd(4);
    const tutti_off most = (tutti_off)1 << rnd(60);
    for (int i = 0; i < TUTTI__HISTOGRAM; i++)
        bucket[i] = shape == 0 ? most : shape == 2 && rnd(8) ? 0 : rnd(most + 1);
    if (shape == 3) {
        memset(bucket, 0, TUTTI__HISTOGRAM * sizeof *bucket);
        bucket[rnd(TUTTI__HISTOGRAM)] = most;
    }
    for (int i = 0; i < TUTTI__HISTOGRAM; i++)
        if (edge(lo, hi, i) == edge(lo, hi, i + 1)) bucket[i] = 0;
}

static void check_find(const tutti__domains *d, tutti_off offset, int a, tutti_count c) {
    int found;
    tutti_count cycle;
    tutti__domains_find(d, offset, &found, &cycle);
    CHECK(found == a && cycle == c, "find(%lld) = (%d, %lld), not (%d, %lld)", (long long)offset,
          found, (long long)cycle, a, (long long)c);
}

/* Check window c of aggregator a, which begins at `from`; return its end. */
static tutti_off check_window(const tutti__domains *d, int a, tutti_count c, tutti_off from) {
    tutti_off lo, hi;
    tutti__domains_window(d, a, c, &lo, &hi);
    CHECK_EQ(lo, from);
    CHECK(lo < hi && hi <= d->hi && hi - lo <= d->window, "(%d, %lld)", a, (long long)c);
    CHECK_EQ(lo % d->align, 0);
    CHECK(hi == d->hi || hi % d->align == 0, "end %lld", (long long)hi);
    check_find(d, lo, a, c);
    check_find(d, hi - 1, a, c);
    check_find(d, lo + rnd(hi - lo), a, c);
    return hi;
}

static void check_no_window(const tutti__domains *d, int a, tutti_count c) {
    tutti_off lo, hi;
    tutti__domains_window(d, a, c, &lo, &hi);
    CHECK_EQ(lo, hi);
}

/* Check all windows in file order. */
static void check_tiling(const tutti__domains *d) {
    const int cyclic = d->kind == TUTTI_DOMAINS_CYCLIC;
    tutti_off at = d->lo, lo, hi;
    tutti_count rounds = cyclic ? tutti__domains_cycles(d, 0) : 1;
    for (tutti_count r = 0; r < rounds; r++)
        for (int a = 0; a < d->aggregators; a++) {
            const tutti_count cycles = tutti__domains_cycles(d, a);
            tutti__domains_extent(d, a, &lo, &hi);
            if (!cyclic) CHECK_EQ(lo, at);
            if (cyclic && r < cycles) at = check_window(d, a, r, at);
            for (tutti_count c = 0; c < cycles && !cyclic; c++) at = check_window(d, a, c, at);
            if (!cyclic) CHECK_EQ(hi, at);
            check_no_window(d, a, cycles);
            check_no_window(d, a, INT64_MAX);
        }
    CHECK_EQ(at, d->hi);
}

/* Return the bytes before an offset by linear interpolation in the histogram. */
static double bytes_before(const tutti__domains *d, const tutti_off *bucket, tutti_off offset) {
    double sum = 0;
    for (int i = 0; i < TUTTI__HISTOGRAM; i++) {
        const tutti_off from = edge(d->first, d->hi, i), to = edge(d->first, d->hi, i + 1);
        if (offset >= to)
            sum += (double)bucket[i];
        else if (offset > from)
            sum += (double)bucket[i] * (double)(offset - from) / (double)(to - from);
    }
    return sum;
}

/* Check that every boundary between balanced domains is at most one aligned unit before the offset that
 * divides the bytes exactly. */
static void check_balance(const tutti__domains *d, const tutti_off *bucket) {
    const double total = bytes_before(d, bucket, d->hi), rounding = total * 1e-9 + 1;
    for (int a = 1; a < d->aggregators; a++) {
        tutti_off lo, hi;
        tutti__domains_extent(d, a, &lo, &hi);
        const double target = total / d->aggregators * a;
        CHECK(bytes_before(d, bucket, lo) <= target + rounding, "cut %d too late", a);
        CHECK(bytes_before(d, bucket, lo + d->align + 1) >= target - rounding, "cut %d too early",
              a);
    }
}

static void check_random(void) {
    const tutti__summary s = random_summary();
    const int kind = kinds[rnd(4)], aggregators = 1 + (int)rnd(rnd(10) ? 20 : 600);
    const tutti_off align = random_align(), extent = s.hi - s.lo;
    const tutti_off window = extent / (1 + rnd(300)) + rnd(2 * align);
    tutti_off bucket[TUTTI__HISTOGRAM];
    tutti__domains d;
    random_buckets(s.lo, s.hi, bucket);
    const tutti__domain_rule rule = {kind, aggregators, align, window, rnd(4) ? bucket : NULL,
                                     NULL};
    tutti__domains_make(&s, &rule, &d);
    CHECK(d.lo <= s.lo && s.lo - d.lo < align && d.hi == s.hi, "bounds");
    CHECK(d.window > 0 && d.window % align == 0, "window %lld", (long long)d.window);
    CHECK(d.window <= window || d.window == align, "window %lld", (long long)d.window);
    CHECK(kind == TUTTI_DOMAINS_AUTO ? d.kind != TUTTI_DOMAINS_CYCLIC
                                     : d.kind == kind || d.kind == TUTTI_DOMAINS_EVEN,
          "kind %d", d.kind);
    check_tiling(&d);
    if (d.kind == TUTTI_DOMAINS_BALANCED) check_balance(&d, bucket);
}

/* ARRAY: windows tile the request, and every boundary inside the request is a boundary of a slab of the
 * array, rounded down to the alignment. */
static void check_array(void) {
    const tutti__summary s = random_summary();
    const int aggregators = 1 + (int)rnd(rnd(10) ? 20 : 600);
    const tutti_off align = random_align(), extent = s.hi - s.lo;
    const tutti_off window = extent / (1 + rnd(300)) + rnd(2 * align);
    const tutti_off before = rnd(s.lo + 1), array_bytes = extent + before + rnd(extent);
    const tutti_count n = 1 + rnd(1 + array_bytes / (1 + rnd(1000)));
    const tutti__slabs slabs = {s.lo - before, 1 + array_bytes / n, n};
    tutti__domains d;
    const tutti__domain_rule rule = {TUTTI_DOMAINS_ARRAY, aggregators, align, window, NULL, &slabs};
    tutti__domains_make(&s, &rule, &d);
    CHECK(tutti__domains_is_valid(&d), "not valid");
    check_tiling(&d);
    for (int a = 1; a < aggregators; a++) {
        tutti_off lo, hi, want = slabs.at + (tutti_off)((__int128)n * a / aggregators) * slabs.slab;
        tutti__domains_extent(&d, a, &lo, &hi);
        want -= want % align;
        want = want < d.lo ? d.lo : want > d.hi ? d.hi : want;
        CHECK_EQ(lo, want);
    }
}

/* EVEN: as many aggregators are used as there are aligned units, and sizes differ by at most one unit. */
static void check_even(int aggregators, tutti_count units) {
    const tutti_off align = 4096;
    const tutti__summary s = {.lo = 100 * align + 17, .hi = (100 + units) * align - 5};
    tutti__domains d;
    int busy = 0;
    const tutti__domain_rule rule = {TUTTI_DOMAINS_EVEN, aggregators, align, align, NULL, NULL};
    tutti__domains_make(&s, &rule, &d);
    for (int a = 0; a < aggregators; a++) {
        const tutti_count cycles = tutti__domains_cycles(&d, a);
        CHECK(cycles == units / aggregators || cycles == (units + aggregators - 1) / aggregators,
              "%lld cycles", (long long)cycles);
        busy += cycles > 0;
    }
    CHECK_EQ(busy, units < aggregators ? units : aggregators);
    CHECK_EQ(d.share, (units + aggregators - 1) / aggregators * align);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(100);
    for (int i = 0; i < 2000; i++) check_random(), check_array();
    for (int i = 0; i < 200; i++) check_even(1 + (int)rnd(40), 1 + rnd(100));
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
