/* TEST ranks=1,4 timeout=60 args=-m,700,-n,450,-b,200k */
/* Transpose a matrix that does not fit into memory.  Each rank iterates over its rows of A in
 * square tiles.  A tile is written to B with rows and columns exchanged, without a loop in this
 * program: memory is described as the transposed tile in the other order.  While a tile is written,
 * the next one is read.
 *
 *   transpose [-m ROWS] [-n COLUMNS] [-b BUDGET] [-d DIRECTORY] [-q]
 *
 * BUDGET: memory per rank, in bytes (or 64k, 16m, 2g); -q: do not check the result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tutti/tutti.h>

static int rank, ranks;

static void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "transpose, rank %d: %s\n", rank, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value(tutti_count i, tutti_count j) {
    return (double)i + 1e-6 * (double)j;
}

/* Return this rank's rows of a matrix. */
static tutti_slice my_rows(const tutti_array_spec *a) {
    tutti_slice s = tutti_slice_all(2, a->shape);
    s.lo[0] = a->shape[0] * rank / ranks;
    s.hi[0] = a->shape[0] * (rank + 1) / ranks;
    return s;
}

/* Report progress on one line of the terminal. */
static void progress(tutti_count done, tutti_count all) {
    if (rank == 0 && isatty(2)) fprintf(stderr, "\r%3.0f %%", 100.0 * (double)done / (double)all);
    if (rank == 0 && isatty(2) && done == all) fputc('\n', stderr);
}

static void make(tutti_array *a, const tutti_array_spec *spec, tutti_off budget) {
    const tutti_slice rows = my_rows(spec);
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    must(tutti_tiles_begin(NULL, a, &(tutti_tiles_spec){.budget = budget, .region = &rows}, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        double *out = tile.out;
        for (tutti_count i = tile.core.lo[0]; i < tile.core.hi[0]; i++)
            for (tutti_count j = tile.core.lo[1]; j < tile.core.hi[1]; j++) *out++ = value(i, j);
    }
    must(tutti_tiles_end(&walk));
}

/* Write a tile of A to rows [j, j + c) and columns [i, i + r) of B.  An empty tile writes
 * nothing. */
static void put_transposed(tutti_array *b, const tutti_tile *tile) {
    const tutti_count r = tile->in_shape[0], c = tile->in_shape[1];
    const tutti_slice at = {.lo = {tile->core.lo[1], tile->core.lo[0]},
                            .hi = {tile->core.hi[1], tile->core.hi[0]},
                            .stride = {1, 1}};
    const tutti_section memory = {
        .ndims = 2, .order = TUTTI_COL_MAJOR, .shape = {c, r}, .hi = {c, r}};
    must(tutti_array_write(b, &at, r * c > 0 ? &memory : NULL, tile->in));
}

static void transpose(tutti_array *a, tutti_array *b, const tutti_array_spec *spec,
                      tutti_off budget) {
    const tutti_slice rows = my_rows(spec);
    /* With square tiles, neither reads nor writes have short runs.  Three tiles are in memory. */
    const tutti_count side = (tutti_count)sqrt(0.9 * (double)budget / 3 / sizeof(double));
    const tutti_tiles_spec tiles = {.budget = budget, .region = &rows, .tile = {side, side}};
    const tutti_count all = tutti_slice_count(2, &rows, NULL);
    tutti_count done = 0;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    must(tutti_tiles_begin(a, NULL, &tiles, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        put_transposed(b, &tile);
        progress(done += tutti_slice_count(2, &tile.core, NULL), all);
    }
    must(tutti_tiles_end(&walk));
}

/* Count the elements of this rank's rows of B that differ from the expected values. */
static long count_wrong(tutti_array *b, const tutti_array_spec *spec, tutti_off budget) {
    const tutti_slice rows = my_rows(spec);
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    long wrong = 0, all = 0;
    must(tutti_tiles_begin(b, NULL, &(tutti_tiles_spec){.budget = budget, .region = &rows}, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        const double *in = tile.in;
        for (tutti_count i = tile.core.lo[0]; i < tile.core.hi[0]; i++)
            for (tutti_count j = tile.core.lo[1]; j < tile.core.hi[1]; j++)
                wrong += *in++ != value(j, i);
    }
    must(tutti_tiles_end(&walk));
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
    tutti_count m = 1200, n = 900;
    tutti_off budget = 1 << 20;
    const char *directory = ".";
    int check = 1, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "m:n:b:d:q")) != -1) {
        if (option == 'm') m = number(optarg);
        if (option == 'n') n = number(optarg);
        if (option == 'b') budget = number(optarg);
        if (option == 'd') directory = optarg;
        if (option == 'q') check = 0;
        if (option != '?' && m > 0 && n > 0 && budget > 0) continue;
        if (rank == 0)
            fprintf(stderr,
                    "usage: transpose [-m ROWS] [-n COLUMNS] [-b BUDGET] [-d DIRECTORY] [-q]\n");
        MPI_Finalize();
        return 2;
    }

    const tutti_array_spec from = {.ndims = 2, .shape = {m, n}, .type = TUTTI_FLOAT64};
    const tutti_array_spec to = {.ndims = 2, .shape = {n, m}, .type = TUTTI_FLOAT64};
    tutti_array *a = NULL, *b = NULL;
    char path[2][4096];
    snprintf(path[0], sizeof path[0], "%s/transpose.a", directory);
    snprintf(path[1], sizeof path[1], "%s/transpose.b", directory);
    must(tutti_array_create(MPI_COMM_WORLD, path[0], &from, NULL, &a));
    must(tutti_array_create(MPI_COMM_WORLD, path[1], &to, NULL, &b));
    make(a, &from, budget);
    transpose(a, b, &from, budget);
    const long wrong = check ? count_wrong(b, &to, budget) : 0;
    if (rank == 0)
        printf("%lld x %lld transposed, %lld KiB of memory on each of %d ranks: %ld elements are "
               "wrong\n",
               (long long)m, (long long)n, (long long)budget >> 10, ranks, wrong);
    must(tutti_array_close(&a));
    must(tutti_array_close(&b));
    for (int i = 0; i < 2 && rank == 0; i++) must(tutti_file_delete(path[i], NULL));
    MPI_Finalize();
    return wrong != 0;
}
