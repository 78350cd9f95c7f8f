/* timestep: non-blocking writes and reads of variables.  Starting an operation does not
 * communicate: it is queued, and its fiber runs it, including the agreement on the call, when this
 * rank tests, waits, or makes the next collective call on the object.  Operations of one object run
 * one after another, in the order of their starts.   Not collective, except the operations.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STARTED_H
#define TUTTI_STARTED_H

#include "collective/layer.h"

/* Names of operations. */
#define TUTTI__STARTED_PUT "put"
#define TUTTI__STARTED_GET "get"

/* An operation, owned by the caller until `collected` is called; the first member of the caller's
 * struct. */
typedef struct tutti__started {
    const char *name; /* name for messages */
    tutti_err (*run)(struct tutti__started *op);
    /* Called with the outcome of `run` if its request was abandoned and another operation is about
     * to run. */
    void (*abandoned)(struct tutti__started *op, tutti_err outcome);
    /* Called once by the test or wait that completes the operation, with the outcome of `run`;
     * frees the operation. */
    void (*collected)(struct tutti__started *op, tutti_err outcome);
    tutti_request *request;
    struct tutti__start_queue *queue;
    struct tutti__started *next;
    int has_ended;     /* whether `run` has returned */
    tutti_err outcome; /* result of `run` */
} tutti__started;

typedef struct tutti__start_queue {
    tutti__started *first;
} tutti__start_queue;

/* Append op to the queue; *r_out is its request.
 * @return TUTTI_ERR_NOMEM: op is not queued, and the caller must run it with that error, since
 *     other ranks take part */
tutti_err tutti__start_operation(tutti__start_queue *q, tutti__started *op,
                                 tutti_request **r_out) TUTTI_MUST_USE;
/* Run all operations that were started, and collect abandoned ones.  Must be the first action of
 * every collective call on the object.  Waits for other ranks, which progress in their own
 * calls. */
void tutti__start_queue_run(tutti__start_queue *q);
/* Fail with TUTTI_ERR_STATE if an operation of this name (NULL: any) has been started and not
 * completed. */
tutti_err tutti__start_queue_empty(const tutti__start_queue *q, const char *name) TUTTI_MUST_USE;

#endif
