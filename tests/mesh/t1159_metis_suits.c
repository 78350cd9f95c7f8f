/* TEST ranks=1 timeout=120 own=1 */
/* Partitioning prints nothing, and leaves no part empty unless there are fewer nodes than parts: tiny
 * meshes, nodes without neighbours, loads that differ by orders of magnitude.  If METIS is not suitable, bisection
 * replaces it, and tutti_mesh_describe reports this.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include "mesh/meshes.h"

static char path[512];
static tutti_count load[4096];
static int of[4096];

/* Partition a mesh with standard output redirected to a file, and check that the file is empty. */
static void divide_mesh(tutti_mesh *m, int parts, const tutti_count *loads) {
    struct stat s = {.st_size = 0};
    tutti_mesh_view v;
    tutti_mesh_cut c = {.parts = 0};
    fflush(stdout);
    const int keep = dup(1), file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, 1);
    const tutti_err err = tutti_mesh_partition(m, parts, TUTTI_MESH_METIS, loads, of);
    fflush(stdout);
    dup2(keep, 1);
    close(keep);
    CHECK_OK(err);
    fstat(file, &s);
    close(file);
    CHECK_OK(tutti_mesh_view_get(m, &v));
    CHECK(s.st_size == 0, "%lld nodes in %d parts: %lld bytes on standard output",
          (long long)v.nodes, parts, (long long)s.st_size);
    CHECK_OK(tutti_mesh_cut_get(m, parts, of, loads, &c));
    CHECK(c.empty == (v.nodes < parts ? parts - v.nodes : 0), "%lld nodes in %d parts: %d empty",
          (long long)v.nodes, parts, c.empty);
}

/* Create the loads of `n` nodes; `kind` selects their distribution. */
static void loads_make(tutti_count n, int kind) {
    for (tutti_count i = 0; i < n; i++)
        load[i] = kind == 1   ? rnd(10)
                  : kind == 2 ? (rnd(20) ? 0 : 1)
                  : kind == 3 ? (tutti_count)1 << rnd(40)
                  : kind == 4 ? (i == n / 2 ? 1000000 : rnd(2))
                              : 0;
}

static void test_boxes(void) {
    for (int k = 1; k <= 9; k += 1 + k / 4) {
        whole w = whole_box(k, k % 2);
        tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD);
        for (int parts = 1; parts < 3 * k * k * k; parts += 1 + parts / 2)
            for (int kind = 0; kind < 6; kind++) {
                loads_make(w.nodes, kind);
                divide_mesh(m, parts, kind ? load : NULL);
            }
        tutti_mesh_free(&m);
        whole_free(&w);
    }
}

/* Test meshes of nodes without elements, and of separate pairs of nodes. */
static void test_apart(void) {
    for (int pairs = 0; pairs < 2; pairs++) {
        whole w = whole_box(5, 0);
        w.elements = 0;
        tutti_count node[2], e = 0;
        for (tutti_count i = 0; i + 1 < w.nodes && pairs; i += 2) {
            node[0] = i;
            node[1] = i + 1;
            whole_add(&w, &e, TUTTI_MESH_LINE, 1, node);
        }
        w.elements = e;
        tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD);
        for (int parts = 1; parts < 300; parts += 1 + parts / 3) divide_mesh(m, parts, NULL);
        CHECK_EQ(tutti_mesh_partitioned_by(m), TUTTI_MESH_BY_RCB);
        tutti_mesh_free(&m);
        whole_free(&w);
    }
}

static void test_reported(void) {
    whole w = whole_box(9, 0);
    tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD);
    CHECK_EQ(tutti_mesh_partitioned_by(m), -1);
    CHECK_OK(tutti_mesh_partition(m, 4, TUTTI_MESH_METIS, NULL, of));
    CHECK_EQ(tutti_mesh_partitioned_by(m),
             tutti_mesh_has_metis() ? TUTTI_MESH_METIS : TUTTI_MESH_BY_RCB);
    CHECK_OK(tutti_mesh_partition(m, 4, TUTTI_MESH_BY_CURVE, NULL, of));
    CHECK_EQ(tutti_mesh_partitioned_by(m), TUTTI_MESH_BY_CURVE);
    CHECK_OK(tutti_mesh_partition(m, 999, TUTTI_MESH_METIS, NULL, of));
    CHECK_EQ(tutti_mesh_partitioned_by(m), TUTTI_MESH_BY_RCB);
    tutti_mesh_free(&m);
    whole_free(&w);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1159);
    snprintf(path, sizeof path, "%s/t1159.out", check_dir());
    test_boxes();
    test_apart();
    test_reported();
    unlink(path);
    return harness_end();
}
