/* exodus: the entries that a rank has of a class of entities (the nodes, all blocks of a kind or
 * all sets of a kind), one entity after the other, and their positions in the file; accessors of
 * the mesh that a rank passes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ENTITY_CLASS_H
#define TUTTI_ENTITY_CLASS_H

#include "base/sorted.h"
#include "exodus/exodus_impl.h"
#include "exodus_model/topology.h"

typedef struct tutti__entity_class {
    tutti_exodus_kind kind;
    tutti_count entities;  /* number of blocks or sets of the kind; 1 for nodes */
    tutti_count n;         /* number of entries of this rank */
    tutti_count *start;    /* [entities + 1] index of the first entry of each entity */
    tutti_count all;       /* number of entries of all ranks, each counted once */
    tutti_count *count;    /* [entities] number of entries of each entity on all ranks */
    tutti_count *before;   /* [entities + 1] number of entries of the preceding entities */
    tutti_count *position; /* [n] position among all entries of the class, starting at 0 */
    tutti_count *at;       /* [n] sum of the weights of the preceding entries of its entity */
    tutti_count *weights;  /* [entities] sum of the weights of each entity */
    /* [n] length of a list, or number of factors; NULL: 1, or determined by the topology */
    tutti_count *weight;
    unsigned char *first;  /* [n] 1: no lower rank has the entry */
    unsigned char *writes; /* [n] 1: this rank writes the entry; NULL: it writes all entries */
    /* [n] positions, ascending within each entity, with the indices of their entries; NULL:
     * `position` is ascending */
    tutti__numbered *sorted;
    int plain;       /* whether ids are 1, 2, 3 ... in the order of the file */
    int64_t largest; /* largest id on this rank */
} tutti__entity_class;

/* Return entry j in the order of positions: its position and its index. */
static inline tutti__numbered tutti__entity_sorted(const tutti__entity_class *f, tutti_count j) {
    return f->sorted ? f->sorted[j] : (tutti__numbered){f->position[j], j};
}
void tutti__entity_class_free(tutti__entity_class *f);
/* Return whether the fields of a class with known positions are consistent, for TUTTI_ASSERT:
 * starts and counts ascend, and `sorted` (or `position`) lists all entries entity by entity with
 * ascending positions in the range of the entity. */
int tutti__entity_class_is_valid(const tutti__entity_class *f);

/* All classes of a mesh, by kind; kinds without mesh data are empty. */
typedef struct tutti__mesh_classes {
    tutti__entity_class of[TUTTI_EXODUS_KINDS];
    /* [sets of the kind] whether the set has factors on any rank */
    unsigned char *has_factors[TUTTI_EXODUS_KINDS];
} tutti__mesh_classes;
void tutti__mesh_classes_free(tutti__mesh_classes *m);

enum { TUTTI__BLOCK_KINDS = 3, TUTTI__SET_KINDS = 5 };
/* Kinds of blocks in the order in which their positions are determined: edges, faces, elements. */
extern const tutti_exodus_kind tutti__block_kinds[TUTTI__BLOCK_KINDS];
extern const tutti_exodus_kind tutti__set_kinds[TUTTI__SET_KINDS];
/* Return the kind of the members of a kind of sets: NODAL or a kind of blocks. */
tutti_exodus_kind tutti__members_of(tutti_exodus_kind set_kind);

/* Return the number of nodes per entry of a block; 0 if entries are lists. */
int tutti__nodes_of(const tutti_exodus_entity *row);
/* Return this rank's part of block or set c; all fields are 0 if it passes none. */
tutti_exodus_elements tutti__mesh_block(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                        tutti_count c);
tutti_exodus_members tutti__mesh_set(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                     tutti_count c);
/* Return the index of the first node (face) of entry i of a block in its list; return their
 * number. */
static inline tutti_count tutti__entry_start(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i] : i * tutti__nodes_of(row);
}
static inline tutti_count tutti__entry_nodes(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i + 1] - e->start[i] : tutti__nodes_of(row);
}

#endif
