/* engine: the pipeline.  One rank plays up to three parts at the same time:
 *
 *   walker    copies its own bytes, window by window, between user memory and staging
 *   home      owns the windows of one domain: staging <-> file
 *   carrier   holds relay_slots of windows that are at home in another group: staging <-> messages
 *
 *   write   walker -> slot -> [carrier -> message ->] home -> file
 *   read    file -> home [-> message -> carrier] -> slot -> walker
 *
 * Each window a rank is responsible for is a small state machine; tutti__run_progress advances all of them
 * and is what every wait calls.  Nobody waits for a particular other rank, windows open in the same
 * order everywhere, and every rank goes through all of them whatever fails: so nothing can hang.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include "engine/window_io.h"
#include "exchange/message.h"

typedef enum {
    TUTTI__IDLE,    /* may be opened for another window */
    TUTTI__FILL,    /* write: bytes arrive by the slot and by messages */
    TUTTI__STORE,   /* home, write: on the way into the file */
    TUTTI__FETCH,   /* home, read: on the way from the file */
    TUTTI__RECEIVE, /* carrier, read: on the way from home */
    TUTTI__SEND,    /* carrier, write: on the way home */
    TUTTI__SERVE    /* read: bytes leave by the slot and by messages */
} tutti__phase;

/* The traffic of one batch (the ranks of another group) with one window. */
typedef struct tutti__traffic {
    const tutti__sender_group *senders;
    tutti_off bytes; /* of the message */
    size_t first, n; /* its extents */
    char *at; /* where the message is: in the stage (one extent) or in the auxiliary buffer */
    tutti__message message;
    int started, done;
} tutti__traffic;

/* A window in work. */
typedef struct tutti__work {
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
    tutti__traffic *traffic; /* room for all batches of the load */
    tutti__extents extents;  /* of the traffics */
    tutti__window_io io;     /* what goes to or comes from the file */
    tutti_store_request *request;
    double since, ended; /* when this phase began, and when its file access ended */
} tutti__work;

struct tutti__run {
    tutti__op *op;
    const tutti_access *access; /* what this rank moves: the operation's, or what is left of it */
    tutti__two_phase *two;
    tutti_file *file;
    tutti__stage stage;
    int tag;
    int window_slots, relay_slots;
    tutti__work *work;             /* [window_slots + relay_slots] */
    tutti_count window_next;       /* the next cycle of my domain, -1: no more */
    tutti_count *relay_next;       /* [relays] */
    tutti_count *destination_next; /* [destinations] */
    struct tutti__cycles *cycles;  /* cycle by cycle, see cycles.h; NULL: as windows get ready */
    char *own; /* message buffers: in the background of its own, otherwise the team's */
    char *aux;
    int auxes; /* buffers of a window each in `aux` for window_slots, which take turns if there are fewer */
    int holding; /* resident read: bytes stay in staging until the second part */
    double started;
    tutti_err err; /* the first trouble of this rank; from then on files are left alone */
    tutti_error_info info;
    tutti_off done, total;
};

/* Advance whatever can; 1 if anything did. */
int tutti__run_progress(tutti__run *r);
/* Remember the first error (it is this thread's last one). */
void tutti__run_fail(tutti__run *r, tutti_err err);

/* Begin: the operation, what of it this rank moves, its next windows. */
void tutti__run_start(tutti__run *r, tutti__op *op);
/* Bytes of this rank that are done; what higher ranks write for it counts. */
tutti_off tutti__run_moved(const tutti__run *r);
/* That, as this thread's last error. */
tutti_err tutti__run_outcome(const tutti__run *r) TUTTI_MUST_USE;

/* The next cycle of an aggregator, from `cycle` on, in which I have bytes, or -1. */
tutti_count tutti__destination_after(const tutti__run *r, const tutti__destination *s,
                                     tutti_count cycle);

/* ---- windows.c: what home and carrier share */
tutti_count tutti__incoming_next(const tutti__run *r, const tutti__incoming *l, tutti_count from);
void tutti__work_begin(tutti__run *r, tutti__work *w, const tutti__incoming *l, tutti_count cycle);
/* Is no earlier window of the same domain still in this phase?  Between two ranks messages are matched
 * in order, so windows take turns in starting them. */
int tutti__work_is_first(const tutti__run *r, const tutti__work *w);
tutti_off tutti__senders_bytes(const tutti__incoming *l, const tutti__sender_group *b, tutti_off lo,
                               tutti_off hi);
/* Note the traffic of a batch with the window, if there is any; NULL: none, or out of memory. */
tutti__traffic *tutti__traffic_add(tutti__run *r, tutti__work *w, const tutti__sender_group *b);
/* A message's bytes between the auxiliary buffer and the stage. */
void tutti__traffic_pack(tutti__run *r, tutti__work *w, tutti__traffic *m);
void tutti__traffic_unpack(tutti__run *r, tutti__work *w, tutti__traffic *m);
/* Place the message in the stage or in the auxiliary buffer; 0: no room now. */
int tutti__traffic_place(tutti__work *w, tutti__traffic *m);
void tutti__traffic_send(tutti__run *r, tutti__work *w, tutti__traffic *m);
void tutti__traffic_receive(tutti__run *r, tutti__traffic *m);
/* Has the message arrived or left? */
int tutti__traffic_test(tutti__run *r, tutti__traffic *m);

int tutti__aggregator_progress(tutti__run *r, tutti__work *w); /* home.c */
int tutti__relay_progress(tutti__run *r, tutti__work *w);      /* carry.c */

#endif
