/* TEST ranks=2,3,5 timeout=60 */
/* One rank passes NULL as r_out to each *_start call and makes no further call: no other rank waits for
 * that rank, and all ranks return TUTTI_ERR_ARG with one message; the same call works afterwards.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/exodus.h>
#include "harness.h"

enum { EACH = 1000, NODES = 12 };
static double values[EACH];
static tutti_file *file;
static tutti_access *own_access;
static tutti_part part;
static tutti_array *array;
static tutti_slice slice;
static tutti_dataset *set;
static tutti_decomposition *entries, *nodes;
static tutti_exodus *exodus;

static const char *path_of(const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/t795_%s", check_dir(), name);
    return path;
}

static tutti_err file_write(tutti_request **r) {
    return tutti_file_write_start(file, own_access, values, r);
}
static tutti_err file_read(tutti_request **r) {
    return tutti_file_read_start(file, own_access, values, r);
}
static tutti_err parts_write(tutti_request **r) {
    return tutti_file_write_parts_start(file, 1, &part, r);
}
static tutti_err parts_read(tutti_request **r) {
    return tutti_file_read_parts_start(file, 1, &part, r);
}
static tutti_err array_write(tutti_request **r) {
    return tutti_array_write_start(array, &slice, NULL, values, r);
}
static tutti_err array_read(tutti_request **r) {
    return tutti_array_read_start(array, &slice, NULL, values, r);
}
static tutti_err dataset_put(tutti_request **r) {
    const tutti_put put = {"u", entries, TUTTI_FLOAT64, values};
    return tutti_dataset_put_start(set, 1, &put, r);
}
static tutti_err dataset_commit(tutti_request **r) {
    return tutti_dataset_commit_start(set, r);
}
static tutti_err dataset_get(tutti_request **r) {
    const tutti_get get = {"u", entries, TUTTI_FLOAT64, values};
    return tutti_dataset_get_start(set, 0, 1, &get, r);
}
static tutti_err exodus_put(tutti_request **r) {
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = "t",
                                      .type = TUTTI_FLOAT64,
                                      .buf = values,
                                      .entries = nodes};
    return tutti_exodus_put_start(exodus, 1, &field, r);
}
static tutti_err exodus_get(tutti_request **r) {
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = "t",
                                      .type = TUTTI_FLOAT64,
                                      .buf = values,
                                      .entries = nodes};
    return tutti_exodus_get_start(exodus, 1, 1, &field, r);
}

/* Return the error `err` of start, or, if start succeeded, the result of wait. */
static tutti_err complete_request(tutti_err err, tutti_request **r) {
    return err == TUTTI_OK && *r ? tutti_request_wait(r, NULL) : err;
}

static void try_start(const char *name, tutti_err (*start)(tutti_request **)) {
    check_where(name);
    for (int culprit = 0; culprit < ranks; culprit += ranks - 1) {
        tutti_request *r = NULL;
        const tutti_err err = start(rank == culprit ? NULL : &r);
        const tutti_err end = rank == culprit ? err : complete_request(err, &r);
        /* the failing rank makes no call of the library before this barrier */
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_SAME(end, TUTTI_ERR_ARG);
        CHECK(r == NULL, "a request is left");
        CHECK_EQ(tutti_last_error()->rank, culprit);
    }
    tutti_request *r = NULL;
    CHECK_SAME(complete_request(start(&r), &r), TUTTI_OK);
}

static void test_files(void) {
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * (tutti_off)sizeof values, sizeof values,
                                     &own_access));
    part = (tutti_part){.access = own_access, .buf = values};
    for (int i = 0; i < 2; i++) {
        const tutti_options opt = options_of(i ? "background=none" : "");
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path_of("a.dat"),
                                   TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &file),
                   TUTTI_OK);
        try_start("file_write_start", file_write);
        try_start("file_read_start", file_read);
        try_start("file_write_parts_start", parts_write);
        try_start("file_read_parts_start", parts_read);
        CHECK_SAME(tutti_file_close(&file), TUTTI_OK);
    }
    tutti_access_free(&own_access);
}

static void test_arrays(void) {
    const tutti_array_spec spec = {
        .ndims = 1, .shape = {(tutti_count)EACH * ranks}, .type = TUTTI_FLOAT64};
    slice = (tutti_slice){.lo = {(tutti_count)EACH * rank}, .hi = {(tutti_count)EACH * (rank + 1)}};
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path_of("a.tta"), &spec, NULL, &array), TUTTI_OK);
    try_start("array_write_start", array_write);
    try_start("array_read_start", array_read);
    CHECK_SAME(tutti_array_close(&array), TUTTI_OK);
}

static void test_datasets(void) {
    const tutti_count size = (tutti_count)EACH * ranks;
    tutti_dataset_options opt;
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path_of("d.tutti"),
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &set),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(set, "line", 1, &size), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(
                   set, "u", &(tutti_variable_spec){.space = "line", .type = TUTTI_FLOAT64}),
               TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(
                   set, "line", &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = EACH},
                   &entries),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(set, TUTTI_STATE, 1, 0), TUTTI_OK);
    try_start("dataset_put_start", dataset_put);
    try_start("dataset_commit_start", dataset_commit);
    try_start("dataset_get_start", dataset_get);
    tutti_decomposition_free(&entries);
    CHECK_SAME(tutti_dataset_close(&set), TUTTI_OK);
}

static void exodus_files(void) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path_of("a.e"), &opt, &exodus), TUTTI_OK);
    const tutti_exodus_parameters all = {.dims = 2, .nodes = (tutti_count)NODES * ranks};
    CHECK_SAME(tutti_exodus_init(exodus, &all), TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(exodus, TUTTI_EXODUS_NODAL, 1, (const char *const[]){"t"}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(exodus), TUTTI_OK);
    CHECK_SAME(tutti_exodus_decomposition(
                   exodus, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = NODES}, &nodes),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(exodus, 0.5), TUTTI_OK);
    try_start("exodus_put_start", exodus_put);
    CHECK_SAME(tutti_exodus_commit(exodus), TUTTI_OK);
    try_start("exodus_get_start", exodus_get);
    tutti_decomposition_free(&nodes);
    CHECK_SAME(tutti_exodus_close(&exodus), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 795);
    test_files();
    test_arrays();
    test_datasets();
    exodus_files();
    return harness_end();
}
