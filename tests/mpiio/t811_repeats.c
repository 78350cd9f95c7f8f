/* TEST ranks=2 timeout=60 preload=mpiio */
/* Views that contain a byte several times are allowed if the file is only read, and refused if it can be written.
 * Interleaved tiles without common bytes are allowed in both cases.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

enum { BYTES = 256 };

static void file_make(void) {
    char all[BYTES];
    MPI_File fh = test_open("repeats", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < BYTES; i++) all[i] = (char)i;
    CHECK_MPI(
        MPI_File_write_at_all(fh, 0, all, rank == 0 ? BYTES : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_close(&fh));
}

/* A datatype of `n` pieces (bytes, displacement) with an extent; place_of() returns the offset of the p-th byte of a
 * view with this datatype. */
typedef struct {
    int n, bytes[4], place[4], extent;
} shape;

static MPI_Datatype type_of(const shape *s) {
    MPI_Datatype type, sized;
    MPI_Type_indexed(s->n, s->bytes, s->place, MPI_BYTE, &type);
    MPI_Type_create_resized(type, 0, s->extent, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&type);
    return sized;
}

static int place_of(const shape *s, int p) {
    int size_ = 0, k = 0;
    for (int i = 0; i < s->n; i++) size_ += s->bytes[i];
    const int tile = p / size_;
    for (p %= size_; p >= s->bytes[k]; k++) p -= s->bytes[k];
    return tile * s->extent + s->place[k] + p;
}

static void check_reads(MPI_File fh, const shape *s, MPI_Offset displacement) {
    char in[200];
    MPI_Datatype type = type_of(s);
    MPI_Status status;
    MPI_Offset at = -1;
    CHECK_MPI(MPI_File_set_view(fh, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL));
    int end = 0;
    while (displacement + place_of(s, end) < BYTES) end++;
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_END));
    CHECK_EQ(position_of(fh), end);
    for (int round = 0; round < 12; round++) {
        const int from = (int)rnd(60), n = 1 + (int)rnd(100);
        int there = 0;
        memset(in, 0, sizeof in);
        while (there < n && displacement + place_of(s, from + there) < BYTES) there++;
        if (round % 2)
            CHECK_MPI(MPI_File_read_at(fh, from, in, n, MPI_BYTE, &status));
        else
            CHECK_MPI(MPI_File_read_at_all(fh, from, in, n, MPI_BYTE, &status));
        CHECK_EQ(count_of(&status, MPI_BYTE), there);
        for (int i = 0; i < there; i++)
            CHECK_EQ(in[i], (char)(displacement + place_of(s, from + i)));
        CHECK_MPI(MPI_File_get_byte_offset(fh, from, &at));
        CHECK_EQ(at, displacement + place_of(s, from));
    }
    MPI_Type_free(&type);
}

/* Read into memory with gaps, and by a nonblocking call. */
static void read_with_gaps(MPI_File fh, const shape *s) {
    char in[40] = {0};
    MPI_Datatype type = type_of(s), comb;
    MPI_Request r;
    MPI_Type_vector(10, 2, 4, MPI_BYTE, &comb);
    MPI_Type_commit(&comb);
    CHECK_MPI(MPI_File_set_view(fh, 3, MPI_BYTE, type, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_iread_at_all(fh, 1, in, 1, comb, &r));
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < 40; i++)
        CHECK_EQ(in[i], i % 4 < 2 ? 3 + place_of(s, 1 + i / 4 * 2 + i % 4) : 0);
    MPI_Type_free(&type);
    MPI_Type_free(&comb);
}

/* A view with overlapping tiles can be used for writes within one tile. */
static void check_refused(MPI_File fh, const shape *s, int only_tiles) {
    char out[18] = "abcdefghijklmnopq";
    MPI_Datatype type = type_of(s);
    const int code = MPI_File_set_view(fh, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    CHECK_EQ(class_of(code), only_tiles ? MPI_SUCCESS : MPI_ERR_IO);
    if (only_tiles) {
        CHECK_MPI(MPI_File_write_at(fh, 9, out, 9, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_CLASS(MPI_File_write_at(fh, 0, out, 18, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    }
    MPI_Type_free(&type);
}

/* The view is the columns of a matrix, one per tile; each rank writes and reads half of the columns. */
static void check_columns(MPI_File fh) {
    enum { ROWS = 4, COLUMNS = 8, MINE = ROWS * COLUMNS / 2 };
    const shape column = {4, {1, 1, 1, 1}, {0, COLUMNS, 2 * COLUMNS, 3 * COLUMNS}, 1};
    char out[2 * MINE], in[2 * MINE] = {0}, matrix[ROWS * COLUMNS] = {0};
    MPI_Datatype type = type_of(&column), comb;
    MPI_Request r;
    MPI_Status status;
    MPI_Type_vector(MINE, 1, 2, MPI_BYTE, &comb);
    MPI_Type_commit(&comb);
    for (int i = 0; i < 2 * MINE; i++) out[i] = (char)(100 * rank + i / 2);
    CHECK_MPI(MPI_File_set_view(fh, rank * 4, MPI_BYTE, type, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_write_at(fh, 0, out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_at_all(fh, 1, out, 1, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 1);
    CHECK_MPI(MPI_File_iwrite_at_all(fh, 0, out, 1, comb, &r));
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at_all(fh, 0, in, 16, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 16);
    for (int i = 0; i < 16; i++) CHECK_EQ(in[i], (char)(100 * rank + i));
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_read_at_all(fh, 0, matrix, sizeof matrix, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < (int)sizeof matrix && size == 2; i++) {
        const int row = i / COLUMNS, col = i % COLUMNS;
        CHECK_EQ(matrix[i], (char)(100 * (col / 4) + col % 4 * 4 + row));
    }
    MPI_Type_free(&type);
    MPI_Type_free(&comb);
}

int main(int argc, char **argv) {
    const shape shapes[] = {{2, {10, 10}, {0, 5}, 20},           /* pieces overlap */
                            {3, {4, 4, 4}, {2, 2, 2}, 8},        /* the same piece three times */
                            {2, {3, 6}, {0, 7}, 5},              /* tiles overlap */
                            {4, {1, 8, 1, 3}, {1, 1, 4, 4}, 16}, /* pieces within another piece */
                            {3, {4, 3, 1}, {0, 3, 7}, 8}}; /* one byte twice, one byte not at all */
    const shape backwards = {2, {4, 4}, {8, 0}, 16};
    test_begin(&argc, &argv);
    check_seed(11);
    file_make();
    MPI_File fh = test_open("repeats", MPI_MODE_RDONLY);
    for (int i = 0; i < 5; i++) {
        check_reads(fh, &shapes[i], 0);
        check_reads(fh, &shapes[i], 100);
        read_with_gaps(fh, &shapes[i]);
    }
    MPI_Datatype type = type_of(&backwards);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
    MPI_Type_free(&type);
    CHECK_MPI(MPI_File_close(&fh));
    fh = test_open("repeats", MPI_MODE_RDWR);
    for (int i = 0; i < 5; i++) check_refused(fh, &shapes[i], i == 2);
    check_columns(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
