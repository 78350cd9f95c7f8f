/* twophase: exchange of access descriptions.  Each rank determines the file domains that contain
 * its bytes and sends their aggregators a description of these bytes; no rank has a table of all
 * requests.
 *
 *   destinations   the aggregators of the bytes of this rank: its File Access Descriptor
 *   -> messages    the description of this rank, clipped to the domain, to each aggregator and to
 *                  the rank of the group that relays bytes to it
 *   -> incoming    aggregators: the bytes of each sender, the File Domain Access Table; relays: the
 *                  bytes of the ranks of their group
 *   -> overlap     aggregators: detection of senders that write the same bytes
 *
 * Only descriptions are sent, never lists of pieces, and only to the ranks that need them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/plan.h"

#include <stdlib.h>
#include <string.h>

#include "comm/sparse.h"

enum { FOR_AGGREGATOR = 1, FOR_RELAY = 2 };

/* Header of a message with a description. */
typedef struct {
    int32_t purpose, aggregator;
} description_header;

/* ---- destinations */

/* Return the position of a destination within a cycle.  Aggregators of the group of this rank come
 * first, starting with this rank.  Aggregators of other groups (by relays) follow in an order that
 * is the same for all ranks of the group and different for different groups. */
static int visit_order(const tutti__two_phase *t, const tutti__destination *s) {
    const int n = t->domains.aggregators;
    if (!s->by_relay) return (s->member - t->groups->me + t->groups->size) % t->groups->size;
    const int from = (int)((long long)t->groups->own * n / t->groups->n);
    return t->groups->size + (s->aggregator - from + n) % n;
}

static tutti_err find_destinations(tutti__two_phase *t, tutti__side file) {
    const tutti__groups *g = t->groups;
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
        s.by_relay = !t->literal && (t->ordered || g->of[rank] != g->own);
        if (s.by_relay) {
            s.member = a % g->size;
        } else { /* binary search for `rank` among the ascending members of its group */
            int n;
            const int *member = tutti__groups_members(g, g->of[rank], &n);
            for (int hi = n - 1; s.member < hi;) {
                const int mid = (s.member + hi) / 2;
                if (member[mid] < rank)
                    s.member = mid + 1;
                else
                    hi = mid;
            }
        }
        int at = t->destinations++;
        for (; at > 0 && visit_order(t, &t->destination[at - 1]) > visit_order(t, &s); at--)
            t->destination[at] = t->destination[at - 1];
        t->destination[at] = s;
    }
    tutti__route_free(&route);
    return TUTTI_OK;
}

/* ---- messages */

static tutti_err make_descriptions(tutti_plan *p, int *n_out, tutti__sparse_message **out) {
    tutti__two_phase *t = p->two;
    const tutti__side file = p->asked.access->file;
    const int *members = t->groups->member + t->groups->start[t->groups->own];
    tutti__sparse_message *v = tutti__calloc(2 * (size_t)t->destinations + 1, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    int n = 0;
    for (int i = 0; i < t->destinations; i++) {
        const tutti__destination *s = &t->destination[i];
        tutti_off lo, hi;
        tutti__domains_extent(&t->domains, s->aggregator, &lo, &hi);
        const size_t bytes = tutti__side_to_message(file, lo, hi, NULL, 0);
        for (int to = FOR_AGGREGATOR; to <= (s->by_relay ? FOR_RELAY : FOR_AGGREGATOR); to++) {
            const description_header h = {to, s->aggregator};
            const int rank = to == FOR_RELAY ? members[s->member] : t->agg_rank[s->aggregator];
            char *data = tutti__malloc(sizeof h + bytes);
            if (!data) {
                tutti__sparse_free(n, &v);
                return TUTTI_ERR_NOMEM;
            }
            memcpy(data, &h, sizeof h);
            (void)tutti__side_to_message(file, lo, hi, data + sizeof h, bytes);
            v[n++] = (tutti__sparse_message){rank, sizeof h + bytes, data};
        }
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

/* ---- incoming */

static int compare_sources(const void *a, const void *b) {
    const tutti__source *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sort sources, which arrive in rank order, by group.  The peer of a group is its member that
 * relays for this aggregator. */
static tutti_err group_sources(tutti__incoming *l, const tutti__groups *g) {
    if (g->n > 1) qsort(l->source, (size_t)l->n, sizeof *l->source, compare_sources);
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

/* Find the relay entry of an aggregator in t->relay, which is in visiting order; insert a new entry
 * if there is none. */
static tutti_err find_relay(tutti__two_phase *t, int aggregator, tutti__incoming **out) {
    const tutti__destination s = {aggregator, 0, 0, 1};
    int at = 0;
    for (; at < t->relays; at++) {
        const tutti__destination other = {t->relay[at].aggregator, 0, 0, 1};
        if (visit_order(t, &other) >= visit_order(t, &s)) break;
    }
    *out = &t->relay[at];
    if (at < t->relays && t->relay[at].aggregator == aggregator) return TUTTI_OK;
    memmove(*out + 1, *out, (size_t)(t->relays - at) * sizeof **out);
    **out = (tutti__incoming){.aggregator = aggregator};
    t->relays++;
    (*out)->source = tutti__calloc((size_t)t->groups->size + 1, sizeof *(*out)->source);
    return (*out)->source ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static tutti_err collect_sources(tutti__two_phase *t, int n, const tutti__sparse_message *in) {
    t->incoming.aggregator = t->my_agg;
    t->incoming.source = tutti__calloc((size_t)n + 1, sizeof *t->incoming.source);
    t->relay = tutti__calloc((size_t)n + 1, sizeof *t->relay);
    if (!t->incoming.source || !t->relay) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        description_header h;
        tutti__incoming *l = &t->incoming;
        memcpy(&h, in[i].data, sizeof h);
        if (h.purpose == FOR_RELAY) TUTTI_TRY(find_relay(t, h.aggregator, &l));
        tutti__source *s = &l->source[l->n];
        TUTTI_TRY(tutti__side_from_message((char *)in[i].data + sizeof h, in[i].bytes - sizeof h,
                                           &s->side));
        s->rank = in[i].rank;
        s->group = t->groups->of[s->rank];
        l->n++;
    }
    TUTTI_TRY(group_sources(&t->incoming, t->groups));
    for (int i = 0; i < t->relays; i++) {
        TUTTI_TRY(group_sources(&t->relay[i], t->groups));
        t->relay[i].senders[0].peer = t->agg_rank[t->relay[i].aggregator];
    }
    return TUTTI_OK;
}

/* ---- all steps; a rank with an error must still take part in the exchange, which is collective */

tutti_err tutti__two_phase_describe(tutti_plan *p, int *overlap_out, tutti_off *where_out) {
    tutti__two_phase *t = p->two;
    tutti__sparse_message *out = NULL, *in = NULL;
    int n_out = 0, n_in = 0;
    TUTTI_ASSERT(tutti__two_phase_is_valid(t));
    tutti_err err = find_destinations(t, p->asked.access->file);
    if (err == TUTTI_OK) err = make_descriptions(p, &n_out, &out);
    err = TUTTI_ALSO(err, tutti__sparse_exchange(p->file->team, n_out, out, &n_in, &in));
    tutti__sparse_free(n_out, &out);
    if (err == TUTTI_OK) err = collect_sources(t, n_in, in);
    tutti__sparse_free(n_in, &in);
    TUTTI_ASSERT(err != TUTTI_OK || tutti__two_phase_is_valid(t));

    if (err == TUTTI_OK && p->asked.is_write && !t->ordered && t->my_agg >= 0 &&
        t->incoming.n > 1) {
        int disjoint = 1;
        tutti_off lo, hi;
        tutti__domains_extent(&t->domains, t->my_agg, &lo, &hi);
        err = tutti__sides_disjoint(t->incoming.n, t->incoming.side, lo, hi, &disjoint, where_out);
        *overlap_out = !disjoint;
    }
    return err;
}
