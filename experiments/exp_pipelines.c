/* tutti-experiments pipelines: Feki and Gabriel, Table I and figures 1 to 3: how often each overlap of
 * exchange and file access is the fastest, and its gain over no overlap, on four benchmarks.  Half of the
 * ranks are aggregators; without overlap they have one buffer of twice the size.  With --op read the
 * pipelines run in the opposite direction.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/series.h"

static const char *const algorithm_table[] = {"none", "comm", "write", "write-comm",
                                              "write-comm-2"};
#define ALONE "exchange alone"
enum { ALGORITHMS = sizeof algorithm_table / sizeof *algorithm_table };

static void pipelines_defaults(bench_config *c, int quick) {
    c->size = (quick ? 8 : 16) << 20;
    c->rounds = quick ? 2 : 3;
    c->series = quick ? 1 : 3;
    c->write = 1;
}

/* Add the pipelines.  The paper exchanges by messages, cycle by cycle; the user may choose another exchange. */
static void add_variants(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[200], exchange[64] = "", store[32] = "", settings[400];
    /* all variants use one store, so that pipelines are compared, not stores */
    if (user->store == TUTTI_STORE_AUTO)
        snprintf(store, sizeof store, "store=%s", experiment_background_store(x, user->direct_io));
    if (user->exchange == TUTTI_EXCHANGE_AUTO)
        snprintf(exchange, sizeof exchange, "exchange=two-sided step=%d",
                 user->step ? user->step : 4);
    for (int i = 0; i < ALGORITHMS; i++) {
        series_stage(x, point, i > 0, stage, sizeof stage);
        snprintf(settings, sizeof settings, "method=two-phase pipeline=%s %s %s %s",
                 algorithm_table[i], stage, store, exchange);
        experiment_variant(x, point, algorithm_table[i], settings);
    }
    series_stage(x, point, 0, stage, sizeof stage);
    snprintf(settings, sizeof settings, "method=two-phase pipeline=none %s %s store=null", stage,
             exchange);
    if (point->is_write) experiment_variant(x, point, ALONE, settings);
    experiment_variant(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, "MPI library");
}

static void pipelines_plan(experiment *x) {
    series_points(x, "overlap", "ior,tile256,tile1m,flash", add_variants);
}

const experiment_kind experiment_pipelines = {
    .name = "pipelines",
    .title = "Exchange overlapped with file access",
    .source = "After Feki and Gabriel, Table I and figures 1 to 3.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series,op", .defaults = pipelines_defaults},
    .plan = pipelines_plan,
};
