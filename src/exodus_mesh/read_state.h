/* exodus_mesh: a mesh that is being read: what a rank has of it, and what is fetched for that.
 *
 *   mesh_fetch      coordinates, ids, attributes, factors: one read
 *   mesh_fill       everything as the struct that the caller gets
 *   mesh_remember   and as decompositions, for results
 *   mesh_get        the call
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_GETTING_H
#define TUTTI_GETTING_H

#include "exodus_mesh/distribute.h"
#include "exodus_mesh/positions.h"

/* What the caller got, until the next time. */
typedef struct tutti__result_mesh {
    tutti_exodus_mesh mesh;
    tutti_count n, room;
    void **kept; /* all memory that the mesh points to */
} tutti__result_mesh;

/* A piece of an array that is going to be read: numbers of one entity. */
typedef struct {
    tutti_type type;
    tutti_count index, n;
} tutti__fetched;

/* What this rank has of a kind of blocks, or of the nodes. */
typedef struct {
    tutti_exodus_kind kind;
    tutti_count entities;
    tutti_count *starts;  /* [entities + 1] of the file's */
    tutti__claim items;   /* rising */
    tutti__entries lists; /* nodes (faces) of each, in this order */
    tutti__incidence holders;
    tutti_count *first; /* [entities + 1] items of each entity */
    tutti_count *place; /* [n] where item k is in the mesh: own ones before halo */
    tutti_count *own;   /* [entities] */
    tutti__fetched *edges, *faces, *attributes; /* [entities] */
    tutti__fetched ids;
} tutti__have;

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_deal *deal;
    tutti__have of[TUTTI_EXODUS_FACE_BLOCK + 1]; /* NODAL, and blocks */
    unsigned char *owner;                        /* [nodes] */
    tutti_count members_n[TUTTI_EXODUS_KINDS];
    tutti__member *members[TUTTI_EXODUS_KINDS];
    tutti__fetched *factors[TUTTI_EXODUS_KINDS], *set_attributes[TUTTI_EXODUS_KINDS]; /* [sets] */
    tutti__fetched coordinates[3], node_attributes;
    tutti__values bundle;
    tutti__mesh_classes classes;
    tutti__result_mesh *out;
    tutti__exodus_local *local;
    tutti_count local_n;
} tutti__getting;

/* ---- mesh_fetch.c */
/* Numbers of an array for n items of an entity, by their positions: base is that of its first.   Local. */
tutti_err tutti__fetch_add(tutti__getting *g, const tutti_exodus_array *a, tutti_count n,
                           const tutti_count *position, tutti_count base,
                           tutti__fetched *out) TUTTI_MUST_USE;
/* Those of item i, once they have been read. */
const int64_t *tutti__fetched_ints(const tutti__getting *g, const tutti__fetched *f, tutti_count i);
const double *tutti__fetched_reals(const tutti__getting *g, const tutti__fetched *f, tutti_count i);
/* Everything that is known by the positions of items and members.   Local: what is to be read. */
tutti_err tutti__fetch_all(tutti__getting *g) TUTTI_MUST_USE;

/* ---- mesh_fill.c */
/* It has been read: g->out.   Local. */
tutti_err tutti__mesh_fill(tutti__getting *g) TUTTI_MUST_USE;
void tutti__result_mesh_free(void *result);

/* ---- mesh_remember.c */
/* Families of what this rank has: g->classes; then who writes, if anybody may (Collective); then
 * g->local. */
tutti_err tutti__getting_remember(tutti__getting *g) TUTTI_MUST_USE;
tutti_err tutti__getting_writers(tutti__getting *g) TUTTI_MUST_USE;
tutti_err tutti__getting_hold(tutti__getting *g) TUTTI_MUST_USE;

#endif
