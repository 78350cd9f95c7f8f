/* The program that wrote blocks.e, whose sidecar is blocks_v2.e.tutti (version 2, commit 26f03b4)
 * or blocks_v3.e.tutti (version 3):
 *
 *     blocks_writer FILE          on one rank
 *
 * Records start 16 bytes before a multiple of 64 KiB, so that checksum blocks aligned to multiples of 64 KiB in
 * the file (version 2) and blocks aligned to the record (version 3) differ.  tests/exodus/t1324_block_versions.c
 * reads the file and appends to it with both sidecars.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <tutti/exodus.h>
#define OK(c)                                                      \
    do {                                                           \
        if ((c) != TUTTI_OK) {                                     \
            fprintf(stderr, "%s: %s\n", #c, tutti_last_message()); \
            MPI_Abort(MPI_COMM_WORLD, 1);                          \
        }                                                          \
    } while (0)
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    tutti_exodus *x = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.alignment = 65536 - 16;
    OK(tutti_exodus_create(MPI_COMM_WORLD, argv[1], &opt, &x));
    OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "golden", .dims = 1, .nodes = 6}));
    OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"}));
    OK(tutti_exodus_end_definitions(x));
    tutti_decomposition *all = NULL;
    const tutti_count index[] = {0, 1, 2, 3, 4, 5};
    OK(tutti_exodus_decomposition(
        x, TUTTI_EXODUS_NODAL, 0,
        &(tutti_decomposition_spec){.kind = TUTTI_BY_INDEX, .n = 6, .index = index}, &all));
    for (int s = 1; s <= 3; s++) {
        double t[6];
        for (int i = 0; i < 6; i++) t[i] = 10 * s + i;
        OK(tutti_exodus_begin(x, 0.5 * s));
        OK(tutti_exodus_put(x, 1,
                            &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                  .variable = "temperature",
                                                  .type = TUTTI_FLOAT64,
                                                  .buf = t,
                                                  .entries = all}));
        OK(tutti_exodus_commit(x));
    }
    tutti_decomposition_free(&all);
    OK(tutti_exodus_close(&x));
    MPI_Finalize();
    return 0;
}
