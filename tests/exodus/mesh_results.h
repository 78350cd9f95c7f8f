/* Results on nodes, blocks and sets of the random mesh of world.h: fill or compare the fields of a rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MESH_RESULTS_H
#define TUTTI_TESTS_MESH_RESULTS_H

#include "exodus/files.h"

static double v[3 * W_NODES + 8 * W_ENTRIES];

static inline double value(int step, int kind, int which, int item) {
    return world_value(40 + kind, which, item, step) + 100 * step;
}

static inline int node_of(int64_t id) {
    for (int i = 0; i < world.nodes; i++)
        if (world.node_id[i] == id) return i;
    return -1;
}

static inline int entry_of(int kind, int64_t id) {
    for (int i = 0; i < world.entries[kind]; i++)
        if (world.entry[kind][i].id == id) return i;
    return -1;
}

static inline int element_at(const tutti_exodus_mesh *m, tutti_count place) {
    int c = 0;
    for (; place >= m->blocks[c].n; c++) place -= m->blocks[c].n;
    return entry_of(W_ELEMENT, m->blocks[c].ids[place]);
}

/* Fill the fields of a step in the order of the mesh, or compare their values; return the number of fields. */
static inline int fields_of(const tutti_exodus_mesh *m, int step, int compare,
                            tutti_exodus_field *f) {
    int n = 0, at = 0;
#define EACH(expected)                                                             \
    do {                                                                           \
        const double e_ = (expected);                                              \
        if (compare) CHECK(v[at] == e_, "field %d: %g, not %g", n - 1, v[at], e_); \
        v[at++] = e_;                                                              \
    } while (0)
    f[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL, .variable = "t", .buf = v};
    for (tutti_count i = 0; i < m->nodes; i++) EACH(value(step, 0, 0, node_of(m->node_ids[i])));
    for (int c = 0; c < W_BLOCKS - 1; c++) {
        f[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                      .id = world_blocks[W_ELEMENT][c].id,
                                      .variable = "e",
                                      .buf = v + at};
        for (tutti_count i = 0; i < m->blocks[c].n; i++)
            EACH(value(step, 1, c, entry_of(W_ELEMENT, m->blocks[c].ids[i])));
    }
    for (int c = 0; c < W_SETS; c++) {
        if (world.set[0][c].n == 0) continue;
        f[n++] = (tutti_exodus_field){
            .kind = TUTTI_EXODUS_NODE_SET, .id = 11 * (c + 1), .variable = "n", .buf = v + at};
        for (tutti_count i = 0; i < m->node_sets[c].n; i++)
            EACH(value(step, 2, c, node_of(m->node_ids[m->node_sets[c].members[i]])));
    }
    for (int c = 0; c < W_SETS; c++) {
        if (world.set[1][c].n == 0) continue;
        f[n++] = (tutti_exodus_field){
            .kind = TUTTI_EXODUS_SIDE_SET, .id = 11 * (c + 1), .variable = "s", .buf = v + at};
        for (tutti_count i = 0; i < m->side_sets[c].n; i++)
            EACH(value(step, 3, c,
                       element_at(m, m->side_sets[c].members[i]) * 8 + m->side_sets[c].sides[i]));
    }
    for (int i = 0; i < n; i++) f[i].type = TUTTI_FLOAT64;
    return n;
}

#undef EACH

static inline void variables_define(tutti_exodus *x) {
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"t"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"e"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODE_SET, 1, (const char *[]){"n"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_SIDE_SET, 1, (const char *[]){"s"}));
}

#endif
