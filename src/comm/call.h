/* comm: every collective call of a file opens by telling which it is.  Ranks that are in different
 * ones so find each other out: all return TUTTI_ERR_MISMATCH, and nothing has been done.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CALL_H
#define TUTTI_CALL_H

#include "comm/vote.h"

typedef enum tutti__call_kind {
    TUTTI__CALL_WRITE, /* at once, split or started */
    TUTTI__CALL_READ,
    TUTTI__CALL_PLAN_WRITE,
    TUTTI__CALL_PLAN_READ,
    TUTTI__CALL_RUN_WRITE, /* by a plan, at once or started */
    TUTTI__CALL_RUN_READ,
    TUTTI__CALL_WRITE_END,
    TUTTI__CALL_READ_END,
    TUTTI__CALL_SIZE,
    TUTTI__CALL_RESIZE,
    TUTTI__CALL_PREALLOCATE,
    TUTTI__CALL_SYNC,
    TUTTI__CALL_ATOMIC,
    TUTTI__CALL_CHANGE,
    TUTTI__CALL_CLOSE,
    TUTTI__CALL_REPLICAS,       /* an inspector is made */
    TUTTI__CALL_REPLICAS_CHECK, /* copies are compared */
    TUTTI__CALL_DATASET,        /* of a dataset; `agrees` has its name too */
    TUTTI__CALL_DECOMPOSITION,  /* one is made */
    TUTTI__CALL_ARRAY,  /* whatever is not done by one of the others; `agrees` has its name too */
    TUTTI__CALL_ARRAYS, /* of two arrays, opens */
    TUTTI__CALL_TILES,  /* a step of a walk over an array, or its end */
    TUTTI__CALL_MESH,   /* as for arrays, of meshes and their parts */
    TUTTI__CALL_EXODUS, /* of an Exodus file; `agrees` has its name too */
    TUTTI__CALLS
} tutti__call_kind;

typedef struct tutti__call {
    tutti__call_kind kind;
    int64_t agrees;   /* what must be the same on all ranks: a number or a hash */
    const char *what; /* that is, in the plural, for the message */
    int number;       /* it is a number that says something to people */
    int names;        /* it says which of the kind's calls it is: known also where a rank refuses */
} tutti__call;

/* Open a call: all are in the same one, agree, and have nothing against it.  Otherwise all ranks
 * return the same: if calls differ, in kind or name, TUTTI_ERR_MISMATCH, else the error of the
 * lowest rank that has one, else TUTTI_ERR_MISMATCH for what ought to agree.  The error is the same
 * in all its fields; where calls differ its operation is "collective call".  After it the caller may add
 * an operation or a path only if it is the same on all ranks.   range[i]: as for
 * tutti__consensus; also known if the only error is that ranks do not agree, otherwise none.
 * Collective. */
tutti_err tutti__team_call(tutti__team *t, const tutti__call *c, tutti_err mine, int n,
                           tutti__range *range) TUTTI_MUST_USE;
/* The same by a vote, for a team without consensus, or that has had one about this call already. */
tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err mine,
                                tutti__vote *io) TUTTI_MUST_USE;
/* The parts, for an opening by tutti__consensus that asks more: what this rank says in its first
 * ranges; then are all in one call; then, if nobody refuses, what agrees. */
void tutti__call_tell(const tutti__team *t, const tutti__call *c, tutti_err mine,
                      tutti__range told[TUTTI__CALL_TELLS]);
int tutti__calls_differ(const tutti__range told[TUTTI__CALL_TELLS]); /* in either */
tutti_err tutti__call_compare(tutti__team *t,
                              const tutti__range told[TUTTI__CALL_TELLS]) TUTTI_MUST_USE;
tutti_err tutti__call_agree(const tutti__call *c,
                            const tutti__range told[TUTTI__CALL_TELLS]) TUTTI_MUST_USE;

#endif
