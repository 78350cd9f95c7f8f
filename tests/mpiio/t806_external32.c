/* TEST ranks=3 timeout=60 preload=mpiio */
/* The representation external32: big-endian numbers of fixed sizes, through any view and any memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "mpi_check.h"

static void view(MPI_File fh, MPI_Offset where, MPI_Datatype etype, MPI_Datatype filetype,
                 const char *name) {
    CHECK_MPI(MPI_File_set_view(fh, where, etype, filetype, name, MPI_INFO_NULL));
}

/* What is in the file, byte by byte. */
static void bytes_are(MPI_File fh, MPI_Offset where, const unsigned char *expected, int n) {
    unsigned char found[64];
    view(fh, 0, MPI_BYTE, MPI_BYTE, "native");
    CHECK_MPI(MPI_File_read_at(fh, where, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) CHECK(found[i] == expected[i], "byte %d is %02x", i, found[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void numbers(MPI_File fh) {
    const int out[2] = {0x01020304, -2};
    const double x = 1.0;
    const unsigned char ints[] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe};
    const unsigned char one[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0};
    MPI_Status status;
    int in[2] = {0, 0};
    view(fh, 0, MPI_INT, MPI_INT, "external32");
    CHECK_MPI(MPI_File_write_at_all(fh, 2 * rank, out, 2, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK_MPI(MPI_File_read_at_all(fh, 2 * rank, in, 2, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK(in[0] == out[0] && in[1] == out[1], "%x %x", in[0], in[1]);
    bytes_are(fh, 8 * rank, ints, 8);
    view(fh, 1000, MPI_DOUBLE, MPI_DOUBLE, "external32");
    CHECK_MPI(MPI_File_write_at(fh, rank, &x, 1, MPI_DOUBLE, &status));
    bytes_are(fh, 1000 + 8 * rank, one, 8);
}

/* A long takes four bytes in the file: views and extents count so, statuses in the program's longs. */
static void longs(MPI_File fh) {
    const long out[] = {1, 2, 3, 4, 5, 6};
    const unsigned char two[] = {0, 0, 0, 2};
    long in[7] = {0};
    MPI_Aint extent = -1;
    MPI_Offset at = -1;
    MPI_Datatype every_other;
    MPI_Status status;
    MPI_Type_create_resized(MPI_LONG, 0, 8, &every_other); /* one of two places, in the file */
    MPI_Type_commit(&every_other);
    view(fh, 2000 + 4096 * rank, MPI_LONG, every_other, "external32");
    CHECK_MPI(MPI_File_get_type_extent(fh, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    CHECK_MPI(MPI_File_get_byte_offset(fh, 3, &at));
    CHECK_EQ(at, 2000 + 4096 * rank + 24);
    CHECK_MPI(MPI_File_write_all(fh, out, 6, MPI_LONG, &status));
    CHECK_EQ(count_of(&status, MPI_LONG), 6);
    CHECK_EQ(position_of(fh), 6);
    CHECK_MPI(MPI_File_sync(fh));
    CHECK_MPI(MPI_File_read_at(fh, 1, in, 4, MPI_LONG, &status));
    for (int i = 0; i < 4; i++) CHECK_EQ(in[i], out[i + 1]);
    bytes_are(fh, 2000 + 4096 * rank + 8, two, 4);
    MPI_Type_free(&every_other);
}

/* Memory with gaps, non-blocking and split calls, the end of the file in the middle of a request. */
static void ways(MPI_File fh) {
    int out[12], in[12];
    MPI_Datatype comb;
    MPI_Status status;
    MPI_Request r;
    for (int i = 0; i < 12; i++) out[i] = 100 * rank + i;
    MPI_Type_vector(4, 1, 3, MPI_INT, &comb);
    MPI_Type_commit(&comb);
    view(fh, 0, MPI_INT, MPI_INT, "external32");
    CHECK_MPI(MPI_File_set_size(fh, 0));
    CHECK_MPI(MPI_File_iwrite_at_all(fh, 4 * rank, out, 1, comb, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, comb), 1);
    CHECK_EQ(size_of(fh), 16 * size);
    memset(in, 0, sizeof in);
    CHECK_MPI(MPI_File_read_at_all_begin(fh, 4 * rank, in, 1, comb));
    CHECK_MPI(MPI_File_read_at_all_end(fh, in, &status));
    for (int i = 0; i < 12; i++) CHECK_EQ(in[i], i % 3 == 0 ? out[i] : 0);
    memset(in, 0, sizeof in);
    CHECK_MPI(MPI_File_iread_at(fh, 4 * size - 3, in, 12, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 3);
    CHECK_EQ(in[2], 100 * (size - 1) + 9);
    MPI_Type_free(&comb);
}

/* Numbers of several kinds and sizes in one type; and types that cannot be converted are refused. */
static void mixed(MPI_File fh) {
    typedef struct {
        int i;
        long l[2];
        char c;
    } record;
    const unsigned char one[] = {0, 0, 0, 7, 0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 'x'};
    const int lengths[] = {1, 2, 1};
    const MPI_Aint places[] = {offsetof(record, i), offsetof(record, l), offsetof(record, c)};
    const MPI_Datatype kinds[] = {MPI_INT, MPI_LONG, MPI_CHAR};
    record out[3], in[3];
    MPI_Datatype type, sized;
    MPI_Status status;
    MPI_Type_create_struct(3, lengths, places, kinds, &type);
    MPI_Type_create_resized(type, 0, sizeof(record), &sized);
    MPI_Type_commit(&sized);
    for (int k = 0; k < 3; k++) out[k] = (record){7, {8, -2}, 'x'};
    memset(in, 0, sizeof in);
    view(fh, 0, MPI_BYTE, MPI_BYTE, "external32");
    CHECK_MPI(MPI_File_write_at_all(fh, 39 * rank, out, 3, sized, &status));
    CHECK_EQ(count_of(&status, sized), 3);
    CHECK_MPI(MPI_File_read_at_all(fh, 39 * rank, in, 3, sized, &status));
    CHECK_EQ(count_of(&status, sized), 3);
    for (int k = 0; k < 3; k++)
        CHECK(in[k].i == 7 && in[k].l[0] == 8 && in[k].l[1] == -2 && in[k].c == 'x', "record %d",
              k);
    for (int k = 0; k < 3; k++) bytes_are(fh, 39 * rank + 13 * k, one, 13);
    MPI_Type_free(&type);
    MPI_Type_free(&sized);
#ifdef MPICH_VERSION
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_WCHAR, MPI_WCHAR, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_2INT, MPI_2INT, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
#endif
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    MPI_File fh = test_open("external32", MPI_MODE_CREATE | MPI_MODE_RDWR);
    numbers(fh);
    longs(fh);
    ways(fh);
    mixed(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
