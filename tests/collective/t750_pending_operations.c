/* TEST ranks=1,2,3,5,8 timeout=120 own=1 tsan=1 */
/* Several pending operations at a time on two files: split, non-blocking and planned, writes and reads,
 * with every kind of background; ranks complete them in different orders.  Every operation has its own
 * range of the file, so that the serial model determines its contents.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "pairs.h"

enum { FILES = 2, LANES = 12, LANE = 60000, MOST = 4 };
enum { SPLIT, START, PLANNED, KINDS };

static const char *const backgrounds[] = {"io-only", "none", "all", "auto"};
static const char *const exchanges[] = {"shm", "two-sided", "fence", "lock"};
static const char *const steps[] = {"0", "1", "3", "5"};
static const char *const nodes[] = {"", "2", "1,2", "single"};
static const char *const stores[] = {"auto", "uring", "threads", "posix", "aio", "mem"};
static const char *const pipelines[] = {"auto",  "none",       "comm",
                                        "write", "write-comm", "write-comm-2"};
static const char *const memories[] = {"64m", "100k", "0", "1m"};
static const char *const windows[] = {"4k", "0", "16k"};
static const char *const methods[] = {"auto", "two-phase", "list"};
static const char *const stagger[] = {"0", "100"};
static const pairs_axis axes[] = {
    {"background", backgrounds, 4},
    {"exchange", exchanges, 4},
    {"nodes", nodes, 4},
    {"store", stores, 6},
    {"pipeline", pipelines, 6},
    {"background_bytes", memories, 4},
    {"window_size", windows, 3},
    {"method", methods, 3},
    {"stagger", stagger, 2},
    {"step", steps, 4},
};
enum { AXES = sizeof axes / sizeof axes[0] };

typedef struct {
    int on, kind, file, lane, is_write;
    request q, want;
    tutti_off expect;
    tutti_request *r;
    tutti_plan *plan;
    uint64_t born;
} flight;

typedef struct {
    tutti_file *f[FILES];
    unsigned char *bytes[FILES]; /* expected contents of each file after all operations */
    int written[FILES][LANES];   /* 1: the lane has been written, so that reads are possible */
    int busy[FILES][LANES];
    flight live[MOST];
    int background;
    uint64_t births;
} scene;

/* Make the access of rank `who` to its pieces of a lane; ranks interleave, and the last may have none. */
static tutti_access *lane_access(int lane, uint64_t salt, int who) {
    tutti_access *a = NULL;
    const int size = 1 + (int)(salt % 700);
    const int pieces = LANE / (size * ranks);
    CHECK_OK(tutti_access_vector((tutti_off)lane * LANE + (tutti_off)who * size,
                                 salt % 5 == 0 && who == ranks - 1 ? 0 : pieces, size,
                                 (tutti_off)size * ranks, &a));
    return a;
}

static request lane_request(int lane, uint64_t salt, int who) {
    request q = {lane_access(lane, salt, who), NULL, NULL, 0};
    request_memory(&q);
    return q;
}

/* Apply the writes of all ranks to one lane of the expected file. */
static void lane_model(scene *s, int file, int lane, uint64_t salt) {
    for (int r = 0; r < ranks; r++) {
        model m = {s->bytes[file], LANES * LANE, LANES * LANE};
        request q = lane_request(lane, salt, r);
        request_fill(&q, salt + (uint64_t)r);
        model_write(&m, &q, 0);
        request_free(&q);
    }
}

static flight *flight_free(scene *s) {
    for (int i = 0; i < MOST; i++)
        if (!s->live[i].on) return &s->live[i];
    return NULL;
}

static int lane_pick(scene *s, int file, int is_write) {
    for (int tries = 0; tries < 50; tries++) {
        const int lane = (int)rnd(LANES);
        if (!s->busy[file][lane] && (is_write || s->written[file][lane])) return lane;
    }
    return -1;
}

static void flight_begin(scene *s, flight *x, uint64_t salt) {
    tutti_file *f = s->f[x->file];
    if (x->kind == SPLIT && x->is_write)
        CHECK_SAME(tutti_file_write_begin(f, x->q.access, x->q.base), TUTTI_OK);
    else if (x->kind == SPLIT)
        CHECK_SAME(tutti_file_read_begin(f, x->q.access, x->q.base), TUTTI_OK);
    else if (x->kind == START && x->is_write)
        CHECK_OK(tutti_file_write_start(f, x->q.access, x->q.base, &x->r));
    else if (x->kind == START)
        CHECK_OK(tutti_file_read_start(f, x->q.access, x->q.base, &x->r));
    else {
        if (x->is_write)
            CHECK_SAME(tutti_plan_write(f, x->q.access, &x->plan), TUTTI_OK);
        else
            CHECK_SAME(tutti_plan_read(f, x->q.access, &x->plan), TUTTI_OK);
        CHECK_OK(tutti_plan_start(x->plan, x->q.base, 0));
    }
    /* after begin the buffer of a write may be reused by the caller */
    if (x->kind == SPLIT && x->is_write && s->background != TUTTI_BACKGROUND_ALL)
        request_fill(&x->q, salt ^ 999);
    if (x->kind != PLANNED) tutti_access_free(&x->q.access); /* the access may be freed too */
}

static void start_operation(scene *s) {
    flight *x = flight_free(s);
    const int file = (int)rnd(FILES), is_write = rnd(3) != 0, kind = (int)rnd(KINDS);
    const uint64_t salt = rnd64() >> 8;
    const int lane = lane_pick(s, file, is_write);
    if (!x || lane < 0) return;
    memset(x, 0, sizeof *x);
    x->on = 1;
    x->kind = kind;
    x->file = file;
    x->lane = lane;
    x->is_write = is_write;
    x->born = ++s->births;
    x->q = lane_request(lane, salt, rank);
    s->busy[file][lane] = 1;
    if (is_write) {
        lane_model(s, file, lane, salt);
        request_fill(&x->q, salt + (uint64_t)rank);
        s->written[file][lane] = 0;
    } else {
        const model m = {s->bytes[file], LANES * LANE, LANES * LANE};
        x->want = lane_request(lane, salt, rank);
        x->expect = model_read(&m, &x->want, 0, salt ^ 5);
        request_fill(&x->q, salt ^ 5);
    }
    if (is_write) x->expect = tutti_access_bytes(x->q.access);
    flight_begin(s, x, salt);
}

static void flight_over(scene *s, flight *x, tutti_off count) {
    CHECK(count == x->expect, "count %lld, not %lld", (long long)count, (long long)x->expect);
    if (!x->is_write)
        CHECK(memcmp(x->q.memory, x->want.memory, x->q.capacity) == 0, "read differs");
    s->busy[x->file][x->lane] = 0;
    if (x->is_write) s->written[x->file][x->lane] = 1;
    tutti_plan_free(&x->plan);
    request_free(&x->q);
    if (!x->is_write) request_free(&x->want);
    x->on = 0;
}

/* End the oldest split operation of a file. */
static void split_end(scene *s, int file) {
    flight *x = NULL;
    tutti_off count = -1;
    for (int i = 0; i < MOST; i++) {
        flight *o = &s->live[i];
        if (o->on && o->kind == SPLIT && o->file == file && (!x || o->born < x->born)) x = o;
    }
    if (!x) return;
    if (x->is_write)
        CHECK_SAME(tutti_file_write_end(s->f[file], &count), TUTTI_OK);
    else
        CHECK_SAME(tutti_file_read_end(s->f[file], &count), TUTTI_OK);
    flight_over(s, x, count);
}

static int flight_test(flight *x, tutti_off *count) {
    int done = 0;
    if (x->kind == START)
        CHECK_OK(tutti_request_test(&x->r, &done, count));
    else
        CHECK_OK(tutti_plan_test(x->plan, &done, count));
    return done;
}

static void flight_wait(flight *x, tutti_off *count) {
    if (x->kind == START)
        CHECK_OK(tutti_request_wait(&x->r, count));
    else
        CHECK_OK(tutti_plan_wait(x->plan, count));
}

/* Complete all non-blocking operations, in a different order and manner on each rank. */
static void complete_request(scene *s, uint64_t *own_state) {
    const uint64_t keep = check_state_;
    check_state_ = *own_state;
    const int first = (int)rnd(MOST), turn = rnd(2) ? 1 : MOST - 1;
    for (int i = 0; i < MOST; i++) {
        flight *x = &s->live[(first + i * turn) % MOST];
        tutti_off count = -1;
        if (!x->on || x->kind == SPLIT) continue;
        if (rnd(2)) {
            while (!flight_test(x, &count) && check_failures_ == 0) {
            }
        } else {
            flight_wait(x, &count);
        }
        flight_over(s, x, count);
    }
    *own_state = check_state_;
    check_state_ = keep;
}

/* Make another call: a test, a blocking call, or a call of one rank alone. */
static void make_other_call(scene *s) {
    tutti_off size = -1;
    const int what = (int)rnd(4), file = (int)rnd(FILES);
    if (what == 0) CHECK_SAME(tutti_file_size(s->f[file], &size), TUTTI_OK);
    if (what == 1) {
        tutti_access *a = NULL;
        unsigned char v[64];
        CHECK_OK(tutti_access_contiguous(0, 64, &a));
        CHECK_OK(tutti_file_read_independent(s->f[file], a, v, NULL));
        tutti_access_free(&a);
    }
    if (what == 2) {
        tutti_access *a = NULL;
        CHECK_OK(tutti_access_contiguous(0, 0, &a));
        CHECK_SAME(tutti_file_write(s->f[file], a, NULL, NULL), TUTTI_OK);
        tutti_access_free(&a);
    }
}

static void play_case(scene *s, uint64_t *own_state) {
    for (int step = 0; step < 14; step++) {
        start_operation(s);
        if (rnd(3) == 0) make_other_call(s);
        if (rnd(3) == 0) split_end(s, (int)rnd(FILES));
        if (rnd(4) == 0) complete_request(s, own_state);
    }
    complete_request(s, own_state);
    for (int file = 0; file < FILES; file++)
        for (int i = 0; i < MOST; i++) split_end(s, file);
}

static void whole_check(scene *s, int file) {
    tutti_access *a = NULL;
    unsigned char *v = calloc(1, LANES * LANE);
    CHECK_OK(tutti_access_contiguous(0, LANES * LANE, &a));
    CHECK_SAME(tutti_file_read(s->f[file], a, v, NULL), TUTTI_OK);
    CHECK(memcmp(v, s->bytes[file], LANES * LANE) == 0, "file %d differs", file);
    tutti_access_free(&a);
    free(v);
}

/* Return whether the store of the options is available in this build. */
static int store_built(const tutti_options *opt, const char *path) {
    tutti_file *f = NULL;
    const tutti_err err = tutti_file_open(
        MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, opt, &f);
    if (err == TUTTI_ERR_UNSUPPORTED) return 0;
    CHECK_OK(err);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    if (rank == 0) CHECK_OK(tutti_file_delete(path, opt));
    return 1;
}

static void combination(const int *choice, const char *path, uint64_t *own_state) {
    scene s = {{NULL}, {NULL}, {{0}}, {{0}}, {{0}}, 0, 0};
    tutti_options opt;
    char name[FILES][600];
    tutti_options_defaults(&opt);
    for (int i = 0; i < AXES; i++)
        CHECK_OK(tutti_options_set(&opt, axes[i].name, axes[i].value[choice[i]]));
    if (ranks > 3 && opt.exchange > TUTTI_EXCHANGE_TWO_SIDED) /* fences wait for all ranks */
        opt.exchange = TUTTI_EXCHANGE_TWO_SIDED;
    s.background = opt.background;
    if (!store_built(&opt, path)) return;
    for (int i = 0; i < FILES; i++) {
        snprintf(name[i], sizeof name[i], "%s.%d", path, i);
        s.bytes[i] = calloc(1, LANES * LANE);
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, name[i],
                                   TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                   &s.f[i]),
                   TUTTI_OK);
        CHECK_SAME(tutti_file_resize(s.f[i], LANES * LANE), TUTTI_OK);
    }
    play_case(&s, own_state);
    for (int i = 0; i < FILES; i++) {
        whole_check(&s, i);
        CHECK_SAME(tutti_file_close(&s.f[i]), TUTTI_OK);
        if (rank == 0) CHECK_OK(tutti_file_delete(name[i], &opt));
        free(s.bytes[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int level = 0, choice[AXES];
    char path[512], where[600];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(750 + (unsigned)ranks);
    uint64_t own_state = 1000003 * (uint64_t)(rank + 1);
    snprintf(path, sizeof path, "%s", scratch_path("flights"));
    pairs *p = pairs_make(axes, AXES);
    while (level == MPI_THREAD_MULTIPLE && check_failures_ <= 5 && pairs_next(p, choice)) {
        pairs_text(axes, AXES, choice, where, sizeof where);
        check_where(where);
        combination(choice, path, &own_state);
    }
    pairs_free(p);
    const int rc = harness_end();
    return level == MPI_THREAD_MULTIPLE ? rc : 77;
}
