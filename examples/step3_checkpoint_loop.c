/* TEST ranks=1,4 timeout=60 */
/* Step 3.  A checkpoint loop: the access pattern is the same in every time step, so the write is planned
 * once and run for every step at another offset.  At the end the statistics are printed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { STEPS = 10, ITEMS = 4096, ITEM = 64 };

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* items are distributed cyclically; any index list is possible */
    tutti_count *index = malloc(ITEMS * sizeof *index);
    for (int i = 0; i < ITEMS; i++) index[i] = (tutti_count)i * ranks + rank;
    char *state = malloc((size_t)ITEMS * ITEM);

    tutti_access *access = NULL;
    tutti_file *f = NULL;
    tutti_plan *plan = NULL;
    tutti_err err = tutti_file_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "step3.dat",
                                    TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL, &f);
    if (tutti_access_indices(0, ITEM, ITEMS, index, &access))
        access = NULL; /* the plan then fails on all ranks */
    if (!err) err = tutti_plan_write(f, access, &plan);
    for (int step = 0; step < STEPS && !err; step++) {
        memset(state, 'a' + step, (size_t)ITEMS * ITEM);
        err = tutti_plan_run(plan, state, (tutti_off)step * ITEMS * ITEM * ranks, NULL);
    }
    if (!err && rank == 0) {
        tutti_stats all;
        tutti_file_stats(f, NULL, &all);
        printf(
            "%lld bytes in %lld operations: plan %.1f ms, exchange %.1f ms, file %.1f ms\n  %s\n",
            (long long)all.bytes, (long long)all.operations, 1e3 * all.seconds_plan,
            1e3 * all.seconds_exchange, 1e3 * all.seconds_file, tutti_plan_explain(plan));
    }
    tutti_plan_free(&plan);
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_access_free(&access);
    free(index);
    free(state);
    MPI_Finalize();
    return err ? 1 : 0;
}
