/* TEST ranks=1,2,3,5,8 timeout=120 own=1 */
/* Bytes that occur several times in one access: a read fills and counts all their memory locations,
 * up to the end of the file; a write stores the last.  Random accesses of all constructors are
 * compared with their models, with every kind of call and several methods.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <tutti/tutti.h>
#include "access/reference.h"

static int rank, ranks;
static char path[512];

enum { UNTOUCHED = 0xEE };

static unsigned char value_at(int64_t offset) {
    return (unsigned char)(1 + (offset * 7 + (offset >> 7)) % 211);
}

static void file_make(int64_t size) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f != NULL, "%s", path);
        for (int64_t i = 0; f && i < size; i++) fputc(value_at(i), f);
        if (f) fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static tutti_file *file_open(const char *options) {
    tutti_options opt;
    tutti_file *f = NULL;
    char text[200], *at = text;
    tutti_options_init(&opt);
    snprintf(text, sizeof text, "%s", options);
    for (char *word; (word = strsep(&at, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        CHECK_OK(tutti_options_set(&opt, word, value));
    }
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
    return f;
}

/* ---- expected memory after a read of an access */

typedef struct {
    tutti_access *access;
    model m;
    int64_t lo, capacity; /* lower bound of memory; size of `memory` and `from` */
    unsigned char *memory;
    int64_t *from; /* file offset of each byte of `memory`, or NOTHING or ANYTHING */
} request;
enum { NOTHING = -1, ANYTHING = -2 };

static void request_init(request *q) {
    tutti_off hi;
    tutti_access_memory_bounds(q->access, &q->lo, &hi);
    q->capacity = hi - q->lo;
    q->memory = malloc((size_t)q->capacity + 1);
    q->from = malloc((size_t)(q->capacity + 1) * sizeof *q->from);
}

static void request_free(request *q) {
    tutti_access_free(&q->access);
    model_free(&q->m);
    free(q->memory);
    free(q->from);
}

static int64_t expect_read(request *q, const model *m, int64_t by, int64_t size) {
    int64_t n = 0;
    for (int64_t i = 0; m && i < m->n; i++) {
        if (m->file[i] + by >= size) continue;
        int64_t *from = &q->from[m->memory[i] - q->lo];
        *from = *from == NOTHING || *from == m->file[i] + by ? m->file[i] + by : ANYTHING;
        n++;
    }
    return n;
}

/* Set q->from for a read at displacement `by` in a file of `size` bytes; return the bytes read. */
static int64_t check_expected(request *q, int64_t by, int64_t size) {
    for (int64_t i = 0; i < q->capacity; i++) q->from[i] = NOTHING;
    const int64_t n = expect_read(q, &q->m, by, size) + expect_read(q, q->m.lost, by, size);
    /* if the value of a byte is undefined, so is that of its repeats */
    for (int64_t i = 0, k = 0; i < model_lost(&q->m); i++) {
        if (i == 0 || q->m.lost->file[i] < q->m.lost->file[i - 1]) k = 0;
        while (q->m.file[k] < q->m.lost->file[i]) k++;
        if (q->from[q->m.memory[k] - q->lo] == ANYTHING)
            q->from[q->m.lost->memory[i] - q->lo] = ANYTHING;
    }
    return n;
}

static void check_memory(request *q, const char *call) {
    for (int64_t i = 0; i < q->capacity; i++) {
        const int64_t from = q->from[i];
        if (from == ANYTHING || q->memory[i] == (from == NOTHING ? UNTOUCHED : value_at(from)))
            continue;
        CHECK(0, "%s: memory %lld is %d, not file %lld", call, (long long)(i + q->lo), q->memory[i],
              (long long)from);
        return;
    }
}

/* ---- calls */

static tutti_err by_read(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    (void)by;
    return tutti_file_read(f, q->access, q->memory - q->lo, n);
}
static tutti_err by_split(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    (void)by;
    CHECK_OK(tutti_file_read_begin(f, q->access, q->memory - q->lo));
    return tutti_file_read_end(f, n);
}
static tutti_err by_start(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    tutti_request *r = NULL;
    (void)by;
    CHECK_OK(tutti_file_read_start(f, q->access, q->memory - q->lo, &r));
    return tutti_request_wait(&r, n);
}
static tutti_err by_independent(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    (void)by;
    return tutti_file_read_independent(f, q->access, q->memory - q->lo, n);
}
static tutti_err by_independent_start(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    tutti_request *r = NULL;
    (void)by;
    CHECK_OK(tutti_file_read_independent_start(f, q->access, q->memory - q->lo, &r));
    return tutti_request_wait(&r, n);
}
static tutti_err by_plan(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    tutti_plan *p = NULL;
    CHECK_OK(tutti_plan_read(f, q->access, &p));
    const tutti_err err = tutti_plan_run(p, q->memory - q->lo, by, n);
    tutti_plan_free(&p);
    return err;
}
static tutti_err by_plan_start(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    tutti_plan *p = NULL;
    CHECK_OK(tutti_plan_read(f, q->access, &p));
    CHECK_OK(tutti_plan_start(p, q->memory - q->lo, by));
    const tutti_err err = tutti_plan_wait(p, n);
    tutti_plan_free(&p);
    return err;
}
static tutti_err by_atomic(tutti_file *f, request *q, int64_t by, tutti_off *n) {
    CHECK_OK(tutti_file_atomic(f, 1));
    const tutti_err err = by_read(f, q, by, n);
    CHECK_OK(tutti_file_atomic(f, 0));
    return err;
}

static const struct {
    const char *name;
    tutti_err (*run)(tutti_file *, request *, int64_t by, tutti_off *n);
    int shifts;
} calls[] = {{"read", by_read, 0},
             {"read again", by_read, 0},
             {"read a third time", by_read, 0},
             {"split", by_split, 0},
             {"start", by_start, 0},
             {"independent", by_independent, 0},
             {"independent start", by_independent_start, 0},
             {"plan", by_plan, 1},
             {"plan start", by_plan_start, 1},
             {"atomic", by_atomic, 0}};

static void read_by_every_call(tutti_file *f, request *q, int64_t size, int64_t by) {
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        tutti_off n = -1;
        memset(q->memory, UNTOUCHED, (size_t)q->capacity);
        CHECK_OK(calls[k].run(f, q, by, &n));
        CHECK_EQ(n, check_expected(q, calls[k].shifts ? by : 0, size));
        check_memory(q, calls[k].name);
    }
}

static const char *const options[] = {"",
                                      "method=list",
                                      "method=independent",
                                      "method=sieve",
                                      "method=two-phase",
                                      "method=two-phase exchange=two-sided",
                                      "method=two-phase exchange=two-sided step=1",
                                      "method=two-phase exchange=fence",
                                      "background=io-only",
                                      "background=all"};

/* Test accesses that have the same length and order on all ranks, but different repeats. */
static void random_rounds(int rounds) {
    int64_t repeats = 0;
    for (int round = 0; round < rounds; round++) {
        request q[2];
        tutti_off all = 0;
        for (int i = 0; i < 2; i++) {
            tutti_off hi;
            memset(&q[i], 0, sizeof q[i]);
            check_state_ += (uint64_t)rank * 7919;
            q[i].access = random_access(round % 4, &q[i].m);
            check_state_ = (uint64_t)(round * 2 + i) * 104729 + check_seed_;
            request_init(&q[i]);
            repeats += model_lost(&q[i].m);
            tutti_access_bounds(q[i].access, NULL, &hi);
            if (hi > all) all = hi;
        }
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        const int64_t size = round % 3 == 0 ? all + 20 : rnd(all + 1);
        file_make(size);
        for (int k = 0; k < 2; k++) {
            const char *text =
                options[(size_t)(2 * round + k) % (sizeof options / sizeof *options)];
            check_where(text);
            tutti_file *f = file_open(text);
            for (int i = 0; i < 2 && f; i++) read_by_every_call(f, &q[i], size, rnd(9));
            CHECK_OK(tutti_file_close(&f));
        }
        for (int i = 0; i < 2; i++) request_free(&q[i]);
        if (check_failures_ > 10) break;
    }
    MPI_Allreduce(MPI_IN_PLACE, &repeats, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(repeats > 100 * ranks, "only %lld bytes were repeated", (long long)repeats);
}

/* ---- small examples with literal expected values */

static void by_hand(void) {
    const tutti_count index[] = {2, 0, 2, 2};
    const unsigned char out[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const unsigned char file[6] = {3, 4, value_at(2), value_at(3), 7, 8};
    unsigned char in[8] = {0};
    tutti_access *a = NULL;
    tutti_off n = 0;
    char text[100];
    check_where("by hand");
    file_make(6);
    tutti_file *f = file_open("");
    CHECK_OK(tutti_access_indices(0, 2, 4, index, &a));
    CHECK_EQ(tutti_access_bytes(a), 4);
    CHECK_EQ(tutti_access_repeated(a), 4);
    tutti_access_describe(a, text, sizeof text);
    CHECK(strstr(text, "; 4 bytes repeated"), "%s", text);
    CHECK_OK(tutti_file_read(f, a, in, &n));
    CHECK_EQ(n, 8);
    for (int i = 0; i < 8; i++) CHECK_EQ(in[i], value_at(2 * index[i / 2] + i % 2));
    memset(in, 0, sizeof in);
    tutti_access_unpack(a, in, 1, 3, "xy"); /* "xy" are bytes 1 and 4 of the file */
    CHECK(memcmp(in, "y\0\0xy\0y\0", 8) == 0, " ");
    CHECK_OK(tutti_file_write(f, a, out, &n));
    CHECK_EQ(n, 4);
    CHECK_OK(tutti_file_close(&f));
    FILE *s = fopen(path, "r");
    CHECK(s && fread(in, 1, 8, s) == 6 && memcmp(in, file, 6) == 0, "written");
    if (s) fclose(s);
    tutti_access_free(&a);
}

/* Test pieces with offsets in the file and in memory; the order of overlapping pieces matters. */
static void by_pieces(void) {
    const tutti_off file[] = {4, 0, 2, 9}, memory[] = {-3, 10, 0, 5}, length[] = {2, 4, 3, 0};
    const tutti_off negative[] = {4, -1, 2, 9}, packed[] = {0, 2, 6, 9};
    unsigned char in[20];
    tutti_access *a = NULL, *b = NULL;
    tutti_off n = 0, lo = 0, hi = 0;
    check_where("by pieces");
    file_make(6);
    tutti_file *f = file_open("");
    memset(in, UNTOUCHED, sizeof in);
    CHECK_OK(tutti_access_pieces(4, file, memory, length, &a));
    tutti_access_memory_bounds(a, &lo, &hi);
    CHECK_EQ(lo, -3);
    CHECK_EQ(hi, 14);
    CHECK_EQ(tutti_access_bytes(a), 6);
    CHECK_OK(tutti_file_read(f, a, in + 3, &n));
    CHECK_EQ(n, 9);
    for (int k = -3; k < 17; k++) {
        unsigned char right = UNTOUCHED;
        for (int i = 0; i < 4; i++)
            if (k >= memory[i] && k < memory[i] + length[i])
                right = value_at(file[i] + k - memory[i]);
        CHECK_EQ(in[k + 3], right);
    }
    tutti_access_free(&a);
    CHECK_OK(tutti_access_pieces(4, file, NULL, length, &a));
    CHECK_OK(tutti_access_pieces(4, file, packed, length, &b));
    CHECK(tutti_access_equal(a, b), "packed");
    tutti_access_free(&a);
    tutti_access_free(&b);
    CHECK_ERR(tutti_access_pieces(4, negative, memory, length, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_pieces(4, file, memory, negative, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_pieces(4, NULL, memory, length, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_pieces(-1, file, memory, length, &a), TUTTI_ERR_ARG);
    CHECK_OK(tutti_access_pieces(0, NULL, NULL, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), 0);
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

/* An access that differs only in its repeats does not reuse the plan of the first. */
static void plans_differ(void) {
    const tutti_off at[] = {0, 0, 8}, length[] = {4, 4, 4};
    const tutti_off places[2][3] = {{0, 20, 4}, {8, 20, 4}};
    tutti_access *part[3], *a[2] = {NULL, NULL};
    unsigned char in[32];
    tutti_off n;
    check_where("plans differ");
    file_make(12);
    for (int i = 0; i < 3; i++) CHECK_OK(tutti_access_contiguous(at[i], length[i], &part[i]));
    for (int i = 0; i < 2; i++)
        CHECK_OK(tutti_access_concat(3, (const tutti_access *const *)part, places[i], &a[i]));
    CHECK(!tutti_access_equal(a[0], a[1]) && tutti_access_hash(a[0]) != tutti_access_hash(a[1]),
          " ");
    tutti_file *f = file_open("method=two-phase");
    for (int round = 0; round < 24; round++) {
        const tutti_off *place = places[round / 2 % 2];
        memset(in, 0, sizeof in);
        CHECK_OK(tutti_file_read(f, a[round / 2 % 2], in, &n));
        CHECK_EQ(n, 12);
        for (int k = 0; k < 32; k++) {
            unsigned char right = 0;
            for (int i = 0; i < 3; i++)
                if (k >= place[i] && k < place[i] + 4) right = value_at(at[i] + k - place[i]);
            CHECK_EQ(in[k], right);
        }
    }
    CHECK_OK(tutti_file_close(&f));
    for (int i = 0; i < 3; i++) tutti_access_free(&part[i]);
    for (int i = 0; i < 2; i++) tutti_access_free(&a[i]);
}

/* Loops are not expanded: one element for many memory locations, two such loops, and tiles of them. */
static void test_small(void) {
    enum { COUNT = 100000 };
    tutti_access *a = NULL, *b = NULL, *c = NULL;
    tutti_off n = 0;
    unsigned char *in = malloc((size_t)COUNT * 8 * 3);
    check_where("small");
    file_make(100);
    CHECK_OK(tutti_access_vector(16, COUNT, 8, 0, &a));
    CHECK(tutti_access_size(a) < 1000, "%zu bytes", tutti_access_size(a));
    CHECK_EQ(tutti_access_repeated(a), (COUNT - 1) * 8);
    CHECK_OK(tutti_access_tile(a, 3, 20, COUNT * 8, &b));
    CHECK(tutti_access_size(b) < 1500, "%zu bytes", tutti_access_size(b));
    CHECK_OK(tutti_access_tile(a, 3, 0, COUNT * 8, &c));
    CHECK(tutti_access_size(c) < 2000, "%zu bytes", tutti_access_size(c));
    tutti_file *f = file_open("");
    for (int shift = 20; shift >= 0; shift -= 20) {
        int wrong = 0;
        CHECK_OK(tutti_file_read(f, shift ? b : c, in, &n));
        CHECK_EQ(n, 3 * COUNT * 8);
        for (int i = 0; i < 3 * COUNT * 8; i++)
            wrong += in[i] != value_at(16 + i / (COUNT * 8) * shift + i % 8);
        CHECK_EQ(wrong, 0);
    }
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
    tutti_access_free(&b);
    tutti_access_free(&c);
    free(in);
}

/* If memory for repeats cannot be allocated, no access is created and nothing leaks. */
static void no_memory(void) {
    const tutti_count index[] = {5, 3, 5, 9, 3, 3, 1};
    const long live = tutti__memory_live();
    tutti_err err = TUTTI_ERR_NOMEM;
    for (int i = 1; i < 200 && err != TUTTI_OK; i++) {
        tutti_access *a = NULL, *b = NULL, *c = NULL;
        tutti__memory_fail_after(i);
        err = tutti_access_indices(0, 3, 7, index, &a);
        if (err == TUTTI_OK) err = tutti_access_tile(a, 3, 40, 21, &b);
        if (err == TUTTI_OK) err = tutti_access_clip(b, 10, 57, &c);
        tutti__memory_fail_after(0);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
        tutti_access_free(&a);
        tutti_access_free(&b);
        tutti_access_free(&c);
        CHECK_EQ(tutti__memory_live(), live);
    }
    CHECK_OK(err);
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/repeats", check_dir());
    check_seed(20261116);
    by_hand();
    by_pieces();
    plans_differ();
    test_small();
    no_memory();
    random_rounds(10);
    int failures = check_failures_;
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return check_done() || failures > 0;
}
