/* mesh: node classification of Filgueira et al., which determines the partitions that hold each
 * node.  Each rank classifies the nodes of its slice, and fetches the partitions of neighbours in
 * other slices.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

tutti_err tutti__mesh_of_check(const tutti_mesh *m, const int *of, int parts) {
    TUTTI_CHECK(parts >= 1, TUTTI_ERR_ARG, "parts is %d: must be >= 1", parts);
    TUTTI_CHECK(of || m->own.nodes == 0, TUTTI_ERR_ARG, "argument of is NULL");
    for (tutti_count i = 0; i < m->own.nodes; i++)
        TUTTI_CHECK(of[i] >= 0 && of[i] < parts, TUTTI_ERR_ARG,
                    "node %lld is in partition %d: must be 0 to %d", (long long)(m->first_node + i),
                    of[i], parts - 1);
    return TUTTI_OK;
}

/* List the partitions of each node and its neighbours, without duplicates, in order of appearance.
 * The quadratic search is sufficient for short lists. */
static tutti_err fill_partition_lists(const tutti_mesh *m, const int *of,
                                      const tutti__share_values *v, tutti_count *start,
                                      int **holder) {
    const tutti__graph *g = &m->graph;
    size_t capacity = 2 * (size_t)g->nodes + 64;
    tutti_count used = 0;
    *holder = tutti__malloc(capacity * sizeof **holder);
    if (!*holder) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < g->nodes; i++) {
        const tutti_count most = 1 + g->start[i + 1] - g->start[i];
        TUTTI_TRY(tutti__grow(holder, (size_t)(used + most), &capacity, sizeof **holder));
        int *list = *holder + used, n = 1;
        start[i] = used;
        list[0] = of[i];
        for (tutti_count j = g->start[i]; j < g->start[i + 1]; j++) {
            const int p = *(const int *)tutti__share_value(v, g->to[j]);
            int k = 0;
            while (k < n && list[k] != p) k++;
            if (k == n) list[n++] = p;
        }
        used += n;
    }
    start[g->nodes] = used;
    return TUTTI_OK;
}

tutti_err tutti__mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                               int **holder_out) {
    tutti_count *start = NULL;
    int *holder = NULL;
    tutti__share_values v = {.item = 0};
    TUTTI_TRY(tutti__mesh_graph_need(m));
    const tutti__share_request q = {.all = m->all_nodes,
                                    .item = sizeof *of,
                                    .own = of,
                                    .n = m->graph.start[m->own.nodes],
                                    .number = m->graph.to};
    TUTTI_TRY(tutti__share_fetch(m->team, TUTTI_OK, &q, &v));
    start = tutti__malloc(((size_t)m->own.nodes + 1) * sizeof *start);
    tutti_err err = start ? fill_partition_lists(m, of, &v, start, &holder) : TUTTI_ERR_NOMEM;
    tutti__share_values_free(&v);
    err = tutti__team_agree(m->team, err);
    if (err != TUTTI_OK) {
        tutti__free(start);
        tutti__free(holder);
        return err;
    }
    *start_out = start;
    *holder_out = holder;
    return TUTTI_OK;
}

tutti_err tutti_mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                              int **holder_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    tutti_err err = tutti__mesh_of_check(m, of, INT32_MAX);
    if (err == TUTTI_OK && (!start_out || !holder_out))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL",
                               start_out ? "holder_out" : "start_out");
    TUTTI_TRY(tutti__object_call(&m->object, &(tutti__call){.name = "classify"}, err));
    TUTTI_ASSERT(start_out && holder_out);
    return tutti__mesh_classify(m, of, start_out, holder_out);
}

void tutti_mesh_lists_free(tutti_count **start, int **holder) {
    if (start) {
        tutti__free(*start);
        *start = NULL;
    }
    if (holder) {
        tutti__free(*holder);
        *holder = NULL;
    }
}
