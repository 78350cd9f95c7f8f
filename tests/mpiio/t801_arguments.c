/* TEST ranks=3 timeout=60 preload=mpiio */
/* Calls with wrong arguments return the error class of the MPI standard: independent calls only on the rank with the
 * wrong argument; in collective calls no rank waits forever, even if only one rank has wrong arguments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

static char buf[64];

/* One rank passes a wrong argument to a collective call: this rank gets the expected error class, and all other ranks
 * also get an error. */
#define ONE_RANK(is_wrong, right, wrong, expected)           \
    do {                                                     \
        const int code_ = (is_wrong) ? (wrong) : (right);    \
        CHECK(class_of(code_) != MPI_SUCCESS, "%s", #wrong); \
        if (is_wrong) CHECK_CLASS(code_, expected);          \
    } while (0)

static void null_handle(void) {
    MPI_File fh = MPI_FILE_NULL;
    MPI_Offset n;
    MPI_Request r;
    CHECK_CLASS(MPI_File_write_at(fh, 0, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_read_all(fh, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_iwrite(fh, buf, 1, MPI_BYTE, &r), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_get_size(fh, &n), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_sync(fh), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_close(&fh), MPI_ERR_FILE);
}

/* Test a copy of a closed handle, and a handle that is used again for another file. */
static void closed_handle(void) {
    MPI_File fh = test_open("closed", MPI_MODE_CREATE | MPI_MODE_RDWR), copy = fh;
    CHECK_MPI(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL, "the handle stays");
    CHECK_CLASS(MPI_File_write_at(copy, 0, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_view(copy, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
                MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_close(&copy), MPI_ERR_FILE);
}

static void check_independent(MPI_File fh) {
    MPI_Datatype pair, huge;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Offset n = -1;
    MPI_Type_contiguous(2, MPI_INT, &pair); /* not committed */
    MPI_Type_vector(1 << 30, 1 << 20, 1 << 20, MPI_DOUBLE, &huge);
    MPI_Type_commit(&huge);
    CHECK_CLASS(MPI_File_write_at(fh, 0, buf, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_write_at(fh, -1, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write(fh, buf, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_write(fh, buf, 1, pair, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_write(fh, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_File_write(fh, buf, 1 << 30, huge, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_iread_at(fh, -5, buf, 1, MPI_BYTE, &r), MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL, "a request that was refused");
    CHECK_CLASS(MPI_File_iwrite_shared(fh, buf, -1, MPI_BYTE, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(fh, 0, 4711), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_get_byte_offset(fh, -1, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write_at(fh, INT64_MAX - 1, buf, 10, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_EQ(position_of(fh), 0); /* failed calls do not move the pointer */
    CHECK_MPI(MPI_File_write(fh, NULL, 0, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Type_free(&pair);
    MPI_Type_free(&huge);
}

static void check_collective(MPI_File fh) {
    const int last = rank == size - 1;
    MPI_Status status;
    MPI_Request r;
    ONE_RANK(last, MPI_File_write_at_all(fh, 0, buf, 8, MPI_BYTE, &status),
             MPI_File_write_at_all(fh, 0, buf, -1, MPI_BYTE, &status), MPI_ERR_COUNT);
    ONE_RANK(last, MPI_File_read_all(fh, buf, 8, MPI_BYTE, &status),
             MPI_File_read_all(fh, buf, 8, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    ONE_RANK(last, MPI_File_write_ordered(fh, buf, 8, MPI_BYTE, &status),
             MPI_File_write_ordered(fh, buf, -8, MPI_BYTE, &status), MPI_ERR_COUNT);
    ONE_RANK(last, MPI_File_write_all_begin(fh, buf, 8, MPI_BYTE),
             MPI_File_write_all_begin(fh, NULL, 8, MPI_BYTE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_File_write_all_end(fh, buf, &status), MPI_ERR_IO);
    CHECK_EQ(size_of(fh), 0);
    CHECK_EQ(position_of(fh), 0);

    int code = MPI_File_iwrite_at_all(fh, last ? -1 : 0, buf, 8, MPI_BYTE, &r);
    CHECK_EQ(class_of(code), last ? MPI_ERR_ARG : MPI_SUCCESS);
    if (!last) CHECK_CLASS(MPI_Wait(&r, &status), MPI_ERR_ARG);
    CHECK_MPI(MPI_File_write_at_all(fh, 8 * rank, buf, 8, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 8);
}

static void check_views(MPI_File fh) {
    const int last = rank == size - 1;
    MPI_Datatype three, backwards;
    const int lengths[] = {1, 1}, places[] = {4, 0};
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards);
#define VIEW(where, etype, filetype, name) \
    MPI_File_set_view(fh, where, etype, filetype, name, MPI_INFO_NULL)
    CHECK_CLASS(VIEW(-1, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    CHECK_CLASS(VIEW(MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    CHECK_CLASS(VIEW(0, MPI_BYTE, three, "native"), MPI_ERR_TYPE); /* not committed */
    CHECK_CLASS(VIEW(0, MPI_DATATYPE_NULL, MPI_BYTE, "native"), MPI_ERR_TYPE);
    MPI_Type_commit(&three);
    MPI_Type_commit(&backwards);
    CHECK_CLASS(VIEW(0, MPI_INT, three, "native"), MPI_ERR_ARG);
    CHECK_CLASS(VIEW(0, MPI_INT, backwards, "native"), MPI_ERR_IO);
    CHECK_CLASS(VIEW(0, backwards, backwards, "native"), MPI_ERR_IO);
    CHECK_CLASS(VIEW(0, MPI_BYTE, MPI_BYTE, "martian"), MPI_ERR_UNSUPPORTED_DATAREP);
    ONE_RANK(last, VIEW(0, MPI_INT, MPI_INT, "native"), VIEW(-1, MPI_INT, MPI_INT, "native"),
             MPI_ERR_ARG);
    if (size > 1) {
        CHECK_CLASS(VIEW(0, last ? MPI_INT : MPI_BYTE, MPI_INT, "native"), MPI_ERR_NOT_SAME);
        CHECK_CLASS(VIEW(0, MPI_INT, MPI_INT, last ? "native" : "internal"), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_seek_shared(fh, last, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_size(fh, 100 + last), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_preallocate(fh, 100 + last), MPI_ERR_NOT_SAME);
        ONE_RANK(last, MPI_File_set_size(fh, 100), MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    }
    CHECK_CLASS(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    MPI_Type_free(&three);
    MPI_Type_free(&backwards);
}

static void split_text(MPI_File fh) {
    MPI_Status status;
    CHECK_CLASS(MPI_File_read_at_all_end(fh, buf, &status), MPI_ERR_IO);
    CHECK_MPI(MPI_File_write_at_all_begin(fh, 8 * rank, buf, 8, MPI_BYTE));
    CHECK_CLASS(MPI_File_write_all_begin(fh, buf, 8, MPI_BYTE), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_all_end(fh, buf, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_at_all_end(fh, buf, &status), MPI_ERR_IO);
    CHECK_MPI(MPI_File_write_at_all_end(fh, buf, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 8);
    CHECK_CLASS(MPI_File_write_at_all_end(fh, buf, &status), MPI_ERR_IO);
}

static MPI_Datarep_extent_function extent_fn;
static int extent_fn(MPI_Datatype type, MPI_Aint *extent, void *state) {
    (void)type, (void)state;
    *extent = 1;
    return MPI_SUCCESS;
}

static void check_representations(MPI_File fh) {
    CHECK_CLASS(MPI_Register_datarep("native", NULL, NULL, extent_fn, NULL), MPI_ERR_DUP_DATAREP);
    CHECK_MPI(MPI_Register_datarep("martian", NULL, NULL, extent_fn, NULL));
    CHECK_CLASS(MPI_Register_datarep("martian", NULL, NULL, extent_fn, NULL), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "martian", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    null_handle();
    closed_handle();
    MPI_File fh = test_open("arguments", MPI_MODE_CREATE | MPI_MODE_RDWR);
    check_independent(fh);
    check_collective(fh);
    check_views(fh);
    split_text(fh);
    check_representations(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
