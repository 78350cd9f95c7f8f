/* TEST ranks=1,4 timeout=120 */
/* Every file access of every rank fails once.  All ranks return the same error, nothing hangs, bytes
 * outside the access keep their value, the handle stays usable, memory and descriptors are released.
 * Short transfers are not an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "harness.h"
#include "pairs.h"

static const char *const methods[] = {"two-phase", "list", "independent", "sieve", "root"};
static const char *const exchanges[] = {"shm", "two-sided"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio"};
static const char *const subs[] = {"1", "2"};
static const char *const shapes[] = {"blocks", "sparse", "overlap"};
static const pairs_axis axes[] = {{"method", methods, 5},   {"exchange", exchanges, 2},
                                  {"nodes", nodes, 3},      {"store", stores, 4},
                                  {"sub_buffers", subs, 2}, {"shape", shapes, 3}};
enum { AXES = sizeof axes / sizeof *axes, SHAPE = AXES - 1, EXTENT = 96000 };

static const struct {
    const char *name;
    int sys_errno;
    tutti_err code;
} troubles[] = {{"ENOSPC", ENOSPC, TUTTI_ERR_NO_SPACE},
                {"EIO", EIO, TUTTI_ERR_IO},
                {"EDQUOT", EDQUOT, TUTTI_ERR_QUOTA},
                {"EFBIG", EFBIG, TUTTI_ERR_TOO_BIG}};

static char path[512];
static tutti_options base; /* options of the combination, without a fault */
static int shape, tried;   /* shape of requests; number of combinations that have been tried */
static unsigned char *old, *new; /* `size` bytes each: the file before and after a write */
static unsigned char *named;     /* for each byte of the file: 1 if any rank accesses the byte */
static int64_t size;

/* Make the request of rank `who`: a few runs, so that every access can fail with any method. */
static request request_of(int who) {
    request r = {NULL, NULL, NULL, 0};
    const int pieces = 5;
    const tutti_off slice = EXTENT / pieces, part = slice / ranks;
    const tutti_off length[] = {part, part / 3 + who, ranks > 1 ? part + part / 2 : part};
    const int n = shape == 2 ? pieces - 1 : pieces;
    tutti_access *gaps = NULL, *both = NULL;
    CHECK_OK(tutti_access_vector(64 + who * part, n, length[shape], slice, &r.access));
    CHECK_OK(tutti_access_vector(5, 2 * n, length[shape] / 2, length[shape], &gaps));
    if (length[shape] % 2) { /* an odd number of bytes cannot be halved */
        tutti_access_free(&gaps);
        CHECK_OK(tutti_access_vector(5, n, length[shape], length[shape] + 24, &gaps));
    }
    CHECK_OK(tutti_access_join(r.access, gaps, &both));
    tutti_access_free(&gaps);
    tutti_access_free(&r.access);
    r.access = both;
    request_memory(&r);
    request_fill(&r, (uint64_t)who + 1);
    return r;
}

static void model_make(void) {
    size = EXTENT + 3000;
    old = malloc((size_t)size);
    named = calloc(1, (size_t)size);
    for (int64_t i = 0; i < size; i++) old[i] = mix(99, (uint64_t)i);
    model m = {NULL, 0, 0};
    model_reach(&m, size);
    memcpy(m.v, old, (size_t)size);
    for (int r = 0; r < ranks; r++) {
        request q = request_of(r);
        tutti_access_iter *it = NULL;
        tutti_piece p;
        model_write(&m, &q, 0);
        CHECK_OK(tutti_access_iter_start(q.access, 0, &it));
        while (tutti_access_iter_next(it, &p)) memset(named + p.file, 1, (size_t)p.bytes);
        tutti_access_iter_free(&it);
        request_free(&q);
    }
    new = m.v;
}

static void model_free(void) {
    free(old);
    free(new);
    free(named);
}

static void with_fault(tutti_options *opt, int who, const char *what, int n, const char *error) {
    *opt = base;
    snprintf(opt->fault, sizeof opt->fault, error ? "%d:%s:%d:%s" : "%d:%s:%d", who, what, n,
             error);
}

static void blamed(int who, int sys_errno, const char *operation) {
    const tutti_error_info *e = tutti_last_error();
    const size_t have = strlen(e->path), whole = strlen(path);
    CHECK(e->rank == who, "rank %d is blamed, not %d: %s", e->rank, who, tutti_last_message());
    CHECK(e->sys_errno == sys_errno, "errno %d: %s", e->sys_errno, tutti_last_message());
    CHECK(!strcmp(e->operation, operation), "operation '%s', not '%s'", e->operation, operation);
    CHECK(have > 0 && have <= whole && !strcmp(e->path, path + whole - have), "path '%s'", e->path);
}

/* Check the file after a failed write: accessed bytes are old or new, all others are unchanged. */
static void file_is_sound(void) {
    int64_t n = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) return; /* the other ranks wait at the next barrier */
    unsigned char *v = file_bytes(path, &n);
    CHECK_EQ(n, size);
    for (int64_t i = 0; i < n && i < size; i++) {
        const int good = named[i] ? shape == 2 || v[i] == old[i] || v[i] == new[i] : v[i] == old[i];
        if (!good) {
            CHECK(0, "byte %lld is %d", (long long)i, v[i]);
            break;
        }
    }
    free(v);
}

/* Check that a read after a failure returns the contents of the file. */
static void handle_is_usable(tutti_file *f) {
    int64_t n = 0;
    tutti_off count = -1;
    unsigned char *v = file_get(path, &n), *got = calloc(1, (size_t)size);
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(rank * 50, size / 2, &a));
    CHECK_SAME(tutti_file_read(f, a, got, &count), TUTTI_OK);
    CHECK_EQ(count, size / 2);
    CHECK(memcmp(got, v + rank * 50, (size_t)(size / 2)) == 0, "read after failure differs");
    tutti_access_free(&a);
    free(v);
    free(got);
}

enum { ONCE, PLAN, SPLIT, WAYS };

static tutti_err do_write(tutti_file *f, request *q, int way) {
    tutti_off count = -1;
    tutti_err err = TUTTI_OK;
    tutti_plan *p = NULL;
    if (way == ONCE) {
        err = tutti_file_write(f, q->access, q->base, &count);
    } else if (way == SPLIT) {
        err = tutti_file_write_begin(f, q->access, q->base);
        if (err == TUTTI_OK) err = tutti_file_write_end(f, &count);
    } else {
        CHECK_OK(tutti_plan_write(f, q->access, &p));
        err = tutti_plan_run(p, q->base, 0, &count);
        if (err != TUTTI_OK) CHECK(tutti_plan_run(p, q->base, 0, &count) == err, "second run");
        tutti_plan_free(&p);
    }
    if (err == TUTTI_OK) CHECK_EQ(count, tutti_access_bytes(q->access));
    if (err != TUTTI_OK) CHECK_EQ(count, -1);
    return err;
}

/* Let the n-th write of rank `who` fail; return 0 if there are fewer. */
static int write_fails(int who, int n) {
    tutti_options opt;
    tutti_file *f = NULL;
    const int t = n % 4, way = n % WAYS;
    file_put(path, old, size);
    with_fault(&opt, who, "write", n, troubles[t].name);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
    if (!f) return 0;
    request q = request_of(rank);
    const tutti_err err = same_everywhere(do_write(f, &q, way));
    CHECK(err == TUTTI_OK || err == troubles[t].code, "%s", tutti_last_message());
    if (err != TUTTI_OK) {
        blamed(who, troubles[t].sys_errno, "write");
        CHECK(tutti_last_error()->offset >= 0, "no offset: %s", tutti_last_message());
        file_is_sound();
        if (n == 1) handle_is_usable(f);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    if (err == TUTTI_OK) file_is(path, new, size, "write without faults left");
    request_free(&q);
    return err != TUTTI_OK;
}

/* Check that memory outside the access is unchanged. */
static void gaps_are_kept(request *q) {
    unsigned char *in = calloc(1, q->capacity + 1);
    tutti_access_iter *it = NULL;
    tutti_piece p;
    CHECK_OK(tutti_access_iter_start(q->access, 0, &it));
    while (tutti_access_iter_next(it, &p))
        memset(in + (q->base - q->memory) + p.memory, 1, (size_t)p.bytes);
    tutti_access_iter_free(&it);
    for (size_t i = 0; i < q->capacity; i++)
        if (!in[i] && q->memory[i] != mix((uint64_t)rank + 1, i)) {
            CHECK(0, "memory byte %zu was touched", i);
            break;
        }
    free(in);
}

static int read_fails(int who, int n) {
    tutti_options opt;
    tutti_file *f = NULL;
    tutti_off count = -1;
    const int t = n % 2;
    with_fault(&opt, who, "read", n, troubles[t].name);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
    if (!f) return 0;
    request q = request_of(rank), want = request_of(rank);
    const model m = {old, size, size};
    const tutti_off expect = model_read(&m, &want, 0, (uint64_t)rank + 1);
    const tutti_err err = same_everywhere(tutti_file_read(f, q.access, q.base, &count));
    CHECK(err == TUTTI_OK || err == troubles[t].code, "%s", tutti_last_message());
    if (err == TUTTI_OK) {
        CHECK_EQ(count, expect);
        CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "read differs");
    } else {
        blamed(who, troubles[t].sys_errno, "read");
        gaps_are_kept(&q);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    request_free(&want);
    return err != TUTTI_OK;
}

/* Let one call of each other kind fail on rank `who`. */
static void others_fail(int who) {
    static const char *const what[] = {"sync", "open", "size", "resize", "close"};
    for (int i = 0; i < 5; i++) {
        tutti_options opt;
        tutti_file *f = NULL;
        tutti_off n = -1;
        const int strikes = i < 2 || i == 4 || who == 0; /* only rank 0 calls size and resize */
        with_fault(&opt, who, what[i], 1, "EIO");
        tutti_err err = same_everywhere(
            tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
        CHECK((err != TUTTI_OK) == (i == 1), "%s: %s", what[i], tutti_last_message());
        CHECK((f == NULL) == (i == 1), "handle");
        if (f) {
            if (i == 0) err = tutti_file_sync(f);
            if (i == 2) err = tutti_file_size(f, &n);
            if (i == 3) err = tutti_file_resize(f, size);
            if (i == 4) err = tutti_file_close(&f);
            if (i != 1)
                CHECK(same_everywhere(err) == (strikes ? TUTTI_ERR_IO : TUTTI_OK), "%s", what[i]);
        }
        if (strikes) blamed(who, EIO, what[i]);
        if (f) CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        CHECK(f == NULL, "close leaves a handle");
    }
}

/* Transfers of a few bytes per system call are not an error. */
static void short_transfers(int who, int n) {
    tutti_options opt;
    tutti_file *f = NULL;
    tutti_off count = -1;
    file_put(path, old, size);
    with_fault(&opt, who, "short", n, NULL);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
    request q = request_of(rank), want = request_of(rank);
    CHECK_SAME(do_write(f, &q, n % WAYS), TUTTI_OK);
    const model m = {new, size, size};
    const tutti_off expect = model_read(&m, &want, 0, 3);
    request_fill(&q, 3);
    CHECK_SAME(tutti_file_read(f, q.access, q.base, &count), TUTTI_OK);
    CHECK_EQ(count, expect);
    CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "short read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, new, size, "short writes");
    request_free(&q);
    request_free(&want);
}

static void combination(const int *choice) {
    int struck = 0, n;
    shape = choice[SHAPE];
    base = options_of("cb_buffer_size=64k striping_unit=512 sieve_size=8k rmw=1");
    base.cb_nodes = ranks;
    for (int i = 0; i < SHAPE; i++)
        CHECK_OK(tutti_options_set(&base, axes[i].name, axes[i].value[choice[i]]));
    model_make();
    (void)write_fails(0, 1000000); /* no fault; allocates cached memory */
    const account start = account_now();
    for (int who = 0; who < ranks; who++) {
        for (n = 1; write_fails(who, n); n++) account_check(start);
        struck += n - 1;
        file_put(path, old, size);
        for (n = 1; read_fails(who, n); n++) account_check(start);
        struck += n - 1;
        if (tried % 4 == 0) others_fail(who);
        short_transfers(who, 97 + who);
        account_check(start);
    }
    CHECK(struck >= 2, "only %d faults struck", struck);
    model_free();
}

static void choice_run(const int *choice) {
    char where[400];
    if (check_failures_ > 20) return;
    pairs_text(axes, AXES, choice, where, sizeof where);
    check_where(where);
    combination(choice);
    check_where("");
    tried++;
}

/* Test two-phase with every exchange and node division; if `full`, with every store, shape and
 * sub_buffers. */
static void two_phase(int full) {
    for (int i = 0; i < (full ? 144 : 6); i++) {
        const int k = full ? i / 6 : i;
        const int choice[AXES] = {
            0, i % 2, i / 2 % 3, k % 4, k / (full ? 12 : 2) % 2, k / (full ? 4 : 1) % 3};
        choice_run(choice);
    }
}

int main(int argc, char **argv) {
    int choice[AXES];
    const char *tier = getenv("TUTTI_TEST_TIER");
    harness_begin(&argc, &argv, 710);
    snprintf(path, sizeof path, "%s", scratch_path("faults"));
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice)) choice_run(choice);
    pairs_free(p);
    two_phase(tier && !strcmp(tier, "full"));
    file_remove(path);
    return harness_end();
}
