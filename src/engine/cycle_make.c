/* engine: memory of the literal engine, which is allocated with the plan, so that the execution
 * allocates almost no memory; and the ring, i.e. the order in which a rank visits its peers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include <stdlib.h>

#include "exchange/staging.h"

/* ---- the ring */

typedef struct {
    int turn, index; /* step of the ring (see tutti__ring_mine), and index of the peer */
} ring_place;

static int compare_turns(const void *a, const void *b) {
    const ring_place *x = a, *y = b;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

/* Store the indices 0 ... n-1 in `out`, sorted by step of the ring. */
static void sort_ring(int n, ring_place *v, int *out) {
    qsort(v, (size_t)n, sizeof *v, compare_turns);
    for (int i = 0; i < n; i++) out[i] = v[i].index;
}

static tutti_err make_rings(tutti__cycles *c, const tutti__run *r, int is_write) {
    const tutti__two_phase *t = r->two;
    const tutti__team *team = r->file->team;
    const int most = t->destinations > t->incoming.n ? t->destinations : t->incoming.n;
    ring_place *v = tutti__calloc((size_t)most + 1, sizeof *v);
    c->destinations = tutti__calloc((size_t)t->destinations + 1, sizeof(int));
    c->sources = tutti__calloc((size_t)t->incoming.n + 1, sizeof(int));
    if (!v || !c->destinations || !c->sources) {
        tutti__free(v);
        return TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < t->destinations; i++)
        v[i] = (ring_place){
            tutti__ring_of_memory(team, t->agg_rank[t->destination[i].aggregator], is_write), i};
    sort_ring(t->destinations, v, c->destinations);
    for (int i = 0; i < t->incoming.n; i++)
        v[i] = (ring_place){tutti__ring_of_window(team, t->incoming.source[i].rank, is_write), i};
    sort_ring(t->incoming.n, v, c->sources);
    tutti__free(v);
    return TUTTI_OK;
}

/* ---- memory */

/* Ensure memory for the windows of a resident plan. */
static tutti_err ensure_resident_memory(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    if (!p->means.resident) return TUTTI_OK;
    return tutti__resident_ensure(p, tutti__stage_bytes(1, t->window_slots, t->domains.window));
}

tutti_err tutti__cycles_memory(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const tutti_off window = t->domains.window;
    if (t->kind == TUTTI_EXCHANGE_TWO_SIDED) return ensure_resident_memory(p);
    /* share of this rank in the memory of a node, minus additional buffers of the exchange */
    const tutti_off share = p->file->opt.cb_buffer_size / p->file->team->nodes.largest;
    const int beside = tutti__exchange_buffers(t->kind, t->step, t->lanes) - t->lanes;
    const tutti_off limit = tutti__max(share - beside * window, t->lanes * window);
    TUTTI_TRY(
        tutti__rma_windows_ensure(p->file->team, t->lanes, t->my_agg >= 0 ? window : 0, limit));
    return ensure_resident_memory(p);
}

tutti_err tutti__cycles_make(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const tutti__domains *d = &t->domains;
    TUTTI_TRY(tutti__run_make(p));
    tutti__run *r = p->run;
    tutti__cycles *c = r->cycles = tutti__calloc(1, sizeof *c);
    if (!c) return TUTTI_ERR_NOMEM;
    c->file = p->file;
    c->slots = t->lanes;
    if (p->means.resident) {
        c->windows = t->my_agg >= 0 ? t->window_slots : 0;
        c->pending = tutti__calloc((size_t)c->windows + 1, sizeof *c->pending);
        if (!c->pending) return TUTTI_ERR_NOMEM;
        for (int i = 0; i < c->windows; i++) c->pending[i].incoming = &t->incoming;
    }
    /* These values are the same on all ranks.  An empty cycle needs one synchronisation, an
     * agreement on the next cycle with bytes an additional one. */
    for (int a = 0; a < d->aggregators; a++)
        c->cycles = tutti__max(c->cycles, tutti__domains_cycles(d, a));
    c->collective = t->kind != TUTTI_EXCHANGE_TWO_SIDED;
    c->sparse = c->collective && c->cycles / 4 > t->bytes / d->window / d->aggregators + 16;
    TUTTI_TRY(make_rings(c, r, p->asked.is_write));
    const size_t slots = (size_t)c->slots, each = (size_t)t->destinations + (size_t)t->incoming.n;
    c->sub = tutti__calloc(slots, sizeof *c->sub);
    c->shuffle = tutti__calloc(slots, sizeof *c->shuffle);
    c->parcels = tutti__calloc(slots * each + 1, sizeof *c->parcels);
    if (!c->sub || !c->shuffle || !c->parcels) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < slots; i++) {
        c->shuffle[i].of_memory.v = c->parcels + i * each;
        c->shuffle[i].of_window.v = c->parcels + i * each + t->destinations;
        c->sub[i].io.incoming = &t->incoming;
    }
    return tutti__cycles_wake(p);
}

tutti_err tutti__cycles_wake(tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    tutti__cycles *c = p->run->cycles;
    if (c->collective && !c->pins) {
        c->pins = p->file;
        atomic_fetch_add(&p->file->team->staging->pins, 1);
    }
    TUTTI_TRY(tutti__cycle_parts_memory(p));
    if (c->exchange.memory) return TUTTI_OK;
    const int me = p->file->team->rank;
    tutti__needs q = {.slots = t->lanes, .window = t->domains.window};
    q.is_write = p->asked.is_write;
    q.aggregates = t->my_agg >= 0 && !p->means.resident;
    for (int i = 0; i < t->destinations; i++)
        q.of_memory |= t->agg_rank[t->destination[i].aggregator] != me;
    for (int i = 0; i < t->incoming.n; i++) q.of_window |= t->incoming.source[i].rank != me;
    return tutti__exchange_make(&c->exchange, p->file->team, t->kind, t->step, &q, c->shuffle);
}

int tutti__cycles_ready(const tutti_plan *p) {
    (void)p;
    return 1;
}

void tutti__cycles_prepare(const tutti_plan *p) {
    (void)p;
}

void tutti__cycles_sleep(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    if (c->pins && c->pins->team) atomic_fetch_sub(&c->pins->team->staging->pins, 1);
    c->pins = NULL;
    /* the team is NULL after MPI_Finalize */
    tutti__exchange_free(&c->exchange, c->file->team);
    tutti__free(c->packed);
    c->packed = NULL;
    for (int i = 0; c->sub && i < c->slots; i++) tutti__window_io_free(&c->sub[i].io);
    for (int i = 0; c->pending && i < c->windows; i++) tutti__window_io_free(&c->pending[i]);
    for (int i = 0; c->shuffle && i < c->slots; i++) c->shuffle[i].buffer = NULL;
}

void tutti__cycles_abort(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    for (int i = 0; i < c->slots; i++) tutti__window_io_abort(&c->sub[i].io);
    for (int i = 0; c->pending && i < c->windows; i++) tutti__window_io_abort(&c->pending[i]);
}

void tutti__cycles_free(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    if (c) {
        tutti__cycles_sleep(r);
        tutti__free(c->sub);
        tutti__free(c->pending);
        tutti__free(c->shuffle);
        tutti__free(c->parcels);
        tutti__free(c->destinations);
        tutti__free(c->sources);
        tutti__free(c);
    }
    tutti__run_free(r);
}
