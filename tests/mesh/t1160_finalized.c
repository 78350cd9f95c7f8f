/* TEST ranks=1,2 timeout=60 own=1 */
/* Before MPI_Init and after MPI_Finalize every call on meshes, parts and inspectors returns
 * TUTTI_ERR_STATE; handles can still be freed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mesh.h>
#include <tutti/replicas.h>
#include "check.h"

static const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const uint8_t type[] = {TUTTI_MESH_TET};
static const tutti_count first[] = {0, 4}, node[] = {0, 1, 2, 3};
static const int64_t number[] = {0, 1};
static const tutti_mesh_view view = {
    .nodes = 4, .coordinates = x, .elements = 1, .type = type, .start = first, .node = node};
static const tutti_replicas_spec spec = {.n = 2, .numbers = number, .load = 1, .value_bytes = 8};

/* Calls that do not need a handle fail. */
static void check_creation_refused(void) {
    tutti_mesh *m = NULL;
    tutti_replicas *r = NULL;
    CHECK_ERR(tutti_mesh_make(MPI_COMM_WORLD, &view, &m), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_open(MPI_COMM_WORLD, "none.msh", NULL, &m), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), TUTTI_ERR_STATE);
    CHECK(m == NULL && r == NULL, "made");
}

static void check_refused(tutti_mesh *m, tutti_mesh_part *p, tutti_replicas *r) {
    tutti_mesh_view v;
    tutti_mesh_info info;
    tutti_mesh_cut cut;
    tutti_mesh_part *q = NULL;
    tutti_mesh_part_view w;
    tutti_replicas_stats stats;
    tutti_replicas_share share;
    tutti_count *start = NULL;
    int of[8] = {0}, *holder = NULL;
    double values[8] = {0};
    CHECK_ERR(tutti_mesh_view_get(m, &v), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_set_groups(m, 0, NULL), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_describe(m, &info), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_write(m, "none.msh", TUTTI_MESH_GMSH_41, NULL), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_write(m, "none.mesh", TUTTI_MESH_NATIVE, NULL), TUTTI_ERR_STATE);
    for (int order = TUTTI_MESH_FILE; order <= TUTTI_MESH_RCM; order++)
        CHECK_ERR(tutti_mesh_renumber(m, (tutti_mesh_order)order), TUTTI_ERR_STATE);
    for (int by = TUTTI_MESH_METIS; by <= TUTTI_MESH_BY_RCB; by++)
        CHECK_ERR(tutti_mesh_partition(m, 2, (tutti_mesh_partitioner)by, NULL, of),
                  TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_cut_get(m, 2, of, NULL, &cut), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_classify(m, of, &start, &holder), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_part_make(m, of, &q), TUTTI_ERR_STATE);
    CHECK(tutti_mesh_groups(m, NULL) == 0 && tutti_mesh_partitioned_by(m) == -1, "answers");
    CHECK_ERR(tutti_mesh_part_get(p, &w), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_part_exchange(p, values, 1), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_check(r, values), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_stats_get(r, &stats), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_share_get(r, 0, &share), TUTTI_ERR_STATE);
}

int main(int argc, char **argv) {
    tutti_mesh *m = NULL;
    tutti_mesh_part *p = NULL;
    tutti_replicas *r = NULL;
    int of[8] = {0};
    check_seed(1160);
    check_where("before MPI_Init");
    check_creation_refused();
    MPI_Init(&argc, &argv);
    check_where("");
    CHECK_OK(tutti_mesh_make(MPI_COMM_WORLD, &view, &m));
    CHECK_OK(tutti_mesh_part_make(m, of, &p));
    CHECK_OK(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r));
    MPI_Finalize();
    check_where("after MPI_Finalize");
    check_creation_refused();
    check_refused(m, p, r);
    tutti_mesh_part_free(&p);
    tutti_mesh_free(&m);
    tutti_replicas_free(&r);
    return check_done();
}
