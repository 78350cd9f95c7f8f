/* TEST ranks=1,2,3 timeout=100 own=1 tsan=1 */
/* With background=all, errors, refusals, abandoned requests and lack of memory are reported as with the
 * other kinds of background.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/parts.h>
#include "harness.h"

enum { BYTES = 200000 };

static char path[512];
static unsigned char buffer[BYTES];

static tutti_access *share_of(void) {
    tutti_access *a = NULL;
    CHECK_OK(
        tutti_access_vector((tutti_off)rank * 500, BYTES / 500, 500, 500 * (tutti_off)ranks, &a));
    return a;
}

static void failing(int who, int split) {
    char text[128];
    tutti_request *r = NULL;
    tutti_off count = -7;
    snprintf(text, sizeof text, "background=all cb_nodes=%d fault=%d:write:1:EIO", ranks, who);
    const account start = account_now();
    tutti_access *a = share_of();
    tutti_file *f = open_with(path, text);
    if (split) {
        CHECK_OK(tutti_file_write_begin(f, a, buffer));
        CHECK_SAME(tutti_file_write_end(f, &count), TUTTI_ERR_IO);
        CHECK_ERR(tutti_file_write_end(f, &count), TUTTI_ERR_STATE);
    } else {
        CHECK_OK(tutti_file_write_start(f, a, buffer, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_ERR_IO);
    }
    CHECK_EQ(count, -7);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    account_check(start);
}

static void test_refused(void) {
    tutti_request *r = NULL;
    tutti_access *a = share_of();
    tutti_file *f = open_with(path, "background=all");
    CHECK_OK(tutti_file_write_start(f, a, rank == ranks - 1 ? NULL : buffer, &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_ARG);
    CHECK_EQ(tutti_last_error()->rank, ranks - 1);
    CHECK_OK(tutti_file_write_begin(f, a, buffer));
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

static void test_abandoned(void) {
    tutti_request *r = NULL;
    tutti_access *a = share_of();
    tutti_file *f = open_with(path, "background=all");
    for (int i = 0; i < 3; i++) {
        CHECK_OK(tutti_file_write_start(f, a, buffer, &r));
        tutti_request_abandon(&r);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

/* Test several pending operations on parts with type conversion, whose descriptions are freed after
 * start. */
static void parts(int counted) {
    enum { FLIGHTS = 3, ITEMS = 5000, MIDDLE = 77 };
    static double v[FLIGHTS][ITEMS];
    static int32_t back[FLIGHTS][ITEMS];
    tutti_request *r[FLIGHTS] = {NULL};
    const account start = account_now();
    tutti_file *f = open_with(path, "background=all window_size=4k");
    for (int is_write = 1; is_write >= 0; is_write--) {
        for (int i = 0; i < FLIGHTS; i++) {
            const tutti_off at = 4 * (tutti_off)ITEMS * (i * ranks + rank) + 3;
            tutti_access *a = NULL, *b = NULL;
            CHECK_OK(tutti_access_contiguous(at, (tutti_off)4 * MIDDLE, &a));
            CHECK_OK(tutti_access_contiguous(at + (tutti_off)4 * MIDDLE,
                                             (tutti_off)4 * (ITEMS - MIDDLE), &b));
            const tutti_conversion out = {TUTTI_FLOAT32, TUTTI_FLOAT64, TUTTI_BIG_ENDIAN, 0, {0}},
                                   in = {TUTTI_FLOAT32, TUTTI_INT32, TUTTI_BIG_ENDIAN, 0, {0}};
            tutti_part two[2] = {{.access = a, .buf = v[i], .convert = out},
                                 {.access = b, .buf = v[i] + MIDDLE, .convert = out}};
            if (!is_write) {
                two[0].buf = back[i];
                two[1].buf = back[i] + MIDDLE;
                two[0].convert = two[1].convert = in;
            }
            for (int k = 0; k < ITEMS && is_write; k++) v[i][k] = rank + 10 * i + k;
            CHECK_OK(is_write ? tutti_file_write_parts_start(f, 2, two, &r[i])
                              : tutti_file_read_parts_start(f, 2, two, &r[i]));
            memset(two, 0, sizeof two);
            tutti_access_free(&a);
            tutti_access_free(&b);
        }
        for (int i = FLIGHTS - 1; i >= 0; i--) {
            tutti_off count = -1;
            CHECK_SAME(tutti_request_wait(&r[i], &count), TUTTI_OK);
            CHECK_EQ(count, 4 * ITEMS);
        }
    }
    int wrong = 0;
    for (int i = 0; i < FLIGHTS; i++)
        for (int k = 0; k < ITEMS; k++) wrong += back[i][k] != rank + 10 * i + k;
    CHECK_EQ(wrong, 0);
    /* if a request with a value that cannot be converted is abandoned, no rank returns the error */
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(2 * (tutti_off)ITEMS * rank, 2 * (tutti_off)ITEMS, &a));
    const tutti_part short_ones = {
        .access = a,
        .buf = v[0],
        .convert = {.file_type = TUTTI_INT16, .memory_type = TUTTI_FLOAT64}};
    v[0][0] = 1e6;
    CHECK_OK(tutti_file_write_parts_start(f, 1, &short_ones, &r[0]));
    tutti_request_abandon(&r[0]);
    CHECK_OK(tutti_file_write_parts_start(f, 1, &short_ones, &r[0]));
    CHECK_SAME(tutti_request_wait(&r[0], NULL), TUTTI_ERR_VALUE);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    if (counted) account_check(start);
}

/* Let the n-th allocation of rank `who` fail, for n = 1 to 11: all ranks return the same error. */
static void without_memory(int who) {
    tutti_access *a = share_of();
    for (int n = 1; n < 12; n++) {
        tutti_request *r = NULL;
        tutti_file *f = open_with(path, "background=all");
        CHECK_OK(tutti_file_read_independent(f, a, buffer, NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == who) tutti__memory_fail_after(n);
        tutti_err err = tutti_file_write_start(f, a, buffer, &r);
        if (err == TUTTI_OK) err = tutti_request_wait(&r, NULL);
        tutti__memory_fail_after(0);
        (void)same_everywhere(err);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(752);
    snprintf(path, sizeof path, "%s", scratch_path("thread"));
    if (level == MPI_THREAD_MULTIPLE) {
        test_refused(); /* also creates the team that later files use */
        for (int who = 0; who < ranks; who++)
            for (int split = 0; split < 2; split++) failing(who, split);
        test_abandoned();
        for (int again = 0; again < 2; again++)
            parts(again); /* memory is compared only in the second round */
        without_memory(ranks - 1);
    }
    file_remove(path);
    check_where("");
    const int rc = check_done_all();
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE ? rc : 77;
}
