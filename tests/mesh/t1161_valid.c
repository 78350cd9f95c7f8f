/* TEST ranks=2,3 timeout=60 */
/* The predicates tutti__mesh_is_valid() and tutti__mesh_part_is_valid() detect each damaged relation between fields,
 * and accept undamaged objects.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include "check.h"

#define DAMAGED(change)                            \
    do {                                           \
        struct tutti_mesh d = *m;                  \
        d.change;                                  \
        CHECK(!tutti__mesh_is_valid(&d), #change); \
    } while (0)

static void damage_mesh(tutti_mesh *m) {
    int none = 0;
    CHECK(tutti__mesh_is_valid(m));
    DAMAGED(handle.class = &tutti__mesh_part_class);
    DAMAGED(team = NULL);
    DAMAGED(uses = NULL);
    DAMAGED(uses = &none);
    DAMAGED(all_nodes += 7);
    DAMAGED(all_elements += 7);
    DAMAGED(first_node++);
    DAMAGED(first_element++);
    DAMAGED(own.nodes--);
    DAMAGED(own.elements--);
    DAMAGED(own.coordinates = NULL);
    DAMAGED(own.tag = NULL);
    DAMAGED(own.type = NULL);
    DAMAGED(own.physical = NULL);
    DAMAGED(own.entity = NULL);
    DAMAGED(own.start = NULL);
    DAMAGED(own.node = NULL);
    DAMAGED(own.groups = -1);
    DAMAGED(own.groups = 1);
    DAMAGED(graph = ((tutti__graph){.nodes = m->own.nodes + 1, .start = m->own.start}));
    tutti_mesh_membership twisted[2] = {{.dim = 2, .entity = 2}, {.dim = 2, .entity = 1}};
    struct tutti_mesh d = *m;
    d.own.members = 2;
    d.own.member = twisted;
    CHECK(!tutti__mesh_is_valid(&d));
    m->own.type[0] = TUTTI_MESH_LINE;
    CHECK(!tutti__mesh_is_valid(m));
    m->own.type[0] = TUTTI_MESH_TRIANGLE;
    CHECK(tutti__mesh_is_valid(m));
}

#define DAMAGED_PART(change)                            \
    do {                                                \
        struct tutti_mesh_part d = *p;                  \
        d.change;                                       \
        CHECK(!tutti__mesh_part_is_valid(&d), #change); \
    } while (0)

/* Damage one value in place, check that the predicate detects it, and restore the value. */
#define DAMAGED_VALUE(type, place, value)             \
    do {                                              \
        const type before = *(place);                 \
        *(type *)(place) = (value);                   \
        CHECK(!tutti__mesh_part_is_valid(p), #place); \
        *(type *)(place) = before;                    \
        CHECK(tutti__mesh_part_is_valid(p), #place);  \
    } while (0)

static void damage_part(tutti_mesh_part *p) {
    const tutti_mesh_part_view *v = &p->view;
    int none = 0;
    CHECK(tutti__mesh_part_is_valid(p));
    DAMAGED_PART(handle.class = &tutti__mesh_class);
    DAMAGED_PART(team = NULL);
    DAMAGED_PART(uses = &none);
    DAMAGED_PART(view.own_nodes = -1);
    DAMAGED_PART(view.own_nodes = v->nodes + 1);
    DAMAGED_PART(view.own_nodes++);
    DAMAGED_PART(view.all_nodes = v->nodes - 1);
    DAMAGED_PART(view.own_elements = v->elements + 1);
    DAMAGED_PART(box_n = 1);
    DAMAGED_VALUE(unsigned char, &v->own[0], !v->own[0]);
    DAMAGED_VALUE(int, &v->owner[0], v->owner[0] + 1);
    DAMAGED_VALUE(tutti_count, &v->holder_start[1], 0);
    DAMAGED_VALUE(int, &v->holder[0], -1);
    DAMAGED_VALUE(tutti_count, &v->start[0], 1);
    if (v->peers > 0) {
        DAMAGED_VALUE(int, &v->peer[0], p->team->rank);
        DAMAGED_VALUE(int, &v->peer[0], p->team->size);
        DAMAGED_VALUE(tutti_count, &v->send_start[0], v->send_start[1] + 1);
        DAMAGED_VALUE(tutti_count, &v->receive_start[0], v->receive_start[1] + 1);
    }
}

/* The mesh is a strip of triangles, four per rank; the pieces of neighbouring ranks share nodes. */
int main(int argc, char **argv) {
    enum { NODES = 4, ELEMENTS = 4 };
    int rank, ranks, of[NODES + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double coordinates[3 * NODES] = {0};
    const uint8_t type[ELEMENTS] = {TUTTI_MESH_TRIANGLE, TUTTI_MESH_TRIANGLE, TUTTI_MESH_TRIANGLE,
                                    TUTTI_MESH_TRIANGLE};
    const tutti_count start[ELEMENTS + 1] = {0, 3, 6, 9, 12};
    tutti_count node[3 * ELEMENTS];
    for (int i = 0; i < NODES; i++) {
        coordinates[3 * i] = NODES * rank + i;
        coordinates[3 * i + 1] = i % 2;
        of[i] = rank;
    }
    for (int e = 0; e < ELEMENTS; e++)
        for (int k = 0; k < 3; k++) node[3 * e + k] = (NODES * rank + e + k) % (NODES * ranks);
    const tutti_mesh_view view = {.nodes = NODES,
                                  .coordinates = coordinates,
                                  .elements = ELEMENTS,
                                  .type = type,
                                  .start = start,
                                  .node = node};
    tutti_mesh *m = NULL;
    tutti_mesh_part *p = NULL;
    CHECK(tutti_mesh_make(MPI_COMM_WORLD, &view, &m) == TUTTI_OK);
    damage_mesh(m);
    CHECK(tutti_mesh_part_make(m, of, &p) == TUTTI_OK);
    damage_part(p);
    tutti_mesh_part_free(&p);
    tutti_mesh_free(&m);
    MPI_Finalize();
    return check_done();
}
