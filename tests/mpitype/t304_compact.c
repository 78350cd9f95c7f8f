/* TEST ranks=1 timeout=60 */
/* Nested strides remain nested: accesses to large arrays need a few hundred bytes and little time, those
 * to irregular blocks a few bytes per run.  Decoding a datatype leaks no MPI objects.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mpitype.h>
#include <malloc.h>
#include "access/side.h"
#include "mpitype/random_type.h"

enum { N = 100000 };

static MPI_Datatype block_of_square(int lo, int n, MPI_Datatype element) {
    const int size[2] = {N, N}, sub[2] = {n, n}, start[2] = {lo, lo};
    MPI_Datatype t;
    MPI_OK(MPI_Type_create_subarray(2, size, sub, start, MPI_ORDER_C, element, &t));
    return t;
}

/* Test the middle quarter of 10^5 x 10^5 doubles. */
static void test_subarray(void) {
    MPI_Datatype t = block_of_square(N / 4, N / 2, MPI_DOUBLE);
    tutti_access *a = NULL;
    tutti_off lo, hi;
    check_where("subarray");
    CHECK_OK(tutti_access_from_view(512, t, 8, N, MPI_DOUBLE, &a));
    CHECK(tutti_access_size(a) < 2000, "%zu bytes", tutti_access_size(a));
    CHECK_EQ(tutti_access_runs_count(a), 3);
    tutti_access_free(&a);
    CHECK_OK(tutti_access_from_view(512, t, 0, 10, t, &a));
    CHECK(tutti_access_size(a) < 2000, "%zu bytes", tutti_access_size(a));
    CHECK_EQ(tutti_access_bytes(a), 10LL * (N / 2) * (N / 2) * 8);
    CHECK_EQ(tutti_access_runs_count(a), 10LL * (N / 2));
    tutti_access_bounds(a, &lo, &hi);
    CHECK_EQ(lo, 512 + 8LL * (N / 4) * (N + 1));
    CHECK_EQ(hi, 512 + 8LL * (9LL * N * N + (3 * N / 4 - 1) * (N + 1LL) + 1));
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&t));
}

/* The description of a subarray of vectors has a few nested loops. */
static void subarray_of_vector(void) {
    MPI_Datatype v, t;
    tutti_access *a = NULL;
    check_where("subarray of vector");
    MPI_OK(MPI_Type_vector(5, 2, 3, MPI_INT, &v));
    t = block_of_square(7, 1000, v);
    CHECK_OK(tutti_access_from_view(0, t, 0, 1000LL * 1000 * 10, MPI_INT, &a));
    CHECK(a && a->file.node->depth <= 4, "depth %d", a->file.node->depth);
    CHECK(tutti__side_size(a->file) < 1000, "%zu bytes", tutti__side_size(a->file));
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&t));
    MPI_OK(MPI_Type_free(&v));
}

static void test_cyclic(void) {
    const int gsize[2] = {N, N}, psize[2] = {7, 3}, arg[2] = {11, 13};
    const int distrib[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    MPI_Datatype t;
    tutti_access *a = NULL;
    MPI_Count size;
    check_where("cyclic");
    MPI_OK(
        MPI_Type_create_darray(21, 13, 2, gsize, distrib, arg, psize, MPI_ORDER_C, MPI_DOUBLE, &t));
    MPI_OK(MPI_Type_size_x(t, &size));
    CHECK_OK(tutti_access_from_view(0, t, 0, size, MPI_BYTE, &a));
    CHECK(tutti_access_size(a) < 3000, "%zu bytes", tutti_access_size(a));
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&t));
}

/* Contiguous types, regardless of their constructors, are described by one run. */
static void test_contiguous(void) {
    MPI_Datatype t, u;
    tutti_access *a = NULL;
    check_where("contiguous");
    MPI_OK(MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &t));
    MPI_OK(MPI_Type_vector(1 << 10, 2, 2, t, &u));
    CHECK_OK(tutti_access_from_view(3, t, 100, 9, u, &a));
    CHECK(a && a->file.node->kind == TUTTI__RUN && a->memory.node->kind == TUTTI__RUN, "not runs");
    CHECK_EQ(tutti_access_bytes(a), 9LL << 34);
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&u));
    MPI_OK(MPI_Type_free(&t));
}

static void test_irregular(void) {
    int *length = malloc(N * sizeof *length), *place = malloc(N * sizeof *place);
    MPI_Datatype t;
    tutti_access *a = NULL;
    MPI_Count size;
    check_where("irregular");
    for (int i = 0; i < N; i++) length[i] = 1 + (int)rnd(3), place[i] = 8 * i + (int)rnd(4);
    MPI_OK(MPI_Type_indexed(N, length, place, MPI_DOUBLE, &t));
    MPI_OK(MPI_Type_size_x(t, &size));
    CHECK_OK(tutti_access_from_view(0, t, 0, size, MPI_BYTE, &a));
    CHECK(tutti_access_size(a) < 6 * N, "%zu bytes", tutti_access_size(a));
    CHECK_EQ(tutti_access_runs_count(a), N);
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&t));
    free(length);
    free(place);
}

/* Test sizes that exceed 64 bits, and nesting so deep that recursion would exceed the stack. */
static void too_large(void) {
    MPI_Datatype t = MPI_DOUBLE, next;
    tutti_access *a = NULL;
    check_where("too large");
    MPI_OK(MPI_Type_create_hvector(2, 1, (MPI_Aint)1 << 61, MPI_INT, &t));
    CHECK_ERR(tutti_access_from_view(0, t, 0, 20, MPI_INT, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, 0, 20, t, &a), TUTTI_ERR_OVERFLOW);
    MPI_OK(MPI_Type_free(&t));
    MPI_OK(MPI_Type_dup(MPI_INT, &t));
    for (int i = 0; i < 1100; i++) {
        MPI_OK(MPI_Type_dup(t, &next));
        MPI_OK(MPI_Type_free(&t));
        t = next;
    }
    const tutti_err err = tutti_access_from_view(0, MPI_BYTE, 0, 1, t, &a);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_UNSUPPORTED, "%s", tutti_last_message());
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&t));
}

/* A leaked datatype needs a few hundred bytes, so that 18 000 leaks would be megabytes. */
static void no_types_left(void) {
    const int length[2] = {1, 2};
    const MPI_Aint place[2] = {0, 4096};
    size_t before = 0;
    check_where("no types left");
    for (int i = 0; i < 20000; i++) {
        MPI_Datatype v, s, t;
        tutti_access *a = NULL;
        if (i == 2000) before = mallinfo2().uordblks;
        MPI_OK(MPI_Type_vector(5, 2, 3, MPI_INT, &v));
        MPI_OK(MPI_Type_create_struct(2, length, place, (MPI_Datatype[]){v, v}, &s));
        MPI_OK(MPI_Type_create_resized(s, 0, 8192, &t));
        CHECK_OK(tutti_access_from_view(0, t, 4, 3, MPI_INT, &a));
        tutti_access_free(&a);
        MPI_OK(MPI_Type_free(&t));
        MPI_OK(MPI_Type_free(&s));
        MPI_OK(MPI_Type_free(&v));
    }
    const long grown = (long)(mallinfo2().uordblks - before);
    CHECK(grown < 1 << 17, "%ld bytes more than before", grown);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_seed(304);
    const long live = tutti__memory_live();
    test_subarray();
    subarray_of_vector();
    test_cyclic();
    test_contiguous();
    test_irregular();
    too_large();
    no_types_left();
    CHECK_EQ(tutti__memory_live(), live);
    MPI_Finalize();
    return check_done();
}
