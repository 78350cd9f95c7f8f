/* exodus: whose an element is.
 *
 * Every rank looks after a slice of the elements, in the order of the file, and finds out the rank of
 * each; then it tells them.  For the curve elements are points, their middles; for METIS they are the
 * nodes of a graph, neighbours if they have as many nodes in common as there are dimensions: both is
 * done by the room mesh.  A halo grows in layers: elements of the nodes of those that are there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus/deal.h"

/* The slice of this rank. */
typedef struct {
    tutti_exodus *x;
    const tutti_exodus_deal *deal;
    tutti_count all, first, n;
    int *rank;               /* [n] whose each is */
    tutti__entries elements; /* with their nodes; NULL: not read */
    tutti__incidence nodes;  /* elements of each node of the slice of nodes */
} dealing;

static void dealing_free(dealing *d) {
    tutti__free(d->rank);
    tutti__entries_free(&d->elements);
    tutti__incidence_free(&d->nodes);
}

tutti_err tutti__deal_check(const tutti_exodus *x, const tutti_exodus_deal *deal) {
    const tutti_count all = x->model.p.elements;
    TUTTI_CHECK((int)deal->by >= TUTTI_EXODUS_BY_ORDER && (int)deal->by <= TUTTI_EXODUS_ON_ROOT,
                TUTTI_ERR_ARG, "there is no way %d to deal out a mesh", (int)deal->by);
    TUTTI_CHECK(deal->halo >= 0, TUTTI_ERR_ARG, "a halo of %d layers", deal->halo);
    TUTTI_CHECK_RESERVED(deal, "the deal");
    if (deal->by != TUTTI_EXODUS_BY_LIST) return TUTTI_OK;
    TUTTI_CHECK(deal->n >= 0 && deal->first >= 0 && deal->first <= all &&
                    deal->n <= all - deal->first,
                TUTTI_ERR_ARG, "first is %lld and n is %lld: the file has %lld elements",
                (long long)deal->first, (long long)deal->n, (long long)all);
    TUTTI_CHECK(deal->rank || deal->n == 0, TUTTI_ERR_ARG, "`rank` is NULL");
    for (tutti_count i = 0; i < deal->n; i++)
        TUTTI_CHECK(deal->rank[i] >= 0 && deal->rank[i] < x->team->size, TUTTI_ERR_ARG,
                    "element %lld is for rank %d: there are %d", (long long)(deal->first + i),
                    deal->rank[i], x->team->size);
    return TUTTI_OK;
}

/* ---- what the slice has */

static tutti_err slice_read(dealing *d) {
    tutti_count *position = NULL;
    if (d->elements.start) return TUTTI_OK;
    position = tutti__malloc((size_t)(d->n + 1) * sizeof *position);
    for (tutti_count i = 0; i < d->n && position; i++) position[i] = d->first + i;
    tutti_err err = tutti__entries_read(d->x, TUTTI_EXODUS_ELEMENT_BLOCK, d->n, position,
                                        position ? TUTTI_OK : TUTTI_ERR_NOMEM, &d->elements);
    tutti__free(position);
    return err == TUTTI_OK ? tutti__entries_to_nodes(d->x, &d->elements) : err;
}

static tutti_err pairs_of(const tutti__entries *e, tutti__pair **out) {
    tutti__pair *v = *out = tutti__malloc((size_t)(e->start[e->n] + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < e->n; i++)
        for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++)
            v[k] = (tutti__pair){e->to[k], e->position[i]};
    return TUTTI_OK;
}

static tutti_err nodes_need(dealing *d) {
    tutti__pair *pairs = NULL;
    if (d->nodes.start) return TUTTI_OK;
    TUTTI_TRY(slice_read(d));
    const tutti_err mine = pairs_of(&d->elements, &pairs);
    const tutti_err err = tutti__incidence_make(d->x->team, d->x->model.p.nodes,
                                                d->elements.start[d->n], pairs, mine, &d->nodes);
    tutti__free(pairs);
    return err;
}

/* ---- middles */

/* Coordinates of n rising nodes: [3 n]. */
static tutti_err coordinates_read(tutti_exodus *x, tutti_count n, const tutti_count *node,
                                  tutti_err mine, double *out) {
    tutti__bundle b = {.n = 0};
    tutti_count index[3] = {0};
    tutti_type type[3] = {0};
    for (int k = 0; k < x->model.p.dims && n > 0 && mine == TUTTI_OK; k++) {
        const tutti_exodus_array a = {
            .what = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL, .component = k};
        tutti__exodus_place at;
        mine = tutti__exodus_place_of(x, &a, &at);
        type[k] = at.type;
        for (tutti_count i = 0; i < n && mine == TUTTI_OK; i++)
            mine = tutti__bundle_add(&b, &at, node[i], 1, i == 0 ? &index[k] : NULL, NULL);
    }
    const tutti_err err = tutti__bundle_move(x, &b, 0, 0, NULL, mine);
    TUTTI_ASSERT(out || err != TUTTI_OK);
    for (int k = 0; k < x->model.p.dims && n > 0 && err == TUTTI_OK; k++) {
        const double *from = tutti__bundle_reals(&b, type[k]) + index[k];
        for (tutti_count i = 0; i < n; i++) out[3 * i + k] = from[i];
    }
    tutti__bundle_free(&b);
    return err;
}

static void middle_of(const tutti__entries *e, tutti_count i, tutti_count n,
                      const tutti_count *node, const double *x, double *out) {
    const tutti_count all = tutti__max(e->start[i + 1] - e->start[i], 1);
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        const tutti_count at = tutti__find_rising(node, n, e->to[k]);
        for (int q = 0; q < 3; q++) out[q] += x[3 * at + q] / (double)all;
    }
}

/* [3 n] the middle of each element of the slice. */
static tutti_err middles(dealing *d, double **out) {
    tutti_count n = 0, *node = NULL;
    double *x = NULL, *v = NULL;
    tutti_err mine = tutti__entries_targets(&d->elements, &n, &node);
    if (mine == TUTTI_OK) {
        x = tutti__calloc(3 * (size_t)n + 1, sizeof *x);
        v = tutti__calloc(3 * (size_t)d->n + 1, sizeof *v);
        if (!x || !v) mine = TUTTI_ERR_NOMEM;
    }
    const tutti_err err = coordinates_read(d->x, n, node, mine, x);
    TUTTI_ASSERT((x && v) || err != TUTTI_OK);
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK; i++)
        middle_of(&d->elements, i, n, node, x, v + 3 * i);
    for (tutti_count i = 0; i < 3 * d->n && err == TUTTI_OK; i++)
        if (!(v[i] > -1e300 && v[i] < 1e300)) v[i] = 0; /* a curve needs numbers */
    tutti__free(node);
    tutti__free(x);
    if (err == TUTTI_OK)
        *out = v;
    else
        tutti__free(v);
    return err;
}

/* ---- neighbours */

/* Elements that have at least `common` nodes with element i: added to v, which has room. */
static tutti_count neighbours_of(const dealing *d, tutti_count i, const tutti__entries *with,
                                 tutti_count common, tutti_count *v) {
    const tutti__entries *e = &d->elements;
    tutti_count n = 0, kept = 0;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        const tutti_count at = tutti__find_rising(with->position, with->n, e->to[k]);
        for (tutti_count q = with->start[at]; q < with->start[at + 1]; q++) v[n++] = with->to[q];
    }
    for (tutti_count k = 1; k < n; k++) { /* short, and half sorted */
        const tutti_count x = v[k];
        tutti_count q = k;
        for (; q > 0 && v[q - 1] > x; q--) v[q] = v[q - 1];
        v[q] = x;
    }
    for (tutti_count k = 0, to = 0; k < n; k = to) {
        for (to = k; to < n && v[to] == v[k]; to++) continue;
        if (to - k >= common && v[k] != d->first + i) v[kept++] = v[k];
    }
    return kept;
}

/* How long the lists of an element's nodes are together. */
static tutti_count reach_of(const tutti__entries *e, tutti_count i, const tutti__entries *with) {
    tutti_count n = 0;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        const tutti_count at = tutti__find_rising(with->position, with->n, e->to[k]);
        n += with->start[at + 1] - with->start[at];
    }
    return n;
}

static tutti_err graph_fill(const dealing *d, const tutti__entries *with, tutti__mesh_graph *g) {
    const tutti_count common = tutti__max(d->x->model.p.dims, 1);
    tutti_count room = 0, most = 0, at = 0;
    g->nodes = d->n;
    g->start = tutti__calloc((size_t)d->n + 1, sizeof *g->start);
    if (!g->start) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->n; i++) most = tutti__max(most, reach_of(&d->elements, i, with));
    tutti_count *v = tutti__malloc((size_t)(most + 1) * sizeof *v);
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK; i++) {
        const tutti_count n = neighbours_of(d, i, with, common, v);
        if (at + n > room) {
            room = 2 * (at + n) + 64;
            tutti_count *to = tutti__realloc(g->to, (size_t)room * sizeof *to);
            if (to)
                g->to = to;
            else
                err = TUTTI_ERR_NOMEM;
        }
        TUTTI_ASSERT(g->to || n == 0 || err != TUTTI_OK);
        if (err == TUTTI_OK && n > 0) memcpy(g->to + at, v, (size_t)n * sizeof *v);
        g->start[i + 1] = at += n;
    }
    tutti__free(v);
    return err;
}

static tutti_err graph_make(dealing *d, tutti__mesh_graph *g) {
    tutti_count n = 0, *node = NULL;
    tutti__entries with = {.n = 0};
    TUTTI_TRY(nodes_need(d));
    const tutti_err mine = tutti__entries_targets(&d->elements, &n, &node);
    tutti_err err = tutti__incidence_ask(d->x->team, &d->nodes, n, node, mine, &with);
    if (err == TUTTI_OK) err = tutti__exodus_agree(d->x, graph_fill(d, &with, g));
    tutti__entries_free(&with);
    tutti__free(node);
    return err;
}

/* ---- ways */

/* Elements as the nodes of a mesh: points, for METIS with neighbours. */
static tutti_err by_partition(dealing *d, int metis) {
    tutti_mesh m = {
        .team = d->x->team, .all_nodes = d->all, .first_node = d->first, .own = {.nodes = d->n}};
    if (d->x->team->size == 1) return TUTTI_OK;
    metis = metis && tutti_mesh_has_metis();
    tutti_err err = slice_read(d);
    if (err == TUTTI_OK) err = middles(d, &m.own.coordinates);
    if (err == TUTTI_OK && metis) err = graph_make(d, &m.graph);
    if (err == TUTTI_OK) {
        tutti__handle_add(&m.handle, TUTTI__MESH);
        err = tutti_mesh_partition(&m, d->x->team->size,
                                   metis ? TUTTI_MESH_METIS : TUTTI_MESH_BY_CURVE, NULL, d->rank);
        tutti__handle_remove(&m.handle);
    }
    tutti__mesh_graph_free(&m.graph);
    tutti__free(m.own.coordinates);
    return err;
}

/* What each rank says of its own piece goes to the slices. */
static tutti_err by_list(dealing *d) {
    const tutti_exodus_deal *deal = d->deal;
    tutti__incidence said = {.n = 0};
    tutti__pair *pairs = tutti__malloc((size_t)(deal->n + 1) * sizeof *pairs);
    tutti_count given = deal->n;
    tutti_err mine = pairs ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < deal->n && pairs; i++)
        pairs[i] = (tutti__pair){deal->first + i, deal->rank[i]};
    tutti_err err =
        tutti__team_reduce(d->x->team, mine, 1, &(tutti__reduction){TUTTI__SUM, &given});
    if (err == TUTTI_OK && given != d->all)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               "ranks of %lld elements are given, and the file has %lld",
                               (long long)given, (long long)d->all);
    if (err == TUTTI_OK)
        err = tutti__incidence_make(d->x->team, d->all, deal->n, pairs, TUTTI_OK, &said);
    mine = TUTTI_OK;
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK && mine == TUTTI_OK; i++) {
        const tutti_count n = said.start[i + 1] - said.start[i];
        if (n == 1)
            d->rank[i] = (int)said.with[said.start[i]];
        else
            mine = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "element %lld has %s rank",
                                    (long long)(d->first + i), n == 0 ? "no" : "more than one");
    }
    if (err == TUTTI_OK) err = tutti__exodus_agree(d->x, mine);
    tutti__incidence_free(&said);
    tutti__free(pairs);
    return err;
}

static tutti_err whose(dealing *d) {
    TUTTI_ASSERT(d->rank);
    for (tutti_count i = 0; i < d->n; i++)
        d->rank[i] = d->deal->by == TUTTI_EXODUS_ON_ROOT ? 0 : d->x->team->rank;
    if (d->all == 0) return TUTTI_OK;
    switch (d->deal->by) {
    case TUTTI_EXODUS_BY_METIS:
        return by_partition(d, 1);
    case TUTTI_EXODUS_BY_CURVE:
        return by_partition(d, 0);
    case TUTTI_EXODUS_BY_LIST:
        return by_list(d);
    default:
        return TUTTI_OK;
    }
}

/* ---- halos */

/* Add those of `more` that are not there, as halo. */
static tutti_err elements_add(tutti__dealt_elements *e, tutti_count n, const tutti_count *more,
                              tutti_count *new_n, tutti_count *new_ones) {
    tutti_count *position = tutti__malloc((size_t)(e->n + n + 1) * sizeof *position);
    unsigned char *halo = tutti__malloc((size_t)(e->n + n) + 1);
    tutti_count k = 0;
    *new_n = 0;
    if (!position || !halo) {
        tutti__free(position);
        tutti__free(halo);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count a = 0, b = 0; a < e->n || b < n;) {
        const int old = b == n || (a < e->n && e->position[a] <= more[b]);
        if (old && b < n && e->position[a] == more[b]) b++;
        if (!old) new_ones[(*new_n)++] = more[b];
        position[k] = old ? e->position[a] : more[b];
        halo[k++] = old ? e->halo[a] : 1;
        a += old;
        b += !old;
    }
    tutti__free(e->position);
    tutti__free(e->halo);
    *e = (tutti__dealt_elements){k, position, halo};
    return TUTTI_OK;
}

/* Elements of the nodes of those that were new last time.  *most_out: the largest number of new ones of
 * any rank; 0 means that further layers add nothing. */
static tutti_err layer(dealing *d, tutti__dealt_elements *e, tutti_count *n, tutti_count **news,
                       tutti_count *most_out) {
    tutti__entries last = {.n = 0}, with = {.n = 0};
    tutti_count nodes_n = 0, more_n = 0, *nodes = NULL, *more = NULL;
    tutti_err err =
        tutti__entries_read(d->x, TUTTI_EXODUS_ELEMENT_BLOCK, *n, *news, TUTTI_OK, &last);
    if (err == TUTTI_OK) err = tutti__entries_to_nodes(d->x, &last);
    if (err == TUTTI_OK) {
        const tutti_err mine = tutti__entries_targets(&last, &nodes_n, &nodes);
        err = tutti__incidence_ask(d->x->team, &d->nodes, nodes_n, nodes, mine, &with);
    }
    if (err == TUTTI_OK) {
        tutti_err mine = tutti__entries_targets(&with, &more_n, &more);
        tutti_count *fresh =
            mine == TUTTI_OK ? tutti__malloc((size_t)(more_n + 1) * sizeof *fresh) : NULL;
        if (mine == TUTTI_OK && !fresh) mine = TUTTI_ERR_NOMEM;
        if (mine == TUTTI_OK) mine = elements_add(e, more_n, more, n, fresh);
        tutti__free(*news);
        *news = fresh;
        *most_out = mine == TUTTI_OK ? *n : 0;
        err = tutti__team_max(d->x->team, mine, most_out);
    }
    tutti__entries_free(&last);
    tutti__entries_free(&with);
    tutti__free(nodes);
    tutti__free(more);
    return err;
}

static tutti_err halo_add(dealing *d, tutti__dealt_elements *e) {
    tutti_count n = e->n, *news = NULL;
    TUTTI_TRY(nodes_need(d));
    news = tutti__malloc((size_t)(n + 1) * sizeof *news);
    tutti_err err = tutti__exodus_agree(d->x, news ? TUTTI_OK : TUTTI_ERR_NOMEM);
    TUTTI_ASSERT(news || err != TUTTI_OK);
    if (err == TUTTI_OK && n > 0) memcpy(news, e->position, (size_t)n * sizeof *news);
    tutti_count most = 1;
    for (int i = 0; i < d->deal->halo && most > 0 && err == TUTTI_OK; i++)
        err = layer(d, e, &n, &news, &most);
    tutti__free(news);
    return err;
}

/* ---- all of it */

/* Slices tell the ranks which elements are theirs. */
static tutti_err tell(dealing *d, tutti__dealt_elements *e) {
    tutti_count *position = tutti__malloc((size_t)(d->n + 1) * sizeof *position);
    for (tutti_count i = 0; i < d->n && position; i++) position[i] = d->first + i;
    TUTTI_ASSERT(d->rank);
    tutti_err err =
        tutti__mesh_send(d->x->team, position ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *position, d->n,
                         position, d->rank, &e->n, (void **)&e->position);
    tutti__free(position);
    if (err != TUTTI_OK) return err;
    e->halo = tutti__calloc((size_t)e->n + 1, 1);
    return tutti__exodus_agree(d->x, e->halo ? TUTTI_OK : TUTTI_ERR_NOMEM);
}

tutti_err tutti__deal_elements(tutti_exodus *x, const tutti_exodus_deal *deal,
                               tutti__dealt_elements *out) {
    const tutti__team *t = x->team;
    dealing d = {.x = x, .deal = deal, .all = x->model.p.elements};
    tutti__dealt_elements e = {.n = 0};
    d.first = tutti__mesh_first(d.all, t->size, t->rank);
    d.n = tutti__mesh_first(d.all, t->size, t->rank + 1) - d.first;
    d.rank = tutti__malloc((size_t)(d.n + 1) * sizeof *d.rank);
    tutti_err err = tutti__exodus_agree(x, d.rank ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) err = whose(&d);
    if (err == TUTTI_OK) err = tell(&d, &e);
    if (err == TUTTI_OK && deal->halo > 0 && d.all > 0 && t->size > 1) err = halo_add(&d, &e);
    dealing_free(&d);
    if (err == TUTTI_OK) {
        *out = e;
    } else {
        tutti__free(e.position);
        tutti__free(e.halo);
    }
    return err;
}
