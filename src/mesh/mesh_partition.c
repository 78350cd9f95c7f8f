/* mesh: nodes divided into partitions of about the same load: pieces of Hilbert's curve, found by
 * all ranks, or METIS or coordinate bisection on rank 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"
#include "mesh/rcb.h"

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

/* ---- on rank 0: METIS and the bisection */

/* One value of each node of the slices, all on rank 0. */
static tutti_err to_root(tutti_mesh *m, tutti_err mine, size_t item, const void *own, void **out) {
    tutti__team *t = m->team;
    tutti_count n = 0, *bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
    if (mine == TUTTI_OK && !bound) mine = TUTTI_ERR_NOMEM;
    for (int r = 1; r <= t->size && bound; r++) bound[r] = m->own.nodes;
    const tutti_err err = tutti__mesh_pass(t, mine, item, own, bound, &n, out);
    tutti__free(bound);
    return err;
}

/* And back. */
static tutti_err from_root(tutti_mesh *m, tutti_err mine, const int *all, int *of) {
    tutti__team *t = m->team;
    tutti_count n = 0, *bound = tutti__calloc((size_t)t->size + 1, sizeof *bound);
    int *in = NULL;
    if (mine == TUTTI_OK && !bound) mine = TUTTI_ERR_NOMEM;
    for (int r = 0; r <= t->size && bound && t->rank == 0; r++)
        bound[r] = tutti__mesh_first(m->all_nodes, t->size, r);
    const tutti_err err = tutti__mesh_pass(t, mine, sizeof *all, all, bound, &n, (void **)&in);
    TUTTI_ASSERT(of || n == 0);
    if (err == TUTTI_OK && n > 0) memcpy(of, in, (size_t)n * sizeof *of);
    tutti__free(in);
    tutti__free(bound);
    return err;
}

/* What is on rank 0; NULL on others. */
typedef struct {
    int parts;
    tutti_count *load; /* [all nodes] */
    int *of;           /* [all nodes] */
} root_job;

/* Loads of all nodes.  Each rank decides for itself whether it has loads: 1 for those without. */
static tutti_err root_begin(tutti_mesh *m, const tutti_count *load, root_job *j) {
    const tutti_count n = m->own.nodes, all = m->team->rank == 0 ? m->all_nodes : 0;
    tutti_count *mine = tutti__malloc(((size_t)n + 1) * sizeof *mine);
    j->of = tutti__malloc(((size_t)all + 1) * sizeof *j->of);
    for (tutti_count i = 0; i < n && mine; i++) mine[i] = load ? load[i] : 1;
    const tutti_err err = to_root(m, mine && j->of ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *mine, mine,
                                  (void **)&j->load);
    tutti__free(mine);
    return err;
}

static int has_empty(const root_job *j, tutti_count n, tutti_count *count) {
    int empty = 0;
    for (tutti_count i = 0; i < n; i++) count[j->of[i]]++;
    for (int p = 0; p < j->parts; p++) empty += count[p] == 0;
    return empty > 0;
}

/* *done_out, on all ranks: METIS was suitable, and no part is empty. */
static tutti_err try_metis(tutti_mesh *m, root_job *j, int *done_out) {
    tutti__mesh_graph g = {.nodes = 0};
    int64_t done = 0;
    TUTTI_TRY(tutti__mesh_graph_gather(m, &g));
    tutti_err err = TUTTI_OK;
    if (m->team->rank == 0 && tutti__metis_suits(&g, j->load, j->parts)) {
        tutti_count *count = tutti__calloc((size_t)j->parts, sizeof *count);
        err = count ? tutti__metis(&g, j->load, j->parts, j->of) : TUTTI_ERR_NOMEM;
        done = err == TUTTI_OK && !has_empty(j, g.nodes, count);
        tutti__free(count);
    }
    tutti__mesh_graph_free(&g);
    TUTTI_TRY(tutti__team_agree(m->team, err));
    TUTTI_TRY(tutti__team_sum(m->team, &done, 1));
    *done_out = done > 0;
    return TUTTI_OK;
}

static tutti_err bisect(tutti_mesh *m, root_job *j) {
    double *x = NULL;
    TUTTI_TRY(to_root(m, TUTTI_OK, 3 * sizeof *x, m->own.coordinates, (void **)&x));
    const tutti_err err =
        m->team->rank == 0 ? tutti__rcb(m->all_nodes, x, j->load, j->parts, j->of) : TUTTI_OK;
    tutti__free(x);
    return tutti__team_agree(m->team, err);
}

static tutti_err by_root(tutti_mesh *m, int parts, int metis, const tutti_count *load, int *of) {
    root_job j = {.parts = parts};
    int done = 0;
    tutti_err err = root_begin(m, load, &j);
    if (err == TUTTI_OK && metis) err = try_metis(m, &j, &done);
    if (err == TUTTI_OK && !done) err = bisect(m, &j);
    if (err == TUTTI_OK) err = from_root(m, TUTTI_OK, j.of, of);
    if (err == TUTTI_OK) m->partitioned_by = done ? TUTTI_MESH_METIS : TUTTI_MESH_BY_RCB;
    tutti__free(j.load);
    tutti__free(j.of);
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
    if (err == TUTTI_OK && ((int)by < 0 || by > TUTTI_MESH_BY_RCB))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "unknown partitioner %d", (int)by);
    if (err == TUTTI_OK && !of_out && m->own.nodes > 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the partitions");
    TUTTI_TRY(tutti__object_call(
        &m->object, &(tutti__call){.name = "partition", .what = "the partitions", .hash = h}, err));
    if (by == TUTTI_MESH_BY_CURVE) {
        TUTTI_TRY(by_curve(m, parts, load, of_out));
        m->partitioned_by = by;
        return TUTTI_OK;
    }
    return by_root(m, parts, by == TUTTI_MESH_METIS && tutti_mesh_has_metis(), load, of_out);
}

int tutti_mesh_partitioned_by(const tutti_mesh *m) {
    return tutti__mesh_live(m) == TUTTI_OK ? m->partitioned_by : -1;
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
    err = tutti__object_call(
        &m->object, &(tutti__call){.name = "cut", .what = "the number of partitions", .hash = h},
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
