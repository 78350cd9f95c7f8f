/* TEST ranks=1,2 timeout=120 */
/* File access of a tile iteration continues while the caller computes: requests for the next tile
 * and of the last one are pending in the background; and a tile iteration over a large array needs
 * no more memory than its budget.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <tutti/array.h>
#include "collective/find.h"
#include "harness.h"

enum { TILES = 6, ROWS = 8, WIDTH = 256 };

static char path[512], to_path[520];

static tutti_array *create_objects(const char *p, const tutti_array_spec *spec,
                                   const char *options) {
    const tutti_options opt = options_of(options);
    tutti_array *a = NULL;
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, p, spec, &opt, &a), TUTTI_OK);
    return a;
}

/* ---- overlap with computation */

static tutti_slice my_rows(tutti_count rows, tutti_count columns) {
    tutti_slice s = tutti_slice_all(2, (tutti_count[]){rows, columns});
    s.lo[0] = rows * rank / ranks;
    s.hi[0] = rows * (rank + 1) / ranks;
    return s;
}

/* Check the requests that are pending while the caller processes tile i: one read of the next tile,
 * and one write of the last. */
static void expect_under_way(tutti_array *from, tutti_array *to, int i) {
    int reads = 0, writes = 0;
    for (int k = 0; k < (from == to ? 1 : 2); k++)
        for (const tutti_request *r = tutti_array_file(k ? to : from)->requests.first; r;
             r = r->next.of_file)
            *(r->op.is_write ? &writes : &reads) += 1;
    CHECK(reads == (i + 1 < TILES), "tile %d: %d reads are under way", i, reads);
    CHECK(writes == (i > 0), "tile %d: %d writes are under way", i, writes);
}

static void walk_tiles(tutti_array *from, tutti_array *to, int sequential) {
    const tutti_slice of = my_rows((tutti_count)TILES * ROWS * ranks, WIDTH);
    const tutti_tiles_spec s = {.budget = 1 << 20,
                                .region = &of,
                                .tile = {ROWS, WIDTH},
                                .halo = {from == to ? 0 : 1, 0},
                                .sequential = sequential};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_tiles_stats stats;
    int i = 0;
    CHECK_OK(tutti_tiles_begin(from, to, &s, &t));
    for (;; i++) {
        CHECK_OK(tutti_tiles_next(t, &tile));
        if (!tile.more) break;
        if (!sequential) expect_under_way(from, to, i);
        if (sequential)
            CHECK(!tutti_array_file(from)->requests.first && !tutti_array_file(to)->requests.first,
                  "tile %d: something is under way", i);
        if (tile.out) memset(tile.out, 1, ROWS * WIDTH);
    }
    tutti_tiles_stats_get(t, &stats);
    CHECK_OK(tutti_tiles_end(&t));
    CHECK(stats.seconds_waiting > 0, "waiting %g s", stats.seconds_waiting);
    CHECK_EQ(stats.tiles, TILES);
}

static void check_overlap(int in_place, const char *options) {
    const tutti_array_spec spec = {
        .ndims = 2, .shape = {(tutti_count)TILES * ROWS * ranks, WIDTH}, .type = TUTTI_INT8};
    tutti_array *from = create_objects(path, &spec, options), *to = from;
    tutti_stats s;
    check_where(options);
    if (!in_place) to = create_objects(to_path, &spec, options);
    walk_tiles(from, to, 1);
    walk_tiles(from, to, 0);
    tutti_file_stats(tutti_array_file(from), NULL, &s);
    CHECK_EQ(s.background, (in_place ? 2 : 1) * TILES);
    CHECK_EQ(s.foreground, 0);
    if (!in_place) CHECK_SAME(tutti_array_close(&to), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&from), TUTTI_OK);
}

/* ---- memory */

static size_t heap(void) {
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* Check the heap during a tile iteration on one rank, where staging is also on the heap; SLACK is for
 * plans. */
static void check_budget(tutti_off bytes, const char *options) {
    enum { SIDE = 2048, SLACK = 64 << 10 };
    const tutti_array_spec spec = {.ndims = 2, .shape = {SIDE, SIDE}, .type = TUTTI_FLOAT64};
    tutti_array *from = create_objects(path, &spec, options),
                *to = create_objects(to_path, &spec, options);
    const tutti_slice of = my_rows(SIDE, SIDE);
    const tutti_tiles_spec s = {.budget = bytes, .region = &of, .halo = {1, 1}};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_tiles_stats stats;
    tutti_stats file;
    check_where("budget");
    const size_t before = heap();
    CHECK_OK(tutti_tiles_begin(from, to, &s, &t));
    for (;;) {
        CHECK_OK(tutti_tiles_next(t, &tile));
        if (!tile.more) break;
        memset(tile.out, 0, (size_t)tutti_slice_count(2, &tile.core, NULL) * 8);
        const tutti_off used = (tutti_off)(heap() - before);
        CHECK(used <= bytes + SLACK, "%lld bytes of %lld in use", (long long)used,
              (long long)bytes);
    }
    tutti_tiles_stats_get(t, &stats);
    CHECK(stats.memory <= bytes && stats.memory > bytes / 2, "%lld of %lld bytes",
          (long long)stats.memory, (long long)bytes);
    CHECK(stats.tiles > 1, "the array fits");
    CHECK_OK(tutti_tiles_end(&t));
    tutti_file_stats(tutti_array_file(from), NULL, &file);
    CHECK_EQ(file.foreground, 0); /* automatic tile sizes leave memory for background operations */
    CHECK_SAME(tutti_array_close(&to), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&from), TUTTI_OK);
}

/* Return the bytes of staging memory of all ranks of the node. */
static tutti_off staging_of(tutti_array *a) {
    const tutti__staging *t = tutti_array_file(a)->team->staging;
    const tutti_off spare = (tutti_off)t->spare.bytes * (t->spare.shared ? 1 : ranks);
    return t->background + spare + (tutti_off)(t->segment[0].bytes + t->aux.bytes) +
           (tutti_off)t->segment[1].bytes * ranks;
}

/* Square tiles consist of short pieces far apart in the file, so that the windows which contain them
 * are many times larger than the tile: staging memory must not exceed the budget. */
static void check_sparse(tutti_off bytes, const char *options, int expect_background) {
    enum { SIDE = 1200 };
    const tutti_array_spec spec = {.ndims = 2, .shape = {SIDE, SIDE}, .type = TUTTI_FLOAT64};
    tutti_array *from = create_objects(path, &spec, options),
                *to = create_objects(to_path, &spec, options);
    const tutti_slice of = my_rows(SIDE, SIDE);
    const tutti_tiles_spec s = {.budget = bytes, .region = &of, .tile = {60, 60}};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_tiles_stats stats;
    tutti_stats file;
    int wrong = 0;
    check_where("sparse");
    for (int pass = 0; pass < 3; pass++) { /* write only; read and write; read only */
        tutti_array *in = pass == 0 ? NULL : pass == 1 ? from : to;
        tutti_array *out = pass == 0 ? from : pass == 1 ? to : NULL;
        CHECK_OK(tutti_tiles_begin(in, out, &s, &t));
        for (;;) {
            CHECK_OK(tutti_tiles_next(t, &tile));
            const tutti_off used = (in ? staging_of(in) : 0) + (out ? staging_of(out) : 0);
            CHECK(used <= ranks * bytes, "pass %d: %lld bytes of %lld are staging", pass,
                  (long long)used, (long long)(ranks * bytes));
            if (!tile.more || check_failures_) break;
            const tutti_count n = tutti_slice_count(2, &tile.core, NULL);
            const double *v = tile.in, first = (double)(tile.core.lo[0] * SIDE + tile.core.lo[1]);
            double *w = tile.out;
            for (tutti_count i = 0; i < n; i++) {
                if (v) wrong += v[i] != first + (double)i + (pass - 1);
                if (w) w[i] = first + (double)i + pass;
            }
        }
        tutti_tiles_stats_get(t, &stats);
        CHECK(stats.memory <= bytes, "pass %d: %lld of %lld bytes", pass, (long long)stats.memory,
              (long long)bytes);
        CHECK_OK(tutti_tiles_end(&t));
    }
    CHECK_EQ(wrong, 0);
    tutti_file_stats(tutti_array_file(to), NULL, &file);
    CHECK(expect_background ? file.background > 0 : file.foreground > 0, "%lld in the background",
          (long long)file.background);
    CHECK_SAME(tutti_array_close(&to), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&from), TUTTI_OK);
}

/* Automatic tile sizes allow the engine to read all tiles in the background. */
static void test_staging(void) {
    const tutti_array_spec spec = {.ndims = 1, .shape = {1 << 22}, .type = TUTTI_INT8};
    tutti_array *from = create_objects(path, &spec, "background_bytes=2m window_size=64k");
    tutti_slice of = tutti_slice_all(1, spec.shape);
    const tutti_tiles_spec s = {.budget = 1 << 30, .region = &of};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_stats all;
    of.lo[0] = spec.shape[0] * rank / ranks;
    of.hi[0] = spec.shape[0] * (rank + 1) / ranks;
    check_where("staging");
    CHECK_OK(tutti_tiles_begin(from, NULL, &s, &t));
    do CHECK_OK(tutti_tiles_next(t, &tile));
    while (tile.more);
    CHECK_OK(tutti_tiles_end(&t));
    tutti_file_stats(tutti_array_file(from), NULL, &all);
    CHECK(all.background > 1 && all.foreground == 0, "%lld in the background, %lld not",
          (long long)all.background, (long long)all.foreground);
    CHECK_SAME(tutti_array_close(&from), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 875);
    snprintf(path, sizeof path, "%s", scratch_path("overlap"));
    snprintf(to_path, sizeof to_path, "%s.to", path);
    /* this check comes first, while little staging memory is cached */
    check_sparse(300 << 10, "background=io-only", 0);
    check_sparse(20 << 20, "background=io-only", 1);
    check_overlap(0, "background=auto fault=*:slow:1"); /* file access takes time */
    check_overlap(1, "background=auto fault=*:slow:1");
    check_budget(4 << 20, "");
    check_budget(3 << 20, "background=none");
    test_staging();
    return harness_end();
}
