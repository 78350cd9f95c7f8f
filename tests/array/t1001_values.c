/* TEST ranks=0 timeout=60 */
/* Types, slices and distributions without a file, compared with loops over single elements; invalid
 * arguments are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"
#include "array/arrays.h"

/* ---- types */
static void test_types(void) {
    tutti_type t = TUTTI_BYTES;
    CHECK_OK(tutti_type_parse("float64", &t));
    CHECK_EQ(t, TUTTI_FLOAT64);
    for (int i = 0; i <= TUTTI_FLOAT16; i++) {
        tutti_type back = TUTTI_INT8;
        CHECK_OK(tutti_type_parse(tutti_type_name((tutti_type)i), &back));
        CHECK_EQ(back, i);
    }
    CHECK_EQ(tutti_type_size(TUTTI_COMPLEX128), 16);
    CHECK_EQ(tutti_type_size(TUTTI_BYTES), 0);
    CHECK_EQ(tutti_type_size((tutti_type)99), 0);
    CHECK(tutti_type_name((tutti_type)-1)[0] == '\0', "a name for no type");
    CHECK_ERR(tutti_type_parse("double", &t), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_type_parse(NULL, &t), TUTTI_ERR_ARG);
}

/* ---- slices */
static void test_slices(void) {
    tutti_slice s;
    tutti_count shape[3];
    const tutti_count lower[] = {1, 32, 5}, upper[] = {100, 64, 4}, stride[] = {1, 2, 1};
    CHECK_OK(tutti_slice_fortran(2, lower, upper, stride, &s));
    CHECK_EQ(s.lo[0], 0);
    CHECK_EQ(s.hi[0], 100);
    CHECK_EQ(tutti_slice_count(2, &s, shape), 100 * 17);
    CHECK_EQ(shape[1], 17);
    CHECK_OK(tutti_slice_fortran(3, lower, upper, NULL, &s)); /* dimension 2 is empty */
    CHECK_EQ(tutti_slice_count(3, &s, shape), 0);
    CHECK_EQ(shape[0], 100);
    const tutti_count zero[] = {0, 1, 1}, back[] = {1, -1, 1}, still[] = {1, 0, 1};
    CHECK_ERR(tutti_slice_fortran(2, zero, upper, NULL, &s), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_slice_fortran(2, lower, upper, back, &s), TUTTI_ERR_ARG);
    CHECK_OK(tutti_slice_fortran(2, lower, upper, still, &s)); /* a stride of 0 means 1 */
    CHECK_EQ(s.stride[1], 1);
    CHECK_ERR(tutti_slice_fortran(17, lower, upper, NULL, &s), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_slice_fortran(0, lower, upper, NULL, &s), TUTTI_ERR_ARG);
    for (int i = 0; i < 2000; i++) { /* compare with a loop */
        s.lo[0] = rnd(30) - 5;
        s.hi[0] = rnd(30) - 5;
        s.stride[0] = rnd(8);
        tutti_count n = 0;
        for (tutti_count k = s.lo[0]; k < s.hi[0]; k += s.stride[0] ? s.stride[0] : 1) n++;
        CHECK_EQ(tutti_slice_count(1, &s, NULL), n);
    }
    s = (tutti_slice){.lo = {INT64_MIN}, .hi = {INT64_MAX}, .stride = {1}};
    CHECK(tutti_slice_count(1, &s, NULL) > 0, "overflow");
}

/* ---- distributions */

/* Return the owner of index g of n elements, by the definition of the distribution's kind. */
static int owner_by_definition(const tutti_dist_dim *k, tutti_count n, tutti_count g) {
    int p = 0;
    switch (k->kind) {
    case TUTTI_DIST_BLOCK:
        return (int)(g / ((n + k->procs - 1) / k->procs));
    case TUTTI_DIST_CYCLIC:
        return (int)(g % k->procs);
    case TUTTI_DIST_BLOCK_CYCLIC:
        return (int)(g / k->block % k->procs);
    case TUTTI_DIST_RAGGED:
        while (g >= k->bounds[p + 1]) p++;
        return p;
    default:
        return 0;
    }
}

static void try_dimension(const tutti_dist_dim *k, tutti_count n) {
    tutti_distribution *d = NULL;
    tutti_count count[MOST_RANKS] = {0};
    CHECK_OK(tutti_distribution_make(1, &n, k, &d));
    if (!d) return;
    CHECK_EQ(tutti_distribution_ranks(d), k->procs);
    for (tutti_count g = 0; g < n; g++) {
        const int want = owner_by_definition(k, n, g);
        int who = -1;
        tutti_count local = -1, back = -1;
        CHECK_OK(tutti_distribution_local(d, &g, &who, &local));
        CHECK(who == want && local == count[want], "kind %d: %lld of %lld", (int)k->kind,
              (long long)g, (long long)n);
        count[want]++;
        CHECK_OK(tutti_distribution_global(d, want, &local, &back));
        CHECK_EQ(back, g);
    }
    for (int p = 0; p < k->procs; p++) {
        tutti_count part = -1;
        CHECK_EQ(tutti_distribution_part(d, p, &part), count[p]);
        CHECK_EQ(part, count[p]);
        CHECK_ERR(tutti_distribution_global(d, p, &count[p], &part), TUTTI_ERR_ARG);
    }
    CHECK_EQ(tutti_distribution_part(d, k->procs, NULL), 0);
    CHECK_ERR(tutti_distribution_local(d, &n, NULL, NULL), TUTTI_ERR_ARG);
    tutti_distribution_free(&d);
}

/* Check that the series of a random range of local indices have the global indices which
 * tutti_distribution_global returns for each local index. */
static void try_series(const tutti_dist_dim *k, tutti_count n) {
    tutti_distribution *d = NULL;
    tutti__series s[3];
    CHECK_OK(tutti_distribution_make(1, &n, k, &d));
    const int p = (int)rnd(k->procs);
    tutti_count part, g = 0;
    if (d && tutti_distribution_part(d, p, &part) > 0) {
        const tutti_count from = rnd(part), to = from + rnd(part - from + 1);
        tutti_count at = from;
        const int many = tutti__distribution_series(d, p, 0, from, to, s);
        CHECK(many <= 3, "%d series", many);
        for (int i = 0; i < many; i++) {
            CHECK_EQ(s[i].local, at - from);
            for (tutti_count o = 0; o < s[i].outer; o++)
                for (tutti_count e = 0; e < s[i].inner; e++, at++) {
                    CHECK_OK(tutti_distribution_global(d, p, &at, &g));
                    CHECK_EQ(s[i].first + o * s[i].step + e, g);
                }
        }
        CHECK_EQ(at, to);
    }
    tutti_distribution_free(&d);
}

static void test_distributions(void) {
    scheme s;
    for (int i = 0; i < 3000 && check_failures_ == 0; i++) {
        const tutti_count n = rnd(60);
        random_scheme(&s, 1, &n, 1 + (int)rnd(MOST_RANKS));
        try_dimension(&s.dim[0], n);
        try_series(&s.dim[0], n);
    }
    /* ranks are numbered with the last dimension of the grid fastest */
    const tutti_count shape[] = {4, 6}, at[] = {2, 5};
    const tutti_dist_dim dims[] = {{TUTTI_DIST_BLOCK, 2, 0, NULL}, {TUTTI_DIST_CYCLIC, 3, 0, NULL}};
    tutti_distribution *d = NULL;
    int who = -1;
    tutti_count local[2];
    CHECK_OK(tutti_distribution_make(2, shape, dims, &d));
    CHECK_OK(tutti_distribution_local(d, at, &who, local));
    CHECK_EQ(who, 5);
    CHECK(local[0] == 0 && local[1] == 1, "%lld, %lld", (long long)local[0], (long long)local[1]);
    tutti_distribution_free(&d);
    tutti_distribution_free(&d);
}

static void check_refused(const tutti_dist_dim *k, tutti_count n, tutti_err code) {
    tutti_distribution *d = NULL;
    CHECK_ERR(tutti_distribution_make(1, &n, k, &d), code);
    CHECK(d == NULL, "a distribution after an error");
}

static void bad_distributions(void) {
    const tutti_count down[] = {0, 5, 3, 8}, short_of[] = {0, 2, 7}, late[] = {1, 8};
    check_refused(&(tutti_dist_dim){TUTTI_DIST_BLOCK, 0, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_BLOCK, -2, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_NONE, 2, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_BLOCK_CYCLIC, 2, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_RAGGED, 3, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_RAGGED, 3, 0, down}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_RAGGED, 2, 0, short_of}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_RAGGED, 1, 0, late}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){(tutti_dist_kind)7, 2, 0, NULL}, 8, TUTTI_ERR_ARG);
    check_refused(&(tutti_dist_dim){TUTTI_DIST_CYCLIC, 2, 0, NULL}, -1, TUTTI_ERR_ARG);
    const tutti_count shape[] = {8, 8, 8};
    const tutti_dist_dim many[] = {{TUTTI_DIST_CYCLIC, 65536, 0, NULL},
                                   {TUTTI_DIST_CYCLIC, 65536, 0, NULL},
                                   {TUTTI_DIST_CYCLIC, 65536, 0, NULL}};
    tutti_distribution *d = NULL;
    CHECK_ERR(tutti_distribution_make(3, shape, many, &d), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_distribution_make(0, shape, many, &d), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_distribution_make(1, NULL, many, &d), TUTTI_ERR_ARG);
    /* test extents near the largest 64-bit value */
    const tutti_count huge = INT64_MAX;
    const tutti_dist_dim wide = {TUTTI_DIST_BLOCK_CYCLIC, 1 << 30, INT64_MAX, NULL};
    CHECK_OK(tutti_distribution_make(1, &huge, &wide, &d));
    tutti_count last = huge - 1, local = 0;
    int who = -1;
    CHECK_OK(tutti_distribution_local(d, &last, &who, &local));
    CHECK(who == 0 && local == last, "rank %d, %lld", who, (long long)local);
    tutti_distribution_free(&d);
}

/* ---- specs */

static void spec_refused(const tutti_array_spec *s, tutti_err code) {
    tutti_array_spec out;
    tutti_off bytes = -1;
    CHECK_ERR(tutti__spec_check(s, &out, &bytes), code);
    CHECK_EQ(bytes, -1);
}

static void test_specs(void) {
    const tutti_array_spec good = {.ndims = 2, .shape = {3, 5}, .type = TUTTI_FLOAT64};
    tutti_array_spec s = good, out;
    tutti_off bytes = 0;
    CHECK_OK(tutti__spec_check(&s, &out, &bytes));
    CHECK(out.element_size == 8 && bytes == 120, "%lld bytes", (long long)bytes);
    s.shape[0] = 0;
    CHECK_OK(tutti__spec_check(&s, &out, &bytes));
    CHECK_EQ(bytes, 0);
    s = good, s.ndims = 0, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.ndims = 17, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.shape[1] = -1, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.offset = -1, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.order = (tutti_order)2, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.type = (tutti_type)77, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.element_size = 4, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.type = TUTTI_BYTES, spec_refused(&s, TUTTI_ERR_ARG);
    s = good, s.shape[0] = (tutti_count)1 << 60, spec_refused(&s, TUTTI_ERR_OVERFLOW);
    s = good, s.shape[0] = INT64_MAX, spec_refused(&s, TUTTI_ERR_OVERFLOW);
    s = good, s.shape[0] = 0, s.shape[1] = INT64_MAX, spec_refused(&s, TUTTI_ERR_OVERFLOW);
    s = good, s.offset = INT64_MAX - 50, spec_refused(&s, TUTTI_ERR_OVERFLOW);
    spec_refused(NULL, TUTTI_ERR_ARG);
}

int main(void) {
    check_seed(851);
    test_types();
    test_slices();
    test_distributions();
    bad_distributions();
    test_specs();
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
