/* TEST ranks=1,2,4 timeout=120 */
/* If ranks write the same bytes, the highest rank wins, by every method and exchange and with every store;
 * with the option `check` the write is refused and nothing is written.  If one rank has several values for
 * a byte, the last one wins.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "pairs.h"

static const char *const methods[] = {"two-phase", "list", "independent", "sieve", "root", "auto"};
static const char *const exchanges[] = {"shm", "two-sided"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio"};
static const char *const buffers[] = {"64k", "16m"};
static const char *const aggs[] = {"0", "1", "2", "8"};
static const char *const rmw[] = {"1", "0"};
static const char *const shapes[] = {"all", "staircase", "one byte", "wild"};
static const pairs_axis axes[] = {{"method", methods, 6},
                                  {"exchange", exchanges, 2},
                                  {"nodes", nodes, 3},
                                  {"store", stores, 4},
                                  {"cb_buffer_size", buffers, 2},
                                  {"cb_nodes", aggs, 4},
                                  {"rmw", rmw, 2},
                                  {"shape", shapes, 4}};
enum { AXES = sizeof axes / sizeof *axes, SHAPE = AXES - 1, EXTENT = 60000 };

static char path[512];

static request request_of(int shape, int who, uint64_t salt) {
    request r = {NULL, NULL, NULL, 0};
    switch (shape) {
    case 0:
        CHECK_OK(tutti_access_contiguous(10, EXTENT, &r.access));
        break;
    case 1:
        CHECK_OK(tutti_access_contiguous(who * EXTENT / 8, EXTENT / 3, &r.access));
        break;
    case 2: /* blocks of consecutive ranks share one byte */
        CHECK_OK(tutti_access_vector(who * 50, EXTENT / (50 * ranks), 51, 50 * (tutti_off)ranks,
                                     &r.access));
        break;
    default:
        return request_make(WILD, who, ranks, salt, EXTENT);
    }
    request_memory(&r);
    return r;
}

static void model_make(model *m, int shape, uint64_t salt, int *overlap_out) {
    unsigned char *seen = calloc(1, 4 * EXTENT);
    *overlap_out = 0;
    for (int r = 0; r < ranks; r++) {
        request q = request_of(shape, r, salt);
        tutti_access_iter *it = NULL;
        tutti_piece p;
        request_fill(&q, salt + (uint64_t)r);
        model_write(m, &q, 0);
        CHECK_OK(tutti_access_iter_start(q.access, 0, &it));
        while (tutti_access_iter_next(it, &p))
            for (tutti_off i = p.file; i < p.file + p.bytes; i++) {
                if (seen[i] && seen[i] != r + 1) *overlap_out = 1;
                seen[i] = (unsigned char)(r + 1);
            }
        tutti_access_iter_free(&it);
        request_free(&q);
    }
    free(seen);
}

static void combination(const int *choice) {
    tutti_options opt = options_of("striping_unit=512 sieve_size=4k");
    tutti_file *f = NULL;
    tutti_plan *p = NULL;
    tutti_off count = -7;
    model m = {NULL, 0, 0};
    int overlap;
    const uint64_t salt = rnd64() >> 8;
    for (int i = 0; i < SHAPE; i++)
        CHECK_OK(tutti_options_set(&opt, axes[i].name, axes[i].value[choice[i]]));
    model_make(&m, choice[SHAPE], salt, &overlap);
    CHECK(ranks == 1 || choice[SHAPE] == 3 || overlap, "the case has no overlap");
    request q = request_of(choice[SHAPE], rank, salt);
    request_fill(&q, salt + (uint64_t)rank);

    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q.access));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "highest rank wins");

    /* run a plan twice with different bytes */
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_OK);
    request_fill(&q, 1);
    CHECK_SAME(tutti_plan_run(p, q.base, 0, NULL), TUTTI_OK);
    request_fill(&q, salt + (uint64_t)rank);
    CHECK_SAME(tutti_plan_run(p, q.base, 0, NULL), TUTTI_OK);
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "by a plan");

    /* write with the option `check` */
    opt.check = 1;
    count = -7;
    request_fill(&q, 77);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f), TUTTI_OK);
    if (overlap) {
        CHECK_SAME(tutti_file_write(f, q.access, q.base, &count), TUTTI_ERR_OVERLAP);
        CHECK_EQ(count, -7);
        CHECK(tutti_last_error()->offset >= 0 || strstr(tutti_last_message(), "offset"), "%s",
              tutti_last_message());
        CHECK_SAME(tutti_plan_write(f, q.access, &p), TUTTI_ERR_OVERLAP);
    }
    /* overlapping reads are valid */
    CHECK_SAME(tutti_file_read(f, q.access, q.base, &count), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "refused");
    request_free(&q);
    free(m.v);
}

/* If an access of one rank contains a byte several times, the last value wins, also with `check`. */
static void test_duplicates(void) {
    enum { N = 400, ITEM = 16 };
    tutti_count index[N];
    unsigned char buf[N * ITEM], want[N * ITEM];
    tutti_access *a = NULL;
    tutti_file *f = NULL;
    const tutti_off base = rank * (tutti_off)N * ITEM;
    for (int m = 0; m < 5; m++) {
        tutti_options opt = options_of("check=1 cb_buffer_size=64k");
        CHECK_OK(tutti_options_set(&opt, "method", methods[m]));
        check_where(methods[m]);
        memset(want, 0, sizeof want);
        for (int i = 0; i < N; i++) index[i] = rnd(N / 3);
        for (int i = 0; i < N * ITEM; i++) buf[i] = mix((uint64_t)rank, (uint64_t)i);
        for (int i = 0; i < N; i++) memcpy(want + index[i] * ITEM, buf + i * ITEM, ITEM);
        CHECK_OK(tutti_access_indices(base, ITEM, N, index, &a));
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                                   TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                   &f),
                   TUTTI_OK);
        CHECK_SAME(tutti_file_resize(f, ranks * (tutti_off)N * ITEM), TUTTI_OK);
        CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        int64_t n = 0;
        unsigned char *v = file_get(path, &n);
        CHECK_EQ(n, ranks * (tutti_off)N * ITEM);
        CHECK(memcmp(v + base, want, sizeof want) == 0,
              "duplicates: the last mention does not win");
        free(v);
        tutti_access_free(&a);
    }
}

int main(int argc, char **argv) {
    int choice[AXES];
    char where[400];
    harness_begin(&argc, &argv, 715);
    snprintf(path, sizeof path, "%s", scratch_path("order"));
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice)) {
        pairs_text(axes, AXES, choice, where, sizeof where);
        check_where(where);
        combination(choice);
        if (check_failures_ > 20) break;
    }
    pairs_free(p);
    test_duplicates();
    file_remove(path);
    return harness_end();
}
