/* exodus_mesh: reading a mesh of a file and distributing it to ranks.
 *
 *   elements              choice of their ranks (distribute_elements.c); their nodes, edges and
 *                         faces
 *   faces, edges, nodes   those of the elements; unreferenced entries are assigned to the rank of
 *                         their share
 *   members               members of sets among the entries of this rank (distribute_members.c)
 *   values                one read of coordinates, ids, attributes, factors
 *
 * Each step takes the error of this rank so far and returns its error code; ranks agree on errors
 * in reads and at the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/read_state.h"

static void state_free(tutti__read_state *g) {
    for (int k = 0; k <= TUTTI_EXODUS_FACE_BLOCK; k++) {
        tutti__read_class *h = &g->of[k];
        void *const all[] = {h->starts, h->items.items, h->items.halo, h->first,      h->place,
                             h->own,    h->edges,       h->faces,      h->attributes, h->owner};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
        tutti__entries_free(&h->lists);
        tutti__position_index_free(&h->index);
        tutti__holders_free(&h->holders);
    }
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__free(g->factors[k]);
        tutti__free(g->set_attributes[k]);
    }
    tutti__free(g->member);
    tutti__values_free(&g->values);
    tutti__mesh_classes_free(&g->classes);
}

/* ---- entries of this rank */

static tutti_err read_class_begin(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                  tutti__read_class *h) {
    const size_t n = kind == TUTTI_EXODUS_NODAL ? 1 : (size_t)m->of[kind].n;
    h->kind = kind;
    h->entities = (tutti_count)n;
    /* `all` is set even if out of memory, since it determines the collective calls */
    h->items.all = tutti__exodus_model_total(m, kind);
    h->starts = kind == TUTTI_EXODUS_NODAL ? tutti__calloc(2, sizeof *h->starts)
                                           : tutti__starts_of(m, kind);
    h->first = tutti__calloc(n + 1, sizeof *h->first);
    h->own = tutti__calloc(n + 1, sizeof *h->own);
    h->edges = tutti__calloc(n + 1, sizeof *h->edges);
    h->faces = tutti__calloc(n + 1, sizeof *h->faces);
    h->attributes = tutti__calloc(n + 1, sizeof *h->attributes);
    if (!h->starts || !h->first || !h->own || !h->edges || !h->faces || !h->attributes)
        return TUTTI_ERR_NOMEM;
    if (kind == TUTTI_EXODUS_NODAL) h->starts[1] = m->p.nodes;
    return TUTTI_OK;
}

/* Determine the entities of the items, and their indices in the mesh. */
static tutti_err places_make(tutti__read_class *h) {
    const tutti_count n = h->items.n;
    /* without halo entries, items keep their order */
    if (n == 0 || !memchr(h->items.halo, 1, (size_t)n)) {
        for (tutti_count c = 0; c < h->entities; c++) {
            h->first[c + 1] = tutti__lower_bound(h->items.items, n, h->starts[c + 1]);
            h->own[c] = h->first[c + 1] - h->first[c];
        }
        return tutti__position_index_make(n, h->items.items, &h->index);
    }
    h->place = tutti__malloc((size_t)(n + 1) * sizeof *h->place);
    if (!h->place) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0, i = 0; c < h->entities; c++) {
        const tutti_count lo = i;
        tutti_count own = 0, at = lo;
        for (; i < n && h->items.items[i] < h->starts[c + 1]; i++) own += !h->items.halo[i];
        for (tutti_count k = lo; k < i; k++)
            if (!h->items.halo[k]) h->place[k] = at++;
        for (tutti_count k = lo; k < i; k++)
            if (h->items.halo[k]) h->place[k] = at++;
        h->own[c] = own;
        h->first[c + 1] = i;
    }
    return tutti__position_index_make(n, h->items.items, &h->index);
}

/* ---- elements */

/* Read the edges and faces of the elements; a separate read, since few files have any. */
static tutti_err connected_get(tutti__read_state *g, tutti_err local_err) {
    tutti__read_class *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti__exodus_table *table = &g->x->model.of[h->kind];
    int any = 0;
    for (tutti_count c = 0; c < table->n; c++) any |= table->row[c].edges || table->row[c].faces;
    if (!any) return local_err;
    for (tutti_count c = 0; c < table->n && local_err == TUTTI_OK; c++) {
        const tutti_exodus_entity *row = &table->row[c];
        const tutti_count n = h->first[c + 1] - h->first[c], *v = h->items.items + h->first[c];
        tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_EDGES, .kind = h->kind, .id = row->id};
        if (row->edges) local_err = tutti__read_add(g, &a, n, v, h->starts[c], &h->edges[c]);
        a.array_kind = TUTTI_EXODUS_FACES;
        if (row->faces && local_err == TUTTI_OK)
            local_err = tutti__read_add(g, &a, n, v, h->starts[c], &h->faces[c]);
    }
    return tutti__values_move(g->x, &g->values, 0, 0, NULL, local_err);
}

static int block_is_faced(const tutti__read_state *g, tutti_count c) {
    const tutti_exodus_entity *row = &g->x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK].row[c];
    return tutti__shape_list_of(row->topology) == TUTTI__NFACED;
}

/* ---- edges and faces */

/* List the edges (faces) of the elements of this rank, each once, ascending. */
static tutti_err find_referred(const tutti__read_state *g, tutti_exodus_kind kind,
                               tutti_count *n_out, tutti_count **out) {
    const tutti__read_class *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti__read_values *by = kind == TUTTI_EXODUS_EDGE_BLOCK ? e->edges : e->faces;
    tutti_count n = e->lists.start[e->lists.n], k = 0;
    for (tutti_count c = 0; c < e->entities; c++) n += (e->first[c + 1] - e->first[c]) * by[c].n;
    tutti_count *v = *out = tutti__malloc((size_t)(n + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->entities; c++) {
        const tutti_count lo = e->first[c], hi = e->first[c + 1];
        for (tutti_count q = 0; q < (hi - lo) * by[c].n; q++) {
            const int64_t to = tutti__read_ints(g, &by[c], 0)[q];
            const char *what = kind == TUTTI_EXODUS_EDGE_BLOCK ? "edge" : "face";
            TUTTI_CHECK(to >= 1 && to <= g->of[kind].items.all, TUTTI_ERR_FORMAT,
                        "element block %lld refers to %s %lld, but the file has %lld %ss",
                        (long long)g->x->model.of[e->kind].row[c].id, what, (long long)to,
                        (long long)g->of[kind].items.all, what);
            v[k++] = to - 1;
        }
        for (tutti_count q = e->lists.start[lo];
             q < e->lists.start[hi] && kind == TUTTI_EXODUS_FACE_BLOCK && block_is_faced(g, c); q++)
            v[k++] = e->lists.to[q];
    }
    *n_out = tutti__sort_unique(v, k);
    return TUTTI_OK;
}

static tutti_err blocks_get(tutti__read_state *g, tutti_exodus_kind kind, tutti_err local_err) {
    tutti__read_class *h = &g->of[kind];
    h->items.on_root = g->spec->partitioner == TUTTI_EXODUS_ON_ROOT;
    if (local_err == TUTTI_OK) local_err = find_referred(g, kind, &h->items.n, &h->items.items);
    if (h->items.all == 0) { /* the file has no such entries */
        h->items.halo = tutti__calloc(1, 1);
        h->lists.start = tutti__calloc(1, sizeof *h->lists.start);
        if (!h->items.halo || !h->lists.start) return TUTTI_ERR_NOMEM;
        return local_err == TUTTI_OK ? places_make(h) : local_err;
    }
    local_err = tutti__holders_make(g->x->team, local_err, &h->items, NULL, &h->holders);
    h->has_holders = 1;
    if (local_err == TUTTI_OK) local_err = places_make(h);
    return tutti__entries_read(g->x, kind, h->items.n, h->items.items, local_err, &h->lists);
}

/* ---- nodes */

/* Collect the nodes of all elements, edges and faces. */
static tutti_err nodes_collect(tutti__read_state *g) {
    const tutti__read_class *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    int lists = 0;
    tutti__position_list *v = tutti__calloc((size_t)e->entities + 2, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->entities; c++) {
        const tutti_count from = e->lists.start[e->first[c]], to = e->lists.start[e->first[c + 1]];
        if (!block_is_faced(g, c))
            v[lists++] = (tutti__position_list){to - from, e->lists.to ? e->lists.to + from : NULL};
    }
    for (int b = TUTTI_EXODUS_EDGE_BLOCK; b <= TUTTI_EXODUS_FACE_BLOCK; b++) {
        const tutti__entries *l = &g->of[b].lists;
        v[lists++] = (tutti__position_list){l->start[l->n], l->to};
    }
    const tutti_err err = tutti__positions_unite(lists, v, &h->items.n, &h->items.items);
    tutti__free(v);
    return err;
}

/* Set the flag of each node of element i. */
static void mark_nodes(const tutti__read_state *g, tutti_count i, int faced, unsigned char flag,
                       unsigned char *flags) {
    const tutti__entries *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK].lists;
    const tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti__entries *f = &g->of[TUTTI_EXODUS_FACE_BLOCK].lists;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        if (!faced) {
            flags[tutti__position_find(&h->index, e->to[k])] = flag;
            continue;
        }
        const tutti_count face = tutti__sorted_find(f->position, f->n, e->to[k]);
        for (tutti_count q = f->start[face]; q < f->start[face + 1]; q++)
            flags[tutti__position_find(&h->index, f->to[q])] = flag;
    }
}

/* Mark nodes that only elements of the halo have as halo. */
static tutti_err nodes_halo(tutti__read_state *g) {
    tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti__read_class *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    h->items.halo = tutti__calloc((size_t)h->items.n + 1, 1);
    if (!h->items.halo) return TUTTI_ERR_NOMEM;
    if (g->spec->halo == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__position_index_make(h->items.n, h->items.items, &h->index));
    for (int halo = 1; halo >= 0; halo--)
        for (tutti_count c = 0; c < e->entities; c++)
            for (tutti_count i = e->first[c]; i < e->first[c + 1]; i++)
                if (e->items.halo[i] == halo)
                    mark_nodes(g, i, block_is_faced(g, c), (unsigned char)halo, h->items.halo);
    return TUTTI_OK;
}

static tutti_err nodes_get(tutti__read_state *g, tutti_err local_err) {
    tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    h->items.on_root = g->spec->partitioner == TUTTI_EXODUS_ON_ROOT;
    if (local_err == TUTTI_OK) local_err = nodes_collect(g);
    if (local_err == TUTTI_OK) local_err = nodes_halo(g);
    tutti__position_index_free(&h->index);
    local_err = tutti__holders_make(g->x->team, local_err, &h->items, &h->owner, &h->holders);
    h->has_holders = 1;
    if (local_err != TUTTI_OK) return local_err;
    /* keep the order of the file, also for nodes that only elements of the halo have */
    memset(h->items.halo, 0, (size_t)h->items.n);
    return places_make(h);
}

/* ---- sets */

static tutti_err sets_get(tutti__read_state *g, tutti_err local_err) {
    const tutti__exodus_model *m = &g->x->model;
    const tutti__holders *holders[TUTTI_EXODUS_FACE_BLOCK + 1] = {NULL};
    tutti_count at = 0;
    int any = 0;
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k];
        tutti__read_class *h = &g->of[tutti__members_of(kind)];
        if (m->of[kind].n == 0 || h->items.all == 0) continue;
        if (!h->has_holders)
            local_err = tutti__holders_make(g->x->team, local_err, &h->items, NULL, &h->holders);
        h->has_holders = 1;
        holders[h->kind] = &h->holders;
        any = 1;
    }
    if (!any) return local_err;
    local_err = tutti__distribute_members(g->x, local_err, holders, &g->all_members, &g->member);
    for (int k = 0; k < TUTTI_EXODUS_KINDS && local_err == TUTTI_OK; k++) {
        g->members[k] = g->member + at;
        for (; at < g->all_members && g->member[at].kind == k; at++) g->members_n[k]++;
    }
    return local_err;
}

/* ---- the call */

static tutti_err get_mesh(tutti__read_state *g) {
    tutti_err local_err = TUTTI_OK;
    g->x->mesh_warning[0] = 0;
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK; k++)
        if (read_class_begin(&g->x->model, (tutti_exodus_kind)k, &g->of[k]) != TUTTI_OK)
            local_err = TUTTI_ERR_NOMEM;
    tutti__read_class *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti__local_elements e = {.n = 0};
    local_err = tutti__distribute_elements(g->x, g->spec, local_err, &e);
    h->items.n = e.n;
    h->items.items = e.position;
    h->items.halo = e.halo;
    if (local_err == TUTTI_OK) local_err = places_make(h);
    local_err = tutti__entries_read(g->x, h->kind, e.n, e.position, local_err, &h->lists);
    local_err = connected_get(g, local_err);
    local_err = blocks_get(g, TUTTI_EXODUS_FACE_BLOCK, local_err);
    local_err = blocks_get(g, TUTTI_EXODUS_EDGE_BLOCK, local_err);
    local_err = nodes_get(g, local_err);
    local_err = sets_get(g, local_err);
    if (local_err == TUTTI_OK) local_err = tutti__read_add_all(g);
    local_err = tutti__values_move(g->x, &g->values, 0, 0, NULL, local_err);
    if (local_err == TUTTI_OK) local_err = tutti__result_mesh_make(g);
    if (local_err == TUTTI_OK) local_err = tutti__result_classes_make(g);
    if (g->x->mode & TUTTI_WRITE) {
        local_err = tutti__team_agree(g->x->team, local_err);
        if (local_err == TUTTI_OK) local_err = tutti__result_writers_choose(g);
    }
    if (local_err == TUTTI_OK) local_err = tutti__result_local_make(g);
    return tutti__team_agree(g->x->team, local_err);
}

tutti_err tutti_exodus_get_mesh(tutti_exodus *x, const tutti_exodus_distribution *spec,
                                const tutti_exodus_mesh **mesh_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti__read_state g = {.x = x, .spec = spec};
    tutti_err err = TUTTI_OK;
    if (!spec || !mesh_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL",
                               spec ? "mesh_out" : "distribution");
    if (err == TUTTI_OK && x->defining)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                               "the file has no mesh: call tutti_exodus_put_mesh first");
    if (err == TUTTI_OK) err = tutti__distribution_check(x, spec);
    const int same[] = {spec ? (int)spec->partitioner : 0, spec ? spec->halo : 0};
    TUTTI_TRY(
        tutti__exodus_call(x, "get_mesh", tutti__hash(TUTTI__HASH_START, same, sizeof same), err));
    err = get_mesh(&g);
    TUTTI_ASSERT(mesh_out);
    if (err == TUTTI_OK) {
        tutti__exodus_result_set(&x->mesh_read, g.out, tutti__result_mesh_free);
        tutti__exodus_local_free(x);
        x->local = g.local;
        x->local_n = g.local_n;
        *mesh_out = &g.out->mesh;
    } else {
        tutti__result_mesh_free(g.out);
        tutti__exodus_local_drop(g.local_n, g.local);
    }
    state_free(&g);
    return tutti__exodus_named(x, "get_mesh", err);
}
