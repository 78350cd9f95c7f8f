/* tutti-experiments mesh: sources of meshes.  Without a file, the mesh is a box whose nodes are concentrated
 * at one face, as at a semiconductor junction.  Each cell is divided into six tetrahedra around a diagonal
 * (Kuhn).  The box allows similar measurements without a mesh generator.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mesh_source_name(mesh_source *s, const char *path, tutti_count nodes) {
    const char *base = path ? strrchr(path, '/') : NULL;
    *s = (mesh_source){.path = path, .nodes = nodes};
    snprintf(s->name, sizeof s->name, "%s", base ? base + 1 : path ? path : "box");
    char *dot = strrchr(s->name, '.');
    if (dot && dot != s->name) *dot = '\0';
}

/* A box with n[d] nodes along dimension d. */
typedef struct {
    tutti_count n[3];
} box;

static box box_of(tutti_count nodes) {
    const tutti_count edge = (tutti_count)(cbrt((double)nodes) + 0.5);
    const tutti_count n = edge > 2 ? edge : 2;
    return (box){{n, n, n}};
}

static void split_text(const box *b, tutti_count less, tutti_count k, tutti_count at[3]) {
    for (int d = 0; d < 3; d++) {
        at[d] = k % (b->n[d] - less);
        k /= b->n[d] - less;
    }
}

/* Divide a cell into six tetrahedra: the six paths along edges from one corner to the opposite corner. */
static void cut_cell(const box *b, tutti_count cell, tutti_count *node) {
    static const int variant[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const tutti_count step[3] = {1, b->n[0], b->n[0] * b->n[1]};
    tutti_count at[3];
    split_text(b, 1, cell, at);
    const tutti_count corner = at[0] + at[1] * step[1] + at[2] * step[2];
    for (int t = 0; t < 6; t++) {
        tutti_count here = corner;
        for (int k = 0; k < 4; k++) {
            node[4 * t + k] = here;
            if (k < 3) here += step[variant[t][k]];
        }
    }
}

static tutti_err make_box(MPI_Comm comm, tutti_count nodes, tutti_mesh **out) {
    const box b = box_of(nodes);
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const tutti_count all = b.n[0] * b.n[1] * b.n[2];
    const tutti_count cells = (b.n[0] - 1) * (b.n[1] - 1) * (b.n[2] - 1);
    const tutti_count first = all * rank / ranks, n = all * (rank + 1) / ranks - first;
    const tutti_count from = cells * rank / ranks, m = cells * (rank + 1) / ranks - from;
    double *xyz = cli_malloc((size_t)(3 * n) * sizeof *xyz + 1);
    uint8_t *type = cli_malloc((size_t)(6 * m) + 1);
    tutti_count *start = cli_malloc((size_t)(6 * m + 1) * sizeof *start);
    tutti_count *node = cli_malloc((size_t)(24 * m) * sizeof *node + 1);
    for (tutti_count k = 0; k < n; k++) {
        tutti_count at[3];
        split_text(&b, 0, first + k, at);
        for (int d = 0; d < 3; d++) {
            const double t = (double)at[d] / (double)(b.n[d] - 1);
            xyz[3 * k + d] = d == 2 ? t * t : t; /* nodes are concentrated at z = 0 */
        }
    }
    memset(type, TUTTI_MESH_TET, (size_t)(6 * m));
    for (tutti_count i = 0; i <= 6 * m; i++) start[i] = 4 * i;
    for (tutti_count i = 0; i < m; i++) cut_cell(&b, from + i, node + 24 * i);
    const tutti_mesh_view slice = {.nodes = n,
                                   .coordinates = xyz,
                                   .elements = 6 * m,
                                   .type = type,
                                   .start = start,
                                   .node = node};
    const tutti_err err = tutti_mesh_make(comm, &slice, out);
    free(node);
    free(start);
    free(type);
    free(xyz);
    return err;
}

tutti_err mesh_source_open(const mesh_source *s, MPI_Comm comm, const tutti_options *opt,
                           tutti_mesh **out) {
    return s->path ? tutti_mesh_open(comm, s->path, opt, out) : make_box(comm, s->nodes, out);
}
