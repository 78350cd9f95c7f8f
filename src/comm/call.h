/* comm: the protocol that starts every collective call.  Each rank announces the name of its call, a hash
 * of the arguments that must be the same on all ranks, and whether it has an error.  If ranks are in
 * different calls, all of them return TUTTI_ERR_MISMATCH, and the calls have no effect.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CALL_H
#define TUTTI_CALL_H

#include "comm/vote.h"

typedef struct tutti__call {
    /* NAME in the public function tutti_OBJECT_NAME; ranks compare OBJECT and NAME */
    const char *name;
    const char *what;   /* what must be the same on all ranks: a plural noun for the message */
    uint64_t hash;      /* hash of the arguments named by `what` */
    const char *object; /* OBJECT: tutti__class.name */
    int is_number;      /* whether `hash` is a number to be printed in the message */
    int ranges;
    /* [ranges] in: one number or none; out: minimum and maximum over all ranks */
    tutti__range *range;
} tutti__call;

/* Start a collective call: check that all ranks are in the same call, that their arguments agree,
 * and that no rank has an error (`local_err`).  Otherwise all ranks return the same error, equal
 * in all fields: TUTTI_ERR_MISMATCH with the operation "collective mismatch" if the calls differ;
 * else the error of the lowest rank that has one; else TUTTI_ERR_MISMATCH for the arguments.  The
 * caller may add an operation or a path to the error only if it is the same on all ranks.
 * c->range is set on success and if only the arguments differ; after other errors it is empty.
 * Collective. */
tutti_err tutti__team_call(tutti__team *t, const tutti__call *c,
                           tutti_err local_err) TUTTI_MUST_USE;
/* Like tutti__team_call, by a vote with the reductions and ranges of *io; used if the team has no consensus,
 * or has already used it for this call.  Collective. */
tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err local_err,
                                tutti__vote *io) TUTTI_MUST_USE;

/* The following functions are the parts of tutti__team_call, for callers of tutti__consensus that pass
 * additional values. */
/* Set the first ranges of this rank to the values that describe its call.  Not collective. */
void tutti__call_announce(const tutti__team *t, const tutti__call *c, tutti_err local_err,
                          tutti__range announced[TUTTI__ANNOUNCEMENTS]);
/* Return whether names or arguments of the calls differ, given the combined ranges; the result is the same on
 * all ranks.  Not collective. */
int tutti__calls_differ(const tutti__range announced[TUTTI__ANNOUNCEMENTS]);
/* Compare the names of the calls; if they differ, two ranks send their names to all ranks for the message.
 * Collective. */
tutti_err tutti__call_compare(tutti__team *t, const tutti__call *c,
                              const tutti__range announced[TUTTI__ANNOUNCEMENTS]) TUTTI_MUST_USE;
/* Compare the arguments of the calls, after checking that no rank has an error.  Not collective. */
tutti_err tutti__call_agree(const tutti__call *c,
                            const tutti__range announced[TUTTI__ANNOUNCEMENTS]) TUTTI_MUST_USE;

#endif
