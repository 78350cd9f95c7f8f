/* TEST ranks=1,2,3,5 timeout=60 */
/* Parts that are refused and values that do not fit: all ranks return the same error, which states the
 * position; many parts are counted as one operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <tutti/parts.h>
#include "harness.h"

enum { N = 3000 };
static char path[512];
static tutti_file *f;

static tutti_access *block(tutti_off offset, tutti_off bytes) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(offset, bytes, &a));
    return a;
}

/* Return a part of float64 values in memory and float32 values in the file. */
static tutti_part floats(tutti_access *a, double *v) {
    return (tutti_part){.access = a,
                        .buf = v,
                        .convert = {.file_type = TUTTI_FLOAT32,
                                    .memory_type = TUTTI_FLOAT64,
                                    .file_order = TUTTI_BIG_ENDIAN}};
}

/* ---- refused parts, which change nothing */

static void test_refusals(void) {
    char buf[64] = {0};
    tutti_access *a = block(64 * rank, 16), *odd = block(64 * rank, 6);
    const tutti_off at = 64 * rank, eight = 8, two = 2;
    tutti_access *shifted = NULL;
    CHECK_OK(tutti_access_pieces(1, &at, &two, &eight, &shifted));
    const int last = rank == ranks - 1;
    tutti_part good = {.access = a, .buf = buf}, bad;
#define REFUSED(code, change)                                       \
    do {                                                            \
        tutti_off size = -1;                                        \
        bad = good;                                                 \
        change;                                                     \
        const tutti_part two_[2] = {good, last ? bad : good};       \
        CHECK_SAME(tutti_file_write_parts(f, 2, two_, NULL), code); \
        CHECK_SAME(tutti_file_read_parts_begin(f, 2, two_), code);  \
        CHECK_EQ(tutti_last_error()->rank, ranks - 1);              \
        CHECK_OK(tutti_file_size(f, &size));                        \
        CHECK_EQ(size, 0);                                          \
    } while (0)
    REFUSED(TUTTI_ERR_ARG, bad.access = NULL);
    REFUSED(TUTTI_ERR_ARG, bad.buf = NULL);
    REFUSED(TUTTI_ERR_ARG, bad.reserved[1] = 1);
    REFUSED(TUTTI_ERR_ARG, bad.convert.reserved[0] = 1);
    REFUSED(TUTTI_ERR_ARG, bad.convert.file_type = TUTTI_INT8);
    REFUSED(TUTTI_ERR_ARG, bad.convert.memory_type = TUTTI_INT8);
    REFUSED(TUTTI_ERR_ARG, bad.convert = ((tutti_conversion){.file_type = 99, .memory_type = 3}));
    REFUSED(TUTTI_ERR_ARG, bad.convert = ((tutti_conversion){.file_type = TUTTI_COMPLEX64,
                                                             .memory_type = TUTTI_FLOAT32}));
    const tutti_conversion narrow = {.file_type = TUTTI_INT64, .memory_type = TUTTI_INT16};
    REFUSED(TUTTI_ERR_ARG, (bad.access = odd, bad.convert = narrow));
    REFUSED(TUTTI_ERR_ARG, (bad.access = shifted, bad.convert = narrow));
    /* bytes 2 to 5, then bytes 0 to 7, are pieces that are not whole elements */
    const tutti_off twice[2] = {at + 2, at}, into[2] = {0, 4}, length[2] = {4, 8};
    tutti_access *halves = NULL;
    CHECK_OK(tutti_access_pieces(2, twice, into, length, &halves));
    REFUSED(TUTTI_ERR_ARG,
            (bad.access = halves, bad.convert = ((tutti_conversion){.file_type = TUTTI_INT32,
                                                                    .memory_type = TUTTI_INT64})));
    const tutti_part both[2] = {good, good};
    CHECK_SAME(tutti_file_write_parts(f, last ? -1 : 2, both, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_file_write_parts(f, 2, last ? NULL : both, NULL), TUTTI_ERR_ARG);
    /* a plan refuses a wrong number of buffers */
    tutti_plan *p = NULL;
    void *bufs[3] = {buf, buf + 16, buf};
    CHECK_SAME(tutti_plan_write_parts(f, 2, both, &p), TUTTI_OK);
    CHECK_SAME(tutti_plan_run_parts(p, last ? 3 : 2, bufs, 0, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_plan_run(p, buf, 0, NULL), TUTTI_ERR_ARG);
    CHECK_OK(tutti_plan_start_parts(p, last ? 1 : 2, bufs, 0));
    CHECK_SAME(tutti_plan_wait(p, NULL), TUTTI_ERR_ARG);
    bufs[1] = last ? NULL : buf;
    CHECK_SAME(tutti_plan_run_parts(p, 2, bufs, 0, NULL), TUTTI_ERR_ARG);
    tutti_plan_free(&p);
    /* a plan that reads refuses constant memory */
    CHECK_SAME(tutti_plan_read(f, a, &p), TUTTI_OK);
    CHECK_SAME(last ? tutti_plan_run_write(p, buf, 0, NULL) : tutti_plan_run(p, buf, 0, NULL),
               TUTTI_ERR_ARG);
    CHECK_OK(last ? tutti_plan_start_write(p, buf, 0) : tutti_plan_start(p, buf, 0));
    CHECK_SAME(tutti_plan_wait(p, NULL), TUTTI_ERR_ARG);
    tutti_plan_free(&p);
    /* zero parts are valid */
    tutti_off count = -1;
    CHECK_SAME(tutti_file_write_parts(f, 0, NULL, &count), TUTTI_OK);
    CHECK_EQ(count, 0);
    tutti_access_free(&a);
    tutti_access_free(&odd);
    tutti_access_free(&shifted);
    tutti_access_free(&halves);
}

/* ---- values that do not fit */

static void misfit_write(const char *method) {
    double v[N];
    tutti_access *a = block(1000 + 4 * N * rank, 4 * N), *other = block(4 * rank, 4);
    const int who = ranks / 2;
    tutti_options opt;
    CHECK_OK(tutti_file_options(f, &opt));
    CHECK_OK(tutti_options_set(&opt, "method", method));
    CHECK_SAME(tutti_file_change(f, &opt), TUTTI_OK);
    for (int i = 0; i < N; i++) v[i] = i;
    if (rank == who) v[1234] = -1e300;
    char one[4] = {1, 2, 3, 4}, text[100];
    const tutti_part parts[2] = {{.access = other, .buf = one}, floats(a, v)};
    for (int round = 0; round < 3; round++) {
        check_where(method);
        CHECK_SAME(tutti_file_write_parts(f, 2, parts, NULL), TUTTI_ERR_VALUE);
        const tutti_error_info *e = tutti_last_error();
        CHECK_EQ(e->rank, who);
        CHECK_EQ(e->offset, 1000 + 4 * (N * who + 1234));
        snprintf(text, sizeof text, "part 1, element 1234: -1.0000000000000001e+300 does not fit");
        CHECK(strstr(e->text, text), "%s", e->text);
    }
    /* with `ieee` set, values beyond the range are stored as infinities */
    tutti_part forgiving[2] = {parts[0], parts[1]};
    forgiving[1].convert.ieee = 1;
    CHECK_SAME(tutti_file_write_parts(f, 2, forgiving, NULL), TUTTI_OK);
    memset(v, 0, sizeof v);
    CHECK_SAME(tutti_file_read_parts(f, 2, forgiving, NULL), TUTTI_OK);
    for (int i = 0; i < N; i++)
        if (rank == who && i == 1234)
            CHECK(isinf(v[i]) && v[i] < 0, "%g", v[i]);
        else if (v[i] != i)
            CHECK(0, "element %d is %g", i, v[i]);
    tutti_access_free(&a);
    tutti_access_free(&other);
}

static void misfit_read(void) {
    int32_t v[N];
    int8_t back[N];
    tutti_access *a = block(64 + 4 * N * rank, 4 * N);
    for (int i = 0; i < N; i++) v[i] = i % 100;
    if (rank == 0) v[2000] = 1000;
    tutti_part p = {.access = a, .buf = v};
    /* this write converts no values */
    CHECK_SAME(tutti_file_write_parts(f, 1, &p, NULL), TUTTI_OK);
    p.buf = back;
    p.convert = (tutti_conversion){.file_type = TUTTI_INT32, .memory_type = TUTTI_INT8};
    CHECK_SAME(tutti_file_read_parts(f, 1, &p, NULL), TUTTI_ERR_VALUE);
    CHECK(strstr(tutti_last_message(), "part 0, element 2000: 1000 does not fit int8"), "%s",
          tutti_last_message());
    CHECK_EQ(tutti_last_error()->rank, 0);
    for (int i = 0; i < N; i++) /* all other values are correct */
        if (rank > 0 && back[i] != i % 100) CHECK(0, "element %d is %d", i, back[i]);
    tutti_access_free(&a);
}

/* ---- repeats: a read fills all memory locations of an element */

static void test_repeats(void) {
    enum { ITEMS = 6 };
    const tutti_count index[ITEMS] = {4, 1, 4, 3, 1, 4};
    float image[8];
    double v[ITEMS] = {0};
    tutti_access *all = block(0, rank == 0 ? (tutti_off)sizeof image : 0), *a = NULL;
    tutti_off count = -1;
    for (int i = 0; i < 8; i++) image[i] = (float)(10 + i);
    CHECK_SAME(tutti_file_write(f, all, image, NULL), TUTTI_OK);
    CHECK_OK(tutti_access_indices(0, 4, ITEMS, index, &a));
    tutti_part p = floats(a, v);
    p.convert.file_order = TUTTI_NATIVE_ENDIAN;
    CHECK_SAME(tutti_file_read_parts(f, 1, &p, &count), TUTTI_OK);
    CHECK_EQ(count, 4 * ITEMS);
    for (int i = 0; i < ITEMS; i++) CHECK(v[i] == 10 + (double)index[i], "item %d: %g", i, v[i]);
    /* the file ends within element 4: its existing bytes are counted once, and all its memory locations
     * are unchanged */
    CHECK_SAME(tutti_file_resize(f, 4 * 4 + 3), TUTTI_OK);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < ITEMS; i++) v[i] = -1;
        CHECK_SAME(tutti_file_read_parts(f, 1, &p, &count), TUTTI_OK);
        CHECK_EQ(count, 4 * 3 + 3);
        for (int i = 0; i < ITEMS; i++)
            CHECK(v[i] == (index[i] < 4 ? 10 + (double)index[i] : -1), "item %d: %g", i, v[i]);
    }
    tutti_access_free(&a);
    tutti_access_free(&all);
}

/* ---- a rank with one access may call tutti_file_write; offsets beyond 2 and 4 GiB */

static void test_mixed(void) {
    enum { ITEMS = 5 };
    const tutti_off base = ((tutti_off)5 << 30) + 2046, step = ((tutti_off)1 << 31) + 4094;
    int64_t wide[ITEMS], back[ITEMS];
    int16_t plain[ITEMS];
    tutti_access *a = NULL;
    tutti_off count = -1;
    const int single = rank % 2;
    CHECK_OK(tutti_access_vector(base + 2 * rank, ITEMS, 2, step, &a));
    tutti_part p = {.access = a,
                    .buf = wide,
                    .convert = {.file_type = TUTTI_INT16, .memory_type = TUTTI_INT64}};
    for (int i = 0; i < ITEMS; i++) plain[i] = (int16_t)(wide[i] = 1000 * rank - i);
    for (int round = 0; round < 3; round++) {
        CHECK_SAME(single ? tutti_file_write(f, a, plain, &count)
                          : tutti_file_write_parts(f, 1, &p, &count),
                   TUTTI_OK);
        CHECK_EQ(count, 2 * ITEMS);
        memset(back, 0, sizeof back);
        p.buf = back;
        memset(plain, 0, sizeof plain);
        CHECK_SAME(single ? tutti_file_read_parts(f, 1, &p, &count)
                          : tutti_file_read(f, a, plain, &count),
                   TUTTI_OK);
        CHECK_EQ(count, 2 * ITEMS);
        for (int i = 0; i < ITEMS; i++) CHECK_EQ(single ? back[i] : plain[i], 1000 * rank - i);
        for (int i = 0; i < ITEMS; i++) plain[i] = (int16_t)(1000 * rank - i);
        p.buf = wide;
    }
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    tutti_access_free(&a);
}

/* ---- very many parts, and very many records */

static void test_many(void) {
    enum { PARTS = 10000, ITEMS = 3 };
    tutti_part *parts = calloc(PARTS, sizeof *parts);
    tutti_access **a = calloc(PARTS, sizeof *a);
    int32_t *v = calloc((size_t)PARTS * ITEMS, sizeof *v);
    tutti_off count = -1;
    /* ITEMS elements of each variable per rank; the last one is also the first one of the next rank */
    for (int i = 0; i < PARTS; i++) {
        const tutti_off at = ((tutti_off)i * ((ITEMS - 1) * ranks + 1) + (ITEMS - 1) * rank) * 2;
        const int k = PARTS - 1 - (i ^ 1);
        a[k] = block(at, 2 * ITEMS);
        parts[k] = (tutti_part){.access = a[k],
                                .buf = v + (size_t)i * ITEMS,
                                .convert = {.file_type = TUTTI_INT16, .memory_type = TUTTI_INT32}};
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PARTS * ITEMS; i++) v[i] = (i + 7 * rank + round) % 30000;
        CHECK_SAME(tutti_file_write_parts(f, PARTS, parts, &count), TUTTI_OK);
        CHECK_EQ(count, 2 * PARTS * ITEMS);
        memset(v, 0, (size_t)PARTS * ITEMS * sizeof *v);
        CHECK_SAME(tutti_file_read_parts(f, PARTS, parts, &count), TUTTI_OK);
        int wrong = 0;
        for (int i = 0; i < PARTS * ITEMS; i++) {
            /* the element has the next rank's value */
            const int shared = i % ITEMS == ITEMS - 1 && rank < ranks - 1;
            const int want = (shared ? i - (ITEMS - 1) + 7 * (rank + 1) : i + 7 * rank) + round;
            if (v[i] != want % 30000 && wrong++ == 0)
                CHECK(0, "element %d is %d, not %d", i, v[i], want % 30000);
        }
    }
    for (int i = 0; i < PARTS; i++) tutti_access_free(&a[i]);
    free(parts);
    free(a);
    free(v);
    /* the plan for the union of three variables in 10^9 records needs less than 1 MiB */
    tutti_access *records[3];
    tutti_part of_records[3];
    tutti_plan *plan = NULL;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(tutti_access_vector(24 * rank + 8 * ((i + 1) % 3), 1000000000, 8,
                                     24 * (tutti_off)ranks, &records[i]));
        of_records[i] = (tutti_part){.access = records[i]};
    }
    CHECK_SAME(tutti_plan_write_parts(f, 3, of_records, &plan), TUTTI_OK);
    CHECK(tutti_plan_size(plan) < 1 << 20, "%zu bytes", tutti_plan_size(plan));
    tutti_plan_free(&plan);
    for (int i = 0; i < 3; i++) tutti_access_free(&records[i]);
}

/* ---- the k-th allocation of one rank fails, for all k: nothing leaks or hangs */

static void memory_fails(const char *options, int is_write, int started) {
    enum { ITEMS = 3000, NEVER = 2000 };
    static int32_t v[ITEMS];
    static double wide[ITEMS];
    const int who = ranks - 1;
    tutti_off count;
    tutti_request *r = NULL;
    tutti_access *a = block(1001 + 4 * ITEMS * (tutti_off)rank, 4 * ITEMS), *other = block(rank, 1);
    char one = 'x';
    int k = 1;
    check_where(options);
    for (int over = 0; !over && k < NEVER; k++) {
        tutti_file *g = open_with(path, options);
        const tutti_part parts[2] = {{.access = other, .buf = &one}, floats(a, wide)};
        for (int i = 0; i < ITEMS; i++) wide[i] = i;
        if (!is_write) CHECK_SAME(tutti_file_write_parts(g, 2, parts, NULL), TUTTI_OK);
        if (!is_write) memset(wide, 0, sizeof wide);
        count = -1;
        if (rank == who) tutti__memory_fail_after(k);
        tutti_err err;
        if (started) {
            err = is_write ? tutti_file_write_parts_start(g, 2, parts, &r)
                           : tutti_file_read_parts_start(g, 2, parts, &r);
            if (err == TUTTI_OK) err = tutti_request_wait(&r, &count);
        } else {
            err = is_write ? tutti_file_write_parts(g, 2, parts, &count)
                           : tutti_file_read_parts(g, 2, parts, &count);
        }
        if (rank == who) {
            for (int i = 0; i < k && !over; i++) {
                void *p = tutti__malloc(1);
                over = p == NULL;
                tutti__free(p);
            }
            tutti__memory_fail_after(0);
        }
        MPI_Bcast(&over, 1, MPI_INT, who, MPI_COMM_WORLD);
        err = same_everywhere(err);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM || err == TUTTI_ERR_IO, "%s",
              tutti_last_message());
        if (over) CHECK(err == TUTTI_OK, "fails with memory: %s", tutti_last_message());
        if (err == TUTTI_OK) {
            CHECK_EQ(count, 4 * ITEMS + 1);
            const tutti_part as_int = {.access = a,
                                       .buf = v,
                                       .convert = {.file_type = TUTTI_FLOAT32,
                                                   .memory_type = TUTTI_INT32,
                                                   .file_order = TUTTI_BIG_ENDIAN}};
            CHECK_SAME(tutti_file_read_parts(g, 1, &as_int, NULL), TUTTI_OK);
            int wrong = 0;
            for (int i = 0; i < ITEMS; i++) wrong += v[i] != i || wide[i] != i;
            CHECK_EQ(wrong, 0);
        }
        CHECK_SAME(tutti_file_close(&g), TUTTI_OK);
    }
    CHECK(k < NEVER, "never enough");
    check_where("");
    tutti_access_free(&a);
    tutti_access_free(&other);
}

/* ---- counts: many parts are one operation */

static void test_counts(void) {
    enum { PARTS = 32, BYTES = 4096 };
    tutti_part parts[PARTS];
    tutti_stats last;
    char *v = malloc((size_t)PARTS * BYTES);
    memset(v, 'a' + rank, (size_t)PARTS * BYTES);
    for (int i = 0; i < PARTS; i++)
        parts[i] = (tutti_part){.access = block((tutti_off)BYTES * (i * ranks + rank), BYTES),
                                .buf = v + (size_t)i * BYTES};
    for (int round = 0; round < 4; round++) {
        CHECK_SAME(tutti_file_write_parts(f, PARTS, parts, NULL), TUTTI_OK);
        tutti_file_stats(f, &last, NULL);
        CHECK_EQ(last.operations, 1);
        CHECK_EQ(last.bytes, PARTS * BYTES);
        CHECK_EQ(last.plans, round == 0);
        CHECK_EQ(last.plan_hits, round > 0);
    }
    /* with other buffers and another type in memory, the same plan is found */
    char *w = malloc((size_t)2 * PARTS * BYTES);
    memset(w, 1, (size_t)2 * PARTS * BYTES);
    for (int i = 0; i < PARTS; i++) {
        parts[i].buf = w + 2 * (size_t)(PARTS - 1 - i) * BYTES;
        parts[i].convert =
            (tutti_conversion){.file_type = TUTTI_UINT32, .memory_type = TUTTI_UINT64};
    }
    for (size_t i = 0; i < 2 * (size_t)PARTS * BYTES; i += 8) memset(w + i, 0, 8), w[i] = 7;
    CHECK_SAME(tutti_file_write_parts(f, PARTS, parts, NULL), TUTTI_OK);
    tutti_file_stats(f, &last, NULL);
    CHECK_EQ(last.plan_hits, 1);
    for (int i = 0; i < PARTS; i++) {
        tutti_access *a = (tutti_access *)(uintptr_t)parts[i].access;
        tutti_access_free(&a);
    }
    free(v);
    free(w);
}

int main(int argc, char **argv) {
    static const char *const methods[] = {"two-phase", "list", "independent", "sieve", "auto"};
    static const char *const starved[] = {"window_size=4k method=two-phase",
                                          "window_size=4k step=5", "method=list"};
    harness_begin(&argc, &argv, 788);
    snprintf(path, sizeof path, "%s", scratch_path("values"));
    const tutti_options opt = options_of("window_size=4k");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    test_refusals();
    for (int i = 0; i < 5; i++) misfit_write(methods[i]);
    misfit_read();
    test_repeats();
    test_mixed();
    test_many();
    test_counts();
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    const account start = account_now();
    for (int i = 0; i < 3 && ranks <= 3; i++) memory_fails(starved[i], i == 2, i == 2);
    account_check(start);
    file_remove(path);
    return harness_end();
}
