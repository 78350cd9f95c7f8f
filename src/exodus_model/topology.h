/* exodus_model: names of topologies: nodes, sides, nodes of sides.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TOPOLOGY_H
#define TUTTI_TOPOLOGY_H

enum { TUTTI__SIDE_NODES = 9, TUTTI__SIDES = 6 }; /* the most */

/* Sides of a topology; NULL stands for one that is not known, or whose sides are not. */
typedef struct tutti__shape {
    const char *family;
    int nodes;                                      /* of an entry */
    const char *count;                              /* a digit for each side: its nodes */
    const unsigned char (*side)[TUTTI__SIDE_NODES]; /* which, from 1 */
} tutti__shape;

/* What Exodus means by a name (letters of any case, with or without the number of nodes), by the nodes
 * of an entry (0: what the name says, or the fewest) and the dimensions of the file: a TRI of a
 * three-dimensional one is a shell, with two faces and three edges. */
const tutti__shape *tutti__shape_find(const char *name, int nodes, int dims);
int tutti__shape_sides(const tutti__shape *t);
/* Nodes of side 1 ... */
static inline int tutti__shape_side(const tutti__shape *t, int side) {
    return t->count[side - 1] - '0';
}

/* Blocks whose entries have any number of nodes (faces): lists. */
typedef enum tutti__shape_list {
    TUTTI__LISTED_NOT,
    TUTTI__NSIDED,
    TUTTI__NFACED
} tutti__shape_list;
tutti__shape_list tutti__shape_list_of(const char *name);

#endif
