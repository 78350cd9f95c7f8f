/* exodus_mesh: positions in the file of a rank's nodes, block entries and set members, and the
 * ranks that write them.
 *
 *   mesh_check         validation of the mesh that a rank passes
 *   class_positions    positions of nodes and of the entries of blocks; writers
 *   member_positions   positions of the members of sets
 *   local_entries      entries of a rank as decompositions, for results
 *   put_mesh           the call, which counts, orders and writes
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_POSITIONS_H
#define TUTTI_POSITIONS_H

#include "base/sorted.h"
#include "decomposition/decomposition.h"
#include "exodus_mesh/id_order.h"

/* The mesh of a rank and its positions.  Positions are determined in two rounds: first of entries,
 * then of members, whose numbers depend on the positions of entries. */
typedef struct tutti__mesh_order {
    tutti__team *team;
    const tutti__exodus_model *model;
    const tutti_exodus_mesh *mesh;
    tutti_replicas_choice choice;
    tutti__mesh_classes classes;
    tutti__ids_round entries, members;
    tutti_count sides; /* numbers per position in the round of members: largest side + 1 */
} tutti__mesh_order;

/* ---- mesh_check.c */
/* Check everything that needs no communication; errors name entity and entry.   Not collective. */
tutti_err tutti__mesh_check(const tutti__exodus_model *m,
                            const tutti_exodus_mesh *mesh) TUTTI_MUST_USE;
/* Return the number of nodes of a side (the first is 1) of an entry of a block; `listed` is the
 * length of its list.  Returns 0 if there is no such side, -1 if the number is unknown.   Not
 * collective. */
int tutti__side_nodes_of(const tutti__exodus_model *m, const tutti_exodus_entity *row,
                         tutti_count listed, int side);

/* ---- class_positions.c */
/* Allocate the buffers of both rounds.   Not collective. */
tutti_err tutti__mesh_order_make(tutti__mesh_order *o) TUTTI_MUST_USE;
void tutti__mesh_order_free(tutti__mesh_order *o);
/* Determine the positions of nodes, edges, faces and elements.   Collective; returns the error code
 * of this rank. */
tutti_err tutti__order_entries(tutti__mesh_order *o) TUTTI_MUST_USE;
/* Choose the writers of entries that several ranks have by any rule, with a limit.   own: [n] or
 * NULL.   Collective. */
tutti_err tutti__choose_writers_of(tutti__team *t, const tutti_replicas_choice *choice,
                                   const unsigned char *own, tutti__entity_class *f) TUTTI_MUST_USE;

/* ---- member_positions.c */
/* Return the largest side number that this rank passes.   Not collective. */
tutti_count tutti__largest_side(const tutti__exodus_model *m, const tutti_exodus_mesh *mesh);
/* Determine the positions of members, and set o->classes.has_factors.  local_err: the error of this
 * rank so far.   Collective; returns the error code of this rank. */
tutti_err tutti__order_members(tutti__mesh_order *o, tutti_err local_err) TUTTI_MUST_USE;

/* ---- local_entries.c */
/* Make the decompositions of nodes, blocks, and sets that have variables, for writing results.
 * own: NULL, or for each kind the number of own entries of each block.   Not collective. */
tutti_err tutti__exodus_local_make(const tutti__exodus_model *m, const tutti__mesh_classes *classes,
                                   tutti_count *const *own, tutti__exodus_local **out,
                                   tutti_count *n_out) TUTTI_MUST_USE;

#endif
