/* array: division of a rank's elements into tiles.
 *
 * Tiles should be large, with long runs in the file.  So the slowest dimension is divided first,
 * down to a minimum of a few halos, since frames would otherwise consist mostly of halo; then the
 * next dimension.  If all dimensions have their minimum and the tiles are still too large, smaller
 * extents are chosen in the same order.  The largest extent that fits is found by bisection; then
 * tiles get equal sizes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles.h"

#include <string.h>

#include "base/memory.h"

/* Minimal extent of a core, as a multiple of the halo, before other dimensions are divided. */
enum { HALOS = 8 };

static tutti_count box_extent(const tutti__box *b, int d) {
    return tutti__max(b->hi[d] - b->lo[d], 0);
}

static tutti_count divide_up(tutti_count a, tutti_count b) {
    return a / b + (a % b != 0);
}

static void add_halo(const tutti__tiling *t, tutti__box *b) {
    for (int d = 0; d < t->ndims; d++) {
        b->lo[d] = tutti__max(b->lo[d] - t->halo[d], 0);
        b->hi[d] += tutti__min(t->halo[d], t->shape[d] - b->hi[d]);
    }
}

/* ---- sizes */

tutti_count tutti__tiling_core_max(const tutti__tiling *t) {
    tutti_count n = 1;
    for (int d = 0; d < t->ndims; d++) n *= tutti__min(t->tile[d], box_extent(&t->of, d));
    return n;
}

/* In each dimension the frame of a tile is at most as large as the frame of the whole region. */
tutti_count tutti__tiling_frame_max(const tutti__tiling *t) {
    tutti__box all = t->of;
    tutti_count n = 1;
    if (tutti__box_count(t->ndims, &all) == 0) return 0;
    add_halo(t, &all);
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count more = box_extent(&all, d) - t->tile[d];
        n *= t->tile[d] + (more / 2 < t->halo[d] ? more : 2 * t->halo[d]);
    }
    return n;
}

/* Return the bytes to which a limit applies; INT64_MAX on overflow. */
static tutti_off bytes_needed(const tutti__tiling *t, const tutti__tile_limit *r) {
    tutti_off frame, core, sum;
    if (!tutti__mul_ok(tutti__tiling_frame_max(t), r->frame_bytes, &frame) ||
        !tutti__mul_ok(tutti__tiling_core_max(t), r->core_bytes, &core) ||
        !tutti__add_ok(frame, core, &sum))
        return INT64_MAX;
    return sum;
}

static int fits_limits(const tutti__tiling *t, int n, const tutti__tile_limit *limits) {
    for (int i = 0; i < n; i++)
        if (bytes_needed(t, &limits[i]) > limits[i].limit) return 0;
    return 1;
}

/* ---- choosing extents */

/* Choose the extents of tiles that are 0 in `asked`.  Returns 1 if the tiles meet all limits. */
static int choose_extents(tutti__tiling *t, tutti_order file_order, const tutti_count *asked, int n,
                          const tutti__tile_limit *limits) {
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count all = tutti__max(box_extent(&t->of, d), 1);
        t->tile[d] = asked[d] > 0 ? tutti__min(asked[d], all) : all;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->ndims && !fits_limits(t, n, limits); i++) {
            const int d = tutti__dim_slow(t->ndims, file_order, i);
            const tutti_count thin =
                tutti__max(HALOS * tutti__min(t->halo[d], t->shape[d] / HALOS), 1);
            /* Find the largest extent that fits, but at least the minimum. */
            if (asked[d] == 0) {
                tutti_count low = tutti__min(pass == 0 ? thin : 1, t->tile[d]), high = t->tile[d];
                /* Invariant: the largest extent that fits is in [low, high], or low is the
                 * minimum. */
                while (low < high) {
                    t->tile[d] = high - (high - low) / 2;
                    if (fits_limits(t, n, limits))
                        low = t->tile[d];
                    else
                        high = t->tile[d] - 1;
                }
                t->tile[d] = low;
            }
        }
    return fits_limits(t, n, limits);
}

tutti_err tutti__tiling_cut(tutti__tiling *t, tutti_order file_order, int n,
                            const tutti__tile_limit *limits) {
    tutti_count asked[TUTTI_MAX_DIMS];
    memcpy(asked, t->tile, sizeof asked);
    if (!choose_extents(t, file_order, asked, n, limits) &&
        !choose_extents(t, file_order, asked, 1, limits))
        TUTTI_FAIL(TUTTI_ERR_ARG,
                   "budget leaves %lld bytes for tiles, but the smallest tile needs %lld: pass a "
                   "budget of %lld bytes",
                   (long long)tutti__max(limits[0].limit, 0),
                   (long long)bytes_needed(t, &limits[0]),
                   (long long)tutti__min(bytes_needed(t, &limits[0]), INT64_MAX - t->overhead) +
                       t->overhead);
    /* make the tiles equally large, without changing their number */
    for (int d = 0; d < t->ndims; d++) {
        const tutti_count all = box_extent(&t->of, d);
        if (asked[d] == 0 && all > 0) t->tile[d] = divide_up(all, divide_up(all, t->tile[d]));
    }
    t->tiles = 1;
    for (int d = 0; d < t->ndims; d++) {
        t->along[d] = divide_up(box_extent(&t->of, d), t->tile[d]);
        t->tiles *= t->along[d];
    }
    return TUTTI_OK;
}

/* ---- queries */

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

void tutti__tiling_plan_read(const tutti__tiling *t, const tutti__box_layout *g,
                             const tutti__box *have, const tutti__box *frame,
                             tutti__tile_read *out) {
    (void)tutti__box_intersect(t->ndims, have, frame, &out->kept);
    out->n = tutti__box_subtract(g, frame, &out->kept, out->read);
    for (int i = 1; i < out->n; i++) {
        if (tutti__box_precedes(g, t->shape, &out->read[i - 1], &out->read[i])) continue;
        memset(&out->kept, 0, sizeof out->kept);
        out->read[0] = *frame;
        out->n = 1;
    }
}
