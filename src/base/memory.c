/* base: counted memory.  All memory of the library is allocated here, so that tests can count the
 * live blocks and make any single allocation fail.  The blocks are plain malloc blocks: no header
 * before them, and one free function for all kinds, including aligned ones.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_long live_blocks;
static _Atomic int64_t allocated_bytes;
static atomic_long countdown; /* the countdown-th next allocation fails; <= 0: none fails */

long tutti__memory_live(void) {
    return atomic_load_explicit(&live_blocks, memory_order_relaxed);
}

int64_t tutti__memory_allocated(void) {
    return atomic_load_explicit(&allocated_bytes, memory_order_relaxed);
}

void tutti__memory_fail_after(long n) {
    atomic_store(&countdown, n);
}

/* Return 1 to the one caller that decrements the countdown from 1 to 0, else 0. */
static int must_fail(void) {
    if (atomic_load_explicit(&countdown, memory_order_relaxed) <= 0) return 0;
    return atomic_fetch_sub(&countdown, 1) == 1;
}

/* Count the new block p, or record the failed allocation if p is NULL; returns p and restores
 * errno. */
static void *count_block(void *p, size_t bytes, int saved_errno) {
    if (p) {
        atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&allocated_bytes, (int64_t)bytes, memory_order_relaxed);
    } else {
        tutti__error_set(TUTTI_ERR_NOMEM, 0, -1, "cannot allocate %zu bytes", bytes);
    }
    errno = saved_errno;
    return p;
}

void *tutti__malloc(size_t bytes) {
    const int saved_errno = errno;
    void *p = must_fail() ? NULL : malloc(bytes ? bytes : 1);
    return count_block(p, bytes, saved_errno);
}

void *tutti__calloc(size_t n, size_t size) {
    const int saved_errno = errno;
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) return count_block(NULL, SIZE_MAX, saved_errno);
    void *p = must_fail() ? NULL : calloc(1, bytes ? bytes : 1);
    return count_block(p, bytes, saved_errno);
}

/* A failure leaves the old block unchanged; a successful call does not change the number of live
 * blocks. */
void *tutti__realloc(void *p, size_t bytes) {
    if (!p) return tutti__malloc(bytes);
    const int saved_errno = errno;
    void *q = must_fail() ? NULL : realloc(p, bytes ? bytes : 1);
    if (!q) return count_block(NULL, bytes, saved_errno);
    atomic_fetch_add_explicit(&allocated_bytes, (int64_t)bytes, memory_order_relaxed);
    errno = saved_errno;
    return q;
}

tutti_err tutti__grow(void *p, size_t n, size_t *capacity, size_t item) {
    void *v = NULL;
    size_t more = 2 * *capacity > 8 ? 2 * *capacity : 8;
    memcpy(&v, p, sizeof v);
    if (n <= *capacity && v) return TUTTI_OK;
    if (more < n) more = n;
    v = tutti__realloc(v, more * item);
    if (!v) return TUTTI_ERR_NOMEM;
    memcpy(p, &v, sizeof v);
    *capacity = more;
    return TUTTI_OK;
}

void *tutti__malloc_aligned(size_t align, size_t bytes) {
    const int saved_errno = errno;
    void *p = NULL;
    if (align < sizeof(void *)) align = sizeof(void *);
    if (must_fail() || posix_memalign(&p, align, bytes ? bytes : 1) != 0) p = NULL;
    return count_block(p, bytes, saved_errno);
}

void *tutti__malloc_large(size_t bytes) {
    const size_t page = (size_t)2 << 20;
    /* The last huge page may be partly unused: by at most an eighth of the block. */
    const size_t huge = (bytes + bytes / 8) / page * page;
    if (huge == 0 || bytes > PTRDIFF_MAX / 2) return tutti__malloc(bytes);
    void *p = tutti__malloc_aligned(page, huge > bytes ? huge : bytes);
#if defined(MADV_HUGEPAGE)
    const int saved_errno = errno;
    if (p) (void)madvise(p, huge, MADV_HUGEPAGE); /* if this fails, pages are small */
    errno = saved_errno;
#endif
    return p;
}

char *tutti__strdup(const char *s) {
    const size_t bytes = strlen(s) + 1;
    char *copy = tutti__malloc(bytes);
    return copy ? memcpy(copy, s, bytes) : NULL;
}

void tutti__free(void *p) {
    if (!p) return;
    const int saved_errno = errno;
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    free(p);
    errno = saved_errno;
}

void tutti__memory_lend(const void *p) {
    if (p) atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
}

void tutti__free_lent(void *p) {
    const int saved_errno = errno;
    free(p);
    errno = saved_errno;
}

tutti_err tutti__narrow_int(tutti_off n, int *out) {
    TUTTI_CHECK(tutti_size_to_int(n, out), TUTTI_ERR_OVERFLOW, "number %lld does not fit in an int",
                (long long)n);
    return TUTTI_OK;
}

void *tutti__table_grow(void *table, int64_t *n, size_t size) {
    void *old = NULL;
    memcpy(&old, table, sizeof old);
    size_t capacity = 8;
    while (capacity < (size_t)*n) capacity *= 2;
    if (!old || capacity == (size_t)*n) { /* no table yet, or all its items are used */
        if (old) capacity *= 2;
        char *more = tutti__realloc(old, capacity * size);
        if (!more) return NULL;
        memcpy(table, &more, sizeof more);
        old = more;
    }
    char *at = (char *)old + (size_t)(*n)++ * size;
    memset(at, 0, size);
    return at;
}

void tutti__struct_copy(void *to, size_t to_size, const void *from, size_t from_size) {
    memset(to, 0, to_size);
    memcpy(to, from, to_size < from_size ? to_size : from_size);
}
