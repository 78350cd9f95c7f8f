/* exodus_mesh: what this rank has of the nodes, of each block and of each set, as decompositions: the
 * results of a mesh that was put or got.  Positions and writers of a whole kind are known, so that each
 * is a piece of a list, and thousands of them cost no message.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/positions.h"

/* Entity c of a family.   v, mine: room for all of it. */
static tutti_err piece_make(const tutti__entity_class *f, tutti_count c, tutti__numbered *v,
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

static int is_wanted(const tutti__exodus_model *m, const tutti__entity_class *f) {
    if (!f->start) return 0;
    return f->kind <= TUTTI_EXODUS_FACE_BLOCK || m->of[f->kind].variables_n > 0;
}

static tutti_err family_hold(const tutti__entity_class *f, const tutti_count *own,
                             tutti__exodus_local *local, tutti_count *n) {
    tutti__numbered *v = tutti__malloc((size_t)f->n * sizeof *v);
    unsigned char *mine = tutti__malloc((size_t)f->n);
    tutti_err err = v && mine ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->entities && err == TUTTI_OK; c++) {
        tutti__exodus_local *h = &local[*n];
        *h = (tutti__exodus_local){
            .kind = f->kind, .number = c, .own = own ? own[c] : f->start[c + 1] - f->start[c]};
        err = piece_make(f, c, v, mine, &h->entries);
        *n += err == TUTTI_OK;
    }
    tutti__free(v);
    tutti__free(mine);
    return err;
}

tutti_err tutti__exodus_local_make(const tutti__exodus_model *m, const tutti__mesh_classes *classes,
                                   tutti_count *const *own, tutti__exodus_local **out,
                                   tutti_count *n_out) {
    tutti_count all = 0, n = 0;
    tutti_err err = TUTTI_OK;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        if (is_wanted(m, &classes->of[k])) all += classes->of[k].entities;
    tutti__exodus_local *local = tutti__calloc((size_t)all + 1, sizeof *local);
    if (!local) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < TUTTI_EXODUS_KINDS && err == TUTTI_OK; k++)
        if (is_wanted(m, &classes->of[k]))
            err = family_hold(&classes->of[k], own ? own[k] : NULL, local, &n);
    if (err != TUTTI_OK) {
        tutti__exodus_local_drop(n, local);
        return err;
    }
    *out = local;
    *n_out = n;
    return TUTTI_OK;
}
