/* exodus_mesh: choice of the rank of each element.
 *
 * Every rank computes the ranks of a share of the elements, in the order of the file, and sends
 * them their elements.  Partitioners (decomposition/partition.h) get the centre of each element as
 * a point; METIS gets a graph in which two elements are neighbours if the number of their common
 * nodes is at least the number of dimensions.  A halo is added in layers; each layer consists of
 * the elements that have nodes of the elements so far.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "decomposition/partition.h"
#include "exodus_mesh/distribute.h"

/* Elements of the share of this rank. */
typedef struct {
    tutti_exodus *x;
    const tutti_exodus_distribution *spec;
    tutti_count all, first, n;
    int *rank; /* [n] rank of each element */
    /* the elements with their nodes; `start` is NULL before they are read */
    tutti__entries elements;
    tutti__incidence nodes; /* elements of each node in this rank's share of nodes */
} distribution;

tutti_err tutti__distribution_check(const tutti_exodus *x, const tutti_exodus_distribution *spec) {
    const tutti_count all = x->model.p.elements;
    TUTTI_CHECK((int)spec->partitioner >= TUTTI_EXODUS_BY_ORDER &&
                    (int)spec->partitioner <= TUTTI_EXODUS_ON_ROOT,
                TUTTI_ERR_ARG, "unknown partitioner %d", (int)spec->partitioner);
    TUTTI_CHECK(spec->halo >= 0, TUTTI_ERR_ARG, "halo is %d: number of ghost layers must be >= 0",
                spec->halo);
    TUTTI_CHECK_RESERVED(spec, "the distribution");
    if (spec->partitioner != TUTTI_EXODUS_BY_LIST) return TUTTI_OK;
    TUTTI_CHECK(spec->n >= 0 && spec->first >= 0 && spec->first <= all &&
                    spec->n <= all - spec->first,
                TUTTI_ERR_ARG, "first is %lld and n is %lld: the file has %lld elements",
                (long long)spec->first, (long long)spec->n, (long long)all);
    TUTTI_CHECK(spec->rank || spec->n == 0, TUTTI_ERR_ARG, "field rank is NULL, but n is %lld",
                (long long)spec->n);
    for (tutti_count i = 0; i < spec->n; i++)
        TUTTI_CHECK(spec->rank[i] >= 0 && spec->rank[i] < x->team->size, TUTTI_ERR_ARG,
                    "element %lld is assigned to rank %d: must be 0 to %d",
                    (long long)(spec->first + i), spec->rank[i], x->team->size - 1);
    return TUTTI_OK;
}

/* ---- elements of the share */

static tutti_err share_read(distribution *d) {
    tutti_count *position = NULL;
    if (d->elements.start) return TUTTI_OK;
    position = tutti__malloc((size_t)(d->n + 1) * sizeof *position);
    for (tutti_count i = 0; i < d->n && position; i++) position[i] = d->first + i;
    tutti_err err = tutti__entries_read(d->x, TUTTI_EXODUS_ELEMENT_BLOCK, d->n, position,
                                        position ? TUTTI_OK : TUTTI_ERR_NOMEM, &d->elements);
    tutti__free(position);
    return tutti__team_agree(d->x->team, tutti__entries_to_nodes(d->x, err, &d->elements));
}

static tutti_err nodes_need(distribution *d) {
    const tutti__entries *e = &d->elements;
    if (d->nodes.start) return TUTTI_OK;
    TUTTI_TRY(share_read(d));
    tutti__pair *pairs = tutti__malloc((size_t)(e->start[e->n] + 1) * sizeof *pairs);
    for (tutti_count i = 0; i < e->n && pairs; i++)
        for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++)
            pairs[k] = (tutti__pair){e->to[k], e->position[i]};
    const tutti__pairs all = {d->x->model.p.nodes, e->start[d->n], pairs};
    const tutti_err err =
        tutti__incidence_make(d->x->team, pairs ? TUTTI_OK : TUTTI_ERR_NOMEM, &all, &d->nodes);
    tutti__free(pairs);
    return err;
}

/* ---- centres */

/* Read the coordinates of n nodes, whose positions ascend, into [3 n] values. */
static tutti_err coordinates_read(tutti_exodus *x, tutti_count n, const tutti_count *node,
                                  tutti_err local_err, double *out) {
    tutti__values b = {.n = 0};
    tutti_count index[3] = {0};
    tutti_type type[3] = {0};
    for (int k = 0; k < x->model.p.dims && n > 0 && local_err == TUTTI_OK; k++) {
        const tutti_exodus_array a = {
            .array_kind = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL, .component = k};
        tutti__exodus_place at;
        local_err = tutti__exodus_place_of(x, &a, &at);
        type[k] = at.type;
        for (tutti_count i = 0; i < n && local_err == TUTTI_OK; i++)
            local_err = tutti__values_add(&b, &at, node[i], 1, i == 0 ? &index[k] : NULL, NULL);
    }
    const tutti_err err = tutti__values_move(x, &b, 0, 0, NULL, local_err);
    TUTTI_ASSERT(out || err != TUTTI_OK);
    for (int k = 0; k < x->model.p.dims && n > 0 && err == TUTTI_OK; k++) {
        const double *from = tutti__values_reals(&b, type[k]) + index[k];
        for (tutti_count i = 0; i < n; i++) out[3 * i + k] = from[i];
    }
    tutti__values_free(&b);
    return err;
}

/* Compute the centre of each element of the share, [3 n]. */
static tutti_err find_centres(distribution *d, double **out) {
    tutti_count n = 0, *node = NULL;
    double *x = NULL, *v = NULL;
    tutti_err local_err = tutti__entries_targets(&d->elements, &n, &node);
    if (local_err == TUTTI_OK) {
        x = tutti__calloc(3 * (size_t)n + 1, sizeof *x);
        v = tutti__calloc(3 * (size_t)d->n + 1, sizeof *v);
        if (!x || !v) local_err = TUTTI_ERR_NOMEM;
    }
    const tutti_err err = coordinates_read(d->x, n, node, local_err, x);
    TUTTI_ASSERT((x && v) || err != TUTTI_OK);
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK; i++) {
        const tutti_count first = d->elements.start[i], end = d->elements.start[i + 1];
        for (tutti_count k = first; k < end; k++) {
            const double *at = x + 3 * tutti__sorted_find(node, n, d->elements.to[k]);
            for (int q = 0; q < 3; q++) v[3 * i + q] += at[q] / (double)(end - first);
        }
    }
    for (tutti_count i = 0; i < 3 * d->n && err == TUTTI_OK; i++)
        if (!(v[i] > -1e300 && v[i] < 1e300)) v[i] = 0; /* partitioners need finite coordinates */
    tutti__free(node);
    tutti__free(x);
    if (err == TUTTI_OK)
        *out = v;
    else
        tutti__free(v);
    return err;
}

/* ---- neighbours */

/* Get the elements that have at least `common` nodes in common with element i; v has space for all
 * elements of its nodes. */
static tutti_count neighbours_of(const distribution *d, tutti_count i, const tutti__entries *with,
                                 tutti_count common, tutti_count *v) {
    const tutti__entries *e = &d->elements;
    tutti_count n = 0, kept = 0;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        const tutti_count at = tutti__sorted_find(with->position, with->n, e->to[k]);
        for (tutti_count q = with->start[at]; q < with->start[at + 1]; q++) v[n++] = with->to[q];
    }
    for (tutti_count k = 1; k < n; k++) { /* insertion sort: lists are short and partly sorted */
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

static tutti_err graph_fill(const distribution *d, const tutti__entries *with, tutti__graph *g) {
    const tutti_count common = tutti__max(d->x->model.p.dims, 1);
    tutti_count most = 0, at = 0;
    size_t capacity = 0;
    g->nodes = d->n;
    g->start = tutti__calloc((size_t)d->n + 1, sizeof *g->start);
    if (!g->start) return TUTTI_ERR_NOMEM;
    /* sum the lengths of the lists of each element's nodes */
    for (tutti_count i = 0; i < d->n; i++) {
        tutti_count n = 0;
        for (tutti_count k = d->elements.start[i]; k < d->elements.start[i + 1]; k++) {
            const tutti_count at = tutti__sorted_find(with->position, with->n, d->elements.to[k]);
            n += with->start[at + 1] - with->start[at];
        }
        most = tutti__max(most, n);
    }
    tutti_count *v = tutti__malloc((size_t)(most + 1) * sizeof *v);
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK; i++) {
        const tutti_count n = neighbours_of(d, i, with, common, v);
        err = tutti__grow(&g->to, (size_t)(at + n), &capacity, sizeof *g->to);
        TUTTI_ASSERT(g->to || n == 0 || err != TUTTI_OK);
        if (err == TUTTI_OK && n > 0) memcpy(g->to + at, v, (size_t)n * sizeof *v);
        g->start[i + 1] = at += n;
    }
    tutti__free(v);
    return err;
}

static tutti_err graph_make(distribution *d, tutti__graph *g) {
    tutti_count n = 0, *node = NULL;
    tutti__entries with = {.n = 0};
    TUTTI_TRY(nodes_need(d));
    const tutti_err local_err = tutti__entries_targets(&d->elements, &n, &node);
    tutti_err err = tutti__incidence_fetch(d->x->team, local_err, &d->nodes, n, node, &with);
    if (err == TUTTI_OK) err = tutti__team_agree(d->x->team, graph_fill(d, &with, g));
    tutti__entries_free(&with);
    tutti__free(node);
    return err;
}

/* ---- methods */

/* Partition the centres of elements; METIS also gets their graph. */
static tutti_err by_partition(distribution *d, int metis) {
    tutti__team *t = d->x->team;
    tutti__graph g = {.nodes = 0};
    double *centres = NULL;
    int by_metis = 0;
    if (t->size == 1) return TUTTI_OK;
    const int has_graph = metis && tutti__has_metis();
    tutti_err err = share_read(d);
    if (err == TUTTI_OK) err = find_centres(d, &centres);
    if (err == TUTTI_OK && has_graph) err = graph_make(d, &g);
    const tutti__points p = {.all = d->all, .first = d->first, .n = d->n, .coordinates = centres};
    if (err == TUTTI_OK)
        err = metis ? tutti__partition_on_root(t, &p, has_graph ? &g : NULL, t->size, d->rank,
                                               &by_metis)
                    : tutti__partition_by_curve(t, &p, t->size, d->rank);
    tutti__graph_free(&g);
    tutti__free(centres);
    return err;
}

/* Send the ranks of elements, as passed by all ranks, to the shares of these elements. */
static tutti_err by_list(distribution *d) {
    const tutti_exodus_distribution *spec = d->spec;
    tutti__incidence given = {.n = 0};
    tutti__pair *pairs = tutti__malloc((size_t)(spec->n + 1) * sizeof *pairs);
    tutti_count given_n = spec->n;
    tutti_err local_err = pairs ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < spec->n && pairs; i++)
        pairs[i] = (tutti__pair){spec->first + i, spec->rank[i]};
    tutti_err err =
        tutti__team_reduce(d->x->team, local_err, 1, &(tutti__reduction){TUTTI__SUM, &given_n});
    if (err == TUTTI_OK && given_n != d->all)
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                             "ranks of %lld elements are specified, but the file has %lld elements",
                             (long long)given_n, (long long)d->all);
    if (err == TUTTI_OK)
        err = tutti__incidence_make(d->x->team, TUTTI_OK, &(tutti__pairs){d->all, spec->n, pairs},
                                    &given);
    local_err = TUTTI_OK;
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK && local_err == TUTTI_OK; i++) {
        const tutti_count n = given.start[i + 1] - given.start[i];
        if (n == 1)
            d->rank[i] = (int)given.with[given.start[i]];
        else
            local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                         "element %lld is assigned to %lld ranks: must be 1",
                                         (long long)(d->first + i), (long long)n);
    }
    if (err == TUTTI_OK) err = tutti__team_agree(d->x->team, local_err);
    tutti__incidence_free(&given);
    tutti__free(pairs);
    return err;
}

/* ---- halos */

/* Merge n ascending elements as halo; new_ones[0 ... *new_n - 1] are those that were not present
 * before. */
static tutti_err elements_add(tutti__local_elements *e, tutti_count n, const tutti_count *more,
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
    *e = (tutti__local_elements){k, position, halo};
    return TUTTI_OK;
}

/* Add the elements that share nodes with the elements of the last layer.  *most_out: the largest
 * number of elements added on any rank; if it is 0, further layers add none. */
static tutti_err add_layer(distribution *d, tutti__local_elements *e, tutti_count *n,
                           tutti_count **news, tutti_count *most_out) {
    tutti__entries last = {.n = 0}, with = {.n = 0};
    tutti_count nodes_n = 0, more_n = 0, *nodes = NULL, *more = NULL;
    tutti_err err =
        tutti__entries_read(d->x, TUTTI_EXODUS_ELEMENT_BLOCK, *n, *news, TUTTI_OK, &last);
    err = tutti__team_agree(d->x->team, tutti__entries_to_nodes(d->x, err, &last));
    if (err == TUTTI_OK) {
        const tutti_err local_err = tutti__entries_targets(&last, &nodes_n, &nodes);
        err = tutti__incidence_fetch(d->x->team, local_err, &d->nodes, nodes_n, nodes, &with);
    }
    if (err == TUTTI_OK) {
        tutti_err local_err = tutti__entries_targets(&with, &more_n, &more);
        tutti_count *fresh =
            local_err == TUTTI_OK ? tutti__malloc((size_t)(more_n + 1) * sizeof *fresh) : NULL;
        if (local_err == TUTTI_OK && !fresh) local_err = TUTTI_ERR_NOMEM;
        if (local_err == TUTTI_OK) local_err = elements_add(e, more_n, more, n, fresh);
        tutti__free(*news);
        *news = fresh;
        *most_out = local_err == TUTTI_OK ? *n : 0;
        err = tutti__team_max(d->x->team, local_err, most_out);
    }
    tutti__entries_free(&last);
    tutti__entries_free(&with);
    tutti__free(nodes);
    tutti__free(more);
    return err;
}

static tutti_err halo_add(distribution *d, tutti__local_elements *e) {
    tutti_count n = e->n, *news = NULL;
    TUTTI_TRY(nodes_need(d));
    news = tutti__malloc((size_t)(n + 1) * sizeof *news);
    tutti_err err = tutti__team_agree(d->x->team, news ? TUTTI_OK : TUTTI_ERR_NOMEM);
    TUTTI_ASSERT(news || err != TUTTI_OK);
    if (err == TUTTI_OK && n > 0) memcpy(news, e->position, (size_t)n * sizeof *news);
    tutti_count most = 1;
    for (int i = 0; i < d->spec->halo && most > 0 && err == TUTTI_OK; i++)
        err = add_layer(d, e, &n, &news, &most);
    tutti__free(news);
    return err;
}

/* ---- all methods */

/* List the elements of the share in ascending order. */
static tutti_err elements_in_order(tutti_count first, tutti_count n, tutti__local_elements *e) {
    e->n = n;
    e->position = tutti__malloc_large((size_t)(n + 1) * sizeof *e->position);
    for (tutti_count i = 0; i < n && e->position; i++) e->position[i] = first + i;
    return e->position ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Assign elements by a method that communicates, and send each rank its elements.   Collective. */
static tutti_err assign_and_send(distribution *d, tutti_err local_err, tutti__local_elements *e) {
    tutti__local_elements share = {.n = 0};
    if (local_err == TUTTI_OK) local_err = elements_in_order(d->first, d->n, &share);
    d->rank = tutti__malloc((size_t)(d->n + 1) * sizeof *d->rank);
    if (local_err == TUTTI_OK && !d->rank) local_err = TUTTI_ERR_NOMEM;
    tutti_err err = tutti__team_agree(d->x->team, local_err);
    const tutti_exodus_partitioner method = d->spec->partitioner;
    for (tutti_count i = 0; i < d->n && err == TUTTI_OK; i++) d->rank[i] = d->x->team->rank;
    if (err == TUTTI_OK && d->all > 0)
        err = method == TUTTI_EXODUS_BY_LIST ? by_list(d)
                                             : by_partition(d, method == TUTTI_EXODUS_BY_METIS);
    if (err == TUTTI_OK)
        err = tutti__send_records(d->x->team, TUTTI_OK, sizeof *share.position, d->n,
                                  share.position, d->rank, &e->n, (void **)&e->position);
    tutti__free(share.position);
    return err;
}

tutti_err tutti__distribute_elements(tutti_exodus *x, const tutti_exodus_distribution *spec,
                                     tutti_err local_err, tutti__local_elements *out) {
    const tutti__team *t = x->team;
    distribution d = {.x = x, .spec = spec, .all = x->model.p.elements};
    const int on_root = spec->partitioner == TUTTI_EXODUS_ON_ROOT;
    d.first = tutti_size_share(d.all, t->size, t->rank);
    d.n = tutti_size_share(d.all, t->size, t->rank + 1) - d.first;
    if (spec->partitioner != TUTTI_EXODUS_BY_ORDER && !on_root)
        local_err = assign_and_send(&d, local_err, out);
    else if (local_err == TUTTI_OK)
        local_err = on_root ? elements_in_order(0, t->rank == 0 ? d.all : 0, out)
                            : elements_in_order(d.first, d.n, out);
    if (local_err == TUTTI_OK && !(out->halo = tutti__calloc((size_t)out->n + 1, 1)))
        local_err = TUTTI_ERR_NOMEM;
    if (spec->halo > 0 && d.all > 0 && t->size > 1) {
        local_err = tutti__team_agree(x->team, local_err);
        if (local_err == TUTTI_OK) local_err = halo_add(&d, out);
    }
    tutti__free(d.rank);
    tutti__entries_free(&d.elements);
    tutti__incidence_free(&d.nodes);
    return local_err;
}
