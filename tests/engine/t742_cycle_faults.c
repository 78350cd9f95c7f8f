/* TEST ranks=1,3 timeout=120 */
/* Each file access of a rank in the cyclic engine fails once: with every exchange and pipeline all ranks
 * return the same error, nothing hangs, bytes outside the access keep their value, the handle stays
 * usable, memory is released.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "harness.h"

static const char *const ways[] = {"exchange=two-sided step=1",
                                   "exchange=two-sided step=2",
                                   "exchange=two-sided step=3",
                                   "exchange=two-sided step=4",
                                   "exchange=two-sided step=5",
                                   "exchange=fence",
                                   "exchange=lock"};
static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio"};
enum { WAYS = 7, PIPELINES = 5, CYCLES = 3, WINDOW = 4096, HOLE = 300 };

static char path[512];
static int64_t size;
static unsigned char *old, *new;

/* Make the request of rank `who`: cyclically distributed pieces of 700 bytes, with a hole per round. */
static request request_of(int who) {
    request q = {NULL, NULL, NULL, 0};
    const tutti_off piece = 700, round = piece * ranks + HOLE;
    CHECK_OK(tutti_access_vector(50 + who * piece, size / round - 1, piece, round, &q.access));
    request_memory(&q);
    request_fill(&q, (uint64_t)who + 1);
    return q;
}

static void model_make(void) {
    model m = {NULL, 0, 0};
    size = (int64_t)ranks * CYCLES * WINDOW;
    old = malloc((size_t)size);
    for (int64_t i = 0; i < size; i++) old[i] = mix(99, (uint64_t)i);
    model_reach(&m, size);
    memcpy(m.v, old, (size_t)size);
    for (int r = 0; r < ranks; r++) {
        request q = request_of(r);
        model_write(&m, &q, 0);
        request_free(&q);
    }
    CHECK_EQ(m.size, size);
    new = m.v;
}

static tutti_file *open_file(const char *text, int who, const char *what, int n) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    snprintf(opt.fault, sizeof opt.fault, "%d:%s:%d:ENOSPC", who, what, n);
    opt.cb_nodes = ranks;
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f));
    return f;
}

/* Check that all ranks return the same code and that the error names rank `who`. */
static tutti_err check_error(tutti_err local_err, int who) {
    const tutti_err err = same_everywhere(local_err);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_NO_SPACE, "%s", tutti_last_message());
    if (err != TUTTI_OK) CHECK(tutti_last_error()->rank == who, "%s", tutti_last_message());
    return err;
}

/* Check that every byte of the file has its old or its new value. */
static void file_is_sound(void) {
    int64_t n = 0;
    unsigned char *v = file_get(path, &n);
    CHECK_EQ(n, size);
    for (int64_t i = 0; i < n && i < size; i++)
        if (v[i] != old[i] && v[i] != new[i]) {
            CHECK(0, "byte %lld is %d", (long long)i, v[i]);
            break;
        }
    free(v);
}

/* Let the n-th write of rank `who` fail, then run the plan again; return 0 if there are fewer writes. */
static int write_fails(const char *text, int who, int n) {
    request q = request_of(rank);
    tutti_plan *p = NULL;
    tutti_off count = -1;
    file_put(path, old, size);
    tutti_file *f = open_file(text, who, "write", n);
    if (!f) return 0;
    CHECK_OK(tutti_plan_write(f, q.access, &p));
    const tutti_err err = check_error(tutti_plan_run(p, q.base, 0, &count), who);
    if (err == TUTTI_OK) {
        CHECK_EQ(count, tutti_access_bytes(q.access));
        file_is(path, new, size, "no fault left");
    } else {
        file_is_sound();
        CHECK(check_error(tutti_plan_run(p, q.base, 0, &count), who) == err, "second run");
    }
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    return err != TUTTI_OK;
}

static int read_fails(const char *text, int who, int n) {
    request q = request_of(rank), want = request_of(rank);
    const model m = {new, size, size};
    tutti_off count = -1;
    const tutti_off expect = model_read(&m, &want, 0, 3);
    request_fill(&q, 3);
    tutti_file *f = open_file(text, who, "read", n);
    if (!f) return 0;
    const tutti_err err = check_error(tutti_file_read(f, q.access, q.base, &count), who);
    if (err == TUTTI_OK) {
        CHECK_EQ(count, expect);
        CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "read differs");
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    request_free(&q);
    request_free(&want);
    return err != TUTTI_OK;
}

/* Let accesses of rank `one` fail, or, if `one` is negative, of each rank. */
static void combination(const char *way, const char *pipeline, const char *store, int one) {
    char text[200];
    snprintf(text, sizeof text,
             "method=two-phase domains=even striping_unit=512 window_size=4k %s pipeline=%s "
             "store=%s",
             way, pipeline, store);
    check_where(text);
    (void)write_fails(text, 0, 1000000); /* no fault; allocates cached memory */
    const account start = account_now();
    for (int who = one >= 0 ? one : 0; who < (one >= 0 ? one + 1 : ranks); who++) {
        int n = 1, k = 1;
        while (write_fails(text, who, n)) n++;
        file_put(path, new, size);
        while (read_fails(text, who, k)) k++;
        CHECK(n > CYCLES && k > CYCLES, "only %d writes and %d reads of rank %d", n - 1, k - 1,
              who);
        account_check(start);
    }
    check_where("");
}

int main(int argc, char **argv) {
    const char *tier = getenv("TUTTI_TEST_TIER");
    const int full = tier && !strcmp(tier, "full");
    harness_begin(&argc, &argv, 742);
    snprintf(path, sizeof path, "%s", scratch_path("cycle_faults"));
    model_make();
    for (int w = 0; w < WAYS; w++)
        for (int p = 0; p < PIPELINES && check_failures_ <= 20; p++)
            combination(ways[w], pipelines[p], stores[(w + p) % 4], full ? -1 : (w + p) % ranks);
    file_remove(path);
    free(old);
    free(new);
    return harness_end();
}
