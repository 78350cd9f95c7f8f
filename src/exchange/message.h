/* exchange: messages between ranks that do not share memory.  All messages of an operation have the
 * operation's tag and are matched in order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESSAGE_H
#define TUTTI_MESSAGE_H

#include "comm/team.h"

typedef struct tutti__message {
    MPI_Request request;
    int active; /* whether `request` is pending */
} tutti__message;

#define TUTTI__MESSAGE_MAX ((tutti_off)1 << 30)
/* Start to send or receive at most TUTTI__MESSAGE_MAX bytes. */
tutti_err tutti__message_send(tutti__team *t, int peer, int tag, const void *buf, tutti_off bytes,
                              tutti__message *m) TUTTI_MUST_USE;
tutti_err tutti__message_receive(tutti__team *t, int peer, int tag, void *buf, tutti_off bytes,
                                 tutti__message *m) TUTTI_MUST_USE;
/* Test whether a message is complete, which is also true if it was never started, and after an MPI
 * error. */
tutti_err tutti__message_test(tutti__message *m, int *done_out) TUTTI_MUST_USE;

/* A message to rank `to` and a message from rank `from`; either rank may be < 0: no message. */
typedef struct tutti__pass {
    int to, from, tag;
    const void *out;
    tutti_off out_bytes;
    void *in;
    tutti_off in_bytes;
} tutti__pass;
/* Send and receive the messages of *p, and wait for both.  Blocks in MPI; yields inside a fiber. */
tutti_err tutti__message_pass(tutti__team *t, const tutti__pass *p) TUTTI_MUST_USE;

#endif
