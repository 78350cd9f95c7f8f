/* decomposition: division of points into parts of about the same weight: pieces of Hilbert's curve,
 * computed by all ranks, or METIS or coordinate bisection on rank 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/partition.h"

#include <string.h>

#include "decomposition/rcb.h"

/* A point belongs to the part that contains the middle of its weight. */
tutti_err tutti__partition_by_curve(tutti__team *t, const tutti__points *p, int parts,
                                    int *part_out) {
    tutti__points points = *p;
    tutti__curve_point *v = NULL;
    tutti__pair *assigned = NULL, *received = NULL;
    tutti_count n = 0, received_n = 0, before = 0, all = 0;
    int64_t has_weight = 0;
    for (tutti_count i = 0; i < p->n; i++) has_weight |= p->weight ? p->weight[i] : 1;
    has_weight = has_weight != 0;
    TUTTI_TRY(tutti__team_sum(t, &has_weight, 1));
    if (!has_weight) points.weight = NULL;
    TUTTI_TRY(tutti__curve_sort(t, &points, &n, &v));
    for (tutti_count i = 0; i < n; i++) all += v[i].weight;
    assigned = tutti__malloc(((size_t)n + 1) * sizeof *assigned);
    tutti_err err =
        tutti__checksums_before(t, assigned ? TUTTI_OK : TUTTI_ERR_NOMEM, 1, &all, &before);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        const __int128 middle = 2 * (__int128)before + v[i].weight;
        const int64_t part = (int64_t)(middle * parts / (2 * (__int128)tutti__max(all, 1)));
        assigned[i] = (tutti__pair){v[i].number, tutti__min(part, parts - 1)};
        before += v[i].weight;
    }
    tutti__free(v);
    if (err == TUTTI_OK)
        err = tutti__send_pairs(t, TUTTI_OK, &(tutti__pairs){p->all, n, assigned}, &received_n,
                                &received);
    TUTTI_ASSERT(part_out || received_n == 0);
    for (tutti_count i = 0; i < received_n && err == TUTTI_OK; i++)
        part_out[received[i].item - p->first] = (int)received[i].with;
    tutti__free(assigned);
    tutti__free(received);
    return err;
}

/* ---- on rank 0: METIS and the bisection */

/* Gather n items of each rank on rank 0. */
static tutti_err gather_items(tutti__team *t, tutti_err local_err, size_t item, tutti_count n,
                              const void *own, void **out) {
    tutti_count all = 0, *bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
    if (local_err == TUTTI_OK && !bound) local_err = TUTTI_ERR_NOMEM;
    for (int r = 1; r <= t->size && bound; r++) bound[r] = n;
    const tutti__outgoing o = {.item = item, .data = own, .bound = bound};
    const tutti_err err = tutti__ranges_send(t, local_err, &o, &all, out);
    tutti__free(bound);
    return err;
}

tutti_err tutti__graph_gather(tutti__team *t, tutti_count all, const tutti__graph *g,
                              tutti__graph *out) {
    tutti_count *degree = tutti__malloc(((size_t)g->nodes + 1) * sizeof *degree), *degrees = NULL;
    tutti__graph whole = {.nodes = t->rank == 0 ? all : 0};
    for (tutti_count i = 0; i < g->nodes && degree; i++) degree[i] = g->start[i + 1] - g->start[i];
    tutti_err err = gather_items(t, degree ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *degree, g->nodes,
                                 degree, (void **)&degrees);
    if (err == TUTTI_OK) {
        whole.start = tutti__calloc((size_t)whole.nodes + 1, sizeof *whole.start);
        for (tutti_count i = 0; i < whole.nodes && whole.start; i++)
            whole.start[i + 1] = whole.start[i] + degrees[i];
        err = gather_items(t, whole.start ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *g->to,
                           g->start[g->nodes], g->to, (void **)&whole.to);
    }
    tutti__free(degree);
    tutti__free(degrees);
    if (err != TUTTI_OK)
        tutti__graph_free(&whole);
    else
        *out = whole;
    return err;
}

/* Arrays of rank 0; empty on other ranks. */
typedef struct {
    int parts;
    tutti_count *weight; /* [all] weight of each point */
    int *part;           /* [all] part of each point */
} root_state;

/* Partition with METIS if it is suitable.  *done_out, the same on all ranks: METIS was used, and no
 * part is empty. */
static tutti_err try_metis(tutti__team *t, tutti_count all, const tutti__graph *g, root_state *s,
                           int *done_out) {
    tutti__graph whole = {.nodes = 0};
    int64_t done = 0;
    TUTTI_TRY(tutti__graph_gather(t, all, g, &whole));
    tutti_err err = TUTTI_OK;
    if (t->rank == 0 && tutti__metis_suits(&whole, s->weight, s->parts)) {
        tutti_count *count = tutti__calloc((size_t)s->parts, sizeof *count);
        err = count ? tutti__metis(&whole, s->weight, s->parts, s->part) : TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < whole.nodes && err == TUTTI_OK; i++) count[s->part[i]]++;
        done = err == TUTTI_OK;
        for (int k = 0; k < s->parts && err == TUTTI_OK; k++) done &= count[k] > 0;
        tutti__free(count);
    }
    tutti__graph_free(&whole);
    TUTTI_TRY(tutti__team_reduce(t, err, 1, &(tutti__reduction){TUTTI__SUM, &done}));
    *done_out = done > 0;
    return TUTTI_OK;
}

tutti_err tutti__partition_on_root(tutti__team *t, const tutti__points *p, const tutti__graph *g,
                                   int parts, int *part_out, int *by_metis_out) {
    root_state s = {.parts = parts};
    int done = 0;
    /* Gather the weights of all points.  Points of ranks that pass no weights have weight 1. */
    const tutti_count all = t->rank == 0 ? p->all : 0;
    tutti_count *weight = tutti__malloc(((size_t)p->n + 1) * sizeof *weight);
    s.part = tutti__malloc(((size_t)all + 1) * sizeof *s.part);
    for (tutti_count i = 0; i < p->n && weight; i++) weight[i] = p->weight ? p->weight[i] : 1;
    tutti_err err = gather_items(t, weight && s.part ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *weight,
                                 p->n, weight, (void **)&s.weight);
    tutti__free(weight);
    if (err == TUTTI_OK && g) err = try_metis(t, p->all, g, &s, &done);
    if (err == TUTTI_OK && !done) {
        double *x = NULL;
        err = gather_items(t, TUTTI_OK, 3 * sizeof *x, p->n, p->coordinates, (void **)&x);
        if (err == TUTTI_OK) {
            if (t->rank == 0) err = tutti__rcb(p->all, x, s.weight, s.parts, s.part);
            tutti__free(x);
            err = tutti__team_agree(t, err);
        }
    }
    if (err == TUTTI_OK) {
        tutti_count n = 0, *bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
        int *received = NULL;
        for (int r = 0; r <= t->size && bound && t->rank == 0; r++)
            bound[r] = tutti_size_share(p->all, t->size, r);
        const tutti__outgoing o = {.item = sizeof *s.part, .data = s.part, .bound = bound};
        const tutti_err sent =
            tutti__ranges_send(t, bound ? TUTTI_OK : TUTTI_ERR_NOMEM, &o, &n, (void **)&received);
        TUTTI_ASSERT(part_out || n == 0);
        if (sent == TUTTI_OK && n > 0) memcpy(part_out, received, (size_t)n * sizeof *part_out);
        tutti__free(received);
        tutti__free(bound);
        err = sent;
    }
    if (err == TUTTI_OK) *by_metis_out = done;
    tutti__free(s.weight);
    tutti__free(s.part);
    return err;
}
