/* TEST ranks=1,2,3,5,8 timeout=60 */
/* The example of the paper by Filgueira et al. with eight nodes, twelve edges and two partitions: Table 1, and Table 2,
 * which follows from the lists of Table 1.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/replicas.h>
#include "mesh/meshes.h"

static const tutti_count edges[12][2] = {{0, 1}, {0, 3}, {1, 4}, {1, 7}, {2, 4}, {2, 5},
                                         {2, 6}, {2, 7}, {3, 5}, {3, 7}, {4, 6}, {5, 7}};
static const int metis[8] = {0, 0, 1, 0, 1, 0, 1, 0};
/* Table 1: the partitions of each node, the owner first */
static const int lists[8][2] = {{0, -1}, {0, 1}, {1, 0}, {0, -1}, {1, 0}, {0, 1}, {1, -1}, {0, 1}};

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1150);
    whole w = whole_make(8, 12);
    tutti_count e = 0;
    for (int i = 0; i < 8; i++) w.x[3 * i] = i;
    while (e < 12) whole_add(&w, &e, TUTTI_MESH_LINE, 1, edges[e]);
    tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD);
    tutti_mesh_view v;
    CHECK_OK(tutti_mesh_view_get(m, &v));

    tutti_count *start = NULL;
    int *holder = NULL;
    CHECK_SAME(tutti_mesh_classify(m, metis + v.first_node, &start, &holder), TUTTI_OK);
    for (tutti_count i = 0; i < v.nodes; i++) {
        const int *want = lists[v.first_node + i], n = want[1] < 0 ? 1 : 2;
        CHECK_EQ(start[i + 1] - start[i], n);
        for (int j = 0; j < n && start[i + 1] - start[i] == n; j++)
            CHECK_EQ(holder[start[i] + j], want[j]);
    }
    tutti_mesh_lists_free(&start, &holder);
    CHECK(!start && !holder, "the lists are still there");

    tutti_mesh_cut c;
    CHECK_SAME(tutti_mesh_cut_get(m, 2, metis + v.first_node, NULL, &c), TUTTI_OK);
    CHECK_EQ(c.cut, 3); /* edges 1-4, 2-5 and 2-7 are cut */
    CHECK_EQ(c.shared, 5);
    CHECK_EQ(c.total_nodes, 13);
    CHECK_EQ(c.min_nodes, 3);
    CHECK_EQ(c.max_nodes, 5);
    tutti_mesh_info info;
    CHECK_SAME(tutti_mesh_describe(m, &info), TUTTI_OK);
    CHECK_EQ(info.edges, 12);
    CHECK_EQ(info.dim, 1);
    CHECK_EQ(info.bandwidth, 6);
    tutti_mesh_free(&m);

    /* Table 2, from the lists of a single rank */
    static const int table2[8] = {0, 0, 0, 0, 0, 0, 1, 1};
    int writer[8];
    tutti_mesh *alone = whole_mesh(&w, MPI_COMM_SELF);
    CHECK_OK(tutti_mesh_classify(alone, metis, &start, &holder));
    const tutti_replicas_lists l = {
        .n = 8, .parts = 2, .start = start, .holders = holder, .load = 1, .value_bytes = 8};
    CHECK_OK(tutti_replicas_choose(&l, &(tutti_replicas_choice){.rule = TUTTI_REPLICAS_IDG}, writer,
                                   NULL, NULL));
    for (int i = 0; i < 8; i++) CHECK_EQ(writer[i], table2[i]);
    tutti_mesh_lists_free(&start, &holder);
    tutti_mesh_free(&alone);

    /* the inspector computes the same writers from the parts of two ranks */
    if (ranks == 2) {
        tutti_mesh_part *part = NULL;
        tutti_mesh_part_view p;
        tutti_replicas *r = NULL;
        m = whole_mesh(&w, MPI_COMM_WORLD);
        CHECK_SAME(tutti_mesh_part_make(m, metis + v.first_node, &part), TUTTI_OK);
        CHECK_OK(tutti_mesh_part_get(part, &p));
        CHECK_EQ(p.nodes, rank == 0 ? 7 : 6);
        const tutti_replicas_spec spec = {.n = p.nodes,
                                          .numbers = p.number,
                                          .own = p.own,
                                          .load = 1,
                                          .value_bytes = 8,
                                          .choice = {.rule = TUTTI_REPLICAS_IDG}};
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), TUTTI_OK);
        const int *who = tutti_replicas_writers(r);
        for (tutti_count i = 0; i < p.nodes; i++) CHECK_EQ(who[i], table2[p.number[i]]);
        tutti_replicas_free(&r);
        tutti_mesh_part_free(&part);
        tutti_mesh_free(&m);
    }
    whole_free(&w);
    return harness_end();
}
