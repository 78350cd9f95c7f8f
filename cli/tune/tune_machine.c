/* tutti tune: probes of the machine: copies, messages, reductions, one-sided communication.  Waiting ranks
 * yield the core, like those of the library.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20 };

static void wait_yielding(MPI_Request *r) {
    int done = 0;
    while (MPI_Test(r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) sched_yield();
}

static void send_to(const tune_job *job, int rank, const void *buf, int bytes) {
    MPI_Request r;
    MPI_Isend(buf, bytes, MPI_BYTE, rank, 1, job->world.comm, &r);
    wait_yielding(&r);
}

static void receive_from(const tune_job *job, int rank, void *buf, int bytes) {
    MPI_Request r;
    MPI_Irecv(buf, bytes, MPI_BYTE, rank, 1, job->world.comm, &r);
    wait_yielding(&r);
}

/* ---- copies */

/* Copy from a buffer larger than the caches to every other position of a window that fits into a cache. */
static int run_copy(tune_job *job, const tune_probe *p, long count) {
    const size_t size = (size_t)p->size;
    size_t from = 0, to = 0;
    for (long i = 0; i < count; i++) {
        memcpy(job->stage + to, job->user + from, size);
        from = from + 2 * size > TUNE_USER ? 0 : from + size;
        to = to + 3 * size > TUNE_WINDOW ? 0 : to + 2 * size;
    }
    return 0;
}

/* ---- messages */

static int run_pingpong(tune_job *job, const tune_probe *p, long count) {
    const int other = p->between ? job->away : job->mate, bytes = p->size ? (int)p->size : 8;
    for (long i = 0; i < count; i++) {
        if (job->world.rank == 0) {
            send_to(job, other, job->user, bytes);
            receive_from(job, other, job->stage, 8);
        } else if (job->world.rank == other) {
            receive_from(job, 0, job->stage, bytes);
            send_to(job, 0, job->user, 8);
        }
    }
    return 0;
}

/* The first rank of each node sends to the next node and receives from the previous one. */
static int run_ring(tune_job *job, const tune_probe *p, long count) {
    MPI_Request r[2];
    if (job->next < 0) return 0;
    for (long i = 0; i < count; i++) {
        MPI_Irecv(job->stage, (int)p->size, MPI_BYTE, job->before, 1, job->world.comm, &r[0]);
        MPI_Isend(job->user, (int)p->size, MPI_BYTE, job->next, 1, job->world.comm, &r[1]);
        wait_yielding(&r[0]);
        wait_yielding(&r[1]);
    }
    return 0;
}

static int run_vote(tune_job *job, const tune_probe *p, long count) {
    int64_t in[16] = {p->size}, out[16];
    MPI_Request r;
    for (long i = 0; i < count; i++) {
        MPI_Iallreduce(in, out, 16, MPI_INT64_T, MPI_MAX, job->world.comm, &r);
        wait_yielding(&r);
    }
    return 0;
}

/* ---- one-sided */

static int one_sided(int code) {
    return code == MPI_SUCCESS ? 0
                               : cli_error("MPI one-sided communication failed with code %d", code);
}

static int run_fence(tune_job *job, const tune_probe *p, long count) {
    int failed = 0;
    (void)p;
    for (long i = 0; i < count && !failed; i++) failed = one_sided(MPI_Win_fence(0, job->window));
    return failed;
}

static int run_lock(tune_job *job, const tune_probe *p, long count) {
    MPI_Request r;
    int failed = 0;
    (void)p;
    for (long i = 0; i < count && !failed; i++) {
        failed = one_sided(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, job->window)) ||
                 one_sided(MPI_Win_unlock(0, job->window));
        MPI_Ibarrier(job->world.comm, &r);
        wait_yielding(&r);
    }
    return failed;
}

static int run_put(tune_job *job, const tune_probe *p, long count) {
    int failed = 0;
    if (job->world.rank != (job->mate > 0 ? job->mate : job->away)) return 0;
    for (long i = 0; i < count && !failed; i++)
        failed = one_sided(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, job->window)) ||
                 one_sided(MPI_Put(job->user, (int)p->size, MPI_BYTE, 0, 0, (int)p->size, MPI_BYTE,
                                   job->window)) ||
                 one_sided(MPI_Win_unlock(0, job->window));
    return failed;
}

/* ---- all probes */

int tune_machine_probes(const tune_job *job, tune_probe *out) {
    int n = 0;
    const int crowd = job->node_ranks < job->cores ? job->node_ranks : job->cores;
    /* ranks per core, so that the rate is that of one core while all ranks copy */
    const double bodies = (double)job->node_ranks / crowd;
    out[n++] = (tune_probe){.v.name = "copy_64", .run = run_copy, .size = 64, .bodies = bodies};
    out[n++] = (tune_probe){.v.name = "copy_512", .run = run_copy, .size = 512, .bodies = bodies};
    out[n++] = (tune_probe){.v.name = "copy_4k", .run = run_copy, .size = 4096, .bodies = bodies};
    if (job->world.ranks > 1) out[n++] = (tune_probe){.v.name = "vote", .run = run_vote};
    if (job->mate > 0) {
        out[n++] = (tune_probe){.v.name = "message_latency", .run = run_pingpong};
        out[n++] = (tune_probe){
            .v.name = "message_bandwidth", .run = run_pingpong, .size = LONG, .bodies = 1};
    }
    if (job->away > 0) {
        out[n++] = (tune_probe){.v.name = "net_latency", .run = run_pingpong, .between = 1};
        out[n++] =
            (tune_probe){.v.name = "net_bandwidth", .run = run_ring, .size = LONG, .bodies = 1};
    }
    if (job->window != MPI_WIN_NULL) {
        out[n++] = (tune_probe){.v.name = "fence", .run = run_fence, .optional = 1};
        out[n++] = (tune_probe){.v.name = "lock", .run = run_lock, .optional = 1};
        out[n++] = (tune_probe){
            .v.name = "put_bandwidth", .run = run_put, .size = LONG, .bodies = 1, .optional = 1};
    }
    return n;
}

/* ---- placement of the ranks */

static void *allocate_touched(size_t bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes) != 0) return NULL;
    memset(p, 0x5a, bytes);
    return p;
}

int tune_machine_open(tune_job *job) {
    void *base = NULL;
    /* Lowest rank on the node of each rank. */
    int *first = cli_malloc((size_t)job->world.ranks * sizeof *first), lowest = job->world.rank;
    MPI_Comm node;
    MPI_Comm_split_type(job->world.comm, MPI_COMM_TYPE_SHARED, job->world.rank, MPI_INFO_NULL,
                        &node);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&lowest, 1, MPI_INT, first, 1, MPI_INT, job->world.comm);
    job->node_ranks = job->nodes = 0;
    job->mate = job->away = -1;
    for (int r = 0; r < job->world.ranks; r++) {
        job->nodes += first[r] == r;
        job->node_ranks += first[r] == 0;
        if (r > 0 && first[r] == 0 && job->mate < 0) job->mate = r;
        if (first[r] > 0 && job->away < 0) job->away = r;
    }
    const int ranks = job->world.ranks, rank = job->world.rank;
    /* the first rank of a node finds the first ranks of its neighbours */
    job->next = job->before = -1;
    for (int k = 1; k <= ranks && first[rank] == rank; k++) {
        const int up = (rank + k) % ranks, down = (rank - k + ranks) % ranks;
        if (job->next < 0 && first[up] == up) job->next = up;
        if (job->before < 0 && first[down] == down) job->before = down;
    }
    free(first);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    job->cores = cores > 0 ? (int)cores : 1;
    MPI_Bcast(&job->cores, 1, MPI_INT, 0, job->world.comm);
    job->window = MPI_WIN_NULL;
    job->fd = job->direct_fd = -1;
    job->user = allocate_touched(TUNE_USER);
    job->stage = allocate_touched(TUNE_STAGE);
    if (cli_agree(&job->world,
                  job->user && job->stage ? 0 : cli_error("cannot allocate the buffers")))
        return 1;
    if (job->world.ranks == 1) return 0;
    MPI_Comm_set_errhandler(job->world.comm, MPI_ERRORS_RETURN);
    int failed =
        one_sided(MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, job->world.comm, &base, &job->window));
    failed = cli_agree(&job->world, failed);
    MPI_Comm_set_errhandler(job->world.comm, MPI_ERRORS_ARE_FATAL);
    if (failed)
        job->window = MPI_WIN_NULL;
    else
        MPI_Win_set_errhandler(job->window, MPI_ERRORS_RETURN);
    return 0;
}

void tune_machine_close(tune_job *job) {
    if (job->window != MPI_WIN_NULL) MPI_Win_free(&job->window);
    free(job->user);
    free(job->stage);
}
