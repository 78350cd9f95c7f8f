/* exodus: the entries that a rank has of a class of entities (the nodes, all blocks of a kind or all sets of a kind), one
 * entity after the other, and their positions in the file.  Accessors of the mesh that a rank passes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ENTITY_CLASS_H
#define TUTTI_ENTITY_CLASS_H

#include "base/sorted.h"
#include "exodus/exodus_impl.h"
#include "exodus_model/topology.h"

typedef struct tutti__entity_class {
    tutti_exodus_kind kind;
    tutti_count entities;  /* blocks or sets of the kind; 1 for nodes */
    tutti_count n;         /* entries of this rank */
    tutti_count *start;    /* [entities + 1] entries of entity c */
    tutti_count all;       /* entries of all ranks, each counted once */
    tutti_count *count;    /* [entities] of each entity */
    tutti_count *before;   /* [entities + 1] of the entities before it */
    tutti_count *position; /* [n] among all entries of the class, from 0 */
    tutti_count *at;       /* [n] sum of the weights before it in its entity */
    tutti_count *weights;  /* [entities] sum of the weights */
    /* [n] length of a list, number of factors; NULL: 1, or given by the topology */
    tutti_count *weight;
    unsigned char *first;  /* [n] 1: no lower rank has it */
    unsigned char *writes; /* [n] 1: this rank writes it */
    /* [n] positions, ascending, with the indices of their entries: entity after entity */
    tutti__numbered *sorted;
    int plain;       /* ids are 1, 2, 3 ... in the order of the file */
    int64_t largest; /* of this rank's ids */
} tutti__entity_class;

void tutti__entity_class_free(tutti__entity_class *f);
/* Whether the fields of a class with known positions are consistent, for TUTTI_ASSERT: starts and counts ascend, and
 * `sorted` lists all entries entity by entity with ascending positions in the range of the entity. */
int tutti__entity_class_is_valid(const tutti__entity_class *f);

/* All classes of a mesh, by kind; kinds without mesh data are empty. */
typedef struct tutti__mesh_classes {
    tutti__entity_class of[TUTTI_EXODUS_KINDS];
    unsigned char *has_factors[TUTTI_EXODUS_KINDS]; /* [sets of the kind] on any rank */
} tutti__mesh_classes;
void tutti__mesh_classes_free(tutti__mesh_classes *m);

enum { TUTTI__BLOCK_KINDS = 3, TUTTI__SET_KINDS = 5 };
/* In the order in which positions are found: edges, faces, elements. */
extern const tutti_exodus_kind tutti__block_kinds[TUTTI__BLOCK_KINDS];
extern const tutti_exodus_kind tutti__set_kinds[TUTTI__SET_KINDS];
/* The kind of the members of a kind of sets: NODAL or a kind of blocks. */
tutti_exodus_kind tutti__members_of(tutti_exodus_kind set_kind);

/* Nodes of an entry of a block; 0: a list. */
int tutti__nodes_of(const tutti_exodus_entity *row);
/* This rank's part of block or set c; all 0 if it passes none. */
tutti_exodus_elements tutti__mesh_block(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                        tutti_count c);
tutti_exodus_members tutti__mesh_set(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                     tutti_count c);
/* The first and the number of the nodes (faces) of entry i of a block in its list. */
static inline tutti_count tutti__entry_start(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i] : i * tutti__nodes_of(row);
}
static inline tutti_count tutti__entry_nodes(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i + 1] - e->start[i] : tutti__nodes_of(row);
}

#endif
