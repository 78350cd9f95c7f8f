/* comm: sparse exchange: every rank sends to any ranks, and receivers do not know their senders in advance.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPARSE_H
#define TUTTI_SPARSE_H

#include "comm/team.h"

typedef struct tutti__sparse_message {
    int rank; /* to send: destination; received: source */
    size_t bytes;
    void *data;
} tutti__sparse_message;

/* Collective.  Sends n messages (the caller keeps their data), receives all that were sent to this
 * rank, sorted by source; those of one rank in send order.  Messages to the own rank are delivered
 * too.  *in_out and each data are for tutti__sparse_free. */
tutti_err tutti__sparse_exchange(tutti__team *t, int n, const tutti__sparse_message *out,
                                 int *n_in_out, tutti__sparse_message **in_out) TUTTI_MUST_USE;
void tutti__sparse_free(int n, tutti__sparse_message **messages);

#endif
