/* TEST ranks=0 timeout=60 */
/* Extreme requests: no bytes on any rank, one byte in total, offsets near 2^62, one huge run, huge options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

static const tutti_off far = ((tutti_off)1 << 62) - 1; /* largest end of an access */

static int route_stops(const tutti__domains *d, tutti__side side) {
    tutti__route route;
    CHECK_OK(tutti__route_make(d, side, &route));
    const int n = route.n;
    tutti__route_free(&route);
    return n;
}

static void check_empty(void) {
    const tutti__side none = {0};
    const tutti__summary s =
        tutti__summary_merge(tutti__summary_of(none, 0), tutti__summary_empty());
    tutti_off bucket[TUTTI__HISTOGRAM] = {0};
    CHECK(s.lo > s.hi && s.bytes == 0 && s.ranks == 0, "summary of nothing");
    tutti__histogram_add(none, 0, 100, bucket);
    for (int kind = TUTTI_DOMAINS_AUTO; kind <= TUTTI_DOMAINS_CYCLIC; kind++) {
        tutti__domains d;
        const tutti__domain_rule rule = {kind, 5, 4096, 1 << 20, bucket, NULL};
        tutti__domains_make(&s, &rule, &d);
        for (int a = 0; a < 5; a++) {
            tutti_off lo, hi;
            CHECK_EQ(tutti__domains_cycles(&d, a), 0);
            tutti__domains_window(&d, a, 0, &lo, &hi);
            CHECK_EQ(lo, hi);
            CHECK_EQ(tutti__route_next(&d, none, a, 0), -1);
        }
        CHECK_EQ(route_stops(&d, none), 0);
    }
}

/* One rank has one byte, the other ranks have none. */
static void check_one_byte(tutti_off offset) {
    tutti__side side[3] = {{0}};
    CHECK_OK(tutti__side_run(offset, 1, &side[1]));
    const tutti__summary s = sides_summary(3, side);
    CHECK(s.lo == offset && s.hi == offset + 1 && s.ranks == 1 && s.runs == 1, "summary");
    for (int kind = TUTTI_DOMAINS_AUTO; kind <= TUTTI_DOMAINS_CYCLIC; kind++) {
        const tutti__domains d = sides_domains(3, side, (cut_options){kind, 3, 4096, 1 << 20});
        tutti_count cycles = 0;
        for (int a = 0; a < 3; a++) cycles += tutti__domains_cycles(&d, a);
        CHECK_EQ(cycles, 1);
        CHECK_EQ(route_stops(&d, side[0]), 0);
        CHECK_EQ(route_stops(&d, side[1]), 1);
    }
    sides_free(3, side);
}

/* Check that the windows of the route contain the whole run of `bytes` bytes at `offset`. */
static void check_run(tutti_off offset, tutti_off bytes, cut_options options) {
    tutti__side side = side_strided(offset, 1, bytes, 0);
    const tutti__domains d = sides_domains(1, &side, options);
    tutti__route route;
    tutti_off sum = 0, lo, hi;
    CHECK_OK(tutti__route_make(&d, side, &route));
    for (int i = 0; i < route.n; i++)
        for (tutti_count c = route.stop[i].cycle; c >= 0;
             c = tutti__route_next(&d, side, route.stop[i].aggregator, c + 1)) {
            tutti__domains_window(&d, route.stop[i].aggregator, c, &lo, &hi);
            sum += tutti__side_bytes_in(side, lo, hi);
        }
    CHECK_EQ(sum, bytes);
    tutti__route_free(&route);
    tutti__side_free(&side);
}

static void check_far(void) {
    for (int kind = TUTTI_DOMAINS_AUTO; kind <= TUTTI_DOMAINS_CYCLIC; kind++) {
        check_run(0, far, (cut_options){kind, 1000, 1 << 20, (tutti_off)1 << 52});
        check_run(12345, far - 12345, (cut_options){kind, 7, 4096, far});
        check_run(far - 1000003, 1000003, (cut_options){kind, 9, 512, 10000});
        check_run(far - 1, 1, (cut_options){kind, 9, 1, 1});
        check_run(17, 1000, (cut_options){kind, 3, INT64_MAX, INT64_MAX});
        check_run(far - 17, 17, (cut_options){kind, 3, INT64_MAX, INT64_MAX});
        check_run(17, 1000, (cut_options){kind, 3, 1, INT64_MAX});
        check_run(17, 1000, (cut_options){kind, 3, 4096, 0});
        check_run(17, 1000, (cut_options){kind, INT32_MAX, 1, 1});
    }
}

/* Test two bytes with the largest possible distance: the windows in the hole are not visited. */
static void check_far_apart(void) {
    tutti__side side = side_strided(0, 2, 1, far - 1);
    for (int kind = TUTTI_DOMAINS_AUTO; kind <= TUTTI_DOMAINS_CYCLIC; kind++) {
        const cut_options options = {kind, 4, 1 << 20, (tutti_off)1 << 50};
        const tutti__domains d = sides_domains(1, &side, options);
        int a, b;
        tutti_count c;
        tutti__domains_find(&d, 0, &a, &c);
        tutti__domains_find(&d, far - 1, &b, &c);
        CHECK(a < b && b == 3, "aggregators %d and %d", a, b);
        CHECK_EQ(route_stops(&d, side), 2);
        CHECK_EQ(tutti__route_next(&d, side, b, 1), c);
        CHECK_EQ(tutti__route_next(&d, side, a, 1), -1);
    }
    tutti__side_free(&side);
}

/* Sums over many ranks with huge accesses saturate instead of wrapping. */
static void check_sums(void) {
    tutti__summary s = {
        .lo = 0, .hi = far, .bytes = far, .runs = far, .ranks = 1, .max_bytes = far};
    for (int i = 0; i < 4; i++) s = tutti__summary_merge(s, s);
    CHECK_EQ(s.bytes, INT64_MAX);
    CHECK_EQ(s.runs, INT64_MAX);
    CHECK_EQ(s.ranks, 16);
    CHECK_EQ(s.max_bytes, far);
}

int main(void) {
    const long live = tutti__memory_live();
    check_empty();
    check_one_byte(0);
    check_one_byte(4095);
    check_one_byte(far - 1);
    check_far();
    check_far_apart();
    check_sums();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
