/* The reference "shared staging": data is exchanged through two sub-buffers in shared memory, each with one
 * slice per rank:
 *
 *   file  | slice of 0 | slice of 1 | slice of 2 | slice of 0 | slice of 1 | ...
 *         |<------------ cycle 0 -------------->|<----- cycle 1 ...
 *
 *   write   copy own pieces of cycle c into sub-buffer c % 2, barrier, write own slice of it
 *   read    read own slice of cycle c + 1 into the other sub-buffer, copy own pieces of cycle c out, barrier
 *
 * One barrier per cycle is enough, because a sub-buffer is used again only after the next barrier.  The
 * barrier reverses its sense and yields the processor.  The memory is allocated and touched before the timed
 * part.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    _Alignas(64) atomic_int waiting;
    _Alignas(64) atomic_int sense;
} meeting;

struct staging {
    MPI_Win window;
    meeting *meeting;
    char *buffer[2];
    tutti_off slice;
    int sense; /* sense of this rank in the sense-reversing barrier */
};

struct staging *staging_make(const cli_world *w, tutti_off slice) {
    if (!w->one_node) return NULL;
    const tutti_off half = slice * w->ranks;
    const MPI_Aint all = (MPI_Aint)(4096 + 2 * half), local = w->rank == 0 ? all : 0;
    struct staging *s = cli_malloc(sizeof *s);
    MPI_Aint size;
    int unit;
    char *base;
    MPI_Win_allocate_shared(local, 1, MPI_INFO_NULL, w->comm, &base, &s->window);
    MPI_Win_shared_query(s->window, 0, &size, &unit, &base);
    s->meeting = (meeting *)(((uintptr_t)base + 63) & ~(uintptr_t)63);
    s->buffer[0] = base + 4096;
    s->buffer[1] = base + 4096 + half;
    s->slice = slice;
    s->sense = 0;
    if (w->rank == 0) memset(base, 0, (size_t)all);
    MPI_Barrier(w->comm);
    for (tutti_off i = 0; i < 2 * half; i += 4096) (void)*(volatile char *)(s->buffer[0] + i);
    MPI_Barrier(w->comm);
    return s;
}

void staging_free(struct staging **s) {
    if (!*s) return;
    MPI_Win_free(&(*s)->window);
    free(*s);
    *s = NULL;
}

static void wait_at_barrier(struct staging *s, int ranks) {
    meeting *m = s->meeting;
    s->sense = !s->sense;
    if (atomic_fetch_add_explicit(&m->waiting, 1, memory_order_acq_rel) == ranks - 1) {
        atomic_store_explicit(&m->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&m->sense, s->sense, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&m->sense, memory_order_acquire) != s->sense) sched_yield();
}

/* Copy this rank's pieces in [lo, hi) between user memory and a sub-buffer; *next is the index of the first
 * piece that is not yet complete. */
static void copy_cycle(const bench_job *job, tutti_count *next, tutti_off lo, tutti_off hi,
                       char *buffer) {
    const bench_pattern *p = job->pattern;
    for (tutti_count i = *next; i < p->pieces; i++) {
        const tutti_piece *q = &p->piece[i];
        const tutti_off from = q->file > lo ? q->file : lo, end = q->file + q->bytes;
        const tutti_off to = end < hi ? end : hi;
        *next = i;
        if (q->file >= hi) return;
        char *user = job->user + q->memory + (from - q->file), *stage = buffer + (from - lo);
        if (job->is_write)
            memcpy(stage, user, (size_t)(to - from));
        else
            memcpy(user, stage, (size_t)(to - from));
        if (end > hi) return;
    }
    *next = p->pieces;
}

/* Transfer this rank's slice of a cycle between its sub-buffer and the file. */
static int move_slice(const bench_job *job, int fd, tutti_count cycle) {
    struct staging *s = job->staging;
    const tutti_off at = job->world->rank * s->slice;
    tutti_off offset = cycle * s->slice * job->world->ranks + at;
    const tutti_off end =
        offset + s->slice < job->pattern->total ? offset + s->slice : job->pattern->total;
    char *buf = s->buffer[cycle % 2] + at;
    while (offset < end) {
        const size_t want = (size_t)(end - offset);
        const ssize_t n =
            job->is_write ? pwrite(fd, buf, want, offset) : pread(fd, buf, want, offset);
        if (n <= 0)
            return n < 0
                       ? cli_error_errno(job->is_write ? "cannot write" : "cannot read", job->path)
                       : cli_error("short %s of '%s' at offset %lld",
                                   job->is_write ? "write" : "read", job->path, (long long)offset);
        offset += n;
        buf += n;
    }
    return 0;
}

static int write_cycles(const bench_job *job, int fd, tutti_off cycle_bytes, tutti_count cycles) {
    tutti_count next = 0;
    int failed = 0;
    for (tutti_count c = 0; c < cycles; c++) {
        copy_cycle(job, &next, c * cycle_bytes, (c + 1) * cycle_bytes, job->staging->buffer[c % 2]);
        wait_at_barrier(job->staging, job->world->ranks);
        failed |= move_slice(job, fd, c);
    }
    return failed;
}

static int read_cycles(const bench_job *job, int fd, tutti_off cycle_bytes, tutti_count cycles) {
    tutti_count next = 0;
    int failed = move_slice(job, fd, 0);
    wait_at_barrier(job->staging, job->world->ranks);
    for (tutti_count c = 0; c < cycles; c++) {
        if (c + 1 < cycles) failed |= move_slice(job, fd, c + 1);
        copy_cycle(job, &next, c * cycle_bytes, (c + 1) * cycle_bytes, job->staging->buffer[c % 2]);
        wait_at_barrier(job->staging, job->world->ranks);
    }
    return failed;
}

static int prepare_staging(bench_job *job, bench_entry *e) {
    if (job->staging) return 0;
    e->unavailable = 1;
    return cli_error("staging in shared memory requires all ranks on one node");
}

static int run_staging(bench_job *job, bench_entry *e) {
    (void)e;
    const tutti_off cycle_bytes = job->staging->slice * job->world->ranks;
    const tutti_count cycles = (job->pattern->total + cycle_bytes - 1) / cycle_bytes;
    const int flags = job->is_write ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC;
    /* If open fails, the transfers fail, but every rank must reach the barriers. */
    const int fd = open(job->path, flags, 0666);
    int failed = (job->is_write ? write_cycles : read_cycles)(job, fd, cycle_bytes, cycles);
    if (!failed && job->is_write && job->config->fsync && fsync(fd) != 0)
        failed = cli_error_errno("cannot sync", job->path);
    if (fd >= 0 && close(fd) != 0) failed = cli_error_errno("close", job->path);
    return failed;
}

const bench_runner bench_staging = {.prepare = prepare_staging, .run = run_staging};
