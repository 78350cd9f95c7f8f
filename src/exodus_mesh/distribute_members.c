/* exodus_mesh: members of sets, sent to the ranks that have their nodes or elements.
 *
 * The members of all sets of a kind form one list, of which every rank reads a slice, so that one
 * read is enough for all sets.  A member is sent to the rank whose share contains its node
 * (element); that rank sends it to the ranks that have the node (element).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "exodus_mesh/distribute.h"

/* Type and index of a value among the values to read. */
typedef struct {
    tutti_type type;
    tutti_count index;
} found;

/* This rank's slice of the members of one kind of sets. */
typedef struct {
    tutti_exodus *x;
    tutti_exodus_kind kind;
    tutti_count *starts; /* [sets + 1] number of members of the preceding sets */
    /* [element blocks + 1] number of elements of the preceding blocks, for sides */
    tutti_count *blocks;
    tutti_count first, n;
    tutti__member *member; /* [n] */
    found *at;             /* [2 n] location of members, then of sides */
    int sided;             /* whether a set has an array of sides (orientations) */
} slicing;

/* Add an array of the sets in the slice to the values to be read. */
static tutti_err slice_add(slicing *s, tutti_exodus_array_kind what, tutti__values *b, found *at) {
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    tutti_count lo, hi;
    TUTTI_ASSERT(s->starts && at);
    for (tutti_count c = tutti__interval_of(s->starts, table->n, s->first);
         c < table->n && s->starts[c] < s->first + s->n; c++) {
        const tutti_exodus_array a = {.array_kind = what, .kind = s->kind, .id = table->row[c].id};
        tutti__exodus_place place;
        tutti_count index = 0;
        lo = tutti__max(s->starts[c], s->first) - s->starts[c];
        hi = tutti__min(s->starts[c + 1], s->first + s->n) - s->starts[c];
        if (lo >= hi) continue;
        const tutti_err err = tutti__exodus_place_of(s->x, &a, &place);
        if (err == TUTTI_ERR_NOT_FOUND && what == TUTTI_EXODUS_SIDES &&
            s->kind != TUTTI_EXODUS_SIDE_SET)
            continue; /* orientations of edges and faces may be missing */
        TUTTI_TRY(err);
        TUTTI_TRY(tutti__values_add(b, &place, lo, hi - lo, &index, NULL));
        for (tutti_count i = lo; i < hi; i++)
            at[s->starts[c] + i - s->first] = (found){place.type, index + i - lo};
    }
    return TUTTI_OK;
}

/* Convert the values read to the members of a slice. */
static tutti_err slice_take(slicing *s, const tutti__values *b) {
    for (tutti_count i = 0; i < s->n; i++) {
        const found *m = &s->at[i], *side = &s->at[s->n + i];
        s->member[i] = (tutti__member){.index = s->first + i,
                                       .position = tutti__values_ints(b, m->type)[m->index] - 1,
                                       .weight = 1,
                                       .kind = s->kind};
        if (s->sided)
            s->member[i].side = side->type == TUTTI_BYTES
                                    ? 1
                                    : (int32_t)tutti__values_ints(b, side->type)[side->index];
        const tutti_exodus_parameters *p = &s->x->model.p;
        const tutti_exodus_kind of = tutti__members_of(s->kind);
        const tutti_count most = of == TUTTI_EXODUS_NODAL        ? p->nodes
                                 : of == TUTTI_EXODUS_EDGE_BLOCK ? p->edges
                                 : of == TUTTI_EXODUS_FACE_BLOCK ? p->faces
                                                                 : p->elements;
        const tutti__exodus_table *table = &s->x->model.of[s->kind];
        const tutti_count c = tutti__interval_of(s->starts, table->n, s->first + i);
        TUTTI_CHECK(s->member[i].position >= 0 && s->member[i].position < most, TUTTI_ERR_FORMAT,
                    "%s %lld: member %lld refers to entry %lld, but the file has %lld entries",
                    tutti_exodus_kind_name((int)s->kind), (long long)table->row[c].id,
                    (long long)(s->first + i - s->starts[c]), (long long)s->member[i].position + 1,
                    (long long)most);
    }
    return TUTTI_OK;
}

/* Read the slices of all kinds in one operation.   Collective. */
static tutti_err slices_read(tutti_exodus *x, slicing *slices, tutti_err local_err) {
    tutti__values b = {.n = 0};
    for (int k = 0; k < TUTTI__SET_KINDS && local_err == TUTTI_OK; k++) {
        slicing *s = &slices[k];
        if (s->n == 0) continue;
        local_err = slice_add(s, TUTTI_EXODUS_MEMBERS, &b, s->at);
        if (local_err == TUTTI_OK && s->sided)
            local_err = slice_add(s, TUTTI_EXODUS_SIDES, &b, s->at + s->n);
    }
    local_err = tutti__values_move(x, &b, 0, 0, NULL, local_err);
    for (int k = 0; k < TUTTI__SET_KINDS && local_err == TUTTI_OK; k++)
        local_err = slice_take(&slices[k], &b);
    tutti__values_free(&b);
    return local_err;
}

/* ---- factors of sides: their number is given by the topology; stored member by member */

/* Set a warning about sets with too few or too many factors, which other programs write; these
 * factors are ignored.  The warning is the same on all ranks. */
static void warn_of_factors(const slicing *s, const int64_t *expected) {
    const tutti__exodus_table *table = &s->x->model.of[s->kind];
    char *warning = s->x->mesh_warning;
    for (tutti_count c = 0; c < table->n && !warning[0]; c++) {
        const tutti_count should = expected ? expected[c] : table->row[c].entries;
        if (table->row[c].factors == 0 || table->row[c].factors == should) continue;
        snprintf(warning, sizeof s->x->mesh_warning,
                 "%s %lld has %lld distribution factors, expected %lld: they are ignored",
                 tutti_exodus_kind_name((int)s->kind), (long long)table->row[c].id,
                 (long long)table->row[c].factors, (long long)should);
    }
}

/* Determine the number and the index of the factors of each side.   Collective. */
static tutti_err side_factors(slicing *s, tutti_err err) {
    const tutti_count sets = s->x->model.of[s->kind].n;
    int64_t *sum = tutti__calloc(2 * (size_t)sets + 1, sizeof *sum), *before = sum + sets;
    s->blocks = tutti__starts_of(&s->x->model, TUTTI_EXODUS_ELEMENT_BLOCK);
    if (err == TUTTI_OK && (!sum || !s->blocks)) err = TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < s->n && err == TUTTI_OK; i++) {
        const tutti__exodus_table *blocks = &s->x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK];
        const tutti_count b = tutti__interval_of(s->blocks, blocks->n, s->member[i].position);
        s->member[i].weight = tutti__max(
            tutti__side_nodes_of(&s->x->model, &blocks->row[b], INT64_MAX, s->member[i].side), 0);
        sum[tutti__interval_of(s->starts, sets, s->first + i)] += s->member[i].weight;
    }
    err = tutti__checksums_before(s->x->team, err, sets, sum, before);
    if (err == TUTTI_OK) warn_of_factors(s, sum);
    for (tutti_count i = 0; i < s->n && err == TUTTI_OK; i++) {
        const tutti_count c = tutti__interval_of(s->starts, sets, s->first + i);
        const int fits = sum[c] == s->x->model.of[s->kind].row[c].factors;
        s->member[i].at = fits ? before[c] : NO_FACTORS;
        before[c] += s->member[i].weight;
    }
    tutti__free(sum);
    return err;
}

/* ---- exchange */

/* Send the members of all slices to the ranks whose shares contain their entries.   Collective. */
static tutti_err send_to_shares(const slicing *slices, const tutti__holders *const *holders,
                                tutti_err local_err, tutti_count *n_out, tutti__member **out) {
    tutti__team *t = slices[0].x->team;
    tutti_count n = 0, at = 0;
    for (int k = 0; k < TUTTI__SET_KINDS; k++) n += slices[k].n;
    tutti__member *all = tutti__malloc((size_t)(n + 1) * sizeof *all);
    int *to = tutti__malloc((size_t)(n + 1) * sizeof *to);
    if (!all || !to) local_err = TUTTI_ERR_NOMEM;
    for (int k = 0; k < TUTTI__SET_KINDS && local_err == TUTTI_OK; k++) {
        const slicing *s = &slices[k];
        const tutti__holders *h = holders[tutti__members_of(s->kind)];
        for (tutti_count i = 0; i < s->n; i++, at++) {
            all[at] = s->member[i];
            to[at] = tutti__share_rank(h->all, t->size, all[at].position);
        }
    }
    local_err = tutti__send_records(t, local_err, sizeof *all, n, all, to, n_out, (void **)out);
    tutti__free(all);
    tutti__free(to);
    return local_err;
}

/* Copy each member for each rank that has its entry. */
static tutti_err copies_make(const tutti__holders *const *holders, tutti_count n,
                             const tutti__member *in, tutti_count *n_out,
                             tutti__member **copies_out, int **to_out) {
    tutti_count all = 0, k = 0;
    for (tutti_count i = 0; i < n; i++) {
        const tutti__holders *h = holders[tutti__members_of((tutti_exodus_kind)in[i].kind)];
        all += tutti__holders_find(h, in[i].position)->holders_n;
    }
    tutti__member *copies = *copies_out = tutti__malloc((size_t)(all + 1) * sizeof *copies);
    int *to = *to_out = tutti__malloc((size_t)(all + 1) * sizeof *to);
    if (!copies || !to) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) {
        const tutti__holders *h = holders[tutti__members_of((tutti_exodus_kind)in[i].kind)];
        const tutti__id_interval *v = tutti__holders_find(h, in[i].position);
        for (tutti_count q = 0; q < v->holders_n; q++) {
            copies[k] = in[i];
            to[k++] = h->holder[v->holders + q] / 2;
        }
    }
    *n_out = all;
    return TUTTI_OK;
}

/* Sort members by kind, then by index. */
static tutti_err members_sort(tutti_count n, tutti__member **v) {
    tutti__numbered *order = tutti__malloc(2 * (size_t)(n + 1) * sizeof *order);
    tutti__member *out = tutti__malloc((size_t)(n + 1) * sizeof *out);
    if (!order || !out) {
        tutti__free(order);
        tutti__free(out);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n; i++) order[i] = (tutti__numbered){(*v)[i].index, i};
    tutti__numbered *sorted = tutti__numbered_sort(order, n, order + n);
    for (tutti_count i = 0; i < n; i++) sorted[i].number = (*v)[sorted[i].index].kind;
    sorted = tutti__numbered_sort(sorted, n, sorted == order ? order + n : order);
    for (tutti_count i = 0; i < n; i++) out[i] = (*v)[sorted[i].index];
    tutti__free(order);
    tutti__free(*v);
    *v = out;
    return TUTTI_OK;
}

static tutti_err exchange_members(const slicing *slices, const tutti__holders *const *holders,
                                  tutti_err local_err, tutti_count *n_out, tutti__member **out) {
    tutti__member *in = NULL, *copies = NULL;
    tutti_count n = 0, all = 0;
    int *to = NULL;
    TUTTI_TRY(send_to_shares(slices, holders, local_err, &n, &in));
    local_err = copies_make(holders, n, in, &all, &copies, &to);
    local_err = tutti__send_records(slices[0].x->team, local_err, sizeof *copies, all, copies, to,
                                    n_out, (void **)out);
    tutti__free(in);
    tutti__free(copies);
    tutti__free(to);
    return local_err == TUTTI_OK ? members_sort(*n_out, out) : local_err;
}

static tutti_err slice_begin(tutti_exodus *x, tutti_exodus_kind kind, slicing *s) {
    const tutti__team *t = x->team;
    s->sided = kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET;
    s->starts = tutti__starts_of(&x->model, kind);
    if (!s->starts) return TUTTI_ERR_NOMEM;
    const tutti_count all = s->starts[x->model.of[kind].n];
    s->first = tutti_size_share(all, t->size, t->rank);
    s->n = tutti_size_share(all, t->size, t->rank + 1) - s->first;
    s->member = tutti__malloc((size_t)(s->n + 1) * sizeof *s->member);
    s->at = tutti__calloc(2 * (size_t)s->n + 1, sizeof *s->at);
    return s->member && s->at ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__distribute_members(tutti_exodus *x, tutti_err local_err,
                                    const tutti__holders *const *holders, tutti_count *n_out,
                                    tutti__member **out) {
    slicing slices[TUTTI__SET_KINDS] = {{.x = x}};
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        slices[k] = (slicing){.x = x, .kind = tutti__set_kinds[k]};
        if (local_err == TUTTI_OK && holders[tutti__members_of(tutti__set_kinds[k])])
            local_err = slice_begin(x, tutti__set_kinds[k], &slices[k]);
    }
    local_err = slices_read(x, slices, local_err);
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        slicing *s = &slices[k];
        int any_factors = 0;
        for (tutti_count c = 0; c < x->model.of[s->kind].n; c++)
            any_factors |= x->model.of[s->kind].row[c].factors > 0;
        if (!holders[tutti__members_of(s->kind)]) continue;
        if (s->kind == TUTTI_EXODUS_SIDE_SET) {
            if (any_factors) local_err = side_factors(s, local_err);
            continue;
        }
        if (local_err == TUTTI_OK) warn_of_factors(s, NULL);
        /* members have one factor each */
        for (tutti_count i = 0; i < s->n && local_err == TUTTI_OK; i++) {
            const tutti_count c =
                tutti__interval_of(s->starts, x->model.of[s->kind].n, s->first + i);
            const tutti_exodus_entity *row = &x->model.of[s->kind].row[c];
            s->member[i].at =
                row->factors == row->entries ? s->member[i].index - s->starts[c] : NO_FACTORS;
        }
    }
    local_err = exchange_members(slices, holders, local_err, n_out, out);
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        tutti__free(slices[k].starts);
        tutti__free(slices[k].blocks);
        tutti__free(slices[k].member);
        tutti__free(slices[k].at);
    }
    return local_err;
}
