/* base: counted memory allocation, with failure injection for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MEMORY_H
#define TUTTI_MEMORY_H

#include "base/error_impl.h"
#include "base/sizes.h"

/* Like malloc, calloc, realloc; release with tutti__free.  A failure is recorded as TUTTI_ERR_NOMEM
 * with the size, and NULL is returned.  For size 0 a valid pointer is returned. */
void *tutti__malloc(size_t bytes);
void *tutti__calloc(size_t n, size_t size);
void *tutti__realloc(void *p, size_t bytes);
/* Ensure that the array at *p (a pointer of any type, initially NULL) has capacity for n items of
 * `item` bytes; if it must grow, *capacity at least doubles.  After TUTTI_ERR_NOMEM the array is
 * unchanged. */
tutti_err tutti__grow(void *p, size_t n, size_t *capacity, size_t item) TUTTI_MUST_USE;
void *tutti__malloc_aligned(size_t align, size_t bytes);
/* Like tutti__malloc, for an array that will be written completely.  Large arrays are aligned to
 * huge pages, which the kernel is advised to use: one page fault per 2 MiB instead of per 4 KiB. */
void *tutti__malloc_large(size_t bytes);
char *tutti__strdup(const char *s);
void tutti__free(void *p);

/* Append a zeroed item to the array *(void **)table, which has *n items of `size` bytes and grows
 * by doubling.  Returns the new item, or NULL, with the array unchanged, if out of memory. */
void *tutti__table_grow(void *table, int64_t *n, size_t size);

/* Exclude from the count of live blocks a block that the user releases later; tutti__free_lent
 * frees it. */
void tutti__memory_lend(const void *p);
void tutti__free_lent(void *p);

/* For tests: return the number of blocks that this process has allocated and not freed. */
long tutti__memory_live(void);
/* For tests: return the bytes allocated since the process began, including freed ones; a
 * reallocation adds its new size. */
int64_t tutti__memory_allocated(void);
/* For tests: make the n-th allocation from now fail; 0: none. */
void tutti__memory_fail_after(long n);

/* Return whether n words are 0, as reserved fields of a caller's struct must be. */
static inline int tutti__all_zero(const int64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0) return 0;
    return 1;
}
#define TUTTI_CHECK_RESERVED(s, what)                                                           \
    TUTTI_CHECK(tutti__all_zero((s)->reserved, sizeof(s)->reserved / sizeof(s)->reserved[0]),   \
                TUTTI_ERR_ARG, "%s: field reserved is not 0: initialise the struct with = {0}", \
                what)

/* Copy a struct of the library to that of a caller, which may be of another version: a longer
 * struct is filled with zeros, and a shorter one gets only the first bytes. */
void tutti__struct_copy(void *to, size_t to_size, const void *from, size_t from_size);

/* Convert n to int; fails with TUTTI_ERR_OVERFLOW if it does not fit. */
tutti_err tutti__narrow_int(tutti_off n, int *out) TUTTI_MUST_USE;

#endif
