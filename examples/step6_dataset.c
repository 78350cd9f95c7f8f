/* TEST ranks=1,4 timeout=60 */
/* Step 6.  A dataset: a heat equation that commits every tenth step.  If it is run again, it continues
 * from the last committed step, on any number of ranks and after any crash.
 *
 *     step6_dataset [DIRECTORY [STEPS]]
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { N = 96, EVERY = 10 };

static int rank, ranks;

/* The rows of this rank, with one ghost row on each side. */
typedef struct {
    tutti_count first, rows;
    double *now, *next;
} field;

/* A square in the middle is hot at first; the edge of the plate remains cold. */
static int is_middle(tutti_count i) {
    return i > N / 3 && i < N - 1 - N / 3;
}

static void set_initial_state(field *f) {
    f->first = (tutti_count)N * rank / ranks;
    f->rows = (tutti_count)N * (rank + 1) / ranks - f->first;
    f->now = calloc((size_t)(f->rows + 2) * N, sizeof *f->now);
    f->next = calloc((size_t)(f->rows + 2) * N, sizeof *f->next);
    if (!f->now || !f->next) MPI_Abort(MPI_COMM_WORLD, 1);
    for (tutti_count i = 0; i < f->rows; i++)
        for (int j = 0; j < N; j++)
            f->now[(i + 1) * N + j] = is_middle(f->first + i) && is_middle(j) ? 100.0 : 20.0;
}

static void compute_step(field *f) {
    const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(f->now + N, N, MPI_DOUBLE, up, 0, f->now + (f->rows + 1) * N, N, MPI_DOUBLE, down,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(f->now + f->rows * N, N, MPI_DOUBLE, down, 0, f->now, N, MPI_DOUBLE, up, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memcpy(f->next, f->now, (size_t)(f->rows + 2) * N * sizeof *f->now);
    for (tutti_count i = 1; i <= f->rows; i++)
        for (int j = 1; j < N - 1; j++) {
            const double *c = &f->now[i * N + j];
            if (f->first + i - 1 > 0 && f->first + i < N)
                f->next[i * N + j] = 0.25 * (c[-N] + c[N] + c[-1] + c[1]);
        }
    double *swap = f->now;
    f->now = f->next;
    f->next = swap;
}

/* Define a grid and a variable on it.  Repeating an identical definition is allowed. */
static tutti_err define_variables(tutti_dataset *d) {
    const tutti_variable_spec heat = {
        .space = "grid", .type = TUTTI_FLOAT64, .units = "K", .long_name = "temperature"};
    tutti_err err = tutti_dataset_grid(d, "grid", 2, (tutti_count[]){N, N});
    if (!err) err = tutti_dataset_variable(d, "temperature", &heat);
    return err;
}

/* Read the last state, if there is one. */
static tutti_err read_last_state(tutti_dataset *d, tutti_decomposition *rows, field *f,
                                 int64_t *at) {
    tutti_count last = 0;
    tutti_segment segment;
    tutti_err err = tutti_dataset_latest(d, TUTTI_STATE, &last);
    if (err == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    if (!err) err = tutti_dataset_segment(d, last, &segment);
    if (!err)
        err = tutti_dataset_get(d, last, 1,
                                &(tutti_get){"temperature", rows, TUTTI_FLOAT64, f->now + N});
    if (!err) *at = segment.index;
    return err;
}

static tutti_err run_steps(const char *path, int64_t steps, int64_t *from, double *middle) {
    tutti_dataset *d = NULL;
    tutti_decomposition *rows = NULL;
    field f = {0};
    int64_t at = 0;
    set_initial_state(&f);
    const tutti_decomposition_spec mine = {
        .kind = TUTTI_BY_SLICE,
        .slice = {.lo = {f.first, 0}, .hi = {f.first + f.rows, N}, .stride = {1, 1}}};
    tutti_err err =
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL, &d);
    if (!err) err = define_variables(d);
    if (!err) err = tutti_decomposition_create(d, "grid", &mine, &rows);
    if (!err) err = read_last_state(d, rows, &f, &at);
    *from = at;
    while (!err && at < *from + steps) {
        compute_step(&f);
        if (++at % EVERY) continue;
        err = tutti_dataset_begin(d, TUTTI_STATE, at, 0.1 * (double)at);
        if (!err)
            err = tutti_dataset_put(d, 1,
                                    &(tutti_put){"temperature", rows, TUTTI_FLOAT64, f.now + N});
        if (!err) err = tutti_dataset_commit(d);
    }
    if (!err && f.first <= N / 2 && N / 2 < f.first + f.rows)
        *middle = f.now[(N / 2 - f.first + 1) * N + N / 2];
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_decomposition_free(&rows);
    if (d && tutti_dataset_close(&d) && !err) err = tutti_last_error()->code;
    free(f.now);
    free(f.next);
    return err;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "step6.tutti";
    const int64_t steps = argc > 2 ? atoll(argv[2]) : 100;
    int64_t from = 0;
    double mine = 0, middle = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const tutti_err err = run_steps(path, steps, &from, &mine);
    MPI_Reduce(&mine, &middle, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && !err)
        printf("steps %lld to %lld in %s; %.6f K in the middle\n", (long long)from,
               (long long)(from + steps), path, middle);
    MPI_Finalize();
    return err != TUTTI_OK;
}
