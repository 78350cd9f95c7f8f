/* TEST ranks=1,4 timeout=100 own=1 preload=mpiio */
/* A full disk: collective writes of every kind return MPI_ERR_NO_SPACE on all ranks, independent writes on the ranks
 * without space; no rank hangs, and afterwards the file can be used.  The test mounts a small
 * file system in a private namespace, which requires root; without root it only injects faults on one rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include "mpiio/requests.h"
#include "small_disk.h"

/* LENGTH: bytes written by all ranks together */
enum { DISK_BYTES = 1 << 20, PIECE = 2048, LENGTH = 2 * DISK_BYTES };

static char home[512], path[600], *data;
static int own_bytes; /* number of bytes that this rank writes */

enum {
    WRITE_ALL,
    WRITE_AT_ALL,
    IWRITE_ALL,
    IWRITE_AT_ALL,
    SPLIT,
    SPLIT_AT,
    ORDERED,
    IWRITE,
    WRITE
};
enum { KINDS = WRITE + 1, COLLECTIVE = IWRITE };

static int split_end(int code, int (*end)(MPI_File, const void *, MPI_Status *), MPI_File f) {
    MPI_Status s;
    return code == MPI_SUCCESS ? end(f, data, &s) : code;
}

/* Write `n` bytes with a call of this kind; return the error code, for nonblocking and split calls of the
 * completing call. */
static int write_by(MPI_File f, int kind, int n) {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    int code = MPI_SUCCESS;
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    if (kind == WRITE_ALL) code = MPI_File_write_all(f, data, n, MPI_BYTE, &s);
    if (kind == WRITE_AT_ALL) code = MPI_File_write_at_all(f, 0, data, n, MPI_BYTE, &s);
    if (kind == ORDERED) code = MPI_File_write_ordered(f, data, n, MPI_BYTE, &s);
    if (kind == WRITE) code = MPI_File_write(f, data, n, MPI_BYTE, &s);
    if (kind == SPLIT)
        code = split_end(MPI_File_write_all_begin(f, data, n, MPI_BYTE), MPI_File_write_all_end, f);
    if (kind == SPLIT_AT)
        code = split_end(MPI_File_write_at_all_begin(f, 0, data, n, MPI_BYTE),
                         MPI_File_write_at_all_end, f);
    if (kind == IWRITE_ALL) CHECK_MPI(MPI_File_iwrite_all(f, data, n, MPI_BYTE, &r));
    if (kind == IWRITE_AT_ALL) CHECK_MPI(MPI_File_iwrite_at_all(f, 0, data, n, MPI_BYTE, &r));
    if (kind == IWRITE) CHECK_MPI(MPI_File_iwrite(f, data, n, MPI_BYTE, &r));
    return r == MPI_REQUEST_NULL ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void view_set(MPI_File f, int kind) {
    MPI_Datatype piece, type;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &type);
    MPI_Type_commit(&type);
    if (kind == ORDERED)
        CHECK_MPI(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    else
        CHECK_MPI(MPI_File_set_view(f, (MPI_Offset)PIECE * rank, MPI_BYTE, type, "native",
                                    MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

/* Return the number of ranks that got MPI_ERR_NO_SPACE; no rank may get another error. */
static int count_no_space(int code) {
    int no_space = class_of(code) == MPI_ERR_NO_SPACE, all = 0;
    CHECK(no_space || code == MPI_SUCCESS, "class %d", class_of(code));
    MPI_Allreduce(&no_space, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Write more than the disk can hold, then data that fits, with the same handle. */
static void write_to_full_disk(const char *hints, int kind) {
    static char where[120];
    char byte = 0;
    snprintf(where, sizeof where, "kind %d, %s", kind, hints);
    check_where(where);
    MPI_File f = open_with(path, hints);
    view_set(f, kind);
    const int all = count_no_space(write_by(f, kind, own_bytes));
    if (kind < COLLECTIVE)
        CHECK_EQ(all, ranks);
    else
        CHECK(all > 0, "no rank reported the full disk");
    CHECK_MPI(MPI_File_set_size(f, 0)); /* frees the space */
    if (kind == ORDERED) CHECK_MPI(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    CHECK_MPI(write_by(f, kind, PIECE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_read_at_all(f, 5, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(byte == data[5] || (kind == ORDERED && rank > 0), "not what was written");
    CHECK_MPI(MPI_File_close(&f));
    remove_file(path);
}

/* Let writes fail on the last rank only. */
static void inject_faults(int kind) {
    char hints[64];
    snprintf(hints, sizeof hints, "cb_nodes=%d tutti_fault=%d:write:1:ENOSPC", ranks, ranks - 1);
    check_where(hints);
    MPI_File f = open_with(path, hints);
    view_set(f, kind);
    const int all = count_no_space(write_by(f, kind, own_bytes / 2));
    CHECK(all == (kind < COLLECTIVE ? ranks : 1), "kind %d: %d ranks got MPI_ERR_NO_SPACE", kind,
          all);
    CHECK_MPI(MPI_File_close(&f));
    remove_file(path);
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 822);
    snprintf(home, sizeof home, "%s", scratch("full"));
    snprintf(path, sizeof path, "%s/file", home);
    own_bytes = LENGTH / ranks;
    data = malloc((size_t)own_bytes);
    for (int i = 0; i < own_bytes; i++) data[i] = (char)mark(0, rank, 0, i);
    if (rank == 0) CHECK(mkdir(home, 0777) == 0, "mkdir %s", home);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) inject_faults(kind);
    if (namespace_enter() && small_mounted(home, "1m", DISK_BYTES)) {
        for (int kind = 0; kind < KINDS; kind++) {
            write_to_full_disk("", kind);
            write_to_full_disk("cb_buffer_size=65536", kind);
            write_to_full_disk("tutti_background=io-only", kind);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) CHECK(umount(home) == 0, "umount");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) (void)rmdir(home);
    free(data);
    return requests_end();
}
