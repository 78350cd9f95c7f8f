/* mesh: neighbours.  Every element goes to the ranks whose slices have its nodes; each then goes
 * through the elements of each of its nodes and keeps the others of their nodes, each once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <stdlib.h>
#include <string.h>

/* Elements as far as neighbours are concerned. */
typedef struct {
    tutti_count n;
    const tutti_count *start; /* [n + 1] */
    const tutti_count *node;
} cells;

/* Ascending; lists are short, and of neighbouring elements half sorted. */
static void sort_short(tutti_count *v, tutti_count n) {
    for (tutti_count i = 1; i < n; i++) {
        const tutti_count x = v[i];
        tutti_count j = i;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
}

static int by_number(const void *a, const void *b) {
    const tutti_count x = *(const tutti_count *)a, y = *(const tutti_count *)b;
    return (x > y) - (x < y);
}

/* Sorted and each once; returns how many are left. */
static tutti_count once_each(tutti_count *v, tutti_count n) {
    enum { SHORT = 256 };
    tutti_count kept = 0;
    if (n <= SHORT)
        sort_short(v, n);
    else
        qsort(v, (size_t)n, sizeof *v, by_number);
    for (tutti_count i = 0; i < n; i++)
        if (kept == 0 || v[i] != v[kept - 1]) v[kept++] = v[i];
    return kept;
}

/* Which cells each node of the slice is in: at[start[i]] ... */
static tutti_err incidence(const tutti_mesh *m, const cells *c, tutti_count **start_out,
                           tutti_count **at_out) {
    const tutti_count n = m->own.nodes, first = m->first_node;
    tutti_count *start = tutti__calloc((size_t)n + 2, sizeof *start), *at = NULL;
    if (!start) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < c->start[c->n]; i++)
        if (c->node[i] >= first && c->node[i] < first + n) start[c->node[i] - first + 2]++;
    for (tutti_count i = 0; i < n; i++) start[i + 2] += start[i + 1];
    at = tutti__malloc((size_t)start[n + 1] * sizeof *at);
    if (!at) {
        tutti__free(start);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count e = 0; e < c->n; e++)
        for (tutti_count i = c->start[e]; i < c->start[e + 1]; i++)
            if (c->node[i] >= first && c->node[i] < first + n)
                at[start[c->node[i] - first + 1]++] = e;
    *start_out = start;
    *at_out = at;
    return TUTTI_OK;
}

/* Two passes would sort everything twice: lists are written behind one another, and the array
 * grows. */
static tutti_err neighbours(const tutti_mesh *m, const cells *c, const tutti_count *start,
                            const tutti_count *at, tutti__mesh_graph *g) {
    const tutti_count n = m->own.nodes;
    tutti_count room = 16 * n + 64, used = 0;
    g->start = tutti__malloc(((size_t)n + 1) * sizeof *g->start);
    g->to = tutti__malloc((size_t)room * sizeof *g->to);
    if (!g->start || !g->to) return TUTTI_ERR_NOMEM;
    g->nodes = n;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count me = m->first_node + i;
        tutti_count most = 0, k = 0;
        g->start[i] = used;
        for (tutti_count j = start[i]; j < start[i + 1]; j++)
            most += c->start[at[j] + 1] - c->start[at[j]];
        if (used + most > room) {
            room = tutti__max(used + most, 2 * room);
            tutti_count *more = tutti__realloc(g->to, (size_t)room * sizeof *more);
            if (!more) return TUTTI_ERR_NOMEM;
            g->to = more;
        }
        tutti_count *v = g->to + used;
        for (tutti_count j = start[i]; j < start[i + 1]; j++)
            for (tutti_count l = c->start[at[j]]; l < c->start[at[j] + 1]; l++)
                if (c->node[l] != me) v[k++] = c->node[l];
        used += once_each(v, k);
    }
    g->start[n] = used;
    return TUTTI_OK;
}

/* ---- cells from other ranks' slices */

/* What this rank's elements have to tell others: for each of them and each rank but this one that
 * has nodes of it, the element's nodes, as records of the same size. */
typedef struct {
    tutti_count node[TUTTI_MESH_MOST_NODES]; /* -1 behind the last */
} told;

static tutti_err tell(const tutti_mesh *m, tutti_count *n_out, told **v_out, int **to_out) {
    const tutti__mesh_data *d = &m->own;
    const tutti__team *t = m->team;
    tutti_count n = 0;
    for (int pass = 0; pass < 2; pass++) { /* counts, then fills */
        n = 0;
        for (tutti_count e = 0; e < d->elements; e++) {
            int seen[TUTTI_MESH_MOST_NODES], k = 0;
            for (tutti_count i = d->start[e]; i < d->start[e + 1]; i++) {
                const int r = tutti__mesh_home(m->all_nodes, t->size, d->node[i]);
                int known = r == t->rank;
                for (int j = 0; j < k; j++) known |= seen[j] == r;
                if (known) continue;
                seen[k++] = r;
                if (pass) {
                    told *x = &(*v_out)[n];
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

/* This rank's elements and those that others have told of, in one list. */
static tutti_err merge(const tutti__mesh_data *d, tutti_count n, const told *v, cells *out,
                       tutti_count **start_out, tutti_count **node_out) {
    const tutti_count own = d->elements > 0 ? d->start[d->elements] : 0;
    tutti_count *start = tutti__malloc(((size_t)(d->elements + n) + 1) * sizeof *start);
    tutti_count *node =
        tutti__malloc(((size_t)own + (size_t)n * TUTTI_MESH_MOST_NODES) * sizeof *node);
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
        for (int j = 0; j < TUTTI_MESH_MOST_NODES && v[i].node[j] >= 0; j++)
            node[at++] = v[i].node[j];
        start[d->elements + i + 1] = at;
    }
    *out = (cells){d->elements + n, start, node};
    return TUTTI_OK;
}

static tutti_err graph_of(const tutti_mesh *m, const cells *c, tutti__mesh_graph *g) {
    tutti_count *start = NULL, *at = NULL;
    TUTTI_TRY(incidence(m, c, &start, &at));
    const tutti_err err = neighbours(m, c, start, at, g);
    tutti__free(start);
    tutti__free(at);
    return err;
}

tutti_err tutti__mesh_graph_need(tutti_mesh *m) {
    tutti_count n = 0, got = 0, *start = NULL, *node = NULL;
    told *v = NULL, *in = NULL;
    int *to = NULL;
    cells all = {m->own.elements, m->own.start, m->own.node};
    tutti__mesh_graph g = {.nodes = 0};
    if (m->graph.start) return TUTTI_OK; /* on all ranks or on none */
    tutti_err err = TUTTI_OK;
    if (m->team->size > 1) {
        err = tell(m, &n, &v, &to);
        err = tutti__mesh_send(m->team, err, sizeof *v, n, v, to, &got, (void **)&in);
        tutti__free(v);
        tutti__free(to);
        TUTTI_TRY(err);
        err = merge(&m->own, got, in, &all, &start, &node);
        tutti__free(in);
    }
    if (err == TUTTI_OK) err = graph_of(m, &all, &g);
    tutti__free(start);
    tutti__free(node);
    err = tutti__team_agree(m->team, err);
    if (err != TUTTI_OK)
        tutti__mesh_graph_free(&g);
    else
        m->graph = g;
    return err;
}

/* ---- all of it on rank 0 */

tutti_err tutti__mesh_graph_gather(tutti_mesh *m, tutti__mesh_graph *out) {
    tutti__team *t = m->team;
    tutti_count *bound = NULL, *degree = NULL, n = 0;
    tutti__mesh_graph g = {.nodes = 0};
    TUTTI_TRY(tutti__mesh_graph_need(m));
    TUTTI_ASSERT(m->graph.start != NULL);
    bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
    degree = tutti__malloc(((size_t)m->own.nodes + 1) * sizeof *degree);
    tutti_err err = bound && degree ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < m->own.nodes && err == TUTTI_OK; i++)
        degree[i] = m->graph.start[i + 1] - m->graph.start[i];
    for (int r = 1; r <= t->size && err == TUTTI_OK; r++) bound[r] = m->own.nodes;
    tutti_count *all = NULL;
    err = tutti__mesh_pass(t, err, sizeof *degree, degree, bound, &n, (void **)&all);
    TUTTI_ASSERT(err != TUTTI_OK || bound);
    if (err == TUTTI_OK) {
        g.nodes = n;
        g.start = tutti__malloc(((size_t)n + 1) * sizeof *g.start);
        if (g.start) g.start[0] = 0;
        for (tutti_count i = 0; i < n && g.start; i++) g.start[i + 1] = g.start[i] + all[i];
        for (int r = 1; r <= t->size; r++) bound[r] = m->graph.start[m->own.nodes];
        err = tutti__mesh_pass(t, g.start ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *g.to, m->graph.to,
                               bound, &n, (void **)&g.to);
    }
    tutti__free(bound);
    tutti__free(degree);
    tutti__free(all);
    if (err != TUTTI_OK)
        tutti__mesh_graph_free(&g);
    else
        *out = g;
    return err;
}
