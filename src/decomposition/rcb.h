/* Recursive coordinate bisection: division of points into parts of about the same weight, by planes
 * across the longest side of their bounding box.  Works on plain arrays, in one process.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RCB_H
#define TUTTI_RCB_H

#include <tutti/error.h>
#include <tutti/types.h>

/* Divide n points; part_out[i] is the part of point i, 0 ... parts - 1.  The same arrays always
 * give the same parts; points with equal coordinates are sorted by index.  No part is empty if
 * there are at least as many points as parts; otherwise every point is alone in its part.
 * coordinates: [3 * n] x y z, finite.  weight: [n] >= 0, their sum below 2^62; if NULL or all 0,
 * all weights are 1.  parts: >= 1.  Returns TUTTI_OK or TUTTI_ERR_NOMEM. */
tutti_err tutti__rcb(tutti_count n, const double *coordinates, const tutti_count *weight, int parts,
                     int *part_out) TUTTI_MUST_USE;

#endif
