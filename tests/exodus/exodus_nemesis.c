/* exodus_nemesis FILE   prints the partition in a file as read by libexodusii, one line per item.
 * Uses neither MPI nor Tutti.  Names as in tests/exodus/nemesis_writer.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <stdio.h>
#include <stdlib.h>

static int file;

static void failed(const char *what) {
    fprintf(stderr, "%s has failed\n", what);
    exit(1);
}
#define OK(call)                       \
    do {                               \
        if ((call) < 0) failed(#call); \
    } while (0)

static int *numbers(int n) {
    int *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) exit(1);
    return v;
}

static void line(const char *what, int p, int n, const int *v) {
    printf("%s %d:", what, p);
    for (int i = 0; i < n; i++) printf(" %d", v[i]);
    printf("\n");
}

static void maps(int p, int nodes, int elements) {
    int *id = numbers(nodes), *count = numbers(nodes), *eid = numbers(elements),
        *ecount = numbers(elements);
    OK(ex_get_cmap_params(file, id, count, eid, ecount, p));
    for (int k = 0; k < nodes; k++) {
        int *node = numbers(count[k]), *rank = numbers(count[k]);
        OK(ex_get_node_cmap(file, id[k], node, rank, p));
        printf("node map %d\n", id[k]);
        line("nodes", p, count[k], node);
        line("of", p, count[k], rank);
        free(node);
        free(rank);
    }
    for (int k = 0; k < elements; k++) {
        int *element = numbers(ecount[k]), *side = numbers(ecount[k]), *rank = numbers(ecount[k]);
        OK(ex_get_elem_cmap(file, eid[k], element, side, rank, p));
        printf("element map %d\n", eid[k]);
        line("elements", p, ecount[k], element);
        line("sides", p, ecount[k], side);
        line("of", p, ecount[k], rank);
        free(element);
        free(side);
        free(rank);
    }
    free(id);
    free(count);
    free(eid);
    free(ecount);
}

static void processor(int p) {
    int n[7] = {0};
    OK(ex_get_loadbal_param(file, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], p));
    line("counts", p, 7, n);
    int *internal = numbers(n[0]), *border = numbers(n[1]), *external = numbers(n[2]);
    int *inside = numbers(n[3]), *edge = numbers(n[4]);
    OK(ex_get_processor_node_maps(file, internal, border, external, p));
    OK(ex_get_processor_elem_maps(file, inside, edge, p));
    line("internal nodes", p, n[0], internal);
    line("border nodes", p, n[1], border);
    line("external nodes", p, n[2], external);
    line("internal elements", p, n[3], inside);
    line("border elements", p, n[4], edge);
    maps(p, n[5], n[6]);
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
    if (file < 0) failed("ex_open");
    OK(ex_get_init_info(file, &processors, &here, type));
    printf("processors %d %d %s\n", processors, here, type);
    OK(ex_get_init_global(file, &n[0], &n[1], &n[2], &n[3], &n[4]));
    line("global", 0, 5, n);
    int *id = numbers(n[2] + n[3] + n[4]), *count = numbers(n[2] + n[3] + n[4]),
        *factors = numbers(n[3] + n[4]);
    OK(ex_get_eb_info_global(file, id, count));
    line("block ids", 0, n[2], id);
    line("elements", 0, n[2], count);
    OK(ex_get_ns_param_global(file, id, count, factors));
    line("node set ids", 0, n[3], id);
    line("nodes", 0, n[3], count);
    line("factors", 0, n[3], factors);
    OK(ex_get_ss_param_global(file, id, count, factors));
    line("side set ids", 0, n[4], id);
    line("sides", 0, n[4], count);
    line("factors", 0, n[4], factors);
    for (int p = 0; p < here; p++) processor(p);
    OK(ex_close(file));
    free(id);
    free(count);
    free(factors);
    return 0;
}
