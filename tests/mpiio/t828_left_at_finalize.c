/* TEST ranks=1,3 timeout=40 own=1 builds=openmpi,mpich preload=mpiio */
/* The program calls MPI_Finalize with pending and complete requests and open files: this is an error, but must not
 * hang or crash (memory of pending operations is not freed).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { LENGTH = 10000 };

static char data[LENGTH];

int main(int argc, char **argv) {
    MPI_Request r[4];
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 828);
    MPI_File f = open_with(scratch("left0"), "tutti_fault=*:slow:100 tutti_background=io-only"),
             g = open_with(scratch("left1"), "");
    const MPI_Offset at = (MPI_Offset)rank * LENGTH;
    CHECK_MPI(MPI_File_iwrite_at_all(f, at, data, LENGTH, MPI_CHAR, &r[0]));
    CHECK_MPI(MPI_File_iwrite_at(f, at, data, LENGTH, MPI_CHAR, &r[1]));
    CHECK_MPI(MPI_File_iwrite_at_all(g, at, data, LENGTH, MPI_CHAR, &r[2]));
    CHECK_MPI(MPI_File_iwrite_at_all(g, at, data, LENGTH, MPI_CHAR, &r[3]));
    CHECK_MPI(MPI_Request_free(&r[3]));
    if (rank == 0) usleep(50000);
    return requests_end();
}
