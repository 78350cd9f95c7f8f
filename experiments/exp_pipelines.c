/* tutti-experiments pipelines: Feki and Gabriel, Table I and figures 1 to 3: which overlap of exchange
 * and file access wins how often, and what it gains over none, on four benchmarks.  Half of the ranks are aggregators;
 * without overlap their buffer is one, of twice the size.  With --op read the pipelines run the other way round.
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
    c->write = 1;
}

/* The paper exchanges by messages, cycle by cycle; the user may say otherwise. */
static void add_ways(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[200], exchange[64] = "", store[32] = "", settings[400];
    if (user->store == TUTTI_STORE_AUTO) /* one for all: overlap is compared, not stores */
        snprintf(store, sizeof store, "store=%s", experiment_background_store(x, user->direct_io));
    if (user->exchange == TUTTI_EXCHANGE_AUTO)
        snprintf(exchange, sizeof exchange, "exchange=two-sided step=%d",
                 user->step ? user->step : 4);
    for (int i = 0; i < ALGORITHMS; i++) {
        contest_stage(x, point, i > 0, stage, sizeof stage);
        snprintf(settings, sizeof settings, "method=two-phase pipeline=%s %s %s %s",
                 algorithm_table[i], stage, store, exchange);
        experiment_way(x, point, algorithm_table[i], settings);
    }
    contest_stage(x, point, 0, stage, sizeof stage);
    snprintf(settings, sizeof settings, "method=two-phase pipeline=none %s %s store=null", stage,
             exchange);
    if (point->is_write) experiment_way(x, point, ALONE, settings);
    experiment_way(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, "MPI library");
}

static void pipelines_plan(experiment *x) {
    contest_points(x, "overlap", "ior,tile256,tile1m,flash", add_ways);
}

/* ---- exhibits */

/* What is shown together. */
typedef struct {
    const char *dir;
    int is_read;
} scene_of;

static exhibit *add_exhibit(experiment *x, exhibit_kind kind, const scene_of *s, const char *id,
                            const char *title) {
    char full_id[40], full_title[120];
    snprintf(full_id, sizeof full_id, "%s%s", id, experiment_op_name(s->is_read));
    snprintf(full_title, sizeof full_title, "%s%s", title, s->is_read ? ", reads" : "");
    return experiment_exhibit(x, kind, full_id, full_title);
}

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

static void put_times(const bench_cell *point, int by_least, exhibit *times) {
    char row[16];
    snprintf(row, sizeof row, "%d", point->ranks);
    for (int k = 0; k < point->entries; k++) {
        const bench_entry *way = &point->entry[k];
        if (!point_counts(way) || strcmp(way->name, ALONE) == 0) continue;
        if (by_least)
            exhibit_put_number(times, row, way->name, 1e3 * way->time.min);
        else
            exhibit_put(times, row, way->name, point_milliseconds(way));
    }
}

static exhibit *titled(experiment *x, exhibit_kind kind, const scene_of *s, const char *id,
                       const char *const title[2]) {
    char full[100];
    contest_name name = "Tile 1 MiB";
    for (int i = 0; i < x->results.cells; i++)
        if (strcmp(x->results.cell[i].pattern, "tile1m") == 0)
            contest_benchmark(&x->results.cell[i], name);
    snprintf(full, sizeof full, "%s%s%s", title[0], name, title[1]);
    return add_exhibit(x, kind, s, id, full);
}

typedef const char *pair[2];

static void show_times(experiment *x, const scene_of *s) {
    const bench_cell **point;
    const int n = contest_select(x, s->dir, s->is_read, "tile1m", &point);
    for (int by_least = 1; by_least >= 0; by_least--) {
        exhibit *e = titled(x, EXHIBIT_BARS, s, by_least ? "times, least" : "times",
                            by_least ? (pair){"Least execution time of ", ""}
                                     : (pair){"Execution time of ", ""});
        e->axis = "processes";
        e->unit = "milliseconds";
        exhibit_note(e, by_least
                            ? "Feki and Gabriel's figure 1: the least time of all rounds, for two "
                              "numbers of processes on two clusters: 6 %% less time on one, up "
                              "to 34 %% on the other."
                            : "The same by medians, with 95 %% bounds.");
        for (int i = 0; i < n; i++) put_times(point[i], by_least, e);
    }
    exhibit *split = titled(x, EXHIBIT_TABLE, s, "split", (pair){"Where the time of ", " goes"});
    split->axis = "processes, algorithm";
    split->unit = "milliseconds";
    exhibit_note(split,
                 "Means over ranks, medians over rounds of the library's statistics; waiting for "
                 "other ranks is exchange. Only the algorithms whose file access is "
                 "synchronous: where it goes on behind its calls, the time in calls does not say "
                 "how long it takes. The paper, without overlap and with 576 processes: 93 %% file "
                 "access on the first cluster.");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < point[i]->entries; k++)
            if (point_counts(&point[i]->entry[k])) put_split(point[i], &point[i]->entry[k], split);
    free(point);
}

/* The shorter of exchange and file access: what overlap can hide.  Exchange is what the same operation
 * takes with a store that moves nothing; without overlap the rest is file access. */
static double shorter_phase(const bench_cell *point) {
    const bench_entry *none = point_entry(point, "none"), *alone = point_entry(point, ALONE);
    if (!none || !alone) return 0;
    return fmin(alone->time.median, none->time.median - alone->time.median);
}

static void show_hidden(experiment *x, const scene_of *s) {
    exhibit *e = add_exhibit(x, EXHIBIT_TABLE, s, "hidden", "Hidden of the shorter phase");
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
        if (!point_is(point, NULL, s->dir, s->is_read) || shorter_phase(point) <= 0) continue;
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

static void show_wins(experiment *x, const scene_of *s) {
    contest c = {.names = algorithm_table, .n = ALGORITHMS, .is_read = s->is_read};
    exhibit *e =
        add_exhibit(x, EXHIBIT_TABLE, s, "wins", "Series in which each algorithm was fastest");
    contest_wins(x, &c, s->dir, e);
    exhibit_note(e, "By the least time of a series, as in Feki and Gabriel's Table I: none 59, "
                    "comm 42, write 79, write-comm 95, write-comm-2 77 of 352.");
    c.by_median = 1;
    e = add_exhibit(x, EXHIBIT_TABLE, s, "wins by median", "The same by the median of each series");
    contest_wins(x, &c, s->dir, e);
    exhibit_note(e, "Less at the mercy of one lucky run than the least time.");
}

static void show_improvements(experiment *x, const scene_of *s) {
    const contest c = {.names = algorithm_table, .n = ALGORITHMS, .is_read = s->is_read};
    exhibit *e = add_exhibit(x, EXHIBIT_BARS, s, "improvement",
                             "Improvement over no overlap, improved series only");
    contest_improvement(x, &c, s->dir, 0, e);
    exhibit_note(e, "As in Feki and Gabriel's figures 2 and 3: series that got slower are left "
                    "out. Between 3.7 and 9.2 %% on one cluster, 8.6 and 22.3 %% on the other.");
    e = add_exhibit(x, EXHIBIT_BARS, s, "improvement of all",
                    "Improvement over no overlap, all series");
    contest_improvement(x, &c, s->dir, 1, e);
    exhibit_note(e, "The same with the series that got slower.");
}

/* ---- claims, over all benchmarks and numbers of processes of a directory */

/* What write-comm-2 hides in each round: the median over the points. */
static void claim_hidden(experiment *x, const char *where, int n, const bench_cell *const *point) {
    double *hidden = cli_malloc((size_t)(n + 1) * sizeof *hidden), *of = NULL;
    const int rounds = x->results.config->rounds * x->results.config->series;
    int found = 0, whole = 1;
    of = cli_malloc((size_t)rounds * sizeof *of);
    for (int r = 0; r < rounds && whole; r++) {
        int m = 0;
        for (int i = 0; i < n; i++) {
            const bench_entry *none = point_entry(point[i], "none");
            const bench_entry *way = point_entry(point[i], "write-comm-2");
            const double shorter = shorter_phase(point[i]);
            if (!none || !way || shorter <= 0) continue;
            whole = whole && r < none->rounds && r < way->rounds;
            if (whole) hidden[m++] = 100 * (none->seconds[r] - way->seconds[r]) / shorter;
        }
        if (m > 0 && whole) of[found++] = cli_quantile(hidden, m, 0.5);
    }
    experiment_claim(x,
                     &(claim_spec){"write-comm-2 hides of the shorter of exchange and file access",
                                   where, "%", "goal met", "goal missed", HIDDEN_GOAL},
                     of, found);
    free(of);
    free(hidden);
}

static void claim_scene(experiment *x, const scene_of *s) {
    const bench_cell **point;
    char where[120];
    const int n = contest_select(x, s->dir, s->is_read, NULL, &point);
    contest_where(s->dir, s->is_read, "all benchmarks", where);
    for (int k = 1; k < ALGORITHMS; k++)
        claim_faster_all(x, where, n, point, algorithm_table[0], algorithm_table[k]);
    claim_faster_all(x, where, n, point, "MPI library", "auto");
    /* Where file access costs time and no processor. */
    if (x->results.config->options.direct_io && !s->is_read) claim_hidden(x, where, n, point);
    free(point);
}

static void judge_operation(experiment *x, int is_read) {
    const contest c = {.names = algorithm_table, .n = ALGORITHMS, .is_read = is_read};
    for (int d = 0; d < x->results.config->dirs.n; d++) {
        const scene_of s = {x->results.config->dirs.item[d], is_read};
        x->group = s.dir;
        show_wins(x, &s);
        show_times(x, &s);
        if (!is_read) show_hidden(x, &s);
        show_improvements(x, &s);
        claim_scene(x, &s);
    }
    experiment_finding(x, FINDING_PLAIN,
                       "Of all series of %s, %.0f %% were fastest without overlap, %.0f %% with "
                       "asynchronous file access (Feki and Gabriel, writes: 17 and 71 %%).",
                       is_read ? "reads" : "writes", contest_share(x, &c, "none"),
                       contest_share(x, &c, "write") + contest_share(x, &c, "write-comm") +
                           contest_share(x, &c, "write-comm-2"));
}

static void pipelines_judge(experiment *x) {
    int op[2];
    const int ops = experiment_ops(x, op);
    for (int i = 0; i < ops; i++) judge_operation(x, op[i]);
}

const experiment_kind experiment_pipelines = {
    .name = "pipelines",
    .title = "Exchange overlapped with file access",
    .source = "After Feki and Gabriel, Table I and figures 1 to 3.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series,op", .defaults = pipelines_defaults},
    .plan = pipelines_plan,
    .judge = pipelines_judge,
};
