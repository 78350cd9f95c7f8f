/* engine: one run of a plan, and the staged engine, in which a rank has up to three roles:
 *
 *   client       copies its own bytes, window by window, between user memory and staging
 *   aggregator   owns the windows of one file domain: staging <-> file
 *   relay        owns relay_slots for windows of aggregators in other groups: staging <-> messages
 *
 *   write   client -> slot -> [relay -> message ->] aggregator -> file
 *   read    file -> aggregator [-> message -> relay] -> slot -> client
 *
 * Each window of a rank is a small state machine.  One loop advances all windows; every wait calls
 * it.  There is no deadlock: no rank waits for one particular other rank, windows open in the same
 * order on all ranks, and every rank visits all of its windows even after an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include "engine/window_io.h"
#include "exchange/message.h"

typedef enum {
    TUTTI__IDLE,  /* not in use; the next window may be opened */
    TUTTI__FILL,  /* write: bytes arrive through the slot and in messages */
    TUTTI__FULL,  /* aggregator, write in the background: waits until the other windows are full */
    TUTTI__STORE, /* aggregator, write: file access is pending */
    TUTTI__FETCH, /* aggregator, read: file access is pending */
    TUTTI__RECEIVE, /* relay, read: the message of the aggregator is pending */
    TUTTI__SEND,    /* relay, write: the message to the aggregator is pending */
    TUTTI__SERVE    /* read: bytes leave through the slot and in messages */
} tutti__phase;

/* The message of one window from (write) or to (read) one group of ranks. */
typedef struct tutti__traffic {
    const tutti__sender_group *senders;
    tutti_off bytes; /* size of the message */
    size_t first, n; /* extents of the message: range in window.extents */
    /* address of the message: in the stage (one extent) or in the auxiliary buffer */
    char *at;
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
    tutti_off total;  /* `local` plus the bytes of messages */
    tutti__slot *slot;
    char *stage, *aux;
    tutti_off aux_used;
    int traffics;
    tutti__traffic *traffic; /* one message per group of senders */
    tutti__extents extents;  /* extents of all messages */
    tutti__window_io io;     /* file access of the window */
    int full;                /* write: all bytes are in the stage */
    int listed;              /* write: the list of runs and the checksums are complete */
    double since;            /* start time of the exchange */
} tutti__window;

struct tutti__run {
    tutti__op *op;
    /* access whose bytes this rank moves: that of the operation, or the trimmed access */
    const tutti_access *access;
    tutti__user user; /* user memory of `access` */
    tutti__two_phase *two;
    tutti_file *file;
    tutti__stage stage;
    tutti__event *event; /* event of the stage */
    int tag;
    int window_slots, relay_slots;
    tutti__window *window;   /* [window_slots + relay_slots] active windows */
    tutti_count window_next; /* next cycle of the domain of this rank; -1: none */
    tutti_count *relay_next; /* [relays] next cycle that this rank relays; -1: none */
    /* [destinations] next cycle with bytes of this rank; -1: none */
    tutti_count *destination_next;
    struct tutti__cycles *cycles; /* literal engine, see cycles.h; NULL: staged engine */
    char *own;   /* message buffers of a resident plan; NULL: use the buffers of the team */
    char *aux;   /* `own`, or the buffers of the team */
    int auxes;   /* number of buffers in `aux` for window_slots; windows may share a buffer */
    int holding; /* resident read: bytes remain in staging until the second half */
    int halves;  /* resident: half that is executed (TUTTI__FIRST_HALF, ...); else 0 */
    double started;
    tutti_err err; /* first error of this rank; afterwards it does not access the file */
    tutti_error_info info;
    tutti_off done, total;
};

/* ---- run.c: common to both engines */

/* Allocate the common part of p->run; free it. */
tutti_err tutti__run_make(tutti_plan *p) TUTTI_MUST_USE;
void tutti__run_free(tutti__run *r);
/* Start a run of operation `op`. */
void tutti__run_start(tutti__run *r, tutti__op *op);
/* End a run: set the bytes that this rank has moved (including bytes that higher ranks write for
 * it), and return the first error of the run, which becomes the last error of this thread. */
tutti_err tutti__run_end(tutti__run *r) TUTTI_MUST_USE;
/* Record `err`, which is the last error of this thread, unless the run has failed before. */
void tutti__run_fail(tutti__run *r, tutti_err err);
/* Return whether this aggregator must wait: the option `stagger` starts aggregators one after the
 * other. */
int tutti__run_too_early(const tutti__run *r);
/* Accounting of time (tutti/stats.h).  A turn begins before the rank checks for work.  If there is
 * no work, and the rank waits for the file, the whole turn counts as file access.  The rest of a
 * run counts as exchange. */
typedef struct tutti__turn {
    double start, file;
} tutti__turn;
tutti__turn tutti__turn_begin(const tutti__run *r);
void tutti__turn_was_file(tutti__run *r, const tutti__turn *t);
/* Count the time since `t` that is not file access as exchange. */
void tutti__turn_rest_is_exchange(tutti__run *r, const tutti__turn *t);
/* Return the first cycle >= `cycle` of destination `s` with bytes of this rank before the end of
 * the file; -1: none. */
tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle);

/* ---- valid.c: invariants between the steps of an engine, for assertions.  They take O(1) time,
 * except for tutti__window_io_is_valid (O(runs)) and tutti__run_is_valid (O(destinations +
 * sources)). */
int tutti__run_is_valid(const tutti__run *r);
int tutti__window_is_valid(const tutti__run *r, const tutti__window *w);
int tutti__window_io_is_valid(const tutti__window_io *w, int is_write);

/* ---- window.c: common to aggregator and relay */

void tutti__window_begin(tutti__run *r, tutti__window *w, const tutti__incoming *l,
                         tutti_count cycle);
/* Test whether no earlier window of the same domain is in this phase.  Messages between two ranks
 * are matched in order, so windows start their messages one after the other. */
int tutti__window_is_first(const tutti__run *r, const tutti__window *w);
tutti_off tutti__senders_bytes(const tutti__incoming *l, const tutti__sender_group *b, tutti_off lo,
                               tutti_off hi);
/* Add the message of a group of senders to the window, unless the message is empty. */
void tutti__traffic_add(tutti__run *r, tutti__window *w, const tutti__sender_group *b);
/* Choose the place of the message in the stage or in the auxiliary buffer; return 0 if the buffer
 * is full. */
int tutti__traffic_place(tutti__window *w, tutti__traffic *m);
/* Pack the message, if necessary, and send it; start to receive it; unpack it. */
void tutti__traffic_send(tutti__run *r, tutti__window *w, tutti__traffic *m);
void tutti__traffic_receive(tutti__run *r, tutti__traffic *m);
void tutti__traffic_unpack(tutti__run *r, tutti__window *w, tutti__traffic *m);
/* Return whether the message has been received or sent. */
int tutti__traffic_test(tutti__run *r, tutti__traffic *m);

/* ---- aggregator.c, relay.c: attempt one step of a window; return 1 if the window has advanced */

int tutti__aggregator_write(tutti__run *r, tutti__window *w);
int tutti__aggregator_read(tutti__run *r, tutti__window *w);
int tutti__relay_write(tutti__run *r, tutti__window *w);
int tutti__relay_read(tutti__run *r, tutti__window *w);

#endif
