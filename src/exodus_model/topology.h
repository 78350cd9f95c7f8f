/* exodus_model: topologies by name: nodes, sides, nodes of sides.                     no MPI
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TOPOLOGY_H
#define TUTTI_TOPOLOGY_H

enum { TUTTI__SIDE_NODES = 9, TUTTI__SIDES = 6 }; /* maximum */

/* Sides of a topology; NULL: the topology or its sides are unknown. */
typedef struct tutti__shape {
    const char *prefix;                             /* of its names */
    int nodes;                                      /* of an entry */
    const char *count;                              /* one digit per side: its number of nodes */
    const unsigned char (*side)[TUTTI__SIDE_NODES]; /* its nodes, from 1 */
} tutti__shape;

/* Find a topology by its name (in upper or lower case, with or without the number of nodes), the nodes of an entry (0: the
 * number in the name, or the smallest topology) and the dimensions of the file: in three dimensions a TRI is a shell, with
 * two faces and three edges. */
const tutti__shape *tutti__shape_find(const char *name, int nodes, int dims);
int tutti__shape_sides(const tutti__shape *t);
/* Nodes of a side, from 1. */
static inline int tutti__shape_side(const tutti__shape *t, int side) {
    return t->count[side - 1] - '0';
}

/* Topologies whose entries have any number of nodes or faces, stored as lists. */
typedef enum tutti__shape_list {
    TUTTI__LISTED_NOT,
    TUTTI__NSIDED,
    TUTTI__NFACED
} tutti__shape_list;
tutti__shape_list tutti__shape_list_of(const char *name);

#endif
