/* TEST ranks=0 timeout=60 */
/* Memory: live blocks are counted, any allocation can fail, failures are recorded.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include "base/memory.h"
#include "check.h"

static void test_counts(void) {
    const long start = tutti__memory_live();
    char *a = tutti__malloc(0), *b = tutti__calloc(7, 13), *c = tutti__realloc(NULL, 5);
    char *d = tutti__malloc_aligned(4096, 100), *e = tutti__strdup("text");
    CHECK(a && b && c && d && e);
    CHECK_EQ(tutti__memory_live(), start + 5);
    for (int i = 0; i < 7 * 13; ++i) CHECK_EQ(b[i], 0);
    CHECK_EQ((uintptr_t)d % 4096, 0);
    CHECK(strcmp(e, "text") == 0);
    memcpy(c, "abcd", 5);
    c = tutti__realloc(c, 100000);
    CHECK(c && strcmp(c, "abcd") == 0);
    c = tutti__realloc(c, 0);
    CHECK(c != NULL);
    CHECK_EQ(tutti__memory_live(), start + 5);
    tutti__free(NULL);
    tutti__free(a);
    tutti__free(b);
    tutti__free(c);
    tutti__free(d);
    tutti__free(e);
    CHECK_EQ(tutti__memory_live(), start);
}

static void test_alignments(void) {
    for (size_t align = 1; align <= 1 << 16; align *= 2) {
        char *p = tutti__malloc_aligned(align, align == 1 ? 0 : align + 1);
        CHECK(p && (uintptr_t)p % align == 0, "%zu", align);
        tutti__free(p);
    }
}

/* Call the allocator of the given kind; return 1 if it has returned a block. */
static int allocate_memory(int kind) {
    void *p = kind == 0   ? tutti__malloc(10)
              : kind == 1 ? tutti__calloc(2, 5)
              : kind == 2 ? tutti__realloc(NULL, 10)
              : kind == 3 ? tutti__malloc_aligned(64, 10)
                          : (void *)tutti__strdup("123456789");
    tutti__free(p);
    return p != NULL;
}

static void test_injection(void) {
    const long start = tutti__memory_live();
    for (int kind = 0; kind < 5; ++kind)
        for (int n = 1; n < 5; ++n) {
            tutti__error_clear();
            tutti__memory_fail_after(n);
            for (int i = 1; i < 8; ++i) CHECK_EQ(allocate_memory(kind), i != n);
            CHECK_EQ(tutti_last_error()->code, TUTTI_ERR_NOMEM);
            CHECK(strstr(tutti_last_message(), "10 bytes"), "%s", tutti_last_message());
        }
    tutti__memory_fail_after(1);
    tutti__memory_fail_after(0);
    CHECK(allocate_memory(0));
    CHECK_EQ(tutti__memory_live(), start);
}

static void test_realloc_keeps_the_old_block(void) {
    const long start = tutti__memory_live();
    char *p = tutti__strdup("old");
    tutti__memory_fail_after(1);
    CHECK(tutti__realloc(p, 1000) == NULL);
    CHECK(strcmp(p, "old") == 0);
    CHECK_EQ(tutti__memory_live(), start + 1);
    tutti__free(p);
    CHECK_EQ(tutti__memory_live(), start);
}

static void test_impossible_sizes(void) {
    volatile size_t half = (size_t)1 << 63; /* hides the value from the compiler */
    errno = EXDEV;
    CHECK(tutti__calloc(half, 4) == NULL);
    CHECK_EQ(tutti_last_error()->code, TUTTI_ERR_NOMEM);
    tutti__memory_fail_after(1);
    CHECK(tutti__malloc(half) == NULL);
    CHECK_EQ(errno, EXDEV);
}

static void *hammer_store(void *unused) {
    (void)unused;
    for (int i = 0; i < 20000; ++i) tutti__free(tutti__malloc(16));
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[4];
    const long start = tutti__memory_live();
    for (int i = 0; i < 4; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, hammer_store, NULL), 0);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    CHECK_EQ(tutti__memory_live(), start);
}

int main(void) {
    test_counts();
    test_alignments();
    test_injection();
    test_realloc_keeps_the_old_block();
    test_impossible_sizes();
    test_threads();
    return check_done();
}
