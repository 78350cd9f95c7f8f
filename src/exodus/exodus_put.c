/* exodus: steps: begin, put, discard.
 *
 * A step is a record of the netCDF file: its bytes follow those of earlier steps, in the order of
 * the variables.  All fields of a call are parts of one operation.  The first put also writes the
 * time, so that a step with one put is written by one operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_steps.h"

#include <math.h>

/* ---- the step */

void tutti__exodus_step_free(struct tutti__exodus_step **step) {
    struct tutti__exodus_step *s = *step;
    *step = NULL;
    if (!s) return;
    tutti__region_free(&s->region);
    tutti__puts_free(&s->puts);
    for (tutti_count i = 0; s->states && i < s->variables; i++)
        tutti__section_state_free(&s->states[i]);
    tutti__free(s->states);
    tutti__free(s);
}

static tutti__section_state *state_of_variable(void *step, int64_t variable, int64_t part) {
    (void)part;
    return &((struct tutti__exodus_step *)step)->states[variable];
}

tutti_err tutti__exodus_appendable(const tutti_exodus *x) {
    TUTTI_CHECK(
        !tutti__exodus_has_fixed_steps(&x->cdf), TUTTI_ERR_UNSUPPORTED,
        "the time dimension of '%s' is fixed: steps cannot be appended or removed; copy the "
        "file first (tutti cp)",
        x->path);
    return TUTTI_OK;
}

tutti_err tutti__exodus_time_variable(const tutti_exodus *x, const tutti__cdf_var **out) {
    const tutti_count v = tutti__cdf_find_var(&x->cdf, "time_whole");
    TUTTI_CHECK(v >= 0, TUTTI_ERR_FORMAT, "the file has no variable 'time_whole'");
    const tutti__cdf_var *time = &x->cdf.vars[v];
    TUTTI_CHECK(time->type != TUTTI__CDF_CHAR, TUTTI_ERR_FORMAT,
                "'time_whole' has type char: must be numeric");
    TUTTI_CHECK(time->numbers == 1, TUTTI_ERR_FORMAT,
                "'time_whole' has %lld values per step: must have 1", (long long)time->numbers);
    TUTTI_CHECK(tutti__exodus_step_stride(&x->cdf, time) > 0, TUTTI_ERR_FORMAT,
                "'time_whole' must depend on the time step");
    *out = time;
    return TUTTI_OK;
}

tutti_err tutti__exodus_time_part(const tutti_exodus *x, tutti_count step, tutti_off base,
                                  tutti_access **access, tutti_part *part) {
    const tutti__cdf_var *time = NULL;
    TUTTI_TRY(tutti__exodus_time_variable(x, &time));
    const tutti_type type = tutti__cdf_number(time->type);
    const tutti_off at = time->begin + (step - 1) * tutti__exodus_step_stride(&x->cdf, time);
    TUTTI_TRY(tutti_access_contiguous(at - base, tutti_type_size(type), access));
    *part = tutti__step_part(*access, NULL, type, TUTTI_FLOAT64);
    return TUTTI_OK;
}

/* ---- begin, discard */

static tutti_err check_begin(const tutti_exodus *x, double time) {
    const tutti__cdf_var *variable = NULL;
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor discarded");
    TUTTI_CHECK(isfinite(time), TUTTI_ERR_ARG, "time is %g: must be finite", time);
    const int first = x->cdf.records == 0 && x->file_number == 1;
    TUTTI_CHECK(first || x->last < time || x->opt.any_times, TUTTI_ERR_ARG,
                "time is %.17g: must be larger than that of the last step, %.17g", time, x->last);
    TUTTI_CHECK(tutti__cdf_find_var(&x->cdf, "time_whole") >= 0, TUTTI_ERR_UNSUPPORTED,
                "the file has no variable 'time_whole': steps cannot be appended");
    TUTTI_TRY(tutti__exodus_appendable(x));
    TUTTI_TRY(tutti__exodus_time_variable(x, &variable));
    return tutti__exodus_idle(x);
}

static tutti_err make_step(tutti_exodus *x, double time, struct tutti__exodus_step **out) {
    struct tutti__exodus_step *s = tutti__calloc(1, sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    *out = s;
    s->time = time;
    s->time_variable = tutti__cdf_find_var(&x->cdf, "time_whole");
    s->variables = x->cdf.vars_n;
    s->puts.state_of = state_of_variable;
    s->puts.step = s;
    s->states = tutti__calloc((size_t)s->variables, sizeof *s->states);
    if (!s->states) return TUTTI_ERR_NOMEM;
    if (x->team->rank == 0) /* remove bytes of a discarded step */
        TUTTI_TRY(tutti__cut_here(x->file, x->at));
    const tutti_off at = x->cdf.record_begin + x->cdf.records * x->cdf.record_bytes;
    s->base = tutti__exodus_step_base(x, at);
    return tutti__exodus_region_make(x, at, at + x->cdf.record_bytes, &s->region);
}

/* The step is created before the agreement, so that one agreement covers both, unless it must wait
 * for the checksums of the mesh or for the next file. */
tutti_err tutti_exodus_begin(tutti_exodus *x, double time) {
    TUTTI_KEEP_ERRNO;
    struct tutti__exodus_step *s = NULL;
    TUTTI_TRY(tutti__exodus_enter(x));
    const int is_full = x->opt.steps_per_file > 0 && x->cdf.records >= x->opt.steps_per_file;
    const int is_ready = !x->mesh && !is_full;
    tutti_err err = check_begin(x, time);
    if (err == TUTTI_OK && is_ready) err = make_step(x, time, &s);
    err = tutti__exodus_call(x, "begin", tutti__hash(TUTTI__HASH_START, &time, sizeof time), err);
    if (err == TUTTI_OK && !is_ready) {
        err = tutti__exodus_complete_mesh(x);
        if (err == TUTTI_OK && is_full) err = tutti__exodus_start_next_file(x);
        if (err == TUTTI_OK) err = tutti__team_agree(x->team, make_step(x, time, &s));
    }
    if (err == TUTTI_OK)
        x->step = s;
    else
        tutti__exodus_step_free(&s);
    return tutti__exodus_named(x, "begin", err);
}

tutti_err tutti__exodus_discard_step(tutti_exodus *x) {
    if (!x->step) return TUTTI_OK;
    const int written = x->step->puts.n > 0;
    tutti__exodus_step_free(&x->step);
    return written ? tutti_file_resize(x->file, x->at) : TUTTI_OK;
}

tutti_err tutti__exodus_step_check(const tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(x->step, TUTTI_ERR_STATE, "no step has begun");
    TUTTI_TRY(tutti__start_queue_empty(&x->starts, TUTTI__STARTED_PUT));
    return tutti__puts_ended(&x->step->puts);
}

tutti_err tutti_exodus_discard(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    TUTTI_TRY(tutti__exodus_call(x, "discard", 0, tutti__exodus_step_check(x)));
    return tutti__exodus_named(x, "discard", tutti__exodus_discard_step(x));
}

/* ---- put */

/* Make the record of a put: all variables that it writes, and the time, unless another put writes
 * it.   Not collective. */
static tutti_err make_record(tutti_exodus *x, tutti__step_batch *b, tutti__put_record **out) {
    struct tutti__exodus_step *s = x->step;
    const tutti_count v = s->time_variable;
    TUTTI_TRY(tutti__put_new(&s->puts, b->n + 1, out));
    for (tutti_count i = 0; i < b->n; i++) {
        const tutti__step_item *t = &b->items[i];
        const tutti__put_target target = {
            .variable = t->variable, .entries = t->written, .is_whole = t->is_whole};
        if (t->variable >= 0) TUTTI_TRY(tutti__put_target_add(*out, &target));
    }
    if (tutti__section_status_of(&s->states[v]) == TUTTI__SECTION_WHOLE ||
        tutti__put_in_flight(&s->puts, v, 0))
        return TUTTI_OK;
    const tutti__put_target time = {.variable = v, .is_whole = 1, .is_own = 1};
    TUTTI_TRY(tutti__put_target_add(*out, &time));
    if (x->team->rank != 0) return TUTTI_OK;
    tutti_part *part = &b->parts[b->parts_n];
    TUTTI_TRY(
        tutti__exodus_time_part(x, x->cdf.records + 1, s->base, &b->items[b->n].access, part));
    part->buf = &s->time;
    b->parts_n++;
    return TUTTI_OK;
}

static tutti_err put_fields(tutti__step_operation *of, tutti_err local_err) {
    tutti__exodus_operation *op = (tutti__exodus_operation *)of;
    tutti_exodus *x = op->exodus;
    tutti__step_batch *b = &op->batch;
    if (local_err == TUTTI_OK) local_err = make_record(x, b, &of->record);
    const tutti_err err = tutti__exodus_call(x, "put", b->hash, local_err);
    if (err != TUTTI_OK) {
        tutti__put_drop(&of->record);
        return err;
    }
    TUTTI_ASSERT(of->record);
    tutti__transfer t = {.name = "put",
                         .file = x->file,
                         .is_write = 1,
                         .base = x->step->base,
                         .parts_n = b->parts_n,
                         .parts = b->parts};
    tutti__region_next_operation(x->step->region);
    t.local_err = tutti__region_add_parts(x->step->region, b->parts_n, b->parts, &t.checksums);
    return tutti__exodus_named(x, "put", tutti__transfer_run(&t, NULL));
}

/* Validate the arguments and describe this rank's bytes.   Not collective. */
static tutti_err prepare_put(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields,
                             tutti__exodus_operation *op) {
    *op = tutti__exodus_operation_of(x, TUTTI__STARTED_PUT, put_fields);
    TUTTI_TRY(tutti__step_object_idle(&x->base));
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(x->step, TUTTI_ERR_STATE, "no step has begun");
    const tutti__step_place at = {.step = x->cdf.records + 1, .base = x->step->base, .is_write = 1};
    return tutti__step_batch_make(x, &at, n, fields, &op->batch);
}

tutti_err tutti_exodus_put(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields) {
    TUTTI_KEEP_ERRNO;
    tutti__exodus_operation op;
    TUTTI_TRY(tutti__exodus_enter(x));
    const tutti_err err = prepare_put(x, n, fields, &op);
    return tutti__step_operation_run(&op.of, err);
}

tutti_err tutti_exodus_put_start(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields,
                                 tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    tutti__exodus_operation op;
    TUTTI_TRY(tutti__exodus_live(x));
    const tutti_err err = prepare_put(x, n, fields, &op);
    return tutti__step_operation_start(&op.of, sizeof op, err, r_out);
}
