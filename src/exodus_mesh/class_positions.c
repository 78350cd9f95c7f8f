/* exodus_mesh: positions and writers of nodes, edges, faces and elements.  Copies of an entry must
 * have the same nodes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/positions.h"

#include <string.h>

#include "decomposition/decomposition.h"

enum { ENTRY_CLASSES = 4 };
static const tutti_exodus_kind entry_kinds[ENTRY_CLASSES] = {
    TUTTI_EXODUS_NODAL, TUTTI_EXODUS_EDGE_BLOCK, TUTTI_EXODUS_FACE_BLOCK,
    TUTTI_EXODUS_ELEMENT_BLOCK};
static const char *const entry_words[ENTRY_CLASSES] = {"node", "edge", "face", "element"};

tutti_err tutti__mesh_order_make(tutti__mesh_order *o) {
    tutti_count entities = 1, sets = 0;
    for (int k = 0; k < TUTTI__BLOCK_KINDS; k++) entities += o->model->of[tutti__block_kinds[k]].n;
    for (int k = 0; k < TUTTI__SET_KINDS; k++) sets += o->model->of[tutti__set_kinds[k]].n;
    TUTTI_TRY(tutti__ids_round_make(o->team, entities, 0, &o->entries));
    return sets > 0 ? tutti__ids_round_make(o->team, sets, 2 * sets, &o->members) : TUTTI_OK;
}

void tutti__mesh_order_free(tutti__mesh_order *o) {
    tutti__ids_round_free(&o->entries);
    tutti__ids_round_free(&o->members);
    tutti__mesh_classes_free(&o->classes);
}

/* ---- copies */

/* A class, as context of callbacks. */
typedef struct {
    const tutti__mesh_order *o;
    const tutti__entity_class *class;
} class_context;

static int64_t block_id(const void *context, tutti_count c) {
    const class_context *x = context;
    return x->o->model->of[x->class->kind].row[c].id;
}

static uint64_t hash_positions(uint64_t h, tutti_count n, const tutti_count *place,
                               const tutti__entity_class *of) {
    for (tutti_count q = 0; q < n; q++) {
        h = (h ^ (uint64_t)of->position[place[q]]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* Return a hash of the positions of the nodes (faces), edges and faces of an entry. */
static uint64_t entry_hash(const void *context, tutti_count k) {
    const class_context *x = context;
    const tutti__entity_class *f = x->class, *all = x->o->classes.of;
    const tutti_count c = tutti__interval_of(f->start, f->entities, k), i = k - f->start[c];
    const tutti_exodus_entity *row = &x->o->model->of[f->kind].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(x->o->mesh, f->kind, c);
    const int faced = tutti__shape_list_of(row->topology) == TUTTI__NFACED;
    const tutti_count n = tutti__entry_nodes(row, &e, i);
    uint64_t h = hash_positions((uint64_t)n, n, e.nodes + tutti__entry_start(row, &e, i),
                                &all[faced ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL]);
    if (row->edges)
        h = hash_positions(h, row->edges, e.edges + i * row->edges, &all[TUTTI_EXODUS_EDGE_BLOCK]);
    if (row->faces)
        h = hash_positions(h, row->faces, e.faces + i * row->faces, &all[TUTTI_EXODUS_FACE_BLOCK]);
    return h;
}

/* ---- entries */

/* Collect the entries of all blocks of a kind, one block after the other: starts, lengths of lists,
 * ids. */
static tutti_err blocks_join(const tutti__mesh_order *o, tutti__entity_class *f, int64_t **ids) {
    int has_ids = 0, has_lists = 0;
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_exodus_elements e = tutti__mesh_block(o->mesh, f->kind, c);
        f->start[c + 1] = f->start[c] + e.n;
        has_ids |= e.n > 0 && e.ids;
        has_lists |= tutti__shape_list_of(o->model->of[f->kind].row[c].topology) != 0;
    }
    const size_t n = (size_t)f->start[f->entities] + 1;
    f->weight = has_lists ? tutti__calloc(n, sizeof *f->weight) : NULL;
    *ids = has_ids ? tutti__malloc(n * sizeof **ids) : NULL;
    if ((has_lists && !f->weight) || (has_ids && !*ids)) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_exodus_elements e = tutti__mesh_block(o->mesh, f->kind, c);
        if (e.n > 0 && e.ids) memcpy(*ids + f->start[c], e.ids, (size_t)e.n * sizeof **ids);
        for (tutti_count i = 0; i < e.n && e.start; i++)
            f->weight[f->start[c] + i] = e.start[i + 1] - e.start[i];
    }
    return TUTTI_OK;
}

tutti_err tutti__order_entries(tutti__mesh_order *o) {
    tutti__ids ids[ENTRY_CLASSES];
    class_context context[ENTRY_CLASSES];
    int64_t *joined[ENTRY_CLASSES] = {NULL};
    tutti_err local_err = TUTTI_OK;
    for (int k = 0; k < ENTRY_CLASSES; k++) {
        const tutti_exodus_kind kind = entry_kinds[k];
        tutti__entity_class *f = &o->classes.of[kind];
        *f = (tutti__entity_class){.kind = kind, .entities = k == 0 ? 1 : o->model->of[kind].n};
        f->start = tutti__calloc((size_t)f->entities + 1, sizeof *f->start);
        if (!f->start) local_err = TUTTI_ERR_NOMEM;
        if (local_err == TUTTI_OK && k == 0) f->start[1] = o->mesh->nodes;
        if (local_err == TUTTI_OK && k > 0) local_err = blocks_join(o, f, &joined[k]);
        context[k] = (class_context){o, f};
        ids[k] = (tutti__ids){.class = f,
                              .what = entry_words[k],
                              .number = k == 0 ? o->mesh->node_ids : joined[k],
                              .check = k == 0 ? NULL : entry_hash,
                              .checked = "nodes",
                              .entity_id = k == 0 ? NULL : block_id,
                              .context = &context[k]};
    }
    local_err = tutti__ids_order(o->team, &o->entries, &o->choice, ENTRY_CLASSES, ids, local_err);
    for (int k = 0; k < ENTRY_CLASSES; k++) tutti__free(joined[k]);
    return local_err;
}

/* ---- writers by any rule */

tutti_err tutti__choose_writers_of(tutti__team *t, const tutti_replicas_choice *choice,
                                   const unsigned char *own, tutti__entity_class *f) {
    const int asks = choice->rule == TUTTI_REPLICAS_IDG || choice->rule == TUTTI_REPLICAS_OWN;
    tutti_replicas_choice by = *choice;
    unsigned char *writes = tutti__malloc((size_t)f->n + 1);
    int64_t unowned = f->n > 0 && !own;
    tutti_err err = tutti__team_max(t, writes ? TUTTI_OK : TUTTI_ERR_NOMEM, &unowned);
    if (asks && unowned) by.rule = TUTTI_REPLICAS_IDG2; /* owners are unknown */
    tutti__shared_out s = {.n = f->n,
                           .sorted = f->sorted,
                           .own = unowned ? NULL : own,
                           .owners = !unowned && asks,
                           .entries = f->all,
                           .writes = writes};
    if (err == TUTTI_OK) err = tutti__writers_choose(t, &by, 0, &s);
    TUTTI_ASSERT(writes || err != TUTTI_OK);
    for (tutti_count j = 0; j < f->n && err == TUTTI_OK; j++)
        f->writes[f->sorted[j].index] = writes[j];
    tutti__free(writes);
    return err;
}
