/* nemesis: borders of a partition.
 *
 * The rank of the share of a node (decomposition/incidence.h) collects the ranks whose elements
 * have the node, and sends them to all its holders.  A side all of whose nodes are border nodes may
 * also be a side of another rank; such sides are matched on a rank that a hash of their nodes
 * determines.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "decomposition/incidence.h"
#include "nemesis/nemesis.h"

void tutti__borders_free(tutti__borders *b) {
    tutti__free(b->nodes);
    tutti__free(b->elements);
    tutti__free(b->node_map);
    tutti__free(b->element_map);
    tutti__free(b->shared_nodes);
    tutti__free(b->shared_elements);
    tutti__free(b->shared_sides);
    *b = (tutti__borders){.node_maps = 0};
}

/* A side that is sent to the rank that matches it. */
typedef struct {
    uint64_t key[2];
    tutti_count element;
    int32_t side, rank;
} side;

/* A node or side shared with a rank.  Both ranks sort shared entries by `order`, so that entry k of
 * both maps is the same node or side. */
typedef struct {
    tutti_count rank, item, side;
    /* nodes: the item; sides: the lowest element that has the side, the side in that element, and
     * an index if there are several */
    tutti_count order[3];
} shared;

typedef struct {
    tutti__team *team;
    const tutti__partition *p;
    const tutti__entity_class *nodes, *elements, *faces;
    unsigned char *own;    /* [nodes] 1: an element that this rank owns has the node */
    tutti_count *position; /* [nodes] ascending */
    tutti__entries ranks;  /* for each node of `position`: ranks whose elements have the node */
    shared *node;          /* border nodes, one entry per other rank */
    tutti_count node_n;
    shared *side;
    tutti_count side_n;
} bordering;

/* ---- nodes of an element, and of its sides, as local indices */

/* Return the nodes of the face with index `face`; *n_out is their number. */
static const tutti_count *face_nodes(const bordering *b, tutti_count face, tutti_count *n_out) {
    const tutti_count c = tutti__interval_of(b->faces->start, b->faces->entities, face);
    const tutti_exodus_entity *row = &b->p->model->of[TUTTI_EXODUS_FACE_BLOCK].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(b->p->mesh, TUTTI_EXODUS_FACE_BLOCK, c);
    const tutti_count i = face - b->faces->start[c];
    *n_out = tutti__entry_nodes(row, &e, i);
    return e.nodes + tutti__entry_start(row, &e, i);
}

typedef struct {
    const tutti_exodus_entity *row;
    tutti__shape_list listed;
    const tutti__shape *shape;
    tutti_count n; /* number of nodes, or of faces */
    const tutti_count *to;
} element;

static element element_of(const bordering *b, tutti_count c, const tutti_exodus_elements *e,
                          tutti_count i) {
    const tutti_exodus_entity *row = &b->p->model->of[TUTTI_EXODUS_ELEMENT_BLOCK].row[c];
    return (element){row, tutti__shape_list_of(row->topology),
                     tutti__shape_find(row->topology, row->nodes, b->p->model->p.dims),
                     tutti__entry_nodes(row, e, i), e->nodes + tutti__entry_start(row, e, i)};
}

/* Return node q of side s (the first is 0) of an element as a local index; -1: no further node. */
static tutti_count side_node(const bordering *b, const element *e, tutti_count s, tutti_count q) {
    tutti_count n = 0;
    if (e->listed == TUTTI__NSIDED) return q < 2 ? e->to[(s + q) % e->n] : -1;
    if (e->listed == TUTTI__NFACED) {
        const tutti_count *v = face_nodes(b, e->to[s], &n);
        return q < n ? v[q] : -1;
    }
    return q < tutti__shape_side(e->shape, (int)s + 1) ? e->to[e->shape->side[s][q] - 1] : -1;
}

/* ---- nodes */

static void own_mark(bordering *b) {
    for (tutti_count c = 0; c < b->elements->entities; c++) {
        const tutti_exodus_elements e =
            tutti__mesh_block(b->p->mesh, TUTTI_EXODUS_ELEMENT_BLOCK, c);
        for (tutti_count i = 0; i < e.n; i++) {
            if (!b->elements->first[b->elements->start[c] + i]) continue;
            const element x = element_of(b, c, &e, i);
            for (tutti_count k = 0; k < x.n; k++) {
                tutti_count n = 1;
                const tutti_count *v =
                    x.listed == TUTTI__NFACED ? face_nodes(b, x.to[k], &n) : x.to + k;
                for (tutti_count q = 0; q < n; q++) b->own[v[q]] = 1;
            }
        }
    }
}

static tutti_err nodes_say(bordering *b, tutti_count *n_out, tutti__pair **out) {
    const tutti_count n = b->nodes->n;
    tutti_count k = 0;
    b->own = tutti__calloc((size_t)n + 1, 1);
    b->position = tutti__malloc((size_t)(n + 1) * sizeof *b->position);
    tutti__pair *v = *out = tutti__malloc((size_t)(n + 1) * sizeof *v);
    if (!b->own || !b->position || !v) return TUTTI_ERR_NOMEM;
    own_mark(b);
    for (tutti_count j = 0; j < n; j++) {
        b->position[j] = b->nodes->sorted[j].number;
        if (b->own[b->nodes->sorted[j].index])
            v[k++] = (tutti__pair){b->position[j], b->team->rank};
    }
    *n_out = k;
    return TUTTI_OK;
}

enum { INTERNAL, BORDER, EXTERNAL };

/* Return the kind of node j in ascending order. */
static int kind_of(const bordering *b, tutti_count j) {
    const tutti_count n = b->ranks.start[j + 1] - b->ranks.start[j];
    const tutti_count i = b->nodes->sorted[j].index;
    if (b->own[i]) return n > 1 ? BORDER : INTERNAL;
    /* a node without elements is internal on its lowest rank */
    return n == 0 && b->nodes->first[i] ? INTERNAL : EXTERNAL;
}

static tutti_err nodes_sort_out(bordering *b, tutti__borders *out) {
    tutti_count count[3] = {0}, at[3];
    out->nodes = tutti__malloc((size_t)(b->nodes->n + 1) * sizeof *out->nodes);
    b->node = tutti__malloc((size_t)(b->ranks.start[b->nodes->n] + 1) * sizeof *b->node);
    if (!out->nodes || !b->node) return TUTTI_ERR_NOMEM;
    for (tutti_count j = 0; j < b->nodes->n; j++) count[kind_of(b, j)]++;
    at[INTERNAL] = 0;
    at[BORDER] = count[INTERNAL];
    at[EXTERNAL] = count[INTERNAL] + count[BORDER];
    for (tutti_count j = 0; j < b->nodes->n; j++) {
        const int kind = kind_of(b, j);
        out->nodes[at[kind]++] = b->position[j] + 1;
        for (tutti_count k = b->ranks.start[j]; k < b->ranks.start[j + 1] && kind == BORDER; k++)
            if (b->ranks.to[k] != b->team->rank)
                b->node[b->node_n++] =
                    (shared){b->ranks.to[k], b->position[j] + 1, 0, {b->position[j] + 1}};
    }
    out->internal_nodes = count[INTERNAL];
    out->border_nodes = count[BORDER];
    out->external_nodes = count[EXTERNAL];
    return TUTTI_OK;
}

/* ---- sides */

static int by_position(const void *a, const void *b) {
    const tutti_count x = *(const tutti_count *)a, y = *(const tutti_count *)b;
    return (x > y) - (x < y);
}

static uint64_t mix_hash(uint64_t h, tutti_count x) {
    h = (h ^ (uint64_t)x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Get the nodes of a side in ascending order and return their number; 0 if not all of them are
 * border nodes. */
static tutti_count border_side(const bordering *b, const element *e, tutti_count s,
                               const unsigned char *border, tutti_count **v, size_t *capacity) {
    tutti_count n = 0;
    for (tutti_count place; (place = side_node(b, e, s, n)) >= 0; n++) {
        if (!border[place]) return 0;
        if (tutti__grow(v, (size_t)n + 1, capacity, sizeof **v) != TUTTI_OK) return -1;
        (*v)[n] = b->nodes->position[place];
    }
    if (n > 1) qsort(*v, (size_t)n, sizeof **v, by_position);
    return n;
}

/* A growing list of sides. */
typedef struct {
    tutti_count n;
    size_t capacity;
    side *v;
} sides;

static tutti_err element_sides(const bordering *b, const element *e, tutti_count position,
                               const unsigned char *border, sides *out) {
    tutti_count *v = NULL;
    size_t capacity = 0;
    tutti_err err = TUTTI_OK;
    const tutti_count sides_n = e->listed ? e->n : tutti__shape_sides(e->shape);
    for (tutti_count s = 0; s < sides_n && err == TUTTI_OK; s++) {
        const tutti_count n = border_side(b, e, s, border, &v, &capacity);
        side x = {.key = {(uint64_t)n, ~(uint64_t)n},
                  .element = position + 1,
                  .side = (int32_t)s + 1,
                  .rank = b->team->rank};
        if (n < 0) err = TUTTI_ERR_NOMEM;
        for (tutti_count q = 0; q < n; q++) {
            x.key[0] = mix_hash(x.key[0], v[q]);
            x.key[1] = mix_hash(x.key[1], ~v[q]);
        }
        if (n > 0) err = tutti__grow(&out->v, (size_t)(out->n + 1), &out->capacity, sizeof x);
        if (n > 0 && err == TUTTI_OK) out->v[out->n++] = x;
    }
    tutti__free(v);
    return err;
}

static int by_key(const void *a, const void *b) {
    const side *x = a, *y = b;
    for (int k = 0; k < 2; k++)
        if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x->side > y->side) - (x->side < y->side);
}

/* Entries of maps and the ranks to which they are sent; if `out` is NULL, they are only counted. */
typedef struct {
    tutti_count n;
    shared *out;
    int *to;
} told;

/* Pair sides a[0 ... n - 1] of one rank with sides b[0 ... m - 1] of another rank that have the
 * same nodes.  Usually both counts are 1.  If they differ (three shells at an edge), the last side
 * of the shorter list is paired repeatedly, so that both maps have the same number of entries. */
static void pair_sides(const side *lowest, const side *a, tutti_count n, const side *b,
                       tutti_count m, told *t) {
    for (tutti_count k = 0; k < tutti__max(n, m); k++) {
        const side *x = &a[tutti__min(k, n - 1)], *y = &b[tutti__min(k, m - 1)];
        if (t->out) {
            const shared one = {y->rank, x->element, x->side, {lowest->element, lowest->side, k}};
            const shared other = {x->rank, y->element, y->side, {lowest->element, lowest->side, k}};
            t->to[t->n] = x->rank;
            t->out[t->n] = one;
            t->to[t->n + 1] = y->rank;
            t->out[t->n + 1] = other;
        }
        t->n += 2;
    }
}

/* Return the end of the sides of the rank of v[from]. */
static tutti_count rank_end(const side *v, tutti_count from, tutti_count to) {
    tutti_count end = from;
    while (end < to && v[end].rank == v[from].rank) end++;
    return end;
}

/* Match sides v[0 ... n - 1], which have the same nodes. */
static void match_sides(const side *v, tutti_count n, told *t) {
    const side *lowest = v;
    for (tutti_count i = 1; i < n; i++)
        if (v[i].element < lowest->element) lowest = &v[i];
    for (tutti_count a = 0, a_end; a < n; a = a_end) {
        a_end = rank_end(v, a, n);
        for (tutti_count b = a_end, b_end; b < n; b = b_end) {
            b_end = rank_end(v, b, n);
            pair_sides(lowest, v + a, a_end - a, v + b, b_end - b, t);
        }
    }
}

/* Match all sides with the same nodes; each rank receives its entries of the maps. */
static tutti_err match_all_sides(tutti_count n, side *v, told *t) {
    if (n > 0) qsort(v, (size_t)n, sizeof *v, by_key);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            t->out = tutti__malloc((size_t)(t->n + 1) * sizeof *t->out);
            t->to = tutti__malloc((size_t)(t->n + 1) * sizeof *t->to);
            if (!t->out || !t->to) return TUTTI_ERR_NOMEM;
        }
        t->n = 0;
        for (tutti_count from = 0, to = 0; from < n; from = to) {
            for (to = from; to < n && !memcmp(v[to].key, v[from].key, sizeof v->key);) to++;
            match_sides(v + from, to - from, t);
        }
    }
    return TUTTI_OK;
}

static tutti_err sides_meet(bordering *b) {
    sides own = {.n = 0};
    side *came = NULL;
    told tell = {.n = 0};
    int *to = NULL;
    tutti_count n = 0;
    unsigned char *border = tutti__calloc((size_t)b->nodes->n + 1, 1);
    tutti_err err = border ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count j = 0; j < b->nodes->n && err == TUTTI_OK; j++)
        border[b->nodes->sorted[j].index] = kind_of(b, j) == BORDER;
    for (tutti_count c = 0; c < b->elements->entities && err == TUTTI_OK; c++) {
        const tutti_exodus_elements e =
            tutti__mesh_block(b->p->mesh, TUTTI_EXODUS_ELEMENT_BLOCK, c);
        for (tutti_count i = 0; i < e.n && err == TUTTI_OK; i++) {
            const tutti_count k = b->elements->start[c] + i;
            if (!b->elements->first[k]) continue;
            const element x = element_of(b, c, &e, i);
            err = element_sides(b, &x, b->elements->position[k], border, &own);
        }
    }
    tutti__free(border);
    if (err == TUTTI_OK) {
        to = tutti__malloc((size_t)(own.n + 1) * sizeof *to);
        if (!to) err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < own.n && err == TUTTI_OK; i++)
        to[i] = (int)(own.v[i].key[1] % (uint64_t)b->team->size);
    err = tutti__send_records(b->team, err, sizeof *came, own.n, own.v, to, &n, (void **)&came);
    if (err == TUTTI_OK) {
        const tutti_err met = match_all_sides(n, came, &tell);
        err = tutti__send_records(b->team, met, sizeof *tell.out, tell.n, tell.out, tell.to,
                                  &b->side_n, (void **)&b->side);
    }
    tutti__free(own.v);
    tutti__free(came);
    tutti__free(tell.out);
    tutti__free(tell.to);
    tutti__free(to);
    return err;
}

static int by_rank(const void *a, const void *b) {
    const shared *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (x->order[k] != y->order[k]) return x->order[k] < y->order[k] ? -1 : 1;
    return 0;
}

/* Make the lists for each neighbour. */
static tutti_err maps_make(tutti_count n, shared *v, int *maps_out, tutti__neighbour **out) {
    int maps = 0;
    if (n > 0) qsort(v, (size_t)n, sizeof *v, by_rank);
    for (tutti_count i = 0; i < n; i++) maps += i == 0 || v[i].rank != v[i - 1].rank;
    tutti__neighbour *m = *out = tutti__malloc((size_t)(maps + 1) * sizeof *m);
    if (!m) return TUTTI_ERR_NOMEM;
    maps = 0;
    for (tutti_count i = 0; i < n; i++) {
        if (i == 0 || v[i].rank != v[i - 1].rank)
            m[maps++] = (tutti__neighbour){(int)v[i].rank, i, i};
        m[maps - 1].hi = i + 1;
    }
    *maps_out = maps;
    return TUTTI_OK;
}

static tutti_err items_of(tutti_count n, const shared *v, int64_t **items, int64_t **sides_out) {
    *items = tutti__malloc((size_t)(n + 1) * sizeof **items);
    if (!*items) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) (*items)[i] = v[i].item;
    if (!sides_out) return TUTTI_OK;
    *sides_out = tutti__malloc((size_t)(n + 1) * sizeof **sides_out);
    if (!*sides_out) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) (*sides_out)[i] = v[i].side;
    return TUTTI_OK;
}

/* ---- elements */

static tutti_err elements_sort_out(const bordering *b, tutti__borders *out) {
    const tutti__entity_class *f = b->elements;
    tutti_count *at_border = tutti__malloc((size_t)(b->side_n + 1) * sizeof *at_border), m = 0;
    out->elements = tutti__malloc((size_t)(f->n + 1) * sizeof *out->elements);
    if (!at_border || !out->elements) {
        tutti__free(at_border);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < b->side_n; i++) at_border[i] = b->side[i].item;
    m = tutti__sort_unique(at_border, b->side_n);
    for (tutti_count j = 0; j < f->n; j++) {
        if (!f->first[f->sorted[j].index]) continue;
        const tutti_count p = f->sorted[j].number + 1;
        if (tutti__sorted_find(at_border, m, p) < 0) out->elements[out->internal_elements++] = p;
    }
    for (tutti_count i = 0; i < m; i++) out->elements[out->internal_elements + i] = at_border[i];
    out->border_elements = m;
    tutti__free(at_border);
    return TUTTI_OK;
}

tutti_err tutti__borders_make(tutti__team *t, const tutti__partition *p, tutti__borders *out) {
    const tutti__entity_class *f = p->classes->of;
    bordering b = {.team = t,
                   .p = p,
                   .nodes = &f[TUTTI_EXODUS_NODAL],
                   .elements = &f[TUTTI_EXODUS_ELEMENT_BLOCK],
                   .faces = &f[TUTTI_EXODUS_FACE_BLOCK]};
    tutti__borders made = {.node_maps = 0};
    /* For each node of this rank, request the ranks whose elements have it. */
    tutti__incidence at_home = {.n = 0};
    tutti__pair *pairs = NULL;
    tutti_count n = 0;
    const tutti_err own = nodes_say(&b, &n, &pairs);
    tutti_err err = tutti__incidence_make(
        b.team, own, &(tutti__pairs){tutti__max(b.nodes->all, 1), n, pairs}, &at_home);
    tutti__free(pairs);
    if (err == TUTTI_OK)
        err = tutti__incidence_fetch(b.team, TUTTI_OK, &at_home, b.nodes->n, b.position, &b.ranks);
    tutti__incidence_free(&at_home);
    if (err == TUTTI_OK) err = tutti__team_agree(t, nodes_sort_out(&b, &made));
    if (err == TUTTI_OK) err = sides_meet(&b);
    if (err == TUTTI_OK) {
        err = maps_make(b.node_n, b.node, &made.node_maps, &made.node_map);
        if (err == TUTTI_OK) err = items_of(b.node_n, b.node, &made.shared_nodes, NULL);
        if (err == TUTTI_OK)
            err = maps_make(b.side_n, b.side, &made.element_maps, &made.element_map);
        if (err == TUTTI_OK)
            err = items_of(b.side_n, b.side, &made.shared_elements, &made.shared_sides);
        if (err == TUTTI_OK) err = elements_sort_out(&b, &made);
        err = tutti__team_agree(t, err);
    }
    tutti__free(b.own);
    tutti__free(b.position);
    tutti__entries_free(&b.ranks);
    tutti__free(b.node);
    tutti__free(b.side);
    if (err == TUTTI_OK)
        *out = made;
    else
        tutti__borders_free(&made);
    return err;
}
