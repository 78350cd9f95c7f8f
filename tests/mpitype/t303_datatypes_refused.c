/* TEST ranks=1 timeout=60 */
/* Special datatypes: pairs with gaps, parametrised types of Fortran, empty types, a negative lower bound;
 * and every kind of request that must be refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <tutti/mpitype.h>
#include "base/memory.h"
#include "mpitype/random_type.h"

/* Check that the memory side of one element consists of the n given runs. */
static void expect_runs(MPI_Datatype t, int n, const tutti_off run[][2]) {
    tutti_access *a = NULL;
    tutti_access_iter *it;
    tutti_piece p;
    int i = 0;
    CHECK_OK(tutti_access_from_view(0, MPI_BYTE, 0, 1, t, &a));
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    for (; tutti_access_iter_next(it, &p); i++) {
        CHECK(i < n, "a run too many, at %lld", (long long)p.memory);
        if (i >= n) break;
        CHECK_EQ(p.memory, run[i][0]);
        CHECK_EQ(p.bytes, run[i][1]);
    }
    CHECK_EQ(i, n);
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
}

static void check_pair(MPI_Datatype t, tutti_off first, tutti_off second_at) {
    const tutti_off one[][2] = {{0, first + (tutti_off)sizeof(int)}};
    const tutti_off two[][2] = {{0, first}, {second_at, sizeof(int)}};
    MPI_Datatype dup;
    MPI_OK(MPI_Type_dup(t, &dup));
    expect_runs(t, first == second_at ? 1 : 2, first == second_at ? one : two);
    expect_runs(dup, first == second_at ? 1 : 2, first == second_at ? one : two);
    MPI_OK(MPI_Type_free(&dup));
}

#define CHECK_PAIR(t, c_type)                                         \
    do {                                                              \
        struct pair {                                                 \
            c_type first;                                             \
            int second;                                               \
        };                                                            \
        check_pair(t, sizeof(c_type), offsetof(struct pair, second)); \
    } while (0)

static void test_pairs(void) {
    check_where("pairs");
    CHECK_PAIR(MPI_FLOAT_INT, float);
    CHECK_PAIR(MPI_DOUBLE_INT, double);
    CHECK_PAIR(MPI_LONG_INT, long);
    CHECK_PAIR(MPI_SHORT_INT, short);
    CHECK_PAIR(MPI_2INT, int);
    CHECK_PAIR(MPI_LONG_DOUBLE_INT, long double);
    expect_runs(MPI_LONG_DOUBLE, 1, (const tutti_off[][2]){{0, sizeof(long double)}});
}

static void fortran_types(void) {
    MPI_Datatype t, three;
    check_where("fortran types");
    MPI_OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t));
    expect_runs(t, 1, (const tutti_off[][2]){{0, 8}});
    MPI_OK(MPI_Type_contiguous(3, t, &three));
    expect_runs(three, 1, (const tutti_off[][2]){{0, 24}});
    expect_runs(three, 1, (const tutti_off[][2]){{0, 24}});
    MPI_OK(MPI_Type_free(&three));
    MPI_OK(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &t));
    expect_runs(t, 1, (const tutti_off[][2]){{0, 8}});
    MPI_OK(MPI_Type_create_f90_integer(9, &t));
    expect_runs(t, 1, (const tutti_off[][2]){{0, 4}});
}

static void test_resized(void) {
    MPI_Datatype t, two;
    check_where("resized");
    MPI_OK(MPI_Type_create_resized(MPI_INT, -4, 12, &t));
    MPI_OK(MPI_Type_contiguous(2, t, &two));
    expect_runs(two, 2, (const tutti_off[][2]){{0, 4}, {12, 4}});
    MPI_OK(MPI_Type_free(&two));
    MPI_OK(MPI_Type_vector(2, 1, -2, t, &two));
    expect_runs(two, 2, (const tutti_off[][2]){{0, 4}, {-24, 4}});
    MPI_OK(MPI_Type_free(&two));
    MPI_OK(MPI_Type_free(&t));
}

/* A type without bytes is empty as a memory type; as a filetype, requests of bytes fail. */
static void test_empty(void) {
    const int length = 0;
    const MPI_Aint place = 40;
    MPI_Datatype t, more, type = MPI_DOUBLE;
    tutti_access *a = NULL;
    check_where("empty");
    MPI_OK(MPI_Type_create_struct(1, &length, &place, &type, &t));
    MPI_OK(MPI_Type_vector(3, 2, 5, t, &more));
    expect_runs(more, 0, NULL);
    CHECK_OK(tutti_access_from_view(7, more, 0, 1000, more, &a));
    CHECK_EQ(tutti_access_bytes(a), 0);
    tutti_access_free(&a);
    CHECK_OK(tutti_access_from_view(7, more, 100, 0, MPI_INT, &a));
    tutti_access_free(&a);
    CHECK_ERR(tutti_access_from_view(7, more, 0, 1, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK(!a, "an access in spite of the error");
    MPI_OK(MPI_Type_free(&more));
    MPI_OK(MPI_Type_free(&t));
}

static void bad_arguments(void) {
    tutti_access *a = NULL;
    check_where("bad arguments");
    CHECK_ERR(tutti_access_from_view(-1, MPI_BYTE, 0, 1, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, -1, 1, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, 0, -1, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_DATATYPE_NULL, 0, 1, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, 0, 1, MPI_DATATYPE_NULL, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, 0, 1, MPI_INT, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, 0, INT64_MAX / 2, MPI_INT, &a),
              TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_from_view(0, MPI_BYTE, INT64_MAX, 1, MPI_INT, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_from_view(INT64_MAX, MPI_BYTE, 0, 1, MPI_INT, &a), TUTTI_ERR_OVERFLOW);
    CHECK(!a, "an access in spite of the error");
}

static void bad_filetypes(void) {
    const int backwards[] = {3, 1}, twice[] = {2, 2}, below[] = {-1, 2}, one[] = {1, 1};
    MPI_Datatype t, tight;
    tutti_access *a = NULL;
    const int *places[] = {backwards, twice, below};
    const char *say[] = {"must increase", "must increase", "displacement -4"};
    check_where("bad filetypes");
    for (int i = 0; i < 3; i++) {
        MPI_OK(MPI_Type_indexed(2, one, places[i], MPI_INT, &t));
        CHECK_ERR(tutti_access_from_view(0, t, 0, 1, MPI_INT, &a), TUTTI_ERR_ARG);
        CHECK(strstr(tutti_last_message(), say[i]), "says '%s'", tutti_last_message());
        MPI_OK(MPI_Type_free(&t));
    }
    MPI_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    MPI_OK(MPI_Type_create_resized(t, 0, 4, &tight));
    CHECK_ERR(tutti_access_from_view(0, tight, 4, 2, MPI_INT, &a), TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "overlaps"), "says '%s'", tutti_last_message());
    CHECK_OK(tutti_access_from_view(0, tight, 8, 2, MPI_INT, &a));
    tutti_access_free(&a);
    MPI_OK(MPI_Type_free(&tight));
    MPI_OK(MPI_Type_free(&t));
}

/* Each allocation fails once: no access is created, and nothing leaks. */
static void out_of_memory(void) {
    tutti_access *a = NULL;
    tutti_err err = TUTTI_ERR_NOMEM;
    check_where("out of memory");
    for (int round = 0; round < 40; round++) {
        mapped_type file = random_type(3, 1), memory = random_type(3, 0);
        long n = 1;
        do {
            const long live = tutti__memory_live();
            tutti__memory_fail_after(n++);
            err = tutti_access_from_view(3, file.type, 5, 2, memory.type, &a);
            tutti__memory_fail_after(0);
            CHECK(err != TUTTI_OK || a, "no access");
            tutti_access_free(&a);
            CHECK_EQ(tutti__memory_live(), live);
        } while (err == TUTTI_ERR_NOMEM && n < 1000);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_ARG, "%s", tutti_last_message());
        free_mapped(&file);
        free_mapped(&memory);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_seed(303);
    const long live = tutti__memory_live();
    test_pairs();
    fortran_types();
    test_resized();
    test_empty();
    bad_arguments();
    bad_filetypes();
    out_of_memory();
    CHECK_EQ(tutti__memory_live(), live);
    MPI_Finalize();
    return check_done();
}
