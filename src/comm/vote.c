/* comm: votes.  Minima, maxima, sums and the error of the lowest failing rank are reduced in two
 * levels: first in the shared memory of each node (consensus.h), if there is one; then by recursive
 * doubling among one rank per node, or among all ranks: in round k a rank exchanges its partial
 * result with the rank whose number differs in bit k.  Ranks beyond the largest power of two first
 * send their values to a partner, and receive the result from it.  The vote uses point-to-point
 * messages rather than MPI_Allreduce for three reasons: waiting yields the core and lets other
 * operations progress, the error is part of the message, and votes of different operations (each
 * with its own tag) may be in different orders on different ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/vote.h"

#include <stddef.h>
#include <string.h>

#include "comm/collective_count.h"
#include "comm/consensus.h"
#include "comm/wait.h"

/* Message of a vote; only the first `words` items of `word` are sent. */
typedef struct {
    int64_t fail, yes;
    tutti__range call[TUTTI__ANNOUNCEMENTS];
    /* items of `word`; ranks whose numbers differ are in different calls and ignore `word` */
    int64_t words;
    /* reductions; minimum and maximum of each range */
    int64_t word[TUTTI__REDUCTIONS + 2 * TUTTI__RANGES];
    tutti_error_info info; /* error of rank `fail`; sent only if there is one */
} ballot;

void tutti__vote_init(tutti__vote *v) {
    memset(v, 0, offsetof(tutti__vote, range));
    v->fail = INT64_MAX;
    v->yes = -1;
    for (int i = 0; i < TUTTI__ANNOUNCEMENTS; i++) v->call[i] = tutti__range_none();
}

static void ballot_merge(const tutti__vote *v, ballot *to, const ballot *from) {
    if (from->fail < to->fail) {
        to->fail = from->fail;
        to->info = from->info;
    }
    to->yes &= from->yes;
    for (int i = 0; i < TUTTI__ANNOUNCEMENTS; i++) {
        to->call[i].min = tutti__min(to->call[i].min, from->call[i].min);
        to->call[i].max = tutti__max(to->call[i].max, from->call[i].max);
    }
    if (to->words != from->words) return;
    int64_t *b = to->word;
    const int64_t *a = from->word;
    for (int i = 0; i < v->reductions; i++, a++, b++) {
        if (v->reduction[i].op == TUTTI__MIN)
            *b = tutti__min(*a, *b);
        else if (v->reduction[i].op == TUTTI__MAX)
            *b = tutti__max(*a, *b);
        else if (!tutti__add_ok(*a, *b, b))
            *b = INT64_MAX;
    }
    for (int i = 0; i < v->ranges; i++, a += 2, b += 2) {
        b[0] = tutti__min(a[0], b[0]);
        b[1] = tutti__max(a[1], b[1]);
    }
}

static int ballot_bytes(const ballot *b) {
    const size_t numbers = offsetof(ballot, word) + (size_t)b->words * sizeof *b->word;
    return (int)(b->fail == INT64_MAX ? numbers : sizeof *b);
}

/* Send *out to rank `to` and receive *in from rank `from`; -1: no message in this direction. */
static tutti_err ballot_pass(tutti__team *t, int tag, int to, const ballot *out, int from,
                             ballot *in) {
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (from >= 0) TUTTI_MPI(MPI_Irecv(in, (int)sizeof *in, MPI_BYTE, from, tag, t->comm, &r[0]));
    if (to >= 0) TUTTI_MPI(MPI_Isend(out, ballot_bytes(out), MPI_BYTE, to, tag, t->comm, &r[1]));
    TUTTI_TRY(tutti__team_finish(2, r));
    if (from >= 0) tutti__received_add((size_t)ballot_bytes(in));
    return TUTTI_OK;
}

_Static_assert(sizeof(ballot) <= TUTTI__POST_BYTES, "a ballot fits into shared memory");

/* The ranks that exchange messages: all ranks of the team, or the first rank of each node. */
typedef struct {
    int me, size;      /* position of this rank among the senders; number of senders */
    const int *start;  /* tutti__groups.start of the nodes; NULL: all ranks are senders */
    const int *member; /* tutti__groups.member of the nodes */
} senders;

static int sender_rank(const senders *s, int position) {
    return s->start ? s->member[s->start[position]] : position;
}

/* Reduce *b over all senders by recursive doubling.  Collective on the senders. */
static tutti_err ballot_double(tutti__team *t, int tag, const tutti__vote *v, const senders *s,
                               ballot *b) {
    int whole = 1; /* the largest power of two <= s->size */
    ballot in;
    while (whole <= s->size / 2) whole *= 2;
    if (s->me >= whole) {
        const int peer = sender_rank(s, s->me - whole);
        TUTTI_TRY(ballot_pass(t, tag, peer, b, -1, NULL));
        return ballot_pass(t, tag, -1, NULL, peer, b);
    }
    const int partner = s->me + whole < s->size ? sender_rank(s, s->me + whole) : -1;
    if (partner >= 0) {
        TUTTI_TRY(ballot_pass(t, tag, -1, NULL, partner, &in));
        ballot_merge(v, b, &in);
    }
    for (int bit = 1; bit < whole; bit *= 2) {
        const int peer = sender_rank(s, s->me ^ bit);
        TUTTI_TRY(ballot_pass(t, tag, peer, b, peer, &in));
        ballot_merge(v, b, &in);
    }
    return partner >= 0 ? ballot_pass(t, tag, partner, b, -1, NULL) : TUTTI_OK;
}

/* Reduce *b in the shared memory of each node; then the first ranks of the nodes exchange messages
 * and share the result with their nodes. */
static tutti_err ballot_by_nodes(tutti__team *t, const tutti__vote *v, ballot *b) {
    const tutti__groups *g = &t->nodes;
    const senders firsts = {g->own, g->n, g->start, g->member};
    if (g->size > 1) {
        tutti__consensus_post(t, b, (size_t)ballot_bytes(b));
        for (int i = 1; i < g->size && (g->n == 1 || g->me == 0); i++)
            ballot_merge(v, b, tutti__consensus_posted(t, (g->me + i) % g->size));
    }
    if (g->n == 1) return TUTTI_OK;
    if (g->me == 0) {
        const tutti_err err = ballot_double(t, TUTTI__VOTE_TAG, v, &firsts, b);
        if (g->size == 1) return err;
        memcpy(tutti__consensus_last_data(t), b, (size_t)ballot_bytes(b));
        tutti__consensus_work_end(t, err == TUTTI_OK);
        return err;
    }
    TUTTI_CHECK(tutti__consensus_work_outcome(t), TUTTI_ERR_MPI,
                "a message between nodes failed on rank %d", g->member[g->start[g->own]]);
    const ballot *result = (const ballot *)(const void *)tutti__consensus_last_data(t);
    memcpy(b, result, (size_t)ballot_bytes(result));
    return TUTTI_OK;
}

static tutti_err vote_with(tutti__team *t, int tag, tutti_err local_err, tutti__vote *io) {
    ballot b;
    tutti__collective_add();
    TUTTI_ASSERT(io->reductions <= TUTTI__REDUCTIONS && io->ranges <= TUTTI__RANGES);
    b.fail = INT64_MAX;
    b.yes = io->yes;
    memcpy(b.call, io->call, sizeof b.call);
    b.words = io->reductions + 2 * io->ranges;
    for (int i = 0; i < io->reductions; i++) b.word[i] = *io->reduction[i].number;
    memcpy(&b.word[io->reductions], io->range, (size_t)io->ranges * sizeof *io->range);
    /* tutti_set_local_error may have set the reason of a missing argument */
    if (local_err == TUTTI_ERR_ARG) {
        const tutti_err why = tutti__error_refused();
        if (why != TUTTI_OK) local_err = why;
    }
    if (local_err != TUTTI_OK) {
        if (tutti_last_error()->code != local_err)
            (void)tutti__error_set(local_err, 0, -1, "%s", tutti_strerror(local_err));
        tutti__error_context(NULL, NULL, t->rank);
        b.fail = t->rank;
        b.info = *tutti_last_error();
    }
    const senders all = {.me = t->rank, .size = t->size};
    const int by_nodes = tag == TUTTI__VOTE_TAG && t->consensus.in_use;
    TUTTI_TRY(by_nodes ? ballot_by_nodes(t, io, &b) : ballot_double(t, tag, io, &all, &b));
    io->fail = b.fail;
    io->yes = b.yes;
    memcpy(io->call, b.call, sizeof io->call);
    for (int i = 0; i < io->reductions; i++) *io->reduction[i].number = b.word[i];
    memcpy(io->range, &b.word[io->reductions], (size_t)io->ranges * sizeof *io->range);
    if (b.fail == INT64_MAX) return TUTTI_OK;
    tutti__error_assign(&b.info);
    return b.info.code;
}

tutti_err tutti__team_vote(tutti__team *t, tutti_err local_err, tutti__vote *io) {
    return vote_with(t, TUTTI__VOTE_TAG, local_err, io);
}

tutti_err tutti__team_reduce(tutti__team *t, tutti_err local_err, int n,
                             const tutti__reduction *reduction) {
    tutti__vote v;
    tutti__vote_init(&v);
    v.reductions = n;
    v.reduction = reduction;
    return tutti__team_vote(t, local_err, &v);
}

tutti_err tutti__team_max(tutti__team *t, tutti_err local_err, int64_t *io) {
    return tutti__team_reduce(t, local_err, 1, &(tutti__reduction){TUTTI__MAX, io});
}

/* If all ranks succeed, which a consensus determines, no vote is needed to find an error. */
tutti_err tutti__team_agree(tutti__team *t, tutti_err local_err) {
    if (tutti__consensus_ready(t) && tutti__consensus(t, local_err == TUTTI_OK, 0, NULL))
        return TUTTI_OK;
    return tutti__team_agree_tagged(t, TUTTI__VOTE_TAG, local_err);
}

tutti_err tutti__team_agree_tagged(tutti__team *t, int tag, tutti_err local_err) {
    tutti__vote v;
    tutti__vote_init(&v);
    return vote_with(t, tag, local_err, &v);
}

tutti_err tutti__team_sum(tutti__team *t, int64_t *v, int n) {
    MPI_Request r;
    tutti__collective_add();
    tutti__received_add((size_t)n * sizeof *v);
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, v, n, MPI_INT64_T, MPI_SUM, t->comm, &r));
    return tutti__team_finish(1, &r);
}

tutti_err tutti__team_broadcast(tutti__team *t, void *data, int bytes) {
    MPI_Request r;
    tutti__collective_add();
    tutti__received_add((size_t)bytes);
    TUTTI_MPI(MPI_Ibcast(data, bytes, MPI_BYTE, 0, t->comm, &r));
    return tutti__team_finish(1, &r);
}

tutti_err tutti__team_allgather(tutti__team *t, const void *own, size_t bytes, void **all_out) {
    MPI_Request r;
    void *all = tutti__malloc((size_t)t->size * bytes);
    tutti_err err = tutti__team_agree(t, all ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) {
        tutti__received_add((size_t)t->size * bytes);
        const int code =
            MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, t->comm, &r);
        err = code == MPI_SUCCESS ? tutti__team_finish(1, &r)
                                  : tutti__error_mpi(code, "MPI_Iallgather");
    }
    if (err == TUTTI_OK)
        *all_out = all;
    else
        tutti__free(all);
    return err;
}

tutti_err tutti__team_broadcast_bytes(tutti__team *t, void **data, size_t *bytes) {
    int64_t n = (int64_t)*bytes;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__team_broadcast(t, &n, (int)sizeof n));
    *bytes = (size_t)n;
    if (t->rank != 0 && !(*data = tutti__malloc((size_t)n))) err = TUTTI_ERR_NOMEM;
    TUTTI_TRY(tutti__team_agree(t, err));
    const int64_t step = 1 << 30;
    for (int64_t at = 0; at < n && err == TUTTI_OK; at += step)
        err = tutti__team_broadcast(t, (char *)*data + at, (int)tutti__min(step, n - at));
    return err;
}
