/* tutti-experiments steps: Dickens and Thakur, figures 2 and 3 and sections 4.1.1 and 4.1.2.
 *
 *   by processes   a square array of integers, block-block, on 1, 2, 4, ... processes
 *   by file size   the same on all processes, with arrays of several sizes
 *   stagger        every process writes one contiguous share, all at once or with delays between processes
 *
 * The steps of the paper exchange all data first; then every process writes its part in one request.  Every
 * rank is an aggregator, nothing overlaps, and staging memory is large enough, within limits, unless the user
 * sets its size.  With --op read the direction is reversed: every process reads its part in one request, and
 * the steps distribute the data.  Only writers are staggered.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

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

/* Return the memory for one window with all data of an aggregator, and for the messages of all ranks. */
static tutti_off staging_of(const tutti_options *user, const bench_cell *point) {
    const tutti_off all = (3 * point->ranks + 2) * point->size;
    const tutti_off wanted = all < STAGING_MOST ? all : STAGING_MOST;
    const int is_default = user->cb_buffer_size == 16 << 20;
    return is_default && wanted > user->cb_buffer_size ? wanted : user->cb_buffer_size;
}

static void add_array(experiment *x, const point_spec *where, tutti_off bytes) {
    point_spec spec = *where;
    spec.pattern = "square2d";
    spec.size = bytes / spec.ranks;
    bench_cell *point = experiment_point(x, &spec);
    experiment_variant(x, point, NON_COLLECTIVE, "method=independent")->runner =
        &bench_tutti_independent;
    const tutti_options *user = &x->results.config->options;
    for (int i = 1; i <= STEPS; i++) {
        char name[32], settings[160];
        snprintf(name, sizeof name, "step %d", i);
        snprintf(settings, sizeof settings,
                 "method=two-phase exchange=two-sided step=%d pipeline=none cb_nodes=%d "
                 "cb_buffer_size=%lld window_size=%lld",
                 i, point->ranks, (long long)staging_of(user, point),
                 (long long)(user->window_size ? user->window_size : STAGING_MOST));
        experiment_variant(x, point, name, settings);
    }
    experiment_variant(x, point, "auto", "method=auto");
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
        experiment_variant(x, point, name, settings);
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

const experiment_kind experiment_steps = {
    .name = "steps",
    .title = "Steps towards fast collective access",
    .source = "After Dickens and Thakur, figures 2 and 3, sections 4.1.1 and 4.1.2.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,array,files,op", .defaults = steps_defaults},
    .plan = steps_plan,
};
