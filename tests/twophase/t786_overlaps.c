/* TEST ranks=2,3,8 timeout=180 */
/* If ranks write the same bytes, by every exchange, store and pipeline, the highest rank wins, every rank
 * returns the count of all its bytes, and each byte is written once.  With new and cached plans, at other
 * offsets, in the background; also accesses whose overlap cannot be removed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/side.h"
#include "collective/combinations.h"
#include "harness.h"

static const char *const ways[] = {"shm", "two-sided", "1", "3", "5", "fence", "lock"};
static const char *const pipelines[] = {"none",       "comm",         "write",
                                        "write-comm", "write-comm-2", "auto"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const nodes[] = {"", "2", "rr:3"};
static const char *const domains[] = {"even", "balanced", "cyclic"};
static const char *const aggs[] = {"0", "1", "2"};
static const char *const windows[] = {"4k", "64k"};
static const char *const shapes[] = {"mesh", "halo", "same", "wild", "stairs", "memory"};
static const pairs_axis axes[] = {
    {"way", ways, 7},
    {"pipeline", pipelines, 6},
    {"store", stores, 5},
    {"nodes", nodes, 3},
    {"domains", domains, 3},
    {"cb_nodes", aggs, 3},
    {"window_size", windows, 2},
    {"shape", shapes, 6},
};
enum { AXES = sizeof axes / sizeof *axes, SHAPE = AXES - 1, EXTENT = 40000 };

static char path[512];

/* Make an access to nodes of a mesh: each has an owner, and one in sixteen also a second rank. */
static tutti_access *mesh(int who, uint64_t salt) {
    enum { ITEM = 24, ITEMS = EXTENT / ITEM };
    tutti_count index[ITEMS];
    int n = 0;
    tutti_access *a = NULL;
    for (int i = 0; i < ITEMS; i++) {
        const int owner = mix(salt, (uint64_t)(i / 3)) % ranks;
        const int shared = mix(salt + 1, (uint64_t)i) % 16 == 0;
        if (owner == who || (shared && (owner + 1) % ranks == who)) index[n++] = i;
    }
    CHECK_OK(tutti_access_indices(8, ITEM, n, index, &a));
    return a;
}

/* Make an access to columns of a matrix and one column of each adjacent rank; memory by rows or columns. */
static tutti_access *halo(int who, int by_columns) {
    enum { ROWS = 40, COLS = 120, ELEMENT = 8 };
    const tutti_count lo = tutti__max((tutti_count)COLS * who / ranks - 1, 0);
    const tutti_count hi = tutti__min((tutti_count)COLS * (who + 1) / ranks + 1, COLS);
    tutti_section f = {.ndims = 2,
                       .order = TUTTI_ROW_MAJOR,
                       .element_size = ELEMENT,
                       .offset = 40,
                       .shape = {ROWS, COLS},
                       .lo = {0, lo},
                       .hi = {ROWS, hi},
                       .stride = {1, 1}};
    tutti_section m = {.ndims = 2,
                       .order = by_columns ? TUTTI_COL_MAJOR : TUTTI_ROW_MAJOR,
                       .element_size = ELEMENT,
                       .shape = {ROWS, hi - lo + 2},
                       .lo = {0, 1},
                       .hi = {ROWS, hi - lo + 1},
                       .stride = {1, 1}};
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_section(&f, &m, &a));
    return a;
}

static request request_of(int shape, int who, uint64_t salt) {
    request r = {NULL, NULL, NULL, 0};
    switch (shape) {
    case 0:
        r.access = mesh(who, salt);
        break;
    case 1:
    case 5:
        r.access = halo(who, shape == 5);
        break;
    case 2: /* all ranks write the same bytes */
        CHECK_OK(tutti_access_vector(11, 500, 40, 70, &r.access));
        break;
    case 3:
        return request_make(WILD, who, ranks, salt, EXTENT);
    default:
        CHECK_OK(tutti_access_contiguous(who * EXTENT / 2 / ranks, EXTENT / 3, &r.access));
    }
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

static void content_is(tutti_file *f, const model *m, const char *what) {
    tutti_off size = -1, count = -1;
    tutti_access *a = NULL;
    unsigned char *v = malloc((size_t)m->size + 1);
    CHECK_OK(tutti_file_size(f, &size));
    CHECK_EQ(size, m->size);
    CHECK_OK(tutti_access_contiguous(0, m->size, &a));
    CHECK_SAME(tutti_file_read(f, a, v, &count), TUTTI_OK);
    for (int64_t i = 0; i < count; i++)
        if (v[i] != m->v[i]) {
            CHECK(0, "%s: byte %lld is %d, not %d", what, (long long)i, v[i], m->v[i]);
            break;
        }
    tutti_access_free(&a);
    free(v);
}

/* Return the number of bytes that all ranks have written to the file in the last operation. */
static tutti_off written(const tutti_file *f) {
    tutti_stats last;
    tutti_file_stats(f, &last, NULL);
    return sum_all(last.file_write_bytes);
}

static tutti_file *fresh(const tutti_options *opt) {
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, opt, &f),
               TUTTI_OK);
    return f;
}

static void combination(const int *choice) {
    tutti_options opt = options_of("method=two-phase striping_unit=512");
    const int shape = choice[SHAPE];
    const uint64_t salt = rnd64() >> 8;
    model m = {NULL, 0, 0};
    tutti_plan *p = NULL;
    tutti_off count = -1;
    combination_set(&opt, axes, SHAPE, choice);
    tutti_file *f = fresh(&opt);
    const tutti_off named = model_all(&m, shape, salt, 0);
    request q = request_of(shape, rank, salt);
    request_fill(&q, salt + (uint64_t)rank);
    CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    CHECK_EQ(written(f), named);
    CHECK(strstr(tutti_file_explain(f), "in rank order") == NULL, "%s", tutti_file_explain(f));
    content_is(f, &m, "new");
    /* write by the cached plan, at another offset */
    const tutti_off by = 512 * (1 + rnd(9));
    tutti_access *there = NULL;
    (void)model_all(&m, shape, salt, by);
    CHECK_OK(tutti_access_copy(q.access, &there));
    there->file.disp += by;
    CHECK_SAME(tutti_file_write(f, there, q.base, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    CHECK_EQ(written(f), named);
    content_is(f, &m, "remembered");
    /* write by a plan of the caller */
    (void)model_all(&m, shape, salt, 3);
    CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_OK);
    CHECK_SAME(tutti_plan_run(p, q.base, 3, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    content_is(f, &m, "by a plan");
    tutti_plan_free(&p);
    /* write by a split operation */
    CHECK_SAME(tutti_file_write_begin(f, q.access, q.base), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    (void)model_all(&m, shape, salt, 0);
    content_is(f, &m, "split");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_OK(rank == 0 ? tutti_file_delete(path, &opt) : TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    tutti_access_free(&there);
    request_free(&q);
    free(m.v);
}

static void test_background(void) {
    static const char *const how[] = {"none", "io-only"};
    for (int k = 0; k < 2; k++)
        for (int shape = 0; shape < 6; shape++) {
            tutti_options opt = options_of("window_size=4k striping_unit=512");
            const uint64_t salt = rnd64() >> 8;
            model m = {NULL, 0, 0};
            tutti_request *r = NULL;
            tutti_off count = -1;
            CHECK_OK(tutti_options_set(&opt, "background", how[k]));
            check_where(how[k]);
            tutti_file *f = fresh(&opt);
            (void)model_all(&m, shape, salt, 0);
            request q = request_of(shape, rank, salt);
            request_fill(&q, salt + (uint64_t)rank);
            CHECK_SAME(tutti_file_write_start(f, q.access, q.base, &r), TUTTI_OK);
            CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
            CHECK_EQ(count, tutti_access_bytes(q.access));
            content_is(f, &m, "not blocking");
            CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
            request_free(&q);
            free(m.v);
        }
}

/* An overlap of so many single bytes is not removed, since the list of remaining runs would be too long:
 * messages are placed in rank order instead. */
static void too_many(void) {
    enum { RUNS = 1100000 };
    const tutti_options opt = options_of("method=two-phase");
    tutti_access *a = NULL;
    unsigned char *v = malloc(RUNS), *all = malloc(4 * (size_t)RUNS);
    tutti_off count = -1;
    int wrong = 0;
    check_where("too many");
    memset(v, 'a' + rank, RUNS);
    if (rank < 2)
        CHECK_OK(tutti_access_vector(0, rank == 0 ? RUNS : RUNS / 3, 1, rank == 0 ? 4 : 12, &a));
    else
        CHECK_OK(tutti_access_contiguous(0, 0, &a));
    tutti_file *f = fresh(&opt);
    CHECK_SAME(tutti_file_write(f, a, v, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(a));
    CHECK(strstr(tutti_file_explain(f), "in rank order"), "%s", tutti_file_explain(f));
    tutti_access_free(&a);
    CHECK_OK(tutti_access_contiguous(0, 4 * (tutti_off)RUNS - 3, &a));
    CHECK_SAME(tutti_file_read(f, a, all, &count), TUTTI_OK);
    CHECK_EQ(count, 4 * (tutti_off)RUNS - 3);
    for (tutti_off i = 0; i < count; i++) {
        const int one = i % 12 == 0 && i / 12 < RUNS / 3;
        wrong += all[i] != (one ? 'b' : i % 4 == 0 ? 'a' : 0);
    }
    CHECK_EQ(wrong, 0);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(v);
    free(all);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 786);
    snprintf(path, sizeof path, "%s", scratch_path("overlaps"));
    combinations_run(axes, AXES, combination, 20);
    test_background();
    if (ranks == 2) too_many();
    file_remove(path);
    return harness_end();
}
