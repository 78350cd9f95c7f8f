/* decomposition: numbers of all ranks to positions.
 *
 * The records of a number are joined (join.h) on the rank of its range, which compares copies and counts the
 * numbers of each class.  Ranges ascend with the ranks, so that the positions of a range begin with the counts
 * of the ranges before.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/id_order.h"

#include <stdio.h>
#include <string.h>

#include "base/sorted.h"
#include "decomposition/join.h"
#include "decomposition/shares.h"

/* Sent for each item, and the answer. */
typedef struct {
    int64_t number;
    tutti_count of_class, weight;
    uint64_t check;
} item_record;

typedef struct {
    tutti_count position, at;
    int64_t first;
} item_place;

typedef struct {
    tutti__team *team;
    const tutti__ids_spec *spec;
    tutti_count n;
    tutti__numbered *memory, *sorted; /* [2 n], [n] by number */
    tutti__join join;
    int64_t *sum, *before; /* [2 classes] items, weights */
} ordering;

/* ---- items of this rank */

static tutti_err sort_items(ordering *o) {
    const tutti__ids_spec *s = o->spec;
    char name[160];
    tutti_count duplicate = 0;
    TUTTI_TRY(tutti__numbers_sort(o->n, s->number, &o->memory, &o->sorted, &duplicate));
    if (duplicate == 0) return TUTTI_OK;
    const tutti_count i = o->sorted[duplicate].index;
    if (s->name)
        s->name(s->context, i, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s id %lld", s->what, (long long)s->number[i]);
    TUTTI_FAIL(TUTTI_ERR_ARG, "duplicate %s (entries %lld and %lld on this rank)", name,
               (long long)o->sorted[duplicate - 1].index, (long long)i);
}

static tutti_err make_item_records(const ordering *o, item_record **out) {
    const tutti__ids_spec *s = o->spec;
    item_record *v = *out = tutti__malloc((size_t)o->n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count j = 0; j < o->n; j++) {
        const tutti_count i = o->sorted[j].index;
        v[j] = (item_record){.number = s->number[i],
                             .of_class = tutti__interval_of(s->start, s->classes, i),
                             .weight = s->weight ? s->weight[i] : 0,
                             .check = s->check ? s->check[i] : 0};
    }
    return TUTTI_OK;
}

/* ---- numbers of the range of this rank */

/* Records a and b have the same number: compare them. */
static tutti_err compare_copies(const ordering *o, tutti_count a, tutti_count b) {
    const item_record *v = o->join.record, *x = &v[a], *y = &v[b];
    const tutti__directory *d = &o->join.directory;
    const tutti__ids_spec *s = o->spec;
    TUTTI_CHECK(x->of_class == y->of_class, TUTTI_ERR_ARG,
                "%s id %lld is in block %lld of rank %d and in block %lld of rank %d", s->what,
                (long long)x->number,
                (long long)(s->class_id ? s->class_id[x->of_class] : x->of_class),
                tutti__directory_source(d, a),
                (long long)(s->class_id ? s->class_id[y->of_class] : y->of_class),
                tutti__directory_source(d, b));
    TUTTI_CHECK(x->check == y->check && x->weight == y->weight, TUTTI_ERR_MISMATCH,
                "%s id %lld: %s differ between rank %d and rank %d", s->what, (long long)x->number,
                s->checked ? s->checked : "values", tutti__directory_source(d, b),
                tutti__directory_source(d, a));
    return TUTTI_OK;
}

/* Count each number once. */
static tutti_err count_range(ordering *o) {
    const tutti_count m = o->join.directory.m, classes = o->spec->classes;
    const tutti__numbered *v = o->join.sorted;
    for (tutti_count from = 0, to = 0; from < m; from = to) {
        const item_record *x = (const item_record *)o->join.record + v[from].index;
        to = tutti__join_group_end(&o->join, from);
        for (tutti_count k = from + 1; k < to; k++)
            TUTTI_TRY(compare_copies(o, v[from].index, v[k].index));
        o->sum[x->of_class]++;
        o->sum[classes + x->of_class] += x->weight;
    }
    return TUTTI_OK;
}

/* ---- the order of all ranks */

void tutti__ids_order_free(tutti__ids_order *o) {
    tutti__free(o->position);
    tutti__free(o->at);
    tutti__free(o->first);
    tutti__free(o->count);
    tutti__free(o->weights);
    tutti__free(o->before);
    *o = (tutti__ids_order){.implicit_ids = 0};
}

/* The part that is local. */
static tutti_err prepare_order(ordering *o, tutti__ids_order *out) {
    const tutti__ids_spec *s = o->spec;
    o->n = s->start[s->classes];
    o->sum = tutti__calloc(2 * (size_t)s->classes, sizeof *o->sum);
    o->before = tutti__calloc(2 * (size_t)s->classes, sizeof *o->before);
    if (!o->sum || !o->before) return TUTTI_ERR_NOMEM;
    const size_t classes = (size_t)s->classes;
    out->position = tutti__malloc((size_t)o->n * sizeof *out->position);
    out->first = tutti__malloc((size_t)o->n);
    out->at = tutti__malloc((size_t)o->n * sizeof *out->at);
    out->count = tutti__calloc(classes, sizeof *out->count);
    out->weights = tutti__calloc(classes, sizeof *out->weights);
    out->before = tutti__calloc(classes + 1, sizeof *out->before);
    TUTTI_TRY(out->position && out->first && out->at && out->count && out->weights && out->before
                  ? TUTTI_OK
                  : TUTTI_ERR_NOMEM);
    return s->number ? sort_items(o) : TUTTI_OK;
}

static tutti_err order_by_rank(ordering *o, tutti__ids_order *out) {
    const tutti__ids_spec *s = o->spec;
    TUTTI_ASSERT(o->sum && o->before);
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++) {
            o->sum[c]++;
            o->sum[s->classes + c] += s->weight ? s->weight[i] : 0;
        }
    TUTTI_TRY(tutti__sums_before(o->team, TUTTI_OK, 2 * s->classes, o->sum, o->before));
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++) {
            out->position[i] = o->before[c]++;
            out->at[i] = o->before[s->classes + c];
            out->first[i] = 1;
            o->before[s->classes + c] += s->weight ? s->weight[i] : 0;
        }
    return TUTTI_OK;
}

static tutti_err order_by_number(ordering *o, tutti__ids_order *out) {
    item_record *records = NULL;
    item_place *place = NULL, *answer = NULL;
    tutti_err err = make_item_records(o, &records);
    err = tutti__join_make(o->team, err, (int)sizeof *records, o->n, records, &o->join);
    tutti__free(records);
    if (err == TUTTI_OK)
        err = tutti__sums_before(o->team, count_range(o), 2 * o->spec->classes, o->sum, o->before);
    if (err == TUTTI_OK) {
        place = tutti__malloc((size_t)o->join.directory.m * sizeof *place);
        /* The counts of the ranges before are in o->before. */
        if (place) {
            const tutti_count m = o->join.directory.m, classes = o->spec->classes;
            const tutti__numbered *v = o->join.sorted;
            for (tutti_count from = 0, to = 0; from < m; from = to) {
                const item_record *x = (const item_record *)o->join.record + v[from].index;
                const item_place p = {o->before[x->of_class]++, o->before[classes + x->of_class],
                                      0};
                o->before[classes + x->of_class] += x->weight;
                to = tutti__join_group_end(&o->join, from);
                for (tutti_count k = from; k < to; k++) {
                    place[v[k].index] = p;
                    place[v[k].index].first = k == from;
                }
            }
        }
        err = tutti__join_answer(o->team, place ? TUTTI_OK : TUTTI_ERR_NOMEM, &o->join,
                                 (int)sizeof *place, place, (void **)&answer);
    }
    TUTTI_ASSERT(err != TUTTI_OK || (out->position && out->at && out->first));
    for (tutti_count j = 0; j < o->n && err == TUTTI_OK; j++) {
        const tutti_count i = o->sorted[j].index;
        out->position[i] = answer[j].position;
        out->at[i] = answer[j].at;
        out->first[i] = answer[j].first != 0;
    }
    tutti__free(place);
    tutti__free(answer);
    return err;
}

tutti_err tutti__ids_order_make(tutti__team *t, const tutti__ids_spec *spec, tutti_err local_err,
                                tutti__ids_order *out) {
    int64_t numbered = 0, implicit = 0; /* ranks with ids, and without */
    const tutti__reduction all[] = {{TUTTI__SUM, &numbered}, {TUTTI__SUM, &implicit}};
    ordering o = {.team = t, .spec = spec};
    tutti__ids_order made = {.implicit_ids = 0};
    if (local_err == TUTTI_OK) local_err = prepare_order(&o, &made);
    if (local_err == TUTTI_OK && o.n > 0) *(spec->number ? &numbered : &implicit) = 1;
    tutti_err err = tutti__team_reduce(t, local_err, 2, all);
    if (err == TUTTI_OK && numbered > 0 && implicit > 0)
        err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1, "%s ids are given on some ranks only",
                               spec->what);
    made.implicit_ids = numbered == 0;
    if (err == TUTTI_OK)
        err = made.implicit_ids ? order_by_rank(&o, &made) : order_by_number(&o, &made);
    TUTTI_ASSERT(err != TUTTI_OK || (made.count && made.weights && made.before && o.sum));
    for (tutti_count c = 0; c < spec->classes && err == TUTTI_OK; c++) {
        made.count[c] = o.sum[c];
        made.weights[c] = o.sum[spec->classes + c];
        made.before[c + 1] = made.before[c] + made.count[c];
    }
    tutti__join_free(&o.join);
    tutti__free(o.memory);
    tutti__free(o.sum);
    tutti__free(o.before);
    if (err == TUTTI_OK)
        *out = made;
    else
        tutti__ids_order_free(&made);
    return err;
}

int tutti__ids_plain(const tutti__ids_spec *s, const tutti__ids_order *o) {
    if (!s->number) return 1;
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++)
            if (s->number[i] != o->before[c] + o->position[i] + 1) return 0;
    return 1;
}
