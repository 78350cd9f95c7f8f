/* cdf: decoding and validating a header.
 *
 * Every count is compared with the available bytes before memory is allocated for it, so
 * memory and time are bounded by the size of the input, not by its values.  The sizes of variables
 * in files (vsize) are ignored: they follow from the dimensions, and are wrong in some files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cdf/cdf_impl.h"

#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const unsigned char *bytes;
    size_t n, at; /* number of available bytes; position of the next byte to read */
    tutti_off file_bytes;
    int word, offset; /* bytes of a count, and of an offset */
    tutti__cdf *c;
} reader;

#define FAIL(at, ...) return tutti__error_set(TUTTI_ERR_FORMAT, 0, (tutti_off)(at), __VA_ARGS__)

/* Check that at least n * each bytes are left.  Fails with TUTTI_ERR_FORMAT if the file ends before
 * them, and with TUTTI_ERR_TRUNCATED if only the available bytes do. */
static tutti_err check_available(const reader *r, uint64_t n, uint64_t each) {
    const uint64_t left = r->n - r->at, in_file = (uint64_t)r->file_bytes - r->at;
    if (n <= left / each) return TUTTI_OK;
    if (n > in_file / each) FAIL(r->at, "file ends inside its netCDF header");
    return tutti__error_set(TUTTI_ERR_TRUNCATED, 0, (tutti_off)r->n,
                            "netCDF header exceeds %zu bytes", r->n);
}

/* Read a big-endian number of `bytes` bytes. */
static tutti_err decode_number(reader *r, int bytes, uint64_t *out) {
    uint64_t v = 0;
    TUTTI_TRY(check_available(r, (uint64_t)bytes, 1));
    for (int i = 0; i < bytes; i++) v = v << 8 | r->bytes[r->at + (size_t)i];
    r->at += (size_t)bytes;
    *out = v;
    return TUTTI_OK;
}

static tutti_err decode_count(reader *r, tutti_count *out) {
    uint64_t v = 0;
    TUTTI_TRY(decode_number(r, r->word, &v));
    if (v > INT64_MAX) FAIL(r->at - 8, "a count in the netCDF header is negative");
    *out = (tutti_count)v;
    return TUTTI_OK;
}

/* Read tag and length of a list, whose elements have at least `each` bytes. */
static tutti_err decode_list(reader *r, unsigned tag, uint64_t each, tutti_count *out) {
    uint64_t t = 0;
    tutti_count n = 0;
    const size_t at = r->at;
    TUTTI_TRY(decode_number(r, 4, &t));
    TUTTI_TRY(decode_count(r, &n));
    if (t != tag && (t != 0 || n != 0))
        FAIL(at, "netCDF header has tag %llu: expected %u or 0", (unsigned long long)t, tag);
    TUTTI_TRY(check_available(r, (uint64_t)n, each));
    *out = n;
    return TUTTI_OK;
}

static tutti_err decode_name(reader *r, const char **out, size_t *n_out) {
    tutti_count n = 0;
    const size_t at = r->at;
    TUTTI_TRY(decode_count(r, &n));
    if (n < 1 || n > TUTTI__CDF_NAME)
        FAIL(at, "a name in the netCDF header has %lld bytes: invalid length", (long long)n);
    const size_t padded = ((size_t)n + 3) / 4 * 4;
    TUTTI_TRY(check_available(r, padded, 1));
    *out = (const char *)r->bytes + r->at;
    for (tutti_count i = 0; i < n; i++) {
        const unsigned char b = r->bytes[r->at + (size_t)i];
        if (b < 0x20 || b == 0x7f || b == '/')
            FAIL(r->at + (size_t)i, "a name in the netCDF header contains character %d", b);
    }
    r->at += padded;
    *n_out = (size_t)n;
    return TUTTI_OK;
}

/* Convert an argument error of the functions in cdf.c to TUTTI_ERR_FORMAT. */
static tutti_err as_format(const reader *r, tutti_err e) {
    char text[sizeof tutti_last_error()->text];
    if (e != TUTTI_ERR_ARG && e != TUTTI_ERR_OVERFLOW) return e;
    memcpy(text, tutti_last_error()->text, sizeof text);
    FAIL(r->at, "%s", text);
}

static tutti_err decode_dims(reader *r) {
    tutti_count n = 0;
    TUTTI_TRY(decode_list(r, TUTTI__CDF_DIMS, (uint64_t)(2 * r->word + 4), &n));
    for (tutti_count i = 0; i < n; i++) {
        const char *name = NULL;
        size_t bytes = 0;
        tutti_count length = 0;
        TUTTI_TRY(decode_name(r, &name, &bytes));
        TUTTI_TRY(decode_count(r, &length));
        TUTTI_TRY(as_format(r, tutti__cdf_dim_put(r->c, name, bytes, length, NULL)));
    }
    return TUTTI_OK;
}

static tutti_err decode_att(reader *r, tutti_count var) {
    tutti__cdf_att a = {0};
    const char *name = NULL;
    size_t bytes = 0;
    uint64_t type = 0;
    void *values = NULL;
    TUTTI_TRY(decode_name(r, &name, &bytes));
    TUTTI_TRY(decode_number(r, 4, &type));
    TUTTI_TRY(decode_count(r, &a.n));
    a.type = type > INT_MAX ? 0 : (int)type;
    const uint64_t size = (uint64_t)tutti__cdf_size(a.type);
    if (size == 0)
        FAIL(r->at, "attribute '%.*s' has unknown type %llu", (int)bytes, name,
             (unsigned long long)type);
    TUTTI_TRY(check_available(r, (uint64_t)a.n, size));
    const size_t padded = ((size_t)a.n * size + 3) / 4 * 4;
    TUTTI_TRY(check_available(r, padded, 1));
    TUTTI_TRY(as_format(r, tutti__cdf_att_new(r->c, var, name, bytes, &a, &values)));
    tutti__cdf_swap(values, r->bytes + r->at, a.n, a.type);
    r->at += padded;
    return TUTTI_OK;
}

static tutti_err decode_atts(reader *r, tutti_count var) {
    tutti_count n = 0;
    TUTTI_TRY(decode_list(r, TUTTI__CDF_ATTS, (uint64_t)(2 * r->word + 8), &n));
    for (tutti_count i = 0; i < n; i++) TUTTI_TRY(decode_att(r, var));
    return TUTTI_OK;
}

static tutti_err decode_var(reader *r) {
    tutti_count dim[TUTTI__CDF_RANK], ndims = 0, var = -1;
    tutti__cdf_var v = {.dim = dim, .type = TUTTI__CDF_BYTE};
    const char *name = NULL;
    size_t bytes = 0;
    uint64_t type = 0, vsize = 0, begin = 0;
    TUTTI_TRY(decode_name(r, &name, &bytes));
    TUTTI_TRY(decode_count(r, &ndims));
    if (ndims > TUTTI__CDF_RANK)
        FAIL(r->at, "variable '%.*s' has %lld dimensions: netCDF supports up to %d", (int)bytes,
             name, (long long)ndims, TUTTI__CDF_RANK);
    v.ndims = (int)ndims;
    for (int d = 0; d < v.ndims; d++) TUTTI_TRY(decode_count(r, &dim[d]));
    /* the type follows the attributes and is set below */
    TUTTI_TRY(as_format(r, tutti__cdf_var_put(r->c, name, bytes, &v, &var)));
    TUTTI_TRY(decode_atts(r, var));
    TUTTI_TRY(decode_number(r, 4, &type));
    if (type < TUTTI__CDF_BYTE || type > TUTTI__CDF_UINT64 ||
        (type > TUTTI__CDF_DOUBLE && r->c->version != 5))
        FAIL(r->at - 4, "variable '%.*s' has type %llu, which CDF-%d does not support", (int)bytes,
             name, (unsigned long long)type, r->c->version);
    TUTTI_TRY(decode_number(r, r->word, &vsize));
    TUTTI_TRY(decode_number(r, r->offset, &begin));
    if (begin > INT64_MAX)
        FAIL(r->at - 8, "variable '%.*s' has a negative offset", (int)bytes, name);
    r->c->vars[var].type = (int)type;
    r->c->vars[var].begin = (tutti_off)begin;
    return TUTTI_OK;
}

/* ---- offsets of variables */

static int by_begin(const void *a, const void *b) {
    const tutti_off x = (*(const tutti__cdf_var *const *)a)->begin,
                    y = (*(const tutti__cdf_var *const *)b)->begin;
    return x < y ? -1 : x > y;
}

/* Return the fixed or the record variables, sorted by offset; *out is to be freed by
 * tutti__free. */
static tutti_err sort_variables(const tutti__cdf *c, int is_record, const tutti__cdf_var ***out,
                                tutti_count *n_out) {
    const tutti__cdf_var **v = tutti__malloc((size_t)c->vars_n * sizeof(*v));
    tutti_count n = 0;
    int ordered = 1;
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < c->vars_n; i++) {
        if (c->vars[i].is_record != is_record) continue;
        v[n++] = &c->vars[i];
        ordered = ordered && (n == 1 || v[n - 2]->begin <= v[n - 1]->begin);
    }
    if (!ordered) qsort(v, (size_t)n, sizeof(*v), by_begin);
    *out = v;
    *n_out = n;
    return TUTTI_OK;
}

static tutti_err check_fixed(tutti__cdf *c, tutti_off file_bytes, const tutti__cdf_var **v,
                             tutti_count n) {
    tutti_off at = c->header_bytes;
    const char *what = "the header";
    for (tutti_count i = 0; i < n; i++) {
        tutti_off end = 0;
        if (v[i]->begin < at) FAIL(v[i]->begin, "variable '%s' overlaps %s", v[i]->name, what);
        if (!tutti__add_ok(v[i]->begin, tutti__cdf_raw(v[i]), &end) || end > file_bytes)
            FAIL(v[i]->begin, "variable '%s' of %lld bytes ends after the end of the file",
                 v[i]->name, (long long)tutti__cdf_raw(v[i]));
        at = end;
        what = v[i]->name;
    }
    c->fixed_end = n ? tutti__align_up(at, 4) : at;
    return TUTTI_OK;
}

static tutti_err check_records(tutti__cdf *c, tutti_off fixed_end, const tutti__cdf_var **v,
                               tutti_count n) {
    tutti_off at = n ? v[0]->begin : c->fixed_end, bytes = 0, end = 0;
    c->record_begin = at;
    if (at < fixed_end)
        FAIL(at, "records start before the end of the fixed variables or the header");
    for (tutti_count i = 0; i < n; i++) {
        if (v[i]->begin < at)
            FAIL(v[i]->begin, "variable '%s' overlaps '%s'", v[i]->name, v[i - 1]->name);
        if (v[i]->begin - c->record_begin > c->record_bytes - v[i]->bytes)
            FAIL(v[i]->begin, "variable '%s' is outside its record of %lld bytes", v[i]->name,
                 (long long)c->record_bytes);
        at = v[i]->begin + v[i]->bytes;
    }
    if (!tutti__mul_ok(tutti__max(c->records, 1), c->record_bytes, &bytes) ||
        !tutti__add_ok(c->record_begin, bytes, &end))
        FAIL(4, "%lld records of %lld bytes exceed 2^63 bytes", (long long)c->records,
             (long long)c->record_bytes);
    return TUTTI_OK;
}

static tutti_err check_places(reader *r) {
    tutti__cdf *c = r->c;
    const tutti__cdf_var **v = NULL;
    tutti_count n = 0;
    TUTTI_TRY(as_format(r, tutti__cdf_sizes(c)));
    TUTTI_TRY(sort_variables(c, 0, &v, &n));
    tutti_err e = check_fixed(c, r->file_bytes, v, n);
    const tutti_off end =
        e == TUTTI_OK && n ? v[n - 1]->begin + tutti__cdf_raw(v[n - 1]) : c->header_bytes;
    tutti__free(v);
    TUTTI_TRY(e);
    TUTTI_TRY(sort_variables(c, 1, &v, &n));
    e = check_records(c, end, v, n);
    tutti__free(v);
    return e;
}

static tutti_err decode_header(reader *r) {
    static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    uint64_t records = 0;
    tutti_count n = 0;
    if (r->n >= sizeof hdf5 && memcmp(r->bytes, hdf5, sizeof hdf5) == 0)
        TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED, "netCDF-4 (HDF5) files are not supported: convert the "
                                          "file with 'nccopy -k cdf5 OLD NEW'");
    TUTTI_TRY(check_available(r, 4, 1));
    const int version = r->bytes[3];
    if (memcmp(r->bytes, "CDF", 3) != 0 || (version != 1 && version != 2 && version != 5))
        FAIL(0, "not a netCDF file: wrong signature");
    tutti__cdf_init(r->c, version);
    r->at = 4;
    r->word = tutti__cdf_word(version);
    r->offset = tutti__cdf_offset(version);
    TUTTI_TRY(decode_number(r, r->word, &records));
    const int unknown = records == (r->word == 8 ? UINT64_MAX : UINT32_MAX);
    if (records > INT64_MAX && !unknown) FAIL(4, "the number of records is negative");
    r->c->records = unknown ? -1 : (tutti_count)records;
    TUTTI_TRY(decode_dims(r));
    TUTTI_TRY(decode_atts(r, -1));
    TUTTI_TRY(decode_list(r, TUTTI__CDF_VARS, (uint64_t)(4 * r->word + 12 + r->offset), &n));
    for (tutti_count i = 0; i < n; i++) TUTTI_TRY(decode_var(r));
    r->c->header_bytes = (tutti_off)r->at;
    return check_places(r);
}

tutti_err tutti__cdf_decode(const void *bytes, size_t n, tutti_off file_bytes, tutti__cdf *out) {
    tutti__cdf c;
    tutti__cdf_init(&c, 0);
    reader r = {
        .bytes = bytes, .n = n, .file_bytes = tutti__max(file_bytes, (tutti_off)n), .c = &c};
    const tutti_err e = decode_header(&r);
    if (e == TUTTI_OK)
        *out = c;
    else
        tutti__cdf_free(&c);
    return e;
}
