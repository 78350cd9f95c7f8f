/* TEST ranks=0 timeout=60 */
/* Random headers are encoded and decoded without change, and variables have the offsets of a
 * simple reference; a header of 60 000 variables takes linear time; names, types and dimensions
 * that are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>
#include "headers.h"

static tutti_off up(tutti_off x, tutti_off a) {
    return (x + a - 1) / a * a;
}

/* Compare all offsets with values computed from the model. */
static void places(const tutti__cdf *c, const model *m, tutti_off fixed, tutti_off records) {
    static const int sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    tutti_off raw[MODEL_VARS], at = c->header_bytes, record_bytes = 0;
    int has[2] = {0, 0};
    for (int i = 0; i < m->vars_n; i++) {
        raw[i] = sizes[m->vars[i].type];
        for (int d = c->vars[i].is_record; d < m->vars[i].ndims; d++)
            raw[i] *= m->dims[m->vars[i].dim[d]].length;
        has[c->vars[i].is_record]++;
    }
    for (int kind = 0; kind < 2; kind++) {
        if (has[kind]) at = up(at, kind ? records : fixed);
        if (kind) CHECK_EQ(c->record_begin, at);
        for (int i = 0; i < m->vars_n; i++) {
            if (c->vars[i].is_record != kind) continue;
            const tutti_off bytes = kind && has[1] == 1 ? raw[i] : up(raw[i], 4);
            CHECK_EQ(c->vars[i].numbers * sizes[m->vars[i].type], raw[i]);
            CHECK_EQ(c->vars[i].bytes, bytes);
            CHECK_EQ(c->vars[i].begin, at);
            CHECK_EQ(tutti__cdf_place(c, &c->vars[i], 3), at + (kind ? 3 * c->record_bytes : 0));
            at += bytes;
            if (kind) record_bytes += bytes;
        }
        if (!kind) CHECK_EQ(c->fixed_end, at);
    }
    CHECK_EQ(c->record_bytes, record_bytes);
}

static void round_trip(int version) {
    static const tutti_off aligns[] = {0, 4, 64, 4096, 12};
    const tutti__cdf_align align = {aligns[rnd(5)], aligns[rnd(5)]};
    model m;
    tutti__cdf c, back;
    void *bytes = NULL, *again = NULL;
    model_random(&m, version);
    model_make(&m, &c);
    model_same(&c, &m);
    CHECK_OK(tutti__cdf_layout(&c, &align));
    c.records = c.record_dim < 0 ? 0 : rnd(5) == 0 ? -1 : rnd(1000);
    places(&c, &m, align.fixed ? align.fixed : 4, align.records ? align.records : 4);
    CHECK_OK(tutti__cdf_encode(&c, &bytes));
    CHECK_ERR(tutti__cdf_decode(bytes, (size_t)c.header_bytes, c.fixed_end, &back), TUTTI_OK);
    model_same(&back, &m);
    places(&back, &m, align.fixed ? align.fixed : 4, align.records ? align.records : 4);
    CHECK_EQ(back.records, c.records);
    CHECK_EQ(back.header_bytes, c.header_bytes);
    CHECK_OK(tutti__cdf_encode(&back, &again));
    CHECK(memcmp(bytes, again, (size_t)c.header_bytes) == 0);
    tutti__free(bytes);
    tutti__free(again);
    tutti__cdf_free(&c);
    tutti__cdf_free(&back);
}

/* Test 60 000 variables, as in a mesh with thousands of sets: quadratic algorithms would take
 * minutes. */
static void test_many(void) {
    enum { N = 60000 };
    tutti__cdf c, back;
    char name[40];
    void *bytes = NULL;
    tutti__cdf_init(&c, 5);
    for (int i = 0; i < N; i++) {
        tutti_count dim = -1, var = -1;
        snprintf(name, sizeof name, "num_nod_ns%d", i);
        CHECK_OK(tutti__cdf_add_dim(&c, name, 1 + i % 100, &dim));
        snprintf(name, sizeof name, "node_ns%d", i);
        CHECK_OK(tutti__cdf_add_var(&c, name, TUTTI__CDF_INT64, 1, &dim, &var));
        CHECK_OK(tutti__cdf_put_text(&c, var, "name", name));
    }
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    CHECK_OK(tutti__cdf_encode(&c, &bytes));
    CHECK_OK(tutti__cdf_decode(bytes, (size_t)c.header_bytes, c.fixed_end, &back));
    CHECK_EQ(back.vars_n, N);
    for (int i = 0; i < N; i += 7) {
        snprintf(name, sizeof name, "node_ns%d", i);
        CHECK_EQ(tutti__cdf_find_var(&back, name), i);
        CHECK(strcmp(tutti__cdf_find_att(&back, i, "name")->values, name) == 0);
        CHECK_EQ(back.vars[i].begin, c.vars[i].begin);
    }
    tutti__free(bytes);
    tutti__cdf_free(&c);
    tutti__cdf_free(&back);
}

static void test_refused(void) {
    static const char *const names[] = {"",    "a/b",  " a",    "a ",       "-a",
                                        "a\n", "\x7f", "a\xff", "\xc0\x80", "\xed\xa0\x80"};
    tutti__cdf c;
    char name[300];
    const tutti_count dims[] = {0, 1}, backwards[] = {1, 0}, missing[] = {2};
    tutti__cdf_init(&c, 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_ERR(tutti__cdf_add_dim(&c, names[i], 1, NULL), TUTTI_ERR_ARG);
        CHECK_ERR(tutti__cdf_add_var(&c, names[i], 1, 0, NULL, NULL), TUTTI_ERR_ARG);
        CHECK_ERR(tutti__cdf_put_text(&c, -1, names[i], "x"), TUTTI_ERR_ARG);
    }
    memset(name, 'n', sizeof name);
    name[257] = 0;
    CHECK_ERR(tutti__cdf_add_dim(&c, name, 1, NULL), TUTTI_ERR_ARG);
    name[256] = 0;
    CHECK_OK(tutti__cdf_add_dim(&c, name, 0, NULL));
    CHECK_OK(tutti__cdf_add_dim(&c, "x", 7, NULL));
    CHECK_ERR(tutti__cdf_add_dim(&c, "x", 8, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_dim(&c, "second", 0, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_dim(&c, "y", -1, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_dim(&c, "y", (tutti_count)1 << 32, NULL), TUTTI_ERR_ARG);
    CHECK_OK(tutti__cdf_add_var(&c, "v", TUTTI__CDF_DOUBLE, 2, dims, NULL));
    CHECK_ERR(tutti__cdf_add_var(&c, "v", TUTTI__CDF_DOUBLE, 2, dims, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_var(&c, "w", TUTTI__CDF_INT64, 2, dims, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_var(&c, "w", 0, 2, dims, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_var(&c, "w", 12, 2, dims, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_var(&c, "w", 1, 2, backwards, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_add_var(&c, "w", 1, 1, missing, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_put_text(&c, 1, "units", "m"), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__cdf_put_att(&c, 0, "units", TUTTI__CDF_UINT64, 0, NULL), TUTTI_ERR_ARG);
    CHECK_EQ(c.dims_n, 2);
    CHECK_EQ(c.vars_n, 1);
    CHECK_EQ(c.vars[0].atts.n, 0);
    CHECK_ERR(tutti__cdf_layout(&c, &(tutti__cdf_align){.records = 6}), TUTTI_ERR_ARG);
    tutti__cdf_free(&c);
}

/* Check the limits of offsets and sizes in each version. */
static void test_large(void) {
    static const struct {
        int version, records;
        tutti_count first, second; /* lengths of two variables of bytes; 0: no second variable */
        tutti_err code;
    } cases[] = {
        {1, 0, 0x7ffffff0, 0, TUTTI_OK},
        {1, 0, 0x7ffffff0, 8, TUTTI_ERR_OVERFLOW}, /* y would begin beyond 2^31 */
        {1, 1, 0x7ffffff0, 0, TUTTI_OK},
        {2, 0, 0x7ffffff0, 8, TUTTI_OK},
        {2, 0, 0xfffffffc, 8, TUTTI_OK},
        {2, 1, 0xfffffffc, 8, TUTTI_OK},
        {5, 0, (tutti_count)1 << 62, 8, TUTTI_OK},
        {5, 0, (tutti_count)1 << 62, (tutti_count)1 << 62, TUTTI_ERR_OVERFLOW},
        {5, 1, (tutti_count)1 << 62, (tutti_count)1 << 62, TUTTI_ERR_OVERFLOW},
        {5, 0, INT64_MAX, 0, TUTTI_ERR_OVERFLOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tutti__cdf c, back;
        void *bytes = NULL;
        tutti__cdf_init(&c, cases[i].version);
        CHECK_OK(tutti__cdf_add_dim(&c, "t", 0, NULL));
        CHECK_OK(tutti__cdf_add_dim(&c, "x", cases[i].first, NULL));
        CHECK_OK(tutti__cdf_add_dim(&c, "y", cases[i].second + 1, NULL));
        const tutti_count x[] = {0, 1}, y[] = {0, 2};
        CHECK_OK(tutti__cdf_add_var(&c, "x", 1, 1 + cases[i].records, x + !cases[i].records, NULL));
        if (cases[i].second)
            CHECK_OK(
                tutti__cdf_add_var(&c, "y", 1, 1 + cases[i].records, y + !cases[i].records, NULL));
        check_where(cases[i].version == 1 ? "CDF-1" : cases[i].version == 2 ? "CDF-2" : "CDF-5");
        CHECK_ERR(tutti__cdf_layout(&c, NULL), cases[i].code);
        if (cases[i].code == TUTTI_OK) {
            CHECK_OK(tutti__cdf_encode(&c, &bytes));
            CHECK_OK(tutti__cdf_decode(bytes, (size_t)c.header_bytes, INT64_MAX, &back));
            CHECK_EQ(back.vars[0].begin, c.vars[0].begin);
            CHECK_EQ(back.vars[back.vars_n - 1].begin, c.vars[c.vars_n - 1].begin);
            tutti__cdf_free(&back);
            tutti__free(bytes);
        }
        tutti__cdf_free(&c);
    }
    /* CDF-2: only the last variable may exceed 4 GiB, and only if no record variable follows */
    for (int kind = 0; kind < 3; kind++) {
        tutti__cdf c;
        const tutti_count sets[] = {1, 2}, record[] = {0};
        tutti__cdf_init(&c, 2);
        CHECK_OK(tutti__cdf_add_dim(&c, "t", 0, NULL));
        CHECK_OK(tutti__cdf_add_dim(&c, "x", 1 << 20, NULL));
        CHECK_OK(tutti__cdf_add_dim(&c, "y", 1 << 13, NULL));
        CHECK_OK(tutti__cdf_add_var(&c, "large", 1, 2, sets, NULL));
        if (kind == 1) CHECK_OK(tutti__cdf_add_var(&c, "z", 1, 1, sets, NULL));
        if (kind == 2) CHECK_OK(tutti__cdf_add_var(&c, "z", 1, 1, record, NULL));
        CHECK_ERR(tutti__cdf_layout(&c, NULL), kind ? TUTTI_ERR_OVERFLOW : TUTTI_OK);
        tutti__cdf_free(&c);
    }
}

static void no_memory(void) {
    model m;
    tutti__cdf c, back;
    void *bytes = NULL;
    do model_random(&m, 5);
    while (m.vars_n < 3 || m.dims_n < 3);
    model_make(&m, &c);
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    CHECK_OK(tutti__cdf_encode(&c, &bytes));
    const long live = tutti__memory_live();
    tutti_err e = TUTTI_ERR_NOMEM;
    for (long n = 1; e == TUTTI_ERR_NOMEM && n < 10000; n++) {
        tutti__memory_fail_after(n);
        e = tutti__cdf_decode(bytes, (size_t)c.header_bytes, c.fixed_end, &back);
        tutti__memory_fail_after(0);
        if (e == TUTTI_OK) tutti__cdf_free(&back);
        CHECK_EQ(tutti__memory_live(), live);
    }
    CHECK_EQ(e, TUTTI_OK);
    tutti__free(bytes);
    tutti__cdf_free(&c);
}

int main(void) {
    check_seed((uint64_t)getpid());
    for (int i = 0; i < 400; i++) {
        static const int versions[] = {1, 2, 5};
        round_trip(versions[i % 3]);
    }
    test_many();
    test_refused();
    test_large();
    no_memory();
    for (int t = -1; t < 13; t++)
        CHECK(t == TUTTI__CDF_CHAR || tutti__cdf_size(t) == 0 ||
              tutti__cdf_of_number(tutti__cdf_number(t)) == t);
    CHECK_EQ(tutti__cdf_of_number(TUTTI_FLOAT16) + tutti__cdf_of_number(TUTTI_COMPLEX64) +
                 tutti__cdf_of_number(TUTTI_BYTES),
             0);
    return check_done();
}
