/* twophase: a plan: the method of an operation and, for two-phase I/O, the bytes that each rank moves.
 *
 *   aggregators     ranks that access the file, each for one file domain, window by window
 *   destinations    aggregators of the bytes of this rank: the File Access Descriptor of Thakur and
 *                   Choudhary
 *   incoming        sources of the windows of this rank: their File Domain Access Table
 *   relays          ranks that forward the bytes of their group to an aggregator of another group,
 *                   or back: one message per window and group instead of one per rank
 *
 * A group is a node if its ranks share staging memory; otherwise every rank is a group.
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

/* Resources of an operation. */
typedef struct tutti__means {
    tutti_store *store;
    tutti_stats *stats;
    int resident;    /* every window has its own memory, so that file access continues in the
                   * background */
    tutti_off room;  /* limit of staging memory per node; 0: that of the options */
    tutti_off block; /* writes: windows are cut between blocks of this size; 0: anywhere */
    tutti_off base;  /* of the request that it was made for, for messages */
} tutti__means;

/* ---- sources of an aggregator or a relay */

typedef struct tutti__source {
    int rank, group;
    tutti__side side; /* the rank's file side, at least where it touches the domain */
} tutti__source;

/* The sources of one group: they share staging memory, and one of its ranks, the relay, exchanges
 * messages with the aggregator. */
typedef struct tutti__sender_group {
    int group;
    int first, n; /* sources */
    int peer;     /* at the aggregator: the relay of the group; at the relay: the aggregator */
} tutti__sender_group;

typedef struct tutti__incoming {
    int aggregator;
    int n, sender_groups;
    tutti__source *source; /* by group, then by rank */
    tutti__side *side;     /* [n] the same sides as an array */
    tutti__side *lost; /* [n] bytes that a higher rank writes and they do not send; NULL: none */
    tutti__sender_group *senders;
} tutti__incoming;

/* ---- the two-phase part of a plan */

typedef struct tutti__destination {
    int aggregator;
    tutti_count first; /* its first cycle with bytes of this rank */
    int member;        /* owner of the slot in the stage of the group: aggregator or relay */
    int by_relay;      /* the aggregator is in another group: bytes pass through a relay */
} tutti__destination;

typedef struct tutti__two_phase {
    tutti__groups *groups;
    int shared;  /* groups are the team's nodes */
    int ordered; /* overlaps are too large to be trimmed: all bytes by messages, in rank order */
    tutti__domains domains;
    int *agg_rank;       /* [domains.aggregators] */
    int my_agg;          /* -1: none */
    int window_slots;    /* slots of a member for its own windows */
    int relay_slots;     /* and for windows that it relays */
    tutti_off elsewhere; /* resident: memory that other operations use, agreed on by all ranks */
    int pipeline;        /* TUTTI_PIPELINE_*, never auto */
    int literal;         /* the literal engine (cycles.h), with this exchange: */
    int kind, step;      /* TUTTI_EXCHANGE_TWO_SIDED in step 1 ... 5, _FENCE or _LOCK */
    int lanes;           /* literal: maximal number of concurrent exchanges */
    tutti_off bytes;     /* of all ranks */
    tutti_off gap;       /* as chosen: holes up to this size are read, too */
    int messages;        /* some bytes are sent by messages */
    int destinations;
    tutti__destination *destination; /* of the bytes of this rank, in visiting order */
    tutti__incoming incoming;        /* all sources of the windows of this rank */
    int relays;
    tutti__incoming *relay; /* sources in this group of windows that this rank relays, same order */
    tutti_access
        *trimmed; /* access of this rank without bytes that higher ranks write; NULL: all */
} tutti__two_phase;

/* A plan with descriptions of more than CACHED_BYTES on some rank is large: few large plans are cached,
 * and only those with descriptions of at most 1/CACHED_PART of the bytes that they move. */
#define TUTTI__CACHED_BYTES ((tutti_off)4 << 20)
#define TUTTI__CACHED_PART 4

/* The choice for a request (choose.c).  It is used for options that are auto or 0. */
typedef struct tutti__choice {
    int method;             /* never auto */
    int exchange, pipeline; /* auto: no preference */
    int aggregators;        /* 0: as many as have `least` bytes */
    tutti_off window;       /* 0: no preference */
    tutti_off least;
    int cold;      /* reads: bytes are not in the page cache */
    tutti_off gap; /* holes up to this size are read, too, or overwritten if that is allowed */
    char why[160], gap_why[64];
} tutti__choice;

enum { TUTTI__CACHED = 1, TUTTI__BUSY = 2 };

extern const tutti__class tutti__plan_class;

struct tutti_plan {
    tutti__handle handle; /* of plans of the caller, until they are freed */
    tutti_file *file;
    int64_t number;
    struct {
        int is_write;
        tutti_access *access; /* `own`, or one that belongs to another object */
        tutti_access own;
        tutti__batch *batch; /* `access` is the union of its parts; NULL: a single access */
    } asked;
    tutti__means means; /* of the operation that makes it; `resident`: the final decision */
    struct {
        tutti__segment segment;  /* resident: its staging memory */
        tutti_off counted_bytes; /* its share of background_bytes */
    } memory;
    tutti__choice choice;        /* the final one */
    tutti__two_phase *two;       /* methods two-phase and root */
    const tutti__engine *engine; /* that executes it, and its state: */
    struct tutti__run *run;      /* NULL: no staging, every rank accesses the file itself */
    int in_rank_order; /* methods without exchange: ranks overlap and write one after the other */
    int used;          /* it has been executed before */
    tutti_request *request; /* of tutti_plan_start, or NULL */
    struct {
        _Atomic int state;    /* TUTTI__CACHED: in the cache; TUTTI__BUSY: an operation uses it */
        int resident, inside; /* requested: in the background, in a fiber */
        int degraded;         /* memory was short when it was made: the next one may be better */
        int joint;            /* a small write without holes, which one rank can do for all */
        int hits;
        tutti_off described;       /* largest descriptions of a rank, agreed on by all ranks */
        tutti_off worth;           /* their limit; the same on all ranks */
        tutti_off lo, bytes, span; /* of all ranks; from first to last byte */
        tutti_plan *older;
    } cache;
    char explain[512];
};

/* ---- decide.c, describe.c: the steps of planning */

/* Decide on exchange, pipeline, windows, aggregators and domains from the summary: the same on all
 * ranks.  `singles`: without shared memory.   Collective. */
tutti_err tutti__two_phase_decide(tutti_plan *p, const tutti__summary *s,
                                  int singles) TUTTI_MUST_USE;
/* Find destinations, exchange descriptions with the aggregators, collect sources; report whether and
 * where ranks overlap in the domain of this rank.   Collective; returns the outcome of this rank. */
tutti_err tutti__two_phase_describe(tutti_plan *p, int *overlap_out,
                                    tutti_off *where_out) TUTTI_MUST_USE;

/* ---- two_phase.c */

/* Test whether the method transfers bytes through staging.  Writes by other methods are planned,
 * too, to prove that ranks do not overlap. */
int tutti__is_staged(int method);
/* The next cycle, from `from` on, in which there are incoming bytes before the end of the file; -1:
 * none. */
tutti_count tutti__incoming_next(const tutti__two_phase *t, const tutti__incoming *l,
                                 tutti_count from, tutti_off eof);
/* Consistency check after decide, for assertions: O(destinations + sources). */
int tutti__two_phase_is_valid(const tutti__two_phase *t);
/* Empty the two-phase part for another attempt; free it. */
void tutti__two_phase_clear(tutti__two_phase *t);
void tutti__two_phase_free(tutti__two_phase **t);
/* Memory of a plan on this rank, in bytes. */
size_t tutti__plan_bytes(const tutti_plan *p);

/* ---- resident.c: staging memory on a node */

/* All memory that the transfer needs on the largest node, including buffers for messages. */
tutti_off tutti__plan_moving(const tutti_plan *p);
/* Share of this rank in the staging memory of a plan that is executed. */
tutti_off tutti__plan_staging(const tutti_plan *p);
/* A resident plan has memory for all of its windows at once: every rank gets as many slots as the
 * busiest aggregator needs, if the largest node has enough memory in addition to that of other
 * operations.   Collective, agrees on `local_err`. */
tutti_err tutti__resident_slots(tutti_plan *p, tutti_err local_err, int *fits_out) TUTTI_MUST_USE;
int tutti__resident_fits(const tutti_plan *p);
/* Allocate its memory.   Collective on the node, agrees. */
tutti_err tutti__resident_ensure(tutti_plan *p, size_t bytes) TUTTI_MUST_USE;
void tutti__resident_not(tutti_plan *p);      /* make it an ordinary plan */
void tutti__plan_segment_drop(tutti_plan *p); /* release the memory of its windows */

#endif
