/* TEST ranks=1,3 timeout=100 own=1 */
/* Each call that writes a segment fails once for each cause; then the cause is removed and the program
 * continues: puts, commits, discard and close work, and all committed data is correct.  Native and netCDF
 * data files; global, ranked and compressed variables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include "one_fault.h"

enum { N = 700, LO = 50, MID = 300, HI = 650, FILL = 7 };
enum {
    BEGIN,
    IDS,
    INFO,
    ALSO,
    PUT,
    PUT_REST,
    START,
    ABANDON,
    COMMIT,
    COMMIT_START,
    DISCARD,
    CLOSE,
    CALLS
};
static const char *const call_names[CALLS] = {"begin",  "ids",          "info_set",  "begin_also",
                                              "put",    "rest",         "put_start", "abandon",
                                              "commit", "commit_start", "discard",   "close"};
static char path[512];
static tutti_dataset *d;
static int container;
static int64_t rounds; /* each round commits a topology and two states */

static double u_of(int64_t index, tutti_count i) {
    return (double)((i * 7 + index * 101) % 997) + 1;
}

/* ---- the dataset */

static void open_file(int mode) {
    tutti_dataset_options opt;
    tutti_dataset_options_init(&opt);
    opt.lock_timeout = 0.02;
    opt.container = container;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), TUTTI_OK);
}

static void test_described(void) {
    const int native = container == TUTTI_CONTAINER_NATIVE;
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT32, .fill = FILL};
    const tutti_variable_spec z = {.space = "x", .type = TUTTI_FLOAT64};
    const tutti_variable_spec r = {.space = "x",
                                   .type = TUTTI_FLOAT64,
                                   .layout = native ? TUTTI_RANKED : TUTTI_GLOBAL,
                                   .fill = FILL};
    const tutti_variable_spec c = {.space = "x", .type = TUTTI_FLOAT64, .compress = native};
    CHECK_OK(tutti_dataset_list(d, "x"));
    CHECK_OK(tutti_dataset_variable(d, "u", &u));
    CHECK_OK(tutti_dataset_variable(d, "z", &z));
    CHECK_OK(tutti_dataset_variable(d, "r", &r));
    CHECK_OK(tutti_dataset_variable(d, "c", &c));
}

/* ---- decompositions and buffers */

enum { A, B, WHOLE, PARTS }; /* entries [LO, MID), [MID, HI), [0, N) */
static const tutti_count lows[PARTS] = {LO, MID, 0}, highs[PARTS] = {MID, HI, N};
static tutti_decomposition *parts[PARTS];
static double buf[4][N];

static tutti_count from_of(int part) {
    return lows[part] + (highs[part] - lows[part]) * rank / ranks;
}
static tutti_count count_of(int part) {
    return lows[part] + (highs[part] - lows[part]) * (rank + 1) / ranks - from_of(part);
}

static void parts_make(tutti_count segment) {
    tutti_count index[N];
    for (int k = 0; k < PARTS; k++) {
        for (tutti_count i = 0; i < count_of(k); i++) index[i] = from_of(k) + i;
        const tutti_decomposition_spec spec = {
            .kind = TUTTI_BY_INDEX, .n = count_of(k), .index = index};
        CHECK_SAME(tutti_decomposition_create_at(d, "x", segment, &spec, &parts[k]), TUTTI_OK);
    }
}

static void parts_free(void) {
    for (int k = 0; k < PARTS; k++) tutti_decomposition_free(&parts[k]);
}

static tutti_put put_of(int slot, const char *name, int part, int64_t index, double bad) {
    for (tutti_count i = 0; i < count_of(part); i++)
        buf[slot][i] = u_of(index + slot * 5, from_of(part) + i);
    if (bad > 0 && rank == ranks - 1) buf[slot][count_of(part) - 1] = bad;
    return (tutti_put){name, parts[part], TUTTI_FLOAT64, buf[slot]};
}

/* ---- calls, each repeated if it fails */

static tutti_err ids_set(int64_t index) {
    int64_t ids[N];
    for (tutti_count i = 0; i < count_of(WHOLE); i++) ids[i] = id_of(index, from_of(WHOLE) + i);
    return tutti_dataset_ids(d, "x", count_of(WHOLE), ids);
}

static tutti_err put_first(int64_t index, double bad) {
    const tutti_put puts[] = {put_of(0, "u", A, index, bad), put_of(3, "c", WHOLE, index, 0)};
    return tutti_dataset_put(d, 2, puts);
}

static tutti_err put_rest(int64_t index, double bad) {
    const tutti_put puts[] = {put_of(0, "u", B, index, bad), put_of(2, "r", A, index, 0)};
    return tutti_dataset_put(d, 2, puts);
}

static tutti_err put_started(int64_t index, int abandons) {
    tutti_request *r = NULL;
    const tutti_put put = put_of(1, "z", A, index, 0);
    const tutti_err err = tutti_dataset_put_start(d, 1, &put, &r);
    if (abandons) tutti_request_abandon(&r);
    return err == TUTTI_OK && !abandons ? tutti_request_wait(&r, NULL) : err;
}

/* Return whether the library had the memory to record that a put failed. */
static int is_failure_recorded(void) {
    return fault.what != FAULT_MEMORY;
}

static void puts_do(int64_t index) {
    const double bad = fault.what == FAULT_VALUE ? 1e300 : 0;
    if (TRY(PUT, put_first(index, fault.at == PUT ? bad : 0)) != TUTTI_OK) {
        if (is_failure_recorded()) CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
        CHECK_SAME(put_first(index, 0), TUTTI_OK);
    }
    if (TRY(PUT_REST, put_rest(index, fault.at == PUT_REST ? bad : 0)) != TUTTI_OK) {
        if (is_failure_recorded()) CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
        CHECK_SAME(put_rest(index, 0), TUTTI_OK);
    }
    if (fault.at == ABANDON) {
        (void)TRY(ABANDON, put_started(index, 1));
        if (is_failure_recorded()) CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    }
    if (TRY(START, put_started(index, 0)) != TUTTI_OK) CHECK_SAME(put_started(index, 0), TUTTI_OK);
}

static tutti_err commit_started(void) {
    tutti_request *r = NULL;
    const tutti_err err = tutti_dataset_commit_start(d, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

/* Commit, and commit again after an error; return 0 if data was lost and the segments are not `rewritable`. */
static int commit_or_rewrite(int64_t index, int rewritable) {
    const int lost = fault.what == FAULT_SYNC || fault.what == FAULT_SYNC_LAST;
    tutti_err err = TRY(COMMIT, tutti_dataset_commit(d));
    if (err == TUTTI_OK) return 1;
    err = same_everywhere(tutti_dataset_commit(d));
    if (err == TUTTI_OK) return 1;
    CHECK(lost && err == TUTTI_ERR_STATE, "%s", tutti_last_message());
    if (!rewritable) return 0;
    puts_do(index);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    return 1;
}

static void begin_segment(tutti_segment_kind kind, int64_t index) {
    if (TRY(BEGIN, tutti_dataset_begin(d, kind, index, (double)index)) != TUTTI_OK)
        CHECK_SAME(tutti_dataset_begin(d, kind, index, (double)index), TUTTI_OK);
}

/* Write a topology and a state in one commit; return 0 if their data was lost. */
static int write_topology(int64_t index) {
    begin_segment(TUTTI_TOPOLOGY, index);
    if (TRY(IDS, ids_set(index)) != TUTTI_OK) CHECK_SAME(ids_set(index), TUTTI_OK);
    if (TRY(INFO, tutti_dataset_info_set(d, NULL, "index", TUTTI_INT64, 1, &index)) != TUTTI_OK)
        CHECK_SAME(tutti_dataset_info_set(d, NULL, "index", TUTTI_INT64, 1, &index), TUTTI_OK);
    if (TRY(ALSO, tutti_dataset_begin_also(d, TUTTI_STATE, index, 0)) != TUTTI_OK)
        CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, index, 0), TUTTI_OK);
    parts_make(-1);
    puts_do(index);
    return commit_or_rewrite(index, 0);
}

/* Write a state; before it, for faults in discard and close, a state that is discarded.  For faults in
 * commit_start, the commit is nonblocking. */
static void write_state(int64_t index) {
    if (fault.at == DISCARD || fault.at == CLOSE) {
        CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, 9), TUTTI_OK);
        puts_do(index + 1);
        if (fault.at == CLOSE) {
            parts_free();
            (void)TRY(CLOSE, tutti_dataset_close(&d));
            CHECK(d == NULL, "still open");
            open_file(TUTTI_READ | TUTTI_WRITE);
            parts_make(-1);
        } else {
            (void)TRY(DISCARD, tutti_dataset_discard(d));
        }
    }
    begin_segment(TUTTI_STATE, index);
    puts_do(index);
    if (fault.at == COMMIT_START) {
        if (TRY(COMMIT_START, commit_started()) == TUTTI_OK) return;
        fault.at = -1;
    }
    commit_or_rewrite(index, 1);
}

/* ---- the committed data */

static void variable_holds(tutti_count segment, int slot, const char *name, int64_t index) {
    static const tutti_count hi[] = {HI, MID, MID, N}, lo[] = {LO, LO, LO, 0};
    static const double fill[] = {FILL, 0, FILL, 0};
    double got[N];
    tutti_count wrong = 0;
    CHECK_SAME(
        tutti_dataset_get(d, segment, 1, &(tutti_get){name, parts[WHOLE], TUTTI_FLOAT64, got}),
        TUTTI_OK);
    for (tutti_count i = 0; i < count_of(WHOLE); i++) {
        const tutti_count at = from_of(WHOLE) + i;
        const double want =
            at >= lo[slot] && at < hi[slot] ? u_of(index + slot * 5, at) : fill[slot];
        wrong += got[i] < want || got[i] > want;
    }
    CHECK(wrong == 0, "'%s' in segment %lld: %lld entries are wrong", name, (long long)segment,
          (long long)wrong);
}

/* Check the three segments of round `k`: time indices, values and ids. */
static void round_holds(int64_t k) {
    const tutti_count first = 3 * k;
    int64_t ids[N];
    tutti_decomposition *by_id = NULL;
    tutti_segment g;
    parts_make(first);
    for (int s = 0; s < 2; s++) {
        CHECK_OK(tutti_dataset_segment(d, first + 1 + s, &g));
        CHECK(g.kind == TUTTI_STATE && g.index == 10 * k + s, "index %lld", (long long)g.index);
        variable_holds(first + 1 + s, 0, "u", 10 * k + s);
        variable_holds(first + 1 + s, 1, "z", 10 * k + s);
        variable_holds(first + 1 + s, 2, "r", 10 * k + s);
        variable_holds(first + 1 + s, 3, "c", 10 * k + s);
    }
    parts_free();
    for (tutti_count i = 0; i < count_of(WHOLE); i++) ids[i] = id_of(10 * k, from_of(WHOLE) + i);
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_VALUE, .n = count_of(WHOLE), .ids = ids};
    CHECK_SAME(tutti_decomposition_create_at(d, "x", first, &spec, &by_id), TUTTI_OK);
    tutti_decomposition_free(&by_id);
}

/* Run one round with a fault in call `at`; return whether the fault happened. */
static int run_round(int at, fault_kind what, int n) {
    static char where[100];
    const int64_t index = 10 * rounds;
    int64_t info = -1;
    tutti_type type;
    tutti_count count = 1;
    if (what == FAULT_VALUE && at != PUT && at != PUT_REST) return 0;
    snprintf(where, sizeof where, "%s: %s, %s, %d", container ? "netCDF" : "native", call_names[at],
             fault_names[what], n);
    check_where(where);
    fault_plan(at, what, n);
    /* whether the fault is in the second commit of the round */
    const int second = (n + (int)what) % 2;
    if (second && (at == BEGIN || at == PUT || at == PUT_REST || at == COMMIT)) fault.at = -1;
    if (!write_topology(index)) {
        parts_free();
        CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
        CHECK(write_topology(index), "twice");
    }
    CHECK_OK(tutti_dataset_info_get(d, NULL, "index", &type, &count, &info));
    CHECK_EQ(info, index);
    if (second && fault.at == -1 && !fault.hit) fault.at = at;
    write_state(index + 1);
    parts_free();
    rounds++;
    CHECK_EQ(tutti_dataset_segments(d), 3 * rounds);
    round_holds(rounds - 1);
    return fault.hit;
}

int main(int argc, char **argv) {
    int hits = 0;
    harness_begin(&argc, &argv, 1257);
    /* use a file system in memory if possible, because the test has many small transactions */
    const char *memory = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/t1257.tutti", memory ? memory : check_dir());
    snprintf(fault.database, sizeof fault.database, "%s/metadata.sqlite", path);
    fault.data = "/data-";
    fault.meta = "/metadata.sqlite";
    for (container = 0; container < 2; container++) {
        dataset_remove(path);
        rounds = 0;
        open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE);
        test_described();
        for (int at = 0; at < CALLS; at++) hits += fault_table(at, run_round);
        check_where("all of it");
        CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
        open_file(TUTTI_READ);
        CHECK_EQ(tutti_dataset_segments(d), 3 * rounds);
        for (int64_t k = 0; k < rounds; k++) round_holds(k);
        CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    }
    CHECK(hits > (ranks == 1 ? 100 : 30), "%d faults", hits);
    dataset_remove(path);
    return harness_end();
}
