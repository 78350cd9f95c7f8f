/* comm: sparse exchange: every rank sends messages to some ranks, and receivers do not know their
 * senders in advance.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPARSE_H
#define TUTTI_SPARSE_H

#include "comm/team.h"

typedef struct tutti__sparse_message {
    int rank; /* destination of a message to send, source of a received message */
    size_t bytes;
    void *data;
} tutti__sparse_message;

/* Send n messages, whose data the caller still owns, and receive all messages to this rank, sorted
 * by source; messages of one source are in send order.  Messages to the sending rank itself are
 * allowed.  Release *in_out with tutti__sparse_free.  Collective. */
tutti_err tutti__sparse_exchange(tutti__team *t, int n, const tutti__sparse_message *out,
                                 int *n_in_out, tutti__sparse_message **in_out) TUTTI_MUST_USE;
void tutti__sparse_free(int n, tutti__sparse_message **messages);

#endif
