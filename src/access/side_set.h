/* access: internal declarations for queries about sets of sides.
 *
 *   side_set.c       clips and sorts views, finds groups whose intervals overlap, handles simple
 *                    nodes
 *   side_periodic.c  examines groups by stride arithmetic
 *   side_marks.c     examines other groups by marking grains in a bitmap, window by window
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIDE_SET_H
#define TUTTI_SIDE_SET_H

#include "access/node.h"

/* A side, or a subtree of a side, within a window of the file; the reference is owned by the
 * caller. */
typedef struct {
    tutti__side side;
    tutti_off first, end; /* offset of the first byte in the window, and end of the last */
} tutti__view;

/* The state of a search for a byte that two views share.  Subtrees of one side never share a byte,
 * so a side may be replaced by its parts. */
typedef struct tutti__overlap tutti__overlap;
struct tutti__overlap {
    int shared;      /* whether a shared byte was found */
    tutti_off where; /* file offset of the shared byte */
    int64_t budget;  /* remaining steps of arithmetic; below 0, bitmaps are used */
    /* Search for a shared byte in [lo, hi); the array is reordered.  `level` is the recursion
     * depth. */
    tutti_err (*examine)(tutti__overlap *o, tutti__view *v, size_t n, tutti_off lo, tutti_off hi,
                         int level);
};

/* Views whose intervals overlap. */
typedef struct {
    tutti__view *v; /* [n], sorted by first byte */
    size_t n;
    tutti_off lo, hi; /* range to examine */
    int level;        /* recursion depth */
} tutti__group;
/* Search for a shared byte by stride arithmetic; no view may be a RUN. */
tutti_err tutti__group_by_period(tutti__overlap *o, const tutti__group *g) TUTTI_MUST_USE;
/* Search for a shared byte by marking grains. */
tutti_err tutti__group_by_marks(tutti__overlap *o, const tutti__group *g) TUTTI_MUST_USE;
/* Return whether the bitmap for the group is small compared with the number of runs, so that
 * marking is fast. */
int tutti__marks_are_few(const tutti__group *g);
/* Append to shared[i] the bytes of view i that an earlier view also has, by marking grains. */
tutti_err tutti__shared_by_marks(const tutti__group *g,
                                 tutti__extents *const *shared) TUTTI_MUST_USE;

typedef struct {
    tutti__extents *io;
    size_t own;        /* index of the first run that may be extended */
    tutti_off max_gap; /* maximum gap between merged runs, bytes */
} tutti__joiner;
/* Append [offset, end) to j->io, or extend the last run if its index is >= j->own and the gap is at
 * most j->max_gap. */
tutti_err tutti__join_extent(const tutti__joiner *j, tutti_off offset,
                             tutti_off end) TUTTI_MUST_USE;
/* Append the union of the views within the range of the group, by marking grains. */
tutti_err tutti__union_by_marks(const tutti__group *g, const tutti__joiner *j) TUTTI_MUST_USE;

#endif
