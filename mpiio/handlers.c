/* mpiio: calls error handlers of the program like the MPI library.
 *
 * The error handler of a file is that of its native handle; before a file exists it is that of
 * MPI_FILE_NULL.
 *
 *   Open MPI 4   has no MPI_File_call_errhandler for MPI_FILE_NULL: there the function behind it is
 *                called, or, failing that, a spare handle is given the same handler
 *   MPICH        returns from a call the code as changed by the handler, which
 *                MPI_File_call_errhandler does not return: so functions that become handlers in C
 *                are kept in a table, and called directly.  And it leaves
 *                MPI::ERRORS_THROW_EXCEPTIONS to the C++ bindings, which check the returned
 *                code.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiio.h"

#ifdef MPICH_VERSION

typedef struct known {
    MPI_Errhandler handler;
    MPI_File_errhandler_function *fn; /* NULL: of another language */
    struct known *next;
} known;

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static known *all_known; /* a handler that is created again, after it was freed, reuses its entry */

/* If memory is exhausted it is not recorded, and the MPI library calls it. */
static void known_set(MPI_Errhandler handler, MPI_File_errhandler_function *fn) {
    pthread_mutex_lock(&known_lock);
    known *k = all_known;
    while (k && k->handler != handler) k = k->next;
    if (!k && fn && (k = calloc(1, sizeof *k)) != NULL) {
        k->next = all_known;
        all_known = k;
    }
    if (k) *k = (known){handler, fn, k->next};
    pthread_mutex_unlock(&known_lock);
}

/* The bindings of Fortran and C++ create handlers by this function too: they are called
 * differently. */
static int is_binding(const void *caller) {
    Dl_info who;
    return dladdr(caller, &who) && who.dli_fname && strstr(who.dli_fname, "libmpich");
}

int PMPI_File_create_errhandler(MPI_File_errhandler_function *fn, MPI_Errhandler *out) {
    const int code = MPIIO_REAL(File_create_errhandler)(fn, out);
    if (code == MPI_SUCCESS) known_set(*out, is_binding(__builtin_return_address(0)) ? NULL : fn);
    return code;
}
MPIIO_EXPORT(File_create_errhandler);

static int call_handler(MPI_File fh, int code) {
    MPI_Errhandler handler;
    if (PMPI_File_get_errhandler(fh, &handler) != MPI_SUCCESS) return code;
    pthread_mutex_lock(&known_lock);
    const known *k = all_known;
    while (k && k->handler != handler) k = k->next;
    MPI_File_errhandler_function *fn = k ? k->fn : NULL;
    pthread_mutex_unlock(&known_lock);
    if (fn)
        fn(&fh, &code);
    else if (handler != MPIR_ERRORS_THROW_EXCEPTIONS)
        PMPI_File_call_errhandler(fh, code);
    PMPI_Errhandler_free(&handler);
    return code;
}

#else

#if OMPI_MAJOR_VERSION == 4
/* The function that Open MPI 4 calls for all errors; 3: of a file. */
typedef int invoke_fn(MPI_Errhandler handler, void *object, int type, int code, const char *text);
static int null_invoke(MPI_Errhandler handler, int code) {
    void *found = dlsym(RTLD_DEFAULT, "ompi_errhandler_invoke");
    if (found) ((invoke_fn *)found)(handler, MPI_FILE_NULL, 3, code, "MPI_File");
    return found != NULL;
}
#else
static int null_invoke(MPI_Errhandler handler, int code) {
    (void)handler, (void)code;
    return 0;
}
#endif

static void null_handler_call(int code) {
    MPI_Errhandler handler;
    MPI_File native;
    if (PMPI_File_get_errhandler(MPI_FILE_NULL, &handler) != MPI_SUCCESS) return;
    if (!null_invoke(handler, code) && mpiio_handle_take(&native) == MPI_SUCCESS) {
        PMPI_File_call_errhandler(native, code);
        mpiio_handle_give(native);
    }
    PMPI_Errhandler_free(&handler);
}

static int call_handler(MPI_File fh, int code) {
    if (fh == MPI_FILE_NULL)
        null_handler_call(code);
    else
        PMPI_File_call_errhandler(fh, code);
    return code;
}

#endif

/* ---- every exported call ends here */

static int is_explaining(const mpiio_file *f) {
    static _Atomic int of_environment = -1;
    tutti_options opt;
    if (f) return f->explain;
    if (of_environment < 0) {
        if (tutti_options_init(&opt) != TUTTI_OK) opt.explain = 0;
        of_environment = opt.explain;
    }
    return of_environment;
}

int mpiio_fail(mpiio_file *f, int mpi_class) {
    if (mpi_class == MPI_SUCCESS) return MPI_SUCCESS;
    const int saved_errno = errno;
    if (is_explaining(f) && mpiio_message(mpi_class)[0])
        fprintf(stderr, "tutti: %s\n", mpiio_message(mpi_class));
    const int code = call_handler(f ? f->native : MPI_FILE_NULL, mpi_class);
    errno = saved_errno;
    return code;
}
