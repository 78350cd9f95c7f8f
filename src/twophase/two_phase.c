/* twophase: the two-phase part of a plan: validity, size, queries, release.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/plan.h"

#include <string.h>

const tutti__class tutti__plan_class = {"plan", "plan", "freed"};

int tutti__is_staged(int method) {
    return method == TUTTI_METHOD_TWO_PHASE || method == TUTTI_METHOD_ROOT;
}

tutti_count tutti__incoming_next(const tutti__two_phase *t, const tutti__incoming *l,
                                 tutti_count from, tutti_off eof) {
    tutti_count best = -1;
    tutti_off lo, hi;
    for (int i = 0; i < l->n && best != from; i++) {
        const tutti_count c = tutti__route_next(&t->domains, l->side[i], l->aggregator, from);
        if (c >= 0 && (best < 0 || c < best)) best = c;
    }
    if (best < 0) return -1;
    tutti__domains_window(&t->domains, l->aggregator, best, &lo, &hi);
    return lo < eof ? best : -1;
}

/* ---- validity */

/* Check that sources ascend by group and rank, and that groups of senders cover the sources without
 * a gap. */
static int incoming_is_valid(const tutti__two_phase *t, const tutti__incoming *l) {
    int n = 0;
    for (int i = 1; i < l->n; i++)
        if (l->source[i].group < l->source[i - 1].group ||
            (l->source[i].group == l->source[i - 1].group &&
             l->source[i].rank <= l->source[i - 1].rank))
            return 0;
    for (int i = 0; i < l->sender_groups; i++) {
        const tutti__sender_group *b = &l->senders[i];
        if (b->first != n || b->n < 1 || b->peer < 0 || b->group != l->source[b->first].group)
            return 0;
        n += b->n;
    }
    return n == l->n &&
           (l->n == 0 || (l->aggregator >= 0 && l->aggregator < t->domains.aggregators));
}

int tutti__two_phase_is_valid(const tutti__two_phase *t) {
    const int agg = t->my_agg, n = t->domains.aggregators;
    if (!tutti__domains_is_valid(&t->domains)) return 0;
    if (agg < -1 || agg >= n || (agg < 0 && t->incoming.n > 0)) return 0;
    if (t->window_slots < 1 || t->relay_slots < 0 || (t->messages && t->relay_slots == 0)) return 0;
    if (t->pipeline < TUTTI_PIPELINE_NONE || t->pipeline > TUTTI_PIPELINE_WRITE_COMM_2) return 0;
    if (t->literal && (t->messages || t->ordered || t->relays > 0)) return 0;
    for (int i = 0; i < t->destinations; i++) {
        const tutti__destination *s = &t->destination[i];
        if (s->aggregator < 0 || s->aggregator >= n || s->first < 0) return 0;
        if (s->member < 0 || (!t->literal && s->member >= t->groups->size)) return 0;
    }
    for (int i = 0; i < t->relays; i++)
        if (t->relay[i].sender_groups != 1 || !incoming_is_valid(t, &t->relay[i])) return 0;
    return incoming_is_valid(t, &t->incoming);
}

/* ---- size and release */

size_t tutti__plan_bytes(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    size_t n = sizeof *p + tutti_access_size(p->asked.access);
    if (p->asked.batch) n += tutti__batch_size(p->asked.batch);
    if (!p->memory.segment.shared) n += p->memory.segment.bytes;
    if (!t) return n;
    n += sizeof *t + (size_t)t->domains.aggregators * sizeof(int) +
         (size_t)t->destinations * sizeof *t->destination + (size_t)t->relays * sizeof *t->relay;
    if (t->trimmed) n += sizeof *t->trimmed + tutti_access_size(t->trimmed);
    for (int k = -1; k < t->relays; k++) { /* sources of this rank's windows, then of each relay */
        const tutti__incoming *l = k < 0 ? &t->incoming : &t->relay[k];
        n += (size_t)l->n * (sizeof *l->source + sizeof *l->side) +
             (size_t)l->sender_groups * sizeof *l->senders;
        for (int i = 0; i < l->n; i++) {
            n += tutti__side_size(l->source[i].side);
            if (l->lost) n += sizeof *l->lost + tutti__side_size(l->lost[i]);
        }
    }
    return n;
}

static void free_incoming(tutti__incoming *l) {
    for (int i = 0; i < l->n; i++) tutti__side_free(&l->source[i].side);
    for (int i = 0; l->lost && i < l->n; i++) tutti__side_free(&l->lost[i]);
    tutti__free(l->lost);
    tutti__free(l->source);
    tutti__free(l->side);
    tutti__free(l->senders);
}

void tutti__two_phase_clear(tutti__two_phase *t) {
    int *agg_rank = t->agg_rank;
    free_incoming(&t->incoming);
    for (int i = 0; i < t->relays; i++) free_incoming(&t->relay[i]);
    tutti__free(t->relay);
    tutti__free(t->destination);
    if (t->trimmed) tutti__side_free(&t->trimmed->file);
    if (t->trimmed) tutti__side_free(&t->trimmed->memory);
    tutti__free(t->trimmed);
    memset(t, 0, sizeof *t);
    t->agg_rank = agg_rank;
}

void tutti__two_phase_free(tutti__two_phase **pt) {
    tutti__two_phase *t = *pt;
    if (!t) return;
    tutti__two_phase_clear(t);
    tutti__free(t->agg_rank);
    tutti__free(t);
    *pt = NULL;
}
