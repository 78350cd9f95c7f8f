/* Program of t830_fatal.sh: a nonblocking write fails with MPI_ERRORS_ARE_FATAL on the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_File f;
    MPI_Request r;
    char byte = 1;
    MPI_Init(&argc, &argv);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &f) != MPI_SUCCESS)
        return 1;
    MPI_File_set_errhandler(f, MPI_ERRORS_ARE_FATAL);
    MPI_File_iwrite_at_all(f, 0, &byte, 1, MPI_BYTE, &r);
    printf("waits\n");
    fflush(stdout);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    printf("survived\n");
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
