/* References without Tutti: the conforming limit (one contiguous share per rank, in calls of 4 MiB), one call
 * per piece, and a copy from a mapping.  The timed part opens the file, transfers the bytes and closes the
 * file; the lists of pieces and the empty file are created beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_job(const bench_job *job) {
    return open(job->path, (job->is_write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static int transfer_bytes(const bench_job *job, int fd, char *buf, size_t bytes, tutti_off offset) {
    while (bytes) {
        const ssize_t n =
            job->is_write ? pwrite(fd, buf, bytes, offset) : pread(fd, buf, bytes, offset);
        if (n < 0)
            return cli_error_errno(job->is_write ? "cannot write" : "cannot read", job->path);
        if (n == 0)
            return cli_error("short read of '%s': the file ends at offset %lld", job->path,
                             (long long)offset);
        buf += n;
        bytes -= (size_t)n;
        offset += n;
    }
    return 0;
}

static int close_job(const bench_job *job, int fd, int failed) {
    if (!failed && job->is_write && job->config->fsync && fsync(fd) != 0)
        failed = cli_error_errno("cannot sync", job->path);
    if (close(fd) != 0 && !failed) return cli_error_errno("close", job->path);
    return failed;
}

/* ---- the conforming limit */

static int run_limit(bench_job *job, bench_entry *e) {
    (void)e;
    const int fd = open_job(job);
    if (fd < 0) return cli_error_errno("open", job->path);
    int failed = 0;
    for (tutti_off at = job->share_lo; at < job->share_hi && !failed; at += (tutti_off)BENCH_CALL) {
        const tutti_off left = job->share_hi - at;
        const size_t n = left < (tutti_off)BENCH_CALL ? (size_t)left : BENCH_CALL;
        failed = transfer_bytes(job, fd, job->share + (at - job->share_lo), n, at);
    }
    return close_job(job, fd, failed);
}

const bench_runner bench_limit = {.run = run_limit, .uses_share = 1, .needs_file = 1};

/* ---- one call per piece */

static int run_pieces(bench_job *job, bench_entry *e) {
    (void)e;
    const bench_pattern *p = job->pattern;
    const int fd = open_job(job);
    if (fd < 0) return cli_error_errno("open", job->path);
    int failed = 0;
    for (tutti_count i = 0; i < p->pieces && !failed; i++)
        failed = transfer_bytes(job, fd, job->user + p->piece[i].memory, (size_t)p->piece[i].bytes,
                                p->piece[i].file);
    return close_job(job, fd, failed);
}

const bench_runner bench_pieces = {.run = run_pieces, .needs_file = 1};

/* ---- a mapping (reads only) */

static int run_mapping(bench_job *job, bench_entry *e) {
    (void)e;
    const bench_pattern *p = job->pattern;
    const int fd = open_job(job);
    if (fd < 0) return cli_error_errno("open", job->path);
    char *map = mmap(NULL, (size_t)p->total, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return close_job(job, fd, cli_error_errno("cannot map", job->path));
    for (tutti_count i = 0; i < p->pieces; i++)
        memcpy(job->user + p->piece[i].memory, map + p->piece[i].file, (size_t)p->piece[i].bytes);
    munmap(map, (size_t)p->total);
    return close_job(job, fd, 0);
}

const bench_runner bench_mapping = {.run = run_mapping};
