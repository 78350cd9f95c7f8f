/* decomposition: a rule applied along all ranges, one rank each.
 *
 *        rank 0             rank 1             rank 2
 *     [ . . L . . ]  --->  [ . . . ]  --->  [ . L . . ]      the state of the rule is sent forward
 *     [ . . L . . ]  <---  [ . . . ]  <---  [ . L . . ]      choices are sent back
 *
 * The state of the rule after a local item (L) does not depend on the items before it.  So a range
 * that has one proceeds from there to its end and sends its state on before it receives one: ranks wait
 * for each other only along ranges without a local item.  Ranges without items take no part.  One message
 * is sent each way between neighbours, and no step can fail on one rank alone after the first agreement.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/writers.h"

#include <string.h>

#include "comm/wait.h"

/* Sent by every rank about its range. */
typedef struct {
    int64_t items, bytes, copies, shared;
    int64_t owner; /* of the first item, -1: unknown */
} heading;
enum { HEADING = sizeof(heading) / sizeof(int64_t) };

typedef struct {
    tutti__team *team;
    const tutti_replicas_choice *choice;
    tutti__range_items *g;
    int before, behind; /* the next ranks that have items, -1: none */
    int tag;
    heading *headings;            /* [ranks] */
    int *edge;                    /* [ranks] the last writer of each range */
    int *candidate;               /* [ranks] */
    int *coming;                  /* [ranks] */
    int64_t *burden;              /* [ranks + 1] */
    tutti_replicas_share *shares; /* [ranks] of all, in the end */
} chain;

/* ---- messages between neighbours; rank -1: none */

static tutti_err send_to_neighbour(const chain *c, int to, const void *data, int bytes) {
    MPI_Request r;
    if (to < 0) return TUTTI_OK;
    TUTTI_MPI(MPI_Isend(data, bytes, MPI_BYTE, to, c->tag, c->team->comm, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err receive_from_neighbour(const chain *c, int from, void *data, int room,
                                        int *bytes_out) {
    MPI_Request r;
    MPI_Status s;
    int done = 0;
    *bytes_out = 0;
    if (from < 0) return TUTTI_OK;
    TUTTI_MPI(MPI_Irecv(data, room, MPI_BYTE, from, c->tag, c->team->comm, &r));
    while (!done) {
        TUTTI_MPI(MPI_Test(&r, &done, &s));
        if (!done) tutti__yield();
    }
    TUTTI_MPI(MPI_Get_count(&s, MPI_BYTE, bytes_out));
    return TUTTI_OK;
}

/* ---- the position of this range among the others */

/* ---- the rule */

/* The state of the rule at the end of the range before. */
static tutti_err receive_carry(chain *c, tutti__carry *carry) {
    int bytes = 0;
    *carry = (tutti__carry){0, c->coming, TUTTI__AS_NEXT};
    TUTTI_TRY(receive_from_neighbour(c, c->before, c->coming,
                                     c->team->size * (int)sizeof *c->coming, &bytes));
    carry->n = bytes / (int)sizeof *c->coming;
    return TUTTI_OK;
}

static tutti_err send_carry(const chain *c, const tutti__carry *carry) {
    return send_to_neighbour(c, c->behind, carry->rank, carry->n * (int)sizeof *carry->rank);
}

/* Forward.  *before_out: the writer of open items in front of this range. */
static tutti_err go_forward(chain *c, int *before_out) {
    const tutti__items *v = &c->g->items;
    tutti__rule_fn *rule = tutti__rule_of(c->choice->rule)->fn;
    int *writer = c->g->writer;
    tutti__carry in, out = {0, c->candidate, TUTTI__AS_NEXT};
    tutti_count local = 0;
    while (local < v->n && !tutti__items_local(v, local)) local++;
    if (local == v->n) { /* none: everything depends on the received state */
        TUTTI_TRY(receive_carry(c, &in));
        rule(c->choice, v, &in, writer);
        if (c->behind < 0) tutti__writers_fill(v->n, writer, in.rank[0]);
        TUTTI_TRY(send_carry(c, &in));
    } else {
        const tutti__items rest = tutti__items_part(v, local, v->n);
        const tutti__items head = tutti__items_part(v, 0, local + 1);
        rule(c->choice, &rest, &out, writer + local);
        if (c->behind < 0) tutti__writers_fill(rest.n, writer + local, out.rank[0]);
        const int of_local = writer[local];
        TUTTI_TRY(send_carry(c, &out));
        TUTTI_TRY(receive_carry(c, &in));
        rule(c->choice, &head, &in, writer); /* with the local item, where an open run may end */
        writer[local] = of_local;
    }
    *before_out = in.before;
    return TUTTI_OK;
}

/* ---- counting and balancing */

/* Shares of all ranks, on all ranks. */
static tutti_err sum_shares(chain *c) {
    tutti__team *t = c->team;
    const tutti__items *v = &c->g->items;
    enum { WORDS = sizeof(tutti_replicas_share) / sizeof(int64_t) };
    const int last = v->n > 0 ? c->g->writer[v->n - 1] : -1;
    MPI_Request r;
    TUTTI_MPI(MPI_Iallgather(&last, 1, MPI_INT, c->edge, 1, MPI_INT, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    memset(c->shares, 0, (size_t)t->size * sizeof *c->shares);
    tutti__tally_add(v, c->g->writer, c->before >= 0 ? c->edge[c->before] : -1, c->shares);
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, c->shares, t->size * WORDS, MPI_INT64_T, MPI_SUM,
                             t->comm, &r));
    return tutti__team_finish(1, &r);
}

/* ---- the chain */

static tutti_err run_chain(chain *c, tutti_replicas_stats *s, tutti_off *position_out) {
    tutti__team *t = c->team;
    const int takes_part = c->g->items.n > 0;
    int before = TUTTI__AS_NEXT;
    const tutti__items *v = &c->g->items;
    const heading mine = {v->n, c->g->total, c->g->copies, c->g->shared,
                          v->owner && v->n > 0 ? v->owner[0] : -1};
    MPI_Request r;
    TUTTI_MPI(MPI_Iallgather(&mine, HEADING, MPI_INT64_T, c->headings, HEADING, MPI_INT64_T,
                             c->team->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    /* The same on all ranks: an excess of bytes is an error on all ranks. */
    const tutti__team *team = c->team;
    const tutti_off most = (tutti_off)1 << 62;
    *position_out = 0;
    c->before = c->behind = -1;
    for (int k = 0; k < team->size; k++) {
        const heading *h = &c->headings[k];
        TUTTI_CHECK(h->bytes <= most && s->bytes <= most - h->bytes, TUTTI_ERR_OVERFLOW,
                    "the items exceed 2^62 bytes");
        if (k == team->rank) *position_out = s->bytes;
        s->bytes += h->bytes;
        s->copies += h->copies;
        s->shared += h->shared;
        if (h->items > 0 && k < team->rank) c->before = k;
        if (h->items > 0 && k > team->rank && c->behind < 0) {
            c->behind = k;
            c->g->items.owner_behind = (int)h->owner;
        }
    }
    c->tag = tutti__team_tag(t);
    if (takes_part) {
        TUTTI_TRY(go_forward(c, &before));
        /* Backward pass: open items get the writer of the following item. */
        const tutti_count n = c->g->items.n;
        int *writer = c->g->writer, behind = TUTTI__AS_NEXT, bytes = 0, told = 0;
        tutti__writers_fill(n, writer, TUTTI__AS_NEXT);
        if (before == TUTTI__AS_NEXT) before = writer[0];
        if (before != TUTTI__AS_NEXT) {
            TUTTI_TRY(send_to_neighbour(c, c->before, &before, (int)sizeof before));
            told = 1;
        }
        TUTTI_TRY(receive_from_neighbour(c, c->behind, &behind, (int)sizeof behind, &bytes));
        tutti__writers_fill(n, writer, behind);
        TUTTI_TRY(told ? TUTTI_OK
                       : send_to_neighbour(c, c->before, &writer[0], (int)sizeof writer[0]));
    }
    TUTTI_TRY(sum_shares(c));
    s->rule_intervals = tutti__tally_intervals(t->size, c->shares);
    s->rule_max_bytes = tutti__tally_most(t->size, c->shares);
    const tutti_off limit = tutti__balance_limit(c->choice, s->bytes, t->size);
    for (int round = 0; round < TUTTI__BALANCE_ROUNDS; round++) {
        if (tutti__tally_most(t->size, c->shares) <= limit) break;
        /* One range after the other, since the bytes of ranks are known only then.  The last
         * word of a message is the writer next to the range. */
        if (takes_part) {
            const int ranks = c->team->size;
            int64_t *burden = c->burden;
            for (int k = 0; k < ranks; k++) burden[k] = c->shares[k].bytes;
            for (int pass_no = 0; pass_no < TUTTI__BALANCE_PASSES; pass_no++) {
                const int backward = pass_no == TUTTI__SLIDE_BACKWARD;
                const int from = backward ? c->behind : c->before,
                          to = backward ? c->before : c->behind;
                const int room = (ranks + 1) * (int)sizeof *burden;
                int limit_bytes = 0;
                burden[ranks] = -1;
                TUTTI_TRY(receive_from_neighbour(c, from, burden, room, &limit_bytes));
                tutti__burden b = tutti__balance_round(round, limit, s->bytes / t->size, burden);
                b.last = (int)burden[ranks];
                tutti__balance((tutti__balance_pass)pass_no, &c->g->items, &b, c->g->writer);
                burden[ranks] = b.last;
                TUTTI_TRY(send_to_neighbour(c, to, burden, room));
            }
        }
        TUTTI_TRY(sum_shares(c));
    }
    TUTTI_ASSERT(tutti__writers_are_valid(&c->g->items, c->g->writer));
    tutti__tally_stats(t->size, c->shares, limit, s);
    return TUTTI_OK;
}

tutti_err tutti__chain_choose(tutti__team *t, const tutti_replicas_choice *choice,
                              tutti__range_items *g, tutti_replicas_stats *stats_out,
                              tutti_replicas_share **shares_out, tutti_off *position_out) {
    chain c = {.team = t, .choice = choice, .g = g};
    const size_t p = (size_t)t->size;
    c.headings = tutti__calloc(p, sizeof *c.headings);
    c.edge = tutti__calloc(p, sizeof *c.edge);
    c.candidate = tutti__calloc(p, sizeof *c.candidate);
    c.coming = tutti__calloc(p, sizeof *c.coming);
    c.burden = tutti__calloc(p + 1, sizeof *c.burden);
    c.shares = tutti__calloc(p, sizeof *c.shares);
    tutti_err err = tutti__team_agree(
        t, (c.headings && c.edge && c.candidate && c.coming && c.burden && c.shares
                ? TUTTI_OK
                : TUTTI_ERR_NOMEM));
    *stats_out = (tutti_replicas_stats){0};
    if (err == TUTTI_OK) err = run_chain(&c, stats_out, position_out);
    if (err == TUTTI_OK) {
        *shares_out = c.shares;
        c.shares = NULL;
    }
    tutti__free(c.headings);
    tutti__free(c.edge);
    tutti__free(c.candidate);
    tutti__free(c.coming);
    tutti__free(c.burden);
    tutti__free(c.shares);
    return err;
}
