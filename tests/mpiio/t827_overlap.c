/* TEST ranks=3 timeout=60 builds=openmpi,mpich preload=mpiio */
/* Split and nonblocking collectives overlap I/O with computation: begin and test return while the store is
 * blocked, and end waits for the store.  Between begin and end no rank calls MPI, and the data is written
 * nevertheless.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"
#include "mpiio/requests.h"

enum { PIECE = 500, PIECES = 60, LENGTH = PIECE * PIECES };
static const char blocked_store[] =
    "tutti_fault=" HELD " tutti_background=io-only tutti_window_size=1g";

static char data[LENGTH], wanted[LENGTH];

static void view_set(MPI_File f) {
    MPI_Datatype piece, type;
    MPI_Type_contiguous(PIECE, MPI_CHAR, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &type);
    MPI_Type_commit(&type);
    CHECK_MPI(
        MPI_File_set_view(f, (MPI_Offset)PIECE * rank, MPI_CHAR, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

static void fill_values(void) {
    for (int i = 0; i < LENGTH; i++) data[i] = wanted[i] = (char)mark(rank, 0, 0, i);
}

/* Return whether the data of this rank is in the file. */
static int is_there(const char *path) {
    static char v[LENGTH];
    int there = 1;
    const int fd = open(path, O_RDONLY);
    for (int i = 0; i < PIECES; i++)
        there &= pread(fd, v + i * PIECE, PIECE, ((off_t)i * ranks + rank) * PIECE) == PIECE;
    close(fd);
    return there && memcmp(v, wanted, LENGTH) == 0;
}

static void wipe_file(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(truncate(path, 0) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void split_text(MPI_File f, const char *path, int kind) {
    static const char *const names[] = {"write_all", "write_at_all", "read_all", "read_at_all"};
    MPI_Status s;
    const int is_read = kind >= 2;
    check_where(names[kind]);
    fill_values();
    if (is_read) memset(data, 0, sizeof data);
    if (!is_read) wipe_file(path);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    gate_shut();
    if (kind == 0) CHECK_MPI(MPI_File_write_all_begin(f, data, LENGTH, MPI_CHAR));
    if (kind == 1) CHECK_MPI(MPI_File_write_at_all_begin(f, 0, data, LENGTH, MPI_CHAR));
    if (kind == 2) CHECK_MPI(MPI_File_read_all_begin(f, data, LENGTH, MPI_CHAR));
    if (kind == 3) CHECK_MPI(MPI_File_read_at_all_begin(f, 0, data, LENGTH, MPI_CHAR));
    gate_open();
    for (int i = 0; i < 3000 && !is_there(path); i++) usleep(10000);
    CHECK(is_there(path), "nothing happens between begin and end");
    if (kind == 0) CHECK_MPI(MPI_File_write_all_end(f, data, &s));
    if (kind == 1) CHECK_MPI(MPI_File_write_at_all_end(f, data, &s));
    if (kind == 2) CHECK_MPI(MPI_File_read_all_end(f, data, &s));
    if (kind == 3) CHECK_MPI(MPI_File_read_at_all_end(f, data, &s));
    CHECK_EQ(bytes_of(&s), LENGTH);
    CHECK(memcmp(data, wanted, LENGTH) == 0, "bytes differ");
}

/* Every rank tests until all ranks have reached this point, while the store blocks all writes.  No rank releases its
 * store earlier: otherwise a rank whose store has nothing to write could complete early. */
static void non_blocking(MPI_File f, const char *path) {
    MPI_Request r, all_seen;
    MPI_Status s;
    int flag = 0, seen = 0;
    check_where("iwrite_at_all");
    fill_values();
    wipe_file(path);
    gate_shut();
    CHECK_MPI(MPI_File_iwrite_at_all(f, 0, data, LENGTH, MPI_CHAR, &r));
    for (int i = 0; i < 1000000 && !flag && !is_there(path); i++) MPI_Test(&r, &flag, &s);
    CHECK(is_there(path), "test does not move it on");
    CHECK(!flag, "complete while the store is held");
    MPI_Ibarrier(MPI_COMM_WORLD, &all_seen);
    while (!seen) {
        if (!flag) MPI_Test(&r, &flag, &s);
        MPI_Test(&all_seen, &seen, MPI_STATUS_IGNORE);
    }
    gate_open();
    if (!flag) CHECK_MPI(MPI_Wait(&r, &s));
    CHECK_EQ(bytes_of(&s), LENGTH);
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 827);
    const char *path = scratch("overlap");
    MPI_File f = open_with(path, blocked_store);
    view_set(f);
    for (int kind = 0; kind < 4; kind++) split_text(f, path, kind);
    non_blocking(f, path);
    CHECK_MPI(MPI_File_close(&f));
    gate_remove();
    remove_file(path);
    return requests_end();
}
