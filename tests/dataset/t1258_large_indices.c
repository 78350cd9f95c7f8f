/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Time indices beyond 32 bits: segments keep their order and are found by index after a commit, in another
 * handle, after a repair from the data files alone, and after an archive has been restored.  An index smaller
 * than the last is still refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { ENTRIES = 8, SEGMENTS = 4 };
static const int64_t INDEX[SEGMENTS] = {INT32_MAX, (int64_t)1 << 32, ((int64_t)1 << 32) + 1,
                                        ((int64_t)1 << 53) + 1};
static char path[512], place[512];
static tutti_dataset *d;
static int container;

static void open_file(int mode) {
    tutti_dataset_options opt = visible();
    opt.container = container;
    opt.indices_per_file = container == TUTTI_CONTAINER_NATIVE ? 1 : 0;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | mode, &opt, &d), TUTTI_OK);
}

/* Create a decomposition in which rank 0 has all entries. */
static tutti_decomposition *all_on_root(void) {
    tutti_decomposition *p = NULL;
    tutti_count index[ENTRIES];
    for (tutti_count i = 0; i < ENTRIES; i++) index[i] = i;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = rank == 0 ? ENTRIES : 0, .index = index};
    CHECK_SAME(tutti_decomposition_create(d, "line", &spec, &p), TUTTI_OK);
    return p;
}

static void test_written(void) {
    open_file(TUTTI_WRITE | TUTTI_CREATE);
    CHECK_SAME(tutti_dataset_grid(d, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    const tutti_variable_spec spec = {.space = "line", .type = TUTTI_INT64};
    CHECK_SAME(tutti_dataset_variable(d, "v", &spec), TUTTI_OK);
    tutti_decomposition *p = all_on_root();
    for (int k = 0; k < SEGMENTS; k++) {
        int64_t buf[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) buf[i] = INDEX[k] - i;
        CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, INDEX[k], k), TUTTI_OK);
        CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_INT64, buf}), TUTTI_OK);
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    }
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, INDEX[2], SEGMENTS), TUTTI_ERR_ARG);
    tutti_decomposition_free(&p);
}

/* Check that all segments have the indices and values that were written. */
static void check_values(const char *when) {
    check_where(when);
    tutti_decomposition *p = all_on_root();
    CHECK_EQ(tutti_dataset_segments(d), SEGMENTS);
    for (int k = 0; k < SEGMENTS; k++) {
        tutti_segment s;
        tutti_count number = -1;
        int64_t buf[ENTRIES] = {0};
        CHECK_SAME(tutti_dataset_segment(d, k, &s), TUTTI_OK);
        CHECK_EQ(s.index, INDEX[k]);
        CHECK_SAME(tutti_dataset_find_index(d, TUTTI_STATE, INDEX[k], &number), TUTTI_OK);
        CHECK_EQ(number, k);
        CHECK_SAME(tutti_dataset_get(d, k, 1, &(tutti_get){"v", p, TUTTI_INT64, buf}), TUTTI_OK);
        for (int i = 0; i < ENTRIES && rank == 0; i++) CHECK_EQ(buf[i], INDEX[k] - i);
    }
    CHECK_SAME(tutti_dataset_find_index(d, TUTTI_STATE, 1, &(tutti_count){0}), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void reopened(int mode) {
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(mode);
}

/* Repair from the data files alone restores all indices. */
static void test_repaired(void) {
    char meta[600];
    tutti_repair_report report;
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    snprintf(meta, sizeof meta, "%s/metadata.sqlite", path);
    if (rank == 0) CHECK_EQ(unlink(meta), 0);
    const tutti_dataset_options opt = visible();
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &opt, &report), TUTTI_OK);
    CHECK_EQ(report.segments, SEGMENTS);
    CHECK_EQ(report.rebuilt, 1);
    open_file(0);
    check_values("repaired");
}

static void test_archived(void) {
    reopened(TUTTI_WRITE);
    CHECK_SAME(tutti_dataset_archive(d, 0, SEGMENTS - 1, place, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_restore(d, 0, SEGMENTS - 1, place), TUTTI_OK);
    check_values("archived and restored");
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1258);
    snprintf(path, sizeof path, "%s/t1258.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1258.away", check_dir());
    for (container = 0; container < 2; container++) {
        test_written();
        check_values("the writer");
        reopened(0);
        check_values("another handle");
        test_repaired();
        if (container == TUTTI_CONTAINER_NATIVE) test_archived();
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
        dataset_remove(path);
        dataset_remove(place);
    }
    return harness_end();
}
