/* TEST ranks=1,3,4 timeout=120 */
/* Plans that run several times: with other buffers and displacements, on a file that grows, interleaved
 * with plans of different shapes (which share staging memory); their size; calls in the wrong order;
 * split operations; independent access.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "pairs.h"

static const char *const methods[] = {"two-phase", "list", "independent", "sieve", "root"};
static const char *const exchanges[] = {"shm", "two-sided"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio"};
static const char *const buffers[] = {"64k", "16m"};
static const pairs_axis axes[] = {{"method", methods, 5},
                                  {"exchange", exchanges, 2},
                                  {"nodes", nodes, 3},
                                  {"store", stores, 4},
                                  {"cb_buffer_size", buffers, 2}};
enum {
    AXES = sizeof axes / sizeof *axes,
    MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE
};

static char path[512];
static tutti_options opt;

/* Apply the requests of all ranks to the model, displaced by `shift`. */
static void model_all(model *m, int shape, uint64_t salt, int64_t scale, uint64_t key,
                      tutti_off shift) {
    for (int r = 0; r < ranks; r++) {
        request q = request_make(shape, r, ranks, salt, scale);
        request_fill(&q, key + (uint64_t)r);
        model_write(m, &q, shift);
        request_free(&q);
    }
}

static void read_check(tutti_plan *p, const model *m, request *q, tutti_off shift) {
    request want = *q;
    tutti_off count = -7;
    want.memory = malloc(q->capacity + 1);
    want.base = want.memory + (q->base - q->memory);
    const tutti_off expect = model_read(m, &want, shift, 9);
    request_fill(q, 9);
    CHECK_SAME(tutti_plan_run(p, q->base, shift, &count), TUTTI_OK);
    CHECK_EQ(count, expect);
    CHECK(memcmp(q->memory, want.memory, q->capacity) == 0, "read differs at displacement %lld",
          (long long)shift);
    free(want.memory);
}

/* Run two plans of different shapes alternately, with new bytes and displacements in each run, and
 * read the growing file. */
static void test_alternating_plans(void) {
    static const tutti_off shifts[] = {0, 100001, 7, 65536, 4096 * 31 + 1, 0};
    tutti_file *f = NULL;
    tutti_plan *write[2] = {NULL, NULL}, *read[2] = {NULL, NULL};
    request q[2];
    model m = {NULL, 0, 0};
    tutti_stats last;
    const uint64_t salt[2] = {rnd64() >> 8, rnd64() >> 8};
    const int shape[2] = {(int)rnd(SHAPES), (int)rnd(SHAPES)};
    const int64_t scale[2] = {1000 + rnd(20000), 1000 + rnd(90000)};
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    for (int i = 0; i < 2; i++) {
        q[i] = request_make(shape[i], rank, ranks, salt[i], scale[i]);
        CHECK_SAME(tutti_plan_write(f, q[i].access, &write[i]), TUTTI_OK);
        CHECK_SAME(tutti_plan_read(f, q[i].access, &read[i]), TUTTI_OK);
        CHECK(tutti_plan_explain(write[i])[0], "no explanation");
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 2; i++) {
            tutti_off count = -7;
            const uint64_t key = 100 * (uint64_t)k + 10 * (uint64_t)i;
            request_fill(&q[i], key + (uint64_t)rank);
            model_all(&m, shape[i], salt[i], scale[i], key, shifts[k]);
            CHECK_SAME(tutti_plan_start(write[i], q[i].base, shifts[k]), TUTTI_OK);
            CHECK_SAME(tutti_plan_wait(write[i], &count), TUTTI_OK);
            CHECK_EQ(count, tutti_access_bytes(q[i].access));
            tutti_file_stats(f, &last, NULL);
            CHECK_EQ(last.plan_reuses, k > 0);
            CHECK_EQ(last.plans, 0);
            CHECK_EQ(last.descriptor_messages, 0);
            read_check(read[1 - i], &m, &q[1 - i], shifts[(k + 1) % 6] / 2);
            read_check(read[i], &m, &q[i], shifts[k]);
        }
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(tutti_file_close(&f), TUTTI_ERR_STATE);
        tutti_plan_free(&write[i]);
        tutti_plan_free(&read[i]);
        CHECK(!write[i] && !read[i], "free leaves the handle");
        request_free(&q[i]);
    }
    CHECK(f != NULL, "a refused close took the handle");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "plans in turn");
    free(m.v);
}

/* The access may be freed after planning, and the buffer may differ in each run. */
static void access_gone(void) {
    tutti_file *f = NULL;
    tutti_plan *p = NULL;
    model m = {NULL, 0, 0};
    request q = request_make(CYCLIC, rank, ranks, 777, 20000);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_OK);
    tutti_access_free(&q.access);
    for (int k = 0; k < 3; k++) {
        /* the buffer is another one, at an odd address */
        unsigned char *v = malloc(q.capacity + 3);
        for (size_t i = 0; i < q.capacity; i++) v[k + i] = mix((uint64_t)(10 * k + rank), i);
        CHECK_SAME(tutti_plan_run(p, v + k + (q.base - q.memory), 30000 * k, NULL), TUTTI_OK);
        model_all(&m, CYCLIC, 777, 20000, 10 * (uint64_t)k, 30000 * k);
        free(v);
    }
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "access gone");
    request_free(&q);
    free(m.v);
}

/* ---- calls in the wrong order */

static void plan_order(tutti_file *f, const request *q) {
    tutti_plan *p = NULL;
    tutti_off count = -7;
    CHECK_SAME(tutti_plan_write(f, q->access, &p), TUTTI_OK);
    CHECK_ERR(tutti_plan_wait(p, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_plan_start(p, q->base, 0), TUTTI_OK);
    CHECK_SAME(tutti_plan_start(p, q->base, 0), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_plan_run(p, q->base, 0, &count), TUTTI_ERR_STATE);
    CHECK_EQ(count, -7);
    CHECK_SAME(tutti_plan_wait(p, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q->access));
    CHECK_ERR(tutti_plan_wait(p, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_plan_run(p, q->base, 0, &count), TUTTI_OK);
    tutti_plan_free(&p);
}

static void split_order(tutti_file *f, request *q) {
    tutti_off count = -7;
    tutti_plan *p = NULL;
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_file_read_end(f, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_file_write_begin(f, q->access, q->base), TUTTI_OK);
    CHECK_SAME(tutti_file_read_end(f, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_plan_write(f, q->access, &p), TUTTI_OK);
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_ERR_STATE);
    CHECK(f != NULL, "a refused close took the handle");
    CHECK_EQ(count, -7);
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q->access));
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_STATE);
    unsigned char *keep = malloc(q->capacity + 1);
    memcpy(keep, q->memory, q->capacity);
    memset(q->memory, 0, q->capacity);
    count = -7;
    CHECK_SAME(tutti_file_read_begin(f, q->access, q->base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_file_read_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q->access));
    CHECK(memcmp(keep, q->memory, q->capacity) == 0, "split read differs");
    free(keep);
}

static void wrong_order(void) {
    tutti_file *f = NULL;
    request q = {NULL, NULL, NULL, 0};
    CHECK_OK(tutti_access_vector(rank * 30, 200, 30, 30 * (tutti_off)ranks, &q.access));
    request_memory(&q);
    request_fill(&q, 50 + (uint64_t)rank);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    plan_order(f, &q);
    split_order(f, &q);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
}

/* ---- independent access of one rank while others do nothing or make other calls */
static void test_alone(void) {
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    tutti_off count = -7;
    const uint64_t salt = rnd64() >> 8;
    request q = request_make(SPARSE, rank, ranks, salt, 30000),
            want = request_make(SPARSE, rank, ranks, salt, 30000);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    for (int who = 0; who < ranks; who++) {
        if (who % 2 == 1) continue; /* odd ranks write nothing */
        request one = request_make(SPARSE, who, ranks, salt, 30000);
        request_fill(&one, 70 + (uint64_t)who);
        model_write(&m, &one, 0);
        request_free(&one);
    }
    request_fill(&q, 70 + (uint64_t)rank);
    if (rank % 2 == 0) {
        CHECK_OK(tutti_file_write_independent(f, q.access, q.base, &count));
        CHECK_EQ(count, tutti_access_bytes(q.access));
    }
    CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
    const tutti_off expect = model_read(&m, &want, 0, 4);
    request_fill(&q, 4);
    CHECK_OK(tutti_file_read_independent(f, q.access, q.base, &count));
    CHECK_EQ(count, expect);
    CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "independent read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "independent");
    request_free(&q);
    request_free(&want);
    free(m.v);
}

/* The size of a plan for blocks does not depend on the size of the array. */
static void small_plans(void) {
    size_t small = 0;
    for (tutti_count n = 2048; n <= 65536; n *= 32) {
        const tutti_count lo = n * rank / ranks, hi = n * (rank + 1) / ranks;
        tutti_section s = {
            3,         TUTTI_ROW_MAJOR, 8, 0, {16, n, n}, {0, 3, lo}, {16, n - 3, hi},
            {1, 1, 1}, .reserved = {0}};
        tutti_access *a = NULL;
        tutti_file *f = NULL;
        tutti_plan *p = NULL;
        CHECK_OK(tutti_access_section(&s, NULL, &a));
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
        CHECK_SAME(tutti_plan_write(f, a, &p), TUTTI_OK);
        const size_t size = tutti_plan_size(p);
        if (n == 2048) small = size;
        CHECK(size > 0 && size < 4096 + 2048 * (size_t)ranks, "%zu bytes", size);
        CHECK(size <= small + small / 2, "%zu bytes, for 2048 x 2048 %zu", size, small);
        tutti_plan_free(&p);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        tutti_access_free(&a);
    }
}

int main(int argc, char **argv) {
    int choice[AXES];
    char where[400];
    harness_begin(&argc, &argv, 713);
    snprintf(path, sizeof path, "%s", scratch_path("plans"));
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice)) {
        pairs_text(axes, AXES, choice, where, sizeof where);
        check_where(where);
        opt = options_of("striping_unit=512 rmw=1");
        for (int i = 0; i < AXES; i++)
            CHECK_OK(tutti_options_set(&opt, axes[i].name, axes[i].value[choice[i]]));
        test_alternating_plans();
        access_gone();
        wrong_order();
        test_alone();
        small_plans();
        if (check_failures_ > 20) break;
    }
    pairs_free(p);
    file_remove(path);
    return harness_end();
}
