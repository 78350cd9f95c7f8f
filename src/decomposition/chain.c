/* decomposition: a rule applied along all ranges; each rank has one range.
 *
 *        rank 0             rank 1             rank 2
 *     [ . . L . . ]  --->  [ . . . ]  --->  [ . L . . ]      the state of the rule is sent forward
 *     [ . . L . . ]  <---  [ . . . ]  <---  [ . L . . ]      choices are sent back
 *
 * The state of the rule after a local item (L) does not depend on the items before it.  Therefore
 * the rank of a range with a local item applies the rule from there to the end of the range, and
 * sends its state before it receives one: ranks wait for each other only along ranges without a
 * local item.  Ranges without items take no part.  Neighbours exchange one message in each
 * direction, and after the first agreement no step can fail on a single rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/writers.h"

#include <string.h>

#include "comm/collective_count.h"
#include "comm/scan.h"
#include "comm/wait.h"

/* Totals of consecutive ranges. */
typedef struct {
    int64_t items, bytes, copies, shared; /* sums; bytes above MOST_BYTES: overflow */
    int64_t first, last;                  /* first and last rank with items; -1: none */
    int64_t owner;                        /* owner of the first item; -1: unknown */
    int64_t holders;                      /* largest number of holders of an item */
} heading;

static const tutti_off MOST_BYTES = (tutti_off)1 << 62;

typedef struct {
    tutti__team *team;
    const tutti_replicas_choice *choice;
    tutti__range_items *g;
    heading all;
    int before, behind; /* nearest ranks with items, lower and higher; -1: none */
    int tag;
    int *candidate, *coming;      /* [all.holders + 1] carry of this range, received carry */
    int64_t *burden;              /* [ranks + 1] bytes of each rank, then a writer */
    tutti_replicas_share *shares; /* [ranks] shares of all ranks */
} chain;

/* ---- the position of this range among the others */

static void append_heading(void *left, const void *right) {
    heading *l = left;
    const heading *r = right;
    l->bytes = l->bytes > MOST_BYTES || r->bytes > MOST_BYTES - l->bytes ? MOST_BYTES + 1
                                                                         : l->bytes + r->bytes;
    l->copies += r->copies;
    l->shared += r->shared;
    l->holders = tutti__max(l->holders, r->holders);
    if (r->items == 0) return;
    if (l->items == 0) {
        l->first = r->first;
        l->owner = r->owner;
    }
    l->last = r->last;
    l->items += r->items;
}

static tutti_err find_neighbours(chain *c, tutti_off *position_out) {
    static const heading none = {.first = -1, .last = -1, .owner = -1};
    const tutti__scan_operation scan = {sizeof none, &none, append_heading};
    const tutti__items *v = &c->g->items;
    heading own = none, before, behind;
    own.bytes = tutti__min(c->g->total, MOST_BYTES + 1);
    own.items = v->n;
    own.copies = c->g->copies;
    own.shared = c->g->shared;
    if (v->n > 0) own.first = own.last = c->team->rank;
    if (v->n > 0 && v->owner) own.owner = v->owner[0];
    for (tutti_count i = 0; i < v->n; i++)
        own.holders = tutti__max(own.holders, v->start[i + 1] - v->start[i]);
    TUTTI_TRY(tutti__team_scan(c->team, &scan, &own, &before, &behind));
    c->all = before;
    append_heading(&c->all, &own);
    append_heading(&c->all, &behind);
    c->before = (int)before.last;
    c->behind = (int)behind.first;
    if (c->behind >= 0) c->g->items.owner_behind = (int)behind.owner;
    /* the sum is the same on all ranks, so all ranks return this error */
    TUTTI_CHECK(c->all.bytes <= MOST_BYTES, TUTTI_ERR_OVERFLOW,
                "the items of all ranks exceed 2^62 bytes");
    *position_out = before.bytes;
    return TUTTI_OK;
}

/* ---- messages between neighbours; rank -1: no message */

static tutti_err send_to_neighbour(const chain *c, int to, const void *data, int bytes) {
    MPI_Request r;
    if (to < 0) return TUTTI_OK;
    TUTTI_MPI(MPI_Isend(data, bytes, MPI_BYTE, to, c->tag, c->team->comm, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err receive_from_neighbour(const chain *c, int from, void *data, int capacity,
                                        int *bytes_out) {
    MPI_Request r;
    MPI_Status s;
    int done = 0;
    *bytes_out = 0;
    if (from < 0) return TUTTI_OK;
    TUTTI_MPI(MPI_Irecv(data, capacity, MPI_BYTE, from, c->tag, c->team->comm, &r));
    tutti__wait w = tutti__wait_begin(c->team, NULL);
    while (!done) {
        TUTTI_MPI(MPI_Test(&r, &done, &s));
        if (!done) tutti__wait_turn(&w);
    }
    TUTTI_MPI(MPI_Get_count(&s, MPI_BYTE, bytes_out));
    return TUTTI_OK;
}

/* ---- the rule */

/* Receive the state of the rule at the end of the previous range. */
static tutti_err receive_carry(chain *c, tutti__carry *carry) {
    int bytes = 0;
    *carry = (tutti__carry){0, c->coming, TUTTI__AS_NEXT};
    TUTTI_TRY(receive_from_neighbour(c, c->before, c->coming,
                                     (int)c->all.holders * (int)sizeof *c->coming, &bytes));
    carry->n = bytes / (int)sizeof *c->coming;
    return TUTTI_OK;
}

static tutti_err send_carry(const chain *c, const tutti__carry *carry) {
    return send_to_neighbour(c, c->behind, carry->rank, carry->n * (int)sizeof *carry->rank);
}

/* Apply the rule to this range, and send its state forward.  *before_out: writer of the open items
 * before this range. */
static tutti_err go_forward(chain *c, int *before_out) {
    const tutti__items *v = &c->g->items;
    tutti__rule_fn *rule = tutti__rule_of(c->choice->rule)->fn;
    int *writer = c->g->writer;
    tutti__carry in, out = {0, c->candidate, TUTTI__AS_NEXT};
    tutti_count local = 0;
    while (local < v->n && !tutti__items_local(v, local)) local++;
    if (local == v->n) { /* no local item: all choices depend on the received state */
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
        /* apply the rule up to and including the local item, where an open run may end */
        rule(c->choice, &head, &in, writer);
        writer[local] = of_local;
    }
    *before_out = in.before;
    return TUTTI_OK;
}

/* ---- counting and balancing */

/* Sum the shares of all ranks; the result is on all ranks. */
static tutti_err sum_shares(chain *c) {
    tutti__team *t = c->team;
    const tutti__items *v = &c->g->items;
    enum { WORDS = sizeof(tutti_replicas_share) / sizeof(int64_t) };
    int edge = -1, bytes = 0; /* writer of the item before this range */
    MPI_Request r;
    if (v->n > 0) {
        TUTTI_TRY(send_to_neighbour(c, c->behind, &c->g->writer[v->n - 1], (int)sizeof edge));
        TUTTI_TRY(receive_from_neighbour(c, c->before, &edge, (int)sizeof edge, &bytes));
    }
    memset(c->shares, 0, (size_t)t->size * sizeof *c->shares);
    tutti__tally_add(v, c->g->writer, edge, c->shares);
    tutti__received_add((size_t)t->size * sizeof *c->shares);
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, c->shares, t->size * WORDS, MPI_INT64_T, MPI_SUM,
                             t->comm, &r));
    return tutti__team_finish(1, &r);
}

/* ---- the chain */

/* Apply the rule along all ranges, and fill open items. */
static tutti_err choose_writers(chain *c) {
    int before = TUTTI__AS_NEXT;
    int *writer = c->g->writer, behind = TUTTI__AS_NEXT, bytes = 0, is_sent = 0;
    const tutti_count n = c->g->items.n;
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(go_forward(c, &before));
    /* backward pass: open items get the writer of the next item that is not open */
    tutti__writers_fill(n, writer, TUTTI__AS_NEXT);
    if (before == TUTTI__AS_NEXT) before = writer[0];
    if (before != TUTTI__AS_NEXT) {
        TUTTI_TRY(send_to_neighbour(c, c->before, &before, (int)sizeof before));
        is_sent = 1;
    }
    TUTTI_TRY(receive_from_neighbour(c, c->behind, &behind, (int)sizeof behind, &bytes));
    tutti__writers_fill(n, writer, behind);
    return is_sent ? TUTTI_OK : send_to_neighbour(c, c->before, &writer[0], (int)sizeof writer[0]);
}

/* Execute one balancing pass over all ranges, one after the other, since a range needs the bytes of
 * all ranks after the previous one.  The last word of a message is the writer of the item next to
 * the range. */
static tutti_err pass_burden(chain *c, int round, int pass_no, tutti_off limit) {
    const int ranks = c->team->size, backward = pass_no == TUTTI__SLIDE_BACKWARD;
    const int from = backward ? c->behind : c->before, to = backward ? c->before : c->behind;
    const int capacity = (ranks + 1) * (int)sizeof *c->burden;
    int bytes = 0;
    c->burden[ranks] = -1;
    TUTTI_TRY(receive_from_neighbour(c, from, c->burden, capacity, &bytes));
    tutti__burden b = tutti__balance_round(round, limit, c->all.bytes / ranks, c->burden);
    b.last = (int)c->burden[ranks];
    tutti__balance((tutti__balance_pass)pass_no, &c->g->items, &b, c->g->writer);
    c->burden[ranks] = b.last;
    return send_to_neighbour(c, to, c->burden, capacity);
}

/* Sum the shares of all ranks, and balance them. */
static tutti_err balance_writers(chain *c, tutti_replicas_stats *s) {
    const int ranks = c->team->size;
    TUTTI_TRY(sum_shares(c));
    s->rule_intervals = tutti__tally_intervals(ranks, c->shares);
    s->rule_max_bytes = tutti__tally_most(ranks, c->shares);
    const tutti_off limit = tutti__balance_limit(c->choice, c->all.bytes, ranks);
    for (int round = 0; round < TUTTI__BALANCE_ROUNDS; round++) {
        if (tutti__tally_most(ranks, c->shares) <= limit) break;
        for (int k = 0; k < ranks; k++) c->burden[k] = c->shares[k].bytes;
        for (int pass_no = 0; pass_no < TUTTI__BALANCE_PASSES && c->g->items.n > 0; pass_no++)
            TUTTI_TRY(pass_burden(c, round, pass_no, limit));
        TUTTI_TRY(sum_shares(c));
    }
    tutti__tally_stats(ranks, c->shares, limit, s);
    return TUTTI_OK;
}

tutti_err tutti__chain_choose(tutti__team *t, const tutti_replicas_choice *choice,
                              tutti__range_items *g, tutti_replicas_stats *stats_out,
                              tutti_replicas_share **shares_out, tutti_off *position_out) {
    chain c = {.team = t, .choice = choice, .g = g};
    const int counts = shares_out || choice->balance > 0;
    tutti_replicas_stats s = {0};
    TUTTI_TRY(find_neighbours(&c, position_out));
    c.tag = tutti__team_tag(t);
    const size_t p = counts ? (size_t)t->size : 0, most = (size_t)c.all.holders + 1;
    c.candidate = tutti__calloc(most, sizeof *c.candidate);
    c.coming = tutti__calloc(most, sizeof *c.coming);
    c.burden = tutti__calloc(p + 1, sizeof *c.burden);
    c.shares = tutti__calloc(p, sizeof *c.shares);
    const int is_allocated = c.candidate && c.coming && c.burden && c.shares;
    tutti_err err = tutti__team_agree(t, is_allocated ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) err = choose_writers(&c);
    s.bytes = c.all.bytes;
    s.copies = c.all.copies;
    s.shared = c.all.shared;
    if (err == TUTTI_OK && counts) err = balance_writers(&c, &s);
    TUTTI_ASSERT(err != TUTTI_OK || tutti__writers_are_valid(&g->items, g->writer));
    if (err == TUTTI_OK && shares_out) {
        *stats_out = s;
        *shares_out = c.shares;
        c.shares = NULL;
    }
    tutti__free(c.candidate);
    tutti__free(c.coming);
    tutti__free(c.burden);
    tutti__free(c.shares);
    return err;
}
