/* tutti-experiments mesh: the variant `bare`: every rank writes its intervals by system calls, from
 * a list created beforehand, and closes the file.  Each interval is written by one call of pwritev,
 * since copies and own nodes are separate in memory.  The ranks do not communicate.  In this
 * variant, the gain of a rule with fewer intervals is the maximum on this machine.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_VECTORS = 1024 }; /* maximum number of pieces per call */

static mesh_calls *calls_of(const bench_job *job) {
    return &((const mesh_point *)job->cell->what)->stage->calls;
}

/* Prepare the system calls; pieces that are contiguous in the file are written by one call. */
static tutti_err calls_make(const tutti_access *a, char *user, mesh_calls *c) {
    bench_pattern p = {.access = (tutti_access *)a};
    const tutti_err err = bench_pattern_list(&p);
    if (err != TUTTI_OK) return err;
    *c = (mesh_calls){.offset = cli_malloc((size_t)(p.pieces + 1) * sizeof *c->offset),
                      .first = cli_malloc((size_t)(p.pieces + 1) * sizeof *c->first),
                      .vector = cli_malloc((size_t)(p.pieces + 1) * sizeof *c->vector)};
    for (tutti_count i = 0; i < p.pieces; i++) {
        const tutti_piece *v = &p.piece[i];
        const int goes_on =
            i > 0 && v[-1].file + v[-1].bytes == v->file && i - c->first[c->n - 1] < MOST_VECTORS;
        if (!goes_on) {
            c->offset[c->n] = v->file;
            c->first[c->n++] = i;
        }
        c->vector[i] = (struct iovec){user + v->memory, (size_t)v->bytes};
    }
    c->first[c->n] = p.pieces;
    free(p.piece);
    return TUTTI_OK;
}

static int prepare_case(bench_job *job, bench_entry *e) {
    mesh_calls *c = calls_of(job);
    const tutti_access *a = tutti_replicas_write_access(mesh_inspector(job, e));
    int failed = 0;
    if (calls_make(a, job->user, c) != TUTTI_OK) failed = cli_error_tutti();
    c->fd = failed ? -1 : open(job->path, O_WRONLY | O_CLOEXEC);
    if (!failed && c->fd < 0) failed = cli_error_errno("open", job->path);
    return cli_agree(job->world, failed);
}

static int write_all(const bench_job *job, const mesh_calls *c) {
    for (tutti_count i = 0; i < c->n; i++) {
        const struct iovec *v = c->vector + c->first[i];
        const int n = (int)(c->first[i + 1] - c->first[i]);
        ssize_t left = 0;
        for (int k = 0; k < n; k++) left += (ssize_t)v[k].iov_len;
        const ssize_t done = n == 1 ? pwrite(c->fd, v->iov_base, v->iov_len, c->offset[i])
                                    : pwritev(c->fd, v, n, c->offset[i]);
        if (done < 0) return cli_error_errno("cannot write", job->path);
        if (done < left)
            return cli_error("short write to '%s': %zd of %zd bytes", job->path, done, left);
    }
    return 0;
}

static int run_case(bench_job *job, bench_entry *e) {
    mesh_calls *c = calls_of(job);
    (void)e;
    const int failed = write_all(job, c), fd = c->fd;
    c->fd = -1;
    if (close(fd) != 0 && !failed) return cli_error_errno("close", job->path);
    return failed;
}

static void end_calls(bench_job *job, bench_entry *e) {
    mesh_calls *c = calls_of(job);
    (void)e;
    if (c->fd > 0) (void)close(c->fd);
    free(c->offset);
    free(c->first);
    free(c->vector);
    *c = (mesh_calls){.fd = -1};
}

const bench_runner mesh_bare = {
    .prepare = prepare_case, .run = run_case, .end = end_calls, .needs_file = 1};
