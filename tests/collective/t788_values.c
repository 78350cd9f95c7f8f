/* TEST ranks=1,2,3,5 timeout=60 */
/* Parts that are refused, values that do not fit: the same error on all ranks, which says where; and
 * how few calls a batch takes.
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

/* float64 in memory, float32 in the file, one block a rank. */
static tutti_part floats(tutti_access *a, double *v) {
    return (tutti_part){.access = a,
                        .buf = v,
                        .convert = {.file_type = TUTTI_FLOAT32,
                                    .memory_type = TUTTI_FLOAT64,
                                    .file_order = TUTTI_BIG_ENDIAN}};
}

/* ---- refused: nothing happens */

static void refusals(void) {
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
    const tutti_part both[2] = {good, good};
    CHECK_SAME(tutti_file_write_parts(f, last ? -1 : 2, both, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_file_write_parts(f, 2, last ? NULL : both, NULL), TUTTI_ERR_ARG);
    /* a plan with the wrong number of buffers */
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
    /* none at all is fine */
    tutti_off count = -1;
    CHECK_SAME(tutti_file_write_parts(f, 0, NULL, &count), TUTTI_OK);
    CHECK_EQ(count, 0);
    tutti_access_free(&a);
    tutti_access_free(&odd);
    tutti_access_free(&shifted);
}

/* ---- what does not fit */

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
    /* no error if infinities are wanted; and then they are there */
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
    CHECK_SAME(tutti_file_write_parts(f, 1, &p, NULL), TUTTI_OK); /* as any other write */
    p.buf = back;
    p.convert = (tutti_conversion){.file_type = TUTTI_INT32, .memory_type = TUTTI_INT8};
    CHECK_SAME(tutti_file_read_parts(f, 1, &p, NULL), TUTTI_ERR_VALUE);
    CHECK(strstr(tutti_last_message(), "part 0, element 2000: 1000 does not fit int8"), "%s",
          tutti_last_message());
    CHECK_EQ(tutti_last_error()->rank, 0);
    for (int i = 0; i < N; i++) /* all others are right nevertheless */
        if (rank > 0 && back[i] != i % 100) CHECK(0, "element %d is %d", i, back[i]);
    tutti_access_free(&a);
}

/* ---- repeats: a read fills every mention */

static void repeats(void) {
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
    tutti_access_free(&a);
    tutti_access_free(&all);
}

/* ---- counts: many parts are one operation */

static void counts(void) {
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
    /* buffers elsewhere and another type in memory: still the same plan */
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
    harness_begin(&argc, &argv, 788);
    snprintf(path, sizeof path, "%s", scratch_path("values"));
    const tutti_options opt = options_of("window_size=4k");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    refusals();
    for (int i = 0; i < 5; i++) misfit_write(methods[i]);
    misfit_read();
    repeats();
    counts();
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_remove(path);
    return harness_end();
}
