/* TEST ranks=2,3,5,8 timeout=120 */
/* Repeated small split and non-blocking operations.  Start and test do not wait for other ranks: one rank
 * starts operations before the other ranks do, and they complete in any order; bytes, counts and ends of
 * file are correct; a refusal or fault on one rank is reported on all ranks, and the next operation
 * succeeds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "harness.h"

enum { MOST = 4, PLACES = 8 };

static char path[512];
static tutti_file *f;

static tutti_access *piece(int bytes, int place) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(((tutti_off)place * ranks + rank) * bytes, bytes, &a));
    return a;
}

static void fill_values(unsigned char *v, int bytes, int salt) {
    for (int i = 0; i < bytes; i++) v[i] = (unsigned char)(salt + 3 * i + 17 * rank);
}

static tutti_err start_call(const tutti_access *a, void *buf, int is_write, tutti_request **r) {
    return is_write ? tutti_file_write_start(f, a, buf, r) : tutti_file_read_start(f, a, buf, r);
}

/* Run operations until the ranks agree in shared memory and have plans for MOST pending operations. */
static void warm(int bytes, int is_write, unsigned char *buf) {
    for (int i = 0; i < 6; i++) {
        tutti_request *r[MOST] = {NULL};
        tutti_access *a = piece(bytes, 0);
        for (int k = 0; k < MOST; k++) CHECK_OK(start_call(a, buf + k * bytes, is_write, &r[k]));
        for (int k = 0; k < MOST; k++) CHECK_SAME(tutti_request_wait(&r[k], NULL), TUTTI_OK);
        tutti_access_free(&a);
    }
    CHECK(f->team->consensus.base != NULL, "no board");
}

/* ---- start and test do not wait for other ranks */

/* Rank `first` starts n operations and tests them, then sends a message to the other ranks, which start
 * theirs.  Each rank waits for its operations in a different order. */
static void early(int bytes, int is_write, int first, int n) {
    unsigned char *buf = malloc((size_t)bytes * MOST), *want = malloc((size_t)bytes);
    tutti_access *a[MOST];
    tutti_request *r[MOST] = {NULL};
    tutti_off count[MOST] = {0};
    int go = 1;
    for (int k = 0; k < n; k++) {
        a[k] = piece(bytes, k);
        fill_values(buf + k * bytes, bytes, is_write ? 50 + k + bytes : 0);
    }
    if (rank != first) MPI_Recv(&go, 1, MPI_INT, first, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < n; k++) CHECK_OK(start_call(a[k], buf + k * bytes, is_write, &r[k]));
    for (int k = 0; rank == first && k < 100; k++) {
        int done = 0;
        CHECK_OK(tutti_request_test(&r[k % n], &done, NULL));
        CHECK(!done, "complete before the others have started");
    }
    for (int k = 0; rank == first && k < ranks; k++)
        if (k != first) MPI_Send(&go, 1, MPI_INT, k, 5, MPI_COMM_WORLD);
    for (int k = 0; k < n; k++) {
        const int which = (k + rank) % n;
        CHECK_OK(tutti_request_wait(&r[which], &count[which]));
        CHECK_EQ(count[which], bytes);
    }
    for (int k = 0; k < n; k++) {
        fill_values(want, bytes, 50 + k + bytes);
        if (is_write) CHECK_OK(tutti_file_read_independent(f, a[k], buf + k * bytes, NULL));
        CHECK(memcmp(buf + k * bytes, want, (size_t)bytes) == 0, "other bytes, operation %d", k);
        tutti_access_free(&a[k]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(buf);
    free(want);
}

/* ---- begin and end, start and wait, at consecutive offsets; the cached plan is found each time */

static void in_rank_order(int bytes) {
    unsigned char *buf = malloc((size_t)bytes), *got = malloc((size_t)bytes);
    tutti_stats all, before;
    tutti_file_stats(f, NULL, &before);
    for (int i = 0; i < 4 * PLACES; i++) {
        tutti_access *a = piece(bytes, i % PLACES);
        tutti_request *r = NULL;
        tutti_off count = 0;
        fill_values(buf, bytes, i);
        if (i % 2) {
            CHECK_SAME(tutti_file_write_begin(f, a, buf), TUTTI_OK);
            CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_OK);
        } else {
            CHECK_OK(tutti_file_write_start(f, a, buf, &r));
            CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
        }
        CHECK_EQ(count, bytes);
        if (i % 2) {
            CHECK_OK(tutti_file_read_start(f, a, got, &r));
            CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
        } else {
            CHECK_SAME(tutti_file_read_begin(f, a, got), TUTTI_OK);
            CHECK_SAME(tutti_file_read_end(f, &count), TUTTI_OK);
        }
        CHECK_EQ(count, bytes);
        CHECK(memcmp(buf, got, (size_t)bytes) == 0, "other bytes at place %d", i % PLACES);
        tutti_access_free(&a);
    }
    tutti_file_stats(f, NULL, &all);
    CHECK_EQ(all.operations - before.operations, 8 * PLACES);
    CHECK(all.plans - before.plans <= 4, "%lld plans", (long long)(all.plans - before.plans));
    free(buf);
    free(got);
}

/* ---- errors */

static void refusals(int bytes, int is_write) {
    unsigned char *buf = calloc(1, (size_t)bytes);
    tutti_access *a = piece(bytes, 0);
    for (int who = 0; who < ranks; who++) {
        tutti_request *r[2] = {NULL};
        CHECK_OK(start_call(rank == who ? NULL : a, buf, is_write, &r[0]));
        CHECK_OK(start_call(a, buf, is_write, &r[1]));
        CHECK_SAME(tutti_request_wait(&r[0], NULL), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_request_wait(&r[1], NULL), TUTTI_OK);
        CHECK_SAME(is_write ? tutti_file_write_begin(f, rank == who ? NULL : a, buf)
                            : tutti_file_read_begin(f, rank == who ? NULL : a, buf),
                   TUTTI_ERR_ARG);
    }
    tutti_access_free(&a);
    free(buf);
}

/* Read beyond the end of the file and across it. */
static void test_ends(void) {
    unsigned char got[4];
    tutti_off size = 0;
    for (int round = 0; round < 3; round++) {
        CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
        const tutti_off cut = round == 1 ? 2 + 4 * (ranks / 2) : size;
        CHECK_SAME(tutti_file_resize(f, cut), TUTTI_OK);
        tutti_access *a = piece(4, 0);
        tutti_request *r = NULL;
        tutti_off count = 0;
        CHECK_OK(tutti_file_read_start(f, a, got, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
        const tutti_off left = cut - 4 * (tutti_off)rank;
        CHECK_EQ(count, left < 0 ? 0 : left > 4 ? 4 : left);
        tutti_access_free(&a);
    }
}

/* File access `fault` of one rank fails: all ranks get the same error, and the next operation succeeds. */
static void faults(const char *fault, int is_write, int bytes) {
    unsigned char *buf = calloc(1, (size_t)bytes);
    char options[128];
    int failed = 0;
    snprintf(options, sizeof options, "fault=%s", fault);
    f = open_with(path, options);
    tutti_access *a = piece(bytes, 0);
    if (!is_write) CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
    for (int i = 0; i < 40; i++) {
        tutti_request *r = NULL;
        CHECK_OK(start_call(a, buf, is_write, &r));
        const tutti_err err = same_everywhere(tutti_request_wait(&r, NULL));
        CHECK(err <= TUTTI_OK, "%s", tutti_error_name(err));
        failed += err != TUTTI_OK;
        tutti_err split =
            is_write ? tutti_file_write_begin(f, a, buf) : tutti_file_read_begin(f, a, buf);
        if (split == TUTTI_OK)
            split = is_write ? tutti_file_write_end(f, NULL) : tutti_file_read_end(f, NULL);
        failed += same_everywhere(split) != TUTTI_OK;
    }
    CHECK(failed > 0 && failed < 80, "%s: %d operations failed", fault, failed);
    tutti_access_free(&a);
    free(buf);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 771);
    snprintf(path, sizeof path, "%s/small", getenv("TUTTI_TEST_DIR"));
    static const int sizes[] = {4, 4096, 24 << 10, 64 << 10};
    f = open_with(path, "");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    const account before = account_now();
    for (int i = 0; i < 4; i++) {
        const int bytes = sizes[i];
        unsigned char *buf = calloc(MOST, (size_t)bytes);
        f = open_with(path, "background=none");
        for (int is_write = 1; is_write >= 0; is_write--) {
            warm(bytes, is_write, buf);
            for (int who = 0; who < ranks; who += ranks - 1) {
                early(bytes, 1, who, MOST);
                early(bytes, is_write, who, 1);
                early(bytes, is_write, who, MOST);
            }
            refusals(bytes, is_write);
        }
        in_rank_order(bytes);
        if (i == 0) test_ends();
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        free(buf);
    }
    faults("0:write:20:EIO", 1, 4);        /* one rank writes for all */
    faults("1:write:20:EIO", 1, 24 << 10); /* each rank writes its own bytes */
    faults("1:read:20:EIO", 0, 4);
    account_check(before);
    file_remove(path);
    return harness_end();
}
