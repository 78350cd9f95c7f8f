/* TEST ranks=3 timeout=60 preload=mpiio */
/* Nonblocking and split reads that reach the end of the file: counts are exact, memory for bytes
 * beyond the end is unchanged, and nothing hangs.  Either the view distributes pieces of the file over the ranks, and
 * the file ends within a piece of one rank; or every rank has the default view.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { PIECE = 100, SIZE = 12345, WANTED = 2 * SIZE };

static unsigned char contents[SIZE], buffer[WANTED];

/* Store the bytes of the file in the view of this rank, from byte `at` of the view on; return their number. */
static int expected(int distributed, int at, unsigned char *out) {
    int n = 0;
    for (int i = 0; i < WANTED; i++) {
        const int v = at + i,
                  place = distributed ? (v / PIECE * ranks + rank) * PIECE + v % PIECE : v;
        if (place >= SIZE) return n;
        out[n++] = contents[place];
    }
    return n;
}

enum { AT, AT_ALL, POINTER, POINTER_ALL, SHARED, SPLIT, SPLIT_POINTER, ORDERED, KINDS };

static void start_call(MPI_File f, int kind, int at, MPI_Request *r) {
    if (kind == AT) CHECK_MPI(MPI_File_iread_at(f, at, buffer, WANTED, MPI_BYTE, r));
    if (kind == AT_ALL) CHECK_MPI(MPI_File_iread_at_all(f, at, buffer, WANTED, MPI_BYTE, r));
    if (kind == POINTER) CHECK_MPI(MPI_File_iread(f, buffer, WANTED, MPI_BYTE, r));
    if (kind == POINTER_ALL) CHECK_MPI(MPI_File_iread_all(f, buffer, WANTED, MPI_BYTE, r));
    if (kind == SHARED) CHECK_MPI(MPI_File_iread_shared(f, buffer, WANTED, MPI_BYTE, r));
    if (kind == SPLIT) CHECK_MPI(MPI_File_read_at_all_begin(f, at, buffer, WANTED, MPI_BYTE));
    if (kind == SPLIT_POINTER) CHECK_MPI(MPI_File_read_all_begin(f, buffer, WANTED, MPI_BYTE));
    if (kind == ORDERED) CHECK_MPI(MPI_File_read_ordered_begin(f, buffer, WANTED, MPI_BYTE));
}

static void finish_case(MPI_File f, int kind, MPI_Request *r, MPI_Status *s) {
    int flag = 0;
    if (kind == SPLIT) CHECK_MPI(MPI_File_read_at_all_end(f, buffer, s));
    if (kind == SPLIT_POINTER) CHECK_MPI(MPI_File_read_all_end(f, buffer, s));
    if (kind == ORDERED) CHECK_MPI(MPI_File_read_ordered_end(f, buffer, s));
    if (kind >= SPLIT) return;
    if (rank % 2) {
        CHECK_MPI(MPI_Wait(r, s));
        return;
    }
    while (!flag) CHECK_MPI(MPI_Test(r, &flag, s));
}

static void read_at(MPI_File f, int distributed, int kind, int at) {
    static unsigned char want[WANTED];
    static char where[64];
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    snprintf(where, sizeof where, "kind %d at %d, %s", kind, at, distributed ? "dealt" : "whole");
    check_where(where);
    memset(buffer, 0xee, sizeof buffer);
    CHECK_MPI(MPI_File_seek(f, at, MPI_SEEK_SET));
    const int shared = kind == SHARED || kind == ORDERED;
    if (shared) CHECK_MPI(MPI_File_seek_shared(f, SIZE - 7, MPI_SEEK_SET));
    start_call(f, kind, at, &r);
    finish_case(f, kind, &r, &s);
    if (shared) {
        int n = bytes_of(&s), all = 0;
        MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(all, 7);
        return;
    }
    const int n = expected(distributed, at, want);
    CHECK_EQ(bytes_of(&s), n);
    CHECK(memcmp(buffer, want, (size_t)n) == 0, "bytes differ");
    for (int i = n; i < WANTED; i++)
        if (buffer[i] != 0xee) {
            CHECK(0, "byte %d, beyond the end, was touched", i);
            break;
        }
}

/* At offsets beyond the maximum file size, a read returns 0 bytes, a write fails, and all ranks return. */
static void far_away(MPI_File f, MPI_Offset at) {
    MPI_Status s;
    MPI_Request r;
    static char where[64];
    snprintf(where, sizeof where, "offset %lld", (long long)at);
    check_where(where);
    memset(buffer, 0xee, sizeof buffer);
    CHECK_MPI(MPI_File_read_at(f, at, buffer, 8, MPI_BYTE, &s));
    CHECK_EQ(bytes_of(&s), 0);
    CHECK_MPI(MPI_File_read_at_all(f, at, buffer, 8, MPI_BYTE, &s));
    CHECK_EQ(bytes_of(&s), 0);
    CHECK_MPI(MPI_File_iread_at(f, at, buffer, 8, MPI_BYTE, &r));
    CHECK_MPI(MPI_Wait(&r, &s));
    CHECK_EQ(bytes_of(&s), 0);
    CHECK_MPI(MPI_File_seek(f, at, MPI_SEEK_SET));
    if (at < INT64_MAX - 8) {
        CHECK_MPI(MPI_File_read(f, buffer, 8, MPI_BYTE, &s));
        CHECK_EQ(bytes_of(&s), 0);
    }
    CHECK(buffer[0] == 0xee && buffer[7] == 0xee, "the buffer was touched");
    CHECK(MPI_File_write_at(f, at, buffer, 8, MPI_BYTE, &s) != MPI_SUCCESS, "a write succeeds");
    CHECK(MPI_File_write_at_all(f, at, buffer, 8, MPI_BYTE, &s) != MPI_SUCCESS,
          "a collective write succeeds");
}

static void far_offsets(const char *path) {
    static const MPI_Offset one = 1;
    MPI_File f = open_with(path, "");
    MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
    far_away(f, one << 62);
    far_away(f, (one << 62) - 4);
    far_away(f, INT64_MAX - 8);
    far_away(f, INT64_MAX - 3);
    far_away(f, INT64_MAX);
    CHECK_MPI(MPI_File_set_view(f, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    far_away(f, one << 59);
    far_away(f, INT64_MAX / 8 - 8);
    CHECK_MPI(MPI_File_close(&f));
}

static void run_with_hints(const char *hints, const char *path, int distributed) {
    MPI_Datatype piece, type;
    MPI_File f = open_with(path, hints);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &type);
    MPI_Type_commit(&type);
    if (distributed)
        CHECK_MPI(MPI_File_set_view(f, (MPI_Offset)PIECE * rank, MPI_BYTE, type, "native",
                                    MPI_INFO_NULL));
    for (int kind = 0; kind < KINDS; kind++) {
        if (distributed && (kind == SHARED || kind == ORDERED))
            continue; /* the shared pointer requires equal views */
        read_at(f, distributed, kind, 0);
        read_at(f, distributed, kind, SIZE / ranks - 50);
        read_at(f, distributed, kind, SIZE - 1);
        read_at(f, distributed, kind, 3 * SIZE);
    }
    CHECK_MPI(MPI_File_close(&f));
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 823);
    const char *path = scratch("end");
    for (int i = 0; i < SIZE; i++) contents[i] = (unsigned char)mark(0, 0, 0, i);
    if (rank == 0) {
        const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
        CHECK(write(fd, contents, SIZE) == SIZE, "no file");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int distributed = 0; distributed < 2; distributed++) {
        run_with_hints("", path, distributed);
        run_with_hints("tutti_background=io-only", path, distributed);
    }
    far_offsets(path);
    remove_file(path);
    return requests_end();
}
