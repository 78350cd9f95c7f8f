/* base: counted memory with injected failures.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MEMORY_H
#define TUTTI_MEMORY_H

#include "base/error_impl.h"
#include "base/sizes.h"

/* Like malloc, calloc, realloc; free with tutti__free.  A failure is recorded as TUTTI_ERR_NOMEM
 * with the size, and NULL is returned.  Size 0 gives a valid pointer. */
void *tutti__malloc(size_t bytes);
void *tutti__calloc(size_t n, size_t size);
void *tutti__realloc(void *p, size_t bytes);
/* Ensure that the array at *p (a pointer of any type, initially NULL) has capacity for n items; its
 * capacity *room at least doubles.  After TUTTI_ERR_NOMEM the array is unchanged. */
tutti_err tutti__grow(void *p, size_t n, size_t *room, size_t item) TUTTI_MUST_USE;
void *tutti__malloc_aligned(size_t align, size_t bytes);
char *tutti__strdup(const char *s);
void tutti__free(void *p);

/* Append an item, all 0, to *(void **)table, which has *n items of `size` bytes and grows by doubling.  Returns
 * the item; NULL: out of memory, and nothing has changed. */
void *tutti__table_grow(void *table, int64_t *n, size_t size);

/* Exclude a block from the count that only the caller will release;
 * tutti__free_lent frees it then. */
void tutti__memory_lend(const void *p);
void tutti__free_lent(void *p);

/* For tests: blocks now allocated by this process, and "fail the n-th allocation from now" (0:
 * never). */
long tutti__memory_live(void);
/* For tests: bytes allocated since the process began, freed or not; a grown block counts again. */
int64_t tutti__memory_allocated(void);
void tutti__memory_fail_after(long n);

/* Words of a caller's struct that are for later versions are 0. */
static inline int tutti__all_zero(const int64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0) return 0;
    return 1;
}
#define TUTTI_CHECK_RESERVED(s, what)                                                           \
    TUTTI_CHECK(tutti__all_zero((s)->reserved, sizeof(s)->reserved / sizeof(s)->reserved[0]),   \
                TUTTI_ERR_ARG, "%s: field reserved is not 0: initialise the struct with = {0}", \
                what)

/* Copy a struct of the library to that of a caller, which may be of another version: more bytes become 0, fewer are copied. */
void tutti__struct_copy(void *to, size_t to_size, const void *from, size_t from_size);

/* tutti_size_to_int with an error: TUTTI_ERR_OVERFLOW. */
tutti_err tutti__narrow_int(tutti_off n, int *out) TUTTI_MUST_USE;

#endif
