/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Checksums of blocks: exactly one rank has the correct checksum of each block that an operation writes
 * completely, with every method, exchange, store and pipeline, also if ranks overlap; with new and cached
 * plans, plans at other offsets, split and background operations; for blocks that start at offset 0 or
 * at a base, whose last block may be shorter.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"
#include "collective/combinations.h"
#include "harness.h"

static const char *const methods[] = {"two-phase", "independent", "list", "sieve", "root", "auto"};
static const char *const ways[] = {"shm", "two-sided", "2", "5", "fence", "lock"};
static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const domains[] = {"auto", "even", "balanced", "cyclic"};
static const char *const windows[] = {"4k", "64k"};
static const char *const units[] = {"0", "512", "3072"};
static const char *const rmw[] = {"0", "1"};
static const char *const hows[] = {"at once", "split", "started", "background"};
static const char *const blocks[] = {"512", "4096", "32768"};
static const char *const shapes[] = {"blocks", "columns", "cyclic", "scatter",
                                     "sparse", "wild",    "few",    "whole"};
static const pairs_axis axes[] = {
    {"method", methods, 6},
    {"way", ways, 6},
    {"pipeline", pipelines, 5},
    {"store", stores, 5},
    {"nodes", nodes, 3},
    {"domains", domains, 4},
    {"window_size", windows, 2},
    {"striping_unit", units, 3},
    {"rmw", rmw, 2},
    {"how", hows, 4},
    {"block", blocks, 3},
    {"shape", shapes, 8},
};
enum { AXES = sizeof axes / sizeof *axes, OPTIONS = 9, HOW = OPTIONS, BLOCK, SHAPE, WHOLE = 7 };

static char path[512];

/* Make the request of rank `who`; in the shape WHOLE complete blocks, some of them shared by two ranks. */
static request request_of(int shape, int who, uint64_t salt, tutti_off block) {
    if (shape != WHOLE) return request_make(shape, who, ranks, salt, 60000);
    enum { BLOCKS = 24 };
    request r = {NULL, NULL, NULL, 0};
    tutti_count index[BLOCKS];
    int n = 0;
    for (int i = 0; i < BLOCKS; i++) {
        const int owner = mix(salt, (uint64_t)i) % (ranks + 1), shared = mix(salt, 99) % 2;
        if (owner == who || (shared && i % 7 == 0 && (owner + 1) % ranks == who)) index[n++] = i;
    }
    CHECK_OK(tutti_access_indices(0, block, n, index, &r.access));
    request_memory(&r);
    return r;
}

/* Apply the requests of all ranks to the model; set (*seen)[i] to 1 if any rank writes byte i. */
static void model_all(model *m, unsigned char **seen, int shape, uint64_t salt, tutti_off by,
                      tutti_off block) {
    for (int who = 0; who < ranks; who++) {
        request q = request_of(shape, who, salt, block);
        request_fill(&q, salt + (uint64_t)who + (uint64_t)by);
        model_write(m, &q, by);
        request_free(&q);
    }
    *seen = calloc(1, (size_t)m->size + 1);
    for (int who = 0; who < ranks; who++) {
        request q = request_of(shape, who, salt, block);
        tutti_access_iter *it = NULL;
        tutti_piece p;
        CHECK_OK(tutti_access_iter_start(q.access, 0, &it));
        while (tutti_access_iter_next(it, &p)) memset(*seen + by + p.file, 1, (size_t)p.bytes);
        tutti_access_iter_free(&it);
        request_free(&q);
    }
}

static void compare_checksums(const tutti__checksums *s, const model *m,
                              const unsigned char *seen) {
    const tutti_off end = s->end ? s->end : m->size;
    const int64_t n = tutti__max(m->size - s->start, 0) / s->bytes + 1;
    uint64_t *local = calloc((size_t)(2 * n), sizeof *local), *all = calloc((size_t)(2 * n), 8);
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].block < 0 || s->v[i].block >= n) {
            CHECK(0, "block %lld", (long long)s->v[i].block);
            continue;
        }
        local[2 * s->v[i].block] += 1;
        local[2 * s->v[i].block + 1] += s->v[i].hash;
    }
    MPI_Allreduce(local, all, (int)(2 * n), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t b = 0; b < n; b++) {
        const tutti_off lo = s->start + b * s->bytes,
                        hi = s->end ? tutti__min(lo + s->bytes, end) : lo + s->bytes;
        int whole = lo < hi && hi <= end;
        for (tutti_off i = lo; whole && i < hi; i++) whole = seen[i];
        CHECK(all[2 * b] == (uint64_t)whole, "block %lld has %d sums, not %d", (long long)b,
              (int)all[2 * b], whole);
        if (whole && all[2 * b] == 1)
            CHECK(all[2 * b + 1] == tutti__checksum_of(m->v + lo, (size_t)(hi - lo)),
                  "sum of block %lld", (long long)b);
    }
    free(local);
    free(all);
}

/* Return the largest end of the requests of all ranks. */
static tutti_off end_of_all(const request *q) {
    tutti_off lo = 0, hi = 0;
    tutti_access_bounds(q->access, &lo, &hi);
    MPI_Allreduce(MPI_IN_PLACE, &hi, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return hi;
}

/* Write at displacement `by`, which is added to the access or, if `is_base`, to the base of blocks. */
static void write_once(tutti_file *f, const int *choice, uint64_t salt, tutti_off by, int is_base,
                       model *m) {
    tutti__checksums sums = {.bytes = atoi(blocks[choice[BLOCK]])};
    request q = request_of(choice[SHAPE], rank, salt, sums.bytes);
    unsigned char *seen = NULL;
    tutti_request *r = NULL;
    tutti_access *there = NULL;
    tutti_off count = -1;
    request_fill(&q, salt + (uint64_t)rank + (uint64_t)by);
    CHECK_OK(tutti_access_copy(q.access, &there));
    if (is_base) {
        sums.start = by;
        sums.end = by + end_of_all(&q);
    } else {
        there->file.disp += by;
        there->repeats.file.disp += by;
    }
    tutti_request asked = {.asked.name = "write",
                           .op = {.file = f,
                                  .access = there,
                                  .is_write = 1,
                                  .buf = (char *)q.base,
                                  .base = is_base ? by : 0,
                                  .checksums = &sums},
                           .asked.how = choice[HOW] == 0   ? TUTTI__AT_ONCE
                                        : choice[HOW] == 1 ? TUTTI__SPLIT
                                                           : TUTTI__STARTED};
    if (choice[HOW] == 0) {
        CHECK_SAME(tutti__request_run(&asked, &count), TUTTI_OK);
    } else if (choice[HOW] == 1) {
        CHECK_SAME(tutti__request_start(&asked, &r), TUTTI_OK);
        CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    } else {
        CHECK_OK(tutti__start(&asked, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
    }
    CHECK_EQ(count, tutti_access_bytes(q.access));
    model_all(m, &seen, choice[SHAPE], salt, by, sums.bytes);
    compare_checksums(&sums, m, seen);
    tutti__checksums_free(&sums);
    tutti_access_free(&there);
    request_free(&q);
    free(seen);
}

static void combination(const int *choice) {
    tutti_options opt = options_of("");
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    const uint64_t salt = rnd64() >> 8;
    combination_set(&opt, axes, OPTIONS, choice);
    CHECK_OK(tutti_options_set(&opt, "background", choice[HOW] % 2 ? "io-only" : "none"));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    if (!f) return;
    const tutti_off block = atoi(blocks[choice[BLOCK]]);
    const tutti_off by[] = {0, 0, 3 * block, 3 * block + 512};
    for (int i = 0; i < 4; i++) write_once(f, choice, salt, by[i], 0, &m);
    for (int i = 0; i < 2; i++) {
        tutti_stats before, after;
        tutti_file_stats(f, NULL, &before);
        write_once(f, choice, salt, 5 * block + 776 + 1000 * i, 1, &m);
        tutti_file_stats(f, NULL, &after);
        CHECK(i == 0 || after.plans == before.plans || after.plan_hits > before.plan_hits,
              "another plan at another base");
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_OK(rank == 0 ? tutti_file_delete(path, &opt) : TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    free(m.v);
}

/* Ranks that pass different block sizes return TUTTI_ERR_MISMATCH. */
static void test_disagree(void) {
    tutti__checksums sums = {.bytes = rank == 0 ? 512 : 1024};
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    char v[1024] = {0};
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, NULL, &f),
               TUTTI_OK);
    CHECK_OK(tutti_access_contiguous(1024 * rank, 1024, &a));
    tutti_request asked = {
        .asked.name = "write",
        .op = {.file = f, .access = a, .is_write = 1, .buf = v, .checksums = &sums}};
    CHECK_SAME(tutti__request_run(&asked, NULL), ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti__checksums_free(&sums);
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 789);
    snprintf(path, sizeof path, "%s", scratch_path("sums"));
    combinations_run(axes, AXES, combination, 20);
    test_disagree();
    file_remove(path);
    return harness_end();
}
