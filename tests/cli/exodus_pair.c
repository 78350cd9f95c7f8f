/* exodus_pair FILE [CHANGE]: writes a cube of 8 hexahedra in one block, nodes 201 to 227, elements 1000, 1010,
 * ..., 1070, a node set, a side set and two steps.  CHANGE is one of
 *   turned   nodes and elements are stored in another order (written by arrays, since put_mesh sorts them)
 *   value    some results differ
 *   mesh     a coordinate, an element, a node set and a factor differ
 *   less     no side set, no name, no nodal variable, one step
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <tutti/exodus.h>

enum { NODES = 27, ELEMENTS = 8 };

static int turned, value, other_mesh, less;

static void check_call(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Return the node (element) at a position. */
static int node_at(int place) {
    return turned ? (place * 5 + 3) % NODES : place;
}
static int element_at(int place) {
    return turned ? (place * 3 + 1) % ELEMENTS : place;
}
static int place_of_node(int node) {
    for (int i = 0; i < NODES; i++)
        if (node_at(i) == node) return i;
    return -1;
}
static int place_of_element(int element) {
    for (int i = 0; i < ELEMENTS; i++)
        if (element_at(i) == element) return i;
    return -1;
}

static int corner(int element, int k) {
    static const int at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int x = element % 2 + at[k][0], y = element / 2 % 2 + at[k][1],
              z = element / 4 + at[k][2];
    const int node = x + 3 * y + 9 * z;
    return other_mesh && element == 7 && k == 0 ? node - 1 : node;
}

static tutti_exodus_array array(int what, int kind, int64_t id, tutti_count n, void *buf) {
    return (tutti_exodus_array){
        .array_kind = (tutti_exodus_array_kind)what,
        .kind = (tutti_exodus_kind)kind,
        .id = id,
        .n = n,
        .type = what == TUTTI_EXODUS_COORDINATES || what == TUTTI_EXODUS_FACTORS ? TUTTI_FLOAT64
                                                                                 : TUTTI_INT64,
        .buf = buf};
}

static void define_variables(tutti_exodus *x) {
    const tutti_exodus_entity e[] = {
        {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
         .id = 1,
         .name = less ? NULL : "cube",
         .topology = "HEX8",
         .entries = ELEMENTS},
        {.kind = TUTTI_EXODUS_NODE_SET, .id = 3, .entries = 2},
        {.kind = TUTTI_EXODUS_SIDE_SET, .id = 4, .entries = 2, .factors = 8}};
    static const char *const nodal[] = {"temperature"}, *const element[] = {"stress"};
    static const char *const global[] = {"energy"};
    check_call(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "a cube",
                                                               .dims = 3,
                                                               .nodes = NODES,
                                                               .elements = ELEMENTS,
                                                               .has_node_ids = 1,
                                                               .has_element_ids = 1}));
    check_call(tutti_exodus_define(x, less ? 2 : 3, e));
    check_call(tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, 1, global));
    if (!less) check_call(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, nodal));
    check_call(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, element));
    check_call(tutti_exodus_end_definitions(x));
}

static void put_mesh(tutti_exodus *x) {
    double xyz[3][NODES], factor[8];
    int64_t node_id[NODES], element_id[ELEMENTS], node[8 * ELEMENTS], in_set[2], element[2],
        side[2];
    for (int i = 0; i < NODES; i++) {
        const int n = node_at(i);
        node_id[i] = 201 + n;
        for (int d = 0; d < 3; d++) xyz[d][i] = d == 0 ? n % 3 : d == 1 ? n / 3 % 3 : n / 9;
        if (other_mesh && n == 0) xyz[1][i] = 0.125;
    }
    for (int i = 0; i < ELEMENTS; i++) {
        element_id[i] = 1000 + 10 * element_at(i);
        for (int k = 0; k < 8; k++) node[8 * i + k] = place_of_node(corner(element_at(i), k)) + 1;
    }
    in_set[0] = place_of_node(other_mesh ? 1 : 0) + 1;
    in_set[1] = place_of_node(26) + 1;
    for (int i = 0; i < 2; i++) { /* side 5 of element 0, and side 2 of element 3 */
        const int first = (i == 0) != turned;
        element[i] = place_of_element(first ? 0 : 3) + 1;
        side[i] = first ? 5 : 2;
        for (int k = 0; k < 4; k++) factor[4 * i + k] = first ? k : 10 + k;
        if (other_mesh && first) factor[4 * i + 2] = 3;
    }
    tutti_exodus_array a[10] = {
        array(TUTTI_EXODUS_IDS, TUTTI_EXODUS_NODAL, 0, NODES, node_id),
        array(TUTTI_EXODUS_IDS, TUTTI_EXODUS_ELEMENT_BLOCK, 0, ELEMENTS, element_id),
        array(TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, 1, ELEMENTS, node),
        array(TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_NODE_SET, 3, 2, in_set)};
    int n = 4;
    for (int d = 0; d < 3; d++) {
        a[n] = array(TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, 0, NODES, xyz[d]);
        a[n++].component = d;
    }
    if (!less) {
        a[n++] = array(TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_SIDE_SET, 4, 2, element);
        a[n++] = array(TUTTI_EXODUS_SIDES, TUTTI_EXODUS_SIDE_SET, 4, 2, side);
        a[n++] = array(TUTTI_EXODUS_FACTORS, TUTTI_EXODUS_SIDE_SET, 4, 8, factor);
    }
    check_call(tutti_exodus_put_arrays(x, n, a));
}

static void put_step(tutti_exodus *x, int step) {
    double t[NODES], s[ELEMENTS], energy = 7 * step;
    tutti_decomposition *nodes = NULL, *elements = NULL;
    check_call(tutti_exodus_decomposition(
        x, TUTTI_EXODUS_NODAL, 0,
        &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = NODES}, &nodes));
    check_call(tutti_exodus_decomposition(
        x, TUTTI_EXODUS_ELEMENT_BLOCK, 1,
        &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = ELEMENTS}, &elements));
    for (int i = 0; i < NODES; i++) {
        const int n = node_at(i);
        t[i] = 10 * step + 0.125 * n;
        if (value && step == 2 && n == 4) t[i] = 20;
        if (value && step == 2 && n == 5) t[i] -= 0.25;
    }
    for (int i = 0; i < ELEMENTS; i++) {
        s[i] = step * element_at(i);
        if (value && step == 1 && element_at(i) == 1) s[i] = 1.001;
    }
    if (value && step == 2) energy += 1;
    const tutti_exodus_field f[] = {
        {.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = &energy},
        {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
         .id = 1,
         .variable = "stress",
         .type = TUTTI_FLOAT64,
         .buf = s,
         .entries = elements},
        {.kind = TUTTI_EXODUS_NODAL,
         .variable = "temperature",
         .type = TUTTI_FLOAT64,
         .buf = t,
         .entries = nodes}};
    check_call(tutti_exodus_begin(x, 0.5 * step));
    check_call(tutti_exodus_put(x, less ? 2 : 3, f));
    check_call(tutti_exodus_commit(x));
    tutti_decomposition_free(&nodes);
    tutti_decomposition_free(&elements);
}

int main(int argc, char **argv) {
    tutti_exodus *x = NULL;
    const char *how = argc > 2 ? argv[2] : "";
    turned = strcmp(how, "turned") == 0;
    value = strcmp(how, "value") == 0;
    other_mesh = strcmp(how, "mesh") == 0;
    less = strcmp(how, "less") == 0;
    MPI_Init(&argc, &argv);
    check_call(tutti_exodus_create(MPI_COMM_WORLD, argv[1], NULL, &x));
    define_variables(x);
    put_mesh(x);
    for (int step = 1; step <= (less ? 1 : 2); step++) put_step(x, step);
    check_call(tutti_exodus_close(&x));
    MPI_Finalize();
    return 0;
}
