/* exodus_mesh: conversion of the numbers of all ranks to positions.
 *
 * The numbers of a class are divided into ranges, one per rank.  A rank sends runs of consecutive
 * numbers to the ranks of their ranges (id_range.c), which count them.  Ranges ascend with the
 * ranks, so that the positions of a range begin after the counts of the preceding ranges.
 *
 * Errors of single ranks are part of the choice of ranges and of the sums that all ranks gather, so
 * that no rank returns early.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/id_order.h"

#include <stdio.h>
#include <string.h>

#include "base/sorted.h"
#include "comm/collective_count.h"
#include "comm/wait.h"
#include "decomposition/shares.h"

/* Sums of a class: number of entries with numbers; without numbers. */
enum { NUMBERED, IMPLICIT, CLASS_SUMS };
_Static_assert(CLASS_SUMS *TUTTI__IDS_CLASSES <= TUTTI__SPLIT_SUMS &&
                   (int)TUTTI__IDS_CLASSES <= (int)TUTTI__SKETCH_SETS,
               "a round is one choice of ranges");
/* The vector of a rank contains counts, weights, minimum and maximum numbers of each entity, then
 * these words, then `also`. */
enum { VECTOR_FAILED, VECTOR_CHECKED, VECTOR_EXTRA };
/* maximum words of the vectors of all ranks that are gathered; more words are reduced */
enum { GATHERED_MOST = 1 << 12 };

/* ---- buffers */

static tutti_count vector_words(const tutti__ids_round *r) {
    return 4 * r->entities + VECTOR_EXTRA + r->also;
}

static int is_gathered(const tutti__team *t, const tutti__ids_round *r) {
    return vector_words(r) * t->size <= GATHERED_MOST;
}

/* Return the address of a vector: of this rank (all ranks if gathered); of the total; of the sum
 * over lower ranks. */
static int64_t *vector_own(const tutti__team *t, const tutti__ids_round *r) {
    return r->checksums + (is_gathered(t, r) ? t->rank * vector_words(r) : 0);
}
static int64_t *vector_total(const tutti__team *t, const tutti__ids_round *r) {
    return r->checksums + (is_gathered(t, r) ? t->size : 1) * vector_words(r);
}
static int64_t *vector_before(const tutti__team *t, const tutti__ids_round *r) {
    return vector_total(t, r) + vector_words(r);
}

tutti_err tutti__ids_round_make(tutti__team *t, tutti_count entities, tutti_count also,
                                tutti__ids_round *out) {
    tutti__ids_round r = {.entities = entities, .also = also};
    const size_t p = (size_t)t->size, words = (size_t)vector_words(&r);
    TUTTI_CHECK(vector_words(&r) <= INT32_MAX, TUTTI_ERR_OVERFLOW,
                "mesh has %lld blocks and sets: at most %lld are supported", (long long)entities,
                (long long)(INT32_MAX - VECTOR_EXTRA - also) / 4);
    r.checksums = tutti__calloc(((is_gathered(t, &r) ? p : 1) + 2) * words, sizeof *r.checksums);
    r.also_checksums = tutti__calloc((size_t)also + 1, sizeof *r.also_checksums);
    const tutti_err err = tutti__splitting_make(t, 0, TUTTI__IDS_CLASSES, &r.splitting);
    *out = r;
    return err == TUTTI_OK && r.checksums && r.also_checksums ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

void tutti__ids_round_free(tutti__ids_round *r) {
    tutti__splitting_free(&r->splitting);
    tutti__free(r->checksums);
    tutti__free(r->also_checksums);
    *r = (tutti__ids_round){.entities = 0};
}

/* ---- entries of this rank */

/* A run of this rank, and the rank of its range. */
typedef struct {
    tutti__id_run run;
    tutti_count first; /* index in `sorted` of its class */
    int class, to;
} own_run;

typedef struct {
    tutti__team *team;
    tutti__ids_round *round;
    int n;
    const tutti__ids *ids;
    tutti_count first_entity[TUTTI__IDS_CLASSES + 1];
    tutti_count runs_n, capacity;
    own_run *run;            /* [runs_n] sorted by rank, then by number */
    tutti__splitters ranges; /* ranges of the numbers of this rank */
    int partners;            /* number of ranks with these ranges */
    int *partner;            /* [partners] these ranks, ascending */
    tutti_count *start;      /* [partners + 1] index of the first run of each partner */
    tutti__id_run *out;      /* [runs_n] runs as they are sent */
    tutti__id_range range;
    int sent, received; /* number of messages with runs */
    tutti__sparse_message *in;
    tutti__sparse_message *message; /* [partners] */
} ordering;

static tutti_err fail_duplicate(const tutti__ids *k, tutti_count a, tutti_count b) {
    char name[160];
    if (k->name)
        k->name(k->context, b, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s id %lld", k->what, (long long)k->number[b]);
    TUTTI_FAIL(TUTTI_ERR_ARG, "duplicate %s (entries %lld and %lld on this rank)", name,
               (long long)tutti__min(a, b), (long long)tutti__max(a, b));
}

/* Check that no number is in two entities of this rank; `v` contains all entries, sorted within
 * each entity. */
static tutti_err entities_compare(const tutti__ids *k, const tutti__numbered *v,
                                  tutti__numbered *spare) {
    const tutti__entity_class *f = k->class;
    int64_t last = -1;
    int disjoint = 1;
    for (tutti_count c = 0; c < f->entities && disjoint; c++) {
        if (f->start[c] == f->start[c + 1]) continue;
        disjoint = v[f->start[c]].number > last;
        last = v[f->start[c + 1] - 1].number;
    }
    if (disjoint || f->n == 0) return TUTTI_OK;
    tutti__numbered *copy = tutti__malloc((size_t)f->n * sizeof *copy);
    if (!copy) return TUTTI_ERR_NOMEM;
    memcpy(copy, v, (size_t)f->n * sizeof *copy);
    const tutti__numbered *w = tutti__numbered_sort(copy, f->n, spare);
    tutti_err err = TUTTI_OK;
    for (tutti_count j = 1; j < f->n && err == TUTTI_OK; j++)
        if (w[j].number == w[j - 1].number) err = fail_duplicate(k, w[j - 1].index, w[j].index);
    tutti__free(copy);
    return err;
}

static tutti_err class_begin(const tutti__ids *k) {
    tutti__entity_class *f = k->class;
    const size_t n = (size_t)(f->n = f->start[f->entities]) + 1, c = (size_t)f->entities + 1;
    f->position = tutti__malloc_large(n * sizeof *f->position);
    f->at = f->weight ? tutti__malloc(n * sizeof *f->at) : NULL;
    f->first = tutti__malloc(n);
    f->writes = tutti__malloc(n);
    f->sorted = tutti__malloc_large(n * sizeof *f->sorted);
    f->count = tutti__calloc(c, sizeof *f->count);
    f->weights = tutti__calloc(c, sizeof *f->weights);
    f->before = tutti__calloc(c, sizeof *f->before);
    if (!f->position || (f->weight && !f->at) || !f->first || !f->writes || !f->sorted ||
        !f->count || !f->weights || !f->before)
        return TUTTI_ERR_NOMEM;
    memset(f->first, 1, n);
    memset(f->writes, 1, n);
    /* sort entries by entity, then by number */
    tutti__numbered *v = f->sorted;
    tutti__numbered *spare = tutti__malloc_large((size_t)(f->n + 1) * sizeof *spare);
    tutti_err err = spare ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < f->n; i++)
        v[i] = (tutti__numbered){k->number ? k->number[i] : i, i};
    for (tutti_count e = 0; e < f->entities && err == TUTTI_OK && k->number; e++) {
        const tutti_count lo = f->start[e], m = f->start[e + 1] - lo;
        const tutti__numbered *w = tutti__numbered_sort(v + lo, m, spare);
        if (w != v + lo) memcpy(v + lo, w, (size_t)m * sizeof *w);
        for (tutti_count j = lo + 1; j < lo + m && err == TUTTI_OK; j++)
            if (v[j].number == v[j - 1].number) err = fail_duplicate(k, v[j - 1].index, v[j].index);
    }
    if (err == TUTTI_OK && k->number) err = entities_compare(k, v, spare);
    tutti__free(spare);
    return err;
}

/* ---- ranges */

/* Choose the ranges of all classes, with about the same number of entries each.   Collective;
 * returns the same code on all ranks. */
static tutti_err make_ranges(ordering *o, tutti_err local_err, int *implicit,
                             tutti_err *same_err_out) {
    tutti__split split = {.sum = {0}};
    for (int k = 0; k < o->n && local_err == TUTTI_OK; k++) {
        const tutti__entity_class *f = o->ids[k].class;
        const int has_numbers = o->ids[k].number != NULL;
        split.sum[CLASS_SUMS * k + (has_numbers ? NUMBERED : IMPLICIT)] = f->n;
        if (has_numbers)
            split.set[k] = (tutti__number_set){f->n, &f->sorted[0].number, sizeof f->sorted[0]};
    }
    TUTTI_TRY(tutti__splitters_make(o->round->splitting, local_err, &split, &o->ranges));
    *same_err_out = TUTTI_OK;
    for (int k = 0; k < o->n; k++) {
        const int64_t *sum = &split.sum[CLASS_SUMS * k];
        implicit[k] = sum[NUMBERED] == 0;
        if (sum[NUMBERED] > 0 && sum[IMPLICIT] > 0 && *same_err_out == TUTTI_OK)
            *same_err_out = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1,
                                             "%s ids are given on some ranks only", o->ids[k].what);
    }
    return TUTTI_OK;
}

/* ---- runs */

/* Add the runs of an entity of class k, divided at the ends of ranges. */
static tutti_err entity_runs(ordering *o, int k, tutti_count c) {
    const tutti__entity_class *f = o->ids[k].class;
    const tutti__splitters *s = &o->ranges;
    const tutti_count ranges_end = s->set_start[k + 1];
    if (f->start[c] == f->start[c + 1]) return TUTTI_OK;
    tutti_count at = tutti__splitters_find(s, k, f->sorted[f->start[c]].number);
    for (tutti_count j = f->start[c], end = j; j < f->start[c + 1]; j = end) {
        const int64_t number = f->sorted[j].number;
        const tutti_count weight = f->weight ? f->weight[f->sorted[j].index] : 0;
        while (at + 1 < ranges_end && s->start[at + 1].first <= number) at++;
        const int64_t most = at + 1 < ranges_end ? s->start[at + 1].first : INT64_MAX;
        for (end = j + 1; end < f->start[c + 1]; end++)
            if (f->sorted[end].number != number + end - j || f->sorted[end].number >= most ||
                (f->weight && f->weight[f->sorted[end].index] != weight))
                break;
        if (o->runs_n == o->capacity) {
            const tutti_count capacity = 2 * o->capacity + 256;
            own_run *v = tutti__realloc(o->run, (size_t)capacity * sizeof *v);
            if (!v) return TUTTI_ERR_NOMEM;
            o->run = v;
            o->capacity = capacity;
        }
        o->run[o->runs_n++] =
            (own_run){{number, end - j, o->first_entity[k] + c, weight}, j, k, s->start[at].rank};
    }
    return TUTTI_OK;
}

static int count_ranks(const ordering *o) {
    /* an upper bound: the number of changes of the rank, since consecutive runs mostly have the
     * same rank */
    int n = 0;
    for (tutti_count i = 0; i < o->runs_n; i++) n += i == 0 || o->run[i].to != o->run[i - 1].to;
    return n;
}

/* Make the runs of all classes, sorted by the ranks of their ranges. */
static tutti_err make_runs(ordering *o, const int *implicit) {
    for (int k = 0; k < o->n; k++)
        for (tutti_count c = 0; c < o->ids[k].class->entities && !implicit[k]; c++)
            TUTTI_TRY(entity_runs(o, k, c));
    const size_t runs = (size_t)o->runs_n + 1, ranks = (size_t)count_ranks(o) + 1;
    own_run *by_rank = tutti__malloc(runs * sizeof *by_rank);
    tutti__numbered *v = tutti__malloc(2 * runs * sizeof *v);
    o->partner = tutti__malloc(ranks * sizeof *o->partner);
    o->start = tutti__malloc(ranks * sizeof *o->start);
    o->out = tutti__malloc(runs * sizeof *o->out);
    o->message = tutti__malloc(ranks * sizeof *o->message);
    if (!by_rank || !v || !o->partner || !o->start || !o->out || !o->message) {
        tutti__free(by_rank);
        tutti__free(v);
        return TUTTI_ERR_NOMEM;
    }
    /* Sort the runs by rank, and list the ranks. */
    for (tutti_count i = 0; i < o->runs_n; i++) v[i] = (tutti__numbered){o->run[i].to, i};
    const tutti__numbered *sorted = tutti__numbered_sort(v, o->runs_n, v + o->runs_n);
    for (tutti_count i = 0; i < o->runs_n; i++) {
        by_rank[i] = o->run[sorted[i].index];
        o->out[i] = by_rank[i].run;
        if (i == 0 || by_rank[i].to != by_rank[i - 1].to) {
            o->partner[o->partners] = by_rank[i].to;
            o->start[o->partners++] = i;
        }
    }
    o->start[o->partners] = o->runs_n;
    tutti__free(v);
    tutti__free(o->run);
    o->run = by_rank;
    return TUTTI_OK;
}

/* Return the index in `partner` of a rank to which this rank has sent runs. */
static int find_partner(const ordering *o, int rank) {
    int lo = 0, hi = o->partners;
    while (hi - lo > 1) {
        const int mid = lo + (hi - lo) / 2;
        if (o->partner[mid] <= rank)
            lo = mid;
        else
            hi = mid;
    }
    TUTTI_ASSERT(lo < o->partners && o->partner[lo] == rank);
    return lo;
}

/* ---- sums */

static void vector_fill(const ordering *o, const int *implicit, tutti_err local_err, int64_t *v) {
    const tutti_count n = o->round->entities;
    memset(v, 0, (size_t)vector_words(o->round) * sizeof *v);
    for (tutti_count c = 0; c < n; c++) v[2 * n + c] = INT64_MAX;
    v[4 * n + VECTOR_FAILED] = local_err != TUTTI_OK;
    if (local_err != TUTTI_OK) return;
    memcpy(v, o->range.count, 4 * (size_t)n * sizeof *v);
    v[4 * n + VECTOR_CHECKED] = o->range.checked;
    memcpy(v + 4 * n + VECTOR_EXTRA, o->round->also_checksums, (size_t)o->round->also * sizeof *v);
    for (int k = 0; k < o->n; k++) {
        const tutti__entity_class *f = o->ids[k].class;
        for (tutti_count c = 0; c < f->entities && implicit[k]; c++) {
            v[o->first_entity[k] + c] = f->start[c + 1] - f->start[c];
            for (tutti_count i = f->start[c]; i < f->start[c + 1] && f->weight; i++)
                v[n + o->first_entity[k] + c] += f->weight[i];
        }
    }
}

static tutti_err vectors_reduce(const tutti__team *t, const tutti__ids_round *r) {
    const tutti_count n = r->entities;
    const int words = (int)vector_words(r);
    int64_t *own = vector_own(t, r), *total = vector_total(t, r), *before = vector_before(t, r);
    MPI_Request q[3];
    for (tutti_count c = 3 * n; c < 4 * n; c++) own[c] = -own[c];
    for (int i = 0; i < 3; i++) tutti__collective_add();
    TUTTI_MPI(MPI_Iexscan(own, before, (int)(2 * n), MPI_INT64_T, MPI_SUM, t->comm, &q[0]));
    TUTTI_MPI(MPI_Iallreduce(own + 2 * n, total + 2 * n, (int)(2 * n), MPI_INT64_T, MPI_MIN,
                             t->comm, &q[1]));
    TUTTI_TRY(tutti__team_finish(2, q));
    memset(own + 2 * n, 0, 2 * (size_t)n * sizeof *own);
    memcpy(before + 2 * n, total + 2 * n, 2 * (size_t)n * sizeof *own);
    TUTTI_MPI(MPI_Iallreduce(own, total, words, MPI_INT64_T, MPI_SUM, t->comm, &q[2]));
    TUTTI_TRY(tutti__team_finish(1, &q[2]));
    memcpy(total + 2 * n, before + 2 * n, 2 * (size_t)n * sizeof *own);
    for (tutti_count c = 3 * n; c < 4 * n; c++) total[c] = -total[c];
    if (t->rank == 0) memset(before, 0, 2 * (size_t)n * sizeof *before);
    return TUTTI_OK;
}

static tutti_err vectors_exchange(const ordering *o, const int *implicit, tutti_err local_err,
                                  int *failed_out) {
    const tutti__team *t = o->team;
    const int words = (int)vector_words(o->round);
    MPI_Request r;
    vector_fill(o, implicit, local_err, vector_own(t, o->round));
    if (is_gathered(t, o->round)) {
        tutti__collective_add();
        TUTTI_MPI(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT64_T, o->round->checksums, words,
                                 MPI_INT64_T, t->comm, &r));
        TUTTI_TRY(tutti__team_finish(1, &r));
        const tutti_count n = o->round->entities;
        int64_t *total = vector_total(t, o->round), *before = vector_before(t, o->round);
        memset(total, 0, 2 * (size_t)words * sizeof *total);
        for (tutti_count c = 0; c < n; c++) total[2 * n + c] = INT64_MAX;
        for (int k = 0; k < t->size; k++) {
            const int64_t *v = o->round->checksums + (tutti_count)k * words;
            if (k == t->rank) memcpy(before, total, (size_t)words * sizeof *before);
            for (tutti_count i = 0; i < words; i++)
                total[i] = i < 2 * n || i >= 4 * n ? total[i] + v[i]
                           : i < 3 * n             ? tutti__min(total[i], v[i])
                                                   : tutti__max(total[i], v[i]);
        }
    } else {
        TUTTI_TRY(vectors_reduce(t, o->round));
    }
    const int64_t *extra = vector_total(t, o->round) + 4 * o->round->entities;
    *failed_out = extra[VECTOR_FAILED] != 0;
    memcpy(o->round->also_checksums, extra + VECTOR_EXTRA,
           (size_t)o->round->also * sizeof *o->round->also_checksums);
    return TUTTI_OK;
}

/* Set the counts of all ranks, and the positions of a class without numbers. */
static void set_class_counts(const ordering *o, int k, int implicit) {
    const tutti_count first = o->first_entity[k], n = o->round->entities;
    const int64_t *total = vector_total(o->team, o->round) + first,
                  *before = vector_before(o->team, o->round) + first;
    tutti__entity_class *f = o->ids[k].class;
    f->plain = 1;
    f->largest = 0;
    for (tutti_count c = 0; c < f->entities; c++) {
        f->count[c] = total[c];
        f->weights[c] = total[n + c];
        f->before[c + 1] = f->before[c] + total[c];
        if (!implicit && total[c] > 0) {
            f->plain &=
                total[2 * n + c] == f->before[c] + 1 && total[3 * n + c] == f->before[c + 1];
            f->largest = tutti__max(f->largest, total[3 * n + c]);
        }
        tutti_count at = before[n + c];
        for (tutti_count i = f->start[c]; i < f->start[c + 1] && implicit; i++) {
            f->position[i] = f->before[c] + before[c] + i - f->start[c];
            f->sorted[i] = (tutti__numbered){f->position[i], i};
            if (f->weight) f->at[i] = at;
            if (f->weight) at += f->weight[i];
        }
    }
    f->all = f->before[f->entities];
}

/* ---- answers: to each rank the number of its shared intervals, the positions of its runs, shared
 * intervals */

static void answer_fill(const ordering *o, int source, tutti_count first, tutti_count shared,
                        char *to) {
    const tutti__id_range *r = &o->range;
    const tutti__id_run *run = o->in[source].data;
    const tutti_count n = (tutti_count)(o->in[source].bytes / sizeof *run);
    const int64_t *before = vector_before(o->team, o->round);
    tutti__id_place *place = (tutti__id_place *)(void *)(to + sizeof shared);
    tutti__id_shared *out = (tutti__id_shared *)(void *)(place + n);
    memcpy(to, &shared, sizeof shared);
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count c = run[i].entity;
        place[i] = (tutti__id_place){r->place[first + i].position + before[c],
                                     r->place[first + i].at + before[o->round->entities + c]};
    }
    for (tutti_count i = 0; i < r->intervals && shared > 0; i++) {
        const tutti__id_interval *v = &r->interval[i];
        for (tutti_count h = 0; h < v->holders_n && v->holders_n > 1; h++)
            if (r->holder[v->holders + h] == o->in[source].rank)
                *out++ = (tutti__id_shared){v->number, v->count, v->entity, h == 0,
                                            v->writer == o->in[source].rank};
    }
}

static tutti_err answers_exchange(ordering *o, tutti_err local_err, int *n_out,
                                  tutti__sparse_message **out) {
    tutti__sparse_message *answer = tutti__calloc((size_t)o->received + 1, sizeof *answer);
    tutti_count first = 0, shared = 0;
    if (!answer) local_err = TUTTI_ERR_NOMEM;
    for (int i = 0; i < o->received && local_err == TUTTI_OK; i++) {
        const tutti__id_range *r = &o->range;
        shared = 0;
        for (tutti_count v = 0; v < r->intervals && r->shared > 0; v++)
            for (tutti_count h = 0; h < r->interval[v].holders_n && r->interval[v].holders_n > 1;
                 h++)
                shared += r->holder[r->interval[v].holders + h] == o->in[i].rank;
        const size_t runs = o->in[i].bytes / sizeof(tutti__id_run);
        const size_t bytes = sizeof shared + runs * sizeof(tutti__id_place) +
                             (size_t)shared * sizeof(tutti__id_shared);
        answer[i] = (tutti__sparse_message){o->in[i].rank, bytes, tutti__malloc(bytes)};
        if (answer[i].data)
            answer_fill(o, i, first, shared, answer[i].data);
        else
            local_err = TUTTI_ERR_NOMEM;
        first += (tutti_count)runs;
    }
    local_err = tutti__exchange_if(o->team, local_err, o->received, answer, n_out, out);
    for (int i = 0; i < o->received && answer; i++) tutti__free(answer[i].data);
    tutti__free(answer);
    /* a rank has failed, and also reports its own error */
    if (local_err == TUTTI_OK && *n_out < o->sent)
        local_err = tutti__error_set(TUTTI_ERR_NOMEM, 0, -1,
                                     "%d of %d ranks did not reply to a request for ids",
                                     o->sent - *n_out, o->sent);
    return local_err;
}

static const tutti__id_shared *answer_shared(const ordering *o, const tutti__sparse_message *m,
                                             tutti_count *n_out) {
    const int partner = find_partner(o, m->rank);
    const tutti_count runs = o->start[partner + 1] - o->start[partner];
    memcpy(n_out, m->data, sizeof *n_out);
    return (const tutti__id_shared *)(const void *)((const char *)m->data + sizeof *n_out +
                                                    (size_t)runs * sizeof(tutti__id_place));
}

/* Return the index in `sorted` of the first entry of a shared interval.  Positions have replaced
 * the numbers, and ascend in the same order. */
static tutti_count shared_first(const ordering *o, const tutti__id_shared *s, int *class_out) {
    const int k = *class_out = tutti__id_class(o->first_entity, s->entity);
    const tutti__ids *ids = &o->ids[k];
    const tutti__entity_class *f = ids->class;
    const tutti_count c = s->entity - o->first_entity[k];
    tutti_count lo = f->start[c], hi = f->start[c + 1];
    while (hi - lo > 1) {
        const tutti_count mid = (lo + hi) / 2;
        if (ids->number[f->sorted[mid].index] <= s->number)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void answer_take(const ordering *o, const tutti__sparse_message *m) {
    const tutti__id_place *place =
        (const tutti__id_place *)(const void *)((const char *)m->data + sizeof(tutti_count));
    const int partner = find_partner(o, m->rank);
    tutti_count n = 0;
    for (tutti_count i = o->start[partner]; i < o->start[partner + 1]; i++, place++) {
        const own_run *x = &o->run[i];
        tutti__entity_class *f = o->ids[x->class].class;
        const tutti_count first =
            f->before[x->run.entity - o->first_entity[x->class]] + place->position;
        for (tutti_count j = 0; j < x->run.count; j++) {
            tutti__numbered *s = &f->sorted[x->first + j];
            s->number = f->position[s->index] = first + j;
            if (f->at) f->at[s->index] = place->at + j * x->run.weight;
        }
    }
    const tutti__id_shared *s = answer_shared(o, m, &n);
    for (; n > 0; n--, s++) {
        int k = 0;
        const tutti_count first = shared_first(o, s, &k);
        const tutti__entity_class *f = o->ids[k].class;
        for (tutti_count j = first; j < first + s->count; j++) {
            f->first[f->sorted[j].index] = s->is_first != 0;
            f->writes[f->sorted[j].index] = s->is_writer != 0;
        }
    }
}

/* ---- copies are compared */

/* Send the checks of the shared entries in each answer to the rank that sent the answer, in the
 * order of the answer; compare the checks that this rank receives. */
static tutti_err copies_compare(const ordering *o, tutti_err local_err, int n,
                                const tutti__sparse_message *answers) {
    tutti__sparse_message *out = tutti__calloc((size_t)n + 1, sizeof *out), *in = NULL;
    int n_in = 0;
    if (!out) local_err = TUTTI_ERR_NOMEM;
    for (int m = 0; m < n && local_err == TUTTI_OK; m++) {
        tutti_count intervals = 0, all = 0, at = 0;
        const tutti__id_shared *s = answer_shared(o, &answers[m], &intervals);
        for (tutti_count i = 0; i < intervals; i++) all += s[i].count;
        uint64_t *v = out[m].data = tutti__malloc((size_t)(all + 1) * sizeof *v);
        if (!v) local_err = TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < intervals && v; i++) {
            int k = 0;
            const tutti_count first = shared_first(o, &s[i], &k);
            const tutti__ids *ids = &o->ids[k];
            for (tutti_count j = 0; j < s[i].count && ids->check; j++)
                v[at++] = ids->check(ids->context, ids->class->sorted[first + j].index);
        }
        out[m].rank = answers[m].rank;
        out[m].bytes = (size_t)at * sizeof *v;
    }
    local_err = tutti__exchange_if(o->team, local_err, n, out, &n_in, &in);
    if (local_err == TUTTI_OK) local_err = tutti__id_range_compare(&o->range, n_in, in);
    for (int i = 0; i < n && out; i++) tutti__free(out[i].data);
    tutti__free(out);
    tutti__sparse_free(n_in, &in);
    return local_err;
}

/* ---- a round */

/* Compute the positions from the runs.   Returns the error code of this rank. */
static tutti_err order_runs(ordering *o, const tutti_replicas_choice *choice, const int *implicit,
                            tutti_err local_err) {
    tutti__sparse_message *answers = NULL;
    int failed = 0, n = 0;
    if (local_err == TUTTI_OK) local_err = make_runs(o, implicit);
    for (int i = 0; i < o->partners && local_err == TUTTI_OK; i++)
        o->message[o->sent++] = (tutti__sparse_message){
            o->partner[i], (size_t)(o->start[i + 1] - o->start[i]) * sizeof *o->out,
            o->out + o->start[i]};
    local_err = tutti__exchange_if(o->team, local_err, o->sent, o->message, &o->received, &o->in);
    o->range = (tutti__id_range){.n = o->n,
                                 .ids = o->ids,
                                 .first_entity = o->first_entity,
                                 .sources = o->received,
                                 .in = o->in};
    if (local_err == TUTTI_OK) local_err = tutti__id_range_count(&o->range);
    if (local_err == TUTTI_OK) local_err = tutti__id_range_writers(&o->range, choice);
    TUTTI_TRY(vectors_exchange(o, implicit, local_err, &failed));
    if (failed) return tutti__team_agree(o->team, local_err);
    for (int k = 0; k < o->n; k++) set_class_counts(o, k, implicit[k]);
    local_err = answers_exchange(o, TUTTI_OK, &n, &answers);
    for (int i = 0; i < n && local_err == TUTTI_OK; i++) answer_take(o, &answers[i]);
    if (vector_total(o->team, o->round)[4 * o->round->entities + VECTOR_CHECKED] > 0)
        local_err = copies_compare(o, local_err, n, answers);
    tutti__sparse_free(n, &answers);
    return local_err;
}

tutti_err tutti__ids_order(tutti__team *t, tutti__ids_round *r, const tutti_replicas_choice *choice,
                           int n, const tutti__ids *ids, tutti_err local_err) {
    ordering o = {.team = t, .round = r, .n = n, .ids = ids};
    int implicit[TUTTI__IDS_CLASSES] = {0};
    TUTTI_ASSERT(n <= TUTTI__IDS_CLASSES);
    for (int k = 0; k < n; k++) o.first_entity[k + 1] = o.first_entity[k] + ids[k].class->entities;
    TUTTI_ASSERT(o.first_entity[n] == r->entities);
    for (int k = 0; k < n && local_err == TUTTI_OK; k++) local_err = class_begin(&ids[k]);
    tutti_err same_err = TUTTI_OK;
    tutti_err err = make_ranges(&o, local_err, implicit, &same_err);
    if (err == TUTTI_OK) err = order_runs(&o, choice, implicit, same_err);
    tutti__id_range_free(&o.range);
    tutti__sparse_free(o.received, &o.in);
    tutti__splitters_free(&o.ranges);
    tutti__free(o.run);
    tutti__free(o.partner);
    tutti__free(o.start);
    tutti__free(o.out);
    tutti__free(o.message);
    return err;
}
