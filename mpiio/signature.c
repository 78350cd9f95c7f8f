/* mpiio: conversion between memory of the program and external32.  The MPI libraries convert
 * numbers, but are not reliable for datatypes that combine different numbers (MPICH 4.0 aborts).
 * So the memory is packed unconverted by the access of the datatype, a block of elements at a time,
 * and converted value by value in the order of the type map.
 *
 *   struct { int; double[2] } x 100    ->    100 x (1 x int, 2 x double)
 *
 * The conversion of a predefined type is determined by packing one number.  For most types bytes
 * are reversed in units of 1 to 8 bytes, which this file implements; MPI_Pack_external converts the
 * other types, which have another size in the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpiio.h"

enum { BLOCK = 64 << 10 }; /* bytes packed at a time (at least one element) */

/* The elements of a datatype: one predefined type, or a sequence of parts. */
typedef struct signature {
    MPI_Datatype number; /* predefined type; MPI_DATATYPE_NULL: use `part` */
    int unit;            /* unit of byte reversal in bytes; 0: MPI converts */
    MPI_Offset native, external;
    int parts;
    struct part {
        MPI_Count count;
        struct signature *of;
    } * part;
} signature;

struct mpiio_converter {
    signature *s;
    MPI_Count count;
    tutti_access *memory; /* memory of the program, in the order of the type map */
    void *buf;
    MPI_Count at_once; /* number of elements per block */
    char *block;
};

static int complain_no_memory(void) {
    return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate memory to convert a datatype");
}

static void signature_free(signature *s) {
    if (!s) return;
    for (int i = 0; i < s->parts; i++) signature_free(s->part[i].of);
    free(s->part);
    free(s);
}

/* ---- decoding a datatype */

typedef struct {
    int combiner, ints, addresses, types;
    int *i;
    MPI_Aint *a;
    MPI_Datatype *t;
} contents;

static int contents_get(MPI_Datatype type, contents *c) {
    int code = PMPI_Type_get_envelope(type, &c->ints, &c->addresses, &c->types, &c->combiner);
    if (code != MPI_SUCCESS) return code;
    c->i = calloc((size_t)c->ints + 1, sizeof *c->i);
    c->a = calloc((size_t)c->addresses + 1, sizeof *c->a);
    c->t = calloc((size_t)c->types + 1, sizeof *c->t);
    if (!c->i || !c->a || !c->t) return complain_no_memory();
    for (int k = 0; k < c->types; k++) c->t[k] = MPI_DATATYPE_NULL;
    return PMPI_Type_get_contents(type, c->ints, c->addresses, c->types, c->i, c->a, c->t);
}

/* Determine the unit in which MPI reverses the bytes of a number; 0: no such unit. */
static int unit_of(const signature *s) {
    char in[64], out[128];
    MPI_Aint at = 0;
    if (s->native != s->external || s->native > (MPI_Offset)sizeof in) return 0;
    for (int i = 0; i < (int)sizeof in; i++) in[i] = (char)(i + 1);
    if (PMPI_Pack_external("external32", in, 1, s->number, out, sizeof out, &at) != MPI_SUCCESS)
        return 0;
    for (int unit = 1; unit <= 8; unit *= 2) {
        int same = s->native % unit == 0;
        for (int i = 0; i < s->native && same; i++)
            same = out[i] == in[i / unit * unit + (unit - 1 - i % unit)];
        if (same) return unit;
    }
    return 0;
}

static int signature_make(MPI_Datatype type, signature **out);

/* Decode the parts of a datatype.  A structure has a count per part; other types repeat their part
 * until all bytes are used. */
static int parts_make(MPI_Datatype type, const contents *c, signature *s) {
    MPI_Count size = 0;
    s->part = calloc((size_t)c->types + 1, sizeof *s->part);
    if (!s->part) return complain_no_memory();
    PMPI_Type_size_x(type, &size);
    for (int k = 0; k < c->types; k++) {
        const int code = signature_make(c->t[k], &s->part[k].of);
        const signature *of = s->part[k].of;
        if (code != MPI_SUCCESS || !of) return code;
        s->parts = k + 1;
        s->part[k].count = c->combiner == MPI_COMBINER_STRUCT ? c->i[1 + k]
                           : of->native > 0                   ? size / of->native
                                                              : 0;
        s->native += s->part[k].count * of->native;
        s->external += s->part[k].count * of->external;
    }
    return MPI_SUCCESS;
}

static int signature_make(MPI_Datatype type, signature **out) {
    contents c = {0};
    MPI_Count size = 0;
    int code = MPI_SUCCESS;
    signature *s = calloc(1, sizeof *s);
    if (!s) return complain_no_memory();
    s->number = MPI_DATATYPE_NULL;
    if (mpiio_type_is_named(type)) {
        s->number = type;
        PMPI_Type_size_x(type, &size);
        s->native = size;
        code = mpiio_external_size(type, &s->external);
        if (code == MPI_SUCCESS) s->unit = unit_of(s);
    } else {
        code = contents_get(type, &c);
        if (code == MPI_SUCCESS) code = parts_make(type, &c, s);
        for (int k = 0; c.t && k < c.types; k++)
            if (c.t[k] != MPI_DATATYPE_NULL && !mpiio_type_is_named(c.t[k]))
                PMPI_Type_free(&c.t[k]);
        free(c.i);
        free(c.a);
        free(c.t);
    }
    if (code == MPI_SUCCESS)
        *out = s;
    else
        signature_free(s);
    return code;
}

/* ---- conversion */

/* State of a conversion: from `native` to `external` (packs) or back; `left` is the number of
 * remaining bytes of `external`. */
typedef struct {
    char *native, *external;
    MPI_Offset left;
    int packs, code, stopped;
} stream;

static void swap_units(char *to, const char *from, MPI_Offset bytes, int unit) {
    if (unit == 1) {
        memcpy(to, from, (size_t)bytes);
    } else if (unit == 4) {
        for (MPI_Offset i = 0; i < bytes; i += 4) {
            uint32_t v;
            memcpy(&v, from + i, 4);
            v = __builtin_bswap32(v);
            memcpy(to + i, &v, 4);
        }
    } else if (unit == 8) {
        for (MPI_Offset i = 0; i < bytes; i += 8) {
            uint64_t v;
            memcpy(&v, from + i, 8);
            v = __builtin_bswap64(v);
            memcpy(to + i, &v, 8);
        }
    } else {
        for (MPI_Offset i = 0; i < bytes; i += 2) to[i] = from[i + 1], to[i + 1] = from[i];
    }
}

static void convert_numbers(const signature *s, MPI_Count count, stream *x) {
    const MPI_Count whole = s->external > 0 ? x->left / s->external : count;
    x->stopped = whole < count;
    if (whole < count) count = whole;
    x->left -= count * s->external;
    for (MPI_Count i = 0, n; i < count && x->code == MPI_SUCCESS; i += n) {
        n = count - i < INT_MAX ? count - i : INT_MAX;
        const MPI_Aint bytes = (MPI_Aint)(n * s->external);
        MPI_Aint at = 0;
        if (s->unit > 0)
            swap_units(x->packs ? x->external : x->native, x->packs ? x->native : x->external,
                       bytes, s->unit);
        else if (x->packs)
            x->code = PMPI_Pack_external("external32", x->native, (int)n, s->number, x->external,
                                         bytes, &at);
        else
            x->code = PMPI_Unpack_external("external32", x->external, bytes, &at, x->native, (int)n,
                                           s->number);
        x->native += n * s->native;
        x->external += bytes;
    }
    x->stopped |= x->code != MPI_SUCCESS;
}

static void convert_elements(const signature *s, MPI_Count count, stream *x) {
    if (s->number != MPI_DATATYPE_NULL) {
        convert_numbers(s, count, x);
    } else if (s->parts == 1) {
        convert_elements(s->part[0].of, count * s->part[0].count, x);
    } else {
        for (MPI_Count i = 0; i < count && !x->stopped; i++)
            for (int k = 0; k < s->parts && !x->stopped; k++)
                convert_elements(s->part[k].of, s->part[k].count, x);
    }
}

/* ---- memory of the program */

int mpiio_converter_make(void *buf, MPI_Count count, MPI_Datatype type, mpiio_converter **out) {
    mpiio_converter *c = calloc(1, sizeof *c);
    if (!c) return complain_no_memory();
    int code = signature_make(type, &c->s);
    if (code == MPI_SUCCESS)
        code =
            mpiio_complain_tutti(tutti_access_from_view(0, MPI_BYTE, 0, count, type, &c->memory));
    if (code == MPI_SUCCESS) {
        const MPI_Offset native = c->s->native > 0 ? c->s->native : 1;
        c->buf = buf;
        c->count = count;
        c->at_once = native < BLOCK ? BLOCK / native : 1;
        if (c->at_once > count) c->at_once = count;
        c->block = malloc((size_t)(c->at_once * native) + 1);
        if (!c->block) code = complain_no_memory();
    }
    if (code == MPI_SUCCESS)
        *out = c;
    else
        mpiio_converter_free(&c);
    return code;
}

void mpiio_converter_free(mpiio_converter **pc) {
    mpiio_converter *c = *pc;
    *pc = NULL;
    if (!c) return;
    signature_free(c->s);
    tutti_access_free(&c->memory);
    free(c->block);
    free(c);
}

/* Convert all elements, block by block; return the number of converted bytes in memory. */
static MPI_Offset convert_blocks(const mpiio_converter *c, stream *x) {
    MPI_Offset at = 0;
    for (MPI_Count i = 0; i < c->count && !x->stopped; i += c->at_once) {
        const MPI_Count n = c->count - i < c->at_once ? c->count - i : c->at_once;
        x->native = c->block;
        if (x->packs) tutti_access_pack(c->memory, c->buf, at, at + n * c->s->native, c->block);
        convert_elements(c->s, n, x);
        const MPI_Offset done = x->native - c->block;
        if (!x->packs && done > 0) tutti_access_unpack(c->memory, c->buf, at, at + done, c->block);
        at += done;
    }
    return at;
}

int mpiio_converter_pack(const mpiio_converter *c, char *external) {
    stream x = {.external = external, .left = INT64_MAX, .packs = 1};
    convert_blocks(c, &x);
    return x.code;
}

MPI_Offset mpiio_converter_unpack(const mpiio_converter *c, const char *external,
                                  MPI_Offset bytes) {
    stream x = {.external = (char *)external, .left = bytes};
    return convert_blocks(c, &x);
}
