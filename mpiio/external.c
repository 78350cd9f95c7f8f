/* mpiio: the representation external32: big-endian numbers of fixed sizes.  This file contains
 * sizes and layouts; signature.c converts values.  A filetype is rebuilt, constructor by
 * constructor, if some of its numbers have another size in the file than in memory.
 *
 * The size of a number in the file is determined by packing one number, since
 * MPI_Pack_external_size of Open MPI 4 returns the size in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "mpiio.h"

static int complain_unsupported(const char *what) {
    return mpiio_complain(MPI_ERR_UNSUPPORTED_OPERATION, "external32: %s", what);
}

/* ---- sizes of predefined datatypes */

/* Return whether the MPI library cannot convert a type; MPICH 4.0 then ends the program. */
static int is_beyond_mpi(MPI_Datatype type) {
#ifdef MPICH_VERSION
    const MPI_Datatype beyond[] = {
        MPI_WCHAR,           MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,          MPI_SHORT_INT,
        MPI_LONG_DOUBLE_INT, MPI_2INT,      MPI_2REAL,      MPI_2DOUBLE_PRECISION, MPI_2INTEGER};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (type == beyond[i]) return 1;
#endif
    (void)type;
    return 0;
}

static int number_size(MPI_Datatype type, MPI_Offset *size) {
    char in[128] = {0}, out[128];
    MPI_Aint at = 0;
    MPI_Count native = 0;
    PMPI_Type_size_x(type, &native);
    if (is_beyond_mpi(type))
        return complain_unsupported("the MPI library cannot convert a datatype to external32");
    if (native > (MPI_Count)sizeof in / 2)
        return complain_unsupported(
            "a predefined datatype has more bytes than external32 supports");
    const int code = PMPI_Pack_external("external32", in, 1, type, out, sizeof out, &at);
    if (code != MPI_SUCCESS)
        return complain_unsupported("the MPI library cannot convert a datatype to external32");
    if (at == 0 && native > 0)
        return complain_unsupported("the MPI library cannot convert pair datatypes to external32");
    *size = at;
    return MPI_SUCCESS;
}

/* ---- rebuilding types from bytes */

typedef struct {
    int combiner, ints, addresses, types;
    int *i;
    MPI_Aint *a;
    MPI_Datatype *t; /* [types] replaced by their rebuilt forms */
} recipe;

static int envelope_get(MPI_Datatype type, recipe *r) {
#if MPI_VERSION >= 4
    MPI_Count n[4];
    int code = PMPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &r->combiner);
    if (code != MPI_SUCCESS) return code;
    if (n[2] > 0) return complain_unsupported("datatypes made with large counts are not supported");
    r->ints = (int)n[0], r->addresses = (int)n[1], r->types = (int)n[3];
    return MPI_SUCCESS;
#else
    return PMPI_Type_get_envelope(type, &r->ints, &r->addresses, &r->types, &r->combiner);
#endif
}

static void types_free(recipe *r, int n) {
    for (int k = 0; k < n; k++)
        if (!mpiio_type_is_named(r->t[k])) PMPI_Type_free(&r->t[k]);
}

/* Replace each datatype of the recipe by its rebuilt form; after a failure all datatypes are
 * freed. */
static int types_replace(recipe *r) {
    for (int k = 0; k < r->types; k++) {
        MPI_Datatype rebuilt = MPI_DATATYPE_NULL;
        const int code = mpiio_external_type(r->t[k], &rebuilt);
        if (!mpiio_type_is_named(r->t[k])) PMPI_Type_free(&r->t[k]);
        r->t[k] = rebuilt;
        if (code == MPI_SUCCESS) continue;
        types_free(r, k);
        for (int rest = k + 1; rest < r->types; rest++)
            if (!mpiio_type_is_named(r->t[rest])) PMPI_Type_free(&r->t[rest]);
        return code;
    }
    return MPI_SUCCESS;
}

static int recipe_get(MPI_Datatype type, recipe *r) {
    r->i = calloc((size_t)r->ints + 1, sizeof *r->i);
    r->a = calloc((size_t)r->addresses + 1, sizeof *r->a);
    r->t = calloc((size_t)r->types + 1, sizeof *r->t);
    if (!r->i || !r->a || !r->t)
        return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a datatype");
    const int code =
        PMPI_Type_get_contents(type, r->ints, r->addresses, r->types, r->i, r->a, r->t);
    return code == MPI_SUCCESS ? types_replace(r) : code;
}

static int rebuild_array(const recipe *r, MPI_Datatype *out) {
    const int *i = r->i;
    if (r->combiner == MPI_COMBINER_SUBARRAY) {
        const int n = i[0];
        return PMPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], r->t[0],
                                         out);
    }
    const int n = i[2];
    return PMPI_Type_create_darray(i[0], i[1], n, i + 3, i + 3 + n, i + 3 + 2 * n, i + 3 + 3 * n,
                                   i[3 + 4 * n], r->t[0], out);
}

static int rebuild_from_recipe(const recipe *r, MPI_Datatype *out) {
    const int *i = r->i;
    const MPI_Datatype t = r->types > 0 ? r->t[0] : MPI_DATATYPE_NULL;
    switch (r->combiner) {
    case MPI_COMBINER_DUP:
        return PMPI_Type_dup(t, out);
    case MPI_COMBINER_CONTIGUOUS:
        return PMPI_Type_contiguous(i[0], t, out);
    case MPI_COMBINER_VECTOR:
        return PMPI_Type_vector(i[0], i[1], i[2], t, out);
    case MPI_COMBINER_HVECTOR:
        return PMPI_Type_create_hvector(i[0], i[1], r->a[0], t, out);
    case MPI_COMBINER_INDEXED:
        return PMPI_Type_indexed(i[0], i + 1, i + 1 + i[0], t, out);
    case MPI_COMBINER_HINDEXED:
        return PMPI_Type_create_hindexed(i[0], i + 1, r->a, t, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return PMPI_Type_create_indexed_block(i[0], i[1], i + 2, t, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return PMPI_Type_create_hindexed_block(i[0], i[1], r->a, t, out);
    case MPI_COMBINER_STRUCT:
        return PMPI_Type_create_struct(i[0], i + 1, r->a, r->t, out);
    case MPI_COMBINER_RESIZED:
        return PMPI_Type_create_resized(t, r->a[0], r->a[1], out);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        return rebuild_array(r, out);
    default:
        return complain_unsupported("a datatype has an unknown constructor");
    }
}

/* Rebuild a datatype from bytes, even if all numbers have the same size in memory. */
static int rebuild_type(MPI_Datatype type, MPI_Datatype *out) {
    recipe r = {0};
    MPI_Offset size = 0;
    int code = envelope_get(type, &r);
    if (code == MPI_SUCCESS && mpiio_type_is_named(type)) {
        code = number_size(type, &size);
        return code == MPI_SUCCESS ? PMPI_Type_contiguous((int)size, MPI_BYTE, out) : code;
    }
    if (code == MPI_SUCCESS) code = recipe_get(type, &r);
    if (code == MPI_SUCCESS) {
        code = rebuild_from_recipe(&r, out);
        types_free(&r, r.types);
    }
    free(r.i);
    free(r.a);
    free(r.t);
    return code;
}

int mpiio_external_type(MPI_Datatype type, MPI_Datatype *out) {
    MPI_Datatype rebuilt = MPI_DATATYPE_NULL;
    MPI_Count before = 0, after = 0;
    int code = rebuild_type(type, &rebuilt);
    if (code != MPI_SUCCESS) return code;
    PMPI_Type_size_x(type, &before);
    PMPI_Type_size_x(rebuilt, &after);
    if (before == after) { /* use the type itself, which has the same padding as in memory */
        PMPI_Type_free(&rebuilt);
        code = PMPI_Type_dup(type, &rebuilt);
    }
    if (code == MPI_SUCCESS) *out = rebuilt;
    return code;
}

int mpiio_external_size(MPI_Datatype type, MPI_Offset *size) {
    MPI_Datatype rebuilt;
    MPI_Count found = 0;
    const int code = mpiio_external_type(type, &rebuilt);
    if (code != MPI_SUCCESS) return code;
    PMPI_Type_size_x(rebuilt, &found);
    PMPI_Type_free(&rebuilt);
    *size = found;
    return MPI_SUCCESS;
}
