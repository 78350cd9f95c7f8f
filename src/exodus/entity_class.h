/* exodus: a family is what this rank has of a kind: the nodes, the entries of all its blocks or the
 * members of all its sets, one block (set) after the other; and where they stand in the file.
 *
 *   mesh_check    is a rank's mesh a mesh?
 *   mesh_family   positions and writers of nodes and entries of blocks
 *   mesh_sets     those of members
 *   mesh_held     families as decompositions, for results
 *   mesh_put      the call: counted, ordered, written
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FAMILY_H
#define TUTTI_FAMILY_H

#include "exodus/exodus_impl.h"
#include "decomposition/id_order.h"
#include "exodus/topology.h"
#include "base/sorted.h"
#include "decomposition/directory.h"

typedef struct tutti__family {
    tutti_exodus_kind kind;
    tutti_count classes;   /* entities of the kind; 1 for nodes */
    tutti_count n;         /* items of this rank */
    tutti_count *start;    /* [classes + 1] items of entity c */
    tutti_count all;       /* items of all ranks */
    tutti_count *count;    /* [classes] of each entity */
    tutti_count *before;   /* [classes + 1] of those before it */
    tutti_count *position; /* [n] among all of the kind, from 0 */
    tutti_count *at; /* [n] weights before it in its entity: nodes of listed entries, factors */
    tutti_count *weights;    /* [classes] */
    tutti_count *weight;     /* [n] or NULL: 1, or what the topology says */
    unsigned char *first;    /* [n] 1: no lower rank has it */
    unsigned char *writes;   /* [n] 1: this rank writes it */
    tutti__numbered *sorted; /* [n] positions, rising, with their items: entity after entity */
    int plain;               /* ids are 1, 2, 3 ... in the order of the file */
    int64_t largest;         /* of this rank's ids */
} tutti__family;

void tutti__family_free(tutti__family *f);

/* Everything that a rank passes, as families.  By kind; those of no kind of mesh data are empty. */
typedef struct tutti__mesh_families {
    tutti__family of[TUTTI_EXODUS_KINDS];
    unsigned char *has_factors[TUTTI_EXODUS_KINDS]; /* [sets of the kind] of any rank */
} tutti__mesh_families;
void tutti__mesh_families_free(tutti__mesh_families *m);

/* ---- mesh_check.c */
extern const tutti_exodus_kind
    tutti__block_kinds[3]; /* edges, faces, elements: as they are ordered */
extern const tutti_exodus_kind tutti__set_kinds[5];
/* What the members of a kind of sets are, as a kind of blocks (nodes: NODAL). */
tutti_exodus_kind tutti__members_of(tutti_exodus_kind set_kind);
/* Nodes of an entry of a block; 0: a list. */
int tutti__nodes_of(const tutti_exodus_entity *row);
/* This rank's share of entity c; all 0 if it passes none. */
tutti_exodus_elements tutti__mesh_block(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                        tutti_count c);
tutti_exodus_members tutti__mesh_set(const tutti_exodus_mesh *m, tutti_exodus_kind kind,
                                     tutti_count c);
/* Where the nodes (faces) of entry i of a block begin in its list, and how many they are. */
static inline tutti_count tutti__entry_start(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i] : i * tutti__nodes_of(row);
}
static inline tutti_count tutti__entry_nodes(const tutti_exodus_entity *row,
                                             const tutti_exodus_elements *e, tutti_count i) {
    return e->start ? e->start[i + 1] - e->start[i] : tutti__nodes_of(row);
}
/* All that can be said without the other ranks: with entity and place.   Local. */
tutti_err tutti__mesh_check(const tutti__exodus_model *m,
                            const tutti_exodus_mesh *mesh) TUTTI_MUST_USE;

/* ---- mesh_family.c: collective; mine: what this rank has against it */
tutti_err tutti__family_nodes(tutti__team *t, const tutti_exodus_mesh *mesh, tutti_err mine,
                              tutti__family *out) TUTTI_MUST_USE;
/* families: nodes are there; for elements edges and faces too. */
tutti_err tutti__family_blocks(tutti__team *t, const tutti__exodus_model *m,
                               const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                               tutti__mesh_families *families) TUTTI_MUST_USE;
/* An order becomes a family: it takes over its arrays.   mine: as above.   Collective. */
tutti_err tutti__family_take(tutti__team *t, tutti__family *f, const tutti__ids_spec *spec,
                             tutti_err mine) TUTTI_MUST_USE;
/* Who writes what several have.   own: [n] or NULL.   Collective. */
tutti_err tutti__family_writers(tutti__team *t, const tutti_replicas_choice *choice,
                                const unsigned char *own, tutti__family *f) TUTTI_MUST_USE;
/* The same of a family whose positions, counts and `first` are known: sorted.   Local. */
tutti_err tutti__family_sort(tutti__family *f) TUTTI_MUST_USE;

/* ---- mesh_sets.c */
/* families: nodes and blocks are there.   Collective. */
tutti_err tutti__family_sets(tutti__team *t, const tutti__exodus_model *m,
                             const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                             tutti__mesh_families *families) TUTTI_MUST_USE;
/* Which sets have factors: on all ranks that have members, or on none.   Collective. */
tutti_err tutti__factors_agree(tutti__team *t, const tutti__exodus_model *m,
                               const tutti_exodus_mesh *mesh,
                               tutti__mesh_families *families) TUTTI_MUST_USE;
/* Nodes of a side of entry i of a block (from 1); -1: not known.   Local. */
int tutti__side_nodes_of(const tutti__exodus_model *m, const tutti_exodus_entity *row,
                         tutti_count listed, int side);

/* ---- mesh_held.c */
/* Make what results need of families: nodes, blocks, sets that have variables.  own: [kinds] NULL, or of
 * each block how many are its own.   Local. */
tutti_err tutti__exodus_held_make(const tutti__exodus_model *m,
                                  const tutti__mesh_families *families, tutti_count *const *own,
                                  tutti__exodus_held **out, tutti_count *n_out) TUTTI_MUST_USE;
void tutti__exodus_held_drop(tutti_count n, tutti__exodus_held *held);

/* ---- mesh_fill.c */
/* There is another mesh: what get_mesh gave is gone.   Local. */
void tutti__exodus_dealt_forget(tutti_exodus *x);

#endif
