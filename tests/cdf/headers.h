/* Random headers of netCDF files, and a model of their contents.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_CDF_HEADERS_H
#define TUTTI_TESTS_CDF_HEADERS_H

#include "../check.h"
#include "cdf/cdf.h"

enum { MODEL_DIMS = 12, MODEL_VARS = 24, MODEL_ATTS = 4, MODEL_RANK = 5, MODEL_VALUES = 9 };

typedef struct model_att {
    char name[40];
    int type, n;
    unsigned char values[8 * MODEL_VALUES];
} model_att;

typedef struct model {
    int version, dims_n, vars_n, atts_n;
    struct {
        char name[40];
        tutti_count length;
    } dims[MODEL_DIMS];
    model_att atts[MODEL_ATTS];
    struct {
        char name[40];
        int type, ndims, dim[MODEL_RANK], atts_n;
        model_att atts[MODEL_ATTS];
    } vars[MODEL_VARS];
} model;

static void model_name(char *to, const char *what, int i) {
    static const char *const odd[] = {"", "_", " with spaces", "\xc3\xa9t\xc3\xa9", "-+.@", "abc"};
    snprintf(to, 40, "%s%d%s", what, i, odd[rnd(6)]);
}

static int model_atts(model_att *a, int version) {
    const int n = (int)rnd(MODEL_ATTS + 1);
    for (int i = 0; i < n; i++) {
        model_name(a[i].name, "a", i);
        a[i].type = (int)(1 + rnd(version == 5 ? 11 : 6));
        a[i].n = (int)rnd(MODEL_VALUES + 1);
        for (size_t b = 0; b < sizeof a[i].values; b++)
            a[i].values[b] = (unsigned char)('a' + rnd(26));
    }
    return n;
}

/* Make a random model with at most one dimension of length 0 (records) and variables of few values. */
static void model_random(model *m, int version) {
    int record = -1;
    *m = (model){.version = version, .dims_n = (int)rnd(MODEL_DIMS + 1)};
    for (int i = 0; i < m->dims_n; i++) {
        model_name(m->dims[i].name, "d", i);
        m->dims[i].length = 1 + rnd(6);
        if (record < 0 && rnd(4) == 0) {
            m->dims[i].length = 0;
            record = i;
        }
    }
    m->atts_n = model_atts(m->atts, version);
    m->vars_n = (int)rnd(MODEL_VARS + 1);
    for (int i = 0; i < m->vars_n; i++) {
        model_name(m->vars[i].name, "v", i);
        m->vars[i].type = (int)(1 + rnd(version == 5 ? 11 : 6));
        const int ndims = m->dims_n ? (int)rnd(MODEL_RANK) : 0;
        for (int d = 0; d < ndims; d++) {
            const int dim = (int)rnd(m->dims_n);
            if (dim == record && m->vars[i].ndims > 0) continue;
            m->vars[i].dim[m->vars[i].ndims++] = dim;
        }
        m->vars[i].atts_n = model_atts(m->vars[i].atts, version);
    }
}

static inline void model_make(const model *m, tutti__cdf *c) {
    tutti_count at = -1;
    tutti__cdf_init(c, m->version);
    for (int i = 0; i < m->dims_n; i++) {
        CHECK_OK(tutti__cdf_add_dim(c, m->dims[i].name, m->dims[i].length, &at));
        CHECK_EQ(at, i);
    }
    for (int i = 0; i < m->atts_n; i++)
        CHECK_OK(tutti__cdf_put_att(c, -1, m->atts[i].name, m->atts[i].type, m->atts[i].n,
                                    m->atts[i].values));
    for (int i = 0; i < m->vars_n; i++) {
        tutti_count dims[MODEL_RANK] = {0};
        for (int d = 0; d < m->vars[i].ndims; d++) dims[d] = m->vars[i].dim[d];
        CHECK_OK(
            tutti__cdf_add_var(c, m->vars[i].name, m->vars[i].type, m->vars[i].ndims, dims, &at));
        CHECK_EQ(at, i);
    }
    /* add attributes in round-robin order, each first with other values, which are then replaced */
    for (int k = 0; k < MODEL_ATTS; k++)
        for (int i = 0; i < m->vars_n; i++) {
            const model_att *a = &m->vars[i].atts[k];
            if (k >= m->vars[i].atts_n) continue;
            if (rnd(3) == 0) CHECK_OK(tutti__cdf_put_text(c, i, a->name, "something else"));
            CHECK_OK(tutti__cdf_put_att(c, i, a->name, a->type, a->n, a->values));
        }
}

static void model_same_atts(const tutti__cdf *c, tutti_count var, const model_att *a, int n) {
    const tutti__cdf_atts *list = var < 0 ? &c->atts : &c->vars[var].atts;
    CHECK_EQ(list->n, n);
    for (int i = 0; i < n && i < list->n; i++) {
        CHECK(strcmp(list->v[i].name, a[i].name) == 0);
        CHECK_EQ(list->v[i].type, a[i].type);
        CHECK_EQ(list->v[i].n, a[i].n);
        CHECK(memcmp(list->v[i].values, a[i].values,
                     (size_t)a[i].n * (size_t)tutti__cdf_size(a[i].type)) == 0);
        if (a[i].type == TUTTI__CDF_CHAR) CHECK(((char *)list->v[i].values)[a[i].n] == 0);
        CHECK(tutti__cdf_find_att(c, var, a[i].name) == &list->v[i]);
    }
    CHECK(tutti__cdf_find_att(c, var, "none of these") == NULL);
}

static inline void model_same(const tutti__cdf *c, const model *m) {
    tutti_count record = -1;
    CHECK_EQ(c->version, m->version);
    CHECK_EQ(c->dims_n, m->dims_n);
    CHECK_EQ(c->vars_n, m->vars_n);
    for (int i = 0; i < m->dims_n && i < c->dims_n; i++) {
        CHECK(strcmp(c->dims[i].name, m->dims[i].name) == 0);
        CHECK_EQ(c->dims[i].length, m->dims[i].length);
        CHECK_EQ(tutti__cdf_find_dim(c, m->dims[i].name), i);
        if (m->dims[i].length == 0) record = i;
    }
    CHECK_EQ(c->record_dim, record);
    CHECK_EQ(tutti__cdf_find_dim(c, "v0"), -1);
    model_same_atts(c, -1, m->atts, m->atts_n);
    for (int i = 0; i < m->vars_n && i < c->vars_n; i++) {
        CHECK(strcmp(c->vars[i].name, m->vars[i].name) == 0);
        CHECK_EQ(c->vars[i].type, m->vars[i].type);
        CHECK_EQ(c->vars[i].ndims, m->vars[i].ndims);
        for (int d = 0; d < m->vars[i].ndims; d++) CHECK_EQ(c->vars[i].dim[d], m->vars[i].dim[d]);
        CHECK_EQ(c->vars[i].is_record, m->vars[i].ndims > 0 && m->vars[i].dim[0] == record);
        CHECK_EQ(tutti__cdf_find_var(c, m->vars[i].name), i);
        model_same_atts(c, i, m->vars[i].atts, m->vars[i].atts_n);
    }
}

#endif
