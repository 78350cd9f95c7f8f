/* exodus_mesh: a mesh read as it was dealt out.
 *
 *   elements   whose they are (mesh_deal.c), then their nodes, edges and faces
 *   faces, edges, nodes    those of the elements; what belongs to none goes to its home
 *   members    of sets, among what this rank has (mesh_members.c)
 *   the rest   coordinates, ids, attributes, factors: one read
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/read_state.h"

static void have_free(tutti__have *h) {
    void *const all[] = {h->starts, h->items.items, h->items.halo, h->first,     h->place,
                         h->own,    h->edges,       h->faces,      h->attributes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    tutti__entries_free(&h->lists);
    tutti__incidence_free(&h->holders);
}

static void getting_free(tutti__getting *g) {
    for (int k = 0; k <= TUTTI_EXODUS_FACE_BLOCK; k++) have_free(&g->of[k]);
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__free(g->members[k]);
        tutti__free(g->factors[k]);
        tutti__free(g->set_attributes[k]);
    }
    tutti__free(g->owner);
    tutti__values_free(&g->bundle);
    tutti__mesh_classes_free(&g->classes);
}

/* ---- what this rank has */

static tutti_err have_begin(const tutti__exodus_model *m, tutti_exodus_kind kind, tutti__have *h) {
    const size_t n = kind == TUTTI_EXODUS_NODAL ? 1 : (size_t)m->of[kind].n;
    h->kind = kind;
    h->entities = (tutti_count)n;
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
    h->items.all = h->starts[n];
    return TUTTI_OK;
}

/* Items are known: which are of which entity, and where they are in the mesh. */
static tutti_err places_make(tutti__have *h) {
    const tutti_count n = h->items.n;
    h->place = tutti__malloc((size_t)(n + 1) * sizeof *h->place);
    if (!h->place) return TUTTI_ERR_NOMEM;
    TUTTI_ASSERT(h->items.halo);
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
    return TUTTI_OK;
}

/* ---- elements */

static tutti_err elements_get(tutti__getting *g) {
    tutti__have *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti__dealt_elements e = {.n = 0};
    TUTTI_TRY(tutti__deal_elements(g->x, g->deal, &e));
    h->items.n = e.n;
    h->items.items = e.position;
    h->items.halo = e.halo;
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return tutti__entries_read(g->x, h->kind, e.n, e.position, TUTTI_OK, &h->lists);
}

/* Edges and faces of the elements, as the file has them: read apart, since few files have any. */
static tutti_err connected_get(tutti__getting *g) {
    tutti__have *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti__exodus_table *table = &g->x->model.of[h->kind];
    tutti_err mine = TUTTI_OK;
    int any = 0;
    for (tutti_count c = 0; c < table->n; c++) any |= table->row[c].edges || table->row[c].faces;
    if (!any) return TUTTI_OK;
    for (tutti_count c = 0; c < table->n && mine == TUTTI_OK; c++) {
        const tutti_exodus_entity *row = &table->row[c];
        const tutti_count n = h->first[c + 1] - h->first[c], *v = h->items.items + h->first[c];
        tutti_exodus_array a = {.what = TUTTI_EXODUS_EDGES, .kind = h->kind, .id = row->id};
        if (row->edges) mine = tutti__fetch_add(g, &a, n, v, h->starts[c], &h->edges[c]);
        a.what = TUTTI_EXODUS_FACES;
        if (row->faces && mine == TUTTI_OK)
            mine = tutti__fetch_add(g, &a, n, v, h->starts[c], &h->faces[c]);
    }
    return tutti__values_move(g->x, &g->bundle, 0, 0, NULL, mine);
}

static int is_faced(const tutti__getting *g, tutti_count c) {
    const tutti_exodus_entity *row = &g->x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK].row[c];
    return tutti__shape_list_of(row->topology) == TUTTI__NFACED;
}

/* ---- edges and faces */

/* Edges (faces) that elements of this rank have: each once, rising. */
static tutti_err referred(const tutti__getting *g, tutti_exodus_kind kind, tutti_count *n_out,
                          tutti_count **out) {
    const tutti__have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti__fetched *by = kind == TUTTI_EXODUS_EDGE_BLOCK ? e->edges : e->faces;
    tutti_count n = e->lists.start[e->lists.n], k = 0;
    for (tutti_count c = 0; c < e->entities; c++) n += (e->first[c + 1] - e->first[c]) * by[c].n;
    tutti_count *v = *out = tutti__malloc((size_t)(n + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->entities; c++) {
        const tutti_count lo = e->first[c], hi = e->first[c + 1];
        for (tutti_count q = 0; q < (hi - lo) * by[c].n; q++) {
            const int64_t to = tutti__fetched_ints(g, &by[c], 0)[q];
            TUTTI_CHECK(to >= 1 && to <= g->of[kind].items.all, TUTTI_ERR_FORMAT,
                        "element block %lld has %s %lld, and the file has %lld of them",
                        (long long)g->x->model.of[e->kind].row[c].id,
                        kind == TUTTI_EXODUS_EDGE_BLOCK ? "edge" : "face", (long long)to,
                        (long long)g->of[kind].items.all);
            v[k++] = to - 1;
        }
        for (tutti_count q = e->lists.start[lo];
             q < e->lists.start[hi] && kind == TUTTI_EXODUS_FACE_BLOCK && is_faced(g, c); q++)
            v[k++] = e->lists.to[q];
    }
    *n_out = tutti__sort_unique(v, k);
    return TUTTI_OK;
}

static tutti_err blocks_get(tutti__getting *g, tutti_exodus_kind kind) {
    tutti__have *h = &g->of[kind];
    h->items.on_root = g->deal->by == TUTTI_EXODUS_ON_ROOT;
    const tutti_err mine = referred(g, kind, &h->items.n, &h->items.items);
    if (h->items.all == 0) { /* nobody has any */
        TUTTI_TRY(tutti__exodus_agree(g->x, mine));
        h->items.halo = tutti__calloc(1, 1);
        h->lists.start = tutti__calloc(1, sizeof *h->lists.start);
        return tutti__exodus_agree(g->x, h->items.halo && h->lists.start ? places_make(h)
                                                                         : TUTTI_ERR_NOMEM);
    }
    TUTTI_TRY(tutti__claims_make(g->x->team, mine, &h->items, &h->holders));
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return tutti__entries_read(g->x, kind, h->items.n, h->items.items, TUTTI_OK, &h->lists);
}

/* ---- nodes */

/* Nodes of everything. */
static tutti_err nodes_collect(tutti__getting *g) {
    const tutti__have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti__have *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_count n = 0;
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k <= TUTTI_EXODUS_FACE_BLOCK; k++)
        n += g->of[k].lists.start[g->of[k].lists.n];
    tutti_count *v = h->items.items = tutti__malloc((size_t)(n + 1) * sizeof *v), k = 0;
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->entities; c++)
        for (tutti_count q = e->lists.start[e->first[c]];
             q < e->lists.start[e->first[c + 1]] && !is_faced(g, c); q++)
            v[k++] = e->lists.to[q];
    for (int b = TUTTI_EXODUS_EDGE_BLOCK; b <= TUTTI_EXODUS_FACE_BLOCK; b++) {
        const tutti__entries *l = &g->of[b].lists;
        if (l->start[l->n] > 0) memcpy(v + k, l->to, (size_t)l->start[l->n] * sizeof *v);
        k += l->start[l->n];
    }
    h->items.n = tutti__sort_unique(v, k);
    return TUTTI_OK;
}

/* Set the flag of each node of element i. */
static void mark(const tutti__getting *g, tutti_count i, int faced, unsigned char flag,
                 unsigned char *flags) {
    const tutti__entries *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK].lists;
    const tutti__have *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti__entries *f = &g->of[TUTTI_EXODUS_FACE_BLOCK].lists;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        if (!faced) {
            flags[tutti__sorted_find(h->items.items, h->items.n, e->to[k])] = flag;
            continue;
        }
        const tutti_count face = tutti__sorted_find(f->position, f->n, e->to[k]);
        for (tutti_count q = f->start[face]; q < f->start[face + 1]; q++)
            flags[tutti__sorted_find(h->items.items, h->items.n, f->to[q])] = flag;
    }
}

/* A node that only elements of the halo have is halo. */
static tutti_err nodes_halo(tutti__getting *g) {
    tutti__have *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti__have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    h->items.halo = tutti__calloc((size_t)h->items.n + 1, 1);
    if (!h->items.halo) return TUTTI_ERR_NOMEM;
    for (int halo = 1; halo >= 0; halo--)
        for (tutti_count c = 0; c < e->entities; c++)
            for (tutti_count i = e->first[c]; i < e->first[c + 1]; i++)
                if (e->items.halo[i] == halo)
                    mark(g, i, is_faced(g, c), (unsigned char)halo, h->items.halo);
    return TUTTI_OK;
}

/* The home names one owner: the lowest rank that has it, if possible not as halo. */
static tutti_err owners_say(const tutti__incidence *i, tutti_count **node_out, int **to_out) {
    tutti_count *node = *node_out = tutti__malloc((size_t)(i->n + 1) * sizeof *node);
    int *to = *to_out = tutti__malloc((size_t)(i->n + 1) * sizeof *to);
    if (!node || !to) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < i->n; k++) {
        tutti_count best = i->with[i->start[k]];
        for (tutti_count q = i->start[k]; q < i->start[k + 1] && best % 2; q++)
            if (i->with[q] % 2 == 0) best = i->with[q];
        node[k] = i->first + k;
        to[k] = (int)(best / 2);
    }
    return TUTTI_OK;
}

static tutti_err owners_get(tutti__getting *g) {
    const tutti__have *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_count *node = NULL, *in = NULL, n = 0;
    int *to = NULL;
    tutti_err mine = owners_say(&h->holders, &node, &to);
    g->owner = tutti__calloc((size_t)h->items.n + 1, 1);
    if (!g->owner) mine = TUTTI_ERR_NOMEM;
    const tutti_err err = tutti__send_records(g->x->team, mine, sizeof *node, h->holders.n, node,
                                              to, &n, (void **)&in);
    TUTTI_ASSERT(g->owner || err != TUTTI_OK);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++)
        g->owner[tutti__sorted_find(h->items.items, h->items.n, in[i])] = 1;
    tutti__free(node);
    tutti__free(to);
    tutti__free(in);
    return err;
}

static tutti_err nodes_get(tutti__getting *g) {
    tutti__have *h = &g->of[TUTTI_EXODUS_NODAL];
    h->items.on_root = g->deal->by == TUTTI_EXODUS_ON_ROOT;
    tutti_err mine = nodes_collect(g);
    if (mine == TUTTI_OK) mine = nodes_halo(g);
    if (h->items.all > 0)
        TUTTI_TRY(tutti__claims_make(g->x->team, mine, &h->items, &h->holders));
    else
        TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    /* nodes stay in the order of the file, whoever owns them */
    if (h->items.halo) memset(h->items.halo, 0, (size_t)h->items.n);
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return h->items.all > 0 ? owners_get(g) : TUTTI_OK;
}

/* ---- sets */

static tutti_err sets_get(tutti__getting *g) {
    const tutti__exodus_model *m = &g->x->model;
    tutti__have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    for (int k = 0; k < 5; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k], of = tutti__members_of(kind);
        if (m->of[kind].n == 0 || g->of[of].items.all == 0) continue;
        if (of == TUTTI_EXODUS_ELEMENT_BLOCK && !e->holders.start)
            TUTTI_TRY(tutti__claims_make(g->x->team, TUTTI_OK, &e->items, &e->holders));
        TUTTI_TRY(tutti__members_deal(g->x, kind, &g->of[of].holders, &g->members_n[kind],
                                      &g->members[kind]));
    }
    return TUTTI_OK;
}

/* ---- the call */

static tutti_err get(tutti__getting *g) {
    tutti_err mine = TUTTI_OK;
    g->x->mesh_warning[0] = 0;
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK && mine == TUTTI_OK; k++)
        mine = have_begin(&g->x->model, (tutti_exodus_kind)k, &g->of[k]);
    TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    TUTTI_TRY(elements_get(g));
    TUTTI_TRY(connected_get(g));
    TUTTI_TRY(blocks_get(g, TUTTI_EXODUS_FACE_BLOCK));
    TUTTI_TRY(blocks_get(g, TUTTI_EXODUS_EDGE_BLOCK));
    TUTTI_TRY(nodes_get(g));
    TUTTI_TRY(sets_get(g));
    mine = tutti__fetch_all(g);
    TUTTI_TRY(tutti__values_move(g->x, &g->bundle, 0, 0, NULL, mine));
    mine = tutti__mesh_fill(g);
    if (mine == TUTTI_OK) mine = tutti__getting_remember(g);
    TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    TUTTI_TRY(tutti__getting_writers(g));
    return tutti__exodus_agree(g->x, tutti__getting_hold(g));
}

static uint64_t deal_hash(const tutti_exodus_deal *d) {
    const int by = d ? (int)d->by : 0, halo = d ? d->halo : 0;
    return tutti__hash(tutti__hash(TUTTI__HASH_START, &by, sizeof by), &halo, sizeof halo);
}

tutti_err tutti_exodus_get_mesh(tutti_exodus *x, const tutti_exodus_deal *deal,
                                const tutti_exodus_mesh **mesh_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti__getting g = {.x = x, .deal = deal};
    tutti_err err = TUTTI_OK;
    if (!deal || !mesh_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "%s is NULL", deal ? "mesh_out" : "the deal");
    if (err == TUTTI_OK && x->defining)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1, "the file has no mesh yet");
    if (err == TUTTI_OK) err = tutti__deal_check(x, deal);
    TUTTI_TRY(tutti__exodus_call(x, "get_mesh", deal_hash(deal), err));
    err = get(&g);
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
    getting_free(&g);
    return tutti__exodus_named(x, "get_mesh", err);
}
