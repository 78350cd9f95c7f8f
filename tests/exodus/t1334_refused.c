/* TEST ranks=1,3 timeout=60 */
/* Invalid meshes are refused with the same error on all ranks, regardless of which rank has the error; the message
 * names entity and position.  Afterwards the correct mesh is accepted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

/* The mesh of this rank: two hexahedra of a row along all ranks, and sets. */
static struct {
    int64_t node_id[12], element_id[2];
    double x[12];
    tutti_count nodes[16], members[3], sides_of[3];
    int sides[3];
    double factors[12];
    tutti_exodus_elements block[3];
    tutti_exodus_members node_set, side_set;
    tutti_exodus_mesh mesh;
} m;

static void mesh_make(void) {
    static const int corner[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 12; i++)
        m.node_id[i] = 8 * rank + i + 1; /* four nodes are shared with the next rank */
    for (int e = 0; e < 2; e++) {
        m.element_id[e] = 2 * rank + e + 1;
        for (int k = 0; k < 8; k++) m.nodes[8 * e + k] = 4 * e + corner[k];
    }
    for (int i = 0; i < 3; i++) m.members[i] = 3 * i, m.sides_of[i] = i % 2, m.sides[i] = i + 1;
    m.block[0] = (tutti_exodus_elements){.n = 2, .ids = m.element_id, .nodes = m.nodes};
    m.node_set = (tutti_exodus_members){.n = 3, .members = m.members};
    m.side_set = (tutti_exodus_members){
        .n = 3, .members = m.sides_of, .sides = m.sides, .factors = m.factors};
    m.mesh = (tutti_exodus_mesh){.nodes = 12,
                                 .node_ids = m.node_id,
                                 .coordinates = {m.x, m.x, m.x},
                                 .blocks = m.block,
                                 .node_sets = &m.node_set,
                                 .side_sets = &m.side_set};
}

static tutti_exodus *x;
static int last; /* whether this rank is the rank with the invalid mesh */

static void check_refused(tutti_err code, const char *words) {
    CHECK_SAME(tutti_exodus_put_mesh(x, &m.mesh), code);
    CHECK(strstr(tutti_last_message(), words), "'%s' is not in: %s", words, tutti_last_message());
    mesh_make();
}

static void test_places(void) {
    if (last) m.nodes[13] = 12;
    check_refused(TUTTI_ERR_ARG, "element block 5: entry 1 (id");
    if (last) m.nodes[3] = -1;
    check_refused(TUTTI_ERR_ARG, "refers to node -1, but this rank has 12");
    if (last) m.members[2] = 12;
    check_refused(TUTTI_ERR_ARG, "node set 1: member 2 has position 12");
    if (last) m.sides_of[1] = 2;
    check_refused(TUTTI_ERR_ARG, "side set 2: member 1 has position 2");
    if (last) m.sides[2] = 7;
    check_refused(TUTTI_ERR_ARG, "side set 2: member 2 is side 7 of element 0");
    if (last) m.sides[0] = 0;
    check_refused(TUTTI_ERR_ARG, "does not exist for topology");
    if (last) m.mesh.coordinates[1] = NULL;
    check_refused(TUTTI_ERR_ARG, "coordinates[1] is NULL");
    if (last) m.block[0].nodes = NULL;
    check_refused(TUTTI_ERR_ARG, "element block 5: `nodes` is NULL");
    if (last) m.mesh.reserved[3] = 1;
    check_refused(TUTTI_ERR_ARG, "reserved");
    if (last) m.mesh.nodes = -1;
    check_refused(TUTTI_ERR_ARG, "number of nodes is -1");
}

static void test_ids(void) {
    if (last) m.node_id[7] = 0;
    check_refused(TUTTI_ERR_ARG, "node 7 has id 0");
    if (last) m.element_id[1] = -3;
    check_refused(TUTTI_ERR_ARG, "element block 5: entry 1 has id -3");
    if (last) m.node_id[7] = m.node_id[2];
    check_refused(TUTTI_ERR_ARG, "(entries 2 and 7 on this rank)");
    if (last) m.element_id[1] = m.element_id[0];
    check_refused(TUTTI_ERR_ARG, "(entries 0 and 1 on this rank)");
    if (last) m.members[1] = m.members[0];
    check_refused(TUTTI_ERR_ARG, "duplicate member 0 of node set 1");
    /* an element is in two blocks of this rank, and in blocks of two ranks */
    if (last) m.block[1] = m.block[0], m.block[1].n = 1;
    check_refused(TUTTI_ERR_ARG, "(entries 0 and 2 on this rank)");
    if (last) m.block[1] = m.block[0], m.block[0].n = 0, m.element_id[0] = 1, m.side_set.n = 0;
    if (ranks > 1)
        check_refused(TUTTI_ERR_ARG, "element id 1 is in block 5 of rank 0 and in block 6");
    mesh_make();
    if (last) m.element_id[1] = 2;
    if (ranks > 1) check_refused(TUTTI_ERR_MISMATCH, "element id 2: nodes differ between ranks");
    if (last) m.mesh.node_ids = NULL;
    if (ranks > 1) check_refused(TUTTI_ERR_MISMATCH, "node ids are given on some ranks only");
    if (last) m.side_set.factors = NULL;
    if (ranks > 1)
        check_refused(TUTTI_ERR_MISMATCH,
                      "side set 2: distribution factors are given on some ranks only");
    mesh_make();
}

/* Reading a mesh whose arrays contain only zeros fails, because there is no node 0. */
static void read_zeros(const char *path, const tutti_exodus_options *opt) {
    static const char *const words[2] = {"element block 3: an entry refers to node 0",
                                         "node set 4: member 0 refers to entry 0"};
    const tutti_exodus_entity what[2] = {
        {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 3, .topology = "TRI3", .entries = 5},
        {.kind = TUTTI_EXODUS_NODE_SET, .id = 4, .entries = 2}};
    for (int k = 0; k < 2; k++) {
        const tutti_exodus_mesh *got = NULL;
        CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, opt, &x));
        CHECK_OK(tutti_exodus_init(
            x, &(tutti_exodus_parameters){.dims = 2, .nodes = 7, .elements = k == 0 ? 5 : 0}));
        CHECK_OK(tutti_exodus_define(x, 1, &what[k]));
        CHECK_OK(tutti_exodus_end_definitions(x));
        CHECK_OK(tutti_exodus_put_arrays(x, 0, NULL));
        CHECK_OK(tutti_exodus_close(&x));
        CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
        for (int by = 0; by < 2; by++) {
            CHECK_SAME(
                tutti_exodus_get_mesh(
                    x, &(tutti_exodus_distribution){.partitioner = (tutti_exodus_partitioner)by},
                    &got),
                TUTTI_ERR_FORMAT);
            CHECK(strstr(tutti_last_message(), words[k]), "%s", tutti_last_message());
        }
        CHECK_OK(tutti_exodus_close(&x));
    }
}

int main(int argc, char **argv) {
    char path[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    last = rank == ranks - 1;
    snprintf(path, sizeof path, "%s/t1334.e", check_dir());
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    mesh_make();
    check_refused(TUTTI_ERR_STATE, "call tutti_exodus_init first");
    CHECK_OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 3}));
    CHECK_OK(tutti_exodus_define(
        x, 5,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 5, .topology = "HEX8"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 6, .topology = "HEX8"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 7, .topology = "WEDGE6", .entries = 0},
            {.kind = TUTTI_EXODUS_NODE_SET, .id = 1},
            {.kind = TUTTI_EXODUS_SIDE_SET, .id = 2}}));
    test_places();
    test_ids();
    CHECK_OK(same_everywhere(tutti_exodus_put_mesh(x, &m.mesh)));
    CHECK_EQ(tutti_exodus_own_elements(x, TUTTI_EXODUS_ELEMENT_BLOCK, 0), 2);
    check_refused(TUTTI_ERR_STATE, "definitions have ended");
    CHECK_OK(tutti_exodus_close(&x));
    /* the declared number of nodes is wrong */
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    CHECK_OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 3, .nodes = 7}));
    m.mesh.blocks = NULL;
    m.mesh.node_sets = m.mesh.side_sets = NULL;
    check_refused(TUTTI_ERR_MISMATCH, "count is 7, but all ranks together have");
    CHECK_OK(tutti_exodus_close(&x));
    read_zeros(path, &opt);
    MPI_Finalize();
    return check_done();
}
