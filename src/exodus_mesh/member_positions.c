/* exodus_mesh: positions of the members of sets.  A member's number consists of its set, the
 * position of the node or element and, for sides, the side.  Therefore all sets of a kind are
 * ordered together, and members that several ranks have are detected.
 *
 *     number = (set * nodes of the file + position) * (sides + 1) + side
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "exodus_mesh/positions.h"

/* Context for one kind of sets. */
typedef struct {
    const tutti__mesh_order *o;
    const tutti__entity_class *of; /* class of the members: nodes, or entries of blocks */
    tutti__entity_class *f;
    int64_t *number;
} set_kind;

tutti_count tutti__largest_side(const tutti__exodus_model *m, const tutti_exodus_mesh *mesh) {
    tutti_count largest = 0;
    for (tutti_count c = 0; c < m->of[TUTTI_EXODUS_SIDE_SET].n; c++) {
        const tutti_exodus_members s = tutti__mesh_set(mesh, TUTTI_EXODUS_SIDE_SET, c);
        for (tutti_count i = 0; i < s.n; i++) largest = tutti__max(largest, s.sides[i]);
    }
    return largest;
}

static void name_member(const void *context, tutti_count i, char *out, size_t capacity) {
    const set_kind *k = context;
    const tutti_count c = tutti__interval_of(k->f->start, k->f->entities, i);
    const tutti_exodus_members s = tutti__mesh_set(k->o->mesh, k->f->kind, c);
    const tutti_count q = i - k->f->start[c];
    char side[32] = "";
    if (k->f->kind == TUTTI_EXODUS_SIDE_SET) snprintf(side, sizeof side, ", side %d", s.sides[q]);
    snprintf(out, capacity, "member %lld%s of %s %lld", (long long)s.members[q], side,
             tutti_exodus_kind_name((int)k->f->kind),
             (long long)k->o->model->of[k->f->kind].row[c].id);
}

/* Collect the numbers and weights of all members. */
static tutti_err members_join(set_kind *k) {
    tutti__entity_class *f = k->f;
    const int sided = f->kind == TUTTI_EXODUS_SIDE_SET;
    const tutti_count sides = sided ? k->o->sides : 1;
    tutti_off most = 0;
    for (tutti_count c = 0; c < f->entities; c++)
        f->start[c + 1] = f->start[c] + tutti__mesh_set(k->o->mesh, f->kind, c).n;
    const size_t n = (size_t)f->start[f->entities] + 1;
    k->number = tutti__malloc(n * sizeof *k->number);
    f->weight = tutti__malloc(n * sizeof *f->weight);
    if (!k->number || !f->weight) return TUTTI_ERR_NOMEM;
    TUTTI_CHECK(tutti__mul_ok(f->entities, tutti__max(k->of->all, 1), &most) &&
                    tutti__mul_ok(most, sides, &most),
                TUTTI_ERR_OVERFLOW,
                "%lld sets of %lld entries with up to %lld sides exceed the range of 64-bit keys",
                (long long)f->entities, (long long)k->of->all, (long long)sides);
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_exodus_members s = tutti__mesh_set(k->o->mesh, f->kind, c);
        for (tutti_count i = 0; i < s.n; i++) {
            const tutti_count q = f->start[c] + i, p = k->of->position[s.members[i]];
            k->number[q] = (c * k->of->all + p) * sides + (sided ? s.sides[i] : 0);
            f->weight[q] = 1;
            /* the weight of a side is its number of factors; 0: unknown, so the side has no
             * factors */
            if (!sided) continue;
            const tutti_count b = tutti__interval_of(k->of->start, k->of->entities, s.members[i]);
            const tutti_exodus_entity *row = &k->o->model->of[TUTTI_EXODUS_ELEMENT_BLOCK].row[b];
            f->weight[q] =
                tutti__max(tutti__side_nodes_of(k->o->model, row, INT64_MAX, s.sides[i]), 0);
        }
    }
    return TUTTI_OK;
}

/* ---- factors */

/* Determine which sets have factors; they must be given on all ranks that have members, or on
 * none. */
static tutti_err factors_compare(tutti__mesh_order *o) {
    const int64_t *with = o->members.also_checksums, *without = with + o->members.entities;
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k];
        const tutti_count n = o->model->of[kind].n;
        unsigned char *has = o->classes.has_factors[kind] = tutti__calloc((size_t)n + 1, 1);
        if (!has) return TUTTI_ERR_NOMEM;
        for (tutti_count c = 0; c < n; c++, with++, without++) {
            has[c] = *with > 0;
            TUTTI_CHECK(!*with || !*without, TUTTI_ERR_MISMATCH,
                        "%s %lld: distribution factors are given on some ranks only",
                        tutti_exodus_kind_name((int)kind), (long long)o->model->of[kind].row[c].id);
        }
    }
    return TUTTI_OK;
}

tutti_err tutti__order_members(tutti__mesh_order *o, tutti_err local_err) {
    static const tutti_replicas_choice lowest_rank = {.rule = TUTTI_REPLICAS_FIRST};
    tutti__ids ids[TUTTI__SET_KINDS];
    set_kind kinds[TUTTI__SET_KINDS];
    if (o->members.entities == 0) return local_err;
    for (int k = 0; k < TUTTI__SET_KINDS; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k];
        tutti__entity_class *f = &o->classes.of[kind];
        *f = (tutti__entity_class){.kind = kind, .entities = o->model->of[kind].n};
        kinds[k] = (set_kind){.o = o, .of = &o->classes.of[tutti__members_of(kind)], .f = f};
        f->start = tutti__calloc((size_t)f->entities + 1, sizeof *f->start);
        if (local_err == TUTTI_OK) local_err = f->start ? members_join(&kinds[k]) : TUTTI_ERR_NOMEM;
        ids[k] = (tutti__ids){.class = f,
                              .what = "member",
                              .number = kinds[k].number,
                              .name = name_member,
                              .context = &kinds[k]};
    }
    /* mark sets with members with factors, and with members without factors, in the vectors of the
     * round */
    if (local_err == TUTTI_OK) {
        int64_t *with = o->members.also_checksums, *without = with + o->members.entities;
        for (int k = 0; k < TUTTI__SET_KINDS; k++)
            for (tutti_count c = 0; c < o->model->of[tutti__set_kinds[k]].n; c++) {
                const tutti_exodus_members s = tutti__mesh_set(o->mesh, tutti__set_kinds[k], c);
                *with++ = s.n > 0 && s.factors;
                *without++ = s.n > 0 && !s.factors;
            }
    }
    local_err =
        tutti__ids_order(o->team, &o->members, &lowest_rank, TUTTI__SET_KINDS, ids, local_err);
    for (int k = 0; k < TUTTI__SET_KINDS; k++) tutti__free(kinds[k].number);
    return local_err == TUTTI_OK ? factors_compare(o) : local_err;
}
