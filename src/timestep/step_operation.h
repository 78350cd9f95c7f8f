/* timestep: writes and reads of variables of datasets and Exodus files, blocking or started
 * (started.h).  A start does not wait for other ranks: they agree on the call when it runs.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_OPERATION_H
#define TUTTI_STEP_OPERATION_H

#include "timestep/put_record.h"
#include "timestep/step_object.h"

/* The first member of a struct with the arguments of the call, which the caller has copied or
 * described. */
typedef struct tutti__step_operation {
    tutti__started started; /* must be first; the caller sets `name` */
    tutti__step_object *object;
    /* Execute the operation.  local_err: the error of this rank so far.   Collective. */
    tutti_err (*run)(struct tutti__step_operation *op, tutti_err local_err);
    /* Release the arguments.   Not collective. */
    void (*release)(struct tutti__step_operation *op);
    /* set by the `run` of a put after all ranks have agreed on the call; otherwise NULL */
    tutti__put_record *record;
    tutti_error_info refused; /* the error of this rank before `run`; code TUTTI_OK: none */
} tutti__step_operation;

/* Run an operation and release its arguments.  local_err: the error of this rank so far.
 * Collective. */
tutti_err tutti__step_operation_run(tutti__step_operation *op, tutti_err local_err) TUTTI_MUST_USE;
/* Start a copy of an operation, which has `size` bytes including the caller's arguments.   Not
 * collective, but a rank where the start fails takes part in the operation with this error. */
tutti_err tutti__step_operation_start(tutti__step_operation *op, size_t size, tutti_err local_err,
                                      tutti_request **r_out) TUTTI_MUST_USE;

#endif
