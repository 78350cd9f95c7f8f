/* TEST ranks=3 timeout=60 preload=mpiio */
/* Views and positions: results of get_view, byte offsets, extents, seeks, and counts at the end of a file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

enum { COMMON = MPI_MODE_CREATE | MPI_MODE_RDWR };

static void default_view(MPI_File fh) {
    MPI_Offset displacement = -1;
    MPI_Datatype etype, filetype;
    char name[MPI_MAX_DATAREP_STRING];
    CHECK_MPI(MPI_File_get_view(fh, &displacement, &etype, &filetype, name));
    CHECK_EQ(displacement, 0);
    CHECK(etype == MPI_BYTE && filetype == MPI_BYTE, "the default view is of bytes");
    CHECK(strcmp(name, "native") == 0, "'%s'", name);
}

/* The datatypes returned by get_view can be used and freed, also after the program has freed its datatypes. */
static void view_back(MPI_File fh) {
    MPI_Datatype pair, comb, etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    MPI_Offset displacement = -1;
    MPI_Aint lb = -1, extent = -1;
    int bytes = -1;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(3, 1, 4, pair, &comb);
    MPI_Type_commit(&comb);
    CHECK_MPI(MPI_File_set_view(fh, 24, pair, comb, "internal", MPI_INFO_NULL));
    MPI_Type_free(&comb);
    MPI_Type_free(&pair);
    CHECK_MPI(MPI_File_get_view(fh, &displacement, &etype, &filetype, name));
    CHECK_EQ(displacement, 24);
    CHECK(strcmp(name, "internal") == 0, "'%s'", name);
    MPI_Type_size(etype, &bytes);
    CHECK_EQ(bytes, 8);
    MPI_Type_size(filetype, &bytes);
    CHECK_EQ(bytes, 24);
    MPI_Type_get_extent(filetype, &lb, &extent);
    CHECK_EQ(extent, (2 * 4 + 1) * 8);
    CHECK_MPI(MPI_File_set_view(fh, 8, etype, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
}

/* Test byte offsets in the view set by view_back(), which begins at byte 8: pairs 0, 4 and 8 of
 * every 9 pairs. */
static void check_offsets(MPI_File fh) {
    MPI_Offset at = -1;
    MPI_Aint extent = -1;
    for (int i = 0; i < 7; i++) {
        CHECK_MPI(MPI_File_get_byte_offset(fh, i, &at));
        CHECK_EQ(at, 8 + 8 * (9 * (i / 3) + 4 * (i % 3)));
    }
    CHECK_MPI(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, sizeof(double));
    CHECK_MPI(MPI_File_seek(fh, 5, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_seek(fh, -2, MPI_SEEK_CUR));
    CHECK_EQ(position_of(fh), 3);
    CHECK_CLASS(MPI_File_seek(fh, -4, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_EQ(position_of(fh), 3);
}

/* Test SEEK_END in the same view, which refers to the first pair that begins at or after the end of
 * the file. */
static void check_ends(MPI_File fh) {
    const struct {
        int bytes, end;
    } table[] = {{0, 0}, {8, 0}, {9, 1}, {16, 1}, {40, 1}, {41, 2}, {80, 3}, {81, 4}, {152, 6}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        CHECK_MPI(MPI_File_set_size(fh, table[i].bytes));
        CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_END));
        CHECK(position_of(fh) == table[i].end, "%d bytes: %lld, not %d", table[i].bytes,
              (long long)position_of(fh), table[i].end);
        CHECK_MPI(MPI_File_seek_shared(fh, 1, MPI_SEEK_END));
        CHECK_EQ(shared_of(fh), table[i].end + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Test reads beyond the end of the file, which has ten ints. */
static void short_reads(MPI_File fh) {
    int in[20];
    MPI_Status status;
    MPI_Request r;
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_set_size(fh, 40));
    CHECK_MPI(MPI_File_read_at(fh, 4, in, 20, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 6);
    CHECK_MPI(MPI_File_read_at_all(fh, 8, in, 20, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK_MPI(MPI_File_iread_at(fh, 9, in, 20, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 1);
    CHECK_MPI(MPI_File_iread_at_all(fh, 7, in, 20, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 3);
    CHECK_MPI(MPI_File_read_all(fh, in, 20, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 10);
    CHECK_EQ(position_of(fh), 10);
    CHECK_MPI(MPI_File_read(fh, in, 20, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 0);
    CHECK_EQ(position_of(fh), 10);
    CHECK_MPI(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_ordered(fh, in, 4, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), rank < 2 ? 4 : rank == 2 ? 2 : 0);
}

/* Test datatypes and views without bytes. */
static void check_empty_types(MPI_File fh) {
    MPI_Datatype none;
    MPI_Status status;
    char byte = 0;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    CHECK_MPI(MPI_File_write_all(fh, &byte, 5, none, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 0);
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_BYTE, none, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_write_all(fh, NULL, 0, MPI_BYTE, &status));
    CHECK_CLASS(MPI_File_write_all(fh, &byte, 1, MPI_BYTE, &status), MPI_ERR_IO);
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_END));
    CHECK_EQ(position_of(fh), 0);
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&none);
}

/* Test memory with gaps, relative to MPI_BOTTOM; statuses count elements, not bytes. */
static void check_memory_gaps(MPI_File fh) {
    struct {
        double x;
        char gap[24];
        int i;
    } from[4], to[4];
    MPI_Datatype cell, cells, type;
    MPI_Aint place[2];
    const int lengths[] = {1, 1};
    MPI_Status status;
    int elements = -1;
    for (int k = 0; k < 2; k++) {
        void *base = k ? (void *)to : (void *)from;
        MPI_Get_address(base, &place[0]);
        place[1] = place[0] + (MPI_Aint)((char *)&from[0].i - (char *)from);
        const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
        MPI_Type_create_struct(2, lengths, place, parts, &cell);
        MPI_Type_create_resized(cell, place[0], sizeof *from, &cells);
        MPI_Type_contiguous(4, cells, &type);
        MPI_Type_commit(&type);
        memset(to, 7, sizeof to);
        for (int i = 0; i < 4; i++) from[i].x = i + 0.5 * rank, from[i].i = 100 * rank + i;
        if (k == 0)
            CHECK_MPI(MPI_File_write_at_all(fh, 48 * rank, MPI_BOTTOM, 1, type, &status));
        else
            CHECK_MPI(MPI_File_read_at(fh, 48 * rank, MPI_BOTTOM, 1, type, &status));
        CHECK_EQ(count_of(&status, type), 1);
        MPI_Get_elements(&status, type, &elements);
        CHECK_EQ(elements, 8);
        MPI_Type_free(&type);
        MPI_Type_free(&cells);
        MPI_Type_free(&cell);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(to[i].x == i + 0.5 * rank, "x");
        CHECK_EQ(to[i].i, 100 * rank + i);
        CHECK_EQ(to[i].gap[5], 7);
    }
}

static void whole_file(MPI_File fh) {
    MPI_Group group, world;
    int same = -1, flag = -1;
    CHECK_MPI(MPI_File_get_group(fh, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_MPI(MPI_File_set_size(fh, 5000));
    CHECK_EQ(size_of(fh), 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_preallocate(fh, 3000));
    CHECK_EQ(size_of(fh), 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_preallocate(fh, 10000));
    CHECK_EQ(size_of(fh), 10000);
    CHECK_MPI(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQ(flag, 0);
    CHECK_MPI(MPI_File_set_atomicity(fh, 1));
    CHECK_MPI(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQ(flag, 1);
    CHECK_MPI(MPI_File_set_atomicity(fh, 0));
    CHECK_MPI(MPI_File_sync(fh));
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    MPI_File fh = test_open("views", COMMON);
    default_view(fh);
    view_back(fh);
    check_offsets(fh);
    check_ends(fh);
    short_reads(fh);
    check_empty_types(fh);
    check_memory_gaps(fh);
    whole_file(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
