/* exodus: entries of this rank after put_mesh or get_mesh, by kind and number.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include "base/sorted.h"

void tutti__exodus_local_drop(tutti_count n, tutti__exodus_local *local) {
    for (tutti_count i = 0; i < n && local; i++) tutti_decomposition_free(&local[i].entries);
    tutti__free(local);
}

void tutti__exodus_local_free(tutti_exodus *x) {
    tutti__exodus_local_drop(x->local_n, x->local);
    x->local = NULL;
    x->local_n = 0;
}

static int compare_entities(const void *a, const void *b) {
    const tutti__exodus_local *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

const tutti__exodus_local *tutti__exodus_local_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  tutti_count number) {
    const tutti__exodus_local key = {.kind = kind, .number = number};
    const tutti_count at =
        tutti__lower_bound_by(x->local, x->local_n, sizeof key, &key, compare_entities);
    return at < x->local_n && compare_entities(&x->local[at], &key) == 0 ? &x->local[at] : NULL;
}

tutti_count tutti_exodus_own_elements(const tutti_exodus *x, tutti_exodus_kind kind,
                                      tutti_count number) {
    if (tutti__exodus_live(x) != TUTTI_OK) return 0;
    const tutti__exodus_local *h = tutti__exodus_local_of(x, kind, number);
    return h ? h->own : 0;
}

tutti_count tutti_exodus_entries(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id) {
    if (tutti__exodus_live(x) != TUTTI_OK || kind < TUTTI_EXODUS_NODAL ||
        kind >= TUTTI_EXODUS_KINDS)
        return -1;
    const tutti_count number = tutti__exodus_model_find(&x->model, kind, id);
    const tutti__exodus_local *h = number < 0 ? NULL : tutti__exodus_local_of(x, kind, number);
    return h ? tutti_decomposition_entries(h->entries) : -1;
}

void tutti__exodus_result_set(tutti__exodus_result *r, void *data, void (*free)(void *data)) {
    if (r->data) r->free(r->data);
    *r = (tutti__exodus_result){data, free};
}

void tutti__exodus_results_free(tutti_exodus *x) {
    tutti__exodus_local_free(x);
    tutti__exodus_result_set(&x->mesh_read, NULL, NULL);
    tutti__exodus_result_set(&x->nemesis_read, NULL, NULL);
}
