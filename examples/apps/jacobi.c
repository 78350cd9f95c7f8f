/* TEST ranks=1,4 timeout=60 args=-n,500,-s,6,-b,200k */
/* Jacobi's method on a square grid that does not fit into memory: each sweep reads one array in
 * tiles, with a halo of one element, and writes the other.  While a tile is computed, the next tile
 * is read and the previous one is written; rows that two tiles share are read once.
 *
 *   jacobi [-n SIZE] [-s SWEEPS] [-b BUDGET] [-d DIRECTORY] [-q]
 *
 * BUDGET: memory per rank, in bytes (or 64k, 16m, 2g); -q: do not compare with a computation in
 * memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>

static int rank, ranks;

static void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "jacobi, rank %d: %s\n", rank, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Return the initial value: hot on the left, cold elsewhere. */
static double at_first(tutti_count j) {
    return j == 0 ? 100 : 0;
}

static int is_edge(tutti_count i, tutti_count j, tutti_count n) {
    return i == 0 || j == 0 || i == n - 1 || j == n - 1;
}

/* Compute a tile: each inner element becomes the mean of its neighbours; the boundary is
 * unchanged. */
static void relax(const tutti_tile *tile, tutti_count n) {
    const tutti_slice *core = &tile->core, *frame = &tile->frame;
    const tutti_count width = tile->in_shape[1];
    double *out = tile->out;
    for (tutti_count i = core->lo[0]; i < core->hi[0]; i++) {
        const double *in = (const double *)tile->in + (i - frame->lo[0]) * width - frame->lo[1];
        for (tutti_count j = core->lo[1]; j < core->hi[1]; j++)
            *out++ = is_edge(i, j, n)
                         ? in[j]
                         : 0.25 * (in[j - width] + in[j + width] + in[j - 1] + in[j + 1]);
    }
}

static void sweep(tutti_array *old, tutti_array *new, const tutti_tiles_spec *spec, tutti_count n,
                  tutti_tiles_stats *stats) {
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    must(tutti_tiles_begin(old, new, spec, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        relax(&tile, n);
    }
    tutti_tiles_stats_get(walk, stats);
    must(tutti_tiles_end(&walk));
}

/* Write the initial values, by an iteration that does not read. */
static void start(tutti_array *a, const tutti_tiles_spec *spec) {
    tutti_tiles_spec plain = *spec;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    memset(plain.halo, 0, sizeof plain.halo);
    must(tutti_tiles_begin(NULL, a, &plain, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        double *out = tile.out;
        for (tutti_count i = tile.core.lo[0]; i < tile.core.hi[0]; i++)
            for (tutti_count j = tile.core.lo[1]; j < tile.core.hi[1]; j++) *out++ = at_first(j);
    }
    must(tutti_tiles_end(&walk));
}

static double *numbers(tutti_count count) {
    double *v = malloc((size_t)(count + 1) * sizeof *v);
    if (v) return v;
    fprintf(stderr, "jacobi, rank %d: no memory\n", rank);
    exit(1);
}

/* Compute the result in memory. */
static double *in_memory(tutti_count n, int sweeps) {
    double *a = numbers(n * n), *b = numbers(n * n);
    for (tutti_count i = 0; i < n * n; i++) a[i] = at_first(i % n);
    for (int s = 0; s < sweeps; s++) {
        const tutti_slice all = tutti_slice_all(2, (tutti_count[]){n, n});
        relax(&(tutti_tile){.core = all, .frame = all, .in = a, .out = b, .in_shape = {n, n}}, n);
        double *swap = a;
        a = b;
        b = swap;
    }
    free(b);
    return a;
}

/* Count the elements of this rank's rows that differ from the expected values. */
static long count_wrong(tutti_array *a, const tutti_tiles_spec *spec, tutti_count n, int sweeps) {
    double *want = in_memory(n, sweeps);
    tutti_tiles_spec plain = *spec;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    long wrong = 0, all = 0;
    memset(plain.halo, 0, sizeof plain.halo);
    must(tutti_tiles_begin(a, NULL, &plain, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        const double *in = tile.in;
        for (tutti_count i = tile.core.lo[0]; i < tile.core.hi[0]; i++)
            for (tutti_count j = tile.core.lo[1]; j < tile.core.hi[1]; j++)
                wrong += *in++ != want[i * n + j];
    }
    must(tutti_tiles_end(&walk));
    free(want);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Parse a number with an optional suffix k, m or g. */
static int64_t number(const char *text) {
    char *end;
    const int64_t v = strtoll(text, &end, 10);
    return v << (*end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0);
}

int main(int argc, char **argv) {
    tutti_count n = 1000;
    tutti_tiles_spec spec = {.budget = 1 << 20, .halo = {1, 1}};
    const char *directory = ".";
    int sweeps = 10, check = 1, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "n:s:b:d:q")) != -1) {
        if (option == 'n') n = number(optarg);
        if (option == 's') sweeps = (int)number(optarg);
        if (option == 'b') spec.budget = number(optarg);
        if (option == 'd') directory = optarg;
        if (option == 'q') check = 0;
        if (option != '?' && n > 0 && sweeps >= 0) continue;
        if (rank == 0)
            fprintf(stderr,
                    "usage: jacobi [-n SIZE] [-s SWEEPS] [-b BUDGET] [-d DIRECTORY] [-q]\n");
        MPI_Finalize();
        return 2;
    }

    /* Two alternating arrays; each rank has a block of rows. */
    const tutti_array_spec array = {.ndims = 2, .shape = {n, n}, .type = TUTTI_FLOAT64};
    tutti_slice rows = tutti_slice_all(2, array.shape);
    tutti_array *a[2] = {NULL, NULL};
    char path[2][4096];
    rows.lo[0] = n * rank / ranks;
    rows.hi[0] = n * (rank + 1) / ranks;
    spec.region = &rows;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/jacobi.%d", directory, i);
        must(tutti_array_create(MPI_COMM_WORLD, path[i], &array, NULL, &a[i]));
    }
    start(a[0], &spec);
    for (int s = 0; s < sweeps; s++) {
        tutti_tiles_stats stats;
        sweep(a[s % 2], a[(s + 1) % 2], &spec, n, &stats);
        if (rank == 0)
            printf("sweep %d of %d: %lld tiles, %lld KiB read, %lld KiB kept, %lld of %lld KiB of "
                   "memory\n",
                   s + 1, sweeps, (long long)stats.tiles, (long long)stats.read_bytes >> 10,
                   (long long)stats.reused_bytes >> 10, (long long)stats.memory >> 10,
                   (long long)spec.budget >> 10);
    }
    const long wrong = check ? count_wrong(a[sweeps % 2], &spec, n, sweeps) : 0;
    if (rank == 0 && check) printf("%ld of %lld elements are wrong\n", wrong, (long long)n * n);
    for (int i = 0; i < 2; i++) {
        must(tutti_array_close(&a[i]));
        if (rank == 0) must(tutti_file_delete(path[i], NULL));
    }
    MPI_Finalize();
    return wrong != 0;
}
