/* Random nested datatypes over all constructors, each with its type map: the offset of every byte
 * in order, expanded element by element as the standard defines the constructors.  MPI_Pack shows
 * how MPI interprets a datatype; it is used for all datatypes except those with odd extents, for which
 * MPI libraries are wrong.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_RANDOM_TYPE_H
#define TUTTI_TESTS_RANDOM_TYPE_H

#include <mpi.h>
#include "check.h"

#define MPI_OK(call) CHECK((call) == MPI_SUCCESS, "%s", #call)
#define TYPE_MAX_BYTES 2000
#define TYPE_MAX_SPAN 60000

/* 0: omit constructors with MPI_Count arguments, which not every program that decodes datatypes
 * supports. */
static int type_large_forms = 1;

/* A datatype and its type map. */
typedef struct {
    MPI_Datatype type;
    int64_t n;       /* number of bytes */
    int64_t *at;     /* [n], offset of each byte in type map order */
    MPI_Aint extent; /* as returned by MPI */
    int wild;        /* 1 if MPI_Pack is unreliable for this type */
} mapped_type;

/* ---- type maps */

/* Append `count` elements of `child`, the first at `at`. */
static inline void map_add(mapped_type *m, const mapped_type *child, int64_t count, int64_t at) {
    if (count <= 0 || child->n == 0) return;
    m->at = realloc(m->at, (size_t)(m->n + count * child->n) * sizeof *m->at);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < child->n; k++)
            m->at[m->n++] = at + i * child->extent + child->at[k];
}

/* Set the extent as returned by MPI. */
static inline void map_close(mapped_type *m) {
    MPI_Aint lb;
    MPI_OK(MPI_Type_get_extent(m->type, &lb, &m->extent));
    m->wild |= m->extent <= 0 || m->n == 0;
}

static inline void map_named(mapped_type *m, MPI_Datatype type) {
    int size, first = 0, gap = 0;
    MPI_OK(MPI_Type_size(type, &size));
    if (type == MPI_SHORT_INT) first = sizeof(short), gap = sizeof(int) - sizeof(short);
    *m = (mapped_type){.type = type, .n = size, .at = malloc((size_t)size * sizeof *m->at)};
    for (int i = 0; i < size; i++) m->at[i] = i < first ? i : i + gap;
    map_close(m);
}

/* Return a random named type, but no long double, whose padding MPI may omit when packing. */
static inline MPI_Datatype random_named(void) {
    const MPI_Datatype table[] = {
        MPI_BYTE,      MPI_CHAR,  MPI_SHORT, MPI_INT,      MPI_DOUBLE,    MPI_C_DOUBLE_COMPLEX,
        MPI_LONG_LONG, MPI_FLOAT, MPI_2INT,  MPI_LONG_INT, MPI_SHORT_INT, MPI_DOUBLE_INT,
        MPI_FLOAT_INT,
    };
    MPI_Datatype t;
    if (rnd(12) == 0) {
        MPI_OK(MPI_Type_create_f90_real(6 + 9 * (int)rnd(2), MPI_UNDEFINED, &t));
        return t;
    }
    return table[rnd(sizeof table / sizeof *table)];
}

static inline int combiner_of(MPI_Datatype t) {
    int combiner;
#if MPI_VERSION >= 4
    MPI_Count n[4];
    MPI_OK(MPI_Type_get_envelope_c(t, &n[0], &n[1], &n[2], &n[3], &combiner));
#else
    int n[3];
    MPI_OK(MPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &combiner));
#endif
    return combiner;
}

static inline int is_predefined(MPI_Datatype t) {
    const int c = combiner_of(t);
    return c == MPI_COMBINER_NAMED || c == MPI_COMBINER_F90_REAL || c == MPI_COMBINER_F90_COMPLEX ||
           c == MPI_COMBINER_F90_INTEGER;
}

/* Arguments of a constructor as int, MPI_Aint and MPI_Count. */
typedef struct {
    int n, block, stride;
    MPI_Aint bytes; /* stride in bytes */
    int length[4], place[4];
    MPI_Aint address[4];
    MPI_Count length_c[4], place_c[4], address_c[4];
} random_args;

static inline random_args make_args(MPI_Aint extent, int up) {
    random_args a = {.n = (int)rnd(5), .block = (int)rnd(4)};
    MPI_Aint at = 0;
    int next = 0;
    a.stride = (up ? a.block : -a.block - 1) + (int)rnd(4);
    a.bytes = (up ? a.block : -a.block - 1) * extent + (MPI_Aint)rnd(7);
    for (int i = 0; i < a.n; i++) {
        a.length[i] = (int)rnd(4);
        a.place[i] = up ? next + (int)rnd(3) : (int)rnd(21) - 10;
        next = a.place[i] + (a.length[i] > a.block ? a.length[i] : a.block);
        a.address[i] = up ? at + (MPI_Aint)rnd(9) : (MPI_Aint)rnd(301) - 150;
        at = a.address[i] + 3 * extent;
        a.length_c[i] = a.length[i], a.place_c[i] = a.place[i], a.address_c[i] = a.address[i];
    }
    return a;
}

/* ---- constructors */

/* Kinds 0 to 7, with int and MPI_Aint arguments or, in MPI 4, with MPI_Count arguments. */
enum { DUP, CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK };

static inline int small_form(int kind, const random_args *a, MPI_Datatype child, MPI_Datatype *t) {
    switch (kind) {
    case DUP:
        return MPI_Type_dup(child, t);
    case CONTIGUOUS:
        return MPI_Type_contiguous(a->n, child, t);
    case VECTOR:
        return MPI_Type_vector(a->n, a->block, a->stride, child, t);
    case HVECTOR:
        return MPI_Type_create_hvector(a->n, a->block, a->bytes, child, t);
    case INDEXED:
        return MPI_Type_indexed(a->n, a->length, a->place, child, t);
    case HINDEXED:
        return MPI_Type_create_hindexed(a->n, a->length, a->address, child, t);
    case INDEXED_BLOCK:
        return MPI_Type_create_indexed_block(a->n, a->block, a->place, child, t);
    default:
        return MPI_Type_create_hindexed_block(a->n, a->block, a->address, child, t);
    }
}

#if MPI_VERSION >= 4
static inline int large_form(int kind, const random_args *a, MPI_Datatype child, MPI_Datatype *t) {
    switch (kind) {
    case DUP:
        return MPI_Type_dup(child, t);
    case CONTIGUOUS:
        return MPI_Type_contiguous_c(a->n, child, t);
    case VECTOR:
        return MPI_Type_vector_c(a->n, a->block, a->stride, child, t);
    case HVECTOR:
        return MPI_Type_create_hvector_c(a->n, a->block, a->bytes, child, t);
    case INDEXED:
        return MPI_Type_indexed_c(a->n, a->length_c, a->place_c, child, t);
    case HINDEXED:
        return MPI_Type_create_hindexed_c(a->n, a->length_c, a->address_c, child, t);
    case INDEXED_BLOCK:
        return MPI_Type_create_indexed_block_c(a->n, a->block, a->place_c, child, t);
    default:
        return MPI_Type_create_hindexed_block_c(a->n, a->block, a->address_c, child, t);
    }
}
#else
#define large_form small_form
#endif

static inline int make_simple(int kind, const random_args *a, const mapped_type *child,
                              mapped_type *out) {
    const MPI_Aint unit = child->extent;
    out->wild |= (kind == VECTOR && a->stride == -1) || (kind == HVECTOR && a->bytes == -1);
    for (int i = 0; i < (kind <= CONTIGUOUS ? 1 : a->n); i++) switch (kind) {
        case DUP:
            map_add(out, child, 1, 0);
            break;
        case CONTIGUOUS:
            map_add(out, child, a->n, 0);
            break;
        case VECTOR:
            map_add(out, child, a->block, i * a->stride * unit);
            break;
        case HVECTOR:
            map_add(out, child, a->block, i * a->bytes);
            break;
        case INDEXED:
            map_add(out, child, a->length[i], a->place[i] * unit);
            break;
        case HINDEXED:
            map_add(out, child, a->length[i], a->address[i]);
            break;
        case INDEXED_BLOCK:
            map_add(out, child, a->block, a->place[i] * unit);
            break;
        default:
            map_add(out, child, a->block, a->address[i]);
            break;
        }
    return rnd(2) || !type_large_forms ? small_form(kind, a, child->type, &out->type)
                                       : large_form(kind, a, child->type, &out->type);
}

static inline int make_struct(const random_args *a, const mapped_type *child, mapped_type *out) {
    MPI_Datatype types[4];
    for (int i = 0; i < a->n; i++) {
        types[i] = child[i].type;
        map_add(out, &child[i], a->length[i], a->address[i]);
    }
#if MPI_VERSION >= 4
    if (rnd(2) && type_large_forms)
        return MPI_Type_create_struct_c(a->n, a->length_c, a->address_c, types, &out->type);
#endif
    return MPI_Type_create_struct(a->n, a->length, a->address, types, &out->type);
}

static inline int make_resized(const mapped_type *child, int up, mapped_type *out) {
    MPI_Aint lb, span;
    MPI_OK(MPI_Type_get_true_extent(child->type, &lb, &span));
    lb = (MPI_Aint)rnd(41) - 20;
    const MPI_Aint extent = up ? span + (MPI_Aint)rnd(9) : (MPI_Aint)rnd(121) - 20;
    map_add(out, child, 1, 0);
#if MPI_VERSION >= 4
    if (rnd(2) && type_large_forms)
        return MPI_Type_create_resized_c(child->type, lb, extent, &out->type);
#endif
    return MPI_Type_create_resized(child->type, lb, extent, &out->type);
}

/* ---- arrays: subarrays and distributed arrays */

typedef struct {
    int ndims, order;
    int size[3];
    int sub[3], start[3];                         /* arguments of a subarray */
    int procs, rank, distrib[3], arg[3], grid[3]; /* arguments of a darray */
} random_array;

static inline random_array make_array(void) {
    random_array a = {.procs = 1, .ndims = 1 + (int)rnd(3)};
    a.order = rnd(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < a.ndims; d++) {
        const int kind = (int)rnd(3);
        a.size[d] = 1 + (int)rnd(9);
        a.sub[d] = 1 + (int)rnd(a.size[d]);
        a.start[d] = (int)rnd(a.size[d] - a.sub[d] + 1);
        a.grid[d] = kind == 0 ? 1 : 1 + (int)rnd(3);
        a.distrib[d] = kind == 0   ? MPI_DISTRIBUTE_NONE
                       : kind == 1 ? MPI_DISTRIBUTE_BLOCK
                                   : MPI_DISTRIBUTE_CYCLIC;
        a.arg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (kind == 1 && rnd(2)) a.arg[d] = (a.size[d] - 1) / a.grid[d] + 1 + (int)rnd(2);
        if (kind == 2 && rnd(2)) a.arg[d] = 1 + (int)rnd(4);
        a.procs *= a.grid[d];
    }
    a.rank = (int)rnd(a.procs);
    return a;
}

static inline int array_elements(const random_array *a) {
    int n = 1;
    for (int d = 0; d < a->ndims; d++) n *= a->size[d];
    return n;
}

/* Set the indices of element number e in the order of the array. */
static inline void array_index(const random_array *a, int e, int index[3]) {
    for (int i = 0; i < a->ndims; i++) {
        const int d = a->order == MPI_ORDER_FORTRAN ? i : a->ndims - 1 - i;
        index[d] = e % a->size[d];
        e /= a->size[d];
    }
}

static inline int in_box(const random_array *a, int e) {
    int index[3], inside = 1;
    array_index(a, e, index);
    for (int d = 0; d < a->ndims; d++)
        inside &= index[d] >= a->start[d] && index[d] < a->start[d] + a->sub[d];
    return inside;
}

/* Return the rank that owns element number e; the grid of processes is row-major. */
static inline int array_owner(const random_array *a, int e) {
    int index[3], rank = 0;
    array_index(a, e, index);
    for (int d = 0; d < a->ndims; d++) {
        int k = a->arg[d];
        if (k == MPI_DISTRIBUTE_DFLT_DARG)
            k = a->distrib[d] == MPI_DISTRIBUTE_BLOCK ? (a->size[d] - 1) / a->grid[d] + 1 : 1;
        const int owner = a->distrib[d] == MPI_DISTRIBUTE_NONE ? 0 : index[d] / k % a->grid[d];
        rank = rank * a->grid[d] + owner;
    }
    return rank;
}

static inline int make_subarray(const random_array *a, const mapped_type *child, mapped_type *out) {
    for (int e = 0; e < array_elements(a); e++)
        if (in_box(a, e)) map_add(out, child, 1, e * child->extent);
#if MPI_VERSION >= 4
    if (rnd(2) && type_large_forms) {
        MPI_Count c[3][3];
        for (int d = 0; d < a->ndims; d++)
            c[0][d] = a->size[d], c[1][d] = a->sub[d], c[2][d] = a->start[d];
        return MPI_Type_create_subarray_c(a->ndims, c[0], c[1], c[2], a->order, child->type,
                                          &out->type);
    }
#endif
    return MPI_Type_create_subarray(a->ndims, a->size, a->sub, a->start, a->order, child->type,
                                    &out->type);
}

static inline int make_darray(const random_array *a, const mapped_type *child, mapped_type *out) {
    for (int e = 0; e < array_elements(a); e++)
        if (array_owner(a, e) == a->rank) map_add(out, child, 1, e * child->extent);
#if MPI_VERSION >= 4
    if (rnd(2) && type_large_forms) {
        const MPI_Count size[3] = {a->size[0], a->size[1], a->size[2]};
        return MPI_Type_create_darray_c(a->procs, a->rank, a->ndims, size, a->distrib, a->arg,
                                        a->grid, a->order, child->type, &out->type);
    }
#endif
    return MPI_Type_create_darray(a->procs, a->rank, a->ndims, a->size, a->distrib, a->arg, a->grid,
                                  a->order, child->type, &out->type);
}

/* ---- any type */

static inline void free_mapped(mapped_type *m) {
    free(m->at);
    if (!is_predefined(m->type)) MPI_OK(MPI_Type_free(&m->type));
    *m = (mapped_type){.type = MPI_DATATYPE_NULL};
}

static inline int is_small(MPI_Datatype t) {
    MPI_Count size, lb, extent;
    MPI_OK(MPI_Type_size_x(t, &size));
    MPI_OK(MPI_Type_get_true_extent_x(t, &lb, &extent));
    if (size == 0) return 1;
    return size <= TYPE_MAX_BYTES && llabs(lb) <= TYPE_MAX_SPAN && extent <= TYPE_MAX_SPAN;
}

static inline int make_kind(int kind, int up, const mapped_type *child, mapped_type *out) {
    const random_args a = make_args(child->extent, up);
    const random_array array = make_array();
    if (kind < 8) return make_simple(kind, &a, child, out);
    if (kind == 8) return make_struct(&a, child, out);
    if (kind == 9) return make_subarray(&array, child, out);
    if (kind == 10) return make_darray(&array, child, out);
    return make_resized(child, up, out);
}

/* Return a random type of at most `depth` nested constructors; if `up`, mostly with increasing
 * displacements.  A type that MPI refuses to create (Open MPI: an empty darray) or that is too large is
 * replaced by its element type. */
static inline mapped_type random_type(int depth, int up) {
    mapped_type child[4], made = {.type = MPI_DATATYPE_NULL};
    const int kind = (int)rnd(12);
    map_named(&child[0], random_named());
    if (depth == 0) return child[0];
    for (int i = 0; i < 4; i++) {
        if (i == 0) free_mapped(&child[0]);
        if (i == 0 || (kind == 8 && rnd(2)))
            child[i] = random_type(depth - 1, up);
        else
            map_named(&child[i], random_named());
    }
    for (int i = 0; i < 4; i++) made.wild |= child[i].wild;
    const int ok = make_kind(kind, up, child, &made) == MPI_SUCCESS;
    if (ok && is_small(made.type)) {
        map_close(&made);
        for (int i = 0; i < 4; i++) free_mapped(&child[i]);
        return made;
    }
    if (ok) free_mapped(&made);
    if (!ok) free(made.at);
    for (int i = 1; i < 4; i++) free_mapped(&child[i]);
    return child[0];
}

/* Check that MPI_Pack packs bytes in the order of the map.  Every byte of the buffer encodes a part of
 * its position. */
static inline void check_map(mapped_type *m) {
    MPI_Aint lo, span;
    if (m->wild || m->n == 0) return;
    MPI_OK(MPI_Type_commit(&m->type));
    MPI_OK(MPI_Type_get_true_extent(m->type, &lo, &span));
    unsigned char *buf = malloc((size_t)span), *packed = malloc((size_t)m->n);
    int64_t wrong = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        int position = 0;
        for (int64_t i = 0; i < span; i++) buf[i] = (unsigned char)(i >> shift);
        MPI_OK(MPI_Pack(buf - lo, 1, m->type, packed, (int)m->n, &position, MPI_COMM_SELF));
        CHECK_EQ(position, m->n);
        for (int64_t i = 0; i < m->n; i++)
            wrong += packed[i] != (unsigned char)((m->at[i] - lo) >> shift);
    }
    CHECK(wrong == 0, "MPI_Pack sees another order");
    free(buf);
    free(packed);
}

#endif
