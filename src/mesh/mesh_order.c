/* mesh: renumbering of nodes.  Each rank gets the new numbers of the nodes of its share; nodes are
 * sent to the shares of their new numbers, and the node lists of elements are updated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

/* Send the new numbers of nodes to the shares of the nodes; exactly one rank passes the number of a
 * node. */
static tutti_err send_numbers(tutti_mesh *m, tutti_err local_err, tutti_count n,
                              const tutti__pair *v, tutti_count *number_out) {
    tutti_count received = 0;
    tutti__pair *in = NULL;
    TUTTI_TRY(
        tutti__send_pairs(m->team, local_err, &(tutti__pairs){m->all_nodes, n, v}, &received, &in));
    TUTTI_ASSERT(received == m->own.nodes);
    for (tutti_count i = 0; i < received; i++) number_out[in[i].item - m->first_node] = in[i].with;
    tutti__free(in);
    return TUTTI_OK;
}

static tutti_err number_by_curve(tutti_mesh *m, tutti_count *number) {
    const tutti__points p = {.all = m->all_nodes,
                             .first = m->first_node,
                             .n = m->own.nodes,
                             .coordinates = m->own.coordinates};
    tutti__curve_point *v = NULL;
    tutti_count n = 0, before = 0;
    TUTTI_TRY(tutti__curve_sort(m->team, &p, &n, &v));
    tutti_count all = n;
    tutti__pair *pairs = tutti__malloc(((size_t)n + 1) * sizeof *pairs);
    tutti_err err =
        tutti__checksums_before(m->team, pairs ? TUTTI_OK : TUTTI_ERR_NOMEM, 1, &all, &before);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++)
        pairs[i] = (tutti__pair){v[i].number, before + i};
    if (err == TUTTI_OK) err = send_numbers(m, TUTTI_OK, n, pairs, number);
    tutti__free(pairs);
    tutti__free(v);
    return err;
}

static tutti_err number_by_rcm(tutti_mesh *m, tutti_count *number) {
    tutti__graph g = {.nodes = 0};
    TUTTI_TRY(tutti__mesh_graph_need(m));
    TUTTI_TRY(tutti__graph_gather(m->team, m->all_nodes, &m->graph, &g));
    tutti_count *all = tutti__malloc(((size_t)g.nodes + 1) * sizeof *all);
    tutti__pair *pairs = tutti__malloc(((size_t)g.nodes + 1) * sizeof *pairs);
    tutti_err err = all && pairs ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && m->team->rank == 0) err = tutti__rcm(&g, all);
    for (tutti_count i = 0; i < g.nodes && err == TUTTI_OK; i++)
        pairs[i] = (tutti__pair){i, all[i]};
    err = send_numbers(m, err, g.nodes, pairs, number);
    tutti__graph_free(&g);
    tutti__free(all);
    tutti__free(pairs);
    return err;
}

/* A node that is sent to its new share. */
typedef struct {
    tutti_count number;
    int64_t tag;
    double x[3];
} moved;

/* Send nodes to their new slices; `to` has arrays of the size of the slice. */
static tutti_err send_nodes(tutti_mesh *m, const tutti_count *number, tutti__mesh_data *to) {
    tutti__team *t = m->team;
    const tutti__mesh_data *d = &m->own;
    moved *v = tutti__malloc(((size_t)d->nodes + 1) * sizeof *v), *in = NULL;
    int *rank = tutti__malloc(((size_t)d->nodes + 1) * sizeof *rank);
    tutti_count got = 0;
    tutti_err err = v && rank ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->nodes && err == TUTTI_OK; i++) {
        const double *x = d->coordinates + 3 * i;
        v[i] = (moved){number[i], d->tag[i], {x[0], x[1], x[2]}};
        rank[i] = tutti__share_rank(m->all_nodes, t->size, number[i]);
    }
    err = tutti__send_records(t, err, sizeof *v, d->nodes, v, rank, &got, (void **)&in);
    tutti__free(v);
    tutti__free(rank);
    TUTTI_TRY(err);
    TUTTI_ASSERT(got == d->nodes);
    for (tutti_count i = 0; i < got; i++) {
        const tutti_count at = in[i].number - m->first_node;
        memcpy(to->coordinates + 3 * at, in[i].x, sizeof in[i].x);
        to->tag[at] = in[i].tag;
    }
    tutti__free(in);
    return TUTTI_OK;
}

static tutti_err apply_numbers(tutti_mesh *m, const tutti_count *number) {
    tutti__mesh_data *d = &m->own;
    const tutti_count entries = d->start[d->elements];
    tutti__mesh_data new = {.nodes = 0};
    tutti__share_values v = {.item = 0};
    new.coordinates = tutti__malloc(((size_t)d->nodes + 1) * 3 * sizeof *new.coordinates);
    new.tag = tutti__malloc(((size_t)d->nodes + 1) * sizeof *new.tag);
    new.node = tutti__malloc(((size_t)entries + 1) * sizeof *new.node);
    tutti_err err = new.coordinates &&new.tag &&new.node ? TUTTI_OK : TUTTI_ERR_NOMEM;
    const tutti__share_request q = {.all = m->all_nodes,
                                    .item = sizeof *number,
                                    .own = number,
                                    .n = entries,
                                    .number = d->node};
    err = tutti__share_fetch(m->team, err, &q, &v);
    TUTTI_ASSERT(err != TUTTI_OK || (new.coordinates &&new.tag &&new.node));
    if (err == TUTTI_OK) {
        for (tutti_count i = 0; i < entries; i++)
            memcpy(&new.node[i], tutti__share_value(&v, d->node[i]), sizeof *new.node);
        tutti__share_values_free(&v);
        err = send_nodes(m, number, &new);
    }
    if (err != TUTTI_OK) {
        tutti__mesh_data_free(&new);
        return err;
    }
    tutti__free(d->coordinates);
    tutti__free(d->tag);
    tutti__free(d->node);
    d->coordinates = new.coordinates;
    d->tag = new.tag;
    d->node = new.node;
    tutti__graph_free(&m->graph);
    return TUTTI_OK;
}

tutti_err tutti_mesh_renumber(tutti_mesh *m, tutti_mesh_order order) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    const uint64_t h = tutti__hash(TUTTI__HASH_START, &order, sizeof order);
    tutti_err err = TUTTI_OK;
    tutti_count *number = NULL;
    if ((int)order < TUTTI_MESH_FILE || order > TUTTI_MESH_RCM)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "unknown order %d", (int)order);
    if (err == TUTTI_OK) {
        number = tutti__malloc(((size_t)m->own.nodes + 1) * sizeof *number);
        if (!number) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__object_call(
        &m->object, &(tutti__call){.name = "renumber", .what = "the order", .hash = h}, err);
    if (err == TUTTI_OK && order != TUTTI_MESH_FILE) {
        err = order == TUTTI_MESH_CURVE ? number_by_curve(m, number) : number_by_rcm(m, number);
        if (err == TUTTI_OK) err = apply_numbers(m, number);
    }
    tutti__free(number);
    return err;
}
