/* tutti-experiments primitives: Feki and Gabriel, figure 4: messages, puts between fences, puts under
 * shared locks, all under the pipeline write-comm-2, and beside them shared memory, which they did
 * not have.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/contest.h"

#include <stdlib.h>

/* Messages as in step 4: so all of the paper's go cycle by cycle, in the same engine. */
static const char *const primitive_table[] = {"two-sided", "fence", "lock", "shm"};
enum { PAPERS = 3, PRIMITIVES = sizeof primitive_table / sizeof *primitive_table };

static void primitives_defaults(bench_config *c, int quick) {
    c->size = (quick ? 8 : 16) << 20;
    c->rounds = quick ? 2 : 3;
    c->series = quick ? 1 : 3;
    c->write = 1;
}

static void add_ways(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[200];
    contest_stage(x, point, 1, stage, sizeof stage);
    for (int i = 0; i < PRIMITIVES; i++) {
        char settings[400];
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

/* What is shown together. */
typedef struct {
    const char *dir;
    int is_read;
} scene_of;

static exhibit *add_exhibit(experiment *x, const scene_of *s, const char *id, const char *title) {
    char full_id[40], full_title[120];
    snprintf(full_id, sizeof full_id, "%s%s", id, experiment_op_name(s->is_read));
    snprintf(full_title, sizeof full_title, "%s%s", title, s->is_read ? ", reads" : "");
    return experiment_exhibit(x, EXHIBIT_BARS, full_id, full_title);
}

static void show_wins(experiment *x, const scene_of *s, int n) {
    const contest c = {.names = primitive_table, .n = n, .is_read = s->is_read};
    exhibit *e = n == PAPERS
                     ? add_exhibit(x, s, "wins",
                                   "Series in which each of the paper's primitives was fastest")
                     : add_exhibit(x, s, "wins with shm", "The same with shared memory");
    contest_wins(x, &c, s->dir, e);
    if (n == PAPERS)
        exhibit_note(
            e, "By the least time of a series, as in Feki and Gabriel's figure 4: messages "
               "won 75 %% of all, fences 37 %% of Tile 256 B. All three go cycle by cycle, with "
               "the same windows and aggregators; shared memory goes as windows get ready.");
}

static void show_times(experiment *x, const scene_of *s, int by_least) {
    exhibit *e = add_exhibit(x, s, by_least ? "times, least" : "times",
                             by_least ? "Least execution times" : "Execution times");
    e->axis = "benchmark, processes";
    e->unit = "milliseconds";
    exhibit_note(e, by_least ? "The paper's measure: the least time of all rounds."
                             : "Medians over all rounds, with 95 %% bounds.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        contest_name name;
        char row[48];
        if (!point_is(point, NULL, s->dir, s->is_read)) continue;
        snprintf(row, sizeof row, "%s, %d", contest_benchmark(point, name), point->ranks);
        for (int k = 0; k < point->entries; k++) {
            const bench_entry *way = &point->entry[k];
            if (!point_counts(way)) continue;
            if (by_least)
                exhibit_put_number(e, row, way->name, 1e3 * way->time.min);
            else
                exhibit_put(e, row, way->name, point_milliseconds(way));
        }
    }
}

static void claim_scene(experiment *x, const scene_of *s) {
    const bench_cell **point;
    char where[120];
    const int n = contest_select(x, s->dir, s->is_read, NULL, &point);
    contest_where(s->dir, s->is_read, "all benchmarks", where);
    for (int k = 1; k < PRIMITIVES; k++)
        claim_faster_all(x, where, n, point, primitive_table[k], primitive_table[0]);
    free(point);
}

static void judge_operation(experiment *x, int is_read) {
    const contest papers = {.names = primitive_table, .n = PAPERS, .is_read = is_read};
    const contest all = {.names = primitive_table, .n = PRIMITIVES, .is_read = is_read};
    for (int d = 0; d < x->results.config->dirs.n; d++) {
        const scene_of s = {x->results.config->dirs.item[d], is_read};
        x->group = s.dir;
        show_wins(x, &s, PAPERS);
        show_wins(x, &s, PRIMITIVES);
        show_times(x, &s, 1);
        show_times(x, &s, 0);
        claim_scene(x, &s);
    }
    experiment_finding(
        x, FINDING_PLAIN,
        "Of the paper's three, messages were fastest in %.0f %% of all series of %s (there, "
        "writes: 75 %%); with shared memory beside them, shared memory in %.0f %%.",
        contest_share(x, &papers, "two-sided"), is_read ? "reads" : "writes",
        contest_share(x, &all, "shm"));
}

static void primitives_judge(experiment *x) {
    int op[2];
    const int ops = experiment_ops(x, op);
    for (int i = 0; i < ops; i++) judge_operation(x, op[i]);
}

const experiment_kind experiment_primitives = {
    .name = "primitives",
    .title = "Primitives of the exchange",
    .source = "After Feki and Gabriel, figure 4.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series,op", .defaults = primitives_defaults},
    .plan = primitives_plan,
    .judge = primitives_judge,
};
