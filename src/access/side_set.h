/* access: common declarations of tutti__sides_disjoint and tutti__sides_union.
 *
 *   side_set.c       clips, sorts, finds the groups whose intervals overlap; the fast paths
 *   side_periodic.c  decides groups by stride arithmetic
 *   side_marks.c     decides the rest by marking grains in a bitmap, window by window
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIDE_SET_H
#define TUTTI_SIDE_SET_H

#include "access/node.h"

/* A side (or a subtree of one, its reference borrowed) within a window of the file: its bytes
 * there are in [first, end), and both ends are bytes of the side. */
typedef struct {
    tutti__side side;
    tutti_off first, end;
} tutti__view;

/* The state of one query whether views are disjoint.  Subtrees of one side never share a byte, so
 * a side may be replaced by its parts at any time. */
typedef struct tutti__overlap tutti__overlap;
struct tutti__overlap {
    int shared;      /* answer: a byte that two views have */
    tutti_off where; /* was found here */
    int64_t budget;  /* remaining steps of arithmetic; at 0, bitmaps decide */
    /* Find a shared byte in [lo, hi); the array is reordered.  `level`: recursion depth, since
     * stride arithmetic examines parts again. */
    tutti_err (*examine)(tutti__overlap *o, tutti__view *v, size_t n, tutti_off lo, tutti_off hi,
                         int level);
};

/* Look for a shared byte by stride arithmetic, for views (none of them a RUN) whose intervals
 * overlap. */
typedef struct {
    tutti__view *v;
    size_t n;
    tutti_off lo, hi;
    int level;
} tutti__group;
tutti_err tutti__group_by_period(tutti__overlap *o, const tutti__group *g) TUTTI_MUST_USE;
/* The same by marking. */
tutti_err tutti__group_by_marks(tutti__overlap *o, const tutti__group *g) TUTTI_MUST_USE;
/* The bytes of each view that an earlier one also has, appended to shared[i].  Faster if there are
 * few marks compared with runs. */
int tutti__marks_are_few(const tutti__group *g);
tutti_err tutti__shared_by_marks(const tutti__group *g,
                                 tutti__extents *const *shared) TUTTI_MUST_USE;

/* Append a run, joined with the last one if that has index >= own and is close enough. */
typedef struct {
    tutti__extents *io;
    size_t own;
    tutti_off max_gap;
} tutti__joiner;
tutti_err tutti__join_extent(const tutti__joiner *j, tutti_off offset,
                             tutti_off end) TUTTI_MUST_USE;
/* Append the union of the group's views within its range, by marking. */
tutti_err tutti__union_by_marks(const tutti__group *g, const tutti__joiner *j) TUTTI_MUST_USE;

#endif
