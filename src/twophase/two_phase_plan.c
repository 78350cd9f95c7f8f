/* twophase: planning a two-phase operation.
 *
 *   summary (agreed before)          bounds, bytes, runs of all ranks
 *   -> histogram                     only where the request is sparse
 *   -> domains                       the same on every rank, no memory per rank
 *   -> destinations                         the aggregators that my bytes go to
 *   -> letters                       my description to each of them (and to the rank of my node
 *                                    that relays bytes there), clipped to its domain
 *   -> loads, proof                  aggregators: who sends what; do senders overlap?
 *   -> vote                          all ranks go on, or none
 *   -> trim, vote                    only where senders overlap (overlap.c)
 *
 * Descriptions travel, never lists of pieces, and only to the ranks that need them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fiber.h"
#include "comm/sparse.h"
#include "comm/vote.h"
#include "direct/direct.h"
#include "base/trace.h"
#include "exchange/staging.h"
#include "exchange/shuffle.h"

enum { FOR_AGGREGATOR = 1, FOR_RELAY = 2 };

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
    if (p->means.room >
        0) { /* windows in the background are not all full: so that little is lost */
        const int least = p->means.resident ? 8 : 1;
        most = tutti__min(most, p->means.room / ((tutti_off)g->largest * tutti__max(slots, least)));
    }
    most = tutti__align_down(most, most < f->align ? window_grain(f) : f->align);
    return tutti__max(most, window_least(f, extent));
}

static int rank_index(const tutti__two_phase *t, int rank) {
    for (int a = 0; a < t->domains.aggregators; a++)
        if (t->agg_rank[a] == rank) return a;
    return -1;
}

/* Is it done cycle by cycle, and how?  Windows of MPI are made and fenced by calls that block: where
 * other operations of the thread wait for their turn (inside a fiber) messages do it. */
static void literal_decide(const tutti_plan *p, tutti__two_phase *t, int exchange) {
    const int one_sided = exchange == TUTTI_EXCHANGE_FENCE || exchange == TUTTI_EXCHANGE_LOCK;
    const int steps = exchange == TUTTI_EXCHANGE_TWO_SIDED && p->file->opt.step > 0;
    t->literal =
        (one_sided || steps) && !t->ordered && !p->means.resident && tutti__plan_is_staged(p);
    t->kind = one_sided && !p->inside ? exchange : TUTTI_EXCHANGE_TWO_SIDED;
    t->step = t->kind != TUTTI_EXCHANGE_TWO_SIDED ? 0 : one_sided ? 4 : p->file->opt.step;
}

/* Domains, aggregators and slots.  The same on all ranks. */
tutti_err tutti__two_phase_decide(tutti_plan *p, const tutti__summary *s, int singles) {
    tutti_file *f = p->file;
    tutti__two_phase *t = p->two;
    tutti__team *team = f->team;
    const int exchange =
        f->opt.exchange == TUTTI_EXCHANGE_AUTO ? p->choice.exchange : f->opt.exchange;
    literal_decide(p, t, exchange);
    t->shared = !singles && (exchange == TUTTI_EXCHANGE_AUTO || exchange == TUTTI_EXCHANGE_SHM);
    t->groups = t->shared ? &team->nodes : &team->singles;
    t->bytes = s->bytes;
    t->gap = p->choice.gap;
    const int remote = !t->literal && (t->groups->n > 1 || t->ordered);
    t->pipeline = f->opt.pipeline ? f->opt.pipeline : p->choice.pipeline;
    if (t->pipeline == TUTTI_PIPELINE_AUTO) t->pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    if (p->means.resident) t->pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    t->window_slots = t->pipeline == TUTTI_PIPELINE_NONE ? 1 : f->opt.sub_buffers;
    if (t->literal && t->window_slots == 1)
        t->pipeline = TUTTI_PIPELINE_NONE; /* nothing overlaps */
    t->relay_slots = remote ? 2 : 0;

    const tutti_off extent = s->hi > s->lo ? s->hi - s->lo : 0;
    const tutti__groups *share = &team->nodes; /* memory is that of a node */
    const int buffers = t->literal ? tutti__exchange_buffers(t->kind, t->step, t->window_slots)
                                   : (t->window_slots + t->relay_slots) * (remote ? 2 : 1);
    const tutti_off window = window_bytes(p, share, buffers, extent);
    t->messages = remote;

    const tutti__topology topo = {team->size, share->n, share->of};
    const int named = p->method == TUTTI_METHOD_ROOT ? 1 : f->opt.cb_nodes;
    const tutti_off least = tutti__max(f->align, tutti__min(window, p->choice.least));
    /* from a device, holes come along, or requests wait for it side by side */
    const tutti_off moved = s->cold ? tutti__max(s->bytes, extent) : s->bytes;
    const int n = tutti__aggregators_choose(&topo, named ? named : p->choice.aggregators, moved,
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

/* ---- destinations: the walk within a cycle goes to the aggregators of my own group first, starting with
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

static int walk_place(const tutti__two_phase *t, const tutti__destination *s) {
    const int n = t->domains.aggregators;
    if (!s->by_relay) return (s->member - t->groups->me + t->groups->size) % t->groups->size;
    const int from = (int)((long long)t->groups->mine * n / t->groups->n);
    return t->groups->size + (s->aggregator - from + n) % n;
}

static tutti_err destinations_make(tutti__two_phase *t, tutti__side file) {
    tutti__route route = {NULL, 0};
    TUTTI_TRY(tutti__route_make(&t->domains, file, &route));
    t->destination = tutti__calloc((size_t)route.n + 1, sizeof *t->destination);
    if (!t->destination) {
        tutti__route_free(&route);
        return TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < route.n; i++) {
        const int a = route.stop[i].aggregator, rank = t->agg_rank[a];
        tutti__destination s = {a, route.stop[i].cycle, 0, 0};
        s.by_relay = !t->literal && (t->ordered || t->groups->of[rank] != t->groups->mine);
        s.member = s.by_relay ? a % t->groups->size : member_of(t->groups, rank);
        int at = t->destinations++;
        for (; at > 0 && walk_place(t, &t->destination[at - 1]) > walk_place(t, &s); at--)
            t->destination[at] = t->destination[at - 1];
        t->destination[at] = s;
    }
    tutti__route_free(&route);
    return TUTTI_OK;
}

/* ---- letters */

static tutti_err descriptor_write(tutti__two_phase *t, tutti__side file, int rank, int purpose,
                                  int a, tutti__sparse_message *out) {
    tutti_off lo, hi;
    tutti__domains_extent(&t->domains, a, &lo, &hi);
    const size_t bytes = tutti__side_to_message(file, lo, hi, NULL, 0);
    const heading h = {purpose, a};
    char *data = tutti__malloc(sizeof h + bytes);
    if (!data) return TUTTI_ERR_NOMEM;
    memcpy(data, &h, sizeof h);
    (void)tutti__side_to_message(file, lo, hi, data + sizeof h, bytes);
    *out = (tutti__sparse_message){rank, sizeof h + bytes, data};
    return TUTTI_OK;
}

static tutti_err descriptors_write(tutti_plan *p, tutti__two_phase *t, int *n_out,
                                   tutti__sparse_message **out) {
    const tutti__groups *g = t->groups;
    const int *mates = g->member + g->start[g->mine];
    tutti__sparse_message *v = tutti__calloc(2 * (size_t)t->destinations + 1, sizeof *v);
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    int n = 0;
    for (int i = 0; i < t->destinations && err == TUTTI_OK; i++) {
        const tutti__destination *s = &t->destination[i];
        err = descriptor_write(t, p->access->file, t->agg_rank[s->aggregator], FOR_AGGREGATOR,
                               s->aggregator, &v[n]);
        if (err == TUTTI_OK) n++;
        if (err != TUTTI_OK || !s->by_relay) continue;
        err =
            descriptor_write(t, p->access->file, mates[s->member], FOR_RELAY, s->aggregator, &v[n]);
        if (err == TUTTI_OK) n++;
    }
    if (err != TUTTI_OK) {
        tutti__sparse_free(n, &v);
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

static void incoming_free(tutti__incoming *l) {
    for (int i = 0; i < l->n; i++) tutti__side_free(&l->source[i].side);
    tutti__free(l->source);
    tutti__free(l->side);
    tutti__free(l->senders);
    memset(l, 0, sizeof *l);
}

/* Take the description out of a letter into a load that has room. */
static tutti_err incoming_put(tutti__incoming *l, const tutti__groups *g,
                              const tutti__sparse_message *m) {
    tutti__source *s = &l->source[l->n];
    TUTTI_TRY(tutti__side_from_message((char *)m->data + sizeof(heading),
                                       m->bytes - sizeof(heading), &s->side));
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

/* Sources by group; the other end of a home's batch is the member that relays for this aggregator. */
static tutti_err incoming_sort(tutti__incoming *l, const tutti__groups *g) {
    qsort(l->source, (size_t)l->n, sizeof *l->source, by_group);
    l->senders = tutti__calloc((size_t)l->n + 1, sizeof *l->senders);
    l->side = tutti__calloc((size_t)l->n + 1, sizeof *l->side);
    if (!l->senders || !l->side) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < l->n; i++) {
        l->side[i] = l->source[i].side;
        if (i > 0 && l->source[i].group == l->source[i - 1].group) {
            l->senders[l->sender_groups - 1].n++;
            continue;
        }
        int size;
        const int *member = tutti__groups_members(g, l->source[i].group, &size);
        l->senders[l->sender_groups++] =
            (tutti__sender_group){l->source[i].group, i, 1, member[l->aggregator % size]};
    }
    return TUTTI_OK;
}

static tutti_err incoming_room(tutti__incoming *l, int aggregator, int n) {
    l->aggregator = aggregator;
    l->source = tutti__calloc((size_t)n + 1, sizeof *l->source);
    return l->source ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static heading heading_of(const tutti__sparse_message *m) {
    heading h;
    memcpy(&h, m->data, sizeof h);
    return h;
}

static tutti_err own_incoming_make(tutti__two_phase *t, int n, const tutti__sparse_message *in) {
    TUTTI_TRY(incoming_room(&t->incoming, t->my_agg, n));
    for (int i = 0; i < n; i++)
        if (heading_of(&in[i]).purpose == FOR_AGGREGATOR)
            TUTTI_TRY(incoming_put(&t->incoming, t->groups, &in[i]));
    return incoming_sort(&t->incoming, t->groups);
}

static int relay_place(const tutti__two_phase *t, int a) {
    const tutti__destination s = {a, 0, 0, 1};
    return walk_place(t, &s);
}

/* One load for each aggregator that I carry for, in walk order. */
static tutti_err relays_make(tutti__two_phase *t, int n, const tutti__sparse_message *in) {
    t->relay = tutti__calloc((size_t)n + 1, sizeof *t->relay);
    if (!t->relay) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        const heading h = heading_of(&in[i]);
        if (h.purpose != FOR_RELAY) continue;
        int at = 0;
        while (at < t->relays &&
               relay_place(t, t->relay[at].aggregator) < relay_place(t, h.aggregator))
            at++;
        if (at == t->relays || t->relay[at].aggregator != h.aggregator) {
            memmove(t->relay + at + 1, t->relay + at, (size_t)(t->relays - at) * sizeof *t->relay);
            memset(&t->relay[at], 0, sizeof *t->relay);
            t->relays++;
            TUTTI_TRY(incoming_room(&t->relay[at], h.aggregator, t->groups->size));
        }
        TUTTI_TRY(incoming_put(&t->relay[at], t->groups, &in[i]));
    }
    for (int i = 0; i < t->relays; i++) {
        TUTTI_TRY(incoming_sort(&t->relay[i], t->groups));
        t->relay[i].senders[0].peer = t->agg_rank[t->relay[i].aggregator];
    }
    return TUTTI_OK;
}

static tutti_err incoming_make(tutti__two_phase *t, int n, const tutti__sparse_message *in) {
    TUTTI_TRY(own_incoming_make(t, n, in));
    return relays_make(t, n, in);
}

/* ---- do ranks write the same bytes? */
static tutti_err overlap_find(const tutti__two_phase *t, int *overlap_out, tutti_off *where_out) {
    int disjoint = 1;
    tutti_off lo, hi;
    if (t->my_agg < 0 || t->incoming.n < 2) return TUTTI_OK;
    tutti__domains_extent(&t->domains, t->my_agg, &lo, &hi);
    TUTTI_TRY(tutti__sides_disjoint(t->incoming.n, t->incoming.side, lo, hi, &disjoint, where_out));
    *overlap_out = !disjoint;
    return TUTTI_OK;
}

/* Everything up to the letters, which all ranks must reach; a failure travels in `err`. */
tutti_err tutti__two_phase_describe(tutti_plan *p, int *overlap_out, tutti_off *where_out) {
    tutti__team *team = p->file->team;
    tutti__two_phase *t = p->two;
    tutti__sparse_message *out = NULL, *in = NULL;
    int n_out = 0, n_in = 0;
    tutti_err err = destinations_make(t, p->access->file);
    if (err == TUTTI_OK) err = descriptors_write(p, t, &n_out, &out);
    tutti_error_info first = *tutti_last_error();
    const tutti_err got =
        tutti__sparse_exchange(team, err == TUTTI_OK ? n_out : 0, out, &n_in, &in);
    tutti__sparse_free(n_out, &out);
    if (err != TUTTI_OK)
        tutti__error_assign(&first);
    else
        err = got;
    if (err == TUTTI_OK) err = incoming_make(t, n_in, in);
    tutti__sparse_free(n_in, &in);
    if (err == TUTTI_OK && p->is_write && !t->ordered)
        err = overlap_find(t, overlap_out, where_out);
    return err;
}

void tutti__two_phase_clear(tutti__two_phase *t) {
    int *agg_rank = t->agg_rank;
    incoming_free(&t->incoming);
    for (int i = 0; i < t->relays; i++) incoming_free(&t->relay[i]);
    tutti__free(t->relay);
    tutti__free(t->destination);
    if (t->walk) tutti__side_free(&t->walk->file);
    if (t->walk) tutti__side_free(&t->walk->memory);
    tutti__free(t->walk);
    memset(t, 0, sizeof *t);
    t->agg_rank = agg_rank;
}

int tutti__plan_is_staged(const tutti_plan *p) {
    return p->method == TUTTI_METHOD_TWO_PHASE || p->method == TUTTI_METHOD_ROOT;
}

/* ---- a resident plan has memory for all of its windows at once, if that fits */

/* My windows with bytes, counted no further than to `limit`. */
static tutti_count windows_count(const tutti__two_phase *t, tutti_count limit) {
    tutti_count n = 0;
    if (t->my_agg < 0) return 0;
    for (tutti_count c = tutti__incoming_cycle(&t->domains, &t->incoming, 0); c >= 0 && n < limit;
         n++)
        c = tutti__incoming_cycle(&t->domains, &t->incoming, c + 1);
    return n;
}

/* What a group's memory makes on a node: without sharing every rank of it has its own. */
static tutti_off on_node(const tutti_plan *p, const tutti__two_phase *t, size_t bytes) {
    return (tutti_off)bytes * (t->shared ? 1 : p->file->team->nodes.largest);
}

static tutti_off stage_on_node(const tutti_plan *p, const tutti__two_phase *t) {
    return on_node(p, t,
                   tutti__stage_bytes(t->groups->largest, t->window_slots + t->relay_slots,
                                      t->domains.window));
}

/* All memory that moving takes on the largest node: buffers for messages, too. */
static tutti_off moving_on_node(const tutti_plan *p, const tutti__two_phase *t) {
    const tutti_off ranks = p->file->team->nodes.largest, sub = p->file->opt.sub_buffers;
    if (t->literal)
        return ranks * tutti__exchange_buffers(t->kind, t->step, t->window_slots) *
               t->domains.window;
    const tutti_off messages = t->messages ? tutti__min(t->window_slots, sub) + t->relay_slots : 0;
    return stage_on_node(p, t) + ranks * messages * t->domains.window;
}

int tutti__plan_in_room(const tutti_plan *p) {
    return p->means.room == 0 || moving_on_node(p, p->two) <= p->means.room;
}

tutti_off tutti__plan_staging(const tutti_plan *p) {
    if (p->method == TUTTI_METHOD_SIEVE) return tutti__sieve_bytes(p->file, p->means.room);
    if (!p->run) return 0;
    const tutti_off spare =
        p->segment.base ? on_node(p, p->two, p->segment.bytes) - stage_on_node(p, p->two) : 0;
    return (moving_on_node(p, p->two) + spare) / p->file->team->nodes.largest;
}

/* Does the largest node have room for it beside what other operations have? */
int tutti__resident_fits(const tutti_plan *p) {
    return tutti__plan_in_room(p) &&
           p->two->elsewhere + stage_on_node(p, p->two) <= p->file->opt.background_bytes;
}

/* Everybody's slots are as many as the busiest aggregator needs, if the largest node has memory for them
 * beside what other operations have; ranks may not know yet that some of those have ended, so
 * they agree.  Collective. */
tutti_err tutti__resident_slots(tutti_plan *p, tutti_err mine, int *fits_out) {
    tutti__two_phase *t = p->two;
    tutti__vote v;
    const tutti_off room = p->file->opt.background_bytes;
    tutti__vote_init(&v);
    const tutti_count most = tutti__min(room / t->domains.window + 2, 1 << 20);
    v.max[0] = mine == TUTTI_OK ? windows_count(t, most) : 0;
    v.max[1] = p->file->team->staging->background;
    TUTTI_TRY(tutti__team_vote(p->file->team, mine, &v));
    t->window_slots = (int)tutti__max(v.max[0], 1);
    t->elsewhere = v.max[1];
    *fits_out = v.max[0] < most && tutti__resident_fits(p);
    return TUTTI_OK;
}

/* The memory of an operation that has ended is taken again; all ranks of a node have the same one. */
tutti_err tutti__resident_ensure(tutti_plan *p, size_t bytes) {
    const tutti__two_phase *t = p->two;
    tutti__team *team = p->file->team;
    const tutti__segment *spare = &team->staging->spare;
    const tutti_off room = p->means.room;
    const int suits = spare->bytes >= bytes &&
                      spare->shared == (t->shared && t->groups->size > 1) &&
                      (room == 0 || on_node(p, t, spare->bytes) <= room);
    if (suits && t->elsewhere + on_node(p, t, spare->bytes) <= p->file->opt.background_bytes) {
        p->segment = *spare;
        memset(&team->staging->spare, 0, sizeof team->staging->spare);
    } else {
        tutti__segment_drop(&team->staging->spare);
        TUTTI_TRY(tutti__segment_make(team, t->shared, bytes, &p->segment));
    }
    p->held = on_node(p, t, p->segment.bytes);
    team->staging->background += p->held;
    return TUTTI_OK;
}

void tutti__resident_not(tutti_plan *p) {
    tutti__plan_segment_drop(p);
    p->means.resident = 0;
}

tutti_count tutti__incoming_cycle(const tutti__domains *d, const tutti__incoming *l,
                                  tutti_count from) {
    tutti_count best = -1;
    for (int i = 0; i < l->n && best != from; i++) {
        const tutti_count c = tutti__route_next(d, l->side[i], l->aggregator, from);
        if (c >= 0 && (best < 0 || c < best)) best = c;
    }
    return best;
}

void tutti__two_phase_free(tutti__two_phase **pt) {
    tutti__two_phase *t = *pt;
    if (!t) return;
    tutti__two_phase_clear(t);
    tutti__free(t->agg_rank);
    tutti__free(t);
    *pt = NULL;
}

static size_t incoming_size(const tutti__incoming *l) {
    size_t n = (size_t)l->n * (sizeof *l->source + sizeof *l->side) +
               (size_t)l->sender_groups * sizeof *l->senders;
    for (int i = 0; i < l->n; i++) n += tutti__side_size(l->source[i].side);
    return n;
}

size_t tutti__two_phase_size(const tutti__two_phase *t) {
    if (!t) return 0;
    size_t n = sizeof *t + (size_t)t->domains.aggregators * sizeof(int);
    n += (size_t)t->destinations * sizeof *t->destination + incoming_size(&t->incoming);
    for (int i = 0; i < t->relays; i++) n += sizeof *t->relay + incoming_size(&t->relay[i]);
    if (t->walk) n += sizeof *t->walk + tutti_access_size(t->walk);
    return n;
}

void tutti__plan_segment_drop(tutti_plan *p) {
    if (p->held > 0 && p->file->team) p->file->team->staging->background -= p->held;
    p->held = 0;
    tutti__segment_drop(&p->segment);
}
