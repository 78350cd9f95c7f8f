/* grid_writer DIRECTORY: writes a dataset with grids of two and three dimensions, several types and both byte
 * orders, in three steps: value j of a variable at step s is 1000 s + j % 997.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <tutti/tutti.h>

enum { PLANE = 5 * 7, BOX = 3 * 4 * 5 };

static int describe_case(tutti_dataset *d) {
    const tutti_variable_spec heat = {.space = "plane", .type = TUTTI_FLOAT64};
    const tutti_variable_spec count = {.space = "plane", .type = TUTTI_INT32};
    const tutti_variable_spec flow = {
        .space = "box", .item = TUTTI_VECTOR, .components = 3, .type = TUTTI_FLOAT32};
    const tutti_variable_spec big = {
        .space = "box", .type = TUTTI_FLOAT64, .order = TUTTI_BIG_ENDIAN};
    return tutti_dataset_grid(d, "plane", 2, (tutti_count[]){5, 7}) ||
           tutti_dataset_grid(d, "box", 3, (tutti_count[]){3, 4, 5}) ||
           tutti_dataset_variable(d, "heat", &heat) || tutti_dataset_variable(d, "count", &count) ||
           tutti_dataset_variable(d, "flow", &flow) || tutti_dataset_variable(d, "big", &big);
}

static int make_step(tutti_dataset *d, int index, tutti_decomposition *plane,
                     tutti_decomposition *box) {
    double v[3 * BOX];
    for (int j = 0; j < 3 * BOX; j++) v[j] = 1000 * index + j % 997;
    const tutti_put puts[] = {{"heat", plane, TUTTI_FLOAT64, v},
                              {"count", plane, TUTTI_FLOAT64, v},
                              {"flow", box, TUTTI_FLOAT64, v},
                              {"big", box, TUTTI_FLOAT64, v}};
    return tutti_dataset_begin(d, TUTTI_STATE, index, index / 2.0) ||
           tutti_dataset_put(d, 4, puts) || tutti_dataset_commit(d);
}

int main(int argc, char **argv) {
    tutti_dataset *d = NULL;
    tutti_decomposition *plane = NULL, *box = NULL;
    const tutti_decomposition_spec all_plane = {.kind = TUTTI_BY_RANK_ORDER, .n = PLANE};
    const tutti_decomposition_spec all_box = {.kind = TUTTI_BY_RANK_ORDER, .n = BOX};
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    int bad = tutti_dataset_open(MPI_COMM_SELF, argv[1], TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                                 NULL, &d) ||
              describe_case(d) || tutti_decomposition_create(d, "plane", &all_plane, &plane) ||
              tutti_decomposition_create(d, "box", &all_box, &box);
    for (int i = 0; i < 3 && !bad; i++) bad = make_step(d, i, plane, box);
    if (bad) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_decomposition_free(&plane);
    tutti_decomposition_free(&box);
    if (d && tutti_dataset_close(&d)) bad = 1;
    MPI_Finalize();
    return bad;
}
