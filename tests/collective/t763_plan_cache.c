/* TEST ranks=1,2,3,5 timeout=120 */
/* The plan cache.  Random requests are repeated, at other offsets, or with the part of one rank changed,
 * by blocking, split and non-blocking calls, with all exchanges, and compared with the serial model.
 * Fixed requests check the numbers of hits and misses, eviction, pending operations, refusals and
 * failures within a series of hits, and that all memory is released.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/side.h"
#include "collective/find.h"
#include "harness.h"
#include "pairs.h"

enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static char path[512];
static tutti_options opt;

/* ---- random requests, compared with the model */

static const char *const methods[] = {"auto", "two-phase", "list", "independent", "sieve", "root"};
static const char *const exchanges[] = {"shm", "two-sided", "fence", "lock", "auto"};
static const char *const steps[] = {"0", "4", "2"};
static const char *const nodes[] = {"", "2", "rr:2", "single"};
static const char *const stores[] = {"auto", "uring", "threads", "posix"};
static const char *const buffers[] = {"64k", "16m"};
static const char *const backgrounds[] = {"auto", "io-only", "none"};
static const char *const caches[] = {"8", "1", "3"};
static const char *const rooms[] = {"256m", "200k"};
static const char *const units[] = {"512", "0"};
static const pairs_axis axes[] = {
    {"method", methods, 6},
    {"exchange", exchanges, 5},
    {"step", steps, 3},
    {"nodes", nodes, 4},
    {"store", stores, 4},
    {"cb_buffer_size", buffers, 2},
    {"background", backgrounds, 3},
    {"plan_cache", caches, 3},
    {"background_bytes", rooms, 2},
    {"striping_unit", units, 2},
};
enum { AXES = sizeof axes / sizeof *axes, FORMS = 4, TURNS = 14 };

/* A repeated request: arguments of request_make. */
typedef struct {
    int shape;
    uint64_t salt;
    int64_t scale;
} form;

/* Make the request of rank `who` at displacement `shift`; rank `odd` (-1: none) requests only the first
 * half of its extent. */
static request part_of(const form *m, int who, tutti_off shift, int odd) {
    request q = request_make(m->shape, who, ranks, m->salt, m->scale),
            moved = {NULL, NULL, NULL, 0};
    const tutti_access *one = q.access;
    tutti_access *half = NULL;
    tutti_off lo = 0, hi = 0;
    if (who == odd) {
        tutti_access_bounds(q.access, &lo, &hi);
        CHECK_OK(tutti_access_clip(q.access, lo, lo + (hi - lo) / 2, &half));
        one = half;
    }
    CHECK_OK(tutti_access_copy(one, &moved.access));
    moved.access->file.disp += shift;
    if (moved.access->repeats.file.node) moved.access->repeats.file.disp += shift;
    request_memory(&moved);
    tutti_access_free(&half);
    request_free(&q);
    return moved;
}

static void write_all(model *m, const form *g, tutti_off shift, int odd, uint64_t key) {
    for (int r = 0; r < ranks; r++) {
        request q = part_of(g, r, shift, odd);
        request_fill(&q, key + (uint64_t)r);
        model_write(m, &q, 0);
        request_free(&q);
    }
}

/* Access the file by a call of the kind `how`. */
static void make_call(tutti_file *f, int is_write, int how, const request *q, tutti_off *count) {
    tutti_request *r = NULL;
    if (how == 0 && is_write) {
        CHECK_SAME(tutti_file_write(f, q->access, q->base, count), TUTTI_OK);
    } else if (how == 0) {
        CHECK_SAME(tutti_file_read(f, q->access, q->base, count), TUTTI_OK);
    } else if (how == 1 && is_write) {
        CHECK_SAME(tutti_file_write_begin(f, q->access, q->base), TUTTI_OK);
        CHECK_SAME(tutti_file_write_end(f, count), TUTTI_OK);
    } else if (how == 1) {
        CHECK_SAME(tutti_file_read_begin(f, q->access, q->base), TUTTI_OK);
        CHECK_SAME(tutti_file_read_end(f, count), TUTTI_OK);
    } else {
        if (is_write)
            CHECK_OK(tutti_file_write_start(f, q->access, q->base, &r));
        else
            CHECK_OK(tutti_file_read_start(f, q->access, q->base, &r));
        CHECK_SAME(tutti_request_wait(&r, count), TUTTI_OK);
    }
}

static void turn(tutti_file *f, model *m, const form *g) {
    static const tutti_off shifts[] = {0, 0, 4096 * 7, 512 * 3, 1001};
    const tutti_off shift = shifts[rnd(5)];
    const int odd = rnd(5) == 0 ? (int)rnd(ranks) : -1, how = rnd(2) ? 0 : (int)rnd(3);
    const uint64_t key = rnd64() >> 8;
    tutti_off count = -7;
    if (rnd(2)) {
        request q = part_of(g, rank, shift, odd);
        request_fill(&q, key + (uint64_t)rank);
        write_all(m, g, shift, odd, key);
        make_call(f, 1, how, &q, &count);
        CHECK_EQ(count, tutti_access_bytes(q.access));
        request_free(&q);
    } else {
        request q = part_of(g, rank, shift, odd), want = part_of(g, rank, shift, odd);
        const tutti_off expect = model_read(m, &want, 0, key);
        request_fill(&q, key);
        make_call(f, 0, how, &q, &count);
        CHECK_EQ(count, expect);
        CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "read differs");
        request_free(&q);
        request_free(&want);
    }
}

static void at_random(void) {
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    form g[FORMS];
    tutti_stats all;
    for (int i = 0; i < FORMS; i++) {
        const int shape = (int)rnd(SHAPES);
        g[i] = (form){shape, rnd64() >> 8, 1000 + rnd(40000)};
    }
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    for (int i = 0; i < TURNS && check_failures_ < 20; i++) turn(f, &m, &g[rnd(FORMS)]);
    tutti_file_stats(f, NULL, &all);
    CHECK_EQ(all.plans + all.plan_hits, all.operations);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "at random");
    free(m.v);
}

/* ---- fixed requests with expected numbers of plans and hits */

typedef struct {
    tutti_count plans, hits;
} tally;

static tally tally_of(const tutti_file *f) {
    tutti_stats all;
    tutti_file_stats(f, NULL, &all);
    return (tally){all.plans, all.plan_hits};
}

/* Make an access to `runs` runs of `bytes` bytes, interleaved with the runs of other ranks. */
static tutti_access *pieces(tutti_off at, int runs, int bytes) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_vector(at + (tutti_off)rank * bytes, runs, bytes,
                                 (tutti_off)bytes * ranks, &a));
    return a;
}

/* Write the value `byte` to pieces collectively; read them back independently. */
static void make_step(tutti_file *f, tutti_off at, int runs, int bytes, int byte) {
    tutti_access *a = pieces(at, runs, bytes);
    const size_t n = (size_t)(runs * bytes);
    unsigned char *v = malloc(n + 1);
    tutti_off count = -7, size = 0;
    memset(v, byte, n);
    CHECK_SAME(tutti_file_write(f, a, v, &count), TUTTI_OK);
    CHECK_EQ(count, n);
    memset(v, 0, n);
    CHECK_OK(tutti_file_size_independent(f, &size));
    CHECK_OK(tutti_file_read_independent(f, a, v, NULL));
    for (size_t i = 0; i < n; i++)
        if (v[i] != byte) {
            CHECK(0, "byte %zu is %d, not %d", i, v[i], byte);
            break;
        }
    MPI_Barrier(MPI_COMM_WORLD); /* other ranks could already be in the next write */
    free(v);
    tutti_access_free(&a);
}

static void counted(tutti_file *f, tally *last, int plans, int hits, const char *what) {
    const tally now = tally_of(f);
    CHECK(now.plans - last->plans == plans && now.hits - last->hits == hits,
          "%s: %lld plans and %lld hits, not %d and %d", what, (long long)(now.plans - last->plans),
          (long long)(now.hits - last->hits), plans, hits);
    *last = now;
}

static void begin_with(const char *text, tutti_file **f) {
    check_where(text);
    opt = options_of(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, f), TUTTI_OK);
}

/* Repeated shapes at other offsets are hits, other shapes are misses. */
static void hits_and_misses(const char *text) {
    tutti_file *f = NULL;
    begin_with(text, &f);
    tally t = tally_of(f);
    for (int i = 0; i < 12; i++) make_step(f, 40960 * i, 30, 100, 10 + i);
    counted(f, &t, 1, 11, "a row of steps");
    make_step(f, 40960 * 2, 30, 101, 5);
    counted(f, &t, 1, 0, "other lengths");
    make_step(f, 40960 * 2, 31, 100, 6);
    counted(f, &t, 1, 0, "one more");
    make_step(f, 40960 * 3, 30, 100, 7);
    counted(f, &t, 0, 1, "the first one again");
    make_step(f, 40960 * 3 + 77, 30, 100, 7); /* sharing pages is faster than a new plan */
    counted(f, &t, 0, 1, "askew");
    if (ranks > 1) {
        make_step(f, 0, rank == 1 ? 20 : 30, 100, 8);
        counted(f, &t, 1, 0, "one rank asks for less");
        make_step(f, 0, rank == 1 ? 20 : 30, 100, 9);
        counted(f, &t, 0, 1, "and again");
        make_step(f, 4096 + (rank == 1 ? 8192 : 0), 30, 100, 8);
        counted(f, &t, 1, 0, "one rank is elsewhere");
        make_step(f, rank == 1 ? 8192 : 0, 30, 100, 8);
        counted(f, &t, 0, 1, "as far from the others as before");
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Large staged writes do not share pages between ranks. */
static void test_aligned(void) {
    enum { BYTES = 2 << 20, PIECE = 512 };
    tutti_file *f = NULL;
    begin_with("method=two-phase cb_nodes=2", &f);
    tally t = tally_of(f);
    const int runs = 2 * BYTES / PIECE;
    make_step(f, 0, runs, PIECE, 1);
    make_step(f, 4096 * 3, runs, PIECE, 2);
    counted(f, &t, 1, 1, "whole pages");
    make_step(f, 4096 * 3 + 8, runs, PIECE, 3);
    counted(f, &t, 1, 0, "parts of pages");
    make_step(f, 4096 * 7 + 8, runs, PIECE, 4);
    counted(f, &t, 0, 1, "from there whole pages");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

static void test_eviction(void) {
    tutti_file *f = NULL;
    begin_with("plan_cache=2", &f);
    tally t = tally_of(f);
    for (int i = 0; i < 9; i++) make_step(f, 0, 10 + i % 3, 100, 1 + i);
    counted(f, &t, 9, 0, "three in turn, room for two");
    for (int i = 0; i < 8; i++) make_step(f, 0, 20 + i % 2, 100, 1 + i);
    counted(f, &t, 2, 6, "two in turn");
    make_step(f, 0, 20, 100, 1);
    make_step(f, 0, 22, 100, 1); /* replaces the plan for 21 runs */
    make_step(f, 0, 20, 100, 1);
    counted(f, &t, 1, 2, "the last one used stays");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    begin_with("plan_cache=0", &f);
    t = tally_of(f);
    for (int i = 0; i < 4; i++) make_step(f, 0, 10, 100, 1 + i);
    counted(f, &t, 4, 0, "nothing is remembered");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Two shapes that differ only on rank 0 are both found. */
static void alike_for_some(void) {
    tutti_file *f = NULL;
    if (ranks == 1) return;
    begin_with("", &f);
    tally t = tally_of(f);
    for (int i = 0; i < 8; i++) make_step(f, 0, rank == 0 ? 5 + i % 2 : 5, 100, 1 + i);
    counted(f, &t, 2, 6, "rank 0 alternates, the others do not");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Test several pending operations of one shape. */
static void in_flight(const char *text) {
    enum { N = 4, RUNS = 50, BYTES = 90 };
    tutti_file *f = NULL;
    tutti_access *a[N];
    tutti_request *r[N];
    unsigned char v[N][RUNS * BYTES];
    begin_with(text, &f);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            memset(v[i], 1 + i + 10 * round, sizeof v[i]);
            a[i] = pieces(409600 * i, RUNS, BYTES);
            CHECK_OK(tutti_file_write_start(f, a[i], v[i], &r[i]));
        }
        for (int i = 0; i < N; i++) /* each rank waits in a different order */
            CHECK_OK(tutti_request_wait(&r[(i + rank) % N], NULL));
        for (int i = 0; i < N; i++) {
            unsigned char got[RUNS * BYTES];
            CHECK_SAME(tutti_file_read(f, a[i], got, NULL), TUTTI_OK);
            CHECK(memcmp(got, v[i], sizeof got) == 0, "round %d, operation %d", round, i);
            tutti_access_free(&a[i]);
        }
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Within a series of hits, one rank refuses a write; later writes are hits again. */
static void check_refused(const char *text) {
    enum { RUNS = 1, BYTES = 4096 };
    tutti_file *f = NULL;
    unsigned char v[BYTES];
    tutti_off count = -7;
    begin_with(text, &f);
    for (int i = 0; i < 12; i++) make_step(f, 0, RUNS, BYTES, 1 + i);
    tutti_access *a = pieces(0, RUNS, BYTES);
    memset(v, 99, sizeof v);
    CHECK_SAME(tutti_file_write(f, a, rank == ranks - 1 ? NULL : v, &count), TUTTI_ERR_ARG);
    CHECK_EQ(count, -7);
    CHECK_EQ(tutti_last_error()->rank, ranks - 1);
    CHECK_OK(tutti_file_read_independent(f, a, v, NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(v[7], 12); /* the refused write has changed nothing */
    for (int i = 0; i < 4; i++) make_step(f, 0, RUNS, BYTES, 20 + i);
    tutti_access_free(&a);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

static void check_full(const char *text) {
    enum { BYTES = 4096 };
    char all[300];
    tutti_file *f = NULL;
    unsigned char v[BYTES] = {0};
    int failed = 0;
    snprintf(all, sizeof all, "%s fault=0:write:14:ENOSPC", text);
    begin_with(all, &f);
    tutti_access *a = pieces(0, 1, BYTES);
    for (int i = 0; i < 20; i++) {
        const tutti_err err = same_everywhere(tutti_file_write(f, a, v, NULL));
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NO_SPACE, "%s", tutti_last_message());
        failed += err != TUTTI_OK;
    }
    CHECK_EQ(failed, 7);
    CHECK_EQ(tutti_last_error()->rank, 0);
    tutti_access_free(&a);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* A repeated small write without holes needs one system call, on one rank. */
static void test_jointly(void) {
    tutti_file *f = NULL;
    begin_with("method=two-phase cb_nodes=2 window_size=4k", &f);
    for (int i = 0; i < 20; i++) {
        tutti_stats last;
        tutti_access *a = pieces(40960 * i + 5 * i, 40, 50);
        unsigned char v[40 * 50];
        memset(v, 1 + i, sizeof v);
        CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
        tutti_file_stats(f, &last, NULL);
        CHECK_EQ(last.plan_hits, i > 0);
        if (i >= 10 && ranks > 1) {
            CHECK_EQ(sum_all(last.file_writes), 1);
            CHECK_EQ(sum_all(last.windows), 0);
            CHECK_EQ(last.copied_bytes, sizeof v);
        }
        tutti_access_free(&a);
    }
    for (int i = 0; i < 20; i++) {
        tutti_access *a = pieces(40960 * i + 5 * i, 40, 50);
        unsigned char v[40 * 50];
        CHECK_SAME(tutti_file_read(f, a, v, NULL), TUTTI_OK);
        for (size_t k = 0; k < sizeof v; k++)
            if (v[k] != 1 + i) {
                CHECK(0, "write %d: byte %zu is %d", i, k, v[k]);
                break;
            }
        tutti_access_free(&a);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Overlapping writes keep their order, also at other displacements. */
static void overlaps(const char *text) {
    enum { BYTES = 3000 };
    tutti_file *f = NULL;
    begin_with(text, &f);
    for (int i = 0; i < 12; i++) {
        tutti_access *a = NULL;
        unsigned char v[BYTES], got[BYTES];
        const tutti_off at = i % 4 == 3 ? rank * BYTES : 4096 * i + 100 * rank;
        CHECK_OK(tutti_access_contiguous(at, BYTES, &a));
        memset(v, 1 + rank + 10 * i, sizeof v);
        CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
        CHECK_OK(tutti_file_read_independent(f, a, got, NULL));
        for (int k = 0; k < BYTES; k++) {
            int who = rank + k / 100;
            if (i % 4 == 3) who = rank;
            if (who > ranks - 1) who = ranks - 1;
            if (got[k] != 1 + who + 10 * i) {
                CHECK(0, "step %d: byte %d is %d, not rank %d's", i, k, got[k], who);
                break;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        tutti_access_free(&a);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Repeated reads of different shapes: a rank may read directly by its own plan before all ranks have
 * agreed on a plan with staging. */
static void read_too_soon(void) {
    enum { RUNS = 16, BYTES = 64 };
    tutti_file *f = NULL;
    unsigned char v[RUNS * BYTES];
    tutti_access *a = pieces(0, RUNS, BYTES), *none = NULL;
    CHECK_OK(tutti_access_contiguous(0, 0, &none));
    begin_with("method=two-phase", &f);
    memset(v, 7, sizeof v);
    CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
    for (int round = 0; round < 4; round++) {
        tutti_off count = -7;
        f->opt.method = TUTTI_METHOD_TWO_PHASE;
        for (int i = 0; i < 3; i++) {
            memset(v, 0, sizeof v);
            CHECK_SAME(tutti_file_read(f, a, v, &count), TUTTI_OK);
            CHECK_EQ(count, sizeof v);
            CHECK_EQ(v[sizeof v - 1], 7);
        }
        f->opt.method = TUTTI_METHOD_LIST;
        for (int i = 0; i < 3 * ranks; i++) {
            const int is_active = i / 3 == rank;
            CHECK_SAME(tutti_file_read(f, is_active ? a : none, v, &count), TUTTI_OK);
            CHECK_EQ(count, is_active ? (tutti_off)sizeof v : 0);
        }
    }
    tutti_access_free(&a);
    tutti_access_free(&none);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

static void test_exactly(void) {
    hits_and_misses("");
    hits_and_misses("method=two-phase");
    hits_and_misses("method=list");
    hits_and_misses("exchange=two-sided step=4 method=two-phase");
    test_aligned();
    test_eviction();
    alike_for_some();
    in_flight("background=io-only");
    in_flight("background=none");
    in_flight("background=io-only nodes=single plan_cache=3");
    check_refused("");
    check_refused("check=1");
    check_refused("method=two-phase");
    test_jointly();
    read_too_soon();
    check_full("");
    check_full("method=list nodes=2");
    overlaps("");
    overlaps("method=two-phase");
}

int main(int argc, char **argv) {
    int choice[AXES];
    char where[500];
    harness_begin(&argc, &argv, 763);
    snprintf(path, sizeof path, "%s", scratch_path("remember"));
    test_exactly();
    const account start = account_now();
    test_exactly();
    account_check(start);
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice) && check_failures_ < 20) {
        pairs_text(axes, AXES, choice, where, sizeof where);
        check_where(where);
        opt = options_of("rmw=1");
        for (int i = 0; i < AXES; i++)
            CHECK_OK(tutti_options_set(&opt, axes[i].name, axes[i].value[choice[i]]));
        at_random();
    }
    pairs_free(p);
    file_remove(path);
    return harness_end();
}
