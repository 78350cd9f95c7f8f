/* exodus: offsets of arrays in the file; sections of arrays written and read.
 *
 * A call with thousands of small arrays is one operation: pieces with the same types in file and
 * memory become one access, with memory offsets relative to the first of the buffers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <stdio.h>
#include <string.h>
#include "access/convert.h"

/* ---- places */

/* Find a variable with `entries` entries of `numbers` values. */
static tutti_err find_variable(const tutti_exodus *x, const char *name, tutti_count entries,
                               tutti_count numbers, tutti__exodus_place *out) {
    const tutti_count index = tutti__cdf_find_var(&x->cdf, name);
    TUTTI_CHECK(index >= 0, TUTTI_ERR_NOT_FOUND, "the file has no variable '%s'", name);
    const tutti__cdf_var *v = &x->cdf.vars[index];
    TUTTI_CHECK(v->type != TUTTI__CDF_CHAR, TUTTI_ERR_FORMAT, "'%s' has type char: must be numeric",
                name);
    TUTTI_CHECK(tutti__has_shape(v->numbers, entries, numbers), TUTTI_ERR_FORMAT,
                "'%s' has %lld values: expected %lld * %lld", name, (long long)v->numbers,
                (long long)entries, (long long)numbers);
    *out = (tutti__exodus_place){v->begin, entries, numbers, tutti__cdf_number(v->type),
                                 tutti__exodus_step_stride(&x->cdf, v)};
    return TUTTI_OK;
}

enum { INTEGERS, REALS };
/* Find an array of the mesh whose values are reals or integers, as the callers require.  Record
 * variables are refused, since their bytes need not exist. */
static tutti_err find_mesh_array(const tutti_exodus *x, const char *name, int class,
                                 tutti_count entries, tutti_count numbers,
                                 tutti__exodus_place *out) {
    tutti__exodus_place found;
    TUTTI_TRY(find_variable(x, name, entries, numbers, &found));
    const int is_real = found.type == TUTTI_FLOAT32 || found.type == TUTTI_FLOAT64;
    TUTTI_CHECK(is_real == (class == REALS), TUTTI_ERR_FORMAT, "'%s' has type %s: must be %s type",
                name, tutti_type_name(found.type),
                class == REALS ? "a floating-point" : "an integer");
    TUTTI_CHECK(!x->cdf.vars[tutti__cdf_find_var(&x->cdf, name)].is_record, TUTTI_ERR_FORMAT,
                "'%s' must not depend on the time step", name);
    *out = found;
    return TUTTI_OK;
}

static tutti_err find_entity_array(const tutti_exodus *x, const tutti_exodus_array *a,
                                   const tutti_exodus_entity *e, tutti_count number,
                                   tutti__exodus_place *out) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[a->kind];
    const int block = tutti__exodus_is_block((int)a->kind),
              set = tutti__exodus_is_set((int)a->kind), listed = tutti__exodus_is_listed(e);
    const char *name = NULL;
    tutti_count entries = e->entries, numbers = 1;
    char full[64];
    switch (a->array_kind) {
    case TUTTI_EXODUS_CONNECTIVITY:
        name = !block ? NULL : listed == 2 ? "facconn" : k->list;
        if (listed)
            entries = e->list_length;
        else
            numbers = e->nodes;
        break;
    case TUTTI_EXODUS_EDGES:
        if (block && e->edges > 0) name = "edgconn";
        numbers = e->edges;
        break;
    case TUTTI_EXODUS_FACES:
        if (block && e->faces > 0) name = "facconn";
        numbers = e->faces;
        break;
    case TUTTI_EXODUS_COUNTS:
        if (listed) name = k->counts;
        break;
    case TUTTI_EXODUS_ATTRIBUTES:
        if (e->attributes > 0) name = k->attributes;
        numbers = e->attributes;
        break;
    case TUTTI_EXODUS_MEMBERS:
        if (set) name = k->list;
        break;
    case TUTTI_EXODUS_SIDES:
        if (set) name = k->extra;
        break;
    case TUTTI_EXODUS_FACTORS:
        if (set && e->factors > 0) name = k->factors;
        entries = e->factors;
        break;
    case TUTTI_EXODUS_MAP:
        if (tutti__exodus_is_map((int)a->kind)) name = k->list;
        break;
    default:
        break;
    }
    TUTTI_CHECK(name, TUTTI_ERR_NOT_FOUND,
                "%s %lld has no array of kind %d (tutti_exodus_array_kind)", k->word,
                (long long)a->id, (int)a->array_kind);
    if (entries == 0) { /* the file has no variable for an array without entries */
        *out = (tutti__exodus_place){0, 0, numbers, TUTTI_FLOAT64, 0};
        return TUTTI_OK;
    }
    if (a->kind != TUTTI_EXODUS_NODAL) name = tutti__exodus_numbered(full, name, number + 1);
    const int class =
        a->array_kind == TUTTI_EXODUS_ATTRIBUTES || a->array_kind == TUTTI_EXODUS_FACTORS
            ? REALS
            : INTEGERS;
    return find_mesh_array(x, name, class, entries, numbers, out);
}

tutti_err tutti__exodus_place_of(const tutti_exodus *x, const tutti_exodus_array *a,
                                 tutti__exodus_place *out) {
    static const char *const ID_MAPS[] = {"node_num_map", "elem_num_map", "edge_num_map",
                                          "face_num_map"};
    tutti_count number = 0;
    TUTTI_CHECK((int)a->kind > TUTTI_EXODUS_GLOBAL && a->kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG,
                "kind is %d: must be TUTTI_EXODUS_NODAL or the kind of a block, set or map",
                (int)a->kind);
    if (a->array_kind == TUTTI_EXODUS_COORDINATES) {
        TUTTI_CHECK(a->kind == TUTTI_EXODUS_NODAL, TUTTI_ERR_ARG,
                    "only nodes have coordinates, not %ss", tutti__exodus_names_of[a->kind].word);
        static const char *const XYZ[] = {"coordx", "coordy", "coordz"};
        const tutti_count n = x->model.p.nodes;
        TUTTI_CHECK(a->component >= 0 && a->component < x->model.p.dims, TUTTI_ERR_ARG,
                    "component of coordinates is %d: must be 0 to %d", a->component,
                    x->model.p.dims - 1);
        if (tutti__cdf_find_var(&x->cdf, "coordx") >= 0 ||
            tutti__cdf_find_var(&x->cdf, "coord") < 0)
            return find_mesh_array(x, XYZ[a->component], REALS, n, 1, out);
        /* in files without "large model" all coordinates are one array */
        TUTTI_TRY(find_mesh_array(x, "coord", REALS, n, x->model.p.dims, out));
        out->at += a->component * n * tutti_type_size(out->type);
        out->numbers = 1;
        return TUTTI_OK;
    }
    if (a->array_kind == TUTTI_EXODUS_IDS) {
        TUTTI_CHECK(a->kind == TUTTI_EXODUS_NODAL || tutti__exodus_is_block((int)a->kind),
                    TUTTI_ERR_ARG, "%ss have no id maps: only nodes and blocks do",
                    tutti__exodus_names_of[a->kind].word);
        return find_mesh_array(x, ID_MAPS[a->kind - TUTTI_EXODUS_NODAL], INTEGERS,
                               tutti__exodus_model_total(&x->model, a->kind), 1, out);
    }
    if (a->array_kind == TUTTI_EXODUS_ORDER) {
        TUTTI_CHECK(a->kind == TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_ERR_ARG,
                    "only elements have an order map, not %ss",
                    tutti__exodus_names_of[a->kind].word);
        return find_mesh_array(x, "elem_map", INTEGERS, x->model.p.elements, 1, out);
    }
    TUTTI_TRY(tutti__exodus_number(x, a->kind, a->id, &number));
    return find_entity_array(x, a, &x->model.of[a->kind].row[number], number, out);
}

/* Find a variable of results in a step. */
static tutti_err find_step_values(const tutti_exodus *x, const char *name, tutti_count entries,
                                  tutti_count numbers, tutti_count step, tutti__exodus_place *out) {
    TUTTI_TRY(find_variable(x, name, entries, numbers, out));
    out->numbers = 1;
    TUTTI_CHECK(out->stride > 0, TUTTI_ERR_FORMAT, "'%s' has no time steps", name);
    out->at += (step - 1) * out->stride;
    return TUTTI_OK;
}

tutti_err tutti__exodus_place_of_field(const tutti_exodus *x, tutti_exodus_kind kind,
                                       tutti_count number, int variable, tutti_count step,
                                       tutti__exodus_place *out) {
    const tutti__exodus_model *m = &x->model;
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    char full[64];
    tutti_off before = 0;
    tutti_count in_all = 1;
    if (kind == TUTTI_EXODUS_GLOBAL) {
        TUTTI_TRY(find_step_values(x, k->values, m->of[kind].variables_n, 1, step, out));
        out->at += variable * tutti_type_size(out->type);
        out->entries = 1;
        return TUTTI_OK;
    }
    const tutti_count entries = m->of[kind].row[number].entries;
    if (entries == 0) {
        *out = (tutti__exodus_place){0, 0, 1, TUTTI_FLOAT64, 0};
        return TUTTI_OK;
    }
    const char *name = tutti__exodus_values_name(full, (int)kind, number, variable);
    if (kind == TUTTI_EXODUS_NODAL && tutti__cdf_find_var(&x->cdf, name) < 0 &&
        tutti__cdf_find_var(&x->cdf, k->values) >= 0) {
        name = k->values; /* files without "large model" have all nodal variables in one array */
        in_all = m->of[kind].variables_n;
        before = variable * entries;
    }
    TUTTI_TRY(find_step_values(x, name, entries, in_all, step, out));
    out->entries = entries;
    out->at += before * tutti_type_size(out->type);
    return TUTTI_OK;
}

tutti_err tutti_exodus_array_size(const tutti_exodus *x, const tutti_exodus_array *a,
                                  tutti_count *entries_out, tutti_count *values_out,
                                  tutti_type *type_out) {
    tutti__exodus_place p;
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_TRY(tutti__exodus_named(x, "array_size", tutti__exodus_defined(x)));
    TUTTI_TRY(tutti__exodus_named(x, "array_size", tutti__exodus_place_of(x, a, &p)));
    if (entries_out) *entries_out = p.entries;
    if (values_out) *values_out = p.numbers;
    if (type_out) *type_out = p.type;
    return TUTTI_OK;
}

/* ---- pieces */

/* Pieces with the same types, which form one access. */
typedef struct {
    tutti_type file, memory;
    char *base;
    tutti_count n, capacity;
    tutti_off *v; /* [3 * room] offsets in the file, in memory, lengths */
} group;

enum { GROUPS = 8 };

/* The arrays of one call. */
typedef struct {
    tutti_count n;
    tutti__exodus_place *place; /* [n] */
    /* whether the id map is not in the file, that is, ids are 1, 2, 3 ... */
    unsigned char *is_implicit;
    group groups[GROUPS];
    int groups_n;
    tutti_count parts_n;
    size_t parts_room, access_room;
    tutti_part *parts;
    tutti_access **access; /* accesses of the parts */
} batch;

static tutti_err append_part(batch *b, tutti_access *access, void *buf, tutti_type file,
                             tutti_type memory) {
    const size_t n = (size_t)b->parts_n + 1;
    if (tutti__grow(&b->parts, n, &b->parts_room, sizeof *b->parts) != TUTTI_OK ||
        tutti__grow(&b->access, n, &b->access_room, sizeof *b->access) != TUTTI_OK) {
        tutti_access_free(&access);
        return TUTTI_ERR_NOMEM;
    }
    b->access[b->parts_n] = access;
    b->parts[b->parts_n++] = (tutti_part){
        .access = access,
        .buf = buf,
        .convert = {.file_type = file, .memory_type = memory, .file_order = TUTTI_BIG_ENDIAN}};
    return TUTTI_OK;
}

static group *find_group(batch *b, tutti_type file, tutti_type memory) {
    for (int i = 0; i < b->groups_n; i++)
        if (b->groups[i].file == file && b->groups[i].memory == memory) return &b->groups[i];
    if (b->groups_n == GROUPS) return NULL;
    b->groups[b->groups_n] = (group){.file = file, .memory = memory};
    return &b->groups[b->groups_n++];
}

/* Add n values at file offset `at` and memory address `buf`. */
static tutti_err add_piece(batch *b, tutti_off at, tutti_count n, char *buf, tutti_type file,
                           tutti_type memory) {
    const tutti_off in_file = tutti_type_size(file), in_memory = tutti_type_size(memory);
    tutti_access *access = NULL;
    group *g = find_group(b, file, memory);
    const intptr_t from = g && g->n > 0 ? (intptr_t)buf - (intptr_t)g->base : 0;
    if (!g || from % in_memory != 0) { /* too many types, or misaligned */
        TUTTI_TRY(tutti_access_contiguous(at, n * in_file, &access));
        return append_part(b, access, buf, file, memory);
    }
    if (g->n == 0) g->base = buf;
    const tutti_off memory_at = from / in_memory * in_file;
    if (g->n > 0) { /* extend the last piece if the new one follows it */
        const tutti_count k = g->n - 1;
        tutti_off *length = &g->v[2 * g->capacity + k];
        if (g->v[k] + *length == at && g->v[g->capacity + k] + *length == memory_at) {
            *length += n * in_file;
            return TUTTI_OK;
        }
    }
    if (g->n == g->capacity) {
        const tutti_count capacity = g->capacity ? 2 * g->capacity : 16;
        tutti_off *v = tutti__malloc((size_t)capacity * 3 * sizeof *v);
        if (!v) return TUTTI_ERR_NOMEM;
        for (int i = 0; i < 3 && g->n > 0; i++)
            memcpy(v + i * capacity, g->v + i * g->capacity, (size_t)g->n * sizeof *v);
        tutti__free(g->v);
        g->v = v;
        g->capacity = capacity;
    }
    g->v[g->n] = at;
    g->v[g->capacity + g->n] = memory_at;
    g->v[2 * g->capacity + g->n++] = n * in_file;
    return TUTTI_OK;
}

/* ---- calls */

static tutti_err check_array_section(const tutti_exodus *x, const tutti_exodus_array *a,
                                     int is_write, tutti__exodus_place *p,
                                     unsigned char *is_implicit) {
    TUTTI_CHECK_RESERVED(a, "an array");
    tutti_err err = tutti__exodus_place_of(x, a, p);
    if (err == TUTTI_ERR_NOT_FOUND && !is_write && a->array_kind == TUTTI_EXODUS_IDS) {
        *is_implicit = 1;
        *p = (tutti__exodus_place){0, tutti__exodus_model_total(&x->model, a->kind), 1, TUTTI_INT64,
                                   0};
        err = TUTTI_OK;
    }
    TUTTI_TRY(err);
    tutti__conversion c;
    const tutti_conversion in = {.file_type = p->type, .memory_type = a->type};
    TUTTI_CHECK(tutti_type_name(a->type)[0], TUTTI_ERR_ARG, "unknown type %d", (int)a->type);
    TUTTI_CHECK(a->type != TUTTI_BYTES && tutti__conversion_make(&in, &c) == TUTTI_OK,
                TUTTI_ERR_ARG, "cannot convert %s (memory) to %s (file)", tutti_type_name(a->type),
                tutti_type_name(p->type));
    if (a->entries) {
        TUTTI_CHECK(!*is_implicit, TUTTI_ERR_ARG,
                    "the file has no id map: read ids with first and n, not with entries");
        tutti__decomposition_facts f;
        TUTTI_TRY(tutti__decomposition_live(a->entries));
        tutti__decomposition_facts_of(a->entries, &f);
        TUTTI_CHECK(f.object == -x->number, TUTTI_ERR_ARG,
                    "the decomposition belongs to another file or dataset");
        TUTTI_CHECK(a->entries->of == p->entries, TUTTI_ERR_ARG,
                    "the decomposition has %lld entries, the array %lld: must be equal",
                    (long long)a->entries->of, (long long)p->entries);
        TUTTI_CHECK(a->buf || f.entries == 0, TUTTI_ERR_ARG, "field buf is NULL");
        return TUTTI_OK;
    }
    TUTTI_CHECK(a->first >= 0 && a->n >= 0 && a->first <= p->entries &&
                    a->n <= p->entries - a->first,
                TUTTI_ERR_ARG, "first is %lld and n is %lld: the array has %lld entries",
                (long long)a->first, (long long)a->n, (long long)p->entries);
    TUTTI_CHECK(a->buf || a->n == 0, TUTTI_ERR_ARG, "field buf is NULL");
    return TUTTI_OK;
}

static tutti_err prepare_batch(const tutti_exodus *x, int is_write, tutti_count n,
                               const tutti_exodus_array *arrays, batch *b) {
    TUTTI_TRY(is_write ? tutti__exodus_writable(x) : tutti__exodus_defined(x));
    TUTTI_CHECK(!is_write || (x->cdf.records == 0 && !x->step), TUTTI_ERR_STATE,
                "arrays of the mesh must be written before the first step");
    TUTTI_CHECK(is_write || (x->mode & TUTTI_READ), TUTTI_ERR_MODE,
                "the file was not opened for reading");
    TUTTI_CHECK(tutti_size_fits(n, sizeof *arrays, PTRDIFF_MAX), TUTTI_ERR_ARG,
                "n is %lld: must be 0 to %lld", (long long)n,
                (long long)(PTRDIFF_MAX / sizeof *arrays));
    TUTTI_CHECK(arrays || n == 0, TUTTI_ERR_ARG, "argument arrays is NULL, but n is %lld",
                (long long)n);
    b->place = tutti__malloc((size_t)n * sizeof *b->place);
    b->is_implicit = tutti__calloc((size_t)n + 1, 1);
    if (!b->place || !b->is_implicit) return TUTTI_ERR_NOMEM;
    b->n = n;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_err err =
            check_array_section(x, &arrays[i], is_write, &b->place[i], &b->is_implicit[i]);
        if (err == TUTTI_OK) continue;
        tutti_error_info info = *tutti_last_error();
        char text[sizeof info.text];
        snprintf(text, sizeof text, "array %lld: %.300s", (long long)i, info.text);
        memcpy(info.text, text, sizeof text);
        tutti__error_assign(&info);
        return err;
    }
    return TUTTI_OK;
}

/* Fill in the ids of an entity without an id map: 1, 2, 3 ... */
static tutti_err fill_implicit_ids(const tutti_exodus_array *a) {
    const tutti_conversion in = {.file_type = TUTTI_INT64, .memory_type = a->type};
    tutti__conversion c;
    TUTTI_TRY(tutti__conversion_make(&in, &c));
    const tutti_off size = tutti_type_size(a->type);
    for (tutti_count i = 0; i < a->n; i++) {
        const int64_t id = a->first + i + 1;
        char *to = (char *)a->buf + i * size;
        switch (a->type) {
        case TUTTI_INT64:
        case TUTTI_UINT64:
            memcpy(to, &id, sizeof id);
            break;
        case TUTTI_FLOAT64:
            memcpy(to, &(double){(double)id}, sizeof(double));
            break;
        default:
            TUTTI_CHECK(a->type == TUTTI_INT32 && id <= INT32_MAX, TUTTI_ERR_VALUE,
                        "id %lld does not fit into %s", (long long)id, tutti_type_name(a->type));
            memcpy(to, &(int32_t){(int32_t)id}, sizeof(int32_t));
        }
    }
    return TUTTI_OK;
}

static tutti_err describe_parts(const tutti_exodus_array *arrays, int is_write, batch *b) {
    for (tutti_count i = 0; i < b->n; i++) {
        const tutti_exodus_array *a = &arrays[i];
        const tutti__exodus_place *p = &b->place[i];
        const tutti_off item = p->numbers * tutti_type_size(p->type);
        if (b->is_implicit[i]) {
            TUTTI_TRY(fill_implicit_ids(a));
        } else if (a->entries && p->entries > 0) {
            const tutti_access *access = NULL;
            tutti_access *shifted = NULL;
            TUTTI_TRY(tutti__decomposition_access(a->entries, item, is_write, &access));
            TUTTI_TRY(tutti_access_shift(access, p->at, 0, &shifted));
            TUTTI_TRY(append_part(b, shifted, a->buf, p->type, a->type));
        } else if (!a->entries && a->n > 0) {
            TUTTI_TRY(
                add_piece(b, p->at + a->first * item, a->n * p->numbers, a->buf, p->type, a->type));
        }
    }
    for (int i = 0; i < b->groups_n; i++) {
        const group *g = &b->groups[i];
        tutti_access *access = NULL;
        if (g->n == 0) continue;
        TUTTI_TRY(
            tutti_access_pieces(g->n, g->v, g->v + g->capacity, g->v + 2 * g->capacity, &access));
        TUTTI_TRY(append_part(b, access, g->base, g->file, g->memory));
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_transfer(tutti_exodus *x, int is_write, tutti_count n,
                                 const tutti_part *parts, tutti_err local_err) {
    tutti__transfer t = {.name = is_write ? "put" : "get",
                         .file = x->file,
                         .is_write = is_write,
                         .parts = parts,
                         .local_err = local_err,
                         .least = is_write ? 0 : tutti__max(x->cdf.fixed_end - 3, 0)};
    if (is_write) tutti__region_next_operation(x->mesh);
    if (t.local_err == TUTTI_OK) t.local_err = tutti__narrow_int(n, &t.parts_n);
    if (t.local_err == TUTTI_OK && is_write && x->mesh)
        t.local_err = tutti__region_add_parts(x->mesh, t.parts_n, parts, &t.checksums);
    return tutti__transfer_run(&t, NULL);
}

static tutti_err transfer_arrays(tutti_exodus *x, int is_write, tutti_count n,
                                 const tutti_exodus_array *arrays) {
    const char *name = is_write ? "put_arrays" : "get_arrays";
    batch b = {0};
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = prepare_batch(x, is_write, n, arrays, &b);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        const tutti_exodus_array *a = &arrays[i];
        const int64_t kinds = (int64_t)a->array_kind << 48 | (int64_t)a->kind << 32 | a->component;
        const int64_t words[] = {kinds, a->id, a->entries != NULL};
        h = tutti__hash(h, words, sizeof words);
    }
    err = tutti__exodus_call(x, name, h, err);
    /* recompute the checksums of a mesh that was complete */
    if (err == TUTTI_OK && is_write && !x->mesh) {
        err = tutti__team_agree(
            x->team, tutti__exodus_region_make(x, x->cdf.header_bytes, x->cdf.fixed_end, &x->mesh));
        if (err != TUTTI_OK) tutti__region_free(&x->mesh);
    }
    if (err == TUTTI_OK) {
        const tutti_err local_err = describe_parts(arrays, is_write, &b);
        err = tutti__exodus_transfer(x, is_write, b.parts_n, b.parts, local_err);
    }
    for (tutti_count i = 0; i < b.parts_n; i++) tutti_access_free(&b.access[i]);
    for (int i = 0; i < b.groups_n; i++) tutti__free(b.groups[i].v);
    tutti__free(b.place);
    tutti__free(b.is_implicit);
    tutti__free(b.parts);
    tutti__free(b.access);
    return tutti__exodus_named(x, name, err);
}

tutti_err tutti_exodus_put_arrays(tutti_exodus *x, tutti_count n,
                                  const tutti_exodus_array *arrays) {
    TUTTI_KEEP_ERRNO;
    return transfer_arrays(x, 1, n, arrays);
}

tutti_err tutti_exodus_get_arrays(tutti_exodus *x, tutti_count n,
                                  const tutti_exodus_array *arrays) {
    TUTTI_KEEP_ERRNO;
    return transfer_arrays(x, 0, n, arrays);
}
