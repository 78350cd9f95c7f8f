/* plan: the aggregators whose domains have bytes of a file side, each with its first cycle.
 *
 * EVEN, BALANCED, ARRAY: the domain of the first byte is found, then the domain of the first byte
 * after the end of that domain, and so on: one seek per aggregator, in ascending order.
 * CYCLIC: the same with windows instead of domains.  An aggregator may occur repeatedly, so stops
 * are collected in batches about as long as the list so far, then sorted and reduced to one per
 * aggregator; the search ends when every aggregator is in the list.  One round of windows is enough
 * for a dense side; a side without bytes for some aggregators needs one seek per window with bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tutti/options.h>
#include "plan/domains.h"

typedef struct {
    tutti__stop *v;
    size_t n, capacity;
} stops;

static tutti_err push_stop(stops *s, int aggregator, tutti_count cycle) {
    TUTTI_TRY(tutti__grow(&s->v, s->n + 1, &s->capacity, sizeof *s->v));
    s->v[s->n++] = (tutti__stop){aggregator, cycle};
    return TUTTI_OK;
}

static int stop_order(const void *x, const void *y) {
    const tutti__stop *a = x, *b = y;
    if (a->aggregator != b->aggregator) return a->aggregator < b->aggregator ? -1 : 1;
    return (a->cycle > b->cycle) - (a->cycle < b->cycle);
}

/* Sort the stops by aggregator, and keep the earliest stop of each aggregator. */
static void merge_stops(stops *s) {
    size_t n = 0;
    if (s->n > 1) qsort(s->v, s->n, sizeof *s->v, stop_order);
    for (size_t i = 0; i < s->n; i++)
        if (n == 0 || s->v[n - 1].aggregator != s->v[i].aggregator) s->v[n++] = s->v[i];
    s->n = n;
}

static tutti_err add_domain_stops(const tutti__domains *d, tutti__side file, stops *s) {
    tutti_off at = tutti__side_next(file, d->lo), lo, hi;
    while (at < d->hi) {
        int a;
        tutti_count c;
        tutti__domains_find(d, at, &a, &c);
        TUTTI_TRY(push_stop(s, a, c));
        tutti__domains_extent(d, a, &lo, &hi);
        at = tutti__side_next(file, hi);
    }
    return TUTTI_OK;
}

static tutti_err add_window_stops(const tutti__domains *d, tutti__side file, stops *s) {
    tutti_off at = tutti__side_next(file, d->lo), lo, hi;
    const size_t all = (size_t)d->aggregators;
    size_t batch_end = all < 64 ? all : 64;
    while (at < d->hi) {
        int a;
        tutti_count c;
        tutti__domains_find(d, at, &a, &c);
        TUTTI_TRY(push_stop(s, a, c));
        if (s->n == batch_end) {
            merge_stops(s);
            if (s->n == all) break;
            const int first_round = s->n == batch_end;
            batch_end = 2 * s->n + 64;
            if (first_round && batch_end > all) batch_end = all;
        }
        tutti__domains_window(d, a, c, &lo, &hi);
        at = tutti__side_next(file, hi);
    }
    merge_stops(s);
    return TUTTI_OK;
}

tutti_err tutti__route_make(const tutti__domains *d, tutti__side file, tutti__route *out) {
    stops s = {0};
    const int cyclic = d->kind == TUTTI_DOMAINS_CYCLIC;
    const tutti_err err = tutti__side_bytes(file) == 0 ? TUTTI_OK
                          : cyclic                     ? add_window_stops(d, file, &s)
                                                       : add_domain_stops(d, file, &s);
    if (err != TUTTI_OK) {
        tutti__free(s.v);
        return err;
    }
    *out = (tutti__route){.stop = s.v, .n = (int)s.n};
    return TUTTI_OK;
}

void tutti__route_free(tutti__route *r) {
    tutti__free(r->stop);
    *r = (tutti__route){0};
}

tutti_count tutti__route_next(const tutti__domains *d, tutti__side file, int a, tutti_count c) {
    while (c < tutti__domains_cycles(d, a)) {
        tutti_off lo, hi;
        int owner;
        tutti__domains_window(d, a, c, &lo, &hi);
        const tutti_off at = tutti__side_next(file, lo);
        if (at >= d->hi) return -1;
        tutti__domains_find(d, at, &owner, &c);
        if (owner == a) return c;
        if (d->kind != TUTTI_DOMAINS_CYCLIC) return -1;
        if (owner > a) c++; /* window (a, c) is before `at` */
    }
    return -1;
}
