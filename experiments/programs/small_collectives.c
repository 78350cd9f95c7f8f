/* Small collective accesses in a row, by Tutti and by the MPI library's own MPI-IO, in turn.
 *
 * Each rank has a contiguous piece, next to its neighbours'; each call writes (then reads) all
 * pieces once, one after the other through the file: by calls that block, split ones (begin and
 * end) and started ones (start and wait).  One round is all calls of Tutti, then all of MPI's; the
 * next round begins with the other one.  Printed: the median time of a call, of both, and that of
 * the best round; the ratio is the median of the rounds' ratios, and that of the best ones.
 *
 * usage: small_collectives [-n calls] [-b bytes] [-r rounds] [-d directory] [-w way] [-m] [-s] [-h]
 *   -w   only one way: block, split or start
 *   -m   only MPI's calls: run it with and without libtutti-mpiio.so to compare that
 *   -s   all calls at the same place instead
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>

enum { MOST_ROUNDS = 101 };

enum { BLOCK, SPLIT, START, WAYS };
static const char *const WAY[WAYS] = {"block", "split", "start"};

typedef struct {
    int calls, bytes, rounds, same_place, mpi_only;
    int way; /* WAYS: all of them */
    const char *directory;
    int rank, ranks;
    char *buf;
    char tutti_path[512], mpi_path[512];
} bench;

static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "small_collectives: %s: %s\n", what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static tutti_off place(const bench *b, int call) {
    return ((tutti_off)(b->same_place ? 0 : call) * b->ranks + b->rank) * b->bytes;
}

/* ---- the two sides.  Each returns the seconds of all calls, without open and close. */

static tutti_err tutti_call(const bench *b, tutti_file *f, const tutti_access *a, int way,
                            int is_write, tutti_off *count) {
    tutti_request *r = NULL;
    tutti_err err;
    switch (way) {
    case SPLIT:
        err = is_write ? tutti_file_write_begin(f, a, b->buf) : tutti_file_read_begin(f, a, b->buf);
        if (err != TUTTI_OK) return err;
        return is_write ? tutti_file_write_end(f, count) : tutti_file_read_end(f, count);
    case START:
        err = is_write ? tutti_file_write_start(f, a, b->buf, &r)
                       : tutti_file_read_start(f, a, b->buf, &r);
        return err == TUTTI_OK ? tutti_request_wait(&r, count) : err;
    default:
        return is_write ? tutti_file_write(f, a, b->buf, count)
                        : tutti_file_read(f, a, b->buf, count);
    }
}

static double tutti_side(const bench *b, int way, int is_write) {
    tutti_file *f = NULL;
    const int mode = is_write ? TUTTI_WRITE | TUTTI_CREATE : TUTTI_READ;
    must(tutti_file_open(MPI_COMM_WORLD, b->tutti_path, mode, NULL, &f) == TUTTI_OK, "open");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < b->calls; i++) {
        tutti_access *a = NULL;
        tutti_off count = 0;
        must(tutti_access_contiguous(place(b, i), b->bytes, &a) == TUTTI_OK, "access");
        const tutti_err err = tutti_call(b, f, a, way, is_write, &count);
        must(err == TUTTI_OK && count == b->bytes, is_write ? "write" : "read");
        tutti_access_free(&a);
    }
    const double seconds = MPI_Wtime() - start;
    must(tutti_file_close(&f) == TUTTI_OK, "close");
    return seconds;
}

static int mpi_call(const bench *b, MPI_File f, MPI_Offset at, int way, int is_write,
                    MPI_Status *status) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code;
    switch (way) {
    case SPLIT:
        code = is_write ? MPI_File_write_at_all_begin(f, at, b->buf, b->bytes, MPI_BYTE)
                        : MPI_File_read_at_all_begin(f, at, b->buf, b->bytes, MPI_BYTE);
        if (code != MPI_SUCCESS) return code;
        return is_write ? MPI_File_write_at_all_end(f, b->buf, status)
                        : MPI_File_read_at_all_end(f, b->buf, status);
    case START:
        code = is_write ? MPI_File_iwrite_at_all(f, at, b->buf, b->bytes, MPI_BYTE, &r)
                        : MPI_File_iread_at_all(f, at, b->buf, b->bytes, MPI_BYTE, &r);
        return code == MPI_SUCCESS ? MPI_Wait(&r, status) : code;
    default:
        return is_write ? MPI_File_write_at_all(f, at, b->buf, b->bytes, MPI_BYTE, status)
                        : MPI_File_read_at_all(f, at, b->buf, b->bytes, MPI_BYTE, status);
    }
}

static double mpi_side(const bench *b, int way, int is_write) {
    MPI_File f;
    const int mode = is_write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    must(MPI_File_open(MPI_COMM_WORLD, b->mpi_path, mode, MPI_INFO_NULL, &f) == MPI_SUCCESS,
         "MPI_File_open");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < b->calls; i++) {
        MPI_Status status;
        int count = 0;
        const int code = mpi_call(b, f, place(b, i), way, is_write, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        must(code == MPI_SUCCESS && count == b->bytes, "MPI_File_...");
    }
    const double seconds = MPI_Wtime() - start;
    must(MPI_File_close(&f) == MPI_SUCCESS, "MPI_File_close");
    return seconds;
}

/* ---- rounds */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int n, const double *v) {
    double copy[MOST_ROUNDS];
    memcpy(copy, v, (size_t)n * sizeof *v);
    qsort(copy, (size_t)n, sizeof *copy, ascending);
    return n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
}

static double least(int n, const double *v) {
    double best = v[0];
    for (int i = 1; i < n; i++) best = v[i] < best ? v[i] : best;
    return best;
}

static double slowest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void compare(const bench *b, int way, int is_write) {
    double ours[MOST_ROUNDS], theirs[MOST_ROUNDS], ratio[MOST_ROUNDS];
    for (int r = -1; r < b->rounds; r++) { /* the first one warms up */
        double a = 0, m = 0;
        for (int turn = 0; turn < 2; turn++) {
            if (turn == (r & 1))
                m = slowest(mpi_side(b, way, is_write));
            else if (!b->mpi_only)
                a = slowest(tutti_side(b, way, is_write));
        }
        if (r < 0) continue;
        ours[r] = a;
        theirs[r] = m;
        ratio[r] = m / a;
    }
    if (b->rank != 0) return;
    printf("%s %-5s %d ranks, %d calls of %d bytes a rank: ", WAY[way], is_write ? "write" : "read",
           b->ranks, b->calls, b->bytes);
    const double us = 1e6 / b->calls;
    if (!b->mpi_only)
        printf("Tutti %.2f (%.2f) us, ", us * median(b->rounds, ours), us * least(b->rounds, ours));
    printf("MPI %.2f (%.2f) us a call", us * median(b->rounds, theirs),
           us * least(b->rounds, theirs));
    if (!b->mpi_only)
        printf(", ratio %.2f (%.2f)", median(b->rounds, ratio),
               least(b->rounds, theirs) / least(b->rounds, ours));
    printf("\n");
}

static int way_of(const char *name) {
    int way = 0;
    while (way < WAYS && strcmp(name, WAY[way]) != 0) way++;
    return way < WAYS ? way : -1;
}

static int bench_parse(bench *b, int argc, char **argv) {
    int c;
    while ((c = getopt(argc, argv, "n:b:r:d:w:msh")) != -1) {
        if (c == 'n') b->calls = (int)strtol(optarg, NULL, 10);
        if (c == 'b') b->bytes = (int)strtol(optarg, NULL, 10);
        if (c == 'r') b->rounds = (int)strtol(optarg, NULL, 10);
        if (c == 'd') b->directory = optarg;
        if (c == 'w') b->way = way_of(optarg);
        if (c == 'm') b->mpi_only = 1;
        if (c == 's') b->same_place = 1;
        if (c == 'h' || c == '?') return 0;
    }
    return b->way >= 0 && b->calls > 0 && b->bytes > 0 && b->rounds > 0 && b->rounds < MOST_ROUNDS;
}

int main(int argc, char **argv) {
    bench b = {.calls = 1000, .bytes = 4096, .rounds = 5, .directory = ".", .way = WAYS};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    if (!bench_parse(&b, argc, argv)) {
        if (b.rank == 0)
            fprintf(stderr, "usage: small_collectives [-n calls] [-b bytes] [-r rounds] "
                            "[-d directory] [-w block|split|start] [-m] [-s]\n");
        MPI_Finalize();
        return 2;
    }
    snprintf(b.tutti_path, sizeof b.tutti_path, "%.400s/small_collectives.tutti", b.directory);
    snprintf(b.mpi_path, sizeof b.mpi_path, "%.400s/small_collectives.mpi", b.directory);
    b.buf = malloc((size_t)b.bytes);
    must(b.buf != NULL, "memory");
    memset(b.buf, 'x', (size_t)b.bytes);
    for (int way = 0; way < WAYS; way++) {
        if (b.way != WAYS && b.way != way) continue;
        compare(&b, way, 1);
        compare(&b, way, 0);
    }
    if (b.rank == 0) {
        unlink(b.tutti_path);
        unlink(b.mpi_path);
    }
    free(b.buf);
    MPI_Finalize();
    return 0;
}
