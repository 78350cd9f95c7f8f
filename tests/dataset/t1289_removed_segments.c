/* TEST ranks=1,2,3,5,8 timeout=120 */
/* A writer removes a segment: every call of a reader on this segment fails with TUTTI_ERR_STATE, regardless of how the
 * segment, its file or the dataset was removed, and of whether the reader has used the segment before.
 * After a refresh the reader can read all existing segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { ENTRIES = 300, STATES = 6, VARIABLES = 3, SEGMENT = 2, POINTS = 5 };
static char path[512], place[512];
static tutti_dataset *w, *d;
static tutti_decomposition *wp, *p;
static int container, per_file;
static double got[STATES * ENTRIES];
static const char *const NAMES[VARIABLES] = {"global", "compressed", "ranked"};

static int variables(void) {
    return container == TUTTI_CONTAINER_NATIVE ? VARIABLES : 1;
}

static tutti_decomposition *block(tutti_dataset *of) {
    tutti_decomposition *b = NULL;
    tutti_count index[ENTRIES];
    const tutti_count lo = ENTRIES * rank / ranks, hi = ENTRIES * (rank + 1) / ranks;
    for (tutti_count i = lo; i < hi; i++) index[i - lo] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = hi - lo, .index = index};
    CHECK_SAME(tutti_decomposition_create(of, "line", &spec, &b), TUTTI_OK);
    return b;
}

/* Return the ids of the points of this rank in segment 0. */
static void ids_of(int64_t ids_out[POINTS]) {
    for (int i = 0; i < POINTS; i++) ids_out[i] = 1000 - POINTS * rank - i;
}

static void test_topology(void) {
    int64_t ids[POINTS];
    ids_of(ids);
    CHECK_SAME(tutti_dataset_begin(w, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_ids(w, "points", POINTS, ids), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(w), TUTTI_OK);
}

static void test_states(void) {
    double buf[ENTRIES] = {0};
    test_topology();
    for (int64_t k = 0; k < STATES; k++) {
        CHECK_SAME(tutti_dataset_begin(w, TUTTI_STATE, k, 0), TUTTI_OK);
        for (int v = 0; v < variables(); v++)
            CHECK_SAME(tutti_dataset_put(w, 1, &(tutti_put){NAMES[v], wp, TUTTI_FLOAT64, buf}),
                       TUTTI_OK);
        const tutti_info_owner now = {NULL, tutti_dataset_segments(w)};
        CHECK_SAME(tutti_dataset_info_set(w, &now, "note", TUTTI_BYTES, 1, "x"), TUTTI_OK);
        CHECK_SAME(tutti_dataset_commit(w), TUTTI_OK);
    }
}

static void write_dataset(int mode) {
    tutti_dataset_options opt = visible();
    opt.container = container;
    opt.indices_per_file = per_file;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | mode, &opt, &w),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(w, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(w, "points"), TUTTI_OK);
    for (int v = 0; v < variables(); v++) {
        const tutti_variable_spec spec = {.space = "line",
                                          .type = TUTTI_FLOAT64,
                                          .order = TUTTI_BIG_ENDIAN,
                                          .compress = v == 1 ? 3 : 0,
                                          .layout = v == 2 ? TUTTI_RANKED : TUTTI_GLOBAL};
        CHECK_SAME(tutti_dataset_variable(w, NAMES[v], &spec), TUTTI_OK);
    }
    wp = block(w);
    test_states();
}

static void close_writer(void) {
    tutti_decomposition_free(&wp);
    CHECK_SAME(tutti_dataset_close(&w), TUTTI_OK);
}

/* ---- operations that remove the segment SEGMENT, which is the state with index 1 */

static void test_dropped(void) {
    CHECK_SAME(tutti_dataset_drop_oldest(w, 1), TUTTI_OK);
}

static void test_archived(void) {
    CHECK_SAME(tutti_dataset_archive(w, 0, STATES - 2, place, NULL), TUTTI_OK);
}

static void test_erased(void) {
    CHECK_SAME(tutti_dataset_erase_after(w, SEGMENT - 1), TUTTI_OK);
}

/* Other segments with the same file names, offsets and time indices replace the removed segments. */
static void test_reused(void) {
    CHECK_SAME(tutti_dataset_erase_after(w, -1), TUTTI_OK);
    test_states();
}

static void test_emptied(void) {
    close_writer();
    write_dataset(TUTTI_CREATE | TUTTI_TRUNCATE);
}

/* Another dataset is created in the same directory. */
static void test_replaced(void) {
    close_writer();
    dataset_remove(path);
    write_dataset(TUTTI_CREATE);
}

static void test_deleted(void) {
    close_writer();
    dataset_remove(path);
}

static const struct {
    const char *name;
    void (*act)(void);
    int per_file, native_only;
} removals[] = {
    {"dropped with its file", test_dropped, 1, 0},
    {"archived, its file stays", test_archived, 0, 1},
    {"archived with its file", test_archived, 1, 1},
    {"erased, its file stays", test_erased, 0, 0},
    {"erased with its file", test_erased, 1, 0},
    {"reused", test_reused, 0, 0},
    {"emptied", test_emptied, 0, 0},
    {"replaced", test_replaced, 1, 0},
    {"deleted", test_deleted, 0, 0},
};

/* ---- kinds of reads */

static tutti_err by_get(const char *name) {
    return tutti_dataset_get(d, SEGMENT, 1, &(tutti_get){name, p, TUTTI_FLOAT64, got});
}

static tutti_err by_get_start(const char *name) {
    tutti_request *r = NULL;
    const tutti_err err =
        tutti_dataset_get_start(d, SEGMENT, 1, &(tutti_get){name, p, TUTTI_FLOAT64, got}, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

static tutti_err by_follow(const char *name) {
    tutti_count n = 0;
    return tutti_dataset_follow(d, SEGMENT, SEGMENT + 1, &(tutti_get){name, p, TUTTI_FLOAT64, got},
                                &n);
}

static tutti_err by_section_row(const char *name) {
    tutti_section_row row;
    return tutti_dataset_section_row(d, SEGMENT, name, &row);
}

static tutti_err by_verify(const char *name) {
    (void)name;
    return tutti_dataset_verify(d, NULL);
}

static tutti_err by_verify_segment(const char *name) {
    (void)name;
    return tutti_dataset_verify_segment(d, SEGMENT, NULL);
}

static tutti_err by_info(const char *name) {
    tutti_type type;
    tutti_count n = 0;
    (void)name;
    return tutti_dataset_info_get(d, &(tutti_info_owner){NULL, SEGMENT}, "note", &type, &n, NULL);
}

static tutti_err by_value(const char *name) {
    int64_t ids[POINTS];
    tutti_decomposition *points = NULL;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = POINTS, .ids = ids};
    (void)name;
    ids_of(ids);
    const tutti_err err = tutti_decomposition_create_at(d, "points", SEGMENT, &spec, &points);
    tutti_decomposition_free(&points);
    return err;
}

static const struct {
    const char *name;
    tutti_err (*read)(const char *);
    int any; /* the call has no variable, and is made only once */
} reads[] = {
    {"get", by_get, 0},       {"get_start", by_get_start, 0},
    {"follow", by_follow, 0}, {"section_row", by_section_row, 0},
    {"verify", by_verify, 1}, {"verify_segment", by_verify_segment, 1},
    {"info_get", by_info, 1}, {"decomposition by value", by_value, 1},
};
enum { REMOVALS = sizeof removals / sizeof *removals, READS = sizeof reads / sizeof *reads };

static void read_all(tutti_err expect) {
    for (int k = 0; k < READS; k++)
        for (int v = 0; v < (reads[k].any ? 1 : variables()); v++) {
            const tutti_err err = same_everywhere(reads[k].read(NAMES[v]));
            CHECK(err == expect, "%s of %s: %s instead of %s (%s)", reads[k].name, NAMES[v],
                  tutti_error_name(err), tutti_error_name(expect), err ? tutti_last_message() : "");
        }
}

/* After the removal all calls of the reader fail until it is refreshed. */
static void check_reader(void) {
    read_all(TUTTI_ERR_STATE);
    if (w) {
        int changed = 0;
        CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
        CHECK(changed, "nothing has changed");
        tutti_decomposition_free(&p);
        p = block(d);
        const tutti_count last = tutti_dataset_segments(d) - 1;
        CHECK_SAME(tutti_dataset_get(d, last, 1, &(tutti_get){"global", p, TUTTI_FLOAT64, got}),
                   TUTTI_OK);
    }
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* Remove a segment by operation `i`, with two readers: only the second has used the segment before. */
static void run_removal(int i) {
    tutti_dataset *reader[2] = {NULL, NULL};
    tutti_decomposition *parts[2] = {NULL, NULL};
    char where[100];
    per_file = removals[i].per_file;
    dataset_remove(path);
    dataset_remove(place);
    write_dataset(TUTTI_CREATE);
    const tutti_dataset_options opt = visible();
    for (int used = 0; used < 2; used++) {
        CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &d), TUTTI_OK);
        p = block(d);
        if (used) read_all(TUTTI_OK);
        reader[used] = d;
        parts[used] = p;
    }
    removals[i].act();
    for (int used = 0; used < 2; used++) {
        snprintf(where, sizeof where, "%s, %s, container %d", removals[i].name,
                 used ? "used before" : "not used before", container);
        check_where(where);
        d = reader[used];
        p = parts[used];
        check_reader();
    }
    if (w) close_writer();
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1289);
    snprintf(path, sizeof path, "%s/t1289.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1289.away", check_dir());
    for (container = 0; container < 2; container++)
        for (int i = 0; i < REMOVALS; i++)
            if (!removals[i].native_only || container == TUTTI_CONTAINER_NATIVE) run_removal(i);
    dataset_remove(path);
    dataset_remove(place);
    return harness_end();
}
