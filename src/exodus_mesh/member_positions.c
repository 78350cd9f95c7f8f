/* exodus_mesh: members of sets.  A member's number is made of its set, the position of the node or element
 * and, for sides, the side: so all sets of a kind are put in order at once, however many there are,
 * and members that several ranks have are found.
 *
 *     number = (set * nodes of the file + position) * (sides + 1) + side
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "comm/vote.h"
#include "exodus_mesh/positions.h"

/* One kind of sets. */
typedef struct {
    const tutti__exodus_model *m;
    const tutti_exodus_mesh *mesh;
    const tutti__entity_class *of; /* nodes, or entries of blocks */
    tutti__entity_class *f;
    int64_t *number;
    tutti_count sides; /* numbers that a position takes */
} joining;

static void name_member(const void *context, tutti_count i, char *out, size_t room) {
    const joining *j = context;
    const tutti_count c = tutti__interval_of(j->f->start, j->f->entities, i);
    const tutti_exodus_members s = tutti__mesh_set(j->mesh, j->f->kind, c);
    const tutti_count k = i - j->f->start[c];
    char side[32] = "";
    if (j->f->kind == TUTTI_EXODUS_SIDE_SET) snprintf(side, sizeof side, ", side %d", s.sides[k]);
    snprintf(out, room, "member %lld%s of %s %lld", (long long)s.members[k], side,
             tutti_exodus_kind_name((int)j->f->kind), (long long)j->m->of[j->f->kind].row[c].id);
}

/* Factors of a side; 0: not known, and none are given. */
static tutti_count side_weight(const joining *j, tutti_count member, int side) {
    const tutti_count b = tutti__interval_of(j->of->start, j->of->entities, member);
    const tutti_exodus_entity *row = &j->m->of[TUTTI_EXODUS_ELEMENT_BLOCK].row[b];
    const int n = tutti__side_nodes_of(j->m, row, INT64_MAX, side);
    return n > 0 ? n : 0;
}

static tutti_err starts_make(joining *j, tutti_count *largest_side) {
    tutti__entity_class *f = j->f;
    f->start = tutti__calloc((size_t)f->entities + 1, sizeof *f->start);
    if (!f->start) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_exodus_members s = tutti__mesh_set(j->mesh, f->kind, c);
        f->start[c + 1] = f->start[c] + s.n;
        for (tutti_count i = 0; i < s.n && f->kind == TUTTI_EXODUS_SIDE_SET; i++)
            *largest_side = tutti__max(*largest_side, s.sides[i]);
    }
    const size_t n = (size_t)f->start[f->entities];
    j->number = tutti__malloc(n * sizeof *j->number);
    f->weight = tutti__malloc(n * sizeof *f->weight);
    return j->number && f->weight ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static tutti_err numbers_make(joining *j) {
    tutti__entity_class *f = j->f;
    const int sided = f->kind == TUTTI_EXODUS_SIDE_SET;
    tutti_off most = 0;
    TUTTI_CHECK(tutti__mul_ok(f->entities, tutti__max(j->of->all, 1), &most) &&
                    tutti__mul_ok(most, j->sides, &most),
                TUTTI_ERR_OVERFLOW, "%lld sets among %lld, of %lld sides", (long long)f->entities,
                (long long)j->of->all, (long long)j->sides);
    for (tutti_count c = 0; c < f->entities; c++) {
        const tutti_exodus_members s = tutti__mesh_set(j->mesh, f->kind, c);
        for (tutti_count i = 0; i < s.n; i++) {
            const tutti_count k = f->start[c] + i, p = j->of->position[s.members[i]];
            j->number[k] = (c * j->of->all + p) * j->sides + (sided ? s.sides[i] : 0);
            f->weight[k] = sided ? side_weight(j, s.members[i], s.sides[i]) : 1;
        }
    }
    return TUTTI_OK;
}

tutti_err tutti__positions_of_members(tutti__team *t, const tutti__exodus_model *m,
                                      const tutti_exodus_mesh *mesh, tutti_exodus_kind kind,
                                      tutti__mesh_classes *classes) {
    tutti__entity_class *f = &classes->of[kind];
    joining j = {.m = m, .mesh = mesh, .of = &classes->of[tutti__members_of(kind)], .f = f};
    tutti_count largest = 0;
    *f = (tutti__entity_class){.kind = kind, .entities = m->of[kind].n};
    tutti_err err = starts_make(&j, &largest);
    err = tutti__team_max(t, err, &largest);
    j.sides = largest + 1;
    if (err == TUTTI_OK) {
        const tutti_err mine = numbers_make(&j);
        const tutti__ids_spec spec = {.what = "member",
                                      .classes = f->entities,
                                      .start = f->start,
                                      .number = j.number,
                                      .weight = f->weight,
                                      .name = name_member,
                                      .context = &j};
        err = tutti__positions_make(t, f, &spec, mine);
    }
    tutti__free(j.number);
    return err;
}

/* ---- factors */

static tutti_err factors_compare(const tutti__exodus_model *m, const int64_t *with,
                                 const int64_t *without, tutti__mesh_classes *classes) {
    tutti_count at = 0;
    for (int k = 0; k < 5; k++) {
        const tutti_exodus_kind kind = tutti__set_kinds[k];
        unsigned char *has = tutti__calloc((size_t)m->of[kind].n + 1, 1);
        if (!has) return TUTTI_ERR_NOMEM;
        classes->has_factors[kind] = has;
        for (tutti_count c = 0; c < m->of[kind].n; c++, at++) {
            has[c] = with[at] > 0;
            TUTTI_CHECK(!with[at] || !without[at], TUTTI_ERR_MISMATCH,
                        "%s %lld: some ranks have distribution factors and others none",
                        tutti_exodus_kind_name((int)kind), (long long)m->of[kind].row[c].id);
        }
    }
    return TUTTI_OK;
}

tutti_err tutti__factors_agree(tutti__team *t, const tutti__exodus_model *m,
                               const tutti_exodus_mesh *mesh, tutti__mesh_classes *classes) {
    tutti_count sets = 0, at = 0;
    for (int k = 0; k < 5; k++) sets += m->of[tutti__set_kinds[k]].n;
    int64_t *v = tutti__calloc(2 * (size_t)sets + 1, sizeof *v);
    tutti_err err = tutti__team_agree(t, v ? TUTTI_OK : TUTTI_ERR_NOMEM);
    for (int k = 0; k < 5 && err == TUTTI_OK; k++)
        for (tutti_count c = 0; c < m->of[tutti__set_kinds[k]].n; c++, at++) {
            const tutti_exodus_members s = tutti__mesh_set(mesh, tutti__set_kinds[k], c);
            v[at] = s.n > 0 && s.factors;
            v[sets + at] = s.n > 0 && !s.factors;
        }
    if (err == TUTTI_OK) err = tutti__team_sum(t, v, (int)(2 * sets));
    if (err == TUTTI_OK) err = tutti__team_agree(t, factors_compare(m, v, v + sets, classes));
    tutti__free(v);
    return err;
}
