/* How much of a Jacobi sweep's file access a tile walk hides behind computing (or the other way round).
 *
 * Two arrays of doubles larger than the walk's memory; each rank has a block of rows, a halo of one.  The same sweep is made
 * by a sequential walk (read, compute, write) and by an overlapped one (the next tile is read and the
 * one before written while this one is computed), alternating.  Computing is repeated until it takes
 * about as long as file access.  Medians:
 *
 *   file        a sequential sweep that computes nothing
 *   compute     time in the computation alone, of the slowest rank
 *   hidden      (sequential - overlapped) / min(compute, file): 1 is all that can be hidden, as long as reading
 *               and writing share one disk; where they do not, they hide each other too
 *
 * usage: jacobi_overlap [-n SIZE] [-t TILES] [-r REPEATS] [-b] DIRECTORY
 *   -t  tiles of each rank   -b  through the page cache (default: O_DIRECT, so that access takes its time)
 * Other options of the library come from the environment.
 *
 * A disk slowed down by control groups (scripts/throttle.sh) saves what it may move in a tenth of a second while nobody
 * wants anything from it: a tile should take it several times as long.  32 MiB in 8 tiles at 8 MiB/s do:
 *
 *   scripts/throttle.sh up DIRECTORY 8m 128m
 *   scripts/throttle.sh run DIRECTORY scripts/mpirun.sh openmpi 2 jacobi_overlap -t 8 DIRECTORY
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tutti/tutti.h>

enum { MOST_REPEATS = 99 };

static int rank, ranks;
static volatile double sink; /* what is computed more than once counts */

static void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "jacobi_overlap, rank %d: %s\n", rank, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void relax(const tutti_tile *tile, tutti_count n) {
    const tutti_count width = tile->in_shape[1];
    double *out = tile->out;
    for (tutti_count i = tile->core.lo[0]; i < tile->core.hi[0]; i++) {
        const double *in =
            (const double *)tile->in + (i - tile->frame.lo[0]) * width - tile->frame.lo[1];
        for (tutti_count j = tile->core.lo[1]; j < tile->core.hi[1]; j++) {
            const int edge = i == 0 || j == 0 || i == n - 1 || j == n - 1;
            *out++ = edge ? in[j] : 0.25 * (in[j - width] + in[j + width] + in[j - 1] + in[j + 1]);
        }
    }
    if (out != tile->out) sink = out[-1];
}

typedef struct {
    double total, compute;
    tutti_tiles_stats stats;
} cost;

static double slowest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* One sweep, each tile computed `passes` times. */
static cost sweep(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec, int passes) {
    cost c = {0, 0, {0}};
    tutti_array_spec array;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    tutti_array_describe(from, &array);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    must(tutti_tiles_begin(from, to, spec, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        const double since = MPI_Wtime();
        for (int i = 0; i < passes; i++) relax(&tile, array.shape[0]);
        c.compute += MPI_Wtime() - since;
    }
    tutti_tiles_stats_get(walk, &c.stats);
    must(tutti_tiles_end(&walk));
    c.total = slowest(MPI_Wtime() - start);
    c.compute = slowest(c.compute);
    return c;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* Computing alone on one tile: how often for as long as file access takes? */
static int calibrate(tutti_array *from, tutti_array *to, tutti_tiles_spec spec, double file) {
    spec.sequential = 1;
    const cost once = sweep(from, to, &spec, 1);
    const double passes = file / (once.compute > 0 ? once.compute : 1e-9);
    return passes < 1 ? 1 : passes > 1e6 ? 1000000 : (int)(passes + 0.5);
}

static void measure(tutti_array *const *a, const tutti_tiles_spec *spec, int repeats) {
    double file[MOST_REPEATS], compute[MOST_REPEATS], total[2][MOST_REPEATS];
    tutti_tiles_spec alone = *spec, ahead = *spec;
    cost c[2] = {{0}};
    alone.sequential = 1;
    for (int i = 0; i < 2; i++) (void)sweep(a[i], a[1 - i], &alone, 1); /* both have their blocks */
    for (int i = 0; i < repeats; i++) file[i] = sweep(a[i % 2], a[(i + 1) % 2], &alone, 0).total;
    const double slow = median(file, repeats);
    const int passes = calibrate(a[0], a[1], *spec, slow);
    for (int i = 0; i < repeats; i++) {
        c[0] = sweep(a[0], a[1], &alone, passes);
        c[1] = sweep(a[1], a[0], &ahead, passes);
        total[0][i] = c[0].total;
        total[1][i] = c[1].total;
        compute[i] = c[0].compute;
    }
    if (rank != 0) return;
    const double busy = median(compute, repeats), sequential = median(total[0], repeats),
                 overlapped = median(total[1], repeats);
    printf("memory       %8lld KiB a rank, of a budget of %lld\n",
           (long long)c[1].stats.memory >> 10, (long long)spec->budget >> 10);
    printf("file         %8.3f s\n", slow);
    printf("compute      %8.3f s (%d times each tile)\n", busy, passes);
    printf("sequential   %8.3f s\n", sequential);
    printf("overlapped   %8.3f s\n", overlapped);
    printf("hidden       %8.0f %%\n",
           100 * (sequential - overlapped) / (busy < slow ? busy : slow));
}

int main(int argc, char **argv) {
    tutti_count n = 2048, tiles = 16;
    int repeats = 5, buffered = 0, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "n:t:r:b")) != -1) {
        if (option == 'n') n = strtoll(optarg, NULL, 10);
        if (option == 't') tiles = strtoll(optarg, NULL, 10);
        if (option == 'r') repeats = (int)strtol(optarg, NULL, 10);
        if (option == 'b') buffered = 1;
        if (option == '?') optind = argc;
    }
    if (optind != argc - 1 || n < 1 || tiles < 1 || repeats < 1 || repeats > MOST_REPEATS) {
        if (rank == 0)
            fprintf(stderr, "usage: jacobi_overlap [-n SIZE] [-t TILES] [-r REPEATS] [-b] "
                            "DIRECTORY\n");
        MPI_Finalize();
        return 2;
    }

    const tutti_array_spec array = {.ndims = 2, .shape = {n, n}, .type = TUTTI_FLOAT64};
    tutti_slice rows = tutti_slice_all(2, array.shape);
    rows.lo[0] = n * rank / ranks;
    rows.hi[0] = n * (rank + 1) / ranks;
    const tutti_count height = (n / ranks + tiles - 1) / tiles;
    const tutti_tiles_spec spec = {.budget = (3 * (height + 2) + 2 * height) * n * 8 + (64 << 10),
                                   .of = &rows,
                                   .tile = {height, n},
                                   .halo = {1, 1}};
    tutti_options opt;
    tutti_array *a[2] = {NULL, NULL};
    char path[2][4096];
    must(tutti_options_init(&opt));
    if (!buffered) opt.direct_io = 1;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/jacobi_overlap.%d", argv[optind], i);
        must(tutti_array_create(MPI_COMM_WORLD, path[i], &array, &opt, &a[i]));
    }
    if (rank == 0)
        printf("array        %8lld KiB, %d rank%s, tiles of %lld rows, %s\n",
               (long long)(n * n * 8) >> 10, ranks, ranks == 1 ? "" : "s", (long long)height,
               buffered ? "page cache" : "O_DIRECT");
    measure(a, &spec, repeats);
    for (int i = 0; i < 2; i++) {
        must(tutti_array_close(&a[i]));
        if (rank == 0) must(tutti_file_delete(path[i], NULL));
    }
    MPI_Finalize();
    return 0;
}
