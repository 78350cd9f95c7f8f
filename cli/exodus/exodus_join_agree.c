/* tutti exodus join: merge the definitions of all pieces, and check that they agree.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/join.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- outlines */

static tutti_count find_name(exodus_outline *o, tutti_exodus_kind kind, int64_t id,
                             tutti_count hint) {
    if (hint < o->of[kind].n && o->of[kind].entity[hint].id == id) return hint;
    return exodus_find(o, kind, id);
}

/* Merge entity b into a; an empty block or set may lack properties. */
static int entity_merge(tutti_exodus_entity *a, const tutti_exodus_entity *b, const char *path) {
    const char *kind = tutti_exodus_kind_name(a->kind);
    const long long id = a->id;
    if (b->name[0] && !a->name[0]) {
        const char **into = &a->name;
        free((char *)(uintptr_t)*into);
        *into = cli_strdup(b->name);
    }
    if (b->name[0] && strcmp(a->name, b->name) != 0)
        return cli_error("'%s': %s %lld is named '%s', but '%s' in other pieces", path, kind, id,
                         b->name, a->name);
    if (b->entries > 0 && a->entries == 0) {
        const char *name = a->name;
        free((char *)(uintptr_t)a->topology);
        *a = *b;
        a->name = name;
        a->topology = cli_strdup(b->topology);
    } else if (b->entries > 0) {
        if (exodus_is_block(a->kind) &&
            (strcasecmp(a->topology, b->topology) != 0 || a->nodes != b->nodes))
            return cli_error(
                "'%s': %s %lld has topology %s with %d nodes, but %s with %d in other pieces", path,
                kind, id, b->topology, b->nodes, a->topology, a->nodes);
        if (a->attributes != b->attributes || a->edges != b->edges || a->faces != b->faces)
            return cli_error("'%s': %s %lld has %d attributes, but %d in other pieces", path, kind,
                             id, b->attributes, a->attributes);
        a->entries += b->entries;
        a->factors += b->factors;
        a->list_length += b->list_length;
    }
    return 0;
}

static void attributes_merge(exodus_table *t, tutti_count i, const exodus_table *from,
                             tutti_count j) {
    const int n = from->entity[j].attributes;
    if (t->attribute[i] || !from->attribute[j] || n != t->entity[i].attributes) return;
    t->attribute[i] = cli_malloc((size_t)n * sizeof *t->attribute[i]);
    for (int k = 0; k < n; k++) t->attribute[i][k] = cli_strdup(from->attribute[j][k]);
}

static int table_merge(exodus_outline *o, const exodus_outline *from, int kind, const char *path) {
    exodus_table *t = &o->of[kind];
    const exodus_table *u = &from->of[kind];
    int *number = cli_malloc((size_t)u->variables * sizeof *number), failed = 0;
    exodus_outline_variables(o, (tutti_exodus_kind)kind, u->variables, u->variable, number);
    for (tutti_count j = 0; j < u->n && !failed; j++) {
        tutti_count i = find_name(o, (tutti_exodus_kind)kind, u->entity[j].id, j);
        if (i < 0 || !t->entity)
            i = exodus_outline_add(o, &u->entity[j]);
        else
            failed = entity_merge(&t->entity[i], &u->entity[j], path);
        attributes_merge(t, i, u, j);
        for (int p = 0; p < u->properties; p++) {
            int q = 0;
            while (q < t->properties && strcmp(t->property[q], u->property[p]) != 0) q++;
            if (q == t->properties) {
                const size_t capacity = exodus_table_room(t->n), n = (size_t)q + 1;
                t->property = cli_realloc(t->property, n * sizeof *t->property);
                t->value = cli_realloc(t->value, n * sizeof *t->value);
                t->property[q] = cli_strdup(u->property[p]);
                t->value[q] = cli_malloc(capacity * sizeof *t->value[q]);
                memset(t->value[q], 0, capacity * sizeof *t->value[q]);
                t->properties++;
            }
            if (u->value[p][j]) t->value[q][i] = u->value[p][j];
        }
        for (int v = 0; v < u->variables; v++)
            if (u->has[j * u->variables + v]) t->has[i * t->variables + number[v]] = 1;
    }
    free(number);
    return failed;
}

/* Merge the outline of a piece; the first piece defines the common properties. */
static int outline_merge(exodus_outline *o, const exodus_outline *from, const char *path) {
    if (!o->title) {
        o->p = from->p;
        o->title = cli_strdup(from->title);
        o->p.title = o->title;
        for (int d = 0; d < from->p.dims; d++) o->coordinate[d] = cli_strdup(from->coordinate[d]);
        o->qas = from->qas;
        o->qa = cli_malloc((size_t)o->qas * sizeof *o->qa);
        for (int i = 0; i < o->qas; i++)
            for (int k = 0; k < 4; k++) o->qa[i][k] = cli_strdup(from->qa[i][k]);
        o->lines = from->lines;
        o->line = cli_malloc((size_t)o->lines * sizeof *o->line);
        for (int i = 0; i < o->lines; i++) o->line[i] = cli_strdup(from->line[i]);
    }
    if (o->p.dims != from->p.dims)
        return cli_error("'%s' has %d dimensions, but other pieces have %d", path, from->p.dims,
                         o->p.dims);
    if (o->p.node_attributes != from->p.node_attributes)
        return cli_error("'%s' has %d node attributes, but other pieces have %d", path,
                         from->p.node_attributes, o->p.node_attributes);
    o->p.has_node_ids |= from->p.has_node_ids;
    o->p.has_element_ids |= from->p.has_element_ids;
    o->p.has_order = 0;
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++)
        if (!exodus_is_map(kind) && table_merge(o, from, kind, path)) return 1;
    return 0;
}

/* ---- all ranks */

static int outlines_gather(exodus_whole *w) {
    const cli_world *c = w->world;
    exodus_outline local = {.qas = 0};
    int failed = 0;
    for (int i = 0; i < w->pieces && !failed; i++)
        failed = outline_merge(&local, &w->piece[i].o, w->piece[i].path);
    if (cli_agree(c, failed)) return exodus_outline_free(&local), 1;
    size_t n = 0;
    void *bytes = w->pieces > 0 ? exodus_outline_pack(&local, &n) : NULL;
    exodus_outline_free(&local);
    int count = n < INT_MAX ? (int)n : -1, all = 0;
    int *counts = cli_malloc(2 * (size_t)c->ranks * sizeof *counts), *at = counts + c->ranks;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, c->comm);
    for (int r = 0; r < c->ranks; r++) {
        at[r] = all;
        all += counts[r];
    }
    char *text = cli_malloc((size_t)all);
    MPI_Allgatherv(bytes, count, MPI_BYTE, text, counts, at, MPI_BYTE, c->comm);
    for (int r = 0; r < c->ranks && !failed; r++)
        if (counts[r] > 0) {
            exodus_outline other;
            char who[64];
            snprintf(who, sizeof who, "pieces of rank %d", r);
            exodus_outline_unpack(text + at[r], &other);
            failed = outline_merge(&w->o, &other, who);
            exodus_outline_free(&other);
        }
    free(bytes);
    free(counts);
    free(text);
    return failed;
}

int exodus_join_agree(exodus_whole *w) {
    if (cli_agree(w->world, outlines_gather(w))) return 1;
    const cli_world *c = w->world;
    tutti_count n = w->pieces > 0 ? tutti_exodus_steps(w->piece[0].x) : 0, first, last;
    int failed = 0;
    MPI_Bcast(&n, 1, MPI_INT64_T, 0, c->comm); /* rank 0 has the first piece */
    for (int i = 0; i < w->pieces && !failed && !w->config->steps; i++)
        if (tutti_exodus_steps(w->piece[i].x) != n)
            failed = cli_error(
                "'%s' has %lld steps, the first piece %lld; select common steps with --steps",
                w->piece[i].path, (long long)tutti_exodus_steps(w->piece[i].x), (long long)n);
    for (int i = 0; i < w->pieces && !failed; i++)
        failed = exodus_steps_chosen(w->config, tutti_exodus_steps(w->piece[i].x), &first, &last);
    if (cli_agree(c, failed)) return 1;
    w->steps = n;
    w->time = cli_malloc((size_t)n * sizeof *w->time);
    if (c->rank == 0 && n > 0 && tutti_exodus_times(w->piece[0].x, 1, n, w->time) != TUTTI_OK)
        failed = cli_error_tutti();
    MPI_Bcast(w->time, (int)n, MPI_DOUBLE, 0, c->comm);
    for (int i = 0; i < w->pieces && !failed; i++) {
        tutti_count m = tutti_exodus_steps(w->piece[i].x);
        if (m > n) m = n;
        double *time = cli_malloc((size_t)m * sizeof *time);
        if (m > 0 && tutti_exodus_times(w->piece[i].x, 1, m, time) != TUTTI_OK)
            failed = cli_error_tutti();
        for (tutti_count s = 0; s < m && !failed; s++)
            if (time[s] != w->time[s])
                failed = cli_error("'%s': step %lld has time %.17g, but %.17g in the first piece",
                                   w->piece[i].path, (long long)s + 1, time[s], w->time[s]);
        free(time);
    }
    if (cli_agree(c, failed)) return 1;
    for (int i = 0; i < w->pieces; i++)
        for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
            const exodus_table *t = &w->piece[i].o.of[kind];
            const tutti_count all = w->o.of[kind].n;
            if (exodus_is_map(kind)) continue;
            w->piece[i].entity[kind] = cli_malloc((size_t)all * sizeof(tutti_count));
            for (tutti_count j = 0; j < all; j++) w->piece[i].entity[kind][j] = -1;
            w->piece[i].number[kind] = cli_malloc((size_t)t->n * sizeof(tutti_count));
            for (tutti_count j = 0; j < t->n; j++) {
                const tutti_count at =
                    find_name(&w->o, (tutti_exodus_kind)kind, t->entity[j].id, j);
                w->piece[i].number[kind][j] = at;
                w->piece[i].entity[kind][at] = j;
            }
        }
    return 0;
}
