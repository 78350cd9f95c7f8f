/* exodus_mesh: count and compare the entry numbers (ids) in the range of this rank, and choose their
 * writers, from the runs that all ranks have sent (id_order.h).
 *
 * The runs of a class are visited in ascending order of their numbers.  A run contains all numbers from its first
 * to its last, so that positions within a run are consecutive, and overlapping runs have the same
 * numbers in their intersection.  Between two ends of runs the holders of numbers do not change;
 * such an interval is one item of the rule that chooses writers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "decomposition/rules.h"
#include "exodus_mesh/id_order.h"

int tutti__id_class(const tutti_count *first_entity, tutti_count entity) {
    int k = 0;
    while (entity >= first_entity[k + 1]) k++;
    return k;
}

void tutti__id_range_free(tutti__id_range *r) {
    tutti__free(r->place);
    tutti__free(r->count);
    tutti__free(r->interval);
    tutti__free(r->holder);
}

/* ---- runs of one class by number */

/* A run that has begun and not ended. */
typedef struct {
    const tutti__id_run *run;
    const tutti__id_place *place;
    int rank;
    int64_t end;
} active_run;

typedef struct {
    tutti__id_range *r;
    active_run *active; /* [runs] active runs, sorted by rank */
    int n;
    int64_t cursor; /* smaller numbers have been visited */
    int64_t end;    /* largest end of all runs so far */
} sweep;

/* Visit the numbers below `to`. */
static tutti_err sweep_to(sweep *s, int64_t to) {
    tutti__id_range *r = s->r;
    while (s->n > 0) {
        int64_t next = to;
        int kept = 0;
        for (int i = 0; i < s->n; i++) next = tutti__min(next, s->active[i].end);
        if (s->cursor < next) {
            const tutti_count entity = s->active[0].run->entity;
            TUTTI_TRY(tutti__grow(&r->interval, (size_t)(r->intervals + 1), &r->intervals_room,
                                  sizeof *r->interval));
            TUTTI_TRY(tutti__grow(&r->holder, (size_t)(r->holders + s->n), &r->holders_room,
                                  sizeof *r->holder));
            r->interval[r->intervals++] = (tutti__id_interval){
                s->cursor, next - s->cursor, entity, r->holders, s->n, s->active[0].rank};
            for (int i = 0; i < s->n; i++) r->holder[r->holders++] = s->active[i].rank;
            r->shared += s->n > 1;
            r->checked +=
                s->n > 1 && r->ids[tutti__id_class(r->first_entity, entity)].check != NULL;
        }
        s->cursor = next;
        for (int i = 0; i < s->n; i++)
            if (s->active[i].end > next) s->active[kept++] = s->active[i];
        if (kept == s->n) return TUTTI_OK;
        s->n = kept;
    }
    return TUTTI_OK;
}

static tutti_err compare_runs(const sweep *s, const tutti__id_run *x, int rank) {
    const tutti_count *first = s->r->first_entity;
    const tutti__ids *k = &s->r->ids[tutti__id_class(first, x->entity)];
    const tutti_count base = first[tutti__id_class(first, x->entity)];
    for (int i = 0; i < s->n; i++) {
        const tutti__id_run *y = s->active[i].run;
        const tutti_count a = y->entity - base, b = x->entity - base;
        TUTTI_CHECK(a == b, TUTTI_ERR_ARG,
                    "%s id %lld is in block %lld of rank %d and in block %lld of rank %d", k->what,
                    (long long)x->number,
                    (long long)(k->entity_id ? k->entity_id(k->context, a) : a), s->active[i].rank,
                    (long long)(k->entity_id ? k->entity_id(k->context, b) : b), rank);
        TUTTI_CHECK(x->weight == y->weight, TUTTI_ERR_MISMATCH,
                    "%s id %lld: %s differ between ranks %d and %d", k->what, (long long)x->number,
                    k->checked ? k->checked : "values", rank, s->active[i].rank);
    }
    return TUTTI_OK;
}

/* Visit a run, and set its position relative to this range. */
static tutti_err run_visit(sweep *s, const tutti__id_run *x, int rank, tutti__id_place *place) {
    tutti__id_range *r = s->r;
    const tutti_count c = x->entity;
    TUTTI_TRY(sweep_to(s, x->number));
    TUTTI_TRY(compare_runs(s, x, rank));
    if (s->n > 0) {
        const active_run *a = &s->active[0];
        const tutti_count offset = x->number - a->run->number;
        *place = (tutti__id_place){a->place->position + offset, a->place->at + offset * x->weight};
    } else {
        *place = (tutti__id_place){r->count[c], r->weights[c]};
    }
    const int64_t end = x->number + x->count, from = tutti__max(x->number, s->end);
    if (end > from) {
        r->count[c] += end - from;
        r->weights[c] += (end - from) * x->weight;
        s->end = end;
    }
    r->least[c] = tutti__min(r->least[c], x->number);
    r->most[c] = tutti__max(r->most[c], end - 1);
    s->cursor = x->number;
    int at = s->n++;
    for (; at > 0 && s->active[at - 1].rank > rank; at--) s->active[at] = s->active[at - 1];
    s->active[at] = (active_run){x, place, rank, end};
    return TUTTI_OK;
}

/* ---- all classes */

/* A run of a class, to be sorted by number. */
typedef struct {
    const tutti__id_run *run;
    tutti__id_place *place;
    int rank;
} received;

typedef struct {
    tutti__numbered *order, *spare; /* [runs] */
    received *v;
    active_run *active;
} capacity;

static tutti_err class_visit(tutti__id_range *r, int k, const capacity *m) {
    sweep s = {.r = r, .active = m->active, .end = INT64_MIN};
    tutti_count n = 0, at = 0;
    for (int i = 0; i < r->sources; i++) {
        const tutti__id_run *v = r->in[i].data;
        const tutti_count all = (tutti_count)(r->in[i].bytes / sizeof *v);
        for (tutti_count q = 0; q < all; q++, at++) {
            if (v[q].entity < r->first_entity[k] || v[q].entity >= r->first_entity[k + 1]) continue;
            m->order[n] = (tutti__numbered){v[q].number, n};
            m->v[n++] = (received){&v[q], &r->place[at], r->in[i].rank};
        }
    }
    const tutti__numbered *sorted = tutti__numbered_sort(m->order, n, m->spare);
    for (tutti_count i = 0; i < n; i++) {
        const received *x = &m->v[sorted[i].index];
        TUTTI_TRY(run_visit(&s, x->run, x->rank, x->place));
    }
    return sweep_to(&s, INT64_MAX);
}

tutti_err tutti__id_range_count(tutti__id_range *r) {
    const size_t entities = (size_t)r->first_entity[r->n];
    for (int i = 0; i < r->sources; i++)
        r->runs += (tutti_count)(r->in[i].bytes / sizeof(tutti__id_run));
    const size_t n = (size_t)r->runs + 1;
    capacity m = {tutti__malloc(n * sizeof *m.order), tutti__malloc(n * sizeof *m.spare),
                  tutti__malloc(n * sizeof *m.v), tutti__malloc(n * sizeof *m.active)};
    r->place = tutti__malloc(n * sizeof *r->place);
    r->count = tutti__calloc(4 * entities + 1, sizeof *r->count);
    tutti_err err =
        m.order && m.spare && m.v && m.active && r->place && r->count ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        r->weights = r->count + entities;
        r->least = r->weights + entities;
        r->most = r->least + entities;
        for (size_t c = 0; c < entities; c++) r->least[c] = INT64_MAX;
    }
    for (int k = 0; k < r->n && err == TUTTI_OK; k++) err = class_visit(r, k, &m);
    tutti__free(m.order);
    tutti__free(m.spare);
    tutti__free(m.v);
    tutti__free(m.active);
    return err;
}

/* ---- writers */

tutti_err tutti__id_range_writers(tutti__id_range *r, const tutti_replicas_choice *choice) {
    const size_t n = (size_t)r->intervals;
    if (r->shared == 0) return TUTTI_OK;
    int64_t *number = tutti__malloc((3 * n + 1) * sizeof *number);
    int *writer = tutti__malloc((n + (size_t)r->holders) * sizeof *writer);
    const tutti_err err = number && writer ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        tutti__carry carry = {0, writer + n, TUTTI__AS_NEXT};
        tutti_off *bytes = number + n;
        tutti_count *start = bytes + n;
        for (size_t i = 0; i < n; i++) {
            number[i] = r->interval[i].number;
            bytes[i] = r->interval[i].count;
            start[i] = r->interval[i].holders;
        }
        start[n] = r->holders;
        const tutti__items items = {.n = (tutti_count)n,
                                    .number = number,
                                    .bytes = bytes,
                                    .start = start,
                                    .holder = r->holder,
                                    .owner_behind = -1};
        tutti__rule_of(choice->rule)->fn(choice, &items, &carry, writer);
        if (carry.n > 0) tutti__writers_fill((tutti_count)n, writer, carry.rank[0]);
        for (size_t i = 0; i < n; i++) r->interval[i].writer = writer[i];
    }
    tutti__free(number);
    tutti__free(writer);
    return err;
}

/* ---- copies */

/* Return the next `count` checks of a rank. */
static const uint64_t *next_checks(int n, const tutti__sparse_message *checks, size_t *at, int rank,
                                   tutti_count count) {
    for (int i = 0; i < n; i++)
        if (checks[i].rank == rank) {
            const uint64_t *v = (const uint64_t *)checks[i].data + at[i];
            at[i] += (size_t)count;
            TUTTI_ASSERT(at[i] * sizeof *v <= checks[i].bytes);
            return v;
        }
    return NULL;
}

tutti_err tutti__id_range_compare(const tutti__id_range *r, int n,
                                  const tutti__sparse_message *checks) {
    size_t *at = tutti__calloc((size_t)n + 1, sizeof *at);
    tutti_err err = at ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < r->intervals && err == TUTTI_OK; i++) {
        const tutti__id_interval *v = &r->interval[i];
        const tutti__ids *k = &r->ids[tutti__id_class(r->first_entity, v->entity)];
        const uint64_t *first = NULL;
        if (v->holders_n == 1 || !k->check) continue;
        for (tutti_count h = 0; h < v->holders_n && err == TUTTI_OK; h++) {
            const int rank = r->holder[v->holders + h];
            const uint64_t *x = next_checks(n, checks, at, rank, v->count);
            if (!first) first = x;
            for (tutti_count q = 0; x && first && q < v->count && err == TUTTI_OK; q++)
                if (x[q] != first[q])
                    err = tutti__error_set(
                        TUTTI_ERR_MISMATCH, 0, -1, "%s id %lld: %s differ between ranks %d and %d",
                        k->what, (long long)(v->number + q), k->checked ? k->checked : "values",
                        rank, r->holder[v->holders]);
        }
    }
    tutti__free(at);
    return err;
}
