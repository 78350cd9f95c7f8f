/* TEST ranks=2,4 timeout=60 preload=mpiio */
/* Two pending collective operations on one file, with many cycles each, are completed only by MPI_Test: even ranks
 * complete the first operation first, odd ranks the second.  Writes and reads; every byte is checked.  (The
 * MPI libraries' own MPI-IO mixes up the data of such operations, or hangs.)
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

/* LENGTH: ints per rank and operation */
enum { PIECE = 300, PIECES = 700, LENGTH = PIECE * PIECES };

static int data[2][LENGTH];

static MPI_Offset place_items(int op) {
    return (MPI_Offset)op * LENGTH; /* the view counts ints */
}

/* Test `first` until it is complete, and sometimes test `second`. */
static void complete_request(MPI_Request *first, MPI_Request *second) {
    MPI_Status s;
    int flag = 0;
    while (!flag) {
        CHECK_MPI(MPI_Test(first, &flag, &s));
        if (!flag) sched_yield();
    }
    CHECK_EQ(bytes_of(&s), LENGTH * (int)sizeof(int));
    if (!second) return;
    complete_request(second, NULL);
}

static void run_crossed(MPI_File f, int is_write) {
    MPI_Request r[2];
    for (int op = 0; op < 2; op++) {
        for (int i = 0; i < LENGTH; i++) data[op][i] = is_write ? mark(op, rank, 1, i) : 0;
        if (is_write)
            CHECK_MPI(
                MPI_File_iwrite_at_all(f, place_items(op), data[op], LENGTH, MPI_INT, &r[op]));
        else
            CHECK_MPI(MPI_File_iread_at_all(f, place_items(op), data[op], LENGTH, MPI_INT, &r[op]));
    }
    complete_request(&r[rank % 2], &r[1 - rank % 2]);
    for (int op = 0; op < 2; op++)
        for (int i = 0; i < LENGTH; i++)
            if (data[op][i] != mark(op, rank, 1, i)) {
                CHECK(0, "%s %d: int %d", is_write ? "write" : "read", op, i);
                break;
            }
}

/* Check the complete file with plain reads. */
static void file_check(const char *path) {
    const int64_t n = 2 * (int64_t)LENGTH * ranks;
    int *v = malloc((size_t)n * sizeof *v);
    const int fd = open(path, O_RDONLY);
    CHECK(pread(fd, v, (size_t)n * sizeof *v, 0) == n * (int64_t)sizeof *v, "the file is short");
    for (int64_t at = 0; at < n; at++) {
        const int64_t piece = at / PIECE, own = piece / ranks * PIECE + at % PIECE;
        if (v[at] != mark((int)(own / LENGTH), (int)(piece % ranks), 1, (int)(own % LENGTH))) {
            CHECK(0, "int %lld of the file", (long long)at);
            break;
        }
    }
    close(fd);
    free(v);
}

static void run_with_hints(const char *hints) {
    const char *path = scratch("crossing");
    MPI_Datatype piece, type;
    check_where(hints);
    MPI_File f = open_with(path, hints);
    MPI_Type_contiguous(PIECE, MPI_INT, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)sizeof(int) * PIECE * ranks, &type);
    MPI_Type_commit(&type);
    CHECK_MPI(MPI_File_set_view(f, (MPI_Offset)sizeof(int) * PIECE * rank, MPI_INT, type, "native",
                                MPI_INFO_NULL));
    run_crossed(f, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) file_check(path);
    run_crossed(f, 0);
    CHECK_MPI(MPI_File_close(&f));
    remove_file(path);
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 821);
    run_with_hints("");
    run_with_hints("cb_buffer_size=65536 tutti_background=none");
    run_with_hints("tutti_background=io-only");
    return requests_end();
}
