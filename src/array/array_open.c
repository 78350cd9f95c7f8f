/* array: create, open, close in global placement.
 *
 * Nothing is changed before all ranks agree on the arguments.  A new file gets its length first
 * and its header last, so that an incomplete array cannot be opened.  Rank 0 reads and writes
 * headers and broadcasts them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* Agree on errors: all ranks return the error of any rank. */
static tutti_err agree_on_error(const tutti_file *f, const char *operation, tutti_err local_err) {
    return tutti__array_error(f, operation, tutti__team_agree(tutti__file_team(f), local_err));
}

/* A file, and the header to be written to or read from this file. */
typedef struct {
    tutti_file *file;
    tutti__header header;
} file_header;

static uint64_t hash_arguments(const char *path, int mode, const tutti_array_spec *s) {
    uint64_t h = TUTTI__HASH_START;
    if (path) h = tutti__hash(h, path, strlen(path));
    h = tutti__hash(h, &mode, sizeof mode);
    return tutti__spec_hash(h, s);
}

/* Check the arguments of create and open, agree on them, and allocate the array.   Collective. */
static tutti_err check_arguments(MPI_Comm comm, const char *path, int mode,
                                 const tutti_array_spec *spec, tutti_off offset,
                                 tutti_array **a_out) {
    tutti_array *a = NULL;
    tutti_array_spec in;
    TUTTI_TRY(tutti__comm_usable(comm));
    tutti_err err = TUTTI_OK;
    if (!path || !path[0] || !spec || !a_out) {
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s",
                               !path      ? "path is NULL"
                               : !path[0] ? "path is empty"
                               : spec     ? "a_out is NULL"
                                          : "spec is NULL");
    } else {
        a = tutti__calloc(1, sizeof *a);
        if (!a) err = TUTTI_ERR_NOMEM;
    }
    if (err == TUTTI_OK && (mode & TUTTI_APPEND))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               "mode is %d: TUTTI_APPEND is not allowed for arrays", mode);
    if (err == TUTTI_OK) {
        in = *spec;
        if (offset > 0) in.offset = offset;
        a->mode = mode & (TUTTI_READ | TUTTI_WRITE);
        err = tutti__spec_check(&in, &a->spec, &a->bytes);
        a->local = a->spec;
    }
    err = tutti__array_agree(comm, offset > 0 ? "create" : "open", path, err,
                             hash_arguments(path, mode, err == TUTTI_OK ? &a->spec : NULL));
    if (err != TUTTI_OK) {
        tutti__free(a);
        return err;
    }
    TUTTI_ASSERT(a && a_out);
    *a_out = a;
    return TUTTI_OK;
}

/* ---- create */

static tutti_err create_header(void *context) {
    const file_header *w = context;
    return tutti__array_header_create(w->file, &w->header);
}

static tutti_err create_global_file(MPI_Comm comm, const char *path, int how,
                                    const tutti_options *opt, tutti_array *a) {
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | how;
    TUTTI_TRY(tutti_file_open(comm, path, mode, opt, &a->file));
    a->version = 1;
    file_header w = {
        a->file, {.version = 1, .placement = TUTTI__GLOBAL, .spec = a->spec, .bytes = a->bytes}};
    const tutti_err err = tutti__array_error(
        a->file, "create", tutti__on_root(tutti__file_team(a->file), create_header, &w));
    if (err != TUTTI_OK && (how & TUTTI_EXCLUSIVE)) {
        TUTTI_KEEP_LAST_ERROR;
        (void)!tutti__file_delete_on_root(a->file);
    }
    return err;
}

tutti_err tutti__array_create(MPI_Comm comm, const char *path, int how,
                              const tutti_array_spec *spec, const tutti_options *opt,
                              tutti_array **a_out) {
    tutti_array *a = NULL;
    tutti_err err = check_arguments(comm, path, TUTTI_READ | TUTTI_WRITE, spec, TUTTI__HEADER_BYTES,
                                    a_out ? &a : NULL);
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) err = create_global_file(comm, path, how, opt, a);
    return tutti__array_publish(a, "create", agreed ? path : NULL, err, a_out);
}

tutti_err tutti_array_create(MPI_Comm comm, const char *path, const tutti_array_spec *spec,
                             const tutti_options *opt, tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    return tutti__array_create(comm, path, TUTTI_TRUNCATE, spec, opt, a_out);
}

/* ---- open */

static tutti_err check_open_arguments(const char *path, int mode, const void *a_out) {
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK(a_out != NULL, TUTTI_ERR_ARG, "argument a_out is NULL");
    TUTTI_CHECK((mode & ~(TUTTI_READ | TUTTI_WRITE)) == 0 && mode != 0, TUTTI_ERR_ARG,
                "mode is %d: must be TUTTI_READ, TUTTI_WRITE or both", mode);
    return TUTTI_OK;
}

static tutti_err read_header_on_root(void *context) {
    file_header *w = context;
    return tutti__array_header_read(w->file, &w->header);
}

static tutti_err open_array_files(MPI_Comm comm, const char *path, const tutti_array_spec *expect,
                                  const tutti_options *opt, tutti_array *a) {
    TUTTI_TRY(tutti_file_open(comm, path, a->mode | TUTTI_READ, opt, &a->file));
    file_header w = {.file = a->file};
    tutti_err err = tutti__on_root_share(tutti__file_team(a->file), read_header_on_root, &w,
                                         &w.header, (int)sizeof w.header);
    TUTTI_TRY(tutti__array_error(a->file, "open", err));
    const tutti__header h = w.header;
    a->spec = a->local = h.spec;
    a->bytes = h.bytes;
    a->version = h.version;
    a->part = h.placement == TUTTI__PART;
    if (expect) err = tutti__spec_expect(expect, &a->spec);
    TUTTI_TRY(agree_on_error(a->file, "open", err));
    if (h.placement != TUTTI__DESCRIPTOR) return TUTTI_OK;
    a->head = a->file;
    a->file = NULL;
    return tutti__array_open_part(a, path, &h, opt);
}

tutti_err tutti_array_open(MPI_Comm comm, const char *path, int mode,
                           const tutti_array_spec *expect, const tutti_options *opt,
                           tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    tutti_array *a = NULL;
    TUTTI_TRY(tutti__comm_usable(comm));
    tutti_err err = check_open_arguments(path, mode, a_out);
    if (err == TUTTI_OK) {
        a = tutti__calloc(1, sizeof *a);
        if (!a) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__array_agree(comm, "open", path, err, hash_arguments(path, mode, expect));
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) {
        a->mode = mode;
        err = open_array_files(comm, path, expect, opt, a);
    }
    return tutti__array_publish(a, "open", agreed ? path : NULL, err, a_out);
}

/* ---- raw */

tutti_err tutti_array_open_raw(MPI_Comm comm, const char *path, int mode,
                               const tutti_array_spec *spec, const tutti_options *opt,
                               tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    tutti_array *a = NULL;
    tutti_err err = check_arguments(comm, path, mode, spec, 0, a_out ? &a : NULL);
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) {
        a->raw = 1;
        err = tutti_file_open(comm, path, mode, opt, &a->file);
    }
    tutti_off size = 0;
    const tutti_off end = agreed ? a->spec.offset + a->bytes : 0;
    if (err == TUTTI_OK) err = tutti_file_size(a->file, &size);
    if (err == TUTTI_OK && size < end && (mode & TUTTI_CREATE))
        err = tutti_file_resize(a->file, end);
    else if (err == TUTTI_OK && size < end) /* same condition on all ranks */
        err = agree_on_error(
            a->file, "open",
            tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                             "file has %lld bytes, but the array ends at offset %lld",
                             (long long)size, (long long)end));
    return tutti__array_publish(a, "open", agreed ? path : NULL, err, a_out);
}

/* ---- close */

tutti_err tutti_array_close(tutti_array **pa) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(pa && *pa, TUTTI_ERR_ARG, "array handle is NULL");
    tutti_array *a = *pa;
    const tutti_err live = tutti__array_live(a);
    if (live != TUTTI_OK) {
        *pa = NULL;
        if (!tutti__handle_alive(&a->handle, &tutti__array_class)) return live;
        tutti__handle_remove(&a->handle);
        const int used = tutti__file_is_busy(a->file);
        if (a->iterations > 0 || used) return live; /* still used by a tile iteration or a thread */
        tutti__prefetch_drop(a);
        tutti__array_free(a);
        tutti__error_set(TUTTI_ERR_STATE, 0, -1, "the file of the array has been closed");
        return live;
    }
    tutti__prefetch_drop(a);
    tutti_err err = tutti__requests_none(a->file);
    if (a->iterations > 0)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                               "array has %d tile iterations that have not ended", a->iterations);
    TUTTI_TRY(tutti__array_call(a, &(tutti__call){.name = "close"}, err));
    err = tutti_file_close(&a->file);
    if (a->head) { /* return the first error of both files */
        err = tutti__array_vote(a, err);
        err = TUTTI_ALSO(err, tutti_file_close(&a->head));
    }
    *pa = NULL;
    tutti__array_free(a);
    return err;
}
