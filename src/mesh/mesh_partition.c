/* mesh: division of nodes into partitions of about the same load, and statistics of partitions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

static tutti_err check_loads(const tutti_mesh *m, const tutti_count *load) {
    double sum = 0;
    for (tutti_count i = 0; i < m->own.nodes && load; i++) {
        TUTTI_CHECK(load[i] >= 0, TUTTI_ERR_ARG, "node %lld has load %lld: loads must be >= 0",
                    (long long)(m->first_node + i), (long long)load[i]);
        sum += (double)load[i];
    }
    TUTTI_CHECK(sum * m->team->size < 4e18, TUTTI_ERR_OVERFLOW,
                "loads of this rank have the sum %g: must be below 4e18 / %d ranks", sum,
                m->team->size);
    return TUTTI_OK;
}

tutti_err tutti_mesh_partition(tutti_mesh *m, int parts, tutti_mesh_partitioner by,
                               const tutti_count *load, int *of_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    uint64_t h = tutti__hash(TUTTI__HASH_START, &by, sizeof by);
    h = tutti__hash(h, &parts, sizeof parts);
    tutti_err err = check_loads(m, load);
    if (err == TUTTI_OK && parts < 1)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "parts is %d: must be >= 1", parts);
    if (err == TUTTI_OK && ((int)by < 0 || by > TUTTI_MESH_BY_RCB))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "unknown partitioner %d", (int)by);
    if (err == TUTTI_OK && !of_out && m->own.nodes > 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument of_out is NULL");
    TUTTI_TRY(tutti__object_call(
        &m->object, &(tutti__call){.name = "partition", .what = "the partitions", .hash = h}, err));
    const tutti__points p = {.all = m->all_nodes,
                             .first = m->first_node,
                             .n = m->own.nodes,
                             .coordinates = m->own.coordinates,
                             .weight = load};
    if (by == TUTTI_MESH_BY_CURVE) {
        TUTTI_TRY(tutti__partition_by_curve(m->team, &p, parts, of_out));
        m->partitioned_by = by;
        return TUTTI_OK;
    }
    const int metis = by == TUTTI_MESH_METIS && tutti__has_metis();
    int by_metis = 0;
    if (metis) TUTTI_TRY(tutti__mesh_graph_need(m));
    TUTTI_TRY(
        tutti__partition_on_root(m->team, &p, metis ? &m->graph : NULL, parts, of_out, &by_metis));
    m->partitioned_by = by_metis ? TUTTI_MESH_METIS : TUTTI_MESH_BY_RCB;
    return TUTTI_OK;
}

int tutti_mesh_has_metis(void) {
    return tutti__has_metis();
}

int tutti_mesh_partitioned_by(const tutti_mesh *m) {
    return tutti__mesh_live(m) == TUTTI_OK ? m->partitioned_by : -1;
}

/* ---- statistics */

tutti_err tutti_mesh_cut_sized(tutti_mesh *m, int parts, const int *of, const tutti_count *load,
                               tutti_mesh_cut *out, size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    enum { CUT, SHARED, HELD, SUMS };
    int64_t sum[SUMS] = {0, 0, 0}, *count = NULL;
    tutti_count *start = NULL;
    int *holder = NULL;
    tutti_mesh_cut c = {.parts = parts, .min_nodes = INT64_MAX};
    const uint64_t h = tutti__hash(TUTTI__HASH_START, &parts, sizeof parts);
    tutti_err err = tutti__mesh_of_check(m, of, parts);
    if (err == TUTTI_OK) err = check_loads(m, load);
    if (err == TUTTI_OK && !out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument out is NULL");
    if (err == TUTTI_OK) {
        count = tutti__calloc(2 * (size_t)parts, sizeof *count);
        if (!count) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__object_call(
        &m->object, &(tutti__call){.name = "cut", .what = "the number of partitions", .hash = h},
        err);
    TUTTI_ASSERT(err != TUTTI_OK || (count && out));
    if (err == TUTTI_OK) err = tutti__mesh_classify(m, of, &start, &holder);
    for (tutti_count i = 0; i < m->own.nodes && err == TUTTI_OK; i++) {
        count[of[i]]++;
        count[parts + of[i]] += load ? load[i] : 1;
    }
    if (err == TUTTI_OK) err = tutti__team_sum(m->team, count, 2 * parts);
    tutti__share_values v = {.item = 0};
    if (err == TUTTI_OK) {
        const tutti__share_request q = {.all = m->all_nodes,
                                        .item = sizeof *of,
                                        .own = of,
                                        .n = m->graph.start[m->own.nodes],
                                        .number = m->graph.to};
        err = tutti__share_fetch(m->team, TUTTI_OK, &q, &v);
    }
    if (err == TUTTI_OK) {
        for (tutti_count i = 0; i < m->own.nodes; i++) {
            sum[HELD] += start[i + 1] - start[i];
            sum[SHARED] += start[i + 1] - start[i] > 1;
            for (tutti_count j = m->graph.start[i]; j < m->graph.start[i + 1]; j++) {
                const int *other = tutti__share_value(&v, m->graph.to[j]);
                sum[CUT] += m->graph.to[j] > m->first_node + i && *other != of[i];
            }
        }
        err = tutti__team_sum(m->team, sum, SUMS);
    }
    if (err == TUTTI_OK) {
        double all = 0;
        for (int p = 0; p < parts; p++) {
            c.empty += count[p] == 0;
            c.min_nodes = tutti__min(c.min_nodes, count[p]);
            c.max_nodes = tutti__max(c.max_nodes, count[p]);
            all += (double)count[parts + p];
        }
        c.min_load = c.max_load = all > 0 ? (double)count[parts] * parts / all : 0;
        for (int p = 1; p < parts && all > 0; p++) {
            const double share = (double)count[parts + p] * parts / all;
            if (share < c.min_load) c.min_load = share;
            if (share > c.max_load) c.max_load = share;
        }
        c.cut = sum[CUT];
        c.shared = sum[SHARED];
        c.total_nodes = sum[HELD];
        tutti__struct_copy(out, struct_size, &c, sizeof c);
    }
    tutti__share_values_free(&v);
    tutti_mesh_lists_free(&start, &holder);
    tutti__free(count);
    return err;
}
