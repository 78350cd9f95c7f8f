/* TEST ranks=1,2,3 timeout=60 own=1 */
/* A sync of data fails, and all data written since the last sync is lost, as on Linux.  Commits are
 * refused until every variable has been written again or the segment is discarded; then all data is correct.
 * Segments begun before begin_also can only be discarded.  The message names earlier segments that were
 * never synced; they are kept.  For files and arrays, a failed sync only makes this call fail, with the same
 * error on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include <fcntl.h>
#include "io_faults.h"

enum { N = 3000, LO = 100, MID = 1500, HI = 2900, FILL = 7 };
static char path[512];
static double buf[N], got[N];
static tutti_count index_of[N];
static int64_t id_list[N];
static const char *data_name;

/* ---- a dataset with variables of all layouts */

static tutti_dataset *open_file(int container, int level, int creates) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    opt.level = level;
    opt.container = container;
    data_name = container ? "data-000001.nc" : "data-000001.tutti";
    if (creates) dataset_remove(path);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | (creates ? TUTTI_CREATE : 0), &opt,
                                  &d),
               TUTTI_OK);
    if (!creates) return d;
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT64, .fill = FILL};
    const tutti_variable_spec z = {.space = "x", .type = TUTTI_FLOAT64};
    const tutti_variable_spec r = {.space = "x",
                                   .type = TUTTI_FLOAT64,
                                   .layout = container ? TUTTI_GLOBAL : TUTTI_RANKED,
                                   .fill = FILL};
    const tutti_variable_spec c = {
        .space = "x", .type = TUTTI_FLOAT64, .compress = container ? 0 : 1};
    CHECK_OK(tutti_dataset_list(d, "x"));
    CHECK_OK(tutti_dataset_variable(d, "u", &u));
    CHECK_OK(tutti_dataset_variable(d, "z", &z));
    CHECK_OK(tutti_dataset_variable(d, "r", &r));
    CHECK_OK(tutti_dataset_variable(d, "c", &c));
    return d;
}

static tutti_count share_from(tutti_count lo, tutti_count hi) {
    return lo + (hi - lo) * rank / ranks;
}
static tutti_count share_to(tutti_count lo, tutti_count hi) {
    return lo + (hi - lo) * (rank + 1) / ranks;
}

static tutti_decomposition *block(tutti_dataset *d, tutti_count lo, tutti_count hi) {
    tutti_decomposition *p = NULL;
    const tutti_count from = share_from(lo, hi), to = share_to(lo, hi);
    for (tutti_count i = from; i < to; i++) index_of[i - from] = i;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = to - from, .index = index_of};
    CHECK_SAME(tutti_decomposition_create(d, "x", &spec, &p), TUTTI_OK);
    return p;
}

static double value_of(int64_t step, int v, tutti_count i) {
    return (double)((i * 7 + v * 31 + step * 101) % 997) + 1;
}

static tutti_err put_block(tutti_dataset *d, int v, tutti_decomposition *p, int64_t step,
                           tutti_count lo, tutti_count hi) {
    static const char *const names[] = {"u", "z", "r", "c"};
    const tutti_count from = share_from(lo, hi), to = share_to(lo, hi);
    for (tutti_count i = from; i < to; i++) buf[i - from] = value_of(step, v, i);
    return same_everywhere(tutti_dataset_put(d, 1, &(tutti_put){names[v], p, TUTTI_FLOAT64, buf}));
}

static tutti_err ids_set(tutti_dataset *d) {
    const tutti_count from = share_from(0, N), to = share_to(0, N);
    for (tutti_count i = from; i < to; i++) id_list[i - from] = id_of(0, i);
    return same_everywhere(tutti_dataset_ids(d, "x", to - from, id_list));
}

/* Decompositions of the entries [LO, MID), [MID, HI) and [0, N). */
typedef struct {
    tutti_decomposition *a, *b, *all;
} parts;

static parts parts_make(tutti_dataset *d) {
    return (parts){block(d, LO, MID), block(d, MID, HI), block(d, 0, N)};
}

static void parts_free(parts *p) {
    tutti_decomposition_free(&p->a);
    tutti_decomposition_free(&p->b);
    tutti_decomposition_free(&p->all);
}

static void put_all(tutti_dataset *d, const parts *p, int64_t step) {
    CHECK_OK(put_block(d, 0, p->a, step, LO, MID));
    CHECK_OK(put_block(d, 0, p->b, step, MID, HI));
    CHECK_OK(put_block(d, 1, p->a, step, LO, MID));
    CHECK_OK(put_block(d, 2, p->a, step, LO, MID));
    CHECK_OK(put_block(d, 3, p->all, step, 0, N));
}

static void check_holds(tutti_dataset *d, tutti_count segment, const parts *p, int64_t step) {
    static const struct {
        const char *name;
        tutti_count lo, hi;
        double fill;
    } of[] = {{"u", LO, HI, FILL}, {"z", LO, MID, 0}, {"r", LO, MID, FILL}, {"c", 0, N, 0}};
    const tutti_count from = share_from(0, N), to = share_to(0, N);
    for (int v = 0; v < 4; v++) {
        tutti_count wrong = 0;
        CHECK_SAME(
            tutti_dataset_get(d, segment, 1, &(tutti_get){of[v].name, p->all, TUTTI_FLOAT64, got}),
            TUTTI_OK);
        for (tutti_count i = from; i < to; i++) {
            const double want = i >= of[v].lo && i < of[v].hi ? value_of(step, v, i) : of[v].fill;
            wrong += got[i - from] < want || got[i - from] > want;
        }
        CHECK(wrong == 0, "'%s' of step %lld: %lld entries are wrong", of[v].name, (long long)step,
              (long long)wrong);
    }
}

/* ---- the fault: data after the first `safe` bytes is lost */

static tutti_off file_length(void) {
    char name[600];
    struct stat st = {0};
    snprintf(name, sizeof name, "%s/%s", path, data_name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (stat(name, &st) != 0) st.st_size = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return st.st_size;
}

static void lose_bytes(tutti_off safe) {
    char name[600], junk[4096];
    snprintf(name, sizeof name, "%s/%s", path, data_name);
    memset(junk, 0xa5, sizeof junk);
    const tutti_off end = file_length();
    if (rank == 0) {
        const int fd = open(name, O_RDWR);
        for (tutti_off at = safe; at < end; at += (tutti_off)sizeof junk) {
            const size_t n =
                (size_t)(end - at < (tutti_off)sizeof junk ? end - at : (tutti_off)sizeof junk);
            CHECK(pwrite(fd, junk, n, at) == (ssize_t)n, "junk");
        }
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Check the first bytes of the data file. */
static void head_is_right(int container) {
    char name[600];
    int64_t n = 0;
    snprintf(name, sizeof name, "%s/%s", path, data_name);
    unsigned char *v = file_get(name, &n);
    CHECK(n > 8 && memcmp(v, container ? "CDF\5" : "TUTTIDAT", container ? 4 : 8) == 0, "no head");
    free(v);
}

/* Let a commit fail because the last rank cannot sync; data after the first `safe` bytes is lost. */
static void commit_fails(tutti_dataset *d, int starts, tutti_off safe) {
    tutti_request *r = NULL;
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "/data-", 1, EIO);
    if (starts) {
        CHECK_SAME(tutti_dataset_commit_start(d, &r), TUTTI_OK);
        CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_IO);
    } else {
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_IO);
    }
    CHECK(io_fault_end() || rank < ranks - 1, "no sync");
    lose_bytes(safe);
}

static void commit_refused(tutti_dataset *d, const char *text) {
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), text), "%s", tutti_last_message());
}

/* ---- datasets */

static void rewrite_after_failure(int container, int starts) {
    tutti_dataset *d = open_file(container, TUTTI_DURABLE, 1);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0));
    CHECK_OK(ids_set(d));
    commit_fails(d, starts, 0); /* the header of the file is lost, too */
    commit_refused(d, "'x:ids' is incomplete because a sync failed");
    id_list[0]++;
    CHECK_SAME(tutti_dataset_ids(d, "x", share_to(0, N) - share_from(0, N), id_list),
               TUTTI_ERR_STATE);
    CHECK_OK(ids_set(d));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    head_is_right(container);
    parts p = parts_make(d);
    for (int64_t step = 1; step < 4; step++) {
        const tutti_off safe = file_length();
        CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, step, (double)step));
        put_all(d, &p, step);
        if (step == 3) commit_fails(d, starts, safe); /* in step 3 the sync fails twice */
        if (step == 3) put_all(d, &p, step);
        commit_fails(d, starts, safe);
        CHECK(!strstr(tutti_last_message(), "TUTTI_VISIBLE"), "%s", tutti_last_message());
        commit_refused(
            d, "is incomplete because a sync failed: write it again with all decompositions");
        if (step == 1) {
            CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
            CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, step, (double)step));
            put_all(d, &p, step);
        } else if (step == 2) {
            for (int v = 1; v < 4; v++)
                CHECK_OK(
                    put_block(d, v, v == 3 ? p.all : p.a, step, v == 3 ? 0 : LO, v == 3 ? N : MID));
            CHECK_OK(put_block(d, 0, p.b, step, MID, HI));
            commit_refused(d, "'u' is incomplete"); /* only one of two puts was repeated */
            CHECK_OK(put_block(d, 0, p.a, step, LO, MID));
        } else {
            put_all(d, &p, step);
        }
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
        check_holds(d, step, &p, step);
        CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    }
    /* one put of the whole variable is enough */
    const tutti_off safe = file_length();
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 4, 4));
    put_all(d, &p, 4);
    commit_fails(d, starts, safe);
    for (int v = 0; v < 4; v++)
        CHECK_OK(put_block(d, v, v == 2 ? p.a : p.all, 4, v == 2 ? LO : 0, v == 2 ? MID : N));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    parts_free(&p);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    d = open_file(container, TUTTI_DURABLE, 0);
    p = parts_make(d);
    for (int64_t step = 1; step < 4; step++) check_holds(d, step, &p, step);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    parts_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* A commit of two segments fails: the first cannot be written again, so that both must be discarded. */
static void discard_both_segments(int container) {
    tutti_dataset *d = open_file(container, TUTTI_DURABLE, 1);
    parts p;
    for (int attempt = 0; attempt < 2; attempt++) {
        CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0));
        CHECK_OK(ids_set(d));
        CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 1, 1), TUTTI_OK);
        p = parts_make(d);
        put_all(d, &p, 1);
        if (attempt == 1) break;
        commit_fails(d, 0, 0);
        put_all(d, &p, 1);
        commit_refused(d, "'x:ids' of a segment before begin_also is incomplete");
        parts_free(&p);
        CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    }
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, 1, &p, 1);
    parts_free(&p);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* A program commits segments without a sync: if a sync by the next program fails, these segments may be
 * damaged, too, and the message says so. */
static void report_unsynced_segments(int container) {
    char text[200];
    tutti_dataset *d = open_file(container, TUTTI_VISIBLE, 1);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0));
    CHECK_OK(ids_set(d));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    d = open_file(container, TUTTI_DURABLE, 0);
    parts p = parts_make(d);
    const tutti_off safe = file_length();
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    put_all(d, &p, 1);
    commit_fails(d, 0, safe);
    snprintf(text, sizeof text,
             "segments 0 to 0 of '%s' may be damaged if they were committed with level "
             "TUTTI_VISIBLE",
             data_name);
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "/data-", 1, EIO);
    put_all(d, &p, 1);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_IO);
    CHECK(strstr(tutti_last_message(), text), "%s", tutti_last_message());
    (void)io_fault_end();
    put_all(d, &p, 1);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d), 2);
    check_holds(d, 1, &p, 1);
    parts_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* ---- files and arrays */

static void sync_file_and_array(void) {
    char name[600];
    tutti_array *a = NULL;
    snprintf(name, sizeof name, "%s/t1256.data-file", check_dir());
    tutti_file *f = open_with(name, "");
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "data-file", 1, EIO);
    CHECK_SAME(tutti_file_sync(f), TUTTI_ERR_IO);
    (void)io_fault_end();
    CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_remove(name);
    const tutti_array_spec spec = {.ndims = 1, .shape = {100}, .element_size = 8};
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, name, &spec, NULL, &a), TUTTI_OK);
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "data-file", 1, EIO);
    CHECK_SAME(tutti_array_sync(a), TUTTI_ERR_IO);
    (void)io_fault_end();
    CHECK_SAME(tutti_array_sync(a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    file_remove(name);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1256);
    snprintf(path, sizeof path, "%s/t1256.tutti", check_dir());
    for (int container = 0; container < 2; container++) {
        check_where(container ? "netCDF" : "native");
        rewrite_after_failure(container, 0);
        rewrite_after_failure(container, 1);
        discard_both_segments(container);
        report_unsynced_segments(container);
    }
    check_where("files");
    sync_file_and_array();
    dataset_remove(path);
    return harness_end();
}
