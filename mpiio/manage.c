/* mpiio: size, group, mode, info, atomicity, sync.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

typedef tutti_err resize_fn(tutti_file *f, tutti_off size);

/* Call `fn`, in which all ranks agree on the size and on errors. */
static int resize_file(mpiio_file *f, MPI_Offset size, resize_fn *fn, const char *what) {
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return mpiio_fail(
            f, mpiio_complain(MPI_ERR_UNSUPPORTED_OPERATION,
                              "%s is not allowed: '%s' was opened with MPI_MODE_SEQUENTIAL", what,
                              f->path));
    if (f->amode & MPI_MODE_RDONLY)
        return mpiio_fail(f,
                          mpiio_complain(MPI_ERR_READ_ONLY,
                                         "%s is not allowed: '%s' was opened with MPI_MODE_RDONLY",
                                         what, f->path));
    mpiio_enter(f);
    const int code = mpiio_complain_tutti(fn(f->file, size));
    mpiio_leave(f);
    return mpiio_fail(f, code);
}

int mpiio_set_size(mpiio_file *f, MPI_Offset size) {
    return resize_file(f, size, tutti_file_resize, "MPI_File_set_size");
}

int mpiio_preallocate(mpiio_file *f, MPI_Offset size) {
    return resize_file(f, size, tutti_file_preallocate, "MPI_File_preallocate");
}

int mpiio_get_size(mpiio_file *f, MPI_Offset *size) {
    tutti_off found = 0;
    if (!size) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument size is NULL"));
    mpiio_enter(NULL);
    const int code = mpiio_complain_tutti(tutti_file_size_independent(f->file, &found));
    mpiio_leave(NULL);
    if (code == MPI_SUCCESS) *size = found;
    return mpiio_fail(f, code);
}

int mpiio_get_group(mpiio_file *f, MPI_Group *group) {
    if (!group) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument group is NULL"));
    return mpiio_fail(f, PMPI_Comm_group(f->ranks->comm, group));
}

int mpiio_get_amode(mpiio_file *f, int *amode) {
    if (!amode) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument amode is NULL"));
    *amode = f->amode;
    return MPI_SUCCESS;
}

/* Hints may differ, or be present on some ranks only; the hints of rank 0 are used. */
int mpiio_set_info(mpiio_file *f, MPI_Info info) {
    tutti_options opt;
    int64_t differs = mpiio_hints_apply(f, info, &opt);
    const int code = mpiio_agree(f->ranks, 1, &differs);
    if (code != MPI_SUCCESS)
        return mpiio_fail(f, mpiio_complain(MPI_ERR_OTHER,
                                            "exchange of hints between ranks failed with code %d",
                                            code));
    if (differs) mpiio_hints_change(f, &opt);
    mpiio_hints_keep(f, info);
    return MPI_SUCCESS;
}

int mpiio_get_info(mpiio_file *f, MPI_Info *info) {
    if (!info) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument info_used is NULL"));
    return mpiio_fail(f, mpiio_hints_get(f, info));
}

int mpiio_set_atomicity(mpiio_file *f, int flag) {
    mpiio_enter(f);
    const int code = mpiio_complain_tutti(tutti_file_atomic(f->file, flag != 0));
    mpiio_leave(f);
    if (code == MPI_SUCCESS) f->atomic = flag != 0;
    return mpiio_fail(f, code);
}

int mpiio_get_atomicity(mpiio_file *f, int *flag) {
    if (!flag) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument flag is NULL"));
    *flag = f->atomic;
    return MPI_SUCCESS;
}

int mpiio_sync(mpiio_file *f) {
    mpiio_enter(f);
    const int code = mpiio_complain_tutti(tutti_file_sync(f->file));
    mpiio_leave(f);
    return mpiio_fail(f, code);
}

/* ---- data representations of the program: names are recorded, but using one is an error */

typedef struct name_node {
    struct name_node *next;
    char name[MPI_MAX_DATAREP_STRING];
} name_node;

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static name_node *names;

static int name_is_taken(const char *name) {
    static const char *const own[] = {"native", "internal", "external32"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0) return 1;
    for (const name_node *n = names; n; n = n->next)
        if (strcmp(name, n->name) == 0) return 1;
    return 0;
}

int mpiio_register_datarep(const char *name) {
    int code = MPI_SUCCESS;
    name_node *n = NULL;
    pthread_mutex_lock(&names_lock);
    if (!name || !name[0]) {
        code = mpiio_complain(MPI_ERR_ARG, "argument datarep is %s", name ? "empty" : "NULL");
    } else if (strlen(name) >= MPI_MAX_DATAREP_STRING) {
        code = mpiio_complain(
            MPI_ERR_ARG,
            "the name of the data representation has %zu bytes: at most %d are allowed",
            strlen(name), MPI_MAX_DATAREP_STRING - 1);
    } else if (name_is_taken(name)) {
        code = mpiio_complain(MPI_ERR_DUP_DATAREP, "data representation '%s' is already registered",
                              name);
    } else if (!(n = calloc(1, sizeof *n))) {
        code = mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a name");
    } else {
        snprintf(n->name, sizeof n->name, "%s", name);
        n->next = names;
        names = n;
    }
    pthread_mutex_unlock(&names_lock);
    return mpiio_fail(NULL, code);
}
