/* tutti bench pipelines: Feki and Gabriel, Table I and figures 1 to 3: which overlap of exchange
 * and file access wins how often, and what it gains over none, on four benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/contest.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const algorithm_table[] = {"none", "comm", "write", "write-comm",
                                              "write-comm-2"};
#define ALONE "exchange alone"
#define HIDDEN_GOAL 70.0 /* per cent of the shorter of exchange and file access */
enum { ALGORITHMS = sizeof algorithm_table / sizeof *algorithm_table };

static void pipelines_defaults(bench_config *c, int quick) {
    c->size = (quick ? 8 : 16) << 20;
    c->rounds = quick ? 2 : 3;
    c->series = quick ? 1 : 3;
}

/* The paper exchanges by messages, cycle by cycle; the user may say otherwise. */
static void add_ways(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[160], exchange[64] = "", settings[320];
    experiment_stage(x, point, user->direct_io, stage, sizeof stage);
    if (user->store == TUTTI_STORE_AUTO) { /* one store for all: overlap is compared, not stores */
        const size_t at = strlen(stage);
        snprintf(stage + at, sizeof stage - at, " store=%s",
                 experiment_background_store(x, user->direct_io));
    }
    if (user->exchange == TUTTI_EXCHANGE_AUTO)
        snprintf(exchange, sizeof exchange, "exchange=two-sided step=%d",
                 user->step ? user->step : 4);
    for (int i = 0; i < ALGORITHMS; i++) {
        snprintf(settings, sizeof settings, "method=two-phase pipeline=%s %s %s",
                 algorithm_table[i], stage, exchange);
        experiment_way(x, point, algorithm_table[i], settings);
    }
    snprintf(settings, sizeof settings, "method=two-phase pipeline=none %s %s store=null", stage,
             exchange);
    experiment_way(x, point, ALONE, settings);
    experiment_way(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, "MPI library");
}

static void pipelines_plan(experiment *x) {
    contest_points(x, "overlap", "ior,tile256,tile1m,flash", add_ways);
}

/* ---- exhibits */

/* File access is timed by its calls: that is all of it only where nothing goes on behind them. */
static void put_split(const bench_cell *point, const bench_entry *way, exhibit *e) {
    char row[80];
    if (strcmp(way->name, "none") != 0 && strcmp(way->name, "comm") != 0) return;
    snprintf(row, sizeof row, "%d, %s", point->ranks, way->name);
    exhibit_put_number(e, row, "exchange",
                       1e3 * point_phase(way, offsetof(bench_phases, exchange)));
    exhibit_put_number(e, row, "file", 1e3 * point_phase(way, offsetof(bench_phases, file)));
    exhibit_put_number(e, row, "in all", 1e3 * way->time.median);
}

static void put_times(const bench_cell *point, exhibit *times, exhibit *split) {
    char row[16];
    snprintf(row, sizeof row, "%d", point->ranks);
    for (int k = 0; k < point->entries; k++) {
        const bench_entry *way = &point->entry[k];
        if (!point_counts(way) || strcmp(way->name, ALONE) == 0) continue;
        exhibit_put(times, row, way->name, point_milliseconds(way));
        put_split(point, way, split);
    }
}

static exhibit *titled(experiment *x, exhibit_kind kind, const char *id, const char *before,
                       const char *after) {
    char full[120];
    contest_name name = "Tile 1 MiB";
    for (int i = 0; i < x->results.cells; i++)
        if (strcmp(x->results.cell[i].pattern, "tile1m") == 0)
            contest_benchmark(&x->results.cell[i], name);
    snprintf(full, sizeof full, "%s%s%s", before, name, after);
    return experiment_exhibit(x, kind, id, full);
}

static void show_times(experiment *x, const char *dir) {
    exhibit *e = titled(x, EXHIBIT_BARS, "times", "Execution time of ", "");
    e->axis = "processes";
    e->unit = "milliseconds";
    exhibit_note(e, "Medians and quartiles. Feki and Gabriel's figure 1 has two numbers of "
                    "processes on two clusters: 6 %% less time on one, up to 34 %% on the other.");
    exhibit *split = titled(x, EXHIBIT_TABLE, "split", "Where the time of ", " goes");
    split->axis = "processes, algorithm";
    split->unit = "milliseconds";
    exhibit_note(split,
                 "Means over ranks, medians over rounds of the library's statistics; waiting for "
                 "other ranks is exchange. Only the algorithms that write synchronously: where "
                 "writes go on behind their calls, the time in calls does not say how long they "
                 "take.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (strcmp(point->dir, dir) == 0 && strcmp(point->pattern, "tile1m") == 0)
            put_times(point, e, split);
    }
}

/* The shorter of exchange and file access: what overlap can hide.  Exchange is what the same operation
 * takes with a store that moves nothing; without overlap the rest is file access. */
static double shorter_phase(const bench_cell *point) {
    const bench_entry *none = point_entry(point, "none"), *alone = point_entry(point, ALONE);
    if (!none || !alone) return 0;
    return fmin(alone->time.median, none->time.median - alone->time.median);
}

static void show_hidden(experiment *x, const char *dir) {
    exhibit *e = experiment_exhibit(x, EXHIBIT_TABLE, "hidden", "Hidden of the shorter phase");
    e->axis = "benchmark, processes";
    e->unit = "% of the shorter of exchange and file access";
    e->decimals = 0;
    exhibit_note(e, "How much faster than without overlap, in per cent of the shorter phase: "
                    "medians of the differences, round by round. 100: it costs nothing. Exchange "
                    "is the time with a store that moves nothing, file access the rest of the time "
                    "without overlap.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        const bench_entry *none = point_entry(point, "none");
        contest_name name;
        char row[48];
        if (strcmp(point->dir, dir) != 0 || shorter_phase(point) <= 0) continue;
        snprintf(row, sizeof row, "%s, %d", contest_benchmark(point, name), point->ranks);
        const double alone = point_entry(point, ALONE)->time.median;
        exhibit_put_number(e, row, "exchange ms", 1e3 * alone);
        exhibit_put_number(e, row, "file ms", 1e3 * (none->time.median - alone));
        for (int k = 1; k < ALGORITHMS; k++) {
            const bench_entry *way = point_entry(point, algorithm_table[k]);
            if (way)
                exhibit_put(e, row, algorithm_table[k],
                            point_hidden(none, way, shorter_phase(point)));
        }
    }
}

/* Of write-comm-2, over all points; a goal only where file access costs time and no processor. */
static void find_hidden(experiment *x) {
    double *hidden = cli_malloc((size_t)(x->results.cells + 1) * sizeof *hidden);
    int n = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_entry *none = point_entry(&x->results.cell[i], "none");
        const bench_entry *way = point_entry(&x->results.cell[i], "write-comm-2");
        const double shorter = shorter_phase(&x->results.cell[i]);
        if (way && shorter > 0) hidden[n++] = point_hidden(none, way, shorter).mid;
    }
    const int direct = x->results.config->options.direct_io;
    const double median = cli_quantile(hidden, n, 0.5);
    const finding_grade grade = median >= HIDDEN_GOAL ? FINDING_MET : FINDING_MISSED;
    free(hidden);
    experiment_finding(x, direct ? grade : FINDING_PLAIN,
                       "write-comm-2 hides %.0f %% of the shorter of exchange and file access "
                       "(median over %d points%s).",
                       median, n, direct ? "; goal: 70 %" : "");
}

static void show_dir(experiment *x, const char *dir) {
    contest c = {.names = algorithm_table, .n = ALGORITHMS};
    x->group = dir;
    exhibit *e =
        experiment_exhibit(x, EXHIBIT_TABLE, "wins", "Series in which each algorithm was fastest");
    contest_wins(x, &c, dir, e);
    exhibit_note(e, "By the least time of a series, as in Feki and Gabriel's Table I: none 59, "
                    "comm 42, write 79, write-comm 95, write-comm-2 77 of 352.");
    show_times(x, dir);
    show_hidden(x, dir);
    e = experiment_exhibit(x, EXHIBIT_BARS, "improvement",
                           "Improvement over no overlap, improved series only");
    contest_improvement(x, &c, dir, 0, e);
    exhibit_note(e, "As in Feki and Gabriel's figures 2 and 3: series that got slower are left "
                    "out. Between 3.7 and 9.2 %% on one cluster, 8.6 and 22.3 %% on the other.");
    e = experiment_exhibit(x, EXHIBIT_BARS, "improvement of all",
                           "Improvement over no overlap, all series");
    contest_improvement(x, &c, dir, 1, e);
    exhibit_note(e, "The same with the series that got slower.");
    c.by_median = 1;
    e = experiment_exhibit(x, EXHIBIT_TABLE, "wins by median",
                           "The same by the median of each series");
    contest_wins(x, &c, dir, e);
    exhibit_note(e, "Less at the mercy of one lucky run than the least time.");
}

static void pipelines_judge(experiment *x) {
    const contest c = {.names = algorithm_table, .n = ALGORITHMS};
    for (int d = 0; d < x->results.config->dirs.n; d++)
        show_dir(x, x->results.config->dirs.item[d]);
    experiment_finding(x, FINDING_PLAIN,
                       "Of all series, %.0f %% were fastest without overlap, %.0f %% with "
                       "asynchronous file access (Feki and Gabriel: 17 and 71 %%).",
                       contest_share(x, &c, "none"),
                       contest_share(x, &c, "write") + contest_share(x, &c, "write-comm") +
                           contest_share(x, &c, "write-comm-2"));
    find_hidden(x);
}

const experiment_kind experiment_pipelines = {
    .name = "pipelines",
    .title = "Exchange overlapped with file access",
    .source = "After Feki and Gabriel, Table I and figures 1 to 3.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series", .defaults = pipelines_defaults},
    .plan = pipelines_plan,
    .judge = pipelines_judge,
};
