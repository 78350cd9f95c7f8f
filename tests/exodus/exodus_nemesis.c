/* exodus_nemesis FILE   prints the Nemesis data of a file as read by libexodusii, one line per item.
 * Uses neither MPI nor Tutti.  The names of items are those of tests/exodus/nemesis_writer.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <stdio.h>
#include <stdlib.h>

static int file;

static void exit_with_error(const char *what) {
    fprintf(stderr, "%s has failed\n", what);
    exit(1);
}
#define OK(call)                                \
    do {                                        \
        if ((call) < 0) exit_with_error(#call); \
    } while (0)

static int *allocate_ints(int n) {
    int *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) exit(1);
    return v;
}

static void print_line(const char *what, int p, int n, const int *v) {
    printf("%s %d:", what, p);
    for (int i = 0; i < n; i++) printf(" %d", v[i]);
    printf("\n");
}

static void print_maps(int p, int nodes, int elements) {
    int *id = allocate_ints(nodes), *count = allocate_ints(nodes), *eid = allocate_ints(elements),
        *ecount = allocate_ints(elements);
    OK(ex_get_cmap_params(file, id, count, eid, ecount, p));
    for (int k = 0; k < nodes; k++) {
        int *node = allocate_ints(count[k]), *rank = allocate_ints(count[k]);
        OK(ex_get_node_cmap(file, id[k], node, rank, p));
        printf("node map %d\n", id[k]);
        print_line("nodes", p, count[k], node);
        print_line("of", p, count[k], rank);
        free(node);
        free(rank);
    }
    for (int k = 0; k < elements; k++) {
        int *element = allocate_ints(ecount[k]), *side = allocate_ints(ecount[k]),
            *rank = allocate_ints(ecount[k]);
        OK(ex_get_elem_cmap(file, eid[k], element, side, rank, p));
        printf("element map %d\n", eid[k]);
        print_line("elements", p, ecount[k], element);
        print_line("sides", p, ecount[k], side);
        print_line("of", p, ecount[k], rank);
        free(element);
        free(side);
        free(rank);
    }
    free(id);
    free(count);
    free(eid);
    free(ecount);
}

static void print_processor(int p) {
    int n[7] = {0};
    OK(ex_get_loadbal_param(file, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], p));
    print_line("counts", p, 7, n);
    int *internal = allocate_ints(n[0]), *border = allocate_ints(n[1]),
        *external = allocate_ints(n[2]);
    int *inside = allocate_ints(n[3]), *edge = allocate_ints(n[4]);
    OK(ex_get_processor_node_maps(file, internal, border, external, p));
    OK(ex_get_processor_elem_maps(file, inside, edge, p));
    print_line("internal nodes", p, n[0], internal);
    print_line("border nodes", p, n[1], border);
    print_line("external nodes", p, n[2], external);
    print_line("internal elements", p, n[3], inside);
    print_line("border elements", p, n[4], edge);
    print_maps(p, n[5], n[6]);
    free(internal);
    free(border);
    free(external);
    free(inside);
    free(edge);
}

int main(int argc, char **argv) {
    int real = 8, in_file = 0, processors = 0, here = 0, n[5] = {0};
    float version;
    char type[2] = "";
    if (argc < 2) return 2;
    file = ex_open(argv[1], EX_READ, &real, &in_file, &version);
    if (file < 0) exit_with_error("ex_open");
    OK(ex_get_init_info(file, &processors, &here, type));
    printf("processors %d %d %s\n", processors, here, type);
    OK(ex_get_init_global(file, &n[0], &n[1], &n[2], &n[3], &n[4]));
    print_line("global", 0, 5, n);
    int *id = allocate_ints(n[2] + n[3] + n[4]), *count = allocate_ints(n[2] + n[3] + n[4]),
        *factors = allocate_ints(n[3] + n[4]);
    OK(ex_get_eb_info_global(file, id, count));
    print_line("block ids", 0, n[2], id);
    print_line("elements", 0, n[2], count);
    OK(ex_get_ns_param_global(file, id, count, factors));
    print_line("node set ids", 0, n[3], id);
    print_line("nodes", 0, n[3], count);
    print_line("factors", 0, n[3], factors);
    OK(ex_get_ss_param_global(file, id, count, factors));
    print_line("side set ids", 0, n[4], id);
    print_line("sides", 0, n[4], count);
    print_line("factors", 0, n[4], factors);
    for (int p = 0; p < here; p++) print_processor(p);
    OK(ex_close(file));
    free(id);
    free(count);
    free(factors);
    return 0;
}
