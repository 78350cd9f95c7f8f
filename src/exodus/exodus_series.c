/* exodus: files that follow each other: the next one of a reader, n steps per file of a writer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>
#include <unistd.h>
#include "comm/vote.h"
#include "exodus/sidecar.h"

tutti_err tutti__exodus_between(const tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor "
                "discarded");
    return tutti__exodus_idle(x);
}

/* Rank 0: how the files are named that follow the first. */
static tutti_err naming_find(const tutti_exodus *x, tutti__series_naming *out) {
    *out = TUTTI__SERIES_UNKNOWN;
    for (int k = TUTTI__SERIES_IOSS; k < TUTTI__SERIES_NAMINGS; k++) {
        char *path = tutti__series_path(x->first, x->file_number + 1, (tutti__series_naming)k);
        if (!path) return TUTTI_ERR_NOMEM;
        const int there = tutti__exodus_file_there(path, 1);
        tutti_err err = TUTTI_OK;
        if (there && *out != TUTTI__SERIES_UNKNOWN)
            err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                                   "several series follow '%s', one of them with '%s': remove or "
                                   "rename all but one",
                                   x->first, path);
        tutti__free(path);
        TUTTI_TRY(err);
        if (there) *out = (tutti__series_naming)k;
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_path_next(tutti_exodus *x, tutti__series_naming *naming_out, char **out) {
    tutti__series_naming naming = x->naming;
    if (naming == TUTTI__SERIES_UNKNOWN) {
        TUTTI_TRY(tutti__exodus_agree(x, x->team->rank == 0 ? naming_find(x, &naming) : TUTTI_OK));
        TUTTI_TRY(tutti__team_tell(x->team, &naming, (int)sizeof naming));
    }
    if (naming == TUTTI__SERIES_UNKNOWN) naming = TUTTI__SERIES_IOSS;
    char *path = tutti__series_path(x->first, x->file_number + 1, naming);
    const tutti_err err = tutti__exodus_agree(x, path ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        tutti__free(path);
        return err;
    }
    *naming_out = naming;
    *out = path;
    return TUTTI_OK;
}

/* What the handle has of a file. */
typedef struct {
    char *path;
    tutti_file *file;
    int fd;
    double last;
    tutti_off at;
    uint64_t header, identity;
    int record_blocks;
    tutti__sidecar *sidecar;
    tutti__exodus_model model;
    tutti__cdf cdf;
} opened;

static opened opened_of(const tutti_exodus *x) {
    return (opened){x->path,     x->file,          x->fd,      x->last,  x->at, x->header,
                    x->identity, x->record_blocks, x->sidecar, x->model, x->cdf};
}

static void opened_set(tutti_exodus *x, const opened *o) {
    x->path = o->path;
    x->file = o->file;
    x->fd = o->fd;
    x->last = o->last;
    x->at = o->at;
    x->header = o->header;
    x->identity = o->identity;
    x->record_blocks = o->record_blocks;
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
    TUTTI_CHECK(tutti__exodus_file_there(path, 1), TUTTI_ERR_NOT_FOUND,
                "no file follows: '%s' does not exist", path);
    return TUTTI_OK;
}

/* This rank's share of the arrays of the mesh. */
static void share_of(const tutti_exodus *x, tutti_off *lo, tutti_off *hi) {
    const tutti_off begin = x->cdf.header_bytes, n = x->cdf.fixed_end - begin;
    const int last = x->team->rank == x->team->size - 1;
    *lo = begin + n / x->team->size * x->team->rank;
    *hi = last ? x->cdf.fixed_end : begin + n / x->team->size * (x->team->rank + 1);
}

enum { PIECE = 4 << 20 };

/* Bytes of a piece of the mesh; those that the file has not are 0. */
static tutti_err piece_read(tutti_file *file, tutti_off at, tutti_off bytes, char *buf) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_read_independent(file, access, buf, &count);
    tutti_access_free(&access);
    if (err == TUTTI_OK && count < bytes) memset(buf + count, 0, (size_t)(bytes - count));
    return err;
}

static tutti_err share_compare(const tutti_exodus *x, const opened *old, int64_t *differs) {
    tutti_off lo = 0, hi = 0;
    char *buf = tutti__malloc(2 * (size_t)PIECE);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    share_of(x, &lo, &hi);
    for (tutti_off at = lo; at < hi && err == TUTTI_OK && !*differs; at += PIECE) {
        const tutti_off bytes = tutti__min(PIECE, hi - at);
        err = piece_read(old->file, at, bytes, buf);
        if (err == TUTTI_OK) err = piece_read(x->file, at, bytes, buf + PIECE);
        *differs = err == TUTTI_OK && memcmp(buf, buf + PIECE, (size_t)bytes) != 0;
    }
    tutti__free(buf);
    return err;
}

/* Has the file the mesh of the one before?  Only if all bytes of both are equal may decompositions and the mesh that get_mesh
 * returned be kept; where there are none of them, the files are not read.   Collective. */
static tutti_err meshes_compare(tutti_exodus *x, const opened *old, int *same) {
    const int kept = x->count > 0 || x->local || x->mesh_read.data;
    int equal = kept && x->header == old->header; /* rank 0 knows the header of a new file */
    int64_t differs = 0;
    *same = 0;
    TUTTI_TRY(tutti__team_tell(x->team, &equal, (int)sizeof equal));
    if (!equal) return TUTTI_OK;
    const tutti_err mine = share_compare(x, old, &differs);
    TUTTI_TRY(tutti__team_max(x->team, mine, &differs));
    *same = !differs;
    return TUTTI_OK;
}

/* Leave the file that it is on, which could not be used. */
static void opened_drop(tutti_exodus *x) {
    TUTTI_KEEP_LAST_ERROR;
    if (tutti__exodus_file_close(x) != TUTTI_OK) x->file = NULL;
    tutti__exodus_model_free(&x->model);
    tutti__cdf_free(&x->cdf);
}

tutti_err tutti_exodus_next_file(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    char *path = NULL;
    tutti__series_naming naming = TUTTI__SERIES_UNKNOWN;
    int same = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    TUTTI_TRY(tutti__exodus_call(x, "next_file", 0, tutti__exodus_between(x)));
    tutti_err err = tutti__exodus_path_next(x, &naming, &path);
    if (err == TUTTI_OK) err = tutti__exodus_agree(x, x->team->rank ? TUTTI_OK : is_there(path));
    if (err == TUTTI_OK) err = tutti__exodus_mesh_end(x);
    if (err != TUTTI_OK) {
        tutti__free(path);
        return tutti__exodus_named(x, "next_file", err);
    }
    const opened old = opened_of(x);
    const opened none = {.path = path, .fd = -1, .cdf = {.record_dim = -1}};
    opened_set(x, &none);
    err = tutti__exodus_file_open(x);
    if (err == TUTTI_OK) {
        err = meshes_compare(x, &old, &same);
        if (err != TUTTI_OK) opened_drop(x);
    }
    if (err != TUTTI_OK) {
        opened_set(x, &old);
        tutti__free(path);
        return tutti__exodus_named(x, "next_file", err);
    }
    err = opened_close(x, &old);
    tutti__exodus_model old_model = old.model;
    tutti__cdf old_cdf = old.cdf;
    tutti__exodus_model_free(&old_model);
    tutti__cdf_free(&old_cdf);
    tutti__free(old.path);
    steps_forget(x);
    x->file_number++;
    x->naming = naming;
    if (!same) {
        tutti__exodus_results_free(x);
        x->topology++;
    }
    return tutti__exodus_named(x, "next_file", err);
}

/* ---- n steps per file */

/* This rank's share of the arrays of the mesh, from one file to another. */
static tutti_err arrays_copy(const tutti_exodus *x, tutti_file *from, tutti_file *to) {
    tutti_off lo = 0, hi = 0;
    char *buf = tutti__malloc(PIECE);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    share_of(x, &lo, &hi);
    for (tutti_off at = lo; at < hi && err == TUTTI_OK; at += PIECE) {
        tutti_access *access = NULL;
        const tutti_off bytes = tutti__min(PIECE, hi - at);
        err = piece_read(from, at, bytes, buf);
        if (err == TUTTI_OK) err = tutti_access_contiguous(at, bytes, &access);
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
    TUTTI_KEEP_LAST_ERROR;
    if (x->file && tutti__exodus_file_close(x) != TUTTI_OK) x->file = NULL;
    if (x->team->rank == 0) {
        unlink(x->path);
        tutti__sidecar_remove(x->path);
    }
}

tutti_err tutti__exodus_next_steps(tutti_exodus *x) {
    char *path = NULL;
    tutti__series_naming naming = TUTTI__SERIES_UNKNOWN;
    TUTTI_TRY(tutti__exodus_path_next(x, &naming, &path));
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
    x->naming = naming;
    x->file_number++;
    return err;
}
