/* exodus: files that follow each other: the next one of a reader, n steps per file of a writer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>
#include <unistd.h>
#include "exodus/sidecar.h"

tutti_err tutti__exodus_between(const tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor "
                "discarded");
    return tutti__exodus_idle(x);
}

tutti_err tutti__exodus_path_next(tutti_exodus *x, char **out) {
    *out = tutti__exodus_file_path(x->first, x->file_number + 1);
    return *out ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* What the handle has of a file. */
typedef struct {
    char *path;
    tutti_file *file;
    int fd;
    double last;
    tutti_off at;
    uint64_t header;
    tutti__sidecar *sidecar;
    tutti__exodus_model model;
    tutti__cdf cdf;
} opened;

static opened opened_of(const tutti_exodus *x) {
    return (opened){x->path,   x->file,    x->fd,    x->last, x->at,
                    x->header, x->sidecar, x->model, x->cdf};
}

static void opened_set(tutti_exodus *x, const opened *o) {
    x->path = o->path;
    x->file = o->file;
    x->fd = o->fd;
    x->last = o->last;
    x->at = o->at;
    x->header = o->header;
    x->sidecar = o->sidecar;
    x->model = o->model;
    x->cdf = o->cdf;
}

/* Close another file than the one that it is on. */
static tutti_err opened_close(tutti_exodus *x, const opened *o) {
    const opened now = opened_of(x);
    opened_set(x, o);
    const tutti_err err = tutti__exodus_file_close(x);
    opened_set(x, &now);
    return err;
}

static void steps_forget(tutti_exodus *x) {
    tutti__free(x->checked);
    x->checked = NULL;
    x->checked_n = 0;
}

/* Rank 0: is there one? */
static tutti_err is_there(const char *path) {
    TUTTI_CHECK(tutti__exodus_file_there(path, 1), TUTTI_ERR_NOT_FOUND, "there is no '%s'", path);
    return TUTTI_OK;
}

tutti_err tutti_exodus_next_file(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    char *path = NULL;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_between(x);
    if (err == TUTTI_OK) err = tutti__exodus_path_next(x, &path);
    err = tutti__exodus_call(x, "next_file", 0, err);
    if (err == TUTTI_OK) err = tutti__exodus_agree(x, x->team->rank ? TUTTI_OK : is_there(path));
    if (err == TUTTI_OK) err = tutti__exodus_mesh_end(x);
    if (err != TUTTI_OK) {
        tutti__free(path);
        return tutti__exodus_named(x, "next_file", err);
    }
    const opened old = opened_of(x);
    const opened none = {.path = path, .fd = -1, .cdf = {.record_dim = -1}};
    opened_set(x, &none);
    err = tutti__exodus_named(x, "next_file", tutti__exodus_file_open(x));
    if (err != TUTTI_OK) {
        opened_set(x, &old);
        tutti__free(path);
        return err;
    }
    err = opened_close(x, &old);
    tutti__exodus_model old_model = old.model;
    tutti__cdf old_cdf = old.cdf;
    tutti__exodus_model_free(&old_model);
    tutti__cdf_free(&old_cdf);
    tutti__free(old.path);
    steps_forget(x);
    x->file_number++;
    if (x->header != old.header) { /* another mesh; otherwise it is the same, with other steps */
        tutti__exodus_held_free(x);
        tutti__exodus_dealt_free(x);
        x->topology++;
    }
    return tutti__exodus_named(x, "next_file", err);
}

/* ---- n steps per file */

/* This rank's share of the arrays of the mesh, from one file to another. */
static tutti_err arrays_copy(const tutti_exodus *x, tutti_file *from, tutti_file *to) {
    enum { PIECE = 4 << 20 };
    const tutti_off begin = x->cdf.header_bytes, n = x->cdf.fixed_end - begin;
    const tutti_off lo = begin + n / x->team->size * x->team->rank;
    const tutti_off hi = x->team->rank == x->team->size - 1
                             ? x->cdf.fixed_end
                             : begin + n / x->team->size * (x->team->rank + 1);
    char *buf = tutti__malloc(PIECE);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_off at = lo; at < hi && err == TUTTI_OK; at += PIECE) {
        tutti_access *access = NULL;
        tutti_off count = 0;
        const tutti_off bytes = tutti__min(PIECE, hi - at);
        err = tutti_access_contiguous(at, bytes, &access);
        if (err == TUTTI_OK) err = tutti_file_read_independent(from, access, buf, &count);
        if (err == TUTTI_OK && count < bytes) memset(buf + count, 0, (size_t)(bytes - count));
        if (err == TUTTI_OK) err = tutti_file_write_independent(to, access, buf, NULL);
        tutti_access_free(&access);
    }
    tutti__free(buf);
    return err;
}

/* Rank 0: bytes and places are the same, so are the sums. */
static tutti_err sums_copy(tutti__sidecar *from, tutti__sidecar *to) {
    uint64_t *sums = NULL;
    tutti_count n = 0;
    if (!from || !to) return TUTTI_OK;
    tutti_err err = tutti__sidecar_sums(from, 0, &sums, &n);
    if (err == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    if (err == TUTTI_OK) err = tutti__sidecar_add_sums(to, 0, n, sums);
    tutti__free(sums);
    return err;
}

/* The mesh in the file that has been made. */
static tutti_err mesh_copy(tutti_exodus *x, const opened *from) {
    tutti_err err = arrays_copy(x, from->file, x->file);
    if (err == TUTTI_OK && x->team->rank == 0) err = sums_copy(from->sidecar, x->sidecar);
    return tutti__exodus_agree(x, err); /* tutti__exodus_file_show syncs it */
}

/* What has been made of the next file goes again. */
static void unmake(tutti_exodus *x) {
    const tutti_error_info why = *tutti_last_error();
    if (x->file && tutti__exodus_file_close(x) != TUTTI_OK) x->file = NULL;
    if (x->team->rank == 0) {
        unlink(x->path);
        tutti__sidecar_remove(x->path);
    }
    tutti__error_assign(&why);
}

tutti_err tutti__exodus_next_steps(tutti_exodus *x) {
    char *path = NULL;
    TUTTI_TRY(tutti__exodus_agree(x, tutti__exodus_path_next(x, &path)));
    const opened old = opened_of(x);
    x->path = path;
    x->file = NULL;
    x->fd = -1;
    x->sidecar = NULL;
    x->cdf.records = 0;
    tutti_err err = tutti__exodus_file_make(x);
    if (err == TUTTI_OK) {
        err = mesh_copy(x, &old);
        if (err == TUTTI_OK) err = tutti__exodus_file_show(x);
        if (err != TUTTI_OK) unmake(x);
    }
    if (err != TUTTI_OK) {
        opened_set(x, &old);
        tutti__free(path);
        return err;
    }
    err = opened_close(x, &old);
    tutti__free(old.path);
    steps_forget(x);
    x->file_number++;
    return err;
}
