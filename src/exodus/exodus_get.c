/* exodus: reading of steps: fields of one step, times, a field of several steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_steps.h"

#include <string.h>
#include "timestep/step_items.h"

tutti_count tutti_exodus_steps(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK && !x->defining ? x->cdf.records : 0;
}

static tutti_err check_steps(const tutti_exodus *x, tutti_count first, tutti_count last) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(first <= last, TUTTI_ERR_NOT_FOUND,
                "first is %lld and last is %lld: first must be <= last", (long long)first,
                (long long)last);
    TUTTI_CHECK(first >= 1 && last <= x->cdf.records, TUTTI_ERR_NOT_FOUND,
                "steps %lld to %lld do not exist (the file has %lld)", (long long)first,
                (long long)last, (long long)x->cdf.records);
    return TUTTI_OK;
}

/* Compare a step with its checksums at its first read, if option check_reads is set.
 * Collective. */
static tutti_err compare_step(tutti_exodus *x, tutti_count step) {
    tutti_off bytes = 0;
    if (!x->opt.check_reads) return TUTTI_OK;
    if (x->checked_n <= step) {
        const tutti_count n = tutti__max(step + 1, 2 * x->checked_n);
        unsigned char *more = tutti__realloc(x->checked, (size_t)n);
        if (more) {
            memset(more + x->checked_n, 0, (size_t)(n - x->checked_n));
            x->checked = more;
        }
        TUTTI_TRY(tutti__team_agree(x->team, more ? TUTTI_OK : TUTTI_ERR_NOMEM));
        x->checked_n = n;
    }
    if (x->checked[step]) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_compare(x, step, &bytes));
    x->checked[step] = 1;
    return TUTTI_OK;
}

/* ---- fields of a step */

static tutti_err get_fields(tutti__step_operation *of, tutti_err local_err) {
    const tutti__exodus_operation *op = (const tutti__exodus_operation *)of;
    tutti_exodus *x = op->exodus;
    const tutti__step_batch *b = &op->batch;
    tutti_err err =
        tutti__exodus_call(x, "get", tutti__hash(b->hash, &op->step, sizeof op->step), local_err);
    if (err == TUTTI_OK) err = compare_step(x, op->step);
    if (err == TUTTI_OK) {
        const tutti__transfer t = {.name = "get",
                                   .file = x->file,
                                   .least = tutti__exodus_file_end(&x->cdf, op->step) - 3,
                                   .parts_n = b->parts_n,
                                   .parts = b->parts};
        err = tutti__transfer_run(&t, NULL);
    }
    return tutti__exodus_named(x, "get", err);
}

/* Validate the arguments and describe this rank's bytes.   Not collective. */
static tutti_err prepare_get(tutti_exodus *x, tutti_count step, tutti_count n,
                             const tutti_exodus_field *fields, tutti__exodus_operation *op) {
    *op = tutti__exodus_operation_of(x, TUTTI__STARTED_GET, get_fields);
    op->step = step;
    if (!fields) TUTTI_TRY(tutti__error_refused());
    TUTTI_TRY(tutti__step_object_idle(&x->base));
    TUTTI_TRY(check_steps(x, step, step));
    return tutti__step_batch_make(x, &(tutti__step_place){.step = step}, n, fields, &op->batch);
}

tutti_err tutti_exodus_get(tutti_exodus *x, tutti_count step, tutti_count n,
                           const tutti_exodus_field *fields) {
    TUTTI_KEEP_ERRNO;
    tutti__exodus_operation op;
    TUTTI_TRY(tutti__exodus_enter(x));
    const tutti_err err = prepare_get(x, step, n, fields, &op);
    return tutti__step_operation_run(&op.of, err);
}

tutti_err tutti_exodus_get_start(tutti_exodus *x, tutti_count step, tutti_count n,
                                 const tutti_exodus_field *fields, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    tutti__exodus_operation op;
    TUTTI_TRY(tutti__exodus_live(x));
    const tutti_err err = prepare_get(x, step, n, fields, &op);
    return tutti__step_operation_start(&op.of, sizeof op, err, r_out);
}

/* ---- times */

/* On rank 0, read the times of n steps. */
static tutti_err read_times(tutti_exodus *x, tutti_count first, tutti_count n, double *to) {
    const tutti__cdf_var *time = NULL;
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti__exodus_time_variable(x, &time));
    const tutti_type type = tutti__cdf_number(time->type);
    const tutti_off size = tutti_type_size(type);
    const tutti_off stride = tutti__exodus_step_stride(&x->cdf, time);
    TUTTI_TRY(tutti_access_vector(time->begin + (first - 1) * stride, n, size, stride, &access));
    const tutti_part part = tutti__step_part(access, to, type, TUTTI_FLOAT64);
    tutti_err err = tutti_file_read_parts_independent(x->file, 1, &part, &count);
    if (err == TUTTI_OK && count != n * size)
        err =
            tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "short read of the times: %lld of %lld bytes",
                             (long long)count, (long long)(n * size));
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_exodus_times(tutti_exodus *x, tutti_count first, tutti_count n, double *times_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = TUTTI_OK;
    tutti_count last = 0;
    if (n < 0 || (n > 0 && !times_out))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               n < 0 ? "n is %lld: must be >= 0"
                                     : "argument times_out is NULL, but n is %lld",
                               (long long)n);
    if (err == TUTTI_OK && n > 0)
        err = check_steps(x, first, tutti__add_ok(first, n - 1, &last) ? last : INT64_MAX);
    const int64_t words[] = {first, n};
    TUTTI_TRY(
        tutti__exodus_call(x, "times", tutti__hash(TUTTI__HASH_START, words, sizeof words), err));
    if (n == 0) return TUTTI_OK;
    void *times = times_out;
    size_t bytes = (size_t)n * sizeof *times_out;
    err = tutti__team_agree(x->team,
                            x->team->rank == 0 ? read_times(x, first, n, times_out) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(x->team, &times, &bytes);
    if (err == TUTTI_OK && times != times_out) {
        memcpy(times_out, times, bytes);
        tutti__free(times);
    }
    return tutti__exodus_named(x, "times", err);
}

/* ---- a field of several steps */

tutti_err tutti_exodus_follow(tutti_exodus *x, tutti_count first, tutti_count last,
                              const tutti_exodus_field *field) {
    TUTTI_KEEP_ERRNO;
    tutti__step_batch b = {0};
    const int64_t words[] = {first, last};
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = field ? TUTTI_OK : tutti__error_refused();
    if (err == TUTTI_OK) err = check_steps(x, first, last);
    if (err == TUTTI_OK)
        err = tutti__step_batch_make(x, &(tutti__step_place){.step = first}, 1, field, &b);
    if (err == TUTTI_OK && b.parts_n > 0) { /* extend the access of the first step to all steps */
        tutti__step_item *t = &b.items[0];
        tutti_count extent = t->place.entries;
        tutti_access *all = NULL;
        if (t->entries) err = tutti__item_extent(t->entries, &extent);
        if (err == TUTTI_OK)
            err = tutti_access_tile(t->access, last - first + 1, t->place.stride,
                                    extent * tutti_type_size(t->place.type), &all);
        if (err == TUTTI_OK) {
            tutti_access_free(&t->access);
            b.parts[0].access = t->access = all;
        }
    }
    err = tutti__exodus_call(x, "follow", tutti__hash(b.hash, words, sizeof words), err);
    for (tutti_count i = first; i <= last && err == TUTTI_OK && x->opt.check_reads; i++)
        err = compare_step(x, i);
    if (err == TUTTI_OK) {
        const tutti__transfer t = {.name = "follow",
                                   .file = x->file,
                                   .least = tutti__exodus_file_end(&x->cdf, last) - 3,
                                   .parts_n = b.parts_n,
                                   .parts = b.parts};
        err = tutti__transfer_run(&t, NULL);
    }
    tutti__step_batch_free(&b);
    return tutti__exodus_named(x, "follow", err);
}
