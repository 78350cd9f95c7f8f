/* dataset: non-blocking puts and gets (timestep/started.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/items.h"

static tutti_err run_start(tutti__started *started) {
    tutti__dataset_start *op = (tutti__dataset_start *)started;
    if (op->refused != TUTTI_OK) tutti__error_assign(&op->why);
    return op->run(op, op->refused);
}

/* The caller does not know the outcome of a put, and the next operation is about to run. */
static void abandon_start(tutti__started *started) {
    tutti__dataset_start *op = (tutti__dataset_start *)started;
    if (op->record) tutti__put_end(op->record, TUTTI_OK); /* a failure: the request is abandoned */
    op->record = NULL;
}

static void collect_start(tutti__started *started, tutti_err outcome) {
    tutti__dataset_start *op = (tutti__dataset_start *)started;
    if (op->record) tutti__put_end(op->record, outcome);
    tutti__items_free(&op->items);
    tutti__free(op);
}

tutti_err tutti__dataset_start_run(tutti__dataset_start *op, tutti_err refused,
                                   tutti_request **r_out) {
    tutti_dataset *d = op->dataset;
    tutti_err err = refused;
    if (err == TUTTI_OK) err = tutti__items_keep(&op->items);
    if (err == TUTTI_ERR_ARG) { /* an error of this call, not of the next one that runs */
        const tutti_err why = tutti__error_refused();
        if (why != TUTTI_OK) err = why;
    }
    op->refused = err;
    op->why = *tutti_last_error();
    tutti__dataset_start *copy = r_out ? tutti__malloc(sizeof *copy) : NULL;
    if (copy) {
        *copy = *op;
        copy->started.run = run_start;
        copy->started.abandoned = abandon_start;
        copy->started.collected = collect_start;
        if (tutti__start_operation(&d->starts, &copy->started, r_out) == TUTTI_OK) return TUTTI_OK;
        tutti__free(copy);
    }
    /* without a request, this rank takes part in the operation now */
    tutti__dataset_run_started(d);
    err =
        r_out ? TUTTI_ERR_NOMEM : tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument r_out is NULL");
    err = op->run(op, err);
    if (op->record) tutti__put_end(op->record, err);
    tutti__items_free(&op->items);
    return err;
}
