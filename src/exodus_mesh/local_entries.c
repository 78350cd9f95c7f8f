/* exodus_mesh: the entries of this rank of the nodes, of each block and of each set, as decompositions: for the results of a mesh
 * that was written or read.  Positions and writers of a whole class are known, so that each decomposition is made of runs without
 * messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/positions.h"

/* Runs of the entries of entity c that this rank has, or writes; out->run is NULL: only count them. */
static void runs_of_entity(const tutti__entity_class *f, tutti_count c, int only_written,
                           tutti__entry_runs *out) {
    tutti__entry_run last = {.n = 0};
    out->n = out->entries = 0;
    for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
        const tutti_count position = f->sorted[j].number - f->before[c],
                          index = f->sorted[j].index - f->start[c];
        if (only_written && !f->writes[f->sorted[j].index]) continue;
        if (last.n > 0 && position == last.position + last.n && index == last.place + last.n) {
            last.n++;
        } else {
            last = (tutti__entry_run){position, index, index, 1};
            out->n++;
        }
        out->entries++;
        if (out->run) out->run[out->n - 1] = last;
    }
}

static tutti_err add_class(const tutti__entity_class *f, const tutti_count *own,
                           tutti__exodus_local *local, tutti_count *n) {
    TUTTI_ASSERT(tutti__entity_class_is_valid(f));
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti__space_view view = {
            .space = (int)f->kind, .ndims = 1, .shape = {f->count[c]}, .entries = f->count[c]};
        tutti__exodus_local *h = &local[*n];
        tutti__entry_runs runs[2] = {{.n = 0}, {.n = 0}};
        *h = (tutti__exodus_local){
            .kind = f->kind, .number = c, .own = own ? own[c] : f->start[c + 1] - f->start[c]};
        for (int k = 0; k < 2; k++) {
            runs_of_entity(f, c, k, &runs[k]);
            runs[k].run = tutti__malloc((size_t)(runs[k].n + 1) * sizeof *runs[k].run);
            if (!runs[k].run) {
                tutti__free(runs[0].run);
                return TUTTI_ERR_NOMEM;
            }
            runs_of_entity(f, c, k, &runs[k]);
        }
        TUTTI_TRY(tutti__decomposition_of_runs(&view, runs[0], runs[1], &h->entries));
        ++*n;
    }
    return TUTTI_OK;
}

static int is_wanted(const tutti__exodus_model *m, const tutti__entity_class *f) {
    if (!f->start) return 0;
    return f->kind <= TUTTI_EXODUS_FACE_BLOCK || m->of[f->kind].variables_n > 0;
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
            err = add_class(&classes->of[k], own ? own[k] : NULL, local, &n);
    if (err != TUTTI_OK) {
        tutti__exodus_local_drop(n, local);
        return err;
    }
    *out = local;
    *n_out = n;
    return TUTTI_OK;
}
