/* tutti exodus diff: variables, step by step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/diff.h"

#include <stdlib.h>
#include <string.h>

/* A variable of an entity, in both files. */
typedef struct {
    int kind, outcome;
    tutti_count number; /* number of the entity in the first file */
    tutti_exodus_field field[2];
} compared;

typedef struct {
    tutti_count n;
    compared *v;
} list;

static const char *kind_text(int kind) {
    return kind == TUTTI_EXODUS_GLOBAL  ? "global"
           : kind == TUTTI_EXODUS_NODAL ? "nodal"
                                        : tutti_exodus_kind_name(kind);
}

static void field_add(exodus_comparison *k, list *l, int kind, tutti_count i, int v) {
    const exodus_table *t = &k->o[0].of[kind];
    const exodus_common *c = kind == TUTTI_EXODUS_GLOBAL ? NULL : &k->common[kind][i];
    const tutti_count n = c ? c->n : 1;
    l->v = cli_realloc(l->v, ((size_t)l->n + 1) * sizeof *l->v);
    compared *x = &l->v[l->n++];
    *x = (compared){.kind = kind,
                    .number = i,
                    .outcome = exodus_outcome_of(k, t->variable[v], kind_text(kind))};
    for (int f = 0; f < 2; f++)
        x->field[f] = (tutti_exodus_field){.kind = (tutti_exodus_kind)kind,
                                           .id = kind <= TUTTI_EXODUS_NODAL ? 0 : t->entity[i].id,
                                           .variable = t->variable[v],
                                           .type = TUTTI_FLOAT64,
                                           .buf = cli_malloc((size_t)n * sizeof(double)),
                                           .entries = c ? c->entries[f] : NULL};
}

/* Add the common variables of entity i of the first file. */
static void entity_add(exodus_comparison *k, list *l, int kind, tutti_count i) {
    const exodus_table *t = &k->o[0].of[kind], *u = &k->o[1].of[kind];
    const tutti_count other = kind == TUTTI_EXODUS_GLOBAL ? 0 : exodus_other(k, kind, i);
    if (other < 0) return;
    for (int v = 0; v < t->variables; v++) {
        const int w = exodus_find_variable(&k->o[1], (tutti_exodus_kind)kind, t->variable[v]);
        if (w < 0 || !data_wanted(k->config, t->variable[v])) continue;
        const int a = kind == TUTTI_EXODUS_GLOBAL || t->has[i * t->variables + v];
        const int b = kind == TUTTI_EXODUS_GLOBAL || u->has[other * u->variables + w];
        if (a != b)
            exodus_only(k,
                        cli_format("%s %lld, variable %s: only in %s", kind_text(kind),
                                   (long long)t->entity[i].id, t->variable[v], k->config->path[b]));
        if (a && b) field_add(k, l, kind, i, v);
    }
}

static void field_compare(exodus_comparison *k, compared *x, tutti_count step) {
    exodus_outcome *o = &k->outcome[x->outcome];
    const exodus_common *c = x->kind == TUTTI_EXODUS_GLOBAL ? NULL : &k->common[x->kind][x->number];
    const double *a = x->field[0].buf, *b = x->field[1].buf;
    const tutti_count n = c ? c->n : k->world->rank == 0;
    for (tutti_count i = 0; i < n; i++) {
        char where[100] = "";
        if (!exodus_outcome_add(o, a[i], b[i])) continue;
        if (c) exodus_place_text(x->kind, c->id[i], c->side[i], where, sizeof where);
        snprintf(o->place, sizeof o->place, "%s%s%sstep %lld: %.10g and %.10g", c ? "at " : "in ",
                 where, c ? ", " : "", (long long)step, a[i], b[i]);
    }
}

static int time_compare(exodus_comparison *k, int outcome, tutti_count step) {
    exodus_outcome *o = &k->outcome[outcome];
    double t[2];
    for (int f = 0; f < 2; f++)
        if (tutti_exodus_times(k->x[f], step, 1, &t[f]) != TUTTI_OK) return cli_error_tutti();
    if (k->world->rank == 0 && exodus_outcome_add(o, t[0], t[1]))
        snprintf(o->place, sizeof o->place, "in step %lld: %.10g and %.10g", (long long)step, t[0],
                 t[1]);
    return 0;
}

int exodus_diff_steps(exodus_comparison *k) {
    list l = {.n = 0};
    tutti_count first = 1, last = 0;
    /* Determine the steps to compare; without --steps those that both files have. */
    const tutti_count a = tutti_exodus_steps(k->x[0]), b = tutti_exodus_steps(k->x[1]);
    if (!k->config->steps && a != b)
        exodus_only(k, cli_format("steps: %lld in %s, %lld in %s", (long long)a, k->config->path[0],
                                  (long long)b, k->config->path[1]));
    int failed = exodus_steps_chosen(k->config, a < b ? a : b, &first, &last);
    const int time = exodus_outcome_of(k, "time", "step");
    for (int kind = 0; kind <= TUTTI_EXODUS_FACE_SET && !failed; kind++) {
        /* Report variables that only one file has. */
        for (int f = 0; f < 2; f++) {
            const exodus_table *t = &k->o[f].of[kind];
            for (int v = 0; v < t->variables; v++)
                if (exodus_find_variable(&k->o[1 - f], (tutti_exodus_kind)kind, t->variable[v]) <
                        0 &&
                    data_wanted(k->config, t->variable[v]))
                    exodus_only(k, cli_format("%s variable %s: only in %s", kind_text(kind),
                                              t->variable[v], k->config->path[f]));
        }
        const tutti_count n = kind == TUTTI_EXODUS_GLOBAL ? 1 : k->commons[kind];
        for (tutti_count i = 0; i < n; i++) entity_add(k, &l, kind, i);
    }
    for (tutti_count s = first; s <= last && !failed; s++) {
        failed = time_compare(k, time, s);
        if (!failed) {
            tutti_exodus_field *field = cli_malloc((size_t)l.n * sizeof *field);
            tutti_err err = TUTTI_OK;
            for (int f = 0; f < 2 && err == TUTTI_OK; f++) {
                for (tutti_count i = 0; i < l.n; i++) field[i] = l.v[i].field[f];
                if (l.n > 0) err = tutti_exodus_get(k->x[f], s, l.n, field);
            }
            free(field);
            failed = err != TUTTI_OK && cli_error_tutti();
            if (!failed) {
                for (tutti_count i = 0; i < l.n; i++) field_compare(k, &l.v[i], s);
            }
        }
    }
    for (tutti_count i = 0; i < l.n; i++)
        for (int f = 0; f < 2; f++) free(l.v[i].field[f].buf);
    free(l.v);
    return failed;
}
