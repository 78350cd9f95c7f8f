/* engine: one run of a plan, and the staged engine, in which a rank has up to three roles:
 *
 *   client       copies its own bytes, window by window, between user memory and staging
 *   aggregator   owns the windows of one file domain: staging <-> file
 *   relay        owns relay_slots for windows of aggregators in other groups: staging <-> messages
 *
 *   write   client -> slot -> [relay -> message ->] aggregator -> file
 *   read    file -> aggregator [-> message -> relay] -> slot -> client
 *
 * Each window of a rank is a small state machine; one loop, which every wait calls, advances all of
 * them.  There is no deadlock: no rank waits for one particular other rank, windows open in the same
 * order on all ranks, and every rank visits all of its windows even after an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include "engine/window_io.h"
#include "exchange/message.h"

typedef enum {
    TUTTI__IDLE,    /* may be opened for another window */
    TUTTI__FILL,    /* write: bytes arrive by the slot and by messages */
    TUTTI__FULL,    /* aggregator, write in the background: waits until the others are full */
    TUTTI__STORE,   /* aggregator, write: file access is pending */
    TUTTI__FETCH,   /* aggregator, read: file access is pending */
    TUTTI__RECEIVE, /* relay, read: the message of the aggregator is pending */
    TUTTI__SEND,    /* relay, write: the message to the aggregator is pending */
    TUTTI__SERVE    /* read: bytes leave by the slot and by messages */
} tutti__phase;

/* The message of one window with one group of senders, or receivers. */
typedef struct tutti__traffic {
    const tutti__sender_group *senders;
    tutti_off bytes; /* of the message */
    size_t first, n; /* its extents */
    char *at;        /* the message: in the stage (one extent) or in the auxiliary buffer */
    tutti__message message;
    int started, done;
} tutti__traffic;

/* An active window of an aggregator or a relay. */
typedef struct tutti__window {
    tutti__phase phase;
    const tutti__incoming *incoming;
    tutti_count cycle;
    tutti_off lo, hi; /* the window; a read ends at the end of the file */
    tutti_off local;  /* bytes that are copied through the slot */
    tutti_off total;  /* the same, plus bytes of messages */
    tutti__slot *slot;
    char *stage, *aux;
    tutti_off aux_used;
    int traffics;
    tutti__traffic *traffic; /* [groups of senders] */
    tutti__extents extents;  /* of the messages */
    tutti__window_io io;     /* its file access */
    int full;                /* write: all bytes are in the stage */
    int listed;              /* write: the list of runs and checksums are made */
    double since;            /* start of the exchange */
} tutti__window;

struct tutti__run {
    tutti__op *op;
    const tutti_access *access; /* that this rank moves: of the operation, or the trimmed one */
    tutti__user user;           /* its memory */
    tutti__two_phase *two;
    tutti_file *file;
    tutti__stage stage;
    tutti__event *event; /* of the stage */
    int tag;
    int window_slots, relay_slots;
    tutti__window *window;         /* [window_slots + relay_slots] */
    tutti_count window_next;       /* the next cycle of the domain of this rank, -1: none */
    tutti_count *relay_next;       /* [relays] */
    tutti_count *destination_next; /* [destinations] */
    struct tutti__cycles *cycles;  /* literal engine, see cycles.h; NULL: staged engine */
    char *own;   /* message buffers of a plan in the background; others use those of the team */
    char *aux;   /* `own`, or the buffers of the team */
    int auxes;   /* buffers in `aux` for window_slots, of a window each; windows may share one */
    int holding; /* resident read: bytes remain in staging until the second half */
    int halves;  /* resident: the half that is executed; else 0 */
    double started;
    tutti_err err; /* the first error of this rank; after it no file is accessed */
    tutti_error_info info;
    tutti_off done, total;
};

/* ---- run.c: common to both engines */

/* Allocate the common part of p->run; free it. */
tutti_err tutti__run_make(tutti_plan *p) TUTTI_MUST_USE;
void tutti__run_free(tutti__run *r);
/* Start a run of this operation. */
void tutti__run_start(tutti__run *r, tutti__op *op);
/* End it: set the bytes that this rank has moved (including those that higher ranks write for it), and
 * return its outcome, which is the last error of this thread. */
tutti_err tutti__run_end(tutti__run *r) TUTTI_MUST_USE;
/* Record the first error, which is the last one of this thread. */
void tutti__run_fail(tutti__run *r, tutti_err err);
/* Return whether this aggregator must wait: the option `stagger` starts aggregators one after the other. */
int tutti__run_too_early(const tutti__run *r);
/* Accounting of time (tutti/stats.h).  A turn begins before the rank checks for work.  If there is none,
 * and the rank waits for the file, the whole turn is file access.  The rest of a run is exchange. */
typedef struct tutti__turn {
    double start, file;
} tutti__turn;
tutti__turn tutti__turn_begin(const tutti__run *r);
void tutti__turn_was_file(tutti__run *r, const tutti__turn *t);
/* Count the time since `t` that is not file access as exchange. */
void tutti__turn_rest_is_exchange(tutti__run *r, const tutti__turn *t);
/* The next cycle of an aggregator, from `cycle` on, with bytes of this rank, or -1. */
tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle);

/* ---- valid.c: invariants between the steps of an engine, for assertions: O(1), except for the list of
 * runs (O(runs)) and tutti__run_is_valid (O(destinations + sources)). */
int tutti__run_is_valid(const tutti__run *r);
int tutti__window_is_valid(const tutti__run *r, const tutti__window *w);
int tutti__window_io_is_valid(const tutti__window_io *w, int is_write);

/* ---- window.c: common to aggregator and relay */

void tutti__window_begin(tutti__run *r, tutti__window *w, const tutti__incoming *l,
                         tutti_count cycle);
/* Test whether no earlier window of the same domain is in this phase.  Messages between two ranks
 * are matched in order, so windows start theirs one after the other. */
int tutti__window_is_first(const tutti__run *r, const tutti__window *w);
tutti_off tutti__senders_bytes(const tutti__incoming *l, const tutti__sender_group *b, tutti_off lo,
                               tutti_off hi);
/* Add the message of a group of senders to the window, if it has bytes. */
void tutti__traffic_add(tutti__run *r, tutti__window *w, const tutti__sender_group *b);
/* Place the message in the stage or in the auxiliary buffer; 0: the buffer is full. */
int tutti__traffic_place(tutti__window *w, tutti__traffic *m);
/* Pack it, if necessary, and send it; start to receive it; unpack it. */
void tutti__traffic_send(tutti__run *r, tutti__window *w, tutti__traffic *m);
void tutti__traffic_receive(tutti__run *r, tutti__traffic *m);
void tutti__traffic_unpack(tutti__run *r, tutti__window *w, tutti__traffic *m);
/* Return whether the message has been received or sent. */
int tutti__traffic_test(tutti__run *r, tutti__traffic *m);

/* ---- aggregator.c, relay.c: one step of a window; 1 if it has advanced */

int tutti__aggregator_write(tutti__run *r, tutti__window *w);
int tutti__aggregator_read(tutti__run *r, tutti__window *w);
int tutti__relay_write(tutti__run *r, tutti__window *w);
int tutti__relay_read(tutti__run *r, tutti__window *w);

#endif
