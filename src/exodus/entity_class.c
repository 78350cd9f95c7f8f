/* exodus: classes of entities, and accessors of the mesh that a rank passes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/entity_class.h"

const tutti_exodus_kind tutti__block_kinds[3] = {TUTTI_EXODUS_EDGE_BLOCK, TUTTI_EXODUS_FACE_BLOCK,
                                                 TUTTI_EXODUS_ELEMENT_BLOCK};
const tutti_exodus_kind tutti__set_kinds[5] = {TUTTI_EXODUS_NODE_SET, TUTTI_EXODUS_SIDE_SET,
                                               TUTTI_EXODUS_ELEMENT_SET, TUTTI_EXODUS_EDGE_SET,
                                               TUTTI_EXODUS_FACE_SET};

tutti_exodus_kind tutti__members_of(tutti_exodus_kind set_kind) {
    switch ((int)set_kind) {
    case TUTTI_EXODUS_NODE_SET:
        return TUTTI_EXODUS_NODAL;
    case TUTTI_EXODUS_EDGE_SET:
        return TUTTI_EXODUS_EDGE_BLOCK;
    case TUTTI_EXODUS_FACE_SET:
        return TUTTI_EXODUS_FACE_BLOCK;
    default:
        return TUTTI_EXODUS_ELEMENT_BLOCK;
    }
}

int tutti__nodes_of(const tutti_exodus_entity *row) {
    if (tutti__shape_list_of(row->topology)) return 0;
    return row->nodes > 0 ? row->nodes : tutti_exodus_topology_nodes(row->topology);
}

tutti_exodus_elements tutti__mesh_block(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                        tutti_count c) {
    const tutti_exodus_elements *e = kind == TUTTI_EXODUS_EDGE_BLOCK   ? m->edge_blocks
                                     : kind == TUTTI_EXODUS_FACE_BLOCK ? m->face_blocks
                                                                       : m->blocks;
    return e ? e[c] : (tutti_exodus_elements){.n = 0};
}

tutti_exodus_members tutti__mesh_set(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                     tutti_count c) {
    const tutti_exodus_members *s = kind == TUTTI_EXODUS_NODE_SET      ? m->node_sets
                                    : kind == TUTTI_EXODUS_SIDE_SET    ? m->side_sets
                                    : kind == TUTTI_EXODUS_ELEMENT_SET ? m->element_sets
                                    : kind == TUTTI_EXODUS_EDGE_SET    ? m->edge_sets
                                                                       : m->face_sets;
    return s ? s[c] : (tutti_exodus_members){.n = 0};
}

void tutti__entity_class_free(tutti__entity_class *f) {
    void *const all[] = {f->start,   f->count,  f->before, f->position, f->at,
                         f->weights, f->weight, f->first,  f->writes,   f->sorted};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    *f = (tutti__entity_class){.n = 0};
}

void tutti__mesh_classes_free(tutti__mesh_classes *m) {
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__entity_class_free(&m->of[k]);
        tutti__free(m->has_factors[k]);
        m->has_factors[k] = NULL;
    }
}

int tutti__entity_class_is_valid(const tutti__entity_class *f) {
    if (f->entities < 0 || !f->start || !f->before || !f->count || f->start[0] != 0 ||
        f->before[0] != 0 || f->start[f->entities] != f->n || f->before[f->entities] != f->all)
        return 0;
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_count lo = f->before[c], hi = f->before[c + 1];
        if (f->start[c] > f->start[c + 1] || hi - lo != f->count[c]) return 0;
        for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
            const tutti__numbered s = tutti__entity_sorted(f, j);
            if (s.index < f->start[c] || s.index >= f->start[c + 1]) return 0;
            if (s.number < lo || s.number >= hi) return 0;
            if (j > f->start[c] && tutti__entity_sorted(f, j - 1).number >= s.number) return 0;
            if (f->position && f->position[s.index] != s.number) return 0;
        }
    }
    return 1;
}
