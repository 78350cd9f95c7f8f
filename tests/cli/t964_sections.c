/* TEST ranks=1 timeout=60 own=1 */
/* The sections of tutti-experiments sections are those of the paper for 4096 x 4096 elements; for any array
 * and number of ranks they are inside the array, and distinct where required; and distributions cover the
 * array once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "bench/kernels.c"
#include "bench/pattern_block.c"
#include "bench/patterns.c"
#include "experiments/sections_table.c"
#include "experiments/distributions.c"

/* Running variants is not tested here. */
int variant_failed(bench_entry *e) {
    return (void)e, 1;
}
void array_way_stats(const bench_job *job, bench_entry *e) {
    (void)job, (void)e;
}
void array_way_end(bench_job *job, bench_entry *e) {
    (void)job, (void)e;
}

static section_what what_of(section_part part, int row, int ranks, tutti_count n) {
    return (section_what){.part = part, .row = row, .ranks = ranks, .n = n};
}

/* ---- the sections of the paper */

static void check_paper(void) {
    static const struct {
        section_part part;
        int row;
        const char *name;
        tutti_count lo[2], hi[2]; /* bounds of the section of rank 3 */
    } table[] = {
        {PART_COMMON, 0, "I (1:100:1, 1:100:1)", {0, 0}, {100, 100}},
        {PART_COMMON, 1, "II (200:300:1, 200:300:1)", {199, 199}, {300, 300}},
        {PART_COMMON, 2, "III (400:800:1, 400:800:1)", {399, 399}, {800, 800}},
        {PART_COMMON, 3, "IV (32:64:1, 128:1024:1)", {31, 127}, {64, 1024}},
        {PART_COMMON, 4, "V (1:16:1, 1:4096:1)", {0, 0}, {16, 4096}},
        {PART_COMMON, 5, "VI (1:4096:1, 1:16:1)", {0, 0}, {4096, 16}},
        {PART_OVERLAPPING, 0, "I (1:100:1, 1+10p:100+10p:1)", {0, 30}, {100, 130}},
        {PART_OVERLAPPING, 9, "X (1+30p:600+30p:3, 1+30p:600+30p:3)", {90, 90}, {690, 690}},
    };
    static const double ratio[] = {3.74, 4.69, 8.82, 10.46, 36.47, 1.61};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const section_what what = what_of(table[i].part, table[i].row, 16, 4096);
        const tutti_slice s = section_slice(&what, 3);
        char name[80];
        check_where(table[i].name);
        section_name(&what, name, sizeof name);
        CHECK(strcmp(name, table[i].name) == 0, "%s", name);
        for (int d = 0; d < 2; d++) {
            CHECK_EQ(s.lo[d], table[i].lo[d]);
            CHECK_EQ(s.hi[d], table[i].hi[d]);
        }
    }
    for (int i = 0; i < 6; i++) {
        const section_what what = what_of(PART_COMMON, i, 16, 4096);
        CHECK(fabs(section_paper_ratio(&what) - ratio[i]) < 0.01, "%d", i);
    }
    const section_what two = what_of(PART_OVERLAPPING, 0, 16, 4096);
    CHECK_EQ(section_bounding_rows(&two), 100);
    CHECK_EQ(section_bounding_bytes(&two), 100 * 250 * 8);
}

/* ---- other numbers of ranks and sizes of the array */

static void check_inside(const section_what *what) {
    for (int p = 0; p < what->ranks; p++) {
        const tutti_slice s = section_slice(what, p);
        for (int d = 0; d < 2; d++)
            CHECK(s.lo[d] >= 0 && s.hi[d] <= what->n && s.hi[d] > s.lo[d] && s.stride[d] > 0,
                  "%s %d of %d, n %lld: %lld:%lld", section_part_name(what->part), p, what->ranks,
                  (long long)what->n, (long long)s.lo[d], (long long)s.hi[d]);
    }
}

static void check_distinct(const section_what *what) {
    unsigned char *seen = calloc(1, (size_t)(what->n * what->n));
    for (int p = 0; p < what->ranks; p++) {
        const tutti_slice s = section_slice(what, p);
        for (tutti_count i = s.lo[0]; i < s.hi[0]; i += s.stride[0])
            for (tutti_count j = s.lo[1]; j < s.hi[1]; j += s.stride[1])
                CHECK_EQ(seen[i * what->n + j]++, 0);
    }
    free(seen);
}

static void check_sizes(void) {
    static const tutti_count sizes[] = {64, 100, 512, 1024};
    static const int ranks[] = {1, 2, 3, 5, 16, 61};
    check_where("sizes");
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 6; r++)
            for (int part = 0; part < PARTS_OF_SECTIONS; part++)
                for (int row = 0; row < section_rows(part); row++) {
                    section_what what = what_of(part, row, ranks[r], sizes[k]);
                    check_inside(&what);
                    if (part == PART_DISTINCT && k < 2) check_distinct(&what);
                    what.whole_blocks = 1;
                    if (sizes[k] % SECTION_BLOCK == 0) check_inside(&what);
                }
}

/* ---- distributions: the pattern of a rank is its part by tutti_distribution_part */

static void check_element(const distribution_what *what, const tutti_distribution *d, int rank,
                          const tutti_piece *piece) {
    const tutti_count at = piece->file / 8, global[2] = {at % what->n, at / what->n};
    tutti_count local[2], shape[2];
    int owner = -1;
    CHECK_OK(tutti_distribution_local(d, global, &owner, local));
    tutti_distribution_part(d, rank, shape);
    CHECK_EQ(owner, rank);
    CHECK_EQ(piece->memory, 8 * (local[0] + local[1] * shape[0]));
}

static void check_distribution(int row, int ranks, tutti_count n) {
    const distribution_what what = {row, ranks, n};
    const bench_cell cell = {.what = &what};
    tutti_distribution *d;
    tutti_off bytes = 0;
    check_where(distribution_name(row));
    CHECK_OK(make_distribution(&what, &d));
    CHECK_EQ(tutti_distribution_ranks(d), ranks);
    for (int rank = 0; rank < ranks; rank++) {
        const cli_world w = {.comm = MPI_COMM_WORLD, .rank = rank, .ranks = ranks};
        bench_pattern p;
        CHECK_EQ(distribution_make(&cell, &w, &p), 0);
        bytes += p.bytes;
        CHECK_EQ(p.bytes, 8 * tutti_distribution_part(d, rank, NULL));
        for (tutti_count i = 0; i < p.pieces; i++) check_element(&what, d, rank, &p.piece[i]);
        bench_pattern_free(&p);
    }
    CHECK_EQ(bytes, 8 * n * n);
    tutti_distribution_free(&d);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_paper();
    check_sizes();
    for (int row = 0; row < distribution_rows(); row++) {
        check_distribution(row, 1, 20);
        check_distribution(row, 3, 50);
        check_distribution(row, 4, 64);
        check_distribution(row, 6, 100);
    }
    MPI_Finalize();
    return check_done();
}
