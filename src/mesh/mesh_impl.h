/* mesh: declarations that the files of this module share.
 *
 *   mesh_scan, gmsh_groups, gmsh_read, gmsh_write    Gmsh formats, on one rank
 *   mesh_native                         the Tutti mesh format, on all ranks
 *   mesh_object                         the mesh object: slices, creation, validity, views
 *   mesh_graph                          neighbours of each node of the slice
 *   mesh_order, mesh_partition          numbering and partitions (by decomposition/partition.h)
 *   mesh_classify, mesh_part            part of each rank, and exchanges between parts
 *
 * Every collective call starts with tutti__object_call.  A rank that fails later passes its error
 * (`local_err`) to the next exchange, which ends in an agreement.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_IMPL_H
#define TUTTI_MESH_IMPL_H

#include <tutti/mesh.h>
#include "base/memory.h"
#include "comm/wait.h"
#include "decomposition/partition.h"
#include "layer/object.h"

/* Nodes and elements of a slice, or of a whole mesh on one rank.  Arrays that do not exist yet are
 * NULL. */
typedef struct tutti__mesh_data {
    tutti_count nodes, elements;
    double *coordinates;
    int64_t *tag;
    uint8_t *type;
    int32_t *physical, *entity;
    tutti_count *start; /* [elements + 1] index in `node` of each node list */
    tutti_count *node;
    int groups;
    tutti_mesh_group *group;
    tutti_count members;
    tutti_mesh_membership *member; /* [members] sorted by dimension, entity, first group and tag */
} tutti__mesh_data;

extern const tutti__class tutti__mesh_class, tutti__mesh_part_class;

struct tutti_mesh {
    TUTTI__OBJECT;
    int *uses; /* shared counter of the users of the team: the mesh and its parts */
    tutti_count all_nodes, all_elements;
    tutti_count first_node, first_element; /* numbers of the first node and element of this rank */
    tutti__mesh_data own; /* slice of this rank; the groups are those of the whole mesh */
    tutti__graph graph;   /* neighbours of nodes; graph.start is NULL before the first use */
    int partitioned_by;   /* last tutti_mesh_partitioner; -1: not partitioned yet */
};

/* ---- mesh_object.c */
/* Compare memberships without their tags. */
static inline int tutti__mesh_by_membership(const void *a, const void *b) {
    const tutti_mesh_membership *x = a, *y = b;
    if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
    if (x->entity != y->entity) return x->entity < y->entity ? -1 : 1;
    return (x->physical > y->physical) - (x->physical < y->physical);
}
/* Return the index in d->member of the first membership that matches `key`; *n_out: number of
 * matches. */
tutti_count tutti__mesh_members_of(const tutti__mesh_data *d, const tutti_mesh_membership *key,
                                   tutti_count *n_out);
void tutti__mesh_data_free(tutti__mesh_data *d);
/* Allocate the arrays; after TUTTI_ERR_NOMEM tutti__mesh_data_free frees them. */
tutti_err tutti__mesh_data_make(tutti__mesh_data *d, tutti_count nodes, tutti_count elements,
                                tutti_count entries) TUTTI_MUST_USE;
/* Check types, lists and node numbers (below `all_nodes`); first: number of element 0 in messages.
 * Not collective. */
tutti_err tutti__mesh_data_check(const tutti__mesh_data *d, tutti_count first,
                                 tutti_count all_nodes) TUTTI_MUST_USE;
/* Distribute the data of all ranks, in rank order, to the shares of m.   Collective. */
tutti_err tutti__mesh_distribute(tutti_mesh *m, tutti_err local_err,
                                 const tutti__mesh_data *given) TUTTI_MUST_USE;
/* Gather the whole mesh on rank 0; other ranks get an empty mesh.   Collective. */
tutti_err tutti__mesh_gather(tutti_mesh *m, tutti__mesh_data *all_out) TUTTI_MUST_USE;
/* Start a call that creates a mesh (tutti__object_begin); *m_out is an empty mesh.   Collective. */
tutti_err tutti__mesh_begin(MPI_Comm comm, const tutti__call *c, const char *path,
                            tutti_err local_err, tutti_mesh **m_out) TUTTI_MUST_USE;
/* Release one use of the team; the last release frees the team.   Not collective. */
void tutti__mesh_team_leave(tutti__team **t, int **uses);
/* The last step of every call that creates a mesh: publish it, or free it (m may be NULL) after an
 * error. */
tutti_err tutti__mesh_hand_over(tutti_mesh *m, tutti_err err, tutti_mesh **m_out) TUTTI_MUST_USE;
/* Return whether the invariants of a mesh, or of a part, hold, for TUTTI_ASSERT. */
int tutti__mesh_is_valid(const tutti_mesh *m);
int tutti__mesh_part_is_valid(const tutti_mesh_part *p);
/* Check a handle (tutti__object_live).   Not collective. */
tutti_err tutti__mesh_live(const tutti_mesh *m) TUTTI_MUST_USE;

/* ---- gmsh_read.c, gmsh_write.c: not collective */
tutti_err tutti__gmsh_read(const char *path, const tutti_options *opt,
                           tutti__mesh_data *out) TUTTI_MUST_USE;
tutti_err tutti__gmsh_write(const char *path, tutti_mesh_format format, const tutti_options *opt,
                            const tutti__mesh_data *d) TUTTI_MUST_USE;

/* ---- mesh_native.c */
enum { TUTTI__MESH_MAGIC_BYTES = 8 };
extern const unsigned char tutti__mesh_magic[TUTTI__MESH_MAGIC_BYTES];
/* Read and write a mesh in the Tutti format.   Collective. */
tutti_err tutti__native_read(tutti_mesh *m, MPI_Comm comm, const char *path,
                             const tutti_options *opt) TUTTI_MUST_USE;
tutti_err tutti__native_write(tutti_mesh *m, const char *path,
                              const tutti_options *opt) TUTTI_MUST_USE;

/* ---- mesh_graph.c */
/* Make the graph of m if it does not exist.   Collective. */
tutti_err tutti__mesh_graph_need(tutti_mesh *m) TUTTI_MUST_USE;

/* ---- mesh_classify.c */
/* Check that the entries of `of`, one per node of the slice, are partitions 0 ... parts - 1.   Not
 * collective. */
tutti_err tutti__mesh_of_check(const tutti_mesh *m, const int *of, int parts) TUTTI_MUST_USE;
/* Implement tutti_mesh_classify, without the agreement on arguments.   Collective. */
tutti_err tutti__mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                               int **holder_out) TUTTI_MUST_USE;

/* ---- mesh_part.c */
struct tutti_mesh_part {
    TUTTI__OBJECT; /* the team is that of the mesh */
    int *uses;
    tutti_mesh_part_view view; /* the part owns all arrays */
    double *box;               /* [box_n] buffer for exchanges */
    tutti_count box_n;
};

#endif
