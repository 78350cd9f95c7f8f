/* mpitype: conversion of a complete datatype to a side, by recursion over its contents.
 *
 * The stream order of the side is the order of the type map, as for MPI_Pack.  Sizes and
 * displacements are computed in 64 bits; extents are queried from MPI at every level, since the
 * alignment of structures depends on the MPI library.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpitype/mpitype_impl.h"

static tutti_err layout_at(MPI_Datatype type, int depth, tutti__layout *out);

void tutti__layout_free(tutti__layout *l) {
    tutti__side_free(&l->side);
}

/* ---- predefined types */

/* Return the bytes of the value of a pair type of MPI_MINLOC and MPI_MAXLOC, which is a C struct
 * { value; int index; }; 0: not a pair type. */
static tutti_off pair_value_size(MPI_Datatype type) {
    const struct {
        MPI_Datatype type;
        tutti_off value_size;
    } table[] = {
        {MPI_FLOAT_INT, sizeof(float)}, {MPI_DOUBLE_INT, sizeof(double)},
        {MPI_LONG_INT, sizeof(long)},   {MPI_SHORT_INT, sizeof(short)},
        {MPI_2INT, sizeof(int)},        {MPI_LONG_DOUBLE_INT, sizeof(long double)},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].type == type) return table[i].value_size;
    return 0;
}

/* ---- constructors with one element type */

static tutti_err vector_side(const tutti__layout *child, const tutti__contents *c, tutti_off unit,
                             tutti__side *out) {
    const tutti_off *x = c->number; /* count, blocklength, stride */
    tutti__side block;
    tutti_off stride = 0;
    if (x[0] > 1 && child->side.node) TUTTI_TRY(tutti__off_mul(x[2], unit, &stride));
    TUTTI_TRY(tutti__side_vec(tutti__side_share(child->side), x[1], child->extent, &block));
    return tutti__side_vec(block, x[0], stride, out);
}

static tutti_err indexed_side(const tutti__layout *child, const tutti__contents *c, tutti_off unit,
                              tutti__side *out) {
    const tutti_off *x = c->number; /* count, blocklengths, displacements */
    const tutti__blocks b = {
        .n = x[0], .length = x + 1, .place = x + 1 + x[0], .length_step = 1, .unit = unit};
    return tutti__side_blocks(child, &b, out);
}

static tutti_err indexed_block_side(const tutti__layout *child, const tutti__contents *c,
                                    tutti_off unit, tutti__side *out) {
    const tutti_off *x = c->number; /* count, blocklength, displacements */
    const tutti__blocks b = {
        .n = x[0], .length = x + 1, .place = x + 2, .length_step = 0, .unit = unit};
    return tutti__side_blocks(child, &b, out);
}

static tutti_err single_side(const tutti__layout *child, const tutti__contents *c,
                             tutti__side *out) {
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        *out = tutti__side_share(child->side);
        return TUTTI_OK;
    case MPI_COMBINER_CONTIGUOUS:
        return tutti__side_vec(tutti__side_share(child->side), c->number[0], child->extent, out);
    case MPI_COMBINER_VECTOR:
        return vector_side(child, c, child->extent, out);
    case MPI_COMBINER_HVECTOR:
        return vector_side(child, c, 1, out);
    case MPI_COMBINER_INDEXED:
        return indexed_side(child, c, child->extent, out);
    case MPI_COMBINER_HINDEXED:
        return indexed_side(child, c, 1, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return indexed_block_side(child, c, child->extent, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return indexed_block_side(child, c, 1, out);
    case MPI_COMBINER_SUBARRAY:
        return tutti__side_subarray(child, c, out);
    case MPI_COMBINER_DARRAY:
        return tutti__side_darray(child, c, out);
    default:
        TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED,
                   "datatype has combiner %d (MPI_Type_get_envelope), which is not supported",
                   c->combiner);
    }
}

static tutti_err derived_side(tutti__contents *c, int depth, tutti__side *out) {
    tutti__layout child;
    TUTTI_CHECK(
        c->types == 1, TUTTI_ERR_UNSUPPORTED,
        "datatype with combiner %d (MPI_Type_get_envelope) has %lld element types: must have 1",
        c->combiner, (long long)c->types);
    TUTTI_TRY(layout_at(c->type[0], depth, &child));
    tutti_err err = TUTTI_OK;
    if (!tutti__recent_find(c, &child, out)) {
        err = single_side(&child, c, out);
        if (err == TUTTI_OK) tutti__recent_add(c, &child, *out);
    }
    tutti__layout_free(&child);
    return err;
}

/* ---- STRUCT: count, blocklengths, displacements; one type per block */

static tutti_err struct_side(const tutti__contents *c, int depth, tutti__side *out) {
    tutti_count made = 0;
    tutti__side *parts = tutti__malloc((size_t)c->types * sizeof *parts);
    if (!parts) return TUTTI_ERR_NOMEM;
    /* Consecutive equal types are converted once, since large structures mostly repeat one type. */
    tutti__layout child = {{0, NULL}, 0};
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < c->types && err == TUTTI_OK; i++) {
        if (i == 0 || c->type[i] != c->type[i - 1]) {
            tutti__layout_free(&child);
            child = (tutti__layout){{0, NULL}, 0};
            err = layout_at(c->type[i], depth, &child);
        }
        const tutti_off length = c->number[1 + i], place = c->number[1 + c->number[0] + i];
        tutti__side block;
        if (err == TUTTI_OK)
            err = tutti__side_vec(tutti__side_share(child.side), length, child.extent, &block);
        if (err == TUTTI_OK) err = tutti__side_shift(block, place, &parts[i]);
        if (err == TUTTI_OK) made = i + 1;
    }
    tutti__layout_free(&child);
    if (err == TUTTI_OK)
        err = tutti__side_cat(made, parts, out);
    else
        for (tutti_count i = 0; i < made; i++) tutti__side_free(&parts[i]);
    tutti__free(parts);
    return err;
}

/* ---- any type */

static tutti_err side_at(MPI_Datatype type, int depth, tutti__side *out) {
    tutti__envelope e;
    tutti__contents c;
    tutti__side side;
    TUTTI_CHECK(depth < TUTTI__TYPE_DEPTH, TUTTI_ERR_UNSUPPORTED,
                "the datatype has more than %d levels of nesting", TUTTI__TYPE_DEPTH);
    TUTTI_TRY(tutti__envelope_get(type, &e));
    if (tutti__envelope_is_leaf(&e)) {
        MPI_Count size = 0;
        const tutti_off value_size = pair_value_size(type);
        if (value_size) {
            const tutti_off offsets[] = {0, tutti__align_up(value_size, _Alignof(int))};
            const tutti_off lengths[] = {value_size, sizeof(int)};
            return tutti__side_list(2, offsets, lengths, 0, out);
        }
        const int rc = MPI_Type_size_x(type, &size);
        if (rc != MPI_SUCCESS) return tutti__mpitype_failed(rc, "MPI_Type_size_x");
        if (size > 0) return tutti__side_run(0, size, out);
        *out = (tutti__side){0, NULL};
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__contents_get(type, &e, &c));
    const tutti_err err = c.combiner == MPI_COMBINER_STRUCT ? struct_side(&c, depth + 1, &side)
                                                            : derived_side(&c, depth + 1, &side);
    const tutti_err freed = tutti__contents_free(&c);
    if (err != TUTTI_OK) return err;
    if (freed != TUTTI_OK)
        tutti__side_free(&side);
    else
        *out = side;
    return freed;
}

static tutti_err layout_at(MPI_Datatype type, int depth, tutti__layout *out) {
    MPI_Count lb = 0, extent = 0;
    tutti__side side;
    TUTTI_TRY(side_at(type, depth, &side));
    const int rc = MPI_Type_get_extent_x(type, &lb, &extent);
    if (rc != MPI_SUCCESS) {
        tutti__side_free(&side);
        return tutti__mpitype_failed(rc, "MPI_Type_get_extent_x");
    }
    *out = (tutti__layout){.side = side, .extent = extent};
    return TUTTI_OK;
}

/* Detect conversion errors (a constructor of a later MPI version, an overflow) by comparing the
 * size. */
static tutti_err check_size(MPI_Datatype type, const tutti__layout *l) {
    MPI_Count size = 0;
    const int rc = MPI_Type_size_x(type, &size);
    if (rc != MPI_SUCCESS) return tutti__mpitype_failed(rc, "MPI_Type_size_x");
    TUTTI_CHECK(size == tutti__side_bytes(l->side), TUTTI_ERR_UNSUPPORTED,
                "MPI reports a size of %lld bytes for the datatype, but its contents have %lld",
                (long long)size, (long long)tutti__side_bytes(l->side));
    return TUTTI_OK;
}

tutti_err tutti__layout_get(MPI_Datatype type, tutti__layout *out) {
    tutti__layout l;
    TUTTI_TRY(layout_at(type, 0, &l));
    const tutti_err err = check_size(type, &l);
    if (err == TUTTI_OK)
        *out = l;
    else
        tutti__layout_free(&l);
    return err;
}
