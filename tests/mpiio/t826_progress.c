/* TEST ranks=2,4 timeout=40 own=1 preload=mpiio */
/* Progress: rank 0 has started a collective write and is in another MPI call (a receive, a
 * barrier).  All other ranks wait for the write, which requires rank 0, before they send.  The MPI
 * standard guarantees that this completes.  (Requires that the MPI library calls progress
 * functions: Open MPI; MPICH over UCX below MPI_THREAD_MULTIPLE.)
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { LENGTH = 20000 };

static char data[2][LENGTH];

static void in_receive(MPI_File f, int op) {
    MPI_Request r;
    CHECK_MPI(MPI_File_iwrite_at_all(f, ((MPI_Offset)op * ranks + rank) * LENGTH, data[0], LENGTH,
                                     MPI_CHAR, &r));
    if (rank == 0)
        for (int i = 1; i < ranks; i++)
            MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, op, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (rank != 0) MPI_Send(NULL, 0, MPI_CHAR, 0, op, MPI_COMM_WORLD);
}

static void in_barrier(MPI_File f, int op) {
    MPI_Request r[2];
    for (int i = 0; i < 2; i++)
        CHECK_MPI(MPI_File_iwrite_at_all(f, (((MPI_Offset)op + i) * ranks + rank) * LENGTH, data[i],
                                         LENGTH, MPI_CHAR, &r[i]));
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_Waitall(2, r, statuses_ignored()));
    if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits in a blocking call on another file. */
static void in_other_file(MPI_File f, MPI_File other, int op) {
    MPI_Request r;
    CHECK_MPI(MPI_File_iwrite_at_all(f, ((MPI_Offset)op * ranks + rank) * LENGTH, data[0], LENGTH,
                                     MPI_CHAR, &r));
    if (rank != 0) CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_at_all(other, (MPI_Offset)rank * LENGTH, data[1], LENGTH, MPI_CHAR,
                                    MPI_STATUS_IGNORE));
    if (rank == 0) CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void run_with_hints(const char *hints) {
    check_where(hints);
    MPI_File f = open_with(scratch("progress0"), hints),
             other = open_with(scratch("progress1"), "");
    for (int i = 0; i < 5; i++) {
        in_receive(f, i);
        in_barrier(f, i);
        in_other_file(f, other, i);
    }
    CHECK_MPI(MPI_File_close(&f));
    CHECK_MPI(MPI_File_close(&other));
    remove_file(scratch("progress0"));
    remove_file(scratch("progress1"));
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SERIALIZED, 826);
    run_with_hints("");
    run_with_hints("tutti_background=io-only");
    return requests_end();
}
