/* tutti bench: the driver.  Creates the cells from the lists of directories, patterns and methods,
 * runs them and writes the reports.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stddef.h>
#include <stdlib.h>

static void add_cell(const bench_config *c, bench_results *r, int dir, int pattern, int is_write) {
    bench_cell *cell = &r->cell[r->cells++];
    *cell = (bench_cell){.dir = c->dirs.item[dir], .pattern = c->patterns.item[pattern]};
    cell->ranks = r->ranks;
    cell->size = c->size;
    cell_name_file_system(cell->dir, cell->file_system, sizeof cell->file_system);
    bench_entries_make(c, is_write, cell);
}

/* Write the results obtained so far, so that the file is complete even if this process is killed. */
static int keep_so_far(const cli_world *w, const bench_results *r, int cells) {
    bench_results so_far = *r;
    const char *json = r->config->json;
    if (w->rank != 0 || cells >= r->cells || !json || report_is_quiet(r->config)) return 0;
    char *part = cli_format("%s.part", json);
    so_far.cells = cells;
    int failed = report_json(&so_far, part);
    if (!failed && rename(part, json) != 0) failed = cli_error_errno("cannot write", json);
    free(part);
    return failed;
}

static int write_reports(const bench_results *r) {
    const bench_config *c = r->config;
    const int quiet = report_is_quiet(c);
    if (!quiet) report_text(r, stdout);
    if (!c->json) return 0;
    const int failed = report_json(r, c->json);
    if (failed)
        fprintf(stderr, "tutti bench: %s\n", cli_message());
    else if (!quiet)
        printf("Figures: tutti-report %s --html FILE\n", c->json);
    return failed;
}

static int run_plain(const cli_world *w, const void *call) {
    const bench_config *config = call;
    if (bench_outputs_check(w, config)) return CLI_FAILED;
    bench_results r = {.config = config, .ranks = w->ranks};
    results_name_mpi(&r);
    cli_progress progress;
    long steps = 0;
    int failed = 0;
    bench_job job = {.world = w, .config = config};
    r.cell = cli_malloc((size_t)(config->dirs.n * config->patterns.n * 2) * sizeof *r.cell);
    for (int d = 0; d < config->dirs.n; d++)
        for (int p = 0; p < config->patterns.n; p++) {
            if (config->write) add_cell(config, &r, d, p, 1);
            if (config->read) add_cell(config, &r, d, p, 0);
        }
    for (int i = 0; i < r.cells; i++) steps += (long)r.cell[i].entries * config->rounds;
    if (config->staging) job.staging = staging_make(w, config->slice);
    progress_start(&progress, w, steps);
    cli_stop_softly(1);
    const int n = config->write + config->read;
    for (int i = 0; i < r.cells && !failed; i += n) {
        const double share[2] = {(double)i / r.cells, (double)(i + n) / r.cells};
        failed = cells_run(&job, n, &r.cell[i], &progress, share);
        r.stopped = cli_stopped(w);
        if (r.stopped) results_keep(&r, i + n);
        failed = failed || cli_agree(w, keep_so_far(w, &r, i + n));
    }
    progress_end(&progress);
    r.seconds = cli_now() - progress.started;
    staging_free(&job.staging);
    results_count_failures(&r);
    if (failed && w->rank == 0) fprintf(stderr, "tutti bench: %s\n", cli_message());
    if (!failed) failed = cli_agree(w, w->rank == 0 && write_reports(&r));
    failed |= r.failures > 0;
    const int stopped = r.stopped;
    results_free(&r);
    const int code = stopped ? 128 + stopped : failed ? CLI_FAILED : CLI_OK;
    return code == CLI_FAILED ? CLI_DIFFERS : code; /* the messages are already printed */
}

static const cli_command command_table[] = {
    {"bench", 1, "", "Measure writing and reading on this machine.",
     "Writes and reads patterns by each method, verifies every byte, and compares with the "
     "conforming limit: each rank writes (reads) one contiguous part in calls of 4 MiB.  All times "
     "are from the first rank's open to the last one's close, on a new file; methods are "
     "interleaved "
     "in each round.  The experiments of papers on collective I/O: see 'tutti-experiments --help'.",
     0, run_plain},
};

const cli_group bench_group = {
    .title = "Measurements",
    .page = "tutti(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = bench_options,
    .options = BENCH_OPTIONS,
    .config_size = sizeof(bench_config),
    .library = offsetof(bench_config, options),
    .mpi = CLI_MPI,
    .start = bench_set_defaults,
    .check = bench_check,
};
