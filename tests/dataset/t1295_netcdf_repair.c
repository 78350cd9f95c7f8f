/* TEST ranks=1,3 timeout=60 */
/* netCDF data files whose metadata is missing, damaged or of another dataset: repair restores spaces, variables, ids
 * and states from the netCDF headers and changes no data file.  Truncated, damaged and missing data files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include "base/sums.h"
#include "dataset/datasets.h"

enum { NODES = 60, FILES = 3 };
static char path[512];
static tutti_dataset *d;

static const struct {
    const char *name;
    tutti_variable_spec spec;
} variables[] = {
    {"x",
     {.space = "nodes",
      .item = TUTTI_VECTOR,
      .components = 3,
      .type = TUTTI_FLOAT64,
      .units = "m",
      .long_name = "where"}},
    {"u", {.space = "grid", .type = TUTTI_FLOAT32, .fill = -7.5}},
    {"s",
     {.space = "nodes", .item = TUTTI_SYM_TENSOR, .components = 3, .type = TUTTI_INT16, .fill = 3}},
    {"b", {.space = "nodes", .type = TUTTI_BYTES}},
    {"w", {.space = "grid", .item = TUTTI_VALUES, .components = 2, .type = TUTTI_UINT64}},
};
enum { VARIABLES = sizeof variables / sizeof *variables };
static const int numbers[VARIABLES] = {3, 1, 6, 1, 2};

static void open_file(int mode) {
    tutti_dataset_options opt = visible();
    opt.container = TUTTI_CONTAINER_NETCDF;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | mode, &opt, &d), TUTTI_OK);
    some_n = ranks;
    some_rank = rank;
}

/* Write (`puts`) or compare all values of variable `i` in a segment. */
static void write_or_compare(int i, tutti_count segment, int puts) {
    int ndims = 0;
    tutti_count shape[TUTTI_MAX_DIMS], entries = 1;
    const tutti_variable_spec *v = &variables[i].spec;
    const tutti_type type = v->type == TUTTI_BYTES ? TUTTI_BYTES : TUTTI_INT32;
    CHECK_SAME(tutti_dataset_shape(d, v->space, puts ? -1 : segment, &ndims, shape), TUTTI_OK);
    for (int k = 0; k < ndims; k++) entries *= shape[k];
    const distribution how = {.kind = TUTTI_BY_INDEX, .seed = (uint64_t)(puts + i)};
    local_entries l = distribute_entries(d, v->space, puts ? -1 : segment, &how, entries, -1);
    const size_t size = type == TUTTI_BYTES ? 1 : 4;
    char *buf = calloc((size_t)(l.n * numbers[i]) + 1, size),
         *want = calloc((size_t)(l.n * numbers[i]) + 1, size);
    for (tutti_count e = 0; e < l.n * numbers[i]; e++) {
        const int n = number_at(i, segment, l.position[e / numbers[i]], (int)(e % numbers[i]));
        if (type == TUTTI_BYTES)
            want[e] = (char)n;
        else
            ((int32_t *)(void *)want)[e] = n;
    }
    if (puts) {
        CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){variables[i].name, l.p, type, want}),
                   TUTTI_OK);
    } else {
        CHECK_SAME(
            tutti_dataset_get(d, segment, 1, &(tutti_get){variables[i].name, l.p, type, buf}),
            TUTTI_OK);
        CHECK(memcmp(buf, want, (size_t)(l.n * numbers[i]) * size) == 0, "%s in segment %lld",
              variables[i].name, (long long)segment);
    }
    free(buf);
    free(want);
    local_entries_free(&l);
}

/* Write a topology and two states, another topology with one state, and a state with a changed type: three files. */
static void test_made(void) {
    const int64_t index[] = {0, 0, 1, 2, 2, 5};
    tutti_count n = 0;
    dataset_remove(path);
    open_file(TUTTI_WRITE | TUTTI_CREATE);
    CHECK_SAME(tutti_dataset_grid(d, "grid", 2, (tutti_count[]){3, 5}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    for (int i = 0; i < VARIABLES; i++)
        CHECK_SAME(tutti_dataset_variable(d, variables[i].name, &variables[i].spec), TUTTI_OK);
    for (tutti_count g = 0; g < 6; g++) {
        const int topology = g == 0 || g == 3;
        if (g == 5) CHECK_SAME(tutti_dataset_put_type(d, "s", TUTTI_INT64), TUTTI_OK);
        CHECK_SAME(tutti_dataset_begin(d, topology ? TUTTI_TOPOLOGY : TUTTI_STATE, index[g],
                                       (double)g / 4),
                   TUTTI_OK);
        if (topology) {
            int64_t ids[NODES];
            n = g ? NODES / 2 : NODES;
            const tutti_count lo = n * rank / ranks, hi = n * (rank + 1) / ranks;
            for (tutti_count k = lo; k < hi; k++) ids[k - lo] = 1000 - k;
            CHECK_SAME(tutti_dataset_ids(d, "nodes", hi - lo, ids), TUTTI_OK);
            if (g) CHECK_SAME(tutti_dataset_resize(d, "grid", 2, (tutti_count[]){4, 2}), TUTTI_OK);
            write_or_compare(0, g, 1);
        }
        for (int i = 1; i < VARIABLES && !topology; i++) write_or_compare(i, g, 1);
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    }
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void read_checksums(uint64_t checksums[FILES]) {
    char name[600], *bytes = NULL;
    struct stat st;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int f = 0; f < FILES; f++) {
        snprintf(name, sizeof name, "%s/data-%06d.nc", path, f + 1);
        const int fd = open(name, O_RDONLY);
        CHECK(fd >= 0 && fstat(fd, &st) == 0, "%s", name);
        bytes = malloc((size_t)st.st_size);
        CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
        checksums[f] = tutti__checksum_of(bytes, (size_t)st.st_size);
        free(bytes);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Check that the dataset has `n` segments with the values that were written. */
static void check_values(tutti_count n) {
    tutti_segment g;
    tutti_variable_row row;
    open_file(0);
    CHECK_EQ(tutti_dataset_segments(d), n);
    CHECK_EQ(tutti_dataset_container(d), TUTTI_CONTAINER_NETCDF);
    CHECK_EQ(tutti_dataset_variables(d), n ? VARIABLES : 0);
    for (tutti_count i = 0; i < tutti_dataset_variables(d); i++) {
        CHECK_OK(tutti_dataset_variable_row(d, i, &row));
        for (int k = 0; k < VARIABLES; k++) {
            const tutti_variable_spec *v = &variables[k].spec;
            if (strcmp(row.name, variables[k].name) != 0) continue;
            CHECK(row.spec.item == v->item && row.values_per_item == numbers[k] &&
                      row.spec.type == v->type && row.spec.fill == v->fill &&
                      strcmp(row.spec.space, v->space) == 0 &&
                      strcmp(row.spec.units, v->units ? v->units : "") == 0 &&
                      strcmp(row.spec.long_name, v->long_name ? v->long_name : "") == 0,
                  "variable %s is another", row.name);
        }
    }
    for (tutti_count s = 0; s < n && s < tutti_dataset_segments(d); s++) {
        const int topology = s == 0 || s == 3;
        CHECK_OK(tutti_dataset_segment(d, s, &g));
        CHECK(g.kind == (topology ? TUTTI_TOPOLOGY : TUTTI_STATE) && g.time == (double)s / 4,
              "segment %lld is another", (long long)s);
        for (int i = topology ? 0 : 1; i < (topology ? 1 : VARIABLES); i++)
            write_or_compare(i, s, 0);
    }
    if (n) { /* read an entry by its id */
        const distribution how = {.kind = TUTTI_BY_VALUE, .seed = 5};
        local_entries l = {.position = NULL};
        const int64_t id = 1000;
        const tutti_decomposition_spec spec = {.kind = how.kind, .n = 1, .ids = &id};
        double x[3];
        CHECK_SAME(tutti_decomposition_create_at(d, "nodes", 0, &spec, &l.p), TUTTI_OK);
        CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"x", l.p, TUTTI_FLOAT64, x}), TUTTI_OK);
        CHECK(x[1] == number_at(0, 0, 0, 1));
        local_entries_free(&l);
    }
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static tutti_repair_report repair_dataset(void) {
    const tutti_dataset_options opt = visible();
    tutti_repair_report report;
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &opt, &report), TUTTI_OK);
    return report;
}

static void run_shell(const char *what) {
    char command[1200];
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "cd '%s' && %s", path, what);
    if (rank == 0) CHECK(system(command) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    uint64_t before[FILES], after[FILES];
    tutti_repair_report report;
    harness_begin(&argc, &argv, 1295);
    snprintf(path, sizeof path, "%s/t1295.tutti", check_dir());
    test_made();
    read_checksums(before);
    check_values(6);

    check_where("nothing to do");
    report = repair_dataset();
    CHECK(report.rebuilt == 0 && report.lost == 0 && report.damaged == 0 && report.segments == 6);

    check_where("no metadata");
    run_shell("rm metadata.sqlite");
    report = repair_dataset();
    CHECK(report.rebuilt == 1 && report.lost == 0 && report.segments == 6, "%s", report.first_lost);
    check_values(6);
    open_file(TUTTI_WRITE); /* the writer finds nothing to repair */
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    read_checksums(after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    report = repair_dataset();
    CHECK(report.rebuilt == 0 && report.lost == 0);

    check_where("a damaged header beside metadata");
    run_shell("printf XXXX | dd of=data-000002.nc bs=1 seek=60 conv=notrunc 2>/dev/null");
    report = repair_dataset();
    CHECK(report.rebuilt == 0 && report.lost == 0 && report.damaged == 2, "%d", report.rebuilt);
    open_file(TUTTI_WRITE);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    read_checksums(after);
    CHECK(memcmp(before, after, sizeof before) == 0);

    check_where("a data file is cut off, and there are metadata");
    run_shell("cp data-000003.nc keep && truncate -s -1 data-000003.nc");
    report = repair_dataset();
    CHECK(report.rebuilt == 0 && report.lost == 1 && report.segments == 5, "%s", report.first_lost);
    check_values(5);

    check_where("cut off, and no metadata");
    run_shell("mv keep data-000003.nc && rm -f metadata.sqlite *.damaged && truncate -s -9 "
              "data-000001.nc");
    report = repair_dataset();
    CHECK(report.rebuilt == 1 && report.lost == 1 && report.segments == 5, "%s", report.first_lost);
    CHECK(strstr(report.first_lost, "data-000001.nc"), "%s", report.first_lost);

    check_where("a header that cannot be read, and no metadata");
    test_made();
    run_shell("rm metadata.sqlite && printf XXXX | dd of=data-000003.nc bs=1 seek=60 conv=notrunc "
              "2>/dev/null");
    report = repair_dataset();
    CHECK(report.rebuilt == 1 && report.lost == 1 && report.segments == 5, "%s", report.first_lost);
    check_values(5);
    run_shell("test -f data-000003.nc.damaged");
    dataset_remove(path);
    return harness_end();
}
