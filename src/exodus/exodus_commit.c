/* exodus: commits of steps; removal of steps.
 *
 * A commit has the phases of timestep/step_commit.h: rank 0 adds the checksums of the step to the
 * sidecar, all ranks sync the data, and writing the number of records in the header is the commit
 * point.  Readers ignore rows of the sidecar for steps that the header does not count, so that a
 * failed commit need not be undone.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_steps.h"

#include <stdio.h>
#include <string.h>
#include "comm/by_thread.h"
#include "exodus/sidecar.h"

/* ---- the commit */

static tutti_err check_step_complete(tutti__step_object *o) {
    const tutti_exodus *x = (const tutti_exodus *)o;
    TUTTI_TRY(tutti__exodus_step_check(x));
    const struct tutti__exodus_step *s = x->step;
    for (tutti_count i = 0; i < s->variables; i++)
        TUTTI_CHECK(
            i == s->time_variable ||
                tutti__section_status_of(&s->states[i]) != TUTTI__SECTION_FAILED,
            TUTTI_ERR_STATE, "'%s' is incomplete because a %s: write it again, or discard the step",
            x->cdf.vars[i].name, s->failed_sync ? "sync failed" : "put failed or was abandoned");
    return tutti__region_reserve(s->region);
}

/* On rank 0, write the time, since no put has written it. */
static tutti_err write_time(void *context) {
    tutti_exodus *x = context;
    tutti_access *access = NULL;
    tutti_part part;
    TUTTI_TRY(tutti__exodus_time_part(x, x->cdf.records + 1, 0, &access, &part));
    part.buf = &x->step->time;
    const tutti_err err = tutti_file_write_parts_independent(x->file, 1, &part, NULL);
    tutti_access_free(&access);
    return err;
}

static tutti_err finish_step(void *context, uint64_t *table, int64_t n) {
    tutti_exodus *x = context;
    const tutti_count step = x->cdf.records + 1;
    TUTTI_TRY(x->step->time_err);
    if (!x->sidecar) return TUTTI_OK;
    return table ? tutti__sidecar_add_sums(x->sidecar, step, n, table)
                 : tutti__sidecar_drop(x->sidecar, step - 1);
}

static tutti_err publish_step(void *context) {
    tutti_exodus *x = context;
    return tutti__exodus_file_records(x, x->cdf.records + 1, x->opt.level == TUTTI_DURABLE);
}

static tutti_err undo_nothing(void *context) {
    (void)context;
    return TUTTI_OK;
}

static const tutti__commit_steps COMMIT_STEPS = {finish_step, publish_step, undo_nothing};

/* Record that a sync has failed: all bytes of the step may be lost, as well as those of earlier
 * steps that this handle has not synced.  The message, which is the same on all ranks, names
 * them. */
static void mark_sync_failed(tutti_exodus *x) {
    struct tutti__exodus_step *s = x->step;
    tutti_error_info info = *tutti_last_error();
    char text[sizeof info.text];
    for (tutti_count i = 0; i < s->variables; i++) tutti__section_sync_failed(&s->states[i]);
    s->failed_sync = 1;
    if (x->synced == x->file_number || x->cdf.records == 0) return;
    snprintf(text, sizeof text,
             "%.200s; the mesh and steps 1 to %lld are damaged too if they were written with level "
             "TUTTI_VISIBLE: verify them",
             info.text, (long long)x->cdf.records);
    memcpy(info.text, text, sizeof text);
    tutti__error_assign(&info);
}

static tutti_err commit_record(tutti__step_object *o, tutti__team *team) {
    tutti_exodus *x = (tutti_exodus *)o;
    struct tutti__exodus_step *s = x->step;
    int is_sync_failed = 0;
    tutti_err touched = TUTTI_OK;
    s->time_err = TUTTI_OK;
    if (!s->has_time) {
        const tutti_off at =
            tutti__cdf_place(&x->cdf, &x->cdf.vars[s->time_variable], x->cdf.records);
        touched = tutti__region_touch(s->region, at, at + 8);
        if (touched == TUTTI_OK && x->team->rank == 0)
            s->time_err = tutti__by_thread(write_time, x);
    }
    const tutti_err err =
        tutti__exodus_region_commit(x, team, s->region, touched, &COMMIT_STEPS, &is_sync_failed);
    if (is_sync_failed) mark_sync_failed(x);
    return err;
}

static void count_step(tutti__step_object *o, tutti_err outcome) {
    tutti_exodus *x = (tutti_exodus *)o;
    if (outcome != TUTTI_OK) return;
    if (x->opt.level == TUTTI_DURABLE) x->synced = x->file_number;
    x->cdf.records++;
    x->last = x->step->time;
    x->at = tutti__exodus_file_end(&x->cdf, x->cdf.records);
    tutti__exodus_step_free(&x->step);
}

/* Agree on the call and on whether a put has written the time.   Collective. */
static tutti_err agree_on_time(tutti__step_object *o, const char *name, tutti_err local_err) {
    struct tutti__exodus_step *s = ((tutti_exodus *)o)->step;
    const int has_time =
        local_err == TUTTI_OK &&
        tutti__section_status_of(&s->states[s->time_variable]) == TUTTI__SECTION_WHOLE;
    tutti__range all = tutti__range_of(has_time);
    const tutti__call call = {.name = name, .ranges = 1, .range = &all};
    TUTTI_TRY(tutti__step_object_call(o, &call, local_err));
    s->has_time = all.min > 0;
    return TUTTI_OK;
}

/* Do nothing: memory reserved for a commit belongs to the step. */
static void keep_step(tutti__step_object *o) {
    (void)o;
}

/* ---- the table for timestep/step_object.h */

static int is_exodus_valid(const tutti__step_object *o) {
    return tutti__exodus_is_valid((const tutti_exodus *)o);
}

static tutti_file *current_file(const tutti__step_object *o) {
    return ((const tutti_exodus *)o)->file;
}

static tutti_file *only_file(const tutti__step_object *o, int64_t i) {
    return i == 0 ? current_file(o) : NULL;
}

const tutti__step_kind tutti__exodus_kind = {.class = &tutti__exodus_class,
                                             .is_valid = is_exodus_valid,
                                             .file = only_file,
                                             .file_of_step = current_file,
                                             .commit_prepare = check_step_complete,
                                             .commit_agree = agree_on_time,
                                             .commit_refuse = keep_step,
                                             .commit_run = commit_record,
                                             .commit_end = count_step};

/* ---- public calls */

tutti_err tutti_exodus_commit(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    return tutti__step_object_commit(&x->base);
}

tutti_err tutti_exodus_commit_start(tutti_exodus *x, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    return tutti__step_object_commit_start(&x->base, r_out);
}

/* ---- erase */

/* On rank 0, reduce the number of records, remove checksums of removed steps, and read the time of
 * the last step; the caller truncates the file. */
static tutti_err remove_steps(tutti_exodus *x, tutti_count steps, double *last_out) {
    tutti_access *access = NULL;
    tutti_part part;
    const tutti__cdf_var *time = NULL;
    TUTTI_TRY(tutti__exodus_time_variable(x, &time));
    if (x->sidecar) TUTTI_TRY(tutti__sidecar_set_steps(x->sidecar, steps));
    TUTTI_TRY(tutti__exodus_file_records(x, steps, x->opt.level == TUTTI_DURABLE));
    if (x->sidecar) TUTTI_TRY(tutti__sidecar_drop(x->sidecar, steps));
    if (steps == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_time_part(x, steps, 0, &access, &part));
    part.buf = last_out;
    const tutti_err err = tutti_file_read_parts_independent(x->file, 1, &part, NULL);
    tutti_access_free(&access);
    return err;
}

static tutti_err check_erase(const tutti_exodus *x, tutti_count step) {
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor discarded");
    TUTTI_CHECK(step >= 0 && step <= x->cdf.records, TUTTI_ERR_ARG,
                "step is %lld: must be 0 to %lld", (long long)step, (long long)x->cdf.records);
    if (step < x->cdf.records) TUTTI_TRY(tutti__exodus_appendable(x));
    return tutti__exodus_idle(x);
}

tutti_err tutti_exodus_erase_after(tutti_exodus *x, tutti_count step) {
    TUTTI_KEEP_ERRNO;
    double last = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    TUTTI_TRY(tutti__exodus_call(x, "erase_after",
                                 tutti__hash(TUTTI__HASH_START, &step, sizeof step),
                                 check_erase(x, step)));
    if (step == x->cdf.records) return TUTTI_OK;
    tutti_err err =
        tutti__team_agree(x->team, x->team->rank == 0 ? remove_steps(x, step, &last) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, &last, (int)sizeof last);
    if (err == TUTTI_OK) {
        x->cdf.records = step;
        x->last = last;
        x->at = tutti__exodus_file_end(&x->cdf, step);
        x->checked_n = tutti__min(x->checked_n, step + 1);
        err = tutti_file_resize(x->file, x->at);
    }
    return tutti__exodus_named(x, "erase_after", err);
}
