/* exodus: create, open, close, refresh; a new mesh in the next file of a series.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "exodus/sidecar.h"

/* ---- options */

static const tutti_exodus_options DEFAULTS = {.struct_size = sizeof(tutti_exodus_options),
                                              .level = TUTTI_DURABLE,
                                              .real_bytes = 8,
                                              .name_length = 32,
                                              .checksums = 1,
                                              .sidecar = 1,
                                              .lock_timeout = 5};

void tutti_exodus_options_init_sized(tutti_exodus_options *opt, size_t struct_size) {
    if (!opt || struct_size < sizeof opt->struct_size) return;
    tutti__struct_copy(opt, struct_size, &DEFAULTS, sizeof DEFAULTS);
    opt->struct_size = struct_size;
}

static tutti_err take_options(const tutti_exodus_options *opt, tutti_exodus_options *out) {
    const tutti_exodus_options *o = out;
    *out = DEFAULTS;
    TUTTI_TRY(tutti__step_object_take_options(opt, "tutti_exodus_options_init", out, sizeof *out));
    TUTTI_TRY(tutti__step_object_check_options(o->level, o->lock_timeout));
    TUTTI_CHECK(o->real_bytes == 4 || o->real_bytes == 8, TUTTI_ERR_OPTION,
                "real_bytes is %d: must be 4 or 8", o->real_bytes);
    TUTTI_CHECK(o->integer_bytes == 0 || o->integer_bytes == 4 || o->integer_bytes == 8,
                TUTTI_ERR_OPTION, "integer_bytes is %d: must be 0, 4 or 8", o->integer_bytes);
    TUTTI_CHECK(o->name_length >= 32 && o->name_length <= 255, TUTTI_ERR_OPTION,
                "name_length is %d: must be 32 to 255", o->name_length);
    TUTTI_CHECK(o->steps_per_file >= 0, TUTTI_ERR_OPTION, "steps_per_file is %d: must be >= 0",
                o->steps_per_file);
    TUTTI_CHECK(o->alignment >= 0 && o->alignment <= 1 << 30 && o->alignment % 4 == 0,
                TUTTI_ERR_OPTION, "alignment is %lld: must be a multiple of 4, 0 to 2^30",
                (long long)o->alignment);
    return TUTTI_OK;
}

/* ---- the object */

static tutti_err create_object(const char *path, int mode, const tutti_exodus_options *opt,
                               tutti_exodus **out) {
    tutti_exodus *x = tutti__calloc(1, sizeof *x);
    if (!x) return TUTTI_ERR_NOMEM;
    *out = x;
    x->fd = -1;
    x->file_number = 1;
    x->first = tutti__strdup(path);
    if (!x->first) return TUTTI_ERR_NOMEM;
    TUTTI_TRY(take_options(opt, &x->opt));
    TUTTI_TRY(tutti__step_object_init(&x->base, &tutti__exodus_kind, path, mode, x->opt.io));
    x->opt.io = NULL;
    return TUTTI_OK;
}

static void free_object(tutti_exodus *x) {
    if (!x) return;
    TUTTI_KEEP_LAST_ERROR;
    /* free all data of the current file */
    tutti__exodus_results_free(x);
    tutti__region_free(&x->mesh);
    tutti__exodus_model_free(&x->model);
    tutti__cdf_free(&x->cdf);
    tutti__free(x->checked);
    x->checked = NULL;
    x->checked_n = 0;
    tutti__sidecar_close(&x->sidecar);
    if (x->fd >= 0) close(x->fd);
    tutti__step_object_release(&x->base);
    tutti__free(x->first);
    tutti__free(x);
}

static tutti_err check_open(const char *path, int mode, const void *x_out) {
    TUTTI_CHECK((mode & TUTTI_READ) && (mode & ~(TUTTI_READ | TUTTI_WRITE)) == 0, TUTTI_ERR_ARG,
                "mode is %d: must be TUTTI_READ or TUTTI_READ | TUTTI_WRITE", mode);
    return tutti__step_object_check_open(path, mode, x_out, "x_out");
}

static uint64_t hash_open(const tutti_exodus *x) {
    const tutti_exodus_options *o = &x->opt;
    const int64_t words[] = {o->level,
                             o->real_bytes,
                             o->integer_bytes,
                             o->name_length,
                             o->checksums,
                             o->sidecar,
                             o->check_reads,
                             o->steps_per_file,
                             o->nemesis,
                             o->overwrite,
                             o->alignment,
                             (int64_t)o->choice.rule,
                             (int64_t)o->choice.seed,
                             o->any_times,
                             x->mode};
    return tutti__hash(TUTTI__HASH_START, words, sizeof words);
}

/* Start `create` or `open`; on success the object has a team.   Collective. */
static tutti_err begin_open(MPI_Comm comm, const char *name, const char *path, tutti_exodus *x,
                            tutti_err local_err) {
    const tutti__call call = {.name = name,
                              .what = "the Exodus file: its path, mode or options",
                              .hash = local_err == TUTTI_OK ? hash_open(x) : 0};
    tutti__team *team = NULL;
    TUTTI_TRY(tutti__object_begin(comm, &tutti__exodus_class, &call, path, local_err, &team));
    TUTTI_ASSERT(x != NULL);
    x->team = team;
    return TUTTI_OK;
}

static tutti_err end_open(const char *name, const char *path, tutti_exodus *x, tutti_err err,
                          tutti_exodus **x_out) {
    if (err != TUTTI_OK) {
        /* the path is known to be the same on all ranks only after the agreement that creates the
         * team */
        tutti__error_context(name, x && x->team ? path : NULL, -1);
        free_object(x);
        return err;
    }
    tutti__handle_add(&x->handle, x->kind->class);
    *x_out = x;
    return TUTTI_OK;
}

/* ---- create, open, close */

static void start_definitions(tutti_exodus *x) {
    tutti__exodus_model *m = &x->model;
    m->real_bytes = x->opt.real_bytes;
    m->id_bytes = m->map_bytes = m->bulk_bytes = x->opt.integer_bytes;
    m->name_length = x->opt.name_length;
    x->defining = 1;
}

tutti_err tutti_exodus_create(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                              tutti_exodus **x_out) {
    TUTTI_KEEP_ERRNO;
    tutti_exodus *x = NULL;
    const int mode = TUTTI_READ | TUTTI_WRITE;
    tutti_err err = check_open(path, mode, x_out);
    if (err == TUTTI_OK) err = create_object(path, mode, opt, &x);
    err = begin_open(comm, "create", path, x, err);
    TUTTI_ASSERT(err != TUTTI_OK || x);
    if (err == TUTTI_OK) { /* this is checked again at the end of definitions */
        tutti_err exists = TUTTI_OK;
        if (x->team->rank == 0 && !x->opt.overwrite && tutti__exodus_file_exists(x->path, 0))
            exists = tutti__error_set(TUTTI_ERR_EXISTS, 0, -1,
                                      "'%s' exists: set option overwrite to replace it", x->path);
        err = tutti__team_agree(x->team, exists);
    }
    if (err == TUTTI_OK) {
        tutti__exodus_model_init(&x->model);
        start_definitions(x);
    }
    return end_open("create", path, x, err, x_out);
}

tutti_err tutti_exodus_open(MPI_Comm comm, const char *path, int mode,
                            const tutti_exodus_options *opt, tutti_exodus **x_out) {
    TUTTI_KEEP_ERRNO;
    tutti_exodus *x = NULL;
    tutti_err err = check_open(path, mode, x_out);
    if (err == TUTTI_OK) err = create_object(path, mode, opt, &x);
    err = begin_open(comm, "open", path, x, err);
    if (err == TUTTI_OK) err = tutti__exodus_file_open(x);
    if (err == TUTTI_OK) x->topology = 1;
    return end_open("open", path, x, err, x_out);
}

/* Discard an uncommitted step, complete the mesh and close the file.   Collective. */
static tutti_err leave_file(tutti_exodus *x) {
    const tutti_err err = TUTTI_ALSO(tutti__exodus_discard_step(x), tutti__exodus_complete_mesh(x));
    return TUTTI_ALSO(err, tutti__exodus_file_close(x));
}

tutti_err tutti_exodus_close(tutti_exodus **px) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(px && *px, TUTTI_ERR_ARG, "Exodus file handle is NULL");
    tutti_exodus *x = *px;
    const tutti_err live = tutti__exodus_enter(x);
    if (live != TUTTI_OK) {
        *px = NULL;
        return live;
    }
    TUTTI_TRY(tutti__exodus_call(x, "close", 0, tutti__exodus_idle(x)));
    const tutti_err err = tutti__exodus_named(x, "close", leave_file(x));
    *px = NULL;
    free_object(x);
    return err;
}

/* ---- refresh */

tutti_err tutti_exodus_refresh(tutti_exodus *x, int *changed_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defined(x);
    if (err == TUTTI_OK) err = tutti__exodus_idle(x);
    TUTTI_TRY(tutti__exodus_call(x, "refresh", 0, err));
    if (changed_out) *changed_out = 0;
    if (x->mode & TUTTI_WRITE) return TUTTI_OK; /* there is no other writer */
    tutti_count now = 0;
    err = tutti__team_agree(x->team,
                            x->team->rank == 0 ? tutti__exodus_file_steps(x, &now) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, &now, (int)sizeof now);
    if (err == TUTTI_OK) {
        if (changed_out) *changed_out = now != x->cdf.records;
        if (now < x->cdf.records) x->checked_n = tutti__min(x->checked_n, now + 1);
        x->cdf.records = now;
        x->at = tutti__exodus_file_end(&x->cdf, now);
    }
    return tutti__exodus_named(x, "refresh", err);
}

/* ---- a new mesh */

tutti_err tutti_exodus_new_topology(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    char *path = NULL;
    tutti__series_naming naming = TUTTI__SERIES_UNKNOWN;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_writable(x);
    if (err == TUTTI_OK) err = tutti__exodus_check_between_steps(x);
    err = tutti__exodus_call(x, "new_topology", 0, err);
    if (err == TUTTI_OK)
        err = tutti__exodus_named(x, "new_topology", tutti__exodus_next_path(x, &naming, &path));
    if (err != TUTTI_OK) {
        tutti__free(path);
        return err;
    }
    /* the old file is closed even after an error, so the handle must no longer use it */
    err = tutti__exodus_named(x, "new_topology", leave_file(x));
    tutti__region_free(&x->mesh); /* checksums of a mesh that could not be synced */
    tutti__free(x->path);
    x->path = path;
    x->naming = naming;
    x->file_number++;
    tutti__exodus_results_free(x);
    tutti__cdf_free(&x->cdf);
    tutti__exodus_model_forget(&x->model);
    start_definitions(x);
    return err;
}

/* ---- queries */

void tutti_exodus_stats_sized(const tutti_exodus *x, tutti_stats *all_out, size_t struct_size) {
    if (all_out && tutti__exodus_live(x) == TUTTI_OK)
        tutti__step_object_stats(&x->base, all_out, struct_size);
}

void tutti_exodus_on_progress(tutti_exodus *x, tutti_progress_fn *fn, void *context) {
    if (tutti__exodus_live(x) == TUTTI_OK) tutti__step_object_on_progress(&x->base, fn, context);
}

const char *tutti_exodus_path(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK ? x->path : "";
}

const char *tutti_exodus_mesh_warning(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK ? x->mesh_warning : "";
}

const char *tutti_exodus_warning(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK ? x->warning : "";
}
