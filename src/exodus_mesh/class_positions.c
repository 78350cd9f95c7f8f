/* exodus_mesh: positions and writers of what a rank has: nodes, then edges, faces and elements, whose copies
 * are compared by the positions of their nodes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/positions.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* ---- orders become classes */

tutti_err tutti__positions_sort(tutti__entity_class *f) {
    tutti__numbered *v = tutti__malloc(2 * (size_t)f->n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < f->n; i++) v[i] = (tutti__numbered){f->position[i], i};
    const tutti__numbered *w = tutti__numbered_sort(v, f->n, v + f->n);
    if (w != v && f->n > 0) memcpy(v, w, (size_t)f->n * sizeof *v);
    f->sorted = v;
    return TUTTI_OK;
}

static tutti_err finish(tutti__entity_class *f, const tutti__ids_spec *spec, tutti__ids_order *o) {
    f->plain = tutti__ids_plain(spec, o);
    f->position = o->position;
    f->at = o->at;
    f->first = o->first;
    f->count = o->count;
    f->weights = o->weights;
    f->before = o->before;
    *o = (tutti__ids_order){.implicit_ids = 0};
    f->all = f->before[f->entities];
    f->n = f->start[f->entities];
    for (tutti_count c = 0; c < f->entities; c++)
        for (tutti_count i = f->start[c]; i < f->start[c + 1]; i++) f->position[i] += f->before[c];
    for (tutti_count i = 0; i < f->n && spec->number; i++)
        f->largest = tutti__max(f->largest, spec->number[i]);
    f->writes = tutti__malloc((size_t)f->n + 1);
    if (!f->writes) return TUTTI_ERR_NOMEM;
    memset(f->writes, 1, (size_t)f->n + 1);
    return tutti__positions_sort(f);
}

tutti_err tutti__positions_make(tutti__team *t, tutti__entity_class *f, const tutti__ids_spec *spec,
                                tutti_err mine) {
    tutti__ids_order o = {.implicit_ids = 0};
    TUTTI_TRY(tutti__ids_order_make(t, spec, mine, &o));
    return tutti__team_agree(t, finish(f, spec, &o));
}

tutti_err tutti__choose_writers_of(tutti__team *t, const tutti_replicas_choice *choice,
                                   const unsigned char *own, tutti__entity_class *f) {
    const int asks = choice->rule == TUTTI_REPLICAS_IDG || choice->rule == TUTTI_REPLICAS_OWN;
    tutti_replicas_choice by = *choice;
    unsigned char *mine = tutti__malloc((size_t)f->n + 1);
    int64_t unowned = f->n > 0 && !own;
    tutti_err err = tutti__team_max(t, mine ? TUTTI_OK : TUTTI_ERR_NOMEM, &unowned);
    const int owned = !unowned;
    if (asks && !owned) by.rule = TUTTI_REPLICAS_IDG2; /* nobody says whose they are */
    tutti__shared_out s = {.n = f->n,
                           .sorted = f->sorted,
                           .own = owned ? own : NULL,
                           .owners = owned && asks,
                           .entries = f->all,
                           .writes = mine};
    if (err == TUTTI_OK) err = tutti__writers_choose(t, &by, 0, &s);
    TUTTI_ASSERT(mine || err != TUTTI_OK);
    for (tutti_count j = 0; j < f->n && err == TUTTI_OK; j++)
        f->writes[f->sorted[j].index] = mine[j];
    tutti__free(mine);
    return err;
}

/* ---- nodes */

tutti_err tutti__positions_of_nodes(tutti__team *t, const tutti_exodus_mesh *mesh, tutti_err mine,
                                    tutti__entity_class *f) {
    *f = (tutti__entity_class){.kind = TUTTI_EXODUS_NODAL, .entities = 1};
    if (mine == TUTTI_OK) {
        f->start = tutti__calloc(2, sizeof *f->start);
        if (f->start)
            f->start[1] = mesh->nodes;
        else
            mine = TUTTI_ERR_NOMEM;
    }
    const tutti__ids_spec spec = {.what = "node",
                                  .classes = 1,
                                  .start = f->start,
                                  .number = mine == TUTTI_OK ? mesh->node_ids : NULL};
    return tutti__positions_make(t, f, &spec, mine);
}

/* ---- blocks */

static uint64_t mixed(uint64_t h, tutti_count x) {
    h = (h ^ (uint64_t)x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t places_hash(uint64_t h, tutti_count n, const tutti_count *place,
                            const tutti__entity_class *of) {
    for (tutti_count q = 0; q < n; q++) h = mixed(h, of->position[place[q]]);
    return h;
}

/* All blocks of a kind, one after the other. */
typedef struct {
    int64_t *number;
    uint64_t *check;
    int64_t *class_id;
    int has_ids;
} joined;

static const char *entry_word(tutti_exodus_kind kind) {
    return kind == TUTTI_EXODUS_EDGE_BLOCK   ? "edge"
           : kind == TUTTI_EXODUS_FACE_BLOCK ? "face"
                                             : "element";
}

static tutti_err starts_make(const tutti_exodus_mesh *mesh, tutti__entity_class *f) {
    f->start = tutti__calloc((size_t)f->entities + 1, sizeof *f->start);
    if (!f->start) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->entities; c++)
        f->start[c + 1] = f->start[c] + tutti__mesh_block(mesh, f->kind, c).n;
    return TUTTI_OK;
}

static void block_join(const tutti__exodus_model *m, const tutti_exodus_mesh *mesh,
                       const tutti__mesh_classes *classes, tutti__entity_class *f, tutti_count c,
                       joined *j) {
    const tutti_exodus_entity *row = &m->of[f->kind].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(mesh, f->kind, c);
    const int faced = tutti__shape_list_of(row->topology) == TUTTI__NFACED;
    const tutti__entity_class *to =
        &classes->of[faced ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL];
    j->class_id[c] = row->id;
    for (tutti_count i = 0; i < e.n; i++) {
        const tutti_count k = f->start[c] + i, n = tutti__entry_nodes(row, &e, i);
        uint64_t h = places_hash((uint64_t)n, n, e.nodes + tutti__entry_start(row, &e, i), to);
        if (row->edges)
            h = places_hash(h, row->edges, e.edges + i * row->edges,
                            &classes->of[TUTTI_EXODUS_EDGE_BLOCK]);
        if (row->faces)
            h = places_hash(h, row->faces, e.faces + i * row->faces,
                            &classes->of[TUTTI_EXODUS_FACE_BLOCK]);
        j->check[k] = h;
        f->weight[k] = e.start ? n : 0;
        if (e.ids) j->number[k] = e.ids[i];
        j->has_ids |= e.ids != NULL;
    }
}

static tutti_err blocks_join(const tutti__exodus_model *m, const tutti_exodus_mesh *mesh,
                             const tutti__mesh_classes *classes, tutti__entity_class *f,
                             joined *j) {
    TUTTI_TRY(starts_make(mesh, f));
    const size_t n = (size_t)f->start[f->entities];
    j->number = tutti__malloc(n * sizeof *j->number);
    j->check = tutti__malloc(n * sizeof *j->check);
    j->class_id = tutti__calloc((size_t)f->entities, sizeof *j->class_id);
    f->weight = tutti__malloc(n * sizeof *f->weight);
    if (!j->number || !j->check || !j->class_id || !f->weight) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->entities; c++) block_join(m, mesh, classes, f, c, j);
    return TUTTI_OK;
}

tutti_err tutti__positions_of_blocks(tutti__team *t, const tutti__exodus_model *m,
                                     const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                                     tutti__mesh_classes *classes) {
    tutti__entity_class *f = &classes->of[kind];
    joined j = {.number = NULL};
    *f = (tutti__entity_class){.kind = kind, .entities = m->of[kind].n};
    const tutti_err mine = blocks_join(m, mesh, classes, f, &j);
    const tutti__ids_spec spec = {.what = entry_word(kind),
                                  .classes = f->entities,
                                  .start = f->start,
                                  .number = j.has_ids ? j.number : NULL,
                                  .weight = f->weight,
                                  .check = j.check,
                                  .checked = "nodes",
                                  .class_id = j.class_id};
    const tutti_err err = tutti__positions_make(t, f, &spec, mine);
    tutti__free(j.number);
    tutti__free(j.check);
    tutti__free(j.class_id);
    return err;
}
