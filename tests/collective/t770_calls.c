/* TEST ranks=2,3,5,8 timeout=120 own=1 */
/* Ranks in different collective calls.  For every pair of calls, one rank makes one call and all
 * others the other one: all return TUTTI_ERR_MISMATCH, the message states both calls, nothing is
 * done, and the file stays usable.  Ranks agree by messages or in shared memory; threads make
 * calls; a rank refuses its call.  Calls of all kinds that transfer in one direction match.
 * Arguments that must be the same on all ranks are compared.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"
#include "harness.h"

enum { BYTES = 64, MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static char path[512];
static unsigned char local[BYTES], got[BYTES];

/* A file, and the arguments of calls. */
typedef struct {
    MPI_Comm comm;
    tutti_file *f;
    tutti_access *access;
    tutti_plan *plan[2]; /* a plan to read, a plan to write */
    tutti_options opt;
} scene;

typedef enum {
    WRITE,
    WRITE_SPLIT,
    WRITE_START,
    READ,
    READ_SPLIT,
    READ_START,
    PLAN_WRITE,
    PLAN_READ,
    RUN_WRITE,
    START_WRITE,
    RUN_READ,
    START_READ,
    SIZE,
    RESIZE,
    PREALLOCATE,
    SYNC,
    ATOMIC,
    CHANGE,
    CLOSE,
    CALLS
} call;

/* Text of each call in messages; calls with the same text match. */
static const char *const does[CALLS] = {
    "called tutti_file_write",     "called tutti_file_write",  "called tutti_file_write",
    "called tutti_file_read",      "called tutti_file_read",   "called tutti_file_read",
    "called tutti_plan_write",     "called tutti_plan_read",   "called tutti_plan_run_write",
    "called tutti_plan_run_write", "called tutti_plan_run",    "called tutti_plan_run",
    "called tutti_file_size",      "called tutti_file_resize", "called tutti_file_preallocate",
    "called tutti_file_sync",      "called tutti_file_atomic", "called tutti_file_change",
    "called tutti_file_close",
};

static tutti_err ended(tutti_err begun, tutti_err (*end)(tutti_file *, tutti_off *), scene *s,
                       tutti_off *count) {
    return begun == TUTTI_OK ? end(s->f, count) : begun;
}

static tutti_err waited(tutti_err started, tutti_request **r, tutti_off *count) {
    return started == TUTTI_OK ? tutti_request_wait(r, count) : started;
}

static tutti_err planned(tutti_err made, tutti_plan **p) {
    if (made == TUTTI_OK) tutti_plan_free(p);
    return made;
}

static tutti_err run_started(tutti_plan *p, void *buf) {
    const tutti_err err = tutti_plan_start(p, buf, 0);
    return err == TUTTI_OK ? tutti_plan_wait(p, NULL) : err;
}

/* Make the call `c`; if `bad`, with an invalid argument (for calls that can have one). */
static tutti_err make_objects(scene *s, call c, int bad) {
    tutti_request *r = NULL;
    tutti_plan *p = NULL;
    tutti_off n = 0;
    const tutti_access *a = bad ? NULL : s->access;
    void *from = bad ? NULL : local, *to = bad ? NULL : got;
    switch (c) {
    case WRITE:
        return tutti_file_write(s->f, a, local, &n);
    case WRITE_SPLIT:
        return ended(tutti_file_write_begin(s->f, a, local), tutti_file_write_end, s, &n);
    case WRITE_START:
        return waited(tutti_file_write_start(s->f, a, local, &r), &r, &n);
    case READ:
        return tutti_file_read(s->f, a, got, &n);
    case READ_SPLIT:
        return ended(tutti_file_read_begin(s->f, a, got), tutti_file_read_end, s, &n);
    case READ_START:
        return waited(tutti_file_read_start(s->f, a, got, &r), &r, &n);
    case PLAN_WRITE:
        return planned(tutti_plan_write(s->f, a, &p), &p);
    case PLAN_READ:
        return planned(tutti_plan_read(s->f, a, &p), &p);
    case RUN_WRITE:
        return tutti_plan_run_write(s->plan[1], from, 0, NULL);
    case START_WRITE:
        return run_started(s->plan[1], from);
    case RUN_READ:
        return tutti_plan_run(s->plan[0], to, 0, NULL);
    case START_READ:
        return run_started(s->plan[0], to);
    case SIZE:
        return tutti_file_size(s->f, bad ? NULL : &n);
    case RESIZE:
        return tutti_file_resize(s->f, bad ? -1 : 5);
    case PREALLOCATE:
        return tutti_file_preallocate(s->f, bad ? -1 : 1 << 20);
    case SYNC:
        return tutti_file_sync(s->f);
    case ATOMIC:
        return tutti_file_atomic(s->f, 1);
    case CHANGE:
        return tutti_file_change(s->f, bad ? NULL : &s->opt);
    case CLOSE:
        return tutti_file_close(&s->f);
    default:
        return TUTTI_OK;
    }
}

/* ---- contents of the file */

static void fill_values(unsigned char salt) {
    for (int i = 0; i < BYTES; i++) local[i] = (unsigned char)(salt + i + 7 * rank);
}

static void check_transfers(scene *s, int how_write, int how_read) {
    static unsigned char salt;
    fill_values(++salt);
    CHECK_SAME(make_objects(s, how_write, 0), TUTTI_OK);
    memset(got, 0, sizeof got);
    CHECK_SAME(make_objects(s, how_read, 0), TUTTI_OK);
    CHECK(memcmp(got, local, BYTES) == 0, "other bytes were read");
}

static void is_whole(const scene *s, const unsigned char *want) {
    tutti_off size = 0;
    unsigned char have[BYTES];
    tutti_access *a = s->access;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(tutti_file_size_independent(s->f, &size));
    CHECK_EQ(size, ranks * BYTES);
    CHECK_OK(tutti_file_read_independent(s->f, a, have, NULL));
    CHECK(memcmp(have, want, BYTES) == 0, "bytes have changed");
    CHECK_EQ(s->f->atomic.on, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Open a file with a new team, which agrees by messages at first and in shared memory after enough
 * operations. */
static scene scene_make(const char *options, int operations) {
    scene s = {.f = NULL};
    s.opt = options_of(options);
    MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    CHECK_SAME(tutti_file_open(s.comm, path, MODE, &s.opt, &s.f), TUTTI_OK);
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * BYTES, BYTES, &s.access));
    check_transfers(&s, WRITE, READ);
    for (int i = 0; i < operations; i++) check_transfers(&s, WRITE, READ);
    CHECK(s.f->team->consensus.base != NULL || operations == 0, "no board");
    CHECK_SAME(tutti_plan_read(s.f, s.access, &s.plan[0]), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(s.f, s.access, &s.plan[1]), TUTTI_OK);
    return s;
}

static void scene_end(scene *s) {
    check_transfers(s, RUN_WRITE, RUN_READ);
    tutti_plan_free(&s->plan[0]);
    tutti_plan_free(&s->plan[1]);
    check_transfers(s, WRITE, READ);
    CHECK_SAME(make_objects(s, CLOSE, 0), TUTTI_OK);
    CHECK(s->f == NULL, "closed, but not nulled");
    tutti_access_free(&s->access);
    MPI_Comm_free(&s->comm);
}

/* ---- every pair */

static void meet_ranks(scene *s, call a, call b, int who, int bad) {
    char where[128], words[2][160];
    unsigned char before[BYTES];
    const call c = rank == who ? a : b;
    memcpy(before, local, BYTES);
    snprintf(where, sizeof where, "rank %d %s, others: %s%s", who, does[a], does[b],
             bad ? ", one refuses" : "");
    check_where(where);
    fill_values(200); /* must not appear in the file */
    const tutti_err err = make_objects(s, c, bad && rank == ranks - 1);
    const tutti_error_info info = *tutti_last_error();
    CHECK(err == TUTTI_ERR_MISMATCH, "rank %d: %s: %s", rank, tutti_error_name(err), info.text);
    CHECK(s->f != NULL, "closed");
    /* with more than two ranks the message may name any other rank */
    const int other = who == 0 ? 1 : 0;
    snprintf(words[0], sizeof words[0], "rank %d %s", who, does[a]);
    CHECK(strstr(info.text, words[0]) && strstr(info.text, does[b]) && strstr(info.text, " while "),
          "'%s' does not name %s", info.text, words[0]);
    snprintf(words[1], sizeof words[1], "rank %d %s", other, does[b]);
    if (ranks == 2) CHECK(strstr(info.text, words[1]), "'%s' is not in '%s'", words[1], info.text);
    CHECK(!strcmp(info.path, path), "path '%s'", info.path);
    memcpy(local, before, BYTES);
}

static void pairs(const char *options, int operations, int who) {
    scene s = scene_make(options, operations);
    for (call a = 0; a < CALLS; a++) {
        for (call b = 0; b < CALLS; b++)
            if (strcmp(does[a], does[b]) != 0) meet_ranks(&s, a, b, who, (a + b) % 3 == 0);
        is_whole(&s, local);
    }
    CHECK_EQ(s.f->team->consensus.base != NULL, operations > 0);
    scene_end(&s);
}

/* ---- transfers that match */

/* Calls of different kinds match if they transfer in one direction.  With exchange=fence, running a plan
 * does not match starting it. */
static void check_matches(const char *options, int operations, int who) {
    scene s = scene_make(options, operations);
    const int fences = strstr(options, "fence") != NULL;
    for (int way = 0; way < 9; way++) {
        const int local_way = rank == who ? way / 3 : way % 3;
        check_where(options);
        check_transfers(&s, WRITE + local_way, READ);
        check_transfers(&s, WRITE, READ + local_way);
        if (!fences || (way / 3) % 2 == (way % 3) % 2)
            check_transfers(&s, RUN_WRITE + local_way % 2, RUN_READ + local_way % 2);
        else
            CHECK_SAME(make_objects(&s, RUN_WRITE + local_way % 2, 0), TUTTI_ERR_MISMATCH);
    }
    scene_end(&s);
}

/* ---- the end of a split operation that is still pending */

static void ends(int operations) {
    scene s = scene_make("background=io-only", operations);
    for (call c = 0; c < CALLS; c++) {
        const int who = (int)c % ranks;
        check_where(does[c]);
        fill_values((unsigned char)(99 + c));
        CHECK_SAME(tutti_file_write_begin(s.f, s.access, local), TUTTI_OK);
        const tutti_err err =
            rank == who ? tutti_file_write_end(s.f, NULL) : make_objects(&s, c, 0);
        CHECK(err == TUTTI_ERR_MISMATCH, "%s: %s", tutti_error_name(err), tutti_last_message());
        CHECK_SAME(tutti_file_write_end(s.f, NULL), TUTTI_OK);
        is_whole(&s, local);
    }
    scene_end(&s);
}

/* ---- arguments that must be the same on all ranks */

/* Write with a value to compare among ranks and an error of this rank, as higher layers do. */
static tutti_err write_agreeing(scene *s, int64_t agrees, tutti_err refused) {
    tutti_request r = {
        .asked.name = "write",
        .op = {.file = s->f, .access = s->access, .is_write = 1, .buf = (char *)local},
        .asked.refused = refused,
        .asked.agrees = agrees};
    return tutti__request_run(&r, NULL);
}

static void agrees(int operations) {
    scene s = scene_make("", operations);
    const int odd = rank == ranks - 1;
    tutti_plan *p = NULL;
    check_where("what agrees");
    CHECK_SAME(tutti_plan_write(s.f, s.access, &p), TUTTI_OK);
    fill_values(150);
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(write_agreeing(&s, odd ? 12 : 11, TUTTI_OK), TUTTI_ERR_MISMATCH);
        CHECK_SAME(write_agreeing(&s, -4, TUTTI_OK), TUTTI_OK);
        CHECK_SAME(write_agreeing(&s, odd,
                                  odd ? tutti__error_set(TUTTI_ERR_ARG, 0, -1, "mine") : TUTTI_OK),
                   TUTTI_ERR_ARG);
        CHECK_SAME(tutti_plan_run(odd ? p : s.plan[1], local, 0, NULL), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_plan_run(p, local, odd, NULL), TUTTI_ERR_MISMATCH);
        CHECK_SAME(run_started(odd ? p : s.plan[1], local), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_file_resize(s.f, odd ? 100 : 200), TUTTI_ERR_MISMATCH);
        CHECK(strstr(tutti_last_message(), "ranks disagree on the size: from 100 to 200"), "%s",
              tutti_last_message());
        CHECK_SAME(tutti_file_preallocate(s.f, odd ? INT64_MAX : 200), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_file_atomic(s.f, odd), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_file_resize(s.f, odd ? -5 : 200), TUTTI_ERR_ARG);
    }
    is_whole(&s, local);
    tutti_plan_free(&p);
    scene_end(&s);
}

int main(int argc, char **argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/calls", getenv("TUTTI_TEST_DIR"));
    tutti_file *f = open_with(path, "");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    const account start = account_now();
    for (int operations = 0; operations <= 8; operations += 8) {
        const int who = operations ? ranks - 1 : 0;
        pairs("", operations, who);
        pairs("background=io-only", operations, ranks / 2);
        check_matches("", operations, who);
        check_matches("background=io-only", operations, who);
        check_matches("method=two-phase exchange=fence", operations, who);
        agrees(operations);
    }
    if (level == MPI_THREAD_MULTIPLE) {
        pairs("background=all", 8, 1);
        check_matches("background=all", 8, 0);
    }
    ends(8);
    check_where("accounts");
    account_check(start);
    file_remove(path);
    return harness_end();
}
