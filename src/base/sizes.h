/* base: checked arithmetic of sizes, and alignment.  The arithmetic is in <tutti/sizes.h>, since
 * the command tutti also uses it; this file adds internal names and helpers.  It uses no types of
 * other modules.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BASE_SIZES_H
#define TUTTI_BASE_SIZES_H

#include <tutti/sizes.h>

/* Compute *r = a + b and *r = a * b; return 1, or 0 if the result does not fit in 64 bits. */
static inline int tutti__add_ok(tutti_off a, tutti_off b, tutti_off *r) {
    return tutti_size_add(a, b, r);
}
static inline int tutti__mul_ok(tutti_off a, tutti_off b, tutti_off *r) {
    return tutti_size_multiply(a, b, r);
}
/* Return whether at + bytes == next, without overflow. */
static inline int tutti__follows(tutti_off at, tutti_off bytes, tutti_off next) {
    tutti_off end;
    return tutti_size_add(at, bytes, &end) && end == next;
}
/* Return whether n items of `numbers` values each have `all` values in total. */
static inline int tutti__has_shape(tutti_count all, tutti_count n, tutti_count numbers) {
    tutti_count product;
    return n >= 0 && numbers >= 0 && tutti_size_multiply(n, numbers, &product) && product == all;
}
static inline tutti_off tutti__align_down(tutti_off x, tutti_off a) {
    const tutti_off r = x % a;
    return r < 0 ? x - r - a : x - r;
}
static inline tutti_off tutti__align_up(tutti_off x, tutti_off a) {
    return tutti__align_down(x + (a - 1), a);
}
static inline tutti_off tutti__min(tutti_off a, tutti_off b) {
    return a < b ? a : b;
}
static inline tutti_off tutti__max(tutti_off a, tutti_off b) {
    return a > b ? a : b;
}

#endif
