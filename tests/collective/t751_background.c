/* TEST ranks=1,2,4 timeout=100 own=1 */
/* Background work after begin: begin returns while the store is blocked; statistics; insufficient
 * memory; errors of the background, which end returns once on all ranks; several operations at a time;
 * abandoned requests; requests pending at the end of the program; background threads are refused if the
 * thread level of MPI does not allow them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"
#include "harness.h"

enum { PIECE = 1000, PIECES = 40, MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static char path[512];

static request pieces(int who, tutti_off at) {
    request q = {NULL, NULL, NULL, 0};
    CHECK_OK(tutti_access_vector(at + (tutti_off)who * PIECE, PIECES, PIECE,
                                 (tutti_off)PIECE * ranks, &q.access));
    request_memory(&q);
    request_fill(&q, 1 + (uint64_t)who);
    return q;
}

static unsigned char *whole(tutti_off *n_out) {
    model m = {NULL, 0, 0};
    for (int r = 0; r < ranks; r++) {
        request q = pieces(r, 0);
        model_write(&m, &q, 0);
        request_free(&q);
    }
    *n_out = m.size;
    return m.v;
}

static tutti_stats stats_of(tutti_file *f) {
    tutti_stats s;
    tutti_file_stats(f, &s, NULL);
    return s;
}

/* Begin returns before any file access. */
static void begin_returns(const char *text) {
    tutti_off count = -1, n = 0;
    tutti_file *f = open_with(path, text);
    request q = pieces(rank, 0);
    unsigned char *want = whole(&n);
    gate_shut();
    CHECK_OK(tutti_file_write_begin(f, q.access, q.base));
    gate_open();
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, PIECE * PIECES);
    CHECK_EQ(stats_of(f).background, 1);
    CHECK_EQ(stats_of(f).foreground, 0);
    CHECK(strstr(tutti_file_explain(f), "background"), "%s", tutti_file_explain(f));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, want, n, text);
    request_free(&q);
    free(want);
}

/* A split read returns from begin before any file access, and reads between begin and end. */
static void read_ahead(void) {
    tutti_off count = -1, n = 0;
    unsigned char *want = whole(&n);
    file_put(path, want, n);
    tutti_file *f = NULL;
    const tutti_options opt = options_of("background=io-only fault=" HELD " window_size=1g");
    check_where("read ahead");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f), TUTTI_OK);
    request q = pieces(rank, 0);
    request_fill(&q, 999);
    gate_shut();
    CHECK_OK(tutti_file_read_begin(f, q.access, q.base));
    gate_open();
    CHECK_SAME(tutti_file_read_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, PIECE * PIECES);
    CHECK_EQ(stats_of(f).background, 1);
    request expect = pieces(rank, 0);
    CHECK(memcmp(q.memory, expect.memory, q.capacity) == 0, "bytes differ");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    request_free(&expect);
    free(want);
}

/* With too little memory, or a method without background work, begin performs the whole operation,
 * which is counted as foreground. */
static void foreground(const char *text) {
    tutti_off n = 0;
    tutti_file *f = open_with(path, text);
    request q = pieces(rank, 0);
    unsigned char *want = whole(&n);
    CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
    file_is(path, want, n, "after begin");
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_EQ(stats_of(f).background, 0);
    CHECK_EQ(stats_of(f).foreground, 1);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    free(want);
}

/* Pending operations share background_bytes: an operation that fits alone may not fit together with
 * another. */
static void memory_adds_up(void) {
    tutti_off n = 0;
    unsigned char *want = whole(&n);
    char text[128];
    const long long one = (n / 4096 + 1 + 2 * ranks) * 4096, capacity = one * 5 / 4;
    snprintf(text, sizeof text, "background=io-only window_size=4k background_bytes=%lld",
             capacity);
    tutti_file *f = open_with(path, text);
    request q = pieces(rank, 0), p = pieces(rank, 2 * n);
    CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_begin(f, p.access, p.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_EQ(stats_of(f).background, 1);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_EQ(stats_of(f).background, 0);
    CHECK_EQ(stats_of(f).foreground, 1);
    CHECK_SAME(tutti_file_write_begin(f, p.access, p.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_EQ(stats_of(f).background, 1);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    request_free(&p);
    free(want);
}

/* The error of a file access of rank `who` is returned on all ranks by end or wait, once. */
static void errors_come_later(const char *background, int who, int split) {
    char text[160];
    snprintf(text, sizeof text, "background=%s store=threads cb_nodes=%d fault=%d:write:1:ENOSPC",
             background, ranks, who);
    const account start = account_now();
    tutti_file *f = open_with(path, text);
    tutti_off count = -7;
    tutti_request *r = NULL;
    request q = pieces(rank, 0);
    if (split) {
        CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
        CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_NO_SPACE);
        CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_STATE);
    } else {
        CHECK_OK(tutti_file_write_start(f, q.access, q.base, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_ERR_NO_SPACE);
        CHECK(r == NULL, "the handle stays");
    }
    CHECK_EQ(count, -7);
    CHECK(tutti_last_error()->rank == who || split, "rank %d", tutti_last_error()->rank);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    file_remove(path);
    account_check(start);
}

/* If one rank refuses an operation, wait returns its error on all ranks. */
static void refused_later(const char *background) {
    char text[64];
    snprintf(text, sizeof text, "background=%s", background);
    tutti_file *f = open_with(path, text);
    tutti_request *r = NULL;
    request q = pieces(rank, 0);
    const int bad = ranks - 1;
    CHECK_OK(tutti_file_write_start(f, q.access, rank == bad ? NULL : q.base, &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_ARG);
    CHECK_EQ(tutti_last_error()->rank, bad);
    CHECK_OK(tutti_file_write_start(f, q.access, q.base, &r));
    CHECK_SAME(tutti_file_close(&f), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
}

static void abandoned(const char *background) {
    char text[64];
    tutti_off n = 0;
    unsigned char *want = whole(&n);
    snprintf(text, sizeof text, "background=%s", background);
    tutti_file *f = open_with(path, text);
    tutti_request *r = NULL;
    tutti_plan *p = NULL;
    request q = pieces(rank, 0);
    CHECK_OK(tutti_file_write_start(f, q.access, q.base, &r));
    tutti_request_abandon(&r);
    CHECK(r == NULL, "the handle stays");
    CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_OK);
    CHECK_OK(tutti_plan_start(p, q.base, n));
    tutti_plan_free(&p); /* the plan is kept until the operation has ended */
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    unsigned char *twice = malloc(2 * (size_t)n);
    memcpy(twice, want, (size_t)n);
    memcpy(twice + n, want, (size_t)n);
    file_is(path, twice, 2 * n, "abandoned");
    request_free(&q);
    free(twice);
    free(want);
}

/* tutti_request_test never waits: it reports an incomplete operation until other ranks have started. */
static void test_waits_for_nobody(void) {
    tutti_file *f = open_with(path, "background=io-only");
    tutti_request *r = NULL;
    request q = pieces(rank, 0);
    int done = 0, token = 0;
    if (rank == 0) {
        CHECK_OK(tutti_file_write_start(f, q.access, q.base, &r));
        for (int i = 0; i < 100 && ranks > 1; i++) {
            CHECK_OK(tutti_request_test(&r, &done, NULL));
            CHECK(!done, "complete without the others");
        }
        for (int i = 1; i < ranks; i++) MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_OK(tutti_file_write_start(f, q.access, q.base, &r));
    }
    while (!done) CHECK_OK(tutti_request_test(&r, &done, NULL));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
}

static void thread_refused(void) {
    tutti_file *f = NULL;
    const tutti_options opt = options_of("background=all");
    check_where("thread refused");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_ERR_UNSUPPORTED);
    CHECK(strstr(tutti_last_message(), "MPI_THREAD_MULTIPLE"), "%s", tutti_last_message());
}

/* Requests pending at MPI_Finalize: nothing hangs and no memory leaks. */
static void left_alone(void) {
    static unsigned char buffer[PIECE * PIECES];
    tutti_access *a = NULL;
    tutti_file *f = open_with(path, "background=io-only");
    CHECK_OK(tutti_access_contiguous(rank * (tutti_off)sizeof buffer, sizeof buffer, &a));
    CHECK_SAME(tutti_file_write_begin(f, a, buffer), TUTTI_OK);
    tutti_access_free(&a);
}

/* Operations access the file that was opened even if its name or the working directory has changed. */
static void same_file(void) {
    char moved[600], was[512];
    tutti_off n = 0;
    unsigned char *want = whole(&n);
    tutti_file *f = open_with(path, "background=io-only");
    request q = pieces(rank, 0);
    snprintf(moved, sizeof moved, "%s.moved", path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(rename(path, moved) == 0, "rename");
    CHECK(getcwd(was, sizeof was) && chdir("/") == 0, "chdir");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK(chdir(was) == 0, "chdir back");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(moved, want, n, "renamed");
    file_remove(moved);
    request_free(&q);
    free(want);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 751);
    snprintf(path, sizeof path, "%s", scratch_path("background"));
    begin_returns("background=io-only fault=" HELD " window_size=1g");
    begin_returns("background=io-only fault=" HELD " store=threads");
    read_ahead();
    gate_remove();
    foreground("background=io-only background_bytes=8k");
    foreground("background=io-only method=list");
    memory_adds_up();
    for (int who = 0; who < ranks; who++)
        for (int split = 0; split < 2; split++) errors_come_later("io-only", who, split);
    refused_later("io-only");
    refused_later("none");
    abandoned("io-only");
    abandoned("none");
    test_waits_for_nobody();
    same_file();
    int level = 0;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) thread_refused();
    left_alone();
    file_remove(path);
    return harness_end();
}
