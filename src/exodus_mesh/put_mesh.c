/* exodus_mesh: write a mesh of all ranks.
 *
 *   check        each rank checks its own mesh
 *   order        determine positions of nodes, edges, faces and elements, then of members of sets
 *   definitions  end definitions: counts, and therefore the offsets of all arrays, are known
 *   values       write the values of all arrays in one operation
 *
 * Steps return the error code of this rank, which is part of the communication of the next step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/positions.h"
#include "nemesis/nemesis.h"

typedef struct {
    tutti_exodus *x;
    const tutti_exodus_mesh *mesh;
    tutti__mesh_order order;
    tutti_exodus_parameters had;   /* parameters before counts were determined */
    tutti_exodus_entity *rows_had; /* all rows before counts were determined, kind by kind */
    tutti__nemesis *nemesis;
    tutti__values values;
} put_state;

/* Choose writers by rules that need owners, and by limits, on all ranks together.   Collective. */
static tutti_err choose_writers(put_state *p, tutti_err local_err) {
    const tutti_replicas_choice *choice = &p->x->opt.choice;
    if (choice->balance == 0 && choice->rule != TUTTI_REPLICAS_IDG &&
        choice->rule != TUTTI_REPLICAS_OWN)
        return local_err;
    TUTTI_TRY(tutti__team_agree(p->x->team, local_err));
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__entity_class *f = &p->order.classes.of[k];
        if (f->all > 0)
            TUTTI_TRY(tutti__choose_writers_of(p->x->team, choice,
                                               k == TUTTI_EXODUS_NODAL ? p->mesh->own : NULL, f));
    }
    return TUTTI_OK;
}

/* ---- counts */

static void rows_restore(put_state *p) {
    tutti__exodus_model *m = &p->x->model;
    tutti_count n = 0;
    if (!p->rows_had) return;
    m->p = p->had;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        for (tutti_count c = 0; c < m->of[k].n; c++) m->of[k].row[c] = p->rows_had[n++];
}

/* Set a count; if the caller has set it to a value other than 0, it must be equal. */
static tutti_err count_set(tutti_count *given, tutti_count found, const char *what, int64_t id) {
    TUTTI_CHECK(*given == 0 || *given == found, TUTTI_ERR_MISMATCH,
                "%s %lld: count is %lld, but all ranks together have %lld", what, (long long)id,
                (long long)*given, (long long)found);
    *given = found;
    return TUTTI_OK;
}

static tutti_err row_count(const put_state *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *f = &p->order.classes.of[kind];
    tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const char *name = tutti_exodus_kind_name((int)kind);
    TUTTI_TRY(count_set(&row->entries, f->count[c], name, row->id));
    if (tutti__exodus_is_block((int)kind))
        return tutti__shape_list_of(row->topology)
                   ? count_set(&row->list_length, f->weights[c], name, row->id)
                   : TUTTI_OK;
    const tutti_count factors = p->order.classes.has_factors[kind][c] ? f->weights[c] : 0;
    return count_set(&row->factors, factors, name, row->id);
}

static tutti_err set_counts(put_state *p) {
    tutti_exodus_parameters *q = &p->x->model.p;
    tutti__entity_class *f = p->order.classes.of;
    const tutti__exodus_model *m = &p->x->model;
    tutti_count n = 0;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) n += m->of[k].n;
    p->rows_had = tutti__malloc((size_t)(n + 1) * sizeof *p->rows_had);
    if (!p->rows_had) return TUTTI_ERR_NOMEM;
    p->had = m->p;
    n = 0;
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++)
        for (tutti_count c = 0; c < m->of[k].n; c++) p->rows_had[n++] = m->of[k].row[c];
    TUTTI_TRY(count_set(&q->nodes, f[TUTTI_EXODUS_NODAL].all, "nodes of file", 0));
    TUTTI_TRY(count_set(&q->elements, f[TUTTI_EXODUS_ELEMENT_BLOCK].all, "elements of file", 0));
    TUTTI_TRY(count_set(&q->edges, f[TUTTI_EXODUS_EDGE_BLOCK].all, "edges of file", 0));
    TUTTI_TRY(count_set(&q->faces, f[TUTTI_EXODUS_FACE_BLOCK].all, "faces of file", 0));
    /* maps may also be requested for ids that are 1, 2, 3 ... */
    f[TUTTI_EXODUS_NODAL].plain &= !q->has_node_ids;
    f[TUTTI_EXODUS_ELEMENT_BLOCK].plain &= !q->has_element_ids;
    f[TUTTI_EXODUS_EDGE_BLOCK].plain &= !q->has_edge_ids;
    f[TUTTI_EXODUS_FACE_BLOCK].plain &= !q->has_face_ids;
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

/* ---- values */

static tutti_err place_of(const put_state *p, tutti_exodus_array_kind what,
                          const tutti_exodus_entity *row, tutti__exodus_place *out) {
    const tutti_exodus_array a = {.array_kind = what, .kind = row->kind, .id = row->id};
    return tutti__exodus_place_of(p->x, &a, out);
}

/* The source of the values of an array: indices of entries (written as positions starting at 1),
 * reals or integers.  If all are NULL, zeros are written. */
typedef struct {
    const tutti_count *index;
    const tutti__entity_class *to;
    const double *reals;
    const int64_t *ids;
    const int *ints;
    const tutti_count *positions; /* positions of the entries themselves */
} source;

/* Copy n values of the source, starting with value `first`. */
static void copy_values(const source *from, tutti_count first, tutti_count n, int64_t *to) {
    if (n == 0) return;
    if (from->reals)
        memcpy(to, from->reals + first, (size_t)n * sizeof *to);
    else if (from->ids)
        memcpy(to, from->ids + first, (size_t)n * sizeof *to);
    else if (!from->index && !from->ints && !from->positions)
        memset(to, 0, (size_t)n * sizeof *to);
    for (tutti_count q = 0; q < n && from->index; q++)
        to[q] = from->to->position[from->index[first + q]] + 1;
    for (tutti_count q = 0; q < n && from->ints; q++) to[q] = from->ints[first + q];
    for (tutti_count q = 0; q < n && from->positions; q++) to[q] = from->positions[first + q] + 1;
}

/* Return the number of entries of entity c that this rank writes and that are consecutive in the
 * file; *j is advanced to the first of them in `sorted`. */
static tutti_count next_run(const tutti__entity_class *f, tutti_count c, tutti_count *j) {
    const tutti_count end = f->start[c + 1];
    while (*j < end && !f->writes[f->sorted[*j].index]) ++*j;
    const tutti__numbered *s = f->sorted + *j;
    tutti_count n = 0;
    while (n < end - *j && s[n].number == s[0].number + n && f->writes[s[n].index]) n++;
    return n;
}

/* Add the values of the entries of entity c that this rank writes; the array begins with position
 * `base`. */
static tutti_err array_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                           tutti_count base, const tutti__exodus_place *at, const source *from) {
    const tutti_count k = at->numbers;
    for (tutti_count j = f->start[c], n = 0; (n = next_run(f, c, &j)) > 0; j += n) {
        void *to = NULL;
        TUTTI_TRY(
            tutti__values_add(&p->values, at, (f->sorted[j].number - base) * k, n * k, NULL, &to));
        for (tutti_count q = 0; q < n; q++)
            copy_values(from, (f->sorted[j + q].index - f->start[c]) * k, k, (int64_t *)to + q * k);
    }
    return TUTTI_OK;
}

/* Like array_add, for entries with as many values as their weights; `first` is the index of the
 * first value of each entry. */
static tutti_err weighted_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                              const tutti__exodus_place *at, const tutti_count *first,
                              const source *from) {
    for (tutti_count j = f->start[c], n = 0; (n = next_run(f, c, &j)) > 0; j += n) {
        tutti_count all = 0;
        void *to = NULL;
        for (tutti_count q = 0; q < n; q++) all += f->weight[f->sorted[j + q].index];
        TUTTI_TRY(tutti__values_add(&p->values, at, f->at[f->sorted[j].index], all, NULL, &to));
        for (tutti_count q = 0, done = 0; q < n; q++) {
            const tutti_count i = f->sorted[j + q].index;
            copy_values(from, first[i - f->start[c]], f->weight[i], (int64_t *)to + done);
            done += f->weight[i];
        }
    }
    return TUTTI_OK;
}

static tutti_err attributes_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                                const tutti_exodus_entity *row, const double *values) {
    tutti__exodus_place at;
    if (row->attributes == 0 || f->start[c] == f->start[c + 1]) return TUTTI_OK;
    TUTTI_TRY(place_of(p, TUTTI_EXODUS_ATTRIBUTES, row, &at));
    return array_add(p, f, c, f->before[c], &at, &(source){.reals = values});
}

/* Add the ids of entity c to the id map of a kind. */
static tutti_err ids_add(put_state *p, tutti_exodus_kind kind, tutti_count c, const int64_t *ids) {
    const tutti__entity_class *f = &p->order.classes.of[kind];
    tutti__exodus_place at;
    if (f->plain || f->start[c] == f->start[c + 1]) return TUTTI_OK;
    TUTTI_TRY(place_of(p, TUTTI_EXODUS_IDS, &(tutti_exodus_entity){.kind = kind}, &at));
    return array_add(p, f, c, 0, &at,
                     &(source){.ids = ids, .positions = ids ? NULL : f->position + f->start[c]});
}

/* Add an array of indices of a block or set. */
static tutti_err indices_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                             tutti_exodus_array_kind what, const source *from) {
    tutti__exodus_place at;
    TUTTI_TRY(place_of(p, what, &p->x->model.of[f->kind].row[c], &at));
    return array_add(p, f, c, f->before[c], &at, from);
}

static tutti_err add_block(put_state *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *all = p->order.classes.of, *f = &all[kind];
    const tutti__entity_class *edges = &all[TUTTI_EXODUS_EDGE_BLOCK],
                              *faces = &all[TUTTI_EXODUS_FACE_BLOCK];
    const tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(p->mesh, kind, c);
    const tutti__shape_list listed = tutti__shape_list_of(row->topology);
    if (e.n == 0) return TUTTI_OK;
    TUTTI_TRY(ids_add(p, kind, c, e.ids));
    const source nodes = {.index = e.nodes,
                          .to = listed == TUTTI__NFACED ? faces : &all[TUTTI_EXODUS_NODAL]};
    if (listed) { /* lists of nodes (faces), and the lengths of the lists */
        tutti__exodus_place at;
        TUTTI_TRY(
            indices_add(p, f, c, TUTTI_EXODUS_COUNTS, &(source){.ids = f->weight + f->start[c]}));
        TUTTI_TRY(place_of(p, TUTTI_EXODUS_CONNECTIVITY, row, &at));
        TUTTI_TRY(weighted_add(p, f, c, &at, e.start, &nodes));
    } else {
        TUTTI_TRY(indices_add(p, f, c, TUTTI_EXODUS_CONNECTIVITY, &nodes));
    }
    if (row->edges)
        TUTTI_TRY(
            indices_add(p, f, c, TUTTI_EXODUS_EDGES, &(source){.index = e.edges, .to = edges}));
    if (row->faces)
        TUTTI_TRY(
            indices_add(p, f, c, TUTTI_EXODUS_FACES, &(source){.index = e.faces, .to = faces}));
    return attributes_add(p, f, c, row, e.attributes);
}

static tutti_err factors_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                             const double *values) {
    const tutti_count n = f->start[c + 1] - f->start[c];
    tutti__exodus_place at;
    TUTTI_TRY(place_of(p, TUTTI_EXODUS_FACTORS, &p->x->model.of[f->kind].row[c], &at));
    tutti_count *first = tutti__malloc((size_t)(n + 1) * sizeof *first);
    if (!first) return TUTTI_ERR_NOMEM;
    first[0] = 0;
    for (tutti_count i = 0; i < n; i++) first[i + 1] = first[i] + f->weight[f->start[c] + i];
    const tutti_err err = weighted_add(p, f, c, &at, first, &(source){.reals = values});
    tutti__free(first);
    return err;
}

/* Add sides, or orientations of edges and faces, which are 1 if none are given; old files may have
 * no array for them. */
static tutti_err sides_add(put_state *p, const tutti__entity_class *f, tutti_count c,
                           const int *sides) {
    tutti__exodus_place at;
    int *ones = NULL;
    const tutti_err err = place_of(p, TUTTI_EXODUS_SIDES, &p->x->model.of[f->kind].row[c], &at);
    if (err == TUTTI_ERR_NOT_FOUND && f->kind != TUTTI_EXODUS_SIDE_SET && !sides) return TUTTI_OK;
    TUTTI_TRY(err);
    if (!sides) {
        const tutti_count n = f->start[c + 1] - f->start[c];
        sides = ones = tutti__malloc((size_t)(n + 1) * sizeof *ones);
        for (tutti_count i = 0; i < n && ones; i++) ones[i] = 1;
        if (!ones) return TUTTI_ERR_NOMEM;
    }
    const tutti_err added = array_add(p, f, c, f->before[c], &at, &(source){.ints = sides});
    tutti__free(ones);
    return added;
}

static tutti_err set_add(put_state *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti__entity_class *f = &p->order.classes.of[kind];
    const tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const tutti_exodus_members s = tutti__mesh_set(p->mesh, kind, c);
    if (s.n == 0) return TUTTI_OK;
    TUTTI_TRY(indices_add(
        p, f, c, TUTTI_EXODUS_MEMBERS,
        &(source){.index = s.members, .to = &p->order.classes.of[tutti__members_of(kind)]}));
    if (kind != TUTTI_EXODUS_NODE_SET && kind != TUTTI_EXODUS_ELEMENT_SET)
        TUTTI_TRY(sides_add(p, f, c, s.sides));
    if (s.factors) TUTTI_TRY(factors_add(p, f, c, s.factors));
    return attributes_add(p, f, c, row, s.attributes);
}

/* Announce the values of the lists of block c; lists are most of the values of a mesh. */
static tutti_err expect_lists(put_state *p, tutti_exodus_kind kind, tutti_count c) {
    const tutti_exodus_entity *row = &p->x->model.of[kind].row[c];
    const tutti_exodus_elements e = tutti__mesh_block(p->mesh, kind, c);
    tutti__exodus_place at;
    if (e.n == 0) return TUTTI_OK;
    TUTTI_TRY(place_of(p, TUTTI_EXODUS_CONNECTIVITY, row, &at));
    tutti__values_expect(&p->values, at.type, e.start ? e.start[e.n] : e.n * at.numbers);
    return TUTTI_OK;
}

static tutti_err values_add(put_state *p) {
    const tutti__exodus_model *m = &p->x->model;
    for (int k = 0; k < TUTTI__BLOCK_KINDS; k++)
        for (tutti_count c = 0; c < m->of[tutti__block_kinds[k]].n; c++)
            TUTTI_TRY(expect_lists(p, tutti__block_kinds[k], c));
    TUTTI_TRY(ids_add(p, TUTTI_EXODUS_NODAL, 0, p->mesh->node_ids));
    TUTTI_TRY(attributes_add(
        p, &p->order.classes.of[TUTTI_EXODUS_NODAL], 0,
        &(tutti_exodus_entity){.kind = TUTTI_EXODUS_NODAL, .attributes = m->p.node_attributes},
        p->mesh->node_attributes));
    for (int k = 0; k < TUTTI__BLOCK_KINDS; k++)
        for (tutti_count c = 0; c < m->of[tutti__block_kinds[k]].n; c++)
            TUTTI_TRY(add_block(p, tutti__block_kinds[k], c));
    for (int k = 0; k < TUTTI__SET_KINDS; k++)
        for (tutti_count c = 0; c < m->of[tutti__set_kinds[k]].n; c++)
            TUTTI_TRY(set_add(p, tutti__set_kinds[k], c));
    return p->nemesis ? tutti__nemesis_add(p->nemesis, &p->x->cdf, &p->values) : TUTTI_OK;
}

/* ---- coordinates, where they are */

static tutti_err coordinates_make(put_state *p, tutti_access **access, tutti_part *parts) {
    for (int k = 0; k < p->x->model.p.dims; k++) {
        const tutti_exodus_array a = {
            .array_kind = TUTTI_EXODUS_COORDINATES, .kind = TUTTI_EXODUS_NODAL, .component = k};
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

static tutti_err write_all(put_state *p) {
    tutti_access *access[3] = {NULL, NULL, NULL};
    tutti_part parts[3];
    const int dims = p->order.classes.of[TUTTI_EXODUS_NODAL].all > 0 ? p->x->model.p.dims : 0;
    tutti_err local_err = dims > 0 ? coordinates_make(p, access, parts) : TUTTI_OK;
    if (local_err == TUTTI_OK) local_err = values_add(p);
    const tutti_err err = tutti__values_move(p->x, &p->values, 1, dims, parts, local_err);
    for (int k = 0; k < 3; k++) tutti_access_free(&access[k]);
    return err;
}

/* ---- the call */

static tutti_err put_mesh(put_state *p) {
    tutti_exodus *x = p->x;
    tutti_err local_err = tutti__order_entries(&p->order);
    local_err = tutti__order_members(&p->order, local_err);
    local_err = choose_writers(p, local_err);
    if (x->opt.nemesis) {
        const tutti__partition partition = {&x->model, p->mesh, &p->order.classes};
        local_err = tutti__nemesis_make(x->team, &partition, local_err, &p->nemesis);
    }
    if (local_err == TUTTI_OK) local_err = set_counts(p);
    for (int k = TUTTI_EXODUS_NODAL; k <= TUTTI_EXODUS_FACE_BLOCK && local_err == TUTTI_OK; k++) {
        const int64_t largest = p->order.classes.of[k].largest;
        if (largest <= INT32_MAX) continue;
        x->model.map_bytes = 8; /* width of ids in the file, unless set by the options */
        if (x->opt.integer_bytes == 4)
            local_err = tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1,
                                         "id %lld exceeds 2^31 - 1, but integer_bytes is 4",
                                         (long long)largest);
    }
    if (local_err == TUTTI_OK)
        local_err =
            tutti__exodus_local_make(&x->model, &p->order.classes, NULL, &x->local, &x->local_n);
    const tutti__exodus_addition more = {tutti__nemesis_define, p->nemesis};
    TUTTI_TRY(tutti__exodus_finish_definitions(x, x->opt.nemesis ? &more : NULL, local_err));
    return write_all(p);
}

/* Start the call; its agreement includes the largest side of all ranks. */
static tutti_err start_call(put_state *p, tutti_err local_err) {
    tutti__range side = tutti__range_of(0);
    if (local_err == TUTTI_OK) side = tutti__range_of(tutti__largest_side(&p->x->model, p->mesh));
    const tutti__call call = {
        .name = "put_mesh", .what = "the arguments", .ranges = 1, .range = &side};
    TUTTI_TRY(tutti__step_object_call(&p->x->base, &call, local_err));
    p->order.sides = side.max + 1;
    return TUTTI_OK;
}

tutti_err tutti_exodus_put_mesh(tutti_exodus *x, const tutti_exodus_mesh *mesh) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    put_state p = {
        .x = x,
        .mesh = mesh,
        .order = {.team = x->team, .model = &x->model, .mesh = mesh, .choice = x->opt.choice}};
    if (p.order.choice.rule == TUTTI_REPLICAS_IDG || p.order.choice.rule == TUTTI_REPLICAS_OWN)
        p.order.choice.rule = TUTTI_REPLICAS_IDG2; /* until choose_writers runs */
    const int map_bytes = x->model.map_bytes;
    tutti_err err = TUTTI_OK;
    if (!x->defining)
        err = tutti__error_set(
            TUTTI_ERR_STATE, 0, -1,
            "definitions have ended: a mesh can be written only once, to a new file");
    else if (x->model.p.dims == 0)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                               "the file has no parameters: call tutti_exodus_init first");
    if (err == TUTTI_OK) err = tutti__mesh_check(&x->model, mesh);
    if (err == TUTTI_OK) err = tutti__mesh_order_make(&p.order);
    err = start_call(&p, err);
    const int started = err == TUTTI_OK;
    if (started) {
        tutti__exodus_result_set(&x->mesh_read, NULL, NULL);
        tutti__exodus_local_free(x);
        err = put_mesh(&p);
    }
    if (err == TUTTI_OK) err = tutti__exodus_file_publish(x);
    if (err != TUTTI_OK && started) {
        tutti__exodus_local_free(x);
        if (x->defining) { /* restore the state before the call */
            rows_restore(&p);
            x->model.map_bytes = map_bytes;
        }
    }
    tutti__nemesis_free(&p.nemesis);
    tutti__values_free(&p.values);
    tutti__mesh_order_free(&p.order);
    tutti__free(p.rows_had);
    return tutti__exodus_named(x, "put_mesh", err);
}
