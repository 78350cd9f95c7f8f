/* mesh: declarations that the files of this module share.
 *
 *   mesh_scan, gmsh_groups, gmsh_read, gmsh_write    Gmsh's formats, on one rank
 *   mesh_native                         Tutti's own format, on all ranks
 *   mesh_object                         the mesh object: slices, creation, validity, views
 *   mesh_graph                          neighbours of each node of the slice
 *   mesh_order, mesh_partition          numbering and partitions (by decomposition/partition.h)
 *   mesh_classify, mesh_part            the part of each rank and its exchanges
 *
 * Every collective call starts with tutti__object_call.  After that, a rank that fails passes its
 * error (`local_err`) to the next exchange, which ends in an agreement.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_IMPL_H
#define TUTTI_MESH_IMPL_H

#include <tutti/mesh.h>
#include "base/memory.h"
#include "comm/wait.h"
#include "decomposition/partition.h"
#include "layer/object.h"

/* Nodes and elements: a slice, or all of a mesh on one rank.  Arrays that have not been built
 * are NULL. */
typedef struct tutti__mesh_data {
    tutti_count nodes, elements;
    double *coordinates;
    int64_t *tag;
    uint8_t *type;
    int32_t *physical, *entity;
    tutti_count *start; /* [elements + 1] */
    tutti_count *node;
    int groups;
    tutti_mesh_group *group;
    tutti_count members;
    tutti_mesh_membership *member; /* ascending by dimension, entity, first group and tag */
} tutti__mesh_data;

extern const tutti__class tutti__mesh_class, tutti__mesh_part_class;

struct tutti_mesh {
    TUTTI__OBJECT;
    int *uses; /* number of users of the team: the mesh and its parts */
    tutti_count all_nodes, all_elements;
    tutti_count first_node, first_element; /* of this rank */
    tutti__mesh_data own; /* the slice of this rank; the groups of the whole mesh */
    tutti__graph graph;   /* start is NULL: not made yet */
    int partitioned_by;   /* tutti_mesh_partitioner; -1: not partitioned yet */
};

/* ---- mesh_object.c */
/* Compare memberships without their tags. */
static inline int tutti__mesh_by_membership(const void *a, const void *b) {
    const tutti_mesh_membership *x = a, *y = b;
    if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
    if (x->entity != y->entity) return x->entity < y->entity ? -1 : 1;
    return (x->physical > y->physical) - (x->physical < y->physical);
}
/* The first membership of an element in d->member; *n_out: their number. */
tutti_count tutti__mesh_members_of(const tutti__mesh_data *d, const tutti_mesh_membership *key,
                                   tutti_count *n_out);
void tutti__mesh_data_free(tutti__mesh_data *d);
/* Allocate the arrays; after TUTTI_ERR_NOMEM tutti__mesh_data_free frees them. */
tutti_err tutti__mesh_data_make(tutti__mesh_data *d, tutti_count nodes, tutti_count elements,
                                tutti_count entries) TUTTI_MUST_USE;
/* Check types, lists and node numbers (below `all_nodes`).   Not collective. */
tutti_err tutti__mesh_data_check(const tutti__mesh_data *d, tutti_count all_nodes) TUTTI_MUST_USE;
/* Distribute the data of all ranks, in rank order, to the shares of m.   Collective. */
tutti_err tutti__mesh_distribute(tutti_mesh *m, tutti_err local_err,
                                 const tutti__mesh_data *have) TUTTI_MUST_USE;
/* Gather the whole mesh on rank 0; other ranks get an empty one.   Collective. */
tutti_err tutti__mesh_gather(tutti_mesh *m, tutti__mesh_data *all_out) TUTTI_MUST_USE;
/* Start a call that creates a mesh, which is empty at first (tutti__object_begin).   Collective. */
tutti_err tutti__mesh_begin(MPI_Comm comm, const tutti__call *c, const char *path,
                            tutti_err local_err, tutti_mesh **m_out) TUTTI_MUST_USE;
/* Release one use of the team; the last one frees it.   Not collective. */
void tutti__mesh_team_leave(tutti__team **t, int **uses);
/* The last step of every call that creates a mesh: publish it, or free it (m may be NULL) after an
 * error. */
tutti_err tutti__mesh_hand_over(tutti_mesh *m, tutti_err err, tutti_mesh **m_out) TUTTI_MUST_USE;
/* Whether the fields agree with each other; for TUTTI_ASSERT. */
int tutti__mesh_is_valid(const tutti_mesh *m);
int tutti__mesh_part_is_valid(const tutti_mesh_part *p);
/* Fail unless the mesh may be used (tutti__object_live).   Not collective. */
tutti_err tutti__mesh_live(const tutti_mesh *m) TUTTI_MUST_USE;

/* ---- gmsh_read.c, gmsh_write.c: not collective */
tutti_err tutti__gmsh_read(const char *path, const tutti_options *opt,
                           tutti__mesh_data *out) TUTTI_MUST_USE;
tutti_err tutti__gmsh_write(const char *path, tutti_mesh_format format, const tutti_options *opt,
                            const tutti__mesh_data *d) TUTTI_MUST_USE;

/* ---- mesh_native.c */
enum { TUTTI__MESH_MAGIC_BYTES = 8 };
extern const unsigned char tutti__mesh_magic[TUTTI__MESH_MAGIC_BYTES];
/* Both collective. */
tutti_err tutti__native_read(tutti_mesh *m, MPI_Comm comm, const char *path,
                             const tutti_options *opt) TUTTI_MUST_USE;
tutti_err tutti__native_write(tutti_mesh *m, const char *path,
                              const tutti_options *opt) TUTTI_MUST_USE;

/* ---- mesh_graph.c */
/* Make the graph of m if it does not exist.   Collective. */
tutti_err tutti__mesh_graph_need(tutti_mesh *m) TUTTI_MUST_USE;

/* ---- mesh_classify.c */
/* [nodes of the slice] check that they are partitions 0 ... parts - 1.   Not collective. */
tutti_err tutti__mesh_of_check(const tutti_mesh *m, const int *of, int parts) TUTTI_MUST_USE;
/* tutti_mesh_classify without the agreement on its arguments.   Collective. */
tutti_err tutti__mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                               int **holder_out) TUTTI_MUST_USE;

/* ---- mesh_part.c */
struct tutti_mesh_part {
    TUTTI__OBJECT; /* the team is the mesh's */
    int *uses;
    tutti_mesh_part_view view; /* the part owns all arrays */
    double *box;               /* of exchanges: [box_n] */
    tutti_count box_n;
};

#endif
