/* TEST ranks=0 timeout=60 */
/* Routes of random sides through random domains, compared with a byte map of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

enum { FILE_BYTES = 4096, SIDES = 4 };

static unsigned char map[SIDES][FILE_BYTES];

/* Make a random side: empty, one run, strided, or irregular; mark its bytes in `mark`. */
static tutti__side random_side(unsigned char *mark) {
    tutti_off offset[64], bytes[64];
    tutti_count n = 0;
    const int shape = (int)rnd(4);
    const tutti_off block = 1 + rnd(60), gap = rnd(300);
    tutti_off at = rnd(FILE_BYTES / 2);
    memset(mark, 0, FILE_BYTES);
    for (tutti_count most = shape == 0 ? 0 : shape == 1 ? 1 : 64; n < most; n++) {
        offset[n] = at;
        bytes[n] = shape == 3 ? 1 + rnd(60) : block;
        if (at + bytes[n] > FILE_BYTES) break;
        memset(mark + at, 1, (size_t)bytes[n]);
        at += bytes[n] + (shape == 3 ? 1 + rnd(rnd(8) ? 30 : 600) : gap);
    }
    tutti__side s = {0};
    if (n > 0 && shape < 3) return side_strided(offset[0], n, block, block + gap);
    if (n > 0) CHECK_OK(tutti__side_list(n, offset, bytes, 0, &s));
    return s;
}

static int window_touched(const tutti__domains *d, int a, tutti_count c,
                          const unsigned char *mark) {
    tutti_off lo, hi;
    tutti__domains_window(d, a, c, &lo, &hi);
    return lo < hi && memchr(mark + lo, 1, (size_t)(hi - lo)) != NULL;
}

/* Return the first cycle >= c of aggregator a whose window has marked bytes, or -1. */
static tutti_count next_touched(const tutti__domains *d, int a, tutti_count c,
                                const unsigned char *mark) {
    const tutti_count cycles = tutti__domains_cycles(d, a);
    while (c < cycles && !window_touched(d, a, c, mark)) c++;
    return c < cycles ? c : -1;
}

static void check_route(const tutti__domains *d, tutti__side side, const unsigned char *mark) {
    tutti__route route;
    int at = 0;
    CHECK_OK(tutti__route_make(d, side, &route));
    for (int a = 0; a < d->aggregators; a++) {
        const tutti_count first = next_touched(d, a, 0, mark);
        const int stops = at < route.n && route.stop[at].aggregator == a;
        CHECK_EQ(stops, first >= 0);
        if (stops) CHECK_EQ(route.stop[at++].cycle, first);
        for (tutti_count c = 0; c <= tutti__domains_cycles(d, a); c++)
            CHECK_EQ(tutti__route_next(d, side, a, c), next_touched(d, a, c, mark));
    }
    CHECK_EQ(at, route.n);
    tutti__route_free(&route);
}

static void check_random(void) {
    tutti__side side[SIDES];
    for (int i = 0; i < SIDES; i++) side[i] = random_side(map[i]);
    const cut_options options = {(int)rnd(4), 1 + (int)rnd(rnd(5) ? 12 : 400),
                                 (tutti_off)1 << rnd(8), 1 + rnd(300)};
    const tutti__domains d = sides_domains(SIDES, side, options);
    for (int i = 0; i < SIDES; i++) check_route(&d, side[i], map[i]);
    sides_free(SIDES, side);
}

/* Test a stride that reaches only every 12th of 3000 aggregators: the route is reduced several
 * times while it is built, and each entry is correct. */
static void check_cyclic_resonance(void) {
    tutti__side side = side_strided(0, 2000, 10, 12 * 64);
    const cut_options options = {TUTTI_DOMAINS_CYCLIC, 3000, 64, 64};
    const tutti__domains d = sides_domains(1, &side, options);
    tutti__route route;
    CHECK_OK(tutti__route_make(&d, side, &route));
    CHECK_EQ(route.n, 250);
    for (int i = 0; i < route.n; i++)
        CHECK(route.stop[i].aggregator == 12 * i && route.stop[i].cycle == 0, "stop %d", i);
    tutti__route_free(&route);
    tutti__side_free(&side);
}

/* A contiguous side reaches every aggregator in the first cycle; later windows (2^49 in total) are not
 * visited. */
static void check_cyclic_dense(int aggregators) {
    tutti__side side = side_strided(0, 1, (tutti_off)1 << 61, 0);
    const cut_options options = {TUTTI_DOMAINS_CYCLIC, aggregators, 4096, 4096};
    const tutti__domains d = sides_domains(1, &side, options);
    tutti__route route;
    CHECK_OK(tutti__route_make(&d, side, &route));
    CHECK_EQ(route.n, aggregators);
    tutti__route_free(&route);
    tutti__side_free(&side);
}

/* If an allocation fails, TUTTI_ERR_NOMEM is returned and nothing leaks. */
static void check_no_memory(int kind, int stops) {
    tutti__side side = side_strided(0, 200, 10, 100);
    const cut_options options = {kind, 100, 1, 7};
    const tutti__domains d = sides_domains(1, &side, options);
    const long live = tutti__memory_live();
    tutti__route route;
    for (long n = 1; n <= 4; n++) {
        tutti__memory_fail_after(n);
        CHECK_ERR(tutti__route_make(&d, side, &route), TUTTI_ERR_NOMEM);
        CHECK_EQ(tutti__memory_live(), live);
    }
    tutti__memory_fail_after(0);
    CHECK_OK(tutti__route_make(&d, side, &route));
    CHECK_EQ(route.n, stops);
    tutti__route_free(&route);
    tutti__side_free(&side);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(103);
    for (int i = 0; i < 1500; i++) check_random();
    check_cyclic_resonance();
    check_cyclic_dense(5);
    check_cyclic_dense(1000);
    check_no_memory(TUTTI_DOMAINS_EVEN, 100);
    check_no_memory(TUTTI_DOMAINS_CYCLIC, 16);
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
