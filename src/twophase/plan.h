/* twophase: a plan: the method of an operation and, for two-phase I/O, the bytes that each rank
 * moves.
 *
 *   aggregators     ranks that access the file, each for one file domain, window by window
 *   destinations    aggregators that move bytes of this rank: the File Access Descriptor of Thakur
 *                   and Choudhary
 *   incoming        ranks with bytes in the windows of this rank: the File Domain Access Table
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
    /* every window has its own memory, so that file access continues in the background */
    int resident;
    tutti_off memory_limit; /* limit of staging memory per node in bytes; 0: use the options */
    tutti_off block;        /* writes: windows are cut between blocks of this size; 0: anywhere */
    tutti_off base;         /* file offset of the request, for error messages */
} tutti__means;

/* ---- sources of an aggregator or a relay */

typedef struct tutti__source {
    int rank, group;
    tutti__side side; /* file side of the rank, complete at least inside the domain */
} tutti__source;

/* The sources of one group.  They share staging memory, and one rank of the group, the relay,
 * exchanges messages with the aggregator. */
typedef struct tutti__sender_group {
    int group;
    int first, n; /* range of sources: index of the first, and number */
    int peer;     /* at the aggregator: the relay of the group; at the relay: the aggregator */
} tutti__sender_group;

typedef struct tutti__incoming {
    int aggregator;
    int n, sender_groups;
    tutti__source *source; /* [n] sorted by group, then by rank */
    tutti__side *side;     /* [n] file sides of `source` as an array */
    tutti__side *lost;     /* [n] bytes not sent, since a higher rank writes them; NULL: none */
    tutti__sender_group *senders;
} tutti__incoming;

/* ---- the two-phase part of a plan */

typedef struct tutti__destination {
    int aggregator;
    tutti_count first; /* first cycle of the aggregator with bytes of this rank */
    int member;        /* member of the group that owns the slot: aggregator or relay */
    int by_relay;      /* the aggregator is in another group: bytes pass through a relay */
} tutti__destination;

typedef struct tutti__two_phase {
    tutti__groups *groups;
    int shared; /* the groups are the nodes of the team, with shared staging memory */
    /* overlaps are too large to be trimmed: all bytes are sent as messages, in rank order */
    int ordered;
    tutti__domains domains;
    int *agg_rank;       /* [domains.aggregators] rank of each aggregator */
    int my_agg;          /* aggregator number of this rank; -1: not an aggregator */
    int window_slots;    /* slots per rank for windows of its own domain */
    int relay_slots;     /* slots per rank for windows that it relays */
    tutti_off elsewhere; /* resident: bytes that other operations use, the same on all ranks */
    int pipeline;        /* TUTTI_PIPELINE_*, never auto */
    int literal;         /* use the literal engine (cycles.h) with `kind` and `step` */
    int kind, step;      /* TUTTI_EXCHANGE_TWO_SIDED in step 1 ... 5, _FENCE or _LOCK */
    int lanes;           /* literal: maximum number of concurrent exchanges */
    tutti_off bytes;     /* number of bytes of all ranks */
    tutti_off gap;       /* largest hole in bytes that is read instead of skipped */
    int messages;        /* some bytes are sent by messages */
    int destinations;
    tutti__destination *destination; /* [destinations] in visiting order */
    tutti__incoming incoming;        /* sources of the windows of this rank */
    int relays;
    /* [relays] sources in this group, per aggregator for which this rank relays; in visiting
     * order */
    tutti__incoming *relay;
    /* access of this rank without the bytes that higher ranks write; NULL: no byte is removed */
    tutti_access *trimmed;
} tutti__two_phase;

/* A plan with descriptions of more than CACHED_BYTES on some rank is large: few large plans are
 * cached, and only those with descriptions of at most 1/CACHED_PART of the bytes that they move. */
#define TUTTI__CACHED_BYTES ((tutti_off)4 << 20)
#define TUTTI__CACHED_PART 4

/* Parameters that choose.c selects for a request.  They are used for options that are auto or 0. */
typedef struct tutti__choice {
    int method;             /* TUTTI_METHOD_*, never auto */
    int exchange, pipeline; /* auto: no preference */
    int aggregators;  /* number of aggregators; 0: such that each has at least `least` bytes */
    tutti_off window; /* 0: no preference */
    tutti_off least;
    int cold; /* reads: the bytes are not in the page cache */
    /* largest hole in bytes that is read (or overwritten, if allowed) instead of skipped */
    tutti_off gap;
    char why[160], gap_why[64];
} tutti__choice;

enum { TUTTI__CACHED = 1, TUTTI__BUSY = 2 };

extern const tutti__class tutti__plan_class;

struct tutti_plan {
    tutti__handle handle; /* handle of a plan that the caller owns; otherwise unused */
    tutti_file *file;
    int64_t number;
    struct {
        int is_write;
        tutti_access *access; /* &own, or an access that another object owns */
        tutti_access own;
        tutti__batch *batch; /* parts whose union is `access`; NULL: a single access */
    } asked;
    tutti__means means; /* resources of the operation; `resident` is the final decision */
    struct {
        tutti__segment segment;  /* resident: staging memory of the plan */
        tutti_off counted_bytes; /* bytes of the plan that count towards background_bytes */
    } memory;
    tutti__choice choice;        /* final choice of method and parameters */
    tutti__two_phase *two;       /* used by the methods two-phase and root */
    const tutti__engine *engine; /* engine that executes the plan */
    struct tutti__run *run; /* state of the engine; NULL: every rank accesses the file itself */
    int in_rank_order; /* methods without exchange: ranks overlap and write one after the other */
    int used;          /* the plan has been executed before */
    tutti_request *request; /* request that tutti_plan_start returned; NULL: none */
    struct {
        /* bits TUTTI__CACHED (in the cache) and TUTTI__BUSY (an operation uses the plan) */
        _Atomic int state;
        int resident, inside; /* requested modes: in the background; inside a fiber */
        int degraded;         /* made with too little memory: make a new plan next time */
        int joint;            /* a small write without holes: one rank may write for all */
        int hits;
        tutti_off described;       /* maximum over ranks of the bytes of descriptions */
        tutti_off worth;           /* limit of `described` for a cached plan */
        tutti_off lo, bytes, span; /* first offset, bytes and extent of the request of all ranks */
        tutti_plan *older;
    } cache;
    char explain[512];
};

/* ---- decide.c, describe.c: the steps of planning */

/* Decide on exchange, pipeline, windows, aggregators and domains from the summary `s`; the result
 * is the same on all ranks.  `singles`: do not use shared memory.   Collective. */
tutti_err tutti__two_phase_decide(tutti_plan *p, const tutti__summary *s,
                                  int singles) TUTTI_MUST_USE;
/* Find destinations, exchange descriptions with the aggregators, collect sources; report whether
 * and where ranks overlap in the domain of this rank.   Collective; returns the error code of this
 * rank. */
tutti_err tutti__two_phase_describe(tutti_plan *p, int *overlap_out,
                                    tutti_off *where_out) TUTTI_MUST_USE;

/* ---- two_phase.c */

/* Return whether a method transfers bytes through staging.  Writes by other methods are also
 * planned, to prove that ranks do not overlap. */
int tutti__is_staged(int method);
/* Return the first cycle >= `from` in which `l` has bytes before the end of the file; -1: none. */
tutti_count tutti__incoming_next(const tutti__two_phase *t, const tutti__incoming *l,
                                 tutti_count from, tutti_off eof);
/* Check the invariants after tutti__two_phase_decide, for assertions; O(destinations + sources). */
int tutti__two_phase_is_valid(const tutti__two_phase *t);
/* Clear the two-phase part, so that another attempt can be made; free it. */
void tutti__two_phase_clear(tutti__two_phase *t);
void tutti__two_phase_free(tutti__two_phase **t);
/* Return the memory of a plan on this rank in bytes. */
size_t tutti__plan_bytes(const tutti_plan *p);

/* ---- resident.c: staging memory on a node */

/* Return the bytes that the transfer needs on the largest node, including buffers for messages. */
tutti_off tutti__plan_moving(const tutti_plan *p);
/* Return this rank's share in bytes of the staging memory of a plan during its execution. */
tutti_off tutti__plan_staging(const tutti_plan *p);
/* Set the number of slots of a resident plan, which has memory for all of its windows at once:
 * every rank gets as many slots as the busiest aggregator needs.  *fits_out: the largest node has
 * enough memory for them and for other operations.   Collective, agrees on `local_err`. */
tutti_err tutti__resident_slots(tutti_plan *p, tutti_err local_err, int *fits_out) TUTTI_MUST_USE;
int tutti__resident_fits(const tutti_plan *p);
/* Allocate the memory of a resident plan.   Collective on the node, agrees. */
tutti_err tutti__resident_ensure(tutti_plan *p, size_t bytes) TUTTI_MUST_USE;
void tutti__resident_not(tutti_plan *p);      /* make it a plan that is not resident */
void tutti__plan_segment_drop(tutti_plan *p); /* release the memory of its windows */

#endif
