/* comm: the messages that a rank receives in a sparse exchange.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MAILBOX_H
#define TUTTI_MAILBOX_H

#include "comm/sparse.h"

typedef struct tutti__mailbox {
    tutti__sparse_message *v;
    int n;
    size_t room;
    tutti_err err; /* the first error; the exchange continues, so that no rank hangs */
} tutti__mailbox;

/* The synchronous sends that this rank has started: one for each of these messages that is not to
 * itself. */
typedef struct tutti__sent {
    int n;
    MPI_Request *requests;
    int messages;
    const tutti__sparse_message *message;
} tutti__sent;

/* Add a message, which then belongs to the mailbox.   Not collective. */
void tutti__mailbox_put(tutti__mailbox *m, int rank, size_t bytes, void *data);
/* Receive one message that a probe has found.  If it cannot be allocated, it is received
 * truncated, so that its sender can continue.   Not collective. */
tutti_err tutti__mailbox_receive(tutti__mailbox *m, tutti__team *t, const MPI_Status *found,
                                 int tag) TUTTI_MUST_USE;
/* Receive all messages of this tag that other ranks send to this one, and finish its own sends.
 * Collective. */
tutti_err tutti__mailbox_fill(tutti__mailbox *m, tutti__team *t, int tag,
                              tutti__sent *sent) TUTTI_MUST_USE;

#endif
