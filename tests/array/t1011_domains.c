/* TEST ranks=1,3,4 timeout=60 */
/* domains=array, the file domains of Thakur and Choudhary: for every section, rank r accesses only
 * its block of the array's columns (indices of the slowest dimension), which is checked by the bytes
 * that each rank transfers.  The elements are correct also if the same shape is requested at another
 * position, after a resize, and with O_DIRECT.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

enum { ROWS = 75, WIDE = 50 }; /* columns of 600 bytes: domain boundaries are inside pages */
static char path[512];

static double value(tutti_count i, tutti_count j) {
    return (double)(1000 * i + j);
}

/* Return how many of the columns [from, to) are in rank r's block of n columns. */
static tutti_count share_of(tutti_count n, int r, tutti_count from, tutti_count to) {
    const tutti_count lo = n * r / ranks, hi = n * (r + 1) / ranks;
    const tutti_count a = from > lo ? from : lo, b = to < hi ? to : hi;
    return b > a ? b - a : 0;
}

static tutti_stats last_of(tutti_array *a) {
    tutti_stats s;
    tutti_file_stats(tutti_array_file(a), &s, NULL);
    return s;
}

/* Each rank reads the same rows of columns [from, to). */
static void common(tutti_array *a, tutti_count n, tutti_count rows, tutti_count from,
                   tutti_count to) {
    tutti_slice s = {.hi = {rows, to}, .lo = {0, from}, .stride = {1, 1}};
    double *v = calloc((size_t)(rows * (to - from)), sizeof *v);
    CHECK_SAME(tutti_array_read(a, &s, NULL, v), TUTTI_OK);
    for (tutti_count k = 0; k < rows * (to - from); k++)
        if (v[k] != value(k % rows, from + k / rows)) {
            CHECK(0, "element %lld of columns %lld is %g", (long long)k, (long long)from, v[k]);
            break;
        }
    const tutti_stats last = last_of(a);
    const tutti_count local = share_of(n, rank, from, to);
    if (rows == ROWS)
        CHECK_EQ(last.file_read_bytes, local * ROWS * 8);
    else /* small holes are also read; a rank without any of these columns reads nothing */
        CHECK((last.file_read_bytes > 0) == (local > 0), "%lld columns, %lld bytes",
              (long long)local, (long long)last.file_read_bytes);
    char said[96];
    snprintf(said, sizeof said, "blocks of %lld of the array's %lld slabs of %d bytes",
             (long long)((n + ranks - 1) / ranks), (long long)n, ROWS * 8);
    CHECK(strstr(tutti_file_explain(tutti_array_file(a)), said), "no '%s' in: %s", said,
          tutti_file_explain(tutti_array_file(a)));
    free(v);
}

/* Rank r writes every ranks-th row, from r on, of columns [from, to). */
static void move_rows_one_by_one(tutti_array *a, tutti_count n, tutti_count from, tutti_count to) {
    tutti_slice s = {.hi = {ROWS, to}, .lo = {rank, from}, .stride = {ranks, 1}};
    const tutti_count rows = (ROWS - rank + ranks - 1) / ranks;
    double *v = calloc((size_t)(rows * (to - from)), sizeof *v);
    for (tutti_count k = 0; k < rows * (to - from); k++)
        v[k] = value(rank + k % rows * ranks, from + k / rows);
    CHECK_SAME(tutti_array_write(a, &s, NULL, v), TUTTI_OK);
    CHECK_EQ(last_of(a).file_write_bytes, share_of(n, rank, from, to) * ROWS * 8);
    free(v);
}

static void test_columns(void) {
    const tutti_array_spec spec = {
        .ndims = 2, .shape = {ROWS, WIDE}, .order = TUTTI_COL_MAJOR, .type = TUTTI_FLOAT64};
    const tutti_options opt = options_of("domains=array method=two-phase");
    tutti_array *a = NULL;
    check_where("columns");
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &a), TUTTI_OK);
    move_rows_one_by_one(a, WIDE, 0, WIDE);
    common(a, WIDE, ROWS, 0, WIDE);
    common(a, WIDE, ROWS, 0, 5);   /* columns in the first rank's block */
    common(a, WIDE, ROWS, 9, 14);  /* the shape is the same at another position */
    common(a, WIDE, ROWS, 30, 35); /* the shape is the same again */
    common(a, WIDE, ROWS, WIDE - 3, WIDE);
    common(a, WIDE, 7, 10, 45); /* only 7 of 75 rows are read */
    move_rows_one_by_one(a, WIDE, 20, 31);
    CHECK_SAME(tutti_array_resize(a, WIDE + 20), TUTTI_OK); /* the blocks change */
    move_rows_one_by_one(a, WIDE + 20, WIDE, WIDE + 20);
    common(a, WIDE + 20, ROWS, 0, WIDE);
    common(a, WIDE + 20, ROWS, 40, WIDE + 20);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
}

/* Write slices of a row-major array with the options `more`; compare the file with a serial model. */
static void planes(const char *more) {
    char text[160];
    const tutti_array_spec spec = {
        .ndims = 3, .shape = {11, 9, 70}, .order = TUTTI_ROW_MAJOR, .type = TUTTI_INT32};
    snprintf(text, sizeof text, "domains=array method=two-phase %s", more);
    const tutti_options opt = options_of(text);
    tutti_array *a = NULL;
    const tutti_count n = product(3, spec.shape);
    int32_t *model = calloc((size_t)n, 4), *got = calloc((size_t)n, 4);
    check_where(text);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &a), TUTTI_OK);
    for (int step = 0; step < 6; step++) {
        tutti_slice s = {.reserved = {0}};
        for (int d = 0; d < 3; d++) {
            s.lo[d] = rnd(spec.shape[d]);
            s.hi[d] = s.lo[d] + 1 + rnd(spec.shape[d] - s.lo[d]);
            s.stride[d] = 1 + rnd(2);
        }
        tutti_slice local = s; /* the last dimension is distributed cyclically */
        local.lo[2] += rank * s.stride[2];
        local.stride[2] *= ranks;
        int32_t *v = calloc((size_t)n, 4);
        tutti_count k = 0, at[3];
        for (at[0] = s.lo[0]; at[0] < s.hi[0]; at[0] += s.stride[0])
            for (at[1] = s.lo[1]; at[1] < s.hi[1]; at[1] += s.stride[1])
                for (at[2] = s.lo[2]; at[2] < s.hi[2]; at[2] += s.stride[2]) {
                    const tutti_count p = place_of(3, TUTTI_ROW_MAJOR, spec.shape, at);
                    model[p] = (int32_t)(100000 * step + p);
                    if ((at[2] - s.lo[2]) / s.stride[2] % ranks == rank) v[k++] = model[p];
                }
        CHECK_SAME(tutti_array_write(a, &local, NULL, v), TUTTI_OK);
        free(v);
        const tutti_slice all = tutti_slice_all(3, spec.shape);
        CHECK_SAME(tutti_array_read(a, &all, NULL, got), TUTTI_OK);
        CHECK(memcmp(got, model, (size_t)n * 4) == 0, "elements differ");
    }
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    free(model);
    free(got);
}

/* In a file that is not an array, domains have equal sizes. */
static void other_file(void) {
    tutti_file *f = open_with(path, "domains=array method=two-phase");
    tutti_access *a = NULL;
    char v[1000] = {0};
    CHECK_OK(tutti_access_contiguous(rank * (tutti_off)sizeof v, sizeof v, &a));
    CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
    CHECK(!strstr(tutti_file_explain(f), "slabs"), "%s", tutti_file_explain(f));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1011);
    snprintf(path, sizeof path, "%s", scratch_path("domains"));
    test_columns();
    planes("");
    planes("direct_io=1");
    planes("exchange=two-sided step=5 window_size=4k");
    planes("exchange=lock pipeline=write window_size=4k cb_nodes=2");
    other_file();
    file_remove(path);
    return harness_end();
}
