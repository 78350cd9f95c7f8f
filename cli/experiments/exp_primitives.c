/* tutti bench primitives: Feki and Gabriel, figure 4: messages, puts between fences, puts under
 * shared locks, all under the pipeline write-comm-2, and beside them shared memory, which they did
 * not have.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/contest.h"

#include <string.h>

/* Messages as in step 4: so all of the paper's go cycle by cycle, in the same engine. */
static const char *const primitive_table[] = {"two-sided", "fence", "lock", "shm"};
enum { PAPERS = 3, PRIMITIVES = sizeof primitive_table / sizeof *primitive_table };

static void primitives_defaults(bench_config *c, int quick) {
    c->size = (quick ? 8 : 16) << 20;
    c->rounds = quick ? 2 : 3;
    c->series = quick ? 1 : 3;
}

static void add_ways(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[128];
    experiment_stage(x, point, user->direct_io, stage, sizeof stage);
    for (int i = 0; i < PRIMITIVES; i++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "method=two-phase pipeline=write-comm-2 exchange=%s step=%d %s",
                 primitive_table[i],
                 i            ? 0
                 : user->step ? user->step
                              : 4,
                 stage);
        experiment_way(x, point, primitive_table[i], settings);
    }
    experiment_way(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, "MPI library");
}

static void primitives_plan(experiment *x) {
    contest_points(x, "primitives", "ior,tile256,tile1m", add_ways);
}

static void show_wins(experiment *x, const char *dir, int n) {
    const contest c = {.names = primitive_table, .n = n};
    exhibit *e =
        n == PAPERS
            ? experiment_exhibit(x, EXHIBIT_BARS, "wins",
                                 "Series in which each of the paper's primitives was fastest")
            : experiment_exhibit(x, EXHIBIT_BARS, "wins with shm", "The same with shared memory");
    contest_wins(x, &c, dir, e);
    if (n == PAPERS)
        exhibit_note(
            e, "By the least time of a series, as in Feki and Gabriel's figure 4: messages "
               "won 75 %% of all, fences 37 %% of Tile 256 B. All three go cycle by cycle, with "
               "the same windows and aggregators; shared memory goes as windows get ready.");
}

static void show_times(experiment *x, const char *dir) {
    exhibit *e = experiment_exhibit(x, EXHIBIT_BARS, "times", "Execution times");
    e->axis = "benchmark, processes";
    e->unit = "milliseconds";
    exhibit_note(e, "Medians and quartiles over all rounds.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        contest_name name;
        char row[48];
        if (strcmp(point->dir, dir) != 0) continue;
        snprintf(row, sizeof row, "%s, %d", contest_benchmark(point, name), point->ranks);
        for (int k = 0; k < point->entries; k++)
            if (point_counts(&point->entry[k]))
                exhibit_put(e, row, point->entry[k].name, point_milliseconds(&point->entry[k]));
    }
}

static void primitives_judge(experiment *x) {
    const contest papers = {.names = primitive_table, .n = PAPERS};
    const contest all = {.names = primitive_table, .n = PRIMITIVES};
    for (int d = 0; d < x->results.config->dirs.n; d++) {
        const char *dir = x->results.config->dirs.item[d];
        x->group = dir;
        show_wins(x, dir, PAPERS);
        show_wins(x, dir, PRIMITIVES);
        show_times(x, dir);
    }
    experiment_finding(
        x, FINDING_PLAIN,
        "Of the paper's three, messages were fastest in %.0f %% of all series (there: "
        "75 %%); with shared memory beside them, shared memory in %.0f %%.",
        contest_share(x, &papers, "two-sided"), contest_share(x, &all, "shm"));
}

const experiment_kind experiment_primitives = {
    .name = "primitives",
    .title = "Primitives of the exchange",
    .source = "After Feki and Gabriel, figure 4.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series", .defaults = primitives_defaults},
    .plan = primitives_plan,
    .judge = primitives_judge,
};
