/* Linked into the programs of sanitizer builds, so that LeakSanitizer finds leaks of Tutti and no
 * others without complete stacks, which need seconds (unwinding
 * through an MPI's libraries is slow).
 *
 * Plugins stay mapped to the end: an MPI loads and unloads them, and a leak in an unloaded one has
 * no module name any more, so that no suppression (lsan.supp) can distinguish it from a leak of Tutti.  With
 * dlclose() doing nothing this is possible: the caller of malloc() is known without unwinding.
 *
 * What an MPI allocates in MPI_Init, by whatever libraries, is not checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

int dlclose(void *handle) {
    (void)handle;
    return 0;
}

/* The next function in search order: that of the MPI or of a library before it. */
static void *behind(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) abort();
    if (__lsan_disable) __lsan_disable();
    return symbol;
}

static int done(int code) {
    if (__lsan_enable) __lsan_enable();
    return code;
}

/* Weak: a program may have its own.  Fortran's MPI_Init calls PMPI_Init. */
int MPI_Init(int *argc, char ***argv) __attribute__((weak));
int PMPI_Init(int *argc, char ***argv) __attribute__((weak));
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) __attribute__((weak));

int MPI_Init(int *argc, char ***argv) {
    int (*init)(int *, char ***);
    *(void **)&init = behind("MPI_Init");
    return done(init(argc, argv));
}

int PMPI_Init(int *argc, char ***argv) {
    int (*init)(int *, char ***);
    *(void **)&init = behind("PMPI_Init");
    return done(init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*init)(int *, char ***, int, int *);
    *(void **)&init = behind("MPI_Init_thread");
    return done(init(argc, argv, required, provided));
}
