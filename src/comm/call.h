/* comm: the protocol that starts every collective call.  Each rank announces the name of its call, a hash
 * of the arguments that must agree, and whether it refuses.  If ranks are in different calls, all return
 * TUTTI_ERR_MISMATCH, and nothing has been done.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CALL_H
#define TUTTI_CALL_H

#include "comm/vote.h"

typedef struct tutti__call {
    const char *name;   /* the public call is tutti_OBJECT_NAME; ranks compare both */
    const char *what;   /* must be the same on all ranks, in the plural, for the message */
    uint64_t hash;      /* of it */
    const char *object; /* tutti__class.name */
    int is_number;      /* `hash` is a number that the message shows */
    int ranges;
    tutti__range
        *range; /* [ranges] in, one number or none; out, from the smallest to the largest of all */
} tutti__call;

/* Start a call: all ranks are in the same one, their arguments agree, and no rank refuses.  Otherwise all
 * ranks return the same error, equal in all fields: TUTTI_ERR_MISMATCH with the operation "collective
 * mismatch" if the calls differ; else the error of the lowest rank that refuses; else
 * TUTTI_ERR_MISMATCH for the arguments.  After it the caller may add an operation or a path only if it is
 * the same on all ranks.
 * c->range is also known if the only error is that arguments do not agree, otherwise none.
 * Collective. */
tutti_err tutti__team_call(tutti__team *t, const tutti__call *c, tutti_err mine) TUTTI_MUST_USE;
/* The same by a vote with the caller's ranges, for a team without consensus, or whose consensus
 * for this call has ended. */
tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err mine,
                                tutti__vote *io) TUTTI_MUST_USE;

/* The parts, for a start by tutti__consensus that carries more. */
/* The values of this rank, in its first ranges.   Not collective. */
void tutti__call_announce(const tutti__team *t, const tutti__call *c, tutti_err mine,
                          tutti__range announced[TUTTI__ANNOUNCEMENTS]);
/* Whether names or arguments differ; the same on all ranks.   Not collective. */
int tutti__calls_differ(const tutti__range announced[TUTTI__ANNOUNCEMENTS]);
/* Compare names; if they differ, two ranks send theirs to all, for the message.   Collective. */
tutti_err tutti__call_compare(tutti__team *t, const tutti__call *c,
                              const tutti__range announced[TUTTI__ANNOUNCEMENTS]) TUTTI_MUST_USE;
/* Compare arguments, if no rank refuses.   Not collective. */
tutti_err tutti__call_agree(const tutti__call *c,
                            const tutti__range announced[TUTTI__ANNOUNCEMENTS]) TUTTI_MUST_USE;

#endif
