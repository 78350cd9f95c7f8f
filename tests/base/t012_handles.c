/* TEST ranks=1,3 timeout=60 own=1 */
/* Invalid handles: stale ones, and all handles after MPI_Finalize, when destructors of other
 * languages run.  Every call returns TUTTI_ERR_STATE, and nothing crashes, hangs or leaks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <tutti/tutti.h>
#include <unistd.h>
#include "base/memory.h"
#include "check.h"

static int rank, ranks;
static char path[512], array_path[520];
enum { N = 1 << 16, MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE };
static char buf[N], other[N];

#define STATE(call) CHECK_ERR(call, TUTTI_ERR_STATE)

static tutti_access *make_access(void) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * N, N, &a));
    return a;
}

static tutti_file *open_file(void) {
    tutti_file *f = NULL;
    tutti_options opt;
    tutti_options_defaults(&opt);
    opt.background = TUTTI_BACKGROUND_NONE; /* operations progress only in calls */
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f));
    return f;
}

static tutti_array *array_made(void) {
    const tutti_array_spec spec = {.ndims = 2, .shape = {64, 64}, .type = TUTTI_FLOAT64};
    tutti_array *a = NULL;
    CHECK_OK(tutti_array_create(MPI_COMM_WORLD, array_path, &spec, NULL, &a));
    return a;
}

/* Check that all calls on an invalid file handle fail. */
static void file_refuses(tutti_file *f, const tutti_access *a) {
    tutti_off size = 0;
    tutti_options opt;
    tutti_plan *p = NULL;
    tutti_request *r = NULL;
    tutti_options_defaults(&opt);
    STATE(tutti_file_size(f, &size));
    STATE(tutti_file_size_independent(f, &size));
    STATE(tutti_file_resize(f, 1));
    STATE(tutti_file_preallocate(f, 1));
    STATE(tutti_file_sync(f));
    STATE(tutti_file_atomic(f, 1));
    STATE(tutti_file_options(f, &opt));
    STATE(tutti_file_change(f, &opt));
    STATE(tutti_file_write(f, a, buf, NULL));
    STATE(tutti_file_read(f, a, buf, NULL));
    STATE(tutti_file_write_independent(f, a, buf, NULL));
    STATE(tutti_file_read_independent(f, a, buf, NULL));
    STATE(tutti_file_write_independent_start(f, a, buf, &r));
    STATE(tutti_file_read_independent_start(f, a, buf, &r));
    STATE(tutti_file_write_begin(f, a, buf));
    STATE(tutti_file_write_end(f, NULL));
    STATE(tutti_file_read_begin(f, a, buf));
    STATE(tutti_file_read_end(f, NULL));
    STATE(tutti_file_write_start(f, a, buf, &r));
    STATE(tutti_file_read_start(f, a, buf, &r));
    STATE(tutti_plan_write(f, a, &p));
    STATE(tutti_plan_read(f, a, &p));
    tutti_file_stats(f, NULL, NULL);
    tutti_file_on_progress(f, NULL, NULL);
    CHECK(tutti_file_explain(f) != NULL && !p && !r, "something has been made");
}

static void plan_refuses(tutti_plan *p) {
    int done = 0;
    STATE(tutti_plan_start(p, buf, 0));
    STATE(tutti_plan_test(p, &done, NULL));
    STATE(tutti_plan_wait(p, NULL));
    STATE(tutti_plan_run(p, buf, 0, NULL));
    CHECK(tutti_plan_explain(p) != NULL, "no text");
    (void)tutti_plan_size(p);
}

static void array_refuses(tutti_array *a) {
    static const tutti_count shape[] = {64, 64};
    const tutti_slice all = tutti_slice_all(2, shape);
    const tutti_tiles_spec spec = {.budget = 1 << 16};
    tutti_request *r = NULL;
    tutti_tiles *t = NULL;
    const double one = 1;
    STATE(tutti_array_read(a, &all, NULL, buf));
    STATE(tutti_array_write(a, &all, NULL, buf));
    STATE(tutti_array_read_independent(a, &all, NULL, buf));
    STATE(tutti_array_write_independent(a, &all, NULL, buf));
    STATE(tutti_array_read_start(a, &all, NULL, buf, &r));
    STATE(tutti_array_write_start(a, &all, NULL, buf, &r));
    STATE(tutti_array_fill(a, &one));
    STATE(tutti_array_resize(a, 10));
    STATE(tutti_array_sync(a));
    STATE(tutti_array_prefetch(a, &all));
    STATE(tutti_array_prefetch_drop(a));
    STATE(tutti_array_copy(a, a, 1 << 16, NULL, NULL));
    STATE(tutti_tiles_begin(a, NULL, &spec, &t));
    CHECK(!r && !t, "something has been made");
}

static void test_stale(void) {
    tutti_access *a = make_access(), *gone = a, *b = make_access();
    tutti_file *f = open_file(), *closed = f;
    tutti_plan *p = NULL, *freed;
    tutti_request *r = NULL, *waited;
    check_where("stale access");
    tutti_access_free(&a);
    CHECK_ERR(tutti_file_write(f, rank == ranks - 1 ? gone : b, buf, NULL), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "freed"), "%s", tutti_last_message());
    CHECK_ERR(tutti_file_write_independent(f, gone, buf, NULL), TUTTI_ERR_STATE);
    tutti_access_free(&gone);
    CHECK(gone == NULL, "not nulled");

    check_where("stale plan");
    CHECK_OK(tutti_plan_write(f, b, &p));
    CHECK_OK(tutti_plan_run(p, buf, 0, NULL));
    freed = p;
    tutti_plan_free(&p);
    plan_refuses(freed);
    tutti_plan_free(&freed);

    check_where("stale request");
    for (int alone = 0; alone < 2; alone++) {
        CHECK_OK(alone ? tutti_file_write_independent_start(f, b, buf, &r)
                       : tutti_file_write_start(f, b, buf, &r));
        waited = r;
        int done = 0;
        CHECK_OK(tutti_request_wait(&r, NULL));
        tutti_request *again = waited;
        STATE(tutti_request_test(&again, &done, NULL));
        CHECK(done == 1 && again == NULL, "done %d", done);
        again = waited;
        STATE(tutti_request_wait(&again, NULL));
        tutti_request_abandon(&waited);
    }

    check_where("stale file");
    CHECK_OK(tutti_file_close(&f));
    file_refuses(closed, b);
    STATE(tutti_file_close(&closed));
    CHECK(closed == NULL, "not nulled");
    tutti_access_free(&b);

    check_where("stale array");
    tutti_array *array = array_made(), *over = array;
    CHECK_OK(tutti_array_close(&array));
    array_refuses(over);
    STATE(tutti_array_close(&over));

    check_where("array without its file");
    array = array_made();
    tutti_file *behind = tutti_array_file(array);
    CHECK_OK(tutti_file_close(&behind));
    array_refuses(array);
    STATE(tutti_array_close(&array));
    CHECK(array == NULL, "not nulled");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/t012", check_dir());
    snprintf(array_path, sizeof array_path, "%s.tutti", path);
    test_stale();

    /* create all objects that can be left open */
    tutti_access *a = make_access();
    tutti_file *f = open_file(), *planned = open_file(), *split = open_file();
    tutti_plan *p = NULL, *started = NULL;
    tutti_request *r = NULL, *alone = NULL, *left = NULL;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    tutti_array *array = array_made(), *walked = NULL;
    static const tutti_count shape[] = {64, 64};
    const tutti_slice all = tutti_slice_all(2, shape);
    const tutti_tiles_spec spec = {.budget = 1 << 16};
    CHECK_OK(tutti_file_write(f, a, buf, NULL));
    CHECK_OK(tutti_plan_write(planned, a, &p));
    CHECK_OK(tutti_plan_write(planned, a, &started));
    CHECK_OK(tutti_plan_start(started, buf, 0));
    CHECK_OK(tutti_file_write_begin(split, a, buf));
    CHECK_OK(tutti_file_write_start(f, a, buf, &r));
    CHECK_OK(tutti_file_write_start(f, a, buf, &left));
    CHECK_OK(tutti_file_read_independent_start(f, a, other, &alone));
    CHECK_OK(tutti_array_open(MPI_COMM_WORLD, array_path, TUTTI_READ, NULL, NULL, &walked));
    CHECK_OK(tutti_tiles_begin(walked, NULL, &spec, &walk));
    CHECK_OK(tutti_tiles_next(walk, &tile));
    CHECK_OK(tutti_array_prefetch(array, &all));
    /* advance pending operations as far as possible, so that no rank is in the middle of a message */
    for (int i = 0; i < 100; i++) {
        tutti_off size;
        usleep(1000);
        CHECK_OK(tutti_file_size(f, &size));
        CHECK_OK(tutti_file_size(planned, &size));
        CHECK_OK(tutti_file_size(split, &size));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path);
        unlink(array_path);
    }
    MPI_Finalize();

    check_where("after MPI_Finalize");
    int done = 0;
    file_refuses(f, a);
    plan_refuses(p);
    plan_refuses(started);
    array_refuses(array);
    STATE(tutti_request_test(&r, &done, NULL));
    STATE(tutti_request_wait(&left, NULL));
    CHECK(done == 1 && !r && !left, "not nulled");
    /* an independent request completes without other ranks */
    CHECK_OK(tutti_request_wait(&alone, NULL));
    STATE(tutti_tiles_next(walk, &tile));
    STATE(tutti_tiles_end(&walk));
    STATE(tutti_array_close(&walked));
    STATE(tutti_array_close(&array));
    STATE(tutti_file_close(&f));
    STATE(tutti_file_close(&split));
    STATE(tutti_file_close(&planned));
    CHECK(!f && !split && !planned && !array && !walk, "not nulled");
    plan_refuses(p); /* the file has been closed before its plans */
    tutti_plan_free(&p);
    tutti_plan_free(&started);
    tutti_access_free(&a);
    STATE(tutti_file_open(MPI_COMM_WORLD, path, MODE, NULL, &f));
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
