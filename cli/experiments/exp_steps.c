/* tutti bench steps: Dickens and Thakur, figures 2 and 3 and sections 4.1.1 and 4.1.2.
 *
 *   by processes   a square array of integers, block-block, on 1, 2, 4, ... processes
 *   by file size   the same on all processes, with arrays of several sizes
 *   stagger        every process writes one contiguous share, at once or one after the other
 *
 * Their steps exchange everything first, and then every process writes its part in one request:
 * every rank is an aggregator, nothing overlaps, and staging memory is made large enough, within
 * reason, unless the user has said how much there is.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <stddef.h>
#include <string.h>

enum { STEPS = 5 };
static const char *const delays[] = {"0", "100", "1000", "10000"}; /* microseconds */
static const tutti_off STAGING_MOST = 256 << 20;
enum { DELAYS = sizeof delays / sizeof *delays };

#define NON_COLLECTIVE "non-collective"
#define CONFORMING "conforming"
#define PEER "MPI library"

static void steps_defaults(bench_config *c, int quick) {
    c->array = (quick ? 4 : 64) << 20;
    c->rounds = quick ? 3 : 7;
    cli_list_split(&c->files, quick ? "1m,4m" : "4m,16m,64m,256m");
}

/* ---- points */

/* Memory for one window of all that an aggregator gets, and for the messages of everybody. */
static tutti_off staging_of(const tutti_options *user, const bench_cell *point) {
    const tutti_off all = (3 * point->ranks + 2) * point->size;
    const tutti_off wanted = all < STAGING_MOST ? all : STAGING_MOST;
    const int is_default = user->cb_buffer_size == 16 << 20;
    return is_default && wanted > user->cb_buffer_size ? wanted : user->cb_buffer_size;
}

static void add_steps(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    for (int i = 1; i <= STEPS; i++) {
        char name[32], settings[160];
        snprintf(name, sizeof name, "step %d", i);
        snprintf(settings, sizeof settings,
                 "method=two-phase exchange=two-sided step=%d pipeline=none cb_nodes=%d "
                 "cb_buffer_size=%lld window_size=%lld",
                 i, point->ranks, (long long)staging_of(user, point),
                 (long long)(user->window_size ? user->window_size : STAGING_MOST));
        experiment_way(x, point, name, settings);
    }
}

static void add_array(experiment *x, const char *figure, const char *dir, int ranks,
                      tutti_off bytes) {
    bench_cell *point = experiment_point(x, &(point_spec){.figure = figure,
                                                          .dir = dir,
                                                          .pattern = "square2d",
                                                          .ranks = ranks,
                                                          .size = bytes / ranks});
    experiment_way(x, point, NON_COLLECTIVE, "method=independent")->runner =
        &bench_tutti_independent;
    add_steps(x, point);
    experiment_way(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, PEER);
    experiment_reference(x, point, ENTRY_LIMIT, CONFORMING);
}

static void add_stagger(experiment *x, const char *dir, int ranks, tutti_off bytes) {
    bench_cell *point = experiment_point(x, &(point_spec){.figure = "stagger",
                                                          .dir = dir,
                                                          .pattern = "ior",
                                                          .ranks = ranks,
                                                          .size = bytes / ranks});
    for (int i = 0; i < DELAYS; i++) {
        char name[32], settings[64];
        snprintf(name, sizeof name, i ? "+%s us" : "at once", delays[i]);
        snprintf(settings, sizeof settings, "method=two-phase stagger=%s", delays[i]);
        experiment_way(x, point, name, settings);
    }
    experiment_reference(x, point, ENTRY_LIMIT, CONFORMING);
}

static void steps_plan(experiment *x) {
    const bench_config *c = x->results.config;
    const int most = experiment_most_ranks(x);
    for (int d = 0; d < c->dirs.n; d++) {
        const char *dir = c->dirs.item[d];
        for (int i = 0; i < x->worlds; i++)
            add_array(x, "processes", dir, x->world[i].ranks, c->array);
        for (int i = 0; i < c->files.n; i++) {
            tutti_off bytes = 0;
            if (cli_parse_size(c->files.item[i], &bytes)) add_array(x, "files", dir, most, bytes);
        }
        for (int i = 0; i < x->worlds; i++)
            if (x->world[i].ranks > 1) add_stagger(x, dir, x->world[i].ranks, c->array);
    }
}

/* ---- exhibits */

static void name_row(const bench_cell *point, char *out, size_t size) {
    if (strcmp(point->figure, "files") == 0)
        cli_format_size(point->total, out, size);
    else
        snprintf(out, size, "%d", point->ranks);
}

/* A row for each point of this figure and directory. */
static void put_bandwidths(const experiment *x, const char *figure, const char *dir, exhibit *e) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        char row[48];
        if (strcmp(point->figure, figure) != 0 || strcmp(point->dir, dir) != 0) continue;
        name_row(point, row, sizeof row);
        for (int k = 0; k < point->entries; k++)
            if (point_counts(&point->entry[k]))
                exhibit_put(e, row, point->entry[k].name, point_bandwidth(point, &point->entry[k]));
    }
}

static void put_shares(const experiment *x, const char *dir, exhibit *e) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (strcmp(point->figure, "stagger") == 0 || strcmp(point->dir, dir) != 0) continue;
        char row[48], name[32];
        name_row(point, name, sizeof name);
        snprintf(row, sizeof row, "%s%s", name,
                 strcmp(point->figure, "files") == 0 ? "" : " proc.");
        for (int k = 0; k < point->entries; k++) {
            const bench_entry *way = &point->entry[k];
            const double exchange = point_phase(way, offsetof(bench_phases, exchange));
            const double file = point_phase(way, offsetof(bench_phases, file));
            if (strncmp(way->name, "step", 4) == 0 && exchange + file > 0)
                exhibit_put_number(e, row, way->name, 100 * exchange / (exchange + file));
        }
    }
}

static exhibit *add_bandwidths(experiment *x, exhibit_kind kind, const char *figure,
                               const char *title, const char *dir) {
    exhibit *e = experiment_exhibit(x, kind, figure, title);
    e->unit = "MiB/s";
    e->decimals = 0;
    put_bandwidths(x, figure, dir, e);
    return e;
}

static void judge_dir(experiment *x, const char *dir) {
    x->group = dir;
    exhibit *e =
        add_bandwidths(x, EXHIBIT_LINES, "processes", "Bandwidth by number of processes", dir);
    e->axis = "processes";
    exhibit_note(e, "A square array of integers, block-block, of the same size for all numbers of "
                    "processes. Dickens and Thakur's figure 2: each step was at least as fast as "
                    "the one before, and step 1 several times as fast as non-collective writes.");
    e = add_bandwidths(x, EXHIBIT_LINES, "files", "Bandwidth by size of the file", dir);
    e->axis = "size of the file";
    exhibit_note(e, "On all processes. Dickens and Thakur's figure 3: the steps converge where the "
                    "file system is the limit.");
    e = experiment_exhibit(x, EXHIBIT_BARS, "shares", "Share of redistribution");
    e->axis = "processes, size of the file";
    e->unit = "% of redistribution and file access";
    e->decimals = 0;
    exhibit_note(
        e,
        "Means over ranks, medians over rounds; the rest of 100 %% is file access. Section 4.1.2: "
        "from 90 %% with few processes to 35 %% with large files on one machine, at "
        "most 10 %% on the others.");
    put_shares(x, dir, e);
    e = add_bandwidths(x, EXHIBIT_BARS, "stagger", "Staggered conforming writes", dir);
    e->axis = "processes";
    exhibit_note(e, "Every process writes one contiguous share; ours are two-phase writes, whose "
                    "bytes pass through staging memory, and each aggregator starts so many "
                    "microseconds after the one before. Section 4.1.1, where processes wrote their "
                    "own shares: delays raised the bandwidth by half where 128 processes wrote to "
                    "one file system.");
}

/* How much faster the last step is than the first, and the best than non-collective, most ranks. */
static void find_gains(experiment *x) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        const bench_entry *alone = point_entry(point, NON_COLLECTIVE);
        const bench_entry *first = point_entry(point, "step 1"),
                          *last = point_entry(point, "step 5");
        if (strcmp(point->figure, "processes") != 0 || point->ranks != experiment_most_ranks(x))
            continue;
        if (first && last && alone)
            experiment_finding(x, FINDING_PLAIN,
                               "%s, %d processes: step 1 has %.2f times the bandwidth of "
                               "non-collective writes, step 5 %.2f times that of step 1.",
                               point->dir, point->ranks, alone->time.median / first->time.median,
                               first->time.median / last->time.median);
    }
}

static void steps_judge(experiment *x) {
    for (int d = 0; d < x->results.config->dirs.n; d++)
        judge_dir(x, x->results.config->dirs.item[d]);
    find_gains(x);
}

const experiment_kind experiment_steps = {
    .name = "steps",
    .title = "Steps towards a fast collective write",
    .source = "After Dickens and Thakur, figures 2 and 3, sections 4.1.1 and 4.1.2.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,array,files", .defaults = steps_defaults},
    .plan = steps_plan,
    .judge = steps_judge,
};
