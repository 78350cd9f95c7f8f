/* comm: comparing the names and arguments of the collective calls of all ranks before the call is
 * executed.
 *
 * Ranks in different calls must not wait for each other's messages.  Therefore every call starts
 * with the same communication, one consensus if the team has shared memory and one vote otherwise;
 * the choice depends only on the team.  The first word that a rank announces has a hash of the
 * call's name in its upper half and the rank in its lower half: if calls differ, the smallest and
 * the largest word of all ranks identify two ranks whose calls differ.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/call.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "comm/consensus.h"

enum { RANK_BITS = 31 };

static int64_t call_name_hash(int64_t word) {
    return word >> RANK_BITS;
}

static int announced_rank(int64_t word) {
    return (int)(word & (((int64_t)1 << RANK_BITS) - 1));
}

void tutti__call_announce(const tutti__team *t, const tutti__call *c, tutti_err local_err,
                          tutti__range announced[TUTTI__ANNOUNCEMENTS]) {
    uint64_t name = tutti__hash(TUTTI__HASH_START, c->object, strlen(c->object));
    name = tutti__hash(name, c->name, strlen(c->name));
    const int64_t word = (int64_t)(name >> 32 << RANK_BITS) + t->rank;
    const int64_t hash = tutti__min((int64_t)c->hash, INT64_MAX - 1); /* INT64_MAX means no value */
    announced[TUTTI__ANNOUNCED_CALL] = (tutti__range){word, word};
    /* a failed rank announces no hash, since its arguments may be invalid */
    announced[TUTTI__ANNOUNCED_HASH] =
        local_err == TUTTI_OK ? (tutti__range){hash, hash} : tutti__range_none();
}

static int calls_differ(const tutti__range announced[TUTTI__ANNOUNCEMENTS]) {
    return call_name_hash(announced[TUTTI__ANNOUNCED_CALL].min) !=
           call_name_hash(announced[TUTTI__ANNOUNCED_CALL].max);
}

int tutti__calls_differ(const tutti__range announced[TUTTI__ANNOUNCEMENTS]) {
    return calls_differ(announced) ||
           announced[TUTTI__ANNOUNCED_HASH].min < announced[TUTTI__ANNOUNCED_HASH].max;
}

/* Get the name of the call of a rank, which is sent to all ranks as the text of an error.
 * Collective. */
static tutti_err get_call_name(tutti__team *t, int rank, const tutti__call *c, char *to,
                               size_t size) {
    tutti_err local_err = TUTTI_OK;
    if (t->rank == rank)
        local_err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1, "tutti_%s_%s", c->object, c->name);
    const tutti_err err = tutti__team_agree_tagged(t, TUTTI__VOTE_TAG, local_err);
    snprintf(to, size, "%.*s", (int)size - 1, tutti_last_error()->text);
    return err == TUTTI_ERR_MISMATCH ? TUTTI_OK : err;
}

tutti_err tutti__call_compare(tutti__team *t, const tutti__call *c,
                              const tutti__range announced[TUTTI__ANNOUNCEMENTS]) {
    const int a = announced_rank(announced[TUTTI__ANNOUNCED_CALL].min),
              b = announced_rank(announced[TUTTI__ANNOUNCED_CALL].max);
    char one[64], other[64];
    if (!calls_differ(announced)) return TUTTI_OK;
    t->differed++;
    TUTTI_TRY(get_call_name(t, a, c, one, sizeof one));
    TUTTI_TRY(get_call_name(t, b, c, other, sizeof other));
    const tutti_err err = tutti__error_set(
        TUTTI_ERR_MISMATCH, 0, -1, "rank %d called %s while rank %d called %s", a, one, b, other);
    /* Set the same operation on all ranks, although their calls differ: the layers above set the
     * operation only of an error that has none. */
    tutti__error_context("collective mismatch", NULL, -1);
    return err;
}

tutti_err tutti__call_agree(const tutti__call *c,
                            const tutti__range announced[TUTTI__ANNOUNCEMENTS]) {
    const tutti__range r = announced[TUTTI__ANNOUNCED_HASH];
    if (r.min >= r.max) return TUTTI_OK;
    TUTTI_CHECK(!c->is_number, TUTTI_ERR_MISMATCH, "ranks disagree on %s: from %lld to %lld",
                c->what, (long long)r.min, (long long)r.max);
    TUTTI_FAIL(TUTTI_ERR_MISMATCH, "ranks disagree on %s", c->what);
}

tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err local_err,
                                tutti__vote *io) {
    tutti__call_announce(t, c, local_err, io->call);
    const tutti_err err = tutti__team_vote(t, local_err, io);
    /* calls are compared first, since `err` may belong to a different call */
    TUTTI_TRY(tutti__call_compare(t, c, io->call));
    TUTTI_TRY(err);
    return tutti__call_agree(c, io->call);
}

static tutti_err call_by_consensus(tutti__team *t, const tutti__call *c, tutti_err local_err) {
    tutti__range all[TUTTI__CONSENSUS_RANGES], *const range = c->range;
    const int n = c->ranges;
    TUTTI_ASSERT(n + TUTTI__ANNOUNCEMENTS <= TUTTI__CONSENSUS_RANGES);
    tutti__call_announce(t, c, local_err, all);
    for (int i = 0; i < n; i++) {
        all[TUTTI__ANNOUNCEMENTS + i] = range[i];
        range[i] = tutti__range_none();
    }
    const int64_t fine = tutti__consensus(t, local_err == TUTTI_OK, TUTTI__ANNOUNCEMENTS + n, all);
    TUTTI_TRY(tutti__call_compare(t, c, all));
    if (!fine) return tutti__team_agree_tagged(t, TUTTI__VOTE_TAG, local_err);
    for (int i = 0; i < n; i++) range[i] = all[TUTTI__ANNOUNCEMENTS + i];
    return tutti__call_agree(c, all);
}

tutti_err tutti__team_call(tutti__team *t, const tutti__call *c, tutti_err local_err) {
    tutti__vote v;
    tutti__range *const range = c->range;
    const int n = c->ranges;
    if (tutti__consensus_ready(t)) return call_by_consensus(t, c, local_err);
    tutti__vote_init(&v);
    v.ranges = n;
    for (int i = 0; i < n; i++) v.range[i] = range[i];
    const tutti_err err = tutti__team_call_vote(t, c, local_err, &v);
    const int refused = err != TUTTI_OK && v.fail != INT64_MAX;
    const int differ = calls_differ(v.call);
    for (int i = 0; i < n; i++) range[i] = refused || differ ? tutti__range_none() : v.range[i];
    return err;
}
