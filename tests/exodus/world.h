/* A small random mesh as a model that every rank has completely: blocks of many kinds, edges, faces, sets, nodes
 * without elements; which ranks have which entries; the arguments of put_mesh for a rank; and the positions in the
 * file, computed by sorting.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_WORLD_H
#define TUTTI_TESTS_WORLD_H

#include <tutti/exodus.h>
#include "harness.h"

enum { W_NODES = 240, W_ENTRIES = 160, W_LIST = 8, W_BLOCKS = 6, W_SETS = 4, W_MEMBERS = 60 };

typedef struct {
    int64_t id;
    int block, n, to[W_LIST]; /* the n nodes of the entry (nfaced: its faces) */
    int edge[2];
    uint64_t holders; /* bit r: rank r has the entry */
} world_entry;

typedef struct {
    int n, member[W_MEMBERS], side[W_MEMBERS];
    uint64_t listed[W_MEMBERS]; /* bit r: rank r lists the member */
    int factors, attributes;
} world_set;

static struct {
    int dims, ids; /* ids: 0: 1, 2, 3, ...; 1: any ids */
    int nodes;
    int64_t node_id[W_NODES];
    uint64_t node_holders[W_NODES];
    int entries[3]; /* number of elements, edges, faces */
    world_entry entry[3][W_ENTRIES];
    world_set set[5][W_SETS];
} world;

enum { W_ELEMENT, W_EDGE, W_FACE };
static const tutti_exodus_kind world_kinds[3] = {TUTTI_EXODUS_ELEMENT_BLOCK,
                                                 TUTTI_EXODUS_EDGE_BLOCK, TUTTI_EXODUS_FACE_BLOCK};
static const tutti_exodus_kind world_set_kinds[5] = {TUTTI_EXODUS_NODE_SET, TUTTI_EXODUS_SIDE_SET,
                                                     TUTTI_EXODUS_ELEMENT_SET,
                                                     TUTTI_EXODUS_EDGE_SET, TUTTI_EXODUS_FACE_SET};
/* Class of the members of each kind of set; -1: nodes. */
static const int world_members[5] = {-1, W_ELEMENT, W_ELEMENT, W_EDGE, W_FACE};

/* The blocks of each kind, in the order of their definition. */
static const struct {
    const char *topology;
    int64_t id;
    int nodes, attributes, edges; /* per entry; nodes 0: variable (nsided, nfaced) */
} world_blocks[3][W_BLOCKS] = {{{"HEX8", 70, 8, 2, 0},
                                {"tetra", 3, 4, 0, 2},
                                {"nsided", 12, 0, 1, 0},
                                {"nfaced", 5, 0, 0, 0},
                                {"SHELL4", 900, 4, 0, 0},
                                {"WEDGE", 100, 6, 0, 0}}, /* this block is empty */
                               {{"EDGE2", 8, 2, 1, 0}},
                               {{"QUAD4", 2, 4, 0, 0}, {"nsided", 1, 0, 0, 0}}};
static const int world_blocks_n[3] = {W_BLOCKS, 1, 2};
enum { W_HEX, W_TET, W_NSIDED, W_NFACED, W_SHELL, W_EMPTY };

static inline double world_x(int node, int k) {
    return (double)((node * 7919 + k * 104729) % 1009) / 8;
}
static inline double world_value(int kind, int which, int item, int k) {
    return (double)((kind * 31 + which * 17 + item * 13 + k * 5) % 97) + 0.25;
}

/* Choose `n` different nodes or faces below `most`. */
static inline void world_pick(int n, int most, int *to) {
    for (int i = 0; i < n; i++) {
        int again = 1;
        while (again) {
            to[i] = (int)rnd(most);
            again = 0;
            for (int q = 0; q < i; q++) again |= to[q] == to[i];
        }
    }
}

static inline void world_ids(int n, int any, int64_t *id) {
    int64_t at = 0;
    for (int i = 0; i < n; i++) id[i] = at += any ? 1 + rnd(3) * rnd(1000) : 1;
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)rnd(i + 1);
        const int64_t keep = id[i];
        id[i] = id[j];
        id[j] = keep;
    }
}

static inline uint64_t world_some(int copies) {
    uint64_t h = 1ull << rnd(ranks);
    while (copies && rnd(3) == 0) h |= 1ull << rnd(ranks);
    return h;
}

static inline void world_entries(int kind, int n, int copies) {
    int64_t id[W_ENTRIES];
    world.entries[kind] = n;
    world_ids(n, 1, id);
    for (int i = 0; i < n; i++) {
        world_entry *e = &world.entry[kind][i];
        e->id = id[i];
        e->block = kind == W_ELEMENT ? (int)rnd(W_BLOCKS - 1) : (int)rnd(world_blocks_n[kind]);
        e->n = world_blocks[kind][e->block].nodes;
        if (e->n == 0) e->n = 3 + (int)rnd(W_LIST - 3);
        world_pick(e->n,
                   kind == W_ELEMENT && e->block == W_NFACED ? world.entries[W_FACE] : world.nodes,
                   e->to);
        for (int k = 0; k < 2; k++) e->edge[k] = (int)rnd(world.entries[W_EDGE]);
        e->holders = world_some(copies);
    }
}

/* Return the number of nodes of a side, which is its number of distribution factors: 2 for nsided, 0 for nfaced. */
static inline int world_side_nodes(const world_entry *e, int side) {
    const char *t = world_blocks[W_ELEMENT][e->block].topology;
    return e->block == W_NSIDED ? 2 : tutti_exodus_side_nodes(t, 0, 3, side, NULL);
}

static inline int world_sides(const world_entry *e) {
    if (e->block == W_NSIDED || e->block == W_NFACED) return e->n;
    return tutti_exodus_topology_sides(world_blocks[W_ELEMENT][e->block].topology, 0, 3);
}

static inline uint64_t world_holders(int kind, int item) {
    return kind < 0 ? world.node_holders[item] : world.entry[kind][item].holders;
}

static inline int world_items(int kind) {
    return kind < 0 ? world.nodes : world.entries[kind];
}

static inline void world_set_random(int s, int c) {
    world_set *w = &world.set[s][c];
    const int kind = world_members[s], most = world_items(kind);
    w->n = 0;
    w->factors = (int)rnd(2);
    w->attributes = c == 1 && s != 1 ? 2 : 0;
    const int n = c == 2 || most == 0 ? 0 : (int)rnd(W_MEMBERS);
    for (int i = 0; i < n; i++) {
        const int m = (int)rnd(most),
                  side = s == 1 ? 1 + (int)rnd(world_sides(&world.entry[0][m])) : 0;
        int twice = 0;
        for (int q = 0; q < w->n; q++) twice |= w->member[q] == m && (s != 1 || w->side[q] == side);
        if (twice || (s == 1 && w->factors && world.entry[0][m].block == W_NFACED)) continue;
        w->member[w->n] = m;
        w->side[w->n] = s >= 3 ? (rnd(2) ? 1 : -1) : side;
        const uint64_t h = world_holders(kind, m);
        uint64_t listed = 0;
        while (!listed)
            for (int r = 0; r < ranks; r++)
                if (h >> r & 1 && rnd(2)) listed |= 1ull << r;
        w->listed[w->n++] = listed;
    }
}

/* Give each rank all nodes, edges and faces of its elements; then create the sets. */
static inline void world_close(int copies) {
    for (int i = 0; i < world.entries[W_ELEMENT]; i++) {
        const world_entry *e = &world.entry[W_ELEMENT][i];
        for (int k = 0; k < e->n && e->block == W_NFACED; k++)
            world.entry[W_FACE][e->to[k]].holders |= e->holders;
        for (int k = 0; k < 2 && e->block == W_TET; k++)
            world.entry[W_EDGE][e->edge[k]].holders |= e->holders;
    }
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < world.entries[kind]; i++) {
            const world_entry *e = &world.entry[kind][i];
            for (int k = 0; k < e->n && !(kind == W_ELEMENT && e->block == W_NFACED); k++)
                world.node_holders[e->to[k]] |= e->holders;
        }
    for (int i = 0; i < world.nodes; i++)
        if (!world.node_holders[i] || (copies && rnd(20) == 0))
            world.node_holders[i] |= world_some(copies);
    for (int s = 0; s < 5; s++)
        for (int c = 0; c < W_SETS; c++) world_set_random(s, c);
}

/* Create a random mesh; copies: several ranks may have an entry; plain: node ids are 1, 2, 3, ... */
static inline void world_random(int copies, int plain) {
    memset(&world, 0, sizeof world);
    world.dims = 3;
    world.nodes = 12 + (int)rnd(W_NODES - 12);
    world_ids(world.nodes, !plain, world.node_id);
    world_entries(W_FACE, 8 + (int)rnd(40), copies);
    world_entries(W_EDGE, 3 + (int)rnd(30), copies);
    world_entries(W_ELEMENT, (int)rnd(rnd(5) ? W_ENTRIES : 3), copies);
    world_close(copies);
}

/* Create a grid of hexahedra with a shell on each bottom face, and a few random elements.  Each rank has
 * consecutive cells of the grid; copies: some elements are also held by other ranks. */
static inline void world_grid(int copies) {
    enum { X = 3, Y = 3, Z = 5, CELLS = X * Y * Z };
    memset(&world, 0, sizeof world);
    world.dims = 3;
    world.nodes = (X + 1) * (Y + 1) * (Z + 1) + 3;
    world_ids(world.nodes, 1, world.node_id);
    world_entries(W_FACE, 8, copies);
    world_entries(W_EDGE, 4, copies);
    world_entries(W_ELEMENT, CELLS + X * Y + 6, copies);
    for (int i = 0; i < CELLS + X * Y; i++) {
        world_entry *e = &world.entry[W_ELEMENT][i];
        const int cell = i % CELLS, x = cell % X, y = cell / X % Y, z = cell / (X * Y);
        static const int dx[4] = {0, 1, 1, 0}, dy[4] = {0, 0, 1, 1};
        e->block = i < CELLS ? W_HEX : W_SHELL;
        e->n = i < CELLS ? 8 : 4;
        for (int k = 0; k < e->n; k++)
            e->to[k] = ((z + k / 4) * (Y + 1) + y + dy[k % 4]) * (X + 1) + x + dx[k % 4];
        e->holders = 1ull << (cell * ranks / CELLS);
        while (copies && rnd(4) == 0) e->holders |= 1ull << rnd(ranks);
    }
    world_close(copies);
}

/* ---- definitions */

static inline tutti_err world_define(tutti_exodus *x) {
    tutti_exodus_entity v[3 * W_BLOCKS + 5 * W_SETS];
    int n = 0;
    TUTTI_TRY(tutti_exodus_init(
        x, &(tutti_exodus_parameters){.title = "world", .dims = 3, .node_attributes = 1}));
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < world_blocks_n[k]; c++)
            v[n++] = (tutti_exodus_entity){.kind = world_kinds[k],
                                           .id = world_blocks[k][c].id,
                                           .topology = world_blocks[k][c].topology,
                                           .attributes = world_blocks[k][c].attributes,
                                           .edges = world_blocks[k][c].edges};
    for (int s = 0; s < 5; s++)
        for (int c = 0; c < W_SETS; c++)
            v[n++] = (tutti_exodus_entity){.kind = world_set_kinds[s],
                                           .id = 11 * (c + 1),
                                           .attributes = world.set[s][c].attributes};
    return tutti_exodus_define(x, n, v);
}

/* ---- the arguments of put_mesh for a rank */

typedef struct {
    tutti_exodus_mesh mesh;
    int64_t node_id[W_NODES];
    double x[3][W_NODES], node_attribute[W_NODES];
    tutti_exodus_elements block[3][W_BLOCKS];
    int64_t id[3][W_ENTRIES];
    tutti_count list[3][W_ENTRIES * W_LIST], start[3][W_ENTRIES + W_BLOCKS], edge[2 * W_ENTRIES];
    double attribute[3][2 * W_ENTRIES];
    tutti_exodus_members set[5][W_SETS];
    tutti_count member[5][W_SETS][W_MEMBERS];
    int side[5][W_SETS][W_MEMBERS];
    double factor[5][W_SETS][W_MEMBERS * 9], set_attribute[5][W_SETS][W_MEMBERS * 2];
    /* local index of each node and entry; -1: not on this rank */
    int node_place[W_NODES], place[3][W_ENTRIES];
} world_arguments;

/* Shuffle `n` values, in an order that depends on the rank. */
static inline void world_shuffle(int n, int *v) {
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)rnd(i + 1), keep = v[i];
        v[i] = v[j];
        v[j] = keep;
    }
}

static inline void add_own_nodes(world_arguments *m, uint64_t who) {
    int n = 0, v[W_NODES];
    for (int i = 0; i < world.nodes; i++) {
        m->node_place[i] = -1;
        if (world.node_holders[i] & who) v[n++] = i;
    }
    world_shuffle(n, v);
    for (int k = 0; k < n; k++) {
        m->node_place[v[k]] = k;
        m->node_id[k] = world.node_id[v[k]];
        for (int d = 0; d < 3; d++) m->x[d][k] = world_x(v[k], d);
        m->node_attribute[k] = world_value(9, 0, v[k], 0);
    }
    m->mesh.nodes = n;
    m->mesh.node_ids = m->node_id;
    for (int d = 0; d < 3; d++) m->mesh.coordinates[d] = m->x[d];
    m->mesh.node_attributes = m->node_attribute;
}

static inline void add_own_blocks(world_arguments *m, int kind, uint64_t who) {
    int all = 0, list = 0, starts = 0;
    for (int i = 0; i < world.entries[kind]; i++) m->place[kind][i] = -1;
    for (int c = 0; c < world_blocks_n[kind]; c++) {
        tutti_exodus_elements *b = &m->block[kind][c];
        const int attributes = world_blocks[kind][c].attributes;
        int n = 0, v[W_ENTRIES];
        for (int i = 0; i < world.entries[kind]; i++)
            if (world.entry[kind][i].block == c && world.entry[kind][i].holders & who) v[n++] = i;
        world_shuffle(n, v);
        *b =
            (tutti_exodus_elements){.n = n,
                                    .ids = m->id[kind] + all,
                                    .nodes = m->list[kind] + list,
                                    .attributes = attributes ? m->attribute[kind] + 2 * all : NULL};
        if (world_blocks[kind][c].nodes == 0) b->start = m->start[kind] + starts;
        if (world_blocks[kind][c].edges) b->edges = m->edge + 2 * all;
        const int first = list;
        for (int k = 0; k < n; k++) {
            const world_entry *e = &world.entry[kind][v[k]];
            const int faced = kind == W_ELEMENT && c == W_NFACED;
            m->place[kind][v[k]] = all + k;
            m->id[kind][all + k] = e->id;
            if (b->start) m->start[kind][starts++] = list - first;
            for (int q = 0; q < e->n; q++)
                m->list[kind][list++] =
                    faced ? m->place[W_FACE][e->to[q]] : m->node_place[e->to[q]];
            for (int q = 0; q < 2 && b->edges; q++)
                m->edge[2 * (all + k) + q] = m->place[W_EDGE][e->edge[q]];
            for (int q = 0; q < attributes; q++)
                m->attribute[kind][2 * all + k * attributes + q] = world_value(kind, c, v[k], q);
        }
        if (b->start) m->start[kind][starts++] = list - first;
        all += n;
    }
}

static inline void add_own_sets(world_arguments *m, int s, uint64_t who) {
    for (int c = 0; c < W_SETS; c++) {
        const world_set *w = &world.set[s][c];
        int v[W_MEMBERS], n = 0, f = 0;
        for (int i = 0; i < w->n; i++)
            if (w->listed[i] & who) v[n++] = i;
        world_shuffle(n, v);
        m->set[s][c] =
            (tutti_exodus_members){.n = n,
                                   .members = m->member[s][c],
                                   .sides = s == 1 || s >= 3 ? m->side[s][c] : NULL,
                                   .factors = w->factors ? m->factor[s][c] : NULL,
                                   .attributes = w->attributes ? m->set_attribute[s][c] : NULL};
        for (int k = 0; k < n; k++) {
            const int item = w->member[v[k]], kind = world_members[s];
            m->member[s][c][k] = kind < 0 ? m->node_place[item] : m->place[kind][item];
            m->side[s][c][k] = w->side[v[k]];
            const int many =
                s == 1 && w->factors ? world_side_nodes(&world.entry[0][item], w->side[v[k]]) : 1;
            for (int q = 0; q < many; q++)
                m->factor[s][c][f++] = world_value(20 + s, c, item * 8 + w->side[v[k]], q);
            for (int q = 0; q < w->attributes; q++)
                m->set_attribute[s][c][k * w->attributes + q] = world_value(30 + s, c, item, q);
        }
    }
}

/* Create the arguments with the entries of all ranks r whose bit in `who` is set (~0: all ranks). */
static inline world_arguments *world_arguments_of(uint64_t who) {
    world_arguments *m = calloc(1, sizeof *m);
    add_own_nodes(m, who);
    add_own_blocks(m, W_EDGE, who);
    add_own_blocks(m, W_FACE, who);
    add_own_blocks(m, W_ELEMENT, who);
    for (int s = 0; s < 5; s++) add_own_sets(m, s, who);
    m->mesh.blocks = m->block[W_ELEMENT];
    m->mesh.edge_blocks = m->block[W_EDGE];
    m->mesh.face_blocks = m->block[W_FACE];
    m->mesh.node_sets = m->set[0];
    m->mesh.side_sets = m->set[1];
    m->mesh.element_sets = m->set[2];
    m->mesh.edge_sets = m->set[3];
    m->mesh.face_sets = m->set[4];
    return m;
}

/* ---- positions in the file */

static inline int world_node_position(int node) {
    int at = 0;
    for (int i = 0; i < world.nodes; i++) at += world.node_id[i] < world.node_id[node];
    return at;
}

/* Return the position among all entries of the kind. */
static inline int world_position(int kind, int item) {
    const world_entry *e = &world.entry[kind][item];
    int at = 0;
    for (int i = 0; i < world.entries[kind]; i++) {
        const world_entry *o = &world.entry[kind][i];
        at += o->block < e->block || (o->block == e->block && o->id < e->id);
    }
    return at;
}

#endif
