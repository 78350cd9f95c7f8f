/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Meshes and replicas refuse counts and offsets at the limits of 64-bit integers, or handle them without overflow.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mesh.h>
#include <tutti/replicas.h>
#include "harness.h"

/* Check that no mesh is created if the last rank passes these counts, which exceed memory. */
static void mesh_of(tutti_count nodes, tutti_count elements) {
    static const double x[6];
    static const uint8_t type[2] = {TUTTI_MESH_LINE, TUTTI_MESH_LINE};
    static const tutti_count start[3] = {0, 2, 4}, node[4] = {0, 1, 0, 1};
    const int last = rank == ranks - 1;
    tutti_mesh *m = NULL;
    const tutti_mesh_view v = {.nodes = last ? nodes : 2,
                               .coordinates = x,
                               .elements = last ? elements : 2,
                               .type = type,
                               .start = start,
                               .node = node};
    const tutti_err err = same_everywhere(tutti_mesh_make(MPI_COMM_WORLD, &v, &m));
    CHECK(err == TUTTI_ERR_ARG || err == TUTTI_ERR_NOMEM, "%lld nodes, %lld elements: %s",
          (long long)nodes, (long long)elements, tutti_error_name(err));
}

static void mesh_starts(tutti_count second) {
    static const double x[6];
    static const uint8_t type[2] = {TUTTI_MESH_LINE, TUTTI_MESH_LINE};
    static const tutti_count node[4] = {0, 1, 0, 1};
    const tutti_count start[3] = {0, 2, second};
    tutti_mesh *m = NULL;
    const tutti_mesh_view v = {
        .nodes = 2, .coordinates = x, .elements = 2, .type = type, .start = start, .node = node};
    CHECK_SAME(tutti_mesh_make(MPI_COMM_WORLD, &v, &m), TUTTI_ERR_ARG);
}

/* Create replicas of two items per rank at the offsets `first` and `at` in memory. */
static void replicas_at(tutti_off first, tutti_off at) {
    const int64_t numbers[2] = {2 * rank, 2 * rank + 1};
    const tutti_off offsets[2] = {first, at};
    tutti_replicas *r = NULL;
    const tutti_replicas_spec s = {
        .n = 2, .numbers = numbers, .load = 1, .value_bytes = 8, .memory_offsets = offsets};
    if (same_everywhere(tutti_replicas_create(MPI_COMM_WORLD, &s, &r)) == TUTTI_OK)
        tutti_replicas_free(&r);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1190);
    for (int shift = 58; shift < 63; shift++) {
        mesh_of((tutti_count)1 << shift, 0);
        mesh_of(2, (tutti_count)1 << shift);
    }
    mesh_of(INT64_MAX, INT64_MAX);
    mesh_of(-1, 0);
    mesh_starts(INT64_MIN);
    mesh_starts(INT64_MAX);
    replicas_at(INT64_MAX - 3, INT64_MIN + 4);
    replicas_at(INT64_MAX, 0);
    replicas_at(0, INT64_MAX);
    return harness_end();
}
