/* TEST ranks=1,2,3,5,8 timeout=180 */
/* A mesh is read with every distribution and with halos: every element is owned by one rank, halo
 * elements are elements that share nodes with owned elements, and members of sets are entries of the same rank.
 * Writing the mesh again from all ranks and from fewer ranks gives the same bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

static char path[2][512];
static const char *by_name[] = {"order", "METIS", "curve", "list", "root"};

/* ---- entries of the model by id */

static int element_of(int64_t id) {
    for (int i = 0; i < world.entries[W_ELEMENT]; i++)
        if (world.entry[W_ELEMENT][i].id == id) return i;
    return -1;
}

static int node_of(int64_t id) {
    for (int i = 0; i < world.nodes; i++)
        if (world.node_id[i] == id) return i;
    return -1;
}

/* Set has[i] to 1 for each node i of an element, including the nodes of its faces. */
static void nodes_of(int element, unsigned char *has) {
    const world_entry *e = &world.entry[W_ELEMENT][element];
    for (int k = 0; k < e->n; k++) {
        if (e->block != W_NFACED) {
            has[e->to[k]] = 1;
            continue;
        }
        const world_entry *f = &world.entry[W_FACE][e->to[k]];
        for (int q = 0; q < f->n; q++) has[f->to[q]] = 1;
    }
}

static int has_common_node(int element, const unsigned char *has) {
    unsigned char local[W_NODES] = {0};
    nodes_of(element, local);
    for (int i = 0; i < world.nodes; i++)
        if (local[i] && has[i]) return 1;
    return 0;
}

/* ---- the mesh of a rank */

static void nodes_check(const tutti_exodus_mesh *m) {
    for (tutti_count i = 0; i < m->nodes; i++) {
        const int node = node_of(m->node_ids[i]);
        CHECK(node >= 0, "there is no node %lld", (long long)m->node_ids[i]);
        for (int d = 0; d < 3 && node >= 0; d++)
            CHECK(((const double *)m->coordinates[d])[i] == world_x(node, d), "node %d", node);
        CHECK(m->node_attributes[i] == world_value(9, 0, node, 0), "attribute");
    }
    /* each node has one owner */
    int own[W_NODES] = {0};
    for (tutti_count i = 0; i < m->nodes; i++) own[node_of(m->node_ids[i])] = m->own[i];
    MPI_Allreduce(MPI_IN_PLACE, own, world.nodes, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < world.nodes; i++) CHECK(own[i] == 1, "node %d has %d owners", i, own[i]);
}

static void elements_check(const tutti_exodus *x, const tutti_exodus_mesh *m, int halo) {
    unsigned char local[W_ENTRIES] = {0}, has[W_NODES] = {0};
    int own[W_ENTRIES] = {0};
    const int n = world.entries[W_ELEMENT];
    for (int c = 0; c < W_BLOCKS; c++) {
        const tutti_exodus_elements *b = &m->blocks[c];
        const tutti_count owns = tutti_exodus_own_elements(x, TUTTI_EXODUS_ELEMENT_BLOCK, c);
        CHECK(owns <= b->n, "%lld of %lld are its own", (long long)owns, (long long)b->n);
        for (tutti_count i = 0; i < b->n; i++) {
            const int e = element_of(b->ids[i]);
            CHECK(e >= 0 && world.entry[W_ELEMENT][e].block == c, "element id %lld",
                  (long long)b->ids[i]);
            local[e] = i < owns ? 1 : 2;
            own[e] = i < owns;
            const tutti_count at = b->start ? b->start[i] : i * world.entry[W_ELEMENT][e].n;
            for (int q = 0; q < world.entry[W_ELEMENT][e].n && c != W_NFACED; q++)
                CHECK_EQ(m->node_ids[b->nodes[at + q]],
                         world.node_id[world.entry[W_ELEMENT][e].to[q]]);
        }
    }
    for (int e = 0; e < n; e++)
        if (local[e] == 1) nodes_of(e, has);
    for (int layer = 0; layer < halo && ranks > 1; layer++) {
        unsigned char more[W_NODES];
        memcpy(more, has, sizeof more);
        for (int e = 0; e < n; e++)
            if (has_common_node(e, has)) nodes_of(e, more);
        for (int e = 0; e < n; e++)
            if (has_common_node(e, has))
                CHECK(local[e] != 0, "element %d is missing in layer %d", e, layer);
        if (layer == halo - 1)
            for (int e = 0; e < n; e++)
                CHECK(local[e] == 0 || has_common_node(e, has), "element %d is too far", e);
        memcpy(has, more, sizeof has);
    }
    if (halo == 0)
        for (int e = 0; e < n; e++) CHECK(local[e] != 2, "a halo");
    MPI_Allreduce(MPI_IN_PLACE, own, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int e = 0; e < n; e++) CHECK(own[e] == 1, "element %d is own on %d ranks", e, own[e]);
}

/* Check the number of members of node sets and side sets on this rank. */
static void sets_check(const tutti_exodus_mesh *m) {
    unsigned char nodes[W_NODES] = {0}, elements[W_ENTRIES] = {0};
    for (tutti_count i = 0; i < m->nodes; i++) nodes[node_of(m->node_ids[i])] = 1;
    for (int c = 0; c < W_BLOCKS; c++)
        for (tutti_count i = 0; i < m->blocks[c].n; i++)
            elements[element_of(m->blocks[c].ids[i])] = 1;
    for (int c = 0; c < W_SETS; c++) {
        int in_nodes = 0, in_sides = 0;
        for (int i = 0; i < world.set[0][c].n; i++) in_nodes += nodes[world.set[0][c].member[i]];
        for (int i = 0; i < world.set[1][c].n; i++) in_sides += elements[world.set[1][c].member[i]];
        CHECK_EQ(m->node_sets[c].n, in_nodes);
        CHECK_EQ(m->side_sets[c].n, in_sides);
    }
}

/* ---- one distribution */

static void read_and_rewrite(tutti_exodus_options *opt, tutti_exodus_partitioner by, int halo) {
    char where[100];
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    int to[W_ENTRIES];
    tutti_exodus_distribution distribution = {.partitioner = by, .halo = halo};
    snprintf(where, sizeof where, "by %s, halo %d", by_name[by], halo);
    check_where(where);
    if (by == TUTTI_EXODUS_BY_LIST) { /* ranks have slices of different lengths */
        const int n = world.entries[W_ELEMENT];
        distribution.first = rank == 0 ? 0 : n * rank / (ranks + 1) + 1;
        distribution.first = distribution.first > n ? n : distribution.first;
        int end = rank == ranks - 1 ? n : n * (rank + 1) / (ranks + 1) + 1;
        end = end > n ? n : end;
        distribution.n = end - distribution.first;
        for (tutti_count i = 0; i < distribution.n; i++)
            to[i] = (int)((distribution.first + i) * 7 % ranks);
        distribution.rank = to;
    }
    CHECK_OK(same_everywhere(tutti_exodus_open(MPI_COMM_WORLD, path[0], TUTTI_READ, NULL, &x)));
    CHECK_OK(same_everywhere(tutti_exodus_get_mesh(x, &distribution, &m)));
    nodes_check(m);
    elements_check(x, m, halo);
    sets_check(m);
    if (by == TUTTI_EXODUS_ON_ROOT && rank > 0) CHECK_EQ(m->nodes, 0);
    CHECK_OK(same_everywhere(world_write(MPI_COMM_WORLD, path[1], opt, m)));
    files_same(path[0], path[1]);
    CHECK_OK(tutti_exodus_close(&x));
}

static void check_refused(tutti_exodus *x, const tutti_exodus_distribution *distribution,
                          const char *words) {
    const tutti_exodus_mesh *m = NULL;
    CHECK_SAME(tutti_exodus_get_mesh(x, distribution, &m), TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), words), "'%s' is not in: %s", words, tutti_last_message());
}

static void test_refusals(void) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    const int n = world.entries[W_ELEMENT], wrong[1] = {ranks}, right[1] = {0};
    check_where("refused");
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path[0], TUTTI_READ, NULL, &x));
    check_refused(x, &(tutti_exodus_distribution){.partitioner = (tutti_exodus_partitioner)9},
                  "unknown partitioner 9");
    check_refused(x, &(tutti_exodus_distribution){.halo = -1}, "halo is -1");
    check_refused(x, NULL, "NULL");
    if (n > 1) {
        check_refused(x,
                      &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_LIST,
                                                   .n = rank == ranks - 1,
                                                   .rank = wrong},
                      "is assigned to rank");
        check_refused(x,
                      &(tutti_exodus_distribution){
                          .partitioner = TUTTI_EXODUS_BY_LIST, .n = rank == 0, .rank = right},
                      "ranks of 1 elements are specified");
    }
    /* ranks pass different arguments */
    CHECK_SAME(
        tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){.halo = rank == ranks - 1}, &m),
        ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK);
    CHECK_OK(tutti_exodus_close(&x));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1333);
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    opt.sidecar = opt.checksums = 0;
    account start = account_now();
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/t1333-%d.e", check_dir(), i);
    const int trials = ranks < 8 ? 2 : 1;
    for (int k = 0; k < trials; k++) {
        check_state_ = check_seed_ + (uint64_t)k * 1000003;
        world_random(1, k % 2);
        world_arguments *local = world_arguments_of(1ull << rank);
        CHECK_OK(same_everywhere(world_write(MPI_COMM_WORLD, path[0], &opt, &local->mesh)));
        free(local);
        /* on many ranks, half of the distributions are tested */
        for (int by = 0; by <= TUTTI_EXODUS_ON_ROOT; by++)
            if (ranks < 5 || by % 2 != k % 2)
                read_and_rewrite(&opt, (tutti_exodus_partitioner)by, (k + by) % 3);
        if (k == 0) test_refusals();
        if (k == 0) /* after the first trial, because teams and their memory are cached */
            start = account_now();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks < 5) account_check(start);
    MPI_Finalize();
    return check_done();
}
