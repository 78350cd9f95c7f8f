/* tutti exodus split: assignment of elements to pieces.
 *
 * METIS and the curve divide the nodes (mesh.h); an element is assigned to the piece that has most of its
 * corners.  Each rank has the pieces of all nodes in memory: 4 bytes per node.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/split.h"

#include <stdlib.h>
#include <string.h>

/* The number of corners and the linear element type of each VTK cell. */
static const struct {
    int cell, corners;
    tutti_mesh_type type;
} shape_table[] = {
    {12, 8, TUTTI_MESH_HEX},     {25, 8, TUTTI_MESH_HEX},      {29, 8, TUTTI_MESH_HEX},
    {10, 4, TUTTI_MESH_TET},     {24, 4, TUTTI_MESH_TET},      {13, 6, TUTTI_MESH_PRISM},
    {26, 6, TUTTI_MESH_PRISM},   {14, 5, TUTTI_MESH_PYRAMID},  {27, 5, TUTTI_MESH_PYRAMID},
    {9, 4, TUTTI_MESH_QUAD},     {23, 4, TUTTI_MESH_QUAD},     {28, 4, TUTTI_MESH_QUAD},
    {5, 3, TUTTI_MESH_TRIANGLE}, {22, 3, TUTTI_MESH_TRIANGLE}, {34, 3, TUTTI_MESH_TRIANGLE},
    {3, 2, TUTTI_MESH_LINE},     {21, 2, TUTTI_MESH_LINE},
};

/* The elements of this rank; corners are node numbers from 0. */
typedef struct {
    tutti_count n;
    tutti_count *start, *node; /* [n + 1] start of each element in `node`; [corners] node numbers */
    uint8_t *type;             /* [n] element types of the mesh interface */
    tutti_count corners;
} slice;

/* Read the elements lo ... hi - 1 of a block. */
static int block_read(tutti_exodus *x, const tutti_exodus_entity *e, tutti_count lo, tutti_count hi,
                      slice *s) {
    int nodes, order[27], corners = 1, type = TUTTI_MESH_POINT;
    const tutti_count n = hi - lo;
    if (e->entries == 0) return 0;
    const int cell = exodus_vtk_cell(e->topology, e->nodes, &nodes, order);
    for (size_t i = 0; i < sizeof shape_table / sizeof *shape_table; i++)
        if (shape_table[i].cell == cell) {
            corners = shape_table[i].corners;
            type = shape_table[i].type;
        }
    if (e->nodes < 1)
        return cli_error(
            "element block %lld has topology %s without a fixed number of nodes; use --by order",
            (long long)e->id, e->topology);
    int64_t *all = cli_array(n, e->nodes, sizeof *all);
    const tutti_exodus_array a =
        exodus_integers(TUTTI_EXODUS_CONNECTIVITY, (int)e->kind, e->id, lo, n, all);
    const tutti_err err = tutti_exodus_get_arrays(x, 1, &a);
    const size_t capacity = (size_t)(s->corners + n * corners);
    s->node = cli_realloc(s->node, capacity * sizeof *s->node);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        for (int k = 0; k < corners; k++) s->node[s->corners++] = all[i * e->nodes + k] - 1;
        s->type[s->n++] = (uint8_t)type;
        s->start[s->n] = s->corners;
    }
    free(all);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int elements_read(tutti_exodus *x, const exodus_outline *o, const exodus_parts *p,
                         slice *s) {
    const exodus_table *t = &o->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti_count before = 0;
    *s = (slice){.n = 0};
    s->start = cli_malloc(((size_t)p->n + 1) * sizeof *s->start);
    s->type = cli_malloc((size_t)p->n);
    s->start[0] = 0;
    for (tutti_count b = 0; b < t->n; before += t->entity[b++].entries) {
        const tutti_count end = before + t->entity[b].entries;
        tutti_count lo = p->first > before ? p->first : before;
        tutti_count hi = p->first + p->n < end ? p->first + p->n : end;
        if (lo > hi) lo = hi = before;
        if (block_read(x, &t->entity[b], lo - before, hi - before, s)) return 1;
    }
    return 0;
}

/* Read the coordinates of this rank's share of the nodes. */
static int nodes_read(const cli_world *w, tutti_exodus *x, const exodus_outline *o, tutti_count *n,
                      double **xyz) {
    tutti_count first;
    exodus_share(w, o->p.nodes, &first, n);
    double *one = cli_malloc((size_t)*n * sizeof *one);
    *xyz = cli_malloc(3 * (size_t)*n * sizeof **xyz);
    memset(*xyz, 0, 3 * (size_t)*n * sizeof **xyz);
    for (int d = 0; d < o->p.dims; d++) {
        const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                      .kind = TUTTI_EXODUS_NODAL,
                                      .component = d,
                                      .first = first,
                                      .n = *n,
                                      .type = TUTTI_FLOAT64,
                                      .buf = one};
        if (tutti_exodus_get_arrays(x, 1, &a) != TUTTI_OK) return free(one), cli_error_tutti();
        for (tutti_count i = 0; i < *n; i++) (*xyz)[3 * i + d] = one[i];
    }
    free(one);
    return 0;
}

/* Return the pieces of all nodes, on every rank. */
static int *nodes_divide(const cli_world *w, const data_config *c, const slice *s,
                         tutti_count nodes, const double *xyz, tutti_count all) {
    const tutti_mesh_view local = {.nodes = nodes,
                                   .coordinates = xyz,
                                   .elements = s->n,
                                   .type = s->type,
                                   .start = s->start,
                                   .node = s->node};
    tutti_mesh *mesh = NULL;
    int *of = cli_malloc((size_t)nodes * sizeof *of), *out = NULL;
    const int metis = c->split_by == SPLIT_METIS;
    tutti_err err = tutti_mesh_make(w->comm, &local, &mesh);
    if (err == TUTTI_OK)
        err = tutti_mesh_partition(mesh, c->parts, metis ? TUTTI_MESH_METIS : TUTTI_MESH_BY_CURVE,
                                   NULL, of);
    if (err == TUTTI_OK) {
        int *counts = cli_malloc(2 * (size_t)w->ranks * sizeof *counts), *at = counts + w->ranks;
        for (int r = 0; r < w->ranks; r++) {
            at[r] = (int)(all * r / w->ranks);
            counts[r] = (int)(all * (r + 1) / w->ranks) - at[r];
        }
        out = cli_malloc((size_t)all * sizeof *out);
        MPI_Allgatherv(of, (int)nodes, MPI_INT, out, counts, at, MPI_INT, w->comm);
        free(counts);
    } else {
        cli_error_tutti();
    }
    tutti_mesh_free(&mesh);
    free(of);
    return out;
}

/* Return the part that has most of the n nodes; of several, the one that occurs first. */
static int most_of(const tutti_count *node, tutti_count n, const int *of) {
    int best = of[node[0]], most = 0;
    for (tutti_count i = 0; i < n; i++) {
        int same = 0;
        for (tutti_count j = 0; j < n; j++) same += of[node[j]] == of[node[i]];
        if (same > most) {
            most = same;
            best = of[node[i]];
        }
    }
    return best;
}

int exodus_parts_find(const cli_world *w, const data_config *c, tutti_exodus *x,
                      const exodus_outline *o, exodus_parts *out) {
    const tutti_count all = o->p.elements;
    *out = (exodus_parts){.n = 0};
    exodus_share(w, all, &out->first, &out->n);
    out->part = cli_malloc((size_t)out->n * sizeof *out->part);
    if (c->split_by == SPLIT_ORDER) {
        for (tutti_count i = 0; i < out->n; i++)
            out->part[i] = (int)((out->first + i) * c->parts / all);
        return 0;
    }
    if (o->p.nodes > 2000000000)
        return cli_error("mesh has %lld nodes: at most 2000000000 are supported; use --by order",
                         (long long)o->p.nodes);
    slice s;
    tutti_count nodes = 0;
    double *xyz = NULL;
    int failed = elements_read(x, o, out, &s) || nodes_read(w, x, o, &nodes, &xyz);
    if (!(failed = cli_agree(w, failed))) {
        int *of = nodes_divide(w, c, &s, nodes, xyz, o->p.nodes);
        failed = !of;
        for (tutti_count i = 0; s.node && i < out->n && !failed; i++)
            out->part[i] = most_of(s.node + s.start[i], s.start[i + 1] - s.start[i], of);
        free(of);
    }
    free(s.start);
    free(s.node);
    free(s.type);
    free(xyz);
    return failed;
}
