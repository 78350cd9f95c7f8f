/* The variants of Tutti: method x exchange x store; the plan is made within the timed part or before it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

/* ---- fresh plan: open, access and close are timed */

tutti_err variant_open(bench_job *job, const bench_entry *e) {
    const int mode = job->is_write ? TUTTI_WRITE | TUTTI_CREATE : TUTTI_READ;
    return tutti_file_open(job->world->comm, job->path, mode, &e->options, &job->file);
}

/* Report an error of the library.  A store or method that this machine or build lacks is marked
 * unavailable. */
int variant_failed(bench_entry *e) {
    e->unavailable = tutti_last_error()->code == TUTTI_ERR_UNSUPPORTED;
    return cli_error_tutti();
}

void variant_stats(const bench_job *job, bench_entry *e) {
    tutti_file_stats(job->file, &e->stats, NULL);
    e->now.exchange += e->stats.seconds_exchange;
    e->now.file += e->stats.seconds_file;
    snprintf(e->explain, sizeof e->explain, "%s", tutti_file_explain(job->file));
}

int variant_count(const bench_job *job, const bench_entry *e, tutti_off count) {
    if (count == job->pattern->bytes || !e->checkable) return 0;
    return cli_error("%s of '%s' transferred %lld bytes instead of %lld",
                     job->is_write ? "write" : "read", job->path, (long long)count,
                     (long long)job->pattern->bytes);
}

/* Sync the file if --fsync requires it; part of the timed write. */
static tutti_err variant_sync(const bench_job *job) {
    return job->is_write && job->config->fsync ? tutti_file_sync(job->file) : TUTTI_OK;
}

static int run_fresh(bench_job *job, bench_entry *e) {
    tutti_off count = 0;
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    const tutti_err err = job->is_write
                              ? tutti_file_write(job->file, job->pattern->access, job->user, &count)
                              : tutti_file_read(job->file, job->pattern->access, job->user, &count);
    if (err != TUTTI_OK) return variant_failed(e);
    variant_stats(job, e);
    if (variant_sync(job) != TUTTI_OK) return variant_failed(e);
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    return variant_count(job, e, count);
}

void variant_end(bench_job *job, bench_entry *e) {
    (void)e;
    tutti_plan_free(&job->plan);
    if (job->file) tutti_file_close(&job->file);
}

const bench_runner bench_tutti = {.run = run_fresh, .end = variant_end};

/* ---- reused plan: timed from tutti_plan_run to close.  Each plan is run once: after an earlier run the file
 * would have to be truncated, and ext4 writes truncated files at close. */

static int prepare_reused(bench_job *job, bench_entry *e) {
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    tutti_err err = job->is_write ? tutti_plan_write(job->file, job->pattern->access, &job->plan)
                                  : tutti_plan_read(job->file, job->pattern->access, &job->plan);
    if (err != TUTTI_OK) return variant_failed(e);
    if (!job->is_write) memset(job->user, 0xa5, (size_t)job->pattern->memory);
    return 0;
}

static int run_reused(bench_job *job, bench_entry *e) {
    tutti_off count = 0;
    if (tutti_plan_run(job->plan, job->user, 0, &count) != TUTTI_OK) return variant_failed(e);
    variant_stats(job, e);
    tutti_plan_free(&job->plan);
    if (variant_sync(job) != TUTTI_OK) return variant_failed(e);
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    return variant_count(job, e, count);
}

const bench_runner bench_tutti_reused = {
    .prepare = prepare_reused, .run = run_reused, .end = variant_end};

/* ---- independent access: open and close are collective, so a rank that failed must also close */

static int run_independent(bench_job *job, bench_entry *e) {
    const bench_pattern *p = job->pattern;
    tutti_off count = 0;
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    const tutti_err err =
        job->is_write ? tutti_file_write_independent(job->file, p->access, job->user, &count)
                      : tutti_file_read_independent(job->file, p->access, job->user, &count);
    const int failed = err != TUTTI_OK && variant_failed(e);
    variant_stats(job, e);
    if (tutti_file_close(&job->file) != TUTTI_OK && !failed) return variant_failed(e);
    return failed || variant_count(job, e, count);
}

const bench_runner bench_tutti_independent = {.run = run_independent, .end = variant_end};

/* ---- the entries of a cell */

static const bench_runner *const runner_table[] = {
    [ENTRY_LIMIT] = &bench_limit,     [ENTRY_PIECES] = &bench_pieces,
    [ENTRY_STAGING] = &bench_staging, [ENTRY_MAPPING] = &bench_mapping,
    [ENTRY_TUTTI] = &bench_tutti,     [ENTRY_PEER] = &bench_peer,
};

bench_entry *bench_entry_add(bench_cell *cell, entry_kind kind, const char *name) {
    cell->entry = cli_realloc(cell->entry, (size_t)(cell->entries + 1) * sizeof *cell->entry);
    bench_entry *e = &cell->entry[cell->entries++];
    *e = (bench_entry){.kind = kind, .checkable = 1, .iterations = 1};
    e->runner = runner_table[kind];
    snprintf(e->v.name, sizeof e->v.name, "%s", name);
    return e;
}

bench_entry *bench_reference_add(const bench_config *c, bench_cell *cell, entry_kind kind,
                                 const char *name) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", name, c->options.direct_io ? BENCH_CACHED : "");
    return bench_entry_add(cell, kind, full);
}

int bench_has_plan(const char *method) {
    return strcmp(method, "auto") == 0 || strcmp(method, "two-phase") == 0;
}

static void add_variants(const bench_config *c, int reused, bench_cell *cell) {
    for (int m = 0; m < c->methods.n; m++) {
        const char *method = c->methods.item[m];
        const int exchanges = bench_has_plan(method) ? c->exchanges.n : 1;
        for (int x = 0; x < exchanges && (bench_has_plan(method) || !reused || !c->fresh); x++)
            for (int s = 0; s < c->stores.n; s++) {
                const char *const what[3] = {method, c->exchanges.item[x], c->stores.item[s]};
                if (cell->is_write || strcmp(what[2], "mem") != 0) {
                    char name[48];
                    const int exchange = c->exchanges.n > 1 && bench_has_plan(what[0]);
                    snprintf(name, sizeof name, "%s%s%s%s%s%s", what[0], exchange ? "/" : "",
                             exchange ? what[1] : "", c->stores.n > 1 ? "/" : "",
                             c->stores.n > 1 ? what[2] : "", reused ? ", reused plan" : "");
                    bench_entry *e = bench_entry_add(cell, ENTRY_TUTTI, name);
                    e->method = what[0];
                    e->exchange = what[1];
                    e->store = what[2];
                    e->reused = reused;
                    if (reused) e->runner = &bench_tutti_reused;
                    /* Stores without files cannot be verified: data of mem cannot be read back as a file,
                     * null stores no data. */
                    e->checkable = strcmp(what[2], "mem") != 0 && strcmp(what[2], "null") != 0;
                    e->options = c->options;
                    if (tutti_options_set(&e->options, "method", e->method) != TUTTI_OK ||
                        tutti_options_set(&e->options, "exchange", e->exchange) != TUTTI_OK ||
                        tutti_options_set(&e->options, "store", e->store) != TUTTI_OK)
                        snprintf(e->v.failure, sizeof e->v.failure, "%s", tutti_last_message());
                }
            }
    }
}

void bench_entries_make(const bench_config *c, int is_write, bench_cell *cell) {
    cell->is_write = is_write;
    cell->no_goal = c->options.direct_io || (is_write ? c->fsync : c->cold);
    bench_reference_add(c, cell, ENTRY_LIMIT, "conforming limit");
    if (c->pieces)
        bench_reference_add(c, cell, ENTRY_PIECES,
                            is_write ? "pwrite each piece" : "pread each piece");
    if (c->staging) bench_reference_add(c, cell, ENTRY_STAGING, "bare shared staging");
    if (c->mapping && !is_write) bench_reference_add(c, cell, ENTRY_MAPPING, "bare mapping");
    if (c->fresh) add_variants(c, 0, cell);
    if (c->reused) add_variants(c, 1, cell);
    if (c->peers)
        bench_reference_add(c, cell, ENTRY_PEER,
                            is_write ? "MPI_File_write_all" : "MPI_File_read_all");
}
