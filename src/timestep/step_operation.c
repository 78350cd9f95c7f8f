/* timestep: blocking and non-blocking writes and reads of variables (step_operation.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/step_operation.h"

#include <string.h>

static void keep_error(tutti__step_operation *op, tutti_err local_err) {
    if (local_err == TUTTI_ERR_ARG) { /* a binding may have reported why it passes no arguments */
        const tutti_err why = tutti__error_refused();
        if (why != TUTTI_OK) local_err = why;
    }
    if (local_err != TUTTI_OK && tutti_last_error()->code != local_err)
        (void)tutti__error_set(local_err, 0, -1, "%s", tutti_strerror(local_err));
    op->refused =
        local_err == TUTTI_OK ? (tutti_error_info){.code = TUTTI_OK} : *tutti_last_error();
}

static tutti_err run_operation(tutti__started *started) {
    tutti__step_operation *op = (tutti__step_operation *)started;
    if (op->refused.code != TUTTI_OK) tutti__error_assign(&op->refused);
    const tutti_err err = op->run(op, op->refused.code);
    if (op->record) op->record->request = started->request;
    return err;
}

static void end_put(tutti__step_operation *op, tutti_err outcome) {
    if (op->record) tutti__put_end(op->record, outcome);
    op->record = NULL;
}

static void end_operation(tutti__step_operation *op, tutti_err outcome) {
    end_put(op, outcome);
    op->release(op);
}

static void abandon_operation(tutti__started *started, tutti_err outcome) {
    end_put((tutti__step_operation *)started, outcome);
}

static void collect_operation(tutti__started *started, tutti_err outcome) {
    end_operation((tutti__step_operation *)started, outcome);
    tutti__free(started);
}

tutti_err tutti__step_operation_run(tutti__step_operation *op, tutti_err local_err) {
    keep_error(op, local_err);
    const tutti_err err = run_operation(&op->started);
    end_operation(op, err);
    return err;
}

tutti_err tutti__step_operation_start(tutti__step_operation *op, size_t size, tutti_err local_err,
                                      tutti_request **r_out) {
    tutti__step_operation *copy = NULL;
    keep_error(op, local_err);
    if (!r_out) {
        local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument r_out is NULL");
    } else if (!(copy = tutti__malloc(size))) {
        local_err = TUTTI_ERR_NOMEM;
    } else {
        memcpy(copy, op, size);
        copy->started.run = run_operation;
        copy->started.abandoned = abandon_operation;
        copy->started.collected = collect_operation;
        local_err = tutti__start_operation(&op->object->starts, &copy->started, r_out);
        if (local_err == TUTTI_OK) return TUTTI_OK;
        tutti__free(copy);
    }
    tutti__step_object_run_started(op->object); /* without a request, this rank takes part here */
    return tutti__step_operation_run(op, local_err);
}
