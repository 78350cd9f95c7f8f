/* The members of node and side sets as a separate grid: vertices, and sides as cells.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/vtk.h"

#include <stdlib.h>

/* Return the VTK cell type of a side with n nodes.  Exodus and VTK use the same node order for sides:
 * corners, mid-edge nodes, centre. */
static int side_cell(int nodes) {
    static const int cell[] = {-1, 1, 3, 5, 9, 9, 22, 34, 23, 28};
    return nodes >= 1 && nodes <= 9 ? cell[nodes] : -1;
}

typedef struct {
    vtk_numbers cell, offset, type, set, is_side, element, side;
} lists;

static void add_cell_data(lists *l, int type, int64_t set, int64_t element, int64_t side) {
    vtk_number(&l->offset, (int64_t)l->cell.n);
    vtk_number(&l->type, type);
    vtk_number(&l->set, set);
    vtk_number(&l->is_side, side > 0);
    vtk_number(&l->element, element);
    vtk_number(&l->side, side);
}

static void side_add(const exodus_outline *o, const tutti_exodus_mesh *m, int64_t set,
                     tutti_count element, int side, lists *l) {
    int which[9];
    /* Find the block of the element; *place becomes the position in the block. */
    tutti_count *place = &element;
    tutti_count b = 0;
    while (b < o->of[TUTTI_EXODUS_ELEMENT_BLOCK].n && *place >= m->blocks[b].n)
        *place -= m->blocks[b++].n;
    const tutti_exodus_entity *e = &o->of[TUTTI_EXODUS_ELEMENT_BLOCK].entity[b];
    const int n = exodus_side_nodes(o, e, side, which);
    const int line = n == 3 && o->p.dims == 2; /* an edge with a mid-edge node */
    if (side_cell(n) < 0) return;
    for (int k = 0; k < (n == 5 ? 4 : n); k++)
        vtk_number(&l->cell, m->blocks[b].nodes[element * e->nodes + which[k]]);
    add_cell_data(l, line ? 21 : side_cell(n), set,
                  m->blocks[b].ids ? m->blocks[b].ids[element] : element, side);
}

static void cell_data(vtk_grid *g, const char *name, vtk_numbers *l) {
    int64_t *v = vtk_add(g, "CellData", name, "Int64", 1, (tutti_count)l->n);
    for (size_t i = 0; i < l->n; i++) v[i] = l->v[i];
    free(l->v);
}

int vtk_sets(const exodus_outline *o, const tutti_exodus_mesh *m, vtk_grid *out) {
    lists l = {.cell = {.n = 0}};
    const exodus_table *n = &o->of[TUTTI_EXODUS_NODE_SET], *s = &o->of[TUTTI_EXODUS_SIDE_SET];
    *out = (vtk_grid){.arrays = 0};
    vtk_points(o, m, out);
    for (tutti_count i = 0; i < n->n; i++)
        for (tutti_count k = 0; k < m->node_sets[i].n; k++) {
            vtk_number(&l.cell, m->node_sets[i].members[k]);
            add_cell_data(&l, 1, n->entity[i].id, 0, 0);
        }
    for (tutti_count i = 0; i < s->n; i++)
        for (tutti_count k = 0; k < m->side_sets[i].n; k++)
            side_add(o, m, s->entity[i].id, m->side_sets[i].members[k], m->side_sets[i].sides[k],
                     &l);
    out->cells = (tutti_count)l.type.n;
    unsigned char *type = vtk_add(out, "Cells", "types", "UInt8", 1, out->cells);
    for (tutti_count i = 0; l.type.v && i < out->cells; i++) type[i] = (unsigned char)l.type.v[i];
    free(l.type.v);
    vtk_add_numbers(out, "connectivity", &l.cell);
    vtk_add_numbers(out, "offsets", &l.offset);
    cell_data(out, "SetId", &l.set);
    cell_data(out, "IsSide", &l.is_side);
    cell_data(out, "SourceElementId", &l.element);
    cell_data(out, "SourceElementSide", &l.side);
    return 0;
}
