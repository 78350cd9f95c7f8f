/* TEST ranks=1,2,3 timeout=60 own=1 */
/* Failed puts and commits, and the calls after them: written entries are not overwritten with the fill value;
 * no bytes of dropped sections, frames or trailers appear in other sections; a commit succeeds only after all failed
 * puts were repeated; sections whose header or list of entries could not be written are complete after the next put.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include <sqlite3.h>
#include "io_faults.h"

enum { N = 6000, FILL = 7 };
static char path[512];
static double buf[N], got[N];
static tutti_count index_of[N];

static tutti_dataset *create_dataset(int container) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    opt.lock_timeout = 0.05;
    opt.container = container;
    dataset_remove(path);
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_OK);
    CHECK_OK(tutti_dataset_grid(d, "x", 1, (tutti_count[]){N}));
    return d;
}

static void add_variable(tutti_dataset *d, const char *name, tutti_variable_spec spec) {
    spec.space = "x";
    if (!spec.type) spec.type = TUTTI_FLOAT64;
    CHECK_SAME(tutti_dataset_variable(d, name, &spec), TUTTI_OK);
}

/* Create a decomposition of the entries [lo, hi), one block per rank. */
static tutti_decomposition *block(tutti_dataset *d, tutti_count lo, tutti_count hi) {
    tutti_decomposition *p = NULL;
    const tutti_count from = lo + (hi - lo) * rank / ranks,
                      to = lo + (hi - lo) * (rank + 1) / ranks;
    for (tutti_count i = from; i < to; i++) index_of[i - from] = i;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = to - from, .index = index_of};
    CHECK_SAME(tutti_decomposition_create(d, "x", &spec, &p), TUTTI_OK);
    return p;
}

static double value_of(tutti_count i) {
    return (double)(i % 251) + 1;
}

/* Write the entries [lo, hi), which `p` distributes; bad: the last rank writes a value that does not fit
 * into float32 or int32. */
static tutti_err put_block(tutti_dataset *d, const char *name, tutti_decomposition *p,
                           tutti_count lo, tutti_count hi, int bad) {
    const tutti_count from = lo + (hi - lo) * rank / ranks,
                      to = lo + (hi - lo) * (rank + 1) / ranks;
    for (tutti_count i = from; i < to; i++) buf[i - from] = value_of(i);
    if (bad && rank == ranks - 1) buf[to - from - 1] = 1e300;
    return same_everywhere(tutti_dataset_put(d, 1, &(tutti_put){name, p, TUTTI_FLOAT64, buf}));
}

/* Check the last segment: entries [lo, hi) have their values, all other entries have the value `fill`. */
static void check_holds(tutti_dataset *d, const char *name, tutti_count lo, tutti_count hi,
                        double fill) {
    tutti_decomposition *p = block(d, 0, N);
    const tutti_count from = (tutti_count)N * rank / ranks,
                      to = (tutti_count)N * (rank + 1) / ranks;
    tutti_count wrong = 0, first = -1;
    CHECK_SAME(tutti_dataset_get(d, tutti_dataset_segments(d) - 1, 1,
                                 &(tutti_get){name, p, TUTTI_FLOAT64, got}),
               TUTTI_OK);
    for (tutti_count i = from; i < to; i++) {
        const double want = i >= lo && i < hi ? value_of(i) : fill;
        if (got[i - from] >= want && got[i - from] <= want) continue;
        if (first < 0) first = i;
        wrong++;
    }
    CHECK(wrong == 0, "'%s': %lld entries are wrong, the first is %lld: %g", name, (long long)wrong,
          (long long)first, first < 0 ? 0 : got[first - from]);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void commit_refused(tutti_dataset *d, const char *name) {
    char text[100];
    snprintf(text, sizeof text, "variable '%s' is incomplete", name);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), text), "%s", tutti_last_message());
}

/* ---- a failed and repeated put does not change other entries */

static void repeat_failed_half(int container, double fill) {
    tutti_dataset *d = create_dataset(container);
    add_variable(d, "u", (tutti_variable_spec){.type = TUTTI_FLOAT32, .fill = fill});
    tutti_decomposition *a = block(d, 0, N / 2), *b = block(d, N / 2, N), *c = block(d, 10, N - 10);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_OK(put_block(d, "u", a, 0, N / 2, 0));
    CHECK_ERR(put_block(d, "u", b, N / 2, N, 1), TUTTI_ERR_VALUE);
    commit_refused(d, "u");
    /* this put does not contain the entries of the failed put */
    CHECK_OK(put_block(d, "u", a, 0, N / 2, 0));
    commit_refused(d, "u");
    /* this put contains only a part of the entries of the failed put */
    CHECK_OK(put_block(d, "u", c, 10, N - 10, 0));
    commit_refused(d, "u");
    CHECK_OK(put_block(d, "u", b, N / 2, N, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 0, N, fill);
    /* the first put fails and is repeated for a part of the space: all other entries have the fill value */
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_ERR(put_block(d, "u", c, 10, N - 10, 1), TUTTI_ERR_VALUE);
    CHECK_OK(put_block(d, "u", c, 10, N - 10, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 10, N - 10, fill);
    tutti_decomposition_free(&a);
    tutti_decomposition_free(&b);
    tutti_decomposition_free(&c);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* ---- space that was used before */

/* Hold a read lock on the metadata, so that a commit fails at its end. */
static sqlite3 *reader_begin(void) {
    sqlite3 *db = NULL;
    char name[600];
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (rank == 0)
        CHECK(sqlite3_open(name, &db) == SQLITE_OK &&
                  sqlite3_exec(db, "BEGIN; SELECT * FROM dataset", NULL, NULL, NULL) == SQLITE_OK,
              "no lock");
    MPI_Barrier(MPI_COMM_WORLD);
    return db;
}

static void reader_end(sqlite3 *db) {
    MPI_Barrier(MPI_COMM_WORLD);
    sqlite3_close(db);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void smaller_frames(void) {
    tutti_dataset *d = create_dataset(TUTTI_CONTAINER_NATIVE);
    add_variable(d, "packed", (tutti_variable_spec){.compress = 1});
    add_variable(d, "u", (tutti_variable_spec){.fill = 0});
    tutti_decomposition *all = block(d, 0, N), *some_ = block(d, 100, 200);
    double *noise = malloc(N * sizeof *noise);
    for (int i = 0; i < N; i++) noise[i] = (double)rnd64();
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"packed", all, TUTTI_FLOAT64, noise}),
               TUTTI_OK);
    CHECK_OK(put_block(d, "packed", all, 0, N, 0));
    CHECK_OK(put_block(d, "u", some_, 100, 200, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "packed", 0, N, 0);
    check_holds(d, "u", 100, 200, 0);
    /* check that the next segment does not contain bytes of the larger frame */
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"packed", all, TUTTI_FLOAT64, noise}),
               TUTTI_OK);
    CHECK_OK(put_block(d, "packed", all, 0, N, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 2, 2));
    CHECK_OK(put_block(d, "u", some_, 100, 200, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 100, 200, 0);
    free(noise);
    tutti_decomposition_free(&all);
    tutti_decomposition_free(&some_);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void failed_trailer(int container) {
    tutti_dataset *d = create_dataset(container);
    add_variable(d, "u", (tutti_variable_spec){.fill = 0});
    add_variable(d, "w", (tutti_variable_spec){.fill = 0});
    tutti_decomposition *few = block(d, 0, 3), *more = block(d, 5000, 5100);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_OK(put_block(d, "u", few, 0, 3, 0));
    sqlite3 *db = reader_begin();
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    reader_end(db);
    CHECK_OK(put_block(d, "w", more, 5000, 5100, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 0, 3, 0);
    check_holds(d, "w", 5000, 5100, 0);
    tutti_decomposition_free(&few);
    tutti_decomposition_free(&more);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* Discard a segment when the data file cannot be truncated: its bytes do not appear in the next segment. */
static void failed_discard(void) {
    tutti_dataset *d = create_dataset(TUTTI_CONTAINER_NATIVE);
    add_variable(d, "u", (tutti_variable_spec){.fill = 0});
    tutti_decomposition *all = block(d, 0, N), *few = block(d, 0, 3);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_OK(put_block(d, "u", all, 0, N, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_OK(put_block(d, "u", all, 0, N, 0));
    io_fault_set(IO_CUT, "/data-", 1, EIO);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_ERR_IO);
    CHECK(io_fault_end() || rank > 0, "no fault");
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_OK(put_block(d, "u", few, 0, 3, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 0, 3, 0);
    tutti_decomposition_free(&all);
    tutti_decomposition_free(&few);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* ---- ranked variables: the writes of header, list of entries and values each fail once */

static int repeat_ranked_put(int n, int other) {
    tutti_dataset *d = create_dataset(TUTTI_CONTAINER_NATIVE);
    add_variable(d, "u", (tutti_variable_spec){.layout = TUTTI_RANKED, .fill = FILL});
    add_variable(d, "w", (tutti_variable_spec){.layout = TUTTI_RANKED, .fill = FILL});
    tutti_decomposition *p = block(d, 100, 5000);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    if (rank == 0) io_fault_set(IO_WRITE, "/data-", n, ENOSPC);
    const tutti_err err = put_block(d, "u", p, 100, 5000, 0);
    const int hit = io_fault_end();
    int any = 0;
    MPI_Allreduce(&hit, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK((err != TUTTI_OK) == (any > 0), "%s", tutti_last_message());
    if (any) {
        CHECK_ERR(err, TUTTI_ERR_NO_SPACE);
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
        if (other) { /* simulate a program that creates its decompositions again after an error */
            tutti_decomposition_free(&p);
            p = block(d, 100, 5000);
        }
        CHECK_OK(put_block(d, "u", p, 100, 5000, 0));
    }
    CHECK_OK(put_block(d, "w", p, 100, 5000, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 100, 5000, FILL);
    check_holds(d, "w", 100, 5000, FILL);
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    return any;
}

/* ---- requests that were abandoned */

static void abandon_put(int container, tutti_layout layout, int ends_by_discard) {
    tutti_dataset *d = create_dataset(container);
    tutti_request *r = NULL;
    add_variable(d, "u", (tutti_variable_spec){.layout = layout, .fill = FILL});
    tutti_decomposition *p = block(d, 100, 5000);
    const tutti_put put = {"u", p, TUTTI_FLOAT64, buf};
    for (tutti_count i = 0; i < N; i++) buf[i] = -1;
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_SAME(tutti_dataset_put_start(d, 1, &put, &r), TUTTI_OK);
    tutti_request_abandon(&r);
    if (ends_by_discard) {
        CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
        CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    } else {
        commit_refused(d, "u");
    }
    CHECK_OK(put_block(d, "u", p, 100, 5000, 0));
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 100, 5000, FILL);
    /* a request that is not abandoned must be completed */
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_SAME(tutti_dataset_put_start(d, 1, &put, &r), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    check_holds(d, "u", 100, 5000, FILL);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 2, 2));
    CHECK_SAME(tutti_dataset_put_start(d, 1, &put, &r), TUTTI_OK);
    tutti_request_abandon(&r);
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

/* An abandoned commit is completed before the next call begins. */
static void abandon_commit(void) {
    tutti_dataset *d = create_dataset(TUTTI_CONTAINER_NATIVE);
    tutti_request *r = NULL;
    add_variable(d, "u", (tutti_variable_spec){.fill = FILL});
    tutti_decomposition *p = block(d, 0, N);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    CHECK_OK(put_block(d, "u", p, 0, N, 0));
    CHECK_SAME(tutti_dataset_commit_start(d, &r), TUTTI_OK);
    tutti_request_abandon(&r);
    CHECK_ERR(put_block(d, "u", p, 0, N, 0), TUTTI_ERR_STATE); /* no segment has begun */
    CHECK_EQ(tutti_dataset_segments(d), 1);
    check_holds(d, "u", 0, N, FILL);
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1255);
    snprintf(path, sizeof path, "%s/t1255.tutti", check_dir());
    for (int container = 0; container < 2; container++) {
        check_where(container ? "netCDF" : "native");
        repeat_failed_half(container, FILL);
        repeat_failed_half(container, 0);
        failed_trailer(container);
        abandon_put(container, TUTTI_GLOBAL, 0);
        abandon_put(container, TUTTI_GLOBAL, 1);
    }
    check_where("frames");
    smaller_frames();
    check_where("discard");
    failed_discard();
    check_where("ranked");
    int n = 1;
    while (n < 20 && repeat_ranked_put(n, n % 2)) n++;
    /* header, list of entries and values need at least one write each */
    CHECK(n > 2 && n < 20, "%d writes", n);
    abandon_put(TUTTI_CONTAINER_NATIVE, TUTTI_RANKED, 0);
    abandon_put(TUTTI_CONTAINER_NATIVE, TUTTI_RANKED, 1);
    check_where("commit");
    abandon_commit();
    dataset_remove(path);
    return harness_end();
}
