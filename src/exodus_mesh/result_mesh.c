/* exodus_mesh: the data read as the mesh of a rank: indices instead of positions, own elements
 * before the halo.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/read_state.h"

void tutti__result_mesh_free(void *result) {
    tutti__result_mesh *d = result;
    for (tutti_count i = 0; d && i < d->n; i++) tutti__free(d->kept[i]);
    if (d) tutti__free(d->kept);
    tutti__free(d);
}

/* Register memory that the mesh owns from now on, unless there is an error. */
static tutti_err keep_memory(tutti__result_mesh *d, void *v) {
    TUTTI_TRY(tutti__grow(&d->kept, (size_t)(d->n + 1), &d->capacity, sizeof *d->kept));
    d->kept[d->n++] = v;
    return TUTTI_OK;
}

/* Allocate zeroed memory of the mesh. */
static tutti_err allocate_kept(tutti__result_mesh *d, tutti_count n, size_t size, void *out) {
    void *v = tutti__calloc((size_t)n + 1, size);
    if (!v) return TUTTI_ERR_NOMEM;
    const tutti_err err = keep_memory(d, v);
    if (err == TUTTI_OK)
        memcpy(out, &v, sizeof v);
    else
        tutti__free(v);
    return err;
}

/* ---- the complete mesh */

static tutti_err ids_fill(tutti__read_state *g, const tutti__read_class *h, const int64_t **out) {
    const tutti_count n = h->items.n, *position = h->items.items;
    int64_t *ids = tutti__malloc_large((size_t)(n + 1) * sizeof *ids);
    if (!ids) return TUTTI_ERR_NOMEM;
    const int64_t *from = h->ids.n ? tutti__read_ints(g, &h->ids, 0) : NULL;
    if (from && !h->place)
        memcpy(ids, from, (size_t)n * sizeof *ids);
    else if (h->index.is_range && !h->place)
        for (tutti_count k = 0; k < n; k++) ids[k] = h->index.first + k + 1;
    else
        for (tutti_count k = 0; k < n; k++)
            ids[tutti__read_place(h, k)] = from ? from[k] : position[k] + 1;
    const tutti_err err = keep_memory(g->out, ids);
    if (err == TUTTI_OK)
        *out = ids;
    else
        tutti__free(ids);
    return err;
}

static tutti_err nodes_fill(tutti__read_state *g) {
    const tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_exodus_mesh *m = &g->out->mesh;
    unsigned char *own = NULL;
    m->nodes = h->items.n;
    m->type = TUTTI_FLOAT64;
    TUTTI_TRY(ids_fill(g, h, &m->node_ids));
    for (int k = 0; k < g->x->model.p.dims; k++) {
        double *none = NULL;
        /* the values stay in the memory into which they were read (values_keep) */
        if (m->nodes > 0) {
            m->coordinates[k] = tutti__read_reals(g, &g->coordinates[k], 0);
            continue;
        }
        TUTTI_TRY(allocate_kept(g->out, 0, sizeof *none, &none));
        m->coordinates[k] = none;
    }
    TUTTI_TRY(allocate_kept(g->out, m->nodes, 1, &own));
    if (m->nodes > 0) memcpy(own, h->owner, (size_t)m->nodes);
    m->own = own;
    if (g->node_attributes.n > 0) {
        double *x = NULL;
        TUTTI_TRY(allocate_kept(g->out, m->nodes * g->node_attributes.n, sizeof *x, &x));
        memcpy(x, tutti__read_reals(g, &g->node_attributes, 0),
               (size_t)(m->nodes * g->node_attributes.n) * sizeof *x);
        m->node_attributes = x;
    }
    return TUTTI_OK;
}

/* Convert the edges or faces of block c from indices of the file, which start at 1, to local
 * indices. */
static tutti_err places_fill(tutti__read_state *g, const tutti__read_class *h, tutti_count c,
                             const tutti__read_values *f, const tutti_count **out) {
    const tutti__read_class *to =
        &g->of[f == &h->edges[c] ? TUTTI_EXODUS_EDGE_BLOCK : TUTTI_EXODUS_FACE_BLOCK];
    const tutti_count lo = h->first[c], hi = h->first[c + 1];
    tutti_count *v = NULL;
    if (f->n == 0) return TUTTI_OK;
    TUTTI_TRY(allocate_kept(g->out, (hi - lo) * f->n, sizeof *v, &v));
    for (tutti_count k = lo; k < hi; k++)
        for (tutti_count q = 0; q < f->n; q++)
            v[(tutti__read_place(h, k) - lo) * f->n + q] =
                tutti__position_find(&to->index, tutti__read_ints(g, f, k - lo)[q] - 1);
    *out = v;
    return TUTTI_OK;
}

/* Fill the lists of block c.  Without a halo, and unless the block is nsided or nfaced, positions
 * are converted to indices in place, and the caller keeps that memory. */
static tutti_err lists_fill(tutti__read_state *g, const tutti__read_class *h, tutti_count *lists,
                            tutti_count c, tutti_exodus_elements *e) {
    const tutti_exodus_entity *row = &g->x->model.of[h->kind].row[c];
    const tutti__shape_list listed = tutti__shape_list_of(row->topology);
    const tutti__read_class *to =
        &g->of[listed == TUTTI__NFACED ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL];
    const tutti_count lo = h->first[c], hi = h->first[c + 1], *from = h->lists.start;
    tutti_count *start = NULL, *nodes = NULL;
    const int in_place = g->spec->halo == 0;
    if (in_place && !listed) {
        e->nodes = nodes = lists + from[lo];
        tutti__positions_to_indices(&to->index, from[hi] - from[lo], nodes);
        return TUTTI_OK;
    }
    TUTTI_TRY(allocate_kept(g->out, from[hi] - from[lo], sizeof *nodes, &nodes));
    TUTTI_TRY(allocate_kept(g->out, hi - lo + 1, sizeof *start, &start));
    for (tutti_count k = lo; k < hi; k++)
        start[tutti__read_place(h, k) - lo + 1] = from[k + 1] - from[k];
    for (tutti_count i = 0; i < hi - lo; i++) start[i + 1] += start[i];
    for (tutti_count k = lo; k < hi; k++)
        for (tutti_count q = from[k]; q < from[k + 1]; q++)
            nodes[start[tutti__read_place(h, k) - lo] + q - from[k]] =
                tutti__position_find(&to->index, lists[q]);
    e->nodes = nodes;
    if (listed) e->start = start;
    return TUTTI_OK;
}

static tutti_err blocks_fill(tutti__read_state *g, tutti_exodus_kind kind,
                             const tutti_exodus_elements **out) {
    tutti__read_class *h = &g->of[kind];
    const int64_t *ids = NULL;
    tutti_exodus_elements *v = NULL;
    if (h->entities == 0) return TUTTI_OK;
    TUTTI_TRY(allocate_kept(g->out, h->entities, sizeof *v, &v));
    TUTTI_TRY(ids_fill(g, h, &ids));
    TUTTI_TRY(keep_memory(g->out, h->lists.to));
    tutti_count *lists = h->lists.to;
    h->lists.to = NULL;
    for (tutti_count c = 0; c < h->entities; c++) {
        const tutti_count lo = h->first[c], n = h->first[c + 1] - lo;
        const tutti__read_values *f = &h->attributes[c];
        v[c].n = n;
        v[c].ids = ids + lo;
        TUTTI_TRY(lists_fill(g, h, lists, c, &v[c]));
        TUTTI_TRY(places_fill(g, h, c, &h->edges[c], &v[c].edges));
        TUTTI_TRY(places_fill(g, h, c, &h->faces[c], &v[c].faces));
        if (f->n == 0) continue;
        double *x = NULL;
        TUTTI_TRY(allocate_kept(g->out, n * f->n, sizeof *x, &x));
        for (tutti_count k = 0; k < n; k++)
            memcpy(x + (tutti__read_place(h, lo + k) - lo) * f->n, tutti__read_reals(g, f, k),
                   (size_t)f->n * sizeof *x);
        v[c].attributes = x;
    }
    *out = v;
    return TUTTI_OK;
}

/* All members of a kind in a few arrays, of which sets are pieces. */
typedef struct {
    tutti_count *members;
    int *sides;
    double *factors, *attributes;
    tutti_count factors_n, attributes_n;
} pool;

static void set_fill(const tutti__read_state *g, tutti_exodus_kind kind, tutti_count c,
                     tutti_count lo, pool *p, tutti_exodus_members *s) {
    const tutti__read_values *f = &g->factors[kind][c], *a = &g->set_attributes[kind][c];
    tutti_count weights = 0;
    s->members = p->members + lo;
    if (p->sides) s->sides = p->sides + lo;
    for (tutti_count i = lo; i < lo + s->n; i++) weights += g->members[kind][i].weight;
    if (f->n > 0) {
        s->factors = p->factors + p->factors_n;
        if (weights > 0)
            memcpy(p->factors + p->factors_n, tutti__read_reals(g, f, 0),
                   (size_t)weights * sizeof(double));
        p->factors_n += weights;
    }
    if (a->n > 0) {
        s->attributes = p->attributes + p->attributes_n;
        memcpy(p->attributes + p->attributes_n, tutti__read_reals(g, a, 0),
               (size_t)(s->n * a->n) * sizeof(double));
        p->attributes_n += s->n * a->n;
    }
}

static tutti_err sets_fill(tutti__read_state *g, tutti_exodus_kind kind,
                           const tutti_exodus_members **out) {
    const tutti_count sets = g->x->model.of[kind].n;
    tutti_exodus_members *v = NULL;
    pool p = {.members = NULL};
    tutti_count end = 0;
    if (sets == 0) return TUTTI_OK;
    TUTTI_TRY(allocate_kept(g->out, sets, sizeof *v, &v));
    const tutti__member *m = g->members[kind];
    const tutti__read_class *h = &g->of[tutti__members_of(kind)];
    const tutti_count n = g->members_n[kind];
    tutti_count weights = 0, attributes = 0;
    for (tutti_count c = 0; c < g->x->model.of[kind].n; c++)
        attributes = tutti__max(attributes, g->set_attributes[kind][c].n);
    for (tutti_count i = 0; i < n; i++) weights += m[i].weight;
    TUTTI_TRY(allocate_kept(g->out, n, sizeof *p.members, &p.members));
    if (kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET)
        TUTTI_TRY(allocate_kept(g->out, n, sizeof *p.sides, &p.sides));
    TUTTI_TRY(allocate_kept(g->out, weights, sizeof *p.factors, &p.factors));
    TUTTI_TRY(allocate_kept(g->out, n * attributes, sizeof *p.attributes, &p.attributes));
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count k = tutti__position_find(&h->index, m[i].position);
        TUTTI_ASSERT(k >= 0);
        p.members[i] = tutti__read_place(h, k);
        if (p.sides) p.sides[i] = m[i].side;
    }
    for (tutti_count c = 0, lo = 0; c < sets; lo += v[c].n, c++) {
        end += g->x->model.of[kind].row[c].entries;
        while (lo + v[c].n < g->members_n[kind] && g->members[kind][lo + v[c].n].index < end)
            v[c].n++;
        if (v[c].n > 0) set_fill(g, kind, c, lo, &p, &v[c]);
    }
    *out = v;
    return TUTTI_OK;
}

tutti_err tutti__result_mesh_make(tutti__read_state *g) {
    g->out = tutti__calloc(1, sizeof *g->out);
    if (!g->out) return TUTTI_ERR_NOMEM;
    tutti_exodus_mesh *m = &g->out->mesh;
    TUTTI_TRY(nodes_fill(g));
    TUTTI_TRY(blocks_fill(g, TUTTI_EXODUS_ELEMENT_BLOCK, &m->blocks));
    TUTTI_TRY(blocks_fill(g, TUTTI_EXODUS_EDGE_BLOCK, &m->edge_blocks));
    TUTTI_TRY(blocks_fill(g, TUTTI_EXODUS_FACE_BLOCK, &m->face_blocks));
    TUTTI_TRY(sets_fill(g, TUTTI_EXODUS_NODE_SET, &m->node_sets));
    TUTTI_TRY(sets_fill(g, TUTTI_EXODUS_SIDE_SET, &m->side_sets));
    TUTTI_TRY(sets_fill(g, TUTTI_EXODUS_ELEMENT_SET, &m->element_sets));
    TUTTI_TRY(sets_fill(g, TUTTI_EXODUS_EDGE_SET, &m->edge_sets));
    TUTTI_TRY(sets_fill(g, TUTTI_EXODUS_FACE_SET, &m->face_sets));
    /* The mesh owns the reals that have been read, since it points to its coordinates. */
    for (int i = 0; i < g->values.n; i++) {
        tutti__values_part *p = &g->values.of[i];
        if (p->file_type != TUTTI_FLOAT32 && p->file_type != TUTTI_FLOAT64) continue;
        TUTTI_TRY(keep_memory(g->out, p->data));
        p->data = NULL;
    }
    return TUTTI_OK;
}
