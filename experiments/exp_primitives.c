/* tutti-experiments primitives: Feki and Gabriel, figure 4: messages, puts between fences, puts under shared
 * locks, all with the pipeline write-comm-2.  Shared memory, which the paper did not use, is added.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/series.h"

/* Two-sided uses messages per cycle (step 4), so that all variants of the paper use the cyclic engine. */
static const char *const primitive_table[] = {"two-sided", "fence", "lock", "shm"};
enum { PRIMITIVES = sizeof primitive_table / sizeof *primitive_table };

static void primitives_defaults(bench_config *c, int quick) {
    c->size = (quick ? 8 : 16) << 20;
    c->rounds = quick ? 2 : 3;
    c->series = quick ? 1 : 3;
    c->write = 1;
}

static void add_variants(const experiment *x, bench_cell *point) {
    const tutti_options *user = &x->results.config->options;
    char stage[200];
    series_stage(x, point, 1, stage, sizeof stage);
    for (int i = 0; i < PRIMITIVES; i++) {
        char settings[400];
        snprintf(settings, sizeof settings,
                 "method=two-phase pipeline=write-comm-2 exchange=%s step=%d %s",
                 primitive_table[i],
                 i            ? 0
                 : user->step ? user->step
                              : 4,
                 stage);
        experiment_variant(x, point, primitive_table[i], settings);
    }
    experiment_variant(x, point, "auto", "method=auto");
    experiment_reference(x, point, ENTRY_PEER, "MPI library");
}

static void primitives_plan(experiment *x) {
    series_points(x, "primitives", "ior,tile256,tile1m", add_variants);
}

const experiment_kind experiment_primitives = {
    .name = "primitives",
    .title = "Primitives of the exchange",
    .source = "After Feki and Gabriel, figure 4.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,series,op", .defaults = primitives_defaults},
    .plan = primitives_plan,
};
