/* Random requests with one combination of options: two writes and two reads, compared with the serial
 * model.  A test runs combinations in which every pair of values occurs (matrix_pairs), or all
 * combinations of some axes (matrix_product).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MATRIX_H
#define TUTTI_TESTS_MATRIX_H

#include "collective/model.h"
#include "pairs.h"

/* A test may define other axes; the last axis is the shape. */
#ifndef TUTTI_TESTS_AXES
static const char *const methods[] = {"two-phase", "independent", "list", "sieve", "root", "auto"};
static const char *const exchanges[] = {"shm", "two-sided"};
static const char *const nodes[] = {"", "2", "1,2", "rr:2", "single"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const domains[] = {"auto", "even", "balanced", "cyclic"};
static const char *const buffers[] = {"64k", "256k", "16m"};
static const char *const subs[] = {"2", "1", "3"};
static const char *const direct[] = {"0", "1"};
static const char *const aggs[] = {"0", "1", "2"};
static const char *const rmw[] = {"0", "1"};
static const char *const shapes[] = {"blocks", "columns", "cyclic", "scatter",
                                     "sparse", "wild",    "few"};
static const pairs_axis axes[] = {
    {"method", methods, 6},   {"exchange", exchanges, 2}, {"nodes", nodes, 5},
    {"store", stores, 5},     {"domains", domains, 4},    {"cb_buffer_size", buffers, 3},
    {"sub_buffers", subs, 3}, {"direct_io", direct, 2},   {"cb_nodes", aggs, 3},
    {"rmw", rmw, 2},          {"shape", shapes, 7},
};
enum { AXES = sizeof axes / sizeof axes[0], SHAPE = AXES - 1, STORE = 3 };
#define MATRIX_SET tutti_options_set
#endif

static int rank, ranks;

static void options_of(const int *choice, tutti_options *opt) {
    tutti_options_defaults(opt);
    for (int i = 0; i < SHAPE; i++)
        CHECK_OK(MATRIX_SET(opt, axes[i].name, axes[i].value[choice[i]]));
    CHECK_OK(tutti_options_set(opt, "striping_unit", rnd(2) ? "0" : "512"));
}

/* Read the whole file on rank 0 with the library, which works with any store; compare with the model. */
static void whole_compare(tutti_file *f, const model *m) {
    tutti_access *a = NULL;
    tutti_off size = -1, count = -1;
    CHECK_OK(tutti_file_size(f, &size));
    CHECK_EQ(size, m->size);
    unsigned char *v = calloc(1, (size_t)m->size + 16);
    CHECK_OK(tutti_access_contiguous(0, rank == 0 ? m->size + 16 : 0, &a));
    CHECK_OK(tutti_file_read(f, a, v, &count));
    if (rank == 0) {
        CHECK_EQ(count, m->size);
        CHECK(memcmp(v, m->v, (size_t)m->size) == 0, "bytes differ");
    }
    tutti_access_free(&a);
    free(v);
}

static void write_step(tutti_file *f, model *m, int shape, uint64_t salt, int64_t scale,
                       int planned) {
    tutti_off count = -1, shift = planned ? rnd(3) * 1000 : 0;
    for (int r = 0; r < ranks; r++) {
        request q = request_make(shape, r, ranks, salt, scale);
        request_fill(&q, salt + (uint64_t)r);
        model_write(m, &q, shift);
        request_free(&q);
    }
    request q = request_make(shape, rank, ranks, salt, scale);
    request_fill(&q, salt + (uint64_t)rank);
    if (planned) {
        tutti_plan *p = NULL;
        CHECK_OK(tutti_plan_write(f, q.access, &p));
        CHECK_OK(tutti_plan_run(p, q.base, shift, &count));
        /* a repeated run writes the same bytes */
        CHECK_OK(tutti_plan_run(p, q.base, shift, &count));
        tutti_plan_free(&p);
    } else {
        CHECK_OK(tutti_file_write(f, q.access, q.base, &count));
    }
    CHECK_EQ(count, tutti_access_bytes(q.access));
    request_free(&q);
}

static void read_step(tutti_file *f, const model *m, int shape, uint64_t salt, int64_t scale) {
    request want = request_make(shape, rank, ranks, salt, scale),
            got = request_make(shape, rank, ranks, salt, scale);
    tutti_off count = -1;
    const tutti_off expect = model_read(m, &want, 0, salt ^ 77);
    request_fill(&got, salt ^ 77);
    CHECK_OK(tutti_file_read(f, got.access, got.base, &count));
    CHECK(count == expect, "count %lld, not %lld", (long long)count, (long long)expect);
    CHECK(got.capacity == want.capacity && memcmp(got.memory, want.memory, got.capacity) == 0,
          "read differs");
    request_free(&want);
    request_free(&got);
}

static void combination(const int *choice, const char *path) {
    tutti_options opt;
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    const int shape = choice[SHAPE];
    options_of(choice, &opt);
    const int64_t scale = 1 + rnd(300000);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path,
                             TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f));
    if (!f) return;
    for (int step = 0; step < 2; step++)
        write_step(f, &m, step ? (int)rnd(SHAPES) : shape, rnd64() >> 8, scale, step);
    whole_compare(f, &m);
    for (int step = 0; step < 2; step++)
        read_step(f, &m, step ? WILD : shape, rnd64() >> 8, scale + scale / 4);
    CHECK_OK(tutti_file_close(&f));
    if (rank == 0 && choice[STORE] != 4) file_compare(path, &m, "after close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_OK(tutti_file_delete(path, &opt));
    MPI_Barrier(MPI_COMM_WORLD);
    free(m.v);
}

static void matrix_start(int *argc, char ***argv, char *path, size_t size) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261115u + (unsigned)ranks);
    snprintf(path, size, "%s", scratch_path("matrix"));
}

/* Run one combination; return 0 after too many failures. */
static int matrix_run(const int *choice, const char *path) {
    char where[600];
    pairs_text(axes, AXES, choice, where, sizeof where);
    check_where(where);
    combination(choice, path);
    check_where("");
    return check_failures_ <= 20;
}

static int matrix_end(void) {
    const int rc = check_done_all();
    MPI_Finalize();
    return rc;
}

/* Run the main function of a test of combinations in which every pair of values occurs. */
static inline int matrix_pairs(int argc, char **argv) {
    char path[512];
    int choice[AXES];
    matrix_start(&argc, &argv, path, sizeof path);
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice) && matrix_run(choice, path))
        ;
    pairs_free(p);
    return matrix_end();
}

static inline int matrix_is_among(int axis, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(axes[axis].name, names[i]) == 0) return 1;
    return 0;
}

/* Advance to the next combination of the named axes; return 0 after the last. */
static inline int matrix_next(int *choice, const char *const *names, size_t n) {
    for (int i = 0; i < AXES; i++) {
        if (!matrix_is_among(i, names, n)) continue;
        if (++choice[i] < axes[i].n) return 1;
        choice[i] = 0;
    }
    return 0;
}

/* Run the main function of a test of all combinations of the named axes; the other choices are
 * random. */
static inline int matrix_product(int argc, char **argv, const char *const *names, size_t n) {
    char path[512];
    int choice[AXES] = {0};
    matrix_start(&argc, &argv, path, sizeof path);
    do {
        for (int i = 0; i < AXES; i++)
            if (!matrix_is_among(i, names, n)) choice[i] = (int)rnd(axes[i].n);
    } while (matrix_run(choice, path) && matrix_next(choice, names, n));
    return matrix_end();
}

#endif
