/* Experiments: the driver.  One start of N ranks measures on 1, 2, 4, ... ranks: each number of processes has
 * a communicator of the first ranks, and the other ranks sleep until the point is done.  A point is a cell of
 * `tutti bench`: its variants are interleaved in every round, and every file is verified after it has been
 * closed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers of processes */

static int compare_ints(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Choose the numbers of processes: those given by the user, or 1, 2, 4, ... and all; sorted.  @return their
 * number; 0 and a message */
static int choose_procs(const cli_world *w, const bench_config *c, int **out) {
    int n = 0;
    int *procs = cli_malloc(((size_t)c->procs.n + 64) * sizeof *procs);
    *out = procs;
    for (int i = 0; i < c->procs.n; i++) procs[n++] = (int)strtol(c->procs.item[i], NULL, 10);
    for (int p = 1; p < w->ranks && c->procs.n == 0; p *= 2) procs[n++] = p;
    if (c->procs.n == 0) procs[n++] = w->ranks;
    qsort(procs, (size_t)n, sizeof *procs, compare_ints);
    if (procs[n - 1] <= w->ranks) return n;
    cli_error("--procs %d: must be at most %d, the number of ranks", procs[n - 1], w->ranks);
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
    if (!setting[length] || length >= sizeof key)
        return cli_error("invalid setting '%s': must be NAME=VALUE", setting);
    memcpy(key, setting, length);
    key[length] = '\0';
    return tutti_options_set(opt, key, setting + length + 1) == TUTTI_OK ? 0 : cli_error_tutti();
}

bench_entry *experiment_variant(const experiment *x, bench_cell *point, const char *name,
                                const char *settings) {
    bench_entry *e = bench_entry_add(point, ENTRY_TUTTI, name);
    char copy[sizeof e->settings], *rest = NULL;
    snprintf(e->settings, sizeof e->settings, "%s", settings);
    snprintf(copy, sizeof copy, "%s", settings);
    e->options = x->results.config->options;
    for (char *s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        if (set_option(&e->options, s))
            snprintf(e->v.failure, sizeof e->v.failure, "%.500s", cli_message());
    e->checkable = e->options.store != TUTTI_STORE_NULL;
    return e;
}

bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name) {
    return bench_reference_add(x->results.config, point, kind, name);
}

/* ---- common settings of variants */

enum { BUFFERS = 8 }; /* maximum staging memory of an aggregator, in windows */

static const tutti_off STAGING_LIMIT = 512 << 20;

tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct) {
    const tutti_off each = (tutti_off)BUFFERS * point->ranks;
    tutti_off window = x->results.config->options.window_size;
    if (window) return window;
    window = direct ? 4 << 20 : 512 << 10;
    while (window > 64 << 10 && each * window > STAGING_LIMIT) window /= 2;
    return window;
}

void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size) {
    const tutti_options *user = &x->results.config->options;
    const tutti_off usual = 16 << 20, window = experiment_window(x, point, direct);
    const tutti_off all = (tutti_off)BUFFERS * point->ranks * window;
    tutti_off staging = user->cb_buffer_size;
    if (staging == usual && all > staging) staging = all < STAGING_LIMIT ? all : STAGING_LIMIT;
    snprintf(out, size, "cb_nodes=%d window_size=%lld cb_buffer_size=%lld",
             user->cb_nodes ? user->cb_nodes : point->ranks, (long long)window, (long long)staging);
}

const char *experiment_background_store(const experiment *x, int direct) {
    return direct && x->has_uring ? "uring" : "threads";
}

/* Return whether a file can be opened with io_uring, which the build or the kernel may lack. */
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
    return cli_error("size is %s per rank on %d ranks: must be at most 1g per rank", size,
                     cell->ranks);
}

/* Measure a point on its ranks. */
static int run_point(experiment *x, int i, cli_progress *progress) {
    bench_cell *cell = &x->results.cell[i];
    const cli_world *w = world_of(x, cell->ranks);
    bench_config config = *x->results.config;
    const double share[2] = {(double)i / x->results.cells, (double)(i + 1) / x->results.cells};
    if (w->comm == MPI_COMM_NULL) return 0;
    config.size = cell->size;
    config.cold |= cell->cold;
    config.fsync |= cell->cold;
    config.rounds = rounds_of(x);
    const bench_job job = {.world = w, .config = &config};
    if (check_point(cell) || cells_run(&job, 1, cell, progress, share)) return 1;
    if (x->kind->measured) x->kind->measured(x, w, cell);
    return 0;
}

/* ---- reports */

FILE *experiment_part(experiment *x, const char *part, const char *dir) {
    if (x->all->rank != 0 || !x->parts) return NULL;
    fputs(x->n_parts++ ? ",\n    {" : "    {", x->parts);
    report_json_pair(x->parts, "part", part);
    fputs("\"directory\": ", x->parts);
    cli_json_string(x->parts, dir);
    return x->parts;
}

static int write_report(const experiment *x) {
    const char *path = x->results.config->json ? x->results.config->json : "-";
    if (report_experiment_json(x, path)) {
        fprintf(stderr, "tutti-experiments: %s\n", cli_message());
        return 1;
    }
    if (strcmp(path, "-") != 0) printf("Measured: %s; 'tutti-report %s' shows it.\n", path, path);
    return 0;
}

static void free_experiment(experiment *x) {
    for (int i = 0; i < x->worlds; i++) cli_world_free(&x->world[i]);
    if (x->parts) fclose(x->parts);
    free(x->text);
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
    if (w->rank == 0) x.parts = open_memstream(&x.text, &x.size);
    kind->plan(&x);
    int failed = kind->begin ? kind->begin(&x) : 0;
    if (!failed) {
        bench_results *r = &x.results;
        cli_progress progress;
        long steps = 0;
        for (int i = 0; i < r->cells; i++) steps += (long)r->cell[i].entries * rounds_of(&x);
        progress_start(&progress, x.all, steps);
        for (int i = 0; i < r->cells && !failed; i++)
            failed = cli_agree(x.all, run_point(&x, i, &progress));
        progress_end(&progress);
        r->seconds = cli_now() - progress.started;
        results_count_failures(r);
    }
    if (failed && w->rank == 0) fprintf(stderr, "tutti-experiments: %s\n", cli_message());
    if (!failed) failed = cli_agree(w, w->rank == 0 && write_report(&x));
    failed |= cli_agree(w, x.results.failures > 0);
    if (kind->end) kind->end(&x);
    free_experiment(&x);
    return failed ? CLI_FAILED : CLI_OK;
}
