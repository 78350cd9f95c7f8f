/* tutti exodus join: merge the pieces of a rank into one mesh.  Entries of several pieces (nodes on borders,
 * copies of elements, members of sets) are identified by id, and stored once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/join.h"

#include <stdlib.h>
#include <string.h>

int64_t exodus_node_id(const tutti_exodus_mesh *m, tutti_count i) {
    return m->node_ids ? m->node_ids[i] : i + 1;
}

int64_t exodus_entry_id(const exodus_piece *q, int kind, tutti_count b, tutti_count i) {
    const tutti_exodus_elements *e = exodus_blocks(q->mesh, kind);
    if (e[b].ids) return e[b].ids[i];
    for (tutti_count k = 0; k < b; k++) i += e[k].n;
    return i + 1;
}

/* ---- removal of duplicate entries */

/* An entry of a piece: its key (id, side) and its origin. */
typedef struct {
    int64_t id, side;
    int piece;
    tutti_count entity, at; /* number of the entity; index in the entity */
} source;

typedef struct {
    tutti_count n;
    source *v;
} sources;

static int by_id(const void *a, const void *b) {
    const source *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->side != y->side) return x->side < y->side ? -1 : 1;
    if (x->piece != y->piece) return x->piece - y->piece;
    return (x->at > y->at) - (x->at < y->at);
}

/* Sort entries and remove duplicates; store the new index of every entry in its piece. */
static void remove_duplicates(exodus_whole *w, int kind, sources *s) {
    int is_ascending = 1; /* ascending without duplicates, as usual for a single piece */
    for (tutti_count i = 1; i < s->n && is_ascending; i++) {
        const source *x = &s->v[i - 1], *y = &s->v[i];
        is_ascending = x->id < y->id || (x->id == y->id && x->side < y->side);
    }
    if (is_ascending) {
        for (tutti_count i = 0; i < s->n; i++)
            w->piece[s->v[i].piece].place[kind][s->v[i].entity][s->v[i].at] = i;
        return;
    }
    const void **sorted = exodus_sort_runs(s->v, s->n, sizeof *s->v, by_id);
    source *v = cli_malloc((size_t)s->n * sizeof *v);
    tutti_count n = 0;
    for (tutti_count i = 0; i < s->n; i++) {
        const source *x = sorted[i];
        if (n == 0 || v[n - 1].id != x->id || v[n - 1].side != x->side) v[n++] = *x;
        w->piece[x->piece].place[kind][x->entity][x->at] = n - 1;
    }
    free(sorted);
    free(s->v);
    *s = (sources){n, v};
}

/* Allocate the table of places of a kind in all pieces. */
static void places_make(exodus_whole *w, int kind) {
    for (int p = 0; p < w->pieces; p++) {
        exodus_piece *q = &w->piece[p];
        const size_t n = kind == TUTTI_EXODUS_NODAL ? 1 : (size_t)q->o.of[kind].n;
        q->place[kind] = cli_zeros(n * sizeof *q->place[kind]);
    }
}

/* Return whether there are ids, and they ascend without duplicates: the order of a joined mesh. */
static int is_in_order(tutti_count n, const int64_t *ids) {
    for (tutti_count i = 1; i < n && ids; i++)
        if (ids[i - 1] >= ids[i]) return 0;
    return ids != NULL;
}

/* Convert an index in the blocks of piece p to the index in the blocks of the rank. */
static tutti_count translate_index(const exodus_whole *w, int p, int kind, tutti_count place) {
    const exodus_piece *q = &w->piece[p];
    const tutti_exodus_elements *merged = exodus_blocks(&w->mesh, kind);
    if (kind == TUTTI_EXODUS_NODAL) return q->place[kind][0] ? q->place[kind][0][place] : place;
    for (tutti_count b = 0; b < q->o.of[kind].n; b++) {
        const tutti_count n = exodus_entries(q->mesh, kind, b);
        if (place < n) {
            tutti_count before = 0;
            for (tutti_count i = 0; i < q->number[kind][b]; i++) before += merged[i].n;
            return before + (q->place[kind][b] ? q->place[kind][b][place] : place);
        }
        place -= n;
    }
    return 0;
}

/* List the entries (nodes, members) of an entity of all pieces, without duplicates. */
static sources sources_find(exodus_whole *w, int kind, tutti_count number) {
    const int nodal = kind == TUTTI_EXODUS_NODAL;
    sources s = {.n = 0};
    tutti_count capacity = 0;
    for (int p = 0; p < w->pieces; p++) {
        const exodus_piece *q = &w->piece[p];
        const tutti_count b = nodal ? 0 : q->entity[kind][number];
        if (b < 0) continue;
        const tutti_exodus_members *m = exodus_is_set(kind) ? &exodus_sets(q->mesh, kind)[b] : NULL;
        const tutti_count n = exodus_entries(q->mesh, kind, b);
        q->place[kind][b] = cli_malloc((size_t)n * sizeof *q->place[kind][b]);
        if (s.n + n > capacity)
            s.v = cli_realloc(s.v, (size_t)(capacity = 2 * (s.n + n)) * sizeof *s.v);
        for (tutti_count i = 0; i < n; i++)
            s.v[s.n++] =
                (source){.id = nodal ? exodus_node_id(q->mesh, i)
                               : m ? translate_index(w, p, exodus_member_kind(kind), m->members[i])
                                   : exodus_entry_id(q, kind, b, i),
                         .side = m && m->sides ? m->sides[i] : 0,
                         .piece = p,
                         .entity = b,
                         .at = i};
    }
    remove_duplicates(w, kind, &s);
    return s;
}

static int64_t *ids_make(exodus_whole *w, const sources *s) {
    int64_t *id = cli_keep(&w->kept, &w->keeps, (size_t)s->n * sizeof *id);
    for (tutti_count i = 0; i < s->n; i++) id[i] = s->v[i].id;
    return id;
}

/* Collect `a` attributes per entry; attributes that a piece does not have are 0. */
static double *attributes_make(exodus_whole *w, const sources *s, int kind, int a) {
    if (a == 0) return NULL;
    double *out = cli_keep(&w->kept, &w->keeps, (size_t)(s->n * a) * sizeof *out);
    for (tutti_count i = 0; i < s->n; i++) {
        const source *x = &s->v[i];
        const tutti_exodus_mesh *m = w->piece[x->piece].mesh;
        const double *from = kind == TUTTI_EXODUS_NODAL ? m->node_attributes
                             : exodus_is_set(kind)      ? exodus_sets(m, kind)[x->entity].attributes
                                                   : exodus_blocks(m, kind)[x->entity].attributes;
        for (int k = 0; k < a; k++) out[i * a + k] = from ? from[x->at * a + k] : 0;
    }
    return out;
}

/* ---- blocks */

/* Collect the node (edge, face) lists of the entries of a block; `wide` values per entry, or delimited by
 * `start`. */
static tutti_count *lists_make(exodus_whole *w, const sources *s, int kind, int of, int wide,
                               const tutti_count *start) {
    const tutti_count all = start ? start[s->n] : s->n * wide;
    tutti_count *out = cli_keep(&w->kept, &w->keeps, (size_t)all * sizeof *out), n = 0;
    for (tutti_count i = 0; i < s->n; i++) {
        const source *x = &s->v[i];
        const tutti_exodus_elements *e = &exodus_blocks(w->piece[x->piece].mesh, kind)[x->entity];
        const tutti_count *from = of == TUTTI_EXODUS_EDGE_BLOCK && !start   ? e->edges
                                  : of == TUTTI_EXODUS_FACE_BLOCK && !start ? e->faces
                                                                            : e->nodes;
        const tutti_count begin = start ? e->start[x->at] : x->at * wide;
        const tutti_count count = start ? start[i + 1] - start[i] : wide;
        for (tutti_count k = 0; k < count; k++)
            out[n++] = translate_index(w, x->piece, of, from[begin + k]);
    }
    return out;
}

static tutti_count *starts_make(exodus_whole *w, const sources *s, int kind) {
    tutti_count *start = cli_keep(&w->kept, &w->keeps, ((size_t)s->n + 1) * sizeof *start);
    start[0] = 0;
    for (tutti_count i = 0; i < s->n; i++) {
        const source *x = &s->v[i];
        const tutti_exodus_elements *e = &exodus_blocks(w->piece[x->piece].mesh, kind)[x->entity];
        start[i + 1] = start[i] + e->start[x->at + 1] - e->start[x->at];
    }
    return start;
}

static void block_make(exodus_whole *w, int kind, tutti_count number, tutti_exodus_elements *out) {
    const tutti_exodus_entity *e = &w->o.of[kind].entity[number];
    const int faces = exodus_topology_is(e->topology, "nfaced");
    const int poly = faces || exodus_topology_is(e->topology, "nsided");
    const tutti_count b = w->pieces == 1 ? w->piece[0].entity[kind][number] : -1;
    if (b >= 0 && !faces && !e->edges && !e->faces && !w->piece[0].place[TUTTI_EXODUS_NODAL][0]) {
        /* the block of the only piece of this rank, if its entries are in order like its nodes */
        *out = exodus_blocks(w->piece[0].mesh, kind)[b];
        if (is_in_order(out->n, out->ids) && (e->attributes == 0 || out->attributes)) return;
    }
    const sources s = sources_find(w, kind, number);
    *out = (tutti_exodus_elements){.n = s.n,
                                   .ids = ids_make(w, &s),
                                   .attributes = attributes_make(w, &s, kind, e->attributes)};
    out->start = poly ? starts_make(w, &s, kind) : NULL;
    out->nodes = lists_make(w, &s, kind, faces ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL,
                            e->nodes, out->start);
    if (e->edges) out->edges = lists_make(w, &s, kind, TUTTI_EXODUS_EDGE_BLOCK, e->edges, NULL);
    if (e->faces) out->faces = lists_make(w, &s, kind, TUTTI_EXODUS_FACE_BLOCK, e->faces, NULL);
    free(s.v);
}

static const tutti_exodus_elements *blocks_make(exodus_whole *w, int kind) {
    const tutti_count n = w->o.of[kind].n;
    if (n == 0) return NULL;
    tutti_exodus_elements *out = cli_keep(&w->kept, &w->keeps, (size_t)n * sizeof *out);
    memset(out, 0, (size_t)n * sizeof *out);
    places_make(w, kind);
    for (tutti_count i = 0; i < n; i++) block_make(w, kind, i, &out[i]);
    return out;
}

/* ---- sets */

/* Compute the start of the factors of each member of a set of a piece. */
static tutti_count *factor_starts(const exodus_piece *q, int kind, tutti_count set) {
    const tutti_exodus_members *m = &exodus_sets(q->mesh, kind)[set];
    tutti_count *start = cli_malloc(((size_t)m->n + 1) * sizeof *start);
    start[0] = 0;
    for (tutti_count i = 0; i < m->n; i++)
        start[i + 1] =
            start[i] + (kind == TUTTI_EXODUS_SIDE_SET
                            ? exodus_side_width(&q->o, q->mesh, m->members[i], m->sides[i])
                            : 1);
    return start;
}

/* Collect the factors of a set; missing factors are 1. */
static double *factors_make(exodus_whole *w, const sources *s, int kind) {
    tutti_count **start = cli_malloc((size_t)w->pieces * sizeof *start), n = 0;
    memset(start, 0, (size_t)w->pieces * sizeof *start);
    double *out = NULL;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) out = cli_keep(&w->kept, &w->keeps, (size_t)n * sizeof *out);
        n = 0;
        for (tutti_count i = 0; i < s->n; i++) {
            const source *x = &s->v[i];
            const exodus_piece *q = &w->piece[x->piece];
            const double *from = exodus_sets(q->mesh, kind)[x->entity].factors;
            if (!start[x->piece]) start[x->piece] = factor_starts(q, kind, x->entity);
            const tutti_count *at = start[x->piece] + x->at;
            for (tutti_count k = at[0]; k < at[1]; k++, n++)
                if (pass) out[n] = from ? from[k] : 1;
        }
    }
    for (int p = 0; p < w->pieces; p++) free(start[p]);
    free(start);
    return out;
}

static void set_make(exodus_whole *w, int kind, tutti_count number, tutti_exodus_members *out) {
    const tutti_exodus_entity *e = &w->o.of[kind].entity[number];
    const sources s = sources_find(w, kind, number);
    tutti_count *member = cli_keep(&w->kept, &w->keeps, (size_t)s.n * sizeof *member);
    int *side = cli_keep(&w->kept, &w->keeps, (size_t)s.n * sizeof *side),
        sided = kind == TUTTI_EXODUS_SIDE_SET;
    for (tutti_count i = 0; i < s.n; i++) {
        member[i] = s.v[i].id;
        side[i] = (int)s.v[i].side;
        sided |= side[i] != 0;
    }
    *out = (tutti_exodus_members){
        .n = s.n, .members = member, .attributes = attributes_make(w, &s, kind, e->attributes)};
    if (sided || kind == TUTTI_EXODUS_EDGE_SET || kind == TUTTI_EXODUS_FACE_SET) out->sides = side;
    if (e->factors > 0) out->factors = factors_make(w, &s, kind);
    free(s.v);
}

static const tutti_exodus_members *sets_make(exodus_whole *w, int kind) {
    const tutti_count n = w->o.of[kind].n;
    if (n == 0) return NULL;
    tutti_exodus_members *out = cli_keep(&w->kept, &w->keeps, (size_t)n * sizeof *out);
    memset(out, 0, (size_t)n * sizeof *out);
    places_make(w, kind);
    for (tutti_count i = 0; i < n; i++) set_make(w, kind, i, &out[i]);
    return out;
}

void exodus_join_mesh(exodus_whole *w) {
    const tutti_exodus_mesh *m = w->pieces == 1 ? w->piece[0].mesh : NULL;
    places_make(w, TUTTI_EXODUS_NODAL);
    if (m && is_in_order(m->nodes, m->node_ids) &&
        (w->o.p.node_attributes == 0 || m->node_attributes)) {
        /* use the nodes of the piece as they are */
        for (int d = 0; d < w->o.p.dims; d++) w->mesh.coordinates[d] = m->coordinates[d];
        w->mesh.nodes = m->nodes;
        w->mesh.node_ids = m->node_ids;
        w->mesh.node_attributes = m->node_attributes;
    } else {
        const sources s = sources_find(w, TUTTI_EXODUS_NODAL, 0);
        for (int d = 0; d < w->o.p.dims; d++) {
            double *x = cli_keep(&w->kept, &w->keeps, (size_t)s.n * sizeof *x);
            for (tutti_count i = 0; i < s.n; i++)
                x[i] = exodus_coordinate(w->piece[s.v[i].piece].mesh, d, s.v[i].at);
            w->mesh.coordinates[d] = x;
        }
        w->mesh.nodes = s.n;
        w->mesh.node_ids = ids_make(w, &s);
        w->mesh.node_attributes =
            attributes_make(w, &s, TUTTI_EXODUS_NODAL, w->o.p.node_attributes);
        free(s.v);
    }
    w->mesh.type = TUTTI_FLOAT64;
    w->mesh.edge_blocks = blocks_make(w, TUTTI_EXODUS_EDGE_BLOCK);
    w->mesh.face_blocks = blocks_make(w, TUTTI_EXODUS_FACE_BLOCK);
    w->mesh.blocks = blocks_make(w, TUTTI_EXODUS_ELEMENT_BLOCK);
    w->mesh.node_sets = sets_make(w, TUTTI_EXODUS_NODE_SET);
    w->mesh.side_sets = sets_make(w, TUTTI_EXODUS_SIDE_SET);
    w->mesh.element_sets = sets_make(w, TUTTI_EXODUS_ELEMENT_SET);
    w->mesh.edge_sets = sets_make(w, TUTTI_EXODUS_EDGE_SET);
    w->mesh.face_sets = sets_make(w, TUTTI_EXODUS_FACE_SET);
}
