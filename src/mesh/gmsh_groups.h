/* mesh: physical groups in Gmsh files.
 *
 * In format 4.1 an entity of the geometry has a list of groups, and a partitioned entity a list of
 * its own and a parent.  Format 2.2 has one group per element and repeats an element, directly
 * after itself, for each further group.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_GMSH_GROUPS_H
#define TUTTI_GMSH_GROUPS_H

#include "mesh/mesh_impl.h"
#include "mesh/mesh_scan.h"

/* Elements of dimension `dim` of this entity and first group are also in the group `tag`.  Sorted
 * and unique only after tutti__gmsh_members_finish. */
tutti_err tutti__gmsh_member_add(tutti__mesh_data *d, size_t *room,
                                 tutti_mesh_membership x) TUTTI_MUST_USE;
tutti_err tutti__gmsh_members_finish(tutti__mesh_data *d) TUTTI_MUST_USE;

/* ---- 4.1 */

typedef struct tutti__gmsh_entity {
    int dim;
    int32_t tag;
    int parent_dim; /* -1: not a partitioned entity */
    int32_t parent;
    tutti_count first, n; /* its groups, in `group` */
} tutti__gmsh_entity;

typedef struct tutti__gmsh_entities {
    tutti_count n;
    size_t room;
    tutti__gmsh_entity *entity;
    tutti_count groups;
    size_t room_groups;
    int32_t *group;
} tutti__gmsh_entities;

/* The section $Entities, or $PartitionedEntities. */
tutti_err tutti__gmsh_entities_read(tutti__scan *s, int partitioned,
                                    tutti__gmsh_entities *e) TUTTI_MUST_USE;
/* All sections have been read: sort the entities and find the groups of partitioned ones.  An
 * entity without groups has those of its parent, if that has the same dimension.  An entity between
 * partitions, whose parent is of higher dimension, has only groups that `d` names for its
 * dimension: Gmsh repeats the parent's there. */
void tutti__gmsh_entities_finish(tutti__gmsh_entities *e, const tutti__mesh_data *d);
/* NULL: not found. */
const tutti__gmsh_entity *tutti__gmsh_entity_find(const tutti__gmsh_entities *e, int dim,
                                                  int32_t tag);
void tutti__gmsh_entities_free(tutti__gmsh_entities *e);

/* ---- 2.2 */

/* Further groups of elements, while these are read. */
typedef struct tutti__gmsh_repeats {
    tutti_count n;
    size_t room;
    struct tutti__gmsh_repeat {
        tutti_count element;
        int32_t group;
    } * repeat;
} tutti__gmsh_repeats;

/* If the last element of d repeats the one before it for another group, remove it and record the
 * group. */
tutti_err tutti__gmsh_repeat_merge(tutti__gmsh_repeats *r, tutti__mesh_data *d) TUTTI_MUST_USE;
/* Called after all elements have been read: create the memberships.  Elements of one entity
 * whose groups differ are moved to new entities.
 * @param room  capacity of d->member */
tutti_err tutti__gmsh_repeats_finish(tutti__gmsh_repeats *r, tutti__mesh_data *d,
                                     size_t *room) TUTTI_MUST_USE;
#endif
