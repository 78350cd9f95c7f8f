/* TEST ranks=1,3 timeout=60 */
/* Invalid calls on all ranks or only on the last one fail with the same error on all ranks, and
 * the handle stays usable. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include <math.h>

static char path[600];
static tutti_exodus_options opt;
static tutti_exodus *x;

/* The last rank passes `other`, all other ranks pass `usual`. */
#define LAST(other, usual) (rank == ranks - 1 ? (other) : (usual))

static void test_opening(void) {
    tutti_exodus *y = NULL;
    char other[640];
    check_where("opening");
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, "", &opt, &y), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_WRITE, &opt, &y), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &y), TUTTI_ERR_NOT_FOUND);
    tutti_exodus_options bad = opt;
    bad.real_bytes = LAST(2, 8);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &bad, &y), TUTTI_ERR_OPTION);
    bad = opt;
    bad.name_length = 300;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &bad, &y), TUTTI_ERR_OPTION);
    bad = opt;
    bad.struct_size = 0;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &bad, &y), TUTTI_ERR_ARG);
    bad = opt;
    bad.integer_bytes = LAST(8, 4);
    if (ranks > 1)
        CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &bad, &y), TUTTI_ERR_MISMATCH);
    snprintf(other, sizeof other, "%s.hdf", path);
    file_put(other, (const unsigned char *)"\x89HDF\r\n\x1a\nwhatever comes behind", 30);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, other, TUTTI_READ, &opt, &y),
               TUTTI_ERR_UNSUPPORTED);
    CHECK(strstr(tutti_last_message(), "nccopy -k cdf5"), "%s", tutti_last_message());
    file_put(other, (const unsigned char *)"a text, and not a short one either", 30);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, other, TUTTI_READ, &opt, &y), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, other, TUTTI_READ | TUTTI_WRITE, &opt, &y),
               TUTTI_ERR_FORMAT);
    CHECK_ERR(tutti_exodus_close(&y), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_exodus_commit(NULL), TUTTI_ERR_ARG);
}

static void test_defining(void) {
    const tutti_exodus_parameters p = {.title = "t", .dims = 3, .nodes = 10};
    tutti_exodus_parameters q = p;
    tutti_exodus_entity e = {
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "TET4", .entries = 5};
    double v[30] = {0};
    check_where("defining");
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    /* tutti_exodus_init has not been called */
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_refresh(x, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_get(x, 1, 0, NULL), TUTTI_ERR_STATE);
    q.dims = LAST(5, 3);
    CHECK_SAME(tutti_exodus_init(x, &q), TUTTI_ERR_ARG);
    q.dims = LAST(2, 3);
    if (ranks > 1) CHECK_SAME(tutti_exodus_init(x, &q), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_init(x, &p), TUTTI_OK);
    e.id = LAST(-1, 1);
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_ERR_ARG);
    e.id = LAST(2, 1);
    if (ranks > 1) CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_ERR_MISMATCH);
    e.id = 1;
    CHECK_EQ(tutti_exodus_entities(x, TUTTI_EXODUS_ELEMENT_BLOCK), 0);
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_OK);
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_ERR_ARG);
    e = (tutti_exodus_entity){.kind = TUTTI_EXODUS_NODE_SET, .id = 4, .entries = 3, .factors = 2};
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_OK);
    /* the set has 3 members, but 2 factors */
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK(access(path, F_OK) != 0, "there is a file");
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &p), TUTTI_OK);
    e = (tutti_exodus_entity){
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "TET4", .entries = 5};
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_OK);
    e.id = 7;
    CHECK_SAME(tutti_exodus_define(x, 1, &e), TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 2,
                                      (const char *[]){"s", LAST("s", "t")}),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 2, (const char *[]){"s", "t"}),
               TUTTI_OK);
    CHECK_SAME(
        tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, (unsigned char[]){1, 1, 1, 0}),
        TUTTI_OK);
    CHECK_SAME(tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "ID", (int64_t[]){1, 2}),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_put_arrays(x, 0, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &p), TUTTI_ERR_STATE);
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                  .kind = TUTTI_EXODUS_NODAL,
                                  .first = LAST(5, 0),
                                  .n = LAST(6, 0),
                                  .type = TUTTI_FLOAT64,
                                  .buf = v};
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &a), TUTTI_ERR_ARG);
    tutti_exodus_array b = a;
    b.first = b.n = 0;
    b.component = 3;
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &b), TUTTI_ERR_ARG);
    b = (tutti_exodus_array){.array_kind = TUTTI_EXODUS_CONNECTIVITY,
                             .kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                             .id = LAST(99, 1),
                             .type = TUTTI_INT32,
                             .buf = v};
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &b), TUTTI_ERR_NOT_FOUND);
    b.id = 1;
    b.array_kind = TUTTI_EXODUS_FACTORS;
    CHECK_SAME(tutti_exodus_get_arrays(x, 1, &b), TUTTI_ERR_NOT_FOUND);
    b.array_kind = TUTTI_EXODUS_CONNECTIVITY;
    b.type = TUTTI_COMPLEX64;
    CHECK_SAME(tutti_exodus_get_arrays(x, 1, &b), TUTTI_ERR_ARG);
    /* if a value does not fit into its type, the array can be written again afterwards */
    const int64_t large[4] = {(int64_t)1 << 40, 1, 2, 3};
    b = (tutti_exodus_array){.array_kind = TUTTI_EXODUS_CONNECTIVITY,
                             .kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                             .id = 7,
                             .n = LAST(1, 0),
                             .type = TUTTI_INT64,
                             .buf = (void *)(uintptr_t)large};
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &b), TUTTI_ERR_VALUE);
    b.buf = (int64_t[]){1, 2, 3, 4};
    CHECK_SAME(tutti_exodus_put_arrays(x, 1, &b), TUTTI_OK);
}

static void test_results(void) {
    double v[10] = {0};
    tutti_decomposition *nodes = NULL, *elements = NULL, *bad = NULL;
    tutti_count at[] = {0, 3};
    check_where("results");
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = 2, .index = at};
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &nodes), TUTTI_OK);
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, &spec, &elements),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, 3, &spec, &bad),
               TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODE_SET, 0, &spec, &bad),
               TUTTI_ERR_NOT_FOUND);
    at[1] = LAST(10, 3);
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &bad), TUTTI_ERR_ARG);
    /* without an id map, ids are 1 to 10, and 6 to 10 in the second block */
    const int64_t ids[] = {6, 10};
    spec = (tutti_decomposition_spec){.kind = TUTTI_BY_VALUE, .n = 2, .ids = ids};
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, 7, &spec, &bad), TUTTI_OK);
    CHECK_OK(tutti_decomposition_positions(bad, at));
    CHECK(at[0] == 0 && at[1] == 4, "%lld %lld", (long long)at[0], (long long)at[1]);
    tutti_decomposition_free(&bad);
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, &spec, &bad),
               TUTTI_ERR_ARG);
    tutti_exodus_field f = {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                            .id = 1,
                            .variable = "s",
                            .type = TUTTI_FLOAT64,
                            .buf = v,
                            .entries = elements};
    CHECK_SAME(tutti_exodus_put(x, 1, &f), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_begin(x, NAN), TUTTI_ERR_ARG);
    if (ranks > 1) CHECK_SAME(tutti_exodus_begin(x, LAST(2, 1)), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_OK);
    /* the mesh must be written first */
    CHECK_SAME(tutti_exodus_put_arrays(x, 0, NULL), TUTTI_ERR_STATE);
    tutti_exodus_field g = f;
    g.variable = LAST("none", "s");
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_NOT_FOUND);
    g.variable = "t";
    g.id = 7; /* block 7 does not have variable "t" */
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_NOT_FOUND);
    CHECK(strstr(tutti_last_message(), "truth table"), "%s", tutti_last_message());
    g = f;
    g.entries = nodes;
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_ARG);
    g = f;
    g.entries = NULL;
    /* there is neither a decomposition nor a mesh */
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_STATE);
    g = f;
    g.buf = LAST(NULL, v);
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_ARG);
    g = f;
    g.type = LAST(TUTTI_FLOAT32, TUTTI_FLOAT64);
    if (ranks > 1) CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_MISMATCH);
    g.kind = TUTTI_EXODUS_GLOBAL;
    CHECK_SAME(tutti_exodus_put(x, 1, &g), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_put_start(x, 1, &f, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_put(x, 1, &f), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_arrays(x, 0, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_get(x, 2, 1, &f), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &f), TUTTI_OK);
    tutti_decomposition_free(&nodes);
    tutti_decomposition_free(&elements);
    /* the decomposition has been freed */
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &f), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_ERR_EXISTS);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/refused.e", dir);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    test_opening();
    test_defining();
    test_results();
    MPI_Finalize();
    return check_done();
}
