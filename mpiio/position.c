/* mpiio: file pointers and byte offsets.  A pointer counts bytes of the view, so that the number of
 * transferred bytes can be added; the program uses etypes.
 *
 *   displacement    tile 0       tile 1       tile 2
 *   |.............|--##-##---- |--##-##---- |--##-##----        bytes of the view: those marked #
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

/* Convert byte `at` of the view to an offset in the file. */
int mpiio_byte_offset(const mpiio_file *f, MPI_Offset at, MPI_Offset *out) {
    tutti_access *a = NULL;
    tutti_off lo = 0, hi = 0;
    if (f->view.plain) {
        if (__builtin_add_overflow(f->view.displacement, at, out))
            return mpiio_complain(MPI_ERR_ARG,
                                  "offset %lld of a view with displacement %lld exceeds 2^63 bytes",
                                  (long long)at, (long long)f->view.displacement);
        return MPI_SUCCESS;
    }
    if (f->view.tile_size == 0) {
        *out = f->view.displacement;
        return MPI_SUCCESS;
    }
    if (!f->view.tiles) return mpiio_repeat_offset(&f->view, at, out);
    const tutti_err err = tutti_view_access(f->view.tiles, at, 1, MPI_BYTE, &a);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    tutti_access_bounds(a, &lo, &hi);
    tutti_access_free(&a);
    *out = lo;
    return MPI_SUCCESS;
}

/* Find the first etype of the view that begins at or after byte `size` of the file; *out is in
 * bytes of the view. */
static int end_of_view(const mpiio_view *v, MPI_Offset size, MPI_Offset *out) {
    const MPI_Offset end = size - v->displacement;
    MPI_Offset whole = 0, part = 0;
    int code = MPI_SUCCESS;
    *out = 0;
    if (end <= 0 || v->tile_size == 0) return MPI_SUCCESS;
    if (v->plain) {
        part = end;
    } else {
        if (end >= v->tile_end && v->tile_extent > 0)
            whole = (end - v->tile_end) / v->tile_extent + 1;
        /* add the bytes of the last tile before the end of the file */
        const MPI_Offset rest = end - whole * v->tile_extent;
        tutti_access *a = NULL;
        if (!v->tiles)
            code = mpiio_repeat_before(v, rest, &part);
        else
            code = mpiio_complain_tutti(tutti_view_access(v->tiles, 0, v->tile_size, MPI_BYTE, &a));
        if (a) part = tutti_access_bytes_in(a, 0, v->displacement + rest);
        tutti_access_free(&a);
    }
    const MPI_Offset bytes = whole * v->tile_size + part;
    *out = (bytes + v->etype_size - 1) / v->etype_size * v->etype_size;
    return code;
}

/* Compute the target of a seek, in bytes of the view. */
static int seek_target(const mpiio_file *f, MPI_Offset offset, MPI_Offset from, MPI_Offset *out) {
    MPI_Offset bytes, at;
    if (__builtin_mul_overflow(offset, f->view.etype_size, &bytes) ||
        __builtin_add_overflow(from, bytes, &at))
        return mpiio_complain(MPI_ERR_ARG,
                              "offset is %lld: the position in the view exceeds 2^63 bytes",
                              (long long)offset);
    if (at < 0)
        return mpiio_complain(MPI_ERR_ARG,
                              "offset %lld gives a position before the start of the view",
                              (long long)offset);
    *out = at;
    return MPI_SUCCESS;
}

static int check_whence(const mpiio_file *f, int whence) {
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return mpiio_complain(MPI_ERR_UNSUPPORTED_OPERATION,
                              "'%s' was opened with MPI_MODE_SEQUENTIAL and cannot seek", f->path);
    if (whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END)
        return MPI_SUCCESS;
    return mpiio_complain(MPI_ERR_ARG,
                          "unknown whence %d: must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
                          whence);
}

int mpiio_seek(mpiio_file *f, MPI_Offset offset, int whence) {
    MPI_Offset from = 0, at = 0;
    int code = check_whence(f, whence);
    if (whence == MPI_SEEK_CUR) from = __atomic_load_n(&f->position, __ATOMIC_RELAXED);
    if (code == MPI_SUCCESS && whence == MPI_SEEK_END) {
        tutti_off size = 0;
        mpiio_enter(NULL);
        code = mpiio_complain_tutti(tutti_file_size_independent(f->file, &size));
        mpiio_leave(NULL);
        if (code == MPI_SUCCESS) code = end_of_view(&f->view, size, &from);
    }
    if (code == MPI_SUCCESS) code = seek_target(f, offset, from, &at);
    if (code == MPI_SUCCESS) __atomic_store_n(&f->position, at, __ATOMIC_RELAXED);
    return mpiio_fail(f, code);
}

int mpiio_get_position(mpiio_file *f, MPI_Offset *offset) {
    const int code = check_whence(f, MPI_SEEK_SET);
    if (!offset) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument offset is NULL"));
    if (code == MPI_SUCCESS)
        *offset = __atomic_load_n(&f->position, __ATOMIC_RELAXED) / f->view.etype_size;
    return mpiio_fail(f, code);
}

/* ---- the shared pointer */

/* Determine the start of a seek.  All ranks have entered the seek, so earlier writes are
 * complete. */
static int shared_from(mpiio_file *f, int whence, MPI_Offset *from) {
    tutti_off size = 0;
    if (whence == MPI_SEEK_CUR) return mpiio_shared_add(f, 0, from);
    if (whence == MPI_SEEK_SET) return MPI_SUCCESS;
    mpiio_enter(f);
    const tutti_err err = tutti_file_size(f->file, &size);
    mpiio_leave(f);
    return err == TUTTI_OK ? end_of_view(&f->view, size, from) : mpiio_complain_tutti(err);
}

int mpiio_seek_shared(mpiio_file *f, MPI_Offset offset, int whence) {
    MPI_Offset from = 0, at = 0;
    int code = check_whence(f, whence);
    if (code == MPI_SUCCESS && whence == MPI_SEEK_SET) code = seek_target(f, offset, 0, &at);
    enum { CLASS, OFFSET, OFFSET_, WHENCE, WHENCE_, NUMBERS };
    int64_t n[NUMBERS] = {[CLASS] = code,
                          [OFFSET] = offset,
                          [OFFSET_] = -offset,
                          [WHENCE] = whence,
                          [WHENCE_] = -whence};
    const int rc = mpiio_agree(f->ranks, NUMBERS, n);
    if (rc != MPI_SUCCESS) return mpiio_fail(f, rc);
    if (code != n[CLASS])
        code = mpiio_complain((int)n[CLASS], "the seek failed on another rank");
    else if (code == MPI_SUCCESS && (n[OFFSET] != -n[OFFSET_] || n[WHENCE] != -n[WHENCE_]))
        code = mpiio_complain(MPI_ERR_NOT_SAME,
                              "ranks pass different offsets or whence for the shared file pointer");
    if (code == MPI_SUCCESS && whence != MPI_SEEK_SET) { /* all ranks have entered the call */
        code = shared_from(f, whence, &from);
        if (code == MPI_SUCCESS) code = seek_target(f, offset, from, &at);
        code =
            mpiio_agree_outcome(f->ranks, code, "another rank cannot seek the shared file pointer");
    }
    if (code == MPI_SUCCESS) mpiio_shared_set(f, at);
    return mpiio_fail(f, code);
}

int mpiio_get_position_shared(mpiio_file *f, MPI_Offset *offset) {
    MPI_Offset at = 0;
    int code = check_whence(f, MPI_SEEK_SET);
    if (!offset) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument offset is NULL"));
    if (code == MPI_SUCCESS) code = mpiio_shared_add(f, 0, &at);
    if (code == MPI_SUCCESS) *offset = at / f->view.etype_size;
    return mpiio_fail(f, code);
}

int mpiio_get_byte_offset(mpiio_file *f, MPI_Offset offset, MPI_Offset *bytes) {
    MPI_Offset at = 0;
    int code = MPI_SUCCESS; /* this call is also allowed with MPI_MODE_SEQUENTIAL */
    if (!bytes) return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument offset is NULL"));
    if (offset < 0)
        code = mpiio_complain(MPI_ERR_ARG, "offset is %lld: must be >= 0", (long long)offset);
    if (code == MPI_SUCCESS) code = seek_target(f, offset, 0, &at);
    if (code == MPI_SUCCESS) code = mpiio_byte_offset(f, at, bytes);
    return mpiio_fail(f, code);
}
