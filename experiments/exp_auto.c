/* tutti-experiments auto: what leaving the choice to the library costs.
 *
 * At every point (directory, pattern, write or read) `auto`, the fixed variants and the MPI library's
 * own call are interleaved.  The best fixed variant is chosen by its median over the even rounds and judged
 * by the odd ones, so that luck does not make it the best: regret = median of auto / median of the
 * best - 1.  Beside it the 95 % interval of the differences of those rounds, which tells regret from
 * noise.  Rounds go to the variants that matter: a method that is far behind takes no part in later ones, and is not the
 * best; what "far" means falls with the rounds.
 *
 * Against the MPI library: the ratios of both times, round by round.  The lower 95 % bound of their
 * median is an order statistic (sign test; five rounds at least).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <string.h>

#define AUTO "auto"
#define PEER "MPI library"

#define PATIENCE 3.0 /* times as slow as the fastest, in the first rounds */

#define BACKGROUND " store=" /* by the one that works in the background */
static const struct {
    const char *name, *settings;
} fixed_table[] = {
    {"independent", "method=independent"},
    {"list", "method=list"},
    {"sieve", "method=sieve"},
    {"root", "method=root"},
    {"shm", "method=two-phase exchange=shm pipeline=none"},
    {"shm, write-comm-2", "method=two-phase exchange=shm pipeline=write-comm-2"},
    {"comm", "method=two-phase exchange=shm pipeline=comm" BACKGROUND},
    {"write", "method=two-phase exchange=shm pipeline=write" BACKGROUND},
    {"write-comm", "method=two-phase exchange=shm pipeline=write-comm" BACKGROUND},
    {"posix", "method=two-phase store=posix"},
    {"threads", "method=two-phase store=threads"},
    {"uring", "method=two-phase store=uring"},
    {"messages", "method=two-phase exchange=two-sided"},
    {"fence", "method=two-phase exchange=fence"},
    {"lock", "method=two-phase exchange=lock"},
    {"one aggregator", "method=two-phase exchange=shm cb_nodes=1"},
    {"large windows", "method=two-phase exchange=shm window_size=4m"},
};
enum { FIXED = sizeof fixed_table / sizeof *fixed_table };

static void auto_defaults(bench_config *c, int quick) {
    c->write = c->read = 1;
    c->size = (quick ? 1 : 16) << 20;
    c->rounds = quick ? 6 : 32;
    cli_list_split(&c->patterns,
                   quick ? "block2d,pieces512"
                         : "block2d,columns,block3d,cyclic4k,pieces512,irregular64,flash,strided");
}

/* ---- points */

static void add_point(experiment *x, const char *dir, const char *pattern, int ranks, int is_read) {
    const bench_config *c = x->results.config;
    bench_cell *point = experiment_point(x, &(point_spec){.figure = is_read ? "reads" : "writes",
                                                          .dir = dir,
                                                          .pattern = pattern,
                                                          .is_read = is_read,
                                                          .ranks = ranks,
                                                          .size = c->size});
    point->patience = PATIENCE;
    point->tightens = 1;
    experiment_variant(x, point, AUTO, "method=auto")->stays = 1;
    for (int i = 0; i < FIXED; i++) {
        const char *s = fixed_table[i].settings;
        char settings[160];
        snprintf(settings, sizeof settings, "%s%s", s,
                 s[strlen(s) - 1] == '=' ? experiment_background_store(x, c->options.direct_io)
                                         : "");
        experiment_variant(x, point, fixed_table[i].name, settings);
    }
    experiment_reference(x, point, ENTRY_PEER, PEER);
}

static void auto_plan(experiment *x) {
    const bench_config *c = x->results.config;
    const int first = c->procs.n ? 0 : x->worlds - 1; /* all ranks, unless numbers were given */
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = first; i < x->worlds; i++)
            for (int p = 0; p < c->patterns.n; p++) {
                if (c->write)
                    add_point(x, c->dirs.item[d], c->patterns.item[p], x->world[i].ranks, 0);
                if (c->read)
                    add_point(x, c->dirs.item[d], c->patterns.item[p], x->world[i].ranks, 1);
            }
}

const experiment_kind experiment_auto = {
    .name = "auto",
    .title = "Regret of the automatic choice",
    .source = "Against the best of the fixed variants, and against the MPI library's own call.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,pattern,op", .defaults = auto_defaults},
    .plan = auto_plan,
};
