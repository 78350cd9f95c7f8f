/* TEST ranks=0 timeout=60 tsan=1 */
/* The store threads under a hail of small requests, begun, tested and finished in any order: for
 * the thread sanitizer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#define SLOTS 16
#define PIECE 5000
#define ROUNDS 1500

typedef struct slot {
    tutti_store_request *r;
    unsigned char memory[PIECE], model[PIECE];
    int is_write;
} slot;

static void begin(tutti_store *s, slot *x, int i) {
    tutti_io_run runs[10];
    for (int k = 0; k < 10; k++) {
        const int at = k * (PIECE / 10);
        /* every other run is adjacent to the one before it in the file */
        runs[k] = (tutti_io_run){.offset = (tutti_off)i * 3 * PIECE + at + k / 2 * 300,
                                 .memory = x->memory + (PIECE - PIECE / 10 - at),
                                 .bytes = PIECE / 10};
    }
    x->is_write = (int)rnd(2);
    if (x->is_write) {
        for (int b = 0; b < PIECE; b++) x->model[b] = (unsigned char)rnd64();
        memcpy(x->memory, x->model, PIECE);
    } else {
        memset(x->memory, 0, PIECE);
    }
    CHECK_OK(tutti__store_begin(s, x->is_write, runs, 10, &x->r));
}

static void finish(slot *x) {
    tutti_off done = -1;
    CHECK_OK(tutti__store_finish(&x->r, &done));
    CHECK_EQ(done, PIECE);
    if (!x->is_write) CHECK(memcmp(x->memory, x->model, PIECE) == 0);
}

static void hammer(const char *fault) {
    const leaks l = leaks_start();
    tutti_stats stats = {0};
    tutti_options opt = store_options(TUTTI_STORE_THREADS);
    const char *path = scratch(1, "hammer");
    static slot x[SLOTS];
    opt.io_threads = 4;
    snprintf(opt.fault, sizeof opt.fault, "%s", fault);
    tutti_store *s = open_store(path, RWC, &opt, &stats);
    if (!s) return;
    memset(x, 0, sizeof x);
    CHECK_OK(tutti__store_resize(s, (tutti_off)SLOTS * 3 * PIECE));
    for (int i = 0; i < ROUNDS; i++) {
        const int k = (int)rnd(SLOTS);
        if (!x[k].r)
            begin(s, &x[k], k);
        else if (rnd(3) != 0 || tutti__store_test(x[k].r))
            finish(&x[k]);
    }
    for (int k = 0; k < SLOTS; k++)
        if (x[k].r) finish(&x[k]);
    CHECK(stats.file_writes > 0 && stats.file_reads > 0 && stats.system_calls > 0);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

int main(void) {
    check_seed(502);
    check_where("whole transfers");
    hammer("");
    check_where("short transfers");
    hammer("0:short:700");
    return check_done();
}
