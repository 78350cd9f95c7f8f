/* exchange: messages between ranks that share no memory.  Between two ranks the messages of one
 * operation all have the operation's tag and are matched in order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESSAGE_H
#define TUTTI_MESSAGE_H

#include "comm/team.h"

typedef struct tutti__message {
    MPI_Request request;
    int active;
} tutti__message;

/* Start sending or receiving; `bytes` is at most TUTTI__MESSAGE_MAX. */
#define TUTTI__MESSAGE_MAX ((tutti_off)1 << 30)
tutti_err tutti__message_send(tutti__team *t, int peer, int tag, const void *buf, tutti_off bytes,
                              tutti__message *m) TUTTI_MUST_USE;
tutti_err tutti__message_receive(tutti__team *t, int peer, int tag, void *buf, tutti_off bytes,
                                 tutti__message *m) TUTTI_MUST_USE;
/* Test whether it has ended; so has a message that was never started.  An MPI error ends it. */
tutti_err tutti__message_test(tutti__message *m, int *done_out) TUTTI_MUST_USE;

/* Send and receive at the same time, and wait for both; one end may be absent (peer < 0).  Blocks
 * in MPI; inside a fiber it yields instead. */
typedef struct tutti__pass {
    int to, from, tag;
    const void *out;
    tutti_off out_bytes;
    void *in;
    tutti_off in_bytes;
} tutti__pass;
tutti_err tutti__message_pass(tutti__team *t, const tutti__pass *p) TUTTI_MUST_USE;

#endif
