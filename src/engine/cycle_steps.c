/* engine: steps of the literal engine: open the next cycle, shuffle its bytes, write or read them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include "base/trace.h"
#include "comm/by_thread.h"

/* ---- waiting */

void tutti__cycle_idle(tutti__run *r, const tutti__turn *turn, tutti__wait *w) {
    const tutti__cycles *c = r->cycles;
    int accesses_file = 0;
    tutti__wait_turn(w);
    for (int i = 0; i < c->slots; i++) accesses_file |= c->sub[i].io.request != NULL;
    if (accesses_file) tutti__turn_was_file(r, turn);
}

/* ---- the next cycle */

/* Return the next cycle in which this rank has a window or bytes in another window. */
static tutti_count next_own_cycle(const tutti__run *r) {
    tutti_count best = r->window_next >= 0 ? r->window_next : TUTTI__NO_CYCLE;
    for (int i = 0; i < r->two->destinations; i++)
        if (r->destination_next[i] >= 0) best = tutti__min(best, r->destination_next[i]);
    return best;
}

/* Begin to determine the next cycle, after all cycles of this rank up to `last` have been
 * opened. */
static void advance_cycle(tutti__run *r, tutti_count last) {
    tutti__cycles *c = r->cycles;
    if (!c->collective) {
        c->next = next_own_cycle(r);
    } else if (!c->sparse) {
        c->next = last + 1 < c->cycles ? last + 1 : TUTTI__NO_CYCLE;
    } else {
        const tutti_err err = tutti__minimum_begin(r->file->team, next_own_cycle(r), &c->agreed);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
    }
}

void tutti__cycle_first(tutti__run *r) {
    r->cycles->agreed.active = 0;
    advance_cycle(r, -1);
}

int tutti__cycle_more(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    int done = !c->sparse;
    tutti__wait w = tutti__transfer_wait_begin(r->file->team);
    while (!done) {
        const tutti_err err = tutti__minimum_test(&c->agreed, &done);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
        if (done) break;
        tutti__exchange_progress(&c->exchange);
        tutti__wait_turn(&w);
    }
    if (c->sparse) c->next = c->agreed.least;
    return c->next != TUTTI__NO_CYCLE;
}

/* ---- opening the cycle */

static void add_parcel(tutti__parcels *l, tutti__parcel p) {
    if (p.bytes > 0) l->v[l->n++] = p;
}

/* List the bytes of this rank in the windows of this cycle. */
static void open_own_parcels(tutti__run *r, tutti__shuffle *s) {
    const tutti__two_phase *t = r->two;
    const tutti__side file = r->access->file;
    s->of_memory.n = 0;
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
            add_parcel(&s->of_memory, (tutti__parcel){.peer = peer,
                                                      .turn = tutti__ring_of_memory(
                                                          r->file->team, peer, r->op->is_write),
                                                      .lo = lo,
                                                      .hi = hi,
                                                      .bytes = bytes,
                                                      .side = file});
    }
}

/* List the bytes of other ranks in the window of this rank; return the number of bytes. */
static tutti_off open_other_parcels(tutti__run *r, tutti__shuffle *s) {
    const tutti__incoming *l = &r->two->incoming;
    const tutti__team *team = r->file->team;
    tutti_off total = 0;
    for (int k = 0; k < l->n; k++) {
        const int i = r->cycles->sources[k], peer = l->source[i].rank;
        if (peer == team->rank) continue;
        const tutti_off bytes = tutti__side_bytes_in(l->side[i], s->lo, s->hi);
        add_parcel(&s->of_window,
                   (tutti__parcel){.peer = peer,
                                   .turn = tutti__ring_of_window(team, peer, r->op->is_write),
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
    s->of_window.n = 0;
    open_own_parcels(r, s);
    io->total = 0;
    if (r->window_next == s->cycle) {
        tutti__domains_window(&r->two->domains, r->two->my_agg, s->cycle, &s->lo, &s->hi);
        s->hi = tutti__min(s->hi, r->op->eof);
        r->window_next = tutti__incoming_next(r->two, &r->two->incoming, s->cycle + 1, r->op->eof);
        io->total = open_other_parcels(r, s) + s->own;
    }
    io->cycle = s->cycle;
    io->lo = s->lo;
    io->hi = s->hi;
    io->stage = s->buffer;
    advance_cycle(r, s->cycle);
}

/* ---- shuffling */

/* Record errors and progress of the exchange. */
static void record_shuffle(tutti__run *r) {
    const tutti__exchange *x = &r->cycles->exchange;
    if (x->err != TUTTI_OK && r->err == TUTTI_OK) {
        r->err = x->err;
        r->info = x->info;
    }
    if (r->done == x->moved) return;
    r->done = x->moved;
    tutti__file_report(r->file, r->done, r->total, "exchange");
}

static void end_shuffle(tutti__run *r, int k) {
    const tutti__shuffle *s = &r->cycles->shuffle[k];
    record_shuffle(r);
    if (!tutti__trace_on()) return;
    tutti_off bytes = s->own;
    for (int i = 0; i < s->of_memory.n; i++) bytes += s->of_memory.v[i].bytes;
    for (int i = 0; i < s->of_window.n; i++) bytes += s->of_window.v[i].bytes;
    tutti__trace_event("exchange", r->op->is_write ? "shuffle" : "scatter", r->cycles->sub[k].since,
                       bytes, s->cycle);
}

void tutti__cycle_shuffle_init(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    c->sub[k].since = tutti__now();
    tutti__shuffle_init(&c->exchange, &c->shuffle[k]);
    record_shuffle(r);
}

int tutti__cycle_shuffle_test(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    if (!c->shuffle[k].flying) return 1;
    if (!tutti__shuffle_test(&c->exchange, &c->shuffle[k])) return 0;
    end_shuffle(r, k);
    return 1;
}

/* The time that MPI waits internally (fence) is counted as exchange, since its cause is unknown. */
void tutti__cycle_shuffle_wait(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    if (!c->shuffle[k].flying) return;
    if (c->exchange.ops->wait) tutti__shuffle_wait(&c->exchange, &c->shuffle[k]);
    tutti__wait w = tutti__transfer_wait_begin(r->file->team);
    for (;;) {
        const tutti__turn turn = tutti__turn_begin(r);
        if (tutti__shuffle_test(&c->exchange, &c->shuffle[k])) break;
        tutti__exchange_progress(&c->exchange);
        tutti__cycle_idle(r, &turn, &w);
    }
    end_shuffle(r, k);
}

/* ---- the file */

/* Wait until this rank may access the file; return 0 if it has no window in the cycle. */
static int await_file_turn(tutti__run *r, const tutti__window_io *io) {
    if (io->total == 0) return 0;
    tutti__wait w = tutti__transfer_wait_begin(r->file->team);
    while (r->err == TUTTI_OK && tutti__run_too_early(r)) {
        const tutti__turn turn = tutti__turn_begin(r);
        tutti__exchange_progress(&r->cycles->exchange);
        tutti__wait_turn(&w);
        tutti__turn_was_file(r, &turn);
    }
    return 1;
}

/* Blocking file access: one call for the whole window. */
typedef struct {
    tutti_store *store;
    int is_write;
    const tutti__window_io *io;
    tutti_stats stats; /* statistics of the thread that makes the call */
    tutti_off done;
} blocking_access;

static tutti_err access_file(void *context) {
    blocking_access *b = context;
    tutti_stats *before = tutti__store_account(&b->stats);
    const tutti_err err = b->is_write ? tutti__store_write(b->store, b->io->run, b->io->n)
                                      : tutti__store_read(b->store, b->io->run, b->io->n, &b->done);
    (void)tutti__store_account(before);
    return err;
}

static void progress_exchange(void *context) {
    tutti__exchange_progress(context);
}

/* Feki and Gabriel rely on MPI to progress the exchange during a blocking write.  Open MPI and
 * MPICH have no progress thread by default, so another thread writes, and this thread calls MPI. */
void tutti__cycle_store(tutti__run *r, int k) {
    tutti__window_io *io = &r->cycles->sub[k].io;
    tutti__exchange *x = &r->cycles->exchange;
    blocking_access b = {.store = r->op->store, .is_write = r->op->is_write, .io = io};
    if (!await_file_turn(r, io) || !tutti__window_io_prepare(r, io)) return;
    const tutti__turn turn = tutti__turn_begin(r);
    const tutti_err err = x->flights > 0
                              ? tutti__by_thread_meanwhile(access_file, &b, progress_exchange, x)
                              : access_file(&b);
    tutti__window_io_outcome(r, io, err, b.done, tutti__now());
    tutti__stats_add(r->op->stats, &b.stats);
    tutti__turn_was_file(r, &turn);
}

void tutti__cycle_io_begin(tutti__run *r, tutti__window_io *io) {
    if (await_file_turn(r, io)) tutti__window_io_begin(r, io);
}

void tutti__cycle_store_init(tutti__run *r, int k) {
    tutti__cycle_io_begin(r, &r->cycles->sub[k].io);
}

int tutti__cycle_store_test(tutti__run *r, int k) {
    return tutti__window_io_end(r, &r->cycles->sub[k].io, 0);
}

/* The time spent in this function is counted as file access. */
void tutti__cycle_io_wait(tutti__run *r, tutti__window_io *io) {
    tutti__wait w = tutti__transfer_wait_begin(r->file->team);
    for (;;) {
        const tutti__turn turn = tutti__turn_begin(r);
        if (tutti__window_io_end(r, io, 0)) return;
        tutti__exchange_progress(&r->cycles->exchange);
        tutti__wait_turn(&w);
        tutti__turn_was_file(r, &turn);
    }
}

void tutti__cycle_store_wait(tutti__run *r, int k) {
    tutti__cycle_io_wait(r, &r->cycles->sub[k].io);
}
