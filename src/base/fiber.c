/* base: fibers, implemented with the C library's ucontext functions.  A guard page below each stack
 * turns an overflow into a crash instead of silent corruption.  Some stacks are kept for later
 * fibers: mapping one and touching its pages takes longer than a small I/O operation.  The
 * sanitizers are notified of every switch, since they track stacks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/fiber.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/trace.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum { GUARD = 4096, STACK = 1 << 20 }; /* pages of a stack that are never touched use no memory */

struct tutti__fiber {
    ucontext_t inside, outside;
    tutti__fiber_fn *fn;
    void *context;
    char *memory; /* GUARD bytes of guard page, then STACK bytes of stack */
    int begun, returned;
    /* left: when the fiber was last suspended; absent: total seconds suspended */
    double left, absent;
    tutti_error_info error; /* last error of the suspended side (fiber or resuming thread) */
    void *tsan_inside, *tsan_outside; /* thread sanitizer's fibers; NULL without it */
    const void *outside_bottom;       /* for the address sanitizer: stack of the resuming thread */
    size_t outside_size;              /* bytes of that stack */
    void *fake;                       /* fake stack of the address sanitizer while suspended */
};

static _Thread_local tutti__fiber *current;

/* ---- notification of sanitizers */

static void switch_announce(void **fake, const void *bottom, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake, bottom, size);
#else
    (void)fake, (void)bottom, (void)size;
#endif
}

static void switch_complete(void *fake, const void **bottom, size_t *size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, bottom, size);
#else
    (void)fake, (void)bottom, (void)size;
#endif
}

static void tsan_switch(void *tsan) {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan, 0);
#else
    (void)tsan;
#endif
}

static void *tsan_current(void) {
#if defined(__SANITIZE_THREAD__)
    return __tsan_get_current_fiber();
#else
    return NULL;
#endif
}

/* ---- switching */

/* Exchange the thread's last error with f->error: fiber and resuming thread have separate last
 * errors. */
static void errors_swap(tutti__fiber *f) {
    const tutti_error_info other = f->error;
    f->error = *tutti_last_error();
    tutti__error_assign(&other);
}

static void fiber_main(unsigned high, unsigned low) {
    tutti__fiber *f = (tutti__fiber *)(((uintptr_t)high << 32) | (uintptr_t)low);
    switch_complete(NULL, &f->outside_bottom, &f->outside_size);
    f->fn(f->context);
    f->returned = 1;
    switch_announce(NULL, f->outside_bottom, f->outside_size);
    tsan_switch(f->tsan_outside);
    (void)setcontext(&f->outside);
}

int tutti__fiber_resume(tutti__fiber *f) {
    void *fake = NULL;
    TUTTI_ASSERT(!current && !f->returned);
    errors_swap(f);
    f->begun = 1;
    f->absent += tutti__now() - f->left;
    current = f;
    f->tsan_outside = tsan_current();
    switch_announce(&fake, f->memory + GUARD, STACK);
    tsan_switch(f->tsan_inside);
    (void)swapcontext(&f->outside, &f->inside);
    switch_complete(fake, NULL, NULL);
    current = NULL;
    f->left = tutti__now();
    errors_swap(f);
    return f->returned;
}

int tutti__fiber_leave(void) {
    tutti__fiber *f = current;
    if (!f) return 0;
    switch_announce(&f->fake, f->outside_bottom, f->outside_size);
    tsan_switch(f->tsan_outside);
    (void)swapcontext(&f->inside, &f->outside);
    switch_complete(f->fake, &f->outside_bottom, &f->outside_size);
    return 1;
}

int tutti__fiber_inside(void) {
    return current != NULL;
}

double tutti__fiber_absent(void) {
    return current ? current->absent : 0;
}

double tutti__fiber_clock(void) {
    return tutti__now() - tutti__fiber_absent();
}

int tutti__fiber_halfway(const tutti__fiber *f) {
    return f && f->begun && !f->returned;
}

/* ---- stacks */

enum { SPARES = 4 }; /* more concurrent fibers are rare */

static _Atomic(char *) spare[SPARES]; /* unused stacks with their guard pages; NULL: none */

/* Return an unused stack, or NULL if there is none. */
static char *stack_reuse(void) {
    for (int i = 0; i < SPARES; i++) {
        char *p = atomic_exchange_explicit(&spare[i], NULL, memory_order_acquire);
        if (!p) continue;
#if defined(__SANITIZE_ADDRESS__)
        /* parts of the stack may be poisoned, since fiber_main has not returned on it */
        __asan_unpoison_memory_region(p + GUARD, STACK);
#endif
        return p;
    }
    return NULL;
}

static void stack_give_back(char *p) {
    for (int i = 0; i < SPARES; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&spare[i], &none, p, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    munmap(p, GUARD + STACK);
}

static tutti_err stack_take(char **out) {
    *out = stack_reuse();
    if (*out) return TUTTI_OK;
    char *p = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return tutti__error_set(TUTTI_ERR_NOMEM, errno, -1,
                                "cannot allocate the stack of a non-blocking operation");
    if (mprotect(p, GUARD, PROT_NONE) != 0) {
        const int why = errno;
        munmap(p, GUARD + STACK);
        return tutti__error_set(TUTTI_ERR_NOMEM, why, -1,
                                "cannot protect the stack of a non-blocking operation");
    }
    *out = p;
    return TUTTI_OK;
}

/* ---- creation and release */

tutti_err tutti__fiber_make(tutti__fiber_fn *fn, void *context, tutti__fiber **out) {
    tutti__fiber *f = tutti__calloc(1, sizeof *f);
    if (!f) return TUTTI_ERR_NOMEM;
    f->fn = fn;
    f->context = context;
    f->left = tutti__now();
    f->error = (tutti_error_info){.rank = -1, .offset = -1};
    tutti_err err = stack_take(&f->memory);
    if (err == TUTTI_OK && getcontext(&f->inside) != 0) {
        err = tutti__error_set(
            TUTTI_ERR_UNSUPPORTED, errno, -1,
            "cannot start a non-blocking operation: ucontext is not available on this machine");
        stack_give_back(f->memory);
    }
    if (err != TUTTI_OK) {
        tutti__free(f);
        return err;
    }
    f->inside.uc_stack.ss_sp = f->memory + GUARD;
    f->inside.uc_stack.ss_size = STACK;
    f->inside.uc_link = NULL;
    const uintptr_t p = (uintptr_t)f;
    makecontext(&f->inside, (void (*)(void))fiber_main, 2, (unsigned)(p >> 32), (unsigned)p);
#if defined(__SANITIZE_THREAD__)
    f->tsan_inside = __tsan_create_fiber(0);
#else
    f->tsan_inside = NULL;
#endif
    *out = f;
    return TUTTI_OK;
}

void tutti__fiber_free(tutti__fiber **pf) {
    tutti__fiber *f = *pf;
    if (!f) return;
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(f->tsan_inside);
#else
    (void)f;
#endif
    stack_give_back(f->memory);
    tutti__free(f);
    *pf = NULL;
}
