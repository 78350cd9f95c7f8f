/* mpiio: external32 of types that mix numbers.  MPICH 4.0 cannot convert them (it ends the program), but it converts
 * each kind of number: so the program's memory is first packed as it is, and then converted number by number in the
 * order of the type map.
 *
 *   struct { int; double[2] } x 100    ->    100 x (1 x int, 2 x double)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>

#include "mpiio.h"

/* The numbers of a type: one kind, or parts that follow one another. */
typedef struct signature {
    MPI_Datatype number; /* MPI_DATATYPE_NULL: parts */
    MPI_Offset native, external;
    int parts;
    struct part {
        MPI_Count count;
        struct signature *of;
    } * part;
} signature;

static int no_memory(void) {
    return mpiio_complain(MPI_ERR_NO_MEM, "no memory to convert a type");
}

static void signature_free(signature *s) {
    if (!s) return;
    for (int i = 0; i < s->parts; i++) signature_free(s->part[i].of);
    free(s->part);
    free(s);
}

/* ---- reading a type */

typedef struct {
    int combiner, ints, addresses, types;
    int *i;
    MPI_Aint *a;
    MPI_Datatype *t;
} contents;

static void contents_free(contents *c) {
    for (int k = 0; c->t && k < c->types; k++)
        if (c->t[k] != MPI_DATATYPE_NULL && !mpiio_type_is_named(c->t[k])) PMPI_Type_free(&c->t[k]);
    free(c->i);
    free(c->a);
    free(c->t);
}

static int contents_get(MPI_Datatype type, contents *c) {
    int code = PMPI_Type_get_envelope(type, &c->ints, &c->addresses, &c->types, &c->combiner);
    if (code != MPI_SUCCESS) return code;
    c->i = calloc((size_t)c->ints + 1, sizeof *c->i);
    c->a = calloc((size_t)c->addresses + 1, sizeof *c->a);
    c->t = calloc((size_t)c->types + 1, sizeof *c->t);
    if (!c->i || !c->a || !c->t) return no_memory();
    for (int k = 0; k < c->types; k++) c->t[k] = MPI_DATATYPE_NULL;
    return PMPI_Type_get_contents(type, c->ints, c->addresses, c->types, c->i, c->a, c->t);
}

static int signature_make(MPI_Datatype type, signature **out);

/* A structure has its own number of each; other types have as many as there is room for in their bytes. */
static int parts_make(MPI_Datatype type, const contents *c, signature *s) {
    MPI_Count size = 0;
    s->part = calloc((size_t)c->types + 1, sizeof *s->part);
    if (!s->part) return no_memory();
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
    if (!s) return no_memory();
    s->number = MPI_DATATYPE_NULL;
    if (mpiio_type_is_named(type)) {
        s->number = type;
        PMPI_Type_size_x(type, &size);
        s->native = size;
        code = mpiio_external_size(type, &s->external);
    } else {
        code = contents_get(type, &c);
        if (code == MPI_SUCCESS) code = parts_make(type, &c, s);
        contents_free(&c);
    }
    if (code == MPI_SUCCESS)
        *out = s;
    else
        signature_free(s);
    return code;
}

/* ---- converting */

/* `count` times s, from `native` to `external` or back. */
typedef struct {
    char *native, *external;
    int packs, code;
} stream;

static void convert_numbers(const signature *s, MPI_Count count, stream *x) {
    for (MPI_Count i = 0; i < count && x->code == MPI_SUCCESS; i += INT_MAX) {
        const int n = count - i < INT_MAX ? (int)(count - i) : INT_MAX;
        const MPI_Aint bytes = (MPI_Aint)(n * s->external);
        MPI_Aint at = 0;
        x->code = x->packs ? PMPI_Pack_external("external32", x->native, n, s->number, x->external,
                                                bytes, &at)
                           : PMPI_Unpack_external("external32", x->external, bytes, &at, x->native,
                                                  n, s->number);
        x->native += n * s->native;
        x->external += bytes;
    }
}

static void convert(const signature *s, MPI_Count count, stream *x) {
    if (s->number != MPI_DATATYPE_NULL) {
        convert_numbers(s, count, x);
    } else if (s->parts == 1) {
        convert(s->part[0].of, count * s->part[0].count, x);
    } else {
        for (MPI_Count i = 0; i < count && x->code == MPI_SUCCESS; i++)
            for (int k = 0; k < s->parts; k++) convert(s->part[k].of, s->part[k].count, x);
    }
}

int mpiio_signature_convert(void *buf, MPI_Count count, MPI_Datatype type, char *external,
                            int packs) {
    tutti_access *a = NULL;
    signature *s = NULL;
    int code = signature_make(type, &s);
    if (code == MPI_SUCCESS)
        code = mpiio_complain_tutti(tutti_access_from_view(0, MPI_BYTE, 0, count, type, &a));
    const tutti_off bytes = a ? tutti_access_bytes(a) : 0;
    char *native = code == MPI_SUCCESS ? malloc((size_t)bytes + 1) : NULL;
    if (code == MPI_SUCCESS && !native) code = no_memory();
    if (s && native) {
        stream x = {native, external, packs, MPI_SUCCESS};
        if (packs) tutti_access_pack(a, buf, 0, bytes, native);
        convert(s, count, &x);
        if (!packs && x.code == MPI_SUCCESS) tutti_access_unpack(a, buf, 0, bytes, native);
        code = x.code;
    }
    free(native);
    tutti_access_free(&a);
    signature_free(s);
    return code;
}
