/* TEST ranks=1,4 timeout=60 own=1 */
/* Step 4.  Overlap of computation and file access.  Split collective: begin exchanges the data and
 * returns, a thread or the kernel writes while the next step is computed, end waits for completion.
 * Non-blocking: start does not wait for other ranks; test lets the operation progress.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { N = 1 << 18, STEPS = 4 };

/* Compute the next state from the current one, which may be read but not changed during the write. */
static void compute(double *next, const double *now, int step) {
    for (int i = 0; i < N; i++) next[i] = now ? step + 0.5 * now[i] : i;
}

/* Describe blocks of 1024 values, distributed cyclically, at the offset of a step.  Returns NULL on
 * failure; the collective call then fails on all ranks. */
static tutti_access *place_of(int step, int rank, int ranks) {
    const tutti_off piece = 1024 * sizeof(double);
    tutti_access *place = NULL;
    if (tutti_access_vector((tutti_off)step * N * 8 * ranks + rank * piece, N / 1024, piece,
                            piece * ranks, &place))
        return NULL;
    return place;
}

/* Two buffers alternate: between begin and end the buffer must not be changed. */
static tutti_err write_split(tutti_file *f, double *v[2], int rank, int ranks) {
    tutti_err err = TUTTI_OK;
    compute(v[0], NULL, 0);
    for (int step = 0; step < STEPS && !err; step++) {
        tutti_access *place = place_of(step, rank, ranks);
        err = tutti_file_write_begin(f, place, v[step % 2]);
        tutti_access_free(&place);
        compute(v[(step + 1) % 2], v[step % 2], step + 1);
        if (!err) err = tutti_file_write_end(f, NULL);
    }
    return err;
}

static tutti_err write_nonblocking(tutti_file *f, double *v[2], int rank, int ranks) {
    tutti_access *place = place_of(STEPS, rank, ranks);
    tutti_request *request = NULL;
    int done = 0;
    tutti_err err = tutti_file_write_start(f, place, v[0], &request);
    for (int part = 0; part < 10 && !err && !done; part++) {
        compute(v[1], v[0], part);
        err = tutti_request_test(&request, &done, NULL);
    }
    if (request && !err) err = tutti_request_wait(&request, NULL);
    tutti_access_free(&place);
    return err;
}

int main(int argc, char **argv) {
    int rank, ranks, level;
    tutti_options opt;
    tutti_file *f = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level); /* needed by background=all only */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *v[2] = {malloc(N * sizeof **v), malloc(N * sizeof **v)};

    /* an invalid environment variable is reported and ignored */
    if (tutti_options_init(&opt) && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    if (opt.background == TUTTI_BACKGROUND_AUTO) opt.background = TUTTI_BACKGROUND_IO_ONLY;
    tutti_err err = tutti_file_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "step4.dat",
                                    TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f);
    if (!err) err = write_split(f, v, rank, ranks);
    if (!err) err = write_nonblocking(f, v, rank, ranks);
    if (!err && rank == 0) {
        tutti_stats all;
        tutti_file_stats(f, NULL, &all);
        printf("%lld of %lld operations ran in the background\n", (long long)all.background,
               (long long)all.operations);
    }
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    free(v[0]);
    free(v[1]);
    MPI_Finalize();
    return err ? 1 : 0;
}
