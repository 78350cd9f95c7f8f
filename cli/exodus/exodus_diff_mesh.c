/* tutti exodus diff: nodes and elements, matched by id: coordinates, blocks, connectivity, attributes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/diff.h"

#include <stdlib.h>
#include <string.h>

/* ---- common definitions */

void report_serial(exodus_comparison *k, const char *what, tutti_count counts[2],
                   int64_t firsts[2]) {
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, k->world->comm);
    MPI_Allreduce(MPI_IN_PLACE, firsts, 2, MPI_INT64_T, MPI_MIN, k->world->comm);
    for (int f = 0; f < 2; f++)
        if (counts[f] > 0)
            exodus_only(k,
                        cli_format("%s: %lld only in %s, the first has id %lld", what,
                                   (long long)counts[f], k->config->path[f], (long long)firsts[f]));
}

/* Match the ids of all nodes (elements, edges, faces) of both files. */
static int kind_pairs(exodus_comparison *k, int kind, exodus_pairs *out) {
    const cli_world *w = k->world;
    tutti_count first[2], n[2];
    for (int f = 0; f < 2; f++) {
        const tutti_count all = exodus_entries_of(&k->o[f].p, kind);
        exodus_share(w, all, &first[f], &n[f]);
    }
    exodus_item *item = cli_malloc((size_t)(n[0] + n[1]) * sizeof *item);
    int64_t *id = cli_malloc((size_t)(n[0] > n[1] ? n[0] : n[1]) * sizeof *id);
    tutti_err err = TUTTI_OK;
    for (int f = 0; f < 2 && err == TUTTI_OK; f++) {
        const tutti_exodus_array a = exodus_integers(TUTTI_EXODUS_IDS, kind, 0, first[f], n[f], id);
        err = tutti_exodus_get_arrays(k->x[f], 1, &a);
        for (tutti_count i = 0; i < n[f] && err == TUTTI_OK; i++)
            item[(f ? n[0] : 0) + i] = (exodus_item){.id = id[i], .place = first[f] + i, .file = f};
    }
    *out = (exodus_pairs){.n = 0};
    if (err == TUTTI_OK) exodus_pairs_find(w, item, n[0] + n[1], NULL, out);
    free(item);
    free(id);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Report and remove entries that only one file has. */
static void remove_unpaired(exodus_comparison *k, const char *what, exodus_pairs *p) {
    tutti_count counts[2] = {0, 0}, n = 0;
    int64_t firsts[2] = {INT64_MAX, INT64_MAX};
    for (tutti_count i = 0; i < p->n; i++) {
        const int f = p->v[i].place[0] < 0;
        if (p->v[i].place[1 - f] >= 0 && p->v[i].place[f] >= 0) {
            p->v[n++] = p->v[i];
            continue;
        }
        counts[f]++;
        if (p->v[i].id < firsts[f]) firsts[f] = p->v[i].id;
    }
    p->n = n;
    report_serial(k, what, counts, firsts);
    for (int f = 0; f < 2; f++)
        if (cli_max(k->world, (double)p->twice[f]) > 0)
            exodus_only(k, cli_format("%s: duplicate ids of %s: only one entry per id is compared",
                                      what, k->config->path[f]));
}

int exodus_common_make(exodus_comparison *k, int kind, tutti_count number, const exodus_pair *pairs,
                       tutti_count n, exodus_common *out) {
    tutti_count *index = cli_malloc((size_t)n * sizeof *index);
    *out = (exodus_common){.n = n};
    out->id = cli_malloc((size_t)n * sizeof *out->id);
    out->side = cli_malloc((size_t)n * sizeof *out->side);
    tutti_err err = TUTTI_OK;
    for (int f = 0; f < 2 && err == TUTTI_OK; f++) {
        const int64_t id = kind == TUTTI_EXODUS_NODAL ? 0 : k->o[0].of[kind].entity[number].id;
        for (tutti_count i = 0; i < n; i++) {
            index[i] = pairs[i].place[f];
            out->id[i] = pairs[i].id;
            out->side[i] = pairs[i].side;
        }
        const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = n, .index = index};
        err = tutti_exodus_decomposition(k->x[f], (tutti_exodus_kind)kind, id, &spec,
                                         &out->entries[f]);
    }
    free(index);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- arrays of values */

int exodus_compare_arrays(exodus_comparison *k, const exodus_common *c, int outcome,
                          tutti_exodus_array a) {
    tutti_count entries[2], wide[2];
    tutti_type type[2];
    int has[2];
    char where[100];
    for (int f = 0; f < 2; f++)
        has[f] = tutti_exodus_array_size(k->x[f], &a, &entries[f], &wide[f], &type[f]) == TUTTI_OK;
    /* exodus_diff.c reports this difference */
    if (!has[0] || !has[1] || wide[0] != wide[1]) return 0;
    double *v[2];
    tutti_err err = TUTTI_OK;
    for (int f = 0; f < 2; f++) {
        v[f] = cli_array(c->n, wide[0], sizeof *v[f]);
        a.type = TUTTI_FLOAT64;
        a.entries = c->entries[f];
        a.buf = v[f];
        if (err == TUTTI_OK) err = tutti_exodus_get_arrays(k->x[f], 1, &a);
    }
    exodus_outcome *o = &k->outcome[outcome];
    for (tutti_count i = 0; i < c->n * wide[0] && err == TUTTI_OK; i++)
        if (exodus_outcome_add(o, v[0][i], v[1][i])) {
            const tutti_count e = i / wide[0];
            exodus_place_text(a.kind, c->id[e], c->side[e], where, sizeof where);
            snprintf(o->place, sizeof o->place, "at %s: %.10g and %.10g", where, v[0][i], v[1][i]);
        }
    free(v[0]);
    free(v[1]);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- connectivity: the ids of nodes (of faces, for polyhedra) */

/* Node (face) numbers of the common entries of a block in one file, and the start of each entry. */
typedef struct {
    int64_t *value;
    tutti_count *start;
} lists;

static int is_poly(const tutti_exodus_entity *e) {
    return exodus_topology_is(e->topology, "nsided") || exodus_topology_is(e->topology, "nfaced");
}

/* Read the common entries of a block of polygons or polyhedra. */
static int poly_read(tutti_exodus *x, const tutti_exodus_entity *e, const exodus_common *c, int f,
                     lists *out) {
    int64_t *counts = cli_malloc((size_t)e->entries * sizeof *counts);
    int64_t *all = cli_malloc((size_t)e->list_length * sizeof *all);
    tutti_count *begin = cli_malloc(((size_t)e->entries + 1) * sizeof *begin);
    tutti_count *at = cli_malloc((size_t)c->n * sizeof *at);
    const tutti_exodus_array a[2] = {
        exodus_integers(TUTTI_EXODUS_COUNTS, (int)e->kind, e->id, 0, e->entries, counts),
        exodus_integers(TUTTI_EXODUS_CONNECTIVITY, (int)e->kind, e->id, 0, e->list_length, all)};
    tutti_err err = tutti_exodus_get_arrays(x, 2, a);
    if (err == TUTTI_OK) err = tutti_decomposition_positions(c->entries[f], at);
    int wrong = 0; /* a count is negative, or the counts exceed the length of the list */
    begin[0] = 0;
    for (tutti_count i = 0; i < e->entries && err == TUTTI_OK && !wrong; i++) {
        wrong = counts[i] < 0 || counts[i] > e->list_length - begin[i];
        if (!wrong) begin[i + 1] = begin[i] + counts[i];
    }
    if (wrong) err = TUTTI_ERR_FORMAT;
    out->start[0] = 0;
    for (tutti_count i = 0; i < c->n && err == TUTTI_OK; i++)
        out->start[i + 1] = out->start[i] + counts[at[i]];
    out->value = cli_malloc((size_t)(err == TUTTI_OK ? out->start[c->n] : 0) * sizeof *all);
    for (tutti_count i = 0; i < c->n && err == TUTTI_OK; i++)
        memcpy(out->value + out->start[i], all + begin[at[i]], (size_t)counts[at[i]] * sizeof *all);
    free(counts);
    free(all);
    free(begin);
    free(at);
    if (wrong)
        return cli_error("%s %lld: sum of entry counts does not match the list length %lld",
                         tutti_exodus_kind_name((int)e->kind), (long long)e->id,
                         (long long)e->list_length);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Return the number of values per entry of a block. */
static int wide_of(const tutti_exodus_entity *e, int what) {
    return what == TUTTI_EXODUS_CONNECTIVITY ? e->nodes
           : what == TUTTI_EXODUS_EDGES      ? e->edges
                                             : e->faces;
}

static int lists_read(exodus_comparison *k, const tutti_exodus_entity *e, const exodus_common *c,
                      int f, int what, lists *out) {
    const int of = what == TUTTI_EXODUS_EDGES ? TUTTI_EXODUS_EDGE_BLOCK
                   : what == TUTTI_EXODUS_FACES || exodus_topology_is(e->topology, "nfaced")
                       ? TUTTI_EXODUS_FACE_BLOCK
                       : TUTTI_EXODUS_NODAL;
    *out = (lists){.start = cli_malloc(((size_t)c->n + 1) * sizeof *out->start)};
    if (what == TUTTI_EXODUS_CONNECTIVITY && is_poly(e)) {
        if (poly_read(k->x[f], e, c, f, out)) return 1;
    } else {
        const int wide = wide_of(e, what);
        out->value = cli_array(c->n, wide, sizeof *out->value);
        for (tutti_count i = 0; i <= c->n; i++) out->start[i] = i * wide;
        tutti_exodus_array a = exodus_integers(what, (int)e->kind, e->id, 0, 0, out->value);
        a.entries = c->entries[f];
        if (tutti_exodus_get_arrays(k->x[f], 1, &a) != TUTTI_OK) return cli_error_tutti();
    }
    const tutti_count n = out->start[c->n];
    tutti_count *place = cli_malloc((size_t)n * sizeof *place);
    for (tutti_count i = 0; i < n; i++) place[i] = exodus_place_of_number(out->value[i]);
    const int failed = exodus_ids_at(k->x[f], of, n, place, out->value);
    free(place);
    return failed;
}

static int connectivity_compare(exodus_comparison *k, int kind, tutti_count number, int what) {
    static const char *const names[] = {[TUTTI_EXODUS_CONNECTIVITY] = "connectivity",
                                        [TUTTI_EXODUS_EDGES] = "edges",
                                        [TUTTI_EXODUS_FACES] = "faces"};
    const tutti_count other = exodus_other(k, kind, number);
    const tutti_exodus_entity *e[2] = {&k->o[0].of[kind].entity[number],
                                       &k->o[1].of[kind].entity[other]};
    const exodus_common *c = &k->common[kind][number];
    lists l[2] = {{.value = NULL}, {.value = NULL}};
    if (e[0]->entries == 0 || e[1]->entries == 0 || is_poly(e[0]) != is_poly(e[1]) ||
        (!is_poly(e[0]) && wide_of(e[0], what) != wide_of(e[1], what)))
        return 0; /* exodus_diff.c reports this difference */
    const int failed =
        lists_read(k, e[0], c, 0, what, &l[0]) || lists_read(k, e[1], c, 1, what, &l[1]);
    const int outcome = exodus_outcome_of(k, names[what], tutti_exodus_kind_name(kind));
    if (!failed) {
        exodus_outcome *o = &k->outcome[outcome];
        const lists *a = &l[0];
        const lists *b = &l[1];
        char where[100];
        for (tutti_count i = 0; i < c->n; i++) {
            const tutti_count n = a->start[i + 1] - a->start[i], m = b->start[i + 1] - b->start[i];
            const int64_t *x = a->value + a->start[i], *y = b->value + b->start[i];
            o->numbers++;
            if (n == m && memcmp(x, y, (size_t)n * sizeof *x) == 0) continue;
            if (o->different++ > 0) continue;
            tutti_count j = 0;
            while (j < n && j < m && x[j] == y[j]) j++;
            exodus_place_text(kind, c->id[i], 0, where, sizeof where);
            snprintf(o->place, sizeof o->place, "at %s: its %lld. is %lld and %lld", where,
                     (long long)j + 1, (long long)(j < n ? x[j] : 0),
                     (long long)(j < m ? y[j] : 0));
        }
    }
    for (int f = 0; f < 2; f++) {
        free(l[f].value);
        free(l[f].start);
    }
    return failed;
}

/* ---- blocks */

/* Return the block that contains the element at *place; *place becomes the position in the block. */
static tutti_count block_of_place(const exodus_table *t, tutti_count *place) {
    tutti_count i = 0;
    while (i < t->n && *place >= t->entity[i].entries) *place -= t->entity[i++].entries;
    return i;
}

static int by_group(const void *a, const void *b) {
    const exodus_pair *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->place[0] > y->place[0]) - (x->place[0] < y->place[0]);
}

/* Sort pairs by block and convert their positions to those in the block.  Pairs in different blocks are
 * reported and removed. */
static void blocks_sort(exodus_comparison *k, int kind, exodus_pairs *p) {
    const int outcome = exodus_outcome_of(k, "block", tutti_exodus_kind_name(kind));
    exodus_outcome *o = &k->outcome[outcome];
    tutti_count n = 0;
    char where[100];
    for (tutti_count i = 0; i < p->n; i++) {
        exodus_pair *v = &p->v[i];
        const tutti_count a = block_of_place(&k->o[0].of[kind], &v->place[0]);
        const tutti_count b = block_of_place(&k->o[1].of[kind], &v->place[1]);
        const int64_t x = k->o[0].of[kind].entity[a].id, y = k->o[1].of[kind].entity[b].id;
        o->numbers++;
        v->group = a;
        if (x == y) {
            p->v[n++] = *v;
        } else if (o->different++ == 0) {
            exodus_place_text(kind, v->id, 0, where, sizeof where);
            snprintf(o->place, sizeof o->place, "at %s: %lld and %lld", where, (long long)x,
                     (long long)y);
        }
    }
    p->n = n;
    if (n > 0) qsort(p->v, (size_t)n, sizeof *p->v, by_group);
}

static int block_compare(exodus_comparison *k, int kind, tutti_count i) {
    const tutti_exodus_entity *e = &k->o[0].of[kind].entity[i];
    if (connectivity_compare(k, kind, i, TUTTI_EXODUS_CONNECTIVITY) ||
        (e->edges > 0 && connectivity_compare(k, kind, i, TUTTI_EXODUS_EDGES)) ||
        (e->faces > 0 && connectivity_compare(k, kind, i, TUTTI_EXODUS_FACES)))
        return 1;
    if (e->attributes == 0) return 0;
    return exodus_compare_arrays(
        k, &k->common[kind][i], exodus_outcome_of(k, "attributes", tutti_exodus_kind_name(kind)),
        (tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES, .kind = e->kind, .id = e->id});
}

static int blocks_compare(exodus_comparison *k, int kind) {
    static const char *const names[] = {"elements", "edges", "faces"};
    const tutti_count n = k->o[0].of[kind].n;
    exodus_pairs p;
    if (n == 0 || k->o[1].of[kind].n == 0) return 0;
    if (kind_pairs(k, kind, &p)) return 1;
    remove_unpaired(k, names[kind - TUTTI_EXODUS_ELEMENT_BLOCK], &p);
    blocks_sort(k, kind, &p);
    k->common[kind] = cli_malloc((size_t)n * sizeof *k->common[kind]);
    memset(k->common[kind], 0, (size_t)n * sizeof *k->common[kind]);
    k->commons[kind] = n;
    int failed = 0;
    tutti_count at = 0;
    for (tutti_count i = 0; i < n && !failed; i++) {
        tutti_count end = at;
        while (end < p.n && p.v[end].group == i) end++;
        if (exodus_other(k, kind, i) >= 0)
            failed = exodus_common_make(k, kind, i, p.v + at, end - at, &k->common[kind][i]) ||
                     block_compare(k, kind, i);
        at = end;
    }
    exodus_pairs_free(&p);
    return failed;
}

int exodus_diff_mesh(exodus_comparison *k) {
    exodus_pairs p;
    exodus_common *c = cli_malloc(sizeof *c);
    const tutti_count dims = k->o[0].p.dims < k->o[1].p.dims ? k->o[0].p.dims : k->o[1].p.dims;
    *c = (exodus_common){.n = 0};
    k->common[TUTTI_EXODUS_NODAL] = c;
    k->commons[TUTTI_EXODUS_NODAL] = 1;
    if (kind_pairs(k, TUTTI_EXODUS_NODAL, &p)) return 1;
    remove_unpaired(k, "nodes", &p);
    int failed = exodus_common_make(k, TUTTI_EXODUS_NODAL, 0, p.v, p.n, c);
    exodus_pairs_free(&p);
    const int outcome = exodus_outcome_of(k, "coordinates", "nodal");
    for (int d = 0; d < dims && !failed; d++)
        failed = exodus_compare_arrays(k, c, outcome,
                                       (tutti_exodus_array){.array_kind = TUTTI_EXODUS_COORDINATES,
                                                            .kind = TUTTI_EXODUS_NODAL,
                                                            .component = d});
    if (!failed && k->o[0].p.node_attributes)
        failed = exodus_compare_arrays(k, c, exodus_outcome_of(k, "attributes", "nodal"),
                                       (tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES,
                                                            .kind = TUTTI_EXODUS_NODAL});
    if (failed) return 1;
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++)
        if (blocks_compare(k, kind)) return 1;
    return 0;
}
