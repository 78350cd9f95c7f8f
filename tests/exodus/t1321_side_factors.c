/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Distribution factors of side sets: put_mesh reads the number given by tutti_exodus_side_nodes
 * for the topology and the dimensions of the file, from a buffer of exactly this size (the build
 * asan detects overruns), and get_mesh returns them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <tutti/exodus.h>

/* elements of all ranks; maximum numbers of nodes and of sides per element */
enum { ELEMENTS = 8, MOST = 7, SIDES = 6 };

static char path[600];

static double factor(int64_t element, int side, int k) {
    return (double)element * 100 + side * 10 + k;
}

/* The elements of this rank: elements do not share nodes, and all sides are in the side set. */
typedef struct {
    tutti_count n, members_n;
    int64_t id[ELEMENTS], node_id[ELEMENTS * MOST];
    double x[ELEMENTS * MOST];
    tutti_count nodes[ELEMENTS * MOST], start[ELEMENTS + 1], members[ELEMENTS * SIDES];
    int sides[ELEMENTS * SIDES];
    double *factors; /* the exact number given by tutti_exodus_side_nodes */
} piece;

static void piece_make(const char *topology, int nodes, int dims, piece *p) {
    const int sides = tutti_exodus_topology_sides(topology, nodes, dims);
    tutti_count n = 0;
    memset(p, 0, sizeof *p);
    CHECK(sides > 0, "%s: %d sides", topology, sides);
    for (int e = rank; e < ELEMENTS; e += ranks) {
        p->id[p->n] = e + 1;
        for (int k = 0; k < nodes; k++) {
            const tutti_count at = p->n * nodes + k;
            p->node_id[at] = (int64_t)e * nodes + k + 1;
            p->x[at] = (double)p->node_id[at];
            p->nodes[at] = at;
        }
        for (int s = 1; s <= sides; s++) {
            p->members[p->members_n] = p->n;
            p->sides[p->members_n++] = s;
            n += tutti_exodus_side_nodes(topology, nodes, dims, s, NULL);
        }
        p->n++;
        p->start[p->n] = p->n * nodes;
    }
    p->factors = malloc((size_t)n * sizeof *p->factors + (n == 0));
    for (tutti_count i = 0, at = 0; i < p->members_n; i++)
        for (int k = 0; k < tutti_exodus_side_nodes(topology, nodes, dims, p->sides[i], NULL); k++)
            p->factors[at++] = factor(p->id[p->members[i]], p->sides[i], k);
}

static void put_values(const char *topology, int nodes, int dims) {
    const int listed = strcmp(topology, "nsided") == 0;
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    piece *p = malloc(sizeof *p);
    piece_make(topology, nodes, dims, p);
    const tutti_exodus_elements block = {
        .n = p->n, .ids = p->id, .nodes = p->nodes, .start = listed ? p->start : NULL};
    const tutti_exodus_members set = {
        .n = p->members_n, .members = p->members, .sides = p->sides, .factors = p->factors};
    const tutti_exodus_mesh mesh = {.nodes = p->n * nodes,
                                    .node_ids = p->node_id,
                                    .coordinates = {p->x, p->x, p->x},
                                    .blocks = &block,
                                    .side_sets = &set};
    const tutti_exodus_entity entities[] = {{.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                             .id = 1,
                                             .topology = topology,
                                             .nodes = listed ? 0 : nodes},
                                            {.kind = TUTTI_EXODUS_SIDE_SET, .id = 1}};
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    opt.sidecar = opt.checksums = 0;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = dims}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_define(x, 2, entities), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_mesh(x, &mesh), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    free(p->factors);
    free(p);
}

static void get_values(const char *topology, int nodes, int dims) {
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus *x = NULL;
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){0}, &m), TUTTI_OK);
    CHECK(tutti_exodus_mesh_warning(x)[0] == 0, "%s", tutti_exodus_mesh_warning(x));
    const tutti_exodus_members *s = &m->side_sets[0];
    CHECK_EQ(s->n, m->blocks[0].n * tutti_exodus_topology_sides(topology, nodes, dims));
    for (tutti_count i = 0, at = 0; i < s->n; i++)
        for (int k = 0; k < tutti_exodus_side_nodes(topology, nodes, dims, s->sides[i], NULL);
             k++, at++)
            CHECK(s->factors[at] == factor(m->blocks[0].ids[s->members[i]], s->sides[i], k),
                  "member %lld, side %d: %g", (long long)i, s->sides[i], s->factors[at]);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    static const struct {
        const char *topology;
        /* sides, first: expected number of sides, and of nodes of the first side */
        int nodes, dims, sides, first;
    } cases[] = {{"TRI3", 3, 3, 5, 3},   {"TRI3", 3, 2, 3, 2},   {"tri", 6, 3, 5, 6},
                 {"SHELL4", 4, 3, 6, 4}, {"QUAD4", 4, 2, 4, 2},  {"nsided", 5, 2, 5, 2},
                 {"nsided", 5, 3, 5, 2}, {"WEDGE6", 6, 3, 5, 4}, {"BAR2", 2, 3, 2, 1}};
    harness_begin(&argc, &argv, 1321);
    snprintf(path, sizeof path, "%s/sides.e", check_dir());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *topology = cases[i].topology;
        const int nodes = cases[i].nodes, dims = cases[i].dims;
        check_where(topology);
        CHECK_EQ(tutti_exodus_topology_sides(topology, nodes, dims), cases[i].sides);
        CHECK_EQ(tutti_exodus_side_nodes(topology, nodes, dims, 1, NULL), cases[i].first);
        if (i > 0 && ranks > 3 && i != 5)
            continue; /* on many ranks only some cases are tested, to save time */
        put_values(topology, nodes, dims);
        get_values(topology, nodes, dims);
    }
    int which[9];
    check_where("a side of a TRI3 in space");
    CHECK_EQ(tutti_exodus_side_nodes("TRI3", 3, 3, 4, which), 2);
    CHECK(which[0] == 1 && which[1] == 2, "%d %d", which[0], which[1]);
    CHECK_EQ(tutti_exodus_side_nodes("TRI3", 3, 2, 4, which), 0);
    CHECK_EQ(tutti_exodus_side_nodes("TRI3", 3, 0, 1, which), 0);
    return harness_end();
}
