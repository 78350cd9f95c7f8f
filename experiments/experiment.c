/* Experiments: the harness.  One start of N ranks measures on 1, 2, 4, ... of them: every number of
 * processes has a communicator of the first so many ranks, and the others sleep until the point is
 * done.  A point is a cell of `tutti bench`: its ways alternate in every round, and every file is
 * verified after it has been closed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <stdlib.h>
#include <string.h>

#define FAR 3.0 /* times the median: an outlier */

/* ---- numbers of processes */

static int compare_ints(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Those that the user gave, or 1, 2, 4, ... and all; sorted.  @return how many, 0 and a message */
static int choose_procs(const cli_world *w, const bench_config *c, int **out) {
    int n = 0;
    int *procs = cli_malloc(((size_t)c->procs.n + 64) * sizeof *procs);
    *out = procs;
    for (int i = 0; i < c->procs.n; i++) procs[n++] = (int)strtol(c->procs.item[i], NULL, 10);
    for (int p = 1; p < w->ranks && c->procs.n == 0; p *= 2) procs[n++] = p;
    if (c->procs.n == 0) procs[n++] = w->ranks;
    qsort(procs, (size_t)n, sizeof *procs, compare_ints);
    if (procs[n - 1] <= w->ranks) return n;
    cli_error("--procs: %d processes are needed, and there are only %d", procs[n - 1], w->ranks);
    return 0;
}

static int make_worlds(experiment *x) {
    int *procs;
    const int n = choose_procs(x->all, x->results.config, &procs);
    x->world = cli_malloc((size_t)(n ? n : 1) * sizeof *x->world);
    for (int i = 0; i < n; i++)
        if (i == 0 || procs[i] != procs[i - 1])
            cli_world_first(x->all, procs[i], &x->world[x->worlds++]);
    free(procs);
    return x->worlds ? 0 : 1;
}

static const cli_world *world_of(const experiment *x, int ranks) {
    for (int i = 0; i < x->worlds; i++)
        if (x->world[i].ranks == ranks) return &x->world[i];
    return x->all;
}

int experiment_most_ranks(const experiment *x) {
    return x->world[x->worlds - 1].ranks;
}

int experiment_ops(const experiment *x, int out[2]) {
    int n = 0;
    if (x->results.config->write) out[n++] = 0;
    if (x->results.config->read) out[n++] = 1;
    return n;
}

const char *experiment_op_name(int is_read) {
    return is_read ? " reads" : "";
}

/* ---- points */

static int rounds_of(const experiment *x) {
    return x->results.config->rounds * x->results.config->series;
}

bench_cell *experiment_point(experiment *x, const point_spec *spec) {
    bench_results *r = &x->results;
    r->cell = cli_realloc(r->cell, (size_t)(r->cells + 1) * sizeof *r->cell);
    bench_cell *cell = &r->cell[r->cells++];
    *cell = (bench_cell){.figure = spec->figure,
                         .dir = spec->dir,
                         .pattern = spec->pattern,
                         .is_write = !spec->is_read,
                         .ranks = spec->ranks,
                         .size = spec->size};
    cell_name_file_system(cell->dir, cell->file_system, sizeof cell->file_system);
    return cell;
}

static int set_option(tutti_options *opt, const char *setting) {
    char key[64];
    const size_t length = strcspn(setting, "=");
    if (!setting[length] || length >= sizeof key) return cli_error("'%s' sets nothing", setting);
    memcpy(key, setting, length);
    key[length] = '\0';
    return tutti_options_set(opt, key, setting + length + 1) == TUTTI_OK ? 0 : cli_error_tutti();
}

bench_entry *experiment_way(const experiment *x, bench_cell *point, const char *name,
                            const char *settings) {
    bench_entry *e = bench_entry_add(point, ENTRY_TUTTI, name, rounds_of(x));
    char copy[sizeof e->settings], *rest = NULL;
    snprintf(e->settings, sizeof e->settings, "%s", settings);
    snprintf(copy, sizeof copy, "%s", settings);
    e->options = x->results.config->options;
    for (char *s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        if (set_option(&e->options, s))
            snprintf(e->failure, sizeof e->failure, "%.500s", cli_message());
    e->checkable = e->options.store != TUTTI_STORE_NULL;
    return e;
}

bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name) {
    return bench_reference_add(x->results.config, point, kind, name);
}

/* ---- what ways have in common */

enum { BUFFERS = 8 }; /* of a window's size that an aggregator has at most */

static const tutti_off ROOM_MOST = 512 << 20;

tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct) {
    const tutti_off each = (tutti_off)BUFFERS * point->ranks;
    tutti_off window = x->results.config->options.window_size;
    if (window) return window;
    window = direct ? 4 << 20 : 512 << 10;
    while (window > 64 << 10 && each * window > ROOM_MOST) window /= 2;
    return window;
}

void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size) {
    const tutti_options *user = &x->results.config->options;
    const tutti_off usual = 16 << 20, window = experiment_window(x, point, direct);
    const tutti_off all = (tutti_off)BUFFERS * point->ranks * window;
    tutti_off room = user->cb_buffer_size;
    if (room == usual && all > room) room = all < ROOM_MOST ? all : ROOM_MOST;
    snprintf(out, size, "cb_nodes=%d window_size=%lld cb_buffer_size=%lld",
             user->cb_nodes ? user->cb_nodes : point->ranks, (long long)window, (long long)room);
}

const char *experiment_background_store(const experiment *x, int direct) {
    return direct && x->has_uring ? "uring" : "threads";
}

/* Open a file by it: the build may lack it, or the kernel refuse it. */
static int find_uring(const cli_world *w, const bench_config *c) {
    const char *path = cli_scratch(w, c->dirs.item[0], "bench");
    tutti_options opt = c->options;
    tutti_file *file = NULL;
    int found = 0;
    opt.store = TUTTI_STORE_URING;
    opt.direct_io = 0;
    if (w->rank == 0)
        found = tutti_file_open(MPI_COMM_SELF, path, TUTTI_WRITE | TUTTI_CREATE, &opt, &file) ==
                TUTTI_OK;
    if (file && tutti_file_close(&file) != TUTTI_OK) found = 0;
    cli_scratch_remove(w);
    MPI_Bcast(&found, 1, MPI_INT, 0, w->comm);
    return found;
}

/* ---- measuring */

static int check_point(const bench_cell *cell) {
    char size[32];
    cli_format_size(cell->size, size, sizeof size);
    if (cell->size <= (tutti_off)1 << 30) return 0;
    return cli_error("%s on %d processes are more than 1 GiB a process", size, cell->ranks);
}

/* One point, on its ranks. */
static int run_point(experiment *x, int i, cli_progress *progress) {
    bench_cell *cell = &x->results.cell[i];
    const cli_world *w = world_of(x, cell->ranks);
    bench_config config = *x->results.config;
    const double share[2] = {(double)i / x->results.cells, (double)(i + 1) / x->results.cells};
    if (w->comm == MPI_COMM_NULL) return 0;
    config.size = cell->size;
    config.rounds = rounds_of(x);
    const bench_job job = {.world = w, .config = &config};
    if (check_point(cell) || cells_run(&job, 1, cell, progress, share)) return 1;
    if (x->kind->measured) x->kind->measured(x, w, cell);
    return 0;
}

static int measure_points(experiment *x) {
    bench_results *r = &x->results;
    cli_progress progress;
    long steps = 0;
    int failed = 0;
    for (int i = 0; i < r->cells; i++) steps += (long)r->cell[i].entries * rounds_of(x);
    progress_start(&progress, x->all, steps);
    for (int i = 0; i < r->cells && !failed; i++)
        failed = cli_agree(x->all, run_point(x, i, &progress));
    progress_end(&progress);
    r->seconds = cli_now() - progress.started;
    results_count_failures(r);
    return failed;
}

/* ---- reports */

static void say_unavailable(experiment *x) {
    for (int i = 0; i < x->results.cells; i++)
        for (int k = 0; k < x->results.cell[i].entries; k++) {
            const bench_cell *cell = &x->results.cell[i];
            const bench_entry *e = &cell->entry[k];
            int said = 0;
            for (int j = 0; j < x->findings; j++)
                said |= strstr(x->finding[j].text, e->failure) != NULL;
            if (*e->failure && !said)
                experiment_finding(x, e->unavailable ? FINDING_PLAIN : FINDING_FAILED,
                                   "%s (%s, %d ranks) %s: %.200s", e->name, cell->pattern,
                                   cell->ranks, e->unavailable ? "is not available" : "FAILED",
                                   e->failure);
        }
}

/* Rounds that took far longer than the others: something else was going on. */
static void say_outliers(experiment *x) {
    const bench_entry *worst = NULL;
    const bench_cell *of = NULL;
    long far = 0, all = 0;
    for (int i = 0; i < x->results.cells; i++)
        for (int k = 0; k < x->results.cell[i].entries; k++) {
            const bench_entry *e = &x->results.cell[i].entry[k];
            all += e->rounds;
            if (e->rounds < 3) continue;
            for (int r = 0; r < e->rounds; r++) far += e->seconds[r] > FAR * e->time.median;
            if (e->time.max <= FAR * e->time.median) continue;
            if (worst && e->time.max / e->time.median < worst->time.max / worst->time.median)
                continue;
            worst = e;
            of = &x->results.cell[i];
        }
    if (worst)
        experiment_finding(x, FINDING_PLAIN,
                           "Outliers: %ld of %ld times are more than %.0f times their way's "
                           "median, the farthest %.1f times (%s, %s on %d ranks, %s).",
                           far, all, FAR, worst->time.max / worst->time.median, worst->name,
                           of->pattern, of->ranks, of->dir);
}

/* Where the budget has ended a point before its rounds were done. */
static void say_rounds(experiment *x) {
    int least = rounds_of(x), cut = 0;
    for (int i = 0; i < x->results.cells; i++) {
        int most = 0;
        for (int k = 0; k < x->results.cell[i].entries; k++)
            if (x->results.cell[i].entry[k].rounds > most)
                most = x->results.cell[i].entry[k].rounds;
        cut += most < rounds_of(x);
        if (most < least) least = most;
    }
    if (cut)
        experiment_finding(x, FINDING_PLAIN,
                           "%d of %d points have fewer than %d rounds, %d at least: the budget was "
                           "used up, or they failed.",
                           cut, x->results.cells, rounds_of(x), least);
}

static int write_reports(const experiment *x) {
    const bench_config *c = x->results.config;
    const int quiet = report_is_quiet(c);
    if (!quiet) report_experiment_text(x, stdout);
    int failed = c->json && report_experiment_json(x, c->json);
    failed |= c->csv && report_csv(&x->results, c->csv);
    failed |= c->html && report_experiment_html(x, c->html);
    if (failed)
        fprintf(stderr, "tutti-experiments: %s\n", cli_message());
    else if (c->html && !quiet)
        printf("The report is in %s\n", c->html);
    return failed;
}

static int judge_and_report(experiment *x) {
    x->kind->judge(x);
    say_unavailable(x);
    say_outliers(x);
    say_rounds(x);
    return write_reports(x);
}

static void free_experiment(experiment *x) {
    for (int i = 0; i < x->worlds; i++) cli_world_free(&x->world[i]);
    for (int i = 0; i < x->exhibits; i++) {
        free(x->exhibit[i]->row);
        free(x->exhibit[i]->column);
        free(x->exhibit[i]->item);
        free(x->exhibit[i]);
    }
    free(x->exhibit);
    free(x->finding);
    free(x->claim);
    free(x->world);
    free(x->data);
    results_free(&x->results);
}

int experiment_run(const cli_world *w, const bench_config *c, const void *what) {
    const experiment_kind *kind = what;
    experiment x = {.kind = kind, .all = w, .results = {.config = c, .ranks = w->ranks}};
    MPI_Query_thread(&x.thread_level);
    results_name_mpi(&x.results);
    if (make_worlds(&x)) {
        if (w->rank == 0) fprintf(stderr, "tutti-experiments: %s\n", cli_message());
        free_experiment(&x);
        return CLI_USAGE;
    }
    x.has_uring = find_uring(w, c);
    kind->plan(&x);
    int failed = kind->begin ? kind->begin(&x) : 0;
    if (!failed) failed = measure_points(&x);
    if (failed && w->rank == 0) fprintf(stderr, "tutti-experiments: %s\n", cli_message());
    if (!failed) failed = cli_agree(w, w->rank == 0 && judge_and_report(&x));
    failed |= cli_agree(w, x.results.failures > 0 || x.broken > 0);
    if (kind->end) kind->end(&x);
    free_experiment(&x);
    return failed ? CLI_FAILED : CLI_OK;
}
