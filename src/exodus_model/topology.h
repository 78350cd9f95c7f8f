/* exodus_model: topologies by name: nodes, sides, nodes of sides.  Uses no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TOPOLOGY_H
#define TUTTI_TOPOLOGY_H

/* maximum numbers of nodes per side and of sides */
enum { TUTTI__SIDE_NODES = 9, TUTTI__SIDES = 6 };

/* A topology with its sides. */
typedef struct tutti__shape {
    const char *prefix; /* first letters of its names */
    int nodes;          /* number of nodes of an entry */
    const char *count;  /* one digit per side: number of nodes of the side */
    const unsigned char (*side)[TUTTI__SIDE_NODES]; /* nodes of each side; the first node is 1 */
} tutti__shape;

/* Find a topology by its name (in upper or lower case, with or without the number of nodes), the
 * number of nodes of an entry (0: the number in the name, or the smallest topology) and the number
 * of dimensions of the file: in three dimensions, a TRI is a shell with two faces and three edges.
 * Returns NULL if the topology or its sides are unknown. */
const tutti__shape *tutti__shape_find(const char *name, int nodes, int dims);
int tutti__shape_sides(const tutti__shape *t);
/* Return the number of nodes of a side (the first is 1). */
static inline int tutti__shape_side(const tutti__shape *t, int side) {
    return t->count[side - 1] - '0';
}

/* Topologies whose entries have any number of nodes or faces, which are stored as lists. */
typedef enum tutti__shape_list {
    TUTTI__LISTED_NOT,
    TUTTI__NSIDED,
    TUTTI__NFACED
} tutti__shape_list;
tutti__shape_list tutti__shape_list_of(const char *name);

#endif
