/* mpiio: invariants of objects between calls.  Debug and sanitizer builds assert them at the
 * beginning and end of every exported call (MPIIO_VALID).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "request_impl.h"

int mpiio_view_is_valid(const mpiio_view *v) {
    if (v->displacement < 0 || v->etype_size < 1 || v->tile_size < 0) return 0;
    if (v->etype == MPI_DATATYPE_NULL || v->filetype == MPI_DATATYPE_NULL) return 0;
    /* `tiles` or `tile` must describe the bytes */
    if (!v->tiles && v->tile == MPI_DATATYPE_NULL) return 0;
    if (v->tile_size > 0 && v->tile_end <= v->tile_begin) return 0;
    if (v->plain && (!v->tiles || v->tile_begin != 0 || v->tile_end != v->tile_size ||
                     v->tile_extent != v->tile_size))
        return 0;
    return v->name[0] != '\0';
}

/* This function checks only atomic fields, and fields that no other thread changes between open and
 * close. */
int mpiio_file_is_valid(const mpiio_file *f) {
    const int access = f->amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (f->native == MPI_FILE_NULL || !f->file || !f->path || !f->shared) return 0;
    /* exactly one access mode must be set */
    if (access == 0 || (access & (access - 1)) != 0) return 0;
    if (!f->ranks || f->ranks->rank < 0 || f->ranks->rank >= f->ranks->size) return 0;
    if (!f->ranks->busy || __atomic_load_n(&f->position, __ATOMIC_RELAXED) < 0) return 0;
    return mpiio_view_is_valid(&f->view);
}

int mpiio_request_is_valid(const mpiio_request *q) {
    if (q->references < 1 || q->index < -1) return 0;
    if (!mpiio_request_settled(q)) return q->code == MPI_SUCCESS && !q->message;
    return !q->tutti && (q->code == MPI_SUCCESS || q->handle != MPI_REQUEST_NULL);
}

void mpiio_assert(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "libtutti-mpiio: internal error: invalid %s\n", what);
    abort();
}
