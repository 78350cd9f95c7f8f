/* TEST ranks=4 timeout=60 */
/* Statistics, summed over all ranks, have the values that the design predicts: requests to the file
 * system, messages, and copies per byte.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

static char path[512];
enum { NEW = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static tutti_file *open_file(const char *text, int mode) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, mode, &opt, &f), TUTTI_OK);
    return f;
}

/* Return the statistics of the last operation, summed over all ranks. */
static tutti_stats summed(const tutti_file *f) {
    tutti_stats s, sum;
    tutti_file_stats(f, &s, NULL);
    memset(&sum, 0, sizeof sum);
#define SUM(ctype, name, help) sum.name = (ctype)sum_all((tutti_off)s.name);
    TUTTI_STATS_TABLE(SUM)
#undef SUM
    return sum;
}

/* Test a 4 x 4 array of 4-byte elements on 2 x 2 ranks: each rank has two runs of 8 bytes; a row
 * has 16 bytes. */
static void paper_example(void) {
    static const struct {
        const char *text;
        int writes;
    } cases[] = {{"method=two-phase striping_unit=16 cb_nodes=4", 4},
                 {"method=two-phase striping_unit=16 cb_nodes=4 exchange=two-sided", 4},
                 {"method=two-phase striping_unit=16 cb_nodes=4 nodes=2", 4},
                 {"method=two-phase striping_unit=16 cb_nodes=1", 1},
                 {"method=root striping_unit=16", 1},
                 {"method=independent", 8},
                 {"method=list", 8}};
    unsigned char local[16];
    tutti_access *a = NULL;
    tutti_section s = {2,
                       TUTTI_ROW_MAJOR,
                       4,
                       0,
                       {4, 4},
                       {rank / 2 * 2, rank % 2 * 2},
                       {rank / 2 * 2 + 2, rank % 2 * 2 + 2},
                       {1, 1},
                       .reserved = {0}};
    CHECK_OK(tutti_access_section(&s, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), 16);
    memset(local, rank + 1, sizeof local);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tutti_file *f = open_file(cases[i].text, NEW);
        CHECK_SAME(tutti_file_write(f, a, local, NULL), TUTTI_OK);
        const tutti_stats all = summed(f);
        CHECK_EQ(all.file_writes, cases[i].writes);
        CHECK_EQ(all.file_write_bytes, 64);
        CHECK_EQ(all.bytes, 64);
        CHECK_EQ(all.runs, 8);
        CHECK_EQ(all.file_reads, 0);
        CHECK_EQ(all.operations, 4);
        CHECK_EQ(all.plans, 4);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
}

/* All ranks read the same section: it is read from the file once, and sent to each other node once
 * per window. */
static void common_section(void) {
    enum { BYTES = 256 << 10 };
    static const struct {
        const char *text;
        int groups;
    } cases[] = {{"method=two-phase cb_buffer_size=256k", 1},
                 {"method=two-phase cb_buffer_size=256k nodes=2", 2},
                 {"method=two-phase cb_buffer_size=256k nodes=rr:2", 2},
                 {"method=two-phase cb_buffer_size=256k nodes=2 cb_nodes=2", 2},
                 {"method=two-phase cb_buffer_size=256k exchange=two-sided", 4},
                 {"method=root cb_buffer_size=256k nodes=2", 2}};
    unsigned char *v = malloc(BYTES), *got = malloc(BYTES);
    tutti_access *a = NULL;
    for (int i = 0; i < BYTES; i++) v[i] = mix(4, (uint64_t)i);
    file_put(path, v, BYTES);
    CHECK_OK(tutti_access_contiguous(0, BYTES, &a));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tutti_file *f = open_file(cases[i].text, TUTTI_READ);
        tutti_off count = 0;
        memset(got, 0, BYTES);
        CHECK_SAME(tutti_file_read(f, a, got, &count), TUTTI_OK);
        CHECK(count == BYTES && memcmp(got, v, BYTES) == 0, "read differs");
        const tutti_stats all = summed(f);
        CHECK_EQ(all.file_read_bytes, BYTES);
        CHECK_EQ(all.file_reads, all.windows);
        CHECK(all.windows > 1, "one window only");
        CHECK_EQ(all.messages, all.windows * (cases[i].groups - 1));
        CHECK_EQ(all.message_bytes, (tutti_off)BYTES * (cases[i].groups - 1));
        CHECK_EQ(all.bytes, (tutti_off)BYTES * ranks);
        CHECK_EQ(all.copied_bytes, (tutti_off)BYTES * ranks); /* a message is one run: no packing */
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
    free(v);
    free(got);
}

/* Interleaved pieces without holes need one write per window, one copy per byte, and no message on
 * one node. */
static void test_dense(void) {
    enum { PIECE = 128, PIECES = 800 };
    static const char *const texts[] = {
        "method=two-phase cb_buffer_size=64k striping_unit=512",
        "method=two-phase cb_buffer_size=64k striping_unit=512 store=uring",
        "method=two-phase cb_buffer_size=64k striping_unit=512 exchange=two-sided",
        "method=two-phase cb_buffer_size=64k striping_unit=512 nodes=2"};
    unsigned char *local = malloc(PIECE * PIECES);
    tutti_access *a = NULL;
    memset(local, rank + 1, PIECE * PIECES);
    CHECK_OK(tutti_access_vector(rank * PIECE, PIECES, PIECE, PIECE * ranks, &a));
    for (int i = 0; i < 4; i++) {
        tutti_file *f = open_file(texts[i], NEW);
        const tutti_off total = (tutti_off)PIECE * PIECES * ranks;
        CHECK_SAME(tutti_file_write(f, a, local, NULL), TUTTI_OK);
        const tutti_stats all = summed(f);
        CHECK(all.windows > ranks, "only %lld windows", (long long)all.windows);
        CHECK_EQ(all.file_writes, all.windows);
        CHECK_EQ(all.file_write_bytes, total);
        CHECK_EQ(all.file_reads, 0);
        if (i < 2) {
            CHECK_EQ(all.messages, 0);
            CHECK_EQ(all.copied_bytes, total);
        } else {
            const int groups = i == 2 ? ranks : 2;
            CHECK_EQ(all.messages, all.windows * (groups - 1));
            CHECK_EQ(all.message_bytes, total / groups * (groups - 1));
            CHECK(all.copied_bytes <= 3 * total, "%lld bytes copied", (long long)all.copied_bytes);
        }
        CHECK(all.descriptor_bytes < 200 * ranks * ranks, "%lld bytes of descriptions",
              (long long)all.descriptor_bytes);
        CHECK(all.descriptor_messages <= 2 * ranks * ranks, "%lld descriptions",
              (long long)all.descriptor_messages);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
    free(local);
}

/* If there are holes, every method writes only the bytes of the access, and reads nothing unless
 * rmw allows it. */
static void test_holes(void) {
    static const char *const texts[] = {"method=two-phase",
                                        "method=two-phase exchange=two-sided",
                                        "method=two-phase nodes=rr:2 store=threads",
                                        "method=root",
                                        "method=list",
                                        "method=independent",
                                        "method=sieve"};
    for (int i = 0; i < 7; i++) {
        request q = request_make(SPARSE, rank, ranks, 4321, 100000);
        tutti_file *f = open_file(texts[i], NEW);
        request_fill(&q, 3);
        CHECK_SAME(tutti_file_write(f, q.access, q.base, NULL), TUTTI_OK);
        const tutti_stats all = summed(f);
        CHECK_EQ(all.file_write_bytes, sum_all(tutti_access_bytes(q.access)));
        CHECK_EQ(all.bytes, all.file_write_bytes);
        CHECK_EQ(all.runs, sum_all(tutti_access_runs_count(q.access)));
        CHECK_EQ(all.file_read_bytes, 0);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        request_free(&q);
    }
}

/* The bytes of exchanged descriptions of blocks do not depend on the size of the array; totals are the
 * sums of the operations. */
static void test_descriptions(void) {
    tutti_off small = 0;
    for (int scale = 1; scale <= 16; scale *= 16) {
        const tutti_count n = 64 * scale;
        tutti_section s = {2,
                           TUTTI_ROW_MAJOR,
                           4,
                           0,
                           {n, n},
                           {rank / 2 * n / 2, rank % 2 * n / 2},
                           {rank / 2 * n / 2 + n / 2, rank % 2 * n / 2 + n / 2},
                           {1, 1},
                           .reserved = {0}};
        tutti_access *a = NULL;
        tutti_stats last, every;
        CHECK_OK(tutti_access_section(&s, NULL, &a));
        unsigned char *v = calloc(1, (size_t)tutti_access_bytes(a));
        tutti_file *f = open_file("method=two-phase cb_nodes=4 plan_cache=0", NEW);
        for (int i = 0; i < 3; i++) CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
        tutti_file_stats(f, &last, &every);
        CHECK_EQ(every.bytes, 3 * last.bytes);
        CHECK_EQ(every.operations, 3);
        CHECK_EQ(every.descriptor_bytes, 3 * last.descriptor_bytes);
        CHECK_EQ(every.file_write_bytes, 3 * last.file_write_bytes);
        CHECK(last.seconds_total > 0 && last.seconds_plan >= 0 && last.seconds_file >= 0 &&
                  last.seconds_exchange >= 0 &&
                  last.seconds_plan + last.seconds_file + last.seconds_exchange <=
                      last.seconds_total * 1.01 + 1e-4,
              "times %g = %g + %g + %g", last.seconds_total, last.seconds_plan,
              last.seconds_exchange, last.seconds_file);
        const tutti_off bytes = sum_all(last.descriptor_bytes);
        if (scale == 1) small = bytes;
        CHECK(bytes <= small + small / 4 && bytes < 2048,
              "%lld bytes of descriptions, %lld for the small array", (long long)bytes,
              (long long)small);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        tutti_access_free(&a);
        free(v);
    }
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 714);
    snprintf(path, sizeof path, "%s", scratch_path("counts"));
    paper_example();
    common_section();
    test_dense();
    test_holes();
    test_descriptions();
    file_remove(path);
    return harness_end();
}
