/* TEST ranks=0 timeout=60 */
/* The tiling of tile iterations without I/O, compared with loops over single elements: tiles cover
 * a region once and keep their limits; frames; intersections, differences and copies of boxes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "array/tiles.h"
#include "check.h"

enum { EXTENT = 11, ROUNDS = 2000 };

static tutti_count random_extent(int ndims) {
    return 1 + rnd(ndims > 3 ? 5 : EXTENT);
}

static tutti__box random_box(int ndims, const tutti_count *shape, int may_be_empty) {
    tutti__box b;
    memset(&b, 0, sizeof b);
    for (int d = 0; d < ndims; d++) {
        b.lo[d] = rnd(shape[d]);
        b.hi[d] = b.lo[d] + !may_be_empty + rnd(shape[d] - b.lo[d] + may_be_empty);
    }
    return b;
}

static int inside(int ndims, const tutti__box *b, const tutti_count *at) {
    for (int d = 0; d < ndims; d++)
        if (at[d] < b->lo[d] || at[d] >= b->hi[d]) return 0;
    return 1;
}

/* Advance to the next position of an array; return 0 after the last. */
static int next_place(int ndims, const tutti_count *shape, tutti_count *at) {
    for (int d = 0; d < ndims; d++) {
        if (++at[d] < shape[d]) return 1;
        at[d] = 0;
    }
    return 0;
}

static tutti_count number_of(int ndims, const tutti_count *shape, const tutti_count *at) {
    tutti_count n = 0;
    for (int d = 0; d < ndims; d++) n = n * shape[d] + at[d];
    return n;
}

/* Return the position of the element `at` in a packed box. */
static tutti_count packed_place(const tutti__box_layout *g, const tutti__box *b,
                                const tutti_count *at) {
    tutti_count p = 0;
    for (int i = 0; i < g->ndims; i++) {
        const int d = g->order == TUTTI_ROW_MAJOR ? i : g->ndims - 1 - i;
        p = p * (b->hi[d] - b->lo[d]) + at[d] - b->lo[d];
    }
    return p;
}

/* ---- boxes */

static void try_rest(const tutti__box_layout *g, const tutti_count *shape, const tutti__box *whole,
                     const tutti__box *part) {
    tutti__box rest[2 * TUTTI_MAX_DIMS];
    tutti_count at[TUTTI_MAX_DIMS] = {0};
    const int n = tutti__box_subtract(g, whole, part, rest);
    CHECK(n <= 2 * g->ndims, "%d boxes", n);
    do {
        int times = 0;
        for (int i = 0; i < n; i++) times += inside(g->ndims, &rest[i], at);
        CHECK_EQ(times, inside(g->ndims, whole, at) && !inside(g->ndims, part, at));
    } while (next_place(g->ndims, shape, at));
}

static void try_copy(const tutti__box_layout *g, const tutti_count *shape, const tutti__packed *a,
                     const tutti__packed *b, const tutti__box *part) {
    tutti_count at[TUTTI_MAX_DIMS] = {0};
    const size_t size = (size_t)g->element;
    memset(b->bytes, 0xee, size * (size_t)tutti__box_count(g->ndims, b->box));
    do {
        if (!inside(g->ndims, a->box, at)) continue;
        memset(a->bytes + size * (size_t)packed_place(g, a->box, at), 0xdd, size);
        a->bytes[size * (size_t)packed_place(g, a->box, at)] =
            (char)(number_of(g->ndims, shape, at) % 199);
    } while (next_place(g->ndims, shape, at));
    tutti__box_copy(g, part, a, b);
    memset(at, 0, sizeof at);
    do {
        if (!inside(g->ndims, b->box, at)) continue;
        const char *got = b->bytes + size * (size_t)packed_place(g, b->box, at);
        const int copied = inside(g->ndims, part, at);
        const char want = copied ? (char)(number_of(g->ndims, shape, at) % 199) : (char)0xee;
        CHECK(got[0] == want, "element %lld", (long long)number_of(g->ndims, shape, at));
        if (size > 1) CHECK_EQ((unsigned char)got[size - 1], copied ? 0xdd : 0xee);
    } while (next_place(g->ndims, shape, at));
}

static void boxes_round(void) {
    const tutti__box_layout g = {1 + (int)rnd(5), rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR,
                                 1 + rnd(9)};
    tutti_count shape[TUTTI_MAX_DIMS], at[TUTTI_MAX_DIMS] = {0}, n = 0;
    for (int d = 0; d < g.ndims; d++) shape[d] = random_extent(g.ndims);
    const tutti__box a = random_box(g.ndims, shape, 1), b = random_box(g.ndims, shape, 1);
    tutti__box common;
    const tutti_count got = tutti__box_intersect(g.ndims, &a, &b, &common);
    do n += inside(g.ndims, &a, at) && inside(g.ndims, &b, at);
    while (next_place(g.ndims, shape, at));
    CHECK_EQ(got, n);
    CHECK_EQ(tutti__box_count(g.ndims, &common), n);
    try_rest(&g, shape, &a, &common);

    const tutti__packed from = {&a,
                                malloc((size_t)(g.element * tutti__box_count(g.ndims, &a)) + 1)};
    const tutti__packed to = {&b, malloc((size_t)(g.element * tutti__box_count(g.ndims, &b)) + 1)};
    try_copy(&g, shape, &from, &to, &common);
    free(from.bytes);
    free(to.bytes);
}

/* ---- division into tiles */

static tutti_off used(const tutti__tiling *t, const tutti__tile_limit *r) {
    return tutti__tiling_frame_max(t) * r->frame_bytes + tutti__tiling_core_max(t) * r->core_bytes;
}

/* Check that reused and read elements together form a frame, and that reads ascend in the file. */
static void check_fetch(const tutti__tiling *t, const tutti__box_layout *g, const tutti__box *have,
                        const tutti__box *frame) {
    tutti__tile_read f;
    tutti_count n;
    tutti__tiling_plan_read(t, g, have, frame, &f);
    n = tutti__box_count(t->ndims, &f.kept);
    for (int i = 0; i < f.n; i++) {
        n += tutti__box_count(t->ndims, &f.read[i]);
        if (i > 0) CHECK(tutti__box_precedes(g, t->shape, &f.read[i - 1], &f.read[i]), "order");
    }
    CHECK_EQ(n, tutti__box_count(t->ndims, frame));
    try_rest(g, t->shape, frame, &f.kept);
    int moved = 0;
    for (int d = 0; d < t->ndims; d++)
        moved += have->lo[d] != frame->lo[d] || have->hi[d] != frame->hi[d];
    if (moved == 1) { /* after a step in one dimension all common elements are kept */
        tutti__box common;
        CHECK_EQ(tutti__box_intersect(t->ndims, have, frame, &common),
                 tutti__box_count(t->ndims, &f.kept));
    }
}

/* Check all tiles: each element of the region is in one core, and each frame is its core with halo. */
static void check_tiles(const tutti__tiling *t, const tutti__box_layout *g) {
    tutti__box before;
    memset(&before, 0, sizeof before);
    tutti_count all = 1, at[TUTTI_MAX_DIMS] = {0};
    for (int d = 0; d < t->ndims; d++) all *= t->shape[d];
    char *seen = calloc((size_t)all, 1);
    for (tutti_count k = 0; k < t->tiles; k++) {
        tutti__box core, frame;
        tutti__tiling_core(t, k, &core);
        tutti__tiling_frame(t, &core, &frame);
        CHECK(tutti__box_count(t->ndims, &core) > 0, "tile %lld is empty", (long long)k);
        CHECK(tutti__box_count(t->ndims, &core) <= tutti__tiling_core_max(t), "core");
        CHECK(tutti__box_count(t->ndims, &frame) <= tutti__tiling_frame_max(t), "frame");
        check_fetch(t, g, &before, &frame);
        before = frame;
        memset(at, 0, sizeof at);
        do {
            int framed = 1;
            for (int d = 0; d < t->ndims; d++)
                framed &= at[d] >= core.lo[d] - t->halo[d] && at[d] < core.hi[d] + t->halo[d];
            CHECK_EQ(inside(t->ndims, &frame, at), framed);
            seen[number_of(t->ndims, t->shape, at)] += (char)inside(t->ndims, &core, at);
        } while (next_place(t->ndims, t->shape, at));
    }
    memset(at, 0, sizeof at);
    do CHECK_EQ(seen[number_of(t->ndims, t->shape, at)], inside(t->ndims, &t->of, at));
    while (next_place(t->ndims, t->shape, at));
    free(seen);
}

/* Return the bytes of the smallest tile, which has extent 1 in each dimension without a requested extent. */
static tutti_off least(const tutti__tiling *t, const tutti_count *asked,
                       const tutti__tile_limit *r) {
    tutti__tiling small = *t;
    for (int d = 0; d < t->ndims; d++) {
        small.tile[d] = asked[d] ? asked[d] : 1;
        if (small.tile[d] > t->of.hi[d] - t->of.lo[d]) small.tile[d] = t->of.hi[d] - t->of.lo[d];
    }
    return used(&small, r);
}

static tutti__tiling random_tiling(void) {
    tutti__tiling t;
    memset(&t, 0, sizeof t);
    t.ndims = 1 + (int)rnd(4);
    t.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    for (int d = 0; d < t.ndims; d++) {
        t.shape[d] = random_extent(t.ndims);
        t.halo[d] = rnd(2) ? 0 : rnd(rnd(3) ? 3 : t.shape[d] + 1);
        t.tile[d] = rnd(3) ? 0 : 1 + rnd(t.shape[d] + 2);
    }
    t.of = random_box(t.ndims, t.shape, 0);
    for (int d = 0; d < t.ndims; d++)
        if (rnd(3)) t.of.lo[d] = 0, t.of.hi[d] = t.shape[d];
    return t;
}

static void cut_round(void) {
    tutti__tiling t = random_tiling();
    const tutti__tiling before = t;
    tutti__tile_limit rooms[2] = {{rnd(20), 1 + rnd(20), 0}, {rnd(20), rnd(20), 0}};
    for (int i = 0; i < 2; i++) { /* a limit from one byte too few to five times the minimum */
        rooms[i].limit = least(&before, before.tile, &rooms[i]);
        rooms[i].limit += rnd(4) ? rnd(4 * rooms[i].limit + 1) : -rnd(2);
    }
    const int n = 1 + (int)rnd(2);
    const tutti__box_layout g = {t.ndims, rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR, 8};
    const tutti_err err = tutti__tiling_cut(&t, g.order, n, rooms);
    const tutti_off needed = least(&before, before.tile, &rooms[0]);
    CHECK_EQ(err, needed > rooms[0].limit ? TUTTI_ERR_ARG : TUTTI_OK);
    if (err != TUTTI_OK) return;
    CHECK(used(&t, &rooms[0]) <= rooms[0].limit, "over the budget");
    if (n == 2 && least(&before, before.tile, &rooms[1]) <= rooms[1].limit)
        CHECK(used(&t, &rooms[1]) <= rooms[1].limit, "over a limit that could be kept to");
    for (int d = 0; d < t.ndims; d++)
        if (before.tile[d] && t.of.hi[d] - t.of.lo[d] >= before.tile[d])
            CHECK_EQ(t.tile[d], before.tile[d]);
    check_tiles(&t, &g);
}

/* ---- expected choices */

static void expect_rows(void) {
    tutti__tiling t = {.ndims = 2, .of = {.hi = {1000, 1000}}, .shape = {1000, 1000}};
    const tutti__tile_limit tile_limit = {16, 16, 16 * 2 * 100 * 1000};
    tutti__tiling wide = t, thin = t, halo = t;
    CHECK_OK(tutti__tiling_cut(&t, TUTTI_ROW_MAJOR, 1, &tile_limit)); /* rows are not split */
    CHECK(t.tile[0] == 100 && t.tile[1] == 1000, "%lld x %lld", (long long)t.tile[0],
          (long long)t.tile[1]);
    CHECK_EQ(t.tiles, 10);
    CHECK_OK(tutti__tiling_cut(&wide, TUTTI_COL_MAJOR, 1, &tile_limit)); /* columns are not split */
    CHECK(wide.tile[0] == 1000 && wide.tile[1] == 100, "columns");
    const tutti__tile_limit little = {16, 16, 16 * 2 * 400};
    /* tiles are parts of one row */
    CHECK_OK(tutti__tiling_cut(&thin, TUTTI_ROW_MAJOR, 1, &little));
    CHECK(thin.tile[0] == 1 && thin.tile[1] == 334, "%lld x %lld", (long long)thin.tile[0],
          (long long)thin.tile[1]);
    halo.halo[0] = halo.halo[1] = 1;
    CHECK_OK(tutti__tiling_cut(&halo, TUTTI_ROW_MAJOR, 1, &little)); /* halo and core fit */
    CHECK(halo.tile[0] == 8, "%lld x %lld", (long long)halo.tile[0], (long long)halo.tile[1]);
}

/* Tilings of the largest possible extents do not overflow. */
static void expect_large(void) {
    tutti__tiling t = {.ndims = 1, .of = {.hi = {INT64_MAX}}, .shape = {INT64_MAX}};
    const tutti__tile_limit tile_limit = {2, 2, 1 << 20}, none = {2, 2, 3};
    tutti__box core;
    t.halo[0] = INT64_MAX;
    CHECK_ERR(tutti__tiling_cut(&t, TUTTI_ROW_MAJOR, 1, &tile_limit), TUTTI_ERR_ARG);
    memset(t.tile, 0, sizeof t.tile);
    t.halo[0] = 1;
    CHECK_OK(tutti__tiling_cut(&t, TUTTI_ROW_MAJOR, 1, &tile_limit));
    tutti__tiling_core(&t, t.tiles - 1, &core);
    CHECK_EQ(core.hi[0], INT64_MAX);
    tutti__tiling_core(&t, t.tiles, &core);
    CHECK_EQ(tutti__box_count(1, &core), 0);
    memset(t.tile, 0, sizeof t.tile);
    CHECK_ERR(tutti__tiling_cut(&t, TUTTI_ROW_MAJOR, 1, &none), TUTTI_ERR_ARG);
    t.of.lo[0] = t.of.hi[0] = 5;
    memset(t.tile, 0, sizeof t.tile);
    CHECK_OK(tutti__tiling_cut(&t, TUTTI_ROW_MAJOR, 1, &none)); /* the region is empty */
    CHECK_EQ(t.tiles, 0);
}

int main(void) {
    check_seed(870);
    expect_rows();
    expect_large();
    for (int i = 0; i < ROUNDS; i++) {
        boxes_round();
        cut_round();
    }
    return check_done();
}
