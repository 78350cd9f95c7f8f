/* exodus_mesh: positions in the file of a rank's nodes, block entries and set members, and the ranks that write them.
 *
 *   mesh_check         whether the mesh that a rank passes is valid
 *   class_positions    positions and writers of nodes and of the entries of blocks
 *   member_positions   positions of the members of sets
 *   local_entries      all of them as decompositions, for results
 *   put_mesh           the call: count, order, write
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_POSITIONS_H
#define TUTTI_POSITIONS_H

#include "base/sorted.h"
#include "decomposition/directory.h"
#include "decomposition/id_order.h"
#include "exodus/entity_class.h"

/* ---- mesh_check.c */
/* Everything that this rank can check alone; errors name entity and entry.   Not collective. */
tutti_err tutti__mesh_check(const tutti__exodus_model *m,
                            const tutti_exodus_mesh *mesh) TUTTI_MUST_USE;
/* Nodes of side 1 ... of an entry of a block; `listed` is the length of its list.  0: there is no such side;
 * -1: unknown.   Not collective. */
int tutti__side_nodes_of(const tutti__exodus_model *m, const tutti_exodus_entity *row,
                         tutti_count listed, int side);

/* ---- mesh_family.c: collective; mine: what this rank has against it */
tutti_err tutti__positions_of_nodes(tutti__team *t, const tutti_exodus_mesh *mesh, tutti_err mine,
                                    tutti__entity_class *out) TUTTI_MUST_USE;
/* classes: nodes are there; for elements edges and faces too. */
tutti_err tutti__positions_of_blocks(tutti__team *t, const tutti__exodus_model *m,
                                     const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                                     tutti__mesh_classes *classes) TUTTI_MUST_USE;
/* An order becomes a family: it takes over its arrays.   mine: as above.   Collective. */
tutti_err tutti__positions_make(tutti__team *t, tutti__entity_class *f, const tutti__ids_spec *spec,
                                tutti_err mine) TUTTI_MUST_USE;
/* Who writes what several have.   own: [n] or NULL.   Collective. */
tutti_err tutti__choose_writers_of(tutti__team *t, const tutti_replicas_choice *choice,
                                   const unsigned char *own, tutti__entity_class *f) TUTTI_MUST_USE;
/* The same of a family whose positions, counts and `first` are known: sorted.   Local. */
tutti_err tutti__positions_sort(tutti__entity_class *f) TUTTI_MUST_USE;

/* ---- mesh_sets.c */
/* classes: nodes and blocks are there.   Collective. */
tutti_err tutti__positions_of_members(tutti__team *t, const tutti__exodus_model *m,
                                      const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                                      tutti__mesh_classes *classes) TUTTI_MUST_USE;
/* Which sets have factors: on all ranks that have members, or on none.   Collective. */
tutti_err tutti__factors_agree(tutti__team *t, const tutti__exodus_model *m,
                               const tutti_exodus_mesh *mesh,
                               tutti__mesh_classes *classes) TUTTI_MUST_USE;
/* Nodes of a side of entry i of a block (from 1); -1: not known.   Local. */
int tutti__side_nodes_of(const tutti__exodus_model *m, const tutti_exodus_entity *row,
                         tutti_count listed, int side);

/* ---- local_entries.c */
/* The local entries of nodes, blocks, and sets that have variables, for results.  own: NULL, or for each kind the number of own
 * entries of each block.   Not collective. */
tutti_err tutti__exodus_local_make(const tutti__exodus_model *m, const tutti__mesh_classes *classes,
                                   tutti_count *const *own, tutti__exodus_local **out,
                                   tutti_count *n_out) TUTTI_MUST_USE;

#endif
