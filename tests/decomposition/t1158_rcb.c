/* TEST ranks=0 timeout=60 */
/* Recursive coordinate bisection for any number of parts: parts have nearly equal sizes and are not
 * empty, ties are broken by index, and the parts of a line are contiguous.  Weights may be missing
 * or 0, and points may coincide.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "decomposition/rcb.h"

enum { POINTS = 3000, PARTS = 70 };
static double x[3 * POINTS];
static tutti_count weight[POINTS];
static int part[POINTS], again[POINTS];
static tutti_count count[2 * POINTS];

static void count_items(tutti_count n, int parts, const tutti_count *w) {
    memset(count, 0, sizeof count);
    for (tutti_count i = 0; i < n; i++) {
        CHECK(part[i] >= 0 && part[i] < parts, "point %lld in part %d", (long long)i, part[i]);
        count[part[i]] += w ? w[i] : 1;
    }
}

/* Check that the sizes of parts differ by at most one point. */
static void even(tutti_count n, int parts, const tutti_count *w) {
    CHECK_OK(tutti__rcb(n, x, w, parts, part));
    count_items(n, parts, NULL);
    for (int p = 0; p < parts; p++)
        CHECK(count[p] == n / parts || count[p] == n / parts + 1, "part %d of %d has %lld of %lld",
              p, parts, (long long)count[p], (long long)n);
    CHECK_OK(tutti__rcb(n, x, w, parts, again));
    CHECK(memcmp(part, again, (size_t)n * sizeof *part) == 0, "another outcome");
}

static void points(int kind) {
    for (int i = 0; i < 3 * POINTS; i++)
        x[i] = kind == 0   ? (double)rnd(1000000)
               : kind == 1 ? (double)rnd(3) /* many points coincide */
               : kind == 2 ? 5              /* all points coincide */
                           : (rnd(2) ? 1 : -1) * 1e308 * (double)rnd(1000) / 1000;
}

static void test_weighted(void) {
    for (int parts = 1; parts < PARTS; parts += 7) {
        tutti_count all = 0;
        for (int i = 0; i < POINTS; i++) all += weight[i] = rnd(10);
        CHECK_OK(tutti__rcb(POINTS, x, weight, parts, part));
        count_items(POINTS, parts, weight);
        for (int p = 0; p < parts; p++)
            CHECK(count[p] >= all / parts - 20 && count[p] <= all / parts + 20,
                  "part %d of %d has %lld of %lld", p, parts, (long long)count[p], (long long)all);
    }
    /* one point has all the weight */
    memset(weight, 0, sizeof weight);
    weight[77] = (tutti_count)1 << 61;
    CHECK_OK(tutti__rcb(POINTS, x, weight, 32, part));
    count_items(POINTS, 32, NULL);
    for (int p = 0; p < 32; p++) CHECK(count[p] > 0, "part %d is empty", p);
    weight[77] = 0;
    even(POINTS, 32, weight);
}

static void test_line(void) {
    for (int i = 0; i < 100; i++) {
        x[3 * i] = x[3 * i + 2] = 0;
        x[3 * i + 1] = (i * 37) % 100;
    }
    CHECK_OK(tutti__rcb(100, x, NULL, 10, part));
    for (int i = 0; i < 100; i++)
        CHECK(part[i] == (i * 37) % 100 / 10, "%d in %d", i * 37 % 100, part[i]);
    for (int i = 0; i < 300; i++) x[i] = 1;
    CHECK_OK(tutti__rcb(100, x, NULL, 10, part)); /* all points coincide: parts by index */
    for (int i = 0; i < 100; i++) CHECK(part[i] == i / 10, "%d in %d", i, part[i]);
}

int main(void) {
    check_seed(1158);
    for (int kind = 0; kind < 4; kind++) {
        points(kind);
        for (int parts = 1; parts < PARTS; parts += 1 + parts / 8)
            for (tutti_count n = POINTS; n > 0; n /= 3) even(n, parts, NULL);
        even(100, 300, NULL); /* each part has at most one point */
        test_weighted();
    }
    CHECK_OK(tutti__rcb(0, x, NULL, 4, part));
    test_line();
    return check_done();
}
