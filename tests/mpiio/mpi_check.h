/* Macros that check the error class of MPI calls, and functions for files of tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MPI_CHECK_H
#define TUTTI_TESTS_MPI_CHECK_H

#include <mpi.h>
#include "check.h"

static int rank, size;

static inline int class_of(int code) {
    int found = -1;
    MPI_Error_class(code, &found);
    return found;
}

/* Check that the call returns an error of this class. */
#define CHECK_CLASS(call, expected)                                                        \
    do {                                                                                   \
        const int check_c_ = class_of(call);                                               \
        CHECK(check_c_ == class_of(expected), "%s gave class %d, not %s", #call, check_c_, \
              #expected);                                                                  \
    } while (0)
#define CHECK_MPI(call) CHECK_CLASS(call, MPI_SUCCESS)

static inline const char *test_path(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("TUTTI_TEST_DIR"), name);
    return path;
}

static inline MPI_File test_open(const char *name, int amode) {
    MPI_File fh = MPI_FILE_NULL;
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, test_path(name), amode, MPI_INFO_NULL, &fh));
    return fh;
}

/* Return the number of elements of a status. */
static inline int count_of(const MPI_Status *status, MPI_Datatype type) {
    int n = -1;
    MPI_Get_count(status, type, &n);
    return n;
}

static inline MPI_Offset position_of(MPI_File fh) {
    MPI_Offset at = -1;
    CHECK_MPI(MPI_File_get_position(fh, &at));
    return at;
}

static inline MPI_Offset shared_of(MPI_File fh) {
    MPI_Offset at = -1;
    CHECK_MPI(MPI_File_get_position_shared(fh, &at));
    return at;
}

static inline MPI_Offset size_of(MPI_File fh) {
    MPI_Offset bytes = -1;
    CHECK_MPI(MPI_File_get_size(fh, &bytes));
    return bytes;
}

static inline void test_begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int test_end(void) {
    MPI_Finalize();
    return check_done();
}

#endif
