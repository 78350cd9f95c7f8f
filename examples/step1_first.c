/* TEST ranks=1,4 timeout=60 */
/* Step 1.  Four ranks write the quarters of a 512 x 512 array of doubles to one file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int side = ranks >= 4 ? 2 : 1, n = 512 / side, row = rank / side, col = rank % side;
    double *mine = malloc(sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n * n; i++) mine[i] = rank + i * 1e-6;

    tutti_section block = {.ndims = 2, .element_size = sizeof(double), .shape = {512, 512}};
    if (row < side) { /* ranks beyond the fourth write nothing */
        block.lo[0] = n * row, block.hi[0] = n * (row + 1);
        block.lo[1] = n * col, block.hi[1] = n * (col + 1);
    }
    tutti_access *access = NULL;
    tutti_file *file = NULL;
    tutti_err err = tutti_file_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "step1.dat",
                                    TUTTI_WRITE | TUTTI_CREATE, NULL, &file);
    /* a rank that fails locally still makes the collective call: with NULL all ranks fail */
    if (tutti_access_section(&block, NULL, &access)) access = NULL;
    if (!err) err = tutti_file_write(file, access, mine, NULL);
    if (file && tutti_file_close(&file)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_access_free(&access);
    free(mine);
    MPI_Finalize();
    return err ? 1 : 0;
}
