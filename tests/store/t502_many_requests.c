/* TEST ranks=0 timeout=60 tsan=1 */
/* The store threads with many small requests that begin, are tested and finish in any order, for
 * ThreadSanitizer.  Several threads also write and read by blocking calls while requests are pending.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include "store/stores.h"

#define SLOTS 16
#define PIECE 5000
#define ROUNDS 1500

typedef struct slot {
    tutti_store_request *r;
    unsigned char memory[PIECE], model[PIECE];
    int is_write;
} slot;

static void begin_case(tutti_store *s, slot *x, int i) {
    tutti_io_run runs[10];
    for (int k = 0; k < 10; k++) {
        const int at = k * (PIECE / 10);
        /* every second run follows the previous one without a hole */
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

static void finish_case(slot *x) {
    tutti_off done = -1;
    CHECK_OK(tutti__store_finish(&x->r, &done));
    CHECK_EQ(done, PIECE);
    if (!x->is_write) CHECK(memcmp(x->memory, x->model, PIECE) == 0);
}

static void hammer_store(const char *fault) {
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
            begin_case(s, &x[k], k);
        else if (rnd(3) != 0 || tutti__store_test(x[k].r))
            finish_case(&x[k]);
    }
    for (int k = 0; k < SLOTS; k++)
        if (x[k].r) finish_case(&x[k]);
    CHECK(stats.file_writes > 0 && stats.file_reads > 0 && stats.system_calls > 0);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

/* ---- many threads */

enum { CROWD = 3, TURNS = 200 };

typedef struct guest {
    pthread_t thread;
    tutti_store *store;
    tutti_stats stats;
    int place, wrong;
} guest;

static void *visit_entry(void *arg) {
    guest *g = arg;
    unsigned char out[PIECE], in[PIECE];
    tutti_stats *before = tutti__store_account(&g->stats);
    for (int i = 0; i < TURNS; i++) {
        const tutti_off at = (tutti_off)(SLOTS * 3 + g->place) * PIECE;
        const tutti_io_run w = {at, out, PIECE}, r = {at, in, PIECE};
        tutti_off done = 0;
        memset(out, i + 7 * g->place, PIECE);
        memset(in, 0, PIECE);
        g->wrong += tutti__store_write(g->store, &w, 1) != TUTTI_OK;
        g->wrong += tutti__store_read(g->store, &r, 1, &done) != TUTTI_OK;
        g->wrong += done != PIECE || memcmp(in, out, PIECE) != 0;
    }
    (void)tutti__store_account(before);
    return NULL;
}

static void crowd(int choice) {
    const leaks l = leaks_start();
    tutti_stats stats = {0};
    const tutti_options opt = store_options(choice);
    const char *path = scratch(1, "crowd");
    static slot x[SLOTS];
    static guest g[CROWD];
    if (!store_is_built(choice)) return;
    tutti_store *s = open_store(path, RWC, &opt, &stats);
    if (!s) return;
    memset(x, 0, sizeof x);
    memset(g, 0, sizeof g);
    CHECK_OK(tutti__store_resize(s, (tutti_off)(SLOTS * 3 + CROWD) * PIECE));
    for (int i = 0; i < CROWD; i++) {
        g[i].store = s;
        g[i].place = i;
        CHECK(pthread_create(&g[i].thread, NULL, visit_entry, &g[i]) == 0);
    }
    for (int i = 0; i < TURNS; i++) {
        const int k = (int)rnd(SLOTS);
        if (!x[k].r)
            begin_case(s, &x[k], k);
        else if (rnd(3) != 0 || tutti__store_test(x[k].r))
            finish_case(&x[k]);
    }
    for (int k = 0; k < SLOTS; k++)
        if (x[k].r) finish_case(&x[k]);
    for (int i = 0; i < CROWD; i++) {
        CHECK(pthread_join(g[i].thread, NULL) == 0);
        CHECK_EQ(g[i].wrong, 0);
        CHECK_EQ(g[i].stats.file_write_bytes, (tutti_off)TURNS * PIECE);
    }
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

int main(void) {
    check_seed(502);
    check_where("whole transfers");
    hammer_store("");
    check_where("short transfers");
    hammer_store("0:short:700");
    check_where("threads beside begun requests");
    crowd(TUTTI_STORE_THREADS);
    crowd(TUTTI_STORE_URING);
    return check_done();
}
