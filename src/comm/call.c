/* comm: which collective call each rank is in, compared before anything is done.
 *
 * Ranks in different calls must not wait for each other's next message: so every call opens in the
 * same way, by one consensus in shared memory where the team has it and by one vote otherwise, and
 * the choice depends on nothing but the team.  What a rank says begins with the kind of its call
 * and its own number, in one word, so that the smallest and the largest of all words name two
 * ranks whose calls differ.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/call.h"

#include <stdarg.h>
#include <stdio.h>

#include "comm/consensus.h"

static const char *const DOES[TUTTI__CALLS] = {
    [TUTTI__CALL_WRITE] = "writes",
    [TUTTI__CALL_READ] = "reads",
    [TUTTI__CALL_PLAN_WRITE] = "plans a write",
    [TUTTI__CALL_PLAN_READ] = "plans a read",
    [TUTTI__CALL_RUN_WRITE] = "runs a plan of a write",
    [TUTTI__CALL_RUN_READ] = "runs a plan of a read",
    [TUTTI__CALL_WRITE_END] = "ends a split write",
    [TUTTI__CALL_READ_END] = "ends a split read",
    [TUTTI__CALL_SIZE] = "asks for the size",
    [TUTTI__CALL_RESIZE] = "resizes",
    [TUTTI__CALL_PREALLOCATE] = "preallocates",
    [TUTTI__CALL_SYNC] = "syncs",
    [TUTTI__CALL_ATOMIC] = "sets atomic mode",
    [TUTTI__CALL_CHANGE] = "changes options",
    [TUTTI__CALL_CLOSE] = "closes",
    [TUTTI__CALL_REPLICAS] = "makes an inspector of replicas",
    [TUTTI__CALL_REPLICAS_CHECK] = "compares copies",
    [TUTTI__CALL_DATASET] = "calls for the dataset",
    [TUTTI__CALL_DECOMPOSITION] = "makes a decomposition",
    [TUTTI__CALL_ARRAY] = "calls for the array",
    [TUTTI__CALL_ARRAYS] = "copies an array or begins a walk",
    [TUTTI__CALL_TILES] = "takes a step of a walk",
    [TUTTI__CALL_MESH] = "calls for the mesh",
    [TUTTI__CALL_EXODUS] = "calls for the Exodus file",
};

/* Ranks are fewer than this. */
#define RANKS ((int64_t)1 << 32)

/* The operation must be the same on all ranks, although their calls are not: the layers above
 * add theirs only to an error that has none. */
static tutti_err calls_differ_error(const char *fmt, ...) TUTTI_PRINTF(1, 2);
static tutti_err calls_differ_error(const char *fmt, ...) {
    char text[sizeof tutti_last_error()->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const tutti_err err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1, "%s", text);
    tutti__error_context("collective call", NULL, -1);
    return err;
}

void tutti__call_tell(const tutti__team *t, const tutti__call *c, tutti_err mine,
                      tutti__range told[TUTTI__CALL_TELLS]) {
    const int64_t word = c->kind * RANKS + t->rank;
    const int64_t agrees = tutti__min(c->agrees, INT64_MAX - 1); /* the last one says nothing */
    told[TUTTI__TOLD_CALL] = (tutti__range){word, word};
    /* who refuses may not even have looked at its arguments */
    told[TUTTI__TOLD_AGREES] =
        mine == TUTTI_OK || c->names ? (tutti__range){agrees, agrees} : tutti__range_none();
}

tutti_err tutti__call_compare(tutti__team *t, const tutti__range told[TUTTI__CALL_TELLS]) {
    const int64_t a = told[TUTTI__TOLD_CALL].min, b = told[TUTTI__TOLD_CALL].max;
    t->differed += a / RANKS != b / RANKS;
    if (a / RANKS == b / RANKS) return TUTTI_OK;
    return calls_differ_error("rank %lld %s while rank %lld %s", (long long)(a % RANKS),
                              DOES[a / RANKS], (long long)(b % RANKS), DOES[b / RANKS]);
}

tutti_err tutti__call_agree(const tutti__call *c, const tutti__range told[TUTTI__CALL_TELLS]) {
    const tutti__range r = told[TUTTI__TOLD_AGREES];
    if (r.min >= r.max) return TUTTI_OK;
    TUTTI_CHECK(!c->number, TUTTI_ERR_MISMATCH, "%s from %lld to %lld", c->what, (long long)r.min,
                (long long)r.max);
    if (c->names) return calls_differ_error("ranks disagree on %s", c->what);
    TUTTI_FAIL(TUTTI_ERR_MISMATCH, "ranks disagree on %s", c->what);
}

/* Are ranks in calls of different kinds? */
static int kinds_differ(const tutti__range told[TUTTI__CALL_TELLS]) {
    return told[TUTTI__TOLD_CALL].min / RANKS != told[TUTTI__TOLD_CALL].max / RANKS;
}

int tutti__calls_differ(const tutti__range told[TUTTI__CALL_TELLS]) {
    return kinds_differ(told) || told[TUTTI__TOLD_AGREES].min < told[TUTTI__TOLD_AGREES].max;
}

tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err mine,
                                tutti__vote *io) {
    tutti__call_tell(t, c, mine, io->call);
    const tutti_err err = tutti__team_vote(t, mine, io);
    TUTTI_TRY(tutti__call_compare(t, io->call)); /* first: the error may be of another call */
    if (c->names) TUTTI_TRY(tutti__call_agree(c, io->call));
    TUTTI_TRY(err);
    return tutti__call_agree(c, io->call);
}

static tutti_err call_by_consensus(tutti__team *t, const tutti__call *c, tutti_err mine, int n,
                                   tutti__range *range) {
    tutti__range all[TUTTI__CONSENSUS_RANGES];
    TUTTI_ASSERT(n + TUTTI__CALL_TELLS <= TUTTI__CONSENSUS_RANGES);
    tutti__call_tell(t, c, mine, all);
    for (int i = 0; i < n; i++) {
        all[TUTTI__CALL_TELLS + i] = range[i];
        range[i] = tutti__range_none();
    }
    const int64_t fine = tutti__consensus(t, mine == TUTTI_OK, TUTTI__CALL_TELLS + n, all);
    TUTTI_TRY(tutti__call_compare(t, all));
    if (c->names) TUTTI_TRY(tutti__call_agree(c, all));
    if (!fine) return tutti__team_agree_apart(t, TUTTI__VOTE_TAG, mine);
    for (int i = 0; i < n; i++) range[i] = all[TUTTI__CALL_TELLS + i];
    return tutti__call_agree(c, all);
}

tutti_err tutti__team_call(tutti__team *t, const tutti__call *c, tutti_err mine, int n,
                           tutti__range *range) {
    tutti__vote v;
    if (tutti__consensus_ready(t)) return call_by_consensus(t, c, mine, n, range);
    tutti__vote_init(&v);
    v.ranges = n;
    for (int i = 0; i < n; i++) v.range[i] = range[i];
    const tutti_err err = tutti__team_call_vote(t, c, mine, &v);
    const int refused = err != TUTTI_OK && v.fail != INT64_MAX;
    const int differ = kinds_differ(v.call);
    for (int i = 0; i < n; i++) range[i] = refused || differ ? tutti__range_none() : v.range[i];
    return err;
}
