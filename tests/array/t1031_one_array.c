/* TEST ranks=2,3,5 timeout=60 */
/* Copies and tile iterations for which some ranks pass both arrays and others only one of them,
 * or one that is closed: all ranks get the same error, regardless of which ranks they are;
 * afterwards both arrays work.  Between the attempts ranks are in different calls, which must
 * have no effect.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

static char path[512], other[520];
static const tutti_array_spec spec = {.ndims = 1, .shape = {600}, .type = TUTTI_INT32};
enum { N = 600 };

static void put_values(tutti_array *a, int32_t from) {
    int32_t v[N];
    tutti_slice s = tutti_slice_all(1, spec.shape);
    if (rank > 0) s.hi[0] = 0;
    for (int i = 0; i < N; i++) v[i] = from + i;
    CHECK_SAME(tutti_array_write(a, &s, NULL, v), TUTTI_OK);
}

static void check_holds(tutti_array *a, int32_t from) {
    int32_t v[N] = {0};
    const tutti_slice s = tutti_slice_all(1, spec.shape);
    CHECK_SAME(tutti_array_read(a, &s, NULL, v), TUTTI_OK);
    for (int i = 0; i < N; i++) CHECK_EQ(v[i], from + i);
}

static tutti_err begin_case(tutti_array *from, tutti_array *to) {
    const tutti_tiles_spec s = {.budget = 1 << 20};
    tutti_tiles *t = NULL;
    const tutti_err err = tutti_tiles_begin(from, to, &s, &t);
    CHECK((t == NULL) == (err != TUTTI_OK), "a walk after an error, or none");
    CHECK_OK(tutti_tiles_end(&t));
    return err;
}

/* Make calls for which ranks with `odd` set pass only one array. */
static void odd_ones(tutti_array *a, tutti_array *b, int odd) {
    CHECK_SAME(tutti_array_copy(odd ? NULL : a, b, 1000, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_array_copy(a, odd ? NULL : b, 1000, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(begin_case(odd ? NULL : a, b), TUTTI_ERR_MISMATCH);
    CHECK_SAME(begin_case(a, odd ? NULL : b), TUTTI_ERR_MISMATCH);
    CHECK_SAME(begin_case(odd ? b : a, b), TUTTI_ERR_MISMATCH);
    CHECK_SAME(begin_case(a, odd ? a : b), TUTTI_ERR_MISMATCH);
    /* a rank that passes one array must also be compared with a rank in another call */
    CHECK_ERR(odd ? tutti_array_sync(b) : begin_case(NULL, b), TUTTI_ERR_MISMATCH);
    CHECK_ERR(odd ? begin_case(NULL, b) : tutti_array_sync(b), TUTTI_ERR_MISMATCH);
    CHECK_ERR(odd ? begin_case(a, NULL) : tutti_array_sync(a), TUTTI_ERR_MISMATCH);
}

/* Make such calls while operations on both files are pending. */
static void under_way(tutti_array *a, tutti_array *b, int odd) {
    tutti_request *r[2] = {NULL, NULL};
    tutti_access *access = NULL;
    int32_t v[2][N];
    CHECK_OK(tutti_access_contiguous(4096, sizeof v[0], &access));
    CHECK_SAME(tutti_file_read_start(tutti_array_file(a), access, v[0], &r[0]), TUTTI_OK);
    CHECK_SAME(tutti_file_read_start(tutti_array_file(b), access, v[1], &r[1]), TUTTI_OK);
    CHECK_SAME(tutti_array_copy(odd ? NULL : a, b, 1000, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(begin_case(odd ? NULL : a, b), TUTTI_ERR_MISMATCH);
    CHECK_SAME(begin_case(a, NULL), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r[1], NULL), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r[0], NULL), TUTTI_OK);
    tutti_access_free(&access);
}

static void tries(const char *options) {
    const tutti_options opt = options_of(options);
    tutti_array *a = NULL, *b = NULL;
    check_where(options);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, other, &spec, &opt, &b), TUTTI_OK);
    for (int one = 0; one < ranks; one += (ranks + 1) / 2) {
        odd_ones(a, b, rank == one);
        odd_ones(a, b, rank != one);
        odd_ones(b, a, (rank + one) % 2);
        under_way(a, b, rank == one);
        CHECK_SAME(begin_case(NULL, b), TUTTI_OK); /* a correct call works */
        CHECK_SAME(begin_case(a, NULL), TUTTI_OK);
        CHECK_SAME(begin_case(a, b), TUTTI_OK);
        CHECK_SAME(begin_case(a, a), TUTTI_OK);
        CHECK_SAME(tutti_array_copy(NULL, b, 1000, NULL, NULL), TUTTI_ERR_ARG);
        put_values(a, 10 * one);
        CHECK_SAME(tutti_array_copy(a, b, 1000, NULL, NULL), TUTTI_OK);
        check_holds(b, 10 * one);
    }
    tutti_array *stale = a;
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_SAME(tutti_array_copy(stale, b, 1000, NULL, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1031);
    snprintf(path, sizeof path, "%s", scratch_path("one"));
    snprintf(other, sizeof other, "%s.to", path);
    tries("");
    tries("nodes=single"); /* without consensus in shared memory: ranks agree by messages */
    file_remove(path);
    file_remove(other);
    return harness_end();
}
