/* TEST ranks=2,3,5 timeout=60 */
/* If ranks pass different wrong arguments or paths, or make different calls, all return the code and the
 * message of the lowest rank that fails: files, arrays, replicas, meshes, datasets, decompositions,
 * Exodus files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/exodus.h>
#include "harness.h"

enum { EACH = 10 };
static double values[EACH];

/* Return a path in the directory of the test; if `own`, a different path on each rank. */
static const char *path_of(const char *name, int own) {
    static char path[600];
    snprintf(path, sizeof path, "%s/t796_%s%.0d", check_dir(), name, own ? rank + 1 : 0);
    return path;
}

/* Check that all ranks fail with the same message, which contains `words`, and error rank `who` (-1: none). */
static void fails(tutti_err err, int who, const char *words) {
    CHECK(err != TUTTI_OK, "nothing failed");
    (void)same_everywhere(err);
    CHECK_EQ(tutti_last_error()->rank, who);
    CHECK(strstr(tutti_last_message(), words), "'%s' is not in '%s'", words, tutti_last_message());
    char first[1024];
    snprintf(first, sizeof first, "%s", tutti_last_message());
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(!strcmp(first, tutti_last_message()), "'%s' and '%s'", tutti_last_message(), first);
}

static int last(void) {
    return rank == ranks - 1;
}

static void test_files(void) {
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    const int all = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    check_where("files");
    fails(tutti_file_open(MPI_COMM_WORLD, path_of("none", 1), TUTTI_READ, NULL, &f), 0,
          "t796_none1'");
    fails(tutti_file_open(MPI_COMM_WORLD, path_of("a", 1), all, NULL, &f), 1, "path");
    fails(tutti_file_open(MPI_COMM_WORLD, path_of("none/", 0), TUTTI_READ, NULL, &f), 0,
          "t796_none");
    fails(tutti_file_open(MPI_COMM_WORLD, rank == 0 ? path_of("a", 0) : NULL, all, NULL, &f), 1,
          "path");
    fails(tutti_file_open(MPI_COMM_WORLD, path_of("a", 0), last() ? 0 : all + 4096, NULL, &f), 0,
          "mode");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path_of("a", 0), all, NULL, &f), TUTTI_OK);
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * 80, 80, &a));
    fails(last() ? tutti_file_write(f, NULL, values, NULL) : tutti_file_write(f, a, NULL, NULL), 0,
          "argument buf is NULL");
    fails(last() ? tutti_file_write(f, a, values, NULL) : tutti_file_read(f, a, values, NULL), -1,
          "while rank");
    fails(last() ? tutti_file_sync(f) : tutti_file_resize(f, -5), -1, "while rank");
    fails(tutti_file_resize(f, -5 - rank), 0, "-5");
    tutti_request *r = NULL;
    tutti_err err = tutti_file_write_start(f, rank == 0 ? a : NULL, rank == 0 ? NULL : values, &r);
    if (err == TUTTI_OK) err = tutti_request_wait(&r, NULL);
    fails(err, 0, "argument buf is NULL");
    tutti_access_free(&a);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

static void test_arrays(void) {
    tutti_array *a = NULL;
    tutti_array_spec spec = {.ndims = 1, .shape = {EACH * 8}, .type = TUTTI_FLOAT64};
    check_where("arrays");
    fails(tutti_array_create(MPI_COMM_WORLD, path_of("c", 1), &spec, NULL, &a), -1, "disagree");
    fails(tutti_array_open(MPI_COMM_WORLD, path_of("c", 1), TUTTI_READ, NULL, NULL, &a), -1,
          "disagree");
    fails(tutti_array_open(MPI_COMM_WORLD, path_of("c", 1), 77 + rank, NULL, NULL, &a), 0,
          "t796_c1'");
    fails(tutti_array_open(MPI_COMM_WORLD, path_of("c", 0), TUTTI_READ, NULL, NULL, &a), 0,
          "t796_c'");
    spec.shape[0] = -1 - rank;
    fails(tutti_array_create(MPI_COMM_WORLD, path_of("c", 1), &spec, NULL, &a), 0, "t796_c1'");
    fails(tutti_array_open_raw(MPI_COMM_WORLD, path_of("c", 1), TUTTI_READ, &spec, NULL, &a), 0,
          "t796_c1'");
    spec.shape[0] = EACH * 8;
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path_of("c", 0), &spec, NULL, &a), TUTTI_OK);
    tutti_slice s = {.lo = {rank}, .hi = {1000 + rank}};
    fails(tutti_array_write(a, &s, NULL, values), 0, "1000");
    fails(last() ? tutti_array_write(a, &s, NULL, values) : tutti_array_read(a, &s, NULL, values),
          -1, "while rank");
    fails(last() ? tutti_array_fill(a, values) : tutti_array_close(&a), -1, "while rank");
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
}

static void test_replicas(void) {
    tutti_replicas *r = NULL;
    tutti_file *f = NULL;
    int64_t numbers[2] = {-3 - rank, rank};
    tutti_replicas_spec spec = {.n = 2, .numbers = numbers, .load = 1, .value_bytes = 8};
    check_where("replicas");
    fails(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), 0, "-3");
    spec.n = -1 - rank;
    fails(tutti_replicas_create(MPI_COMM_WORLD, rank == 0 ? &spec : NULL, &r), 0, "-1");
    spec.n = 2;
    numbers[0] = 100 + rank;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), TUTTI_OK);
    CHECK_SAME(
        tutti_file_open(MPI_COMM_WORLD, path_of("r", 0), TUTTI_WRITE | TUTTI_CREATE, NULL, &f),
        TUTTI_OK);
    fails(tutti_replicas_write(f, 0, last() ? NULL : r, last() ? values : NULL, 0), 0, "write");
    fails(tutti_replicas_write(f, 0, r, values, 2 + 2 * rank), 0, "flags");
    fails(last() ? tutti_replicas_write(f, 0, r, values, 0) : tutti_replicas_read(f, 0, r, values),
          -1, "while rank");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_replicas_free(&r);
}

static void test_meshes(void) {
    tutti_mesh *m = NULL;
    tutti_mesh_info info;
    double xyz[6] = {0};
    tutti_mesh_view view = {.nodes = -1 - rank, .coordinates = xyz};
    check_where("meshes");
    fails(tutti_mesh_open(MPI_COMM_WORLD, path_of("m", 1), NULL, &m), -1, "disagree");
    fails(tutti_mesh_open(MPI_COMM_WORLD, path_of("m", 0), NULL, &m), 0, "t796_m");
    fails(tutti_mesh_make(MPI_COMM_WORLD, &view, &m), 0, "-1");
    static const tutti_count none = 0;
    view = (tutti_mesh_view){.nodes = 2, .coordinates = xyz, .start = &none};
    CHECK_SAME(tutti_mesh_make(MPI_COMM_WORLD, &view, &m), TUTTI_OK);
    fails(tutti_mesh_renumber(m, (tutti_mesh_order)(50 + rank)), 0, "50");
    fails(tutti_mesh_write(m, path_of("w", 1), TUTTI_MESH_NATIVE, NULL), -1, "disagree");
    fails(tutti_mesh_write(m, path_of("w", 1), (tutti_mesh_format)(70 + rank), NULL), 0, "70");
    fails(last() ? tutti_mesh_describe(m, &info) : tutti_mesh_renumber(m, TUTTI_MESH_CURVE), -1,
          "while rank");
    tutti_mesh_free(&m);
}

static void test_datasets(void) {
    tutti_dataset *d = NULL;
    tutti_decomposition *p = NULL, *q = NULL;
    const tutti_count size = (tutti_count)EACH * ranks;
    const int all = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    tutti_dataset_options opt;
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    check_where("datasets");
    fails(tutti_dataset_open(MPI_COMM_WORLD, path_of("d", 1), all, &opt, &d), -1, "disagree");
    fails(tutti_dataset_open(MPI_COMM_WORLD, path_of("d", 1), 4096, &opt, &d), 0, "t796_d1'");
    fails(tutti_dataset_open(MPI_COMM_WORLD, path_of("d", 0), TUTTI_READ, &opt, &d), 0, "t796_d'");
    fails(tutti_dataset_repair(MPI_COMM_WORLD, path_of("d", 1), NULL, NULL), -1, "disagree");
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path_of("d", 0), all, &opt, &d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "line", 1, &size), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(
                   d, "u", &(tutti_variable_spec){.space = "line", .type = TUTTI_FLOAT64}),
               TUTTI_OK);
    tutti_count at = 1000 + rank;
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = 1, .index = &at};
    fails(tutti_decomposition_create(d, "line", &spec, &p), 0, "1000");
    fails(tutti_decomposition_create(d, rank == 0 ? "a" : "b", &spec, &p), 0, "'a'");
    spec.kind = last() ? TUTTI_DECOMPOSITION_UNSET : TUTTI_BY_VALUE;
    fails(tutti_decomposition_create(d, "line", &spec, &p), 0, "TUTTI_BY_VALUE");
    spec = (tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = EACH};
    CHECK_SAME(tutti_decomposition_create(d, "line", &spec, &p), TUTTI_OK);
    fails(last() ? tutti_decomposition_create(d, "line", &spec, &q) : tutti_dataset_commit(d), -1,
          "while rank");
    fails(last() ? tutti_dataset_discard(d) : tutti_dataset_commit(d), -1, "while rank");
    fails(tutti_dataset_begin(d, (tutti_segment_kind)(7 + rank), 1, 0), 0, "7");
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 1, 0), TUTTI_OK);
    tutti_put put = {rank == 0 ? "v" : "w", p, TUTTI_FLOAT64, values};
    fails(tutti_dataset_put(d, 1, &put), 0, "'v'");
    put = (tutti_put){"u", last() ? NULL : p, TUTTI_FLOAT64, last() ? values : NULL};
    fails(tutti_dataset_put(d, 1, &put), 0, "u");
    tutti_get get = {"u", p, TUTTI_FLOAT64, values};
    fails(last() ? tutti_dataset_put(d, 1, &put) : tutti_dataset_get(d, 5, 1, &get), -1,
          "while rank");
    fails(tutti_dataset_get(d, 5 + rank, 1, &get), 0, "5");
    fails(tutti_dataset_archive(d, 5 + rank, 9, path_of("x", 1), NULL), 0, "segment");
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void exodus_files(void) {
    tutti_exodus *x = NULL;
    tutti_decomposition *p = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    check_where("Exodus files");
    fails(tutti_exodus_create(MPI_COMM_WORLD, path_of("e", 1), &opt, &x), -1, "disagree");
    fails(tutti_exodus_open(MPI_COMM_WORLD, path_of("e", 1), TUTTI_READ, &opt, &x), -1, "disagree");
    fails(tutti_exodus_open(MPI_COMM_WORLD, path_of("e", 1), 64 + rank, &opt, &x), 0, "t796_e1'");
    fails(tutti_exodus_open(MPI_COMM_WORLD, path_of("e", 0), TUTTI_READ, &opt, &x), 0, "t796_e'");
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path_of("e", 0), &opt, &x), TUTTI_OK);
    const tutti_exodus_parameters wrong = {.dims = 7 + rank};
    fails(tutti_exodus_init(x, &wrong), 0, "7");
    const tutti_exodus_parameters all = {.dims = 2, .nodes = (tutti_count)EACH * ranks};
    CHECK_SAME(tutti_exodus_init(x, &all), TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *const[]){"t"}),
               TUTTI_OK);
    fails(last() ? tutti_exodus_commit(x) : tutti_exodus_begin(x, 0.5), -1, "while rank");
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = -1 - rank};
    fails(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &p), 0, "-1");
    fails(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODE_SET, 5 + rank, &spec, &p), 0, "5");
    spec.n = EACH;
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &p), TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, 0.5), TUTTI_OK);
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = rank == 0 ? "v" : "w",
                                      .type = TUTTI_FLOAT64,
                                      .buf = values,
                                      .entries = p};
    fails(tutti_exodus_put(x, 1, &field), 0, "'v'");
    fails(last() ? tutti_exodus_put(x, 1, &field) : tutti_exodus_get(x, 1, 1, &field), -1,
          "while rank");
    fails(tutti_exodus_get(x, 5 + rank, 1, &field), 0, "5");
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_exodus_discard(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 796);
    test_files();
    test_arrays();
    test_replicas();
    test_meshes();
    test_datasets();
    exodus_files();
    return harness_end();
}
