/* TEST ranks=1,4 timeout=60 preload=mpiio */
/* Behaviour that programs rely on and that test suites of MPI libraries check: consecutive queries on one file, zero
 * counts, hundreds of requests, large offsets, several handles and communicators, PMPI names, sequential files, hints.
 * MPICH and Open MPI behave in the same way, except for cases that TUTTI_TEST_NATIVE omits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>
#include "mpi_check.h"

enum { MODE = MPI_MODE_CREATE | MPI_MODE_RDWR, INTS = 1000 };

static int native;
static int data[INTS], seen[INTS];

static void fill_values(int salt) {
    for (int i = 0; i < INTS; i++) data[i] = salt * 100000 + rank * INTS + i, seen[i] = -1;
}

static void check_equal(int n, const char *what) {
    CHECK(memcmp(data, seen, sizeof *data * (size_t)n) == 0, "%s", what);
    memset(seen, 0x55, sizeof seen);
}

static void meet_ranks(MPI_File fh) {
    CHECK_MPI(MPI_File_sync(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_sync(fh));
}

/* ---- queries, one after the other, by all ranks on one file */

static void whole_file(MPI_File fh) {
    int amode = 0, atomic = -1, n = 0, same_group = 0;
    MPI_Group group, world;
    CHECK_MPI(MPI_File_get_amode(fh, &amode));
    CHECK_EQ(amode, MODE);
    CHECK_MPI(MPI_File_get_atomicity(fh, &atomic));
    CHECK_EQ(atomic, 0);
    CHECK_MPI(MPI_File_get_group(fh, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &n);
    MPI_Group_compare(group, world, &same_group);
    CHECK(same_group == MPI_IDENT && n == size, "the group of the file");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_MPI(MPI_File_set_size(fh, 5000));
    CHECK_EQ(size_of(fh), 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    /* the result of Open MPI's own MPI-IO differs */
    for (int bytes = 4000; bytes <= 6000 && !native; bytes += 2000) {
        CHECK_MPI(MPI_File_preallocate(fh, bytes));
        CHECK_EQ(size_of(fh), bytes > 5000 ? bytes : 5000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_MPI(MPI_File_set_size(fh, 1060 * 4));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Test a view that begins at byte 1000 and has ten ints followed by a hole of ten ints. */
static void through_holes(MPI_File fh) {
    MPI_Datatype ten, filetype, etype, back;
    MPI_Offset offset = -1, disp = -1;
    char rep[MPI_MAX_DATAREP_STRING] = "";
    MPI_Type_contiguous(10, MPI_INT, &ten);
    MPI_Type_create_resized(ten, 0, 20 * 4, &filetype);
    MPI_Type_commit(&filetype);
    CHECK_MPI(MPI_File_set_view(fh, 1000, MPI_INT, filetype, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_get_view(fh, &disp, &etype, &back, rep));
    CHECK(disp == 1000 && strcmp(rep, "native") == 0 && etype == MPI_INT, "the view comes back");
    int bytes = 0;
    MPI_Aint lb, extent;
    MPI_Type_size(back, &bytes);
    MPI_Type_get_extent(back, &lb, &extent);
    CHECK(bytes == 40 && extent == 80, "the filetype comes back: %d, %ld", bytes, (long)extent);
    MPI_Type_free(&back);
    CHECK_MPI(MPI_File_get_byte_offset(fh, 10, &offset));
    CHECK_EQ(offset, 1000 + 80);
    CHECK_MPI(MPI_File_seek(fh, 10, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_seek(fh, 5, MPI_SEEK_CUR));
    CHECK_EQ(position_of(fh), 15);
    CHECK_MPI(MPI_File_get_byte_offset(fh, 15, &offset));
    CHECK_EQ(offset, 1000 + 80 + 20);
    if (!native) { /* the file has 4240 bytes, which are 40.5 tiles of the view, with 410 ints */
        CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_END));
        CHECK_EQ(position_of(fh), 410);
        CHECK_MPI(MPI_File_seek(fh, -10, MPI_SEEK_END));
        CHECK_EQ(position_of(fh), 400);
    }
    CHECK_MPI(MPI_File_seek_shared(fh, 30, MPI_SEEK_SET));
    CHECK_EQ(shared_of(fh), 30);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    CHECK_EQ(position_of(fh), 0);
    CHECK_EQ(shared_of(fh), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&ten);
    MPI_Type_free(&filetype);
}

static void test_questions(void) {
    MPI_File fh = test_open("questions", MODE);
    MPI_Aint extent = 0;
    whole_file(fh);
    through_holes(fh);
    CHECK_MPI(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, 8);
    CHECK_MPI(MPI_File_close(&fh));
    if (rank == 0) CHECK_MPI(MPI_File_delete(test_path("questions"), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(test_path("questions"), F_OK) != 0, "the file is gone");
}

/* ---- empty accesses: without a buffer, or only on some ranks */

static void test_nothing(void) {
    MPI_File fh = test_open("nothing", MODE);
    MPI_Status st;
    MPI_Request r;
    fill_values(1);
    CHECK_MPI(MPI_File_write_all(fh, NULL, 0, MPI_INT, &st));
    CHECK_EQ(count_of(&st, MPI_INT), 0);
    CHECK_MPI(MPI_File_read_all(fh, NULL, 0, MPI_INT, &st));
    CHECK_EQ(count_of(&st, MPI_INT), 0);
    CHECK_MPI(MPI_File_write_ordered(fh, data, 0, MPI_INT, &st));
    CHECK_EQ(count_of(&st, MPI_INT), 0);
    CHECK_MPI(MPI_File_iwrite_all(fh, NULL, 0, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &st));
    CHECK_EQ(size_of(fh), 0);
    meet_ranks(fh);
    CHECK_MPI(MPI_File_write_at_all(fh, 0, data, rank == size - 1 ? 100 : 0, MPI_INT, &st));
    CHECK_EQ(count_of(&st, MPI_INT), rank == size - 1 ? 100 : 0);
    meet_ranks(fh);
    CHECK_MPI(MPI_File_read_at_all(fh, 0, seen, rank == size - 1 ? 100 : 0, MPI_INT, &st));
    if (rank == size - 1) check_equal(100, "what one rank wrote");
    CHECK_EQ(size_of(fh), 400);
    CHECK_MPI(MPI_File_close(&fh));
}

/* ---- hundreds of requests, completed by all completion calls, together with messages */

enum { MANY = 200 };

static void test_many(void) {
    MPI_File fh = test_open("many", MODE);
    MPI_Request r[MANY + 2];
    MPI_Status st[MANY + 2];
    int token = rank, other = -1, index = 0, flag = 0;
    fill_values(2);
    MPI_Irecv(&other, 1, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD, &r[MANY]);
    MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &r[MANY + 1]);
    for (int i = 0; i < MANY; i++)
        CHECK_MPI(
            MPI_File_iwrite_at(fh, ((MPI_Offset)i * size + rank) * 4, &data[i], 1, MPI_INT, &r[i]));
    CHECK_MPI(MPI_Waitall(MANY + 2, r, st));
    CHECK_EQ(other, (rank + size - 1) % size);
    for (int i = 0; i < MANY; i++) CHECK_EQ(count_of(&st[i], MPI_INT), 1);
    meet_ranks(fh);
    for (int i = 0; i < MANY; i++)
        CHECK_MPI(
            MPI_File_iread_at(fh, ((MPI_Offset)i * size + rank) * 4, &seen[i], 1, MPI_INT, &r[i]));
    for (int i = 0; i < MANY / 2; i++) {
        CHECK_MPI(MPI_Waitany(MANY, r, &index, st));
        CHECK(index >= 0 && index < MANY && r[index] == MPI_REQUEST_NULL, "index %d", index);
    }
    while (!flag) CHECK_MPI(MPI_Testall(MANY, r, &flag, st));
    check_equal(MANY, "integers of many requests");
    CHECK_MPI(MPI_File_close(&fh));
}

/* ---- large offsets: sparse files, extents over 2 GiB */

static void use_large_offsets(void) {
    const MPI_Offset far = (MPI_Offset)5 << 30;
    MPI_File fh = test_open("far", MODE);
    MPI_Datatype apart;
    MPI_Status st;
    MPI_Request r;
    const int one[2] = {3, 4};
    const MPI_Aint places[2] = {(MPI_Aint)rank * 64, ((MPI_Aint)3 << 30) + rank * 64};
    fill_values(3);
    CHECK_MPI(MPI_File_seek(fh, far + rank * 4, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_write(fh, data, 1, MPI_INT, &st));
    CHECK_EQ(position_of(fh), far + rank * 4 + 4);
    CHECK_MPI(MPI_File_iwrite_at(fh, 2 * far + rank * 4, data, 1, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &st));
    CHECK_EQ(count_of(&st, MPI_INT), 1);
    meet_ranks(fh);
    CHECK_EQ(size_of(fh), 2 * far + size * 4);
    CHECK_MPI(MPI_File_read_at_all(fh, far + rank * 4, seen, 1, MPI_INT, &st));
    check_equal(1, "5 GiB away");
    MPI_Type_create_hindexed(2, one, places, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_INT, apart, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_write_at_all(fh, 0, data, 7, MPI_INT, &st));
    CHECK_EQ(count_of(&st, MPI_INT), 7);
    meet_ranks(fh);
    CHECK_MPI(MPI_File_read_at(fh, 0, seen, 7, MPI_INT, &st));
    check_equal(7, "two pieces, 3 GiB apart");
    MPI_Offset offset = 0;
    CHECK_MPI(MPI_File_get_byte_offset(fh, 4, &offset));
    CHECK_EQ(offset, places[1] + 4);
    CHECK_MPI(MPI_File_set_view(fh, far, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_seek_shared(fh, far / 4, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_ordered(fh, seen, 1, MPI_INT, &st));
    check_equal(1, "10 GiB away, by the shared pointer");
    CHECK_EQ(shared_of(fh), far / 4 + size);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_close(&fh));
    MPI_Type_free(&apart);
    if (rank == 0) unlink(test_path("far"));
}

/* ---- several handles, several communicators, calls by their PMPI names */

static void test_handles(void) {
    MPI_Comm half;
    MPI_File one = test_open("one", MODE), two = test_open("one", MODE), own = MPI_FILE_NULL;
    MPI_Status st;
    char name[4200];
    int n = 0, first = 0;
    fill_values(4);
    CHECK_MPI(PMPI_File_write_at_all(one, (MPI_Offset)rank * 400, data, 100, MPI_INT, &st));
    meet_ranks(one);
    CHECK_MPI(PMPI_File_sync(two));
    CHECK_MPI(MPI_File_read_at_all(two, (MPI_Offset)rank * 400, seen, 100, MPI_INT, &st));
    check_equal(100, "through another handle");
    snprintf(name, sizeof name, "%s.%d", test_path("own"), rank);
    CHECK_MPI(
        MPI_File_open(MPI_COMM_SELF, name, MODE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &own));
    CHECK_MPI(MPI_File_write_all(own, data, 10 + rank, MPI_INT, &st));
    CHECK_EQ(size_of(own), 4 * (10 + rank));
    CHECK_MPI(MPI_File_close(&own));
    CHECK(access(name, F_OK) != 0, "deleted when closed");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* ranks are in reverse order */
    snprintf(name, sizeof name, "%s.%d", test_path("half"), rank % 2);
    CHECK_MPI(PMPI_File_open(half, name, MODE, MPI_INFO_NULL, &own));
    CHECK_MPI(MPI_File_write_ordered(own, &rank, 1, MPI_INT, &st));
    MPI_Comm_size(half, &n);
    MPI_Comm_free(&half);
    CHECK_MPI(MPI_File_sync(own));
    CHECK_MPI(MPI_File_seek_shared(own, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_at_all(own, 0, &first, 1, MPI_INT, &st));
    CHECK_EQ(first, rank % 2 + 2 * (n - 1));
    CHECK_MPI(PMPI_File_close(&own));
    CHECK_MPI(MPI_File_close(&two));
    CHECK_MPI(MPI_File_close(&one));
}

/* ---- a duplicate communicator for every file, as in many libraries: freed before or after the close, several at a
 * time */

static void duplicate_use(MPI_File fh, int turn) {
    const int out = 100 * turn + rank;
    int in = -1;
    CHECK_MPI(MPI_File_write_at_all(fh, 4 * rank, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at_all(fh, 4 * rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(in, out);
}

static void test_duplicates(void) {
    enum { OPEN = 7 };
    static const char *const name[OPEN] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6"};
    MPI_Comm comm[OPEN];
    MPI_File fh[OPEN];
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < OPEN; i++) {
            if (i == 3) /* this communicator has another order of ranks */
                MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[i]);
            else
                MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
            CHECK_MPI(MPI_File_open(comm[i], test_path(name[i]), MODE, MPI_INFO_NULL, &fh[i]));
            if (i % 2) MPI_Comm_free(&comm[i]);
        }
        for (int i = OPEN - 1; i >= 0; i--) duplicate_use(fh[i], turn);
        for (int i = 0; i < OPEN; i++) {
            CHECK_MPI(MPI_File_close(&fh[(i + turn) % OPEN]));
            if (i % 2 == 0) MPI_Comm_free(&comm[i]);
        }
    }
}

/* ---- a sequential file, its view set to the current position */

static void test_sequential(void) {
    MPI_File fh = MPI_FILE_NULL;
    MPI_Offset disp = 0;
    MPI_Datatype etype, filetype;
    MPI_Status st;
    char rep[MPI_MAX_DATAREP_STRING];
    fill_values(5);
    if (native) return; /* Open MPI does not support sequential mode */
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, test_path("tape"),
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                            &fh));
    CHECK_MPI(MPI_File_write_ordered(fh, data, 40, MPI_BYTE, &st));
    CHECK_MPI(
        MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_get_view(fh, &disp, &etype, &filetype, rep));
    CHECK_EQ(disp, 40 * size);
    CHECK_MPI(MPI_File_write_ordered(fh, data, 10, MPI_INT, &st));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(size_of(fh), 80 * size);
    CHECK_MPI(MPI_File_close(&fh));
}

/* ---- hints: passed to open, with a view, or later */

static void test_hints(void) {
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info, used;
    char value[64];
    int keys = 0, found = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "no_such_hint", "of no library");
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, test_path("hints"), MODE, info, &fh));
    CHECK_MPI(MPI_File_get_info(fh, &used));
    MPI_Info_get_nkeys(used, &keys);
    for (int i = 0; i < keys; i++) { /* check that every key has a value */
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(used, i, key);
        MPI_Info_get(used, key, (int)sizeof value - 1, value, &found);
        CHECK(found, "%s has a value", key);
        if (strcmp(key, "cb_buffer_size") == 0) CHECK(strcmp(value, "1048576") == 0, "%s", value);
        if (strcmp(key, "romio_cb_write") == 0) CHECK(strcmp(value, "enable") == 0, "%s", value);
        if (strcmp(key, "cb_nodes") == 0)
            CHECK(atoi(value) >= 1 && atoi(value) <= size, "cb_nodes is %s", value);
    }
    CHECK(native || keys >= 5, "%d keys", keys);
    MPI_Info_free(&used);
    /* after open, the hint may be used or ignored */
    MPI_Info_set(info, "cb_buffer_size", "2097152");
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", info));
    CHECK_MPI(MPI_File_set_info(fh, info));
    MPI_Info_free(&info);
    CHECK_MPI(MPI_File_close(&fh));
}

/* ---- atomic mode: a reader sees a write completely or not at all */

static void check_atomic(void) {
    if (native) return; /* Open MPI's own MPI-IO ignores atomic mode */
    MPI_File fh = test_open("atomic", MODE);
    MPI_Datatype filetype;
    MPI_Status st;
    memset(data, 0, sizeof data);
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    for (int holes = 0; holes < 2; holes++) {
        CHECK_MPI(
            MPI_File_set_view(fh, 0, MPI_INT, holes ? filetype : MPI_INT, "native", MPI_INFO_NULL));
        memset(data, 0, sizeof data);
        if (rank == 0) CHECK_MPI(MPI_File_write_at(fh, 0, data, INTS, MPI_INT, &st));
        CHECK_MPI(MPI_File_set_atomicity(fh, 1));
        meet_ranks(fh);
        for (int round = 1; round <= 10; round++) {
            for (int i = 0; i < INTS; i++) data[i] = round;
            if (rank == 0) CHECK_MPI(MPI_File_write_at(fh, 0, data, INTS, MPI_INT, &st));
            if (rank == 0) continue;
            CHECK_MPI(MPI_File_read_at(fh, 0, seen, INTS, MPI_INT, &st));
            for (int i = 1; i < INTS; i++)
                if (seen[i] != seen[0]) CHECK_EQ(seen[i], seen[0]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_MPI(MPI_File_set_atomicity(fh, 0));
    }
    MPI_Type_free(&filetype);
    CHECK_MPI(MPI_File_close(&fh));
}

int main(int argc, char **argv) {
    const char *text = getenv("TUTTI_TEST_NATIVE");
    native = text && *text;
    test_begin(&argc, &argv);
    test_questions();
    test_nothing();
    test_many();
    use_large_offsets();
    test_handles();
    test_duplicates();
    test_sequential();
    test_hints();
    check_atomic();
    return test_end();
}
