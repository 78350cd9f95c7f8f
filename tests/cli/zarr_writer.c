/* zarr_writer DIRECTORY: writes a dataset with compressed variables of several chunks and many types in three
 * time steps; the variable "late" is not in the first step, and "mesh" is only in the topology.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { ROWS = 700, COLUMNS = 501, STEPS = 3 };

static const struct {
    const char *name;
    tutti_variable_spec spec;
} variables[] = {
    {"smooth", {.space = "plane", .type = TUTTI_FLOAT64, .units = "m/s", .compress = 1}},
    {"big",
     {.space = "plane",
      .type = TUTTI_FLOAT32,
      .order = TUTTI_BIG_ENDIAN,
      .long_name = "big \"endian\"",
      .compress = 3}},
    {"plain", {.space = "plane", .type = TUTTI_INT16, .order = TUTTI_BIG_ENDIAN}},
    {"bytes", {.space = "plane", .type = TUTTI_UINT8, .compress = 2}},
    {"half", {.space = "plane", .type = TUTTI_FLOAT16, .compress = 2}},
    {"late", {.space = "plane", .type = TUTTI_INT64, .compress = 1, .fill = -7}},
    {"wave", {.space = "line", .type = TUTTI_COMPLEX128, .compress = 1}},
    {"vector",
     {.space = "line", .item = TUTTI_VECTOR, .components = 3, .type = TUTTI_UINT32, .compress = 1}},
    {"i1", {.space = "line", .type = TUTTI_INT8, .compress = 1}},
    {"i4", {.space = "line", .type = TUTTI_INT32, .order = TUTTI_BIG_ENDIAN, .compress = 1}},
    {"u2", {.space = "line", .type = TUTTI_UINT16, .compress = 1}},
    {"u8", {.space = "line", .type = TUTTI_UINT64}},
    {"flow", {.space = "line", .item = TUTTI_VECTOR, .components = 2, .type = TUTTI_COMPLEX64}},
    {"ranked", {.space = "line", .type = TUTTI_FLOAT32, .layout = TUTTI_RANKED}},
    {"mesh", {.space = "line", .type = TUTTI_FLOAT64, .compress = 1}},
};
enum { VARIABLES = sizeof variables / sizeof variables[0], LINE = 100001 };

static int put_values(tutti_dataset *d, int i, int step, tutti_decomposition *entries, void *buf) {
    const tutti_type type = variables[i].spec.type;
    const int is_complex = type == TUTTI_COMPLEX64 || type == TUTTI_COMPLEX128;
    const int numbers = variables[i].spec.components ? variables[i].spec.components : 1;
    const tutti_count n = tutti_decomposition_entries(entries) * numbers;
    for (tutti_count k = 0; k < n; k++) {
        const double x = 50 + 40 * sin((double)k / 1000 + step);
        if (is_complex)
            ((double complex *)buf)[k] = x + I * step;
        else
            ((double *)buf)[k] = x;
    }
    const tutti_put one = {variables[i].name, entries,
                           is_complex ? TUTTI_COMPLEX128 : TUTTI_FLOAT64, buf};
    return tutti_dataset_put(d, 1, &one);
}

int main(int argc, char **argv) {
    tutti_dataset *d = NULL;
    tutti_decomposition *plane = NULL, *line = NULL;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE;
    const tutti_decomposition_spec all = {.kind = TUTTI_BY_SLICE, .slice = {.hi = {ROWS, COLUMNS}}};
    const tutti_decomposition_spec implicit_ids = {.kind = TUTTI_BY_RANK_ORDER, .n = LINE};
    double *buf = malloc((size_t)ROWS * COLUMNS * 16);
    MPI_Init(&argc, &argv);
    int bad = argc < 2 || !buf || tutti_dataset_open(MPI_COMM_WORLD, argv[1], mode, NULL, &d) ||
              tutti_dataset_grid(d, "plane", 2, (tutti_count[]){ROWS, COLUMNS}) ||
              tutti_dataset_grid(d, "line", 1, (tutti_count[]){LINE});
    for (int i = 0; i < VARIABLES && !bad; i++)
        bad = tutti_dataset_variable(d, variables[i].name, &variables[i].spec);
    bad = bad || tutti_decomposition_create(d, "plane", &all, &plane) ||
          tutti_decomposition_create(d, "line", &implicit_ids, &line);
    for (int step = -1; step < STEPS && !bad; step++) {
        bad = tutti_dataset_begin(d, step < 0 ? TUTTI_TOPOLOGY : TUTTI_STATE,
                                  step < 0 ? 0 : 10 * step, step < 0 ? 0 : 0.5 * step);
        for (int i = 0; i < VARIABLES && !bad; i++) {
            const int is_mesh = variables[i].name[0] == 'm';
            if (is_mesh != (step < 0) || (variables[i].name[0] == 'l' && step == 0)) continue;
            bad = put_values(d, i, step, variables[i].spec.space[0] == 'p' ? plane : line, buf);
        }
        if (!bad) bad = tutti_dataset_commit(d);
    }
    tutti_decomposition_free(&plane);
    tutti_decomposition_free(&line);
    if (!bad) bad = tutti_dataset_close(&d);
    if (bad) fprintf(stderr, "%s\n", tutti_last_message());
    free(buf);
    MPI_Finalize();
    return bad != 0;
}
