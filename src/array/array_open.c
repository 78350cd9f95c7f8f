/* array: create, open, close in global placement.
 *
 * Nothing is touched before all ranks agree on the arguments.  A new file gets its length first and
 * its header last: what has no header is no array, so that nothing half-made can be opened.  Rank 0
 * reads and writes headers; the others are told.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* One error of this rank becomes everybody's. */
static tutti_err agree(const tutti_file *f, const char *operation, tutti_err mine) {
    return tutti__array_named(f, operation, tutti__team_agree(tutti__file_team(f), mine));
}

/* A file and the header that is written to it, or read from it. */
typedef struct {
    tutti_file *file;
    tutti__header header;
} headed;

static uint64_t spec_hash(const char *path, int mode, const tutti_array_spec *s) {
    uint64_t h = TUTTI__HASH_START;
    if (path) h = tutti__hash(h, path, strlen(path));
    h = tutti__hash(h, &mode, sizeof mode);
    return tutti__spec_hash(h, s);
}

/* The checks that every way to open an array begins with; *a_out is made.  Collective. */
static tutti_err array_begin(MPI_Comm comm, const char *path, int mode,
                             const tutti_array_spec *spec, tutti_off offset, tutti_array **a_out) {
    tutti_array *a = NULL;
    tutti_array_spec in;
    TUTTI_TRY(tutti__comm_usable(comm));
    tutti_err err = TUTTI_OK;
    if (!path || !path[0] || !spec || !a_out) {
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "no path, no spec or nowhere to put the array");
    } else {
        a = tutti__calloc(1, sizeof *a);
        if (!a) err = TUTTI_ERR_NOMEM;
    }
    if (err == TUTTI_OK && (mode & TUTTI_APPEND))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "TUTTI_APPEND is not for arrays");
    if (err == TUTTI_OK) {
        in = *spec;
        if (offset > 0) in.offset = offset;
        a->mode = mode & (TUTTI_READ | TUTTI_WRITE);
        err = tutti__spec_check(&in, &a->spec, &a->bytes);
        a->mine = a->spec;
    }
    err = tutti__array_agree(comm, offset > 0 ? "create" : "open", path, err,
                             spec_hash(path, mode, err == TUTTI_OK ? &a->spec : NULL));
    if (err != TUTTI_OK) {
        tutti__free(a);
        return err;
    }
    TUTTI_ASSERT(a && a_out);
    *a_out = a;
    return TUTTI_OK;
}

/* ---- create */

static tutti_err found(void *context) {
    const headed *w = context;
    return tutti__array_found(w->file, &w->header);
}

static tutti_err create_file(MPI_Comm comm, const char *path, int how, const tutti_options *opt,
                             tutti_array *a) {
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | how;
    TUTTI_TRY(tutti_file_open(comm, path, mode, opt, &a->file));
    a->version = 1;
    headed w = {a->file,
                {.version = 1, .placement = TUTTI__GLOBAL, .spec = a->spec, .bytes = a->bytes}};
    const tutti_err err =
        tutti__array_named(a->file, "create", tutti__on_root(tutti__file_team(a->file), found, &w));
    if (err != TUTTI_OK && (how & TUTTI_EXCLUSIVE)) {
        TUTTI_KEEP_LAST_ERROR;
        (void)!tutti__root_deletes(a->file);
    }
    return err;
}

tutti_err tutti__array_create(MPI_Comm comm, const char *path, int how,
                              const tutti_array_spec *spec, const tutti_options *opt,
                              tutti_array **a_out) {
    tutti_array *a = NULL;
    tutti_err err = array_begin(comm, path, TUTTI_READ | TUTTI_WRITE, spec, TUTTI__HEADER_BYTES,
                                a_out ? &a : NULL);
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) err = create_file(comm, path, how, opt, a);
    return tutti__array_hand_over(a, "create", agreed ? path : NULL, err, a_out);
}

tutti_err tutti_array_create(MPI_Comm comm, const char *path, const tutti_array_spec *spec,
                             const tutti_options *opt, tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    return tutti__array_create(comm, path, TUTTI_TRUNCATE, spec, opt, a_out);
}

/* ---- open */

static tutti_err open_check(const char *path, int mode, const void *a_out) {
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "the path is empty");
    TUTTI_CHECK(a_out != NULL, TUTTI_ERR_ARG, "nowhere to put the array");
    TUTTI_CHECK((mode & ~(TUTTI_READ | TUTTI_WRITE)) == 0 && mode != 0, TUTTI_ERR_ARG,
                "mode %d is not TUTTI_READ, TUTTI_WRITE or both", mode);
    return TUTTI_OK;
}

static tutti_err identify(void *context) {
    headed *w = context;
    return tutti__array_identify(w->file, &w->header);
}

/* What the header says, on all ranks. */
static tutti_err header_tell(tutti_file *f, tutti__header *h) {
    headed w = {.file = f};
    const tutti_err err =
        tutti__on_root_share(tutti__file_team(f), identify, &w, &w.header, (int)sizeof w.header);
    *h = w.header;
    return tutti__array_named(f, "open", err);
}

static tutti_err open_files(MPI_Comm comm, const char *path, const tutti_array_spec *expect,
                            const tutti_options *opt, tutti_array *a) {
    tutti__header h;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti_file_open(comm, path, a->mode | TUTTI_READ, opt, &a->file));
    TUTTI_TRY(header_tell(a->file, &h));
    a->spec = a->mine = h.spec;
    a->bytes = h.bytes;
    a->version = h.version;
    a->part = h.placement == TUTTI__PART;
    if (expect) err = tutti__spec_expect(expect, &a->spec);
    TUTTI_TRY(agree(a->file, "open", err));
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
    tutti_err err = open_check(path, mode, a_out);
    if (err == TUTTI_OK) {
        a = tutti__calloc(1, sizeof *a);
        if (!a) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__array_agree(comm, "open", path, err, spec_hash(path, mode, expect));
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) {
        a->mode = mode;
        err = open_files(comm, path, expect, opt, a);
    }
    return tutti__array_hand_over(a, "open", agreed ? path : NULL, err, a_out);
}

/* ---- raw */

static tutti_err raw_reach(tutti_array *a, int creates) {
    tutti_off size = 0;
    const tutti_off end = a->spec.offset + a->bytes;
    TUTTI_TRY(tutti_file_size(a->file, &size));
    if (size >= end) return TUTTI_OK;
    if (creates) return tutti_file_resize(a->file, end);
    return agree(a->file, "open",
                 tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                  "the file has %lld bytes, but the array ends at %lld",
                                  (long long)size, (long long)end));
}

tutti_err tutti_array_open_raw(MPI_Comm comm, const char *path, int mode,
                               const tutti_array_spec *spec, const tutti_options *opt,
                               tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    tutti_array *a = NULL;
    const int creates = (mode & TUTTI_CREATE) != 0;
    tutti_err err = array_begin(comm, path, mode, spec, 0, a_out ? &a : NULL);
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) {
        a->raw = 1;
        err = tutti_file_open(comm, path, mode, opt, &a->file);
    }
    if (err == TUTTI_OK) err = raw_reach(a, creates);
    return tutti__array_hand_over(a, "open", agreed ? path : NULL, err, a_out);
}

/* ---- close */

static tutti_err close_allowed(const tutti_array *a) {
    TUTTI_CHECK(a->walks == 0, TUTTI_ERR_STATE, "%d tile walks have not ended", a->walks);
    return tutti__requests_none(a->file);
}

/* Both files; the first trouble counts. */
static tutti_err files_close(tutti_array *a) {
    tutti_err err = tutti_file_close(&a->file);
    if (!a->head) return err;
    err = tutti__array_vote(a, err);
    return TUTTI_ALSO(err, tutti_file_close(&a->head));
}

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
        if (a->walks > 0 || used) return live; /* by a walk or a thread: what is left of it stays */
        tutti__ahead_drop(a);
        tutti__array_free(a);
        tutti__error_set(TUTTI_ERR_STATE, 0, -1, "the file of the array has been closed");
        return live;
    }
    tutti__ahead_drop(a);
    tutti_err err = tutti__array_call(a, &(tutti__call){.name = "close"}, close_allowed(a));
    if (err != TUTTI_OK) return err;
    err = files_close(a);
    *pa = NULL;
    tutti__array_free(a);
    return err;
}
