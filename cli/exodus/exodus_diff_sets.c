/* tutti exodus diff: members of sets, matched by the ids of their entries, with their distribution factors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/diff.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members on this rank, in one file, of all sets of a kind that both files have. */
typedef struct {
    tutti_count n;
    exodus_item *item;
    double *factor;
} members;

/* Return the number of entries of an array; 0: the file does not have the array. */
static tutti_count array_entries(const tutti_exodus *x, int what, const tutti_exodus_entity *e) {
    const tutti_exodus_array a = {
        .array_kind = (tutti_exodus_array_kind)what, .kind = e->kind, .id = e->id};
    tutti_count entries, numbers;
    tutti_type type;
    return tutti_exodus_array_size(x, &a, &entries, &numbers, &type) == TUTTI_OK ? entries : 0;
}

/* Return the number of nodes of a side of the element at position `place` of the file. */
static int width_of(const exodus_outline *o, tutti_count place, int64_t side) {
    const exodus_table *t = &o->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    for (tutti_count i = 0; i < t->n; i++) {
        if (place < t->entity[i].entries)
            return exodus_side_nodes(o, &t->entity[i], (int)side, NULL);
        place -= t->entity[i].entries;
    }
    return 0;
}

/* Return the set of file f that corresponds to set i of the first file; NULL: file f has none. */
static const tutti_exodus_entity *set_of(const exodus_comparison *k, int f, int kind,
                                         tutti_count i) {
    const tutti_count other = exodus_other(k, kind, i);
    if (other < 0) return NULL;
    return &k->o[f].of[kind].entity[f == 0 ? i : other];
}

/* Read members and sides of all sets in one operation. */
static int members_read(exodus_comparison *k, int f, int kind, members *out) {
    const tutti_count sets = k->o[0].of[kind].n;
    tutti_exodus_array *a = cli_malloc(2 * (size_t)sets * sizeof *a);
    tutti_count arrays = 0, first, n;
    *out = (members){.n = 0};
    for (tutti_count i = 0; i < sets; i++)
        if (set_of(k, f, kind, i)) {
            exodus_share(k->world, set_of(k, f, kind, i)->entries, &first, &n);
            out->n += n;
        }
    int64_t *member = cli_malloc(2 * (size_t)out->n * sizeof *member), *side = member + out->n;
    int64_t *id = cli_malloc((size_t)out->n * sizeof *id);
    memset(side, 0, (size_t)out->n * sizeof *side);
    out->item = cli_malloc((size_t)out->n * sizeof *out->item);
    tutti_count at = 0;
    for (tutti_count i = 0; i < sets; i++) {
        const tutti_exodus_entity *e = set_of(k, f, kind, i);
        if (!e || !array_entries(k->x[f], TUTTI_EXODUS_MEMBERS, e)) continue;
        exodus_share(k->world, e->entries, &first, &n);
        a[arrays++] = exodus_integers(TUTTI_EXODUS_MEMBERS, kind, e->id, first, n, member + at);
        if (array_entries(k->x[f], TUTTI_EXODUS_SIDES, e))
            a[arrays++] = exodus_integers(TUTTI_EXODUS_SIDES, kind, e->id, first, n, side + at);
        for (tutti_count j = 0; j < n; j++)
            out->item[at + j] = (exodus_item){.group = i, .place = first + j, .file = f};
        at += n;
    }
    out->n = at;
    int failed = arrays > 0 && tutti_exodus_get_arrays(k->x[f], arrays, a) != TUTTI_OK;
    if (failed) cli_error_tutti();
    for (tutti_count j = 0; j < at && !failed; j++) member[j] = exodus_place_of_number(member[j]);
    if (!failed) failed = exodus_ids_at(k->x[f], exodus_member_kind(kind), at, member, id);
    for (tutti_count j = 0; j < at && !failed; j++) {
        out->item[j].id = id[j];
        out->item[j].side = side[j];
        /* position of the member; later replaced by the start of its factors */
        out->item[j].at = member[j];
    }
    free(a);
    free(member);
    free(id);
    return failed;
}

/* Files of other programs may have fewer or more factors than the members need.  The first members keep
 * their factors and the last member gets the rest, so that all factors are compared.
 * begin and n: on input from factors_count, on output as the file has them. */
static void factors_fit(const exodus_comparison *k, int f, int kind, members *m, tutti_count *begin,
                        tutti_count *n) {
    const tutti_count sets = k->o[0].of[kind].n;
    tutti_count *at = cli_malloc(2 * (size_t)sets * sizeof *at), *size = at + sets;
    int64_t *need = cli_malloc((size_t)sets * sizeof *need);
    for (tutti_count i = 0; i < sets; i++) {
        const tutti_exodus_entity *e = set_of(k, f, kind, i);
        size[i] = e ? array_entries(k->x[f], TUTTI_EXODUS_FACTORS, e) : 0;
        need[i] = n[i];
        at[i] = begin[i];
        n[i] = 0;
        if (begin[i] > size[i]) begin[i] = size[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, need, (int)sets, MPI_INT64_T, MPI_SUM, k->world->comm);
    for (tutti_count j = 0; j < m->n; j++) {
        exodus_item *v = &m->item[j];
        const tutti_exodus_entity *e = set_of(k, f, kind, v->group);
        const tutti_count rest = at[v->group] < size[v->group] ? size[v->group] - at[v->group] : 0;
        at[v->group] += v->factors;
        if (v->factors > rest || v->place == e->entries - 1)
            v->factors = (int)(rest < INT_MAX ? rest : INT_MAX);
        n[v->group] += v->factors;
    }
    for (tutti_count i = 0; i < sets && k->world->rank == 0; i++)
        if (need[i] != size[i])
            fprintf(stderr,
                    "tutti diff: '%s': %s %lld has %lld distribution factors, its members need "
                    "%lld\n",
                    k->config->path[f], tutti_exodus_kind_name(kind),
                    (long long)set_of(k, f, kind, i)->id, (long long)size[i], (long long)need[i]);
    free(at);
    free(need);
}

/* Set the number of factors of each member; begin: start of this rank's factors in each set. */
static void factors_count(const exodus_comparison *k, int f, int kind, members *m,
                          tutti_count *begin, tutti_count *n) {
    const tutti_count sets = k->o[0].of[kind].n;
    memset(n, 0, (size_t)sets * sizeof *n);
    memset(begin, 0, (size_t)sets * sizeof *begin);
    for (tutti_count j = 0; j < m->n; j++) {
        exodus_item *v = &m->item[j];
        const tutti_exodus_entity *e = set_of(k, f, kind, v->group);
        v->factors = !e || !array_entries(k->x[f], TUTTI_EXODUS_FACTORS, e) ? 0
                     : kind == TUTTI_EXODUS_SIDE_SET ? width_of(&k->o[f], v->at, v->side)
                                                     : 1;
        n[v->group] += v->factors;
    }
    MPI_Exscan(n, begin, (int)sets, MPI_INT64_T, MPI_SUM, k->world->comm);
    if (k->world->rank == 0) memset(begin, 0, (size_t)sets * sizeof *begin);
    factors_fit(k, f, kind, m, begin, n);
}

static int factors_read(exodus_comparison *k, int f, int kind, members *m) {
    const tutti_count sets = k->o[0].of[kind].n;
    tutti_count *begin = cli_malloc(2 * (size_t)sets * sizeof *begin), *n = begin + sets, all = 0;
    tutti_exodus_array *a = cli_malloc((size_t)sets * sizeof *a);
    tutti_count arrays = 0, at = 0;
    factors_count(k, f, kind, m, begin, n);
    for (tutti_count i = 0; i < sets; i++) all += n[i];
    m->factor = cli_malloc((size_t)all * sizeof *m->factor);
    for (tutti_count i = 0; i < sets; i++) {
        const tutti_exodus_entity *e = set_of(k, f, kind, i);
        if (!e || !array_entries(k->x[f], TUTTI_EXODUS_FACTORS, e)) continue;
        a[arrays] = exodus_integers(TUTTI_EXODUS_FACTORS, kind, e->id, begin[i], n[i], NULL);
        a[arrays].type = TUTTI_FLOAT64;
        a[arrays++].buf = m->factor + at;
        at += n[i];
    }
    const tutti_err err = arrays > 0 ? tutti_exodus_get_arrays(k->x[f], arrays, a) : TUTTI_OK;
    free(begin);
    free(a);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- comparison */

static void factors_compare(exodus_comparison *k, int kind, const exodus_pairs *p) {
    const int outcome = exodus_outcome_of(k, "factors", tutti_exodus_kind_name(kind));
    exodus_outcome *o = &k->outcome[outcome];
    for (tutti_count i = 0; i < p->n; i++) {
        const exodus_pair *v = &p->v[i];
        const int n = v->factors[0] < v->factors[1] ? v->factors[0] : v->factors[1];
        for (int j = 0; j < n; j++) {
            const double a = p->factor[v->at[0] + j], b = p->factor[v->at[1] + j];
            char where[100];
            if (!exodus_outcome_add(o, a, b)) continue;
            exodus_place_text(kind, v->id, v->side, where, sizeof where);
            snprintf(o->place, sizeof o->place, "at %s of set %lld: %.10g and %.10g", where,
                     (long long)k->o[0].of[kind].entity[v->group].id, a, b);
        }
    }
}

/* Store the common members, for variables and attributes. */
static int common_sets(exodus_comparison *k, int kind, exodus_pairs *p) {
    const exodus_table *t = &k->o[0].of[kind];
    tutti_count n = 0, at = 0;
    int failed = 0;
    for (tutti_count i = 0; i < p->n; i++)
        if (p->v[i].place[0] >= 0 && p->v[i].place[1] >= 0) p->v[n++] = p->v[i];
    k->common[kind] = cli_malloc((size_t)t->n * sizeof *k->common[kind]);
    memset(k->common[kind], 0, (size_t)t->n * sizeof *k->common[kind]);
    k->commons[kind] = t->n;
    for (tutti_count i = 0; i < t->n && !failed; i++) {
        tutti_count end = at;
        int wanted = t->entity[i].attributes > 0;
        while (end < n && p->v[end].group == i) end++;
        for (int v = 0; v < t->variables; v++) wanted |= t->has[i * t->variables + v];
        if (wanted && exodus_other(k, kind, i) >= 0)
            failed = exodus_common_make(k, kind, i, p->v + at, end - at, &k->common[kind][i]);
        if (!failed && wanted && exodus_other(k, kind, i) >= 0 && t->entity[i].attributes > 0)
            failed = exodus_compare_arrays(
                k, &k->common[kind][i],
                exodus_outcome_of(k, "attributes", tutti_exodus_kind_name(kind)),
                (tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES,
                                     .kind = t->entity[i].kind,
                                     .id = t->entity[i].id});
        at = end;
    }
    return failed;
}

static int kind_compare(exodus_comparison *k, int kind) {
    members m[2] = {{.n = 0}, {.n = 0}};
    exodus_pairs p = {.n = 0};
    int failed = 0;
    if (k->o[0].of[kind].n == 0) return 0;
    for (int f = 0; f < 2 && !failed; f++)
        failed = members_read(k, f, kind, &m[f]) || factors_read(k, f, kind, &m[f]);
    if (!failed) {
        tutti_count n[2] = {0, 0};
        for (int f = 0; f < 2; f++)
            for (tutti_count i = 0; i < m[f].n; i++) n[f] += m[f].item[i].factors;
        exodus_item *item = cli_malloc((size_t)(m[0].n + m[1].n) * sizeof *item);
        double *factor = cli_malloc((size_t)(n[0] + n[1]) * sizeof *factor);
        for (int f = 0; f < 2; f++) {
            if (m[f].n > 0)
                memcpy(item + (f ? m[0].n : 0), m[f].item, (size_t)m[f].n * sizeof *item);
            if (n[f] > 0)
                memcpy(factor + (f ? n[0] : 0), m[f].factor, (size_t)n[f] * sizeof *factor);
        }
        exodus_pairs_find(k->world, item, m[0].n + m[1].n, factor, &p);
        free(item);
        free(factor);
        /* Report members that only one file has, set by set. */
        const tutti_count sets = k->o[0].of[kind].n;
        int64_t *count = cli_malloc(4 * (size_t)sets * sizeof *count), *first = count + 2 * sets;
        for (tutti_count i = 0; i < 2 * sets; i++) {
            count[i] = 0;
            first[i] = INT64_MAX;
        }
        for (tutti_count i = 0; i < p.n; i++)
            for (int f = 0; f < 2; f++)
                if (p.v[i].place[1 - f] < 0) {
                    int64_t *at = &first[2 * p.v[i].group + f];
                    count[2 * p.v[i].group + f]++;
                    if (p.v[i].id < *at) *at = p.v[i].id;
                }
        MPI_Allreduce(MPI_IN_PLACE, count, (int)(2 * sets), MPI_INT64_T, MPI_SUM, k->world->comm);
        MPI_Allreduce(MPI_IN_PLACE, first, (int)(2 * sets), MPI_INT64_T, MPI_MIN, k->world->comm);
        for (tutti_count i = 0; i < 2 * sets; i++)
            if (count[i] > 0) {
                char where[100];
                exodus_place_text(exodus_member_kind(kind), first[i], 0, where, sizeof where);
                exodus_only(k, cli_format("%s %lld: %lld member%s only in %s, the first is %s",
                                          tutti_exodus_kind_name(kind),
                                          (long long)k->o[0].of[kind].entity[i / 2].id,
                                          (long long)count[i], count[i] == 1 ? "" : "s",
                                          k->config->path[i % 2], where));
            }
        free(count);
        factors_compare(k, kind, &p);
        failed = common_sets(k, kind, &p);
    }
    exodus_pairs_free(&p);
    for (int f = 0; f < 2; f++) {
        free(m[f].item);
        free(m[f].factor);
    }
    return failed;
}

int exodus_diff_sets(exodus_comparison *k) {
    for (int kind = TUTTI_EXODUS_NODE_SET; kind <= TUTTI_EXODUS_FACE_SET; kind++)
        if (kind_compare(k, kind)) return 1;
    return 0;
}
