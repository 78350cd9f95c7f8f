/* exodus: numbers of all ranks to positions.
 *
 * All mentions of a number meet on the rank that looks after its range (replicas/directory.h): it sees
 * whether copies agree, and counts what is there once, class by class.  Ranges rise with the ranks, so
 * that the counts of all ranges before are what positions begin with.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/mesh_ids.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "comm/wait.h"
#include "replicas/directory.h"

/* A mention, and what is answered. */
typedef struct {
    int64_t number;
    tutti_count of_class, weight;
    uint64_t check;
} said;

typedef struct {
    tutti_count position, at;
    int64_t first;
} told;

/* One that is under way. */
typedef struct {
    tutti__team *team;
    const tutti__ids_spec *spec;
    tutti_count n;
    tutti__numbered *room, *sorted; /* [2 n], [n] by number */
    tutti__directory d;
    said *came;              /* [m] */
    tutti__numbered *groups; /* [2 m] */
    told *decision;          /* [m] */
    int64_t *sum, *before;   /* [2 classes] items, weights */
} ordering;

tutti_err tutti__sums_before(tutti__team *t, tutti_count n, int64_t *io, int64_t *before_out) {
    MPI_Request r[2];
    int64_t *all = NULL;
    tutti_err err = TUTTI_OK;
    if (n > INT_MAX)
        err = tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1, "%lld numbers", (long long)n);
    if (err == TUTTI_OK && !(all = tutti__malloc((size_t)n * sizeof *all))) err = TUTTI_ERR_NOMEM;
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(all && before_out);
        memset(before_out, 0, (size_t)n * sizeof *before_out);
        int code = MPI_Iexscan(io, before_out, (int)n, MPI_INT64_T, MPI_SUM, t->comm, &r[0]);
        if (code == MPI_SUCCESS)
            code = MPI_Iallreduce(io, all, (int)n, MPI_INT64_T, MPI_SUM, t->comm, &r[1]);
        err =
            code == MPI_SUCCESS ? tutti__team_finish(2, r) : tutti__error_mpi(code, "MPI_Iexscan");
    }
    if (err == TUTTI_OK && n > 0) memcpy(io, all, (size_t)n * sizeof *io);
    if (err == TUTTI_OK && n > 0 && t->rank == 0) memset(before_out, 0, (size_t)n * sizeof *io);
    tutti__free(all);
    return err;
}

/* ---- what this rank says */

static void name_of(const tutti__ids_spec *s, tutti_count i, char *out, size_t room) {
    if (s->name)
        s->name(s->context, i, out, room);
    else
        snprintf(out, room, "%s id %lld", s->what, (long long)s->number[i]);
}

static tutti_err numbers_sort(ordering *o) {
    const tutti__ids_spec *s = o->spec;
    char name[160];
    o->room = tutti__malloc(2 * (size_t)o->n * sizeof *o->room);
    if (!o->room) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < o->n; i++) o->room[i] = (tutti__numbered){s->number[i], i};
    o->sorted = tutti__numbered_sort(o->room, o->n, o->room + o->n);
    for (tutti_count j = 1; j < o->n; j++) {
        if (o->sorted[j].number != o->sorted[j - 1].number) continue;
        name_of(s, o->sorted[j].index, name, sizeof name);
        TUTTI_FAIL(TUTTI_ERR_ARG, "%s is there twice: places %lld and %lld of this rank's", name,
                   (long long)o->sorted[j - 1].index, (long long)o->sorted[j].index);
    }
    return TUTTI_OK;
}

static tutti_err mentions_make(const ordering *o, int64_t **number_out, said **says_out) {
    const tutti__ids_spec *s = o->spec;
    int64_t *number = *number_out = tutti__malloc((size_t)o->n * sizeof *number);
    said *says = *says_out = tutti__malloc((size_t)o->n * sizeof *says);
    tutti_count *class_at = tutti__malloc((size_t)o->n * sizeof *class_at);
    if (!number || !says || !class_at) {
        tutti__free(class_at);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++) class_at[i] = c;
    for (tutti_count j = 0; j < o->n; j++) {
        const tutti_count i = o->sorted[j].index;
        number[j] = s->number[i];
        says[j] = (said){.number = number[j],
                         .of_class = class_at[i],
                         .weight = s->weight ? s->weight[i] : 0,
                         .check = s->check ? s->check[i] : 0};
    }
    tutti__free(class_at);
    return TUTTI_OK;
}

/* ---- what the rank of a range does */

/* Mentions a and b of one number: do they mean the same? */
static tutti_err same(const ordering *o, tutti_count a, tutti_count b) {
    const said *x = &o->came[a], *y = &o->came[b];
    const tutti__ids_spec *s = o->spec;
    TUTTI_CHECK(x->of_class == y->of_class, TUTTI_ERR_ARG,
                "%s id %lld is in block %lld of rank %d and in block %lld of rank %d", s->what,
                (long long)x->number,
                (long long)(s->class_id ? s->class_id[x->of_class] : x->of_class),
                tutti__directory_source(&o->d, a),
                (long long)(s->class_id ? s->class_id[y->of_class] : y->of_class),
                tutti__directory_source(&o->d, b));
    TUTTI_CHECK(x->check == y->check && x->weight == y->weight, TUTTI_ERR_MISMATCH,
                "%s id %lld has other %s on rank %d than on rank %d", s->what, (long long)x->number,
                s->checked ? s->checked : "values", tutti__directory_source(&o->d, b),
                tutti__directory_source(&o->d, a));
    return TUTTI_OK;
}

/* Mentions by number, of one number by ranks; what is there once is counted. */
static tutti_err range_count(ordering *o) {
    const tutti_count m = o->d.m, classes = o->spec->classes;
    o->groups = tutti__malloc(2 * (size_t)m * sizeof *o->groups);
    o->decision = tutti__malloc((size_t)m * sizeof *o->decision);
    if (!o->groups || !o->decision) return TUTTI_ERR_NOMEM;
    tutti__numbered *v = o->groups;
    for (tutti_count i = 0; i < m; i++) v[i] = (tutti__numbered){o->came[i].number, i};
    const tutti__numbered *w = tutti__numbered_sort(v, m, v + m);
    if (w != v) memcpy(v, w, (size_t)m * sizeof *v);
    for (tutti_count from = 0, to = 0; from < m; from = to) {
        const said *x = &o->came[v[from].index];
        for (to = from + 1; to < m && v[to].number == x->number; to++)
            TUTTI_TRY(same(o, v[from].index, v[to].index));
        o->sum[x->of_class]++;
        o->sum[classes + x->of_class] += x->weight;
    }
    return TUTTI_OK;
}

/* Everything of the ranges before has been counted. */
static void range_decide(ordering *o) {
    const tutti_count m = o->d.m, classes = o->spec->classes;
    const tutti__numbered *v = o->groups;
    for (tutti_count from = 0, to = 0; from < m; from = to) {
        const said *x = &o->came[v[from].index];
        const told t = {o->before[x->of_class]++, o->before[classes + x->of_class], 0};
        o->before[classes + x->of_class] += x->weight;
        for (to = from; to < m && v[to].number == x->number; to++) {
            o->decision[v[to].index] = t;
            o->decision[v[to].index].first = to == from;
        }
    }
}

/* ---- all of it */

static void ordering_free(ordering *o) {
    tutti__directory_free(&o->d);
    tutti__free(o->room);
    tutti__free(o->came);
    tutti__free(o->groups);
    tutti__free(o->decision);
    tutti__free(o->sum);
    tutti__free(o->before);
}

void tutti__ids_order_free(tutti__ids_order *o) {
    tutti__free(o->position);
    tutti__free(o->at);
    tutti__free(o->first);
    tutti__free(o->count);
    tutti__free(o->weights);
    tutti__free(o->before);
    *o = (tutti__ids_order){.lie = 0};
}

static tutti_err result_make(const tutti__ids_spec *s, tutti_count n, tutti__ids_order *out) {
    const size_t classes = (size_t)s->classes;
    out->position = tutti__malloc((size_t)n * sizeof *out->position);
    out->first = tutti__malloc((size_t)n);
    out->at = tutti__malloc((size_t)n * sizeof *out->at);
    out->count = tutti__calloc(classes, sizeof *out->count);
    out->weights = tutti__calloc(classes, sizeof *out->weights);
    out->before = tutti__calloc(classes + 1, sizeof *out->before);
    return out->position && out->first && out->at && out->count && out->weights && out->before
               ? TUTTI_OK
               : TUTTI_ERR_NOMEM;
}

/* Everything that needs no other rank. */
static tutti_err prepare(ordering *o, tutti__ids_order *out) {
    const tutti__ids_spec *s = o->spec;
    o->n = s->start[s->classes];
    o->sum = tutti__calloc(2 * (size_t)s->classes, sizeof *o->sum);
    o->before = tutti__calloc(2 * (size_t)s->classes, sizeof *o->before);
    if (!o->sum || !o->before) return TUTTI_ERR_NOMEM;
    TUTTI_TRY(result_make(s, o->n, out));
    return s->number ? numbers_sort(o) : TUTTI_OK;
}

static tutti_err by_lying(ordering *o, tutti__ids_order *out) {
    const tutti__ids_spec *s = o->spec;
    TUTTI_ASSERT(o->sum && o->before);
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++) {
            o->sum[c]++;
            o->sum[s->classes + c] += s->weight ? s->weight[i] : 0;
        }
    TUTTI_TRY(tutti__sums_before(o->team, 2 * s->classes, o->sum, o->before));
    for (tutti_count c = 0; c < s->classes; c++)
        for (tutti_count i = s->start[c]; i < s->start[c + 1]; i++) {
            out->position[i] = o->before[c]++;
            out->at[i] = o->before[s->classes + c];
            out->first[i] = 1;
            o->before[s->classes + c] += s->weight ? s->weight[i] : 0;
        }
    return TUTTI_OK;
}

static tutti_err ask(ordering *o) {
    int64_t *number = NULL;
    said *says = NULL;
    tutti_err err = tutti__team_agree(o->team, mentions_make(o, &number, &says));
    if (err == TUTTI_OK) err = tutti__directory_make(o->team, o->n, number, &o->d);
    tutti__free(number);
    if (err == TUTTI_OK) {
        o->came = tutti__malloc((size_t)o->d.m * sizeof *o->came);
        err = tutti__team_agree(o->team, o->came ? TUTTI_OK : TUTTI_ERR_NOMEM);
    }
    if (err == TUTTI_OK)
        err = tutti__directory_ask(o->team, &o->d, (int)sizeof *says, says, o->came);
    tutti__free(says);
    return err;
}

static tutti_err by_number(ordering *o, tutti__ids_order *out) {
    told *answer = NULL;
    TUTTI_TRY(ask(o));
    TUTTI_TRY(tutti__team_agree(o->team, range_count(o)));
    TUTTI_TRY(tutti__sums_before(o->team, 2 * o->spec->classes, o->sum, o->before));
    range_decide(o);
    answer = tutti__malloc((size_t)o->n * sizeof *answer);
    tutti_err err = tutti__team_agree(o->team, answer ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK)
        err = tutti__directory_answer(o->team, &o->d, (int)sizeof *answer, o->decision, answer);
    TUTTI_ASSERT(err != TUTTI_OK || (answer && out->position && out->at && out->first));
    for (tutti_count j = 0; j < o->n && err == TUTTI_OK; j++) {
        const tutti_count i = o->sorted[j].index;
        out->position[i] = answer[j].position;
        out->at[i] = answer[j].at;
        out->first[i] = answer[j].first != 0;
    }
    tutti__free(answer);
    return err;
}

tutti_err tutti__ids_order_make(tutti__team *t, const tutti__ids_spec *spec, tutti_err mine,
                                tutti__ids_order *out) {
    int64_t numbered = 0, implicit = 0; /* ranks that give ids, and that give none */
    const tutti__reduction all[] = {{TUTTI__SUM, &numbered}, {TUTTI__SUM, &implicit}};
    ordering o = {.team = t, .spec = spec};
    tutti__ids_order made = {.lie = 0};
    if (mine == TUTTI_OK) mine = prepare(&o, &made);
    if (mine == TUTTI_OK && o.n > 0) *(spec->number ? &numbered : &implicit) = 1;
    tutti_err err = tutti__team_reduce(t, mine, 2, all);
    if (err == TUTTI_OK && numbered > 0 && implicit > 0)
        err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1, "some ranks have %s ids and others none",
                               spec->what);
    made.lie = numbered == 0;
    if (err == TUTTI_OK) err = made.lie ? by_lying(&o, &made) : by_number(&o, &made);
    TUTTI_ASSERT(err != TUTTI_OK || (made.count && made.weights && made.before && o.sum));
    for (tutti_count c = 0; c < spec->classes && err == TUTTI_OK; c++) {
        made.count[c] = o.sum[c];
        made.weights[c] = o.sum[spec->classes + c];
        made.before[c + 1] = made.before[c] + made.count[c];
    }
    ordering_free(&o);
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
