/* tutti-experiments steps: Dickens and Thakur, figures 2 and 3 and sections 4.1.1 and 4.1.2.
 *
 *   by processes   a square array of integers, block-block, on 1, 2, 4, ... processes
 *   by file size   the same on all processes, with arrays of several sizes
 *   stagger        every process writes one contiguous share, at once or one after the other
 *
 * Their steps exchange everything first, and then every process writes its part in one request:
 * every rank is an aggregator, nothing overlaps, and staging memory is made large enough, within
 * reason, unless the user has said how much there is.  With --op read the same the other way round: every process
 * reads its part in one request, and the steps pass it on; staggering is for writers only.
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
    c->write = 1;
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

static void add_array(experiment *x, const point_spec *where, tutti_off bytes) {
    point_spec spec = *where;
    spec.pattern = "square2d";
    spec.size = bytes / spec.ranks;
    bench_cell *point = experiment_point(x, &spec);
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

static void add_operation(experiment *x, const char *dir, int is_read) {
    const bench_config *c = x->results.config;
    point_spec where = {.figure = "processes", .dir = dir, .is_read = is_read};
    for (int i = 0; i < x->worlds; i++) {
        where.ranks = x->world[i].ranks;
        add_array(x, &where, c->array);
    }
    where.figure = "files";
    for (int i = 0; i < c->files.n; i++) {
        tutti_off bytes = 0;
        if (cli_parse_size(c->files.item[i], &bytes)) add_array(x, &where, bytes);
    }
    for (int i = 0; i < x->worlds && !is_read; i++)
        if (x->world[i].ranks > 1) add_stagger(x, dir, x->world[i].ranks, c->array);
}

static void steps_plan(experiment *x) {
    const bench_config *c = x->results.config;
    int op[2];
    const int ops = experiment_ops(x, op);
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = 0; i < ops; i++) add_operation(x, c->dirs.item[d], op[i]);
}

/* ---- exhibits */

static void name_row(const bench_cell *point, char *out, size_t size) {
    if (strcmp(point->figure, "files") == 0)
        cli_format_size(point->total, out, size);
    else
        snprintf(out, size, "%d", point->ranks);
}

/* What is shown together. */
typedef struct {
    const char *dir;
    int is_read;
} scene_of;

/* A row for each point of this figure and scene. */
static void put_bandwidths(const experiment *x, const char *figure, const scene_of *s, exhibit *e) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        char row[48];
        if (!point_is(point, figure, s->dir, s->is_read)) continue;
        name_row(point, row, sizeof row);
        for (int k = 0; k < point->entries; k++)
            if (point_counts(&point->entry[k]))
                exhibit_put(e, row, point->entry[k].name, point_bandwidth(point, &point->entry[k]));
    }
}

static void put_shares(const experiment *x, const scene_of *s, exhibit *e) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (strcmp(point->figure, "stagger") == 0 || !point_is(point, NULL, s->dir, s->is_read))
            continue;
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

static exhibit *add_exhibit(experiment *x, exhibit_kind kind, const char *const what[2],
                            const scene_of *s) {
    char id[40], title[120];
    snprintf(id, sizeof id, "%s%s", what[0], experiment_op_name(s->is_read));
    snprintf(title, sizeof title, "%s%s", what[1], s->is_read ? ", reads" : "");
    return experiment_exhibit(x, kind, id, title);
}

static exhibit *add_bandwidths(experiment *x, exhibit_kind kind, const char *const what[2],
                               const scene_of *s) {
    exhibit *e = add_exhibit(x, kind, what, s);
    e->unit = "MiB/s";
    e->decimals = 0;
    put_bandwidths(x, what[0], s, e);
    return e;
}

typedef const char *pair[2];

#define FIGURE_2                                                                                  \
    "A square array of integers, block-block, of the same size for all numbers of processes. "    \
    "Dickens and Thakur's figure 2, writes, without steps 3 and 4, which lay between 2 and 5: "   \
    "step 5 was the best on all four machines. On the SP2 with 32 processors step 1 had 4.1 "     \
    "times the bandwidth of non-collective writes, step 2 1.95 times that of step 1, step 5 1.1 " \
    "times that of step 2. On the Exemplar with 4 and 8 processors non-collective writes were "   \
    "faster than step 1 (with 8: 62 against 23 MB/s)."
#define FIGURE_3                                                                                 \
    "On all processes. Dickens and Thakur's figure 3: the steps converge where the file system " \
    "is the limit; on the Exemplar, 128 processors and 256 MB, step 1 was faster than step 2 "   \
    "(108 against 75 MB/s), because slower copies kept the writers apart."
#define SHARES                                                                                    \
    "Means over ranks, medians over rounds; the rest of 100 %% is file access. Section 4.1.2, "   \
    "step 5 on the Origin: 90, 75 and 55 %% with 16, 32 and 64 processors, 35 %% with a file of " \
    "1 GB; at most 10 %% on the other machines with 64 processors."
#define STAGGER                                                                                  \
    "Every process writes one contiguous share; ours are two-phase writes, whose bytes pass "    \
    "through staging memory, and each aggregator starts so many microseconds after the one "     \
    "before. Section 4.1.1, where processes wrote their own shares: 128 processors, 256 MB, 94 " \
    "MB/s at once, 140 MB/s when some of them waited."

static void show_scene(experiment *x, const scene_of *s) {
    x->group = s->dir;
    exhibit *e = add_bandwidths(x, EXHIBIT_LINES,
                                (pair){"processes", "Bandwidth by number of processes"}, s);
    e->axis = "processes";
    exhibit_note(e, FIGURE_2);
    e = add_bandwidths(x, EXHIBIT_LINES, (pair){"files", "Bandwidth by size of the file"}, s);
    e->axis = "size of the file";
    exhibit_note(e, FIGURE_3);
    e = add_exhibit(x, EXHIBIT_BARS, (pair){"shares", "Share of redistribution"}, s);
    e->axis = "processes, size of the file";
    e->unit = "% of redistribution and file access";
    e->decimals = 0;
    exhibit_note(e, SHARES);
    put_shares(x, s, e);
    if (s->is_read) return;
    e = add_bandwidths(x, EXHIBIT_BARS, (pair){"stagger", "Staggered conforming writes"}, s);
    e->axis = "processes";
    exhibit_note(e, STAGGER);
}

/* ---- what the steps gain, on the most ranks */

static void claim_gains(experiment *x, const scene_of *s) {
    static const pair order[] = {{NON_COLLECTIVE, "step 1"}, {"step 1", "step 2"},
                                 {"step 2", "step 5"},       {NON_COLLECTIVE, "step 5"},
                                 {"step 5", "auto"},         {PEER, "auto"}};
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        char where[120], size[32];
        if (!point_is(point, "processes", s->dir, s->is_read) ||
            point->ranks != experiment_most_ranks(x))
            continue;
        cli_format_size(point->total, size, sizeof size);
        snprintf(where, sizeof where, "%.60s, %s of %s, %d ranks", s->dir,
                 s->is_read ? "reads" : "writes", size, point->ranks);
        for (size_t k = 0; k < sizeof order / sizeof *order; k++)
            claim_faster(x, where, point, order[k][0], order[k][1]);
    }
}

static void claim_stagger(experiment *x, const scene_of *s) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        char where[120];
        if (!point_is(point, "stagger", s->dir, s->is_read) ||
            point->ranks != experiment_most_ranks(x))
            continue;
        snprintf(where, sizeof where, "%.60s, staggered writes, %d ranks", s->dir, point->ranks);
        claim_faster(x, where, point, "at once", "+1000 us");
    }
}

static void steps_judge(experiment *x) {
    const bench_config *c = x->results.config;
    int op[2];
    const int ops = experiment_ops(x, op);
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = 0; i < ops; i++) {
            const scene_of s = {c->dirs.item[d], op[i]};
            show_scene(x, &s);
            claim_gains(x, &s);
            claim_stagger(x, &s);
        }
}

const experiment_kind experiment_steps = {
    .name = "steps",
    .title = "Steps towards fast collective access",
    .source = "After Dickens and Thakur, figures 2 and 3, sections 4.1.1 and 4.1.2.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,array,files,op", .defaults = steps_defaults},
    .plan = steps_plan,
    .judge = steps_judge,
};
