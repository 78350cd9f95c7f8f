/* tutti-experiments sections: sections as benchmarks.  The array exists, with known bytes, and is opened
 * beforehand; only the call is timed.
 *
 * Every write of a run has different bytes.  Afterwards the file must have these bytes in the sections of all
 * ranks, and the old bytes everywhere else.  The bytes from the first to the last byte of the sections, and a
 * mebibyte on both sides, are compared with the result of one process.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/sections.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the scene */

static tutti_err section_access(const section_what *what, int p, tutti_access **out) {
    const tutti_slice s = section_slice(what, p);
    tutti_section file = {.ndims = 2,
                          .order = TUTTI_COL_MAJOR,
                          .element_size = sizeof(double),
                          .shape = {what->n, what->n}};
    for (int d = 0; d < 2; d++) {
        file.lo[d] = s.lo[d];
        file.hi[d] = s.hi[d];
        file.stride[d] = s.stride[d];
    }
    return tutti_access_section(&file, NULL, out);
}

static int section_make(const bench_cell *cell, const cli_world *w, bench_pattern *out) {
    const section_what *what = cell->what;
    *out = (bench_pattern){.name = cell->pattern,
                           .title = "a section of an array",
                           .file_type = MPI_DATATYPE_NULL,
                           .memory_type = MPI_DATATYPE_NULL};
    tutti_err err = section_access(what, w->rank, &out->access);
    if (err == TUTTI_OK) err = bench_pattern_list(out);
    if (err != TUTTI_OK) return cli_error_tutti();
    out->bytes = out->memory = tutti_access_bytes(out->access);
    out->total = what->n * what->n * (tutti_off)sizeof(double);
    return 0;
}

/* ---- verification of writes */

/* Return the seed of the bytes that a run writes, which differs for each variant and round. */
static uint64_t run_seed(const bench_job *job, const bench_entry *e) {
    const uint64_t variant = (uint64_t)(e - job->cell->entry);
    return job->config->seed + 1 + (uint64_t)e->v.rounds * 64 + variant;
}

/* Compute the expected bytes of [lo, hi) of the file. */
static int expect_bytes(const bench_job *job, const bench_entry *e, tutti_off lo, tutti_off hi,
                        char *out) {
    const section_what *what = job->cell->what;
    content_fill(job->config->seed, lo, out, hi - lo);
    for (int p = 0; p < what->ranks; p++) {
        tutti_access *all = NULL, *part = NULL;
        tutti_access_iter *it = NULL;
        tutti_piece piece;
        tutti_err err = section_access(what, p, &all);
        if (err == TUTTI_OK) err = tutti_access_clip(all, lo, hi, &part);
        if (err == TUTTI_OK) err = tutti_access_iter_start(part, 0, &it);
        while (err == TUTTI_OK && tutti_access_iter_next(it, &piece))
            content_fill(run_seed(job, e), piece.file, out + (piece.file - lo), piece.bytes);
        tutti_access_iter_free(&it);
        tutti_access_free(&part);
        tutti_access_free(&all);
        if (err != TUTTI_OK) return cli_error_tutti();
    }
    return 0;
}

static int compare_file(const char *path, tutti_off lo, tutti_off hi, const char *expected) {
    char buf[65536];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 ? cli_error_errno("cannot open", path) : 0;
    for (tutti_off at = lo; at < hi && !failed;) {
        const size_t want = hi - at < (tutti_off)sizeof buf ? (size_t)(hi - at) : sizeof buf;
        const ssize_t got = pread(fd, buf, want, at);
        if (got <= 0)
            failed = cli_error("cannot read back '%s' at offset %lld", path, (long long)at);
        else if (memcmp(buf, expected + (at - lo), (size_t)got) != 0)
            failed =
                cli_error("'%s' has a wrong byte at or after offset %lld", path, (long long)at);
        at += got > 0 ? got : 0;
    }
    if (fd >= 0) close(fd);
    return failed;
}

/* Verify the file after a write; every rank checks its share. */
static int section_verify(const bench_job *job, const bench_entry *e) {
    const tutti_off margin = 1 << 20;
    tutti_off range[2], all[2];
    tutti_access_bounds(job->pattern->access, &range[0], &range[1]);
    range[0] = -range[0];
    MPI_Allreduce(range, all, 2, MPI_INT64_T, MPI_MAX, job->world->comm);
    tutti_off lo = -all[0] > margin ? -all[0] - margin : 0;
    tutti_off hi = job->pattern->total - all[1] > margin ? all[1] + margin : job->pattern->total;
    const tutti_off each = (hi - lo + job->world->ranks - 1) / job->world->ranks;
    lo += each * job->world->rank;
    if (lo >= hi) return 0;
    if (hi - lo > each) hi = lo + each;
    char *expected = cli_malloc((size_t)(hi - lo));
    const int failed =
        expect_bytes(job, e, lo, hi, expected) || compare_file(job->path, lo, hi, expected);
    free(expected);
    return failed;
}

static void section_json(FILE *f, const bench_cell *cell) {
    const section_what *what = cell->what;
    fprintf(f, "\"extent\": %lld, \"bounding_bytes\": %lld, \"paper_ratio\": %.2f, ",
            (long long)what->n, (long long)section_bounding_bytes(what), section_paper_ratio(what));
}

const bench_scene section_scene = {
    .make = section_make, .verify_write = section_verify, .json = section_json};

/* ---- variants */

/* Write dirty pages to the device: the first direct access would otherwise include this time.  forget: drop
 * the file from the page cache. */
static int flush_file(const char *path, int forget) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cli_error_errno("cannot open", path);
    int failed = fsync(fd) != 0 && cli_error_errno("cannot flush", path);
    if (!failed && forget && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        failed = cli_error("cannot drop '%s' from the page cache", path);
    close(fd);
    return failed;
}

/* Prepare a run.  A throttled device has a budget per time slice: after the pause, all variants
 * start with the same budget. */
static int prepare_section(bench_job *job, bench_entry *e) {
    const section_what *what = job->cell->what;
    const tutti_array_spec spec = section_spec(what->n);
    const int mode = job->is_write ? TUTTI_READ | TUTTI_WRITE : TUTTI_READ;
    const int cold = job->config->cold;
    if ((e->options.direct_io || cold) &&
        cli_agree(job->world, job->world->rank == 0 && flush_file(job->path, cold)))
        return 1;
    if (job->config->iops > 0) nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    if (job->is_write) content_fill_pieces(run_seed(job, e), job->pattern, job->user);
    if (tutti_array_open_raw(job->world->comm, job->path, mode, &spec, &e->options, &job->array) !=
        TUTTI_OK)
        return variant_failed(e);
    return 0;
}

void array_way_stats(const bench_job *job, bench_entry *e) {
    tutti_file *file = tutti_array_file(job->array);
    tutti_file_stats(file, &e->stats, NULL);
    e->now.exchange += e->stats.seconds_exchange;
    e->now.file += e->stats.seconds_file;
    snprintf(e->explain, sizeof e->explain, "%s", tutti_file_explain(file));
}

void array_way_end(bench_job *job, bench_entry *e) {
    (void)e;
    if (job->array) (void)tutti_array_close(&job->array);
}

static int run_direct(bench_job *job, bench_entry *e) {
    const tutti_slice s = section_slice(job->cell->what, job->world->rank);
    const tutti_err err = job->is_write
                              ? tutti_array_write_independent(job->array, &s, NULL, job->user)
                              : tutti_array_read_independent(job->array, &s, NULL, job->user);
    if (err != TUTTI_OK) return variant_failed(e);
    array_way_stats(job, e);
    return 0;
}

static int run_extended(bench_job *job, bench_entry *e) {
    const tutti_slice s = section_slice(job->cell->what, job->world->rank);
    const tutti_err err = job->is_write ? tutti_array_write(job->array, &s, NULL, job->user)
                                        : tutti_array_read(job->array, &s, NULL, job->user);
    if (err != TUTTI_OK) return variant_failed(e);
    array_way_stats(job, e);
    return 0;
}

const bench_runner section_direct = {
    .prepare = prepare_section, .run = run_direct, .end = array_way_end};
const bench_runner section_extended = {
    .prepare = prepare_section, .run = run_extended, .end = array_way_end};
