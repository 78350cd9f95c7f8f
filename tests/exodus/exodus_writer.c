/* Writes a reference file with all features of Exodus files, with Debian's libexodusii.
 *
 *     exodus_writer [--classic | --64bit | --netcdf4] [--int64] [--real 4|8] [--names N] [--hexes N]
 *                   [--steps N] [--nemesis P] [--no-maps] FILE
 *
 * --classic   CDF-1   --64bit  CDF-2 (default)   --netcdf4  HDF5.   The library cannot write CDF-5, but
 *             nccopy -k cdf5 can convert a file.
 * --int64     ids, maps and connectivity with 64 bits (this implies netCDF-4; version 6.02 of the library writes
 *             members of sets as unsigned short)
 * --names N   maximum length of names (default: 32); the names have this length
 *
 * The mesh is a row of N hexahedra along x (default: 2), four adjacent tetrahedra that share their
 * nodes, two polyhedra defined by their faces (nfaced; the faces are nsided), edges and faces.  Most kinds have two
 * blocks or sets, the second of which may be empty.  Every value is a simple function of its position.  Ids
 * have gaps.  The program does not use MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int mode, int64, real, names, hexes, steps, nemesis, maps;
    const char *path;
} want = {EX_LARGE_MODEL, 0, 8, 32, 2, 3, 0, 1, NULL};

static int file;

static void check_call(int status, const char *what) {
    if (status < 0) {
        fprintf(stderr, "exodus_writer: %s: code %d\n", what, status);
        exit(1);
    }
}
#define MUST(call) check_call(call, #call)

/* Return the name STEM_i; if names may have more than 32 bytes, pad it to the maximum length. */
static char *name_of(const char *stem, int i) {
    static char text[256];
    int n = snprintf(text, sizeof text, "%s_%d", stem, i);
    if (want.names > 32)
        for (; n < want.names - 1 && n < 255; n++) text[n] = (char)('a' + n % 26);
    text[n] = 0;
    return text;
}

static void options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";
        int *number = !strcmp(a, "--real")      ? &want.real
                      : !strcmp(a, "--names")   ? &want.names
                      : !strcmp(a, "--hexes")   ? &want.hexes
                      : !strcmp(a, "--steps")   ? &want.steps
                      : !strcmp(a, "--nemesis") ? &want.nemesis
                                                : NULL;
        if (number) {
            *number = atoi(v);
            i++;
        } else if (!strcmp(a, "--classic")) {
            want.mode = EX_NORMAL_MODEL;
        } else if (!strcmp(a, "--64bit")) {
            want.mode = EX_LARGE_MODEL;
        } else if (!strcmp(a, "--netcdf4")) {
            want.mode = EX_NETCDF4;
        } else if (!strcmp(a, "--int64")) {
            want.int64 = EX_ALL_INT64_DB;
        } else if (!strcmp(a, "--no-maps")) {
            want.maps = 0;
        } else if (a[0] != '-' && !want.path) {
            want.path = a;
        } else {
            want.path = NULL;
            break;
        }
    }
    if (!want.path || want.hexes < 2) {
        fprintf(
            stderr,
            "usage: exodus_writer [--classic|--64bit|--netcdf4] [--int64] [--real 4|8] [--names N]"
            " [--hexes N] [--steps N] [--nemesis P] [--no-maps] FILE\n");
        exit(2);
    }
}

/* Return the number of nodes: 4 (N + 1) of the row of hexahedra, and 4 of the tetrahedra. */
static int64_t nodes(void) {
    return 4 * (want.hexes + 1) + 4;
}
static int64_t elements(void) {
    return want.hexes + 4 + 2;
}

static void write_nodes(void) {
    int64_t n = nodes();
    double *x = calloc((size_t)(3 * n), sizeof *x), *y = x + n, *z = y + n;
    for (int64_t i = 0; i < n; i++) {
        int plane = (int)(i / 4), corner = (int)(i % 4);
        int tet = plane == want.hexes + 1;
        x[i] = tet ? corner + 0.25 : plane;
        y[i] = tet ? 2.0 + corner : (corner == 1 || corner == 2) + 1.0 / 3;
        z[i] = tet ? -0.125 : corner >= 2;
    }
    MUST(ex_put_coord(file, x, y, z));
    free(x);
    char *names[3] = {"x", "y", "zed"};
    MUST(ex_put_coord_names(file, names));
}

static void put_block(ex_entity_type type, int64_t id, const char *topology, const int64_t n[5],
                      const int64_t *conn, const int64_t *edges, const int64_t *faces) {
    MUST(ex_put_block(file, type, id, topology, n[0], n[1], n[2], n[3], n[4]));
    if (n[0]) MUST(ex_put_conn(file, type, id, conn, edges, faces));
    if (!n[4] || !n[0]) return;
    double *a = calloc((size_t)(n[0] * n[4]), sizeof *a);
    for (int64_t i = 0; i < n[0] * n[4]; i++) a[i] = (double)(1000 * id + i) + 0.5;
    MUST(ex_put_attr(file, type, id, a));
    free(a);
    char *names[8];
    for (int i = 0; i < n[4]; i++) names[i] = strdup(name_of("attribute", i));
    MUST(ex_put_attr_names(file, type, id, names));
    for (int i = 0; i < n[4]; i++) free(names[i]);
}

static void write_blocks(void) {
    int64_t h = want.hexes;
    int64_t *hex = calloc((size_t)(8 * h), sizeof *hex),
            *edges = calloc((size_t)(2 * h), sizeof *edges);
    for (int64_t i = 0; i < 8 * h; i++) hex[i] = 4 * (i / 8) + i % 8 + 1;
    for (int64_t i = 0; i < 2 * h; i++) edges[i] = i % 3 + 1;
    put_block(EX_ELEM_BLOCK, 10, "HEX8", (int64_t[]){h, 8, 2, 0, 2}, hex, edges, NULL);
    free(hex);
    free(edges);
    int64_t t = 4 * (h + 1); /* number of nodes before the nodes of the tetrahedra */
    put_block(
        EX_ELEM_BLOCK, 20, "TETRA", (int64_t[]){4, 4, 0, 0, 1},
        (int64_t[]){2, 3, 6, t + 1, 3, 6, 7, t + 2, 6, 7, 2, t + 3, t + 1, t + 2, t + 3, t + 4},
        NULL, NULL);
    put_block(EX_ELEM_BLOCK, 25, "WEDGE", (int64_t[]){0, 6, 0, 0, 0}, NULL, NULL, NULL);
    put_block(EX_EDGE_BLOCK, 31, "EDGE2", (int64_t[]){3, 2, 0, 0, 1}, (int64_t[]){1, 2, 2, 3, 3, 4},
              NULL, NULL);
    put_block(EX_FACE_BLOCK, 41, "QUAD4", (int64_t[]){2, 4, 0, 0, 1},
              (int64_t[]){1, 2, 3, 4, 5, 6, 7, 8}, NULL, NULL);
    /* Two polyhedra: faces are defined by their nodes, elements by their faces. */
    put_block(EX_FACE_BLOCK, 42, "nsided", (int64_t[]){6, 19, 0, 0, 0},
              (int64_t[]){1, 2, 5, 2, 3, 5, 3, 1, 5, 1, 2, 3, 4, 3, 2, 6, 4, 3, 6}, NULL, NULL);
    MUST(ex_put_entity_count_per_polyhedra(file, EX_FACE_BLOCK, 42, (int[]){3, 3, 3, 3, 3, 4}));
    put_block(EX_ELEM_BLOCK, 30, "nfaced", (int64_t[]){2, 0, 0, 7, 0}, NULL, NULL,
              (int64_t[]){3, 4, 5, 6, 6, 7, 8});
    MUST(ex_put_entity_count_per_polyhedra(file, EX_ELEM_BLOCK, 30, (int[]){4, 3}));
    for (int i = 0; i < 4; i++)
        MUST(ex_put_name(file, EX_ELEM_BLOCK, (int[]){10, 20, 25, 30}[i], name_of("block", i)));
    MUST(ex_put_name(file, EX_FACE_BLOCK, 41, name_of("faces", 0)));
}

typedef struct members {
    ex_entity_type type;
    int64_t id;
    int64_t n, factors;
    const int64_t *list, *extra;
} members;

static void write_sets(void) {
    const int64_t list[] = {1, 2, 3, 4}, side[] = {1, 2, 5, 6}, faces[] = {3, 1, 2, 7},
                  both[] = {1, want.int64 ? 1 : -1, 1, 1};
    const members sets[] = {
        {EX_NODE_SET, 100, 4, 4, list, NULL},  {EX_NODE_SET, 101, 2, 0, list + 2, NULL},
        {EX_NODE_SET, 110, 0, 0, NULL, NULL},  {EX_SIDE_SET, 200, 2, 8, list, side},
        {EX_SIDE_SET, 207, 1, 0, list, faces}, {EX_ELEM_SET, 300, 3, 3, list, NULL},
        {EX_EDGE_SET, 400, 3, 3, list, both},  {EX_FACE_SET, 500, 2, 2, list, both},
    };
    int n = (int)(sizeof sets / sizeof *sets);
    for (int s = 0; s < n; s++) {
        const members *m = &sets[s];
        MUST(ex_put_set_param(file, m->type, m->id, m->n, m->factors));
        if (m->n) MUST(ex_put_set(file, m->type, m->id, m->list, m->extra));
        if (m->factors) {
            double f[8];
            for (int i = 0; i < m->factors; i++) f[i] = (double)m->id + i / 8.0;
            MUST(ex_put_set_dist_fact(file, m->type, m->id, f));
        }
        MUST(ex_put_name(file, m->type, m->id, name_of("set", s)));
    }
    MUST(ex_put_attr_param(file, EX_NODE_SET, 100, 1));
    MUST(ex_put_attr(file, EX_NODE_SET, 100, (double[]){0.5, 1.5, 2.5, 3.5}));
    MUST(ex_put_attr_param(file, EX_NODAL, 0, 2));
    double *a = calloc((size_t)(2 * nodes()), sizeof *a);
    for (int64_t i = 0; i < 2 * nodes(); i++) a[i] = (double)i / 4;
    MUST(ex_put_attr(file, EX_NODAL, 0, a));
    free(a);
}

static void write_map(ex_entity_type type, int64_t id, int64_t n) {
    int64_t *map = calloc((size_t)n, sizeof *map);
    for (int64_t i = 0; i < n; i++) map[i] = id ? 7 * id + i : 100 + 3 * i;
    MUST(id ? ex_put_num_map(file, type, id, map) : ex_put_id_map(file, type, map));
    free(map);
}

static void write_maps(void) {
    if (!want.maps) return;
    write_map(EX_NODE_MAP, 0, nodes());
    write_map(EX_ELEM_MAP, 0, elements());
    write_map(EX_EDGE_MAP, 0, 3);
    write_map(EX_FACE_MAP, 0, 8);
    write_map(EX_NODE_MAP, 61, nodes());
    write_map(EX_NODE_MAP, 62, nodes());
    write_map(EX_ELEM_MAP, 71, elements());
    write_map(EX_EDGE_MAP, 81, 3);
    write_map(EX_FACE_MAP, 91, 8);
    MUST(ex_put_name(file, EX_NODE_MAP, 62, name_of("map", 62)));
    int64_t *order = calloc((size_t)elements(), sizeof *order);
    for (int64_t i = 0; i < elements(); i++) order[i] = elements() - i;
    MUST(ex_put_map(file, order));
    free(order);
}

static void write_texts(void) {
    char *qa[2][4] = {{"writer", "6.02", "2000/01/01", "00:00:00"}, {"second", "1", "", "12:00"}};
    MUST(ex_put_qa(file, 2, qa));
    char *info[3] = {"the first line", "", "the third"};
    MUST(ex_put_info(file, 3, info));
    char *properties[2] = {"density", "colour"};
    MUST(ex_put_prop_names(file, EX_ELEM_BLOCK, 2, properties));
    MUST(ex_put_prop_array(file, EX_ELEM_BLOCK, "density", (int64_t[]){3, 1, 4, 1}));
    MUST(ex_put_prop(file, EX_ELEM_BLOCK, 20, "colour", 77));
    MUST(ex_put_prop_array(file, EX_NODE_SET, "fixed", (int64_t[]){1, 0, 1}));
    MUST(ex_put_coordinate_frames(file, 1, (int64_t[]){5}, (double[]){0, 0, 0, 0, 0, 1, 1, 0, 0},
                                  "R"));
}

typedef struct variables {
    ex_entity_type type;
    int n; /* number of variables */
    int entities;
    int64_t ids[4], entries[4];
    int truth[8];
} variables;

static void write_results(void) {
    const variables all[] = {
        {EX_GLOBAL, 2, 0, {0}, {0}, {0}},
        {EX_NODAL, 2, 1, {0}, {nodes()}, {1, 1}},
        {EX_ELEM_BLOCK, 2, 4, {10, 20, 25, 30}, {want.hexes, 4, 0, 2}, {1, 1, 0, 1, 0, 0, 1, 0}},
        {EX_EDGE_BLOCK, 1, 1, {31}, {3}, {1}},
        {EX_FACE_BLOCK, 1, 2, {41, 42}, {2, 6}, {0, 1}},
        {EX_NODE_SET, 1, 3, {100, 101, 110}, {4, 2, 0}, {1, 1, 0}},
        {EX_SIDE_SET, 2, 2, {200, 207}, {2, 1}, {1, 0, 1, 1}},
        {EX_ELEM_SET, 1, 1, {300}, {3}, {1}},
        {EX_EDGE_SET, 1, 1, {400}, {3}, {1}},
        {EX_FACE_SET, 1, 1, {500}, {2}, {1}},
    };
    int kinds = (int)(sizeof all / sizeof *all);
    for (int k = 0; k < kinds; k++) {
        const variables *v = &all[k];
        MUST(ex_put_variable_param(file, v->type, v->n));
        for (int i = 0; i < v->n; i++)
            MUST(ex_put_variable_name(file, v->type, i + 1, name_of("variable", 10 * k + i)));
        int truth[8];
        memcpy(truth, v->truth, sizeof truth);
        if (v->type != EX_GLOBAL && v->type != EX_NODAL)
            MUST(ex_put_truth_table(file, v->type, v->entities, v->n, truth));
    }
    double *buf = calloc((size_t)nodes(), sizeof *buf);
    for (int s = 1; s <= want.steps; s++) {
        MUST(ex_put_time(file, s, &(double){s * 0.1}));
        MUST(ex_put_var(file, s, EX_GLOBAL, 1, 0, 2, (double[]){s, -s - 0.5}));
        for (int k = 1; k < kinds; k++) {
            const variables *v = &all[k];
            for (int e = 0; e < v->entities; e++)
                for (int i = 0; i < v->n; i++) {
                    if (!v->truth[e * v->n + i] || !v->entries[e]) continue;
                    for (int64_t j = 0; j < v->entries[e]; j++)
                        buf[j] = 10000.0 * k + 1000 * e + 100 * i + 10 * s + (double)j / 16;
                    MUST(ex_put_var(file, s, v->type, i + 1, v->ids[e], v->entries[e], buf));
                }
        }
    }
    free(buf);
}

/* Write Nemesis data: processor p has the nodes 1 + p, 1 + p + P, ..., and shares one node with the next. */
static void write_nemesis(void) {
    int P = want.nemesis;
    if (!P) return;
    char type[] = "s";
    MUST(ex_put_init_info(file, P, P, type));
    MUST(ex_put_init_global(file, nodes(), elements(), 4, 3, 2));
    MUST(
        ex_put_eb_info_global(file, (int64_t[]){10, 20, 25, 30}, (int64_t[]){want.hexes, 4, 0, 2}));
    MUST(ex_put_ns_param_global(file, (int64_t[]){100, 101, 110}, (int64_t[]){4, 2, 0},
                                (int64_t[]){4, 0, 0}));
    MUST(ex_put_ss_param_global(file, (int64_t[]){200, 207}, (int64_t[]){2, 1}, (int64_t[]){8, 0}));
    int64_t *v = calloc((size_t)(7 * P), sizeof *v);
    for (int p = 0; p < P; p++) {
        v[p] = p + 1;         /* internal nodes */
        v[P + p] = 2;         /* border nodes */
        v[2 * P + p] = 1;     /* external nodes */
        v[3 * P + p] = p % 2; /* internal elements */
        v[4 * P + p] = 1;     /* border elements */
        v[5 * P + p] = 1;     /* node maps */
        v[6 * P + p] = 1;     /* element maps */
    }
    MUST(ex_put_loadbal_param_cc(file, v, v + P, v + 2 * P, v + 3 * P, v + 4 * P, v + 5 * P,
                                 v + 6 * P));
    free(v);
    int64_t *ids = calloc((size_t)P, sizeof *ids), *counts = calloc((size_t)P, sizeof *counts);
    int64_t *ecounts = calloc((size_t)P, sizeof *ecounts),
            *start = calloc((size_t)P + 1, sizeof *start);
    for (int p = 0; p < P; p++) {
        ids[p] = p + 1;
        counts[p] = 2;
        ecounts[p] = 1;
        start[p + 1] = start[p] + 1;
    }
    MUST(ex_put_cmap_params_cc(file, ids, counts, start, ids, ecounts, start));
    for (int p = 0; p < P; p++) {
        int64_t inside[64], border[2] = {p + 1, p + 2}, outside[1] = {p + 3};
        for (int i = 0; i <= p && i < 64; i++) inside[i] = i + 1;
        MUST(ex_put_processor_node_maps(file, inside, border, outside, p));
        MUST(ex_put_processor_elem_maps(file, (int64_t[]){p + 1}, (int64_t[]){p + 2}, p));
        int64_t who[2] = {(p + 1) % P, (p + P - 1) % P};
        MUST(ex_put_node_cmap(file, p + 1, border, who, p));
        MUST(ex_put_elem_cmap(file, p + 1, (int64_t[]){p + 2}, (int64_t[]){3}, who, p));
    }
    free(ids);
    free(counts);
    free(ecounts);
    free(start);
}

int main(int argc, char **argv) {
    options(argc, argv);
    int memory_bytes = 8;
    ex_opts(EX_VERBOSE);
    if (want.int64) want.mode = EX_NETCDF4;
    file = ex_create(want.path, EX_CLOBBER | want.mode | want.int64, &memory_bytes, &want.real);
    check_call(file, want.path);
    MUST(ex_set_int64_status(file, EX_ALL_INT64_API));
    if (want.names != 32) MUST(ex_set_option(file, EX_OPT_MAX_NAME_LENGTH, want.names));
    int maps = want.maps;
    ex_init_params p = {.title = "everything an Exodus file can have",
                        .num_dim = 3,
                        .num_nodes = nodes(),
                        .num_edge = 3,
                        .num_edge_blk = 1,
                        .num_face = 8,
                        .num_face_blk = 2,
                        .num_elem = elements(),
                        .num_elem_blk = 4,
                        .num_node_sets = 3,
                        .num_edge_sets = 1,
                        .num_face_sets = 1,
                        .num_side_sets = 2,
                        .num_elem_sets = 1,
                        .num_node_maps = 2 * maps,
                        .num_edge_maps = maps,
                        .num_face_maps = maps,
                        .num_elem_maps = maps};
    MUST(ex_put_init_ext(file, &p));
    write_nodes();
    write_blocks();
    write_sets();
    write_maps();
    write_texts();
    write_nemesis();
    write_results();
    MUST(ex_close(file));
    return 0;
}
