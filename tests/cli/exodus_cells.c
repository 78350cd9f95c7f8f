/* exodus_cells FILE: writes a block of one element for each topology with a VTK cell type, linear and
 * quadratic, with node and side sets, and nodal and element variables in three steps.  All nodes have
 * different coordinates.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/exodus.h>

static const struct {
    const char *name;
    int nodes;
} shapes[] = {{"HEX8", 8},       {"HEX20", 20},    {"HEX27", 27},   {"TETRA4", 4},
              {"TETRA10", 10},   {"WEDGE6", 6},    {"WEDGE15", 15}, {"PYRAMID5", 5},
              {"PYRAMID13", 13}, {"SHELL4", 4},    {"SHELL8", 8},   {"SHELL9", 9},
              {"TRISHELL3", 3},  {"TRISHELL6", 6}, {"BAR2", 2},     {"BAR3", 3}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 27, STEPS = 3 };

static void check_call(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void define_variables(tutti_exodus *x) {
    tutti_exodus_entity e[SHAPES + 2] = {{.id = 0}};
    static const char *const nodal[] = {"temperature"}, *const element[] = {"stress",
                                                                            "load & <more>"};
    unsigned char truth[2 * SHAPES];
    for (int s = 0; s < SHAPES; s++) {
        e[s] = (tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                     .id = s + 1,
                                     .topology = shapes[s].name,
                                     .name = shapes[s].name};
        truth[2 * s] = 1;
        truth[2 * s + 1] = s % 3 == 0;
    }
    e[SHAPES] = (tutti_exodus_entity){.kind = TUTTI_EXODUS_NODE_SET, .id = 5};
    e[SHAPES + 1] = (tutti_exodus_entity){.kind = TUTTI_EXODUS_SIDE_SET, .id = 6};
    check_call(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "cells", .dims = 3}));
    check_call(tutti_exodus_define(x, SHAPES + 2, e));
    check_call(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, nodal));
    check_call(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 2, element));
    check_call(tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, truth));
}

int main(int argc, char **argv) {
    static double xyz[3][SHAPES * MOST], value[SHAPES * MOST];
    static tutti_count node[SHAPES * MOST];
    static int64_t node_id[SHAPES * MOST], id[SHAPES];
    tutti_exodus_elements block[SHAPES];
    tutti_count n = 0;
    tutti_exodus *x = NULL;
    MPI_Init(&argc, &argv);
    for (int s = 0; s < SHAPES; s++) {
        id[s] = 10 * s + 7;
        block[s] = (tutti_exodus_elements){.n = 1, .ids = &id[s], .nodes = &node[n]};
        for (int i = 0; i < shapes[s].nodes; i++, n++) {
            node[n] = n;
            node_id[n] = 2 * n + 1;
            xyz[0][n] = (double)n;
            xyz[1][n] = (double)(n % 7);
            xyz[2][n] = s;
        }
    }
    const tutti_exodus_members nodes = {.n = 3, .members = (tutti_count[]){0, 5, 9}};
    const tutti_exodus_members sides = {
        .n = 4, .members = (tutti_count[]){0, 1, 4, 6}, .sides = (int[]){1, 6, 2, 5}};
    const tutti_exodus_mesh mesh = {.nodes = n,
                                    .node_ids = node_id,
                                    .coordinates = {xyz[0], xyz[1], xyz[2]},
                                    .blocks = block,
                                    .node_sets = &nodes,
                                    .side_sets = &sides};
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    check_call(tutti_exodus_create(MPI_COMM_WORLD, argv[1], &opt, &x));
    define_variables(x);
    check_call(tutti_exodus_put_mesh(x, &mesh));
    for (int step = 0; step < STEPS; step++) {
        check_call(tutti_exodus_begin(x, 0.5 * step));
        for (tutti_count i = 0; i < n; i++) value[i] = 1000.0 * step + (double)i;
        check_call(tutti_exodus_put(x, 1,
                                    &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                          .variable = "temperature",
                                                          .type = TUTTI_FLOAT64,
                                                          .buf = value}));
        for (int s = 0; s < SHAPES; s++) {
            double number[2] = {100.0 * step + s, -100.0 * step - s};
            tutti_exodus_field f[2] = {{.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                        .id = s + 1,
                                        .variable = "stress",
                                        .type = TUTTI_FLOAT64,
                                        .buf = &number[0]},
                                       {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                        .id = s + 1,
                                        .variable = "load & <more>",
                                        .type = TUTTI_FLOAT64,
                                        .buf = &number[1]}};
            check_call(tutti_exodus_put(x, s % 3 == 0 ? 2 : 1, f));
        }
        check_call(tutti_exodus_commit(x));
    }
    check_call(tutti_exodus_close(&x));
    MPI_Finalize();
    return 0;
}
