/* TEST ranks=1,3 timeout=60 */
/* netCDF data files: definitions that netCDF cannot store fail with the same error on all ranks; which changes begin
 * a new file; a commit whose records are not counted in the netCDF header is not part of the dataset; verify
 * reports a damaged header and a writer restores it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include "dataset/datasets.h"

enum { N = 50 };
static char path[512];
static tutti_dataset *d;
static double buf[N];

#define REFUSED(call, why)                                                   \
    do {                                                                     \
        CHECK_SAME(call, TUTTI_ERR_UNSUPPORTED);                             \
        CHECK(strstr(tutti_last_message(), why), "'%s' is not in '%s'", why, \
              tutti_last_message());                                         \
    } while (0)

static void open_file(int mode, int container) {
    tutti_dataset_options opt = visible();
    opt.container = container;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | mode, &opt, &d), TUTTI_OK);
}

static void test_fresh(void) {
    dataset_remove(path);
    open_file(TUTTI_WRITE | TUTTI_CREATE, TUTTI_CONTAINER_NETCDF);
    CHECK_SAME(tutti_dataset_grid(d, "x", 1, (tutti_count[]){N}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
}

static tutti_err add_variable(const char *name, tutti_variable_spec spec) {
    if (!spec.space) spec.space = "x";
    return tutti_dataset_variable(d, name, &spec);
}

static tutti_err put_values(const char *name) {
    const tutti_count lo = (tutti_count)N * rank / ranks, hi = (tutti_count)N * (rank + 1) / ranks;
    const tutti_decomposition_spec block_spec = {.kind = TUTTI_BY_SLICE,
                                                 .slice = {.lo = {lo}, .hi = {hi}}};
    tutti_decomposition *p = NULL;
    CHECK_SAME(tutti_decomposition_create(d, "x", &block_spec, &p), TUTTI_OK);
    const tutti_err err = tutti_dataset_put(d, 1, &(tutti_put){name, p, TUTTI_FLOAT64, buf});
    tutti_decomposition_free(&p);
    return err;
}

static void write_state(int64_t index, const char *names) {
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, (double)index), TUTTI_OK);
    for (const char *n = names; *n; n++) CHECK_SAME(put_values((char[]){*n, 0}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

/* Return the number of the data file that contains a variable of a segment. */
static int file_of(tutti_count segment, const char *name) {
    tutti_section_row row = {.file = ""};
    CHECK_SAME(tutti_dataset_section_row(d, segment, name, &row), TUTTI_OK);
    return atoi(row.file + strlen("data-"));
}

static void names_and_types(void) {
    check_where("names and types");
    test_fresh();
    REFUSED(add_variable("h", (tutti_variable_spec){.type = TUTTI_FLOAT16}), "float16");
    REFUSED(add_variable("z", (tutti_variable_spec){.type = TUTTI_COMPLEX64}), "complex64");
    REFUSED(add_variable("r", (tutti_variable_spec){.type = TUTTI_INT8, .layout = TUTTI_RANKED}),
            "only layout TUTTI_GLOBAL");
    REFUSED(add_variable("c", (tutti_variable_spec){.type = TUTTI_INT8, .compress = 3}),
            "cannot be compressed");
    REFUSED(
        add_variable("l", (tutti_variable_spec){.type = TUTTI_INT8, .order = TUTTI_LITTLE_ENDIAN}),
        "big-endian");
    REFUSED(add_variable("a/b", (tutti_variable_spec){.type = TUTTI_INT8}), "netCDF cannot store");
    REFUSED(add_variable(" a", (tutti_variable_spec){.type = TUTTI_INT8}), "netCDF cannot store");
    REFUSED(add_variable("time", (tutti_variable_spec){.type = TUTTI_INT8}), "reserved");
    REFUSED(add_variable("time_index", (tutti_variable_spec){.type = TUTTI_INT8}), "reserved");
    REFUSED(add_variable("nodes_ids", (tutti_variable_spec){.type = TUTTI_INT8}), "ids of list");
    REFUSED(tutti_dataset_list(d, "time"), "reserved");
    REFUSED(tutti_dataset_list(d, "components_3"), "reserved");
    REFUSED(tutti_dataset_list(d, "x_0"), "would have the same name");
    REFUSED(tutti_dataset_grid(d, "a/b", 1, (tutti_count[]){3}), "netCDF cannot store");
    CHECK_SAME(tutti_dataset_list(d, "y_3"), TUTTI_OK);
    REFUSED(tutti_dataset_grid(d, "y", 1, (tutti_count[]){3}), "would have the same name");
    CHECK_SAME(add_variable("a", (tutti_variable_spec){.type = TUTTI_FLOAT32}), TUTTI_OK);
    CHECK_SAME(
        add_variable("b", (tutti_variable_spec){.type = TUTTI_INT8, .order = TUTTI_BIG_ENDIAN}),
        TUTTI_OK);
    CHECK_SAME(add_variable("b", (tutti_variable_spec){.type = TUTTI_INT8}), TUTTI_OK);
    REFUSED(tutti_dataset_put_type(d, "a", TUTTI_FLOAT16), "float16");
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void no_entries(void) {
    const tutti_decomposition_spec none = {.kind = TUTTI_BY_RANK_ORDER};
    tutti_decomposition *p = NULL;
    check_where("no entries");
    test_fresh();
    CHECK_SAME(add_variable("e", (tutti_variable_spec){.space = "nodes", .type = TUTTI_INT8}),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    REFUSED(tutti_dataset_ids(d, "nodes", 0, NULL), "length 0");
    CHECK_SAME(tutti_dataset_resize(d, "nodes", 1, (tutti_count[]){0}), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "nodes", &none, &p), TUTTI_OK);
    REFUSED(tutti_dataset_put(d, 1, &(tutti_put){"e", p, TUTTI_INT8, buf}), "length 0");
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK); /* a topology without sections is allowed */
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(TUTTI_WRITE, TUTTI_CONTAINER_NATIVE);
    /* a dataset keeps its container */
    CHECK_EQ(tutti_dataset_container(d), TUTTI_CONTAINER_NETCDF);
    CHECK_EQ(tutti_dataset_segments(d), 1);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_states(void) {
    check_where("states");
    test_fresh();
    for (const char *n = "abcd"; *n; n++)
        CHECK_SAME(add_variable((char[]){*n, 0}, (tutti_variable_spec){.type = TUTTI_FLOAT32}),
                   TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    CHECK_SAME(put_values("a"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    REFUSED(put_values("a"), "cannot store it in states as well");
    CHECK_SAME(put_values("c"), TUTTI_OK);
    CHECK_SAME(put_values("b"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 1, 1), TUTTI_OK);
    CHECK_SAME(put_values("b"), TUTTI_OK);
    REFUSED(put_values("d"), "have the same variables");
    REFUSED(tutti_dataset_commit(d), "'c' has not been written");
    REFUSED(tutti_dataset_begin_also(d, TUTTI_STATE, 2, 2), "'c' has not been written");
    CHECK_SAME(tutti_dataset_put_type(d, "c", TUTTI_INT16), TUTTI_OK);
    REFUSED(put_values("c"), "before the segment begins");
    CHECK_SAME(tutti_dataset_put_type(d, "c", TUTTI_FLOAT32), TUTTI_OK);
    CHECK_SAME(put_values("c"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    REFUSED(tutti_dataset_archive(d, 1, 1, path, NULL), "cannot be archived");
    /* these changes of types and variables begin another file */
    CHECK_SAME(tutti_dataset_put_type(d, "c", TUTTI_INT16), TUTTI_OK);
    write_state(2, "bc");
    CHECK_SAME(add_variable("e", (tutti_variable_spec){.type = TUTTI_INT64}), TUTTI_OK);
    write_state(3, "bec");
    write_state(4, "ceb");
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 5, 5), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 5, 5), TUTTI_OK);
    CHECK_SAME(put_values("d"), TUTTI_OK);
    CHECK_SAME(put_values("a"), TUTTI_OK); /* the previous file does not contain variable "a" */
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_EQ(file_of(1, "b"), 1);
    CHECK_EQ(file_of(2, "b"), 1);
    CHECK_EQ(file_of(3, "c"), 2);
    CHECK_EQ(file_of(4, "e"), 3);
    CHECK_EQ(file_of(5, "e"), 3);
    CHECK_EQ(file_of(7, "a"), 4);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    /* after the same definitions, the same file is continued */
    open_file(TUTTI_WRITE, TUTTI_CONTAINER_NETCDF);
    write_state(6, "ad");
    CHECK_EQ(file_of(8, "a"), 4);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_containers(void) {
    tutti_dataset_options opt = visible();
    check_where("containers");
    dataset_remove(path);
    opt.container = 7;
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_ERR_OPTION);
    open_file(TUTTI_WRITE | TUTTI_CREATE, TUTTI_CONTAINER_NATIVE);
    CHECK_SAME(tutti_dataset_grid(d, "x", 1, (tutti_count[]){N}), TUTTI_OK);
    CHECK_SAME(add_variable("a", (tutti_variable_spec){.type = TUTTI_FLOAT32}), TUTTI_OK);
    write_state(0, "a");
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    opt.container = TUTTI_CONTAINER_NETCDF;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &d),
               TUTTI_ERR_EXISTS);
    /* truncating may change the container */
    open_file(TUTTI_WRITE | TUTTI_TRUNCATE, TUTTI_CONTAINER_NETCDF);
    CHECK_EQ(tutti_dataset_container(d), TUTTI_CONTAINER_NETCDF);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(TUTTI_WRITE | TUTTI_TRUNCATE, TUTTI_CONTAINER_NATIVE);
    CHECK_EQ(tutti_dataset_container(d), TUTTI_CONTAINER_NATIVE);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* Overwrite 8 bytes at offset `at` of data file number `file` with `v`, big-endian. */
static void overwrite_word(int file, off_t at, uint64_t v) {
    char name[600];
    unsigned char word[8];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(name, sizeof name, "%s/data-%06d.nc", path, file);
        for (int i = 0; i < 8; i++) word[i] = (unsigned char)(v >> 8 * (7 - i));
        const int fd = open(name, O_RDWR);
        CHECK(fd >= 0 && pwrite(fd, word, 8, at) == 8);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A commit is in the database, but the netCDF header does not count its record. */
static void not_counted(void) {
    check_where("not counted");
    test_fresh();
    CHECK_SAME(add_variable("a", (tutti_variable_spec){.type = TUTTI_FLOAT32}), TUTTI_OK);
    write_state(0, "a");
    write_state(1, "a");
    /* write a topology and two states on it in one commit */
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 2, 2), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 2, 2), TUTTI_OK);
    CHECK_SAME(put_values("a"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 3, 3), TUTTI_OK);
    CHECK_SAME(put_values("a"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    for (int counted = 2; counted >= 1; counted--) {
        overwrite_word(2, 4, (uint64_t)counted);
        open_file(0, 0);
        CHECK_EQ(tutti_dataset_segments(d), counted == 2 ? 5 : 2);
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    }
    open_file(TUTTI_WRITE, TUTTI_CONTAINER_NETCDF);
    CHECK_EQ(tutti_dataset_segments(d), 2);
    write_state(2, "a"); /* the unfinished segment has left no data */
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(0, 0);
    CHECK_EQ(tutti_dataset_segments(d), 3);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_damaged(void) {
    tutti_section_row row = {0};
    check_where("damaged");
    test_fresh();
    CHECK_SAME(add_variable("a", (tutti_variable_spec){.type = TUTTI_FLOAT64}), TUTTI_OK);
    CHECK_SAME(add_variable("b", (tutti_variable_spec){.type = TUTTI_FLOAT64}), TUTTI_OK);
    write_state(0, "ab");
    write_state(1, "ab");
    CHECK_SAME(tutti_dataset_section_row(d, 1, "b", &row), TUTTI_OK);
    CHECK_EQ(row.has_checksums, 1);
    overwrite_word(1, row.start + 80, 12345);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_ERR_FORMAT);
    CHECK(strstr(tutti_last_message(), "'b' in segment 1"), "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_verify_segment(d, 0, NULL), TUTTI_OK);
    overwrite_word(1, row.start + 80, 0);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    overwrite_word(1, 40, 0x1122334455667788); /* overwrite a word of the header */
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(0, 0); /* the library reads without the netCDF header */
    CHECK_EQ(tutti_dataset_segments(d), 2);
    CHECK_SAME(tutti_dataset_verify_segment(d, -1, NULL), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_dataset_verify_segment(d, 1, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(TUTTI_WRITE, TUTTI_CONTAINER_NETCDF); /* a writer restores the header */
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1293);
    snprintf(path, sizeof path, "%s/t1293.tutti", check_dir());
    names_and_types();
    no_entries();
    test_states();
    test_containers();
    not_counted();
    test_damaged();
    dataset_remove(path);
    return harness_end();
}
