/* TEST ranks=1,4 timeout=60 */
/* Step 2.  Blocks of a 3-D array with ghost cells in memory: the access skips the ghost cells.  The
 * array is written in slabs of one dimension, read in slabs of another, and compared.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { NX = 40, NY = 36, NZ = 32, GHOST = 2 };

/* Describe a slab of the global array along dimension `cut`, and its location in a local array with
 * ghost cells.  Returns NULL on failure; the collective call then fails on all ranks. */
static tutti_access *make_slab_access(int cut, int rank, int ranks, int ghost) {
    tutti_section file = {.ndims = 3, .element_size = sizeof(float), .shape = {NX, NY, NZ}},
                  memory = file;
    tutti_access *a = NULL;
    for (int d = 0; d < 3; d++) {
        file.lo[d] = d == cut ? file.shape[d] * rank / ranks : 0;
        file.hi[d] = d == cut ? file.shape[d] * (rank + 1) / ranks : file.shape[d];
        memory.lo[d] = ghost;
        memory.hi[d] = ghost + file.hi[d] - file.lo[d];
        memory.shape[d] = memory.hi[d] + ghost;
    }
    if (tutti_access_section(&file, &memory, &a)) a = NULL; /* the write then fails on all ranks */
    return a;
}

static float *array_for(const tutti_access *a) {
    tutti_off lo, hi;
    tutti_access_memory_bounds(a, &lo, &hi);
    return calloc(1, (size_t)hi + 1);
}

/* Set or check: the value of an element is its index in the file. */
static int each_element(const tutti_access *a, float *memory, int check) {
    tutti_access_iter *it = NULL;
    tutti_piece p;
    int wrong = 0;
    if (tutti_access_iter_start(a, 0, &it)) return 1;
    while (tutti_access_iter_next(it, &p))
        for (tutti_off i = 0; i < p.bytes / 4; i++) {
            float *x = memory + p.memory / 4 + i;
            const tutti_off place = p.file / 4 + i;
            if (check)
                wrong += *x != (float)place;
            else
                *x = (float)place;
        }
    tutti_access_iter_free(&it);
    return wrong;
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tutti_access *out = make_slab_access(0, rank, ranks, GHOST),
                 *in = make_slab_access(2, rank, ranks, 0);
    float *a = array_for(out), *b = array_for(in);
    tutti_file *f = NULL;
    tutti_off count = 0;
    int wrong = each_element(out, a, 0);
    tutti_err err = tutti_file_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "step2.dat",
                                    TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL, &f);
    if (!err) err = tutti_file_write(f, out, a, NULL);
    if (!err) err = tutti_file_read(f, in, b, &count);
    if (!err) wrong += each_element(in, b, 1) + (count != tutti_access_bytes(in));
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_access_free(&out);
    tutti_access_free(&in);
    free(a);
    free(b);
    MPI_Finalize();
    return err || wrong;
}
