/* mesh: what the files of this room share.
 *
 *   mesh_scan, gmsh_groups, gmsh_read, gmsh_write    Gmsh's formats, on one rank
 *   mesh_native                         Tutti's own, by all ranks
 *   mesh_object                         the mesh: slices; made, freed, viewed
 *   mesh_graph                          neighbours of each node of the slice
 *   mesh_order, mesh_partition          numbering and partitions (by decomposition/partition.h)
 *   mesh_classify, mesh_part            what each rank holds and exchanges
 *
 * Every collective call starts with tutti__object_call.  After that no rank leaves alone: what fails on
 * one is carried along (`mine`) to the next exchange, which ends in an agreement.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_IMPL_H
#define TUTTI_MESH_IMPL_H

#include <tutti/mesh.h>
#include "base/memory.h"
#include "base/options_impl.h"
#include "comm/wait.h"
#include "decomposition/partition.h"
#include "layer/object.h"

/* Nodes and elements: a slice, or all of a mesh on one rank.  What is NULL has not been made. */
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
    tutti_mesh_membership *member; /* by dimension, entity, first group and tag, rising */
} tutti__mesh_data;

extern const tutti__class tutti__mesh_class, tutti__mesh_part_class;

struct tutti_mesh {
    TUTTI__OBJECT;
    int *uses; /* of the team: by the mesh and its parts */
    tutti_count all_nodes, all_elements;
    tutti_count first_node, first_element; /* of this rank */
    tutti__mesh_data own;                  /* its slice; the groups of all */
    tutti__graph graph;                    /* start is NULL: not made yet */
    int partitioned_by;                    /* tutti_mesh_by; -1: not partitioned yet */
};

/* ---- mesh_object.c */
/* The order of memberships, without their tag. */
static inline int tutti__mesh_by_membership(const void *a, const void *b) {
    const tutti_mesh_membership *x = a, *y = b;
    if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
    if (x->entity != y->entity) return x->entity < y->entity ? -1 : 1;
    return (x->physical > y->physical) - (x->physical < y->physical);
}
/* Where those of one element begin in d->member; *n_out: how many. */
tutti_count tutti__mesh_members_of(const tutti__mesh_data *d, const tutti_mesh_membership *key,
                                   tutti_count *n_out);
void tutti__mesh_data_free(tutti__mesh_data *d);
/* Room for so many; TUTTI_ERR_NOMEM leaves what there is. */
tutti_err tutti__mesh_data_make(tutti__mesh_data *d, tutti_count nodes, tutti_count elements,
                                tutti_count entries) TUTTI_MUST_USE;
/* Does everything hang together: types, lists, nodes below `all_nodes`?  Local. */
tutti_err tutti__mesh_data_check(const tutti__mesh_data *d, tutti_count all_nodes) TUTTI_MUST_USE;
/* Distribute the data of all ranks, in rank order, to the shares of m.   Collective. */
tutti_err tutti__mesh_distribute(tutti_mesh *m, tutti_err mine,
                                 const tutti__mesh_data *have) TUTTI_MUST_USE;
/* All of the mesh on rank 0, nothing on the others.  Collective. */
tutti_err tutti__mesh_gather(tutti_mesh *m, tutti__mesh_data *all_out) TUTTI_MUST_USE;
/* Start a call that creates a mesh, which is empty so far (tutti__object_begin).   Collective. */
tutti_err tutti__mesh_begin(MPI_Comm comm, const tutti__call *c, const char *path, tutti_err mine,
                            tutti_mesh **m_out) TUTTI_MUST_USE;
void tutti__mesh_drop(tutti_mesh *m);
/* One use of the team less; the last one gives it back.  Local. */
void tutti__mesh_team_leave(tutti__team **t, int **uses);
/* Hand it over, or free it (m may be NULL): the end of every call that creates a mesh. */
tutti_err tutti__mesh_hand_over(tutti_mesh *m, tutti_err err, tutti_mesh **m_out) TUTTI_MUST_USE;
static inline tutti_err tutti__mesh_live(const tutti_mesh *m) {
    return tutti__object_live(m, &tutti__mesh_class);
}

/* ---- gmsh_read.c, gmsh_write.c: one rank alone */
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
/* Make the graph of m unless it is there.  Collective. */
tutti_err tutti__mesh_graph_need(tutti_mesh *m) TUTTI_MUST_USE;

/* ---- mesh_classify.c */
/* [nodes of the slice] may they be partitions 0 ... parts - 1?  Local. */
tutti_err tutti__mesh_of_check(const tutti_mesh *m, const int *of, int parts) TUTTI_MUST_USE;
/* tutti_mesh_classify without its opening.  Collective. */
tutti_err tutti__mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                               int **holder_out) TUTTI_MUST_USE;

/* ---- mesh_part.c */
struct tutti_mesh_part {
    TUTTI__OBJECT; /* the team is the mesh's */
    int *uses;
    tutti_mesh_part_view view; /* all that it points to is the part's */
    double *box;               /* of exchanges: [box_n] */
    tutti_count box_n;
};

#endif
