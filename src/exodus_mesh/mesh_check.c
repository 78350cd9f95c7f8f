/* exodus_mesh: validation of the mesh of a rank: indices in range, ids above 0, existing sides.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/positions.h"

/* Arguments for an entity in a message. */
#define NAME(row) tutti_exodus_kind_name((int)(row)->kind), (long long)(row)->id

/* Context of all checks, with the counts of this rank. */
typedef struct {
    const tutti__exodus_model *m;
    const tutti_exodus_mesh *mesh;
    tutti_count nodes, edges, faces, elements;
    tutti_count *start; /* [element blocks + 1] index of the first element of each block */
} checking;

/* ---- blocks */

/* A block whose lists are checked; their indices must be below `most`. */
typedef struct {
    const tutti_exodus_entity *row;
    const tutti_exodus_elements *e;
    const char *what; /* kind of the entries to which the list refers */
    tutti_count most;
} context;

static tutti_err places_check(const context *c, tutti_count i, tutti_count n,
                              const tutti_count *place) {
    for (tutti_count q = 0; q < n; q++)
        TUTTI_CHECK((uint64_t)place[q] < (uint64_t)c->most, TUTTI_ERR_ARG,
                    "%s %lld: entry %lld (id %lld) refers to %s %lld, but this rank has %lld %ss",
                    NAME(c->row), (long long)i, (long long)(c->e->ids ? c->e->ids[i] : 0), c->what,
                    (long long)place[q], (long long)c->most, c->what);
    return TUTTI_OK;
}

static tutti_err starts_check(const context *c) {
    const tutti_exodus_elements *e = c->e;
    TUTTI_CHECK(e->start, TUTTI_ERR_ARG, "%s %lld is %s: `start` is NULL", NAME(c->row),
                c->row->topology);
    for (tutti_count i = 0; i < e->n; i++)
        TUTTI_CHECK(
            e->start[i] >= 0 && e->start[i] <= e->start[i + 1], TUTTI_ERR_ARG,
            "%s %lld: entry %lld has the range [%lld, %lld) of `nodes`: `start` must not decrease",
            NAME(c->row), (long long)i, (long long)e->start[i], (long long)e->start[i + 1]);
    return TUTTI_OK;
}

static tutti_err block_check(const checking *k, const tutti_exodus_entity *row,
                             const tutti_exodus_elements *e) {
    const tutti__shape_list listed = tutti__shape_list_of(row->topology);
    const int nodes = tutti__nodes_of(row);
    const context c = {row, e, listed == TUTTI__NFACED ? "face" : "node",
                       listed == TUTTI__NFACED ? k->faces : k->nodes};
    TUTTI_CHECK(e->n >= 0 && e->n <= PTRDIFF_MAX / 64, TUTTI_ERR_ARG,
                "%s %lld: number of entries is %lld: must be 0 to 2^57", NAME(row),
                (long long)e->n);
    TUTTI_CHECK(listed || nodes > 0 || e->n == 0, TUTTI_ERR_ARG,
                "%s %lld: number of nodes per entry of topology \"%s\" is unknown: set `nodes`",
                NAME(row), row->topology ? row->topology : "");
    if (e->n == 0) return TUTTI_OK;
    TUTTI_CHECK(e->nodes, TUTTI_ERR_ARG, "%s %lld: `nodes` is NULL", NAME(row));
    TUTTI_CHECK(!row->edges || e->edges, TUTTI_ERR_ARG, "%s %lld: `edges` is NULL", NAME(row));
    TUTTI_CHECK(!row->faces || e->faces, TUTTI_ERR_ARG, "%s %lld: `faces` is NULL", NAME(row));
    if (listed) TUTTI_TRY(starts_check(&c));
    TUTTI_CHECK(listed || !e->start, TUTTI_ERR_ARG,
                "%s %lld: `start` is only allowed for nsided and nfaced blocks", NAME(row));
    const context edge = {row, e, "edge", k->edges}, face = {row, e, "face", k->faces};
    for (tutti_count i = 0; i < e->n; i++) {
        TUTTI_CHECK(!e->ids || e->ids[i] > 0, TUTTI_ERR_ARG,
                    "%s %lld: entry %lld has id %lld: ids must be >= 1", NAME(row), (long long)i,
                    (long long)e->ids[i]);
        const tutti_count start = e->start ? e->start[i] : i * nodes;
        TUTTI_TRY(
            places_check(&c, i, e->start ? e->start[i + 1] - start : nodes, e->nodes + start));
        if (row->edges) TUTTI_TRY(places_check(&edge, i, row->edges, e->edges + i * row->edges));
        if (row->faces) TUTTI_TRY(places_check(&face, i, row->faces, e->faces + i * row->faces));
    }
    return TUTTI_OK;
}

static tutti_err blocks_check(const checking *k, tutti_exodus_kind kind) {
    const tutti__exodus_table *table = &k->m->of[kind];
    const tutti_exodus_entity *with = NULL, *without = NULL;
    for (tutti_count c = 0; c < table->n; c++) {
        const tutti_exodus_elements e = tutti__mesh_block(k->mesh, kind, c);
        TUTTI_TRY(block_check(k, &table->row[c], &e));
        if (e.n > 0 && e.ids) with = &table->row[c];
        if (e.n > 0 && !e.ids) without = &table->row[c];
    }
    TUTTI_CHECK(!with || !without, TUTTI_ERR_ARG,
                "%s %lld has ids, but %s %lld has none: all blocks or no block must have ids",
                NAME(with), NAME(without));
    return TUTTI_OK;
}

/* ---- sets */

int tutti__side_nodes_of(const tutti__exodus_model *m, const tutti_exodus_entity *row,
                         tutti_count listed, int side) {
    if (side < 1) return 0;
    const tutti__shape_list is = tutti__shape_list_of(row->topology);
    if (is == TUTTI__NSIDED) return side <= listed ? 2 : 0;
    if (is == TUTTI__NFACED) return side <= listed ? -1 : 0;
    const tutti__shape *t = tutti__shape_find(row->topology, row->nodes, m->p.dims);
    if (!t) return -1;
    return side <= tutti__shape_sides(t) ? tutti__shape_side(t, side) : 0;
}

static tutti_err side_check(const checking *k, const tutti_exodus_entity *row,
                            const tutti_exodus_members *s, tutti_count i) {
    const tutti__exodus_table *blocks = &k->m->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti_count b = tutti__interval_of(k->start, blocks->n, s->members[i]);
    const tutti_count in = s->members[i] - k->start[b];
    const tutti_exodus_entity *block = &blocks->row[b];
    const tutti_exodus_elements e = tutti__mesh_block(k->mesh, TUTTI_EXODUS_ELEMENT_BLOCK, b);
    const int n = tutti__side_nodes_of(k->m, block, tutti__entry_nodes(block, &e, in), s->sides[i]);
    TUTTI_CHECK(s->sides[i] >= 1 && n != 0, TUTTI_ERR_ARG,
                "%s %lld: member %lld is side %d of element %lld (id %lld, block %lld), which does "
                "not exist for topology '%s'",
                NAME(row), (long long)i, s->sides[i], (long long)s->members[i],
                (long long)(e.ids ? e.ids[in] : 0), (long long)block->id,
                block->topology ? block->topology : "");
    TUTTI_CHECK(
        n > 0 || !s->factors, TUTTI_ERR_UNSUPPORTED,
        "%s %lld: number of factors of a side of element %lld (block %lld, \"%s\") is unknown",
        NAME(row), (long long)s->members[i], (long long)block->id,
        block->topology ? block->topology : "");
    return TUTTI_OK;
}

/* ---- the whole mesh */

static tutti_err everything_check(checking *k) {
    const tutti__exodus_model *m = k->m;
    const tutti_count blocks = m->of[TUTTI_EXODUS_ELEMENT_BLOCK].n;
    k->nodes = k->mesh->nodes;
    for (tutti_count c = 0; c < m->of[TUTTI_EXODUS_EDGE_BLOCK].n; c++)
        k->edges += tutti__mesh_block(k->mesh, TUTTI_EXODUS_EDGE_BLOCK, c).n;
    for (tutti_count c = 0; c < m->of[TUTTI_EXODUS_FACE_BLOCK].n; c++)
        k->faces += tutti__mesh_block(k->mesh, TUTTI_EXODUS_FACE_BLOCK, c).n;
    k->start = tutti__calloc((size_t)blocks + 1, sizeof *k->start);
    if (!k->start) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < blocks; c++)
        k->start[c + 1] = k->start[c] + tutti__mesh_block(k->mesh, TUTTI_EXODUS_ELEMENT_BLOCK, c).n;
    k->elements = k->start[blocks];
    for (int b = 0; b < 3; b++) TUTTI_TRY(blocks_check(k, tutti__block_kinds[b]));
    for (int b = 0; b < 5; b++) {
        const tutti__exodus_table *table = &k->m->of[tutti__set_kinds[b]];
        for (tutti_count c = 0; c < table->n; c++) {
            const tutti_exodus_members s = tutti__mesh_set(k->mesh, tutti__set_kinds[b], c);
            const tutti_exodus_entity *row = &table->row[c];
            const tutti_exodus_kind of = tutti__members_of(row->kind);
            const tutti_count most = of == TUTTI_EXODUS_NODAL        ? k->nodes
                                     : of == TUTTI_EXODUS_EDGE_BLOCK ? k->edges
                                     : of == TUTTI_EXODUS_FACE_BLOCK ? k->faces
                                                                     : k->elements;
            TUTTI_CHECK(s.n >= 0 && s.n <= PTRDIFF_MAX / 64, TUTTI_ERR_ARG,
                        "%s %lld: number of members is %lld: must be 0 to 2^57", NAME(row),
                        (long long)s.n);
            TUTTI_CHECK(s.n == 0 || s.members, TUTTI_ERR_ARG, "%s %lld: `members` is NULL",
                        NAME(row));
            TUTTI_CHECK(s.n == 0 || s.sides || row->kind != TUTTI_EXODUS_SIDE_SET, TUTTI_ERR_ARG,
                        "%s %lld: `sides` is NULL", NAME(row));
            for (tutti_count i = 0; i < s.n; i++) {
                TUTTI_CHECK(
                    s.members[i] >= 0 && s.members[i] < most, TUTTI_ERR_ARG,
                    "%s %lld: member %lld has position %lld, but this rank has %lld entries",
                    NAME(row), (long long)i, (long long)s.members[i], (long long)most);
                if (row->kind == TUTTI_EXODUS_SIDE_SET) TUTTI_TRY(side_check(k, row, &s, i));
            }
        }
    }
    return TUTTI_OK;
}

tutti_err tutti__mesh_check(const tutti__exodus_model *m, const tutti_exodus_mesh *mesh) {
    checking k = {.m = m, .mesh = mesh};
    TUTTI_CHECK(mesh, TUTTI_ERR_ARG, "argument mesh is NULL");
    TUTTI_CHECK_RESERVED(mesh, "the mesh");
    TUTTI_CHECK(mesh->nodes >= 0 && mesh->nodes <= PTRDIFF_MAX / 64, TUTTI_ERR_ARG,
                "number of nodes is %lld: must be 0 to 2^57", (long long)mesh->nodes);
    TUTTI_CHECK(mesh->type == TUTTI_BYTES ||
                    (tutti_type_size(mesh->type) > 0 && mesh->type != TUTTI_COMPLEX64 &&
                     mesh->type != TUTTI_COMPLEX128),
                TUTTI_ERR_ARG, "coordinates have type \"%s\" (%d): must be a real numeric type",
                tutti_type_name(mesh->type), (int)mesh->type);
    for (int d = 0; d < m->p.dims && mesh->nodes > 0; d++)
        TUTTI_CHECK(mesh->coordinates[d], TUTTI_ERR_ARG, "coordinates[%d] is NULL", d);
    for (tutti_count i = 0; i < mesh->nodes && mesh->node_ids; i++)
        TUTTI_CHECK(mesh->node_ids[i] > 0, TUTTI_ERR_ARG, "node %lld has id %lld: ids must be >= 1",
                    (long long)i, (long long)mesh->node_ids[i]);
    const tutti_err err = everything_check(&k);
    tutti__free(k.start);
    return err;
}
