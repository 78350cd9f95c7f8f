/* A mesh of bricks, each divided into six tetrahedra that share the diagonal from its lowest to its
 * highest corner: one for each path along the edges between these corners (Kuhn).  No tetrahedron
 * is obtuse.  Each rank creates a slice of the mesh; no rank has the whole mesh.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the physical group of the triangle with these corners: 1, 2, ... in the order of the
 * patches; 0: none. */
static int patch_of(const brick *b, const double at[3][3]) {
    for (int p = 0; p < b->patches; p++) {
        int inside = 1;
        for (int c = 0; c < 3; c++)
            for (int x = 0; x < 3; x++)
                inside &=
                    at[c][x] > b->patch[p].low[x] - 1e-9 && at[c][x] < b->patch[p].high[x] + 1e-9;
        if (inside) return p + 1;
    }
    return 0;
}

/* A growing list of elements. */
typedef struct list {
    tutti_count n, nodes;
    uint8_t *type;
    int32_t *physical;
    tutti_count *start, *node;
} list;

static void append(list *l, int type, int physical, const tutti_count *node) {
    l->type[l->n] = (uint8_t)type;
    l->physical[l->n] = physical;
    for (int k = 0; k < tutti_mesh_type_nodes(type); k++) l->node[l->nodes++] = node[k];
    l->start[++l->n] = l->nodes;
}

/* Append the tetrahedra of the brick whose lowest corner is `c`, and its triangles on patches. */
static void cut_brick(const brick *b, const int c[3], list *l) {
    static const int way[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const tutti_count step[3] = {1, b->n[0], (tutti_count)b->n[0] * b->n[1]};
    const tutti_count low = c[0] + c[1] * step[1] + c[2] * step[2];
    for (int w = 0; w < 6; w++) {
        tutti_count node[4] = {low};
        for (int k = 0; k < 3; k++) node[k + 1] = node[k] + step[way[w][k]];
        append(l, TUTTI_MESH_TET, 1, node);
    }
    for (int w = 0; w < 6; w++) /* each face has two triangles */
        for (int high = 0; high < 2; high++) {
            const int x = way[w][0], y = way[w][1], z = way[w][2];
            if (c[x] + high != (high ? b->n[x] - 1 : 0)) continue;
            double at[3][3];
            tutti_count node[3] = {low + high * step[x]};
            int corner[3] = {c[0], c[1], c[2]};
            corner[x] += high;
            for (int k = 0; k < 3; k++) {
                if (k > 0) corner[k == 1 ? y : z]++, node[k] = node[k - 1] + step[k == 1 ? y : z];
                for (int m = 0; m < 3; m++) at[k][m] = b->line[m][corner[m]];
            }
            const int group = patch_of(b, (const double(*)[3])at);
            if (group) append(l, TUTTI_MESH_TRIANGLE, group, node);
        }
}

tutti_mesh *brick_mesh(MPI_Comm comm, const brick *b) {
    const tutti_count nodes = (tutti_count)b->n[0] * b->n[1] * b->n[2];
    const tutti_count bricks = (tutti_count)(b->n[0] - 1) * (b->n[1] - 1) * (b->n[2] - 1);
    tutti_mesh_group group[CONTACTS];
    tutti_mesh *mesh = NULL;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const tutti_count first = nodes * rank / ranks, n = nodes * (rank + 1) / ranks - first;
    const tutti_count begin = bricks * rank / ranks, end = bricks * (rank + 1) / ranks;

    double *at = room(3 * n, sizeof *at);
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count g = first + i;
        at[3 * i] = b->line[0][g % b->n[0]];
        at[3 * i + 1] = b->line[1][g / b->n[0] % b->n[1]];
        at[3 * i + 2] = b->line[2][g / b->n[0] / b->n[1]];
        if (b->move) b->move(at + 3 * i);
    }
    /* each brick has six tetrahedra and twelve triangles */
    const tutti_count most = 18 * (end - begin);
    list l = {.type = room(most, sizeof *l.type),
              .physical = room(most, sizeof *l.physical),
              .start = room(most, sizeof *l.start),
              .node = room(4 * most, sizeof *l.node)};
    for (tutti_count k = begin; k < end; k++) {
        const tutti_count x = b->n[0] - 1, y = b->n[1] - 1;
        cut_brick(b, (int[]){(int)(k % x), (int)(k / x % y), (int)(k / x / y)}, &l);
    }
    must(tutti_mesh_make(comm,
                         &(tutti_mesh_view){.nodes = n,
                                            .coordinates = at,
                                            .elements = l.n,
                                            .type = l.type,
                                            .physical = l.physical,
                                            .start = l.start,
                                            .node = l.node},
                         &mesh));
    for (int p = 0; p < b->patches; p++) {
        group[p] = (tutti_mesh_group){.dim = 2, .tag = p + 1};
        snprintf(group[p].name, sizeof group[p].name, "%s", b->patch[p].name);
    }
    must(tutti_mesh_set_groups(mesh, b->patches, group));
    free(at);
    free(l.type);
    free(l.physical);
    free(l.start);
    free(l.node);
    return mesh;
}
