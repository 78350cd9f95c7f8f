/* Meshes and results of this rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

const tutti_exodus_elements *exodus_blocks(const tutti_exodus_mesh *m, int kind) {
    return kind == TUTTI_EXODUS_ELEMENT_BLOCK ? m->blocks
           : kind == TUTTI_EXODUS_EDGE_BLOCK  ? m->edge_blocks
           : kind == TUTTI_EXODUS_FACE_BLOCK  ? m->face_blocks
                                              : NULL;
}

int exodus_member_kind(int kind) {
    return kind == TUTTI_EXODUS_NODE_SET   ? TUTTI_EXODUS_NODAL
           : kind == TUTTI_EXODUS_EDGE_SET ? TUTTI_EXODUS_EDGE_BLOCK
           : kind == TUTTI_EXODUS_FACE_SET ? TUTTI_EXODUS_FACE_BLOCK
                                           : TUTTI_EXODUS_ELEMENT_BLOCK;
}

const tutti_exodus_members *exodus_sets(const tutti_exodus_mesh *m, int kind) {
    return kind == TUTTI_EXODUS_NODE_SET      ? m->node_sets
           : kind == TUTTI_EXODUS_SIDE_SET    ? m->side_sets
           : kind == TUTTI_EXODUS_ELEMENT_SET ? m->element_sets
           : kind == TUTTI_EXODUS_EDGE_SET    ? m->edge_sets
           : kind == TUTTI_EXODUS_FACE_SET    ? m->face_sets
                                              : NULL;
}

double exodus_coordinate(const tutti_exodus_mesh *m, int d, tutti_count i) {
    if (m->type == TUTTI_FLOAT32) return ((const float *)m->coordinates[d])[i];
    return ((const double *)m->coordinates[d])[i];
}

tutti_count exodus_entries(const tutti_exodus_mesh *m, int kind, tutti_count number) {
    if (kind == TUTTI_EXODUS_NODAL) return m->nodes;
    if (exodus_blocks(m, kind)) return exodus_blocks(m, kind)[number].n;
    if (exodus_sets(m, kind)) return exodus_sets(m, kind)[number].n;
    return 0;
}

tutti_count exodus_entries_of(const tutti_exodus_parameters *p, int kind) {
    return kind == TUTTI_EXODUS_NODAL           ? p->nodes
           : kind == TUTTI_EXODUS_ELEMENT_BLOCK ? p->elements
           : kind == TUTTI_EXODUS_EDGE_BLOCK    ? p->edges
                                                : p->faces;
}

int exodus_has_ids(const tutti_exodus_parameters *p, int kind) {
    return kind == TUTTI_EXODUS_NODAL           ? p->has_node_ids
           : kind == TUTTI_EXODUS_ELEMENT_BLOCK ? p->has_element_ids
           : kind == TUTTI_EXODUS_EDGE_BLOCK    ? p->has_edge_ids
                                                : p->has_face_ids;
}

int exodus_file_make(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                     const exodus_outline *o, const tutti_exodus_mesh *m, tutti_exodus **out) {
    if (tutti_exodus_create(comm, path, opt, out) != TUTTI_OK) return cli_error_tutti();
    if (exodus_outline_define(o, *out)) return 1;
    return tutti_exodus_put_mesh(*out, m) == TUTTI_OK ? 0 : cli_error_tutti();
}

void exodus_share(const cli_world *w, tutti_count all, tutti_count *first_out, tutti_count *n_out) {
    *first_out = tutti_size_share(all, w->ranks, w->rank);
    *n_out = tutti_size_share(all, w->ranks, w->rank + 1) - *first_out;
}

tutti_exodus_array exodus_integers(int what, int kind, int64_t id, tutti_count first, tutti_count n,
                                   int64_t *buf) {
    return (tutti_exodus_array){.array_kind = (tutti_exodus_array_kind)what,
                                .kind = (tutti_exodus_kind)kind,
                                .id = id,
                                .first = first,
                                .n = n,
                                .type = TUTTI_INT64,
                                .buf = buf};
}

int exodus_side_nodes(const exodus_outline *o, const tutti_exodus_entity *e, int side,
                      int *which_out) {
    return tutti_exodus_side_nodes(e->topology, e->nodes, o->p.dims, side, which_out);
}

int exodus_side_width(const exodus_outline *o, const tutti_exodus_mesh *m, tutti_count place,
                      int side) {
    const exodus_table *t = &o->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    for (tutti_count i = 0; i < t->n; i++) {
        if (place < m->blocks[i].n) return exodus_side_nodes(o, &t->entity[i], side, NULL);
        place -= m->blocks[i].n;
    }
    return 0;
}

tutti_count exodus_factors(const exodus_outline *o, const tutti_exodus_mesh *m, int kind,
                           tutti_count number) {
    const tutti_exodus_members *s = &exodus_sets(m, kind)[number];
    tutti_count n = 0;
    if (!s->factors) return 0;
    if (kind != TUTTI_EXODUS_SIDE_SET) return s->n;
    for (tutti_count i = 0; i < s->n; i++) n += exodus_side_width(o, m, s->members[i], s->sides[i]);
    return n;
}

static void result_add(exodus_results *r, const tutti_exodus_field *f, tutti_count number,
                       int variable, tutti_count count) {
    const size_t i = (size_t)r->n++, n = i + 1;
    if ((n & (n - 1)) == 0) {
        r->field = cli_realloc(r->field, 2 * n * sizeof *r->field);
        r->entry = cli_realloc(r->entry, 2 * n * sizeof *r->entry);
        r->variable = cli_realloc(r->variable, 2 * n * sizeof *r->variable);
        r->count = cli_realloc(r->count, 2 * n * sizeof *r->count);
    }
    r->field[i] = *f;
    r->field[i].type = TUTTI_FLOAT64;
    r->field[i].buf = cli_zeros((size_t)count * sizeof(double));
    r->entry[i] = number;
    r->variable[i] = variable;
    r->count[i] = count;
}

void exodus_results_make(const exodus_outline *o, const tutti_exodus_mesh *m, exodus_results *out) {
    *out = (exodus_results){.n = 0};
    if (o->of[TUTTI_EXODUS_GLOBAL].variables > 0)
        result_add(out, &(tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL}, 0, -1,
                   o->of[TUTTI_EXODUS_GLOBAL].variables);
    for (int kind = TUTTI_EXODUS_NODAL; kind < TUTTI_EXODUS_KINDS; kind++) {
        const exodus_table *t = &o->of[kind];
        for (tutti_count i = 0; i < t->n; i++)
            for (int v = 0; v < t->variables; v++) {
                const tutti_exodus_field f = {.kind = (tutti_exodus_kind)kind,
                                              .id = t->entity[i].id,
                                              .variable = t->variable[v]};
                if (t->has[i * t->variables + v])
                    result_add(out, &f, i, v, exodus_entries(m, kind, i));
            }
    }
}

void exodus_results_free(exodus_results *r) {
    for (tutti_count i = 0; i < r->n; i++) free(r->field[i].buf);
    free(r->field);
    free(r->entry);
    free(r->variable);
    free(r->count);
    *r = (exodus_results){.n = 0};
}
