/* exodus: what this rank has of the nodes, of each block and of each set, as decompositions: the
 * results of a mesh that was put or got.  Positions and writers of a whole kind are known, so that each
 * is a piece of a list, and thousands of them cost no message.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/entity_class.h"

void tutti__exodus_held_drop(tutti_count n, tutti__exodus_held *held) {
    for (tutti_count i = 0; i < n && held; i++) tutti_decomposition_free(&held[i].entries);
    tutti__free(held);
}

void tutti__exodus_held_free(tutti_exodus *x) {
    tutti__exodus_held_drop(x->held_n, x->held);
    x->held = NULL;
    x->held_n = 0;
}

static int by_entity(const void *a, const void *b) {
    const tutti__exodus_held *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

const tutti__exodus_held *tutti__exodus_held_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                tutti_count number) {
    const tutti__exodus_held key = {.kind = kind, .number = number};
    const tutti_count at = tutti__lower_bound_by(x->held, x->held_n, sizeof key, &key, by_entity);
    return at < x->held_n && by_entity(&x->held[at], &key) == 0 ? &x->held[at] : NULL;
}

tutti_count tutti_exodus_own_elements(const tutti_exodus *x, tutti_exodus_kind kind,
                                      tutti_count number) {
    if (tutti__exodus_live(x) != TUTTI_OK) return 0;
    const tutti__exodus_held *h = tutti__exodus_held_of(x, kind, number);
    return h ? h->own : 0;
}

tutti_count tutti_exodus_entries(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id) {
    if (tutti__exodus_live(x) != TUTTI_OK || kind < TUTTI_EXODUS_NODAL ||
        kind >= TUTTI_EXODUS_KINDS)
        return -1;
    const tutti_count number = tutti__exodus_model_find(&x->model, kind, id);
    const tutti__exodus_held *h = number < 0 ? NULL : tutti__exodus_held_of(x, kind, number);
    return h ? tutti_decomposition_entries(h->entries) : -1;
}

/* Entity c of a family.   v, mine: room for all of it. */
static tutti_err piece_make(const tutti__family *f, tutti_count c, tutti__numbered *v,
                            unsigned char *mine, tutti_decomposition **out) {
    const tutti_count n = f->start[c + 1] - f->start[c];
    const tutti__space_view view = {
        .space = (int)f->kind, .ndims = 1, .shape = {f->count[c]}, .entries = f->count[c]};
    for (tutti_count j = 0; j < n; j++) {
        const tutti__numbered *s = &f->sorted[f->start[c] + j];
        TUTTI_ASSERT(s->index >= f->start[c] && s->index < f->start[c + 1]);
        v[j] = (tutti__numbered){s->number - f->before[c], s->index - f->start[c]};
        mine[j] = f->writes[s->index];
    }
    return tutti__decomposition_of_list(&view, n, v, mine, out);
}

static int is_wanted(const tutti__exodus_model *m, const tutti__family *f) {
    if (!f->start) return 0;
    return f->kind <= TUTTI_EXODUS_FACE_BLOCK || m->of[f->kind].variables_n > 0;
}

static tutti_err family_hold(const tutti__family *f, const tutti_count *own,
                             tutti__exodus_held *held, tutti_count *n) {
    tutti__numbered *v = tutti__malloc((size_t)f->n * sizeof *v);
    unsigned char *mine = tutti__malloc((size_t)f->n);
    tutti_err err = v && mine ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->classes && err == TUTTI_OK; c++) {
        tutti__exodus_held *h = &held[*n];
        *h = (tutti__exodus_held){
            .kind = f->kind, .number = c, .own = own ? own[c] : f->start[c + 1] - f->start[c]};
        err = piece_make(f, c, v, mine, &h->entries);
        *n += err == TUTTI_OK;
    }
    tutti__free(v);
    tutti__free(mine);
    return err;
}

tutti_err tutti__exodus_held_make(const tutti__exodus_model *m,
                                  const tutti__mesh_families *families, tutti_count *const *own,
                                  tutti__exodus_held **out, tutti_count *n_out) {
    tutti_count all = 0, n = 0;
    tutti_err err = TUTTI_OK;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        if (is_wanted(m, &families->of[k])) all += families->of[k].classes;
    tutti__exodus_held *held = tutti__calloc((size_t)all + 1, sizeof *held);
    if (!held) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < TUTTI_EXODUS_KINDS && err == TUTTI_OK; k++)
        if (is_wanted(m, &families->of[k]))
            err = family_hold(&families->of[k], own ? own[k] : NULL, held, &n);
    if (err != TUTTI_OK) {
        tutti__exodus_held_drop(n, held);
        return err;
    }
    *out = held;
    *n_out = n;
    return TUTTI_OK;
}
