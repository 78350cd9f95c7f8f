/* exodus_mesh: the entries of this rank of the nodes, of each block and of each set, as
 * decompositions, for writing results on a mesh that was written or read.  Since positions and
 * writers of the whole class are known, decompositions are made from runs, without messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/position_index.h"
#include "exodus_mesh/positions.h"

/* List the runs of the entries of entity c that this rank has, or writes; the caller frees
 * out->run, also after an error. */
static tutti_err runs_of_entity(const tutti__entity_class *f, tutti_count c, int only_written,
                                tutti__entry_runs *out) {
    size_t capacity = 0;
    for (tutti_count j = f->start[c], end = j; j < f->start[c + 1]; j = end) {
        const tutti__numbered first = tutti__entity_sorted(f, j);
        end = j + 1;
        if (only_written && !f->writes[first.index]) continue;
        if (!f->sorted) end = j + tutti__run_length(f->position, j, f->start[c + 1]);
        for (; f->sorted && end < f->start[c + 1]; end++) {
            const tutti__numbered *v = &f->sorted[end];
            if (v->number != first.number + end - j || v->index != first.index + end - j ||
                (only_written && !f->writes[v->index]))
                break;
        }
        const tutti_count index = first.index - f->start[c];
        TUTTI_TRY(tutti__grow(&out->run, (size_t)(out->n + 1), &capacity, sizeof *out->run));
        out->run[out->n++] = (tutti__entry_run){first.number - f->before[c], index, index, end - j};
        out->entries += end - j;
    }
    tutti__entry_run *kept = tutti__realloc(out->run, (size_t)(out->n + 1) * sizeof *kept);
    if (!kept) return TUTTI_ERR_NOMEM;
    out->run = kept;
    return TUTTI_OK;
}

static tutti_err add_class(const tutti__entity_class *f, const tutti_count *own,
                           tutti__exodus_local *local, tutti_count *n) {
    TUTTI_ASSERT(tutti__entity_class_is_valid(f));
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti__space_view view = {
            .space = (int)f->kind, .ndims = 1, .shape = {f->count[c]}, .entries = f->count[c]};
        tutti__exodus_local *h = &local[*n];
        tutti__entry_runs runs[2] = {{.n = 0}, {.n = 0}};
        const tutti_count entries = f->start[c + 1] - f->start[c];
        *h = (tutti__exodus_local){.kind = f->kind, .number = c, .own = own ? own[c] : entries};
        tutti_err err = runs_of_entity(f, c, 0, &runs[0]);
        /* the same entries, as tutti__decomposition_of_runs expects */
        runs[1].entries = runs[0].entries;
        if (err == TUTTI_OK && f->writes && entries > 0 &&
            memchr(f->writes + f->start[c], 0, (size_t)entries)) {
            runs[1].entries = 0;
            err = runs_of_entity(f, c, 1, &runs[1]);
        }
        if (err != TUTTI_OK) {
            tutti__free(runs[0].run);
            tutti__free(runs[1].run);
            return err;
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
