/* Join pieces of an Exodus file by libexodusii in one process, for comparison with `tutti exodus join`: nodes
 * and elements by their ids, which are 1 ... n; nodal variables of all steps.  Prints the time in seconds.
 *
 * usage: exodus_join OUT PIECE...
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_BLOCKS = 64, CORNERS = 8, MOST_VARIABLES = 16 };

static void check_call(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "exodus_join: %s failed\n", what);
    exit(1);
}

static void *allocate_memory(int64_t n, size_t size) {
    void *p = calloc((size_t)n + 1, size);
    check_call(p != NULL, "allocation");
    return p;
}

static int open_file(const char *path) {
    int compute = 8, stored = 0;
    float version;
    const int file = ex_open(path, EX_READ, &compute, &stored, &version);
    check_call(file >= 0, path);
    return file;
}

static double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The joined mesh. */
static int64_t nodes, elements;
static int blocks, variables, steps;
static double *x[3], *value;
static int *corner, block_of[MOST_BLOCKS + 1], *which; /* which: [elements] block of each element */

/* Determine the sizes: the largest ids of all pieces. */
static void measure_time(int n, char **paths) {
    for (int p = 0; p < n; p++) {
        ex_init_params q;
        const int file = open_file(paths[p]);
        check_call(ex_get_init_ext(file, &q) >= 0, "ex_get_init_ext");
        int *ids = allocate_memory(q.num_nodes + q.num_elem, sizeof *ids);
        check_call(ex_get_id_map(file, EX_NODE_MAP, ids) >= 0, "ex_get_id_map");
        for (int64_t i = 0; i < q.num_nodes; i++) nodes = ids[i] > nodes ? ids[i] : nodes;
        check_call(ex_get_id_map(file, EX_ELEM_MAP, ids) >= 0, "ex_get_id_map");
        for (int64_t i = 0; i < q.num_elem; i++) elements = ids[i] > elements ? ids[i] : elements;
        blocks = (int)q.num_elem_blk;
        check_call(ex_get_variable_param(file, EX_NODAL, &variables) >= 0, "ex_get_variable_param");
        steps = (int)ex_inquire_int(file, EX_INQ_TIME);
        free(ids);
        check_call(ex_close(file) >= 0, "ex_close");
    }
    check_call(blocks <= MOST_BLOCKS && variables <= MOST_VARIABLES, "counts");
}

static void mesh_read(const char *path) {
    ex_init_params q;
    const int file = open_file(path);
    check_call(ex_get_init_ext(file, &q) >= 0, "ex_get_init_ext");
    int *node = allocate_memory(q.num_nodes, sizeof *node),
        *element = allocate_memory(q.num_elem, sizeof *element);
    int *list = allocate_memory(CORNERS * q.num_elem, sizeof *list), ids[MOST_BLOCKS];
    double *own[3];
    for (int k = 0; k < 3; k++) own[k] = allocate_memory(q.num_nodes, sizeof *own[k]);
    check_call(ex_get_id_map(file, EX_NODE_MAP, node) >= 0, "ex_get_id_map");
    check_call(ex_get_id_map(file, EX_ELEM_MAP, element) >= 0, "ex_get_id_map");
    check_call(ex_get_coord(file, own[0], own[1], own[2]) >= 0, "ex_get_coord");
    for (int64_t i = 0; i < q.num_nodes; i++)
        for (int k = 0; k < 3; k++) x[k][node[i] - 1] = own[k][i];
    check_call(ex_get_ids(file, EX_ELEM_BLOCK, ids) >= 0, "ex_get_ids");
    for (int64_t b = 0, at = 0; b < q.num_elem_blk; b++) {
        ex_block block = {.id = ids[b], .type = EX_ELEM_BLOCK};
        check_call(ex_get_block_param(file, &block) >= 0, "ex_get_block_param");
        if (block.num_entry > 0)
            check_call(ex_get_conn(file, EX_ELEM_BLOCK, ids[b], list, NULL, NULL) >= 0,
                       "ex_get_conn");
        for (int64_t e = 0; e < block.num_entry; e++, at++) {
            which[element[at] - 1] = ids[b];
            for (int c = 0; c < CORNERS; c++)
                corner[CORNERS * (int64_t)(element[at] - 1) + c] = node[list[CORNERS * e + c] - 1];
        }
        block_of[b] = ids[b];
    }
    for (int k = 0; k < 3; k++) free(own[k]);
    free(node), free(element), free(list);
    check_call(ex_close(file) >= 0, "ex_close");
}

static void mesh_write(int file) {
    int *list = allocate_memory(CORNERS * elements, sizeof *list);
    check_call(ex_put_init(file, "joined", 3, nodes, elements, blocks, 0, 0) >= 0, "ex_put_init");
    for (int b = 0; b < blocks; b++) {
        int64_t n = 0;
        for (int64_t e = 0; e < elements; e++) n += which[e] == block_of[b];
        check_call(ex_put_block(file, EX_ELEM_BLOCK, block_of[b], "HEX8", n, CORNERS, 0, 0, 0) >= 0,
                   "ex_put_block");
    }
    check_call(ex_put_coord(file, x[0], x[1], x[2]) >= 0, "ex_put_coord");
    for (int b = 0; b < blocks; b++) {
        int64_t n = 0;
        for (int64_t e = 0; e < elements; e++)
            for (int c = 0; c < CORNERS && which[e] == block_of[b]; c++)
                list[n++] = corner[CORNERS * e + c];
        check_call(ex_put_conn(file, EX_ELEM_BLOCK, block_of[b], list, NULL, NULL) >= 0,
                   "ex_put_conn");
    }
    free(list);
}

static void steps_join(int file, int n, char **paths) {
    char name[MOST_VARIABLES][MAX_STR_LENGTH + 1], *names[MOST_VARIABLES];
    for (int v = 0; v < variables; v++) snprintf(names[v] = name[v], sizeof name[v], "v%d", v);
    if (variables == 0) return;
    check_call(ex_put_variable_param(file, EX_NODAL, variables) >= 0, "ex_put_variable_param");
    check_call(ex_put_variable_names(file, EX_NODAL, variables, names) >= 0,
               "ex_put_variable_names");
    for (int s = 1; s <= steps; s++) {
        double time = s;
        check_call(ex_put_time(file, s, &time) >= 0, "ex_put_time");
        for (int v = 1; v <= variables; v++) {
            for (int p = 0; p < n; p++) {
                const int piece = open_file(paths[p]);
                const int64_t own = ex_inquire_int(piece, EX_INQ_NODES);
                int *node = allocate_memory(own, sizeof *node);
                double *from = allocate_memory(own, sizeof *from);
                check_call(ex_get_id_map(piece, EX_NODE_MAP, node) >= 0, "ex_get_id_map");
                check_call(ex_get_var(piece, s, EX_NODAL, v, 1, own, from) >= 0, "ex_get_var");
                for (int64_t i = 0; i < own; i++) value[node[i] - 1] = from[i];
                free(node), free(from);
                check_call(ex_close(piece) >= 0, "ex_close");
            }
            check_call(ex_put_var(file, s, EX_NODAL, v, 1, nodes, value) >= 0, "ex_put_var");
        }
    }
}

int main(int argc, char **argv) {
    int real = 8;
    check_call(argc > 2, "usage: exodus_join OUT PIECE...");
    const double start = clock_seconds();
    measure_time(argc - 2, argv + 2);
    for (int k = 0; k < 3; k++) x[k] = allocate_memory(nodes, sizeof *x[k]);
    value = allocate_memory(nodes, sizeof *value);
    corner = allocate_memory(CORNERS * elements, sizeof *corner);
    which = allocate_memory(elements, sizeof *which);
    for (int p = 2; p < argc; p++) mesh_read(argv[p]);
    const int file = ex_create(argv[1], EX_CLOBBER | EX_LARGE_MODEL, &real, &real);
    check_call(file >= 0, "ex_create");
    mesh_write(file);
    steps_join(file, argc - 2, argv + 2);
    check_call(ex_close(file) >= 0, "ex_close");
    printf("%.3f\n", clock_seconds() - start);
    return 0;
}
