/* TEST ranks=1,3,5 timeout=60 */
/* Segments are found by index and time, erased, dropped, discarded and followed by readers; infos; types that change;
 * data files have the same bytes for any number of ranks; damage is detected.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/sums.h"
#include "dataset/datasets.h"

enum { ENTRIES = 20000 };
#define GOLDEN_BYTES 425984
#define GOLDEN_SUM 0x1a3631b2f6dde67eu
static char path[512];
static tutti_dataset *d;
static tutti_decomposition *local_part;
static tutti_count lo, n;
static double *buf, *got;

static void open_file(int mode, tutti_dataset_options opt) {
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), TUTTI_OK);
}

static void test_decomposed(void) {
    lo = (tutti_count)ENTRIES * rank / ranks;
    n = (tutti_count)ENTRIES * (rank + 1) / ranks - lo;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE,
                                           .slice = {.lo = {lo}, .hi = {lo + n}, .stride = {1}}};
    CHECK_SAME(tutti_decomposition_create(d, "x", &spec, &local_part), TUTTI_OK);
}

static void create_dataset(tutti_dataset_options opt) {
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT64, .units = "m/s"};
    const tutti_variable_spec w = {
        .space = "x", .type = TUTTI_FLOAT32, .layout = TUTTI_RANKED, .order = TUTTI_BIG_ENDIAN};
    dataset_remove(path);
    open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, opt);
    CHECK_SAME(tutti_dataset_grid(d, "x", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "u", &u), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "w", &w), TUTTI_OK);
    test_decomposed();
}

static void test_closed(void) {
    tutti_decomposition_free(&local_part);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static double value(int64_t index, tutti_count i) {
    return (double)(index * 1000 + i % 997);
}

static void put_values(const char *name, int64_t index) {
    for (tutti_count i = 0; i < n; i++) buf[i] = value(index, lo + i);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){name, local_part, TUTTI_FLOAT64, buf}),
               TUTTI_OK);
}

static void write_state(int64_t index, int ranked) {
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, (double)index / 4), TUTTI_OK);
    put_values("u", index);
    if (ranked) put_values("w", index);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

static void check_values(tutti_count segment, const char *name, int64_t index) {
    int wrong = 0;
    memset(got, 0, (size_t)n * sizeof *got);
    CHECK_SAME(tutti_dataset_get(d, segment, 1, &(tutti_get){name, local_part, TUTTI_FLOAT64, got}),
               TUTTI_OK);
    for (tutti_count i = 0; i < n; i++) wrong += got[i] != value(index, lo + i);
    CHECK(wrong == 0, "%s of segment %lld: %d wrong values", name, (long long)segment, wrong);
}

static int count_files(void) {
    int count = 0;
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir))) count += strncmp(e->d_name, "data-", 5) == 0;
    if (dir) closedir(dir);
    return count;
}

/* ---- finding, following, erasing */

static void test_found(void) {
    tutti_count at = -1, count = 0;
    check_where("found");
    create_dataset(visible());
    for (int64_t i = 0; i < 6; i++) write_state(2 * i, i % 2 == 0);
    CHECK_OK(tutti_dataset_find_index(d, TUTTI_STATE, 4, &at));
    CHECK_EQ(at, 2);
    CHECK_OK(tutti_dataset_find_time(d, TUTTI_STATE, 1.4, &at));
    CHECK_EQ(at, 2);
    CHECK_OK(tutti_dataset_latest(d, TUTTI_STATE, &at));
    CHECK_EQ(at, 5);
    CHECK_ERR(tutti_dataset_latest(d, TUTTI_TOPOLOGY, &at), TUTTI_ERR_NOT_FOUND);
    double *all = calloc((size_t)(6 * n) + 1, sizeof *all);
    CHECK_SAME(
        tutti_dataset_follow(d, 0, 5, &(tutti_get){"w", local_part, TUTTI_FLOAT64, all}, &count),
        TUTTI_OK);
    CHECK_EQ(count, 3); /* only these segments have variable "w" */
    for (int k = 0; k < 3; k++)
        for (tutti_count i = 0; i < n; i += 37)
            CHECK(all[k * n + i] == value(4 * k, lo + i), "step %d, entry %lld", k, (long long)i);
    free(all);
    CHECK_SAME(tutti_dataset_erase_after(d, 2), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d), 3);
    write_state(5, 1);
    check_values(3, "u", 5);
    check_values(3, "w", 5);
    check_values(2, "w", 4);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 6, 0), TUTTI_OK);
    put_values("u", 6);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 6, 0), TUTTI_OK);
    put_values("u", 7); /* this segment is not committed: closing discards it */
    test_closed();
    open_file(TUTTI_READ, visible());
    test_decomposed();
    CHECK_EQ(tutti_dataset_segments(d), 4);
    check_values(1, "u", 2);
    check_values(3, "w", 5);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE, visible());
    test_decomposed();
    CHECK_SAME(tutti_dataset_erase_after(d, -1), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d), 0);
    CHECK_EQ(count_files(), 0);
    /* otherwise rank 0 could create the next file while other ranks still count files */
    MPI_Barrier(MPI_COMM_WORLD);
    write_state(0, 1);
    check_values(0, "w", 0);
    test_closed();
}

/* ---- rotation: one file per index, the oldest files are removed */

static void test_dropped(void) {
    tutti_dataset_options opt = visible();
    tutti_segment s;
    check_where("dropped");
    opt.indices_per_file = 1;
    create_dataset(opt);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_resize(d, "x", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    tutti_decomposition_free(&local_part);
    test_decomposed();
    for (int64_t i = 1; i < 6; i++) write_state(i, i > 2);
    CHECK_EQ(count_files(), 6);
    CHECK_SAME(tutti_dataset_drop_oldest(d, 2), TUTTI_OK);
    /* the last two files, the file of the topology, and the file with the list of entries are
     * kept */
    CHECK_EQ(count_files(), 4);
    CHECK_EQ(tutti_dataset_segments(d), 4);
    CHECK_OK(tutti_dataset_segment(d, 3, &s));
    CHECK(s.index == 5 && s.topology == 0, "index %lld, topology %lld", (long long)s.index,
          (long long)s.topology);
    check_values(3, "u", 5);
    check_values(3, "w", 5);
    write_state(9, 1);
    test_closed();
    open_file(TUTTI_READ, opt);
    test_decomposed();
    check_values(4, "w", 9);
    check_values(2, "w", 4);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    test_closed();
}

/* ---- a reader concurrent with a writer */

static void test_beside(void) {
    tutti_dataset *writer;
    tutti_decomposition *theirs;
    int changed = -1;
    check_where("beside");
    create_dataset(visible());
    write_state(0, 0);
    writer = d;
    theirs = local_part;
    open_file(TUTTI_READ, visible());
    test_decomposed();
    tutti_dataset *reader = d;
    tutti_decomposition *ours = local_part;
    for (int i = 1; i < 4; i++) {
        d = writer;
        local_part = theirs;
        write_state(i, 0);
        d = reader;
        local_part = ours;
        CHECK_EQ(tutti_dataset_segments(d), i);
        check_values(i - 1, "u", i - 1);
        CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
        CHECK(changed == 1 && tutti_dataset_segments(d) == i + 1, "segments after refresh");
        check_values(i, "u", i);
        CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
        CHECK_EQ(changed, 0);
    }
    d = writer;
    local_part = theirs;
    CHECK_SAME(tutti_dataset_erase_after(d, 0), TUTTI_OK);
    for (int i = 1; i < 4; i++) write_state(10 * i, 0); /* replaces the erased segments */
    test_closed();
    d = reader;
    local_part = ours;
    const tutti_get get = {"u", local_part, TUTTI_FLOAT64, got};
    CHECK_SAME(tutti_dataset_get(d, 3, 1, &get), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_follow(d, 2, 3, &get, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_refresh(d, &changed), TUTTI_OK);
    CHECK(changed == 1 && tutti_dataset_segments(d) == 4, "segments after erasing");
    test_closed();
}

/* ---- infos, and types that change */

static void test_infos(void) {
    const int32_t three[3] = {1, -2, 3};
    int32_t back[3];
    char text[64] = "";
    tutti_type type;
    tutti_count count = 0;
    const tutti_info_owner of_u = {"u", -1}, of_0 = {NULL, 0};
    check_where("infos");
    create_dataset(visible());
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "title", TUTTI_BYTES, 5, "heat!"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, &of_u, "range", TUTTI_INT32, 3, three), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    put_values("u", 0);
    CHECK_SAME(tutti_dataset_info_set(d, &of_0, "note", TUTTI_BYTES, 4, "gone"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_get(d, &of_0, "note", &type, &count, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, &of_0, "note", TUTTI_BYTES, 2, "hi"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put_type(d, "u", TUTTI_FLOAT16), TUTTI_OK);
    for (tutti_count i = 0; i < n; i++) buf[i] = (double)(i % 100);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"u", local_part, TUTTI_FLOAT64, buf}),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE, visible());
    CHECK_SAME(tutti_dataset_info_get(d, &of_u, "range", &type, &count, NULL), TUTTI_OK);
    CHECK(type == TUTTI_INT32 && count == 3, "type %d, %lld", (int)type, (long long)count);
    CHECK_SAME(tutti_dataset_info_get(d, &of_u, "range", &type, &count, back), TUTTI_OK);
    CHECK(memcmp(back, three, sizeof back) == 0, "another value");
    count = 2;
    CHECK_SAME(tutti_dataset_info_get(d, &of_u, "range", &type, &count, back), TUTTI_ERR_ARG);
    count = sizeof text;
    CHECK_SAME(tutti_dataset_info_get(d, &of_0, "note", &type, &count, text), TUTTI_OK);
    CHECK(count == 2 && strcmp(text, "hi") == 0, "'%s'", text);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "title", TUTTI_BYTES, 0, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_get(d, NULL, "title", &type, &count, NULL), TUTTI_ERR_NOT_FOUND);
    if (ranks > 1)
        CHECK_SAME(tutti_dataset_info_set(d, NULL, "x", TUTTI_BYTES, 1, rank ? "a" : "b"),
                   TUTTI_ERR_MISMATCH);
    test_decomposed();
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"u", local_part, TUTTI_FLOAT64, got}),
               TUTTI_OK);
    for (tutti_count i = 0; i < n; i += 7) CHECK(got[i] == (double)(i % 100), "%g", got[i]);
    test_closed();
}

/* ---- bytes of the data file */

/* The bytes of the data file do not depend on the number of ranks or on the MPI implementation. */
static void test_golden(void) {
    char file[600];
    int64_t bytes = 0;
    check_where("golden");
    create_dataset(visible());
    write_state(3, 0);
    write_state(4, 0);
    test_closed();
    snprintf(file, sizeof file, "%s/data-000001.tutti", path);
    unsigned char *v = file_get(file, &bytes);
    CHECK_EQ(bytes, GOLDEN_BYTES);
    CHECK(tutti__checksum_of(v, (size_t)bytes) == GOLDEN_SUM, "the data file has sum 0x%llx",
          (unsigned long long)tutti__checksum_of(v, (size_t)bytes));
    free(v);
}

/* A flipped bit in a section or in the trailer is detected. */
static void test_damaged(void) {
    char file[600];
    int64_t bytes = 0;
    tutti_dataset_options opt = visible();
    const struct {
        int64_t at;
        tutti_err get;
    } flips[] = {{65536 + 5, TUTTI_ERR_FORMAT},
                 {65536 + 8 * ENTRIES - 1, TUTTI_ERR_FORMAT},
                 {-10, TUTTI_ERR_FORMAT}};
    check_where("damaged");
    create_dataset(visible());
    write_state(3, 0);
    test_closed();
    opt.check_reads = 1;
    snprintf(file, sizeof file, "%s/data-000001.tutti", path);
    for (int k = 0; k < 3; k++) {
        unsigned char *v = file_get(file, &bytes);
        const int64_t at = flips[k].at < 0 ? bytes + flips[k].at : flips[k].at;
        v[at] ^= 16;
        file_put(file, v, bytes);
        open_file(TUTTI_READ, opt);
        test_decomposed();
        CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"u", local_part, TUTTI_FLOAT64, got}),
                   flips[k].get);
        CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_ERR_FORMAT);
        if (k < 2) CHECK(strstr(tutti_last_message(), "'u'"), "%s", tutti_last_message());
        test_closed();
        v[at] ^= 16;
        file_put(file, v, bytes);
        free(v);
    }
    open_file(TUTTI_READ, opt);
    test_decomposed();
    check_values(0, "u", 3);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    test_closed();
    unsigned char *v = file_get(file, &bytes); /* the file becomes shorter than its segments */
    file_put(file, v, bytes - 1);
    free(v);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &d),
               TUTTI_ERR_FORMAT);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1262);
    snprintf(path, sizeof path, "%s/t1262.tutti", check_dir());
    buf = malloc(ENTRIES * sizeof *buf);
    got = malloc(ENTRIES * sizeof *got);
    test_found();
    test_dropped();
    test_beside();
    test_infos();
    test_golden();
    test_damaged();
    dataset_remove(path);
    free(buf);
    free(got);
    return harness_end();
}
