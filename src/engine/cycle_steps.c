/* engine: what the listings of the cycle-by-cycle pipeline are made of: taking the next cycle,
 * shuffling its bytes, moving them to or from the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include "base/trace.h"
#include "comm/by_thread.h"
#include "comm/wait.h"

/* ---- waiting */

/* Is a file access of this rank under way? */
static int in_file(const tutti__cycles *c) {
    for (int i = 0; i < c->slots; i++)
        if (c->sub[i].io.request) return 1;
    return 0;
}

/* Nothing has moved in this turn. */
void tutti__cycle_idle(tutti__run *r, const tutti__turn *turn) {
    tutti__yield();
    if (in_file(r->cycles)) tutti__turn_was_file(r, turn);
}

/* ---- which cycle comes next */

/* The next cycle in which this rank has something to do. */
static tutti_count cycle_mine(const tutti__run *r) {
    tutti_count best = r->window_next >= 0 ? r->window_next : TUTTI__NO_CYCLE;
    for (int i = 0; i < r->two->destinations; i++)
        if (r->destination_next[i] >= 0) best = tutti__min(best, r->destination_next[i]);
    return best;
}

/* What this rank has in cycles up to `last` has been taken; begin to find the next one. */
static void cycle_advance(tutti__run *r, tutti_count last) {
    tutti__cycles *c = r->cycles;
    if (!c->collective) {
        c->next = cycle_mine(r);
    } else if (!c->sparse) {
        c->next = last + 1 < c->cycles ? last + 1 : TUTTI__NO_CYCLE;
    } else {
        const tutti_err err = tutti__minimum_begin(r->file->team, cycle_mine(r), &c->agreed);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
    }
}

void tutti__cycle_first(tutti__run *r) {
    r->cycles->agreed.active = 0;
    cycle_advance(r, -1);
}

int tutti__cycle_more(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    int done = !c->sparse;
    while (!done) {
        const tutti_err err = tutti__minimum_test(&c->agreed, &done);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
        if (done) break;
        tutti__exchange_progress(&c->exchange);
        tutti__yield();
    }
    if (c->sparse) c->next = c->agreed.least;
    return c->next != TUTTI__NO_CYCLE;
}

/* ---- taking it */

static void parcel_add(tutti__parcels *l, tutti__parcel p) {
    if (p.bytes > 0) l->v[l->n++] = p;
}

/* My bytes in other ranks' windows of this cycle, and in mine. */
static void mine_open(tutti__run *r, tutti__shuffle *s) {
    const tutti__two_phase *t = r->two;
    const tutti__side file = r->access->file;
    s->mine.n = 0;
    s->own = 0;
    for (int k = 0; k < t->destinations; k++) {
        const int i = r->cycles->destinations[k], a = t->destination[i].aggregator,
                  peer = t->agg_rank[a];
        tutti_off lo, hi;
        if (r->destination_next[i] != s->cycle) continue;
        r->destination_next[i] = tutti__destination_after(r, &t->destination[i], s->cycle + 1);
        tutti__domains_window(&t->domains, a, s->cycle, &lo, &hi);
        hi = tutti__min(hi, r->op->eof);
        const tutti_off bytes = tutti__side_bytes_in(file, lo, hi);
        if (a == t->my_agg)
            s->own = bytes;
        else
            parcel_add(&s->mine, (tutti__parcel){
                                     .peer = peer,
                                     .turn = tutti__ring_mine(r->file->team, peer, r->op->is_write),
                                     .lo = lo,
                                     .hi = hi,
                                     .bytes = bytes,
                                     .side = file});
    }
}

/* Other ranks' bytes in my window; returns how many. */
static tutti_off theirs_open(tutti__run *r, tutti__shuffle *s) {
    const tutti__incoming *l = &r->two->incoming;
    const tutti__team *team = r->file->team;
    tutti_off total = 0;
    for (int k = 0; k < l->n; k++) {
        const int i = r->cycles->sources[k], peer = l->source[i].rank;
        if (peer == team->rank) continue;
        const tutti_off bytes = tutti__side_bytes_in(l->side[i], s->lo, s->hi);
        parcel_add(&s->theirs,
                   (tutti__parcel){.peer = peer,
                                   .turn = tutti__ring_theirs(team, peer, r->op->is_write),
                                   .lo = s->lo,
                                   .hi = s->hi,
                                   .bytes = bytes,
                                   .side = l->side[i]});
        total += bytes;
    }
    return total;
}

void tutti__cycle_open(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__shuffle *s = &c->shuffle[k];
    tutti__window_io *io = &c->sub[k].io;
    TUTTI_ASSERT(!s->flying && !io->request && c->next != TUTTI__NO_CYCLE);
    s->cycle = c->next;
    s->lo = s->hi = 0;
    s->theirs.n = 0;
    mine_open(r, s);
    io->total = 0;
    if (r->window_next == s->cycle) {
        tutti__domains_window(&r->two->domains, r->two->my_agg, s->cycle, &s->lo, &s->hi);
        s->hi = tutti__min(s->hi, r->op->eof);
        r->window_next = tutti__incoming_next(r->two, &r->two->incoming, s->cycle + 1, r->op->eof);
        io->total = theirs_open(r, s) + s->own;
    }
    io->cycle = s->cycle;
    io->lo = s->lo;
    io->hi = s->hi;
    io->stage = s->buffer;
    cycle_advance(r, s->cycle);
}

/* ---- shuffling */

/* Trouble of the exchange is this rank's. */
static void shuffle_note(tutti__run *r) {
    const tutti__exchange *x = &r->cycles->exchange;
    if (x->err != TUTTI_OK && r->err == TUTTI_OK) {
        r->err = x->err;
        r->info = x->info;
    }
    if (r->done == x->moved) return;
    r->done = x->moved;
    tutti__file_report(r->file, r->done, r->total, "exchange");
}

static void shuffle_ended(tutti__run *r, int k) {
    const tutti__shuffle *s = &r->cycles->shuffle[k];
    shuffle_note(r);
    if (!tutti__trace_on()) return;
    tutti_off bytes = s->own;
    for (int i = 0; i < s->mine.n; i++) bytes += s->mine.v[i].bytes;
    for (int i = 0; i < s->theirs.n; i++) bytes += s->theirs.v[i].bytes;
    tutti__trace_event("exchange", r->op->is_write ? "shuffle" : "scatter", r->cycles->sub[k].since,
                       bytes, s->cycle);
}

void tutti__cycle_shuffle_init(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    c->sub[k].since = tutti__now();
    tutti__shuffle_init(&c->exchange, &c->shuffle[k]);
    shuffle_note(r);
}

int tutti__cycle_shuffle_test(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    if (!c->shuffle[k].flying) return 1;
    if (!tutti__shuffle_test(&c->exchange, &c->shuffle[k])) return 0;
    shuffle_ended(r, k);
    return 1;
}

/* Where MPI itself waits (fence) nobody can tell for what. */
void tutti__cycle_shuffle_wait(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    if (!c->shuffle[k].flying) return;
    if (c->exchange.ops->wait) tutti__shuffle_wait(&c->exchange, &c->shuffle[k]);
    for (;;) {
        const tutti__turn turn = tutti__turn_begin(r);
        if (tutti__shuffle_test(&c->exchange, &c->shuffle[k])) break;
        tutti__exchange_progress(&c->exchange);
        tutti__cycle_idle(r, &turn);
    }
    shuffle_ended(r, k);
}

/* ---- the file */

/* Has this rank a window in the cycle?  Then wait until it may access the file. */
static int store_due(tutti__run *r, const tutti__window_io *io) {
    if (io->total == 0) return 0;
    while (r->err == TUTTI_OK && tutti__run_too_early(r)) {
        const tutti__turn turn = tutti__turn_begin(r);
        tutti__exchange_progress(&r->cycles->exchange);
        tutti__yield();
        tutti__turn_was_file(r, &turn);
    }
    return 1;
}

/* File access that blocks: one call for the whole window. */
typedef struct {
    tutti_store *store;
    int is_write;
    const tutti__window_io *io;
    tutti_stats stats; /* a thread's own */
    tutti_off done;
} blocking;

static tutti_err blocking_move(void *context) {
    blocking *b = context;
    tutti_stats *before = tutti__store_account(&b->stats);
    const tutti_err err = b->is_write ? tutti__store_write(b->store, b->io->run, b->io->n)
                                      : tutti__store_read(b->store, b->io->run, b->io->n, &b->done);
    (void)tutti__store_account(before);
    return err;
}

static void exchange_moves_on(void *context) {
    tutti__exchange_progress(context);
}

/* Feki and Gabriel leave it to MPI to move the exchange on while a write blocks.  Neither MPI here
 * has a thread for that; so it is the write that gets one, and this one calls MPI. */
void tutti__cycle_store(tutti__run *r, int k) {
    tutti__window_io *io = &r->cycles->sub[k].io;
    tutti__exchange *x = &r->cycles->exchange;
    blocking b = {.store = r->op->store, .is_write = r->op->is_write, .io = io};
    if (!store_due(r, io) || !tutti__window_io_prepare(r, io)) return;
    const tutti__turn turn = tutti__turn_begin(r);
    const tutti_err err = x->flights > 0
                              ? tutti__by_thread_meanwhile(blocking_move, &b, exchange_moves_on, x)
                              : blocking_move(&b);
    tutti__window_io_outcome(r, io, err, b.done, tutti__now());
    tutti__stats_add(r->op->stats, &b.stats);
    tutti__turn_was_file(r, &turn);
}

void tutti__cycle_io_begin(tutti__run *r, tutti__window_io *io) {
    if (store_due(r, io)) tutti__window_io_begin(r, io);
}

void tutti__cycle_store_init(tutti__run *r, int k) {
    tutti__cycle_io_begin(r, &r->cycles->sub[k].io);
}

int tutti__cycle_store_test(tutti__run *r, int k) {
    return tutti__window_io_end(r, &r->cycles->sub[k].io, 0);
}

/* Whatever passes here is time that the file takes. */
void tutti__cycle_io_wait(tutti__run *r, tutti__window_io *io) {
    for (;;) {
        const tutti__turn turn = tutti__turn_begin(r);
        if (tutti__window_io_end(r, io, 0)) return;
        tutti__exchange_progress(&r->cycles->exchange);
        tutti__yield();
        tutti__turn_was_file(r, &turn);
    }
}

void tutti__cycle_store_wait(tutti__run *r, int k) {
    tutti__cycle_io_wait(r, &r->cycles->sub[k].io);
}
