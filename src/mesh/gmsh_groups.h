/* mesh: physical groups in Gmsh files.
 *
 * In format 4.1 an entity of the geometry has a list of groups; a partitioned entity has its own
 * list and a parent.  In format 2.2 an element has one group, and is repeated directly after itself
 * for each further group.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_GMSH_GROUPS_H
#define TUTTI_GMSH_GROUPS_H

#include "mesh/mesh_impl.h"
#include "mesh/mesh_scan.h"

/* Add a membership: elements of dimension x.dim with entity x.entity and first group x.physical
 * also belong to group x.tag.  tutti__gmsh_members_finish sorts the memberships and removes
 * duplicates. */
tutti_err tutti__gmsh_member_add(tutti__mesh_data *d, size_t *capacity,
                                 tutti_mesh_membership x) TUTTI_MUST_USE;
tutti_err tutti__gmsh_members_finish(tutti__mesh_data *d) TUTTI_MUST_USE;

/* ---- 4.1 */

typedef struct tutti__gmsh_entity {
    int dim;
    int32_t tag;
    int parent_dim; /* -1: not a partitioned entity */
    int32_t parent;
    tutti_count first, n; /* range of its groups in tutti__gmsh_entities.group */
} tutti__gmsh_entity;

typedef struct tutti__gmsh_entities {
    tutti_count n;
    size_t capacity;
    tutti__gmsh_entity *entity;
    tutti_count groups;
    size_t groups_capacity;
    int32_t *group;
} tutti__gmsh_entities;

/* Read the section $Entities or, if `partitioned` is set, $PartitionedEntities. */
tutti_err tutti__gmsh_entities_read(tutti__scan *s, int partitioned,
                                    tutti__gmsh_entities *e) TUTTI_MUST_USE;
/* After all sections have been read, sort the entities and determine the groups of partitioned
 * entities.  A partitioned entity without groups gets the groups of a parent of the same dimension.
 * An entity between partitions, whose parent has a higher dimension, keeps only groups that `d`
 * names for its dimension, since Gmsh repeats the groups of the parent. */
void tutti__gmsh_entities_finish(tutti__gmsh_entities *e, const tutti__mesh_data *d);
/* Find an entity, preferring partitioned entities; NULL: not found. */
const tutti__gmsh_entity *tutti__gmsh_entity_find(const tutti__gmsh_entities *e, int dim,
                                                  int32_t tag);
void tutti__gmsh_entities_free(tutti__gmsh_entities *e);

/* ---- 2.2 */

/* Further groups of elements, collected while elements are read. */
typedef struct tutti__gmsh_repeats {
    tutti_count n;
    size_t capacity;
    struct tutti__gmsh_repeat {
        tutti_count element;
        int32_t group;
    } * repeat;
} tutti__gmsh_repeats;

/* If the last element of d repeats the previous element for another group, remove it and record the
 * group. */
tutti_err tutti__gmsh_repeat_merge(tutti__gmsh_repeats *r, tutti__mesh_data *d) TUTTI_MUST_USE;
/* Called after all elements have been read: create the memberships.  Elements of one entity
 * whose groups differ are moved to new entities.
 * @param capacity  number of allocated entries of d->member */
tutti_err tutti__gmsh_repeats_finish(tutti__gmsh_repeats *r, tutti__mesh_data *d,
                                     size_t *capacity) TUTTI_MUST_USE;
#endif
