/* TEST ranks=16,64 timeout=60 */
/* Bytes on a simulated machine: files are written in three patterns, read back in the same pattern and as
 * contiguous shares, and compared with a plain read; a dataset is written by blocks and read by rows and by
 * indices; an Exodus mesh and a time step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <mpi.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "check.h"

enum { ITEM = 8, ITEMS = 512, SHARE = ITEM * ITEMS }; /* SHARE: bytes per rank */

static int rank, ranks, down, across;
static tutti_options options;
static char path[512];

/* Return the byte of every file at an offset. */
static unsigned char byte_at(tutti_off offset) {
    uint64_t z = (uint64_t)offset * 0x9e3779b97f4a7c15u;
    z ^= z >> 29;
    return (unsigned char)(z * 0xbf58476d1ce4e5b9u >> 56);
}

static void in_directory(const char *name) {
    snprintf(path, sizeof path, "%s/%s", check_dir(), name);
}

/* ---- files */

typedef tutti_err pattern_fn(tutti_access **out);

static tutti_err block_block(tutti_access **out) {
    const tutti_count rows = 16, columns = SHARE / rows;
    tutti_section s = {.ndims = 2, .element_size = 1, .shape = {rows * down, columns * across}};
    const int at[2] = {rank / across, rank % across};
    for (int d = 0; d < 2; d++) s.lo[d] = at[d] * (d ? columns : rows);
    for (int d = 0; d < 2; d++) s.hi[d] = s.lo[d] + (d ? columns : rows);
    return tutti_access_section(&s, NULL, out);
}

static tutti_err cyclic_rows(tutti_access **out) {
    const tutti_off row = 256;
    return tutti_access_vector(rank * row, SHARE / row, row, row * ranks, out);
}

/* Create an access in which item i of rank r is item (ITEMS r + i) * 77 mod N of the file: a
 * permutation, since N is a power of two. */
static tutti_err irregular(tutti_access **out) {
    tutti_count index[ITEMS];
    for (tutti_count i = 0; i < ITEMS; i++)
        index[i] = (ITEMS * (tutti_count)rank + i) * 77 % (ITEMS * (tutti_count)ranks);
    return tutti_access_indices(0, ITEM, ITEMS, index, out);
}

/* Fill memory with the bytes of an access. */
static void fill(const tutti_access *a, unsigned char *bytes) {
    tutti_access_iter *it = NULL;
    tutti_piece p;
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    while (tutti_access_iter_next(it, &p))
        for (tutti_off k = 0; k < p.bytes; k++) bytes[p.memory + k] = byte_at(p.file + k);
    tutti_access_iter_free(&it);
}

static void read_and_compare(tutti_file *f, const tutti_access *a, const char *what) {
    static unsigned char expected[SHARE], got[SHARE];
    tutti_off n = 0;
    check_where(what);
    memset(got, 0, sizeof got);
    fill(a, expected);
    CHECK_OK(tutti_file_read(f, a, got, &n));
    CHECK_EQ(n, SHARE);
    CHECK(!memcmp(got, expected, sizeof got), "bytes differ on rank %d", rank);
}

static void compare_plainly(void) {
    const size_t all = (size_t)SHARE * (size_t)ranks;
    if (rank != 0) return;
    unsigned char *got = malloc(all);
    const int fd = open(path, O_RDONLY);
    CHECK_EQ(read(fd, got, all), all);
    for (size_t i = 0; i < all; i++)
        if (got[i] != byte_at((tutti_off)i)) {
            CHECK(0, "byte %zu differs", i);
            break;
        }
    close(fd);
    free(got);
}

static void check_file(const char *name, pattern_fn *pattern) {
    static unsigned char bytes[SHARE];
    tutti_access *a = NULL, *share = NULL;
    tutti_file *f = NULL;
    in_directory(name);
    check_where(name);
    CHECK_OK(pattern(&a));
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * SHARE, SHARE, &share));
    fill(a, bytes);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                             &options, &f));
    CHECK_OK(tutti_file_write(f, a, bytes, NULL));
    read_and_compare(f, a, name);
    read_and_compare(f, share, name);
    CHECK_OK(tutti_file_write(f, a, bytes, NULL)); /* this write uses the cached plan */
    CHECK_OK(tutti_file_close(&f));
    compare_plainly();
    tutti_access_free(&a);
    tutti_access_free(&share);
}

/* ---- a dataset */

static tutti_decomposition_spec rows_of(tutti_count rows, tutti_count columns) {
    tutti_decomposition_spec s = {.kind = TUTTI_BY_SLICE};
    s.slice.lo[0] = rank * rows;
    s.slice.hi[0] = (rank + 1) * rows;
    s.slice.hi[1] = columns;
    return s;
}

static void check_dataset(void) {
    const tutti_count rows = 16, columns = ITEMS / rows, shape[2] = {rows * down, columns * across};
    const tutti_count own = shape[0] * shape[1] / ranks;
    const tutti_variable_spec spec = {.space = "grid", .type = TUTTI_FLOAT64};
    tutti_decomposition_spec block = {.kind = TUTTI_BY_SLICE};
    tutti_decomposition *blocks = NULL, *lines = NULL;
    tutti_dataset_options opt;
    tutti_dataset *d = NULL;
    static double v[ITEMS];
    in_directory("dataset.tut");
    check_where("dataset");
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.io = &options;
    block.slice.lo[0] = rank / across * rows, block.slice.hi[0] = block.slice.lo[0] + rows;
    block.slice.lo[1] = rank % across * columns, block.slice.hi[1] = block.slice.lo[1] + columns;
    for (tutti_count i = 0; i < ITEMS; i++)
        v[i] = (double)((block.slice.lo[0] + i / columns) * shape[1] + block.slice.lo[1] +
                        i % columns);
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                                &d));
    CHECK_OK(tutti_dataset_grid(d, "grid", 2, shape));
    CHECK_OK(tutti_dataset_variable(d, "t", &spec));
    CHECK_OK(tutti_decomposition_create(d, "grid", &block, &blocks));
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"t", blocks, TUTTI_FLOAT64, v}));
    CHECK_OK(tutti_dataset_commit(d));
    tutti_decomposition_free(&blocks);
    CHECK_OK(tutti_dataset_close(&d));

    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &d));
    tutti_decomposition_spec by_rows = rows_of(shape[0] / ranks, shape[1]);
    tutti_count index[ITEMS];
    for (tutti_count i = 0; i < own; i++) index[i] = (own * rank + i) * 77 % (own * ranks);
    if (shape[0] % ranks == 0) {
        CHECK_OK(tutti_decomposition_create(d, "grid", &by_rows, &lines));
        CHECK_OK(tutti_dataset_get(d, 0, 1, &(tutti_get){"t", lines, TUTTI_FLOAT64, v}));
        for (tutti_count i = 0; i < own; i++) CHECK(v[i] == (double)(own * rank + i), "row entry");
        tutti_decomposition_free(&lines);
    }
    CHECK_OK(tutti_decomposition_create(
        d, "grid", &(tutti_decomposition_spec){.kind = TUTTI_BY_INDEX, .n = own, .index = index},
        &lines));
    CHECK_OK(tutti_dataset_get(d, 0, 1, &(tutti_get){"t", lines, TUTTI_FLOAT64, v}));
    for (tutti_count i = 0; i < own; i++) CHECK(v[i] == (double)index[i], "entry by index");
    tutti_decomposition_free(&lines);
    CHECK_OK(tutti_dataset_verify(d, NULL));
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- an Exodus file: a chain of bars; consecutive ranks share a node */

enum { BARS = 8 };

static void check_exodus(void) {
    int64_t node_id[BARS + 1], id[BARS];
    tutti_count node[2 * BARS];
    double x[BARS + 1], t[BARS + 1];
    for (int i = 0; i <= BARS; i++) {
        node_id[i] = 1 + rank * BARS + i;
        x[i] = (double)node_id[i];
        t[i] = 100 * x[i];
    }
    for (int i = 0; i < BARS; i++) {
        id[i] = 1 + rank * BARS + i;
        node[2 * i] = i, node[2 * i + 1] = i + 1;
    }
    const tutti_exodus_elements bars = {.n = BARS, .ids = id, .nodes = node};
    const tutti_exodus_mesh mesh = {
        .nodes = BARS + 1, .node_ids = node_id, .coordinates = {x}, .blocks = &bars};
    const tutti_exodus_mesh *got = NULL;
    const tutti_exodus_distribution order = {.partitioner = TUTTI_EXODUS_BY_ORDER};
    tutti_exodus_field field = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "t", .type = TUTTI_FLOAT64, .buf = t};
    tutti_exodus_options opt;
    tutti_exodus *e = NULL;
    in_directory("bars.e");
    check_where("Exodus");
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.io = &options;
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &e));
    CHECK_OK(tutti_exodus_init(e, &(tutti_exodus_parameters){.title = "bars", .dims = 1}));
    CHECK_OK(tutti_exodus_define(
        e, 1,
        &(tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "BAR2"}));
    CHECK_OK(tutti_exodus_variables(e, TUTTI_EXODUS_NODAL, 1, (const char *[]){"t"}));
    CHECK_OK(tutti_exodus_put_mesh(e, &mesh));
    CHECK_OK(tutti_exodus_begin(e, 0));
    CHECK_OK(tutti_exodus_put(e, 1, &field));
    CHECK_OK(tutti_exodus_commit(e));
    CHECK_OK(tutti_exodus_close(&e));

    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &e));
    CHECK_OK(tutti_exodus_get_mesh(e, &order, &got));
    double *read = calloc((size_t)got->nodes + 1, sizeof *read);
    field.buf = read;
    CHECK_OK(tutti_exodus_get(e, 1, 1, &field));
    for (tutti_count i = 0; i < got->nodes; i++) {
        const double expected = (double)got->node_ids[i];
        CHECK(((const double *)got->coordinates[0])[i] == expected, "coordinate");
        CHECK(read[i] == 100 * expected, "result");
    }
    free(read);
    CHECK_OK(tutti_exodus_close(&e));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (down = 1; 4 * down * down <= ranks;) down *= 2;
    across = ranks / down;
    tutti_options_init(&options);
    CHECK_OK(tutti_options_set(&options, "exchange", "two-sided"));
    check_file("block-block", block_block);
    check_file("cyclic-rows", cyclic_rows);
    check_file("irregular", irregular);
    check_dataset();
    check_exodus();
    MPI_Finalize();
    return check_done();
}
