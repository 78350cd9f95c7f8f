/* TEST ranks=1 timeout=60 own=1 */
/* Measurements of experiments: settings of compared variants, bounds of medians, and skipped variants, each
 * compared with values computed by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "common/cli_measuring.c"
#include "common/cli_entries.c"
#include "common/cli_output.c"
#include "common/cli_guard.c"
#include "bench/content.c"
#include "bench/timing.c"
#include "measure/measure.c"
#include "experiments/series.c"

/* Creating points is not tested here. */
bench_cell *experiment_point(experiment *x, const point_spec *spec) {
    return (void)spec, &x->results.cell[0];
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
const char *bench_pattern_kept_name(const char *name) {
    return name;
}

/* Half of the ranks are aggregators; without overlap there is one buffer of twice the size. */
static void check_stage(void) {
    const bench_config config = {.rounds = 3};
    const experiment x = {.results = {.config = &config}};
    const bench_cell five = {.ranks = 5}, one = {.ranks = 1};
    char with[200], without[200];
    check_where("stage");
    series_stage(&x, &five, 1, with, sizeof with);
    series_stage(&x, &five, 0, without, sizeof without);
    CHECK(strstr(with, " cb_nodes=2 window_size=524288"), "%s", with);
    CHECK(strstr(without, " cb_nodes=2 window_size=1048576"), "%s", without);
    series_stage(&x, &one, 1, with, sizeof with);
    CHECK(strstr(with, " cb_nodes=1 "), "%s", with);
}

static void check_bounds(void) {
    static const int known[][2] = {{4, 0}, {5, 1}, {7, 1}, {8, 2}, {20, 6}, {100, 42}};
    check_where("bounds");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_EQ(sign_rank(known[i][0], 0.05), known[i][1]);
    CHECK_EQ(sign_rank(5, 0.025), 0);
    CHECK_EQ(sign_rank(6, 0.025), 1);
    const int many = sign_rank(4000, 0.05); /* must be near the value of the normal distribution */
    CHECK(many > 1940 && many < 1955, "%d", many);
    const double eight[] = {8, 1, 7, 2, 6, 3, 5, 4};
    double lo = 0, hi = 0;
    CHECK_EQ(measure_median_bounds(eight, 8, 0.05, &lo, &hi), 1);
    CHECK(lo == 2 && hi == 7, "%g %g", lo, hi);
    CHECK_EQ(measure_median_bounds(eight, 4, 0.05, &lo, &hi), 0);
    CHECK_EQ(measure_median_bounds(eight, 8, 0.025, &lo, &hi), 1);
    CHECK(lo == 1 && hi == 8, "%g %g", lo, hi);
    CHECK_EQ(measure_median_bounds(eight, 5, 0.025, &lo, &hi), 0);
}

/* Variants more than 3 times slower than the fastest are skipped after 3 rounds, the MPI library after 5. */
static void check_resting(void) {
    double fast[] = {1, 1, 1, 1, 1}, slow[] = {4, 4, 4, 4, 4}, fair[] = {2, 9, 2, 2, 2};
    bench_entry variants[] = {{.kind = ENTRY_TUTTI, .v.sample = {fast}},
                              {.kind = ENTRY_TUTTI, .v.sample = {slow}},
                              {.kind = ENTRY_TUTTI, .v.sample = {slow}, .stays = 1},
                              {.kind = ENTRY_TUTTI, .v.sample = {fair}},
                              {.kind = ENTRY_PEER, .v.sample = {slow}}};
    bench_cell point = {.entries = 5, .entry = variants, .patience = 3};
    const int rests[] = {0, 1, 0, 0, 1};
    check_where("resting");
    for (int n = 1; n <= 5; n++) {
        for (int i = 0; i < 5; i++) variants[i].v.rounds = n;
        timing_let_rest(&point);
        CHECK_EQ(variants[1].v.is_resting, n >= 3);
        CHECK_EQ(variants[4].v.is_resting, n >= 5);
    }
    for (int i = 0; i < 5; i++) CHECK_EQ(variants[i].v.is_resting, rests[i]);
}

/* The limit decreases with the rounds: a variant twice as slow as the fastest is skipped after 6 rounds, but
 * the MPI library is not. */
static void check_tightening(void) {
    double fast[] = {1, 1, 1, 1, 1, 1, 1}, fair[] = {2, 2, 2, 2, 2, 2, 2};
    bench_entry variants[] = {{.kind = ENTRY_TUTTI, .v.sample = {fast}},
                              {.kind = ENTRY_TUTTI, .v.sample = {fair}},
                              {.kind = ENTRY_PEER, .v.sample = {fair}}};
    bench_cell point = {.entries = 3, .entry = variants, .patience = 3, .tightens = 1};
    check_where("tightening");
    for (int n = 1; n <= 7; n++) {
        for (int i = 0; i < 3; i++) variants[i].v.rounds = n;
        timing_let_rest(&point);
        CHECK_EQ(variants[1].v.is_resting, n > 6);
    }
    CHECK_EQ(variants[0].v.is_resting, 0);
    CHECK_EQ(variants[2].v.is_resting, 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_stage();
    check_bounds();
    check_resting();
    check_tightening();
    MPI_Finalize();
    return check_done();
}
