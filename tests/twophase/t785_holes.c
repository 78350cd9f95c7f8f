/* TEST ranks=1,2,4 timeout=120 */
/* Writes with holes change only the bytes of the access.  Files are shorter than the request, so that some
 * holes are before the end of the file and some after it; by every exchange, store and pipeline, with and
 * without `sole_writer` and `rmw`; bytes written to the file are counted.  Data that other handles write
 * into the holes at the same time is not lost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/combinations.h"
#include "harness.h"

static const char *const ways[] = {"shm", "two-sided", "1", "4", "fence", "lock"};
static const char *const pipelines[] = {"none",       "comm",         "write",
                                        "write-comm", "write-comm-2", "auto"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const soles[] = {"0", "1"};
static const char *const rmws[] = {"0", "1"};
static const char *const nodes[] = {"", "2"};
static const char *const gaps[] = {"32k", "40"};
static const char *const lengths[] = {"none", "some", "half", "all"};
static const char *const shapes[] = {"vector", "sparse", "overlap"};
static const pairs_axis axes[] = {
    {"way", ways, 6},          {"pipeline", pipelines, 6}, {"store", stores, 5},
    {"sole_writer", soles, 2}, {"rmw", rmws, 2},           {"nodes", nodes, 2},
    {"sieve_gap", gaps, 2},    {"length", lengths, 4},     {"shape", shapes, 3},
};
enum { AXES = sizeof axes / sizeof *axes, LENGTH = AXES - 2, SHAPE = AXES - 1, EXTENT = 60000 };

static char path[512];

/* Make the request of rank `who`; all ranks together write about a third of the extent. */
static request request_of(int shape, int who, uint64_t salt) {
    request r = {NULL, NULL, NULL, 0};
    const tutti_off run = 16, period = 3 * run * ranks + 5;
    if (shape == 1) return request_make(SPARSE, who, ranks, salt, EXTENT);
    CHECK_OK(tutti_access_vector(who * run, EXTENT / period, shape == 0 ? run : run + 4, period,
                                 &r.access));
    request_memory(&r);
    return r;
}

/* Apply the requests of all ranks to the model in rank order; return the number of distinct bytes. */
static tutti_off model_all(model *m, int shape, uint64_t salt, tutti_off by) {
    unsigned char *seen = calloc(1, 4 * EXTENT);
    tutti_off n = 0;
    for (int r = 0; r < ranks; r++) {
        request q = request_of(shape, r, salt);
        tutti_access_iter *it = NULL;
        tutti_piece p;
        request_fill(&q, salt + (uint64_t)r);
        model_write(m, &q, by);
        CHECK_OK(tutti_access_iter_start(q.access, 0, &it));
        while (tutti_access_iter_next(it, &p))
            for (tutti_off i = p.file; i < p.file + p.bytes; i++) n += !seen[i], seen[i] = 1;
        tutti_access_iter_free(&it);
        request_free(&q);
    }
    free(seen);
    return n;
}

/* Compare the file with the model; read with Tutti, which works for every store. */
static void content_is(tutti_file *f, const model *m, const char *what) {
    tutti_off size = -1, count = -1;
    tutti_access *a = NULL;
    unsigned char *v = malloc((size_t)m->size + 1);
    CHECK_OK(tutti_file_size(f, &size));
    CHECK_EQ(size, m->size);
    CHECK_OK(tutti_access_contiguous(0, m->size, &a));
    CHECK_SAME(tutti_file_read(f, a, v, &count), TUTTI_OK);
    CHECK_EQ(count, m->size);
    for (int64_t i = 0; i < count; i++)
        if (v[i] != m->v[i]) {
            CHECK(0, "%s: byte %lld is %d, not %d", what, (long long)i, v[i], m->v[i]);
            break;
        }
    tutti_access_free(&a);
    free(v);
}

/* Return the bytes that all ranks have written to the file so far. */
static tutti_off written(const tutti_file *f) {
    tutti_stats all;
    tutti_file_stats(f, NULL, &all);
    return sum_all(all.file_write_bytes);
}

static void first_bytes(tutti_file *f, model *m, tutti_off n) {
    tutti_access *a = NULL;
    unsigned char *v = malloc((size_t)n + 1);
    for (tutti_off i = 0; i < n; i++) v[i] = mix(99, (uint64_t)i);
    model_reach(m, n);
    if (n > 0) memcpy(m->v, v, (size_t)n);
    CHECK_OK(tutti_access_contiguous(0, rank == 0 ? n : 0, &a));
    CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
    tutti_access_free(&a);
    free(v);
}

static void combination(const int *choice) {
    static const tutti_off before[] = {0, 1000, EXTENT / 2 + 7, 2 * EXTENT};
    tutti_options opt = options_of("method=two-phase striping_unit=512 window_size=8k");
    model m = {NULL, 0, 0};
    const uint64_t salt = rnd64() >> 8;
    tutti_file *f = NULL;
    combination_set(&opt, axes, LENGTH, choice);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    first_bytes(f, &m, before[choice[LENGTH]]);
    request q = request_of(choice[SHAPE], rank, salt);
    request_fill(&q, salt + (uint64_t)rank);
    const tutti_off named = model_all(&m, choice[SHAPE], salt, 0), start = written(f);
    tutti_off count = -1;
    CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    const tutti_off first = written(f) - start;
    content_is(f, &m, "first");
    /* all holes are now before the end of the file */
    CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_OK);
    const tutti_off again = written(f) - start - first;
    content_is(f, &m, "again");
    if (!opt.rmw) CHECK_EQ(again, named);
    if (!opt.rmw && (!opt.sole_writer || before[choice[LENGTH]] == 2 * EXTENT))
        CHECK_EQ(first, named);
    if (opt.sole_writer && opt.sieve_gap > EXTENT / 4 && before[choice[LENGTH]] == 0 &&
        choice[SHAPE] == 0)
        CHECK(first > 2 * named, "%lld bytes written, %lld named", (long long)first,
              (long long)named);
    /* a plan is independent of the file size, which each run determines */
    tutti_plan *p = NULL;
    CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_OK);
    (void)model_all(&m, choice[SHAPE], salt, EXTENT);
    CHECK_SAME(tutti_plan_run(p, q.base, EXTENT, &count), TUTTI_OK);
    tutti_plan_free(&p);
    content_is(f, &m, "by a plan");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_OK(rank == 0 ? tutti_file_delete(path, &opt) : TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    request_free(&q);
    free(m.v);
}

/* ---- concurrent writes into the holes */

enum { RUN = 16, PERIOD = 200, WINDOW = 4096 };

static tutti_access *comb(tutti_off at) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_vector(at + rank * (tutti_off)RUN, EXTENT / PERIOD, RUN, PERIOD, &a));
    return a;
}

static void comb_fill(unsigned char *v, unsigned char tag) {
    for (int i = 0; i < EXTENT / PERIOD * RUN; i++) v[i] = (unsigned char)(tag + rank);
}

/* Check that the runs of the comb at `at` have the values of comb_fill with `tag` of all ranks. */
static void comb_is(const unsigned char *v, int64_t n, tutti_off at, unsigned char tag) {
    int wrong = 0;
    for (tutti_off i = 0; i < EXTENT / PERIOD; i++)
        for (int r = 0; r < ranks; r++)
            for (int k = 0; k < RUN; k++) {
                const tutti_off byte = at + i * PERIOD + r * RUN + k;
                wrong += byte >= n || v[byte] != (unsigned char)(tag + r);
            }
    CHECK(wrong == 0, "%d bytes of %c are gone", wrong, tag);
}

/* Without sole_writer, concurrent writes by two handles of one new file do not change each other's bytes. */
static void two_handles(const char *pipeline) {
    static unsigned char one[EXTENT], two[EXTENT];
    char text[200];
    tutti_file *f = NULL, *g = NULL;
    tutti_request *r = NULL;
    snprintf(text, sizeof text,
             "method=two-phase window_size=%d striping_unit=%d fault=*:slow:3 pipeline=%s", WINDOW,
             WINDOW, pipeline);
    f = open_with(path, text);
    const tutti_options opt = options_of(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &g), TUTTI_OK);
    tutti_access *a = comb(0), *b = comb(PERIOD / 2);
    comb_fill(one, 'A');
    comb_fill(two, 'a');
    CHECK_SAME(tutti_file_write_start(g, b, two, &r), TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, one, NULL), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&g), TUTTI_OK);
    tutti_access_free(&a);
    tutti_access_free(&b);
    int64_t n = 0;
    unsigned char *v = file_get(path, &n);
    comb_is(v, n, 0, 'A');
    comb_is(v, n, PERIOD / 2, 'a');
    free(v);
}

/* While one rank has a pending independent write, a collective write does not fill holes, even with
 * sole_writer, whether it makes a plan or reuses one. */
static void under_way(void) {
    enum { ROUNDS = 4 };
    static unsigned char one[EXTENT], two[RUN];
    tutti_request *r = NULL;
    tutti_access *hole = NULL, *a = comb(0);
    char text[200];
    snprintf(text, sizeof text,
             "method=two-phase window_size=%d striping_unit=%d fault=*:slow:200 sole_writer=1",
             EXTENT, EXTENT);
    tutti_file *f = open_with(path, text);
    const tutti_off named = sum_all(tutti_access_bytes(a)), at = EXTENT / 2 / PERIOD * PERIOD + 150;
    comb_fill(one, 'A');
    memset(two, 'x', RUN);
    CHECK_OK(tutti_access_contiguous(at, RUN, &hole));
    for (int i = 1; i <= ROUNDS; i++) {
        if (rank == ranks - 1) CHECK_OK(tutti_file_write_independent_start(f, hole, two, &r));
        CHECK_SAME(tutti_file_write(f, a, one, NULL), TUTTI_OK);
        if (r) CHECK_OK(tutti_request_wait(&r, NULL));
        CHECK_EQ(written(f), i * (named + RUN));
    }
    /* without pending operations, holes after the existing data are filled */
    tutti_access_free(&a);
    a = comb(2 * EXTENT);
    CHECK_SAME(tutti_file_write(f, a, one, NULL), TUTTI_OK);
    CHECK(written(f) > ROUNDS * (named + RUN) + 2 * named, "%lld bytes written",
          (long long)written(f));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    tutti_access_free(&hole);
    int64_t n = 0;
    unsigned char *v = file_get(path, &n);
    comb_is(v, n, 0, 'A');
    comb_is(v, n, 2 * EXTENT, 'A');
    for (int i = 0; i < RUN; i++) CHECK(n > at + i && v[at + i] == 'x', "byte %d is gone", i);
    free(v);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 785);
    snprintf(path, sizeof path, "%s", scratch_path("holes"));
    combinations_run(axes, AXES, combination, 20);
    two_handles("none");
    two_handles("write-comm-2");
    under_way();
    file_remove(path);
    return harness_end();
}
