/* nemesis_writer FILE   writes a row of hexahedra with its Nemesis data on all ranks; then rank 0 prints
 * the Nemesis data read by tutti_exodus_nemesis_get, in the format of tests/exodus/exodus_nemesis.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/exodus.h>

enum { X = 4, Y = 3, Z = 7 };

#define OK(call)                                                      \
    do {                                                              \
        if ((call) != TUTTI_OK) {                                     \
            fprintf(stderr, "%s: %s\n", #call, tutti_last_message()); \
            MPI_Abort(MPI_COMM_WORLD, 1);                             \
        }                                                             \
    } while (0)

static int rank, ranks;

static void print_line(const char *what, int p, tutti_count n, const int64_t *v) {
    printf("%s %d:", what, p);
    for (tutti_count i = 0; i < n; i++) printf(" %lld", (long long)v[i]);
    printf("\n");
}

static void print_line_ints(const char *what, int p, tutti_count n, const int *v) {
    printf("%s %d:", what, p);
    for (tutti_count i = 0; i < n; i++) printf(" %d", v[i]);
    printf("\n");
}

/* Return whether this rank has a cell: pairs of cells are distributed cyclically, which makes many borders. */
static int is_local(int cell) {
    return cell / 2 % ranks == rank;
}

static void write_mesh(const char *path) {
    static int64_t node_id[(X + 1) * (Y + 1) * (Z + 1)], element_id[X * Y * Z];
    static double x[3][(X + 1) * (Y + 1) * (Z + 1)];
    static tutti_count nodes[8 * X * Y * Z], place[(X + 1) * (Y + 1) * (Z + 1)], members[X * Y * Z];
    static int sides[X * Y * Z];
    static const int dx[4] = {0, 1, 1, 0}, dy[4] = {0, 0, 1, 1};
    tutti_exodus_elements block = {.ids = element_id, .nodes = nodes};
    tutti_exodus_members bottom = {.members = members, .sides = sides}, set = {.members = members};
    tutti_exodus_mesh m = {.node_ids = node_id,
                           .coordinates = {x[0], x[1], x[2]},
                           .blocks = &block,
                           .node_sets = &set,
                           .side_sets = &bottom};
    for (int cell = 0; cell < X * Y * Z; cell++) {
        const int i = cell % X, j = cell / X % Y, k = cell / (X * Y);
        if (!is_local(cell)) continue;
        if (k == 0) members[bottom.n] = block.n, sides[bottom.n++] = 5;
        element_id[block.n] = cell + 1;
        for (int q = 0; q < 8; q++) {
            const int at[3] = {i + dx[q % 4], j + dy[q % 4], k + q / 4};
            const int node = (at[2] * (Y + 1) + at[1]) * (X + 1) + at[0];
            if (place[node] == 0) {
                for (int d = 0; d < 3; d++) x[d][m.nodes] = at[d];
                node_id[m.nodes] = node + 1;
                place[node] = ++m.nodes;
            }
            nodes[8 * block.n + q] = place[node] - 1;
        }
        block.n++;
    }
    tutti_exodus *e = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.nemesis = opt.overwrite = 1;
    OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &e));
    OK(tutti_exodus_init(e, &(tutti_exodus_parameters){.title = "bar", .dims = 3}));
    OK(tutti_exodus_define(
        e, 3,
        (tutti_exodus_entity[]){{.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 10, .topology = "HEX8"},
                                {.kind = TUTTI_EXODUS_NODE_SET, .id = 4},
                                {.kind = TUTTI_EXODUS_SIDE_SET, .id = 6}}));
    OK(tutti_exodus_put_mesh(e, &m));
    OK(tutti_exodus_close(&e));
}

static void print_maps(const tutti_exodus_nemesis *n, int p) {
    for (int k = 0; k < n->node_maps; k++) {
        const tutti_count lo = n->node_map_start[k], many = n->node_map_start[k + 1] - lo;
        printf("node map %lld\n", (long long)n->node_map_ids[k]);
        print_line("nodes", p, many, n->node_map_nodes + lo);
        print_line_ints("of", p, many, n->node_map_processors + lo);
    }
    for (int k = 0; k < n->element_maps; k++) {
        const tutti_count lo = n->element_map_start[k], many = n->element_map_start[k + 1] - lo;
        printf("element map %lld\n", (long long)n->element_map_ids[k]);
        print_line("elements", p, many, n->element_map_elements + lo);
        print_line_ints("sides", p, many, n->element_map_sides + lo);
        print_line_ints("of", p, many, n->element_map_processors + lo);
    }
}

static void print_processor(tutti_exodus *e, int p) {
    tutti_exodus_nemesis n;
    OK(tutti_exodus_nemesis_get(e, p, &n));
    const int64_t counts[7] = {n.internal_nodes,    n.border_nodes,    n.external_nodes,
                               n.internal_elements, n.border_elements, n.node_maps,
                               n.element_maps};
    const int64_t *border = n.nodes + n.internal_nodes;
    print_line("counts", p, 7, counts);
    print_line("internal nodes", p, n.internal_nodes, n.nodes);
    print_line("border nodes", p, n.border_nodes, border);
    print_line("external nodes", p, n.external_nodes, border + n.border_nodes);
    print_line("internal elements", p, n.internal_elements, n.elements);
    print_line("border elements", p, n.border_elements, n.elements + n.internal_elements);
    print_maps(&n, p);
}

static void print_entities(tutti_exodus *e, tutti_exodus_kind kind, const char *name,
                           const char *entries) {
    tutti_exodus_entity row;
    OK(tutti_exodus_entity_get(e, kind, 0, &row));
    const int64_t factors = row.factors;
    const int64_t count = row.entries;
    print_line(name, 0, 1, &row.id);
    print_line(entries, 0, 1, &count);
    if (kind != TUTTI_EXODUS_ELEMENT_BLOCK) print_line("factors", 0, 1, &factors);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) return 2;
    write_mesh(argv[1]);
    if (rank == 0) {
        tutti_exodus *e = NULL;
        tutti_exodus_parameters p;
        OK(tutti_exodus_open(MPI_COMM_SELF, argv[1], TUTTI_READ, NULL, &e));
        OK(tutti_exodus_parameters_get(e, &p));
        printf("processors %d %d s\n", ranks, ranks);
        print_line("global", 0, 5, (int64_t[]){p.nodes, p.elements, 1, 1, 1});
        print_entities(e, TUTTI_EXODUS_ELEMENT_BLOCK, "block ids", "elements");
        print_entities(e, TUTTI_EXODUS_NODE_SET, "node set ids", "nodes");
        print_entities(e, TUTTI_EXODUS_SIDE_SET, "side set ids", "sides");
        for (int k = 0; k < ranks; k++) print_processor(e, k);
        OK(tutti_exodus_close(&e));
    }
    MPI_Finalize();
    return 0;
}
