/* An Exodus file with all features of the interface: a serial model, the share of each rank, and the expected
 * output of exodus_reader.
 *
 * The model consists of arrays in the order of the file; values are functions of their position.  A hash
 * assigns each entry to a rank, and a third of the entries to a second rank; each rank also has all nodes, edges and
 * faces of its elements.  The order of entries differs from rank to rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_EVERYTHING_H
#define TUTTI_TESTS_EVERYTHING_H

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/exodus.h>

enum {
    EV_NODES = 61,
    EV_MOST = 64, /* maximum number of entries per block or set */
    EV_STEPS = 3,
    EV_BLOCKS = 5,
    EV_NODE_ATTRIBUTES = 2
};

/* ---- the model */

typedef struct ev_block {
    tutti_exodus_kind kind;
    int64_t id;
    const char *name, *topology;
    int n, nodes, edges, faces, attributes;
    int polygons; /* 1: nsided or nfaced; entry e has 3 + e % 3 nodes or 4 + e % 2 faces */
    /* nodes (nfaced: faces) of all entries, as positions in the model from 0 */
    int list[EV_MOST * 8];
    int start[EV_MOST + 1]; /* index in `list` of the first node of each entry */
    int edge[EV_MOST * 2], face[EV_MOST * 2];
} ev_block;

typedef struct ev_set {
    tutti_exodus_kind kind;
    int64_t id;
    const char *name;
    int n, factored, attributes;
    /* position of each member in the model, ascending; numbered across blocks */
    int member[EV_MOST];
    int sides[EV_MOST];
    int corners[EV_MOST]; /* number of nodes of the side of each member */
} ev_set;

static ev_block ev_blocks[] = {
    {TUTTI_EXODUS_ELEMENT_BLOCK, 10, "hexes", "HEX8", 23, 8, 2, 1, 2, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 500, "", "tet4", 31, 4, 0, 0, 1, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 11, "empty", "WEDGE6", 0, 6, 0, 0, 0, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 12, "wedges", "WEDGE6", 7, 6, 0, 0, 0, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 13, "cells", "nfaced", 9, 0, 0, 0, 0, 1, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_EDGE_BLOCK, 70, "edges", "EDGE2", 17, 2, 0, 0, 1, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_FACE_BLOCK, 80, "squares", "QUAD4", 9, 4, 0, 0, 1, 0, {0}, {0}, {0}, {0}},
    {TUTTI_EXODUS_FACE_BLOCK, 81, "polygons", "nsided", 19, 0, 0, 0, 0, 1, {0}, {0}, {0}, {0}},
};
enum { EV_ALL_BLOCKS = sizeof ev_blocks / sizeof *ev_blocks };

static ev_set ev_sets[] = {
    {TUTTI_EXODUS_NODE_SET, 1, "some", 20, 1, 1, {0}, {0}, {0}},
    {TUTTI_EXODUS_NODE_SET, 2, "others", 33, 0, 0, {0}, {0}, {0}},
    {TUTTI_EXODUS_NODE_SET, 9, "none", 0, 0, 0, {0}, {0}, {0}},
    {TUTTI_EXODUS_SIDE_SET, 3, "inlet", 25, 1, 0, {0}, {0}, {0}},
    {TUTTI_EXODUS_SIDE_SET, 4, "", 11, 0, 1, {0}, {0}, {0}},
    {TUTTI_EXODUS_ELEMENT_SET, 5, "probes", 16, 1, 0, {0}, {0}, {0}},
    {TUTTI_EXODUS_EDGE_SET, 6, "seam", 8, 1, 0, {0}, {0}, {0}},
    {TUTTI_EXODUS_FACE_SET, 7, "skin", 13, 0, 0, {0}, {0}, {0}},
};
enum { EV_ALL_SETS = sizeof ev_sets / sizeof *ev_sets };

static const struct ev_map {
    tutti_exodus_kind kind;
    int64_t id;
    const char *name;
} ev_maps[] = {{TUTTI_EXODUS_NODE_MAP, 40, "first"},
               {TUTTI_EXODUS_NODE_MAP, 41, "second"},
               {TUTTI_EXODUS_ELEMENT_MAP, 42, ""},
               {TUTTI_EXODUS_EDGE_MAP, 43, ""},
               {TUTTI_EXODUS_FACE_MAP, 44, "f"}};
enum { EV_ALL_MAPS = sizeof ev_maps / sizeof *ev_maps };

static const struct ev_variables {
    tutti_exodus_kind kind;
    int n;
    const char *names[3];
} ev_variables[] = {{TUTTI_EXODUS_GLOBAL, 3, {"energy", "iterations", "worst"}},
                    {TUTTI_EXODUS_NODAL, 2, {"temperature", "pressure"}},
                    {TUTTI_EXODUS_ELEMENT_BLOCK, 3, {"stress_xx", "stress_yy", "damage"}},
                    {TUTTI_EXODUS_EDGE_BLOCK, 1, {"voltage"}},
                    {TUTTI_EXODUS_FACE_BLOCK, 2, {"flow", "area"}},
                    {TUTTI_EXODUS_NODE_SET, 1, {"force"}},
                    {TUTTI_EXODUS_SIDE_SET, 2, {"inflow", "a_name_of_thirty_two_characters_"}},
                    {TUTTI_EXODUS_ELEMENT_SET, 1, {"signal"}},
                    {TUTTI_EXODUS_EDGE_SET, 1, {"current"}},
                    {TUTTI_EXODUS_FACE_SET, 1, {"leak"}}};
enum { EV_VARIABLE_KINDS = sizeof ev_variables / sizeof *ev_variables };

static uint64_t ev_hash(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int ev_total(tutti_exodus_kind kind) {
    int n = 0;
    for (int b = 0; b < EV_ALL_BLOCKS; b++) n += ev_blocks[b].kind == kind ? ev_blocks[b].n : 0;
    return n;
}

/* Return the block of entry `g` of a kind (numbered across blocks), and the entry's position in the block. */
static ev_block *ev_entry(tutti_exodus_kind kind, int g, int *place_out) {
    for (int b = 0; b < EV_ALL_BLOCKS; b++) {
        if (ev_blocks[b].kind != kind) continue;
        if (g < ev_blocks[b].n) {
            *place_out = g;
            return &ev_blocks[b];
        }
        g -= ev_blocks[b].n;
    }
    return NULL;
}

static void ev_make_block(ev_block *b, int number) {
    for (int e = 0, at = 0; e < b->n; e++) {
        const int nfaced = b->kind == TUTTI_EXODUS_ELEMENT_BLOCK;
        const int n = !b->polygons ? b->nodes : nfaced ? 4 + e % 2 : 3 + e % 3;
        const int most = b->polygons && nfaced ? ev_total(TUTTI_EXODUS_FACE_BLOCK) : EV_NODES;
        const int first = (int)(ev_hash((uint64_t)number, (uint64_t)e) % (uint64_t)most);
        /* the nodes are distinct because EV_NODES is prime */
        const int stride = most == EV_NODES ? 1 + e % 7 : 1;
        b->start[e] = at;
        for (int i = 0; i < n; i++) b->list[at++] = (first + i * stride) % most;
        b->start[e + 1] = at;
        for (int i = 0; i < b->edges; i++)
            b->edge[e * b->edges + i] = (e + 3 * i) % ev_total(TUTTI_EXODUS_EDGE_BLOCK);
        for (int i = 0; i < b->faces; i++)
            b->face[e * b->faces + i] = (2 * e + i) % ev_total(TUTTI_EXODUS_FACE_BLOCK);
    }
}

static tutti_exodus_kind ev_of_set(tutti_exodus_kind set) {
    return set == TUTTI_EXODUS_NODE_SET   ? TUTTI_EXODUS_NODAL
           : set == TUTTI_EXODUS_EDGE_SET ? TUTTI_EXODUS_EDGE_BLOCK
           : set == TUTTI_EXODUS_FACE_SET ? TUTTI_EXODUS_FACE_BLOCK
                                          : TUTTI_EXODUS_ELEMENT_BLOCK;
}

static void ev_make_set(ev_set *s, int number) {
    const tutti_exodus_kind of = ev_of_set(s->kind);
    int most = of == TUTTI_EXODUS_NODAL ? EV_NODES : ev_total(of), place;
    if (s->kind == TUTTI_EXODUS_SIDE_SET) most -= 9; /* polyhedra have no numbered sides */
    for (int i = 0; i < s->n; i++) {
        s->member[i] = i * most / s->n;
        s->sides[i] = (i + number) % 3 ? 1 : -1;
        if (s->kind != TUTTI_EXODUS_SIDE_SET) continue;
        const ev_block *b = ev_entry(of, s->member[i], &place);
        const int sides = tutti_exodus_topology_sides(b->topology, b->nodes, 3);
        s->sides[i] = 1 + (i + number) % (sides > 0 ? sides : 1);
        s->corners[i] = tutti_exodus_side_nodes(b->topology, b->nodes, 3, s->sides[i], NULL);
    }
}

static void ev_make(void) {
    for (int b = 0; b < EV_ALL_BLOCKS; b++) ev_make_block(&ev_blocks[b], b);
    for (int s = 0; s < EV_ALL_SETS; s++) ev_make_set(&ev_sets[s], s);
}

/* Return the id of entry `g`.  Ids increase with the position within a block; the id ranges of blocks overlap. */
static int64_t ev_id(tutti_exodus_kind kind, int g) {
    if (kind == TUTTI_EXODUS_NODAL) return 3 + 7 * (int64_t)g;
    int place;
    const ev_block *b = ev_entry(kind, g, &place);
    return 100 + 8 * (int64_t)place + (b - ev_blocks);
}

static double ev_coordinate(int c, int g) {
    return (double)(ev_hash(900 + (uint64_t)c, (uint64_t)g) % 1000) / 64 - 5;
}
static double ev_attribute(int64_t id, int place, int a) {
    return (double)id + place / 8.0 + 0.25 * a;
}
static double ev_factor(int64_t id, int place, int corner) {
    return (double)id / 4 + place + 0.125 * corner;
}
static double ev_value(int kind, int64_t id, int variable, int step, int place) {
    return 1000.0 * kind + (double)id + 100 * variable + 0.5 * step + (double)place / 128;
}
static int64_t ev_mapped(int64_t id, int place) {
    return id * 1000 - 13 * place;
}
static int ev_truth(tutti_exodus_kind kind, int number, int variable) {
    return kind != TUTTI_EXODUS_ELEMENT_BLOCK || (number + variable) % 3 != 1;
}

/* Find block or set `number` of a kind: store its id and number of entries, and return 1; 0: it does not exist. */
static int ev_entity(tutti_exodus_kind kind, int number, int64_t *id_out, int *n_out) {
    for (int b = 0; b < EV_ALL_BLOCKS; b++)
        if (ev_blocks[b].kind == kind && number-- == 0) {
            *id_out = ev_blocks[b].id;
            *n_out = ev_blocks[b].n;
            return 1;
        }
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind && number-- == 0) {
            *id_out = ev_sets[s].id;
            *n_out = ev_sets[s].n;
            return 1;
        }
    return 0;
}

/* ---- the expected output of exodus_reader */

static void ev_print_block(FILE *out, const char *kind, const ev_block *b) {
    const int nfaced = b->polygons && b->kind == TUTTI_EXODUS_ELEMENT_BLOCK;
    const int list = b->start[b->n];
    if (b->n == 0) { /* the file format cannot store the topology of an empty block */
        fprintf(out,
                "%s %" PRId64 " topology \"NULL\" entries 0 nodes 0 edges 0 faces 0 attributes 0\n",
                kind, b->id);
        return;
    }
    fprintf(out,
            "%s %" PRId64 " topology \"%s\" entries %d nodes %d edges %d faces %d attributes %d\n",
            kind, b->id, b->topology, b->n, b->polygons ? (nfaced ? 0 : list) : b->nodes, b->edges,
            nfaced ? list : b->faces, b->attributes);
    if (b->polygons) {
        fprintf(out, "%s %" PRId64 " counts", kind, b->id);
        for (int e = 0; e < b->n; e++) fprintf(out, " %d", b->start[e + 1] - b->start[e]);
        fprintf(out, "\n");
    }
    fprintf(out, "%s %" PRId64 " %s", kind, b->id, nfaced ? "faces" : "connectivity");
    for (int i = 0; i < list; i++) fprintf(out, " %d", b->list[i] + 1);
    fprintf(out, "\n");
    const int *more[2] = {b->edge, b->face}, width[2] = {b->edges, b->faces};
    for (int k = 0; k < 2; k++) {
        if (!width[k]) continue;
        fprintf(out, "%s %" PRId64 " %s", kind, b->id, k ? "faces" : "edges");
        for (int i = 0; i < b->n * width[k]; i++) fprintf(out, " %d", more[k][i] + 1);
        fprintf(out, "\n");
    }
    if (!b->attributes) return;
    fprintf(out, "%s %" PRId64 " attribute_names", kind, b->id);
    for (int a = 0; a < b->attributes; a++)
        fprintf(out, " \"%s\"", b->id == 10 ? (a ? "angle" : "thick") : "");
    fprintf(out, "\n%s %" PRId64 " attributes", kind, b->id);
    for (int i = 0; i < b->n * b->attributes; i++)
        fprintf(out, " %.17g", ev_attribute(b->id, i / b->attributes, i % b->attributes));
    fprintf(out, "\n");
}

static void ev_print_sides(FILE *out, const char *kind, const ev_set *s) {
    fprintf(out, "%s %" PRId64 " side_counts", kind, s->id);
    for (int i = 0; i < s->n; i++) fprintf(out, " %d", s->corners[i]);
    fprintf(out, "\n%s %" PRId64 " side_nodes", kind, s->id);
    for (int i = 0; i < s->n; i++) {
        int which[9], place;
        const ev_block *b = ev_entry(TUTTI_EXODUS_ELEMENT_BLOCK, s->member[i], &place);
        (void)tutti_exodus_side_nodes(b->topology, b->nodes, 3, s->sides[i], which);
        for (int c = 0; c < s->corners[i]; c++)
            fprintf(out, " %d", b->list[b->start[place] + which[c]] + 1);
    }
    fprintf(out, "\n");
}

static void ev_print_set(FILE *out, const char *kind, const ev_set *s) {
    int factors = 0;
    for (int i = 0; i < s->n && s->factored; i++)
        factors += s->kind == TUTTI_EXODUS_SIDE_SET ? s->corners[i] : 1;
    fprintf(out, "%s %" PRId64 " entries %d factors %d\n", kind, s->id, s->n, factors);
    if (!s->n) return;
    fprintf(out, "%s %" PRId64 " members", kind, s->id);
    for (int i = 0; i < s->n; i++) fprintf(out, " %d", s->member[i] + 1);
    fprintf(out, "\n");
    if (s->kind == TUTTI_EXODUS_SIDE_SET || s->kind == TUTTI_EXODUS_EDGE_SET ||
        s->kind == TUTTI_EXODUS_FACE_SET) {
        fprintf(out, "%s %" PRId64 " sides", kind, s->id);
        for (int i = 0; i < s->n; i++) fprintf(out, " %d", s->sides[i]);
        fprintf(out, "\n");
    }
    if (factors) {
        fprintf(out, "%s %" PRId64 " factors", kind, s->id);
        for (int i = 0; i < s->n; i++)
            for (int c = 0; c < (s->kind == TUTTI_EXODUS_SIDE_SET ? s->corners[i] : 1); c++)
                fprintf(out, " %.17g", ev_factor(s->id, s->member[i], c));
        fprintf(out, "\n");
    }
    if (s->kind == TUTTI_EXODUS_SIDE_SET) ev_print_sides(out, kind, s);
    if (!s->attributes) return;
    fprintf(out, "%s %" PRId64 " attribute_names \"\"\n%s %" PRId64 " attributes", kind, s->id,
            kind, s->id);
    for (int i = 0; i < s->n; i++) fprintf(out, " %.17g", ev_attribute(s->id, s->member[i], 0));
    fprintf(out, "\n");
}

/* Return the argument `place` of ev_value for entry `i` of an entity; for sets, the position of the member. */
static int ev_place(tutti_exodus_kind kind, int64_t id, int i) {
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind && ev_sets[s].id == id) return ev_sets[s].member[i];
    return i;
}

static void ev_print_variables(FILE *out, const char *name, tutti_exodus_kind kind) {
    const struct ev_variables *v = NULL;
    for (int k = 0; k < EV_VARIABLE_KINDS; k++)
        if (ev_variables[k].kind == kind) v = &ev_variables[k];
    if (!v) return;
    fprintf(out, "%s variables", name);
    for (int i = 0; i < v->n; i++) fprintf(out, " \"%s\"", v->names[i]);
    fprintf(out, "\n");
    int64_t id = 0;
    int n = EV_NODES, blocks = kind != TUTTI_EXODUS_NODAL;
    if (blocks) {
        fprintf(out, "%s truth", name); /* print the truth table */
        for (int e = 0; ev_entity(kind, e, &id, &n); e++)
            for (int i = 0; i < v->n; i++)
                fprintf(out, " %d",
                        (n > 0 || kind == TUTTI_EXODUS_ELEMENT_BLOCK) && ev_truth(kind, e, i));
        fprintf(out, "\n");
    }
    for (int s = 1; s <= EV_STEPS; s++)
        for (int e = 0; blocks ? ev_entity(kind, e, &id, &n) : e == 0; e++)
            for (int i = 0; i < v->n && n > 0; i++) {
                if (blocks && !ev_truth(kind, e, i)) continue;
                fprintf(out, "%s %" PRId64 " variable %d step %d", name, id, i + 1, s);
                for (int j = 0; j < n; j++)
                    fprintf(out, " %.17g", ev_value((int)kind, id, i, s, ev_place(kind, id, j)));
                fprintf(out, "\n");
            }
}

static void ev_print_kind(FILE *out, const char *name, tutti_exodus_kind kind) {
    fprintf(out, "%s ids", name);
    for (int b = 0; b < EV_ALL_BLOCKS; b++)
        if (ev_blocks[b].kind == kind) fprintf(out, " %" PRId64, ev_blocks[b].id);
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind) fprintf(out, " %" PRId64, ev_sets[s].id);
    for (int m = 0; m < EV_ALL_MAPS; m++)
        if (ev_maps[m].kind == kind) fprintf(out, " %" PRId64, ev_maps[m].id);
    fprintf(out, "\n%s names", name);
    for (int b = 0; b < EV_ALL_BLOCKS; b++)
        if (ev_blocks[b].kind == kind) fprintf(out, " \"%s\"", ev_blocks[b].name);
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind) fprintf(out, " \"%s\"", ev_sets[s].name);
    for (int m = 0; m < EV_ALL_MAPS; m++)
        if (ev_maps[m].kind == kind) fprintf(out, " \"%s\"", ev_maps[m].name);
    fprintf(out, "\n");
    if (kind == TUTTI_EXODUS_ELEMENT_BLOCK)
        fprintf(out, "%s property \"density\" 3 1 4 1 5\n%s property \"colour\" 0 77 -1 0 9\n",
                name, name);
    if (kind == TUTTI_EXODUS_SIDE_SET) fprintf(out, "%s property \"open\" 1 0\n", name);
    for (int b = 0; b < EV_ALL_BLOCKS; b++)
        if (ev_blocks[b].kind == kind) ev_print_block(out, name, &ev_blocks[b]);
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind) ev_print_set(out, name, &ev_sets[s]);
    for (int m = 0; m < EV_ALL_MAPS; m++) {
        if (ev_maps[m].kind != kind) continue;
        fprintf(out, "%s %" PRId64, name, ev_maps[m].id);
        const int n = kind == TUTTI_EXODUS_NODE_MAP
                          ? EV_NODES
                          : ev_total(kind == TUTTI_EXODUS_ELEMENT_MAP ? TUTTI_EXODUS_ELEMENT_BLOCK
                                     : kind == TUTTI_EXODUS_EDGE_MAP  ? TUTTI_EXODUS_EDGE_BLOCK
                                                                      : TUTTI_EXODUS_FACE_BLOCK);
        for (int i = 0; i < n; i++) fprintf(out, " %" PRId64, ev_mapped(ev_maps[m].id, i));
        fprintf(out, "\n");
    }
    ev_print_variables(out, name, kind);
}

static void ev_print_ids(FILE *out, const char *name, tutti_exodus_kind kind, int n) {
    fprintf(out, "%s ids", name);
    for (int i = 0; i < n; i++) fprintf(out, " %" PRId64, ev_id(kind, i));
    fprintf(out, "\n");
}

/* Print the expected output of exodus_reader. */
static void ev_print(FILE *out, int real_bytes) {
    static const char *const kinds[] = {"",           "",         "element_block", "edge_block",
                                        "face_block", "node_set", "side_set",      "element_set",
                                        "edge_set",   "face_set", "node_map",      "element_map",
                                        "edge_map",   "face_map"};
    const int elements = ev_total(TUTTI_EXODUS_ELEMENT_BLOCK);
    fprintf(
        out,
        "title \"everything\"\nreal_bytes %d\ndims 3\nnodes %d\nedges %d\nfaces %d\nelements %d\n",
        real_bytes, EV_NODES, ev_total(TUTTI_EXODUS_EDGE_BLOCK), ev_total(TUTTI_EXODUS_FACE_BLOCK),
        elements);
    fprintf(
        out,
        "qa \"everything\" \"1.0\" \"2000/01/01\" \"12:00:00\"\nqa \"second\" \"\" \"\" \"\"\n");
    fprintf(out, "info \"a line of text\"\ninfo \"\"\ninfo \"the third\"\n");
    fprintf(out, "coordinate_names \"east\" \"north\" \"up\"\ntimes");
    for (int s = 1; s <= EV_STEPS; s++) fprintf(out, " %.17g", 0.25 * s);
    fprintf(out, "\n");
    for (int c = 0; c < 3; c++) {
        fprintf(out, "coordinates %d", c);
        for (int i = 0; i < EV_NODES; i++) fprintf(out, " %.17g", ev_coordinate(c, i));
        fprintf(out, "\n");
    }
    ev_print_ids(out, "node", TUTTI_EXODUS_NODAL, EV_NODES);
    ev_print_ids(out, "edge", TUTTI_EXODUS_EDGE_BLOCK, ev_total(TUTTI_EXODUS_EDGE_BLOCK));
    ev_print_ids(out, "face", TUTTI_EXODUS_FACE_BLOCK, ev_total(TUTTI_EXODUS_FACE_BLOCK));
    ev_print_ids(out, "element", TUTTI_EXODUS_ELEMENT_BLOCK, elements);
    fprintf(out, "order");
    for (int i = 0; i < elements; i++) fprintf(out, " %d", i + 1);
    fprintf(out, "\nglobal variables \"energy\" \"iterations\" \"worst\"\n");
    for (int s = 1; s <= EV_STEPS; s++) {
        fprintf(out, "global step %d", s);
        for (int i = 0; i < 3; i++) fprintf(out, " %.17g", ev_value(0, 0, i, s, 0));
        fprintf(out, "\n");
    }
    fprintf(out, "nodal 0 attribute_names \"weight\" \"\"\nnodal 0 attributes");
    for (int i = 0; i < 2 * EV_NODES; i++) fprintf(out, " %.17g", ev_attribute(0, i / 2, i % 2));
    fprintf(out, "\n");
    ev_print_variables(out, "nodal", TUTTI_EXODUS_NODAL);
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++)
        ev_print_kind(out, kinds[k], (tutti_exodus_kind)k);
}

/* ---- the share of a rank */

typedef struct ev_share {
    int rank, ranks;
    /* 1: this rank has the node, or the element, edge or face */
    unsigned char nodes[EV_NODES], entries[3][4 * EV_MOST];
    int node_list[EV_NODES], nodes_n; /* nodes of this rank, in its order, and their number */
    int node_place[EV_NODES];         /* index in `node_list` of each node */
    /* like node_list and node_place, for elements, edges and faces; block by block */
    int list[3][4 * EV_MOST], place[3][4 * EV_MOST];
    tutti_exodus_mesh mesh;
    tutti_exodus_elements blocks[3][EV_BLOCKS];
    tutti_exodus_members sets[EV_ALL_SETS];
    int *members[EV_ALL_SETS]; /* index in ev_set.member of each member that this rank passes */
    void *allocations[512];    /* memory to be freed with the share */
    int allocations_n;
} ev_share;

static const tutti_exodus_kind ev_kinds[3] = {TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_EXODUS_EDGE_BLOCK,
                                              TUTTI_EXODUS_FACE_BLOCK};

static void *ev_allocate(ev_share *w, size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    w->allocations[w->allocations_n++] = p;
    return p;
}

static int ev_holds(const ev_share *w, int what, int g) {
    const uint64_t h = ev_hash(77 + (uint64_t)what, (uint64_t)g);
    return (int)(h % (uint64_t)w->ranks) == w->rank ||
           (h / 64 % 3 == 0 && (int)(h / 1024 % (uint64_t)w->ranks) == w->rank);
}

/* Choose the entries of this rank: those that the hash assigns, and the nodes, edges and faces of its elements. */
static void ev_choose_entries(ev_share *w) {
    for (int k = 0; k < 3; k++) {
        const int n = ev_total(ev_kinds[k]);
        for (int g = 0; g < n; g++) w->entries[k][g] |= ev_holds(w, k, g) ? 1 : 0;
        for (int g = 0, e; g < n; g++) {
            if (!w->entries[k][g]) continue;
            const ev_block *b = ev_entry(ev_kinds[k], g, &e);
            const int nfaced = b->polygons && k == 0;
            for (int i = b->start[e]; i < b->start[e + 1]; i++)
                if (nfaced)
                    w->entries[2][b->list[i]] = 1;
                else
                    w->nodes[b->list[i]] = 1;
            for (int i = 0; i < b->edges; i++) w->entries[1][b->edge[e * b->edges + i]] = 1;
            for (int i = 0; i < b->faces; i++) w->entries[2][b->face[e * b->faces + i]] = 1;
        }
    }
    for (int g = 0; g < EV_NODES; g++) w->nodes[g] |= ev_holds(w, 3, g) ? 1 : 0;
    for (int i = 0; i < EV_NODES; i++) {
        const int g = w->rank % 2 ? EV_NODES - 1 - i : (i + 5 * w->rank) % EV_NODES;
        if (!w->nodes[g]) continue;
        w->node_place[g] = w->nodes_n;
        w->node_list[w->nodes_n++] = g;
    }
}

/* List the entries of this rank of kind `k`, block by block, in an order that differs from rank to rank. */
static void ev_order_entries(ev_share *w, int k) {
    int before = 0, n_local = 0;
    for (int b = 0; b < EV_ALL_BLOCKS; b++) {
        if (ev_blocks[b].kind != ev_kinds[k]) continue;
        const int n = ev_blocks[b].n;
        for (int i = 0; i < n; i++) {
            const int g = before + ((w->rank + b) % 2 ? n - 1 - i : (i + 3 * w->rank) % n);
            if (!w->entries[k][g]) continue;
            w->place[k][g] = n_local;
            w->list[k][n_local++] = g;
        }
        before += n;
    }
}

/* Create the arguments of put_mesh for the entries of this rank in a block. */
static void ev_share_block(ev_share *w, int k, int number, const ev_block *b, int *at) {
    tutti_exodus_elements *out = &w->blocks[k][number];
    int64_t *ids = ev_allocate(w, EV_MOST, sizeof *ids);
    tutti_count *nodes = ev_allocate(w, 8 * EV_MOST, sizeof *nodes),
                *start = ev_allocate(w, EV_MOST + 1, sizeof *start);
    tutti_count *edges = ev_allocate(w, 2 * EV_MOST, sizeof *edges),
                *faces = ev_allocate(w, 2 * EV_MOST, sizeof *faces);
    double *attributes = ev_allocate(w, 2 * EV_MOST, sizeof *attributes);
    const int total = ev_total(ev_kinds[k]);
    int n = 0, m = 0, e, n_local = 0;
    for (int g = 0; g < total; g++) n_local += w->entries[k][g];
    for (; *at < n_local; (*at)++) {
        const int g = w->list[k][*at];
        if (ev_entry(ev_kinds[k], g, &e) != b) break;
        ids[n] = ev_id(ev_kinds[k], g);
        start[n] = m;
        for (int i = b->start[e]; i < b->start[e + 1]; i++)
            nodes[m++] =
                b->polygons && k == 0 ? w->place[2][b->list[i]] : w->node_place[b->list[i]];
        for (int i = 0; i < b->edges; i++)
            edges[n * b->edges + i] = w->place[1][b->edge[e * b->edges + i]];
        for (int i = 0; i < b->faces; i++)
            faces[n * b->faces + i] = w->place[2][b->face[e * b->faces + i]];
        for (int a = 0; a < b->attributes; a++)
            attributes[n * b->attributes + a] = ev_attribute(b->id, e, a);
        start[++n] = m;
    }
    *out = (tutti_exodus_elements){.n = n,
                                   .ids = ids,
                                   .start = b->polygons ? start : NULL,
                                   .nodes = nodes,
                                   .edges = b->edges ? edges : NULL,
                                   .faces = b->faces ? faces : NULL,
                                   .attributes = b->attributes ? attributes : NULL};
}

/* Create the arguments for a set: all members that this rank has, in a rank-dependent order. */
static void ev_share_set(ev_share *w, int number) {
    const ev_set *s = &ev_sets[number];
    const tutti_exodus_kind of = ev_of_set(s->kind);
    const int k = of == TUTTI_EXODUS_ELEMENT_BLOCK ? 0 : of == TUTTI_EXODUS_EDGE_BLOCK ? 1 : 2;
    tutti_count *members = ev_allocate(w, EV_MOST, sizeof *members);
    int *sides = ev_allocate(w, EV_MOST, sizeof *sides), n = 0, f = 0;
    double *factors = ev_allocate(w, 4 * EV_MOST, sizeof *factors);
    double *attributes = ev_allocate(w, EV_MOST, sizeof *attributes);
    w->members[number] = ev_allocate(w, EV_MOST, sizeof(int));
    for (int j = 0; j < s->n; j++) {
        const int i = w->rank % 2 ? j : s->n - 1 - j, g = s->member[i];
        if (of == TUTTI_EXODUS_NODAL ? !w->nodes[g] : !w->entries[k][g]) continue;
        w->members[number][n] = i;
        members[n] = of == TUTTI_EXODUS_NODAL ? w->node_place[g] : w->place[k][g];
        sides[n] = s->sides[i];
        attributes[n++] = ev_attribute(s->id, g, 0);
        for (int c = 0; c < (s->kind == TUTTI_EXODUS_SIDE_SET ? s->corners[i] : 1); c++)
            factors[f++] = ev_factor(s->id, g, c);
    }
    const int numbered = s->kind == TUTTI_EXODUS_SIDE_SET || s->kind == TUTTI_EXODUS_EDGE_SET ||
                         s->kind == TUTTI_EXODUS_FACE_SET;
    w->sets[number] = (tutti_exodus_members){.n = n,
                                             .members = members,
                                             .sides = numbered ? sides : NULL,
                                             .factors = s->factored ? factors : NULL,
                                             .attributes = s->attributes ? attributes : NULL};
}

static const tutti_exodus_members *ev_sets_of(const ev_share *w, tutti_exodus_kind kind) {
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind) return &w->sets[s];
    return NULL;
}

static ev_share *ev_share_make(int rank, int ranks) {
    ev_share *w = calloc(1, sizeof *w);
    w->rank = rank;
    w->ranks = ranks;
    ev_choose_entries(w);
    for (int k = 0; k < 3; k++) ev_order_entries(w, k);
    for (int k = 0; k < 3; k++)
        for (int b = 0, number = 0, at = 0; b < EV_ALL_BLOCKS; b++)
            if (ev_blocks[b].kind == ev_kinds[k])
                ev_share_block(w, k, number++, &ev_blocks[b], &at);
    for (int s = 0; s < EV_ALL_SETS; s++) ev_share_set(w, s);
    int64_t *ids = ev_allocate(w, EV_NODES, sizeof *ids);
    double *x[3], *attributes = ev_allocate(w, EV_NODE_ATTRIBUTES * EV_NODES, sizeof *attributes);
    for (int c = 0; c < 3; c++) x[c] = ev_allocate(w, EV_NODES, sizeof **x);
    for (int i = 0; i < w->nodes_n; i++) {
        ids[i] = ev_id(TUTTI_EXODUS_NODAL, w->node_list[i]);
        for (int c = 0; c < 3; c++) x[c][i] = ev_coordinate(c, w->node_list[i]);
        for (int a = 0; a < EV_NODE_ATTRIBUTES; a++)
            attributes[EV_NODE_ATTRIBUTES * i + a] = ev_attribute(0, w->node_list[i], a);
    }
    w->mesh = (tutti_exodus_mesh){.nodes = w->nodes_n,
                                  .node_ids = ids,
                                  .type = TUTTI_FLOAT64,
                                  .coordinates = {x[0], x[1], x[2]},
                                  .node_attributes = attributes,
                                  .blocks = w->blocks[0],
                                  .edge_blocks = w->blocks[1],
                                  .face_blocks = w->blocks[2],
                                  .node_sets = ev_sets_of(w, TUTTI_EXODUS_NODE_SET),
                                  .side_sets = ev_sets_of(w, TUTTI_EXODUS_SIDE_SET),
                                  .element_sets = ev_sets_of(w, TUTTI_EXODUS_ELEMENT_SET),
                                  .edge_sets = ev_sets_of(w, TUTTI_EXODUS_EDGE_SET),
                                  .face_sets = ev_sets_of(w, TUTTI_EXODUS_FACE_SET)};
    return w;
}

static void ev_share_free(ev_share *w) {
    for (int i = 0; i < w->allocations_n; i++) free(w->allocations[i]);
    free(w);
}

/* ---- writing; EV_TRY returns the first error */

#define EV_TRY(call)                    \
    do {                                \
        const tutti_err ev_e_ = (call); \
        if (ev_e_) return ev_e_;        \
    } while (0)

static tutti_err ev_define(tutti_exodus *x) {
    EV_TRY(tutti_exodus_init(
        x, &(tutti_exodus_parameters){.title = "everything",
                                      .dims = 3,
                                      .coordinate_names = (const char *[]){"east", "north", "up"},
                                      .node_attributes = EV_NODE_ATTRIBUTES}));
    tutti_exodus_entity all[EV_ALL_BLOCKS + EV_ALL_SETS + EV_ALL_MAPS] = {0};
    int n = 0;
    for (int b = 0; b < EV_ALL_BLOCKS; b++)
        all[n++] = (tutti_exodus_entity){.kind = ev_blocks[b].kind,
                                         .id = ev_blocks[b].id,
                                         .name = ev_blocks[b].name,
                                         .topology = ev_blocks[b].topology,
                                         .edges = ev_blocks[b].edges,
                                         .faces = ev_blocks[b].faces,
                                         .attributes = ev_blocks[b].attributes};
    for (int s = 0; s < EV_ALL_SETS; s++)
        all[n++] = (tutti_exodus_entity){.kind = ev_sets[s].kind,
                                         .id = ev_sets[s].id,
                                         .name = ev_sets[s].name,
                                         .attributes = ev_sets[s].attributes};
    for (int m = 0; m < EV_ALL_MAPS; m++)
        all[n++] = (tutti_exodus_entity){
            .kind = ev_maps[m].kind, .id = ev_maps[m].id, .name = ev_maps[m].name};
    EV_TRY(tutti_exodus_define(x, n, all));
    for (int k = 0; k < EV_VARIABLE_KINDS; k++)
        EV_TRY(tutti_exodus_variables(x, ev_variables[k].kind, ev_variables[k].n,
                                      ev_variables[k].names));
    unsigned char truth[EV_BLOCKS * 3];
    for (int i = 0; i < EV_BLOCKS * 3; i++)
        truth[i] = (unsigned char)ev_truth(TUTTI_EXODUS_ELEMENT_BLOCK, i / 3, i % 3);
    EV_TRY(tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, truth));
    EV_TRY(tutti_exodus_attribute_names(x, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 2,
                                        (const char *[]){"thick", "angle"}));
    EV_TRY(
        tutti_exodus_attribute_names(x, TUTTI_EXODUS_NODAL, 0, 2, (const char *[]){"weight", ""}));
    EV_TRY(tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "density",
                                 (int64_t[]){3, 1, 4, 1, 5}));
    EV_TRY(tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "colour",
                                 (int64_t[]){0, 77, -1, 0, 9}));
    EV_TRY(tutti_exodus_property(x, TUTTI_EXODUS_SIDE_SET, "open", (int64_t[]){1, 0}));
    EV_TRY(tutti_exodus_put_qa(x, 2,
                               (tutti_exodus_qa[]){{"everything", "1.0", "2000/01/01", "12:00:00"},
                                                   {"second", "", "", ""}}));
    return tutti_exodus_put_info(x, 3, (const char *[]){"a line of text", "", "the third"});
}

/* Write the maps; each rank writes a slice of every map. */
static tutti_err ev_put_maps(tutti_exodus *x, ev_share *w) {
    tutti_exodus_array arrays[EV_ALL_MAPS] = {{0}};
    for (int m = 0; m < EV_ALL_MAPS; m++) {
        const tutti_exodus_kind kind = ev_maps[m].kind;
        const int total = kind == TUTTI_EXODUS_NODE_MAP
                              ? EV_NODES
                              : ev_total(ev_kinds[kind == TUTTI_EXODUS_ELEMENT_MAP ? 0
                                                  : kind == TUTTI_EXODUS_EDGE_MAP  ? 1
                                                                                   : 2]);
        const int first = total * w->rank / w->ranks, n = total * (w->rank + 1) / w->ranks - first;
        int64_t *v = ev_allocate(w, (size_t)n, sizeof *v);
        for (int i = 0; i < n; i++) v[i] = ev_mapped(ev_maps[m].id, first + i);
        arrays[m] = (tutti_exodus_array){.array_kind = TUTTI_EXODUS_MAP,
                                         .kind = kind,
                                         .id = ev_maps[m].id,
                                         .first = first,
                                         .n = n,
                                         .type = TUTTI_INT64,
                                         .buf = v};
    }
    return tutti_exodus_put_arrays(x, EV_ALL_MAPS, arrays);
}

/* Store the arguments `place` of ev_value for the entries of this rank of an entity; return their number. */
static int ev_places(const ev_share *w, tutti_exodus_kind kind, int64_t id, int *out) {
    int n = 0;
    if (kind == TUTTI_EXODUS_NODAL) {
        for (; n < w->nodes_n; n++) out[n] = w->node_list[n];
        return n;
    }
    for (int k = 0; k < 3; k++) {
        if (ev_kinds[k] != kind) continue;
        for (int i = 0, e, total = ev_total(kind), n_local = 0; i < total; i++) {
            n_local += w->entries[k][i];
            if (i < total - 1) continue;
            for (int j = 0; j < n_local; j++)
                if (ev_entry(kind, w->list[k][j], &e)->id == id) out[n++] = e;
        }
    }
    for (int s = 0; s < EV_ALL_SETS; s++)
        if (ev_sets[s].kind == kind && ev_sets[s].id == id)
            for (; n < w->sets[s].n; n++) out[n] = ev_sets[s].member[w->members[s][n]];
    return n;
}

/* Create all fields of a step, with values in their buffers; return their number. */
static int ev_fields(ev_share *w, int step, tutti_exodus_field *out) {
    int n = 0, places[EV_MOST];
    double *global = ev_allocate(w, 3, sizeof *global);
    for (int i = 0; i < 3; i++) global[i] = ev_value(0, 0, i, step, 0);
    out[n++] =
        (tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = global};
    for (int k = 1; k < EV_VARIABLE_KINDS; k++) {
        const tutti_exodus_kind kind = ev_variables[k].kind;
        int64_t id = 0;
        int entries = EV_NODES;
        for (int e = 0; kind == TUTTI_EXODUS_NODAL ? e == 0 : ev_entity(kind, e, &id, &entries);
             e++)
            for (int i = 0; i < ev_variables[k].n && entries > 0; i++) {
                if (kind != TUTTI_EXODUS_NODAL && !ev_truth(kind, e, i)) continue;
                const int m = ev_places(w, kind, id, places);
                double *v = ev_allocate(w, (size_t)m, sizeof *v);
                for (int j = 0; j < m; j++) v[j] = ev_value((int)kind, id, i, step, places[j]);
                out[n++] = (tutti_exodus_field){.kind = kind,
                                                .id = id,
                                                .variable = ev_variables[k].names[i],
                                                .type = TUTTI_FLOAT64,
                                                .buf = v};
            }
    }
    return n;
}

/* Write the complete file on the ranks of `comm`. */
static tutti_err ev_write(MPI_Comm comm, const char *path, const tutti_exodus_options *opt) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    tutti_exodus *x = NULL;
    EV_TRY(tutti_exodus_create(comm, path, opt, &x));
    EV_TRY(ev_define(x));
    ev_share *w = ev_share_make(rank, ranks);
    EV_TRY(tutti_exodus_put_mesh(x, &w->mesh));
    EV_TRY(ev_put_maps(x, w));
    for (int s = 1; s <= EV_STEPS; s++) {
        tutti_exodus_field fields[48];
        const int n = ev_fields(w, s, fields);
        EV_TRY(tutti_exodus_begin(x, 0.25 * s));
        EV_TRY(tutti_exodus_put(x, n / 2, fields));
        EV_TRY(tutti_exodus_put(x, n - n / 2, fields + n / 2));
        EV_TRY(tutti_exodus_commit(x));
    }
    ev_share_free(w);
    return tutti_exodus_close(&x);
}

#endif
