/* Removal of duplicate members of sets.  Other programs write such sets, but put_mesh identifies
 * members by their entry and refuses duplicates.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    tutti_count member, at;
    int side;
} numbered;

static int by_member(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    if (x->member != y->member) return x->member < y->member ? -1 : 1;
    if (x->side != y->side) return x->side - y->side;
    return (x->at > y->at) - (x->at < y->at);
}

/* Set first[i] to 1 for the first occurrence of each member; return the number of duplicates. */
static tutti_count mark_first(const tutti_exodus_members *s, unsigned char *first) {
    numbered *v = cli_malloc((size_t)s->n * sizeof *v);
    tutti_count repeated = 0;
    for (tutti_count i = 0; i < s->n; i++)
        v[i] = (numbered){s->members[i], i, s->sides ? s->sides[i] : 0};
    if (s->n > 0) qsort(v, (size_t)s->n, sizeof *v, by_member);
    for (tutti_count i = 0; i < s->n; i++) {
        const int again = i > 0 && v[i].member == v[i - 1].member && v[i].side == v[i - 1].side;
        first[v[i].at] = !again;
        repeated += again;
    }
    free(v);
    return repeated;
}

static void set_reduce(const exodus_outline *o, const tutti_exodus_entity *e,
                       const unsigned char *first, exodus_unique *u, tutti_exodus_members *s) {
    const tutti_exodus_members old = *s;
    tutti_count *member = cli_keep(&u->kept, &u->keeps, (size_t)old.n * sizeof *member), n = 0,
                from = 0, to = 0;
    int *side = old.sides ? cli_keep(&u->kept, &u->keeps, (size_t)old.n * sizeof *side) : NULL;
    double *attribute =
        old.attributes
            ? cli_keep(&u->kept, &u->keeps, (size_t)(old.n * e->attributes) * sizeof *attribute)
            : NULL;
    double *factor = NULL;
    if (old.factors) factor = cli_keep(&u->kept, &u->keeps, (size_t)(old.n * 32) * sizeof *factor);
    for (tutti_count i = 0; i < old.n; i++) {
        const int wide = e->kind == TUTTI_EXODUS_SIDE_SET
                             ? exodus_side_width(o, &u->mesh, old.members[i], old.sides[i])
                             : 1;
        if (first[i]) {
            member[n] = old.members[i];
            if (side) side[n] = old.sides[i];
            for (int k = 0; attribute && k < e->attributes; k++)
                attribute[n * e->attributes + k] = old.attributes[i * e->attributes + k];
            for (int k = 0; factor && k < wide; k++) factor[to++] = old.factors[from + k];
            n++;
        }
        from += wide;
    }
    *s = (tutti_exodus_members){
        .n = n, .members = member, .sides = side, .attributes = attribute, .factors = factor};
}

static int kind_reduce(const exodus_outline *o, int kind, const char *name, exodus_unique *u,
                       const tutti_exodus_members **sets) {
    const exodus_table *t = &o->of[kind];
    tutti_exodus_members *out = NULL;
    for (tutti_count i = 0; *sets && i < t->n; i++) {
        unsigned char *first = cli_malloc((size_t)(*sets)[i].n);
        const tutti_count repeated = mark_first(&(*sets)[i], first);
        int has_results = 0;
        for (int v = 0; v < t->variables; v++) has_results |= t->has[i * t->variables + v];
        if (repeated > 0 && has_results) {
            free(first);
            return cli_error("%s %lld has repeated members and results: it cannot be copied",
                             tutti_exodus_kind_name((tutti_exodus_kind)kind),
                             (long long)t->entity[i].id);
        }
        if (repeated > 0) {
            fprintf(stderr, "tutti %s: %s %lld: %lld repeated members are written once\n", name,
                    tutti_exodus_kind_name((tutti_exodus_kind)kind), (long long)t->entity[i].id,
                    (long long)repeated);
            if (!out) {
                out = cli_keep(&u->kept, &u->keeps, (size_t)t->n * sizeof *out);
                memcpy(out, *sets, (size_t)t->n * sizeof *out);
                *sets = out;
            }
            set_reduce(o, &t->entity[i], first, u, &out[i]);
        }
        free(first);
    }
    return 0;
}

int exodus_unique_make(const exodus_outline *o, const tutti_exodus_mesh *m, const char *name,
                       exodus_unique *out) {
    *out = (exodus_unique){.mesh = *m};
    return kind_reduce(o, TUTTI_EXODUS_NODE_SET, name, out, &out->mesh.node_sets) ||
           kind_reduce(o, TUTTI_EXODUS_SIDE_SET, name, out, &out->mesh.side_sets) ||
           kind_reduce(o, TUTTI_EXODUS_ELEMENT_SET, name, out, &out->mesh.element_sets) ||
           kind_reduce(o, TUTTI_EXODUS_EDGE_SET, name, out, &out->mesh.edge_sets) ||
           kind_reduce(o, TUTTI_EXODUS_FACE_SET, name, out, &out->mesh.face_sets);
}

void exodus_unique_free(exodus_unique *u) {
    for (int i = 0; i < u->keeps; i++) free(u->kept[i]);
    free(u->kept);
    *u = (exodus_unique){.keeps = 0};
}
