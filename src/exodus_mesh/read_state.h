/* exodus_mesh: a mesh under construction by a read: the entries of a rank, and the values to read.
 *
 *   read_values      coordinates, ids, attributes, factors: one read
 *   result_mesh      the result as the struct for the caller
 *   result_entries   the result as decompositions
 *   get_mesh         the call
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_READ_STATE_H
#define TUTTI_READ_STATE_H

#include "exodus_mesh/distribute.h"
#include "exodus_mesh/position_index.h"

/* The mesh returned to the caller, valid until the next call. */
typedef struct tutti__result_mesh {
    tutti_exodus_mesh mesh;
    tutti_count n;
    size_t room;
    void **kept; /* all memory that the mesh points to */
} tutti__result_mesh;

/* Values of one array of an entity that are read. */
typedef struct {
    tutti_type type;
    tutti_count index, n; /* index of the first among the values of that type; values per entry */
} tutti__read_values;

/* Entries of this rank of a kind of blocks, or of the nodes. */
typedef struct {
    tutti_exodus_kind kind;
    tutti_count entities;
    tutti_count *starts;         /* [entities + 1] of the file */
    tutti__claim items;          /* positions, ascending */
    tutti__position_index index; /* of them */
    tutti__entries lists;        /* nodes (faces) of each, in this order */
    tutti__holders holders;
    int has_holders;
    unsigned char *owner; /* [n] nodes: 1: this rank owns it */
    tutti_count *first;   /* [entities + 1] items of each entity */
    tutti_count *place;   /* [n] the index of item k in the mesh: own ones before halo; NULL: k */
    tutti_count *own;     /* [entities] */
    tutti__read_values *edges, *faces, *attributes; /* [entities] */
    tutti__read_values ids;
} tutti__read_class;

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_distribution *deal;
    tutti__read_class of[TUTTI_EXODUS_FACE_BLOCK + 1]; /* NODAL, and blocks */
    tutti_count all_members;
    tutti__member *member; /* of all kinds, kind by kind */
    tutti_count members_n[TUTTI_EXODUS_KINDS];
    tutti__member *members[TUTTI_EXODUS_KINDS]; /* in `member` */
    tutti__read_values *factors[TUTTI_EXODUS_KINDS],
        *set_attributes[TUTTI_EXODUS_KINDS]; /* [sets] */
    tutti__read_values coordinates[3], node_attributes;
    tutti__values values;
    tutti__mesh_classes classes;
    tutti__result_mesh *out;
    tutti__exodus_local *local;
    tutti_count local_n;
} tutti__read_state;

/* ---- read_values.c */
/* Values of an array for n entries of an entity, by their positions: base is that of its first.   Not collective. */
tutti_err tutti__read_add(tutti__read_state *g, const tutti_exodus_array *a, tutti_count n,
                          const tutti_count *position, tutti_count base,
                          tutti__read_values *out) TUTTI_MUST_USE;
/* The index of item k in the mesh. */
static inline tutti_count tutti__read_place(const tutti__read_class *h, tutti_count k) {
    return h->place ? h->place[k] : k;
}
/* The values of entry i, after the read. */
const int64_t *tutti__read_ints(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i);
const double *tutti__read_reals(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i);
/* Add all arrays that are determined by the positions of entries and members.   Not collective. */
tutti_err tutti__read_add_all(tutti__read_state *g) TUTTI_MUST_USE;

/* ---- result_mesh.c */
/* Values have been read: g->out.   Not collective. */
tutti_err tutti__result_mesh_make(tutti__read_state *g) TUTTI_MUST_USE;
void tutti__result_mesh_free(void *result);

/* ---- result_entries.c */
/* The classes of the entries of this rank: g->classes.   Not collective. */
tutti_err tutti__result_classes_make(tutti__read_state *g) TUTTI_MUST_USE;
/* Choose the writers of entries that several ranks have, if the file was opened for writing.   Collective. */
tutti_err tutti__result_writers_choose(tutti__read_state *g) TUTTI_MUST_USE;
/* g->local.   Not collective. */
tutti_err tutti__result_local_make(tutti__read_state *g) TUTTI_MUST_USE;

#endif
