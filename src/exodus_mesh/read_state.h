/* exodus_mesh: a mesh under construction by a read: the entries of a rank, and the values to read.
 *
 *   read_values      one read of coordinates, ids, attributes, factors
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
    size_t capacity;
    void **kept; /* [n] all memory to which the mesh points */
} tutti__result_mesh;

/* Location of the values of one array of an entity, which are read. */
typedef struct {
    tutti_type type;
    /* index of the first value among the values of that type; values per entry */
    tutti_count index, n;
} tutti__read_values;

/* This rank's entries of a kind of blocks, or of the nodes. */
typedef struct {
    tutti_exodus_kind kind;
    tutti_count entities;
    /* [entities + 1] number of entries of the preceding entities of the file */
    tutti_count *starts;
    tutti__claim items;          /* positions, ascending */
    tutti__position_index index; /* index of the positions of `items` */
    tutti__entries lists;        /* nodes (faces) of each item */
    tutti__holders holders;
    int has_holders;
    unsigned char *owner; /* nodes: [n] 1: this rank owns the node */
    tutti_count *first;   /* [entities + 1] index of the first item of each entity */
    /* [n] index of item k in the mesh: own items precede the halo; NULL: the index is k */
    tutti_count *place;
    /* [entities] number of own items */
    tutti_count *own;
    tutti__read_values *edges, *faces, *attributes; /* [entities] */
    tutti__read_values ids;
} tutti__read_class;

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_distribution *spec;
    tutti__read_class of[TUTTI_EXODUS_FACE_BLOCK + 1]; /* nodes (NODAL) and blocks */
    tutti_count all_members;
    tutti__member *member; /* members of all kinds of sets, kind by kind */
    tutti_count members_n[TUTTI_EXODUS_KINDS];
    tutti__member *members[TUTTI_EXODUS_KINDS]; /* pointers into `member` */
    /* [sets] of each kind */
    tutti__read_values *factors[TUTTI_EXODUS_KINDS], *set_attributes[TUTTI_EXODUS_KINDS];
    tutti__read_values coordinates[3], node_attributes;
    tutti__values values;
    tutti__mesh_classes classes;
    tutti__result_mesh *out;
    tutti__exodus_local *local;
    tutti_count local_n;
} tutti__read_state;

/* ---- read_values.c */
/* Add the values of an array for n entries of an entity, given by their positions; the first entry
 * of the entity has position `base`.   Not collective. */
tutti_err tutti__read_add(tutti__read_state *g, const tutti_exodus_array *a, tutti_count n,
                          const tutti_count *position, tutti_count base,
                          tutti__read_values *out) TUTTI_MUST_USE;
/* Return the index of item k in the mesh. */
static inline tutti_count tutti__read_place(const tutti__read_class *h, tutti_count k) {
    return h->place ? h->place[k] : k;
}
/* Return the values of entry i, after the read. */
const int64_t *tutti__read_ints(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i);
const double *tutti__read_reals(const tutti__read_state *g, const tutti__read_values *f,
                                tutti_count i);
/* Add all arrays that are determined by the positions of entries and members.   Not collective. */
tutti_err tutti__read_add_all(tutti__read_state *g) TUTTI_MUST_USE;

/* ---- result_mesh.c */
/* Make the mesh g->out, after the values have been read.   Not collective. */
tutti_err tutti__result_mesh_make(tutti__read_state *g) TUTTI_MUST_USE;
void tutti__result_mesh_free(void *result);

/* ---- result_entries.c */
/* Make g->classes, the classes of the entries of this rank.   Not collective. */
tutti_err tutti__result_classes_make(tutti__read_state *g) TUTTI_MUST_USE;
/* Choose the writers of entries that several ranks have, if the file was opened for writing.
 * Collective. */
tutti_err tutti__result_writers_choose(tutti__read_state *g) TUTTI_MUST_USE;
/* Make g->local, the decompositions of the entries of this rank.   Not collective. */
tutti_err tutti__result_local_make(tutti__read_state *g) TUTTI_MUST_USE;

#endif
