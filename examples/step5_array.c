/* TEST ranks=1,4 timeout=60 */
/* Step 5.  An array in a file: every rank writes its part of a distribution, all ranks read the same slice, and the sum of
 * the array is computed piece by piece in less memory than the array needs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { ROWS = 500, COLUMNS = 300 };

/* Columns are distributed block-cyclically in blocks of 8; each rank writes its part in one call. */
static tutti_err write_columns(tutti_array *a, int rank, int ranks) {
    const tutti_count shape[] = {ROWS, COLUMNS};
    const tutti_dist_dim dims[] = {{.kind = TUTTI_DIST_NONE},
                                   {.kind = TUTTI_DIST_BLOCK_CYCLIC, .procs = ranks, .block = 8}};
    tutti_distribution *d = NULL;
    tutti_count part[2] = {0, 0}, local[2], global[2] = {0, 0};
    if (tutti_distribution_make(2, shape, dims, &d))
        d = NULL; /* the write then fails on all ranks */
    double *v = malloc((size_t)tutti_distribution_part(d, rank, part) * sizeof *v);
    for (local[1] = 0; local[1] < part[1]; local[1]++) /* values are column-major, like the array */
        for (local[0] = 0; local[0] < part[0]; local[0]++) {
            if (tutti_distribution_global(d, rank, local, global)) continue;
            v[local[1] * part[0] + local[0]] = (double)(global[0] * COLUMNS + global[1]);
        }
    const tutti_err err = tutti_array_write_part(a, d, NULL, NULL, v);
    free(v);
    tutti_distribution_free(&d);
    return err;
}

/* Read the Fortran slice (1:99:2, 11:20) into an array that has one more element on each side.  All ranks
 * request the same slice: it is read from the file once. */
static tutti_err read_corner(tutti_array *a, double *corner) {
    const tutti_count lower[] = {1, 11}, upper[] = {99, 20}, stride[] = {2, 1};
    const tutti_section frame = {
        .order = TUTTI_ROW_MAJOR, .shape = {52, 12}, .lo = {1, 1}, .hi = {51, 11}};
    double v[52][12] = {{0}};
    tutti_slice s;
    const int bad = tutti_slice_fortran(2, lower, upper, stride, &s) != TUTTI_OK;
    const tutti_err err = tutti_array_read(a, bad ? NULL : &s, &frame, v);
    *corner = v[50][10];
    return err;
}

/* Each piece is shared by all ranks; the next one is prefetched. */
static tutti_err sum_elements(tutti_array *a, int rank, int ranks, double *sum_out) {
    const tutti_off budget = 64 << 10;
    const tutti_count n = tutti_array_partitions(a, ranks, budget);
    double *v = malloc((size_t)budget), mine = 0;
    tutti_err err = TUTTI_OK;
    for (tutti_count k = 0; k < n && !err; k++) {
        tutti_slice s = tutti_array_partition(a, n, k); /* columns are the slowest dimension */
        s.lo[0] = (tutti_count)ROWS * rank / ranks;
        s.hi[0] = (tutti_count)ROWS * (rank + 1) / ranks;
        if (k == 0) err = tutti_array_prefetch(a, &s);
        if (!err) err = tutti_array_read(a, &s, NULL, v);
        if (!err && k + 1 < n) {
            tutti_slice next = tutti_array_partition(a, n, k + 1);
            next.lo[0] = s.lo[0];
            next.hi[0] = s.hi[0];
            err = tutti_array_prefetch(a, &next);
        }
        const tutti_count many = tutti_slice_count(2, &s, NULL);
        for (tutti_count i = 0; i < many && !err; i++) mine += v[i];
    }
    MPI_Allreduce(&mine, sum_out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(v);
    return err;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "step5.tta";
    const tutti_array_spec spec = {
        .ndims = 2, .shape = {ROWS, COLUMNS}, .order = TUTTI_COL_MAJOR, .type = TUTTI_FLOAT64};
    int rank, ranks;
    double corner = 0, all = 0;
    tutti_array *a = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    tutti_err err = tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a);
    if (!err) err = write_columns(a, rank, ranks);
    if (a && tutti_array_close(&a)) err = tutti_last_error()->code;
    if (!err) err = tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, &spec, NULL, &a);
    if (!err) err = read_corner(a, &corner);
    if (!err) err = sum_elements(a, rank, ranks, &all);
    if (a && tutti_array_close(&a)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    if (!err && rank == 0) printf("(99, 20) is %.0f, the sum is %.0f\n", corner, all);
    const double count = (double)ROWS * COLUMNS;
    MPI_Finalize();
    return err || corner != 98 * COLUMNS + 19 || all != count * (count - 1) / 2;
}
