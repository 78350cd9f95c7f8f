/* TEST ranks=1,3 timeout=60 */
/* List the contents of a dataset: rows of spaces, variables and sections, names of infos; verify one segment;
 * invalid calls fail with the same error on all ranks; a dataset whose first writer was killed before it
 * created a table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"

enum { ENTRIES = 3000 };
static char path[512];
static tutti_dataset *d;

static void test_written(void) {
    static double buf[ENTRIES];
    const tutti_count lo = (tutti_count)ENTRIES * rank / ranks,
                      hi = (tutti_count)ENTRIES * (rank + 1) / ranks;
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT32, .units = "m", .fill = 2};
    const tutti_variable_spec w = {.space = "nodes",
                                   .item = TUTTI_SYM_TENSOR,
                                   .components = 3,
                                   .type = TUTTI_INT16,
                                   .layout = TUTTI_RANKED};
    const tutti_decomposition_spec block = {.kind = TUTTI_BY_SLICE,
                                            .slice = {.lo = {lo}, .hi = {hi}}};
    tutti_decomposition *p = NULL;
    const int64_t id = 7 + rank;
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL, &d),
        TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "x", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "u", &u), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    /* ids are stored in a variable of the library */
    CHECK_SAME(tutti_dataset_ids(d, "nodes", 1, &id), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "w", &w), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "x", &block, &p), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 1, 1), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"u", p, TUTTI_FLOAT64, buf}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "b", TUTTI_BYTES, 1, "x"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "a", TUTTI_BYTES, 1, "x"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, &(tutti_info_owner){"u", -1}, "c", TUTTI_BYTES, 1, "x"),
               TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void test_rows(void) {
    tutti_space_row space;
    tutti_variable_row v;
    tutti_section_row s;
    CHECK_EQ(tutti_dataset_spaces(d), 2);
    CHECK_OK(tutti_dataset_space_row(d, 0, &space));
    CHECK(strcmp(space.name, "x") == 0 && !space.is_list && !space.has_ids, "%s", space.name);
    CHECK(space.ndims == 1 && space.shape[0] == ENTRIES, "%d dimensions", space.ndims);
    CHECK_OK(tutti_dataset_space_row(d, 1, &space));
    CHECK(space.is_list && space.has_ids && space.shape[0] == ranks, "%lld nodes",
          (long long)space.shape[0]);
    CHECK_ERR(tutti_dataset_space_row(d, 2, &space), TUTTI_ERR_NOT_FOUND);
    CHECK_ERR(tutti_dataset_space_row(d, -1, &space), TUTTI_ERR_NOT_FOUND);
    CHECK_EQ(tutti_dataset_variables(d), 2);
    CHECK_OK(tutti_dataset_variable_row(d, 0, &v));
    CHECK(strcmp(v.name, "u") == 0 && strcmp(v.spec.units, "m") == 0 && v.spec.fill == 2 &&
              v.values_per_item == 1,
          "%s", v.name);
    CHECK_OK(tutti_dataset_variable_row(d, 1, &v));
    CHECK(strcmp(v.name, "w") == 0 && v.values_per_item == 6 && v.spec.layout == TUTTI_RANKED, "%s",
          v.name);
    CHECK(strcmp(v.spec.space, "nodes") == 0 && v.spec.item == TUTTI_SYM_TENSOR, "%s",
          v.spec.space);
    CHECK_ERR(tutti_dataset_variable_row(d, 2, &v), TUTTI_ERR_NOT_FOUND);
    CHECK_ERR(tutti_dataset_variable_row(d, -1, &v), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_section_row(d, 1, "u", &s), TUTTI_OK);
    CHECK(s.type == TUTTI_FLOAT32 && s.bytes == 4 * ENTRIES && s.has_checksums && s.start > 0,
          "%lld bytes", (long long)s.bytes);
    CHECK(strcmp(s.file, "data-000001.tutti") == 0, "%s", s.file);
    CHECK_SAME(tutti_dataset_section_row(d, 0, "u", &s), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_section_row(d, 1, "none", &s), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_section_row(d, 2, "u", &s), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_section_row(d, rank == 1 ? 5 : 1, "u", &s),
               ranks > 1 ? TUTTI_ERR_NOT_FOUND : TUTTI_OK);
    CHECK_SAME(tutti_dataset_section_row(d, rank == 1 ? 0 : 1, "u", &s),
               ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK);
}

static void test_names(void) {
    char name[128];
    CHECK_SAME(tutti_dataset_info_name(d, NULL, 0, name), TUTTI_OK);
    CHECK(strcmp(name, "a") == 0, "%s", name);
    CHECK_SAME(tutti_dataset_info_name(d, NULL, 1, name), TUTTI_OK);
    CHECK(strcmp(name, "b") == 0, "%s", name);
    CHECK_SAME(tutti_dataset_info_name(d, NULL, 2, name), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_info_name(d, &(tutti_info_owner){"u", -1}, 0, name), TUTTI_OK);
    CHECK(strcmp(name, "c") == 0, "%s", name);
    CHECK_SAME(tutti_dataset_info_name(d, &(tutti_info_owner){NULL, 1}, 0, name),
               TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_info_name(d, &(tutti_info_owner){NULL, 9}, 0, name),
               TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_info_name(d, NULL, rank == 1 ? 1 : 0, name),
               ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_name(d, NULL, -1, name), TUTTI_ERR_ARG);
}

/* Verify a segment and the dataset, before and after the first byte of "u" is changed. */
static void test_checked(void) {
    tutti_section_row s;
    tutti_off bytes = 0;
    CHECK_SAME(tutti_dataset_verify_segment(d, 1, &bytes), TUTTI_OK);
    CHECK_EQ(bytes, 4 * ENTRIES);
    CHECK_SAME(tutti_dataset_verify_segment(d, -1, &bytes), TUTTI_OK);
    CHECK_EQ(bytes, 0);
    CHECK_SAME(tutti_dataset_section_row(d, 1, "u", &s), TUTTI_OK);
    if (rank == 0) {
        char file[1024];
        snprintf(file, sizeof file, "%s/%s", path, s.file);
        const int fd = open(file, O_WRONLY);
        CHECK(pwrite(fd, "X", 1, s.start) == 1, "%s cannot be changed", file);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_verify_segment(d, 1, &bytes), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_dataset_verify_segment(d, 0, &bytes), TUTTI_OK);
    CHECK_SAME(tutti_dataset_verify_segment(d, 2, &bytes), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_verify_segment(d, rank == 1 ? -1 : 0, &bytes),
               ranks > 1 ? TUTTI_ERR_MISMATCH : TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* A reader finds an empty dataset, and after a refresh the data of a writer. */
static void test_empty(void) {
    char file[1024], name[128];
    tutti_dataset *writer = NULL;
    int changed = 0;
    dataset_remove(path);
    if (rank == 0) {
        snprintf(file, sizeof file, "%s/metadata.sqlite", path);
        CHECK(mkdir(path, 0777) == 0, "%s cannot be made", path);
        close(open(file, O_WRONLY | O_CREAT, 0666));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &d), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d) + tutti_dataset_variables(d) + tutti_dataset_spaces(d), 0);
    CHECK_SAME(tutti_dataset_info_name(d, NULL, 0, name), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
    CHECK_EQ(changed, 0);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, &writer), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(writer, TUTTI_STATE, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(writer), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&writer), TUTTI_OK);
    CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
    CHECK(changed && tutti_dataset_segments(d) == 1, "%lld segments",
          (long long)tutti_dataset_segments(d));
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1280);
    snprintf(path, sizeof path, "%s/t1280.tutti", check_dir());
    dataset_remove(path);
    test_written();
    test_rows();
    test_names();
    test_checked();
    test_empty();
    dataset_remove(path);
    return harness_end();
}
