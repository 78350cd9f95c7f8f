/* TEST ranks=1,2,5 timeout=60 own=1 preload=mpiio */
/* Every data access call once, on a view of strided blocks: written data is read back, and counts and
 * positions are exact.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <unistd.h>

#include "check.h"

enum { N = 60, BLOCK = 5 }; /* number of ints per rank and per block */

static int rank, size;
static char path[4096];
static int out[N], in[N];

static int value(int i) {
    return 1000 * (rank + 1) + i;
}

static void view_set(MPI_File fh) {
    MPI_Datatype row, filetype;
    MPI_Type_vector(1, BLOCK, BLOCK, MPI_INT, &row);
    MPI_Type_create_resized(row, 0, (MPI_Aint)sizeof(int) * BLOCK * size, &filetype);
    MPI_Type_commit(&filetype);
    CHECK_EQ(MPI_File_set_view(fh, (MPI_Offset)sizeof(int) * BLOCK * rank, MPI_INT, filetype,
                               "native", MPI_INFO_NULL),
             MPI_SUCCESS);
    MPI_Type_free(&filetype);
    MPI_Type_free(&row);
}

static void check_count(const MPI_Status *status, int n) {
    int ints = -1, elements = -1;
    MPI_Get_count(status, MPI_INT, &ints);
    MPI_Get_elements(status, MPI_INT, &elements);
    CHECK_EQ(ints, n);
    CHECK_EQ(elements, n);
}

static void check_data(const char *what) {
    check_where(what);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], out[i]);
    memset(in, 0, sizeof in);
    check_where("");
}

static void renew_data(int salt) {
    for (int i = 0; i < N; i++) out[i] = value(i) + 100000 * salt;
}

/* Check the position of the individual pointer. */
static void check_position(MPI_File fh, MPI_Offset expected) {
    MPI_Offset now = -1;
    MPI_File_get_position(fh, &now);
    CHECK_EQ(now, expected);
}

#define CHECK_MPI(call) CHECK_EQ(call, MPI_SUCCESS)

static void check_blocking(MPI_File fh) {
    MPI_Status status;
    renew_data(1);
    CHECK_MPI(MPI_File_write_at_all(fh, 0, out, N, MPI_INT, &status));
    check_count(&status, N);
    CHECK_MPI(MPI_File_read_at_all(fh, 0, in, N, MPI_INT, &status));
    check_count(&status, N);
    check_data("at_all");
    renew_data(2);
    CHECK_MPI(MPI_File_write_at(fh, 0, out, N, MPI_INT, &status));
    check_count(&status, N);
    CHECK_MPI(MPI_File_read_at(fh, 0, in, N, MPI_INT, MPI_STATUS_IGNORE));
    check_data("at");
    renew_data(3);
    check_position(fh, 0);
    CHECK_MPI(MPI_File_write_all(fh, out, 7, MPI_INT, &status));
    check_position(fh, 7);
    CHECK_MPI(MPI_File_write(fh, out + 7, N - 7, MPI_INT, &status));
    check_count(&status, N - 7);
    check_position(fh, N);
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read(fh, in, 11, MPI_INT, &status));
    check_position(fh, 11);
    CHECK_MPI(MPI_File_read_all(fh, in + 11, N - 11, MPI_INT, &status));
    check_data("pointer");
}

static void split_text(MPI_File fh) {
    MPI_Status status;
    renew_data(4);
    CHECK_MPI(MPI_File_write_at_all_begin(fh, 0, out, N, MPI_INT));
    CHECK_MPI(MPI_File_write_at_all_end(fh, out, &status));
    check_count(&status, N);
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_all_begin(fh, in, N, MPI_INT));
    CHECK_MPI(MPI_File_read_all_end(fh, in, &status));
    check_count(&status, N);
    check_position(fh, N);
    check_data("split");
}

static void check_requests(MPI_File fh) {
    MPI_Request r[2];
    MPI_Status status[2];
    renew_data(5);
    CHECK_MPI(MPI_File_iwrite_at_all(fh, 0, out, N / 2, MPI_INT, &r[0]));
    CHECK_MPI(MPI_File_iwrite_at(fh, N / 2, out + N / 2, N - N / 2, MPI_INT, &r[1]));
    CHECK_MPI(MPI_Waitall(2, r, status));
    check_count(&status[0], N / 2);
    check_count(&status[1], N - N / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_iread_all(fh, in, 9, MPI_INT, &r[0]));
    CHECK_MPI(MPI_File_iread(fh, in + 9, N - 9, MPI_INT, &r[1]));
    check_position(fh, N);
    CHECK_MPI(MPI_Waitall(2, r, status));
    check_count(&status[1], N - 9);
    check_data("requests");
}

/* Ordered calls in the default view: the data of each rank follows the data of lower ranks. */
static void check_ordered(MPI_File fh) {
    MPI_Offset where = -1;
    MPI_Status status;
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    renew_data(6);
    CHECK_MPI(MPI_File_write_ordered(fh, out, N, MPI_INT, &status));
    check_count(&status, N);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_get_position_shared(fh, &where));
    CHECK_EQ(where, (MPI_Offset)N * size);
    CHECK_MPI(MPI_File_read_at_all(fh, (MPI_Offset)N * rank, in, N, MPI_INT, &status));
    check_data("ordered");
    CHECK_MPI(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_ordered_begin(fh, in, N, MPI_INT));
    CHECK_MPI(MPI_File_read_ordered_end(fh, in, &status));
    check_data("ordered, split");
}

/* Writes with the shared pointer can have any order: all values are in the file, and the values of each rank
 * are contiguous. */
static void check_shared(MPI_File fh) {
    int all[N];
    MPI_Request r;
    CHECK_MPI(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    renew_data(7);
    CHECK_MPI(MPI_File_write_shared(fh, out, N / 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite_shared(fh, out + N / 2, N - N / 2, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    int found = 0;
    for (int k = 0; k < size; k++) {
        CHECK_MPI(MPI_File_read_at(fh, (MPI_Offset)k * N, all, N, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++) found += all[i] >= out[0] && all[i] <= out[N - 1];
    }
    CHECK_EQ(found, N);
}

int main(int argc, char **argv) {
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/smoke", getenv("TUTTI_TEST_DIR"));
    CHECK_MPI(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    view_set(fh);
    check_blocking(fh);
    split_text(fh);
    check_requests(fh);
    check_ordered(fh);
    check_shared(fh);
    CHECK_MPI(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL, "close leaves a handle");
    MPI_Finalize();
    return check_done();
}
