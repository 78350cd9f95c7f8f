/* mesh: the neighbours of each node, i.e. the other nodes of its elements.  Every element is sent
 * to the ranks whose shares contain its nodes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

#include "base/sorted.h"
#include "decomposition/incidence.h"

/* Node lists of elements, without types. */
typedef struct {
    tutti_count n;
    const tutti_count *start; /* [n + 1] index in `node` of each list */
    const tutti_count *node;
} cells;

/* List the cells of each node of this rank's share. */
static tutti_err find_cells(const tutti_mesh *m, const cells *c, tutti__incidence *out) {
    const tutti_count all = c->start[c->n], first = m->first_node, end = first + m->own.nodes;
    tutti__pair *pairs = tutti__malloc((size_t)(all + 1) * sizeof *pairs);
    tutti_count n = 0;
    if (!pairs) return TUTTI_ERR_NOMEM;
    for (tutti_count e = 0; e < c->n; e++)
        for (tutti_count i = c->start[e]; i < c->start[e + 1]; i++)
            if (c->node[i] >= first && c->node[i] < end) pairs[n++] = (tutti__pair){c->node[i], e};
    *out = (tutti__incidence){.all = m->all_nodes, .first = first, .n = m->own.nodes};
    const tutti_err err = tutti__incidence_fill(out, n, pairs);
    tutti__free(pairs);
    return err;
}

/* Make the lists of neighbours.  Lists are appended to an array that grows, since counting first
 * would sort every list twice. */
static tutti_err find_neighbours(const tutti__incidence *in, const cells *c, tutti__graph *g) {
    const tutti_count n = in->n, *start = in->start, *at = in->with;
    size_t capacity = 16 * (size_t)n + 64;
    tutti_count used = 0;
    g->start = tutti__malloc(((size_t)n + 1) * sizeof *g->start);
    g->to = tutti__malloc(capacity * sizeof *g->to);
    if (!g->start || !g->to) return TUTTI_ERR_NOMEM;
    g->nodes = n;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count me = in->first + i;
        tutti_count most = 0, k = 0;
        g->start[i] = used;
        for (tutti_count j = start[i]; j < start[i + 1]; j++)
            most += c->start[at[j] + 1] - c->start[at[j]];
        TUTTI_TRY(tutti__grow(&g->to, (size_t)(used + most), &capacity, sizeof *g->to));
        tutti_count *v = g->to + used;
        for (tutti_count j = start[i]; j < start[i + 1]; j++)
            for (tutti_count l = c->start[at[j]]; l < c->start[at[j] + 1]; l++)
                if (c->node[l] != me) v[k++] = c->node[l];
        used += tutti__sort_unique(v, k);
    }
    g->start[n] = used;
    return TUTTI_OK;
}

/* ---- cells of other slices */

/* The nodes of an element, sent to each other rank that has nodes of the element; all records have
 * the same size. */
typedef struct {
    tutti_count node[TUTTI_MESH_MAX_NODES]; /* -1 after the last node */
} cell_record;

static tutti_err collect_records(const tutti_mesh *m, tutti_count *n_out, cell_record **v_out,
                                 int **to_out) {
    const tutti__mesh_data *d = &m->own;
    const tutti__team *t = m->team;
    tutti_count n = 0;
    for (int pass = 0; pass < 2; pass++) { /* first count, then fill */
        n = 0;
        for (tutti_count e = 0; e < d->elements; e++) {
            int seen[TUTTI_MESH_MAX_NODES], k = 0;
            for (tutti_count i = d->start[e]; i < d->start[e + 1]; i++) {
                const int r = tutti__share_rank(m->all_nodes, t->size, d->node[i]);
                int known = r == t->rank;
                for (int j = 0; j < k; j++) known |= seen[j] == r;
                if (known) continue;
                seen[k++] = r;
                if (pass) {
                    cell_record *x = &(*v_out)[n];
                    memset(x, -1, sizeof *x);
                    memcpy(x->node, d->node + d->start[e],
                           (size_t)(d->start[e + 1] - d->start[e]) * sizeof *x->node);
                    (*to_out)[n] = r;
                }
                n++;
            }
        }
        if (pass) break;
        *v_out = tutti__malloc((size_t)n * sizeof **v_out);
        *to_out = tutti__malloc((size_t)n * sizeof **to_out);
        if (!*v_out || !*to_out) return TUTTI_ERR_NOMEM;
    }
    *n_out = n;
    return TUTTI_OK;
}

/* Merge the elements of this rank and the elements received from other ranks. */
static tutti_err merge_cells(const tutti__mesh_data *d, tutti_count n, const cell_record *v,
                             cells *out, tutti_count **start_out, tutti_count **node_out) {
    const tutti_count own = d->elements > 0 ? d->start[d->elements] : 0;
    tutti_count *start = tutti__malloc(((size_t)(d->elements + n) + 1) * sizeof *start);
    tutti_count *node =
        tutti__malloc(((size_t)own + (size_t)n * TUTTI_MESH_MAX_NODES) * sizeof *node);
    *start_out = start;
    *node_out = node;
    if (!start || !node) return TUTTI_ERR_NOMEM;
    start[0] = 0;
    if (d->elements > 0) {
        memcpy(start, d->start, ((size_t)d->elements + 1) * sizeof *start);
        memcpy(node, d->node, (size_t)own * sizeof *node);
    }
    for (tutti_count i = 0; i < n; i++) {
        tutti_count at = start[d->elements + i];
        for (int j = 0; j < TUTTI_MESH_MAX_NODES && v[i].node[j] >= 0; j++)
            node[at++] = v[i].node[j];
        start[d->elements + i + 1] = at;
    }
    *out = (cells){d->elements + n, start, node};
    return TUTTI_OK;
}

tutti_err tutti__mesh_graph_need(tutti_mesh *m) {
    tutti_count n = 0, got = 0, *start = NULL, *node = NULL;
    cell_record *v = NULL, *in = NULL;
    int *to = NULL;
    cells all = {m->own.elements, m->own.start, m->own.node};
    tutti__graph g = {.nodes = 0};
    if (m->graph.start) return TUTTI_OK; /* on all ranks or on none */
    tutti_err err = TUTTI_OK;
    if (m->team->size > 1) {
        err = collect_records(m, &n, &v, &to);
        err = tutti__send_records(m->team, err, sizeof *v, n, v, to, &got, (void **)&in);
        tutti__free(v);
        tutti__free(to);
        TUTTI_TRY(err);
        err = merge_cells(&m->own, got, in, &all, &start, &node);
        tutti__free(in);
    }
    if (err == TUTTI_OK) {
        tutti__incidence cells_of = {.n = 0};
        err = find_cells(m, &all, &cells_of);
        if (err == TUTTI_OK) err = find_neighbours(&cells_of, &all, &g);
        tutti__incidence_free(&cells_of);
    }
    tutti__free(start);
    tutti__free(node);
    err = tutti__team_agree(m->team, err);
    if (err != TUTTI_OK)
        tutti__graph_free(&g);
    else
        m->graph = g;
    return err;
}
