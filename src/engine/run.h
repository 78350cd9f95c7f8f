/* engine: one run of a plan, and the staged engine, in which a rank plays up to three parts:
 *
 *   walker       copies its own bytes, window by window, between user memory and staging
 *   aggregator   owns the windows of one file domain: staging <-> file
 *   relay        owns relay_slots for windows of aggregators in other groups: staging <-> messages
 *
 *   write   walker -> slot -> [relay -> message ->] aggregator -> file
 *   read    file -> aggregator [-> message -> relay] -> slot -> walker
 *
 * Each window a rank is responsible for is a small state machine; one loop advances all of them and
 * is what every wait calls.  Nobody waits for a particular other rank, windows open in the same
 * order everywhere, and every rank goes through all of them whatever fails: so nothing can hang.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include "engine/window_io.h"
#include "exchange/message.h"

typedef enum {
    TUTTI__IDLE,    /* may be opened for another window */
    TUTTI__FILL,    /* write: bytes arrive by the slot and by messages */
    TUTTI__FULL,    /* aggregator, write in the background: waits until the others are full */
    TUTTI__STORE,   /* aggregator, write: on the way into the file */
    TUTTI__FETCH,   /* aggregator, read: on the way from the file */
    TUTTI__RECEIVE, /* relay, read: on the way from the aggregator */
    TUTTI__SEND,    /* relay, write: on the way to the aggregator */
    TUTTI__SERVE    /* read: bytes leave by the slot and by messages */
} tutti__phase;

/* The message of one window with one group of senders, or receivers. */
typedef struct tutti__traffic {
    const tutti__sender_group *senders;
    tutti_off bytes; /* of the message */
    size_t first, n; /* its extents */
    char *at; /* where the message is: in the stage (one extent) or in the auxiliary buffer */
    tutti__message message;
    int started, done;
} tutti__traffic;

/* A window in work: an aggregator's, or one that a relay passes on. */
typedef struct tutti__window {
    tutti__phase phase;
    const tutti__incoming *incoming;
    tutti_count cycle;
    tutti_off lo, hi; /* the window, cut at the end of the file when reading */
    tutti_off local;  /* bytes that go through the slot */
    tutti_off total;  /* and by messages as well */
    tutti__slot *slot;
    char *stage, *aux;
    tutti_off aux_used;
    int traffics;
    tutti__traffic *traffic; /* room for all groups of senders */
    tutti__extents extents;  /* of the traffics */
    tutti__window_io io;     /* what goes to or comes from the file */
    int full;                /* writing: all bytes are here, the file is next */
    int listed;              /* and its runs and checksums are made */
    double since;            /* when the exchange began */
} tutti__window;

struct tutti__run {
    tutti__op *op;
    const tutti_access *access; /* what this rank moves: the operation's, or what is left of it */
    tutti__user user;           /* its memory */
    tutti__two_phase *two;
    tutti_file *file;
    tutti__stage stage;
    tutti__event *event; /* of the stage */
    int tag;
    int window_slots, relay_slots;
    tutti__window *window;         /* [window_slots + relay_slots] */
    tutti_count window_next;       /* the next cycle of my domain, -1: no more */
    tutti_count *relay_next;       /* [relays] */
    tutti_count *destination_next; /* [destinations] */
    struct tutti__cycles
        *cycles; /* the literal engine's, see cycles.h; NULL: the staged one runs */
    char *own;   /* message buffers of a plan in the background; others have the team's */
    char *aux;   /* those, or these */
    int auxes;   /* buffers of a window each in `aux` for window_slots; fewer are shared */
    int holding; /* resident read: bytes are kept in staging until the second part */
    int halves;  /* resident: file access goes on by itself between two parts; which this is */
    double started;
    tutti_err err; /* the first trouble of this rank; from then on it accesses no file */
    tutti_error_info info;
    tutti_off done, total;
};

/* ---- run.c: what both engines know of a run */

/* Allocate p->run with what both need; free that. */
tutti_err tutti__run_make(tutti_plan *p) TUTTI_MUST_USE;
void tutti__run_free(tutti__run *r);
/* Begin: the operation, what of it this rank moves, its next windows. */
void tutti__run_start(tutti__run *r, tutti__op *op);
/* End: bytes of this rank that are done (what higher ranks write for it counts), and its outcome,
 * as this thread's last error. */
tutti_err tutti__run_end(tutti__run *r) TUTTI_MUST_USE;
/* Note the first error (it is this thread's last one). */
void tutti__run_fail(tutti__run *r, tutti_err err);
/* The option `stagger`, by which aggregators start one after the other: is it too early for this
 * one? */
int tutti__run_too_early(const tutti__run *r);
/* What a rank waits for tells which account its time goes to (tutti/stats.h).  A turn of waiting is
 * begun before the rank looks for something to do; if there was nothing, and it waits for the file,
 * all of the turn was file access.  What is left of a run is exchange. */
typedef struct tutti__turn {
    double start, file;
} tutti__turn;
tutti__turn tutti__turn_begin(const tutti__run *r);
void tutti__turn_was_file(tutti__run *r, const tutti__turn *t);
/* The time of a run since `t` that is not file access yet is exchange. */
void tutti__turn_rest_is_exchange(tutti__run *r, const tutti__turn *t);
/* The next cycle of an aggregator, from `cycle` on, in which I have bytes, or -1. */
tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle);

/* ---- valid.c: what holds between the steps of an engine.  For assertions: O(1), but for the list
 * of runs (O(runs)) and tutti__run_is_valid (O(destinations + sources)). */
int tutti__run_is_valid(const tutti__run *r);
int tutti__window_is_valid(const tutti__run *r, const tutti__window *w);
int tutti__window_io_is_valid(const tutti__window_io *w, int is_write);

/* ---- window.c: what aggregator and relay share */

void tutti__window_begin(tutti__run *r, tutti__window *w, const tutti__incoming *l,
                         tutti_count cycle);
/* Is no earlier window of the same domain still in this phase?  Between two ranks messages are
 * matched in order, so windows start theirs one after the other. */
int tutti__window_is_first(const tutti__run *r, const tutti__window *w);
tutti_off tutti__senders_bytes(const tutti__incoming *l, const tutti__sender_group *b, tutti_off lo,
                               tutti_off hi);
/* Note the window's traffic with a group of senders, if there is any. */
void tutti__traffic_add(tutti__run *r, tutti__window *w, const tutti__sender_group *b);
/* Place the message in the stage or in the auxiliary buffer; 0: no room now. */
int tutti__traffic_place(tutti__window *w, tutti__traffic *m);
/* Pack it, if need be, and send it; start to receive it, and unpack what has come. */
void tutti__traffic_send(tutti__run *r, tutti__window *w, tutti__traffic *m);
void tutti__traffic_receive(tutti__run *r, tutti__traffic *m);
void tutti__traffic_unpack(tutti__run *r, tutti__window *w, tutti__traffic *m);
/* Has the message arrived or left? */
int tutti__traffic_test(tutti__run *r, tutti__traffic *m);

/* ---- aggregator.c, relay.c: one step of a window; 1 if it has got on */

int tutti__aggregator_write(tutti__run *r, tutti__window *w);
int tutti__aggregator_read(tutti__run *r, tutti__window *w);
int tutti__relay_write(tutti__run *r, tutti__window *w);
int tutti__relay_read(tutti__run *r, tutti__window *w);

#endif
