/* TEST ranks=1,3 timeout=60 */
/* Independent non-blocking accesses: many at a time, each in its own lane of the file, among collective
 * operations of all kinds; the end of the file; errors, which only the failing rank returns; requests
 * that are completed after their file is closed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"
#include "harness.h"

enum { LANES = 24, PIECES = 40, PIECE = 50, LANE = PIECES * 2 * PIECE };
enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static char path[512];
static tutti_options opt;

/* Make the request of rank `who` for every second piece of its lane; lanes are in rank order. */
static request lane_request(int lane, int who) {
    request q = {NULL, NULL, NULL, 0};
    CHECK_OK(tutti_access_vector((tutti_off)(lane * ranks + who) * LANE, PIECES, PIECE, 2 * PIECE,
                                 &q.access));
    request_memory(&q);
    return q;
}

static void lane_model(model *m, int lane) {
    for (int r = 0; r < ranks; r++) {
        request q = lane_request(lane, r);
        request_fill(&q, (uint64_t)(100 * lane + r));
        model_write(m, &q, 0);
        request_free(&q);
    }
}

/* ---- many concurrent operations, with blocking calls between them */

typedef struct {
    request q[LANES];
    tutti_request *r[LANES];
    int alone[LANES];
} scene;

static void lane_start(tutti_file *f, scene *s, int lane, int is_write) {
    request *q = &s->q[lane];
    s->alone[lane] = lane % 4 != 0;
    if (s->alone[lane] && is_write)
        CHECK_OK(tutti_file_write_independent_start(f, q->access, q->base, &s->r[lane]));
    else if (s->alone[lane])
        CHECK_OK(tutti_file_read_independent_start(f, q->access, q->base, &s->r[lane]));
    else if (is_write)
        CHECK_OK(tutti_file_write_start(f, q->access, q->base, &s->r[lane]));
    else
        CHECK_OK(tutti_file_read_start(f, q->access, q->base, &s->r[lane]));
    tutti_access_free(&q->access); /* the access may be freed after start */
}

static void lane_end(scene *s, int lane) {
    tutti_off count = -7;
    int done = 0;
    if (!s->r[lane]) return;
    while (!done && lane % 3 == 0) {
        CHECK_OK(tutti_request_test(&s->r[lane], &done, &count));
        if (check_failures_) return;
    }
    if (!done) CHECK_OK(tutti_request_wait(&s->r[lane], &count));
    CHECK_EQ(count, PIECES * PIECE);
    CHECK(!s->r[lane], "the handle stays");
}

/* Make collective calls while independent requests are pending. */
static void others(tutti_file *f, model *m) {
    const int lane = LANES + 3;
    tutti_off count = -7;
    request q = lane_request(lane, rank);
    request_fill(&q, (uint64_t)(100 * lane + rank));
    lane_model(m, lane);
    CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, PIECES * PIECE);
    CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_OK);
    request_fill(&q, 1);
    CHECK_SAME(tutti_file_read(f, q.access, q.base, &count), TUTTI_OK);
    for (size_t i = 0; i < q.capacity; i++)
        if (q.memory[i] != mix((uint64_t)(100 * lane + rank), i)) {
            CHECK(0, "byte %zu differs", i);
            break;
        }
    request_free(&q);
}

/* Start an operation in each lane; complete them in an order that depends on the rank. */
static void round_trip(tutti_file *f, scene *s, model *m, int is_write) {
    uint64_t at = (uint64_t)rank * 7;
    memset(s, 0, sizeof *s);
    for (int lane = 0; lane < LANES; lane++) {
        s->q[lane] = lane_request(lane, rank);
        request_fill(&s->q[lane], is_write ? (uint64_t)(100 * lane + rank) : 0);
        lane_start(f, s, lane, is_write);
        if (is_write) lane_model(m, lane);
        if (lane == LANES / 2) others(f, m);
    }
    for (int i = 0; i < LANES; i++, at += 5) lane_end(s, (int)(at % LANES));
}

static void among_others(void) {
    static scene s;
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    tutti_stats all;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    round_trip(f, &s, &m, 1);
    for (int lane = 0; lane < LANES; lane++) request_free(&s.q[lane]);
    round_trip(f, &s, &m, 0);
    for (int lane = 0; lane < LANES; lane++) {
        for (size_t i = 0; i < s.q[lane].capacity; i++)
            if (s.q[lane].memory[i] != mix((uint64_t)(100 * lane + rank), i)) {
                CHECK(0, "lane %d, byte %zu differs", lane, i);
                break;
            }
        request_free(&s.q[lane]);
    }
    tutti_file_stats(f, NULL, &all);
    CHECK_EQ(all.operations, 2 * (LANES + 3));
    CHECK_EQ(all.bytes, all.operations * PIECES * PIECE);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    if (opt.store != TUTTI_STORE_MEM) file_is(path, m.v, m.size, "after close");
    free(m.v);
}

/* ---- the end of the file */

static void end_of_file(void) {
    enum { SIZE = 1000 };
    static const struct {
        tutti_off at, bytes, count;
    } reads[] = {{0, SIZE, SIZE}, {900, 200, 100}, {SIZE, 10, 0}, {5000, 5000, 0}, {0, 0, 0}};
    unsigned char bytes[SIZE], got[5000];
    tutti_file *f = NULL;
    tutti_off size = -1;
    for (int i = 0; i < SIZE; i++) bytes[i] = mix(3, (uint64_t)i);
    file_put(path, bytes, SIZE);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f), TUTTI_OK);
    CHECK_OK(tutti_file_size_independent(f, &size));
    CHECK_EQ(size, SIZE);
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++) {
        tutti_access *a = NULL;
        tutti_request *r = NULL;
        tutti_off count = -7;
        memset(got, 'x', sizeof got);
        CHECK_OK(tutti_access_contiguous(reads[k].at, reads[k].bytes, &a));
        CHECK_OK(tutti_file_read_independent_start(f, a, got, &r));
        CHECK_OK(tutti_request_wait(&r, &count));
        CHECK_EQ(count, reads[k].count);
        CHECK(memcmp(got, bytes + reads[k].at % SIZE, (size_t)count) == 0, "read %zu differs", k);
        for (size_t i = (size_t)reads[k].count; i < sizeof got; i++)
            if (got[i] != 'x') CHECK(0, "byte %zu behind the end was touched", i);
        CHECK_OK(tutti_file_read_independent(f, a, got, &count));
        CHECK_EQ(count, reads[k].count);
        tutti_access_free(&a);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* ---- errors */

/* A write of rank 0 fails: only rank 0 returns the error, and later calls succeed. */
static void test_full(void) {
    tutti_options bad = opt;
    tutti_file *f = NULL;
    tutti_request *r[3] = {NULL, NULL, NULL};
    request q = lane_request(0, rank);
    request_fill(&q, 1);
    CHECK_OK(tutti_options_set(&bad, "fault", "0:write:2:ENOSPC"));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &bad, &f), TUTTI_OK);
    CHECK_OK(tutti_file_write_independent(f, q.access, q.base, NULL));
    for (int i = 0; i < 3; i++)
        CHECK_OK(tutti_file_write_independent_start(f, q.access, q.base, &r[i]));
    tutti_request_abandon(&r[1]);
    CHECK(!r[1], "the handle stays");
    for (int i = 0; i < 3; i += 2) {
        tutti_off count = -7;
        const tutti_err err = tutti_request_wait(&r[i], &count);
        CHECK_EQ(err, rank == 0 ? TUTTI_ERR_NO_SPACE : TUTTI_OK);
        CHECK_EQ(count, rank == 0 ? -7 : PIECES * PIECE);
        if (rank != 0) continue;
        CHECK(!strcmp(tutti_last_error()->operation, "write"), "operation '%s'",
              tutti_last_error()->operation);
        CHECK(!strcmp(tutti_last_error()->path, path), "path '%s'", tutti_last_error()->path);
        CHECK_EQ(tutti_last_error()->rank, 0);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
}

static void test_refused(void) {
    tutti_file *f = NULL;
    tutti_request *r = NULL;
    request q = lane_request(0, rank);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, &opt, &f),
               TUTTI_OK);
    CHECK_ERR(tutti_file_read_independent_start(f, q.access, q.base, &r), TUTTI_ERR_MODE);
    CHECK_ERR(tutti_file_write_independent_start(f, q.access, NULL, &r), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_write_independent_start(f, NULL, q.base, &r), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_write_independent_start(f, q.access, q.base, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_write_independent_start(NULL, q.access, q.base, &r), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_size_independent(f, NULL), TUTTI_ERR_ARG);
    CHECK(r == NULL, "a refusal makes no request");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
}

/* Closing the file waits for pending writes; the requests can be completed afterwards. */
static void test_outlives(void) {
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    tutti_request *r[2] = {NULL, NULL};
    tutti_off count = -7;
    request q = lane_request(0, rank);
    tutti_options slow = opt;
    CHECK_OK(tutti_options_set(&slow, "fault", "*:slow:20"));
    request_fill(&q, (uint64_t)rank);
    lane_model(&m, 0);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &slow, &f), TUTTI_OK);
    if (rank == 0) /* other ranks have no pending request */
        for (int i = 0; i < 2; i++)
            CHECK_OK(tutti_file_write_independent_start(f, q.access, q.base, &r[i]));
    else
        CHECK_OK(tutti_file_write_independent(f, q.access, q.base, NULL));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    if (opt.store != TUTTI_STORE_MEM) file_is(path, m.v, m.size, "after close");
    if (rank == 0) {
        CHECK_OK(tutti_request_wait(&r[0], &count));
        CHECK_EQ(count, PIECES * PIECE);
        tutti_request_abandon(&r[1]);
    }
    request_free(&q);
    free(m.v);
}

/* Start does not wait for the file access, which completes without further calls. */
static void by_itself(void) {
    tutti_options blocked = opt;
    tutti_file *f = NULL;
    tutti_request *r = NULL;
    request q = lane_request(0, rank);
    int done = 1;
    request_fill(&q, 1);
    model m = {NULL, 0, 0};
    model_write(&m, &q, 0);
    CHECK_OK(tutti_options_set(&blocked, "fault", HELD));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &blocked, &f), TUTTI_OK);
    gate_shut();
    CHECK_OK(tutti_file_write_independent_start(f, q.access, q.base, &r));
    CHECK_OK(tutti_request_test(&r, &done, NULL));
    CHECK(!done, "complete while the store is held");
    gate_open();
    /* the library is not called until the data is in the file */
    for (int i = 0; i < 3000 && r && !done; i++) {
        int64_t n = 0;
        unsigned char *v = file_bytes(path, &n);
        done = n >= m.size;
        for (tutti_off k = 0; done && k < m.size; k++) done = m.v[k] == 0 || v[k] == m.v[k];
        free(v);
        if (!done) usleep(10000);
    }
    CHECK(done, "nothing happens between start and wait");
    CHECK_OK(tutti_request_wait(&r, NULL));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    gate_remove();
    request_free(&q);
    free(m.v);
}

static void all_of_it(const char *text) {
    check_where(text);
    opt = options_of(text);
    among_others();
    if (opt.store != TUTTI_STORE_MEM) end_of_file();
    test_full();
    test_refused();
    test_outlives();
    const account start = account_now();
    among_others();
    test_full();
    test_outlives();
    account_check(start);
    CHECK(rank != 0 || tutti_file_delete(path, &opt) == TUTTI_OK, "delete");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 760);
    snprintf(path, sizeof path, "%s", scratch_path("alone"));
    all_of_it("store=auto");
    all_of_it("store=uring background=io-only io_threads=4");
    all_of_it("store=aio direct_io=1 nodes=single");
    all_of_it("store=mem method=sieve io_threads=1");
    all_of_it("store=threads background=io-only fault=*:short:77");
    opt = options_of("");
    by_itself();
    file_remove(path);
    return harness_end();
}
