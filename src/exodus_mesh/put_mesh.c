/* exodus_mesh: a mesh of all ranks, written.
 *
 *   check        each rank looks at its own
 *   order        nodes, edges, faces, elements, members of sets: positions and counts
 *   writers      of what several ranks have
 *   definitions  end: counts are known, so is where everything lies
 *   pieces       of all arrays that this rank writes, in one operation
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/positions.h"
#include "nemesis/nemesis.h"

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_mesh *mesh;
    tutti__mesh_classes classes;
    tutti_exodus_parameters had;   /* before counts were found */
    tutti_exodus_entity *rows_had; /* all rows, kind by kind */
    tutti__nemesis *nemesis;
    tutti__values bundle;
} putting;

/* ---- order */

static tutti_err order_all(putting *p) {
    tutti__team *t = p->x->team;
    const tutti__exodus_model *m = &p->x->model;
    TUTTI_TRY(tutti__positions_of_nodes(t, p->mesh, TUTTI_OK, &p->classes.of[TUTTI_EXODUS_NODAL]));
    for (int k = 0; k < 3; k++)
        TUTTI_TRY(tutti__positions_of_blocks(t, m, p->mesh, tutti__block_kinds[k], &p->classes));
    for (int k = 0; k < 5; k++)
        if (m->of[tutti__set_kinds[k]].n > 0)
            TUTTI_TRY(tutti__positions_of_members(t, m, p->mesh, tutti__set_kinds[k], &p->classes));
    return tutti__factors_agree(t, m, p->mesh, &p->classes);
}

static int is_block(int kind) {
    return kind >= TUTTI_EXODUS_ELEMENT_BLOCK && kind <= TUTTI_EXODUS_FACE_BLOCK;
}

/* Does the caller want an id map whatever the ids are? */
static int wants_id_map(const tutti_exodus_parameters *p, int kind) {
    return kind == TUTTI_EXODUS_NODAL           ? p->has_node_ids
           : kind == TUTTI_EXODUS_ELEMENT_BLOCK ? p->has_element_ids
           : kind == TUTTI_EXODUS_EDGE_BLOCK    ? p->has_edge_ids
           : kind == TUTTI_EXODUS_FACE_BLOCK    ? p->has_face_ids
                                                : 0;
}

/* Writers of the kinds of which anything is on several ranks; id maps where they are needed. */
static tutti_err writers_all(putting *p) {
    enum { SHARED, STRANGE, NUMBERS };
    int64_t v[TUTTI_EXODUS_KINDS * NUMBERS] = {0};
    int64_t largest = 0;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        const tutti__entity_class *f = &p->classes.of[k];
        for (tutti_count i = 0; i < f->n; i++) v[k * NUMBERS + SHARED] += !f->first[i];
        v[k * NUMBERS + STRANGE] = f->start && !f->plain;
        if (k == TUTTI_EXODUS_NODAL || is_block(k)) largest = tutti__max(largest, f->largest);
    }
    TUTTI_TRY(tutti__team_sum(p->x->team, v, TUTTI_EXODUS_KINDS * NUMBERS));
    TUTTI_TRY(tutti__team_max(p->x->team, TUTTI_OK, &largest));
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__entity_class *f = &p->classes.of[k];
        f->plain = v[k * NUMBERS + STRANGE] == 0 && !wants_id_map(&p->x->model.p, k);
        f->largest = largest;
        if (v[k * NUMBERS + SHARED] == 0) continue;
        TUTTI_TRY(tutti__choose_writers_of(p->x->team, &p->x->opt.choice,
                                           k == TUTTI_EXODUS_NODAL ? p->mesh->own : NULL, f));
    }
    return TUTTI_OK;
}

/* ---- counts */

static tutti_err rows_keep(putting *p) {
    const tutti__exodus_model *m = &p->x->model;
    tutti_count n = 0;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) n += m->of[k].n;
    p->rows_had = tutti__malloc((size_t)(n + 1) * sizeof *p->rows_had);
    if (!p->rows_had) return TUTTI_ERR_NOMEM;
    p->had = m->p;
    n = 0;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        for (tutti_count c = 0; c < m->of[k].n; c++) p->rows_had[n++] = m->of[k].row[c];
    return TUTTI_OK;
}

static void rows_restore(putting *p) {
    tutti__exodus_model *m = &p->x->model;
    tutti_count n = 0;
    if (!p->rows_had) return;
    m->p = p->had;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        for (tutti_count c = 0; c < m->of[k].n; c++) m->of[k].row[c] = p->rows_had[n++];
}

/* A count that was given, or 0, is what was found. */
static tutti_err count_set(tutti_count *given, tutti_count found, const char *what, int64_t id) {
    TUTTI_CHECK(*given == 0 || *given == found, TUTTI_ERR_MISMATCH,
                "%s %lld: %lld were said, and all ranks together have %lld", what, (long long)id,
                (long long)*given, (long long)found);
    *given = found;
    return TUTTI_OK;
}

static tutti_err row_count(const putting *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *f = &p->classes.of[kind];
    tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const char *name = tutti_exodus_kind_name((int)kind);
    TUTTI_TRY(count_set(&row->entries, f->count[c], name, row->id));
    if (is_block((int)kind))
        return tutti__shape_list_of(row->topology)
                   ? count_set(&row->list, f->weights[c], name, row->id)
                   : TUTTI_OK;
    const tutti_count factors = p->classes.has_factors[kind][c] ? f->weights[c] : 0;
    return count_set(&row->factors, factors, name, row->id);
}

static tutti_err counts_set(putting *p) {
    tutti_exodus_parameters *q = &p->x->model.p;
    const tutti__entity_class *f = p->classes.of;
    TUTTI_TRY(rows_keep(p));
    TUTTI_TRY(count_set(&q->nodes, f[TUTTI_EXODUS_NODAL].all, "nodes of file", 0));
    TUTTI_TRY(count_set(&q->elements, f[TUTTI_EXODUS_ELEMENT_BLOCK].all, "elements of file", 0));
    TUTTI_TRY(count_set(&q->edges, f[TUTTI_EXODUS_EDGE_BLOCK].all, "edges of file", 0));
    TUTTI_TRY(count_set(&q->faces, f[TUTTI_EXODUS_FACE_BLOCK].all, "faces of file", 0));
    q->has_node_ids = !f[TUTTI_EXODUS_NODAL].plain;
    q->has_element_ids = !f[TUTTI_EXODUS_ELEMENT_BLOCK].plain;
    q->has_edge_ids = !f[TUTTI_EXODUS_EDGE_BLOCK].plain;
    q->has_face_ids = !f[TUTTI_EXODUS_FACE_BLOCK].plain;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        for (tutti_count c = 0; c < f[k].entities && k != TUTTI_EXODUS_NODAL; c++)
            TUTTI_TRY(row_count(p, (tutti_exodus_kind)k, c));
    tutti__exodus_table *nodes = &p->x->model.of[TUTTI_EXODUS_NODAL];
    if (nodes->n > 0) nodes->row[0].entries = q->nodes;
    return TUTTI_OK;
}

/* ---- pieces */

static tutti_err place(const putting *p, tutti_exodus_what what, const tutti_exodus_entity *row,
                       tutti__exodus_place *out) {
    const tutti_exodus_array a = {.what = what, .kind = row->kind, .id = row->id};
    return tutti__exodus_place_of(p->x, &a, out);
}

/* Item i of a family: which of its entity in the file. */
static tutti_count nth(const tutti__entity_class *f, tutti_count c, tutti_count i) {
    return f->position[i] - f->before[c];
}

/* n numbers for each of the items of entity c, from `values` (NULL: zeros). */
static tutti_err reals_add(putting *p, const tutti__entity_class *f, tutti_count c,
                           const tutti__exodus_place *at, const double *values) {
    const tutti_count n = at->numbers;
    for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
        const tutti_count i = f->sorted[j].index;
        void *to = NULL;
        if (!f->writes[i]) continue;
        TUTTI_TRY(tutti__values_add(&p->bundle, at, nth(f, c, i) * n, n, NULL, &to));
        if (n > 0 && values) memcpy(to, values + (i - f->start[c]) * n, (size_t)n * sizeof *values);
        if (n > 0 && !values) memset(to, 0, (size_t)n * sizeof *values);
    }
    return TUTTI_OK;
}

static tutti_err attributes_add(putting *p, const tutti__entity_class *f, tutti_count c,
                                const tutti_exodus_entity *row, const double *values) {
    tutti__exodus_place at;
    if (row->attributes == 0 || f->start[c] == f->start[c + 1]) return TUTTI_OK;
    TUTTI_TRY(place(p, TUTTI_EXODUS_ATTRIBUTES, row, &at));
    return reals_add(p, f, c, &at, values);
}

/* k places of each item, as positions from 1 in another family. */
static tutti_err places_add(putting *p, const tutti__entity_class *f, tutti_count c,
                            const tutti__exodus_place *at, const tutti_count *places,
                            const tutti__entity_class *to) {
    const tutti_count n = at->numbers;
    for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
        const tutti_count i = f->sorted[j].index;
        void *out = NULL;
        if (!f->writes[i]) continue;
        TUTTI_TRY(tutti__values_add(&p->bundle, at, nth(f, c, i) * n, n, NULL, &out));
        for (tutti_count q = 0; q < n; q++)
            ((int64_t *)out)[q] = to->position[places[(i - f->start[c]) * n + q]] + 1;
    }
    return TUTTI_OK;
}

/* Lists of nodes (faces), and how long they are. */
static tutti_err lists_add(putting *p, const tutti__entity_class *f, tutti_count c,
                           const tutti_exodus_elements *e, const tutti__entity_class *to) {
    const tutti_exodus_entity *row = &p->x->model.of[f->kind].row[c];
    tutti__exodus_place counts, list;
    TUTTI_TRY(place(p, TUTTI_EXODUS_COUNTS, row, &counts));
    TUTTI_TRY(place(p, TUTTI_EXODUS_CONNECTIVITY, row, &list));
    for (int pass = 0; pass < 2; pass++) /* one array after the other: longer pieces */
        for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
            const tutti_count i = f->sorted[j].index, n = f->weight[i];
            void *out = NULL;
            if (!f->writes[i]) continue;
            if (pass == 0) {
                TUTTI_TRY(tutti__values_add(&p->bundle, &counts, nth(f, c, i), 1, NULL, &out));
                *(int64_t *)out = n;
                continue;
            }
            TUTTI_TRY(tutti__values_add(&p->bundle, &list, f->at[i], n, NULL, &out));
            for (tutti_count q = 0; q < n; q++)
                ((int64_t *)out)[q] = to->position[e->nodes[e->start[i - f->start[c]] + q]] + 1;
        }
    return TUTTI_OK;
}

static tutti_err block_add(putting *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *f = &p->classes.of[kind], *all = p->classes.of;
    const tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(p->mesh, kind, c);
    const tutti__shape_list listed = tutti__shape_list_of(row->topology);
    tutti__exodus_place at;
    if (e.n == 0) return TUTTI_OK;
    if (listed) {
        TUTTI_TRY(lists_add(
            p, f, c, &e,
            &all[listed == TUTTI__NFACED ? TUTTI_EXODUS_FACE_BLOCK : TUTTI_EXODUS_NODAL]));
    } else {
        TUTTI_TRY(place(p, TUTTI_EXODUS_CONNECTIVITY, row, &at));
        TUTTI_TRY(places_add(p, f, c, &at, e.nodes, &all[TUTTI_EXODUS_NODAL]));
    }
    if (row->edges) {
        TUTTI_TRY(place(p, TUTTI_EXODUS_EDGES, row, &at));
        TUTTI_TRY(places_add(p, f, c, &at, e.edges, &all[TUTTI_EXODUS_EDGE_BLOCK]));
    }
    if (row->faces) {
        TUTTI_TRY(place(p, TUTTI_EXODUS_FACES, row, &at));
        TUTTI_TRY(places_add(p, f, c, &at, e.faces, &all[TUTTI_EXODUS_FACE_BLOCK]));
    }
    return attributes_add(p, f, c, row, e.attributes);
}

/* The id map of a kind: ids of entity c. */
static tutti_err ids_add(putting *p, tutti_exodus_kind kind, tutti_count c, const int64_t *ids) {
    const tutti__entity_class *f = &p->classes.of[kind];
    tutti__exodus_place at;
    if (f->plain || f->start[c] == f->start[c + 1]) return TUTTI_OK;
    TUTTI_TRY(place(p, TUTTI_EXODUS_IDS, &(tutti_exodus_entity){.kind = kind}, &at));
    for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
        const tutti_count i = f->sorted[j].index;
        void *out = NULL;
        if (!f->writes[i]) continue;
        TUTTI_TRY(tutti__values_add(&p->bundle, &at, f->position[i], 1, NULL, &out));
        *(int64_t *)out = ids ? ids[i - f->start[c]] : f->position[i] + 1;
    }
    return TUTTI_OK;
}

static tutti_err ints_add(putting *p, const tutti__entity_class *f, tutti_count c,
                          const tutti__exodus_place *at, const int *values) {
    for (tutti_count j = f->start[c]; j < f->start[c + 1]; j++) {
        const tutti_count i = f->sorted[j].index;
        void *out = NULL;
        if (!f->writes[i]) continue;
        TUTTI_TRY(tutti__values_add(&p->bundle, at, nth(f, c, i), 1, NULL, &out));
        *(int64_t *)out = values ? values[i - f->start[c]] : 1;
    }
    return TUTTI_OK;
}

/* Factors of a member are as many as its weight says, in the file and in memory. */
static tutti_err factors_add(putting *p, const tutti__entity_class *f, tutti_count c,
                             const tutti_exodus_entity *row, const double *values) {
    const tutti_count n = f->start[c + 1] - f->start[c];
    tutti__exodus_place at;
    TUTTI_TRY(place(p, TUTTI_EXODUS_FACTORS, row, &at));
    tutti_count *from = tutti__malloc((size_t)(n + 1) * sizeof *from);
    tutti_err err = from ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (from) from[0] = 0;
    for (tutti_count i = 0; i < n && from; i++) from[i + 1] = from[i] + f->weight[f->start[c] + i];
    for (tutti_count j = f->start[c]; j < f->start[c + 1] && err == TUTTI_OK; j++) {
        const tutti_count i = f->sorted[j].index, k = i - f->start[c];
        void *out = NULL;
        if (!f->writes[i]) continue;
        err = tutti__values_add(&p->bundle, &at, f->at[i], f->weight[i], NULL, &out);
        if (err == TUTTI_OK && f->weight[i] > 0)
            memcpy(out, values + from[k], (size_t)f->weight[i] * sizeof *values);
    }
    tutti__free(from);
    return err;
}

static tutti_err set_add(putting *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *f = &p->classes.of[kind];
    const tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const tutti_exodus_members s = tutti__mesh_set(p->mesh, kind, c);
    tutti__exodus_place at;
    if (s.n == 0) return TUTTI_OK;
    TUTTI_TRY(place(p, TUTTI_EXODUS_MEMBERS, row, &at));
    TUTTI_TRY(places_add(p, f, c, &at, s.members, &p->classes.of[tutti__members_of(kind)]));
    if (kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET) {
        const tutti_err err = place(p, TUTTI_EXODUS_SIDES, row, &at);
        const int missing = err == TUTTI_ERR_NOT_FOUND && kind != TUTTI_EXODUS_SIDE_SET && !s.sides;
        if (!missing) TUTTI_TRY(err);
        if (!missing) TUTTI_TRY(ints_add(p, f, c, &at, s.sides));
    }
    if (s.factors) TUTTI_TRY(factors_add(p, f, c, row, s.factors));
    return attributes_add(p, f, c, row, s.attributes);
}

static tutti_err pieces_add(putting *p) {
    const tutti__entity_class *nodes = &p->classes.of[TUTTI_EXODUS_NODAL];
    const tutti__exodus_model *m = &p->x->model;
    TUTTI_TRY(ids_add(p, TUTTI_EXODUS_NODAL, 0, p->mesh->node_ids));
    TUTTI_TRY(attributes_add(
        p, nodes, 0,
        &(tutti_exodus_entity){.kind = TUTTI_EXODUS_NODAL, .attributes = m->p.node_attributes},
        p->mesh->node_attributes));
    for (int k = 0; k < 3; k++) {
        const tutti_exodus_kind kind = tutti__block_kinds[k];
        for (tutti_count c = 0; c < m->of[kind].n; c++) {
            TUTTI_TRY(ids_add(p, kind, c, tutti__mesh_block(p->mesh, kind, c).ids));
            TUTTI_TRY(block_add(p, kind, c));
        }
    }
    for (int k = 0; k < 5; k++)
        for (tutti_count c = 0; c < m->of[tutti__set_kinds[k]].n; c++)
            TUTTI_TRY(set_add(p, tutti__set_kinds[k], c));
    return TUTTI_OK;
}

/* ---- coordinates, where they are */

static tutti_err coordinates_make(putting *p, tutti_access **access, tutti_part *parts) {
    for (int k = 0; k < p->x->model.p.dims; k++) {
        const tutti_exodus_array a = {
            .what = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL, .component = k};
        const tutti_access *whole = NULL;
        tutti__exodus_place at;
        TUTTI_TRY(tutti__exodus_place_of(p->x, &a, &at));
        TUTTI_ASSERT(p->x->local[0].kind == TUTTI_EXODUS_NODAL);
        TUTTI_TRY(tutti__decomposition_access(p->x->local[0].entries, tutti_type_size(at.type), 1,
                                              &whole));
        TUTTI_TRY(tutti_access_shift(whole, at.at, 0, &access[k]));
        const tutti_type type = p->mesh->type == TUTTI_BYTES ? TUTTI_FLOAT64 : p->mesh->type;
        parts[k] = (tutti_part){
            .access = access[k],
            .buf = (void *)p->mesh->coordinates[k],
            .convert = {.file_type = at.type, .memory_type = type, .file_order = TUTTI_BIG_ENDIAN}};
    }
    return TUTTI_OK;
}

static tutti_err write_all(putting *p) {
    tutti_access *access[3] = {NULL, NULL, NULL};
    tutti_part parts[3];
    const int dims = p->classes.of[TUTTI_EXODUS_NODAL].all > 0 ? p->x->model.p.dims : 0;
    tutti_err mine = dims > 0 ? coordinates_make(p, access, parts) : TUTTI_OK;
    if (mine == TUTTI_OK) mine = pieces_add(p);
    if (mine == TUTTI_OK && p->nemesis)
        mine = tutti__nemesis_add(p->nemesis, &p->x->cdf, &p->bundle);
    const tutti_err err = tutti__values_move(p->x, &p->bundle, 1, dims, parts, mine);
    for (int k = 0; k < 3; k++) tutti_access_free(&access[k]);
    return err;
}

/* ---- the call */

static tutti_err may_put(const tutti_exodus *x) {
    TUTTI_CHECK(x->defining, TUTTI_ERR_STATE,
                "definitions have ended: the file has its mesh already, or was opened");
    TUTTI_CHECK(x->model.p.dims > 0, TUTTI_ERR_STATE, "tutti_exodus_init comes first");
    return TUTTI_OK;
}

/* Ids need a width in the file, unless it was said. */
static tutti_err width_set(const putting *p) {
    const int64_t largest = p->classes.of[TUTTI_EXODUS_NODAL].largest;
    TUTTI_CHECK(largest <= INT32_MAX || p->x->opt.integer_bytes != 4, TUTTI_ERR_OVERFLOW,
                "id %lld does not fit integers of 4 bytes", (long long)largest);
    if (largest > INT32_MAX) p->x->model.map_bytes = 8;
    return TUTTI_OK;
}

static tutti_err put(putting *p) {
    tutti_exodus *x = p->x;
    TUTTI_TRY(order_all(p));
    TUTTI_TRY(writers_all(p));
    tutti_err mine = counts_set(p);
    if (mine == TUTTI_OK) mine = width_set(p);
    if (mine == TUTTI_OK)
        mine = tutti__exodus_local_make(&x->model, &p->classes, NULL, &x->local, &x->local_n);
    TUTTI_TRY(tutti__exodus_agree(x, mine));
    const tutti__partition partition = {&x->model, p->mesh, &p->classes};
    if (x->opt.nemesis) TUTTI_TRY(tutti__nemesis_make(x->team, &partition, &p->nemesis));
    const tutti__exodus_addition more = {tutti__nemesis_define, p->nemesis};
    TUTTI_TRY(tutti__exodus_finish_definitions(x, p->nemesis ? &more : NULL));
    return write_all(p);
}

tutti_err tutti_exodus_put_mesh(tutti_exodus *x, const tutti_exodus_mesh *mesh) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    putting p = {.x = x, .mesh = mesh};
    tutti_err err = may_put(x);
    if (err == TUTTI_OK) err = tutti__mesh_check(&x->model, mesh);
    TUTTI_TRY(tutti__exodus_call(x, "put_mesh", 0, err));
    const int map_bytes = x->model.map_bytes;
    tutti__exodus_result_set(&x->mesh_read, NULL, NULL);
    tutti__exodus_local_free(x);
    err = put(&p);
    if (err == TUTTI_OK) err = tutti__exodus_file_show(x);
    if (err != TUTTI_OK) {
        tutti__exodus_local_free(x);
        if (x->defining) { /* as before */
            rows_restore(&p);
            x->model.map_bytes = map_bytes;
        }
    }
    tutti__nemesis_free(&p.nemesis);
    tutti__values_free(&p.bundle);
    tutti__mesh_classes_free(&p.classes);
    tutti__free(p.rows_had);
    return tutti__exodus_named(x, "put_mesh", err);
}
