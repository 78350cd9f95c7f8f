/* mesh: nodes divided into partitions of about the same load: pieces of Hilbert's curve, found by
 * all ranks, or METIS on rank 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

/* The partition of a node, for the rank whose slice it is in. */
typedef struct {
    tutti_count node;
    int64_t part;
} verdict;

/* Where the middle of a node's load lies in that of all decides. */
static tutti_err by_curve(tutti_mesh *m, int parts, const tutti_count *load, int *of) {
    tutti__team *t = m->team;
    tutti__mesh_stop *v = NULL;
    verdict *say = NULL, *in = NULL;
    int *to = NULL;
    tutti_count n = 0, got = 0, before = 0, all = 0, mine = 0;
    int64_t loaded = 0;
    for (tutti_count i = 0; i < m->own.nodes; i++) loaded |= load ? load[i] : 1;
    loaded = loaded != 0;
    TUTTI_TRY(tutti__team_sum(t, &loaded, 1));
    TUTTI_TRY(tutti__mesh_along_curve(m, loaded ? load : NULL, &n, &v));
    for (tutti_count i = 0; i < n; i++) mine += v[i].load;
    tutti_err err = tutti__mesh_before(t, TUTTI_OK, mine, &before, &all);
    if (err == TUTTI_OK) {
        say = tutti__malloc(((size_t)n + 1) * sizeof *say);
        to = tutti__malloc(((size_t)n + 1) * sizeof *to);
        for (tutti_count i = 0; i < n && say && to; i++) {
            const __int128 middle = 2 * (__int128)before + v[i].load;
            const int64_t p = (int64_t)(middle * parts / (2 * (__int128)tutti__max(all, 1)));
            say[i] = (verdict){v[i].number, tutti__min(p, parts - 1)};
            to[i] = tutti__mesh_home(m->all_nodes, t->size, v[i].number);
            before += v[i].load;
        }
        err = tutti__mesh_send(t, say && to ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *say, n, say, to,
                               &got, (void **)&in);
    }
    TUTTI_ASSERT(of || got == 0);
    for (tutti_count i = 0; i < got && err == TUTTI_OK; i++)
        of[in[i].node - m->first_node] = (int)in[i].part;
    tutti__free(v);
    tutti__free(say);
    tutti__free(to);
    tutti__free(in);
    return err;
}

static tutti_err by_metis(tutti_mesh *m, int parts, const tutti_count *load, int *of) {
    tutti__team *t = m->team;
    tutti__mesh_graph g = {.nodes = 0};
    tutti_count *bound = NULL, *loads = NULL, n = 0;
    int *all = NULL, *in = NULL;
    TUTTI_TRY(tutti__mesh_graph_gather(m, &g));
    bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
    all = tutti__malloc(((size_t)g.nodes + 1) * sizeof *all);
    tutti_err err = bound && all ? TUTTI_OK : TUTTI_ERR_NOMEM;
    /* whether there are loads each rank says for itself: then all send theirs, 1 for those without */
    tutti_count *mine = NULL;
    if (err == TUTTI_OK) {
        mine = tutti__malloc(((size_t)m->own.nodes + 1) * sizeof *mine);
        if (!mine) err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < m->own.nodes && err == TUTTI_OK; i++) mine[i] = load ? load[i] : 1;
    for (int r = 1; r <= t->size && err == TUTTI_OK; r++) bound[r] = m->own.nodes;
    err = tutti__mesh_pass(t, err, sizeof *mine, mine, bound, &n, (void **)&loads);
    TUTTI_ASSERT(err != TUTTI_OK || (bound && all));
    if (err == TUTTI_OK) {
        if (t->rank == 0) err = tutti__metis(&g, loads, parts, all);
        for (int r = 0; r <= t->size; r++)
            bound[r] = t->rank == 0 ? tutti__mesh_first(m->all_nodes, t->size, r) : 0;
        err = tutti__mesh_pass(t, err, sizeof *all, all, bound, &n, (void **)&in);
    }
    TUTTI_ASSERT(of || n == 0);
    if (err == TUTTI_OK && n > 0) memcpy(of, in, (size_t)n * sizeof *of);
    tutti__mesh_graph_free(&g);
    tutti__free(bound);
    tutti__free(mine);
    tutti__free(loads);
    tutti__free(all);
    tutti__free(in);
    return err;
}

static tutti_err load_check(const tutti_mesh *m, const tutti_count *load) {
    double sum = 0;
    for (tutti_count i = 0; i < m->own.nodes && load; i++) {
        TUTTI_CHECK(load[i] >= 0, TUTTI_ERR_ARG, "node %lld has the load %lld",
                    (long long)(m->first_node + i), (long long)load[i]);
        sum += (double)load[i];
    }
    TUTTI_CHECK(sum * m->team->size < 4e18, TUTTI_ERR_OVERFLOW, "the loads add up to too much");
    return TUTTI_OK;
}

tutti_err tutti_mesh_partition(tutti_mesh *m, int parts, tutti_mesh_by by, const tutti_count *load,
                               int *of_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    uint64_t h = tutti__hash(TUTTI__HASH_START, &by, sizeof by);
    h = tutti__hash(h, &parts, sizeof parts);
    tutti_err err = load_check(m, load);
    if (err == TUTTI_OK && parts < 1)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "%d partitions", parts);
    if (err == TUTTI_OK && by != TUTTI_MESH_METIS && by != TUTTI_MESH_BY_CURVE)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "there is no partitioner %d", (int)by);
    if (err == TUTTI_OK && !of_out && m->own.nodes > 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the partitions");
    TUTTI_TRY(
        tutti__mesh_call(m->team, &(tutti__mesh_opening){"partition", "the partitions", h}, err));
    const int metis = by == TUTTI_MESH_METIS && tutti_mesh_has_metis();
    return metis ? by_metis(m, parts, load, of_out) : by_curve(m, parts, load, of_out);
}

/* ---- how good it is */

/* Per partition: nodes, load. */
static tutti_err tally(tutti_mesh *m, int parts, const int *of, const tutti_count *load,
                       int64_t *count) {
    for (tutti_count i = 0; i < m->own.nodes; i++) {
        count[of[i]]++;
        count[parts + of[i]] += load ? load[i] : 1;
    }
    return tutti__team_sum(m->team, count, 2 * parts);
}

tutti_err tutti_mesh_cut_sized(tutti_mesh *m, int parts, const int *of, const tutti_count *load,
                               tutti_mesh_cut *out, size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    enum { CUT, SHARED, HELD, SUMS };
    int64_t sum[SUMS] = {0, 0, 0}, *count = NULL;
    tutti_count *start = NULL;
    int *holder = NULL;
    tutti_mesh_cut c = {.parts = parts, .least = INT64_MAX};
    const uint64_t h = tutti__hash(TUTTI__HASH_START, &parts, sizeof parts);
    tutti_err err = tutti__mesh_of_check(m, of, parts);
    if (err == TUTTI_OK) err = load_check(m, load);
    if (err == TUTTI_OK && !out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put what is found");
    if (err == TUTTI_OK) {
        count = tutti__calloc(2 * (size_t)parts, sizeof *count);
        if (!count) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__mesh_call(m->team, &(tutti__mesh_opening){"cut", "the number of partitions", h},
                           err);
    TUTTI_ASSERT(err != TUTTI_OK || (count && out));
    if (err == TUTTI_OK) err = tutti__mesh_classify(m, of, &start, &holder);
    if (err == TUTTI_OK) err = tally(m, parts, of, load, count);
    tutti__mesh_values v = {.item = 0};
    if (err == TUTTI_OK) {
        const tutti__mesh_question q = {.all = m->all_nodes,
                                        .item = sizeof *of,
                                        .own = of,
                                        .n = m->graph.start[m->own.nodes],
                                        .number = m->graph.to};
        err = tutti__mesh_ask(m->team, TUTTI_OK, &q, &v);
    }
    if (err == TUTTI_OK) {
        for (tutti_count i = 0; i < m->own.nodes; i++) {
            sum[HELD] += start[i + 1] - start[i];
            sum[SHARED] += start[i + 1] - start[i] > 1;
            for (tutti_count j = m->graph.start[i]; j < m->graph.start[i + 1]; j++) {
                const int *other = tutti__mesh_value(&v, m->graph.to[j]);
                sum[CUT] += m->graph.to[j] > m->first_node + i && *other != of[i];
            }
        }
        err = tutti__team_sum(m->team, sum, SUMS);
    }
    if (err == TUTTI_OK) {
        double all = 0;
        for (int p = 0; p < parts; p++) {
            c.empty += count[p] == 0;
            c.least = tutti__min(c.least, count[p]);
            c.most = tutti__max(c.most, count[p]);
            all += (double)count[parts + p];
        }
        c.lightest = c.heaviest = all > 0 ? (double)count[parts] * parts / all : 0;
        for (int p = 1; p < parts && all > 0; p++) {
            const double share = (double)count[parts + p] * parts / all;
            if (share < c.lightest) c.lightest = share;
            if (share > c.heaviest) c.heaviest = share;
        }
        c.cut = sum[CUT];
        c.shared = sum[SHARED];
        c.held = sum[HELD];
        memset(out, 0, struct_size);
        memcpy(out, &c, struct_size < sizeof c ? struct_size : sizeof c);
    }
    tutti__mesh_values_free(&v);
    tutti_mesh_lists_free(&start, &holder);
    tutti__free(count);
    return err;
}
