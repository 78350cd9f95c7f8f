/* Tutti: checked arithmetic for sizes that come from files or callers.
 *
 * Every product or sum of counts that may be large must use these functions, and every count
 * must be compared with the bytes that exist before memory is allocated for it.  The functions
 * are inline, and need neither the library nor MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIZES_H
#define TUTTI_SIZES_H

#include <limits.h>
#include <tutti/types.h>

TUTTI_BEGIN_DECLS

/** Add two sizes.
 *  Not collective.
 *  @param[out] out  a + b; unspecified after an overflow.
 *  @return 1 if the sum fits in 64 bits, 0 on overflow. */
static inline int tutti_size_add(tutti_off a, tutti_off b, tutti_off *out) {
    return !__builtin_add_overflow(a, b, out);
}

/** Multiply two sizes.
 *  Not collective.
 *  @param[out] out  a * b; unspecified after an overflow.
 *  @return 1 if the product fits in 64 bits, 0 on overflow. */
static inline int tutti_size_multiply(tutti_off a, tutti_off b, tutti_off *out) {
    return !__builtin_mul_overflow(a, b, out);
}

/** Multiply the extents of a shape.
 *  Not collective.
 *  @param[in] shape  [ndims] extents.
 *  @param[out] out   the product; 1 for ndims = 0; written only on success.
 *  @return 1 if no extent is negative and the product fits in 64 bits, else 0. */
static inline int tutti_size_product(int ndims, const tutti_count *shape, tutti_count *out) {
    tutti_count all = 1;
    int empty = 0, fits = 1;
    for (int d = 0; d < ndims; d++) {
        if (shape[d] < 0) return 0;
        if (shape[d] == 0)
            empty = 1;
        else
            fits = fits && tutti_size_multiply(all, shape[d], &all);
    }
    if (!fits && !empty) return 0;
    *out = empty ? 0 : all;
    return 1;
}

/** Return whether `count` items of `size` bytes each fit in `bytes` bytes.
 *  Not collective.
 *  @return 1 if 0 <= count, 1 <= size and count * size <= bytes, without overflow; else 0. */
static inline int tutti_size_fits(tutti_count count, tutti_off size, tutti_off bytes) {
    return count >= 0 && size >= 1 && bytes >= 0 && count <= bytes / size;
}

/** Convert a size to int.
 *  Not collective.
 *  @param[out] out  the same number; written only on success.
 *  @return 1 if it fits, else 0. */
static inline int tutti_size_to_int(tutti_off n, int *out) {
    if (n < INT_MIN || n > INT_MAX) return 0;
    *out = (int)n;
    return 1;
}

/** Return the first item of part `part` where `all` items are distributed evenly over `parts`
 *  parts.
 *  Not collective.
 *  This is all * part / parts, computed without overflow.  Part `parts` gives `all`.
 *  @param[in] all    >= 0.
 *  @param[in] parts  >= 1.
 *  @param[in] part   0 to parts. */
static inline tutti_count tutti_size_share(tutti_count all, int parts, int part) {
    return all / parts * part + all % parts * part / parts;
}

TUTTI_END_DECLS
#endif
