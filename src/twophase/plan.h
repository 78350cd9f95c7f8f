/* twophase: a plan: by which method the bytes of all ranks go and, in two phases, who moves what.
 *
 *   aggregators     ranks that access the file, each for one file domain, window by window
 *   destinations    where this rank's own bytes go: the File Access Descriptor of Thakur and
 *                   Choudhary
 *   incoming        whose bytes come to this rank's windows: their File Domain Access Table
 *   relays          ranks that pass the bytes of their group on to an aggregator of another group,
 *                   or back: one message a window and group instead of one a rank
 *
 * Groups are the nodes where ranks of a node share staging memory, otherwise every rank is one.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TWOPHASE_PLAN_H
#define TUTTI_TWOPHASE_PLAN_H

#include "access/batch.h"
#include "exchange/staging.h"
#include "exchange/slot.h"
#include "file/file.h"
#include "plan/cost.h"
#include "plan/domains.h"

typedef struct tutti__engine tutti__engine; /* engine/engine.h */

/* What an operation works with. */
typedef struct tutti__means {
    tutti_store *store;
    tutti_stats *stats;
    int resident; /* every window has memory of its own, so that file access can go on by itself */
    tutti_off room;  /* staging memory of a node that it may have, 0: what the options allow */
    tutti_off block; /* writes: windows are cut between blocks of this size; 0: anywhere */
    tutti_off base;  /* of the request that it was made for, for messages */
} tutti__means;

/* ---- what an aggregator or a relay knows of the ranks whose bytes it handles */

typedef struct tutti__source {
    int rank, group;
    tutti__side side; /* the rank's file side, at least where it touches the domain */
} tutti__source;

/* The sources of one group: they share staging memory, and one rank of theirs, the relay, exchanges
 * messages with the other end. */
typedef struct tutti__sender_group {
    int group;
    int first, n; /* sources */
    int peer;     /* the rank at the other end: their relay, or, if I am that, the aggregator */
} tutti__sender_group;

typedef struct tutti__incoming {
    int aggregator;
    int n, sender_groups;
    tutti__source *source; /* by group, then by rank */
    tutti__side *side;     /* [n] the same sides in a row */
    tutti__side
        *lost; /* [n] what they do not send of them: a higher rank writes it; NULL: nothing */
    tutti__sender_group *senders;
} tutti__incoming;

/* ---- the two-phase part of a plan */

typedef struct tutti__destination {
    int aggregator;
    tutti_count first; /* its first cycle with bytes of this rank */
    int member;        /* whose slot in my group's stage: the aggregator's, or the relay's */
    int by_relay;      /* the aggregator is in another group: through a relay */
} tutti__destination;

typedef struct tutti__two_phase {
    tutti__groups *groups;
    int shared;  /* groups are the team's nodes */
    int ordered; /* ranks overlap too much to be trimmed: all by message, placed in rank order */
    tutti__domains domains;
    int *agg_rank;       /* [domains.aggregators] */
    int my_agg;          /* -1: none */
    int window_slots;    /* slots of a member: for its own windows */
    int relay_slots;     /* and for windows it relays */
    tutti_off elsewhere; /* resident: memory that other operations have, as agreed */
    int pipeline;        /* TUTTI_PIPELINE_*, never auto */
    int literal;         /* cycle by cycle (cycles.h), with this exchange: */
    int kind, step;      /* TUTTI_EXCHANGE_TWO_SIDED in step 1 ... 5, _FENCE or _LOCK */
    int lanes;           /* literal: cycles whose exchange may be under way at a time */
    tutti_off bytes;     /* of all ranks */
    tutti_off gap;       /* as chosen: holes of this size are read along */
    int messages;        /* some bytes travel by message */
    int destinations;
    tutti__destination *destination; /* where my own bytes go, in the order of the walk */
    tutti__incoming incoming;        /* all sources of my windows */
    int relays;
    tutti__incoming *relay; /* my group's sources of windows that I relay, in walk order */
    tutti_access *walk; /* this rank's access without what higher ranks write; NULL: all of it */
} tutti__two_phase;

/* A plan whose descriptions take more than this on some rank is large: few of them are cached, and only
 * those that take no more than a part of the bytes that they move. */
#define TUTTI__CACHED_BYTES ((tutti_off)4 << 20)
#define TUTTI__CACHED_PART 4

/* What choose.c says of a request.  Where an option is auto, or 0, this counts. */
typedef struct tutti__choice {
    int method;             /* never auto */
    int exchange, pipeline; /* auto: no opinion */
    int aggregators;        /* 0: as many as have `least` bytes */
    tutti_off window;       /* 0: no opinion */
    tutti_off least;
    int cold;      /* reads: for bytes that are not in the page cache */
    tutti_off gap; /* holes of this size are read along, or written over where that is allowed */
    char why[160], gap_why[64];
} tutti__choice;

enum { TUTTI__CACHED = 1, TUTTI__BUSY = 2 };

extern const tutti__class tutti__plan_class;

struct tutti_plan {
    tutti__handle handle; /* the caller's plans, until they are freed */
    tutti_file *file;
    int64_t number;
    struct {
        int is_write;
        tutti_access *access; /* `own`, or one that belongs to another object */
        tutti_access own;
        tutti__batch *batch; /* whose union that is; NULL: it is a single access */
    } asked;
    tutti__means means; /* of the operation that makes it; `resident`: it came out so */
    struct {
        tutti__segment segment; /* resident: its staging memory */
        tutti_off held;         /* what that counts of background_bytes */
    } memory;
    tutti__choice choice;        /* as it was carried out in the end */
    tutti__two_phase *two;       /* methods two-phase and root */
    const tutti__engine *engine; /* that carries it out, and its state: */
    struct tutti__run *run;      /* NULL: no staging, every rank for itself */
    int in_rank_order; /* methods without exchange: ranks overlap and write one after the other */
    int used;          /* it has been run before */
    tutti_request *request; /* that tutti_plan_start has made, or NULL */
    struct {
        _Atomic int state;    /* TUTTI__CACHED: it is; TUTTI__BUSY: an operation runs by it */
        int resident, inside; /* requested: the background, in a fiber */
        int degraded;         /* memory was short when it was made: the next one may be better */
        int joint;            /* a small write without holes: one rank can do it for all */
        int hits;
        tutti_off described;       /* bytes that descriptions take on some rank, as agreed */
        tutti_off worth;           /* what they may take; the same on all ranks */
        tutti_off lo, bytes, span; /* of all ranks; from first to last byte */
        tutti_plan *older;
    } cache;
    char explain[512];
};

/* ---- decide.c, describe.c: the steps of planning */

/* Exchange, pipeline, windows, aggregators, domains: the same on all ranks, from what all have
 * said.  `singles`: without shared memory.   Collective. */
tutti_err tutti__two_phase_decide(tutti_plan *p, const tutti__summary *s,
                                  int singles) TUTTI_MUST_USE;
/* Destinations, descriptions to the aggregators, what comes in; whether ranks overlap in my domain,
 * and where.   Collective; this rank's outcome. */
tutti_err tutti__two_phase_describe(tutti_plan *p, int *overlap_out,
                                    tutti_off *where_out) TUTTI_MUST_USE;

/* ---- two_phase.c */

/* Does the method move bytes through staging?  Others are planned too, when they write: for the
 * proof that ranks do not overlap. */
int tutti__is_staged(int method);
/* The next cycle, from `from` on, in which there are incoming bytes before the end of the file; -1:
 * none. */
tutti_count tutti__incoming_next(const tutti__two_phase *t, const tutti__incoming *l,
                                 tutti_count from, tutti_off eof);
/* After decide: do the parts agree with each other?  For assertions: O(destinations + sources). */
int tutti__two_phase_is_valid(const tutti__two_phase *t);
/* Empty the two-phase part for another try; free it. */
void tutti__two_phase_clear(tutti__two_phase *t);
void tutti__two_phase_free(tutti__two_phase **t);
/* A plan's bytes of memory on this rank. */
size_t tutti__plan_bytes(const tutti_plan *p);

/* ---- resident.c: staging memory on a node */

/* All memory that moving takes on the largest node: buffers for messages, too. */
tutti_off tutti__plan_moving(const tutti_plan *p);
/* This rank's share of the staging memory of a plan that runs. */
tutti_off tutti__plan_staging(const tutti_plan *p);
/* A resident plan has memory for all of its windows at once: everybody has as many slots as the
 * busiest aggregator needs, if the largest node has memory for them beside what other operations
 * have.   Collective, agrees. */
tutti_err tutti__resident_slots(tutti_plan *p, tutti_err mine, int *fits_out) TUTTI_MUST_USE;
int tutti__resident_fits(const tutti_plan *p);
tutti_err tutti__resident_ensure(tutti_plan *p, size_t bytes) TUTTI_MUST_USE; /* a node, agreed */
void tutti__resident_not(tutti_plan *p);      /* it is not to be resident after all */
void tutti__plan_segment_drop(tutti_plan *p); /* what a resident plan had for its windows */

#endif
