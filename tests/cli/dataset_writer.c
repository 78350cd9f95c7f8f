/* dataset_writer DIRECTORY [FACTOR [SEGMENTS]]: writes a dataset with all features: a grid, a list with ids
 * and two topologies, scalars, vectors, tensors, both layouts, both byte orders, many types, infos.  With
 * SEGMENTS, the program kills itself while it writes the segment after so many segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <complex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { ROWS = 4, COLUMNS = 6, NODES = 5 };
static double factor = 1;

static int describe_case(tutti_dataset *d) {
    const tutti_variable_spec heat = {
        .space = "grid", .type = TUTTI_FLOAT64, .units = "K", .long_name = "Heat & <cold>"};
    const tutti_variable_spec half = {.space = "grid", .type = TUTTI_FLOAT16, .fill = 7};
    const tutti_variable_spec velocity = {.space = "nodes",
                                          .item = TUTTI_VECTOR,
                                          .components = 3,
                                          .type = TUTTI_FLOAT32,
                                          .order = TUTTI_BIG_ENDIAN};
    const tutti_variable_spec count = {
        .space = "nodes", .type = TUTTI_UINT16, .layout = TUTTI_RANKED};
    const tutti_variable_spec wave = {.space = "nodes", .type = TUTTI_COMPLEX128};
    const int answer[3] = {1, 2, 42};
    return tutti_dataset_grid(d, "grid", 2, (tutti_count[]){ROWS, COLUMNS}) ||
           tutti_dataset_list(d, "nodes") || tutti_dataset_variable(d, "heat", &heat) ||
           tutti_dataset_variable(d, "half", &half) ||
           tutti_dataset_variable(d, "velocity", &velocity) ||
           tutti_dataset_variable(d, "count", &count) || tutti_dataset_variable(d, "wave", &wave) ||
           tutti_dataset_info_set(d, NULL, "title", TUTTI_BYTES, 11, "a \"test\"\n\302\265") ||
           tutti_dataset_info_set(d, &(tutti_info_owner){"heat", -1}, "answer", TUTTI_INT32, 3,
                                  answer);
}

static int topology(tutti_dataset *d, int index, int nodes) {
    int64_t ids[2 * NODES];
    for (int i = 0; i < nodes; i++) ids[i] = 100 - 3 * i;
    return tutti_dataset_begin(d, TUTTI_TOPOLOGY, index, index / 2.0) ||
           tutti_dataset_ids(d, "nodes", nodes, ids) || tutti_dataset_commit(d);
}

static int state(tutti_dataset *d, int index, int nodes, int dies) {
    double heat[ROWS * COLUMNS], velocity[3 * 2 * NODES];
    int32_t count[2 * NODES];
    double complex wave[2 * NODES];
    tutti_decomposition *grid = NULL, *row = NULL, *list = NULL;
    const tutti_decomposition_spec all = {.kind = TUTTI_BY_SLICE, .slice = {.hi = {ROWS, COLUMNS}}};
    const tutti_decomposition_spec one = {.kind = TUTTI_BY_SLICE,
                                          .slice = {.lo = {1, 0}, .hi = {2, COLUMNS}}};
    const tutti_decomposition_spec implicit_ids = {.kind = TUTTI_BY_RANK_ORDER, .n = nodes};
    for (int i = 0; i < ROWS * COLUMNS; i++) heat[i] = factor * (100 * index + i);
    for (int i = 0; i < 3 * nodes; i++) velocity[i] = i + index / 4.0;
    for (int i = 0; i < nodes; i++) count[i] = 10 * index + i;
    for (int i = 0; i < nodes; i++) wave[i] = i - 0.5 * I;
    const tutti_put puts[] = {{"heat", NULL, TUTTI_FLOAT64, heat},
                              {"half", NULL, TUTTI_FLOAT64, heat},
                              {"velocity", NULL, TUTTI_FLOAT64, velocity},
                              {"count", NULL, TUTTI_INT32, count},
                              {"wave", NULL, TUTTI_COMPLEX128, wave}};
    int bad = tutti_decomposition_create(d, "grid", &all, &grid) ||
              tutti_decomposition_create(d, "grid", &one, &row) ||
              tutti_decomposition_create(d, "nodes", &implicit_ids, &list) ||
              tutti_dataset_begin(d, TUTTI_STATE, index, index / 2.0);
    for (int i = 0; i < (index == 1 ? 5 : 4) && !bad; i++) {
        tutti_put put = puts[i];
        put.entries = i == 0 ? grid : i == 1 ? row : list;
        bad = tutti_dataset_put(d, 1, &put);
    }
    const double step = 0.125 * index;
    if (!bad)
        bad = tutti_dataset_info_set(d, &(tutti_info_owner){NULL, tutti_dataset_segments(d)},
                                     "step", TUTTI_FLOAT64, 1, &step);
    if (dies) raise(SIGKILL);
    if (!bad) bad = tutti_dataset_commit(d);
    tutti_decomposition_free(&grid);
    tutti_decomposition_free(&row);
    tutti_decomposition_free(&list);
    return bad;
}

int main(int argc, char **argv) {
    tutti_dataset *d = NULL;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE;
    if (argc > 2) factor = atof(argv[2]);
    const int dies = argc > 3 ? atoi(argv[3]) : -1;
    MPI_Init(&argc, &argv);
    int bad = tutti_dataset_open(MPI_COMM_WORLD, argv[1], mode, NULL, &d) || describe_case(d) ||
              topology(d, 0, NODES);
    for (int i = 0; i < 4 && !bad; i++) {
        if (i == 2) bad = topology(d, 2, 2 * NODES);
        if (!bad) bad = state(d, i, i < 2 ? NODES : 2 * NODES, i == dies);
    }
    if (!bad) bad = tutti_dataset_close(&d);
    if (bad) fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Finalize();
    return bad != 0;
}
