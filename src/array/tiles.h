/* array: tiles, the part without MPI and files, so that it can be tested on one process: boxes of
 * elements, and how a rank's elements are divided into tiles.
 *
 *      +---------------- frame --+
 *      |  halo                   |      frame = core with halo on all sides, cut at the array's end
 *      |    +------- core --+    |      cores are disjoint; together they are the rank's region
 *      |    |               |    |
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TILES_H
#define TUTTI_TILES_H

#include <tutti/array.h>

/* ---- boxes: [lo, hi) in each dimension */

typedef struct tutti__box {
    tutti_count lo[TUTTI_MAX_DIMS], hi[TUTTI_MAX_DIMS];
} tutti__box;

/* How elements of boxes are stored in memory and in the file. */
typedef struct tutti__box_layout {
    int ndims;
    tutti_order order;
    tutti_off element; /* bytes */
} tutti__box_layout;

/* A box's elements in memory, packed. */
typedef struct tutti__packed {
    const tutti__box *box;
    char *bytes;
} tutti__packed;

/* The dimension that is the i-th slowest. */
int tutti__dim_slow(int ndims, tutti_order order, int i);
/* Number of elements. */
tutti_count tutti__box_count(int ndims, const tutti__box *b);
/* The intersection of two boxes.  Returns its number of elements; if that is 0, *out is empty in
 * all dimensions. */
tutti_count tutti__box_intersect(int ndims, const tutti__box *a, const tutti__box *b,
                                 tutti__box *out);
/* The difference of `whole` and `part`, which is inside it, as disjoint boxes: slabs of slow
 * dimensions first, since they are long runs in the file.  Returns the number of boxes, at most 2 *
 * ndims. */
int tutti__box_subtract(const tutti__box_layout *g, const tutti__box *whole, const tutti__box *part,
                        tutti__box *out);
/* Whether all elements of `a` precede all of `b` in an array of that shape. */
int tutti__box_precedes(const tutti__box_layout *g, const tutti_count *shape, const tutti__box *a,
                        const tutti__box *b);
/* Copy the elements of `part`, which is inside both boxes. */
void tutti__box_copy(const tutti__box_layout *g, const tutti__box *part, const tutti__packed *from,
                     const tutti__packed *to);
tutti_slice tutti__box_slice(int ndims, const tutti__box *b);

/* ---- cutting */

/* A limit: frame_bytes * elements of the largest frame + core_bytes * those of the largest core. */
typedef struct tutti__tile_limit {
    tutti_off frame_bytes, core_bytes;
    tutti_off limit;
} tutti__tile_limit;

typedef struct tutti__tiling {
    int ndims;
    tutti_order order; /* of successive tiles */
    tutti__box of;     /* the region to divide */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count halo[TUTTI_MAX_DIMS];  /* at most the shape */
    tutti_count tile[TUTTI_MAX_DIMS];  /* extents of a tile */
    tutti_count along[TUTTI_MAX_DIMS]; /* tiles in a dimension */
    tutti_count tiles;
    tutti_off overhead; /* bytes of the budget that tiles cannot use */
} tutti__tiling;

/* Divide the region.  All fields but `along` and `tiles` are set; an extent `tile` of 0 is chosen:
 * as large as the limits allow, slow dimensions of `file_order` divided first, tiles of equal
 * size.  limits[0] must be met, the others if possible.  Fails with TUTTI_ERR_ARG if limits[0] is
 * too small. */
tutti_err tutti__tiling_cut(tutti__tiling *t, tutti_order file_order, int n,
                            const tutti__tile_limit *limits) TUTTI_MUST_USE;
/* Upper bounds of the elements of a frame and of a core. */
tutti_count tutti__tiling_frame_max(const tutti__tiling *t);
tutti_count tutti__tiling_core_max(const tutti__tiling *t);
/* The core of tile k, and the frame of a core.  Both are empty if tile k does not exist. */
void tutti__tiling_core(const tutti__tiling *t, tutti_count k, tutti__box *out);
void tutti__tiling_frame(const tutti__tiling *t, const tutti__box *core, tutti__box *out);

/* The boxes to copy and to read for a frame after the previous one. */
typedef struct tutti__tile_read {
    tutti__box kept; /* already in memory; may be empty */
    int n;
    tutti__box read[2 * TUTTI_MAX_DIMS]; /* in file order */
} tutti__tile_read;
/* Boxes that interleave in the file would make long lists: then the whole frame is read. */
void tutti__tiling_plan_read(const tutti__tiling *t, const tutti__box_layout *g,
                             const tutti__box *have, const tutti__box *frame,
                             tutti__tile_read *out);

#endif
