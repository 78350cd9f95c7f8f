/* exodus_mesh: members of sets, to the ranks that they concern.
 *
 * All members of all sets of a kind are one list, and every rank reads a slice of it: however many sets
 * there are, that is one read.  A member goes to the home of its node (element), which sends it on to
 * the ranks that have it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "exodus_mesh/distribute.h"

/* The slice of this rank. */
typedef struct {
    tutti_exodus *x;
    tutti_exodus_kind kind;
    tutti_count *starts; /* [sets + 1] */
    tutti_count *blocks; /* [element blocks + 1], for sides */
    tutti_count first, n;
    tutti__member *member; /* [n] */
    int sided;             /* there is an array of sides (orientations) */
} slicing;

/* Set c as far as it is in the slice: *lo ... *hi - 1 of the set. */
static int set_in_slice(const slicing *s, tutti_count c, tutti_count *lo, tutti_count *hi) {
    *lo = tutti__max(s->starts[c], s->first) - s->starts[c];
    *hi = tutti__min(s->starts[c + 1], s->first + s->n) - s->starts[c];
    return *lo < *hi;
}

/* Add one array of the sets of the slice, and tell where its numbers will be. */
typedef struct {
    tutti_type type;
    tutti_count index;
} found;

/* Orientations of edges and faces may be missing. */
static int is_optional(tutti_exodus_kind kind, tutti_exodus_what what) {
    return what == TUTTI_EXODUS_SIDES && kind != TUTTI_EXODUS_SIDE_SET;
}

static tutti_err array_add(slicing *s, tutti_exodus_what what, tutti__values *b, found *at) {
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    tutti_count lo, hi;
    TUTTI_ASSERT(s->starts && at);
    for (tutti_count c = tutti__interval_of(s->starts, table->n, s->first);
         c < table->n && s->starts[c] < s->first + s->n; c++) {
        const tutti_exodus_array a = {.what = what, .kind = s->kind, .id = table->row[c].id};
        tutti__exodus_place place;
        tutti_count index = 0;
        if (!set_in_slice(s, c, &lo, &hi)) continue;
        const tutti_err err = tutti__exodus_place_of(s->x, &a, &place);
        if (err == TUTTI_ERR_NOT_FOUND && is_optional(s->kind, what)) continue;
        TUTTI_TRY(err);
        TUTTI_TRY(tutti__values_add(b, &place, lo, hi - lo, &index, NULL));
        for (tutti_count i = lo; i < hi; i++)
            at[s->starts[c] + i - s->first] = (found){place.type, index + i - lo};
    }
    return TUTTI_OK;
}

static tutti_err member_check(const slicing *s, tutti_count i) {
    const tutti_exodus_parameters *p = &s->x->model.p;
    const tutti_exodus_kind of = tutti__members_of(s->kind);
    const tutti_count most = of == TUTTI_EXODUS_NODAL        ? p->nodes
                             : of == TUTTI_EXODUS_EDGE_BLOCK ? p->edges
                             : of == TUTTI_EXODUS_FACE_BLOCK ? p->faces
                                                             : p->elements;
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    const tutti_count c = tutti__interval_of(s->starts, table->n, s->first + i);
    TUTTI_CHECK(s->member[i].position >= 0 && s->member[i].position < most, TUTTI_ERR_FORMAT,
                "%s %lld: member %lld is %lld, and the file has %lld of them",
                tutti_exodus_kind_name((int)s->kind), (long long)table->row[c].id,
                (long long)(s->first + i - s->starts[c]), (long long)s->member[i].position + 1,
                (long long)most);
    return TUTTI_OK;
}

static tutti_err slice_read(slicing *s) {
    tutti__values b = {.n = 0};
    found *at = tutti__calloc(2 * (size_t)s->n + 1, sizeof *at);
    tutti_err mine = at ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (mine == TUTTI_OK) mine = array_add(s, TUTTI_EXODUS_MEMBERS, &b, at);
    if (mine == TUTTI_OK && s->sided) mine = array_add(s, TUTTI_EXODUS_SIDES, &b, at + s->n);
    tutti_err err = tutti__values_move(s->x, &b, 0, 0, NULL, mine);
    mine = TUTTI_OK;
    TUTTI_ASSERT((at && s->member) || err != TUTTI_OK);
    for (tutti_count i = 0; i < s->n && err == TUTTI_OK && mine == TUTTI_OK; i++) {
        const found *m = &at[i], *side = &at[s->n + i];
        s->member[i] = (tutti__member){.index = s->first + i,
                                       .position = tutti__values_ints(&b, m->type)[m->index] - 1,
                                       .weight = 1};
        if (s->sided)
            s->member[i].side = side->type == TUTTI_BYTES
                                    ? 1
                                    : (int32_t)tutti__values_ints(&b, side->type)[side->index];
        mine = member_check(s, i);
    }
    if (err == TUTTI_OK) err = tutti__exodus_agree(s->x, mine);
    tutti__free(at);
    tutti__values_free(&b);
    return err;
}

/* ---- factors of sides: as many as the topology says, one member's behind the other's */

static int any_factors(const tutti__exodus_table *table) {
    for (tutti_count c = 0; c < table->n; c++)
        if (table->row[c].factors > 0) return 1;
    return 0;
}

static int32_t weight_of(const slicing *s, const tutti__member *m) {
    const tutti__exodus_table *table = &s->x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti_count b = tutti__interval_of(s->blocks, table->n, m->position);
    const int n = tutti__side_nodes_of(&s->x->model, &table->row[b], INT64_MAX, m->side);
    return n > 0 ? n : 0;
}

/* Other programs write sets with fewer or more factors than there should be: these are ignored, with a warning.   The same on
 * all ranks. */
static void factors_compare(const slicing *s, const int64_t *expected) {
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    char *warning = s->x->mesh_warning;
    for (tutti_count c = 0; c < table->n && !warning[0]; c++) {
        const tutti_count should = expected ? expected[c] : table->row[c].entries;
        if (table->row[c].factors == 0 || table->row[c].factors == should) continue;
        snprintf(warning, sizeof s->x->mesh_warning,
                 "%s %lld has %lld distribution factors and should have %lld: they are ignored",
                 tutti_exodus_kind_name((int)s->kind), (long long)table->row[c].id,
                 (long long)table->row[c].factors, (long long)should);
    }
}

/* Factors of members and not of sides: one each. */
static void member_factors(slicing *s) {
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    factors_compare(s, NULL);
    for (tutti_count i = 0; i < s->n; i++) {
        const tutti_count c = tutti__interval_of(s->starts, table->n, s->first + i);
        s->member[i].at = table->row[c].factors == table->row[c].entries
                              ? s->member[i].index - s->starts[c]
                              : NO_FACTORS;
    }
}

static tutti_err side_factors(slicing *s) {
    const tutti_count sets = s->x->model.of[s->kind].n;
    int64_t *sum = tutti__calloc(2 * (size_t)sets + 1, sizeof *sum), *before = sum + sets;
    s->blocks = tutti__starts_of(&s->x->model, TUTTI_EXODUS_ELEMENT_BLOCK);
    tutti_err err = tutti__exodus_agree(s->x, sum && s->blocks ? TUTTI_OK : TUTTI_ERR_NOMEM);
    TUTTI_ASSERT(sum || err != TUTTI_OK);
    for (tutti_count i = 0; i < s->n && err == TUTTI_OK; i++) {
        s->member[i].weight = weight_of(s, &s->member[i]);
        sum[tutti__interval_of(s->starts, sets, s->first + i)] += s->member[i].weight;
    }
    if (err == TUTTI_OK) err = tutti__sums_before(s->x->team, TUTTI_OK, sets, sum, before);
    if (err == TUTTI_OK) factors_compare(s, sum);
    for (tutti_count i = 0; i < s->n && err == TUTTI_OK; i++) {
        const tutti_count c = tutti__interval_of(s->starts, sets, s->first + i);
        const int fits = sum[c] == s->x->model.of[s->kind].row[c].factors;
        s->member[i].at = fits ? before[c] : NO_FACTORS;
        before[c] += s->member[i].weight;
    }
    tutti__free(sum);
    return err;
}

/* ---- on their way */

static tutti_err to_homes(slicing *s, tutti_count all, tutti_count *n_out, tutti__member **out) {
    int *to = tutti__malloc((size_t)(s->n + 1) * sizeof *to);
    for (tutti_count i = 0; i < s->n && to; i++)
        to[i] = tutti__share_rank(all, s->x->team->size, s->member[i].position);
    const tutti_err err =
        tutti__send_records(s->x->team, to ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *s->member, s->n,
                            s->member, to, n_out, (void **)out);
    tutti__free(to);
    return err;
}

static tutti_err copies_make(const tutti__incidence *h, tutti_count n, const tutti__member *at_home,
                             tutti_count *n_out, tutti__member **copies_out, int **to_out) {
    tutti_count all = 0, k = 0;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count at = at_home[i].position - h->first;
        all += h->start[at + 1] - h->start[at];
    }
    tutti__member *copies = *copies_out = tutti__malloc((size_t)(all + 1) * sizeof *copies);
    int *to = *to_out = tutti__malloc((size_t)(all + 1) * sizeof *to);
    if (!copies || !to) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count at = at_home[i].position - h->first;
        for (tutti_count q = h->start[at]; q < h->start[at + 1]; q++) {
            copies[k] = at_home[i];
            to[k++] = (int)(h->with[q] / 2);
        }
    }
    *n_out = all;
    return TUTTI_OK;
}

/* By index. */
static tutti_err members_sort(tutti_count n, tutti__member **v) {
    tutti__numbered *order = tutti__malloc(2 * (size_t)(n + 1) * sizeof *order);
    tutti__member *out = tutti__malloc((size_t)(n + 1) * sizeof *out);
    if (!order || !out) {
        tutti__free(order);
        tutti__free(out);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n; i++) order[i] = (tutti__numbered){(*v)[i].index, i};
    const tutti__numbered *sorted = tutti__numbered_sort(order, n, order + n);
    for (tutti_count i = 0; i < n; i++) out[i] = (*v)[sorted[i].index];
    tutti__free(order);
    tutti__free(*v);
    *v = out;
    return TUTTI_OK;
}

static tutti_err deal(slicing *s, const tutti__incidence *holders, tutti_count *n_out,
                      tutti__member **out) {
    tutti__member *at_home = NULL, *copies = NULL;
    tutti_count n = 0, all = 0;
    int *to = NULL;
    TUTTI_TRY(slice_read(s));
    if (s->kind != TUTTI_EXODUS_SIDE_SET)
        member_factors(s);
    else if (any_factors(&s->x->model.of[s->kind]))
        TUTTI_TRY(side_factors(s));
    TUTTI_TRY(to_homes(s, holders->all, &n, &at_home));
    const tutti_err mine = copies_make(holders, n, at_home, &all, &copies, &to);
    tutti_err err =
        tutti__send_records(s->x->team, mine, sizeof *copies, all, copies, to, n_out, (void **)out);
    tutti__free(at_home);
    tutti__free(copies);
    tutti__free(to);
    if (err == TUTTI_OK) {
        err = tutti__exodus_agree(s->x, members_sort(*n_out, out));
        if (err != TUTTI_OK) {
            tutti__free(*out);
            *out = NULL;
            *n_out = 0;
        }
    }
    return err;
}

tutti_err tutti__members_deal(tutti_exodus *x, tutti_exodus_kind kind,
                              const tutti__incidence *holders, tutti_count *n_out,
                              tutti__member **out) {
    const tutti__exodus_table *table = &x->model.of[kind];
    slicing s = {.x = x,
                 .kind = kind,
                 .sided = kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET};
    s.starts = tutti__starts_of(&x->model, kind);
    tutti_err mine = s.starts ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (mine == TUTTI_OK) {
        s.first = tutti_size_share(s.starts[table->n], x->team->size, x->team->rank);
        s.n = tutti_size_share(s.starts[table->n], x->team->size, x->team->rank + 1) - s.first;
        s.member = tutti__malloc((size_t)(s.n + 1) * sizeof *s.member);
        if (!s.member) mine = TUTTI_ERR_NOMEM;
    }
    tutti_err err = tutti__exodus_agree(x, mine);
    if (err == TUTTI_OK) err = deal(&s, holders, n_out, out);
    tutti__free(s.starts);
    tutti__free(s.blocks);
    tutti__free(s.member);
    return err;
}
