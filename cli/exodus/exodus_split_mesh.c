/* tutti exodus split: extract a piece from the mesh of the rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/split.h"

#include <stdlib.h>
#include <string.h>

/* place[kind][i]: index in the piece of entry i of the rank's mesh, counted over all blocks of the kind; -1:
 * not in the piece. */
typedef struct {
    const exodus_outline *o;
    const tutti_exodus_mesh *m;
    exodus_subset *s;
    tutti_count *place[TUTTI_EXODUS_FACE_BLOCK + 1];
} cut;

static tutti_count entries_of(const cut *c, int kind) {
    tutti_count n = 0;
    if (kind == TUTTI_EXODUS_NODAL) return c->m->nodes;
    for (tutti_count b = 0; b < c->o->of[kind].n; b++) n += exodus_entries(c->m, kind, b);
    return n;
}

/* ---- marking: place is 1 for entries of the piece */

static void mark_entries(tutti_count *place, const tutti_count *list, tutti_count first,
                         tutti_count n) {
    for (tutti_count i = 0; list && i < n; i++) place[list[first + i]] = 1;
}

static void marks_of(cut *c, int kind) {
    const tutti_exodus_elements *blocks = exodus_blocks(c->m, kind);
    tutti_count at = 0;
    for (tutti_count b = 0; b < c->o->of[kind].n; b++)
        for (tutti_count i = 0; i < blocks[b].n; i++)
            if (c->place[kind][at++]) {
                /* Mark the nodes (faces of polyhedra), edges and faces of the entry. */
                const int of = exodus_topology_is(c->o->of[kind].entity[b].topology, "nfaced")
                                   ? TUTTI_EXODUS_FACE_BLOCK
                                   : TUTTI_EXODUS_NODAL;
                const tutti_count first =
                    blocks[b].start ? blocks[b].start[i] : i * c->o->of[kind].entity[b].nodes;
                const tutti_count n = blocks[b].start ? blocks[b].start[i + 1] - first
                                                      : c->o->of[kind].entity[b].nodes;
                mark_entries(c->place[of], blocks[b].nodes, first, n);
                if (c->o->of[kind].entity[b].edges)
                    mark_entries(c->place[TUTTI_EXODUS_EDGE_BLOCK], blocks[b].edges,
                                 i * c->o->of[kind].entity[b].edges,
                                 c->o->of[kind].entity[b].edges);
                if (c->o->of[kind].entity[b].faces)
                    mark_entries(c->place[TUTTI_EXODUS_FACE_BLOCK], blocks[b].faces,
                                 i * c->o->of[kind].entity[b].faces,
                                 c->o->of[kind].entity[b].faces);
            }
}

/* Mark the elements of the piece, then their faces and edges, then their nodes.  part NULL: all elements. */
static void marks_make(cut *c, const int *part, int which) {
    for (int kind = TUTTI_EXODUS_NODAL; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++) {
        const tutti_count n = entries_of(c, kind);
        c->place[kind] = cli_malloc((size_t)n * sizeof *c->place[kind]);
        for (tutti_count i = 0; i < n; i++)
            c->place[kind][i] = kind == TUTTI_EXODUS_ELEMENT_BLOCK && (!part || part[i] == which);
    }
    marks_of(c, TUTTI_EXODUS_ELEMENT_BLOCK);
    marks_of(c, TUTTI_EXODUS_FACE_BLOCK);
    marks_of(c, TUTTI_EXODUS_EDGE_BLOCK);
}

/* Mark nodes, edges and faces that belong to no element of this rank. */
static void rest_mark(cut *c) {
    static const int order[] = {TUTTI_EXODUS_FACE_BLOCK, TUTTI_EXODUS_EDGE_BLOCK,
                                TUTTI_EXODUS_NODAL};
    cut all = {.o = c->o, .m = c->m};
    marks_make(&all, NULL, 0);
    for (int k = 0; k < 3; k++) {
        const tutti_count n = entries_of(c, order[k]);
        for (tutti_count i = 0; i < n; i++)
            if (!all.place[order[k]][i]) c->place[order[k]][i] = 1;
        if (order[k] == TUTTI_EXODUS_NODAL) continue;
        marks_of(c, order[k]);
    }
    for (int kind = TUTTI_EXODUS_NODAL; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++)
        free(all.place[kind]);
}

/* ---- arrays of the piece */

static double *pick_values(exodus_subset *s, const double *from, const tutti_count *entry,
                           tutti_count n, int wide) {
    if (!from || wide == 0) return NULL;
    double *out = cli_keep(&s->kept, &s->keeps, (size_t)(n * wide) * sizeof *out);
    for (tutti_count i = 0; i < n; i++)
        memcpy(out + i * wide, from + entry[i] * wide, (size_t)wide * sizeof *out);
    return out;
}

static tutti_count *list_cut(cut *c, const tutti_count *from, int of, const tutti_count *entry,
                             tutti_count n, int wide) {
    if (!from || wide == 0) return NULL;
    tutti_count *out = cli_keep(&c->s->kept, &c->s->keeps, (size_t)(n * wide) * sizeof *out);
    for (tutti_count i = 0; i < n * wide; i++)
        out[i] = c->place[of][from[entry[i / wide] * wide + i % wide]];
    return out;
}

static void poly_cut(cut *c, const tutti_exodus_elements *b, int of, const tutti_count *entry,
                     tutti_exodus_elements *out) {
    tutti_count *start = cli_keep(&c->s->kept, &c->s->keeps, ((size_t)out->n + 1) * sizeof *start),
                n = 0;
    for (tutti_count i = 0; i < out->n; i++) n += b->start[entry[i] + 1] - b->start[entry[i]];
    tutti_count *node = cli_keep(&c->s->kept, &c->s->keeps, (size_t)n * sizeof *node);
    n = start[0] = 0;
    for (tutti_count i = 0; i < out->n; i++) {
        for (tutti_count k = b->start[entry[i]]; k < b->start[entry[i] + 1]; k++)
            node[n++] = c->place[of][b->nodes[k]];
        start[i + 1] = n;
    }
    out->start = start;
    out->nodes = node;
}

static const tutti_exodus_elements *blocks_cut(cut *c, int kind) {
    const tutti_exodus_elements *from = exodus_blocks(c->m, kind);
    const tutti_count blocks = c->o->of[kind].n;
    if (blocks == 0) return NULL;
    tutti_exodus_elements *out = cli_keep(&c->s->kept, &c->s->keeps, (size_t)blocks * sizeof *out);
    for (tutti_count b = 0; b < blocks; b++) {
        const tutti_exodus_entity *e = &c->o->of[kind].entity[b];
        const tutti_count n = c->s->count[kind][b], *entry = c->s->entry[kind][b];
        const int of = exodus_topology_is(e->topology, "nfaced") ? TUTTI_EXODUS_FACE_BLOCK
                                                                 : TUTTI_EXODUS_NODAL;
        int64_t *id = cli_keep(&c->s->kept, &c->s->keeps, (size_t)n * sizeof *id);
        for (tutti_count i = 0; i < n; i++) id[i] = from[b].ids[entry[i]];
        out[b] = (tutti_exodus_elements){
            .n = n,
            .ids = id,
            .attributes = pick_values(c->s, from[b].attributes, entry, n, e->attributes)};
        if (exodus_topology_is(e->topology, "nsided") || exodus_topology_is(e->topology, "nfaced"))
            poly_cut(c, &from[b], of, entry, &out[b]);
        else
            out[b].nodes = list_cut(c, from[b].nodes, of, entry, n, e->nodes);
        out[b].edges = list_cut(c, from[b].edges, TUTTI_EXODUS_EDGE_BLOCK, entry, n, e->edges);
        out[b].faces = list_cut(c, from[b].faces, TUTTI_EXODUS_FACE_BLOCK, entry, n, e->faces);
    }
    return out;
}

/* ---- sets */

static void set_cut(cut *c, int kind, tutti_count number, tutti_exodus_members *out) {
    const tutti_exodus_members *from = &exodus_sets(c->m, kind)[number];
    const tutti_count *place = c->place[exodus_member_kind(kind)];
    tutti_count *entry = cli_malloc((size_t)from->n * sizeof *entry), n = 0, factors = 0, at = 0;
    for (tutti_count i = 0; i < from->n; i++)
        if (place[from->members[i]] >= 0) entry[n++] = i;
    tutti_count *member = cli_keep(&c->s->kept, &c->s->keeps, (size_t)n * sizeof *member);
    int *side = from->sides ? cli_keep(&c->s->kept, &c->s->keeps, (size_t)n * sizeof *side) : NULL;
    double *factor =
        from->factors ? cli_keep(&c->s->kept, &c->s->keeps,
                                 (size_t)exodus_factors(c->o, c->m, kind, number) * sizeof *factor)
                      : NULL;
    for (tutti_count i = 0, j = 0; i < from->n; i++) {
        const int width = !factor ? 0
                          : kind != TUTTI_EXODUS_SIDE_SET || !from->sides
                              ? 1
                              : exodus_side_width(c->o, c->m, from->members[i], from->sides[i]);
        if (j < n && entry[j] == i) {
            member[j] = place[from->members[i]];
            if (side) side[j] = from->sides[i];
            for (int k = 0; k < width; k++) factor[factors++] = from->factors[at + k];
            j++;
        }
        at += width;
    }
    *out = (tutti_exodus_members){.n = n, .members = member, .sides = side, .factors = factor};
    out->attributes =
        pick_values(c->s, from->attributes, entry, n, c->o->of[kind].entity[number].attributes);
    c->s->entry[kind][number] = entry;
    c->s->count[kind][number] = n;
}

static const tutti_exodus_members *sets_cut(cut *c, int kind) {
    const tutti_count n = c->o->of[kind].n;
    exodus_subset *s = c->s;
    s->n[kind] = n;
    if (n == 0) return NULL;
    tutti_exodus_members *out = cli_keep(&s->kept, &s->keeps, (size_t)n * sizeof *out);
    s->entry[kind] = cli_malloc((size_t)n * sizeof *s->entry[kind]);
    s->count[kind] = cli_malloc((size_t)n * sizeof *s->count[kind]);
    for (tutti_count i = 0; i < n; i++) set_cut(c, kind, i, &out[i]);
    return out;
}

void exodus_subset_make(const exodus_outline *o, const tutti_exodus_mesh *m, const int *part,
                        int which, int rest, exodus_subset *out) {
    cut c = {.o = o, .m = m, .s = out};
    *out = (exodus_subset){.keeps = 0};
    marks_make(&c, part, which);
    if (rest) rest_mark(&c);
    for (int kind = TUTTI_EXODUS_NODAL; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++) {
        /* Convert marks to indices in the piece, and list the entries of each entity. */
        exodus_subset *s = c.s;
        const tutti_count n = kind == TUTTI_EXODUS_NODAL ? 1 : c.o->of[kind].n;
        tutti_count at = 0, place = 0;
        s->n[kind] = n;
        s->entry[kind] = cli_malloc((size_t)n * sizeof *s->entry[kind]);
        s->count[kind] = cli_malloc((size_t)n * sizeof *s->count[kind]);
        for (tutti_count b = 0; b < n; b++) {
            const tutti_count all = exodus_entries(c.m, kind, b);
            s->entry[kind][b] = cli_malloc((size_t)all * sizeof(tutti_count));
            s->count[kind][b] = 0;
            for (tutti_count i = 0; i < all; i++, at++) {
                if (!c.place[kind][at]) {
                    c.place[kind][at] = -1;
                    continue;
                }
                c.place[kind][at] = place++;
                s->entry[kind][b][s->count[kind][b]++] = i;
            }
        }
    }
    exodus_subset *s = c.s;
    const tutti_count n = s->count[TUTTI_EXODUS_NODAL][0];
    const tutti_count *entry = s->entry[TUTTI_EXODUS_NODAL][0];
    const size_t size = c.m->type == TUTTI_FLOAT32 ? 4 : 8;
    int64_t *id = cli_keep(&s->kept, &s->keeps, (size_t)n * sizeof *id);
    s->mesh.nodes = n;
    s->mesh.type = c.m->type;
    for (int d = 0; d < c.o->p.dims; d++) {
        char *x = cli_keep(&s->kept, &s->keeps, (size_t)n * size);
        for (tutti_count i = 0; i < n; i++)
            memcpy(x + (size_t)i * size,
                   (const char *)c.m->coordinates[d] + (size_t)entry[i] * size, size);
        s->mesh.coordinates[d] = x;
    }
    for (tutti_count i = 0; i < n; i++)
        id[i] = c.m->node_ids ? c.m->node_ids[entry[i]] : entry[i] + 1;
    s->mesh.node_ids = id;
    s->mesh.node_attributes =
        pick_values(s, c.m->node_attributes, entry, n, c.o->p.node_attributes);
    out->mesh.blocks = blocks_cut(&c, TUTTI_EXODUS_ELEMENT_BLOCK);
    out->mesh.edge_blocks = blocks_cut(&c, TUTTI_EXODUS_EDGE_BLOCK);
    out->mesh.face_blocks = blocks_cut(&c, TUTTI_EXODUS_FACE_BLOCK);
    out->mesh.node_sets = sets_cut(&c, TUTTI_EXODUS_NODE_SET);
    out->mesh.side_sets = sets_cut(&c, TUTTI_EXODUS_SIDE_SET);
    out->mesh.element_sets = sets_cut(&c, TUTTI_EXODUS_ELEMENT_SET);
    out->mesh.edge_sets = sets_cut(&c, TUTTI_EXODUS_EDGE_SET);
    out->mesh.face_sets = sets_cut(&c, TUTTI_EXODUS_FACE_SET);
    for (int kind = TUTTI_EXODUS_NODAL; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++)
        free(c.place[kind]);
}

void exodus_subset_free(exodus_subset *s) {
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        for (tutti_count i = 0; s->entry[kind] && i < s->n[kind]; i++) free(s->entry[kind][i]);
        free(s->entry[kind]);
        free(s->count[kind]);
    }
    for (int i = 0; i < s->keeps; i++) free(s->kept[i]);
    free(s->kept);
    *s = (exodus_subset){.keeps = 0};
}
