/* TEST ranks=1,2,3,5 timeout=60 */
/* Starting a put or a get does not wait for other ranks: ranks can start operations on two datasets in different
 * orders.  If ranks start different operations on one dataset, the wait fails with TUTTI_ERR_MISMATCH
 * on all ranks.  A started operation is executed by the next collective call.  Arguments and decompositions may
 * be freed after the start.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { N = 3000 };

static char path[2][512];
static tutti_dataset *d[2];
static tutti_decomposition *part[2];
static double buf[2][N], back[2][N];

static double value(int which, int64_t step, tutti_count i) {
    return (double)(100000 * which + 10000 * step + rank * N + i);
}

static void open_file(int mode) {
    const tutti_count shape = (tutti_count)N * ranks;
    const tutti_dataset_options opt = visible();
    for (int k = 0; k < 2; k++) {
        const tutti_decomposition_spec slice = {
            .kind = TUTTI_BY_SLICE,
            .slice = {.lo = {(tutti_count)N * rank}, .hi = {(tutti_count)N * (rank + 1)}}};
        CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path[k], mode, &opt, &d[k]));
        CHECK_OK(tutti_dataset_grid(d[k], "x", 1, &shape));
        for (int v = 0; v < 3; v++) {
            const char *const names[] = {"u", "w", "r"};
            const tutti_variable_spec spec = {.space = "x",
                                              .type = TUTTI_FLOAT64,
                                              .layout = v == 2 ? TUTTI_RANKED : TUTTI_GLOBAL};
            if (mode & TUTTI_WRITE) CHECK_OK(tutti_dataset_variable(d[k], names[v], &spec));
        }
        CHECK_OK(tutti_decomposition_create(d[k], "x", &slice, &part[k]));
    }
}

static void test_closed(void) {
    for (int k = 0; k < 2; k++) {
        tutti_decomposition_free(&part[k]);
        CHECK_SAME(tutti_dataset_close(&d[k]), TUTTI_OK);
    }
}

static void fill_values(int64_t step) {
    for (int k = 0; k < 2; k++)
        for (tutti_count i = 0; i < N; i++) buf[k][i] = value(k, step, i);
}

/* Start a put on both datasets: even ranks first on d[0], odd ranks first on d[1]. */
static void put_both(const char *name, tutti_request *r[2]) {
    for (int k = 0; k < 2; k++) {
        const int which = (k + rank) % 2;
        char copy[8];
        snprintf(copy, sizeof copy, "%s", name);
        tutti_put put = {copy, part[which], TUTTI_FLOAT64, buf[which]};
        CHECK_OK(tutti_dataset_put_start(d[which], 1, &put, &r[which]));
        memset(copy, '?', sizeof copy - 1); /* the library has copied the name */
        put.buf = NULL;
    }
}

static void write_crossed(const char *name, int64_t step, int freed) {
    tutti_request *r[2];
    fill_values(step);
    for (int k = 0; k < 2; k++)
        CHECK_SAME(tutti_dataset_begin(d[k], TUTTI_STATE, step, (double)step), TUTTI_OK);
    put_both(name, r);
    if (freed)
        for (int k = 0; k < 2; k++) tutti_decomposition_free(&part[k]);
    for (int k = 0; k < 2; k++) CHECK_OK(tutti_request_wait(&r[(k + rank / 2) % 2], NULL));
    for (int k = 0; k < 2; k++) CHECK_SAME(tutti_dataset_commit(d[k]), TUTTI_OK);
}

static void read_crossed(const char *name, tutti_count segment, int64_t step) {
    tutti_request *r[2];
    memset(back, 0, sizeof back);
    for (int k = 0; k < 2; k++) {
        const int which = (k + rank) % 2;
        const tutti_get get = {name, part[which], TUTTI_FLOAT64, back[which]};
        CHECK_OK(tutti_dataset_get_start(d[which], segment, 1, &get, &r[which]));
    }
    for (int k = 0; k < 2; k++) CHECK_OK(tutti_request_wait(&r[(k + rank / 2) % 2], NULL));
    for (int k = 0; k < 2; k++)
        for (tutti_count i = 0; i < N; i++)
            if (back[k][i] != value(k, step, i)) CHECK(0, "%s, %d: entry %d", name, k, (int)i);
}

/* Ranks start different variables, or a put and a get: all ranks get the error, and the dataset stays usable. */
static void start_mismatched(int64_t step) {
    tutti_request *r = NULL;
    const tutti_put puts[] = {{"u", part[0], TUTTI_FLOAT64, buf[0]},
                              {"w", part[0], TUTTI_FLOAT64, buf[0]}};
    const tutti_get get = {"u", part[0], TUTTI_FLOAT64, back[0]};
    const tutti_err wrong = ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK;
    fill_values(step);
    CHECK_SAME(tutti_dataset_begin(d[0], TUTTI_STATE, step, (double)step), TUTTI_OK);
    CHECK_OK(tutti_dataset_put_start(d[0], 1, &puts[rank == ranks - 1 && ranks > 1], &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), wrong);
    if (rank == 0 && ranks > 1)
        CHECK_OK(tutti_dataset_get_start(d[0], 0, 1, &get, &r));
    else
        CHECK_OK(tutti_dataset_put_start(d[0], 1, &puts[0], &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), wrong);
    /* one rank passes no variables */
    CHECK_OK(tutti_dataset_put_start(d[0], rank == ranks - 1 ? 1 : 2,
                                     rank == ranks - 1 ? NULL : puts, &r));
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_put(d[0], 2, puts), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d[0]), TUTTI_OK);
}

/* The next collective call executes an operation that was started but not waited for; calls fail until the
 * operation is completed. */
static void execute_by_next_call(int64_t step) {
    tutti_request *r[2] = {NULL, NULL};
    const tutti_put puts[] = {{"u", part[0], TUTTI_FLOAT64, buf[0]},
                              {"r", part[0], TUTTI_FLOAT64, buf[1]}};
    fill_values(step);
    CHECK_SAME(tutti_dataset_begin(d[0], TUTTI_STATE, step, (double)step), TUTTI_OK);
    for (int k = 0; k < 2; k++) CHECK_OK(tutti_dataset_put_start(d[0], 1, &puts[k], &r[k]));
    CHECK_SAME(tutti_dataset_commit(d[0]), TUTTI_ERR_STATE);
    CHECK_OK(tutti_request_wait(&r[1], NULL));
    CHECK_SAME(tutti_dataset_commit(d[0]), TUTTI_ERR_STATE);
    CHECK_OK(tutti_request_wait(&r[0], NULL));
    CHECK_SAME(tutti_dataset_commit(d[0]), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1299);
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/t1299-%d.tutti", check_dir(), k);
        dataset_remove(path[k]);
    }
    open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE);
    write_crossed("u", 0, 0);
    write_crossed("r", 1, 1);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE);
    read_crossed("u", 0, 0); /* opens the data files */
    read_crossed("r", 1, 1);
    start_mismatched(2);
    execute_by_next_call(3);
    CHECK_SAME(tutti_dataset_verify(d[0], NULL), TUTTI_OK);
    test_closed();
    for (int k = 0; k < 2; k++) dataset_remove(path[k]);
    return harness_end();
}
