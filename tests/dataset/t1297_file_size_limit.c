/* TEST ranks=1 timeout=60 own=1 */
/* A limit of file sizes (RLIMIT_FSIZE) below the size of the metadata: open, info_set, commit, archive, drop_oldest
 * and repair fail with TUTTI_ERR_NO_SPACE (metadata) or TUTTI_ERR_TOO_BIG (data), the program continues, its
 * signal mask and handlers are unchanged, and without the limit all calls succeed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"
#include "size_limits.h"

enum { ENTRIES = 10, LONG = 200000 };
static char path[512], place[512], text[LONG];
static tutti_dataset *d;
static tutti_decomposition *p;

static tutti_err open_file(int mode) {
    const tutti_dataset_options opt = visible();
    return tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | mode, &opt, &d);
}

static tutti_err write_state(int64_t index) {
    double v[ENTRIES] = {0};
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, index, 0));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_FLOAT64, v}));
    CHECK_OK(tutti_dataset_info_set(d, &(tutti_info_owner){NULL, tutti_dataset_segments(d)}, "long",
                                    TUTTI_INT8, LONG, text));
    return tutti_dataset_commit(d);
}

static void test_described(void) {
    const tutti_variable_spec v = {.space = "line", .type = TUTTI_FLOAT64};
    CHECK_OK(tutti_dataset_grid(d, "line", 1, (tutti_count[]){ENTRIES}));
    CHECK_OK(tutti_dataset_variable(d, "v", &v));
}

static void test_decomposed(void) {
    static const tutti_count index[ENTRIES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = ENTRIES, .index = index};
    CHECK_OK(tutti_decomposition_create(d, "line", &spec, &p));
}

/* ---- data files */

enum { LARGE = 1 << 16 };

static void large_open(void) {
    const tutti_variable_spec spec = {.space = "line", .type = TUTTI_FLOAT64};
    const tutti_decomposition_spec all = {.kind = TUTTI_BY_SLICE, .slice = {.hi = {LARGE}}};
    tutti_dataset_options opt = visible();
    opt.indices_per_file = 2;
    dataset_remove(path);
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                                &d));
    CHECK_OK(tutti_dataset_grid(d, "line", 1, (tutti_count[]){LARGE}));
    CHECK_OK(tutti_dataset_variable(d, "v", &spec));
    CHECK_OK(tutti_dataset_variable(d, "w", &spec));
    CHECK_OK(tutti_decomposition_create(d, "line", &all, &p));
}

static void large_put(int64_t index) {
    static double v[LARGE];
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, index, 0));
    CHECK_OK(tutti_dataset_put(
        d, 2, (tutti_put[]){{"v", p, TUTTI_FLOAT64, v}, {"w", p, TUTTI_FLOAT64, v}}));
}

/* drop_oldest keeps only the topology of the first file, and marks the segments before it as removed. */
static void test_removed(void) {
    check_where("drop_oldest");
    large_open();
    large_put(0);
    CHECK_OK(tutti_dataset_commit(d));
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 1, 0));
    CHECK_OK(tutti_dataset_commit(d));
    large_put(2);
    CHECK_OK(tutti_dataset_commit(d));
    LIMITED(8 * LARGE, tutti_dataset_drop_oldest(d, 1));
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&d));
    CHECK_OK(open_file(0)); /* the file with the mark can be opened */
    CHECK_OK(tutti_dataset_verify(d, NULL));
    CHECK_EQ(tutti_dataset_segments(d), 2);
    CHECK_OK(tutti_dataset_close(&d));
}

int main(int argc, char **argv) {
    char name[600];
    harness_begin(&argc, &argv, 1297);
    snprintf(path, sizeof path, "%s/t1297.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1297.away", check_dir());
    dataset_remove(path);
    dataset_remove(place);
    signal(SIGXFSZ, SIG_DFL);
    check_where("open");
    LIMITED(4096, open_file(TUTTI_CREATE));
    test_described();
    check_where("info_set");
    LIMITED(4096, tutti_dataset_info_set(d, NULL, "long", TUTTI_INT8, LONG, text));
    check_where("commit");
    test_decomposed();
    CHECK_OK(write_state(0));
    double v[ENTRIES] = {0};
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 0));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_FLOAT64, v}));
    LIMITED(4096, tutti_dataset_commit(d));
    CHECK_OK(write_state(2));
    check_where("archive");
    LIMITED(4096, tutti_dataset_archive(d, 0, 0, place, NULL));
    LIMITED(4096, tutti_dataset_restore(d, 0, 0, place));
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&d));
    check_where("repair");
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    CHECK(unlink(name) == 0, "%s", name);
    LIMITED(4096, tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL));
    CHECK_OK(open_file(0));
    CHECK_OK(tutti_dataset_verify(d, NULL));
    CHECK_EQ(tutti_dataset_segments(d), 3);
    CHECK_OK(tutti_dataset_close(&d));
    test_removed();
    dataset_remove(path);
    dataset_remove(place);
    return harness_end();
}
