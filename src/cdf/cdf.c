/* cdf: a header in memory: dimensions, variables and attributes, added one by one and found by
 * name.
 *
 * All names (of dimensions, variables and attributes) are in one hash table, together with their
 * owners, so that headers with 100 000 variables are created and read in linear time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cdf/cdf_impl.h"

#include <limits.h>
#include <string.h>
#include "base/hash.h"
#include "base/utf8.h"

/* ---- types */

static const struct {
    tutti_type number;
    tutti_off size;
} types[] = {
    [TUTTI__CDF_BYTE] = {TUTTI_INT8, 1},     [TUTTI__CDF_CHAR] = {TUTTI_UINT8, 1},
    [TUTTI__CDF_SHORT] = {TUTTI_INT16, 2},   [TUTTI__CDF_INT] = {TUTTI_INT32, 4},
    [TUTTI__CDF_FLOAT] = {TUTTI_FLOAT32, 4}, [TUTTI__CDF_DOUBLE] = {TUTTI_FLOAT64, 8},
    [TUTTI__CDF_UBYTE] = {TUTTI_UINT8, 1},   [TUTTI__CDF_USHORT] = {TUTTI_UINT16, 2},
    [TUTTI__CDF_UINT] = {TUTTI_UINT32, 4},   [TUTTI__CDF_INT64] = {TUTTI_INT64, 8},
    [TUTTI__CDF_UINT64] = {TUTTI_UINT64, 8},
};

static int is_cdf_type(int type) {
    return type >= TUTTI__CDF_BYTE && type <= TUTTI__CDF_UINT64;
}

tutti_type tutti__cdf_number(int type) {
    return is_cdf_type(type) ? types[type].number : TUTTI_BYTES;
}

tutti_off tutti__cdf_size(int type) {
    return is_cdf_type(type) ? types[type].size : 0;
}

int tutti__cdf_of_number(tutti_type type) {
    for (int t = TUTTI__CDF_UINT64; t >= TUTTI__CDF_BYTE; t--)
        if (types[t].number == type && t != TUTTI__CDF_CHAR) return t;
    return 0;
}

/* ---- names */

/* owners of names; -1: attributes of the file; i >= 0: attributes of variable i */
enum { OF_DIMS = -3, OF_VARS = -2 };

typedef struct slot {
    uint64_t hash;
    tutti_count of, index; /* owner; 1 + index among the names of the owner, 0: the slot is free */
} slot;

struct tutti__cdf_names {
    size_t n, capacity; /* used slots; all slots, a power of two or 0 */
    slot *v;            /* [capacity] */
};

static uint64_t hash_of(tutti_count of, const char *name, size_t bytes) {
    return tutti__hash(tutti__hash(TUTTI__HASH_START, &of, sizeof of), name, bytes);
}

static const tutti__cdf_atts *atts_of(const tutti__cdf *c, tutti_count var) {
    return var < 0 ? &c->atts : &c->vars[var].atts;
}

static tutti_count name_find(const tutti__cdf *c, tutti_count of, const char *name, size_t bytes) {
    const struct tutti__cdf_names *t = c->names;
    const uint64_t hash = hash_of(of, name, bytes);
    if (!t) return -1;
    for (size_t i = hash & (t->capacity - 1); t->v[i].index; i = (i + 1) & (t->capacity - 1)) {
        const slot *s = &t->v[i];
        if (s->hash != hash || s->of != of) continue;
        const tutti_count at = s->index - 1;
        const char *there = s->of == OF_DIMS   ? c->dims[at].name
                            : s->of == OF_VARS ? c->vars[at].name
                                               : atts_of(c, s->of)->v[at].name;
        if (strncmp(there, name, bytes) == 0 && !there[bytes]) return s->index - 1;
    }
    return -1;
}

static void slot_put(struct tutti__cdf_names *t, const slot *s) {
    size_t i = s->hash & (t->capacity - 1);
    while (t->v[i].index) i = (i + 1) & (t->capacity - 1);
    t->v[i] = *s;
}

/* Ensure that one more name can be added with at most two thirds of the slots used. */
static tutti_err names_grow(tutti__cdf *c) {
    struct tutti__cdf_names *t = c->names;
    if (!t) {
        c->names = t = tutti__calloc(1, sizeof *t);
        if (!t) return TUTTI_ERR_NOMEM;
    }
    if ((t->n + 1) * 3 <= t->capacity * 2) return TUTTI_OK;
    struct tutti__cdf_names larger = {.n = t->n, .capacity = t->capacity ? 2 * t->capacity : 64};
    larger.v = tutti__calloc(larger.capacity, sizeof *larger.v);
    if (!larger.v) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->v[i].index) slot_put(&larger, &t->v[i]);
    tutti__free(t->v);
    *t = larger;
    return TUTTI_OK;
}

static void name_enter(tutti__cdf *c, tutti_count of, const char *name, tutti_count index) {
    const slot s = {hash_of(of, name, strlen(name)), of, index + 1};
    slot_put(c->names, &s);
    c->names->n++;
}

tutti_err tutti__cdf_name_check(const char *name, const char *what) {
    const unsigned char *p = (const unsigned char *)name;
    const size_t n = name ? strlen(name) : 0;
    TUTTI_CHECK(name, TUTTI_ERR_ARG, "name of %s is NULL", what);
    TUTTI_CHECK(n > 0 && n <= TUTTI__CDF_NAME, TUTTI_ERR_ARG,
                "name of %s has %zu bytes: netCDF supports 1 to %d", what, n, TUTTI__CDF_NAME);
    const int first = (p[0] >= 'a' && p[0] <= 'z') || (p[0] >= 'A' && p[0] <= 'Z') ||
                      (p[0] >= '0' && p[0] <= '9') || p[0] == '_' || p[0] >= 0x80;
    int right = first && p[n - 1] != ' ' && tutti__utf8_valid(p, n);
    for (size_t i = 0; i < n; i++) right &= p[i] >= 0x20 && p[i] != 0x7f && p[i] != '/';
    TUTTI_CHECK(right, TUTTI_ERR_ARG,
                "'%s' is not a valid netCDF name for %s: must be UTF-8, begin with a letter, digit "
                "or '_', contain no '/' or control character, and not end with a space",
                name, what);
    return TUTTI_OK;
}

/* ---- dimensions, variables, attributes */

void tutti__cdf_init(tutti__cdf *c, int version) {
    *c = (tutti__cdf){.version = version, .record_dim = -1};
}

static void atts_free(tutti__cdf_atts *a) {
    for (tutti_count i = 0; i < a->n; i++) {
        tutti__free(a->v[i].name);
        tutti__free(a->v[i].values);
    }
    tutti__free(a->v);
}

void tutti__cdf_free(tutti__cdf *c) {
    for (tutti_count i = 0; i < c->dims_n; i++) tutti__free(c->dims[i].name);
    for (tutti_count i = 0; i < c->vars_n; i++) {
        tutti__free(c->vars[i].name);
        tutti__free(c->vars[i].dim);
        atts_free(&c->vars[i].atts);
    }
    atts_free(&c->atts);
    tutti__free(c->dims);
    tutti__free(c->vars);
    if (c->names) tutti__free(c->names->v);
    tutti__free(c->names);
    *c = (tutti__cdf){.record_dim = -1};
}

static tutti_err copy_name(const char *name, size_t bytes, char **out) {
    char *p = tutti__malloc(bytes + 1);
    if (!p) return TUTTI_ERR_NOMEM;
    memcpy(p, name, bytes);
    p[bytes] = 0;
    *out = p;
    return TUTTI_OK;
}

static tutti_err type_check(const tutti__cdf *c, int type, const char *name, size_t bytes) {
    TUTTI_CHECK(is_cdf_type(type), TUTTI_ERR_ARG,
                "'%.*s' has type %d, which netCDF does not support", (int)bytes, name, type);
    TUTTI_CHECK(type <= TUTTI__CDF_DOUBLE || c->version == 5, TUTTI_ERR_ARG,
                "'%.*s' has type %s, which requires CDF-5: the file is CDF-%d", (int)bytes, name,
                tutti_type_name(types[type].number), c->version);
    return TUTTI_OK;
}

tutti_err tutti__cdf_dim_put(tutti__cdf *c, const char *name, size_t bytes, tutti_count length,
                             tutti_count *out) {
    const tutti_count most = c->version == 5   ? INT64_MAX
                             : c->version == 2 ? (tutti_count)UINT32_MAX - 3
                                               : INT32_MAX;
    TUTTI_CHECK(length >= 0 && length <= most, TUTTI_ERR_ARG,
                "dimension '%.*s' has length %lld: CDF-%d supports up to %lld", (int)bytes, name,
                (long long)length, c->version, (long long)most);
    TUTTI_CHECK(length > 0 || c->record_dim < 0, TUTTI_ERR_ARG,
                "'%.*s' cannot be a record dimension: '%s' is already the record dimension",
                (int)bytes, name, c->dims[c->record_dim].name);
    TUTTI_CHECK(name_find(c, OF_DIMS, name, bytes) < 0, TUTTI_ERR_ARG, "duplicate dimension '%.*s'",
                (int)bytes, name);
    TUTTI_TRY(names_grow(c));
    TUTTI_TRY(tutti__grow(&c->dims, (size_t)c->dims_n + 1, &c->dims_capacity, sizeof *c->dims));
    tutti__cdf_dim *d = &c->dims[c->dims_n];
    TUTTI_TRY(copy_name(name, bytes, &d->name));
    d->length = length;
    if (length == 0) c->record_dim = c->dims_n;
    name_enter(c, OF_DIMS, d->name, c->dims_n);
    if (out) *out = c->dims_n;
    c->dims_n++;
    return TUTTI_OK;
}

tutti_err tutti__cdf_add_dim(tutti__cdf *c, const char *name, tutti_count length,
                             tutti_count *out) {
    TUTTI_TRY(tutti__cdf_name_check(name, "a dimension"));
    return tutti__cdf_dim_put(c, name, strlen(name), length, out);
}

tutti_err tutti__cdf_var_put(tutti__cdf *c, const char *name, size_t bytes,
                             const tutti__cdf_var *like, tutti_count *out) {
    tutti__cdf_var v = {.type = like->type, .ndims = like->ndims, .begin = like->begin};
    TUTTI_TRY(type_check(c, v.type, name, bytes));
    TUTTI_CHECK(v.ndims >= 0 && v.ndims <= TUTTI__CDF_RANK, TUTTI_ERR_ARG,
                "'%.*s' has %d dimensions: netCDF supports up to %d", (int)bytes, name, v.ndims,
                TUTTI__CDF_RANK);
    for (int d = 0; d < v.ndims; d++) {
        TUTTI_CHECK(like->dim[d] >= 0 && like->dim[d] < c->dims_n, TUTTI_ERR_ARG,
                    "dimension %d of '%.*s' is number %lld: only %lld dimensions exist", d,
                    (int)bytes, name, (long long)like->dim[d], (long long)c->dims_n);
        TUTTI_CHECK(d == 0 || like->dim[d] != c->record_dim, TUTTI_ERR_ARG,
                    "record dimension is dimension %d of '%.*s': must be the first", d, (int)bytes,
                    name);
    }
    TUTTI_CHECK(name_find(c, OF_VARS, name, bytes) < 0, TUTTI_ERR_ARG, "duplicate variable '%.*s'",
                (int)bytes, name);
    v.is_record = v.ndims > 0 && like->dim[0] == c->record_dim;
    TUTTI_TRY(names_grow(c));
    TUTTI_TRY(tutti__grow(&c->vars, (size_t)c->vars_n + 1, &c->vars_capacity, sizeof *c->vars));
    TUTTI_TRY(copy_name(name, bytes, &v.name));
    v.dim = tutti__malloc((size_t)v.ndims * sizeof *v.dim);
    if (!v.dim) {
        tutti__free(v.name);
        return TUTTI_ERR_NOMEM;
    }
    if (v.ndims) memcpy(v.dim, like->dim, (size_t)v.ndims * sizeof *v.dim);
    c->vars[c->vars_n] = v;
    name_enter(c, OF_VARS, v.name, c->vars_n);
    if (out) *out = c->vars_n;
    c->vars_n++;
    return TUTTI_OK;
}

tutti_err tutti__cdf_add_var(tutti__cdf *c, const char *name, int type, int ndims,
                             const tutti_count *dims, tutti_count *out) {
    const tutti__cdf_var like = {.type = type, .ndims = ndims, .dim = (tutti_count *)dims};
    TUTTI_TRY(tutti__cdf_name_check(name, "a variable"));
    return tutti__cdf_var_put(c, name, strlen(name), &like, out);
}

/* Allocate zeroed values of an attribute, with an additional 0 after text. */
static tutti_err values_new(const char *name, size_t length, const tutti__cdf_att *a, void **out) {
    tutti_off bytes = 0;
    TUTTI_CHECK(a->n >= 0, TUTTI_ERR_ARG, "attribute '%.*s' has %lld values: must be >= 0",
                (int)length, name, (long long)a->n);
    TUTTI_CHECK(tutti__mul_ok(a->n, tutti__cdf_size(a->type), &bytes) && bytes < INT64_MAX - 8,
                TUTTI_ERR_ARG, "attribute '%.*s' has %lld values of %d bytes: exceeds 2^63 bytes",
                (int)length, name, (long long)a->n, (int)tutti__cdf_size(a->type));
    *out = tutti__calloc((size_t)bytes + (a->type == TUTTI__CDF_CHAR), 1);
    return *out ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__cdf_att_new(tutti__cdf *c, tutti_count var, const char *name, size_t bytes,
                             const tutti__cdf_att *like, void **values_out) {
    tutti__cdf_att a = {.type = like->type, .n = like->n};
    tutti__cdf_atts *list = var < 0 ? &c->atts : &c->vars[var].atts;
    TUTTI_TRY(type_check(c, a.type, name, bytes));
    TUTTI_CHECK(name_find(c, var, name, bytes) < 0, TUTTI_ERR_ARG, "duplicate attribute '%.*s'",
                (int)bytes, name);
    TUTTI_TRY(names_grow(c));
    TUTTI_TRY(tutti__grow(&list->v, (size_t)list->n + 1, &list->capacity, sizeof *list->v));
    TUTTI_TRY(values_new(name, bytes, &a, &a.values));
    const tutti_err e = copy_name(name, bytes, &a.name);
    if (e != TUTTI_OK) {
        tutti__free(a.values);
        return e;
    }
    list->v[list->n] = a;
    name_enter(c, var, a.name, list->n);
    list->n++;
    *values_out = a.values;
    return TUTTI_OK;
}

tutti_err tutti__cdf_put_att(tutti__cdf *c, tutti_count var, const char *name, int type,
                             tutti_count n, const void *values) {
    const tutti__cdf_att like = {.type = type, .n = n};
    void *memory = NULL;
    TUTTI_CHECK(var >= -1 && var < c->vars_n, TUTTI_ERR_ARG,
                "variable of the attribute is %lld: must be -1 (global) to %lld", (long long)var,
                (long long)c->vars_n - 1);
    TUTTI_TRY(tutti__cdf_name_check(name, "an attribute"));
    const tutti_count there = name_find(c, var, name, strlen(name));
    if (there < 0) {
        TUTTI_TRY(tutti__cdf_att_new(c, var, name, strlen(name), &like, &memory));
    } else {
        tutti__cdf_att *a = &(var < 0 ? &c->atts : &c->vars[var].atts)->v[there];
        TUTTI_TRY(type_check(c, type, name, strlen(name)));
        TUTTI_TRY(values_new(name, strlen(name), &like, &memory));
        tutti__free(a->values);
        *a = (tutti__cdf_att){.name = a->name, .type = type, .n = n, .values = memory};
    }
    TUTTI_ASSERT(memory);
    if (n) memcpy(memory, values, (size_t)n * (size_t)tutti__cdf_size(type));
    return TUTTI_OK;
}

tutti_err tutti__cdf_put_text(tutti__cdf *c, tutti_count var, const char *name, const char *text) {
    return tutti__cdf_put_att(c, var, name, TUTTI__CDF_CHAR, (tutti_count)strlen(text), text);
}

tutti_count tutti__cdf_find_dim(const tutti__cdf *c, const char *name) {
    return name_find(c, OF_DIMS, name, strlen(name));
}

tutti_count tutti__cdf_find_var(const tutti__cdf *c, const char *name) {
    return name_find(c, OF_VARS, name, strlen(name));
}

const tutti__cdf_att *tutti__cdf_find_att(const tutti__cdf *c, tutti_count var, const char *name) {
    const tutti_count i = var >= -1 && var < c->vars_n ? name_find(c, var, name, strlen(name)) : -1;
    return i < 0 ? NULL : &atts_of(c, var)->v[i];
}

/* ---- sizes */

tutti_err tutti__cdf_sizes(tutti__cdf *c) {
    tutti_count records_n = 0, single = -1;
    c->record_bytes = 0;
    for (tutti_count i = 0; i < c->vars_n; i++) {
        tutti__cdf_var *v = &c->vars[i];
        tutti_off raw = 0;
        v->numbers = 1;
        int fits = 1;
        for (int d = v->is_record ? 1 : 0; d < v->ndims && fits; d++)
            fits = tutti__mul_ok(v->numbers, c->dims[v->dim[d]].length, &v->numbers);
        fits = fits && tutti__mul_ok(v->numbers, tutti__cdf_size(v->type), &raw) &&
               raw <= INT64_MAX - 3;
        TUTTI_CHECK(fits, TUTTI_ERR_OVERFLOW, "size of variable '%s' exceeds 2^63 bytes", v->name);
        v->bytes = tutti__align_up(raw, 4);
        if (!v->is_record) continue;
        records_n++;
        single = i;
        TUTTI_CHECK(tutti__add_ok(c->record_bytes, v->bytes, &c->record_bytes), TUTTI_ERR_OVERFLOW,
                    "size of a record exceeds 2^63 bytes");
    }
    if (records_n == 1) c->record_bytes = c->vars[single].bytes = tutti__cdf_raw(&c->vars[single]);
    return TUTTI_OK;
}

void tutti__cdf_swap(void *to, const void *from, tutti_count n, int type) {
    const size_t size = (size_t)tutti__cdf_size(type), bytes = (size_t)n * size;
    const unsigned char *f = from;
    unsigned char *t = to;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(t, f, bytes);
#else
    for (size_t i = 0; i < bytes; i += size)
        for (size_t b = 0; b < size; b++) t[i + b] = f[i + size - 1 - b];
#endif
}
