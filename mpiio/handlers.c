/* mpiio: calls of the error handlers of the program, as the MPI library calls them.
 *
 * The error handler of a file is the handler of its native handle; calls without a file use the
 * handler of MPI_FILE_NULL.
 *
 *   Open MPI 4   does not support MPI_File_call_errhandler for MPI_FILE_NULL; its internal function
 *                is called instead or, if not found, the error handler of a spare handle
 *   MPICH        calls return the code as changed by the handler, but
 *                MPI_File_call_errhandler does not return this code, so handlers written in C
 *                are recorded in a table and called directly; MPICH leaves
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
    MPI_File_errhandler_function *fn; /* NULL: handler of another language */
    struct known *next;
} known;

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
/* List of entries; an entry is reused if a freed handler is created again. */
static known *all_known;

/* Record the function of a handler.  If no memory is available, it is not recorded, and the MPI
 * library calls the handler. */
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

/* Return whether the caller is a Fortran or C++ binding, whose handlers must be called
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
/* Call the internal function of Open MPI 4 for all errors; type 3 is a file. */
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
