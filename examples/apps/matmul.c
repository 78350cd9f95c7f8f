/* TEST ranks=1,4 timeout=60 args=-n,220,-b,100k */
/* Product C = A B of square matrices that do not fit into memory.  A and C are row-major, B is
 * column-major (a Fortran program may have written it), so that both are read in long runs.  Each
 * rank iterates over its rows of A in tiles; for each tile all ranks iterate over B in panels of
 * columns.  All ranks request the same panel, which is read from the file once, for any number of
 * ranks; the next panel is read during the computation.
 *
 *   matmul [-n SIZE] [-b BUDGET] [-d DIRECTORY] [-q]
 *
 * BUDGET: memory per rank, in bytes (or 64k, 16m, 2g); -q: do not compare with a product in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tutti/tutti.h>

static int rank, ranks;
static tutti_count n = 400;

static void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "matmul, rank %d: %s\n", rank, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *numbers(tutti_count count) {
    double *v = malloc((size_t)(count + 1) * sizeof *v);
    if (v) return v;
    fprintf(stderr, "matmul, rank %d: no memory\n", rank);
    exit(1);
}

/* Return an element of A: small integers, so that sums are exact in any order. */
static double a_value(tutti_count i, tutti_count j) {
    return (double)((3 * i + j) % 17);
}
static double b_value(tutti_count i, tutti_count j) {
    return (double)((i + 5 * j) % 13);
}

static tutti_slice my_rows(void) {
    tutti_slice s = tutti_slice_all(2, (tutti_count[]){n, n});
    s.lo[0] = n * rank / ranks;
    s.hi[0] = n * (rank + 1) / ranks;
    return s;
}

/* Return the panel of columns [j, j + width), all rows. */
static tutti_slice panel_at(tutti_count j, tutti_count width) {
    tutti_slice s = tutti_slice_all(2, (tutti_count[]){n, n});
    s.lo[1] = j;
    s.hi[1] = j + width < n ? j + width : n;
    return s;
}

/* Fill a matrix; tiles in memory have the order of the matrix. */
static void make(tutti_array *x, double (*value)(tutti_count, tutti_count), tutti_order order,
                 tutti_off budget) {
    const tutti_slice rows = my_rows();
    tutti_tiles *walk = NULL;
    tutti_tile t;
    must(tutti_tiles_begin(NULL, x, &(tutti_tiles_spec){.budget = budget, .region = &rows}, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &t));
        if (!t.more) break;
        for (tutti_count i = 0; i < t.out_shape[0]; i++)
            for (tutti_count j = 0; j < t.out_shape[1]; j++) {
                const tutti_count at =
                    order == TUTTI_ROW_MAJOR ? i * t.out_shape[1] + j : j * t.out_shape[0] + i;
                ((double *)t.out)[at] = value(t.core.lo[0] + i, t.core.lo[1] + j);
            }
    }
    must(tutti_tiles_end(&walk));
}

/* Compute c = rows of A times columns of B, both contiguous. */
static void multiply(const double *a, tutti_count rows, const double *b, tutti_count columns,
                     double *c) {
    for (tutti_count i = 0; i < rows; i++)
        for (tutti_count j = 0; j < columns; j++) {
            double sum = 0;
            for (tutti_count k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k];
            c[i * columns + j] = sum;
        }
}

/* Multiply a tile of A by all panels of B.  All ranks must call this function, even without
 * rows. */
static void tile_times_b(const tutti_tile *tile, tutti_array *b, tutti_array *c, tutti_count width,
                         double *panel, double *product) {
    for (tutti_count j = 0; j < n; j += width) {
        const tutti_slice now = panel_at(j, width);
        const tutti_slice next = panel_at(j + width < n ? j + width : 0, width);
        tutti_slice at = tile->core;
        must(tutti_array_read(b, &now, NULL, panel));
        must(tutti_array_prefetch(b, &next));
        multiply(tile->in, tile->in_shape[0], panel, now.hi[1] - j, product);
        at.lo[1] = j;
        at.hi[1] = at.hi[0] > at.lo[0] ? now.hi[1] : j;
        must(tutti_array_write(c, &at, NULL, product));
    }
}

/* Half of the budget is for tiles of A, the other half for two panels of B and a tile of C. */
static void multiply_all(tutti_array *a, tutti_array *b, tutti_array *c, tutti_off budget) {
    const tutti_slice rows = my_rows();
    const tutti_count most = n / ranks + 1, fits = budget / 2 / (8 * (2 * n + most));
    const tutti_count width = fits < 1 ? 1 : fits < n ? fits : n;
    const tutti_tiles_spec tiles = {.budget = budget / 2, .region = &rows, .tile = {0, n}};
    double *panel = numbers(n * width), *product = numbers(most * width);
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    must(tutti_tiles_begin(a, NULL, &tiles, &walk));
    for (;;) {
        must(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        if (rank == 0)
            printf("rows %lld to %lld of %lld, B in panels of %lld columns\n",
                   (long long)tile.core.lo[0], (long long)tile.core.hi[0], (long long)rows.hi[0],
                   (long long)width);
        tile_times_b(&tile, b, c, width, panel, product);
    }
    must(tutti_tiles_end(&walk));
    must(tutti_array_prefetch_drop(b)); /* drop the first panel, which was prefetched again */
    free(panel);
    free(product);
}

/* Count the elements of this rank's rows of C that differ from a product in memory. */
static long count_wrong(tutti_array *c) {
    const tutti_slice rows = my_rows();
    const tutti_count mine = rows.hi[0] - rows.lo[0];
    double *got = numbers(mine * n);
    long wrong = 0, all = 0;
    must(tutti_array_read(c, &rows, NULL, got));
    for (tutti_count i = 0; i < mine; i++)
        for (tutti_count j = 0; j < n; j++) {
            double sum = 0;
            for (tutti_count k = 0; k < n; k++) sum += a_value(rows.lo[0] + i, k) * b_value(k, j);
            wrong += got[i * n + j] != sum;
        }
    free(got);
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
    static const char *const names[] = {"a", "b", "c"};
    tutti_array_spec spec = {.ndims = 2, .type = TUTTI_FLOAT64};
    tutti_array *x[3] = {NULL, NULL, NULL};
    tutti_off budget = 1 << 20;
    const char *directory = ".";
    char path[3][4096];
    int check = 1, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "n:b:d:q")) != -1) {
        if (option == 'n') n = number(optarg);
        if (option == 'b') budget = number(optarg);
        if (option == 'd') directory = optarg;
        if (option == 'q') check = 0;
        if (option != '?' && n > 0) continue;
        if (rank == 0) fprintf(stderr, "usage: matmul [-n SIZE] [-b BUDGET] [-d DIRECTORY] [-q]\n");
        MPI_Finalize();
        return 2;
    }

    spec.shape[0] = spec.shape[1] = n;
    for (int i = 0; i < 3; i++) {
        spec.order = i == 1 ? TUTTI_COL_MAJOR : TUTTI_ROW_MAJOR;
        snprintf(path[i], sizeof path[i], "%s/matmul.%s", directory, names[i]);
        must(tutti_array_create(MPI_COMM_WORLD, path[i], &spec, NULL, &x[i]));
    }
    make(x[0], a_value, TUTTI_ROW_MAJOR, budget);
    make(x[1], b_value, TUTTI_COL_MAJOR, budget);
    multiply_all(x[0], x[1], x[2], budget);
    const long wrong = check ? count_wrong(x[2]) : 0;
    if (rank == 0 && check) printf("%ld of %lld elements are wrong\n", wrong, (long long)n * n);
    for (int i = 0; i < 3; i++) {
        must(tutti_array_close(&x[i]));
        if (rank == 0) must(tutti_file_delete(path[i], NULL));
    }
    MPI_Finalize();
    return wrong != 0;
}
