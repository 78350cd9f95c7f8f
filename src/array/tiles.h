/* array: tiles, the pure part: boxes of elements, and how a rank's elements are cut into tiles.  No
 * MPI and no files here, so that it can be tested on one process.
 *
 *      +---------------- frame --+
 *      |  halo                   |      frame = core with halo on all sides, cut at the array's end
 *      |    +------- core --+    |      cores of a walk are disjoint and make up the rank's region
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

/* How elements of boxes lie in memory and in the file. */
typedef struct tutti__grain {
    int ndims;
    tutti_order order;
    tutti_off element; /* bytes */
} tutti__grain;

/* A box's elements in memory, packed. */
typedef struct tutti__packed {
    const tutti__box *box;
    char *bytes;
} tutti__packed;

/* The dimension that is the i-th slowest. */
int tutti__dim_slow(int ndims, tutti_order order, int i);
/* Number of elements. */
tutti_count tutti__box_count(int ndims, const tutti__box *b);
/* What two boxes have in common.  Returns its number of elements; 0: *out is empty in all
 * dimensions. */
tutti_count tutti__box_common(int ndims, const tutti__box *a, const tutti__box *b, tutti__box *out);
/* `whole` without `part`, which lies in it, as disjoint boxes: slabs of slow dimensions are taken
 * off first, since they are long runs in the file.  Returns how many there are, at most 2 *
 * ndims. */
int tutti__box_rest(const tutti__grain *g, const tutti__box *whole, const tutti__box *part,
                    tutti__box *out);
/* Do all elements of `a` lie before all of `b` in an array of that shape? */
int tutti__box_in_turn(const tutti__grain *g, const tutti_count *shape, const tutti__box *a,
                       const tutti__box *b);
/* Copy the elements of `part`, which lies in both boxes. */
void tutti__box_copy(const tutti__grain *g, const tutti__box *part, const tutti__packed *from,
                     const tutti__packed *to);
tutti_slice tutti__box_slice(int ndims, const tutti__box *b);

/* ---- cutting */

/* A limit: frame_bytes * elements of the largest frame + core_bytes * those of the largest core. */
typedef struct tutti__room {
    tutti_off frame_bytes, core_bytes;
    tutti_off limit;
} tutti__room;

typedef struct tutti__tiling {
    int ndims;
    tutti_order order; /* in which tiles follow each other */
    tutti__box of;     /* what is cut */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count halo[TUTTI_MAX_DIMS];  /* at most the shape */
    tutti_count tile[TUTTI_MAX_DIMS];  /* extents of a tile */
    tutti_count along[TUTTI_MAX_DIMS]; /* tiles in a dimension */
    tutti_count tiles;
    tutti_off beside; /* bytes of the budget that are not for tiles */
} tutti__tiling;

/* Cut.  t has everything but `along` and `tiles`; where `tile` is 0 it is chosen: as large as the
 * rooms allow, slow dimensions of `file_order` cut first, tiles of equal size.  rooms[0] is a must,
 * the others are kept to if they can be.  TUTTI_ERR_ARG: rooms[0] is too small. */
tutti_err tutti__tiling_cut(tutti__tiling *t, tutti_order file_order, int n,
                            const tutti__room *rooms) TUTTI_MUST_USE;
/* Elements of the largest frame and of the largest core, at most. */
tutti_count tutti__tiling_frame_most(const tutti__tiling *t);
tutti_count tutti__tiling_core_most(const tutti__tiling *t);
/* Tile k of the walk, and a core's frame.  No such tile: empty boxes. */
void tutti__tiling_core(const tutti__tiling *t, tutti_count k, tutti__box *out);
void tutti__tiling_frame(const tutti__tiling *t, const tutti__box *core, tutti__box *out);

/* What has to be read for a frame when another one is in memory. */
typedef struct tutti__fetch {
    tutti__box kept; /* is there already; empty: nothing */
    int n;
    tutti__box read[2 * TUTTI_MAX_DIMS]; /* one after the other in the file */
} tutti__fetch;
/* Boxes that interleave in the file would make long lists: then all is read, in one box. */
void tutti__tiling_fetch(const tutti__tiling *t, const tutti__grain *g, const tutti__box *have,
                         const tutti__box *frame, tutti__fetch *out);

#endif
