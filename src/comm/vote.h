/* comm: agreement by messages.  A vote reduces some numbers over all ranks together with the error
 * of the lowest failing rank, so that all ranks return the same error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_VOTE_H
#define TUTTI_VOTE_H

#include "comm/team.h"

/* The smallest and the largest number of all ranks. */
typedef struct tutti__range {
    int64_t min, max;
} tutti__range;

/* The empty range. */
static inline tutti__range tutti__range_none(void) {
    return (tutti__range){INT64_MAX, INT64_MIN};
}

static inline tutti__range tutti__range_of(int64_t v) {
    return (tutti__range){v, v};
}

/* The values that a rank contributes about its call, see comm/call.h. */
enum { TUTTI__ANNOUNCED_CALL, TUTTI__ANNOUNCED_HASH, TUTTI__ANNOUNCEMENTS };

/* A variable of the caller, and the reduction over all ranks, whose result replaces it.  A sum that
 * overflows is INT64_MAX. */
typedef struct tutti__reduction {
    enum { TUTTI__MIN, TUTTI__MAX, TUTTI__SUM } op;
    int64_t *number;
} tutti__reduction;

enum { TUTTI__REDUCTIONS = 20, TUTTI__RANGES = 32 }; /* at most in a vote */

/* The contents of a vote. */
typedef struct tutti__vote {
    int64_t fail;                            /* out: the lowest rank that failed, or INT64_MAX */
    tutti__range call[TUTTI__ANNOUNCEMENTS]; /* of a vote that opens a call */
    int64_t yes; /* one bit per question; out, the bits that all ranks set */
    int reductions;
    const tutti__reduction *reduction; /* [reductions], the same on all ranks in one call */
    int ranges;                        /* number of ranges */
    tutti__range range[TUTTI__RANGES];
} tutti__vote;

void tutti__vote_init(tutti__vote *v); /* without numbers and ranges */
/* If `mine` is an error on any rank, every rank returns the error of the lowest such rank and has
 * it as its last error; the numbers are reduced in any case.   Collective. */
tutti_err tutti__team_vote(tutti__team *t, tutti_err mine, tutti__vote *io) TUTTI_MUST_USE;
/* The same for numbers only: n reductions, the same on all ranks.   Collective. */
tutti_err tutti__team_reduce(tutti__team *t, tutti_err mine, int n,
                             const tutti__reduction *reduction) TUTTI_MUST_USE;
/* The same of one maximum.   Collective. */
tutti_err tutti__team_max(tutti__team *t, tutti_err mine, int64_t *io) TUTTI_MUST_USE;
/* The same without numbers. */
tutti_err tutti__team_agree(tutti__team *t, tutti_err mine) TUTTI_MUST_USE;
/* Votes follow one another by this tag; those of operations are larger. */
enum { TUTTI__VOTE_TAG = 0 };
/* The same while other votes are pending, each with its own tag
 * (tutti__team_vote_tag), in any order. */
tutti_err tutti__team_agree_tagged(tutti__team *t, int tag, tutti_err mine) TUTTI_MUST_USE;

/* Sum of n numbers over all ranks, in place.  Collective. */
tutti_err tutti__team_sum(tutti__team *t, int64_t *v, int n) TUTTI_MUST_USE;
/* Rank 0's bytes for all.  Collective, bytes agrees. */
tutti_err tutti__team_broadcast(tutti__team *t, void *data, int bytes) TUTTI_MUST_USE;
/* Gather `bytes` bytes of every rank, in rank order, on all ranks.  *all_out is to be freed.   Collective;
 * `bytes` must be the same on all ranks. */
tutti_err tutti__team_allgather(tutti__team *t, const void *own, size_t bytes,
                                void **all_out) TUTTI_MUST_USE;
/* Broadcast from rank 0, with a length that only rank 0 knows; *data is allocated on the others.  
 * Collective. */
tutti_err tutti__team_broadcast_bytes(tutti__team *t, void **data, size_t *bytes) TUTTI_MUST_USE;

#endif
