/* TEST ranks=0 timeout=120 */
/* Random list requests on every store, compared with a model in memory: adjacent, tiny, large, unaligned,
 * shuffled and empty runs, more runs than one system call accepts, reads across the end of the file;
 * synchronous and asynchronous; with and without direct_io, with short and interrupted transfers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#define CAP (1 << 19)    /* bytes of the largest file */
#define MEMORY (3 << 19) /* bytes of memory of one request */
#define MOST_RUNS 3000
#define GUARD 0xa5

typedef struct world {
    tutti_store *s;
    int is_null;
    unsigned char *model;
    tutti_off size;
    unsigned char *memory; /* page aligned */
    tutti_io_run runs[MOST_RUNS];
    int n;
    tutti_off bytes;
    tutti_stats stats;
    tutti_off written;
} world;

enum shape { ONE, ADJACENT, TINY, SPREAD, PAGES, SHAPES };

static tutti_off run_length(enum shape shape) {
    switch (shape) {
    case ONE:
        return rnd(CAP);
    case ADJACENT:
        return rnd(5000);
    case TINY:
        return 1 + rnd(3);
    case SPREAD:
        return rnd(2000);
    default:
        return 4096 * rnd(6) + (rnd(4) == 0 ? rnd(600) : 0);
    }
}

static int run_count(enum shape shape) {
    return shape == ONE ? 1 : shape == TINY ? 1100 + (int)rnd(1500) : (int)rnd(90);
}

static void shuffle_items(world *w) {
    for (int i = w->n - 1; i > 0; i--) {
        const int j = (int)rnd(i + 1);
        const tutti_io_run t = w->runs[i];
        w->runs[i] = w->runs[j];
        w->runs[j] = t;
    }
}

/* Make disjoint ascending runs in the file. */
static void make_file_side(world *w, enum shape shape) {
    tutti_off at = rnd(3) == 0 ? 4096 * rnd(CAP / 8192) : rnd(CAP / 2);
    const int n = run_count(shape);
    w->n = 0;
    w->bytes = 0;
    for (int i = 0; i < n; i++) {
        const tutti_off bytes = run_length(shape);
        if (shape == SPREAD || rnd(12) == 0) at += rnd(3000);
        if (at + bytes > CAP) break;
        w->runs[w->n++] = (tutti_io_run){.offset = at, .bytes = (size_t)bytes};
        w->bytes += bytes;
        at += bytes;
    }
}

/* Assign disjoint memory to the runs: packed, or in another order and with gaps; sometimes with the same
 * alignment as in the file. */
static void make_memory_side(world *w) {
    const int aligned = (int)rnd(2), packed = (int)rnd(2);
    tutti_off at = rnd(4096);
    if (!packed) shuffle_items(w);
    for (int i = 0; i < w->n; i++) {
        tutti_io_run *r = &w->runs[i];
        if (!packed) at += rnd(100);
        if (aligned) at = tutti__align_down(at, 4096) + 4096 + r->offset % 4096;
        if (at + (tutti_off)r->bytes > MEMORY) { /* omit this run and all following ones */
            w->n = i;
            break;
        }
        r->memory = w->memory + at;
        at += (tutti_off)r->bytes;
    }
    w->bytes = 0;
    for (int i = 0; i < w->n; i++) w->bytes += (tutti_off)w->runs[i].bytes;
}

static int by_offset(const void *a, const void *b) {
    const tutti_off x = ((const tutti_io_run *)a)->offset, y = ((const tutti_io_run *)b)->offset;
    return x < y ? -1 : x > y;
}

static void make_request(world *w) {
    make_file_side(w, (enum shape)rnd(SHAPES));
    make_memory_side(w);
    if (rnd(4) != 0) qsort(w->runs, (size_t)w->n, sizeof *w->runs, by_offset);
}

static tutti_err carry_out(world *w, int is_write, tutti_off *done) {
    tutti_store_request *r = NULL;
    if (rnd(2) == 0) {
        *done = w->bytes;
        return is_write ? tutti__store_write(w->s, w->runs, w->n)
                        : tutti__store_read(w->s, w->runs, w->n, done);
    }
    const tutti_err err = tutti__store_begin(w->s, is_write, w->runs, w->n, &r);
    if (err != TUTTI_OK) return err;
    if (rnd(2) == 0)
        while (!tutti__store_test(r)) continue;
    return tutti__store_finish(&r, done);
}

static void write_once(world *w) {
    tutti_off done = -1;
    make_request(w);
    for (tutti_off i = 0; i < MEMORY; i += 8) *(uint64_t *)(w->memory + i) = rnd64();
    CHECK_OK(carry_out(w, 1, &done));
    CHECK_EQ(done, w->bytes);
    w->written += w->bytes;
    for (int i = 0; i < w->n; i++) {
        const tutti_io_run *r = &w->runs[i];
        if (r->bytes == 0) continue;
        if (!w->is_null) memcpy(w->model + r->offset, r->memory, r->bytes);
        w->size = tutti__max(w->size, r->offset + (tutti_off)r->bytes);
    }
}

/* Compute the expected memory after the read; return the number of bytes read. */
static tutti_off expect_read(const world *w, unsigned char *expected) {
    tutti_off done = 0;
    memset(expected, GUARD, MEMORY);
    for (int i = 0; i < w->n; i++) {
        const tutti_io_run *r = &w->runs[i];
        const tutti_off there = tutti__max(0, w->size - r->offset);
        const tutti_off bytes = tutti__min(there, (tutti_off)r->bytes);
        memcpy(expected + ((unsigned char *)r->memory - w->memory), w->model + r->offset,
               (size_t)bytes);
        done += bytes;
        if (bytes < (tutti_off)r->bytes) break;
    }
    return done;
}

static void read_once(world *w) {
    unsigned char *expected = malloc(MEMORY);
    tutti_off done = -1;
    make_request(w);
    memset(w->memory, GUARD, MEMORY);
    const tutti_off there = expect_read(w, expected);
    CHECK_OK(carry_out(w, 0, &done));
    CHECK_EQ(done, there);
    CHECK(memcmp(w->memory, expected, MEMORY) == 0, "read wrong bytes");
    free(expected);
}

static void change_size(world *w) {
    const tutti_off size = rnd(CAP);
    if (rnd(2) == 0) {
        CHECK_OK(tutti__store_preallocate(w->s, size));
        w->size = tutti__max(w->size, size);
        return;
    }
    CHECK_OK(tutti__store_resize(w->s, size));
    if (size < w->size) memset(w->model + size, 0, (size_t)(w->size - size));
    w->size = size;
}

static void check_whole(world *w) {
    tutti_off size = -1, done = -1;
    CHECK_OK(tutti__store_size(w->s, &size));
    CHECK_EQ(size, w->size);
    memset(w->memory, GUARD, CAP + 1);
    const tutti_io_run all = {.offset = 0, .memory = w->memory, .bytes = CAP + 1};
    CHECK_OK(tutti__store_read(w->s, &all, 1, &done));
    CHECK_EQ(done, w->size);
    CHECK(memcmp(w->memory, w->model, (size_t)w->size) == 0, "the file is not the model");
    CHECK_EQ(w->memory[w->size], GUARD);
}

static void play_case(world *w, int steps) {
    for (int i = 0; i < steps; i++) {
        const int what = (int)rnd(10);
        if (what < 4)
            write_once(w);
        else if (what < 8)
            read_once(w);
        else
            change_size(w);
        if (i % 8 == 0) check_whole(w);
    }
    check_whole(w);
    CHECK_OK(tutti__store_sync(w->s));
}

static void go_through(int dir, const tutti_options *opt, int steps) {
    const char *path = scratch(dir, "model");
    const leaks l = leaks_start();
    world *w = calloc(1, sizeof *w);
    w->is_null = opt->store == TUTTI_STORE_NULL;
    w->model = calloc(1, CAP + 1);
    if (posix_memalign((void **)&w->memory, 4096, MEMORY) != 0) abort();
    const tutti_err err = tutti__store_open(path, RWC, 0600, opt, 0, &w->stats, &w->s);
    if (err == TUTTI_OK) {
        play_case(w, steps);
        CHECK_OK(tutti__store_close(&w->s));
        CHECK(!w->s);
        CHECK_EQ(w->stats.file_write_bytes >= w->written, 1);
        CHECK(w->is_null || (w->stats.system_calls > 0 && w->stats.file_reads > 0));
        CHECK_OK(tutti__store_delete(path, opt));
    } else {
        CHECK(err == TUTTI_ERR_UNSUPPORTED && opt->direct_io, "%s", tutti_last_message());
    }
    free(w->memory);
    free(w->model);
    free(w);
    leaks_check(l);
}

static void vary_values(int choice, int dir) {
    static const char *const faults[] = {"", "0:short:1000", "*:short:4096", "0:short:70000"};
    static char where[200];
    for (int direct = 0; direct < 2; direct++)
        for (int k = 0; k < 4; k++) {
            tutti_options opt = store_options(choice);
            opt.direct_io = direct;
            opt.queue_depth = k == 1 ? 1 : 5;
            opt.io_threads = 1 + k;
            snprintf(opt.fault, sizeof opt.fault, "%s", faults[k]);
            snprintf(where, sizeof where, "%s in %s, direct %d, fault '%s'", store_names[choice],
                     scratch_dir(dir), direct, opt.fault);
            check_where(where);
            go_through(dir, &opt, direct && dir == 0 ? 8 : 16);
        }
}

int main(void) {
    check_seed(500);
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_NULL; choice++)
        for (int dir = 0; dir < 2; dir++)
            if (store_is_built(choice)) vary_values(choice, dir);
    return check_done();
}
