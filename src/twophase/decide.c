/* twophase: decisions that are the same on all ranks, since they follow from the summary of a
 * request: exchange, pipeline, window size, aggregators and file domains.  Only the histogram of a
 * sparse request is communicated, and no table has an entry per rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/plan.h"

#include "exchange/shuffle.h"
#include "comm/vote.h"

/* Default window size if a write is a copy into the page cache: windows that fit into the cache of a
 * core are faster than large ones. */
static const tutti_off CACHED_WINDOW = 512 << 10;

/* Return the size of the largest window such that `buffers` windows per rank fit into the memory of
 * a node.  It is at least *least_out, so that cycle numbers fit into the key of a slot. */
static tutti_off choose_window(const tutti_plan *p, int buffers, tutti_off extent, tutti_off align,
                               tutti_off *least_out) {
    const tutti_file *f = p->file;
    const tutti_off ranks = f->team->nodes.largest; /* memory is limited per node */
    /* Windows are multiples of `grain`.  Domains are cut at stripes, but a stripe that is larger
     * than the memory for a window has several windows. */
    const tutti_off page = tutti__max(4096, f->opt.direct_io ? f->opt.direct_align : 1);
    const int in_pages =
        align % page == 0 && p->means.block == 0 && f->opt.domains != TUTTI_DOMAINS_CYCLIC;
    const tutti_off grain = in_pages ? page : align;

    tutti_off most = f->opt.window_size > 0 ? f->opt.window_size : p->choice.window;
    if (most == 0)
        most = f->opt.direct_io || f->layout.striped ? TUTTI__MESSAGE_MAX : CACHED_WINDOW;
    most = tutti__min(most, TUTTI__MESSAGE_MAX);
    most = tutti__min(most, f->opt.cb_buffer_size / (ranks * buffers));
    if (p->means.memory_limit > 0) {
        /* not all windows in the background are full, so smaller windows waste less memory */
        const int least = p->means.resident ? 8 : 1;
        most = tutti__min(most, p->means.memory_limit / (ranks * tutti__max(buffers, least)));
    }
    *least_out = tutti__align_up((extent >> (TUTTI__CYCLE_BITS - 1)) + 1, grain);
    return tutti__max(tutti__align_down(most, most < align ? grain : align), *least_out);
}

/* Decide the exchange, the engine and the groups of ranks that share staging memory.  The literal
 * engine is used only if an option requests its exchange.  MPI windows are created and fenced by
 * blocking calls, which would block other operations of the thread inside a fiber, so fibers use
 * messages instead. */
static void decide_exchange(tutti_plan *p, int singles) {
    const tutti_file *f = p->file;
    tutti__two_phase *t = p->two;
    const int exchange =
        f->opt.exchange == TUTTI_EXCHANGE_AUTO ? p->choice.exchange : f->opt.exchange;
    const int one_sided = exchange == TUTTI_EXCHANGE_FENCE || exchange == TUTTI_EXCHANGE_LOCK;
    const int steps = exchange == TUTTI_EXCHANGE_TWO_SIDED && f->opt.step > 0;
    t->literal = (one_sided || steps) && !t->ordered && tutti__is_staged(p->choice.method);
    t->kind = one_sided && !p->cache.inside ? exchange : TUTTI_EXCHANGE_TWO_SIDED;
    t->step = t->kind != TUTTI_EXCHANGE_TWO_SIDED ? 0 : one_sided ? 4 : f->opt.step;
    t->shared = !singles && (exchange == TUTTI_EXCHANGE_AUTO || exchange == TUTTI_EXCHANGE_SHM);
    t->groups = t->shared ? &f->team->nodes : &f->team->singles;
    t->messages = !t->literal && (t->groups->n > 1 || t->ordered);
}

tutti_err tutti__two_phase_decide(tutti_plan *p, const tutti__summary *s, int singles) {
    tutti_file *f = p->file;
    tutti__two_phase *t = p->two;
    tutti__team *team = f->team;
    /* Alignment of windows: the least common multiple of page, stripe and checksum block, which is a
     * power of two. */
    const tutti_off block = p->means.block, even = f->opt.striping_unit & -f->opt.striping_unit;
    const tutti_off align =
        block > 0 ? f->opt.striping_unit / tutti__min(even, block) * block : f->opt.striping_unit;

    decide_exchange(p, singles);

    /* Pipeline, and the number of slots of its windows */
    t->pipeline = f->opt.pipeline ? f->opt.pipeline : p->choice.pipeline;
    if (t->pipeline == TUTTI_PIPELINE_AUTO || (p->means.resident && !f->opt.pipeline))
        t->pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    t->window_slots = t->pipeline == TUTTI_PIPELINE_NONE ? 1 : f->opt.sub_buffers;
    if (t->literal && t->window_slots == 1 && !p->means.resident)
        t->pipeline = TUTTI_PIPELINE_NONE; /* no overlap is possible */
    t->relay_slots = t->messages ? 2 : 0;
    t->lanes = t->window_slots;
    if (p->means.resident) { /* each window has its own memory: only exchanges share buffers */
        const int ahead =
            t->pipeline == TUTTI_PIPELINE_COMM || t->pipeline == TUTTI_PIPELINE_WRITE_COMM_2;
        t->lanes = ahead ? f->opt.sub_buffers : 1;
    }

    /* Window size */
    const tutti_off extent = s->hi > s->lo ? s->hi - s->lo : 0;
    const int buffers = t->literal ? tutti__exchange_buffers(t->kind, t->step, t->lanes)
                                   : (t->window_slots + t->relay_slots) * (t->messages ? 2 : 1);
    tutti_off least_window;
    const tutti_off window = choose_window(p, buffers, extent, align, &least_window);

    /* Aggregators.  Their number is constant for an array, regardless of the request.  Reads from a
     * device include holes, or several aggregators wait for the device concurrently, so the number
     * depends on the extent instead of the bytes. */
    const tutti__topology topo = {team->size, team->nodes.n, team->nodes.of};
    const int named = p->choice.method == TUTTI_METHOD_ROOT ? 1 : f->opt.cb_nodes;
    const tutti_off least = tutti__max(align, tutti__min(window, p->choice.least));
    const tutti_off moved = s->cold ? tutti__max(s->bytes, extent) : s->bytes;
    const int of_array = f->opt.domains == TUTTI_DOMAINS_ARRAY && f->slabs.n > 0;
    const int n = of_array ? tutti__aggregators_choose(&topo, named, TUTTI__OFF_END, 1, t->agg_rank)
                           : tutti__aggregators_choose(&topo, named ? named : p->choice.aggregators,
                                                       moved, named ? 1 : least, t->agg_rank);
    if (p->choice.method == TUTTI_METHOD_ROOT) t->agg_rank[0] = 0;
    t->my_agg = -1;
    for (int a = n - 1; a >= 0; a--)
        if (t->agg_rank[a] == team->rank) t->my_agg = a;

    /* File domains */
    tutti_off bucket[TUTTI__HISTOGRAM] = {0};
    const int sparse = n > 1 && tutti__domains_want_histogram(s, f->opt.domains);
    if (sparse) {
        tutti__histogram_add(p->asked.access->file, s->lo, s->hi, bucket);
        TUTTI_TRY(tutti__team_sum(team, bucket, TUTTI__HISTOGRAM));
    }
    tutti_off unit = window;
    if (f->opt.domains == TUTTI_DOMAINS_CYCLIC && f->opt.domain_block > 0)
        unit = tutti__min(window,
                          tutti__max(tutti__align_down(f->opt.domain_block, align), least_window));
    tutti__domain_rule rule = {f->opt.domains, n, align, unit, sparse ? bucket : NULL, NULL};
    if (of_array) {
        /* cut exactly between two slabs if a page with two writers is harmless */
        if (p->means.block == 0 && !f->opt.direct_io && !f->layout.striped && !f->layout.incoherent)
            rule.align = 1;
        rule.slabs = &f->slabs;
    } else if (s->cold && f->opt.domains == TUTTI_DOMAINS_AUTO && t->groups->n == 1 &&
               !f->layout.striped) {
        /* ranks of one node read windows round-robin, so that concurrent accesses to the device are
         * close to each other */
        rule.kind = TUTTI_DOMAINS_CYCLIC;
    }
    tutti__domains_make(s, &rule, &t->domains);
    t->domains.window = tutti__min(t->domains.window, window);
    t->bytes = s->bytes;
    t->gap = p->choice.gap;
    TUTTI_ASSERT(tutti__two_phase_is_valid(t));
    return TUTTI_OK;
}
