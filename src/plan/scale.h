/* plan: division of a length into n nearly equal parts.  Part k is [cut(k), cut(k + 1)) with cut(k)
 * = floor(length * k / n); part_of is its exact inverse.  Products are computed with 128 bits,
 * since lengths may be 2^62.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SCALE_H
#define TUTTI_SCALE_H

#include <tutti/types.h>

/* Return the start of part k of n, 0 <= k <= n. */
static inline tutti_off tutti__cut(tutti_off length, tutti_off k, tutti_off n) {
    return (tutti_off)((__int128)length * k / n);
}

/* Return the part that contains x, 0 <= x < length: the largest k with cut(k) <= x. */
static inline tutti_off tutti__part_of(tutti_off length, tutti_off x, tutti_off n) {
    return (tutti_off)((((__int128)x + 1) * n - 1) / length);
}

/* Return the number of blocks of `block` bytes that cover `length` bytes. */
static inline tutti_off tutti__blocks(tutti_off length, tutti_off block) {
    return length / block + (length % block != 0);
}

#endif
