/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Values are written twice, by two operations whose ranges end anywhere within checksum blocks: the file contains the
 * later values with correct checksums.  Coordinates are written by put_arrays, results by put.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <tutti/exodus.h>

enum { BLOCK = 65536 / 8, NODES = 5 * BLOCK }; /* values per checksum block */

static char path[600];
static double first[NODES], back[NODES], want[NODES];

/* The range of the second operation: every `step`th value of [lo, hi). */
static const struct {
    const char *name;
    tutti_count lo, hi, step;
} seconds[] = {
    {"within a block", 2 * BLOCK + 10, 2 * BLOCK + 20, 1},
    {"the end within a block", BLOCK, 3 * BLOCK + 7, 1},
    {"the beginning within a block", BLOCK + BLOCK / 2, 4 * BLOCK, 1},
    {"one number", 3 * BLOCK + BLOCK / 2, 3 * BLOCK + BLOCK / 2 + 1, 1},
    {"numbers of two blocks", BLOCK + BLOCK / 2, 3 * BLOCK + BLOCK / 2, 2 * BLOCK - 1},
    {"all", 0, NODES, 1},
};
enum { SECONDS = sizeof seconds / sizeof *seconds };

static tutti_decomposition *second_of(tutti_exodus *x, int k) {
    tutti_decomposition *p = NULL;
    tutti_count n = 0, *index = malloc(NODES * sizeof *index);
    for (tutti_count i = seconds[k].lo; i < seconds[k].hi && rank == ranks - 1;
         i += seconds[k].step)
        index[n++] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = n, .index = index};
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &p), TUTTI_OK);
    free(index);
    return p;
}

/* Set the values of the second operation, in the order of its entries, and the expected values of the file. */
static void set_values(int k, double *second) {
    tutti_count n = 0;
    memcpy(want, first, sizeof want);
    for (tutti_count i = seconds[k].lo; i < seconds[k].hi; i += seconds[k].step)
        second[n++] = want[i] = -1 - first[i];
}

/* Return the start of the part of rank `r` in the first operation, which writes all values. */
static tutti_count part_start(int r) {
    return (tutti_count)NODES * r / ranks;
}

static void put_coordinates(tutti_exodus *x, int k, double *second) {
    tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                            .kind = TUTTI_EXODUS_NODAL,
                            .first = part_start(rank),
                            .n = part_start(rank + 1) - part_start(rank),
                            .type = TUTTI_FLOAT64,
                            .buf = first + part_start(rank)};
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &a), TUTTI_OK);
    a.entries = second_of(x, k);
    a.buf = second;
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &a), TUTTI_OK);
    tutti_decomposition_free(&a.entries);
    const tutti_exodus_array all = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                    .kind = TUTTI_EXODUS_NODAL,
                                    .n = NODES,
                                    .type = TUTTI_FLOAT64,
                                    .buf = back};
    CHECK_SAME(tutti_exodus_get_arrays(x, 1, &all), TUTTI_OK);
    CHECK(memcmp(back, want, sizeof want) == 0, "coordinates");
}

static void put_results(tutti_exodus *x, int k, double *second) {
    tutti_exodus_field f = {.kind = TUTTI_EXODUS_NODAL,
                            .variable = "v",
                            .type = TUTTI_FLOAT64,
                            .buf = first + part_start(rank)};
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_SLICE, .slice = {.lo = {part_start(rank)}, .hi = {part_start(rank + 1)}}};
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &f.entries), TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, k), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put(x, 1, &f), TUTTI_OK);
    tutti_decomposition_free(&f.entries);
    f.entries = second_of(x, k);
    f.buf = second;
    CHECK_SAME(tutti_exodus_put(x, 1, &f), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    tutti_decomposition_free(&f.entries);
}

static void write_twice(int k) {
    double *second = malloc(sizeof first);
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    check_where(seconds[k].name);
    set_values(k, second);
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 1, .nodes = NODES}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"v"}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    put_coordinates(x, k, second);
    put_results(x, k, second);
    CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    free(second);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1371);
    snprintf(path, sizeof path, "%s/t1371.e", check_dir());
    for (tutti_count i = 0; i < NODES; i++) first[i] = (double)i;
    for (int k = 0; k < SECONDS; k++) write_twice(k);
    return harness_end();
}
