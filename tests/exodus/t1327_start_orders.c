/* TEST ranks=1,2,3,5 timeout=100 tsan=1 */
/* Start calls do not wait for other ranks: even and odd ranks start operations on two files in opposite orders, and
 * complete them in opposite orders.  Invalid arguments on one rank and different calls are reported by test, wait
 * or the next collective call.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

enum { FILES = 2, NODES = 3000, ROUNDS = 4 };

typedef struct {
    char path[600];
    tutti_exodus *x;
    tutti_decomposition *local;
    tutti_exodus_field field;
    double *v;
    tutti_count first, n;
} result_file;

static result_file file[FILES];

static void file_create(result_file *f, const char *name) {
    tutti_exodus_options opt;
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(f->path, sizeof f->path, "%s/%s", dir, name);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.overwrite = 1;
    opt.check_reads = 1;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, f->path, &opt, &f->x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(f->x, &(tutti_exodus_parameters){.dims = 1, .nodes = NODES}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(f->x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(f->x), TUTTI_OK);
    sample_piece(MPI_COMM_WORLD, NODES, &f->first, &f->n);
    CHECK_SAME(tutti_exodus_decomposition(
                   f->x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = f->n}, &f->local),
               TUTTI_OK);
    f->v = calloc((size_t)f->n + 1, sizeof *f->v);
    f->field = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                    .variable = "u",
                                    .type = TUTTI_FLOAT64,
                                    .buf = f->v,
                                    .entries = f->local};
}

static void file_close(result_file *f) {
    tutti_decomposition_free(&f->local);
    CHECK_SAME(tutti_exodus_verify(f->x, NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&f->x), TUTTI_OK);
    free(f->v);
}

static double value(int which, int step, tutti_count i) {
    return which * 1e6 + step * 1e4 + (double)i;
}

/* Return the index of the k-th file in the order of this rank. */
static int file_in_order(int k) {
    return rank % 2 ? FILES - 1 - k : k;
}

static void put_in_opposite_orders(void) {
    check_where("opposite orders");
    for (int s = 1; s <= ROUNDS; s++) {
        tutti_request *r[FILES] = {NULL};
        for (int k = 0; k < FILES; k++) {
            CHECK_SAME(tutti_exodus_begin(file[k].x, s), TUTTI_OK);
            for (tutti_count i = 0; i < file[k].n; i++)
                file[k].v[i] = value(k, s, file[k].first + i);
        }
        /* a start that waited for other ranks would cause a deadlock */
        for (int k = 0; k < FILES; k++)
            CHECK_OK(tutti_exodus_put_start(file[file_in_order(k)].x, 1,
                                            &file[file_in_order(k)].field, &r[file_in_order(k)]));
        for (int k = FILES - 1; k >= 0; k--)
            CHECK_OK(tutti_request_wait(&r[file_in_order(k)], NULL));
        for (int k = 0; k < FILES; k++) CHECK_SAME(tutti_exodus_commit(file[k].x), TUTTI_OK);
        for (int k = 0; k < FILES; k++) {
            memset(file[k].v, 0, (size_t)file[k].n * sizeof *file[k].v);
            CHECK_OK(tutti_exodus_get_start(file[file_in_order(k)].x, s, 1,
                                            &file[file_in_order(k)].field, &r[file_in_order(k)]));
        }
        for (int k = 0; k < FILES; k++) {
            int done = 0;
            while (!done) CHECK_OK(tutti_request_test(&r[file_in_order(k)], &done, NULL));
        }
        for (int k = 0; k < FILES; k++)
            for (tutti_count i = 0; i < file[k].n; i++)
                CHECK(file[k].v[i] == value(k, s, file[k].first + i), "file %d, step %d: %g", k, s,
                      file[k].v[i]);
    }
}

/* Ranks start two commits in opposite orders. */
static void test_commits(void) {
    tutti_request *r[FILES] = {NULL};
    check_where("commits");
    for (int k = 0; k < FILES; k++) {
        CHECK_SAME(tutti_exodus_begin(file[k].x, ROUNDS + 1), TUTTI_OK);
        CHECK_SAME(tutti_exodus_put(file[k].x, 1, &file[k].field), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit_start(file[k].x, &r[k]), TUTTI_OK);
        CHECK_SAME(tutti_exodus_begin(file[k].x, ROUNDS + 2), TUTTI_ERR_STATE);
        CHECK_SAME(tutti_exodus_put(file[k].x, 1, &file[k].field), TUTTI_ERR_STATE);
        CHECK_SAME(tutti_exodus_commit(file[k].x), TUTTI_ERR_STATE);
        CHECK_SAME(tutti_exodus_get(file[k].x, 1, 1, &file[k].field), TUTTI_ERR_STATE);
    }
    for (int k = 0; k < FILES; k++) CHECK_OK(tutti_request_wait(&r[file_in_order(k)], NULL));
    for (int k = 0; k < FILES; k++) CHECK_EQ(tutti_exodus_steps(file[k].x), ROUNDS + 1);
}

/* An error on the last rank is returned by wait on all ranks. */
static void test_refused(void) {
    tutti_request *r = NULL;
    tutti_exodus_field wrong = file[0].field;
    check_where("refused");
    if (rank == ranks - 1) wrong.variable = "nothing";
    CHECK_SAME(tutti_exodus_begin(file[0].x, 100), TUTTI_OK);
    CHECK_OK(tutti_exodus_put_start(file[0].x, 1, &wrong, &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK(strstr(tutti_last_message(), "nothing"), "%s", tutti_last_message());
    CHECK_OK(
        tutti_exodus_get_start(file[0].x, rank == ranks - 1 ? 1000 : 1, 1, &file[0].field, &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_put_start(file[0].x, 1, &file[0].field, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_put(file[0].x, 1, &file[0].field), TUTTI_OK); /* no call has failed */
    CHECK_SAME(tutti_exodus_commit(file[0].x), TUTTI_OK);
}

/* Every other collective call runs operations that were started before it. */
enum { TIMES, DECOMPOSITION, ARRAYS, MESH, NEMESIS, VERIFY, RUNNING };
static void call_that_runs(tutti_exodus *x, int which) {
    double x_coordinate, time;
    tutti_decomposition *entries = NULL;
    const tutti_exodus_mesh *mesh = NULL;
    tutti_exodus_nemesis nemesis;
    const tutti_exodus_array array = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                      .kind = TUTTI_EXODUS_NODAL,
                                      .n = rank == 0,
                                      .type = TUTTI_FLOAT64,
                                      .buf = &x_coordinate};
    if (which == TIMES) CHECK_SAME(tutti_exodus_times(x, 1, 1, &time), TUTTI_OK);
    if (which == DECOMPOSITION)
        CHECK_SAME(tutti_exodus_decomposition(
                       x, TUTTI_EXODUS_NODAL, 0,
                       &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = file[0].n},
                       &entries),
                   TUTTI_OK);
    tutti_decomposition_free(&entries);
    if (which == ARRAYS) CHECK_SAME(tutti_exodus_get_arrays(x, 1, &array), TUTTI_OK);
    if (which == MESH)
        CHECK_SAME(
            tutti_exodus_get_mesh(
                x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER}, &mesh),
            TUTTI_OK);
    if (which == NEMESIS) /* the file has none */
        CHECK_SAME(tutti_exodus_nemesis_get(x, 0, &nemesis), TUTTI_ERR_NOT_FOUND);
    if (which == VERIFY) CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_ERR_STATE);
}

static void test_started_operations_run(void) {
    check_where("started operations run");
    for (int which = 0; which < RUNNING; which++) {
        tutti_request *r = NULL;
        for (tutti_count i = 0; i < file[0].n; i++) file[0].v[i] = -1;
        CHECK_OK(tutti_exodus_get_start(file[0].x, 1, 1, &file[0].field, &r));
        call_that_runs(file[0].x, which);
        for (tutti_count i = 0; i < file[0].n; i++)
            CHECK(file[0].v[i] == value(0, 1, file[0].first + i), "call %d: %g", which,
                  file[0].v[i]);
        CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    }
}

/* Calls that ranks make at the same time although they do not match; make_call() makes one of them. */
enum { PUT, START, DISCARD, COMMIT, GET, BEGIN, CALLS };
static tutti_err make_call(int which) {
    tutti_exodus *x = file[1].x;
    tutti_request *r = NULL;
    if (which == PUT) return tutti_exodus_put(x, 1, &file[1].field);
    if (which == DISCARD) return tutti_exodus_discard(x);
    if (which == COMMIT) return tutti_exodus_commit(x);
    if (which == GET) return tutti_exodus_get(x, 1, 1, &file[1].field);
    if (which == BEGIN) return tutti_exodus_begin(x, 1000);
    const tutti_err err = tutti_exodus_put_start(x, 1, &file[1].field, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

static void test_confused(void) {
    if (ranks == 1) return;
    check_where("different calls");
    for (int a = 0; a < CALLS; a++)
        for (int b = 0; b < CALLS; b++) {
            if (a == b || (a <= START && b <= START)) continue; /* a put and a started put match */
            CHECK_SAME(tutti_exodus_begin(file[1].x, 500), TUTTI_OK);
            CHECK_SAME(make_call(rank == ranks - 1 ? a : b), TUTTI_ERR_MISMATCH);
            CHECK(strstr(tutti_last_message(), "while rank"), "%s", tutti_last_message());
            CHECK_SAME(tutti_exodus_put(file[1].x, 1, &file[1].field), TUTTI_OK);
            CHECK_SAME(tutti_exodus_discard(file[1].x), TUTTI_OK);
        }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    file_create(&file[0], "orders0.e");
    file_create(&file[1], "orders1.e");
    put_in_opposite_orders();
    test_commits();
    test_refused();
    test_confused();
    test_started_operations_run();
    file_close(&file[0]);
    file_close(&file[1]);
    MPI_Finalize();
    return check_done();
}
