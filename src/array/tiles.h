/* array: boxes of elements, and the division of a rank's elements into tiles.  This part needs no
 * MPI and no files, so that it can be tested on one process.
 *
 *      +---------------- frame --+
 *      |  halo                   |      frame = core with halo on all sides, clipped to the array
 *      |    +------- core --+    |      cores are disjoint; together they cover the rank's region
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

/* Layout of elements in memory and in the file. */
typedef struct tutti__box_layout {
    int ndims;
    tutti_order order;
    tutti_off element; /* size of an element in bytes */
} tutti__box_layout;

/* The packed elements of a box in memory. */
typedef struct tutti__packed {
    const tutti__box *box;
    char *bytes;
} tutti__packed;

/* Return the i-th slowest dimension. */
int tutti__dim_slow(int ndims, tutti_order order, int i);
/* Return the number of elements of a box. */
tutti_count tutti__box_count(int ndims, const tutti__box *b);
/* Compute the intersection of two boxes.  Returns its number of elements; if this is 0, *out is
 * empty in all dimensions. */
tutti_count tutti__box_intersect(int ndims, const tutti__box *a, const tutti__box *b,
                                 tutti__box *out);
/* Compute the difference of `whole` and `part`, which must be inside `whole`, as disjoint boxes;
 * slabs of slow dimensions, which have long runs in the file, are cut first.  Returns the number of
 * boxes, at most 2 * ndims. */
int tutti__box_subtract(const tutti__box_layout *g, const tutti__box *whole, const tutti__box *part,
                        tutti__box *out);
/* Return whether all elements of `a` precede all elements of `b` in an array of that shape. */
int tutti__box_precedes(const tutti__box_layout *g, const tutti_count *shape, const tutti__box *a,
                        const tutti__box *b);
/* Copy the elements of `part`, which must be inside both boxes. */
void tutti__box_copy(const tutti__box_layout *g, const tutti__box *part, const tutti__packed *from,
                     const tutti__packed *to);
tutti_slice tutti__box_slice(int ndims, const tutti__box *b);

/* ---- division into tiles */

/* An upper limit of frame_bytes * (elements of the largest frame) + core_bytes * (elements of the
 * largest core). */
typedef struct tutti__tile_limit {
    tutti_off frame_bytes, core_bytes;
    tutti_off limit;
} tutti__tile_limit;

typedef struct tutti__tiling {
    int ndims;
    tutti_order order; /* order of successive tiles */
    tutti__box of;     /* the region to divide */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count halo[TUTTI_MAX_DIMS];  /* extents of the halo, at most the shape */
    tutti_count tile[TUTTI_MAX_DIMS];  /* extents of a tile */
    tutti_count along[TUTTI_MAX_DIMS]; /* number of tiles in each dimension */
    tutti_count tiles;
    tutti_off overhead; /* bytes of the budget that tiles cannot use */
} tutti__tiling;

/* Divide the region.  All fields except `along` and `tiles` must be set.  Extents tile[d] of 0 are
 * chosen: as large as the limits allow, with tiles of equal size; slow dimensions of `file_order`
 * are divided first.  limits[0] must be met, the other limits if possible.  Fails with
 * TUTTI_ERR_ARG if limits[0] is too small. */
tutti_err tutti__tiling_cut(tutti__tiling *t, tutti_order file_order, int n,
                            const tutti__tile_limit *limits) TUTTI_MUST_USE;
/* Return upper bounds of the number of elements of a frame; of a core. */
tutti_count tutti__tiling_frame_max(const tutti__tiling *t);
tutti_count tutti__tiling_core_max(const tutti__tiling *t);
/* Set the core of tile k, which is empty if tile k does not exist; set the frame of a core. */
void tutti__tiling_core(const tutti__tiling *t, tutti_count k, tutti__box *out);
void tutti__tiling_frame(const tutti__tiling *t, const tutti__box *core, tutti__box *out);

/* The boxes to copy from the previous frame, and the boxes to read, for a frame. */
typedef struct tutti__tile_read {
    tutti__box kept; /* intersection with the previous frame, in memory; may be empty */
    int n;
    tutti__box read[2 * TUTTI_MAX_DIMS]; /* [n] boxes to read, in file order */
} tutti__tile_read;
/* Determine the boxes for `frame` if the frame `have` is in memory.  Boxes that interleave in the
 * file would make long lists, so the whole frame is read instead. */
void tutti__tiling_plan_read(const tutti__tiling *t, const tutti__box_layout *g,
                             const tutti__box *have, const tutti__box *frame,
                             tutti__tile_read *out);

#endif
