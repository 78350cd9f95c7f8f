/* exodus_mesh: the entries of a mesh that a rank has read, as classes and decompositions, for
 * results.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/read_state.h"

static tutti_err result_class_begin(tutti__entity_class *f, tutti_exodus_kind kind,
                                    tutti_count classes, tutti_count n, const tutti_count *starts) {
    const size_t c = (size_t)classes;
    *f = (tutti__entity_class){.kind = kind, .entities = classes, .n = n, .all = starts[classes]};
    f->start = tutti__calloc(c + 1, sizeof *f->start);
    f->count = tutti__calloc(c + 1, sizeof *f->count);
    f->before = tutti__calloc(c + 1, sizeof *f->before);
    if (!f->start || !f->count || !f->before) return TUTTI_ERR_NOMEM;
    memcpy(f->before, starts, (c + 1) * sizeof *starts);
    for (size_t k = 0; k < c; k++) f->count[k] = starts[k + 1] - starts[k];
    return TUTTI_OK;
}

/* Allocate `sorted` and `writes` of a class whose entries in the mesh are not in the order of
 * positions, or whose writers will be chosen. */
static tutti_err allocate_sorted(tutti__entity_class *f) {
    f->sorted = tutti__malloc((size_t)(f->n + 1) * sizeof *f->sorted);
    f->writes = tutti__malloc((size_t)f->n + 1);
    if (!f->sorted || !f->writes) return TUTTI_ERR_NOMEM;
    memset(f->writes, 1, (size_t)f->n + 1);
    return TUTTI_OK;
}

tutti_err tutti__result_classes_make(tutti__read_state *g) {
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK; k++) {
        tutti__read_class *h = &g->of[k];
        tutti__entity_class *f = &g->classes.of[k];
        TUTTI_TRY(result_class_begin(f, (tutti_exodus_kind)k, h->entities, h->items.n, h->starts));
        memcpy(f->start, h->first, ((size_t)h->entities + 1) * sizeof *f->start);
        /* entries are in the order of positions, and this rank writes all of them */
        if (!h->place && !(g->x->mode & TUTTI_WRITE)) {
            f->position = h->items.items;
            h->items.items = NULL;
            continue;
        }
        TUTTI_TRY(allocate_sorted(f));
        for (tutti_count i = 0; i < h->items.n; i++)
            f->sorted[i] = (tutti__numbered){h->items.items[i], tutti__read_place(h, i)};
    }
    for (int k = 0; k < 5; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k];
        if (g->x->model.of[kind].variables_n == 0) continue;
        const tutti_count sets = g->x->model.of[kind].n, n = g->members_n[kind];
        tutti__entity_class *f = &g->classes.of[kind];
        tutti_count *starts = tutti__starts_of(&g->x->model, kind), i = 0;
        const tutti_err err = starts && result_class_begin(f, kind, sets, n, starts) == TUTTI_OK
                                  ? allocate_sorted(f)
                                  : TUTTI_ERR_NOMEM;
        for (tutti_count c = 0; c < sets && err == TUTTI_OK; c++) {
            for (; i < n && g->members[kind][i].index < starts[c + 1]; i++)
                f->sorted[i] = (tutti__numbered){g->members[kind][i].index, i};
            f->start[c + 1] = i;
        }
        tutti__free(starts);
        TUTTI_TRY(err);
    }
    return TUTTI_OK;
}

/* Choose the writers of shared entries, for results. */
tutti_err tutti__result_writers_choose(tutti__read_state *g) {
    for (int k = 0; k < TUTTI_EXODUS_KINDS && (g->x->mode & TUTTI_WRITE); k++) {
        tutti__entity_class *f = &g->classes.of[k];
        if (!f->start || f->all == 0) continue;
        TUTTI_TRY(tutti__choose_writers_of(
            g->x->team, &g->x->opt.choice,
            k == TUTTI_EXODUS_NODAL ? g->of[TUTTI_EXODUS_NODAL].owner : NULL, f));
    }
    return TUTTI_OK;
}

tutti_err tutti__result_local_make(tutti__read_state *g) {
    tutti_count *own[TUTTI_EXODUS_KINDS] = {NULL};
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK; k++) own[k] = g->of[k].own;
    return tutti__exodus_local_make(&g->x->model, &g->classes, own, &g->local, &g->local_n);
}
