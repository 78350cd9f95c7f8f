/* TEST ranks=0 timeout=60 */
/* Many pending requests, which finish in another order than they begin: writes of disjoint ranges, then
 * reads across the end of the file; with a deep and a shallow queue.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#define REQUESTS 24
#define RUNS 7
#define RUN 3001
#define BIG (9 << 20) /* bytes of a request that needs several transfers */

typedef struct flight {
    tutti_store_request *r;
    tutti_io_run runs[RUNS];
    unsigned char *memory;
    tutti_off bytes;
} flight;

/* Request i has the runs i, i + REQUESTS, i + 2 * REQUESTS, ... of the file. */
static void describe_case(flight *x, int i) {
    x->bytes = 0;
    for (int k = 0; k < RUNS; k++) {
        x->runs[k] = (tutti_io_run){.offset = (tutti_off)(k * REQUESTS + i) * RUN,
                                    .memory = x->memory + (size_t)k * RUN,
                                    .bytes = RUN};
        x->bytes += RUN;
    }
}

static unsigned char value(tutti_off at) {
    return (unsigned char)(at * 131 + at / 8191);
}

static void fill_values(flight *x) {
    for (int k = 0; k < RUNS; k++)
        for (size_t b = 0; b < x->runs[k].bytes; b++)
            ((unsigned char *)x->runs[k].memory)[b] = value(x->runs[k].offset + (tutti_off)b);
}

static void begin_all(tutti_store *s, flight *x, int is_write) {
    for (int i = 0; i < REQUESTS; i++)
        CHECK_OK(tutti__store_begin(s, is_write, x[i].runs, RUNS, &x[i].r));
    memset(x[0].runs, 0, sizeof x[0].runs); /* the store has copied the runs */
    describe_case(&x[0], 0);
}

static void finish_all(flight *x, tutti_off file_size) {
    int order[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) order[i] = i;
    for (int i = REQUESTS - 1; i > 0; i--) {
        const int j = (int)rnd(i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < REQUESTS; i++) {
        flight *f = &x[order[i]];
        tutti_off done = -1, there = 0;
        for (int k = 0; k < RUNS; k++)
            there += tutti__max(0, tutti__min(RUN, file_size - f->runs[k].offset));
        if (i % 3 == 0)
            while (!tutti__store_test(f->r)) usleep(10);
        CHECK_OK(tutti__store_finish(&f->r, &done));
        CHECK_EQ(done, there);
        CHECK(!f->r);
    }
}

static void check_read(const flight *x, tutti_off file_size) {
    for (int k = 0; k < RUNS; k++)
        for (tutti_off b = 0; b < RUN; b++) {
            const tutti_off at = x->runs[k].offset + b;
            const unsigned char want = at < file_size ? value(at) : 0xee;
            if (x->memory[k * RUN + b] == want) continue;
            CHECK(0, "byte %lld is %d, not %d", (long long)at, x->memory[k * RUN + b], want);
            return;
        }
}

/* Test a request that is larger than the largest single transfer. */
static void big_request(tutti_store *s, int is_null) {
    unsigned char *out = malloc(BIG), *in = calloc(1, BIG);
    tutti_store_request *r = NULL;
    tutti_off done = -1;
    for (size_t i = 0; i < BIG; i++) out[i] = is_null ? 0 : value((tutti_off)i);
    const tutti_io_run w = {.offset = 77, .memory = out, .bytes = BIG};
    const tutti_io_run e = {.offset = 77, .memory = in, .bytes = BIG};
    CHECK_OK(tutti__store_begin(s, 1, &w, 1, &r));
    CHECK_OK(tutti__store_finish(&r, &done));
    CHECK_EQ(done, BIG);
    CHECK_OK(tutti__store_begin(s, 0, &e, 1, &r));
    CHECK_OK(tutti__store_finish(&r, &done));
    CHECK_EQ(done, BIG);
    CHECK(memcmp(in, out, BIG) == 0);
    free(out);
    free(in);
}

static void empty_request(tutti_store *s) {
    tutti_store_request *r = NULL;
    tutti_off done = -1;
    char byte = 0;
    const tutti_io_run nothing = {.offset = 1 << 30, .memory = &byte, .bytes = 0};
    for (int n = 0; n < 2; n++)
        for (int is_write = 0; is_write < 2; is_write++) {
            CHECK_OK(tutti__store_begin(s, is_write, &nothing, n, &r));
            CHECK(tutti__store_test(r));
            CHECK_OK(tutti__store_finish(&r, &done));
            CHECK_EQ(done, 0);
        }
}

static void run_requests(int choice, const tutti_options *opt) {
    const leaks l = leaks_start();
    tutti_stats stats = {0};
    const char *path = scratch(0, "inflight");
    const int is_null = choice == TUTTI_STORE_NULL;
    flight x[REQUESTS];
    tutti_store *s = open_store(path, RWC, opt, &stats);
    if (!s) return;
    for (int i = 0; i < REQUESTS; i++) {
        x[i].memory = malloc((size_t)RUNS * RUN);
        describe_case(&x[i], i);
        fill_values(&x[i]);
    }
    begin_all(s, x, 1);
    finish_all(x, INT64_MAX);
    const tutti_off cut = (tutti_off)RUNS * REQUESTS * RUN - RUN * 7 / 2;
    CHECK_OK(tutti__store_resize(s, cut));
    for (int i = 0; i < REQUESTS; i++) memset(x[i].memory, 0xee, (size_t)RUNS * RUN);
    begin_all(s, x, 0);
    finish_all(x, cut);
    for (int i = 0; i < REQUESTS; i++) {
        if (!is_null) check_read(&x[i], cut);
        free(x[i].memory);
    }
    empty_request(s);
    CHECK_EQ(stats.file_write_bytes, (tutti_off)RUNS * REQUESTS * RUN);
    CHECK_EQ(stats.file_read_bytes, cut);
    big_request(s, is_null);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
    leaks_check(l);
}

int main(void) {
    check_seed(501);
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_NULL; choice++)
        for (int depth = 1; depth <= 64; depth *= 8) {
            tutti_options opt = store_options(choice);
            opt.queue_depth = depth;
            opt.io_threads = 3;
            check_where(store_names[choice]);
            if (store_is_built(choice)) run_requests(choice, &opt);
        }
    return check_done();
}
