/* tutti-experiments auto: the cost of the automatic choice.
 *
 * In every case `auto`, fixed methods and the call of the MPI library are interleaved.  The best
 * fixed method is chosen by its median over the odd rounds (the first, the third ...) and compared
 * in the even rounds, so that noise in the compared rounds does not affect the choice.  By medians,
 * regret = time of auto / time of the best fixed method - 1.  The 95 % interval of the differences
 * of these rounds distinguishes regret from noise.  A method that is far slower than the fastest is
 * skipped in later rounds and cannot be the best; the limit decreases with the rounds.
 *
 * Comparison with the MPI library: the ratios of both times, round by round, with bounds of their
 * median by order statistics (sign test; at least five rounds).
 *
 * The cases are all combinations of directories, patterns, operations and numbers of ranks.  With
 * --cases N they are drawn from these, from sizes, warm and cold, and the default and a tuned
 * profile, so that every pair of levels occurs (cases.h).  Cold: a read finds nothing in the page
 * cache, a write is complete when the data is on the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"
#include "experiments/cases.h"

#include <stdlib.h>
#include <string.h>

#define AUTO "auto"
#define PEER "MPI library"

#define PATIENCE 3.0 /* first limit for slow methods, relative to the fastest */

#define BACKGROUND " store=" /* followed by the name of the asynchronous store */
static const struct {
    const char *name, *settings;
} fixed_table[] = {
    {"independent", "method=independent"},
    {"list", "method=list"},
    {"sieve", "method=sieve"},
    {"root", "method=root"},
    {"shm", "method=two-phase exchange=shm pipeline=none"},
    {"shm, write-comm-2", "method=two-phase exchange=shm pipeline=write-comm-2"},
    {"two-phase", "method=two-phase"},
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
/* With --cases only the first FIXED_OF_CASES methods are measured. */
enum { FIXED = sizeof fixed_table / sizeof *fixed_table, FIXED_OF_CASES = 7 };

enum { LEAST_ROUNDS = 6 }; /* minimum number of rounds for a confidence interval */
/* maximum bytes of a case on a throttled device */
static const tutti_off SLOW_MOST = (tutti_off)256 << 20;

static void auto_defaults(bench_config *c, int quick) {
    c->write = c->read = 1;
    c->size = (quick ? 1 : 16) << 20;
    c->rounds = quick ? 6 : 14;
    cli_list_split(&c->patterns,
                   quick ? "block2d,pieces512"
                         : "block2d,columns,block3d,cyclic4k,pieces512,irregular64,flash,strided");
    c->budget = 6900; /* seconds: a run is limited to two hours */
    cli_list_split(&c->files, quick ? "4k,64k" : "4k,64k,1m,8m,32m,128m");
}

/* ---- points */

static bench_cell *add_point(experiment *x, const point_spec *spec, int fixed) {
    const int direct = x->results.config->options.direct_io;
    bench_cell *point = experiment_point(x, spec);
    point->patience = PATIENCE;
    point->tightens = 1;
    experiment_variant(x, point, AUTO, "method=auto")->stays = 1;
    for (int i = 0; i < fixed; i++) {
        const char *s = fixed_table[i].settings;
        char settings[160];
        snprintf(settings, sizeof settings, "%s%s", s,
                 s[strlen(s) - 1] == '=' ? experiment_background_store(x, direct) : "");
        experiment_variant(x, point, fixed_table[i].name, settings);
    }
    experiment_reference(x, point, ENTRY_PEER, PEER);
    return point;
}

static const char *const figures[] = {"writes", "reads"};

enum { PATTERN, SIZE, RANKS, DIRECTORY, OPERATION, COLD, PROFILE };

static void add_case(experiment *x, const int *level, int first, const int *op) {
    const bench_config *c = x->results.config;
    const char *dir = c->dirs.item[level[DIRECTORY]];
    point_spec spec = {.figure = figures[op[level[OPERATION]]],
                       .dir = dir,
                       .pattern = c->patterns.item[level[PATTERN]],
                       .is_read = op[level[OPERATION]],
                       .ranks = x->world[first + level[RANKS]].ranks};
    cli_parse_size(c->files.item[level[SIZE]], &spec.size);
    if (cli_list_has(&c->slow, dir) && spec.size * spec.ranks > SLOW_MOST)
        spec.size = SLOW_MOST / spec.ranks;
    bench_cell *point = add_point(x, &spec, FIXED_OF_CASES);
    point->cold = level[COLD] && strcmp(point->file_system, "tmpfs") != 0;
    point->least_rounds = LEAST_ROUNDS;
    point->profile = level[PROFILE] ? "tuned" : "default";
    for (int i = 0; i < point->entries && level[PROFILE]; i++)
        if (point->entry[i].kind == ENTRY_TUTTI &&
            tutti_options_set(&point->entry[i].options, "profile", c->tuned) != TUTTI_OK)
            snprintf(point->entry[i].v.failure, sizeof point->entry[i].v.failure, "%.500s",
                     tutti_last_message());
}

static void draw_cases(experiment *x, int first, const int *op, int ops) {
    const bench_config *c = x->results.config;
    const int levels[] = {
        [PATTERN] = c->patterns.n,   [SIZE] = c->files.n, [RANKS] = x->worlds - first,
        [DIRECTORY] = c->dirs.n,     [OPERATION] = ops,   [COLD] = 2,
        [PROFILE] = c->tuned ? 2 : 1};
    int *level = cli_malloc((size_t)c->cases * CASE_FACTORS * sizeof *level);
    const int missing = cases_draw(CASE_FACTORS, levels, c->cases, c->seed, level);
    /* the default profile must not be that of the user */
    if (c->tuned) setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    for (int i = 0; i < c->cases; i++) add_case(x, level + (long)i * CASE_FACTORS, first, op);
    FILE *f = experiment_part(x, "cases", c->dirs.item[0]);
    if (f)
        fprintf(f, ", \"cases\": %d, \"seed\": %llu, \"missing_pairs\": %d}", c->cases,
                (unsigned long long)c->seed, missing);
    if (x->all->rank == 0)
        fprintf(stderr, "tutti-experiments: %d cases of seed %llu, %d pairs of levels missing\n",
                c->cases, (unsigned long long)c->seed, missing);
    free(level);
}

static void auto_plan(experiment *x) {
    const bench_config *c = x->results.config;
    int op[2];
    const int ops = experiment_ops(x, op);
    if (c->cases) {
        draw_cases(x, x->worlds > 1 && x->world[0].ranks == 1, op, ops);
        return;
    }
    /* points are only on all ranks, unless --procs is given */
    const int first = c->procs.n ? 0 : x->worlds - 1;
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = first; i < x->worlds; i++)
            for (int p = 0; p < c->patterns.n * ops; p++)
                add_point(x,
                          &(point_spec){.figure = figures[op[p % ops]],
                                        .dir = c->dirs.item[d],
                                        .pattern = c->patterns.item[p / ops],
                                        .is_read = op[p % ops],
                                        .ranks = x->world[i].ranks,
                                        .size = c->size},
                          FIXED);
}

const experiment_kind experiment_auto = {
    .name = "auto",
    .title = "Regret of the automatic choice",
    .source = "Against the best fixed method, and against the MPI library's own call.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,pattern,op,files,cases,slow,tuned", .defaults = auto_defaults},
    .plan = auto_plan,
};
