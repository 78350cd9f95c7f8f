/* timestep: the common part of datasets and Exodus files (step_object.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/step_object.h"

#include <stdatomic.h>
#include <string.h>
#include <tutti/dataset.h> /* for TUTTI_DURABLE */
#include "comm/which_mpi.h"

/* ---- opening and closing */

tutti_err tutti__step_object_check_open(const char *path, int mode, const void *out,
                                        const char *out_name) {
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument %s is NULL", out_name);
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK(strlen(path) < 3800, TUTTI_ERR_ARG,
                "argument path has %zu bytes: at most 3799 are allowed", strlen(path));
    return mode & TUTTI_WRITE ? tutti__launch_check() : TUTTI_OK;
}

tutti_err tutti__step_object_take_options(const void *opt, const char *init, void *out,
                                          size_t size) {
    size_t known = 0;
    if (!opt) return TUTTI_OK;
    memcpy(&known, opt, sizeof known);
    TUTTI_CHECK(known >= sizeof known, TUTTI_ERR_ARG, "options are not initialised: call %s first",
                init);
    memcpy(out, opt, tutti__min(known, size));
    return TUTTI_OK;
}

tutti_err tutti__step_object_check_options(int level, double lock_timeout) {
    TUTTI_CHECK(level == TUTTI_DURABLE || level == TUTTI_VISIBLE, TUTTI_ERR_OPTION,
                "level is %d: must be TUTTI_DURABLE or TUTTI_VISIBLE", level);
    TUTTI_CHECK(lock_timeout >= 0 && lock_timeout <= 86400, TUTTI_ERR_OPTION,
                "lock_timeout is %g seconds: must be 0 to 86400", lock_timeout);
    return TUTTI_OK;
}

tutti_err tutti__step_object_init(tutti__step_object *o, const tutti__step_kind *kind,
                                  const char *path, int mode, const tutti_options *io) {
    static atomic_llong number;
    o->handle.class = kind->class;
    o->kind = kind;
    o->mode = mode;
    o->number = atomic_fetch_add(&number, 1) + 1;
    o->path = tutti__strdup(path);
    return o->path ? tutti__object_options(io, &o->io) : TUTTI_ERR_NOMEM;
}

void tutti__step_object_release(tutti__step_object *o) {
    if (o->commit_team) tutti__team_give(&o->commit_team);
    if (o->team) tutti__team_give(&o->team);
    tutti__handle_remove(&o->handle);
    tutti__free(o->path);
}

/* ---- calls */

void tutti__step_object_run_started(tutti__step_object *o) {
    TUTTI_KEEP_LAST_ERROR;
    tutti__request_complete_abandoned(o->commit);
    tutti__start_queue_run(&o->starts);
}

void tutti__step_object_enter(tutti__step_object *o) {
    tutti__step_object_run_started(o);
    TUTTI_ASSERT(o->kind->is_valid(o));
}

tutti_err tutti__step_object_idle(const tutti__step_object *o) {
    TUTTI_CHECK(!o->commit, TUTTI_ERR_STATE, "a commit has been started and not completed");
    return TUTTI_OK;
}

tutti_err tutti__step_object_call(const tutti__step_object *o, const tutti__call *c,
                                  tutti_err local_err) {
    return tutti__object_call(&o->object, c, o->commit ? tutti__step_object_idle(o) : local_err);
}

tutti_err tutti__step_object_end(const tutti__step_object *o, const char *operation,
                                 tutti_err err) {
    TUTTI_ASSERT(o->kind->is_valid(o));
    return tutti__object_error(&o->object, operation, err);
}

/* ---- commits */

static tutti_err prepare_commit(tutti__step_object *o) {
    TUTTI_TRY(tutti__step_object_idle(o));
    return o->kind->commit_prepare(o);
}

static void refuse_commit(tutti__step_object *o) {
    /* otherwise the memory belongs to the other commit */
    if (!o->commit) o->kind->commit_refuse(o);
}

static tutti_err run_commit(tutti__step_object *o, tutti__team *team) {
    return tutti__object_error(&o->object, "commit", o->kind->commit_run(o, team));
}

static void end_commit(void *context, tutti_err outcome) {
    tutti__step_object *o = context;
    o->commit = NULL;
    o->kind->commit_end(o, outcome);
    TUTTI_ASSERT(o->kind->is_valid(o));
}

tutti_err tutti__step_object_commit(tutti__step_object *o) {
    tutti_err err = o->kind->commit_agree(o, "commit", prepare_commit(o));
    if (err != TUTTI_OK) {
        refuse_commit(o);
        return err;
    }
    err = run_commit(o, o->team);
    end_commit(o, err);
    return err;
}

static tutti_err run_started_commit(void *context) {
    tutti__step_object *o = context;
    return run_commit(o, o->commit_team);
}

/* Make the task of a commit, which is not yet started.   Not collective. */
static tutti_err make_commit_task(tutti__step_object *o, tutti_request **const r_out,
                                  tutti_request **made) {
    TUTTI_TRY(prepare_commit(o));
    TUTTI_CHECK(r_out, TUTTI_ERR_ARG, "argument r_out is NULL");
    const tutti__task task = {"commit", o->kind->file_of_step(o), run_started_commit, end_commit,
                              o};
    return tutti__task_make(&task, made);
}

tutti_err tutti__step_object_commit_start(tutti__step_object *o, tutti_request **r_out) {
    tutti_request *r = NULL;
    tutti_err err = o->kind->commit_agree(o, "commit_start", make_commit_task(o, r_out, &r));
    if (err == TUTTI_OK && !o->commit_team)
        err = tutti__object_error(&o->object, "commit_start",
                                  tutti__team_take(o->team->comm, "", &o->commit_team));
    if (err != TUTTI_OK) {
        refuse_commit(o);
        tutti__task_drop(&r);
        return err;
    }
    TUTTI_ASSERT(r && r_out);
    o->commit = *r_out = r;
    tutti__task_start(r);
    return TUTTI_OK;
}

/* ---- statistics and progress */

void tutti__step_object_stats(const tutti__step_object *o, tutti_stats *all_out,
                              size_t struct_size) {
    tutti_stats all = o->stats;
    tutti_file *file;
    for (int64_t i = 0; (file = o->kind->file(o, i)) != NULL; i++)
        tutti__file_stats_add(file, &all);
    if (all_out) tutti__struct_copy(all_out, struct_size, &all, sizeof all);
}

void tutti__step_object_on_progress(tutti__step_object *o, tutti_progress_fn *fn, void *context) {
    tutti_file *file;
    o->progress = fn;
    o->progress_context = context;
    for (int64_t i = 0; (file = o->kind->file(o, i)) != NULL; i++)
        tutti_file_on_progress(file, fn, context);
}
