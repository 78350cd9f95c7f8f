/* engine: the cycle-by-cycle pipeline in two halves, for operations whose file access goes on while
 * the program computes; cycles.h has the listings.  My windows have memory of their own, in the order
 * of their cycles, and an access each, so that nobody needs to look after them in between.
 *
 *   write   first half: exchange, accesses begin        second: accesses end
 *   read    first half: accesses begin                  second: accesses end, exchange
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include <string.h>

#include "exchange/staging.h"

static int one_sided(const tutti__cycles *c) {
    return c->exchange.kind != TUTTI_EXCHANGE_TWO_SIDED;
}

/* Does the second phase of a window begin as soon as its first has ended, or all of them later? */
static int window_by_window(const tutti__run *r) {
    return r->two->pipeline != TUTTI_PIPELINE_NONE && r->two->pipeline != TUTTI_PIPELINE_COMM;
}

/* Take the next cycle into lane k.  If it is one of my windows, the `taken`-th, that has its place.
 * Windows of MPI may have been made anew since the operation was begun.  1: it is one. */
static int open_in(tutti__run *r, int k, int taken) {
    tutti__cycles *c = r->cycles;
    tutti__sub *b = &c->sub[k];
    tutti__shuffle *s = &c->shuffle[k];
    tutti__cycle_open(r, k);
    b->away = -1;
    if (b->io.total == 0) return 0;
    TUTTI_ASSERT(taken < c->aways);
    b->away = taken;
    b->io.stage = tutti__stage_buffer(&r->stage, 0, taken);
    s->buffer = one_sided(c) ? c->exchange.team->staging->rma_windows.base[k] : b->io.stage;
    return 1;
}

/* ---- writing */

/* A window has got its bytes: they leave the exchange's memory, and the next cycle may have its
 * lane. */
static void put_away(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__window_io *io = &c->sub[k].io, *away = c->away;
    if (c->sub[k].away < 0) return;
    away += c->sub[k].away;
    if (one_sided(c)) {
        memcpy(io->stage, c->shuffle[k].buffer, (size_t)(io->hi - io->lo));
        r->op->stats->copied_bytes += io->hi - io->lo;
    }
    const tutti__window_io empty = *away; /* its lists of runs are used again */
    *away = *io;
    *io = empty;
    if (window_by_window(r)) tutti__cycle_io_begin(r, away);
}

static void write_depart(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    tutti_count begun = 0;
    int taken = 0;
    for (int i = 0; i < c->aways; i++) c->away[i].total = 0;
    tutti__cycle_first(r);
    for (tutti_count k = 0;; k++) {
        for (; begun < k + c->slots && tutti__cycle_more(r); begun++) {
            taken += open_in(r, (int)(begun % c->slots), taken);
            tutti__cycle_shuffle_init(r, (int)(begun % c->slots));
        }
        if (k == begun) break;
        tutti__cycle_shuffle_wait(r, (int)(k % c->slots));
        put_away(r, (int)(k % c->slots));
    }
    for (int i = 0; i < taken && !window_by_window(r); i++) tutti__cycle_io_begin(r, &c->away[i]);
}

/* ---- reading */

static void read_depart(tutti__run *r) {
    const tutti__incoming *l = &r->two->incoming;
    tutti__cycles *c = r->cycles;
    int taken = 0;
    for (tutti_count cycle = r->window_next; cycle >= 0;
         cycle = tutti__incoming_next(r->two, l, cycle + 1, r->op->eof)) {
        TUTTI_ASSERT(taken < c->aways);
        tutti__window_io *io = &c->away[taken];
        tutti__domains_window(&r->two->domains, r->two->my_agg, cycle, &io->lo, &io->hi);
        io->hi = tutti__min(io->hi, r->op->eof);
        io->cycle = cycle;
        io->total = 0;
        for (int i = 0; i < l->n; i++)
            io->total += tutti__side_bytes_in(l->side[i], io->lo, io->hi);
        if (io->total == 0) continue; /* all of it is behind the end of the file */
        io->stage = tutti__stage_buffer(&r->stage, 0, taken++);
        tutti__cycle_io_begin(r, io);
    }
}

/* What has been fetched goes where the exchange takes it from. */
static void bring(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__window_io *away = c->away;
    if (c->sub[k].away < 0) return;
    away += c->sub[k].away;
    TUTTI_ASSERT(away->cycle == c->sub[k].io.cycle);
    tutti__cycle_io_wait(r, away);
    if (!one_sided(c)) return;
    memcpy(c->shuffle[k].buffer, away->stage, (size_t)(away->hi - away->lo));
    r->op->stats->copied_bytes += away->hi - away->lo;
}

static void read_arrive(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    tutti_count begun = 0;
    int taken = 0;
    for (int i = 0; i < c->aways && !window_by_window(r); i++) tutti__cycle_io_wait(r, &c->away[i]);
    tutti__cycle_first(r);
    for (tutti_count k = 0;; k++) {
        for (; begun < k + c->slots && tutti__cycle_more(r); begun++) {
            const int lane = (int)(begun % c->slots);
            taken += open_in(r, lane, taken);
            bring(r, lane);
            tutti__cycle_shuffle_init(r, lane);
        }
        if (k == begun) return;
        tutti__cycle_shuffle_wait(r, (int)(k % c->slots));
    }
}

/* ---- the two halves */

void tutti__cycles_depart(tutti__run *r) {
    if (r->op->is_write)
        write_depart(r);
    else
        read_depart(r);
}

void tutti__cycles_arrive(tutti__run *r) {
    if (!r->op->is_write) read_arrive(r);
    for (int i = 0; i < r->cycles->aways; i++) tutti__cycle_io_wait(r, &r->cycles->away[i]);
}
