/* TEST ranks=1 timeout=60 */
/* How experiments judge: who wins a series, what an improvement is, the regret, and the lower bound
 * of a median, each against what can be worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "../../cli/cli_error.c"
#include "../../cli/cli_text.c"
#include "../../cli/content.c"
#include "../../cli/measure.c"
#include "../../cli/exhibit.c"
#include "../../cli/contest.c"
#include "../../cli/exp_auto.c"

#define CHECK_NEAR(a, b) CHECK(fabs((a) - (b)) < 1e-9, "%g != %g", (double)(a), (double)(b))

/* Making points is not what is tested here. */
bench_cell *experiment_point(experiment *x, const point_spec *spec) {
    return (void)spec, &x->results.cell[0];
}
bench_entry *experiment_way(const experiment *x, bench_cell *point, const char *name,
                            const char *settings) {
    return (void)x, (void)name, (void)settings, &point->entry[0];
}
bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name) {
    return (void)x, (void)kind, (void)name, &point->entry[0];
}
const char *bench_pattern_kept_name(const char *name) {
    return name;
}

/* Two benchmarks, three ways, two series of three rounds. */
static double times[2][3][6] = {
    {{4, 9, 9, 8, 8, 8}, {5, 5, 5, 6, 6, 6}, {9, 2, 9, 9, 9, 9}},
    {{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}, {3, 3, 3, 3, 3, 3}},
};
static const char *const names[] = {"none", "one", "two"};

static bench_entry entries[2][3];
static bench_cell cells[2] = {{.pattern = "ior"}, {.pattern = "tile256"}};
static const bench_config config = {.rounds = 3, .series = 2};

static experiment make(void) {
    for (int p = 0; p < 2; p++) {
        for (int w = 0; w < 3; w++) {
            bench_entry *e = &entries[p][w];
            *e = (bench_entry){.rounds = 6, .seconds = times[p][w]};
            snprintf(e->name, sizeof e->name, "%s", names[w]);
        }
        cells[p].dir = ".";
        cells[p].entries = 3;
        cells[p].entry = entries[p];
    }
    return (experiment){.results = {.config = &config, .cells = 2, .cell = cells}};
}

static double value_at(const exhibit *e, const char *row, const char *column) {
    for (int r = 0; r < e->rows; r++)
        for (int c = 0; c < e->columns; c++)
            if (strcmp(e->row[r], row) == 0 && strcmp(e->column[c], column) == 0)
                return exhibit_get(e, r, c) ? exhibit_get(e, r, c)->mid : -1;
    return -1;
}

static void forget(exhibit *e) {
    free(e->row);
    free(e->column);
    free(e->item);
    *e = (exhibit){0};
}

static void check_wins(void) {
    const experiment x = make();
    contest c = {.names = names, .n = 3};
    exhibit e = {0};
    check_where("wins");
    contest_wins(&x, &c, ".", &e); /* by the least: series 0 goes to "two" (2), 1 to "one" (6) */
    CHECK_NEAR(value_at(&e, "IOR", "none"), 0);
    CHECK_NEAR(value_at(&e, "IOR", "one"), 1);
    CHECK_NEAR(value_at(&e, "IOR", "two"), 1);
    CHECK_NEAR(value_at(&e, "Tile 256 B", "none"), 2);
    CHECK_NEAR(value_at(&e, "in all", "none"), 2);
    CHECK_NEAR(contest_share(&x, &c, "one"), 25);
    forget(&e);
    c.by_median = 1;
    contest_wins(&x, &c, ".", &e); /* by the median: 9, 5, 9 and 8, 6, 9 */
    CHECK_NEAR(value_at(&e, "IOR", "one"), 2);
    forget(&e);
    contest_wins(&x, &c, "elsewhere", &e);
    CHECK_EQ(e.n, 0);
    entries[0][0].rounds = entries[0][1].rounds = entries[0][2].rounds = 2;
    CHECK_EQ(series_of(&x, &cells[0]), 1); /* cut short: one series, not none */
}

static void check_improvement(void) {
    const experiment x = make();
    const contest c = {.names = names, .n = 3};
    exhibit e = {0};
    check_where("improvement");
    contest_improvement(&x, &c, ".", 0, &e); /* "two": 4 -> 2 is 50 %, 8 -> 9 does not count */
    CHECK_NEAR(value_at(&e, "IOR", "two"), 50);
    CHECK_NEAR(value_at(&e, "IOR", "one"), 25); /* 4 -> 5 does not, 8 -> 6 does */
    CHECK_NEAR(value_at(&e, "Tile 256 B", "one"), 0);
    forget(&e);
    contest_improvement(&x, &c, ".", 1, &e);
    CHECK_NEAR(value_at(&e, "IOR", "two"), (50 - 12.5) / 2);
    CHECK_NEAR(value_at(&e, "Tile 256 B", "two"), -200);
    forget(&e);
}

static void check_bounds(void) {
    static const int known[][2] = {{4, 0}, {5, 1}, {7, 1}, {8, 2}, {20, 6}, {100, 42}};
    check_where("bounds");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_EQ(sign_rank(known[i][0]), known[i][1]);
    const int many = sign_rank(4000); /* near the normal distribution's */
    CHECK(many > 1940 && many < 1955, "%d", many);
    const double eight[] = {8, 1, 7, 2, 6, 3, 5, 4};
    CHECK_NEAR(lower_bound(eight, 8), 2);
    CHECK_NEAR(lower_bound(eight, 4), 0);
}

/* Even rounds choose, odd rounds judge. */
static void check_regret(void) {
    double ours[] = {9, 2, 9, 2}, lucky[] = {1, 4, 1, 4}, steady[] = {2, 1, 2, 1};
    bench_entry ways[] = {{.name = AUTO, .rounds = 4, .seconds = ours},
                          {.name = "list", .rounds = 4, .seconds = lucky},
                          {.name = "shm", .rounds = 4, .seconds = steady}};
    const bench_cell point = {.entries = 3, .entry = ways};
    double regrets[1];
    verdict v = {.regret = regrets};
    exhibit e = {0};
    check_where("regret");
    CHECK(best_fixed(&point) == &ways[1]);
    judge_regret(&point, "p", &v, &e);
    CHECK_EQ(v.judged, 1);
    CHECK_NEAR(regrets[0], -50);
    forget(&e);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_wins();
    check_improvement();
    check_bounds();
    check_regret();
    MPI_Finalize();
    return check_done();
}
