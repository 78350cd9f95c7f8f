/* TEST ranks=1,3 timeout=60 */
/* Invalid calls on datasets fail with the same error on all ranks and change nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

static char path[512], other[600];
static tutti_dataset *d;
static tutti_decomposition *rows, *lies;
static double buf[1000];
enum { WIDE = 10, ENTRIES = 40 };

static tutti_err put_values(const char *name, tutti_decomposition *p, tutti_type t) {
    return tutti_dataset_put(d, 1, &(tutti_put){name, p, t, buf});
}

static tutti_err get_values(tutti_count segment, const char *name, tutti_decomposition *p) {
    return tutti_dataset_get(d, segment, 1, &(tutti_get){name, p, TUTTI_FLOAT64, buf});
}

static void test_made(void) {
    const tutti_count shape[2] = {4, WIDE},
                      share = ENTRIES * (rank + 1) / ranks - ENTRIES * rank / ranks;
    const tutti_variable_spec a = {.space = "grid", .type = TUTTI_FLOAT64};
    const tutti_variable_spec small = {.space = "grid", .type = TUTTI_INT8};
    const tutti_variable_spec z = {.space = "grid", .type = TUTTI_COMPLEX64};
    const tutti_decomposition_spec part_spec = {.kind = TUTTI_BY_RANK_ORDER, .n = share};
    const tutti_decomposition_spec none = {.kind = TUTTI_BY_INDEX};
    const tutti_dataset_options opt = visible();
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE, &opt,
                                  &d),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "grid", 2, shape), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "a", &a), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "small", &small), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "z", &z), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "grid", &part_spec, &lies), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "grid", &none, &rows), TUTTI_OK);
}

static void test_opening(void) {
    tutti_dataset *e = NULL;
    tutti_dataset_options opt = visible();
    check_where("opening");
    const int rw = TUTTI_READ | TUTTI_WRITE;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, "", TUTTI_READ, NULL, &e), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, 0, NULL, &e), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_CREATE, NULL, &e),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, rw, &opt, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, rw | TUTTI_CREATE | TUTTI_EXCLUSIVE, &opt, &e),
        TUTTI_ERR_EXISTS);
    snprintf(other, sizeof other, "%s.not", path);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, other, TUTTI_READ, &opt, &e),
               TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, other, rw, &opt, &e), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, rw, &opt, &e), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "open for writing"), "%s", tutti_last_message());
    if (ranks > 1) {
        const char *own_path = rank == ranks - 1 ? other : path;
        CHECK_ERR(tutti_dataset_open(MPI_COMM_WORLD, own_path, TUTTI_READ, &opt, &e),
                  TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, rank ? TUTTI_READ : rw, &opt, &e),
                   TUTTI_ERR_MISMATCH);
    }
    opt.level = 7;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &e), TUTTI_ERR_OPTION);
    CHECK(!e, "a dataset after an error");
    file_put(other, (const unsigned char *)"no dataset", 10);
    opt = visible();
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, other, TUTTI_READ, &opt, &e), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, other, rw | TUTTI_CREATE, &opt, &e),
               TUTTI_ERR_FORMAT);
    file_remove(other);
}

static void test_describing(void) {
    tutti_variable_spec s = {.space = "grid", .type = TUTTI_FLOAT64};
    const tutti_count shape[2] = {4, WIDE}, wrong[2] = {4, -1}, another[2] = {5, WIDE};
    check_where("describing");
    /* an identical definition is allowed */
    CHECK_SAME(tutti_dataset_grid(d, "grid", 2, shape), TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "grid", 2, another), TUTTI_ERR_EXISTS);
    CHECK_SAME(tutti_dataset_grid(d, "g", 2, wrong), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_grid(d, "g", 0, shape), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_grid(d, "g:h", 2, shape), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_grid(d, NULL, 2, shape), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_list(d, "grid"), TUTTI_ERR_EXISTS);
    CHECK_SAME(tutti_dataset_variable(d, "a", &s), TUTTI_OK);
    s.type = TUTTI_INT8;
    CHECK_SAME(tutti_dataset_variable(d, "a", &s), TUTTI_ERR_EXISTS);
    s.fill = 1000;
    CHECK_SAME(tutti_dataset_variable(d, "b", &s), TUTTI_ERR_ARG);
    s = (tutti_variable_spec){.space = "moon", .type = TUTTI_FLOAT64};
    CHECK_SAME(tutti_dataset_variable(d, "b", &s), TUTTI_ERR_NOT_FOUND);
    s = (tutti_variable_spec){.space = "grid", .type = (tutti_type)99};
    CHECK_SAME(tutti_dataset_variable(d, "b", &s), TUTTI_ERR_ARG);
    s = (tutti_variable_spec){.space = "grid", .type = TUTTI_FLOAT64, .reserved = {1}};
    CHECK_SAME(tutti_dataset_variable(d, "b", &s), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_variable(d, "b", NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_put_type(d, "b", TUTTI_INT8), TUTTI_ERR_NOT_FOUND);
    if (ranks == 1) return;
    s = (tutti_variable_spec){.space = "grid", .type = rank ? TUTTI_FLOAT64 : TUTTI_FLOAT32};
    CHECK_SAME(tutti_dataset_variable(d, "b", &s), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_variable(d, rank ? "b" : "c", &s), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_grid(d, "g", 2, rank ? shape : another), TUTTI_ERR_MISMATCH);
    /* the mismatch of calls has precedence over an invalid argument */
    CHECK_ERR(rank ? tutti_dataset_list(d, "l") : tutti_dataset_commit(d), TUTTI_ERR_MISMATCH);
}

static void test_writing(void) {
    check_where("writing");
    tutti_count one = 1;
    CHECK_SAME(put_values("a", lies, TUTTI_FLOAT64), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 5, 0.0 / 0.0), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_begin(d, (tutti_segment_kind)3, 5, 0), TUTTI_ERR_ARG);
    if (ranks > 1) CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 5 + rank, 0), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 5, 1), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 6, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_resize(d, "nodes", 1, &one), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 0, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(put_values("nothing", lies, TUTTI_FLOAT64), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(put_values("a", NULL, TUTTI_FLOAT64), TUTTI_ERR_ARG);
    CHECK_SAME(put_values("a", lies, (tutti_type)55), TUTTI_ERR_ARG);
    CHECK_SAME(put_values("a", lies, TUTTI_COMPLEX64), TUTTI_ERR_ARG);
    CHECK_SAME(put_values("z", lies, TUTTI_FLOAT32), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_put(d, -1, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"a", lies, TUTTI_FLOAT64, NULL}),
               TUTTI_ERR_ARG);
    const tutti_put twice[2] = {{"a", lies, TUTTI_FLOAT64, buf}, {"a", lies, TUTTI_FLOAT64, buf}};
    CHECK_SAME(tutti_dataset_put(d, 2, twice), TUTTI_ERR_ARG);
    if (ranks > 1) {
        CHECK_SAME(put_values(rank ? "a" : "small", lies, TUTTI_FLOAT64), TUTTI_ERR_MISMATCH);
        CHECK_SAME(put_values("a", lies, rank ? TUTTI_FLOAT64 : TUTTI_FLOAT32), TUTTI_ERR_MISMATCH);
        CHECK_SAME(put_values("a", rank ? lies : rows, TUTTI_FLOAT64), TUTTI_ERR_MISMATCH);
    }
    /* no rank has entries: all get the fill value */
    CHECK_SAME(put_values("a", rows, TUTTI_FLOAT64), TUTTI_OK);
    for (int i = 0; i < 1000; i++) buf[i] = i;
    buf[2] = 300;
    CHECK_SAME(put_values("small", lies, TUTTI_FLOAT64), TUTTI_ERR_VALUE);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "small"), "%s", tutti_last_message());
    buf[2] = 2;
    CHECK_SAME(put_values("small", lies, TUTTI_FLOAT64), TUTTI_OK);
    CHECK_SAME(tutti_dataset_erase_after(d, -1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_drop_oldest(d, 0), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 5, 1), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 5, 1), TUTTI_ERR_ARG);
}

static void test_ids(void) {
    int64_t id[2] = {10 + rank, 20 + rank};
    tutti_decomposition *old = NULL;
    const tutti_decomposition_spec none = {.kind = TUTTI_BY_INDEX};
    const tutti_variable_spec v = {.space = "nodes", .type = TUTTI_FLOAT64};
    check_where("ids");
    CHECK_SAME(tutti_decomposition_create(d, "nodes", &none, &old), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_variable(d, "n", &v), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 6, 2), TUTTI_OK);
    id[0] = -1;
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 2, id), TUTTI_ERR_ARG);
    id[0] = 20 + (rank + 1) % ranks;
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 2, id), TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "duplicate"), "%s", tutti_last_message());
    id[0] = 10 + rank;
    CHECK_SAME(tutti_dataset_ids(d, "grid", 2, id), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 2, id), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "nodes", &none, &old), TUTTI_OK);
    CHECK_SAME(put_values("n", old, TUTTI_FLOAT64), TUTTI_OK);
    /* the decomposition is of another space */
    CHECK_SAME(put_values("a", old, TUTTI_FLOAT64), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 2, id), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 7, 2), TUTTI_OK);
    CHECK_SAME(tutti_dataset_resize(d, "nodes", 1, (tutti_count[]){5}), TUTTI_OK);
    /* the decomposition is of an older topology */
    CHECK_SAME(put_values("n", old, TUTTI_FLOAT64), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 7, 2), TUTTI_OK);
    /* the previous definition is valid again */
    CHECK_SAME(put_values("n", old, TUTTI_FLOAT64), TUTTI_OK);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    tutti_decomposition_free(&old);
}

static void test_reading(void) {
    tutti_count n = 0;
    tutti_type type;
    tutti_dataset *e = NULL;
    const tutti_dataset_options opt = visible();
    check_where("reading");
    CHECK_SAME(get_values(9, "a", lies), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(get_values(-1, "a", lies), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(get_values(0, "z", lies), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(get_values(0, "none", lies), TUTTI_ERR_NOT_FOUND);
    if (ranks > 1) CHECK_SAME(get_values(rank != 0, "a", lies), TUTTI_ERR_MISMATCH);
    CHECK_SAME(get_values(0, "a", lies), TUTTI_OK);
    CHECK_ERR(tutti_dataset_find_index(d, TUTTI_STATE, 77, &n), TUTTI_ERR_NOT_FOUND);
    CHECK_ERR(tutti_dataset_find_time(d, TUTTI_STATE, 0.5, &n), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_follow(d, 1, 0, &(tutti_get){"a", lies, TUTTI_FLOAT64, buf}, &n),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_info_get(d, NULL, "none", &type, &n, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "none", (tutti_type)77, 1, buf), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "", TUTTI_FLOAT64, 1, buf), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &e), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(e, TUTTI_STATE, 99, 0), TUTTI_ERR_MODE);
    CHECK_SAME(tutti_dataset_list(e, "x"), TUTTI_ERR_MODE);
    CHECK_SAME(tutti_dataset_erase_after(e, 0), TUTTI_ERR_MODE);
    CHECK_SAME(tutti_dataset_get(e, 0, 1, &(tutti_get){"a", lies, TUTTI_FLOAT64, buf}),
               TUTTI_ERR_ARG); /* the decomposition is of another dataset */
    CHECK_SAME(tutti_dataset_close(&e), TUTTI_OK);
}

/* Ranks pass different arguments or make different calls, for every collective call. */
static void test_apart(void) {
    const int64_t own_value = rank;
    const tutti_count one = 1, shape = 5 + (rank == ranks - 1);
    tutti_count n = 1;
    tutti_type type;
    int64_t value = 0;
    check_where("apart");
    if (ranks == 1) return;
    CHECK_SAME(tutti_dataset_list(d, rank ? "l" : "m"), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_put_type(d, "a", rank ? TUTTI_FLOAT32 : TUTTI_FLOAT64),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "i", TUTTI_INT64, 1, &own_value),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, rank ? "i" : "j", TUTTI_INT64, 1, &one),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_info_get(d, NULL, rank ? "i" : "j", &type, &n, &value),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_erase_after(d, rank != 0), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_drop_oldest(d, rank), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_verify_segment(d, rank != 0, NULL), TUTTI_ERR_MISMATCH);
    CHECK_SAME(
        tutti_dataset_follow(d, 0, rank != 0, &(tutti_get){"a", lies, TUTTI_FLOAT64, buf}, &n),
        TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_begin(d, rank ? TUTTI_STATE : TUTTI_TOPOLOGY, 90, 0),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 90, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_resize(d, "nodes", 1, &shape), TUTTI_ERR_MISMATCH);
    const tutti_err err =
        same_everywhere(tutti_dataset_resize(d, rank ? "nodes" : "grid", 1, &one));
    CHECK(err == TUTTI_ERR_MISMATCH || err == TUTTI_ERR_ARG, "%s", tutti_last_message());
    const tutti_put puts[2] = {{"a", lies, TUTTI_FLOAT64, buf}, {"small", lies, TUTTI_INT8, buf}};
    CHECK_SAME(tutti_dataset_put(d, rank ? 1 : 2, puts), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_put(d, 1, &puts[rank != 0]), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_ERR_STATE);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1261);
    snprintf(path, sizeof path, "%s/t1261.tutti", check_dir());
    dataset_remove(path);
    test_made();
    test_opening();
    test_describing();
    test_writing();
    test_ids();
    test_reading();
    test_apart();
    tutti_decomposition_free(&rows);
    tutti_decomposition_free(&lies);
    tutti_dataset *stale = d;
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK); /* the failed calls have changed nothing */
    CHECK_EQ(tutti_dataset_segments(d), 2);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    CHECK_ERR(tutti_dataset_commit(stale), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_dataset_commit(NULL), TUTTI_ERR_ARG);
    dataset_remove(path);
    return harness_end();
}
