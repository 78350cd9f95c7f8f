/* Node orders of VTK that differ from Exodus: in quadratic wedges and hexahedra the mid-edge nodes of the
 * vertical edges come last, and the hexahedron of 27 nodes ends with the faces x, y, z and the centre.  Nodes
 * that the VTK cell does not have (for example the centre of a TET11) are omitted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <string.h>
#include <strings.h>

enum {
    VERTEX = 1,
    LINE = 3,
    TRIANGLE = 5,
    QUAD = 9,
    TETRA = 10,
    HEXAHEDRON = 12,
    WEDGE = 13,
    PYRAMID = 14,
    EDGE_3 = 21,
    TRI_6 = 22,
    QUAD_8 = 23,
    TET_10 = 24,
    HEX_20 = 25,
    WEDGE_15 = 26,
    PYRAMID_13 = 27,
    QUAD_9 = 28,
    HEX_27 = 29,
    TRI_7 = 34
};

static const int wedge_15[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};
static const int hex_27[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 16, 17,
                             18, 19, 12, 13, 14, 15, 23, 24, 25, 26, 21, 22, 20};

/* Cells by the first letters of the topology; the first row is used that has at most as many nodes as the
 * element. */
static const struct {
    const char *name;
    int nodes, cell;
    const int *order; /* index in the element of each node of the cell; NULL: the same order */
} cell_table[] = {
    {"hex", 27, HEX_27, hex_27}, {"hex", 20, HEX_20, hex_27},   {"hex", 8, HEXAHEDRON, NULL},
    {"tet", 10, TET_10, NULL},   {"tet", 4, TETRA, NULL},       {"wed", 15, WEDGE_15, wedge_15},
    {"wed", 6, WEDGE, NULL},     {"pyr", 13, PYRAMID_13, NULL}, {"pyr", 5, PYRAMID, NULL},
    {"qua", 9, QUAD_9, NULL},    {"qua", 8, QUAD_8, NULL},      {"qua", 4, QUAD, NULL},
    {"she", 9, QUAD_9, NULL},    {"she", 8, QUAD_8, NULL},      {"she", 4, QUAD, NULL},
    {"she", 3, TRIANGLE, NULL},  {"tri", 7, TRI_7, NULL},       {"tri", 6, TRI_6, NULL},
    {"tri", 3, TRIANGLE, NULL},  {"bar", 3, EDGE_3, NULL},      {"bar", 2, LINE, NULL},
    {"bea", 3, EDGE_3, NULL},    {"bea", 2, LINE, NULL},        {"tru", 3, EDGE_3, NULL},
    {"tru", 2, LINE, NULL},      {"edg", 3, EDGE_3, NULL},      {"edg", 2, LINE, NULL},
    {"rod", 3, EDGE_3, NULL},    {"rod", 2, LINE, NULL},        {"sph", 1, VERTEX, NULL},
    {"cir", 1, VERTEX, NULL},    {"poi", 1, VERTEX, NULL},      {"par", 1, VERTEX, NULL},
    {"lin", 3, EDGE_3, NULL},    {"lin", 2, LINE, NULL},
};

int exodus_vtk_cell(const char *topology, int nodes, int *nodes_out, int *order_out) {
    if (nodes == 0) nodes = tutti_exodus_topology_nodes(topology);
    for (size_t i = 0; i < sizeof cell_table / sizeof *cell_table; i++) {
        const char *name = cell_table[i].name;
        if (strncasecmp(topology, name, strlen(name)) != 0 || cell_table[i].nodes > nodes) continue;
        *nodes_out = cell_table[i].nodes;
        for (int k = 0; k < *nodes_out; k++)
            order_out[k] = cell_table[i].order ? cell_table[i].order[k] : k;
        return cell_table[i].cell;
    }
    return -1;
}
