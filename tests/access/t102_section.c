/* TEST ranks=0 timeout=120 */
/* Sections of 1 to 5 dimensions in both orders, strided, with memory sections of either order and
 * with ghost cells, compared with element-by-element loops; invalid sections are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

/* Return the offset of the element index[0..ndims). */
static int64_t element(const tutti_section *s, const int64_t *index) {
    int64_t at = 0;
    for (int k = 0; k < s->ndims; k++) {
        const int d = s->order == TUTTI_ROW_MAJOR ? k : s->ndims - 1 - k;
        at = at * s->shape[d] + index[d];
    }
    return s->offset + at * s->element_size;
}

static int64_t make_step(const tutti_section *s, int d) {
    return s->stride[d] ? s->stride[d] : 1;
}

/* Return the offset of the selected element with number i[d] in each dimension d. */
static int64_t selected(const tutti_section *s, const int64_t *i) {
    int64_t index[TUTTI_MAX_DIMS];
    for (int d = 0; d < s->ndims; d++) index[d] = s->lo[d] + i[d] * make_step(s, d);
    return element(s, index);
}

static int64_t chosen(const tutti_section *s, int d) {
    return (s->hi[d] - s->lo[d] + make_step(s, d) - 1) / make_step(s, d);
}

/* Append all selected elements to the model in the order of the file. */
static void section_model(const tutti_section *f, const tutti_section *mem, model *m) {
    int64_t i[TUTTI_MAX_DIMS] = {0}, packed = 0;
    for (int d = 0; d < f->ndims; d++)
        if (chosen(f, d) == 0) return;
    for (;;) {
        model_add_run(m, selected(f, i), mem ? selected(mem, i) : packed, f->element_size);
        packed += f->element_size;
        int k = 0;
        for (; k < f->ndims; k++) {
            const int d = f->order == TUTTI_ROW_MAJOR ? f->ndims - 1 - k : k;
            if (++i[d] < chosen(f, d)) break;
            i[d] = 0;
        }
        if (k == f->ndims) return;
    }
}

static tutti_section random_section(int ndims, int64_t element_size) {
    static const int64_t most[6] = {0, 40, 12, 7, 5, 4};
    tutti_section s = {.ndims = ndims, .element_size = element_size, .offset = rnd(50)};
    s.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    for (int d = 0; d < ndims; d++) {
        s.shape[d] = 1 + rnd(most[ndims]);
        s.lo[d] = rnd(3) ? rnd(s.shape[d]) : 0;
        s.hi[d] = rnd(3) ? s.lo[d] + 1 + rnd(s.shape[d] - s.lo[d]) : s.shape[d];
        if (rnd(60) == 0) s.hi[d] = s.lo[d];
        s.stride[d] = rnd(3) ? rnd(2) : 1 + rnd(4);
    }
    return s;
}

/* Return a section in memory with as many selected elements as `f`, but other strides, and ghost
 * cells. */
static tutti_section memory_for(const tutti_section *f) {
    tutti_section s = {.ndims = f->ndims, .element_size = f->element_size, .offset = rnd(60) - 30};
    s.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    for (int d = 0; d < f->ndims; d++) {
        const int64_t n = chosen(f, d);
        s.stride[d] = rnd(2) ? 1 : 1 + rnd(3);
        s.lo[d] = rnd(3);
        s.hi[d] = s.lo[d] + (n ? (n - 1) * s.stride[d] + 1 : 0);
        s.shape[d] = s.hi[d] + rnd(3);
    }
    return s;
}

static void random_round(void) {
    const int ndims = 1 + (int)rnd(5), with_memory = (int)rnd(3) > 0;
    const tutti_section f = random_section(ndims, 1 + rnd(9)), mem = memory_for(&f);
    model m = {0, 0, NULL, NULL, NULL};
    tutti_access *a = NULL;
    section_model(&f, with_memory ? &mem : NULL, &m);
    CHECK_OK(tutti_access_section(&f, with_memory ? &mem : NULL, &a));
    if (!a) return;
    check_model(a, &m);
    CHECK(tutti__side_monotone(a->file), " ");
    for (int i = 0; i < 3 && m.n; i++) {
        const int64_t lo = m.file[rnd(m.n)] + rnd(3) - 1, hi = m.file[rnd(m.n)] + 1;
        int64_t from = 0, to = 0;
        while (from < m.n && m.file[from] < lo) from++;
        to = from;
        while (to < m.n && m.file[to] < hi) to++;
        const model part = {to - from, 0, m.file + from, m.memory + from, NULL};
        tutti_access *c = NULL;
        CHECK_OK(tutti_access_clip(a, lo, hi, &c));
        check_model(c, &part);
        tutti_access_free(&c);
    }
    model_free(&m);
    tutti_access_free(&a);
}

static void check_refused(tutti_section s, tutti_err code, const char *word) {
    tutti_access *a = NULL;
    CHECK_ERR(tutti_access_section(&s, NULL, &a), code);
    CHECK(a == NULL, " ");
    CHECK(strstr(tutti_last_message(), word), "\"%s\" does not say \"%s\"", tutti_last_message(),
          word);
}

static void test_refusals(void) {
    const tutti_section good = {.ndims = 3,
                                .element_size = 8,
                                .shape = {10, 10, 10},
                                .lo = {1, 2, 3},
                                .hi = {5, 6, 7},
                                .stride = {1, 0, 2}};
    tutti_access *a = NULL;
    tutti_section s = good;
    CHECK_OK(tutti_access_section(&s, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), 4 * 4 * 2 * 8);
    tutti_access_free(&a);
    s.ndims = 0, check_refused(s, TUTTI_ERR_ARG, "ndims"), s = good;
    s.ndims = TUTTI_MAX_DIMS + 1, check_refused(s, TUTTI_ERR_ARG, "ndims"), s = good;
    s.order = (tutti_order)7, check_refused(s, TUTTI_ERR_ARG, "order"), s = good;
    s.element_size = 0, check_refused(s, TUTTI_ERR_ARG, "element_size"), s = good;
    s.offset = -1, check_refused(s, TUTTI_ERR_ARG, "offset"), s = good;
    s.lo[1] = -1, check_refused(s, TUTTI_ERR_ARG, "dimension 1"), s = good;
    s.hi[2] = 11, check_refused(s, TUTTI_ERR_ARG, "dimension 2"), s = good;
    s.stride[0] = -1, check_refused(s, TUTTI_ERR_ARG, "dimension 0"), s = good;
    s.shape[0] = -1, check_refused(s, TUTTI_ERR_ARG, "dimension 0"), s = good;
    s.shape[1] = INT64_MAX / 8, check_refused(s, TUTTI_ERR_OVERFLOW, "dimension 1"), s = good;
    s.shape[0] = s.shape[1] = s.shape[2] = (int64_t)1 << 31;
    check_refused(s, TUTTI_ERR_OVERFLOW, "dimension"), s = good;
    s.offset = INT64_MAX - 100, check_refused(s, TUTTI_ERR_OVERFLOW, ""), s = good;

    tutti_section memory = good;
    memory.hi[1] = 5;
    CHECK_ERR(tutti_access_section(&good, &memory, &a), TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "dimension 1"), "%s", tutti_last_message());
    memory = good, memory.element_size = 4;
    CHECK_ERR(tutti_access_section(&good, &memory, &a), TUTTI_ERR_ARG);
    memory = good, memory.ndims = 2;
    CHECK_ERR(tutti_access_section(&good, &memory, &a), TUTTI_ERR_ARG);
    memory = good, memory.offset = -1000;
    CHECK_OK(tutti_access_section(&good, &memory, &a));
    tutti_access_free(&a);
    /* empty sections at any offset, with an empty memory section */
    const tutti_section nothing[] = {
        {.ndims = 1, .element_size = 8, .shape = {9}, .lo = {4}, .hi = {4}},
        {.ndims = 1, .element_size = 8, .shape = {9}, .lo = {5}, .hi = {2}},
        {.ndims = 1, .element_size = 8, .shape = {9}, .lo = {100}, .hi = {-100}},
        {.ndims = 1, .element_size = 8, .shape = {0}, .lo = {INT64_MAX}, .hi = {INT64_MIN}}};
    for (int i = 0; i < 4; i++)
        for (int k = -1; k < 4; k++) {
            CHECK_OK(tutti_access_section(&nothing[i], k < 0 ? NULL : &nothing[k], &a));
            CHECK_EQ(tutti_access_bytes(a), 0);
            tutti_access_free(&a);
        }
    s = good, s.lo[1] = 7, s.hi[2] = 11; /* empty in dimension 1: any hi[2] is valid */
    CHECK_OK(tutti_access_section(&s, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), 0);
    tutti_access_free(&a);
    CHECK_ERR(tutti_access_section(&s, &good, &a), TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "section is empty"), "%s", tutti_last_message());
}

/* Test a section that selects half of each of 16 dimensions: its description is small, its totals
 * are exact. */
static void many_dims(void) {
    tutti_section s = {.ndims = TUTTI_MAX_DIMS, .element_size = 1};
    for (int d = 0; d < s.ndims; d++) s.shape[d] = 8, s.lo[d] = 2, s.hi[d] = 6;
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_section(&s, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), (int64_t)1 << 32);
    CHECK_EQ(tutti_access_runs_count(a), (int64_t)1 << 30);
    CHECK(tutti_access_size(a) < 4000, "%zu", tutti_access_size(a));
    tutti_access_free(&a);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240602);
    for (int round = 0; round < 3000 && check_failures_ < 20; round++) random_round();
    test_refusals();
    many_dims();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
