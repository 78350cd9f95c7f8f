/* The program that wrote plate.e, plate.e-s.0002 and the sidecar plate.e.tutti, built
 * with commit 789ec43 and run on one rank: a series with the file names that Tutti used at that time.
 * tests/exodus/t1320_series.c reads the series and continues it.  (The sidecar of the second file is omitted.)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <tutti/exodus.h>
#define OK(c)                                                      \
    do {                                                           \
        if ((c) != TUTTI_OK) {                                     \
            fprintf(stderr, "%s: %s\n", #c, tutti_last_message()); \
            MPI_Abort(MPI_COMM_WORLD, 1);                          \
        }                                                          \
    } while (0)
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    tutti_exodus *x = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.steps_per_file = 2;
    opt.alignment = 4;
    OK(tutti_exodus_create(MPI_COMM_WORLD, argv[1], &opt, &x));
    OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "golden", .dims = 2}));
    OK(tutti_exodus_define(
        x, 4,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 10, .name = "plate", .topology = "QUAD4"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 20, .name = "empty", .topology = "TRI3"},
            {.kind = TUTTI_EXODUS_NODE_SET, .id = 3, .name = "fixed"},
            {.kind = TUTTI_EXODUS_SIDE_SET, .id = 4, .name = "heated"}}));
    OK(tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, 1, (const char *[]){"energy"}));
    OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"}));
    OK(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"flux"}));
    const int64_t node_ids[] = {2, 4, 6, 8, 10, 12}, element_ids[] = {5, 7};
    const double X[] = {0, 1, 2, 0, 1, 2}, Y[] = {0, 0, 0, 1, 1, 1}, factors[] = {0.25, 0.75};
    const tutti_count nodes[] = {0, 1, 4, 3, 1, 2, 5, 4}, fixed[] = {0, 3}, side_of[] = {1};
    const int side[] = {2};
    const tutti_exodus_elements blocks[] = {{.n = 2, .ids = element_ids, .nodes = nodes}, {.n = 0}};
    const tutti_exodus_members ns = {.n = 2, .members = fixed},
                               ss = {.n = 1, .members = side_of, .sides = side, .factors = factors};
    const tutti_exodus_mesh mesh = {.nodes = 6,
                                    .node_ids = node_ids,
                                    .coordinates = {X, Y},
                                    .blocks = blocks,
                                    .node_sets = &ns,
                                    .side_sets = &ss};
    OK(tutti_exodus_put_mesh(x, &mesh));
    OK(tutti_exodus_note_set(x, "solver", TUTTI_INT32, 2, (int32_t[]){7, 8}));
    for (int s = 1; s <= 3; s++) {
        double t[6], e = 100 * s, f[2] = {s, -s};
        for (int i = 0; i < 6; i++) t[i] = 10 * s + i;
        OK(tutti_exodus_begin(x, 0.5 * s));
        OK(tutti_exodus_put(x, 3,
                            (tutti_exodus_field[]){{.kind = TUTTI_EXODUS_GLOBAL,
                                                    .variable = "energy",
                                                    .type = TUTTI_FLOAT64,
                                                    .buf = &e},
                                                   {.kind = TUTTI_EXODUS_NODAL,
                                                    .variable = "temperature",
                                                    .type = TUTTI_FLOAT64,
                                                    .buf = t},
                                                   {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                                    .id = 10,
                                                    .variable = "flux",
                                                    .type = TUTTI_FLOAT64,
                                                    .buf = f}}));
        OK(tutti_exodus_commit(x));
    }
    OK(tutti_exodus_close(&x));
    MPI_Finalize();
    return 0;
}
