/* exodus: a mesh read as it was dealt out.
 *
 *   elements   whose they are (mesh_deal.c), then their nodes, edges and faces
 *   faces, edges, nodes    those of the elements; what belongs to none goes to its home
 *   members    of sets, among what this rank has (mesh_members.c)
 *   the rest   coordinates, ids, attributes, factors: one read
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus/deal.h"

/* What the caller got, until the next time. */
struct tutti__exodus_dealt {
    tutti_exodus_mesh mesh;
    tutti_count n, room;
    void **kept; /* all memory that the mesh points to */
};

static void dealt_drop(struct tutti__exodus_dealt *d) {
    for (tutti_count i = 0; d && i < d->n; i++) tutti__free(d->kept[i]);
    if (d) tutti__free(d->kept);
    tutti__free(d);
}

void tutti__exodus_dealt_forget(tutti_exodus *x) {
    dealt_drop(x->dealt);
    x->dealt = NULL;
}

/* Memory for the mesh; all 0. */
static tutti_err keep(struct tutti__exodus_dealt *d, tutti_count n, size_t size, void *out) {
    void *v = NULL;
    if (d->n == d->room) {
        const tutti_count room = 2 * d->room + 64;
        void **kept = tutti__realloc(d->kept, (size_t)room * sizeof *kept);
        if (!kept) return TUTTI_ERR_NOMEM;
        d->kept = kept;
        d->room = room;
    }
    v = tutti__calloc((size_t)n + 1, size);
    if (!v) return TUTTI_ERR_NOMEM;
    d->kept[d->n++] = v;
    memcpy(out, &v, sizeof v);
    return TUTTI_OK;
}

/* A piece of an array that is going to be read: numbers of one entity. */
typedef struct {
    tutti_type type;
    tutti_count index, n;
} fetch;

/* What this rank has of a kind of blocks, or of the nodes. */
typedef struct {
    tutti_exodus_kind kind;
    tutti_count classes;
    tutti_count *starts;  /* [classes + 1] of the file's */
    tutti__claim items;   /* rising */
    tutti__entries lists; /* nodes (faces) of each, in this order */
    tutti__incidence holders;
    tutti_count *first;                /* [classes + 1] items of each entity */
    tutti_count *place;                /* [n] where item k is in the mesh: own ones before halo */
    tutti_count *own;                  /* [classes] */
    fetch *edges, *faces, *attributes; /* [classes] */
    fetch ids;
} have;

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_deal *deal;
    have of[TUTTI_EXODUS_FACE_BLOCK + 1]; /* NODAL, and blocks */
    unsigned char *owner;                 /* [nodes] */
    tutti_count members_n[TUTTI_EXODUS_KINDS];
    tutti__member *members[TUTTI_EXODUS_KINDS];
    fetch *factors[TUTTI_EXODUS_KINDS], *set_attributes[TUTTI_EXODUS_KINDS]; /* [sets] */
    fetch coordinates[3], node_attributes;
    tutti__bundle bundle;
    tutti__mesh_families families;
    struct tutti__exodus_dealt *out;
    tutti__exodus_held *held;
    tutti_count held_n;
} getting;

static void have_free(have *h) {
    void *const all[] = {h->starts, h->items.items, h->items.halo, h->first,     h->place,
                         h->own,    h->edges,       h->faces,      h->attributes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    tutti__entries_free(&h->lists);
    tutti__incidence_free(&h->holders);
}

static void getting_free(getting *g) {
    for (int k = 0; k <= TUTTI_EXODUS_FACE_BLOCK; k++) have_free(&g->of[k]);
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__free(g->members[k]);
        tutti__free(g->factors[k]);
        tutti__free(g->set_attributes[k]);
    }
    tutti__free(g->owner);
    tutti__bundle_free(&g->bundle);
    tutti__mesh_families_free(&g->families);
}

/* ---- fetching */

/* Numbers of an array for items [lo, hi) of an entity, by their positions in it. */
static tutti_err fetch_add(getting *g, const tutti_exodus_array *a, tutti_count n,
                           const tutti_count *position, tutti_count base, fetch *out) {
    tutti__exodus_place at;
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_place_of(g->x, a, &at));
    *out = (fetch){at.type, 0, at.numbers};
    for (tutti_count i = 0; i < n; i++)
        TUTTI_TRY(tutti__bundle_add(&g->bundle, &at, (position[i] - base) * at.numbers, at.numbers,
                                    i == 0 ? &out->index : NULL, NULL));
    return TUTTI_OK;
}

static const int64_t *ints_at(const getting *g, const fetch *f, tutti_count i) {
    return tutti__bundle_ints(&g->bundle, f->type) + f->index + i * f->n;
}

static const double *reals_at(const getting *g, const fetch *f, tutti_count i) {
    return tutti__bundle_reals(&g->bundle, f->type) + f->index + i * f->n;
}

/* ---- what this rank has */

static tutti_err have_begin(const tutti__exodus_model *m, tutti_exodus_kind kind, have *h) {
    const size_t n = kind == TUTTI_EXODUS_NODAL ? 1 : (size_t)m->of[kind].n;
    h->kind = kind;
    h->classes = (tutti_count)n;
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
static tutti_err places_make(have *h) {
    const tutti_count n = h->items.n;
    h->place = tutti__malloc((size_t)(n + 1) * sizeof *h->place);
    if (!h->place) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0, i = 0; c < h->classes; c++) {
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

static tutti_err elements_get(getting *g) {
    have *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    tutti__dealt_elements e = {.n = 0};
    TUTTI_TRY(tutti__deal_elements(g->x, g->deal, &e));
    h->items.n = e.n;
    h->items.items = e.position;
    h->items.halo = e.halo;
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return tutti__entries_read(g->x, h->kind, e.n, e.position, TUTTI_OK, &h->lists);
}

/* Edges and faces of the elements, as the file has them: read apart, since few files have any. */
static tutti_err connected_get(getting *g) {
    have *h = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti__exodus_table *table = &g->x->model.of[h->kind];
    tutti_err mine = TUTTI_OK;
    int any = 0;
    for (tutti_count c = 0; c < table->n; c++) any |= table->row[c].edges || table->row[c].faces;
    if (!any) return TUTTI_OK;
    for (tutti_count c = 0; c < table->n && mine == TUTTI_OK; c++) {
        const tutti_exodus_entity *row = &table->row[c];
        const tutti_count n = h->first[c + 1] - h->first[c], *v = h->items.items + h->first[c];
        tutti_exodus_array a = {.what = TUTTI_EXODUS_EDGES, .kind = h->kind, .id = row->id};
        if (row->edges) mine = fetch_add(g, &a, n, v, h->starts[c], &h->edges[c]);
        a.what = TUTTI_EXODUS_FACES;
        if (row->faces && mine == TUTTI_OK)
            mine = fetch_add(g, &a, n, v, h->starts[c], &h->faces[c]);
    }
    return tutti__bundle_move(g->x, &g->bundle, 0, 0, NULL, mine);
}

static int is_faced(const getting *g, tutti_count c) {
    const tutti_exodus_entity *row = &g->x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK].row[c];
    return tutti__shape_list_of(row->topology) == TUTTI__NFACED;
}

/* ---- edges and faces */

/* Edges (faces) that elements of this rank have: each once, rising. */
static tutti_err referred(const getting *g, tutti_exodus_kind kind, tutti_count *n_out,
                          tutti_count **out) {
    const have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const fetch *by = kind == TUTTI_EXODUS_EDGE_BLOCK ? e->edges : e->faces;
    tutti_count n = e->lists.start[e->lists.n], k = 0;
    for (tutti_count c = 0; c < e->classes; c++) n += (e->first[c + 1] - e->first[c]) * by[c].n;
    tutti_count *v = *out = tutti__malloc((size_t)(n + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->classes; c++) {
        const tutti_count lo = e->first[c], hi = e->first[c + 1];
        for (tutti_count q = 0; q < (hi - lo) * by[c].n; q++) {
            const int64_t to = ints_at(g, &by[c], 0)[q];
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
    *n_out = tutti__once_each(v, k);
    return TUTTI_OK;
}

static tutti_err blocks_get(getting *g, tutti_exodus_kind kind) {
    have *h = &g->of[kind];
    h->items.on_root = g->deal->by == TUTTI_EXODUS_ON_ROOT;
    const tutti_err mine = referred(g, kind, &h->items.n, &h->items.items);
    if (h->items.all == 0) { /* nobody has any */
        TUTTI_TRY(tutti__exodus_agree(g->x, mine));
        h->items.halo = tutti__calloc(1, 1);
        h->lists.start = tutti__calloc(1, sizeof *h->lists.start);
        return tutti__exodus_agree(g->x, h->items.halo && h->lists.start ? places_make(h)
                                                                         : TUTTI_ERR_NOMEM);
    }
    TUTTI_TRY(tutti__claims_make(g->x->team, &h->items, mine, &h->holders));
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return tutti__entries_read(g->x, kind, h->items.n, h->items.items, TUTTI_OK, &h->lists);
}

/* ---- nodes */

/* Nodes of everything. */
static tutti_err nodes_collect(getting *g) {
    const have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    have *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_count n = 0;
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k <= TUTTI_EXODUS_FACE_BLOCK; k++)
        n += g->of[k].lists.start[g->of[k].lists.n];
    tutti_count *v = h->items.items = tutti__malloc((size_t)(n + 1) * sizeof *v), k = 0;
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < e->classes; c++)
        for (tutti_count q = e->lists.start[e->first[c]];
             q < e->lists.start[e->first[c + 1]] && !is_faced(g, c); q++)
            v[k++] = e->lists.to[q];
    for (int b = TUTTI_EXODUS_EDGE_BLOCK; b <= TUTTI_EXODUS_FACE_BLOCK; b++) {
        const tutti__entries *l = &g->of[b].lists;
        if (l->start[l->n] > 0) memcpy(v + k, l->to, (size_t)l->start[l->n] * sizeof *v);
        k += l->start[l->n];
    }
    h->items.n = tutti__once_each(v, k);
    return TUTTI_OK;
}

/* Set the flag of each node of element i. */
static void mark(const getting *g, tutti_count i, int faced, unsigned char flag,
                 unsigned char *flags) {
    const tutti__entries *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK].lists;
    const have *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti__entries *f = &g->of[TUTTI_EXODUS_FACE_BLOCK].lists;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        if (!faced) {
            flags[tutti__find_rising(h->items.items, h->items.n, e->to[k])] = flag;
            continue;
        }
        const tutti_count face = tutti__find_rising(f->position, f->n, e->to[k]);
        for (tutti_count q = f->start[face]; q < f->start[face + 1]; q++)
            flags[tutti__find_rising(h->items.items, h->items.n, f->to[q])] = flag;
    }
}

/* A node that only elements of the halo have is halo. */
static tutti_err nodes_halo(getting *g) {
    have *h = &g->of[TUTTI_EXODUS_NODAL];
    const have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    h->items.halo = tutti__calloc((size_t)h->items.n + 1, 1);
    if (!h->items.halo) return TUTTI_ERR_NOMEM;
    for (int halo = 1; halo >= 0; halo--)
        for (tutti_count c = 0; c < e->classes; c++)
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

static tutti_err owners_get(getting *g) {
    const have *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_count *node = NULL, *in = NULL, n = 0;
    int *to = NULL;
    tutti_err mine = owners_say(&h->holders, &node, &to);
    g->owner = tutti__calloc((size_t)h->items.n + 1, 1);
    if (!g->owner) mine = TUTTI_ERR_NOMEM;
    const tutti_err err =
        tutti__mesh_send(g->x->team, mine, sizeof *node, h->holders.n, node, to, &n, (void **)&in);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++)
        g->owner[tutti__find_rising(h->items.items, h->items.n, in[i])] = 1;
    tutti__free(node);
    tutti__free(to);
    tutti__free(in);
    return err;
}

static tutti_err nodes_get(getting *g) {
    have *h = &g->of[TUTTI_EXODUS_NODAL];
    h->items.on_root = g->deal->by == TUTTI_EXODUS_ON_ROOT;
    tutti_err mine = nodes_collect(g);
    if (mine == TUTTI_OK) mine = nodes_halo(g);
    if (h->items.all > 0)
        TUTTI_TRY(tutti__claims_make(g->x->team, &h->items, mine, &h->holders));
    else
        TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    /* nodes stay in the order of the file, whoever owns them */
    if (h->items.halo) memset(h->items.halo, 0, (size_t)h->items.n);
    TUTTI_TRY(tutti__exodus_agree(g->x, places_make(h)));
    return h->items.all > 0 ? owners_get(g) : TUTTI_OK;
}

/* ---- sets */

static tutti_err sets_get(getting *g) {
    const tutti__exodus_model *m = &g->x->model;
    have *e = &g->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    for (int k = 0; k < 5; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k], of = tutti__members_of(kind);
        if (m->of[kind].n == 0 || g->of[of].items.all == 0) continue;
        if (of == TUTTI_EXODUS_ELEMENT_BLOCK && !e->holders.start)
            TUTTI_TRY(tutti__claims_make(g->x->team, &e->items, TUTTI_OK, &e->holders));
        TUTTI_TRY(tutti__members_deal(g->x, kind, &g->of[of].holders, &g->members_n[kind],
                                      &g->members[kind]));
    }
    return TUTTI_OK;
}

/* ---- the rest */

static tutti_err nodes_fetch(getting *g) {
    const have *h = &g->of[TUTTI_EXODUS_NODAL];
    const tutti_exodus_parameters *p = &g->x->model.p;
    tutti_exodus_array a = {.what = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL};
    for (; a.component < p->dims; a.component++)
        TUTTI_TRY(fetch_add(g, &a, h->items.n, h->items.items, 0, &g->coordinates[a.component]));
    a = (tutti_exodus_array){.what = TUTTI_EXODUS_ATTRIBUTES, .kind = TUTTI_EXODUS_NODAL};
    if (p->node_attributes)
        TUTTI_TRY(fetch_add(g, &a, h->items.n, h->items.items, 0, &g->node_attributes));
    return TUTTI_OK;
}

static tutti_err entries_fetch(getting *g, tutti_exodus_kind kind, int has_ids) {
    have *h = &g->of[kind];
    const tutti_exodus_array ids = {.what = TUTTI_EXODUS_IDS, .kind = kind};
    if (has_ids) TUTTI_TRY(fetch_add(g, &ids, h->items.n, h->items.items, 0, &h->ids));
    for (tutti_count c = 0; c < h->classes && kind != TUTTI_EXODUS_NODAL; c++) {
        const tutti_exodus_entity *row = &g->x->model.of[kind].row[c];
        const tutti_exodus_array a = {.what = TUTTI_EXODUS_ATTRIBUTES, .kind = kind, .id = row->id};
        if (row->attributes)
            TUTTI_TRY(fetch_add(g, &a, h->first[c + 1] - h->first[c], h->items.items + h->first[c],
                                h->starts[c], &h->attributes[c]));
    }
    return TUTTI_OK;
}

/* Members [lo, hi) are of set c. */
static tutti_err set_fetch(getting *g, tutti_exodus_kind kind, tutti_count c, tutti_count lo,
                           tutti_count hi, tutti_count start) {
    const tutti_exodus_entity *row = &g->x->model.of[kind].row[c];
    const tutti__member *m = g->members[kind];
    tutti_exodus_array a = {.what = TUTTI_EXODUS_FACTORS, .kind = kind, .id = row->id};
    tutti__exodus_place at;
    if (row->factors > 0) {
        TUTTI_TRY(tutti__exodus_place_of(g->x, &a, &at));
        fetch *f = &g->factors[kind][c];
        *f = (fetch){at.type, 0, 1};
        for (tutti_count i = lo; i < hi; i++)
            TUTTI_TRY(tutti__bundle_add(
                &g->bundle, &at, kind == TUTTI_EXODUS_SIDE_SET ? m[i].at : m[i].index - start,
                m[i].weight, i == lo ? &f->index : NULL, NULL));
    }
    a.what = TUTTI_EXODUS_ATTRIBUTES;
    if (row->attributes > 0) {
        TUTTI_TRY(tutti__exodus_place_of(g->x, &a, &at));
        fetch *f = &g->set_attributes[kind][c];
        *f = (fetch){at.type, 0, at.numbers};
        for (tutti_count i = lo; i < hi; i++)
            TUTTI_TRY(tutti__bundle_add(&g->bundle, &at, (m[i].index - start) * at.numbers,
                                        at.numbers, i == lo ? &f->index : NULL, NULL));
    }
    return TUTTI_OK;
}

static tutti_err sets_fetch(getting *g, tutti_exodus_kind kind) {
    const tutti_count sets = g->x->model.of[kind].n;
    tutti_count start = 0;
    g->factors[kind] = tutti__calloc((size_t)sets + 1, sizeof *g->factors[kind]);
    g->set_attributes[kind] = tutti__calloc((size_t)sets + 1, sizeof *g->set_attributes[kind]);
    if (!g->factors[kind] || !g->set_attributes[kind]) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0, lo = 0, hi = 0; c < sets; c++, lo = hi) {
        const tutti_count end = start + g->x->model.of[kind].row[c].entries;
        while (hi < g->members_n[kind] && g->members[kind][hi].index < end) hi++;
        if (lo < hi) TUTTI_TRY(set_fetch(g, kind, c, lo, hi, start));
        start = end;
    }
    return TUTTI_OK;
}

static tutti_err fetch_all(getting *g) {
    const tutti_exodus_parameters *p = &g->x->model.p;
    TUTTI_TRY(nodes_fetch(g));
    TUTTI_TRY(entries_fetch(g, TUTTI_EXODUS_NODAL, p->has_node_ids));
    TUTTI_TRY(entries_fetch(g, TUTTI_EXODUS_ELEMENT_BLOCK, p->has_element_ids));
    TUTTI_TRY(entries_fetch(g, TUTTI_EXODUS_EDGE_BLOCK, p->has_edge_ids));
    TUTTI_TRY(entries_fetch(g, TUTTI_EXODUS_FACE_BLOCK, p->has_face_ids));
    for (int k = 0; k < 5; k++) TUTTI_TRY(sets_fetch(g, tutti__set_kinds[k]));
    return TUTTI_OK;
}

/* ---- all of it as a mesh */

static tutti_err ids_fill(getting *g, const have *h, const int64_t **out) {
    int64_t *ids = NULL;
    TUTTI_TRY(keep(g->out, h->items.n, sizeof *ids, &ids));
    for (tutti_count k = 0; k < h->items.n; k++)
        ids[h->place[k]] = h->ids.n ? *ints_at(g, &h->ids, k) : h->items.items[k] + 1;
    *out = ids;
    return TUTTI_OK;
}

static tutti_err nodes_fill(getting *g) {
    const have *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_exodus_mesh *m = &g->out->mesh;
    unsigned char *own = NULL;
    m->nodes = h->items.n;
    m->type = TUTTI_FLOAT64;
    TUTTI_TRY(ids_fill(g, h, &m->node_ids));
    for (int k = 0; k < g->x->model.p.dims; k++) {
        double *x = NULL;
        TUTTI_TRY(keep(g->out, m->nodes, sizeof *x, &x));
        if (m->nodes > 0)
            memcpy(x, reals_at(g, &g->coordinates[k], 0), (size_t)m->nodes * sizeof *x);
        m->coordinates[k] = x;
    }
    TUTTI_TRY(keep(g->out, m->nodes, 1, &own));
    if (m->nodes > 0) memcpy(own, g->owner, (size_t)m->nodes);
    m->own = own;
    if (g->node_attributes.n > 0) {
        double *x = NULL;
        TUTTI_TRY(keep(g->out, m->nodes * g->node_attributes.n, sizeof *x, &x));
        memcpy(x, reals_at(g, &g->node_attributes, 0),
               (size_t)(m->nodes * g->node_attributes.n) * sizeof *x);
        m->node_attributes = x;
    }
    return TUTTI_OK;
}

/* Numbers of the file, from 1, as places of this rank. */
static tutti_err places_fill(getting *g, const have *h, tutti_count c, const fetch *f,
                             const tutti_count **out) {
    const have *to = &g->of[f == &h->edges[c] ? TUTTI_EXODUS_EDGE_BLOCK : TUTTI_EXODUS_FACE_BLOCK];
    const tutti_count lo = h->first[c], hi = h->first[c + 1];
    tutti_count *v = NULL;
    if (f->n == 0) return TUTTI_OK;
    TUTTI_TRY(keep(g->out, (hi - lo) * f->n, sizeof *v, &v));
    for (tutti_count k = lo; k < hi; k++)
        for (tutti_count q = 0; q < f->n; q++)
            v[(h->place[k] - lo) * f->n + q] =
                tutti__find_rising(to->items.items, to->items.n, ints_at(g, f, k - lo)[q] - 1);
    *out = v;
    return TUTTI_OK;
}

static tutti_err lists_fill(getting *g, const have *h, tutti_count c, tutti_exodus_elements *e) {
    const tutti_exodus_entity *row = &g->x->model.of[h->kind].row[c];
    const tutti__shape_list listed = tutti__shape_list_of(row->topology);
    const have *to = &g->of[listed == TUTTI__NFACED ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL];
    const tutti_count lo = h->first[c], hi = h->first[c + 1], *from = h->lists.start;
    tutti_count *start = NULL, *nodes = NULL;
    TUTTI_TRY(keep(g->out, from[hi] - from[lo], sizeof *nodes, &nodes));
    TUTTI_TRY(keep(g->out, hi - lo + 1, sizeof *start, &start));
    for (tutti_count k = lo; k < hi; k++) start[h->place[k] - lo + 1] = from[k + 1] - from[k];
    for (tutti_count i = 0; i < hi - lo; i++) start[i + 1] += start[i];
    for (tutti_count k = lo; k < hi; k++)
        for (tutti_count q = from[k]; q < from[k + 1]; q++)
            nodes[start[h->place[k] - lo] + q - from[k]] =
                tutti__find_rising(to->items.items, to->items.n, h->lists.to[q]);
    e->nodes = nodes;
    if (listed) e->start = start;
    return TUTTI_OK;
}

static tutti_err blocks_fill(getting *g, tutti_exodus_kind kind,
                             const tutti_exodus_elements **out) {
    const have *h = &g->of[kind];
    const int64_t *ids = NULL;
    tutti_exodus_elements *v = NULL;
    if (h->classes == 0) return TUTTI_OK;
    TUTTI_TRY(keep(g->out, h->classes, sizeof *v, &v));
    TUTTI_TRY(ids_fill(g, h, &ids));
    for (tutti_count c = 0; c < h->classes; c++) {
        const tutti_count lo = h->first[c], n = h->first[c + 1] - lo;
        const fetch *f = &h->attributes[c];
        v[c].n = n;
        v[c].ids = ids + lo;
        TUTTI_TRY(lists_fill(g, h, c, &v[c]));
        TUTTI_TRY(places_fill(g, h, c, &h->edges[c], &v[c].edges));
        TUTTI_TRY(places_fill(g, h, c, &h->faces[c], &v[c].faces));
        if (f->n == 0) continue;
        double *x = NULL;
        TUTTI_TRY(keep(g->out, n * f->n, sizeof *x, &x));
        for (tutti_count k = 0; k < n; k++)
            memcpy(x + (h->place[lo + k] - lo) * f->n, reals_at(g, f, k), (size_t)f->n * sizeof *x);
        v[c].attributes = x;
    }
    *out = v;
    return TUTTI_OK;
}

/* All members of a kind in a few arrays; sets are pieces of them. */
typedef struct {
    tutti_count *members;
    int *sides;
    double *factors, *attributes;
    tutti_count factors_n, attributes_n;
} pool;

static tutti_err pool_make(getting *g, tutti_exodus_kind kind, pool *p) {
    const tutti__member *m = g->members[kind];
    const have *h = &g->of[tutti__members_of(kind)];
    const tutti_count n = g->members_n[kind];
    tutti_count weights = 0, attributes = 0;
    for (tutti_count c = 0; c < g->x->model.of[kind].n; c++)
        attributes = tutti__max(attributes, g->set_attributes[kind][c].n);
    for (tutti_count i = 0; i < n; i++) weights += m[i].weight;
    TUTTI_TRY(keep(g->out, n, sizeof *p->members, &p->members));
    if (kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET)
        TUTTI_TRY(keep(g->out, n, sizeof *p->sides, &p->sides));
    TUTTI_TRY(keep(g->out, weights, sizeof *p->factors, &p->factors));
    TUTTI_TRY(keep(g->out, n * attributes, sizeof *p->attributes, &p->attributes));
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count k = tutti__find_rising(h->items.items, h->items.n, m[i].position);
        TUTTI_ASSERT(k >= 0);
        p->members[i] = h->place[k];
        if (p->sides) p->sides[i] = m[i].side;
    }
    return TUTTI_OK;
}

static void set_fill(const getting *g, tutti_exodus_kind kind, tutti_count c, tutti_count lo,
                     pool *p, tutti_exodus_members *s) {
    const fetch *f = &g->factors[kind][c], *a = &g->set_attributes[kind][c];
    tutti_count weights = 0;
    s->members = p->members + lo;
    if (p->sides) s->sides = p->sides + lo;
    for (tutti_count i = lo; i < lo + s->n; i++) weights += g->members[kind][i].weight;
    if (f->n > 0) {
        s->factors = p->factors + p->factors_n;
        if (weights > 0)
            memcpy(p->factors + p->factors_n, reals_at(g, f, 0), (size_t)weights * sizeof(double));
        p->factors_n += weights;
    }
    if (a->n > 0) {
        s->attributes = p->attributes + p->attributes_n;
        memcpy(p->attributes + p->attributes_n, reals_at(g, a, 0),
               (size_t)(s->n * a->n) * sizeof(double));
        p->attributes_n += s->n * a->n;
    }
}

static tutti_err sets_fill(getting *g, tutti_exodus_kind kind, const tutti_exodus_members **out) {
    const tutti_count sets = g->x->model.of[kind].n;
    tutti_exodus_members *v = NULL;
    pool p = {.members = NULL};
    tutti_count end = 0;
    if (sets == 0) return TUTTI_OK;
    TUTTI_TRY(keep(g->out, sets, sizeof *v, &v));
    TUTTI_TRY(pool_make(g, kind, &p));
    for (tutti_count c = 0, lo = 0; c < sets; lo += v[c].n, c++) {
        end += g->x->model.of[kind].row[c].entries;
        while (lo + v[c].n < g->members_n[kind] && g->members[kind][lo + v[c].n].index < end)
            v[c].n++;
        if (v[c].n > 0) set_fill(g, kind, c, lo, &p, &v[c]);
    }
    *out = v;
    return TUTTI_OK;
}

static tutti_err mesh_fill(getting *g) {
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
    return sets_fill(g, TUTTI_EXODUS_FACE_SET, &m->face_sets);
}

/* ---- what is remembered for results */

static tutti_err family_begin(tutti__family *f, tutti_exodus_kind kind, tutti_count classes,
                              tutti_count n, const tutti_count *starts) {
    const size_t c = (size_t)classes;
    *f = (tutti__family){.kind = kind, .classes = classes, .n = n, .all = starts[classes]};
    f->start = tutti__calloc(c + 1, sizeof *f->start);
    f->count = tutti__calloc(c + 1, sizeof *f->count);
    f->before = tutti__calloc(c + 1, sizeof *f->before);
    f->position = tutti__malloc((size_t)(n + 1) * sizeof *f->position);
    f->writes = tutti__malloc((size_t)n + 1);
    if (!f->start || !f->count || !f->before || !f->position || !f->writes) return TUTTI_ERR_NOMEM;
    memset(f->writes, 1, (size_t)n + 1);
    memcpy(f->before, starts, (c + 1) * sizeof *starts);
    for (size_t k = 0; k < c; k++) f->count[k] = starts[k + 1] - starts[k];
    return TUTTI_OK;
}

static tutti_err entries_remember(getting *g, tutti_exodus_kind kind) {
    const have *h = &g->of[kind];
    tutti__family *f = &g->families.of[kind];
    TUTTI_TRY(family_begin(f, kind, h->classes, h->items.n, h->starts));
    memcpy(f->start, h->first, ((size_t)h->classes + 1) * sizeof *f->start);
    for (tutti_count k = 0; k < h->items.n; k++) f->position[h->place[k]] = h->items.items[k];
    return tutti__family_sort(f);
}

static tutti_err members_remember(getting *g, tutti_exodus_kind kind) {
    const tutti_count sets = g->x->model.of[kind].n, n = g->members_n[kind];
    tutti__family *f = &g->families.of[kind];
    tutti_count *starts = tutti__starts_of(&g->x->model, kind), i = 0;
    const tutti_err err = starts ? family_begin(f, kind, sets, n, starts) : TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < sets && err == TUTTI_OK; c++) {
        for (; i < n && g->members[kind][i].index < starts[c + 1]; i++)
            f->position[i] = g->members[kind][i].index;
        f->start[c + 1] = i;
    }
    tutti__free(starts);
    return err == TUTTI_OK ? tutti__family_sort(f) : err;
}

static tutti_err remember(getting *g) {
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK; k++)
        TUTTI_TRY(entries_remember(g, (tutti_exodus_kind)k));
    for (int k = 0; k < 5; k++)
        if (g->x->model.of[tutti__set_kinds[k]].variables_n > 0)
            TUTTI_TRY(members_remember(g, tutti__set_kinds[k]));
    return TUTTI_OK;
}

/* Results may be written: by whom, of what several have. */
static tutti_err writers(getting *g) {
    for (int k = 0; k < TUTTI_EXODUS_KINDS && (g->x->mode & TUTTI_WRITE); k++) {
        tutti__family *f = &g->families.of[k];
        if (!f->start || f->all == 0) continue;
        TUTTI_TRY(tutti__family_writers(g->x->team, &g->x->opt.choice,
                                        k == TUTTI_EXODUS_NODAL ? g->owner : NULL, f));
    }
    return TUTTI_OK;
}

static tutti_err held_make(getting *g) {
    tutti_count *own[TUTTI_EXODUS_KINDS] = {NULL};
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK; k++) own[k] = g->of[k].own;
    return tutti__exodus_held_make(&g->x->model, &g->families, own, &g->held, &g->held_n);
}

/* ---- the call */

static tutti_err get(getting *g) {
    tutti_err mine = TUTTI_OK;
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK && mine == TUTTI_OK; k++)
        mine = have_begin(&g->x->model, (tutti_exodus_kind)k, &g->of[k]);
    TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    TUTTI_TRY(elements_get(g));
    TUTTI_TRY(connected_get(g));
    TUTTI_TRY(blocks_get(g, TUTTI_EXODUS_FACE_BLOCK));
    TUTTI_TRY(blocks_get(g, TUTTI_EXODUS_EDGE_BLOCK));
    TUTTI_TRY(nodes_get(g));
    TUTTI_TRY(sets_get(g));
    mine = fetch_all(g);
    TUTTI_TRY(tutti__bundle_move(g->x, &g->bundle, 0, 0, NULL, mine));
    mine = mesh_fill(g);
    if (mine == TUTTI_OK) mine = remember(g);
    TUTTI_TRY(tutti__exodus_agree(g->x, mine));
    TUTTI_TRY(writers(g));
    return tutti__exodus_agree(g->x, held_make(g));
}

static uint64_t deal_hash(const tutti_exodus_deal *d) {
    const int words[2] = {d ? (int)d->by : 0, d ? d->halo : 0};
    return tutti__hash(TUTTI__HASH_START, words, sizeof words);
}

tutti_err tutti_exodus_get_mesh(tutti_exodus *x, const tutti_exodus_deal *deal,
                                const tutti_exodus_mesh **mesh_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    getting g = {.x = x, .deal = deal};
    tutti_err err = TUTTI_OK;
    if (!deal || !mesh_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "%s is NULL", deal ? "mesh_out" : "the deal");
    if (err == TUTTI_OK && x->defining)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1, "the file has no mesh yet");
    if (err == TUTTI_OK) err = tutti__deal_check(x, deal);
    TUTTI_TRY(tutti__exodus_call(x, "get_mesh", deal_hash(deal), err));
    err = get(&g);
    if (err == TUTTI_OK) {
        tutti__exodus_dealt_forget(x);
        tutti__exodus_held_free(x);
        x->dealt = g.out;
        x->held = g.held;
        x->held_n = g.held_n;
        *mesh_out = &g.out->mesh;
    } else {
        dealt_drop(g.out);
        tutti__exodus_held_drop(g.held_n, g.held);
    }
    getting_free(&g);
    return tutti__exodus_named(x, "get_mesh", err);
}
