/* Ranks that write the same bytes beside ranks that do not: items of a mesh in one file, each of a random owner, and a
 * share of them also of its neighbour.  Three kinds take turns: only the owners write; the neighbours too; of
 * those who share an item only the highest rank, which is what the second one leaves in the file, by the same ranks.
 *
 *   first     a file that knows no plan: decide, describe, find out who overlaps, trim, write
 *   again     the same write by the cached plan
 *
 * Printed: medians of the rounds in ms, the slowest rank's.
 *
 * usage: overlaps [-n items] [-b bytes of an item] [-s one in so many is shared] [-r rounds] [-d directory]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "process.h"

enum { MOST_ROUNDS = 101 };

static int rank, ranks;

static void must(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "overlaps: %s: %s\n", what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static uint64_t mix(uint64_t z) {
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 31);
}

enum { OWNERS, ALL, WINNERS, KINDS };

/* This rank's items. */
static tutti_access *items(tutti_count n, tutti_off bytes, int shared, int kind) {
    tutti_count *index = malloc((size_t)n * sizeof *index), kept = 0;
    tutti_access *a = NULL;
    for (tutti_count i = 0; i < n; i++) {
        const int owner = (int)(mix((uint64_t)i / 3) % (uint64_t)ranks);
        const int both = kind != OWNERS && mix((uint64_t)(n + i)) % (uint64_t)shared == 0;
        const int second = both ? (owner + 1) % ranks : owner;
        const int best = owner > second ? owner : second;
        if (kind == WINNERS ? best == rank : owner == rank || second == rank) index[kept++] = i;
    }
    must(tutti_access_indices(0, bytes, kept, index, &a), "indices");
    free(index);
    return a;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, ascending);
    return v[n / 2];
}

static double timed(tutti_file *f, const tutti_access *a, const void *buf) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    must(tutti_file_write(f, a, buf, NULL), "write");
    return reduce(MPI_Wtime() - start, MPI_MAX);
}

int main(int argc, char **argv) {
    static double first[KINDS][MOST_ROUNDS], again[KINDS][MOST_ROUNDS];
    tutti_count n = 1 << 19;
    tutti_off bytes = 64;
    int shared = 16, rounds = 9, option;
    const char *dir = "/dev/shm";
    char path[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "n:b:s:r:d:")) != -1) {
        if (option == 'n') n = atoll(optarg);
        if (option == 'b') bytes = atoll(optarg);
        if (option == 's') shared = atoi(optarg);
        if (option == 'r') rounds = atoi(optarg);
        if (option == 'd') dir = optarg;
        if (option == '?' || shared < 1) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    snprintf(path, sizeof path, "%s/overlaps", dir);
    tutti_access *a[KINDS];
    for (int k = 0; k < KINDS; k++) a[k] = items(n, bytes, shared, k);
    char *buf = malloc((size_t)tutti_access_bytes(a[ALL]) + 1);
    memset(buf, rank, (size_t)tutti_access_bytes(a[ALL]));
    for (int i = 0; i < rounds; i++)
        for (int turn = 0; turn < KINDS; turn++) {
            const int k = (i + turn) % KINDS;
            tutti_options opt;
            tutti_file *f = NULL;
            must(tutti_options_init(&opt), "options");
            must(tutti_options_set(&opt, "method", "two-phase"), "method");
            must(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, &opt, &f),
                 "open");
            first[k][i] = timed(f, a[k], buf);
            again[k][i] = timed(f, a[k], buf);
            must(tutti_file_close(&f), "close");
        }
    double f[KINDS], g[KINDS];
    for (int k = 0; k < KINDS; k++) {
        f[k] = 1e3 * median(first[k], rounds);
        g[k] = 1e3 * median(again[k], rounds);
        tutti_access_free(&a[k]);
    }
    if (rank == 0)
        printf("%lld items of %lld bytes, 1 in %d shared, %d ranks, ms: owners, winners, all who "
               "share; all / "
               "owners, all / winners\nfirst  %8.2f %8.2f %8.2f  %.2f %.2f\nagain  %8.2f %8.2f "
               "%8.2f  %.2f %.2f\n",
               (long long)n, (long long)bytes, shared, ranks, f[OWNERS], f[WINNERS], f[ALL],
               f[ALL] / f[OWNERS], f[ALL] / f[WINNERS], g[OWNERS], g[WINNERS], g[ALL],
               g[ALL] / g[OWNERS], g[ALL] / g[WINNERS]);
    if (rank == 0) unlink(path);
    free(buf);
    MPI_Finalize();
    return 0;
}
