/* TEST ranks=1,3 timeout=100 own=1 */
/* Each call that writes a step fails once for each cause on each rank; then the cause is removed
 * and the program continues: puts, commits, discard and close work, and all steps are correct.
 * After a failed sync the test overwrites the bytes of the step, as if they had been lost: the
 * step must be written again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "one_fault.h"

enum { PARTS = 2, HALF = 5, ALL = SAMPLE_FIELDS + 1 };
static char path[600];
static tutti_exodus *x;
static tutti_decomposition *p[SAMPLE_FIELDS];
static tutti_exodus_options opt;
static tutti_count steps;

enum { BEGIN, PUT, START, ABANDON, COMMIT, COMMIT_START, DISCARD, CLOSE, CALLS };

/* ---- a step */

static tutti_exodus_field fields[ALL];
static double globals[SAMPLE_GLOBALS];

static void fields_make(tutti_count step) {
    for (int i = 0; i < SAMPLE_GLOBALS; i++) globals[i] = sample_result(100, step, i);
    sample_step_fields(p, step, fields);
    fields[SAMPLE_FIELDS] =
        (tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = globals};
}

static void fields_free(void) {
    for (int f = 0; f < SAMPLE_FIELDS; f++) free(fields[f].buf);
}

static void begin_case(tutti_count step) {
    if (TRY(BEGIN, tutti_exodus_begin(x, sample_time(step))) != TUTTI_OK)
        CHECK_SAME(tutti_exodus_begin(x, sample_time(step)), TUTTI_OK);
}

static tutti_err start_and_wait(void) {
    tutti_request *r = NULL;
    const tutti_err err = tutti_exodus_put_start(x, ALL - HALF, fields + HALF, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

/* Start a put and abandon the request.  A start does not communicate: if a rank cannot allocate the request, only
 * this rank returns the error, which is ignored. */
static tutti_err start_and_abandon(void) {
    tutti_request *r = NULL;
    const tutti_err err = tutti_exodus_put_start(x, ALL - HALF, fields + HALF, &r);
    tutti_request_abandon(&r);
    return err == TUTTI_ERR_NOMEM ? TUTTI_OK : err;
}

static void test_put(void) {
    if (TRY(PUT, tutti_exodus_put(x, HALF, fields)) != TUTTI_OK) {
        if (fault.what != FAULT_MEMORY) CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
        CHECK_SAME(tutti_exodus_put(x, HALF, fields), TUTTI_OK);
    }
    if (fault.at == ABANDON) {
        (void)TRY(ABANDON, start_and_abandon());
        if (fault.what != FAULT_MEMORY) CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
    }
    if (TRY(START, start_and_wait()) != TUTTI_OK) CHECK_SAME(start_and_wait(), TUTTI_OK);
}

static void lose_step(int64_t safe) {
    struct stat st = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const int fd = open(path, O_RDWR);
        CHECK(fstat(fd, &st) == 0, "stat");
        for (int64_t at = safe; at < st.st_size; at++)
            CHECK(pwrite(fd, "\xa5", 1, at) == 1, "junk");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t size_now(void) {
    struct stat st = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(stat(path, &st) == 0, "no file");
    MPI_Barrier(MPI_COMM_WORLD);
    return st.st_size;
}

static tutti_err commit_step(int starts) {
    tutti_request *r = NULL;
    if (!starts) return tutti_exodus_commit(x);
    const tutti_err err = tutti_exodus_commit_start(x, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

static void commit_or_rewrite(int64_t safe) {
    const int starts = fault.at == COMMIT_START;
    const int first_sync =
        (fault.what == FAULT_SYNC || fault.what == FAULT_SYNC_LAST) && fault.n == 1;
    if (TRY(starts ? COMMIT_START : COMMIT, commit_step(starts)) == TUTTI_OK) return;
    if (first_sync) { /* the first sync of a commit is the sync of the data */
        const char *says = strstr(tutti_last_message(), "steps 1 to 1 are damaged too");
        CHECK((says != NULL) == (steps == 1), "%s", tutti_last_message());
        lose_step(safe);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
        CHECK(strstr(tutti_last_message(), "is incomplete because a sync failed"), "%s",
              tutti_last_message());
        CHECK_SAME(tutti_exodus_put(x, HALF, fields), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
        CHECK_SAME(tutti_exodus_put(x, ALL - HALF, fields + HALF), TUTTI_OK);
    }
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
}

static void test_opened(void) {
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x),
               TUTTI_OK);
    sample_decompose(MPI_COMM_WORLD, x, p);
}

static void test_closed(void) {
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    (void)TRY(CLOSE, tutti_exodus_close(&x));
    CHECK(x == NULL, "still open");
}

/* Write a step with a fault in call `at`; return whether the fault happened. */
static int run_round(int at, fault_kind what, int n) {
    static char where[100];
    const tutti_count step = steps + 1;
    snprintf(where, sizeof where, "%s, call %d, %d", fault_names[what], at, n);
    check_where(where);
    fault_plan(at, what, n);
    const int64_t safe = size_now();
    fields_make(step);
    if (at == DISCARD || at == CLOSE) {
        begin_case(step);
        test_put();
        if (at == DISCARD) (void)TRY(DISCARD, tutti_exodus_discard(x));
        if (at == CLOSE) {
            fields_free();
            test_closed();
            test_opened();
            fields_make(step);
        }
        CHECK_EQ(tutti_exodus_steps(x), steps);
        /* write a step without most of the fields: bytes of the removed step must not appear in
         * it */
        CHECK_SAME(tutti_exodus_begin(x, sample_time(step)), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
        double *zero = fields[1].buf;
        CHECK_SAME(tutti_exodus_get(x, step, 1, &fields[1]), TUTTI_OK);
        for (tutti_count i = 0; i < tutti_decomposition_entries(p[1]); i++)
            CHECK(zero[i] == 0, "entry %lld is %g", (long long)i, zero[i]);
        CHECK_SAME(tutti_exodus_erase_after(x, steps), TUTTI_OK);
        fields_free();
        fields_make(step);
    }
    begin_case(step);
    test_put();
    commit_or_rewrite(safe);
    fields_free();
    steps++;
    CHECK_EQ(tutti_exodus_steps(x), steps);
    return fault.hit;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1317);
    /* use a file system in memory if possible, because the test has many small transactions */
    const char *memory = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/t1317.e", memory ? memory : check_dir());
    fault.data = "/t1317.e$";
    fault.meta = "/t1317.e.tutti";
    snprintf(fault.database, sizeof fault.database, "%s.tutti", path);
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.lock_timeout = 0.02;
    sample_write(MPI_COMM_WORLD, path, &opt, 1);
    steps = 1;
    test_opened();
    int hits = run_round(COMMIT, ranks == 1 ? FAULT_SYNC : FAULT_SYNC_LAST, 1);
    for (; fault.before_last < ranks; fault.before_last++)
        for (int at = 0; at < CALLS; at++) hits += fault_table(at, run_round);
    CHECK(hits > (ranks == 1 ? 20 : 10 * ranks), "%d faults", hits);
    check_where("");
    test_closed();
    sample_check(MPI_COMM_WORLD, path, &opt, steps);
    return harness_end();
}
