/* mesh: statistics of a mesh: counts, extent, and distances between the numbers of neighbours.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

enum { EDGES, DISTANCE, ALONE, STEPS, TYPES, SUMS = TYPES + TUTTI_MESH_TYPES };
enum { DEGREE, BAND, LARGEST };

/* Compute the contribution of this rank to the sums and maxima. */
static void measure_slice(const tutti_mesh *m, int64_t *sum, double *most) {
    const tutti__graph *g = &m->graph;
    for (tutti_count i = 0; i < g->nodes; i++) {
        const tutti_count me = m->first_node + i, degree = g->start[i + 1] - g->start[i];
        sum[ALONE] += degree == 0;
        if ((double)degree > most[DEGREE]) most[DEGREE] = (double)degree;
        for (tutti_count j = g->start[i]; j < g->start[i + 1]; j++) {
            const tutti_count apart = g->to[j] - me;
            if (apart < 0) continue;
            sum[EDGES]++;
            sum[DISTANCE] += apart;
            sum[STEPS] += apart == 1;
            if ((double)apart > most[BAND]) most[BAND] = (double)apart;
        }
    }
    for (tutti_count e = 0; e < m->own.elements; e++) sum[TYPES + m->own.type[e]]++;
}

tutti_err tutti_mesh_describe_sized(tutti_mesh *m, tutti_mesh_info *out, size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    int64_t sum[SUMS] = {0};
    double most[LARGEST + 6]; /* maxima, then maxima and negated minima of the coordinates */
    tutti_mesh_info info = {.nodes = m->all_nodes, .elements = m->all_elements, .dim = -1};
    const tutti__call o = {.name = "describe"};
    MPI_Request r;
    tutti_err err = TUTTI_OK;
    if (!out) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument out is NULL");
    TUTTI_TRY(tutti__object_call(&m->object, &o, err));
    TUTTI_TRY(tutti__mesh_graph_need(m));
    for (int k = 0; k < LARGEST; k++) most[k] = 0;
    for (int k = LARGEST; k < LARGEST + 6; k++) most[k] = -1e308;
    measure_slice(m, sum, most);
    for (tutti_count i = 0; i < 3 * m->own.nodes; i++) {
        const double x = m->own.coordinates[i];
        const int k = LARGEST + (int)(i % 3);
        if (x > most[k]) most[k] = x;
        if (-x > most[k + 3]) most[k + 3] = -x;
    }
    TUTTI_TRY(tutti__team_sum(m->team, sum, SUMS));
    TUTTI_MPI(
        MPI_Iallreduce(MPI_IN_PLACE, most, LARGEST + 6, MPI_DOUBLE, MPI_MAX, m->team->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (int t = 0; t < TUTTI_MESH_TYPES; t++) {
        info.of_type[t] = sum[TYPES + t];
        if (sum[TYPES + t] > 0 && tutti_mesh_type_dim(t) > info.dim)
            info.dim = tutti_mesh_type_dim(t);
    }
    for (int k = 0; k < 3 && m->all_nodes > 0; k++) {
        info.high[k] = most[LARGEST + k];
        info.low[k] = -most[LARGEST + 3 + k];
    }
    info.edges = sum[EDGES];
    info.isolated_nodes = sum[ALONE];
    info.max_neighbours = (tutti_count)most[DEGREE];
    info.bandwidth = (tutti_count)most[BAND];
    if (sum[EDGES] > 0) info.mean_distance = (double)sum[DISTANCE] / (double)sum[EDGES];
    if (m->all_nodes > 1) info.adjacent_share = (double)sum[STEPS] / (double)(m->all_nodes - 1);
    tutti__struct_copy(out, struct_size, &info, sizeof info);
    return TUTTI_OK;
}
