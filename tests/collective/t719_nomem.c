/* TEST ranks=1,3 timeout=120 */
/* Each allocation of an operation fails once, on one rank.  All ranks return the same error, nothing
 * hangs or leaks; after a failure nothing has changed, after success all bytes are correct (if staging
 * memory cannot be allocated, messages replace it).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

enum { OPEN, OPEN_NEW, WRITE, READ, PLAN, RUN, RUN_READ, SPLIT, SPLIT_READ, START, OPERATIONS };
static const char *const names[] = {"open",       "open on a new communicator",
                                    "write",      "read",
                                    "plan",       "run",
                                    "run read",   "split",
                                    "split read", "start"};

static char path[512];
static tutti_options opt;
static int shape, full;
static uint64_t salt = 12345;
enum { SCALE = 20000, NEVER = 1000 }; /* NEVER: more allocations than any operation performs */
static model before, after;

static request request_of(int who, uint64_t key) {
    request q = request_make(shape, who, ranks, salt, SCALE);
    request_fill(&q, key + (uint64_t)who);
    return q;
}

static void models_make(void) {
    before = after = (model){NULL, 0, 0};
    for (int round = 0; round < 2; round++)
        for (int r = 0; r < ranks; r++) {
            request q = request_of(r, 1000 * (uint64_t)round);
            if (round == 0) model_write(&before, &q, 0);
            model_write(&after, &q, 0);
            request_free(&q);
        }
}

/* Return whether the failure requested for the k-th allocation has not happened yet; cancel it. */
static int still_pending(int k) {
    int pending = 0;
    for (int i = 0; i < k && !pending; i++) {
        void *p = tutti__malloc(1);
        pending = p == NULL;
        tutti__free(p);
    }
    tutti__memory_fail_after(0);
    return pending;
}

/* The objects of a case, created before allocations fail. */
typedef struct {
    MPI_Comm comm;
    tutti_file *f;
    tutti_plan *p;
    request q, want;
    tutti_off count, expect;
} scene;

static scene scene_make(int op) {
    scene s = {MPI_COMM_WORLD, NULL, NULL, request_of(rank, 1000), request_of(rank, 5), -7, 0};
    file_put(path, before.v, before.size);
    s.expect = model_read(&before, &s.want, 0, 5);
    if (op == READ || op == RUN_READ || op == SPLIT_READ) request_fill(&s.q, 5);
    if (op == OPEN_NEW) MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    if (op == OPEN || op == OPEN_NEW) return s;
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &s.f));
    if (op == RUN) CHECK_OK(tutti_plan_write(s.f, s.q.access, &s.p));
    if (op == RUN_READ) CHECK_OK(tutti_plan_read(s.f, s.q.access, &s.p));
    return s;
}

static tutti_err make_step(scene *s, int op) {
    tutti_err err;
    tutti_request *r = NULL;
    switch (op) {
    case OPEN:
    case OPEN_NEW:
        return tutti_file_open(s->comm, path, TUTTI_READ | TUTTI_WRITE, &opt, &s->f);
    case WRITE:
        return tutti_file_write(s->f, s->q.access, s->q.base, &s->count);
    case READ:
        return tutti_file_read(s->f, s->q.access, s->q.base, &s->count);
    case PLAN:
        return tutti_plan_write(s->f, s->q.access, &s->p);
    case SPLIT:
        err = tutti_file_write_begin(s->f, s->q.access, s->q.base);
        return err == TUTTI_OK ? tutti_file_write_end(s->f, &s->count) : err;
    case SPLIT_READ:
        err = tutti_file_read_begin(s->f, s->q.access, s->q.base);
        return err == TUTTI_OK ? tutti_file_read_end(s->f, &s->count) : err;
    case START:
        err = tutti_file_write_start(s->f, s->q.access, s->q.base, &r);
        return err == TUTTI_OK ? tutti_request_wait(&r, &s->count) : err;
    default:
        return tutti_plan_run(s->p, s->q.base, 0, &s->count);
    }
}

static void outcome(const scene *s, int op, tutti_err err) {
    const int writes = op == WRITE || op == RUN || op == SPLIT || op == START,
              reads = op == READ || op == RUN_READ || op == SPLIT_READ;
    if (err == TUTTI_OK && reads) {
        CHECK_EQ(s->count, s->expect);
        CHECK(memcmp(s->q.memory, s->want.memory, s->q.capacity) == 0, "read differs");
    } else if (err == TUTTI_OK && writes) {
        CHECK_EQ(s->count, tutti_access_bytes(s->q.access));
        file_is(path, after.v, after.size, "done");
    } else if (err >= 0) {
        CHECK_EQ(s->count, -7);
        file_is(path, before.v, before.size, "refused");
    }
}

static void scene_end(scene *s) {
    tutti_plan_free(&s->p);
    if (s->f) CHECK_SAME(tutti_file_close(&s->f), TUTTI_OK);
    if (s->comm != MPI_COMM_WORLD) MPI_Comm_free(&s->comm);
    request_free(&s->q);
    request_free(&s->want);
}

/* Let the k-th allocation of rank `who` fail; return 0 if the operation needs fewer. */
static int fails_at(int op, int who, int k) {
    scene s = scene_make(op);
    if (rank == who) tutti__memory_fail_after(k);
    const tutti_err local_err = make_step(&s, op);
    int pending = rank == who ? still_pending(k) : 0;
    const tutti_err err = same_everywhere(local_err);
    MPI_Bcast(&pending, 1, MPI_INT, who, MPI_COMM_WORLD);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM || err == TUTTI_ERR_IO, "%s",
          tutti_last_message());
    if (pending) CHECK(err == TUTTI_OK, "fails with memory: %s", tutti_last_message());
    if (err != TUTTI_OK) {
        const int blamed = tutti_last_error()->rank;
        CHECK(blamed == who || (op == OPEN_NEW && blamed == -1), "%s", tutti_last_message());
    }
    outcome(&s, op, err);
    scene_end(&s);
    return !pending;
}

/* Return whether to test an operation: all if TIER=full, a few more in the first case than in others. */
static int wanted(int op, int number) {
    if (full) return 1;
    if (opt.background == TUTTI_BACKGROUND_IO_ONLY)
        return op == SPLIT || op == SPLIT_READ || op == START;
    if (op == OPEN_NEW || op == RUN || op == RUN_READ) return number == 0;
    return op == OPEN || op == WRITE || op == READ;
}

static void combination(const char *text, int of_shape, int number) {
    char where[300];
    shape = of_shape;
    opt = options_of(text);
    models_make();
    for (int op = 0; op < OPERATIONS; op++) {
        if (!wanted(op, number)) continue;
        check_where(names[op]);
        (void)fails_at(op, 0, NEVER); /* allocates teams and staging memory, which are cached */
        const account start = account_now();
        for (int who = 0; who<ranks; who += ranks> 1 ? ranks - 1 : 1) {
            int k = 1;
            for (int more = 1; more && check_failures_ < 20; k++) {
                snprintf(where, sizeof where, "%s shape=%d %s: allocation %d of rank %d", text,
                         shape, names[op], k, who);
                check_where(where);
                more = fails_at(op, who, k);
            }
            CHECK(k > 2 || op == RUN || op == RUN_READ, "nothing was allocated");
            (void)fails_at(op, who, NEVER);
            account_check(start);
        }
    }
    free(before.v);
    free(after.v);
}

int main(int argc, char **argv) {
    static const struct {
        const char *text;
        int shape;
    } cases[] = {{"method=two-phase exchange=shm nodes=", BLOCKS},
                 {"method=two-phase exchange=shm nodes=2 store=threads", CYCLIC},
                 {"method=two-phase exchange=two-sided store=aio", SCATTER},
                 {"method=two-phase exchange=shm nodes=rr:2 store=uring", WILD},
                 {"method=list store=uring", SPARSE},
                 {"method=sieve rmw=1", WILD},
                 {"method=independent store=aio", FEW},
                 {"method=root nodes=2", COLUMNS},
                 {"method=two-phase exchange=two-sided step=4", CYCLIC},
                 {"method=two-phase exchange=fence pipeline=write store=threads", SPARSE},
                 {"method=two-phase exchange=lock pipeline=comm", FEW},
                 {"background=io-only store=threads", BLOCKS},
                 {"background=io-only nodes=2 store=aio", CYCLIC}};
    const char *tier = getenv("TUTTI_TEST_TIER");
    full = tier && !strcmp(tier, "full");
    harness_begin(&argc, &argv, 719);
    snprintf(path, sizeof path, "%s", scratch_path("nomem"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "%s cb_buffer_size=64k striping_unit=512 sieve_size=4k cb_nodes=%d", cases[i].text,
                 ranks);
        combination(text, cases[i].shape, (int)i);
    }
    file_remove(path);
    return harness_end();
}
