/* mpiio: table of files by the handles of the program.
 *
 * A native handle needs a file descriptor, and time to open, so some handles are kept for reuse
 * when files are closed.  Kept handles are still recognised, so that the use of a closed handle is
 * reported as an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "mpiio.h"

enum { BUCKETS = 256, SPARE = 16 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static mpiio_file *table[BUCKETS];
static MPI_File spare[SPARE];
static int spares, natives;
/* > 0: a native handle is being opened or closed; calls pass through */
static _Thread_local int passing;

/* ---- the table */

static mpiio_file **file_bucket(MPI_File native) {
    const uint64_t mixed = (uint64_t)(uintptr_t)native * 0x9e3779b97f4a7c15u;
    return &table[mixed >> 56];
}

int mpiio_is_ours(MPI_File fh, mpiio_file **out) {
    *out = NULL;
    if (mpiio_off() || passing) return 0;
    if (fh == MPI_FILE_NULL) return 1;
    pthread_mutex_lock(&table_lock);
    mpiio_file *f = *file_bucket(fh);
    while (f && f->native != fh) f = f->next;
    int ours = f != NULL;
    for (int i = 0; i < spares; i++) ours |= spare[i] == fh;
    pthread_mutex_unlock(&table_lock);
    if (f && f->file) *out = f;
    return ours;
}

mpiio_file *mpiio_find(MPI_File fh) {
    mpiio_file *f;
    return mpiio_is_ours(fh, &f) ? f : NULL;
}

void mpiio_table_add(mpiio_file *f) {
    pthread_mutex_lock(&table_lock);
    mpiio_file **at = file_bucket(f->native);
    f->next = *at;
    *at = f;
    pthread_mutex_unlock(&table_lock);
}

void mpiio_table_remove(mpiio_file *f) {
    pthread_mutex_lock(&table_lock);
    mpiio_file **at = file_bucket(f->native);
    while (*at && *at != f) at = &(*at)->next;
    if (*at) *at = f->next;
    pthread_mutex_unlock(&table_lock);
}

void mpiio_table_each(void (*fn)(mpiio_file *f)) {
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < BUCKETS; i++)
        for (mpiio_file *f = table[i]; f; f = f->next) fn(f);
    pthread_mutex_unlock(&table_lock);
}

/* ---- native handles */

static MPI_File spare_take(void) {
    MPI_File native = MPI_FILE_NULL;
    pthread_mutex_lock(&table_lock);
    if (spares > 0) native = spare[--spares];
    pthread_mutex_unlock(&table_lock);
    return native;
}

int mpiio_pass_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out) {
    passing++;
    const int code = MPIIO_REAL(File_open)(comm, path, amode, info, out);
    passing--;
    return code;
}

/* Raise the limit on file descriptors with the number of native handles, so that native handles do
 * not reduce the number of files that the program can open. */
static void limit_raise(void) {
    static struct rlimit first;
    struct rlimit now;
    if (natives < SPARE || getrlimit(RLIMIT_NOFILE, &now) != 0) return;
    if (first.rlim_cur == 0) first = now;
    const rlim_t wanted = first.rlim_cur + (rlim_t)(natives / SPARE + 1) * SPARE;
    if (now.rlim_cur >= wanted || now.rlim_cur == RLIM_INFINITY) return;
    now.rlim_cur = wanted < now.rlim_max ? wanted : now.rlim_max;
    setrlimit(RLIMIT_NOFILE, &now);
}

/* Open a native handle on /dev/null.  At the first open ROMIO reads the system hints, and aborts
 * the program if a hint is too long; in this case the hints are hidden from ROMIO. */
static int devnull_open(MPI_File *out) {
    MPI_Info info;
    int code = PMPI_Info_create(&info);
    if (code != MPI_SUCCESS) return code;
    PMPI_Info_set(info, "cb_buffer_size", "4096"); /* ROMIO allocates this buffer */
    pthread_mutex_lock(&table_lock);
    natives++;
    limit_raise();
    pthread_mutex_unlock(&table_lock);
    const char *hints = secure_getenv("ROMIO_HINTS");
    char *kept = hints ? strdup(hints) : NULL;
    const int hidden = natives == 1 && mpiio_hints_too_long() && (!hints || kept) &&
                       setenv("ROMIO_HINTS", "/dev/null", 1) == 0;
    code = mpiio_pass_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, info, out);
    if (hidden && kept) setenv("ROMIO_HINTS", kept, 1);
    if (hidden && !kept) unsetenv("ROMIO_HINTS");
    free(kept);
    PMPI_Info_free(&info);
    return code;
}

static void native_close(MPI_File native) {
    passing++;
    MPIIO_REAL(File_close)(&native);
    passing--;
    pthread_mutex_lock(&table_lock);
    natives--;
    pthread_mutex_unlock(&table_lock);
}

/* A handle inherits the error handler of MPI_FILE_NULL, also if the handle is reused.  MPICH
 * assigns the handler of MPI_FILE_NULL to a new file without counting the reference, but releases a
 * reference when the file is closed, so another handler is set while the file is opened. */
int mpiio_handle_take(MPI_File *out) {
    MPI_Errhandler handler;
    int code = PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    if (code != MPI_SUCCESS) return code;
    MPI_File native = spare_take();
    if (native == MPI_FILE_NULL) {
        if (handler != MPI_ERRORS_RETURN)
            PMPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
        code = devnull_open(&native);
        if (handler != MPI_ERRORS_RETURN) PMPI_File_set_errhandler(MPI_FILE_NULL, handler);
    }
    if (code == MPI_SUCCESS) code = PMPI_File_set_errhandler(native, handler);
    PMPI_Errhandler_free(&handler);
    if (code == MPI_SUCCESS) *out = native;
    return code;
}

/* A kept handle does not refer to an error handler of the program. */
void mpiio_handle_give(MPI_File native) {
    PMPI_File_set_errhandler(native, MPI_ERRORS_RETURN);
    pthread_mutex_lock(&table_lock);
    const int keep = spares < SPARE;
    if (keep) spare[spares++] = native;
    pthread_mutex_unlock(&table_lock);
    if (!keep) native_close(native);
}

void mpiio_handles_close(void) {
    MPI_File native;
    while ((native = spare_take()) != MPI_FILE_NULL) native_close(native);
}
