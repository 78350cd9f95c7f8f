/* base: memory that can be counted and made to fail, and checked integer arithmetic.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MEMORY_H
#define TUTTI_MEMORY_H

#include "base/error_impl.h"

/* Like malloc, calloc, realloc; free with tutti__free.  A failure is recorded as TUTTI_ERR_NOMEM
 * with the size, and NULL is returned.  Size 0 gives a valid pointer. */
void *tutti__malloc(size_t bytes);
void *tutti__calloc(size_t n, size_t size);
void *tutti__realloc(void *p, size_t bytes);
void *tutti__malloc_aligned(size_t align, size_t bytes);
char *tutti__strdup(const char *s);
void tutti__free(void *p);

/* A block that only waits for the caller to give it back does not count as ours any more;
 * tutti__free_lent frees it then. */
void tutti__memory_lend(const void *p);
void tutti__free_lent(void *p);

/* For tests: blocks now allocated by this process, and "fail the n-th allocation from now" (0:
 * never). */
long tutti__memory_live(void);
void tutti__memory_fail_after(long n);

/* Words of a caller's struct that are for later versions are 0. */
static inline int tutti__all_zero(const int64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0) return 0;
    return 1;
}
#define TUTTI_CHECK_RESERVED(s, what)                                                          \
    TUTTI_CHECK(tutti__all_zero((s)->reserved, sizeof(s)->reserved / sizeof(s)->reserved[0]),  \
                TUTTI_ERR_ARG, "%s: `reserved` is not 0: begin with = {0} or name the fields", \
                what)

/* r = a + b, r = a * b; 1: fits in 64 bits, 0: overflow. */
static inline int tutti__add_ok(tutti_off a, tutti_off b, tutti_off *r) {
    return !__builtin_add_overflow(a, b, r);
}
static inline int tutti__mul_ok(tutti_off a, tutti_off b, tutti_off *r) {
    return !__builtin_mul_overflow(a, b, r);
}
static inline tutti_off tutti__align_down(tutti_off x, tutti_off a) {
    const tutti_off r = x % a;
    return r < 0 ? x - r - a : x - r;
}
static inline tutti_off tutti__align_up(tutti_off x, tutti_off a) {
    return tutti__align_down(x + a - 1, a);
}
static inline tutti_off tutti__min(tutti_off a, tutti_off b) {
    return a < b ? a : b;
}
static inline tutti_off tutti__max(tutti_off a, tutti_off b) {
    return a > b ? a : b;
}
tutti_err tutti__narrow_int(tutti_off n, int *out) TUTTI_MUST_USE;

#endif
