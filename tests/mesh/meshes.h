/* Common part of tests of meshes: small meshes that every rank creates completely and passes to the library in
 * pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MESHES_H
#define TUTTI_TESTS_MESHES_H

#include <tutti/mesh.h>
#include "harness.h"

/* A complete mesh, in plain arrays. */
typedef struct {
    tutti_count nodes, elements;
    double *x;
    int64_t *tag;
    uint8_t *type;
    int32_t *physical, *entity;
    tutti_count *start, *node;
} whole;

static inline whole whole_make(tutti_count nodes, tutti_count elements) {
    const size_t n = (size_t)nodes + 1, e = (size_t)elements + 2;
    return (whole){nodes,
                   elements,
                   calloc(3 * n, sizeof(double)),
                   calloc(n, sizeof(int64_t)),
                   calloc(e, 1),
                   calloc(e, sizeof(int32_t)),
                   calloc(e, sizeof(int32_t)),
                   calloc(e, sizeof(tutti_count)),
                   calloc(TUTTI_MESH_MAX_NODES * e, sizeof(tutti_count))};
}

static inline void whole_free(whole *w) {
    free(w->x);
    free(w->tag);
    free(w->type);
    free(w->physical);
    free(w->entity);
    free(w->start);
    free(w->node);
}

static inline void whole_add(whole *w, tutti_count *at, int type, int physical,
                             const tutti_count *node) {
    const int n = tutti_mesh_type_nodes(type);
    w->type[*at] = (uint8_t)type;
    w->physical[*at] = physical;
    w->entity[*at] = 10 * (1 + tutti_mesh_type_dim(type)) + physical;
    w->start[*at + 1] = w->start[*at] + n;
    memcpy(w->node + w->start[*at], node, (size_t)n * sizeof *node);
    ++*at;
}

/* Create a box of k x k x k cells with six tetrahedra each (mixed: some cells have prisms, pyramids or a hexahedron
 * instead), triangles on two sides of the box, an edge and a corner; nodes in random order. */
static inline whole whole_box(int k, int mixed) {
    const tutti_count side = k + 1, n = side * side * side;
    whole w = whole_make(n, 6L * k * k * k + 4L * k * k + 2);
    tutti_count e = 0, *number = calloc((size_t)n + 1, sizeof *number);
    for (tutti_count i = 0; i < n; i++) number[i] = i;
    for (tutti_count i = n - 1; i > 0; i--) { /* shuffle the nodes in the same way on all ranks */
        const tutti_count j =
            (tutti_count)((uint64_t)(i * 2654435761u + 12345) % (uint64_t)(i + 1));
        const tutti_count keep = number[i];
        number[i] = number[j];
        number[j] = keep;
    }
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count at = number[i];
        w.x[3 * at] = (double)(i % side) + 0.1 * (double)(i % 3);
        w.x[3 * at + 1] = (double)(i / side % side) / 3;
        w.x[3 * at + 2] = (double)(i / side / side) - 1.5;
        w.tag[at] = 7 + 3 * i;
    }
#define AT(a, b, c) number[(a) + side * ((b) + side * (c))]
    const tutti_count corner[] = {AT(0, 0, 0)}, edge[] = {AT(0, 0, 0), AT(1, 0, 0)};
    whole_add(&w, &e, TUTTI_MESH_POINT, 0, corner);
    whole_add(&w, &e, TUTTI_MESH_LINE, 4, edge);
    static const int six[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    for (int c = 0; c < k; c++)
        for (int b = 0; b < k; b++)
            for (int a = 0; a < k; a++) {
                tutti_count v[8];
                for (int i = 0; i < 8; i++) v[i] = AT(a + (i & 1), b + (i >> 1 & 1), c + (i >> 2));
                const int region = c < k / 2 ? 1 : 2;
                if (mixed && (a + b + c) % 3 == 0) {
                    const tutti_count hex[] = {v[0], v[1], v[3], v[2], v[4], v[5], v[7], v[6]};
                    whole_add(&w, &e, TUTTI_MESH_HEX, region, hex);
                    continue;
                }
                if (mixed && (a + b + c) % 3 == 1) {
                    const tutti_count p[] = {v[0], v[1], v[2], v[4], v[5], v[6]};
                    const tutti_count q[] = {v[1], v[3], v[7], v[5], v[2]};
                    const tutti_count r[] = {v[5], v[7], v[6], v[2]};
                    whole_add(&w, &e, TUTTI_MESH_PRISM, region, p);
                    whole_add(&w, &e, TUTTI_MESH_PYRAMID, region, q);
                    whole_add(&w, &e, TUTTI_MESH_TET, region, r);
                    continue;
                }
                for (int i = 0; i < 6; i++) {
                    const tutti_count t[] = {v[0], v[six[i][0]], v[six[i][1]], v[7]};
                    whole_add(&w, &e, TUTTI_MESH_TET, region, t);
                }
            }
    for (int b = 0; b < k; b++)
        for (int a = 0; a < k; a++) {
            const tutti_count q[] = {AT(a, b, 0), AT(a + 1, b, 0), AT(a + 1, b + 1, 0),
                                     AT(a, b + 1, 0)};
            const tutti_count s[] = {AT(a, b, k), AT(a + 1, b, k), AT(a + 1, b + 1, k)};
            const tutti_count t[] = {AT(a, b, k), AT(a + 1, b + 1, k), AT(a, b + 1, k)};
            whole_add(&w, &e, TUTTI_MESH_QUAD, 3, q);
            whole_add(&w, &e, TUTTI_MESH_TRIANGLE, 5, s);
            whole_add(&w, &e, TUTTI_MESH_TRIANGLE, 5, t);
        }
#undef AT
    w.elements = e;
    free(number);
    return w;
}

/* Create a mesh of which each rank of `comm` has a piece of a different size. */
static inline tutti_mesh *whole_mesh(const whole *w, MPI_Comm comm) {
    int p = 0, me = 0;
    tutti_mesh *m = NULL;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    /* bounds are quadratic: rank 0 has the smallest piece */
    const tutti_count lo = w->nodes * me * me / p / p, hi = w->nodes * (me + 1) * (me + 1) / p / p;
    const tutti_count from = w->elements * me / p, to = w->elements * (me + 1) / p;
    tutti_count *start = calloc((size_t)(to - from) + 1, sizeof *start);
    for (tutti_count e = from; e <= to; e++) start[e - from] = w->start[e] - w->start[from];
    const tutti_mesh_view v = {.nodes = hi - lo,
                               .coordinates = w->x + 3 * lo,
                               .tag = w->tag + lo,
                               .elements = to - from,
                               .type = w->type + from,
                               .physical = w->physical + from,
                               .entity = w->entity + from,
                               .start = start,
                               .node = w->node + w->start[from]};
    CHECK_OK(tutti_mesh_make(comm, &v, &m));
    free(start);
    return m;
}

/* Check that the slice of `m` on this rank equals that of the complete mesh `want`. */
static inline void slice_is(const tutti_mesh *m, const tutti_mesh *want, int with_tags,
                            const char *what) {
    tutti_mesh_view a, b;
    CHECK_OK(tutti_mesh_view_get(m, &a));
    CHECK_OK(tutti_mesh_view_get(want, &b));
    CHECK(a.all_nodes == b.nodes && a.all_elements == b.elements,
          "%s: %lld nodes and %lld elements, not %lld and %lld", what, (long long)a.all_nodes,
          (long long)a.all_elements, (long long)b.nodes, (long long)b.elements);
    if (a.all_nodes != b.nodes || a.all_elements != b.elements) return;
    CHECK(memcmp(a.coordinates, b.coordinates + 3 * a.first_node,
                 (size_t)a.nodes * 3 * sizeof(double)) == 0,
          "%s: coordinates", what);
    if (with_tags)
        CHECK(memcmp(a.tag, b.tag + a.first_node, (size_t)a.nodes * sizeof *a.tag) == 0, "%s: tags",
              what);
    const tutti_count e = a.first_element;
    CHECK(memcmp(a.type, b.type + e, (size_t)a.elements) == 0, "%s: types", what);
    CHECK(memcmp(a.physical, b.physical + e, (size_t)a.elements * 4) == 0, "%s: physical", what);
    CHECK(memcmp(a.entity, b.entity + e, (size_t)a.elements * 4) == 0, "%s: entities", what);
    for (tutti_count i = 0; i <= a.elements; i++)
        if (a.start[i] != b.start[e + i] - b.start[e]) {
            CHECK(0, "%s: start of element %lld", what, (long long)(e + i));
            return;
        }
    CHECK(memcmp(a.node, b.node + b.start[e], (size_t)a.start[a.elements] * sizeof *a.node) == 0,
          "%s: nodes of elements", what);
}

#endif
