/* engine: the literal engine in two halves, for operations with file access in the background;
 * cycles.h has the listings.  Each window of this rank has its own memory, in the order of cycles,
 * and its own file access, so that no rank needs to progress the accesses between the halves.
 *
 *   write   first half: exchange, accesses begin        second: accesses end
 *   read    first half: accesses begin                  second: accesses end, exchange
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include <string.h>

#include "exchange/staging.h"

static int is_one_sided(const tutti__cycles *c) {
    return c->exchange.kind != TUTTI_EXCHANGE_TWO_SIDED;
}

/* Return whether the second phase of a window begins as soon as its first phase has ended, instead
 * of after the first phases of all windows. */
static int is_window_by_window(const tutti__run *r) {
    return r->two->pipeline != TUTTI_PIPELINE_NONE && r->two->pipeline != TUTTI_PIPELINE_COMM;
}

/* Open the next cycle in lane k.  Returns 1 if the cycle has a window of this rank, which gets
 * index `taken`.  MPI windows may have been recreated since the operation began. */
static int open_cycle(tutti__run *r, int k, int taken) {
    tutti__cycles *c = r->cycles;
    tutti__sub *b = &c->sub[k];
    tutti__shuffle *s = &c->shuffle[k];
    tutti__cycle_open(r, k);
    b->window = -1;
    if (b->io.total == 0) return 0;
    TUTTI_ASSERT(taken < c->windows);
    b->window = taken;
    b->io.stage = tutti__stage_buffer(&r->stage, 0, taken);
    s->buffer = is_one_sided(c) ? c->exchange.team->staging->rma_windows.base[k] : b->io.stage;
    return 1;
}

/* ---- writing */

/* Move the bytes of the complete window in lane k out of the memory of the exchange, so that the
 * next cycle can use the lane. */
static void store_window(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__window_io *io = &c->sub[k].io, *pending = c->pending;
    if (c->sub[k].window < 0) return;
    pending += c->sub[k].window;
    if (is_one_sided(c)) {
        memcpy(io->stage, c->shuffle[k].buffer, (size_t)(io->hi - io->lo));
        r->op->stats->copied_bytes += io->hi - io->lo;
    }
    const tutti__window_io empty = *pending; /* reuse its lists of runs */
    *pending = *io;
    *io = empty;
    if (is_window_by_window(r)) tutti__cycle_io_begin(r, pending);
}

static void write_first_half(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    tutti_count begun = 0;
    int taken = 0;
    for (int i = 0; i < c->windows; i++) c->pending[i].total = 0;
    tutti__cycle_first(r);
    for (tutti_count k = 0;; k++) {
        for (; begun < k + c->slots && tutti__cycle_more(r); begun++) {
            taken += open_cycle(r, (int)(begun % c->slots), taken);
            tutti__cycle_shuffle_init(r, (int)(begun % c->slots));
        }
        if (k == begun) break;
        tutti__cycle_shuffle_wait(r, (int)(k % c->slots));
        store_window(r, (int)(k % c->slots));
    }
    for (int i = 0; i < taken && !is_window_by_window(r); i++)
        tutti__cycle_io_begin(r, &c->pending[i]);
}

/* ---- reading */

static void read_first_half(tutti__run *r) {
    const tutti__incoming *l = &r->two->incoming;
    tutti__cycles *c = r->cycles;
    int taken = 0;
    for (tutti_count cycle = r->window_next; cycle >= 0;
         cycle = tutti__incoming_next(r->two, l, cycle + 1, r->op->eof)) {
        TUTTI_ASSERT(taken < c->windows);
        tutti__window_io *io = &c->pending[taken];
        tutti__domains_window(&r->two->domains, r->two->my_agg, cycle, &io->lo, &io->hi);
        io->hi = tutti__min(io->hi, r->op->eof);
        io->cycle = cycle;
        io->total = 0;
        for (int i = 0; i < l->n; i++)
            io->total += tutti__side_bytes_in(l->side[i], io->lo, io->hi);
        if (io->total == 0) continue; /* the window is beyond the end of the file */
        io->stage = tutti__stage_buffer(&r->stage, 0, taken++);
        tutti__cycle_io_begin(r, io);
    }
}

/* Wait for the file access of the window in lane k, and copy its bytes into the memory of the
 * exchange. */
static void load_window(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__window_io *pending = c->pending;
    if (c->sub[k].window < 0) return;
    pending += c->sub[k].window;
    TUTTI_ASSERT(pending->cycle == c->sub[k].io.cycle);
    tutti__cycle_io_wait(r, pending);
    if (!is_one_sided(c)) return;
    memcpy(c->shuffle[k].buffer, pending->stage, (size_t)(pending->hi - pending->lo));
    r->op->stats->copied_bytes += pending->hi - pending->lo;
}

static void read_second_half(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    tutti_count begun = 0;
    int taken = 0;
    for (int i = 0; i < c->windows && !is_window_by_window(r); i++)
        tutti__cycle_io_wait(r, &c->pending[i]);
    tutti__cycle_first(r);
    for (tutti_count k = 0;; k++) {
        for (; begun < k + c->slots && tutti__cycle_more(r); begun++) {
            const int lane = (int)(begun % c->slots);
            taken += open_cycle(r, lane, taken);
            load_window(r, lane);
            tutti__cycle_shuffle_init(r, lane);
        }
        if (k == begun) return;
        tutti__cycle_shuffle_wait(r, (int)(k % c->slots));
    }
}

/* ---- begin and end */

void tutti__cycles_first_half(tutti__run *r) {
    if (r->op->is_write)
        write_first_half(r);
    else
        read_first_half(r);
}

void tutti__cycles_second_half(tutti__run *r) {
    if (!r->op->is_write) read_second_half(r);
    for (int i = 0; i < r->cycles->windows; i++) tutti__cycle_io_wait(r, &r->cycles->pending[i]);
}
