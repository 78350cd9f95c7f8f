/* TEST ranks=1,4 timeout=60 */
/* Step 7.  Ranks hold overlapping blocks of an array with ghost cells; copies of a cell have the same
 * value.  The library chooses which rank writes each cell, so that each rank writes few long pieces, and
 * checks that the copies are equal.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { ROWS = 120, COLUMNS = 90, GHOSTS = 3 };

/* The block of a rank with its ghost cells: [lo, hi) in each dimension. */
typedef struct {
    int lo[2], hi[2];
} block;

static block block_of(int rank, int ranks) {
    const int shape[] = {ROWS, COLUMNS};
    int grid[2] = {0, 0};
    MPI_Dims_create(ranks, 2, grid);
    const int at[] = {rank / grid[1], rank % grid[1]};
    block b;
    for (int d = 0; d < 2; d++) {
        b.lo[d] = shape[d] * at[d] / grid[d] - GHOSTS;
        b.hi[d] = shape[d] * (at[d] + 1) / grid[d] + GHOSTS;
        if (b.lo[d] < 0) b.lo[d] = 0;
        if (b.hi[d] > shape[d]) b.hi[d] = shape[d];
    }
    return b;
}

/* Fill in the global number (index in the array) and the value of each cell of a block. */
static tutti_count fill_block(const block *b, int64_t *numbers, double *values) {
    tutti_count n = 0;
    for (int i = b->lo[0]; i < b->hi[0]; i++)
        for (int j = b->lo[1]; j < b->hi[1]; j++) {
            numbers[n] = (int64_t)i * COLUMNS + j;
            values[n++] = i + j / 1000.0;
        }
    return n;
}

/* The file is an array of doubles: read one column of it. */
static tutti_err read_column(const char *path, double *column) {
    const tutti_array_spec spec = {.ndims = 2, .shape = {ROWS, COLUMNS}, .type = TUTTI_FLOAT64};
    const tutti_slice s = {.lo = {0, 40}, .hi = {ROWS, 41}, .stride = {1, 1}};
    tutti_array *a = NULL;
    tutti_err err = tutti_array_open_raw(MPI_COMM_WORLD, path, TUTTI_READ, &spec, NULL, &a);
    if (!err) err = tutti_array_read(a, &s, NULL, column);
    if (a && tutti_array_close(&a)) err = tutti_last_error()->code;
    return err;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "step7.dat";
    int rank, ranks, wrong = 0;
    double column[ROWS];
    tutti_replicas *r = NULL;
    tutti_file *f = NULL;
    tutti_replicas_stats s = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t *numbers = malloc(ROWS * COLUMNS * sizeof *numbers);
    double *values = malloc(ROWS * COLUMNS * sizeof *values);
    const block mine = block_of(rank, ranks);

    /* the inspector is created once and used for any number of writes */
    const tutti_replicas_spec spec = {
        .n = fill_block(&mine, numbers, values),
        .numbers = numbers,
        .load = 1,
        .value_bytes = sizeof *values,
    };
    tutti_err err = tutti_replicas_create(MPI_COMM_WORLD, &spec, &r);
    if (!err)
        err = tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL,
                              &f);
    if (!err) err = tutti_replicas_write(f, 0, r, values, TUTTI_REPLICAS_CHECK);

    /* read back: every rank gets its block with ghost cells */
    for (tutti_count i = 0; i < spec.n; i++) values[i] = -1;
    if (!err) err = tutti_replicas_read(f, 0, r, values);
    for (tutti_count i = 0; i < spec.n && !err; i++)
        wrong +=
            values[i] != (double)(numbers[i] / COLUMNS) + (double)(numbers[i] % COLUMNS) / 1000.0;
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;

    if (!err) err = read_column(path, column);
    for (int i = 0; i < ROWS && !err; i++) wrong += column[i] != i + 40 / 1000.0;
    if (!err) err = tutti_replicas_stats_get(r, &s);
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    if (!err && rank == 0)
        printf("%lld cells, %.0f %% of them on several ranks, written in %lld pieces\n",
               (long long)s.items, s.replication, (long long)s.intervals);
    tutti_replicas_free(&r);
    free(numbers);
    free(values);
    MPI_Finalize();
    return err || wrong;
}
