/* mpitype: the contents of one level of a datatype, by MPI_Type_get_envelope and
 * MPI_Type_get_contents.
 *
 * Types created by the large-count constructors of MPI 4 require the _c variants of both calls,
 * which also support all other types; so with MPI 4 only the _c variants are used.  They return the
 * counts in a third array.  Integers, addresses and large counts are concatenated in one array of
 * 64-bit integers.  The result is the same sequence for the int and the large-count variant of a
 * constructor, except for SUBARRAY and DARRAY, for which the array is rotated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpitype/mpitype_impl.h"

#include <string.h>

void tutti__mpitype_record(int mpi_code, const char *call) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(mpi_code, text, &length) != MPI_SUCCESS) text[0] = '\0';
    tutti__error_record(TUTTI_ERR_MPI, 0, -1, "%s failed with code %d: %s", call, mpi_code, text);
}

/* The arrays that MPI returns. */
typedef struct {
    int *integer;
    MPI_Aint *address;
    MPI_Count *large;
} raw_numbers;

#if MPI_VERSION >= 4
static int envelope_call(MPI_Datatype type, tutti__envelope *e) {
    MPI_Count ni = 0, na = 0, nc = 0, nd = 0;
    const int rc = MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &e->combiner);
    e->integers = ni, e->addresses = na, e->large_counts = nc, e->types = nd;
    return rc;
}

static int contents_call(MPI_Datatype type, const tutti__envelope *e, raw_numbers *raw,
                         MPI_Datatype *types) {
    return MPI_Type_get_contents_c(type, e->integers, e->addresses, e->large_counts, e->types,
                                   raw->integer, raw->address, raw->large, types);
}
#else
static int envelope_call(MPI_Datatype type, tutti__envelope *e) {
    int ni = 0, na = 0, nd = 0;
    const int rc = MPI_Type_get_envelope(type, &ni, &na, &nd, &e->combiner);
    e->integers = ni, e->addresses = na, e->large_counts = 0, e->types = nd;
    return rc;
}

static int contents_call(MPI_Datatype type, const tutti__envelope *e, raw_numbers *raw,
                         MPI_Datatype *types) {
    return MPI_Type_get_contents(type, (int)e->integers, (int)e->addresses, (int)e->types,
                                 raw->integer, raw->address, types);
}
#endif

tutti_err tutti__envelope_get(MPI_Datatype type, tutti__envelope *out) {
    tutti__envelope e;
    TUTTI_CHECK(type != MPI_DATATYPE_NULL, TUTTI_ERR_ARG, "argument datatype is MPI_DATATYPE_NULL");
    const int rc = envelope_call(type, &e);
    if (rc != MPI_SUCCESS) return tutti__mpitype_failed(rc, "MPI_Type_get_envelope");
    e.numbers = e.integers + e.addresses + e.large_counts;
    *out = e;
    return TUTTI_OK;
}

int tutti__envelope_is_leaf(const tutti__envelope *e) {
    return e->combiner == MPI_COMBINER_NAMED || e->combiner == MPI_COMBINER_F90_REAL ||
           e->combiner == MPI_COMBINER_F90_COMPLEX || e->combiner == MPI_COMBINER_F90_INTEGER;
}

static void reverse_values(tutti_off *v, tutti_count n) {
    for (tutti_count i = 0; i < n / 2; i++) {
        const tutti_off x = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = x;
    }
}

static void rotate_left(tutti_off *v, tutti_count n, tutti_count by) {
    reverse_values(v, by);
    reverse_values(v + by, n - by);
    reverse_values(v, n);
}

static tutti_err read_raw(MPI_Datatype type, const tutti__envelope *e, raw_numbers *raw,
                          MPI_Datatype *types) {
    raw->integer = tutti__malloc((size_t)e->integers * sizeof *raw->integer);
    raw->address = tutti__malloc((size_t)e->addresses * sizeof *raw->address);
    raw->large = tutti__malloc((size_t)e->large_counts * sizeof *raw->large);
    if (!raw->integer || !raw->address || !raw->large) return TUTTI_ERR_NOMEM;
    const int rc = contents_call(type, e, raw, types);
    if (rc != MPI_SUCCESS) return tutti__mpitype_failed(rc, "MPI_Type_get_contents");
    return TUTTI_OK;
}

tutti_err tutti__contents_get(MPI_Datatype type, const tutti__envelope *e, tutti__contents *out) {
    tutti__contents c = {.combiner = e->combiner, .numbers = e->numbers, .types = e->types};
    raw_numbers raw = {NULL, NULL, NULL};
    tutti_err err = TUTTI_ERR_NOMEM;
    c.number = tutti__malloc((size_t)c.numbers * sizeof *c.number);
    c.type = tutti__malloc((size_t)c.types * sizeof *c.type);
    if (c.number && c.type) err = read_raw(type, e, &raw, c.type);
    if (err == TUTTI_OK) {
        tutti_off *to = c.number;
        for (tutti_count i = 0; i < e->integers; i++) *to++ = raw.integer[i];
        for (tutti_count i = 0; i < e->addresses; i++) *to++ = raw.address[i];
        for (tutti_count i = 0; i < e->large_counts; i++) *to++ = raw.large[i];
        /* Large-count SUBARRAY: ndims, order | sizes, subsizes, starts; move order to the end.
         * Large-count DARRAY: size, rank, ndims, distribs, dargs, psizes, order | gsizes; move
         * gsizes after ndims. */
        const int large = e->large_counts > 0;
        if (large && e->combiner == MPI_COMBINER_SUBARRAY)
            rotate_left(c.number + 1, e->numbers - 1, 1);
        if (large && e->combiner == MPI_COMBINER_DARRAY)
            rotate_left(c.number + 3, e->numbers - 3, e->numbers - 3 - e->large_counts);
        *out = c;
    } else {
        tutti__free(c.number);
        tutti__free(c.type);
    }
    tutti__free(raw.integer);
    tutti__free(raw.address);
    tutti__free(raw.large);
    return err;
}

tutti_err tutti__contents_free(tutti__contents *c) {
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < c->types; i++) {
        tutti__envelope e;
        tutti_err freed = tutti__envelope_get(c->type[i], &e);
        if (freed == TUTTI_OK && !tutti__envelope_is_leaf(&e)) {
            const int rc = MPI_Type_free(&c->type[i]);
            if (rc != MPI_SUCCESS) freed = tutti__mpitype_failed(rc, "MPI_Type_free");
        }
        if (err == TUTTI_OK) err = freed;
    }
    tutti__free(c->number);
    tutti__free(c->type);
    *c = (tutti__contents){.combiner = c->combiner};
    return err;
}
