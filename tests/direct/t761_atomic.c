/* TEST ranks=2,3 timeout=60 */
/* Atomic mode: ranks write and read the same pieces at the same time, independently (blocking or not) and
 * collectively.  Every read returns the bytes of one write; the final contents are those of one write, and for a
 * collective write those of the highest rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

enum { PIECES = 300, PIECE = 40, STRIDE = 64, BYTES = PIECES * PIECE, ROUNDS = 25 };
enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static char path[512];
static tutti_access *pieces; /* the same access on all ranks */

/* Check that all bytes have one value, since each write has its own; return the value. */
static int common_value(const unsigned char *v, int64_t n, const char *what) {
    for (int64_t i = 1; i < n; i++)
        if (v[i] != v[0]) {
            CHECK(0, "%s: byte 0 is %d, byte %lld is %d", what, v[0], (long long)i, v[i]);
            break;
        }
    return v[0];
}

/* Return the value of the pieces in the file; check that bytes between pieces are 0. */
static int read_settled(void) {
    int64_t n = 0;
    unsigned char *v = file_get(path, &n), got[BYTES];
    CHECK_EQ(n, (PIECES - 1) * STRIDE + PIECE);
    for (int i = 0; i < PIECES && n > 0; i++) {
        memcpy(got + i * PIECE, v + i * STRIDE, PIECE);
        for (int k = PIECE; k < STRIDE && i + 1 < PIECES; k++)
            if (v[i * STRIDE + k] != 0) CHECK(0, "a byte between pieces has changed");
    }
    free(v);
    return common_value(got, BYTES, "settled");
}

static void fill_values(unsigned char *v, int round) {
    memset(v, 1 + (rank + 16 * round) % 250, BYTES);
}

/* Each rank writes, and reads the bytes of one of the writes. */
static void independent_round(tutti_file *f, int round) {
    unsigned char local[BYTES], got[BYTES];
    tutti_off count = -7;
    fill_values(local, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (round % 3 == 0) {
        tutti_request *w = NULL, *r = NULL;
        CHECK_OK(tutti_file_write_independent_start(f, pieces, local, &w));
        CHECK_OK(tutti_file_read_independent_start(f, pieces, got, &r));
        CHECK_OK(tutti_request_wait(&r, &count));
        CHECK_OK(tutti_request_wait(&w, NULL));
        if (round == 0 && count == 0)
            return; /* no rank has written yet: the read returns nothing or all bytes */
    } else {
        CHECK_OK(tutti_file_write_independent(f, pieces, local, NULL));
        CHECK_OK(tutti_file_read_independent(f, pieces, got, &count));
    }
    CHECK_EQ(count, BYTES);
    (void)common_value(got, BYTES, "independent read");
}

/* While a file grows, a reader sees a write completely or not at all. */
static void growing(tutti_file *f) {
    unsigned char local[BYTES], got[BYTES];
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    fill_values(local, 3);
    if (rank == 0) {
        CHECK_OK(tutti_file_write_independent(f, pieces, local, NULL));
    } else {
        tutti_off count = -7;
        CHECK_OK(tutti_file_read_independent(f, pieces, got, &count));
        CHECK(count == 0 || count == BYTES, "%lld bytes", (long long)count);
    }
}

static void collective_round(tutti_file *f, tutti_plan *p, int round) {
    unsigned char local[BYTES], got[BYTES];
    tutti_off count = -7;
    fill_values(local, round);
    if (round % 4 == 0) {
        CHECK_SAME(tutti_plan_run(p, local, 0, &count), TUTTI_OK);
    } else if (round % 4 == 1) {
        CHECK_SAME(tutti_file_write(f, pieces, local, &count), TUTTI_OK);
    } else if (round % 4 == 2) {
        CHECK_SAME(tutti_file_write_begin(f, pieces, local), TUTTI_OK);
        CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
    } else {
        tutti_request *r = NULL;
        CHECK_OK(tutti_file_write_start(f, pieces, local, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
    }
    CHECK_EQ(count, BYTES);
    CHECK_EQ(read_settled(), 1 + (ranks - 1 + 16 * round) % 250);
    CHECK_SAME(tutti_file_read(f, pieces, got, &count), TUTTI_OK);
    CHECK_EQ(common_value(got, BYTES, "collective read"), 1 + (ranks - 1 + 16 * round) % 250);
}

static void refusals(tutti_file *f) {
    if (ranks > 1) CHECK_SAME(tutti_file_atomic(f, rank == 0), TUTTI_ERR_MISMATCH);
    CHECK_ERR(tutti_file_atomic(NULL, 1), TUTTI_ERR_ARG);
}

static void combination(const char *text) {
    const tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_plan *p = NULL;
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(f, pieces, &p), TUTTI_OK); /* made before atomic mode is set */
    refusals(f);
    CHECK_SAME(tutti_file_atomic(f, 1), TUTTI_OK);
    for (int round = 0; round < ROUNDS; round++) independent_round(f, round);
    (void)read_settled();
    growing(f);
    for (int round = 0; round < 12; round++) collective_round(f, p, round);
    CHECK_SAME(tutti_file_atomic(f, 0), TUTTI_OK);
    for (int round = 0; round < 4; round++) collective_round(f, p, round);
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_remove(path);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 761);
    snprintf(path, sizeof path, "%s", scratch_path("atomic"));
    CHECK_OK(tutti_access_vector(0, PIECES, PIECE, STRIDE, &pieces));
    combination("method=two-phase");
    combination("store=threads background=io-only method=two-phase nodes=single");
    combination("store=uring background=io-only plan_cache=0");
    combination("method=sieve rmw=1 fault=*:short:100");
    tutti_access_free(&pieces);
    return harness_end();
}
