/* comm: votes, which are reductions by messages.  A vote reduces some numbers over all ranks
 * together with the error of the lowest failing rank, so that all ranks return the same error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_VOTE_H
#define TUTTI_VOTE_H

#include "comm/team.h"

/* Minimum and maximum of a number over all ranks. */
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

/* Indices of the ranges that describe a rank's call (call.h), and their number. */
enum { TUTTI__ANNOUNCED_CALL, TUTTI__ANNOUNCED_HASH, TUTTI__ANNOUNCEMENTS };

/* A reduction over all ranks, whose result replaces *number.  A sum that overflows is INT64_MAX. */
typedef struct tutti__reduction {
    enum { TUTTI__MIN, TUTTI__MAX, TUTTI__SUM } op;
    int64_t *number;
} tutti__reduction;

enum { TUTTI__REDUCTIONS = 20, TUTTI__RANGES = 32 }; /* maximum number of each in a vote */

/* Arguments and results of a vote. */
typedef struct tutti__vote {
    int64_t fail; /* out: the lowest rank that failed; INT64_MAX: none */
    /* ranges that describe the call, if the vote starts a call (call.h) */
    tutti__range call[TUTTI__ANNOUNCEMENTS];
    int64_t yes; /* in: one bit per question; out: the bits that all ranks set */
    int reductions;
    /* [reductions]; operations must be the same on all ranks of a call */
    const tutti__reduction *reduction;
    int ranges; /* used items of `range` */
    /* in: one number or none; out: minimum and maximum over all ranks */
    tutti__range range[TUTTI__RANGES];
} tutti__vote;

void tutti__vote_init(tutti__vote *v); /* no reductions and ranges */
/* Reduce *io over all ranks.  If `local_err` is an error on any rank, all ranks return the error of
 * the lowest such rank, which becomes their last error; the values are reduced in any case.
 * Collective. */
tutti_err tutti__team_vote(tutti__team *t, tutti_err local_err, tutti__vote *io) TUTTI_MUST_USE;
/* Vote with n reductions, which must be the same on all ranks.  Collective. */
tutti_err tutti__team_reduce(tutti__team *t, tutti_err local_err, int n,
                             const tutti__reduction *reduction) TUTTI_MUST_USE;
/* Vote that replaces *io by its maximum over all ranks.  Collective. */
tutti_err tutti__team_max(tutti__team *t, tutti_err local_err, int64_t *io) TUTTI_MUST_USE;
/* Return the error `local_err` of the lowest rank that has one, on all ranks.  Collective. */
tutti_err tutti__team_agree(tutti__team *t, tutti_err local_err) TUTTI_MUST_USE;
/* Tag of votes that all ranks make in the same order; tags of operations are larger. */
enum { TUTTI__VOTE_TAG = 0 };
/* Like tutti__team_agree, while other votes, each with its own tag (tutti__team_vote_tag), are
 * pending in any order.  Collective. */
tutti_err tutti__team_agree_tagged(tutti__team *t, int tag, tutti_err local_err) TUTTI_MUST_USE;

/* Replace n numbers by their sums over all ranks.  Collective. */
tutti_err tutti__team_sum(tutti__team *t, int64_t *v, int n) TUTTI_MUST_USE;
/* Broadcast `bytes` bytes from rank 0.  Collective; `bytes` must be the same on all ranks. */
tutti_err tutti__team_broadcast(tutti__team *t, void *data, int bytes) TUTTI_MUST_USE;
/* Gather `bytes` bytes of every rank, in rank order, on all ranks; release *all_out with
 * tutti__free.   Collective; `bytes` must be the same on all ranks. */
tutti_err tutti__team_allgather(tutti__team *t, const void *own, size_t bytes,
                                void **all_out) TUTTI_MUST_USE;
/* Broadcast *bytes bytes from rank 0; the other ranks get *bytes and allocate *data.
 * Collective. */
tutti_err tutti__team_broadcast_bytes(tutti__team *t, void **data, size_t *bytes) TUTTI_MUST_USE;

#endif
