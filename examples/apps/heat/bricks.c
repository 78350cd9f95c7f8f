/* The mesh: a grid of cubes.  In the second half of the rod, each cube is divided into six
 * tetrahedra around the same diagonal.
 *
 * On the squares between both halves, functions are bilinear on one side and linear on two
 * triangles on the other, and differ slightly.  Because all diagonals are parallel, the integral of
 * the shape function of a node is the same on both sides, except at the four corners of the cross
 * section, so that the order of the method is preserved.  Inner cells are distorted, so that no
 * integral is that of a cube.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <math.h>
#include <stdlib.h>

/* Corners of a cell in Exodus' order, and the six tetrahedra around its diagonal from 0 to 6. */
static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int cut[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                              {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

typedef struct builder {
    const settings *s;
    int64_t n;
    int64_t first[2], last[2]; /* range of elements of each block on this rank, counted from 0 */
    int64_t *ids[2];
    int64_t *nodes[2]; /* nodes of each element: first ids, later positions in node_ids */
    int64_t *node_ids;
    tutti_count held;
} builder;

static int64_t node_id(int64_t n, int64_t i, int64_t j, int64_t k) {
    return 1 + (i * (n + 1) + j) * (n + 1) + k;
}

static void place_of(const settings *s, int64_t id, double at[3]) {
    const int64_t n = s->cells;
    const int64_t i = (id - 1) / ((n + 1) * (n + 1)), j = (id - 1) / (n + 1) % (n + 1);
    const int64_t k = (id - 1) % (n + 1);
    const double x = (double)i / (double)n, y = (double)j / (double)n, z = (double)k / (double)n;
    const double inside = s->straight ? 0 : sin(M_PI * x) * sin(M_PI * x);
    at[0] = x + (s->straight ? 0 : 0.05 * sin(M_PI * x) * sin(4 * y + 1) * cos(3 * z));
    at[1] = y + 0.05 * inside * sin(M_PI * y) * cos(5 * z + x);
    at[2] = z + 0.05 * inside * sin(M_PI * z) * sin(4 * y - x);
    /* sines are not exactly 0 at the boundary */
    if (x == 0 || x == 1 || x == 2) at[0] = x, at[1] = y, at[2] = z;
    if (y == 0 || y == 1) at[1] = y;
    if (z == 0 || z == 1) at[2] = z;
}

/* Compute the node ids of element e of a block, counted from 0. */
static void nodes_of(int64_t n, int block, int64_t e, int64_t *out) {
    const int64_t cell = block == 0 ? e : e / 6;
    const int64_t i = cell / (n * n) + (block == 0 ? 0 : n), j = cell / n % n, k = cell % n;
    const int count = block == 0 ? 8 : 4;
    for (int a = 0; a < count; a++) {
        const int *c = corner[block == 0 ? a : cut[e % 6][a]];
        out[a] = node_id(n, i + c[0], j + c[1], k + c[2]);
    }
}

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t find(const builder *b, int64_t id) {
    const int64_t *p = bsearch(&id, b->node_ids, (size_t)b->held, sizeof id, ascending);
    return p - b->node_ids;
}

/* List the elements of this rank, and their nodes without duplicates. */
static void build_elements(builder *b, int rank, int ranks) {
    const int64_t n = b->n, all[2] = {n * n * n, 6 * n * n * n};
    int64_t total = 0;
    for (int k = 0; k < 2; k++) {
        const int width = k == 0 ? 8 : 4;
        b->first[k] = all[k] * rank / ranks;
        b->last[k] = all[k] * (rank + 1) / ranks;
        const int64_t count = b->last[k] - b->first[k];
        b->ids[k] = room(count, sizeof **b->ids);
        b->nodes[k] = room(count * width, sizeof **b->nodes);
        for (int64_t e = 0; e < count; e++) {
            b->ids[k][e] = 1 + (k == 0 ? 0 : all[0]) + b->first[k] + e;
            nodes_of(n, k, b->first[k] + e, b->nodes[k] + e * width);
        }
        total += count * width;
    }
    b->node_ids = room(total, sizeof *b->node_ids);
    int64_t m = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < (b->last[k] - b->first[k]) * (k == 0 ? 8 : 4); i++)
            b->node_ids[m++] = b->nodes[k][i];
    qsort(b->node_ids, (size_t)m, sizeof *b->node_ids, ascending);
    b->held = 0;
    for (int64_t i = 0; i < m; i++)
        if (b->held == 0 || b->node_ids[i] != b->node_ids[b->held - 1])
            b->node_ids[b->held++] = b->node_ids[i];
}

/* Return whether the node is on the heated surface; factor: fraction of the flux at the node. */
static int heated(const settings *s, const double at[3], double *factor) {
    *factor = 1;
    if (!s->spot) return at[0] == 2;
    const double r = hypot(at[0] - 1, at[1] - 0.5) / 0.4;
    if (at[2] != 1 || r >= 1.001) return 0;
    *factor = 0.5 + 0.5 * cos(M_PI * fmin(r, 1));
    return 1;
}

/* List the sides whose corners are all heated. */
static void build_heated(const builder *b, const double *const at[3], tutti_exodus_members *out) {
    const int64_t count[2] = {b->last[0] - b->first[0], b->last[1] - b->first[1]};
    tutti_count *members = room(6 * count[0] + 4 * count[1], sizeof *members);
    int *sides = room(6 * count[0] + 4 * count[1], sizeof *sides);
    double *factors = room(24 * count[0] + 12 * count[1], sizeof *factors);
    int64_t n = 0, f = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t e = 0; e < count[k]; e++)
            for (int number = 1; number <= (k == 0 ? 6 : 4); number++) {
                int which[9], all = 1;
                const int corners =
                    tutti_exodus_side_nodes(k == 0 ? "HEX8" : "TET4", 0, 3, number, which);
                for (int a = 0; a < corners && all; a++) {
                    const int64_t i = b->nodes[k][e * (k == 0 ? 8 : 4) + which[a]];
                    const double here[3] = {at[0][i], at[1][i], at[2][i]};
                    all = heated(b->s, here, &factors[f + a]);
                }
                if (!all) continue;
                members[n] = (k == 0 ? 0 : count[0]) + e;
                sides[n++] = number;
                f += corners;
            }
    *out = (tutti_exodus_members){.n = n, .members = members, .sides = sides, .factors = factors};
}

bricks *bricks_make(MPI_Comm comm, const settings *s) {
    builder b = {.s = s, .n = s->cells};
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    build_elements(&b, rank, ranks);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < (b.last[k] - b.first[k]) * (k == 0 ? 8 : 4); i++)
            b.nodes[k][i] = find(&b, b.nodes[k][i]);
    double *x[3];
    for (int c = 0; c < 3; c++) x[c] = room(b.held, sizeof **x);
    tutti_count *cold = room(b.held, sizeof *cold), n = 0;
    for (tutti_count i = 0; i < b.held; i++) {
        double at[3];
        place_of(s, b.node_ids[i], at);
        for (int c = 0; c < 3; c++) x[c][i] = at[c];
        if (at[0] == 0) cold[n++] = i;
    }
    bricks *out = room(1, sizeof *out);
    out->mesh = (tutti_exodus_mesh){.nodes = b.held,
                                    .node_ids = b.node_ids,
                                    .type = TUTTI_FLOAT64,
                                    .coordinates = {x[0], x[1], x[2]},
                                    .blocks = out->blocks,
                                    .node_sets = &out->cold,
                                    .side_sets = &out->heated};
    for (int k = 0; k < 2; k++)
        out->blocks[k] = (tutti_exodus_elements){
            .n = b.last[k] - b.first[k], .ids = b.ids[k], .nodes = b.nodes[k]};
    out->cold = (tutti_exodus_members){.n = n, .members = cold};
    build_heated(&b, (const double *const *)x, &out->heated);
    return out;
}

void bricks_free(bricks *b) {
    if (!b) return;
    free((void *)b->mesh.node_ids);
    for (int c = 0; c < 3; c++) free((void *)b->mesh.coordinates[c]);
    for (int k = 0; k < 2; k++) {
        free((void *)b->blocks[k].ids);
        free((void *)b->blocks[k].nodes);
    }
    free((void *)b->cold.members);
    free((void *)b->heated.members);
    free((void *)b->heated.sides);
    free((void *)b->heated.factors);
    free(b);
}
