/* TEST ranks=0 timeout=60 */
/* A block of 10^5 x 10^5 elements: its description has a few hundred bytes, and every query is answered
 * without iterating over its runs (which would take hours).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

#define N 100000ll

/* Return how many bytes of rows [N/2, 3N/2) x columns [N/2, 3N/2) are before a file offset. */
static int64_t before(int64_t offset) {
    const int64_t row_bytes = 2 * N * 8;
    int64_t row = offset / row_bytes - N / 2, in_row = offset % row_bytes - N / 2 * 8;
    if (row < 0) return 0;
    if (row >= N) return N * N * 8;
    return row * N * 8 + tutti__min(tutti__max(in_row, 0), N * 8);
}

static void questions(const tutti_access *a, int64_t end) {
    for (int i = 0; i < 10000; i++) {
        int64_t lo = rnd(end), hi = rnd(end);
        if (lo > hi) {
            const int64_t t = lo;
            lo = hi;
            hi = t;
        }
        const int64_t expect = before(hi) - before(lo);
        CHECK_EQ(tutti_access_bytes_in(a, lo, hi), expect);
        tutti_access *c = NULL;
        CHECK_OK(tutti_access_clip(a, lo, hi, &c));
        CHECK_EQ(tutti_access_bytes(c), expect);
        CHECK(tutti_access_size(c) < 2500, "%zu", tutti_access_size(c));
        tutti_access_free(&c);
        CHECK(tutti__side_serialise(a->file, lo, hi, NULL, 0) < 100, " ");
    }
}

static void places(const tutti_access *a) {
    for (int i = 0; i < 10000; i++) {
        const int64_t p = rnd(N * N * 8), row = p / (N * 8), byte = p % (N * 8);
        tutti_piece piece;
        CHECK_OK(tutti_access_seek(a, p, &piece));
        CHECK_EQ(piece.file, ((N / 2 + row) * 2 * N + N / 2) * 8 + byte);
        CHECK_EQ(piece.bytes, N * 8 - byte);
    }
}

/* Test a row-major array whose memory is column-major: nested loops of 10^10 runs of one
 * element. */
static void test_transposed(void) {
    tutti_section f = {.ndims = 2, .element_size = 8, .shape = {N, N}, .hi = {N, N}}, m = f;
    m.order = TUTTI_COL_MAJOR;
    tutti_access *a = NULL, *c = NULL;
    CHECK_OK(tutti_access_section(&f, &m, &a));
    CHECK_EQ(tutti_access_bytes(a), N * N * 8);
    CHECK(tutti_access_size(a) < 1000, "%zu", tutti_access_size(a));
    for (int i = 0; i < 1000; i++) {
        const int64_t lo = rnd(N * N * 8), hi = lo + rnd(N * N * 8 - lo);
        CHECK_OK(tutti_access_clip(a, lo, hi, &c));
        CHECK_EQ(tutti_access_bytes(c), hi - lo);
        tutti_access_free(&c);
    }
    tutti_access_free(&a);
}

/* Interleaved copies of a vector are sorted by rearranging loops, without a list of all runs. */
static void test_interleaved(void) {
    tutti_access *v = NULL, *a = NULL;
    CHECK_OK(tutti_access_vector(0, N, 8, 8 * N, &v));
    CHECK_OK(tutti_access_tile(v, N / 2, 16, 8 * N, &a));
    CHECK_EQ(tutti_access_bytes(a), N * N / 2 * 8);
    CHECK_EQ(tutti_access_runs_count(a), N * N / 2);
    CHECK(tutti_access_size(a) < 1000, "%zu", tutti_access_size(a));
    tutti_piece p;
    /* the position is that of row 3, copy 5 */
    CHECK_OK(tutti_access_seek(a, (3 * (N / 2) + 5) * 8, &p));
    CHECK_EQ(p.file, 3 * 8 * N + 5 * 16);
    CHECK_EQ(p.memory, 5 * 8 * N + 3 * 8);
    tutti_access_free(&v);
    tutti_access_free(&a);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240604);
    tutti_section s = {.ndims = 2, .element_size = 8, .shape = {2 * N, 2 * N}};
    s.lo[0] = s.lo[1] = N / 2;
    s.hi[0] = s.hi[1] = N / 2 + N;
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_section(&s, NULL, &a));
    CHECK_EQ(tutti_access_bytes(a), N * N * 8);
    CHECK_EQ(tutti_access_runs_count(a), N);
    CHECK(tutti_access_size(a) < 1000, "%zu bytes", tutti_access_size(a));
    CHECK(tutti_access_serialise(a, NULL, 0) < 100, " ");
    questions(a, 4 * N * N * 8);
    places(a);
    tutti_access_free(&a);
    test_transposed();
    test_interleaved();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
