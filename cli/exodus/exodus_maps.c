/* Copies of additional maps and the order map.  Maps are in the order of the file, but put_mesh
 * orders entries by id.  During the copy, every rank has the ids and a map of the whole file in
 * memory: 24 bytes per entry.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>

/* An id and its position in the old file. */
typedef struct {
    int64_t id;
    tutti_count place;
} placed;

typedef struct {
    int kind; /* NODAL, or a kind of blocks */
    tutti_count n;
    placed *from;               /* [n], sorted by id */
    int64_t *from_ids, *to_ids; /* [n] in the order of the old file, of the new file */
    tutti_count first, local;   /* range of the new file that this rank writes */
} order;

static int compare_map_ids(const void *a, const void *b) {
    const placed *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Return the position in the old file of entry i of the new file. */
static tutti_count old_position(const order *r, tutti_count i) {
    const placed key = {r->to_ids[i], 0};
    const placed *at = bsearch(&key, r->from, (size_t)r->n, sizeof *r->from, compare_map_ids);
    return at ? at->place : i;
}

static int map_copy(const order *r, int kind, int64_t id, tutti_exodus *from, tutti_exodus *to) {
    int64_t *old = cli_malloc((size_t)r->n * sizeof *old);
    int64_t *new = cli_malloc((size_t)r->local * sizeof *new);
    const int what = exodus_is_map(kind) ? TUTTI_EXODUS_MAP : TUTTI_EXODUS_ORDER;
    const tutti_exodus_array a = exodus_integers(what, kind, id, 0, r->n, old);
    const tutti_exodus_array b = exodus_integers(what, kind, id, r->first, r->local, new);
    tutti_count *is = NULL;
    tutti_err err = tutti_exodus_get_arrays(from, 1, &a);
    if (what == TUTTI_EXODUS_ORDER && err == TUTTI_OK) {
        /* values of the order map are positions in the old file, which must be converted */
        is = cli_malloc((size_t)r->n * sizeof *is);
        for (tutti_count i = 0; i < r->n; i++) is[old_position(r, i)] = i;
    }
    for (tutti_count i = 0; i < r->local && err == TUTTI_OK; i++) {
        const tutti_count at = r->first + i;
        new[i] = !is                               ? old[old_position(r, at)]
                 : old[at] >= 1 && old[at] <= r->n ? is[old[at] - 1] + 1
                                                   : at + 1;
    }
    if (err == TUTTI_OK) err = tutti_exodus_put_arrays(to, 1, &b);
    free(is);
    free(old);
    free(new);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

int exodus_maps_copy(const cli_world *w, const exodus_outline *o, tutti_exodus *from,
                     tutti_exodus *to) {
    static const int mapped[] = {TUTTI_EXODUS_NODAL, TUTTI_EXODUS_ELEMENT_BLOCK,
                                 TUTTI_EXODUS_EDGE_BLOCK, TUTTI_EXODUS_FACE_BLOCK};
    for (int kind = TUTTI_EXODUS_NODE_MAP; kind <= TUTTI_EXODUS_FACE_MAP; kind++) {
        const int of = mapped[kind - TUTTI_EXODUS_NODE_MAP],
                  orders = of == TUTTI_EXODUS_ELEMENT_BLOCK && o->p.has_order;
        order r;
        if (o->of[kind].n == 0 && !orders) continue;
        const tutti_count n = exodus_entries_of(&o->p, of);
        r = (order){.kind = of, .n = n};
        r.from = cli_malloc((size_t)n * sizeof *r.from);
        r.from_ids = cli_malloc((size_t)n * sizeof *r.from_ids);
        r.to_ids = cli_malloc((size_t)n * sizeof *r.to_ids);
        const tutti_exodus_array a = exodus_integers(TUTTI_EXODUS_IDS, of, 0, 0, n, r.from_ids);
        const tutti_exodus_array b = exodus_integers(TUTTI_EXODUS_IDS, of, 0, 0, n, r.to_ids);
        int failed = (tutti_exodus_get_arrays(from, 1, &a) != TUTTI_OK ||
                      tutti_exodus_get_arrays(to, 1, &b) != TUTTI_OK) &&
                     cli_error_tutti();
        if (!failed) {
            for (tutti_count i = 0; i < n; i++) r.from[i] = (placed){r.from_ids[i], i};
            if (n > 0) qsort(r.from, (size_t)n, sizeof *r.from, compare_map_ids);
        }
        r.first = r.n * w->rank / w->ranks;
        r.local = r.n * (w->rank + 1) / w->ranks - r.first;
        for (tutti_count i = 0; i < o->of[kind].n && !failed; i++)
            failed = map_copy(&r, kind, o->of[kind].entity[i].id, from, to);
        if (orders && !failed) failed = map_copy(&r, of, 0, from, to);
        free(r.from);
        free(r.from_ids);
        free(r.to_ids);
        if (failed) return 1;
    }
    return 0;
}
