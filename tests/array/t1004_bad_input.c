/* TEST ranks=1,3 timeout=90 */
/* Invalid input of every kind: the same clear error on all ranks, also if only one of them is
 * wrong, and nothing is written; correct calls work afterwards; memory and descriptors are
 * released.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

static char path[512];
static const tutti_array_spec good = {
    .ndims = 2, .shape = {7, 9}, .type = TUTTI_INT32, .order = TUTTI_COL_MAJOR};
static unsigned char *content;
static int64_t content_size;

/* Return whether this rank passes the invalid argument: the last rank if `alone`, otherwise all ranks. */
static int wrong(int alone) {
    return !alone || rank == ranks - 1;
}

/* Check that the file is unchanged. */
static void unchanged(const char *what) {
    file_is(path, content, content_size, what);
}

#define REFUSED(call, code, words)                                                           \
    do {                                                                                     \
        CHECK_SAME(call, code);                                                              \
        CHECK(strstr(tutti_last_message(), words), "'%s' not in: %s", words,                 \
              tutti_last_message());                                                         \
        CHECK(strstr(tutti_last_message(), "bad."), "no path in: %s", tutti_last_message()); \
    } while (0)

/* ---- slices */
static void slice_refused(tutti_array *a, tutti_slice s, const char *words) {
    int32_t v[100] = {0};
    tutti_request *q = NULL;
    for (int alone = 0; alone < 2; alone++) {
        const tutti_slice fine = tutti_slice_all(2, good.shape), local = wrong(alone) ? s : fine;
        REFUSED(tutti_array_write(a, &local, NULL, v), TUTTI_ERR_ARG, words);
        REFUSED(tutti_array_read(a, &local, NULL, v), TUTTI_ERR_ARG, words);
        CHECK_OK(tutti_array_write_start(a, &local, NULL, v, &q));
        REFUSED(tutti_request_wait(&q, NULL), TUTTI_ERR_ARG, words);
        REFUSED(tutti_array_prefetch(a, &local), TUTTI_ERR_ARG, words);
    }
    CHECK_ERR(tutti_array_read_independent(a, &s, NULL, v), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_array_write_independent(a, &s, NULL, v), TUTTI_ERR_ARG);
    unchanged(words);
}

static void slices(tutti_array *a) {
    const tutti_slice all = tutti_slice_all(2, good.shape);
    tutti_slice s = all;
    check_where("slices");
    s = all, s.hi[0] = 8, slice_refused(a, s, "outside");
    s = all, s.lo[1] = -1, slice_refused(a, s, "outside");
    s = all, s.hi[1] = INT64_MAX, slice_refused(a, s, "outside");
    s = all, s.lo[0] = INT64_MIN, slice_refused(a, s, "outside");
    s = all, s.stride[1] = -2, slice_refused(a, s, "stride is -2");
}

/* ---- frames and buffers */
static void frame_refused(tutti_array *a, tutti_section m, const char *words) {
    int32_t v[400] = {0};
    const tutti_slice s = tutti_slice_all(2, good.shape);
    const tutti_dist_dim none[2] = {{TUTTI_DIST_NONE, 1, 0, NULL}, {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_distribution *d = NULL;
    CHECK_OK(tutti_distribution_make(2, good.shape, none, &d));
    for (int alone = 0; alone < 2; alone++) {
        const tutti_section *local = wrong(alone) ? &m : NULL;
        REFUSED(tutti_array_write(a, &s, local, v), TUTTI_ERR_ARG, words);
        REFUSED(tutti_array_read(a, &s, local, v), TUTTI_ERR_ARG, words);
    }
    const tutti_section *first = rank == 0 ? &m : NULL; /* the rank that owns the part */
    REFUSED(tutti_array_write_part(a, d, NULL, first, v), TUTTI_ERR_ARG, words);
    tutti_distribution_free(&d);
    unchanged(words);
}

/* Offsets in memory that overflow an address are refused. */
static void frame_far(tutti_array *a, tutti_section m) {
    int32_t v[100] = {0};
    const tutti_slice s = tutti_slice_all(2, good.shape);
    const tutti_dist_dim none[2] = {{TUTTI_DIST_NONE, 1, 0, NULL}, {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_distribution *d = NULL;
    CHECK_OK(tutti_distribution_make(2, good.shape, none, &d));
    for (int i = 0; i < 2; i++) {
        m.offset = i ? INT64_MIN : INT64_MAX - 3;
        REFUSED(tutti_array_read(a, &s, &m, v), TUTTI_ERR_OVERFLOW, "");
        REFUSED(tutti_array_read_part(a, d, NULL, rank == 0 ? &m : NULL, v), TUTTI_ERR_OVERFLOW,
                "");
    }
    tutti_distribution_free(&d);
}

static void frames(tutti_array *a) {
    const tutti_section right = {.shape = {9, 11}, .lo = {1, 1}, .hi = {8, 10}};
    tutti_section m = right;
    check_where("frames");
    m = right, m.ndims = 1, frame_refused(a, m, "dimensions");
    m = right, m.element_size = 8, frame_refused(a, m, "element_size");
    m = right, m.hi[0] = 7, frame_refused(a, m, "elements");
    m = right, m.hi[1] = 12, frame_refused(a, m, "memory section");
    m = right, m.lo[0] = -1, frame_refused(a, m, "memory section");
    m = right, m.lo[0] = INT64_MIN, frame_refused(a, m, "memory section");
    m = right, m.stride[0] = -1, frame_refused(a, m, "memory section");
    m = right, m.order = (tutti_order)5, frame_refused(a, m, "order");
    frame_far(a, right);
    const tutti_slice s = tutti_slice_all(2, good.shape);
    int32_t v[100];
    for (int alone = 0; alone < 2; alone++) {
        REFUSED(tutti_array_write(a, &s, NULL, wrong(alone) ? NULL : v), TUTTI_ERR_ARG, "NULL");
        REFUSED(tutti_array_read(a, &s, NULL, wrong(alone) ? NULL : v), TUTTI_ERR_ARG, "NULL");
        REFUSED(tutti_array_write(a, wrong(alone) ? NULL : &s, NULL, v), TUTTI_ERR_ARG, "NULL");
        REFUSED(tutti_array_fill(a, wrong(alone) ? NULL : v), TUTTI_ERR_ARG, "NULL");
        REFUSED(tutti_array_write_part(a, NULL, NULL, NULL, v), TUTTI_ERR_ARG, "NULL");
    }
    unchanged("buffers");
}

/* ---- distributions of another shape, or for more ranks than the communicator has */
static void parts(tutti_array *a) {
    const tutti_count other[] = {7, 8};
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_CYCLIC, ranks, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    const tutti_dist_dim more[2] = {{TUTTI_DIST_CYCLIC, ranks + 1, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    const tutti_slice within = {.lo = {0, 0}, .hi = {7, 9}, .stride = {1, 2}};
    tutti_distribution *d = NULL, *right = NULL;
    int32_t v[100] = {0};
    check_where("parts");
    CHECK_OK(tutti_distribution_make(2, good.shape, dims, &right));
    CHECK_OK(tutti_distribution_make(2, other, dims, &d));
    REFUSED(tutti_array_write_part(a, d, NULL, NULL, v), TUTTI_ERR_ARG, "distribution has");
    REFUSED(tutti_array_read_part(a, rank ? right : d, NULL, NULL, v), TUTTI_ERR_ARG,
            "distribution has");
    REFUSED(tutti_array_read_part(a, right, &within, NULL, v), TUTTI_ERR_ARG, "distribution has");
    tutti_distribution_free(&d);
    CHECK_OK(tutti_distribution_make(1, other, dims, &d));
    REFUSED(tutti_array_write_part(a, d, NULL, NULL, v), TUTTI_ERR_ARG, "dimensions");
    tutti_distribution_free(&d);
    CHECK_OK(tutti_distribution_make(2, good.shape, more, &d));
    REFUSED(tutti_array_write_part(a, d, NULL, NULL, v), TUTTI_ERR_ARG, "ranks");
    tutti_distribution_free(&d);
    tutti_distribution_free(&right);
    unchanged("parts");
}

/* ---- creating and opening */
static void create_refused(tutti_array_spec s, tutti_err code, const char *words) {
    tutti_array *a = NULL;
    for (int alone = 0; alone < 2; alone++) {
        const tutti_array_spec *local = wrong(alone) ? &s : &good;
        REFUSED(tutti_array_create(MPI_COMM_WORLD, path, local, NULL, &a), code, words);
        REFUSED(
            tutti_array_open_raw(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, local, NULL, &a),
            code, words);
    }
    CHECK(a == NULL, "an array after an error");
    unchanged(words);
}

static void test_creation(void) {
    tutti_array_spec s = good;
    tutti_array *a = NULL;
    check_where("creation");
    s = good, s.ndims = 0, create_refused(s, TUTTI_ERR_ARG, "ndims");
    s = good, s.ndims = 17, create_refused(s, TUTTI_ERR_ARG, "ndims");
    s = good, s.shape[0] = -4, create_refused(s, TUTTI_ERR_ARG, "dimension 0");
    s = good, s.shape[0] = (tutti_count)1 << 60, create_refused(s, TUTTI_ERR_OVERFLOW, "2^62");
    s = good, s.shape[1] = INT64_MAX, create_refused(s, TUTTI_ERR_OVERFLOW, "2^62");
    s = good, s.element_size = 3, create_refused(s, TUTTI_ERR_ARG, "element_size");
    s = good, s.type = (tutti_type)40, create_refused(s, TUTTI_ERR_ARG, "type");
    s = good, s.type = TUTTI_BYTES, create_refused(s, TUTTI_ERR_ARG, "element_size");
    REFUSED(tutti_array_create(MPI_COMM_WORLD, path, NULL, NULL, &a), TUTTI_ERR_ARG, "spec");
    REFUSED(tutti_array_create(MPI_COMM_WORLD, path, &good, NULL, NULL), TUTTI_ERR_ARG, "a_out");
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, "", &good, NULL, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_array_create(MPI_COMM_NULL, path, &good, NULL, &a), TUTTI_ERR_ARG);
    if (ranks > 1) { /* ranks pass different shapes */
        s = good;
        s.shape[0] += rank == 1;
        REFUSED(tutti_array_create(MPI_COMM_WORLD, path, &s, NULL, &a), TUTTI_ERR_MISMATCH,
                "disagree");
    }
    unchanged("creation");
}

static void expect_refused(tutti_array_spec s, const char *words) {
    tutti_array *a = NULL;
    for (int alone = 0; alone < 2; alone++)
        REFUSED(
            tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, wrong(alone) ? &s : &good, NULL, &a),
            TUTTI_ERR_MISMATCH, alone && ranks > 1 ? "disagree" : words);
    CHECK(a == NULL, "an array after an error");
}

static void test_opening(void) {
    tutti_array_spec s = good;
    tutti_array *a = NULL;
    check_where("opening");
    s = good, s.ndims = 1, expect_refused(s, "dimensions");
    s = good, s.shape[1] = 8, expect_refused(s, "dimension 1");
    s = good, s.order = TUTTI_ROW_MAJOR, expect_refused(s, "column-major");
    s = good, s.type = TUTTI_UINT32, expect_refused(s, "int32");
    s = good, s.element_size = 8, expect_refused(s, "bytes");
    s = good, s.offset = 512, expect_refused(s, "512");
    REFUSED(tutti_array_open(MPI_COMM_WORLD, path, 0, NULL, NULL, &a), TUTTI_ERR_ARG, "mode");
    REFUSED(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, NULL, NULL, &a),
            TUTTI_ERR_ARG, "mode");
    REFUSED(tutti_array_open_raw(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_APPEND, &good, NULL, &a),
            TUTTI_ERR_ARG, "APPEND");
    s = good, s.offset = 4097; /* one byte more than the file has */
    REFUSED(tutti_array_open_raw(MPI_COMM_WORLD, path, TUTTI_READ, &s, NULL, &a), TUTTI_ERR_FORMAT,
            "bytes");
    unchanged("opening");
}

/* ---- local placement */

/* A part can be opened as an array but not resized, since the other parts depend on its shape. */
static void part_alone(const char *name) {
    char first[600];
    tutti_array *a = NULL;
    snprintf(first, sizeof first, "%s.0", name);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, first, TUTTI_WRITE, NULL, NULL, &a), TUTTI_OK);
    REFUSED(tutti_array_resize(a, 1), TUTTI_ERR_UNSUPPORTED, "local");
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, name, TUTTI_WRITE, NULL, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_sync(a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
}

static void test_locals(void) {
    char local[600];
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_BLOCK, ranks, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    const tutti_dist_dim more[2] = {{TUTTI_DIST_BLOCK, ranks + 1, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_distribution *d = NULL, *wide = NULL;
    tutti_array *a = NULL;
    int32_t v[100] = {0};
    check_where("local placement");
    CHECK_OK(tutti_distribution_make(2, good.shape, dims, &d));
    CHECK_OK(tutti_distribution_make(2, good.shape, more, &wide));
    REFUSED(tutti_array_create_local(MPI_COMM_WORLD, path, &good, wide, NULL, &a), TUTTI_ERR_ARG,
            "ranks");
    REFUSED(tutti_array_create_local(MPI_COMM_WORLD, path, &good, NULL, NULL, &a), TUTTI_ERR_ARG,
            "argument d is NULL");
    tutti_array_spec s = good;
    s.shape[1] = 8;
    REFUSED(tutti_array_create_local(MPI_COMM_WORLD, path, &s, d, NULL, &a), TUTTI_ERR_ARG,
            "but the array has");
    unchanged("local placement");

    char name[560];
    snprintf(name, sizeof name, "%s.local", path);
    snprintf(local, sizeof local, "%s.%d", name, rank);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, name, &good, d, NULL, &a), TUTTI_OK);
    REFUSED(tutti_array_resize(a, 3), TUTTI_ERR_UNSUPPORTED, "local");
    REFUSED(tutti_array_write_part(a, wide, NULL, NULL, v), TUTTI_ERR_ARG, "ranks");
    const tutti_slice all = tutti_slice_all(2, good.shape);
    REFUSED(tutti_array_read_part(a, d, &all, NULL, v), TUTTI_ERR_UNSUPPORTED, "global placement");
    if (ranks > 1) REFUSED(tutti_array_write(a, &all, NULL, v), TUTTI_ERR_ARG, "outside");
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    part_alone(name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) CHECK(unlink(local) == 0, "unlink"); /* a part is missing */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, name, TUTTI_READ, NULL, NULL, &a),
               TUTTI_ERR_NOT_FOUND);
    CHECK(tutti_last_error()->rank >= 0, "%s", tutti_last_message());
    MPI_Barrier(MPI_COMM_WORLD);
    (void)unlink(local);
    tutti_distribution_free(&d);
    tutti_distribution_free(&wide);
    file_remove(name);
}

/* ---- calls that are invalid in the state of the array */
static void states(tutti_array *a) {
    tutti_array *ro = NULL, *wo = NULL, *b = NULL;
    char second[520];
    int32_t v[100] = {0};
    snprintf(second, sizeof second, "%s.b", path);
    const tutti_slice all = tutti_slice_all(2, good.shape);
    tutti_plan *p = NULL;
    tutti_access *none = NULL;
    check_where("states");
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, NULL, &ro), TUTTI_OK);
    REFUSED(tutti_array_write(ro, &all, NULL, v), TUTTI_ERR_MODE, "writing");
    REFUSED(tutti_array_fill(ro, v), TUTTI_ERR_MODE, "writing");
    REFUSED(tutti_array_resize(ro, 3), TUTTI_ERR_MODE, "writing");
    REFUSED(tutti_array_copy(a, ro, 1000, NULL, NULL), TUTTI_ERR_MODE, "writing");
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, NULL, &wo), TUTTI_OK);
    REFUSED(tutti_array_read(wo, &all, NULL, v), TUTTI_ERR_MODE, "reading");
    REFUSED(tutti_array_prefetch(wo, &all), TUTTI_ERR_MODE, "reading");
    REFUSED(tutti_array_copy(wo, a, 1000, NULL, NULL), TUTTI_ERR_MODE, "reading");
    CHECK_ERR(tutti_array_read_independent(wo, &all, NULL, v), TUTTI_ERR_MODE);
    CHECK_ERR(tutti_array_write_independent(ro, &all, NULL, v), TUTTI_ERR_MODE);
    REFUSED(tutti_array_resize(a, -1), TUTTI_ERR_ARG, "-1");
    REFUSED(tutti_array_resize(a, (tutti_count)1 << 61), TUTTI_ERR_OVERFLOW, "2^62");
    REFUSED(tutti_array_copy(a, a, 1000, NULL, NULL), TUTTI_ERR_ARG, "itself");
    REFUSED(tutti_array_copy(ro, a, 1000, NULL, NULL), TUTTI_ERR_ARG, "same bytes");
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, second, &good, NULL, &b), TUTTI_OK);
    REFUSED(tutti_array_copy(ro, b, 3, NULL, NULL), TUTTI_ERR_ARG, "budget");
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
    file_remove(second);
    if (ranks > 1) {
        v[0] = rank;
        REFUSED(tutti_array_fill(a, v), TUTTI_ERR_MISMATCH, "disagree");
        REFUSED(tutti_array_resize(a, 3 + rank), TUTTI_ERR_MISMATCH, "extents");
    }
    CHECK_SAME(tutti_array_close(&wo), TUTTI_OK);
    CHECK_OK(tutti_access_contiguous(0, 0, &none));
    CHECK_OK(tutti_plan_read(tutti_array_file(ro), none, &p));
    REFUSED(tutti_array_close(&ro), TUTTI_ERR_STATE, "plans");
    CHECK(ro != NULL, "closed all the same");
    tutti_plan_free(&p);
    tutti_access_free(&none);
    CHECK_SAME(tutti_array_close(&ro), TUTTI_OK);
    CHECK_ERR(tutti_array_close(&ro), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_array_read(NULL, &all, NULL, v), TUTTI_ERR_ARG);
    unchanged("states");
}

int main(int argc, char **argv) {
    tutti_array *a = NULL;
    int32_t v[63];
    harness_begin(&argc, &argv, 854);
    snprintf(path, sizeof path, "%s", scratch_path("bad"));
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &good, NULL, &a), TUTTI_OK);
    for (int i = 0; i < 63; i++) v[i] = i * i;
    const tutti_slice all = tutti_slice_all(2, good.shape);
    CHECK_SAME(tutti_array_write(a, &all, NULL, v), TUTTI_OK);
    content = file_get(path, &content_size);
    /* the first round also creates objects that are cached on communicators */
    for (int i = 0; i < 2; i++) {
        const account start = account_now();
        slices(a);
        frames(a);
        parts(a);
        test_creation();
        test_opening();
        states(a);
        test_locals();
        if (i) account_check(start);
    }
    v[5] = 0; /* a correct call works */
    CHECK_SAME(tutti_array_read(a, &all, NULL, v), TUTTI_OK);
    CHECK_EQ(v[5], 25);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    free(content);
    file_remove(path);
    return harness_end();
}
