/* A first program of a user: every rank writes a block of columns and reads the block back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char local[64], back[64] = {0};
    memset(local, 'a' + rank, sizeof local);
    tutti_access *columns = NULL;
    tutti_file *f = NULL;
    tutti_err e = tutti_access_vector(8 * rank, 8, 8, 8 * ranks, &columns);
    if (!e)
        e = tutti_file_open(MPI_COMM_WORLD, argv[1], TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL,
                            &f);
    if (!e) e = tutti_file_write(f, columns, local, NULL);
    if (!e) e = tutti_file_read(f, columns, back, NULL);
    if (!e) e = tutti_file_close(&f);
    if (e) fprintf(stderr, "rank %d: %s\n", rank, tutti_last_message());
    tutti_access_free(&columns);
    MPI_Finalize();
    return e != TUTTI_OK || memcmp(local, back, sizeof local) != 0 ||
           tutti_version() != TUTTI_VERSION;
}
