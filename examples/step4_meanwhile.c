/* TEST ranks=1,4 timeout=60 */
/* Step 4.  Computing while the bytes go to the file: begin gathers the step's data and returns,
 * the next step is computed while a thread or the kernel writes, end waits for what is left.  Then
 * the same without even waiting in begin: non-blocking, with a test now and then.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { N = 1 << 18, STEPS = 4 };

static void compute(double *v, int step) {
    for (int i = 0; i < N; i++) v[i] = step + 0.5 * v[i];
}

/* Pieces of 1024 numbers, dealt out in turn; each step in a place of its own. */
static tutti_err place_of(int step, int rank, int ranks, tutti_access **out) {
    const tutti_off piece = 1024 * sizeof(double);
    return tutti_access_vector((tutti_off)step * N * 8 * ranks + rank * piece, N / 1024, piece,
                               piece * ranks, out);
}

static tutti_err split(tutti_file *f, double *v, int rank, int ranks) {
    tutti_err err = TUTTI_OK;
    for (int step = 0; step < STEPS && !err; step++) {
        tutti_access *place = NULL;
        err = place_of(step, rank, ranks, &place);
        if (!err) err = tutti_file_write_begin(f, place, v);
        tutti_access_free(&place);
        if (err) break;
        compute(v, step); /* the buffer is ours again, unless background is `all` */
        err = tutti_file_write_end(f, NULL);
    }
    return err;
}

static tutti_err nonblocking(tutti_file *f, double *v, double *next, int rank, int ranks) {
    tutti_access *place = NULL;
    tutti_request *request = NULL;
    int done = 0;
    tutti_err err = place_of(STEPS, rank, ranks, &place);
    if (!err) err = tutti_file_write_start(f, place, v, &request);
    for (int part = 0; part < 10 && !err && !done; part++) {
        compute(next, part); /* not v: it is on its way */
        err = tutti_request_test(&request, &done, NULL);
    }
    if (request && !err) err = tutti_request_wait(&request, NULL);
    tutti_access_free(&place);
    return err;
}

int main(int argc, char **argv) {
    int rank, ranks;
    tutti_options opt;
    tutti_file *f = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *v = calloc(N, sizeof *v), *next = calloc(N, sizeof *next);

    tutti_err err = tutti_options_init(&opt);
    if (!err) err = tutti_options_set(&opt, "background", "io-only");
    if (!err)
        err = tutti_file_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "step4.dat",
                              TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f);
    if (!err) err = split(f, v, rank, ranks);
    if (!err) err = nonblocking(f, v, next, rank, ranks);
    if (!err && rank == 0) {
        tutti_stats all;
        tutti_file_stats(f, NULL, &all);
        printf("%lld of %lld operations went on in the background\n", (long long)all.background,
               (long long)all.operations);
    }
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;
    if (err) fprintf(stderr, "%s\n", tutti_last_message());
    free(v);
    free(next);
    MPI_Finalize();
    return err ? 1 : 0;
}
