/* mpitype: conversion of MPI datatypes to sides (access/side.h).
 *
 *   contents   arguments of the constructor of one level of a datatype, converted to 64-bit
 *              integers
 *   layout     type map of the complete datatype as a side, and its extent
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPITYPE_IMPL_H
#define TUTTI_MPITYPE_IMPL_H

#include <mpi.h>
#include "access/side.h"

/* Maximum nesting of datatypes, which limits the depth of recursion. */
#define TUTTI__TYPE_DEPTH 1000

/* Record a failed MPI call with the text of MPI_Error_string. */
void tutti__mpitype_record(int mpi_code, const char *call);
static inline tutti_err tutti__mpitype_failed(int mpi_code, const char *call) {
    tutti__mpitype_record(mpi_code, call);
    return TUTTI_ERR_MPI;
}

/* ---- contents (type_contents.c) */
typedef struct {
    int combiner;
    tutti_count numbers; /* integers + addresses + large_counts */
    /* lengths of the arrays of MPI_Type_get_contents */
    tutti_count integers, addresses, large_counts, types;
} tutti__envelope;

/* `number` has the arguments of the constructor in the order of its int variant, for example count,
 * blocklength, stride for HVECTOR, or ndims, sizes, subsizes, starts, order for SUBARRAY, even if
 * the type was created with MPI_Count arguments. */
typedef struct {
    int combiner;
    tutti_count numbers, types;
    tutti_off *number;  /* [numbers] */
    MPI_Datatype *type; /* [types] */
} tutti__contents;

tutti_err tutti__envelope_get(MPI_Datatype type, tutti__envelope *out) TUTTI_MUST_USE;
/* Return whether the type is predefined: it has no contents and must not be freed. */
int tutti__envelope_is_leaf(const tutti__envelope *e);
tutti_err tutti__contents_get(MPI_Datatype type, const tutti__envelope *e,
                              tutti__contents *out) TUTTI_MUST_USE;
/* Free the arrays and the derived datatypes in c->type.  Returns an error of MPI_Type_free; the
 * memory is freed in any case. */
tutti_err tutti__contents_free(tutti__contents *c) TUTTI_MUST_USE;

/* ---- layout (type_layout.c) */
typedef struct {
    tutti__side side; /* type map in the order of MPI_Pack; empty for types of size 0 */
    tutti_off extent; /* extent in bytes */
} tutti__layout;

tutti_err tutti__layout_get(MPI_Datatype type, tutti__layout *out) TUTTI_MUST_USE;
void tutti__layout_free(tutti__layout *l);

/* ---- cache of recent long lists of blocks (type_recent.c); thread-safe */
/* Find the side of equal contents with an equal child; returns 1 and a new reference in *out, or
 * 0. */
int tutti__recent_find(const tutti__contents *c, const tutti__layout *child, tutti__side *out);
/* Add a side to the cache if any view exists; the cache then takes ownership of c->number, which is
 * set to NULL. */
void tutti__recent_add(tutti__contents *c, const tutti__layout *child, tutti__side side);
void tutti__recent_view(int change); /* count a view: +1: created, -1: freed */

/* ---- construction of sides (type_blocks.c).  tutti__side_shift takes ownership of `s`, also on
 * failure. */
tutti__side tutti__side_share(tutti__side s);
tutti_err tutti__off_mul(tutti_off a, tutti_off b, tutti_off *out) TUTTI_MUST_USE;
tutti_err tutti__off_add(tutti_off a, tutti_off b, tutti_off *out) TUTTI_MUST_USE;
tutti_err tutti__side_shift(tutti__side s, tutti_off by, tutti__side *out) TUTTI_MUST_USE;
/* Blocks of elements: block i has length[i * length_step] elements at displacement place[i] *
 * unit. */
typedef struct {
    tutti_count n;
    const tutti_off *length, *place;
    int length_step; /* 1, or 0: all blocks have length[0] elements */
    tutti_off unit;  /* bytes per unit of `place` */
} tutti__blocks;
tutti_err tutti__side_blocks(const tutti__layout *child, const tutti__blocks *b,
                             tutti__side *out) TUTTI_MUST_USE;

/* ---- arrays (type_array.c): SUBARRAY and DARRAY of `child` */
tutti_err tutti__side_subarray(const tutti__layout *child, const tutti__contents *c,
                               tutti__side *out) TUTTI_MUST_USE;
tutti_err tutti__side_darray(const tutti__layout *child, const tutti__contents *c,
                             tutti__side *out) TUTTI_MUST_USE;

#endif
