/* timestep: operations that were started (started.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/started.h"

#include <string.h>

#include "comm/wait.h"

static tutti_err run_in_order(void *context) {
    tutti__started *op = context;
    tutti__wait w = tutti__wait_begin(NULL, NULL);
    for (const tutti__started *next = op->queue->first; next != op;) {
        if (next->has_ended) {
            next = next->next;
        } else {
            tutti__wait_turn(&w);
            next = op->queue->first; /* the queue may have changed */
        }
    }
    for (tutti__started *o = op->queue->first; o != op; o = o->next)
        if (tutti__request_is_abandoned(o->request)) o->abandoned(o, o->outcome);
    op->outcome = op->run(op);
    op->has_ended = 1;
    return op->outcome;
}

static void unlink_collected(void *context, tutti_err outcome) {
    tutti__started *op = context, **at = &op->queue->first;
    while (*at != op) at = &(*at)->next;
    *at = op->next;
    op->collected(op, outcome);
}

tutti_err tutti__start_operation(tutti__start_queue *q, tutti__started *op, tutti_request **r_out) {
    const tutti__task task = {op->name, NULL, run_in_order, unlink_collected, op};
    tutti__started **at = &q->first;
    TUTTI_TRY(tutti__task_make(&task, &op->request));
    while (*at) at = &(*at)->next;
    *at = op;
    op->queue = q;
    *r_out = op->request;
    tutti__task_start(op->request);
    return TUTTI_OK;
}

void tutti__start_queue_run(tutti__start_queue *q) {
    for (tutti__started *op = q->first, *next; op; op = next) {
        next = op->next;
        if (!op->has_ended) tutti__request_wait(op->request);
        tutti__request_complete_abandoned(op->request);
    }
}

tutti_err tutti__start_queue_empty(const tutti__start_queue *q, const char *name) {
    for (const tutti__started *op = q->first; op; op = op->next)
        TUTTI_CHECK(name && strcmp(name, op->name) != 0, TUTTI_ERR_STATE,
                    "a %s has been started and not completed",
                    name ? name : "non-blocking operation");
    return TUTTI_OK;
}
