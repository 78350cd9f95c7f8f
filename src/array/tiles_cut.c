/* array: cutting a rank's elements into tiles.
 *
 * Tiles should be large, and long runs in the file.  So the slowest dimension is cut first, down to
 * a floor: not thinner than a few halos, since frames would be mostly halo; then the next one.  If
 * all dimensions are at their floors and it is still too much, floors are given up in the same
 * order.  In one dimension the largest extent that fits is found by bisection; then tiles are made
 * of equal size, so that there is no small one at the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles.h"

#include <string.h>

#include "base/memory.h"

/* A core is not made thinner than this many halos before other dimensions are cut. */
enum { HALOS = 8 };

static tutti_count extent(const tutti__box *b, int d) {
    return tutti__max(b->hi[d] - b->lo[d], 0);
}

static tutti_count ceil_div(tutti_count a, tutti_count b) {
    return a / b + (a % b != 0);
}

static void add_halo(const tutti__tiling *t, tutti__box *b) {
    for (int d = 0; d < t->ndims; d++) {
        b->lo[d] = tutti__max(b->lo[d] - t->halo[d], 0);
        b->hi[d] += tutti__min(t->halo[d], t->shape[d] - b->hi[d]);
    }
}

/* ---- how much is it? */

tutti_count tutti__tiling_core_most(const tutti__tiling *t) {
    tutti_count n = 1;
    for (int d = 0; d < t->ndims; d++) n *= tutti__min(t->tile[d], extent(&t->of, d));
    return n;
}

/* No tile's frame is larger in a dimension than that of the whole region. */
tutti_count tutti__tiling_frame_most(const tutti__tiling *t) {
    tutti__box all = t->of;
    tutti_count n = 1;
    if (tutti__box_count(t->ndims, &all) == 0) return 0;
    add_halo(t, &all);
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count more = extent(&all, d) - t->tile[d];
        n *= t->tile[d] + (more / 2 < t->halo[d] ? more : 2 * t->halo[d]);
    }
    return n;
}

/* Bytes that a room needs; the largest number if that is too much to count. */
static tutti_off need(const tutti__tiling *t, const tutti__room *r) {
    tutti_off frame, core, sum;
    if (!tutti__mul_ok(tutti__tiling_frame_most(t), r->frame_bytes, &frame) ||
        !tutti__mul_ok(tutti__tiling_core_most(t), r->core_bytes, &core) ||
        !tutti__add_ok(frame, core, &sum))
        return INT64_MAX;
    return sum;
}

static int fits(const tutti__tiling *t, int n, const tutti__room *rooms) {
    for (int i = 0; i < n; i++)
        if (need(t, &rooms[i]) > rooms[i].limit) return 0;
    return 1;
}

/* ---- choosing extents */

/* Make dimension d no larger than necessary, and no smaller than `floor`. */
static void shrink(tutti__tiling *t, int d, tutti_count floor, int n, const tutti__room *rooms) {
    tutti_count low = tutti__min(floor, t->tile[d]), high = t->tile[d];
    while (low < high) { /* the largest that fits is in [low, high], or low is as good as any */
        t->tile[d] = high - (high - low) / 2;
        if (fits(t, n, rooms))
            low = t->tile[d];
        else
            high = t->tile[d] - 1;
    }
    t->tile[d] = low;
}

/* 1: what is chosen fits into all rooms. */
static int choose(tutti__tiling *t, tutti_order file_order, const tutti_count *asked, int n,
                  const tutti__room *rooms) {
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count all = tutti__max(extent(&t->of, d), 1);
        t->tile[d] = asked[d] > 0 ? tutti__min(asked[d], all) : all;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->ndims && !fits(t, n, rooms); i++) {
            const int d = tutti__dim_slow(t->ndims, file_order, i);
            const tutti_count thin =
                tutti__max(HALOS * tutti__min(t->halo[d], t->shape[d] / HALOS), 1);
            if (asked[d] == 0) shrink(t, d, pass == 0 ? thin : 1, n, rooms);
        }
    return fits(t, n, rooms);
}

/* The same number of tiles, but of equal size. */
static void even_out(tutti__tiling *t, const tutti_count *asked) {
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count all = extent(&t->of, d);
        if (asked[d] == 0 && all > 0) t->tile[d] = ceil_div(all, ceil_div(all, t->tile[d]));
    }
}

static void count_tiles(tutti__tiling *t) {
    t->tiles = 1;
    for (int d = 0; d < t->ndims; d++) {
        t->along[d] = ceil_div(extent(&t->of, d), t->tile[d]);
        t->tiles *= t->along[d];
    }
}

tutti_err tutti__tiling_cut(tutti__tiling *t, tutti_order file_order, int n,
                            const tutti__room *rooms) {
    tutti_count asked[TUTTI_MAX_DIMS];
    memcpy(asked, t->tile, sizeof asked);
    if (!choose(t, file_order, asked, n, rooms) && !choose(t, file_order, asked, 1, rooms))
        TUTTI_FAIL(
            TUTTI_ERR_ARG,
            "the budget leaves %lld bytes for tiles, and the least tile takes %lld: a budget "
            "of %lld bytes would do",
            (long long)tutti__max(rooms[0].limit, 0), (long long)need(t, &rooms[0]),
            (long long)tutti__min(need(t, &rooms[0]), INT64_MAX - t->beside) + t->beside);
    even_out(t, asked);
    count_tiles(t);
    return TUTTI_OK;
}

/* ---- asking */

void tutti__tiling_core(const tutti__tiling *t, tutti_count k, tutti__box *out) {
    memset(out, 0, sizeof *out);
    if (k < 0 || k >= t->tiles) return;
    for (int i = t->ndims - 1; i >= 0; i--) {
        const int d = tutti__dim_slow(t->ndims, t->order, i);
        const tutti_count at = k % t->along[d];
        k /= t->along[d];
        out->lo[d] = t->of.lo[d] + at * t->tile[d];
        out->hi[d] = out->lo[d] + tutti__min(t->tile[d], t->of.hi[d] - out->lo[d]);
    }
}

void tutti__tiling_frame(const tutti__tiling *t, const tutti__box *core, tutti__box *out) {
    *out = *core;
    if (tutti__box_count(t->ndims, core) > 0) add_halo(t, out);
}

void tutti__tiling_fetch(const tutti__tiling *t, const tutti__grain *g, const tutti__box *have,
                         const tutti__box *frame, tutti__fetch *out) {
    (void)tutti__box_common(t->ndims, have, frame, &out->kept);
    out->n = tutti__box_rest(g, frame, &out->kept, out->read);
    for (int i = 1; i < out->n; i++) {
        if (tutti__box_in_turn(g, t->shape, &out->read[i - 1], &out->read[i])) continue;
        memset(&out->kept, 0, sizeof out->kept);
        out->read[0] = *frame;
        out->n = 1;
    }
}
