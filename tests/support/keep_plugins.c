/* Linked into the programs of sanitizer builds, so that LeakSanitizer reports leaks of Tutti only, without
 * unwinding complete stacks, which takes seconds in MPI libraries.
 *
 * dlclose() does nothing, so that plugins stay mapped.  Otherwise a leak in a plugin that MPI has unloaded
 * has no module name, and a suppression (lsan.supp) cannot distinguish it from a leak of Tutti.
 *
 * Allocations within MPI_Init are not checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

int dlclose(void *handle) {
    (void)handle;
    return 0;
}

/* Return the next function of this name in search order, and disable leak detection until done(). */
static void *next_function(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) abort();
    if (__lsan_disable) __lsan_disable();
    return symbol;
}

static int done(int code) {
    if (__lsan_enable) __lsan_enable();
    return code;
}

/* Weak, since a program may define the same functions.  MPI_Init of Fortran calls PMPI_Init. */
int MPI_Init(int *argc, char ***argv) __attribute__((weak));
int PMPI_Init(int *argc, char ***argv) __attribute__((weak));
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) __attribute__((weak));

int MPI_Init(int *argc, char ***argv) {
    int (*init)(int *, char ***);
    *(void **)&init = next_function("MPI_Init");
    return done(init(argc, argv));
}

int PMPI_Init(int *argc, char ***argv) {
    int (*init)(int *, char ***);
    *(void **)&init = next_function("PMPI_Init");
    return done(init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*init)(int *, char ***, int, int *);
    *(void **)&init = next_function("MPI_Init_thread");
    return done(init(argc, argv, required, provided));
}
