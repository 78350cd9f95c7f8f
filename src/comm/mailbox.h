/* comm: the messages that a rank receives in a sparse exchange.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MAILBOX_H
#define TUTTI_MAILBOX_H

#include "comm/sparse.h"

typedef struct tutti__mailbox {
    tutti__sparse_message *v; /* [n] received messages */
    int n;
    size_t capacity;
    /* TUTTI_OK, or an error of this rank; the exchange continues, so that no rank hangs */
    tutti_err err;
} tutti__mailbox;

/* The synchronous sends that this rank has started: one for each message to another rank. */
typedef struct tutti__sent {
    int n;
    MPI_Request *requests; /* [n] */
    int messages;
    /* [messages] in send order, including those to this rank */
    const tutti__sparse_message *message;
} tutti__sent;

/* Add a message with the source `rank`; the mailbox takes ownership of `data`.  Not collective. */
void tutti__mailbox_put(tutti__mailbox *m, int rank, size_t bytes, void *data);
/* Receive one message that MPI_Iprobe has found.  If its memory cannot be allocated, it is received
 * truncated, so that its sender can continue.  Not collective. */
tutti_err tutti__mailbox_receive(tutti__mailbox *m, tutti__team *t, const MPI_Status *found,
                                 int tag) TUTTI_MUST_USE;
/* Receive all messages with this tag from other ranks, and complete the sends of this rank.
 * Collective. */
tutti_err tutti__mailbox_fill(tutti__mailbox *m, tutti__team *t, int tag,
                              tutti__sent *sent) TUTTI_MUST_USE;

#endif
