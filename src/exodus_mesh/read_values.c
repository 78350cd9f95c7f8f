/* exodus_mesh: values of the mesh that a rank needs, after its entries are known.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/read_state.h"

tutti_err tutti__read_add(tutti__read_state *g, const tutti_exodus_array *a, tutti_count n,
                          const tutti_count *position, tutti_count base, tutti__read_values *out) {
    tutti__exodus_place at;
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_place_of(g->x, a, &at));
    *out = (tutti__read_values){at.type, 0, at.numbers};
    for (tutti_count i = 0, run; i < n; i += run) {
        run = tutti__run_length(position, i, n);
        TUTTI_TRY(tutti__values_add(&g->values, &at, (position[i] - base) * at.numbers,
                                    run * at.numbers, i == 0 ? &out->index : NULL, NULL));
    }
    return TUTTI_OK;
}

const int64_t *tutti__read_ints(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i) {
    return tutti__values_ints(&g->values, f->type) + f->index + i * f->n;
}

const double *tutti__read_reals(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i) {
    return tutti__values_reals(&g->values, f->type) + f->index + i * f->n;
}

static tutti_err entries_add_values(tutti__read_state *g, tutti_exodus_kind kind, int has_ids) {
    tutti__read_class *h = &g->of[kind];
    const tutti_exodus_array ids = {.array_kind = TUTTI_EXODUS_IDS, .kind = kind};
    if (has_ids) TUTTI_TRY(tutti__read_add(g, &ids, h->items.n, h->items.items, 0, &h->ids));
    for (tutti_count c = 0; c < h->entities && kind != TUTTI_EXODUS_NODAL; c++) {
        const tutti_exodus_entity *row = &g->x->model.of[kind].row[c];
        const tutti_exodus_array a = {
            .array_kind = TUTTI_EXODUS_ATTRIBUTES, .kind = kind, .id = row->id};
        if (row->attributes)
            TUTTI_TRY(tutti__read_add(g, &a, h->first[c + 1] - h->first[c],
                                      h->items.items + h->first[c], h->starts[c],
                                      &h->attributes[c]));
    }
    return TUTTI_OK;
}

/* Add the values of set c, whose members are [lo, hi). */
static tutti_err set_add_values(tutti__read_state *g, tutti_exodus_kind kind, tutti_count c,
                                tutti_count lo, tutti_count hi, tutti_count start) {
    const tutti_exodus_entity *row = &g->x->model.of[kind].row[c];
    const tutti__member *m = g->members[kind];
    tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_FACTORS, .kind = kind, .id = row->id};
    tutti__exodus_place at;
    if (row->factors > 0 && m[lo].at != NO_FACTORS) {
        TUTTI_TRY(tutti__exodus_place_of(g->x, &a, &at));
        tutti__read_values *f = &g->factors[kind][c];
        *f = (tutti__read_values){at.type, 0, 1};
        for (tutti_count i = lo; i < hi; i++)
            TUTTI_TRY(tutti__values_add(&g->values, &at, m[i].at, m[i].weight,
                                        i == lo ? &f->index : NULL, NULL));
    }
    a.array_kind = TUTTI_EXODUS_ATTRIBUTES;
    if (row->attributes > 0) {
        TUTTI_TRY(tutti__exodus_place_of(g->x, &a, &at));
        tutti__read_values *f = &g->set_attributes[kind][c];
        *f = (tutti__read_values){at.type, 0, at.numbers};
        for (tutti_count i = lo; i < hi; i++)
            TUTTI_TRY(tutti__values_add(&g->values, &at, (m[i].index - start) * at.numbers,
                                        at.numbers, i == lo ? &f->index : NULL, NULL));
    }
    return TUTTI_OK;
}

static tutti_err sets_add_values(tutti__read_state *g, tutti_exodus_kind kind) {
    const tutti_count sets = g->x->model.of[kind].n;
    tutti_count start = 0;
    g->factors[kind] = tutti__calloc((size_t)sets + 1, sizeof *g->factors[kind]);
    g->set_attributes[kind] = tutti__calloc((size_t)sets + 1, sizeof *g->set_attributes[kind]);
    if (!g->factors[kind] || !g->set_attributes[kind]) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0, lo = 0, hi = 0; c < sets; c++, lo = hi) {
        const tutti_count end = start + g->x->model.of[kind].row[c].entries;
        while (hi < g->members_n[kind] && g->members[kind][hi].index < end) hi++;
        if (lo < hi) TUTTI_TRY(set_add_values(g, kind, c, lo, hi, start));
        start = end;
    }
    return TUTTI_OK;
}

tutti_err tutti__read_add_all(tutti__read_state *g) {
    const tutti_exodus_parameters *p = &g->x->model.p;
    const tutti__read_class *h = &g->of[TUTTI_EXODUS_NODAL];
    tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL};
    for (; a.component < p->dims; a.component++)
        TUTTI_TRY(
            tutti__read_add(g, &a, h->items.n, h->items.items, 0, &g->coordinates[a.component]));
    a = (tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES, .kind = TUTTI_EXODUS_NODAL};
    if (p->node_attributes)
        TUTTI_TRY(tutti__read_add(g, &a, h->items.n, h->items.items, 0, &g->node_attributes));
    TUTTI_TRY(entries_add_values(g, TUTTI_EXODUS_NODAL, p->has_node_ids));
    TUTTI_TRY(entries_add_values(g, TUTTI_EXODUS_ELEMENT_BLOCK, p->has_element_ids));
    TUTTI_TRY(entries_add_values(g, TUTTI_EXODUS_EDGE_BLOCK, p->has_edge_ids));
    TUTTI_TRY(entries_add_values(g, TUTTI_EXODUS_FACE_BLOCK, p->has_face_ids));
    for (int k = 0; k < 5; k++) TUTTI_TRY(sets_add_values(g, tutti__set_kinds[k]));
    return TUTTI_OK;
}
