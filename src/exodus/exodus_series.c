/* exodus: series of files: the next file of a reader, steps_per_file of a writer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>
#include <unistd.h>
#include "comm/vote.h"
#include "exodus/sidecar.h"

tutti_err tutti__exodus_check_between_steps(const tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor "
                "discarded");
    return tutti__exodus_idle(x);
}

/* On rank 0, determine the naming convention of the next file; TUTTI__SERIES_UNKNOWN: no such file
 * exists. */
static tutti_err find_naming(const tutti_exodus *x, tutti__series_naming *out) {
    *out = TUTTI__SERIES_UNKNOWN;
    for (int k = TUTTI__SERIES_IOSS; k < TUTTI__SERIES_NAMINGS; k++) {
        char *path = tutti__series_path(x->first, x->file_number + 1, (tutti__series_naming)k);
        if (!path) return TUTTI_ERR_NOMEM;
        const int there = tutti__exodus_file_exists(path, 1);
        tutti_err err = TUTTI_OK;
        if (there && *out != TUTTI__SERIES_UNKNOWN)
            err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                                   "several series continue '%s', one of them with '%s': remove or "
                                   "rename all but one",
                                   x->first, path);
        tutti__free(path);
        TUTTI_TRY(err);
        if (there) *out = (tutti__series_naming)k;
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_next_path(tutti_exodus *x, tutti__series_naming *naming_out, char **out) {
    tutti__series_naming naming = x->naming;
    if (naming == TUTTI__SERIES_UNKNOWN) {
        TUTTI_TRY(
            tutti__team_agree(x->team, x->team->rank == 0 ? find_naming(x, &naming) : TUTTI_OK));
        TUTTI_TRY(tutti__team_broadcast(x->team, &naming, (int)sizeof naming));
    }
    if (naming == TUTTI__SERIES_UNKNOWN) naming = TUTTI__SERIES_IOSS;
    char *path = tutti__series_path(x->first, x->file_number + 1, naming);
    const tutti_err err = tutti__team_agree(x->team, path ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        tutti__free(path);
        return err;
    }
    *naming_out = naming;
    *out = path;
    return TUTTI_OK;
}

/* Fields of the object that belong to one file. */
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
} file_fields;

static file_fields get_file_fields(const tutti_exodus *x) {
    return (file_fields){x->path,     x->file,          x->fd,      x->last,  x->at, x->header,
                         x->identity, x->record_blocks, x->sidecar, x->model, x->cdf};
}

static void set_file_fields(tutti_exodus *x, const file_fields *o) {
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

/* Close a file that is not the current one. */
static tutti_err close_previous(tutti_exodus *x, const file_fields *o) {
    const file_fields now = get_file_fields(x);
    set_file_fields(x, o);
    const tutti_err err = tutti__exodus_file_close(x);
    set_file_fields(x, &now);
    return err;
}

static void forget_compared_steps(tutti_exodus *x) {
    tutti__free(x->checked);
    x->checked = NULL;
    x->checked_n = 0;
}

/* Get this rank's share of the bytes of the mesh. */
static void find_own_share(const tutti_exodus *x, tutti_off *lo, tutti_off *hi) {
    const tutti_off begin = x->cdf.header_bytes, n = x->cdf.fixed_end - begin;
    const int last = x->team->rank == x->team->size - 1;
    *lo = begin + n / x->team->size * x->team->rank;
    *hi = last ? x->cdf.fixed_end : begin + n / x->team->size * (x->team->rank + 1);
}

enum { PIECE = 4 << 20 };

/* Read bytes of the mesh; bytes beyond the end of the file are 0. */
static tutti_err read_piece(tutti_file *file, tutti_off at, tutti_off bytes, char *buf) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_read_independent(file, access, buf, &count);
    tutti_access_free(&access);
    if (err == TUTTI_OK && count < bytes) memset(buf + count, 0, (size_t)(bytes - count));
    return err;
}

static tutti_err compare_own_share(const tutti_exodus *x, const file_fields *old,
                                   int64_t *differs) {
    tutti_off lo = 0, hi = 0;
    char *buf = tutti__malloc(2 * (size_t)PIECE);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    find_own_share(x, &lo, &hi);
    for (tutti_off at = lo; at < hi && err == TUTTI_OK && !*differs; at += PIECE) {
        const tutti_off bytes = tutti__min(PIECE, hi - at);
        err = read_piece(old->file, at, bytes, buf);
        if (err == TUTTI_OK) err = read_piece(x->file, at, bytes, buf + PIECE);
        *differs = err == TUTTI_OK && memcmp(buf, buf + PIECE, (size_t)bytes) != 0;
    }
    tutti__free(buf);
    return err;
}

/* Determine whether the file has the same mesh as the previous one.  Decompositions and the mesh
 * that get_mesh returned remain valid only if all bytes are equal; if there are none, the files are
 * not read.   Collective. */
static tutti_err compare_meshes(tutti_exodus *x, const file_fields *old, int *same) {
    const int kept = x->count > 0 || x->local || x->mesh_read.data;
    int equal = kept && x->header == old->header; /* rank 0 has read the header of the new file */
    int64_t differs = 0;
    *same = 0;
    TUTTI_TRY(tutti__team_broadcast(x->team, &equal, (int)sizeof equal));
    if (!equal) return TUTTI_OK;
    const tutti_err local_err = compare_own_share(x, old, &differs);
    TUTTI_TRY(tutti__team_max(x->team, local_err, &differs));
    *same = !differs;
    return TUTTI_OK;
}

/* Close the current file after an error; the error is kept. */
static void abandon_file(tutti_exodus *x) {
    TUTTI_KEEP_LAST_ERROR;
    if (x->file && tutti__exodus_file_close(x) != TUTTI_OK) x->file = NULL;
}

tutti_err tutti_exodus_next_file(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    char *path = NULL;
    tutti__series_naming naming = TUTTI__SERIES_UNKNOWN;
    int same = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    TUTTI_TRY(tutti__exodus_call(x, "next_file", 0, tutti__exodus_check_between_steps(x)));
    tutti_err err = tutti__exodus_next_path(x, &naming, &path);
    if (err == TUTTI_OK) {
        tutti_err found = TUTTI_OK;
        if (x->team->rank == 0 && !tutti__exodus_file_exists(path, 1))
            found = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1,
                                     "no next file of the series: '%s' does not exist", path);
        err = tutti__team_agree(x->team, found);
    }
    if (err == TUTTI_OK) err = tutti__exodus_complete_mesh(x);
    if (err != TUTTI_OK) {
        tutti__free(path);
        return tutti__exodus_named(x, "next_file", err);
    }
    const file_fields old = get_file_fields(x);
    const file_fields none = {.path = path, .fd = -1, .cdf = {.record_dim = -1}};
    set_file_fields(x, &none);
    err = tutti__exodus_file_open(x);
    if (err == TUTTI_OK) {
        err = compare_meshes(x, &old, &same);
        if (err != TUTTI_OK) {
            abandon_file(x);
            tutti__exodus_model_free(&x->model);
            tutti__cdf_free(&x->cdf);
        }
    }
    if (err != TUTTI_OK) {
        set_file_fields(x, &old);
        tutti__free(path);
        return tutti__exodus_named(x, "next_file", err);
    }
    err = close_previous(x, &old);
    tutti__exodus_model old_model = old.model;
    tutti__cdf old_cdf = old.cdf;
    tutti__exodus_model_free(&old_model);
    tutti__cdf_free(&old_cdf);
    tutti__free(old.path);
    forget_compared_steps(x);
    x->file_number++;
    x->naming = naming;
    if (!same) {
        tutti__exodus_results_free(x);
        x->topology++;
    }
    return tutti__exodus_named(x, "next_file", err);
}

/* ---- n steps per file */

/* Copy this rank's share of the mesh from one file to another. */
static tutti_err copy_arrays(const tutti_exodus *x, tutti_file *from, tutti_file *to) {
    tutti_off lo = 0, hi = 0;
    char *buf = tutti__malloc(PIECE);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    find_own_share(x, &lo, &hi);
    for (tutti_off at = lo; at < hi && err == TUTTI_OK; at += PIECE) {
        tutti_access *access = NULL;
        const tutti_off bytes = tutti__min(PIECE, hi - at);
        err = read_piece(from, at, bytes, buf);
        if (err == TUTTI_OK) err = tutti_access_contiguous(at, bytes, &access);
        if (err == TUTTI_OK) err = tutti_file_write_independent(to, access, buf, NULL);
        tutti_access_free(&access);
    }
    tutti__free(buf);
    return err;
}

/* On rank 0, copy the checksums of the mesh, whose bytes and offsets are the same in both files. */
static tutti_err copy_checksums(tutti__sidecar *from, tutti__sidecar *to) {
    uint64_t *checksums = NULL;
    tutti_count n = 0;
    if (!from || !to) return TUTTI_OK;
    tutti_err err = tutti__sidecar_sums(from, 0, &checksums, &n);
    if (err == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    if (err == TUTTI_OK) err = tutti__sidecar_add_sums(to, 0, n, checksums);
    tutti__free(checksums);
    return err;
}

tutti_err tutti__exodus_start_next_file(tutti_exodus *x) {
    char *path = NULL;
    tutti__series_naming naming = TUTTI__SERIES_UNKNOWN;
    TUTTI_TRY(tutti__exodus_next_path(x, &naming, &path));
    const file_fields old = get_file_fields(x);
    x->path = path;
    x->file = NULL;
    x->fd = -1;
    x->sidecar = NULL;
    x->cdf.records = 0;
    tutti_err err = tutti__exodus_file_make(x);
    if (err == TUTTI_OK) {
        err = copy_arrays(x, old.file, x->file);
        if (err == TUTTI_OK && x->team->rank == 0) err = copy_checksums(old.sidecar, x->sidecar);
        err = tutti__team_agree(x->team, err);
        if (err == TUTTI_OK) err = tutti__exodus_file_publish(x); /* also syncs the file */
        if (err != TUTTI_OK) abandon_file(x);
        if (err != TUTTI_OK && x->team->rank == 0) {
            unlink(x->path);
            tutti__sidecar_remove(x->path);
        }
    }
    if (err != TUTTI_OK) {
        set_file_fields(x, &old);
        tutti__free(path);
        return err;
    }
    err = close_previous(x, &old);
    tutti__free(old.path);
    forget_compared_steps(x);
    x->naming = naming;
    x->file_number++;
    return err;
}
