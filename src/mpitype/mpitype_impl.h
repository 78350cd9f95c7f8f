/* mpitype: MPI datatypes read into sides.
 *
 *   contents   one level of a datatype as MPI remembers it, integer widths levelled out
 *   layout     the whole datatype: its type map as a side, and the bounds it is tiled by
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPITYPE_IMPL_H
#define TUTTI_MPITYPE_IMPL_H

#include <mpi.h>
#include "access/side.h"

/* Types nested deeper than this are refused: reading them recurses. */
#define TUTTI__TYPE_DEPTH 1000

/* Record a failed MPI call with the text of MPI. */
void tutti__mpitype_record(int mpi_code, const char *call);
static inline tutti_err tutti__mpitype_failed(int mpi_code, const char *call) {
    tutti__mpitype_record(mpi_code, call);
    return TUTTI_ERR_MPI;
}

/* ---- contents (type_contents.c) */
typedef struct {
    int combiner;
    tutti_count numbers; /* integers, then addresses, then large counts */
    tutti_count integers, addresses, large_counts, types;
} tutti__envelope;

/* `number` holds the constructor's arguments in the order of its small-count form: HVECTOR is
 * count, blocklength, stride; SUBARRAY is ndims, sizes, subsizes, starts, order; and so on, whether
 * the type was made with int, MPI_Aint or MPI_Count arguments. */
typedef struct {
    int combiner;
    tutti_count numbers, types;
    tutti_off *number;
    MPI_Datatype *type;
} tutti__contents;

tutti_err tutti__envelope_get(MPI_Datatype type, tutti__envelope *out) TUTTI_MUST_USE;
/* Predefined types, which MPI forbids to free, have no contents. */
int tutti__envelope_is_leaf(const tutti__envelope *e);
tutti_err tutti__contents_get(MPI_Datatype type, const tutti__envelope *e,
                              tutti__contents *out) TUTTI_MUST_USE;
/* Frees the datatypes too.  A failure of MPI_Type_free is forwarded, the memory is freed anyway. */
tutti_err tutti__contents_free(tutti__contents *c) TUTTI_MUST_USE;

/* ---- layout (type_layout.c) */
typedef struct {
    tutti__side side; /* the type map: stream order = pack order; empty for types of size 0 */
    tutti_off extent; /* from one element to the next */
} tutti__layout;

tutti_err tutti__layout_get(MPI_Datatype type, tutti__layout *out) TUTTI_MUST_USE;
void tutti__layout_free(tutti__layout *l);

/* ---- long lists of blocks that were read before (type_recent.c); thread-safe */
/* 1: *out is the side of equal contents with an equal child, shared. */
int tutti__recent_find(const tutti__contents *c, const tutti__layout *child, tutti__side *out);
/* Keep a side while views exist; if kept, takes over c->number and sets it to NULL. */
void tutti__recent_add(tutti__contents *c, const tutti__layout *child, tutti__side side);
void tutti__recent_view(int change); /* +1: a view is made; -1: it is freed */

/* ---- building blocks (type_blocks.c).  Sides that are passed by value are taken over, also on
 * failure. */
tutti__side tutti__side_share(tutti__side s);
tutti_err tutti__off_mul(tutti_off a, tutti_off b, tutti_off *out) TUTTI_MUST_USE;
tutti_err tutti__off_add(tutti_off a, tutti_off b, tutti_off *out) TUTTI_MUST_USE;
tutti_err tutti__side_shift(tutti__side s, tutti_off by, tutti__side *out) TUTTI_MUST_USE;
/* Blocks of `child` at any displacements: block i is length[i * length_step] elements at place[i] * unit.
 */
typedef struct {
    tutti_count n;
    const tutti_off *length, *place;
    int length_step; /* 0: all blocks have the same length */
    tutti_off unit;
} tutti__blocks;
tutti_err tutti__side_blocks(const tutti__layout *child, const tutti__blocks *b,
                             tutti__side *out) TUTTI_MUST_USE;

/* ---- arrays (type_array.c): SUBARRAY and DARRAY of `child` */
tutti_err tutti__side_subarray(const tutti__layout *child, const tutti__contents *c,
                               tutti__side *out) TUTTI_MUST_USE;
tutti_err tutti__side_darray(const tutti__layout *child, const tutti__contents *c,
                             tutti__side *out) TUTTI_MUST_USE;

#endif
