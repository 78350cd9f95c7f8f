/* cdf: assigning offsets to variables, and encoding a header.
 *
 * The length of a header does not depend on the offsets in it, so one pass computes the offsets and
 * another the bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cdf/cdf_impl.h"

#include <string.h>

/* ---- length of the header */

static tutti_off name_bytes(int word, const char *name) {
    return word + tutti__align_up((tutti_off)strlen(name), 4);
}

static tutti_off atts_bytes(int word, const tutti__cdf_atts *a) {
    tutti_off n = 4 + word;
    for (tutti_count i = 0; i < a->n; i++)
        n += name_bytes(word, a->v[i].name) + 4 + word +
             tutti__align_up(a->v[i].n * tutti__cdf_size(a->v[i].type), 4);
    return n;
}

static tutti_off header_bytes(const tutti__cdf *c) {
    const int word = tutti__cdf_word(c->version), offset = tutti__cdf_offset(c->version);
    tutti_off n = 4 + word + 4 + word;
    for (tutti_count i = 0; i < c->dims_n; i++) n += name_bytes(word, c->dims[i].name) + word;
    n += atts_bytes(word, &c->atts) + 4 + word;
    for (tutti_count i = 0; i < c->vars_n; i++)
        n += name_bytes(word, c->vars[i].name) + word + (tutti_off)c->vars[i].ndims * word +
             atts_bytes(word, &c->vars[i].atts) + 4 + word + offset;
    return n;
}

/* ---- offsets of variables */

/* Assign offsets to the fixed or the record variables, starting at *at, which is advanced.  In
 * CDF-1 and CDF-2 only the last variable may be large; CDF-1 offsets have 31 bits. */
static tutti_err place_variables(tutti__cdf *c, int is_record, int records_follow, tutti_off *at) {
    const tutti_off most_bytes = c->version == 1   ? (tutti_off)INT32_MAX - 3
                                 : c->version == 2 ? (tutti_off)UINT32_MAX - 3
                                                   : INT64_MAX;
    const tutti_off most_begin = c->version == 1 ? INT32_MAX : INT64_MAX;
    const tutti__cdf_var *large = NULL;
    for (tutti_count i = 0; i < c->vars_n; i++) {
        tutti__cdf_var *v = &c->vars[i];
        if (v->is_record != is_record) continue;
        TUTTI_CHECK(
            !large, TUTTI_ERR_OVERFLOW,
            "variable '%s' has %lld bytes: in CDF-%d only the last variable may exceed %lld bytes",
            large->name, (long long)large->bytes, c->version, (long long)most_bytes);
        TUTTI_CHECK(*at <= most_begin, TUTTI_ERR_OVERFLOW,
                    "offset of variable '%s' is %lld: must be <= %lld in CDF-%d", v->name,
                    (long long)*at, (long long)most_begin, c->version);
        if (v->bytes > most_bytes) large = v;
        v->begin = *at;
        TUTTI_CHECK(tutti__add_ok(*at, v->bytes, at) && *at <= INT64_MAX - 4, TUTTI_ERR_OVERFLOW,
                    "variable '%s' has offset %lld and %lld bytes: must end before 2^63", v->name,
                    (long long)v->begin, (long long)v->bytes);
    }
    TUTTI_CHECK(
        !large || !records_follow, TUTTI_ERR_OVERFLOW,
        "variable '%s' has %lld bytes: in CDF-%d only the last variable may exceed %lld bytes",
        large->name, (long long)large->bytes, c->version, (long long)most_bytes);
    return TUTTI_OK;
}

static tutti_err align_check(tutti_off a) {
    TUTTI_CHECK(a == 0 || (a >= 4 && a % 4 == 0 && a <= (tutti_off)1 << 40), TUTTI_ERR_ARG,
                "alignment is %lld bytes: must be 0 or a multiple of 4 up to 2^40", (long long)a);
    return TUTTI_OK;
}

tutti_err tutti__cdf_layout(tutti__cdf *c, const tutti__cdf_align *align) {
    const tutti_off fixed = align && align->fixed ? align->fixed : 4,
                    records = align && align->records ? align->records : 4;
    TUTTI_TRY(align_check(fixed));
    TUTTI_TRY(align_check(records));
    int has_fixed = 0, has_records = 0;
    TUTTI_TRY(tutti__cdf_sizes(c));
    for (tutti_count i = 0; i < c->vars_n; i++) {
        has_fixed |= !c->vars[i].is_record;
        has_records |= c->vars[i].is_record;
    }
    c->header_bytes = header_bytes(c);
    tutti_off at = has_fixed ? tutti__align_up(c->header_bytes, fixed) : c->header_bytes;
    TUTTI_TRY(place_variables(c, 0, has_records, &at));
    c->fixed_end = at;
    if (has_records) {
        TUTTI_CHECK(at <= INT64_MAX - records, TUTTI_ERR_OVERFLOW,
                    "end of the fixed variables is %lld: cannot be aligned to %lld bytes",
                    (long long)at, (long long)records);
        at = tutti__align_up(at, records);
    }
    c->record_begin = at;
    return place_variables(c, 1, 0, &at);
}

/* ---- encoding */

typedef struct writer {
    unsigned char *at; /* next byte to write */
    int word, offset;  /* bytes of a count, and of an offset */
} writer;

static void put_number(writer *w, int bytes, uint64_t v) {
    for (int i = bytes; i-- > 0; v >>= 8) w->at[i] = (unsigned char)v;
    w->at += bytes;
}

static void put_padded(writer *w, size_t bytes) {
    memset(w->at + bytes, 0, (4 - bytes % 4) % 4);
    w->at += (bytes + 3) / 4 * 4;
}

static void put_name(writer *w, const char *name) {
    const size_t n = strlen(name);
    put_number(w, w->word, n);
    memcpy(w->at, name, n);
    put_padded(w, n);
}

static void put_list_head(writer *w, unsigned tag, tutti_count n) {
    put_number(w, 4, n ? tag : 0);
    put_number(w, w->word, (uint64_t)n);
}

static void put_atts(writer *w, const tutti__cdf_atts *a) {
    put_list_head(w, TUTTI__CDF_ATTS, a->n);
    for (tutti_count i = 0; i < a->n; i++) {
        const tutti__cdf_att *t = &a->v[i];
        put_name(w, t->name);
        put_number(w, 4, (uint64_t)t->type);
        put_number(w, w->word, (uint64_t)t->n);
        tutti__cdf_swap(w->at, t->values, t->n, t->type);
        put_padded(w, (size_t)t->n * (size_t)tutti__cdf_size(t->type));
    }
}

tutti_err tutti__cdf_encode(const tutti__cdf *c, void **out) {
    const tutti_off bytes = header_bytes(c);
    TUTTI_CHECK(bytes == c->header_bytes, TUTTI_ERR_STATE,
                "header has %lld bytes, but had %lld when offsets were assigned", (long long)bytes,
                (long long)c->header_bytes);
    TUTTI_CHECK(c->version == 5 || c->records <= UINT32_MAX - (tutti_count)1, TUTTI_ERR_OVERFLOW,
                "file has %lld records: CDF-%d supports at most %lld", (long long)c->records,
                c->version, (long long)UINT32_MAX - 1);
    unsigned char *p = tutti__malloc((size_t)bytes);
    if (!p) return TUTTI_ERR_NOMEM;
    writer w = {p, tutti__cdf_word(c->version), tutti__cdf_offset(c->version)};
    memcpy(w.at, "CDF", 3);
    w.at[3] = (unsigned char)c->version;
    w.at += 4;
    put_number(&w, w.word, (uint64_t)c->records); /* -1 (unknown) is stored as all ones */
    put_list_head(&w, TUTTI__CDF_DIMS, c->dims_n);
    for (tutti_count i = 0; i < c->dims_n; i++) {
        put_name(&w, c->dims[i].name);
        put_number(&w, w.word, (uint64_t)c->dims[i].length);
    }
    put_atts(&w, &c->atts);
    put_list_head(&w, TUTTI__CDF_VARS, c->vars_n);
    for (tutti_count i = 0; i < c->vars_n; i++) {
        const tutti__cdf_var *v = &c->vars[i];
        put_name(&w, v->name);
        put_number(&w, w.word, (uint64_t)v->ndims);
        for (int d = 0; d < v->ndims; d++) put_number(&w, w.word, (uint64_t)v->dim[d]);
        put_atts(&w, &v->atts);
        put_number(&w, 4, (uint64_t)v->type);
        /* vsize is the padded size; in CDF-1 and CDF-2 a larger size is stored as 2^32 - 1 */
        const uint64_t size = (uint64_t)tutti__align_up(tutti__cdf_raw(v), 4);
        put_number(&w, w.word,
                   (c->version != 5 && size > (uint64_t)UINT32_MAX - 3 ? UINT32_MAX : size));
        put_number(&w, w.offset, (uint64_t)v->begin);
    }
    TUTTI_ASSERT(w.at == p + bytes);
    *out = p;
    return TUTTI_OK;
}
