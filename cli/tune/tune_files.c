/* tutti tune: probes of the file system.  Writes use a truncated file, reads use a file that has just been
 * written, as applications do.  Pieces are distributed cyclically over the ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4096, FILL = 1 << 20 };

static int transfer_piece(const tune_job *job, const tune_probe *p, char *buf, size_t n, off_t at) {
    const int fd = p->direct ? job->direct_fd : job->fd;
    while (n > 0) {
        const ssize_t moved = p->is_write ? pwrite(fd, buf, n, at) : pread(fd, buf, n, at);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0)
            return cli_error_errno(p->is_write ? "cannot write" : "cannot read", job->path);
        if (moved == 0) return cli_error("'%s' was truncated during the measurement", job->path);
        buf += moved;
        n -= (size_t)moved;
        at += moved;
    }
    return 0;
}

/* ---- pieces */

static int transfer_pieces(tune_job *job, const tune_probe *p, long count) {
    const int bodies = p->one ? 1 : job->world.ranks, me = p->one ? 0 : job->world.rank;
    const tutti_off last = TUNE_USER - p->size;
    tutti_off from = 0;
    for (long i = 0; i < count; i++) {
        const off_t at = (off_t)(p->size * (i * bodies + me));
        if (transfer_piece(job, p, job->user + from, (size_t)p->size, at)) return 1;
        from = from + p->size > last ? 0 : from + p->size;
    }
    return 0;
}

/* Transfer every eighth piece of this rank's own part of the file. */
static int run_own(tune_job *job, const tune_probe *p, long count) {
    const off_t start = (off_t)(job->area * job->world.rank);
    for (long i = 0; i < count; i++)
        if (transfer_piece(job, p, job->user + i % 1024 * p->size, (size_t)p->size,
                           start + (off_t)(8 * p->size * i)))
            return 1;
    return 0;
}

/* ---- windows: copy pieces to staging memory and write them by one request, or read and copy them back */

static void copy_window(const tune_job *job, const tune_probe *p, long i) {
    const long pieces = (long)(p->size / PIECE);
    char *user = job->user + (i * p->size) % TUNE_USER;
    for (long k = 0; k < pieces; k++) {
        /* 5 is coprime to all numbers of pieces, so that every position is used */
        char *stage = job->stage + (k * 5 + 3) % pieces * PIECE;
        if (p->is_write)
            memcpy(stage, user + k * PIECE, PIECE);
        else
            memcpy(user + k * PIECE, stage, PIECE);
    }
}

static int run_windows(tune_job *job, const tune_probe *p, long count) {
    const off_t start = (off_t)(job->area * job->world.rank);
    for (long i = 0; i < count; i++) {
        const off_t at = start + (off_t)(i * p->size);
        if (p->is_write) copy_window(job, p, i);
        if (transfer_piece(job, p, job->stage, (size_t)p->size, at)) return 1;
        if (!p->is_write) copy_window(job, p, i);
    }
    return 0;
}

/* ---- the file before a measurement */

static int prepare_write(tune_job *job, const tune_probe *p) {
    (void)p;
    if (job->world.rank == 0 && ftruncate(job->fd, 0) != 0)
        return cli_error_errno("cannot truncate", job->path);
    return 0;
}

/* Fill the file for reads, each rank its share.  The data is flushed for direct reads, which would otherwise
 * include the flush. */
static int prepare_read(tune_job *job, const tune_probe *p) {
    const tune_probe fill = {.is_write = 1};
    const off_t start = (off_t)(job->area * job->world.rank);
    int64_t end = (int64_t)lseek(job->fd, 0, SEEK_END);
    (void)p;
    MPI_Bcast(&end, 1, MPI_INT64_T, 0, job->world.comm);
    if (end >= job->area * job->world.ranks) return 0;
    for (tutti_off at = 0; at < job->area; at += FILL)
        if (transfer_piece(job, &fill, job->user, FILL, start + (off_t)at)) return 1;
    if (job->direct_fd >= 0 && fdatasync(job->fd) != 0)
        return cli_error_errno("cannot flush", job->path);
    return 0;
}

/* ---- all probes */

static tune_probe file_probe(const tune_job *job, int is_write, int direct, tutti_off size) {
    return (tune_probe){.prepare = is_write ? prepare_write : prepare_read,
                        .size = size,
                        .spread = size,
                        .is_write = is_write,
                        .direct = direct,
                        .optional = direct,
                        .bodies = job->world.ranks};
}

static int add_pieces(const tune_job *job, int is_write, int direct, int one, tune_probe *out) {
    static const struct {
        tutti_off bytes;
        const char *text;
    } sizes[] = {{64, "64"}, {512, "512"}, {4096, "4k"}, {65536, "64k"}, {1 << 20, "1m"}};
    int n = 0;
    for (int i = direct ? 2 : 0; i < 5; i++) {
        tune_probe *p = &out[n++];
        *p = file_probe(job, is_write, direct, sizes[i].bytes);
        p->run = transfer_pieces;
        p->one = one;
        if (one) p->bodies = 1;
        snprintf(p->v.name, sizeof p->v.name, "%s%s_%s_%s", direct ? "direct_" : "",
                 is_write ? "write" : "read", one ? "one" : "all", sizes[i].text);
    }
    return n;
}

/* Write probes come first, then read probes, so that the file is filled once per round. */
int tune_file_probes(const tune_job *job, tune_probe *out) {
    int n = 0;
    const int several = job->world.ranks > 1;
    for (int writes = 1; writes >= 0; writes--)
        for (int direct = 0; direct < (job->direct_fd >= 0 ? 2 : 1); direct++) {
            n += add_pieces(job, writes, direct, 1, out + n);
            if (several) n += add_pieces(job, writes, direct, 0, out + n);
            for (int large = 0; large < 2; large++) {
                tune_probe *p = &out[n++];
                *p = file_probe(job, writes, direct, large ? 4 << 20 : 512 << 10);
                p->run = run_windows;
                snprintf(p->v.name, sizeof p->v.name, "%sstaged_%s_%s", direct ? "direct_" : "",
                         writes ? "write" : "read", large ? "4m" : "512k");
            }
        }
    if (several) {
        out[n] = file_probe(job, 1, 0, 512);
        out[n].run = run_own;
        out[n].spread = 8 * 512;
        snprintf(out[n++].v.name, sizeof out->v.name, "write_own_512");
    }
    return n;
}

/* ---- the file */

static int choose_area(tune_job *job, const char *dir) {
    double free_bytes = 0;
    if (cli_directory_room(dir, &free_bytes)) return 1;
    const tutti_off least = 8 << 20, ranks = job->world.ranks;
    while (job->area > least && free_bytes < 4.0 * (double)(job->area * ranks)) job->area /= 2;
    if (free_bytes < 1.2 * (double)(job->area * ranks))
        return cli_error("'%s' has %.0f bytes of free space: %.0f are required", dir, free_bytes,
                         1.2 * (double)(job->area * ranks));
    return 0;
}

int tune_file_open(tune_job *job, const char *dir) {
    const cli_world *w = &job->world;
    if (cli_agree(
            w, strlen(dir) + 40 > sizeof job->path
                   ? cli_error("the path of the directory has %zu bytes: at most %zu are allowed",
                               strlen(dir), sizeof job->path - 40)
                   : 0) ||
        cli_agree(w, choose_area(job, dir)))
        return 1;
    MPI_Bcast(&job->area, 1, MPI_INT64_T, 0, w->comm);
    snprintf(job->path, sizeof job->path, "%s", cli_scratch(w, dir, "tune"));
    int failed = 0;
    /* Rank 0 creates the file, then the others open it. */
    for (int turn = 0; turn < 2 && !failed; turn++) {
        if ((w->rank == 0) == (turn == 0))
            job->fd = open(job->path, O_RDWR | O_CLOEXEC | (turn ? 0 : O_CREAT | O_EXCL), 0600);
        if ((w->rank == 0) == (turn == 0) && job->fd < 0)
            failed = cli_error_errno("cannot open", job->path);
        failed = cli_agree(w, failed);
    }
    if (failed) return 1;
    /* Test direct access by writing a piece: some file systems support O_DIRECT in open, but fail later. */
    const tune_probe probe = {.is_write = 1, .direct = 1};
    job->direct_fd = open(job->path, O_RDWR | O_DIRECT | O_CLOEXEC);
    failed = job->direct_fd < 0 ||
             transfer_piece(job, &probe, job->user, PIECE, (off_t)PIECE * job->world.rank);
    if (cli_agree(w, failed) && job->direct_fd >= 0) {
        close(job->direct_fd);
        job->direct_fd = -1;
    }
    return 0;
}

void tune_file_close(tune_job *job) {
    if (job->fd >= 0) close(job->fd);
    if (job->direct_fd >= 0) close(job->direct_fd);
    job->fd = job->direct_fd = -1;
    cli_scratch_remove(&job->world);
}
