/* The FLASH checkpoint as the application writes it: one collective call per variable, 24 in all, from open
 * to close.  The pattern (bench/patterns.c) contains all variables: one after the other in the file, each
 * with the blocks of all ranks.  Each call uses the part of the access within the bytes of its variable.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/series.h"

enum { FLASH_VARIABLES = 24, FLASH_BLOCK = 8 * 8 * 8 * 8 };

/* Return the number of variables of the pattern. */
static int variables_of(tutti_off size) {
    if (size >= (tutti_off)FLASH_VARIABLES * FLASH_BLOCK) return FLASH_VARIABLES;
    return size < FLASH_BLOCK ? 1 : (int)(size / FLASH_BLOCK);
}

static tutti_err move_variable(const bench_job *job, int v, tutti_off *count) {
    const bench_pattern *p = job->pattern;
    const tutti_off each = p->total / variables_of(job->cell->size);
    tutti_access *part = NULL;
    tutti_err err = tutti_access_clip(p->access, v * each, (v + 1) * each, &part);
    /* If `part` could not be created, the call fails on all ranks, so that no rank waits. */
    const tutti_err moved = job->is_write ? tutti_file_write(job->file, part, job->user, count)
                                          : tutti_file_read(job->file, part, job->user, count);
    if (err == TUTTI_OK) err = moved;
    tutti_access_free(&part);
    return err;
}

static int run_calls(bench_job *job, bench_entry *e) {
    tutti_off all = 0;
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    for (int v = 0; v < variables_of(job->cell->size); v++) {
        tutti_off count = 0;
        if (move_variable(job, v, &count) != TUTTI_OK) return variant_failed(e);
        all += count;
    }
    /* record the explanation of the last call; the times are replaced below by sums over all
     * calls */
    variant_stats(job, e);
    e->now = (bench_phases){0};
    tutti_file_stats(job->file, NULL, &e->stats);
    e->now.exchange = e->stats.seconds_exchange;
    e->now.file = e->stats.seconds_file;
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    return variant_count(job, e, all);
}

const bench_runner flash_calls = {.run = run_calls, .end = variant_end};

/* ---- the MPI library */

static int run_peer(bench_job *job, bench_entry *e) {
    (void)e;
    const int n = variables_of(job->cell->size);
    MPI_Aint stride = 0;
    /* The memory type of the pattern is a vector of this type, that of one variable. */
    int numbers[2];
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_get_contents(job->pattern->memory_type, 2, 1, 1, numbers, &stride, &type);
    MPI_Type_commit(&type);
    MPI_File file;
    MPI_Status status;
    int code = MPI_SUCCESS;
    const int failed = peer_open(job, &file);
    for (int v = 0; v < n && !failed && code == MPI_SUCCESS; v++) {
        const MPI_Offset at = (MPI_Offset)(job->pattern->bytes / n * v); /* offset in the view */
        char *memory = job->user + stride * v;
        code = job->is_write ? MPI_File_write_at_all(file, at, memory, 1, type, &status)
                             : MPI_File_read_at_all(file, at, memory, 1, type, &status);
    }
    MPI_Type_free(&type);
    return failed ? 1 : peer_close(job, &file, code);
}

const bench_runner flash_calls_peer = {.run = run_peer};
