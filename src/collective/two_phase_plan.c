/* collective: planning a two-phase operation.
 *
 *   summary (agreed before)          bounds, bytes, runs of all ranks
 *   -> histogram                     only where the request is sparse
 *   -> domains                       the same on every rank, no memory per rank
 *   -> stays                         the aggregators that my bytes go to
 *   -> letters                       my description to each of them (and to the rank of my node
 *                                    that carries bytes there), clipped to its domain
 *   -> loads, proof                  aggregators: who sends what; do senders overlap?
 *   -> vote                          all ranks go on, or none
 *   -> trim, vote                    only where senders overlap (overlap.c)
 *
 * Descriptions travel, never lists of pieces, and only to the ranks that need them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "collective/cycles.h"
#include "collective/overlap.h"
#include "exchange/segment.h"
#include "exchange/shuffle.h"

enum { FOR_HOME = 1, FOR_CARRIER = 2 };

/* What stands before a description in a letter. */
typedef struct {
    int32_t purpose, aggregator;
} heading;

/* Windows that stay in a core's cache between the copies and the write are quicker than large ones,
 * where the write itself is a copy into the page cache. */
static const tutti_off CACHED_WINDOW = 512 << 10;

/* Windows are whole blocks of this size.  Domains are cut at stripes, but a stripe may be larger than the
 * memory for a window: then it takes several. */
static tutti_off window_grain(const tutti_file *f) {
    const tutti_off page = tutti__max(4096, f->opt.direct_io ? f->opt.direct_align : 1);
    return f->align % page == 0 && f->opt.domains != TUTTI_DOMAINS_CYCLIC ? page : f->align;
}

/* Not fewer bytes: cycles must fit into a slot's key. */
static tutti_off window_least(const tutti_file *f, tutti_off extent) {
    return tutti__align_up((extent >> (TUTTI__CYCLE_BITS - 1)) + 1, window_grain(f));
}

/* What fits into the memory of a node, in `slots` buffers for each of its ranks. */
static tutti_off window_bytes(const tutti_plan *p, const tutti__groups *g, int slots,
                              tutti_off extent) {
    const tutti_file *f = p->file;
    tutti_off most = f->opt.window_size > 0 ? f->opt.window_size : p->choice.window;
    if (most == 0) most = f->opt.direct_io || f->striped ? TUTTI__MESSAGE_MAX : CACHED_WINDOW;
    most = tutti__min(most, TUTTI__MESSAGE_MAX);
    most = tutti__min(most, f->opt.cb_buffer_size / ((tutti_off)g->largest * slots));
    most = tutti__align_down(most, most < f->align ? window_grain(f) : f->align);
    return tutti__max(most, window_least(f, extent));
}

static int rank_index(const tutti__two_phase *t, int rank) {
    for (int a = 0; a < t->domains.aggregators; a++)
        if (t->agg_rank[a] == rank) return a;
    return -1;
}

static int moves_by_stage(const tutti_plan *p);

/* Is it done cycle by cycle, and how?  Windows of MPI are made and fenced by calls that block: where
 * other operations of the thread wait for their turn (inside a fiber) messages do it. */
static void stepwise_decide(const tutti_plan *p, tutti__two_phase *t, int exchange) {
    const int one_sided = exchange == TUTTI_EXCHANGE_FENCE || exchange == TUTTI_EXCHANGE_LOCK;
    const int steps = exchange == TUTTI_EXCHANGE_TWO_SIDED && p->file->opt.step > 0;
    t->stepwise = (one_sided || steps) && !t->ordered && !p->means.resident && moves_by_stage(p);
    t->kind = one_sided && !p->inside ? exchange : TUTTI_EXCHANGE_TWO_SIDED;
    t->step = t->kind != TUTTI_EXCHANGE_TWO_SIDED ? 0 : one_sided ? 4 : p->file->opt.step;
}

/* Domains, aggregators and slots.  The same on all ranks. */
static tutti_err decide(tutti_plan *p, tutti__two_phase *t, const tutti__summary *s, int singles) {
    tutti_file *f = p->file;
    tutti__team *team = f->team;
    const int exchange =
        f->opt.exchange == TUTTI_EXCHANGE_AUTO ? p->choice.exchange : f->opt.exchange;
    stepwise_decide(p, t, exchange);
    t->shared = !singles && (exchange == TUTTI_EXCHANGE_AUTO || exchange == TUTTI_EXCHANGE_SHM);
    t->groups = t->shared ? &team->nodes : &team->singles;
    t->bytes = s->bytes;
    const int remote = !t->stepwise && (t->groups->n > 1 || t->ordered);
    t->pipeline = f->opt.pipeline ? f->opt.pipeline : p->choice.pipeline;
    if (t->pipeline == TUTTI_PIPELINE_AUTO) t->pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    if (p->means.resident) t->pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    t->homes = t->pipeline == TUTTI_PIPELINE_NONE ? 1 : f->opt.sub_buffers;
    if (t->stepwise && t->homes == 1) t->pipeline = TUTTI_PIPELINE_NONE; /* nothing overlaps */
    t->mirrors = remote ? 2 : 0;

    const tutti_off extent = s->hi > s->lo ? s->hi - s->lo : 0;
    const tutti__groups *share = &team->nodes; /* memory is that of a node */
    const int buffers = t->stepwise ? tutti__exchange_buffers(t->kind, t->step, t->homes)
                                    : (t->homes + t->mirrors) * (remote ? 2 : 1);
    const tutti_off window = window_bytes(p, share, buffers, extent);
    t->messages = remote;

    const tutti__topology topo = {team->size, share->n, share->of};
    const int named = p->method == TUTTI_METHOD_ROOT ? 1 : f->opt.cb_nodes;
    const tutti_off least = tutti__max(f->align, tutti__min(window, p->choice.least));
    const int n = tutti__aggregators_choose(&topo, named ? named : p->choice.aggregators, s->bytes,
                                            named ? 1 : least, t->agg_rank);
    if (p->method == TUTTI_METHOD_ROOT) t->agg_rank[0] = 0;

    tutti_off bucket[TUTTI__HISTOGRAM] = {0};
    const int sparse = n > 1 && tutti__domains_want_histogram(s, f->opt.domains);
    if (sparse) {
        tutti__histogram_add(p->access->file, s->lo, s->hi, bucket);
        TUTTI_TRY(tutti__team_sum(team, bucket, TUTTI__HISTOGRAM));
    }
    tutti_off unit = window;
    if (f->opt.domains == TUTTI_DOMAINS_CYCLIC && f->opt.domain_block > 0)
        unit = tutti__min(window, tutti__max(tutti__align_down(f->opt.domain_block, f->align),
                                             window_least(f, extent)));
    tutti__domains_make(s, f->opt.domains, n, f->align, unit, sparse ? bucket : NULL, &t->domains);
    t->domains.window = tutti__min(t->domains.window, window);
    t->my_agg = rank_index(t, team->rank);
    return TUTTI_OK;
}

/* ---- stays: the walk within a cycle goes to the aggregators of my own group first, starting with
 * myself, then to the others in an order that is the same for all ranks of the group and different for
 * different groups. */

static int member_of(const tutti__groups *g, int rank) {
    int n;
    const int *m = tutti__groups_members(g, g->of[rank], &n);
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (m[mid] < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int walk_place(const tutti__two_phase *t, const tutti__stay *s) {
    const int n = t->domains.aggregators;
    if (!s->mirror) return (s->member - t->groups->me + t->groups->size) % t->groups->size;
    const int from = (int)((long long)t->groups->mine * n / t->groups->n);
    return t->groups->size + (s->aggregator - from + n) % n;
}

static tutti_err stays_make(tutti__two_phase *t, tutti__side file) {
    tutti__route route = {NULL, 0};
    TUTTI_TRY(tutti__route_make(&t->domains, file, &route));
    t->stay = tutti__calloc((size_t)route.n + 1, sizeof *t->stay);
    if (!t->stay) {
        tutti__route_free(&route);
        return TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < route.n; i++) {
        const int a = route.stop[i].aggregator, rank = t->agg_rank[a];
        tutti__stay s = {a, route.stop[i].cycle, 0, 0};
        s.mirror = !t->stepwise && (t->ordered || t->groups->of[rank] != t->groups->mine);
        s.member = s.mirror ? a % t->groups->size : member_of(t->groups, rank);
        int at = t->stays++;
        for (; at > 0 && walk_place(t, &t->stay[at - 1]) > walk_place(t, &s); at--)
            t->stay[at] = t->stay[at - 1];
        t->stay[at] = s;
    }
    tutti__route_free(&route);
    return TUTTI_OK;
}

/* ---- letters */

static tutti_err letter_write(tutti__two_phase *t, tutti__side file, int rank, int purpose, int a,
                              tutti__letter *out) {
    tutti_off lo, hi;
    tutti__domains_extent(&t->domains, a, &lo, &hi);
    const size_t bytes = tutti__side_letter(file, lo, hi, NULL, 0);
    const heading h = {purpose, a};
    char *data = tutti__malloc(sizeof h + bytes);
    if (!data) return TUTTI_ERR_NOMEM;
    memcpy(data, &h, sizeof h);
    (void)tutti__side_letter(file, lo, hi, data + sizeof h, bytes);
    *out = (tutti__letter){rank, sizeof h + bytes, data};
    return TUTTI_OK;
}

static tutti_err letters_write(tutti_plan *p, tutti__two_phase *t, int *n_out,
                               tutti__letter **out) {
    const tutti__groups *g = t->groups;
    const int *mates = g->member + g->start[g->mine];
    tutti__letter *v = tutti__calloc(2 * (size_t)t->stays + 1, sizeof *v);
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    int n = 0;
    for (int i = 0; i < t->stays && err == TUTTI_OK; i++) {
        const tutti__stay *s = &t->stay[i];
        err = letter_write(t, p->access->file, t->agg_rank[s->aggregator], FOR_HOME, s->aggregator,
                           &v[n]);
        if (err == TUTTI_OK) n++;
        if (err != TUTTI_OK || !s->mirror) continue;
        err = letter_write(t, p->access->file, mates[s->member], FOR_CARRIER, s->aggregator, &v[n]);
        if (err == TUTTI_OK) n++;
    }
    if (err != TUTTI_OK) {
        tutti__letters_free(n, &v);
        return err;
    }
    for (int i = 0; i < n; i++) {
        if (v[i].rank == p->file->team->rank) continue;
        p->means.stats->descriptor_messages++;
        p->means.stats->descriptor_bytes += (tutti_off)v[i].bytes;
    }
    *n_out = n;
    *out = v;
    return TUTTI_OK;
}

/* ---- loads */

static void load_free(tutti__load *l) {
    for (int i = 0; i < l->n; i++) tutti__side_free(&l->source[i].side);
    tutti__free(l->source);
    tutti__free(l->side);
    tutti__free(l->batch);
    memset(l, 0, sizeof *l);
}

/* Take the description out of a letter into a load that has room. */
static tutti_err load_put(tutti__load *l, const tutti__groups *g, const tutti__letter *m) {
    tutti__source *s = &l->source[l->n];
    TUTTI_TRY(tutti__side_from_letter((char *)m->data + sizeof(heading), m->bytes - sizeof(heading),
                                      &s->side));
    s->rank = m->rank;
    s->group = g->of[m->rank];
    l->n++;
    return TUTTI_OK;
}

static int by_group(const void *a, const void *b) {
    const tutti__source *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sources by group; the other end of a home's batch is the member that carries for this aggregator. */
static tutti_err load_sort(tutti__load *l, const tutti__groups *g) {
    qsort(l->source, (size_t)l->n, sizeof *l->source, by_group);
    l->batch = tutti__calloc((size_t)l->n + 1, sizeof *l->batch);
    l->side = tutti__calloc((size_t)l->n + 1, sizeof *l->side);
    if (!l->batch || !l->side) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < l->n; i++) {
        l->side[i] = l->source[i].side;
        if (i > 0 && l->source[i].group == l->source[i - 1].group) {
            l->batch[l->batches - 1].n++;
            continue;
        }
        int size;
        const int *member = tutti__groups_members(g, l->source[i].group, &size);
        l->batch[l->batches++] =
            (tutti__batch){l->source[i].group, i, 1, member[l->aggregator % size]};
    }
    return TUTTI_OK;
}

static tutti_err load_room(tutti__load *l, int aggregator, int n) {
    l->aggregator = aggregator;
    l->source = tutti__calloc((size_t)n + 1, sizeof *l->source);
    return l->source ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static heading heading_of(const tutti__letter *m) {
    heading h;
    memcpy(&h, m->data, sizeof h);
    return h;
}

static tutti_err home_make(tutti__two_phase *t, int n, const tutti__letter *in) {
    TUTTI_TRY(load_room(&t->home, t->my_agg, n));
    for (int i = 0; i < n; i++)
        if (heading_of(&in[i]).purpose == FOR_HOME)
            TUTTI_TRY(load_put(&t->home, t->groups, &in[i]));
    return load_sort(&t->home, t->groups);
}

static int carry_place(const tutti__two_phase *t, int a) {
    const tutti__stay s = {a, 0, 0, 1};
    return walk_place(t, &s);
}

/* One load for each aggregator that I carry for, in walk order. */
static tutti_err carries_make(tutti__two_phase *t, int n, const tutti__letter *in) {
    t->carry = tutti__calloc((size_t)n + 1, sizeof *t->carry);
    if (!t->carry) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        const heading h = heading_of(&in[i]);
        if (h.purpose != FOR_CARRIER) continue;
        int at = 0;
        while (at < t->carries &&
               carry_place(t, t->carry[at].aggregator) < carry_place(t, h.aggregator))
            at++;
        if (at == t->carries || t->carry[at].aggregator != h.aggregator) {
            memmove(t->carry + at + 1, t->carry + at, (size_t)(t->carries - at) * sizeof *t->carry);
            memset(&t->carry[at], 0, sizeof *t->carry);
            t->carries++;
            TUTTI_TRY(load_room(&t->carry[at], h.aggregator, t->groups->size));
        }
        TUTTI_TRY(load_put(&t->carry[at], t->groups, &in[i]));
    }
    for (int i = 0; i < t->carries; i++) {
        TUTTI_TRY(load_sort(&t->carry[i], t->groups));
        t->carry[i].batch[0].peer = t->agg_rank[t->carry[i].aggregator];
    }
    return TUTTI_OK;
}

static tutti_err loads_make(tutti__two_phase *t, int n, const tutti__letter *in) {
    TUTTI_TRY(home_make(t, n, in));
    return carries_make(t, n, in);
}

/* ---- do ranks write the same bytes? */
static tutti_err overlap_find(const tutti__two_phase *t, int *overlap_out, tutti_off *where_out) {
    int disjoint = 1;
    tutti_off lo, hi;
    if (t->my_agg < 0 || t->home.n < 2) return TUTTI_OK;
    tutti__domains_extent(&t->domains, t->my_agg, &lo, &hi);
    TUTTI_TRY(tutti__sides_disjoint(t->home.n, t->home.side, lo, hi, &disjoint, where_out));
    *overlap_out = !disjoint;
    return TUTTI_OK;
}

/* Everything up to the letters, which all ranks must reach; a failure travels in `err`. */
static tutti_err make(tutti_plan *p, tutti__two_phase *t, int *overlap_out, tutti_off *where_out) {
    tutti__team *team = p->file->team;
    tutti__letter *out = NULL, *in = NULL;
    int n_out = 0, n_in = 0;
    tutti_err err = stays_make(t, p->access->file);
    if (err == TUTTI_OK) err = letters_write(p, t, &n_out, &out);
    tutti_error_info first = *tutti_last_error();
    const tutti_err got = tutti__team_letters(team, err == TUTTI_OK ? n_out : 0, out, &n_in, &in);
    tutti__letters_free(n_out, &out);
    if (err != TUTTI_OK)
        tutti__error_assign(&first);
    else
        err = got;
    if (err == TUTTI_OK) err = loads_make(t, n_in, in);
    tutti__letters_free(n_in, &in);
    if (err == TUTTI_OK && p->is_write && !t->ordered)
        err = overlap_find(t, overlap_out, where_out);
    return err;
}

static void two_phase_clear(tutti__two_phase *t) {
    int *agg_rank = t->agg_rank;
    load_free(&t->home);
    for (int i = 0; i < t->carries; i++) load_free(&t->carry[i]);
    tutti__free(t->carry);
    tutti__free(t->stay);
    if (t->walk) tutti__side_free(&t->walk->file);
    if (t->walk) tutti__side_free(&t->walk->memory);
    tutti__free(t->walk);
    memset(t, 0, sizeof *t);
    t->agg_rank = agg_rank;
}

/* Methods without exchange are planned too, when they write: for the proof that ranks do not overlap. */
static int moves_by_stage(const tutti_plan *p) {
    return p->method == TUTTI_METHOD_TWO_PHASE || p->method == TUTTI_METHOD_ROOT;
}

/* ---- a resident plan has memory for all of its windows at once, if that fits */

/* My windows with bytes, counted no further than to `limit`. */
static tutti_count windows_count(const tutti__two_phase *t, tutti_count limit) {
    tutti_count n = 0;
    if (t->my_agg < 0) return 0;
    for (tutti_count c = tutti__load_cycle(&t->domains, &t->home, 0); c >= 0 && n < limit; n++)
        c = tutti__load_cycle(&t->domains, &t->home, c + 1);
    return n;
}

/* What a group's memory makes on a node: without sharing every rank of it has its own. */
static tutti_off on_node(const tutti_plan *p, const tutti__two_phase *t, size_t bytes) {
    return (tutti_off)bytes * (t->shared ? 1 : p->file->team->nodes.largest);
}

/* Does the largest node have room for it beside what other operations have? */
static int resident_fits(const tutti_plan *p, const tutti__two_phase *t) {
    const size_t bytes =
        tutti__stage_bytes(t->groups->largest, t->homes + t->mirrors, t->domains.window);
    return t->elsewhere + on_node(p, t, bytes) <= p->file->opt.background_bytes;
}

/* Everybody's slots are as many as the busiest aggregator needs, if the largest node has memory for them
 * beside what other operations have; ranks may not know yet that some of those have ended, so
 * they agree.  Collective. */
static tutti_err resident_slots(tutti_plan *p, tutti__two_phase *t, tutti_err mine, int *fits_out) {
    tutti__vote v;
    const tutti_off room = p->file->opt.background_bytes;
    tutti__vote_init(&v);
    const tutti_count most = tutti__min(room / t->domains.window + 2, 1 << 20);
    v.max[0] = mine == TUTTI_OK ? windows_count(t, most) : 0;
    v.max[1] = p->file->team->background;
    TUTTI_TRY(tutti__team_vote(p->file->team, mine, &v));
    t->homes = (int)tutti__max(v.max[0], 1);
    t->elsewhere = v.max[1];
    *fits_out = v.max[0] < most && resident_fits(p, t);
    return TUTTI_OK;
}

/* The memory of an operation that has ended is taken again; all ranks of a node have the same one. */
static tutti_err resident_ensure(tutti_plan *p, const tutti__two_phase *t, size_t bytes) {
    tutti__team *team = p->file->team;
    const tutti__segment *spare = &team->spare;
    const int suits = spare->bytes >= bytes && spare->shared == (t->shared && t->groups->size > 1);
    if (suits && t->elsewhere + on_node(p, t, spare->bytes) <= p->file->opt.background_bytes) {
        p->segment = *spare;
        memset(&team->spare, 0, sizeof team->spare);
    } else {
        tutti__segment_drop(&team->spare);
        TUTTI_TRY(tutti__segment_make(team, t->shared, bytes, &p->segment));
    }
    p->held = on_node(p, t, p->segment.bytes);
    team->background += p->held;
    return TUTTI_OK;
}

static tutti_err stage_ensure(tutti_plan *p, const tutti__two_phase *t) {
    if (!moves_by_stage(p)) return TUTTI_OK;
    if (t->stepwise) return tutti__cycles_windows(p);
    const size_t bytes =
        tutti__stage_bytes(t->groups->size, t->homes + t->mirrors, t->domains.window);
    return p->means.resident ? resident_ensure(p, t, bytes)
                             : tutti__segment_ensure(p->file->team, t->shared, bytes);
}

static void forms_forget(tutti__team *t) {
    t->form[0].slots = t->form[1].slots = 0;
}

static void resident_not(tutti_plan *p) {
    tutti__plan_segment_drop(p);
    p->means.resident = 0;
}

/* Once more, with other groups. */
static tutti_err again(tutti_plan *p, const tutti__summary *s, int singles, int ordered,
                       int *overlap_out) {
    tutti__run_free(&p->run);
    two_phase_clear(p->two);
    return tutti__two_phase_make(p, s, singles, ordered, overlap_out);
}

/* Nobody sends what a higher rank writes too.  *large_out, the same on all ranks: the plan would be too large so. */
static tutti_err overlap_remove(tutti_plan *p, int mine, int *large_out) {
    tutti__vote v;
    int large = 0;
    const tutti_err err = tutti__overlap_trim(p, mine, &large);
    tutti__vote_init(&v);
    v.max[0] = large;
    v.max[1] = (tutti_off)tutti_plan_size(p);
    TUTTI_TRY(tutti__team_vote(p->file->team, err, &v));
    *large_out = v.max[0] > 0;
    p->heavy |= v.max[1] > TUTTI__KEPT_BYTES;
    return TUTTI_OK;
}

tutti_err tutti__two_phase_alloc(tutti_plan *p) {
    p->two = tutti__calloc(1, sizeof *p->two);
    if (!p->two) return TUTTI_ERR_NOMEM;
    p->two->agg_rank = tutti__calloc((size_t)p->file->team->size, sizeof(int));
    return p->two->agg_rank ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__two_phase_make(tutti_plan *p, const tutti__summary *s, int singles, int ordered,
                                int *overlap_out) {
    tutti__team *team = p->file->team;
    tutti__two_phase *t = p->two;
    tutti_off where = -1;
    int overlap = 0, fits = 1;
    tutti__vote v;

    t->ordered = ordered;
    TUTTI_TRY(decide(p, t, s, singles)); /* fails only where MPI does */
    tutti_err err = make(p, t, &overlap, &where);
    if (p->means.resident) TUTTI_TRY(resident_slots(p, t, err, &fits));
    if (!fits) {
        p->makeshift |= t->elsewhere > 0;
        resident_not(p);
        return again(p, s, singles, ordered, overlap_out);
    }
    tutti_error_info first = *tutti_last_error();
    const tutti_err staged = stage_ensure(p, t);
    if (err != TUTTI_OK)
        tutti__error_assign(&first);
    else if (staged != TUTTI_OK && !t->shared && !p->means.resident)
        err = staged;
    else if (staged == TUTTI_OK && moves_by_stage(p))
        err = tutti__run_make(p);
    if (p->run) tutti__run_prepare(p);

    tutti__vote_init(&v);
    v.max[0] = overlap;
    v.max[1] = overlap ? where : -1;
    v.max[2] = staged != TUTTI_OK && t->shared && !p->means.resident;
    v.max[3] = staged != TUTTI_OK && p->means.resident;
    v.max[4] = p->run ? (tutti_off)tutti_plan_size(p) : 0;
    const tutti_err agreed = tutti__team_vote(team, err, &v);
    if (agreed != TUTTI_OK || v.max[2] || v.max[3])
        forms_forget(team); /* not all have closed theirs */
    TUTTI_TRY(agreed);
    p->heavy |= v.max[4] > TUTTI__KEPT_BYTES;
    p->makeshift |= v.max[2] || v.max[3];
    if (v.max[3]) {
        resident_not(p);
        return again(p, s, singles, ordered, overlap_out);
    }
    if (v.max[2]) return again(p, s, 1, ordered, overlap_out); /* no shared memory: by messages */
    TUTTI_CHECK(!v.max[0] || !p->file->opt.check, TUTTI_ERR_OVERLAP,
                "two ranks write the same bytes, at offset %lld",
                (long long)(v.max[1] + p->file->origin));
    if (v.max[0]) *overlap_out = 1;
    int large = 0;
    if (v.max[0] && moves_by_stage(p)) TUTTI_TRY(overlap_remove(p, overlap, &large));
    if (large) {
        resident_not(p); /* in rank order, window by window */
        return again(p, s, 1, 1, overlap_out);
    }
    return TUTTI_OK;
}

tutti_err tutti__two_phase_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) {
    tutti__two_phase *t = p->two;
    tutti__vote v;
    *awake_out = 1;
    if (!p->means.resident && !t->stepwise && tutti__run_ready(p)) return TUTTI_OK;
    t->elsewhere = elsewhere;
    *awake_out = !p->means.resident || resident_fits(p, t);
    if (!*awake_out) return TUTTI_OK;
    tutti_err err = stage_ensure(p, t);
    if (err == TUTTI_OK) err = tutti__run_wake(p);
    if (err == TUTTI_OK) tutti__run_prepare(p);
    tutti__vote_init(&v);
    v.max[0] = err != TUTTI_OK;
    TUTTI_TRY(tutti__team_vote(p->file->team, TUTTI_OK, &v));
    if (v.max[0] == 0) return TUTTI_OK;
    tutti__error_clear(); /* not the caller's concern: there are other ways */
    forms_forget(p->file->team);
    *awake_out = 0;
    return TUTTI_OK;
}

void tutti__two_phase_free(tutti__two_phase **pt) {
    tutti__two_phase *t = *pt;
    if (!t) return;
    two_phase_clear(t);
    tutti__free(t->agg_rank);
    tutti__free(t);
    *pt = NULL;
}

static size_t load_size(const tutti__load *l) {
    size_t n = (size_t)l->n * (sizeof *l->source + sizeof *l->side) +
               (size_t)l->batches * sizeof *l->batch;
    for (int i = 0; i < l->n; i++) n += tutti__side_size(l->source[i].side);
    return n;
}

size_t tutti__two_phase_size(const tutti__two_phase *t) {
    if (!t) return 0;
    size_t n = sizeof *t + (size_t)t->domains.aggregators * sizeof(int);
    n += (size_t)t->stays * sizeof *t->stay + load_size(&t->home);
    for (int i = 0; i < t->carries; i++) n += sizeof *t->carry + load_size(&t->carry[i]);
    if (t->walk) n += sizeof *t->walk + tutti_access_size(t->walk);
    return n;
}
