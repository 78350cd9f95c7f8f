/* mesh: new numbers for the nodes.  Each rank learns the new numbers of its slice; nodes move to
 * the slices that have them now, and elements name them by those.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

/* Something about a node, for the rank whose slice it is in. */
typedef struct {
    tutti_count node, value;
} note;

/* What ranks have found out about nodes (about each of all nodes exactly once), for the slices. */
static tutti_err notes_home(tutti_mesh *m, tutti_err mine, tutti_count n, const note *v,
                            tutti_count *value_out) {
    tutti__team *t = m->team;
    int *to = NULL;
    tutti_count got = 0;
    note *in = NULL;
    if (mine == TUTTI_OK) {
        to = tutti__malloc(((size_t)n + 1) * sizeof *to);
        if (!to) mine = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n && mine == TUTTI_OK; i++)
        to[i] = tutti__mesh_home(m->all_nodes, t->size, v[i].node);
    const tutti_err err = tutti__mesh_send(t, mine, sizeof *v, n, v, to, &got, (void **)&in);
    tutti__free(to);
    TUTTI_TRY(err);
    TUTTI_ASSERT(got == m->own.nodes);
    for (tutti_count i = 0; i < got; i++) value_out[in[i].node - m->first_node] = in[i].value;
    tutti__free(in);
    return TUTTI_OK;
}

static tutti_err number_by_curve(tutti_mesh *m, tutti_count *number) {
    tutti__mesh_stop *v = NULL;
    tutti_count n = 0, before = 0, all = 0;
    TUTTI_TRY(tutti__mesh_along_curve(m, NULL, &n, &v));
    tutti_err err = tutti__mesh_before(m->team, TUTTI_OK, n, &before, &all);
    note *notes = NULL;
    if (err == TUTTI_OK) {
        notes = tutti__malloc(((size_t)n + 1) * sizeof *notes);
        for (tutti_count i = 0; i < n && notes; i++) notes[i] = (note){v[i].number, before + i};
        err = notes_home(m, notes ? TUTTI_OK : TUTTI_ERR_NOMEM, n, notes, number);
    }
    tutti__free(notes);
    tutti__free(v);
    return err;
}

static tutti_err number_by_rcm(tutti_mesh *m, tutti_count *number) {
    tutti__mesh_graph g = {.nodes = 0};
    tutti_count *all = NULL;
    note *notes = NULL;
    TUTTI_TRY(tutti__mesh_graph_gather(m, &g));
    tutti_err err = TUTTI_OK;
    all = tutti__malloc(((size_t)g.nodes + 1) * sizeof *all);
    notes = tutti__malloc(((size_t)g.nodes + 1) * sizeof *notes);
    if (!all || !notes) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && m->team->rank == 0) err = tutti__rcm(&g, all);
    for (tutti_count i = 0; i < g.nodes && err == TUTTI_OK; i++) notes[i] = (note){i, all[i]};
    err = notes_home(m, err, g.nodes, notes, number);
    tutti__mesh_graph_free(&g);
    tutti__free(all);
    tutti__free(notes);
    return err;
}

/* A node on its way to its new slice. */
typedef struct {
    tutti_count number;
    int64_t tag;
    double x[3];
} moved;

/* Nodes to their new slices; `to` are arrays of the slice's size. */
static tutti_err move_nodes(tutti_mesh *m, const tutti_count *number, tutti__mesh_data *to) {
    tutti__team *t = m->team;
    const tutti__mesh_data *d = &m->own;
    moved *v = tutti__malloc(((size_t)d->nodes + 1) * sizeof *v), *in = NULL;
    int *rank = tutti__malloc(((size_t)d->nodes + 1) * sizeof *rank);
    tutti_count got = 0;
    tutti_err err = v && rank ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->nodes && err == TUTTI_OK; i++) {
        const double *x = d->coordinates + 3 * i;
        v[i] = (moved){number[i], d->tag[i], {x[0], x[1], x[2]}};
        rank[i] = tutti__mesh_home(m->all_nodes, t->size, number[i]);
    }
    err = tutti__mesh_send(t, err, sizeof *v, d->nodes, v, rank, &got, (void **)&in);
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

static tutti_err apply(tutti_mesh *m, const tutti_count *number) {
    tutti__mesh_data *d = &m->own;
    const tutti_count entries = d->start[d->elements];
    tutti__mesh_data new = {.nodes = 0};
    tutti__mesh_values v = {.item = 0};
    new.coordinates = tutti__malloc(((size_t)d->nodes + 1) * 3 * sizeof *new.coordinates);
    new.tag = tutti__malloc(((size_t)d->nodes + 1) * sizeof *new.tag);
    new.node = tutti__malloc(((size_t)entries + 1) * sizeof *new.node);
    tutti_err err = new.coordinates &&new.tag &&new.node ? TUTTI_OK : TUTTI_ERR_NOMEM;
    const tutti__mesh_question q = {.all = m->all_nodes,
                                    .item = sizeof *number,
                                    .own = number,
                                    .n = entries,
                                    .number = d->node};
    err = tutti__mesh_ask(m->team, err, &q, &v);
    TUTTI_ASSERT(err != TUTTI_OK || (new.coordinates &&new.tag &&new.node));
    if (err == TUTTI_OK) {
        for (tutti_count i = 0; i < entries; i++)
            memcpy(&new.node[i], tutti__mesh_value(&v, d->node[i]), sizeof *new.node);
        tutti__mesh_values_free(&v);
        err = move_nodes(m, number, &new);
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
    tutti__mesh_graph_free(&m->graph);
    return TUTTI_OK;
}

tutti_err tutti_mesh_renumber(tutti_mesh *m, tutti_mesh_order order) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    const uint64_t h = tutti__hash(TUTTI__HASH_START, &order, sizeof order);
    tutti_err err = TUTTI_OK;
    tutti_count *number = NULL;
    if ((int)order < TUTTI_MESH_FILE || order > TUTTI_MESH_RCM)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "there is no order %d", (int)order);
    if (err == TUTTI_OK) {
        number = tutti__malloc(((size_t)m->own.nodes + 1) * sizeof *number);
        if (!number) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__object_call(
        &m->object, &(tutti__call){.name = "renumber", .what = "the order", .hash = h}, err);
    if (err == TUTTI_OK && order != TUTTI_MESH_FILE) {
        err = order == TUTTI_MESH_CURVE ? number_by_curve(m, number) : number_by_rcm(m, number);
        if (err == TUTTI_OK) err = apply(m, number);
    }
    tutti__free(number);
    return err;
}
