/* TEST ranks=1 timeout=60 own=1 */
/* How experiments judge: who wins a series, what an improvement is, the regret, and the lower bound
 * of a median, each against what can be worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "common/cli_measuring.c"
#include "common/cli_output.c"
#include "common/cli_guard.c"
#include "bench/content.c"
#include "bench/measure.c"
#include "experiments/exhibit.c"
#include "experiments/claims.c"
#include "experiments/contest.c"
#include "experiments/exp_auto.c"

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
const char *experiment_background_store(const experiment *x, int direct) {
    return (void)x, (void)direct, "threads";
}
int experiment_ops(const experiment *x, int out[2]) {
    return out[0] = 0, x ? 1 : 0;
}
tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct) {
    return (void)x, (void)point, direct ? 4 << 20 : 512 << 10;
}
void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size) {
    snprintf(out, size, "cb_nodes=%d window_size=%lld", point->ranks,
             (long long)experiment_window(x, point, direct));
}
const bench_runner flash_calls, flash_calls_peer;
void report_json_pair(FILE *f, const char *key, const char *value) {
    fprintf(f, "\"%s\": \"%s\", ", key, value);
}
tutti_off bench_tile_element(tutti_off size, tutti_off element) {
    return element < size ? element : size;
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
static bench_cell cells[2] = {{.pattern = "ior", .is_write = 1},
                              {.pattern = "tile256", .is_write = 1, .size = 1 << 20}};
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
    c.is_read = 1;
    contest_wins(&x, &c, ".", &e); /* there are none */
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
    char text[64];
    exhibit_format(&e, exhibit_get(&e, 1, 0), text, sizeof text);
    CHECK(strcmp(text, "-") == 0, "%s", text); /* nothing got better there */
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
        CHECK_EQ(sign_rank(known[i][0], 0.05), known[i][1]);
    CHECK_EQ(sign_rank(5, 0.025), 0);
    CHECK_EQ(sign_rank(6, 0.025), 1);
    const int many = sign_rank(4000, 0.05); /* near the normal distribution's */
    CHECK(many > 1940 && many < 1955, "%d", many);
    const double eight[] = {8, 1, 7, 2, 6, 3, 5, 4};
    CHECK_NEAR(lower_bound(eight, 8), 2);
    CHECK_NEAR(lower_bound(eight, 4), 0);
}

/* Of seven values the second and the sixth: the least is the median of fewer than 2.5 of 100 samples. */
static void check_claims(void) {
    const double seven[] = {7, 1, 6, 2, 5, 3, 4}, same[] = {2, 2, 2, 2, 2};
    double lo = 0, hi = 0;
    check_where("claims");
    CHECK_EQ(claim_bounds(seven, 7, &lo, &hi), 1);
    CHECK_NEAR(lo, 2);
    CHECK_NEAR(hi, 6);
    CHECK_EQ(claim_bounds(same, 5, &lo, &hi), 1);
    CHECK_NEAR(lo, 2);
    CHECK_NEAR(hi, 2);
    CHECK_EQ(claim_bounds(seven, 4, &lo, &hi), 0); /* too few: the least and the largest */
    CHECK_NEAR(lo, 1);
    CHECK_NEAR(hi, 7);
    experiment x = make();
    const bench_cell *point[] = {&cells[0], &cells[1]};
    claim_faster(&x, "here", &cells[1], "two", "none"); /* 3 over 1 in all six rounds */
    claim_faster_all(&x, "here", 2, point, "one", "none");
    CHECK_EQ(x.claims, 2);
    CHECK_NEAR(x.claim[0].value, 3);
    CHECK(strcmp(says(&x.claim[0]), "none is faster than two") == 0, "%s", says(&x.claim[0]));
    /* sqrt(5/4 * 2), sqrt(5/9 * 2), ..., sqrt(6/8 * 2): the median of two of 1.05 and three of 1.22 and one of 1.58 */
    CHECK_NEAR(x.claim[1].value, sqrt(1.5));
    CHECK(x.claim[1].low <= x.claim[1].value && x.claim[1].value <= x.claim[1].high);
    claim_faster(&x, "here", &cells[1], "two", "nobody");
    CHECK_EQ(x.claims, 2);
    free(x.claim);
}

/* Half of the ranks are aggregators; without overlap a buffer is one of twice the size. */
static void check_stage(void) {
    const experiment x = make();
    const bench_cell five = {.ranks = 5}, one = {.ranks = 1};
    char with[200], without[200];
    check_where("stage");
    contest_stage(&x, &five, 1, with, sizeof with);
    contest_stage(&x, &five, 0, without, sizeof without);
    CHECK(strstr(with, " cb_nodes=2 window_size=524288"), "%s", with);
    CHECK(strstr(without, " cb_nodes=2 window_size=1048576"), "%s", without);
    contest_stage(&x, &one, 1, with, sizeof with);
    CHECK(strstr(with, " cb_nodes=1 "), "%s", with);
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
    CHECK_EQ(v.intervals, 0); /* two rounds judge: too few */
    forget(&e);
}

/* Six rounds judge: the interval is from the least to the largest difference. */
static void check_interval(void) {
    double ours[12], best[12], lo, hi;
    for (int i = 0; i < 12; i++) {
        ours[i] = i % 2 ? 1 + i / 100.0 : 9;
        best[i] = 1;
    }
    const bench_entry a = {.rounds = 12, .seconds = ours}, b = {.rounds = 12, .seconds = best};
    check_where("interval");
    CHECK_EQ(difference(&a, &b, &lo, &hi), 1);
    CHECK_NEAR(lo, 1);
    CHECK_NEAR(hi, 11);
    const bench_entry cut = {.rounds = 10, .seconds = best};
    CHECK_EQ(difference(&a, &cut, &lo, &hi), 0);
}

/* Who failed does not count. */
static void check_failures(void) {
    double seconds[] = {1};
    bench_entry e = {.name = "shm", .rounds = 1, .seconds = seconds};
    const bench_cell point = {.entries = 1, .entry = &e};
    check_where("failures");
    CHECK(point_entry(&point, "shm") == &e);
    snprintf(e.failure, sizeof e.failure, "later");
    CHECK(point_entry(&point, "shm") == NULL);
}

/* Who is more than 3 times as slow as the fastest rests after 3 rounds, the MPI library after 5. */
static void check_resting(void) {
    double fast[] = {1, 1, 1, 1, 1}, slow[] = {4, 4, 4, 4, 4}, fair[] = {2, 9, 2, 2, 2};
    bench_entry ways[] = {{.kind = ENTRY_TUTTI, .seconds = fast},
                          {.kind = ENTRY_TUTTI, .seconds = slow},
                          {.kind = ENTRY_TUTTI, .seconds = slow, .stays = 1},
                          {.kind = ENTRY_TUTTI, .seconds = fair},
                          {.kind = ENTRY_PEER, .seconds = slow}};
    bench_cell point = {.entries = 5, .entry = ways, .patience = 3};
    const int rests[] = {0, 1, 0, 0, 1};
    check_where("resting");
    for (int n = 1; n <= 5; n++) {
        for (int i = 0; i < 5; i++) ways[i].rounds = n;
        measure_let_rest(&point);
        CHECK_EQ(ways[1].sits_out, n >= 3);
        CHECK_EQ(ways[4].sits_out, n >= 5);
    }
    for (int i = 0; i < 5; i++) CHECK_EQ(ways[i].sits_out, rests[i]);
}

/* Patience that falls with the rounds: twice as slow as the fastest is too slow after 6, but not for a peer. */
static void check_tightening(void) {
    double fast[] = {1, 1, 1, 1, 1, 1, 1}, fair[] = {2, 2, 2, 2, 2, 2, 2};
    bench_entry ways[] = {{.kind = ENTRY_TUTTI, .seconds = fast},
                          {.kind = ENTRY_TUTTI, .seconds = fair},
                          {.kind = ENTRY_PEER, .seconds = fair}};
    bench_cell point = {.entries = 3, .entry = ways, .patience = 3, .tightens = 1};
    check_where("tightening");
    for (int n = 1; n <= 7; n++) {
        for (int i = 0; i < 3; i++) ways[i].rounds = n;
        measure_let_rest(&point);
        CHECK_EQ(ways[1].sits_out, n > 6);
    }
    CHECK_EQ(ways[0].sits_out, 0);
    CHECK_EQ(ways[2].sits_out, 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_wins();
    check_improvement();
    check_bounds();
    check_claims();
    check_stage();
    check_regret();
    check_interval();
    check_failures();
    check_resting();
    check_tightening();
    MPI_Finalize();
    return check_done();
}
