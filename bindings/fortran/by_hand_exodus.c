/* fortran: Exodus files: fields and arrays with buffers of Fortran, entries, notes.  The module
 * itself converts types with texts and lists (parameters, entities, meshes) to structs of C.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static tutti_exodus_options options_of(const tutti_exodus_options *opt, const tutti_options *io) {
    tutti_exodus_options all;
    tutti_exodus_options_init(&all);
    if (opt) all = *opt;
    if (io) all.io = io;
    return all;
}

TUTTI_API void tutti_f_exodus_create(const int *comm, const CFI_cdesc_t *path, tutti__f_handle *x,
                                     int *ierr, const tutti_exodus_options *opt,
                                     const tutti_options *io) {
    char *c_path = tutti__f_text(path);
    const tutti_exodus_options all = options_of(opt, io);
    tutti_exodus *made = NULL;
    const tutti_err err = tutti_exodus_create(tutti_comm_f2c(*comm), c_path, &all, &made);
    x->p = made;
    free(c_path);
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_exodus_create)

TUTTI_API void tutti_f_exodus_open(const int *comm, const CFI_cdesc_t *path, int mode,
                                   tutti__f_handle *x, int *ierr, const tutti_exodus_options *opt,
                                   const tutti_options *io) {
    char *c_path = tutti__f_text(path);
    const tutti_exodus_options all = options_of(opt, io);
    tutti_exodus *made = NULL;
    const tutti_err err = tutti_exodus_open(tutti_comm_f2c(*comm), c_path, mode, &all, &made);
    x->p = made;
    free(c_path);
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_exodus_open)

/* ---- meshes */

/* Return the address of a list of n elements of an entity, or NULL if it has another size; the call
 * to which the mesh is passed then reports the reason. */
TUTTI_API const void *tutti_f_exodus_list(const CFI_cdesc_t *list, int64_t n, int kind, int64_t id,
                                          const CFI_cdesc_t *what, bool *good) {
    const tutti__f_array v = tutti__f_array_of(list);
    if (!v.base || !*good) return NULL;
    if (v.contiguous && v.bytes == n * v.element) return v.base;
    tutti__f_set_local_error(
        TUTTI_ERR_ARG, "%s %lld: '%.*s' has %lld elements%s: must be %lld, contiguous",
        tutti_exodus_kind_name(kind), (long long)id, (int)what->elem_len,
        (const char *)what->base_addr, (long long)(v.element > 0 ? v.bytes / v.element : 0),
        v.contiguous ? "" : " and is not contiguous", (long long)n);
    *good = false;
    return NULL;
}

/* Return the number of distribution factors of a side set, one for each node of each side; -1 if
 * the nodes of a side are unknown, because its element does not exist. */
TUTTI_API tutti_count tutti_f_exodus_factors(const tutti__f_handle *x, const tutti_exodus_mesh *m,
                                             const tutti_exodus_members *set) {
    const tutti_count blocks = tutti_exodus_entities(x->p, TUTTI_EXODUS_ELEMENT_BLOCK);
    tutti_exodus_parameters p;
    tutti_count total = 0;
    if (tutti_exodus_parameters_get(x->p, &p) != TUTTI_OK) return -1;
    for (tutti_count i = 0; i < set->n; i++) {
        tutti_exodus_entity e;
        tutti_count b = 0, before = 0;
        while (b < blocks && m->blocks && set->members[i] >= before + m->blocks[b].n)
            before += m->blocks[b++].n;
        if (b == blocks || !m->blocks || set->members[i] < 0 || !set->sides) return -1;
        if (tutti_exodus_entity_get(x->p, TUTTI_EXODUS_ELEMENT_BLOCK, b, &e) != TUTTI_OK) return -1;
        const char *topology = e.topology ? e.topology : "";
        const int nodes =
            strcasecmp(topology, "nsided") == 0
                ? 2
                : tutti_exodus_side_nodes(topology, e.nodes, p.dims, set->sides[i], NULL);
        if (nodes <= 0) return -1;
        total += nodes;
    }
    return total;
}

/* ---- fields */

/* A variable of an entity and an array: tutti_exodus_field of the module. */
typedef struct field {
    char variable[256];
    int32_t kind, type;
    int64_t id;
    tutti__f_entries entries;
    tutti__f_array array;
} field;

enum { FIELD_BYTES = 96 * 8 };
_Static_assert(sizeof(field) <= FIELD_BYTES, "tutti_exodus_field of the module is too small");

static tutti_err field_take(field *f, int kind, const CFI_cdesc_t *variable, const CFI_cdesc_t *buf,
                            const int64_t *id, const tutti__f_entries *entries) {
    memset(f, 0, sizeof *f);
    const int fits = tutti__f_name(variable, f->variable, sizeof f->variable);
    f->kind = kind;
    f->id = id ? *id : 0;
    if (entries) f->entries = *entries;
    f->array = tutti__f_array_of(buf);
    f->type = f->array.type;
    return fits ? TUTTI_OK
                : tutti__f_error(TUTTI_ERR_ARG, "variable name has more than %zu bytes",
                                 sizeof f->variable - 1);
}

TUTTI_API void tutti_f_exodus_field_make(field *f, int kind, const CFI_cdesc_t *variable,
                                         const CFI_cdesc_t *buf, int *ierr, const int64_t *id,
                                         const tutti__f_entries *entries) {
    tutti__f_end(field_take(f, kind, variable, buf, id, entries), ierr);
}

/* Return the shape of `times` steps of a field; 0 bytes: unknown, and the call reports the
 * error. */
static tutti__f_shape shape_of(const tutti_exodus *x, const field *f, int64_t times) {
    const tutti_exodus_kind kind = (tutti_exodus_kind)f->kind;
    if (f->entries.p && kind != TUTTI_EXODUS_GLOBAL)
        return tutti__f_entries_shape(&f->entries, f->array.element, times);
    const tutti_count held = kind != TUTTI_EXODUS_GLOBAL ? tutti_exodus_entries(x, kind, f->id)
                             : f->variable[0]            ? 1
                                                         : tutti_exodus_variable_count(x, kind);
    return (tutti__f_shape){
        .item = f->array.element, .entries = held > 0 && times > 0 ? held : 0, .times = times};
}

/* Convert a field to C, with `times` steps in its buffer; returns 0 if it is invalid. */
static int field_give(const tutti_exodus *x, const field *f, int64_t times, tutti_exodus_field *out,
                      void **copy) {
    const tutti__f_shape shape = shape_of(x, f, times);
    *out = (tutti_exodus_field){.kind = (tutti_exodus_kind)f->kind,
                                .id = f->id,
                                .variable = f->variable[0] ? f->variable : NULL,
                                .type = (tutti_type)f->type,
                                .entries = f->entries.p};
    if (times == 0 || tutti__f_shape_bytes(&shape) == 0) {
        out->buf = f->array.base;
        if (f->type == TUTTI_BYTES) out->type = TUTTI_FLOAT64; /* an array without elements */
        return 1;
    }
    if (f->type == TUTTI_BYTES) {
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "variable '%s': array must have integer, real or complex elements",
                                 f->variable);
        return 0;
    }
    out->buf = tutti__f_copy_begin(&f->array, &shape, copy);
    return out->buf != NULL;
}

/* A list of fields, or one field, converted to C. */
typedef struct batch {
    int n;
    tutti_exodus_field *fields; /* NULL: a field is invalid */
    const CFI_cdesc_t *list;
    const field *one;
    tutti_exodus_field *made;
    void **copies;
} batch;

static const field *field_at(const batch *b, int i) {
    if (b->one) return b->one;
    return (const field *)((const char *)b->list->base_addr + (ptrdiff_t)i * FIELD_BYTES);
}

static batch batch_begin(const tutti_exodus *x, const CFI_cdesc_t *list, const field *one,
                         const tutti__f_handle *r) {
    batch b = {.n = one ? 1 : (int)tutti__f_length(list), .list = list, .one = one};
    b.made = calloc((size_t)b.n + 1, sizeof *b.made);
    b.copies = calloc((size_t)b.n + 1, sizeof *b.copies);
    int good = b.made && b.copies;
    if (!good) tutti__f_set_local_error(TUTTI_ERR_NOMEM, "out of memory for a list of fields");
    for (int i = 0; i < b.n && good; i++)
        good = field_give(x, field_at(&b, i), 1, &b.made[i], r ? NULL : &b.copies[i]);
    if (good)
        b.fields = b.made;
    else
        b.n = 1; /* one field, but NULL as the list: the call fails */
    return b;
}

static void batch_end(batch *b, int back, tutti_err err, int *ierr) {
    for (int i = 0; b->copies && i < b->n; i++)
        tutti__f_copy_end(&field_at(b, i)->array, b->copies[i], back && b->fields);
    free(b->copies);
    free(b->made);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

static void put_fields(tutti_exodus *x, batch b, tutti__f_handle *r, int *ierr) {
    tutti_request *made = NULL;
    const tutti_err err =
        r ? tutti_exodus_put_start(x, b.n, b.fields, &made) : tutti_exodus_put(x, b.n, b.fields);
    if (r) r->p = made;
    batch_end(&b, 0, err, ierr);
}

static void get_fields(tutti_exodus *x, tutti_count step, batch b, tutti__f_handle *r, int *ierr) {
    tutti_request *made = NULL;
    const tutti_err err = r ? tutti_exodus_get_start(x, step, b.n, b.fields, &made)
                            : tutti_exodus_get(x, step, b.n, b.fields);
    if (r) r->p = made;
    batch_end(&b, 1, err, ierr);
}

TUTTI_API void tutti_f_exodus_put_all(const tutti__f_handle *x, const CFI_cdesc_t *fields,
                                      int *ierr) {
    put_fields(x->p, batch_begin(x->p, fields, NULL, NULL), NULL, ierr);
}

TUTTI_API void tutti_f_exodus_put_start_all(const tutti__f_handle *x, const CFI_cdesc_t *fields,
                                            tutti__f_handle *r, int *ierr) {
    put_fields(x->p, batch_begin(x->p, fields, NULL, r), r, ierr);
}

TUTTI_API void tutti_f_exodus_get_all(const tutti__f_handle *x, tutti_count step,
                                      const CFI_cdesc_t *fields, int *ierr) {
    get_fields(x->p, step, batch_begin(x->p, fields, NULL, NULL), NULL, ierr);
}

TUTTI_API void tutti_f_exodus_get_start_all(const tutti__f_handle *x, tutti_count step,
                                            const CFI_cdesc_t *fields, tutti__f_handle *r,
                                            int *ierr) {
    get_fields(x->p, step, batch_begin(x->p, fields, NULL, r), r, ierr);
}

/* Put one field; a name that is too long becomes empty. */
TUTTI_API void tutti_f_exodus_put(const tutti__f_handle *x, int kind, const CFI_cdesc_t *variable,
                                  const CFI_cdesc_t *buf, int *ierr, const int64_t *id,
                                  const tutti__f_entries *entries) {
    field f;
    (void)field_take(&f, kind, variable, buf, id, entries);
    put_fields(x->p, batch_begin(x->p, NULL, &f, NULL), NULL, ierr);
}

TUTTI_API void tutti_f_exodus_put_start(const tutti__f_handle *x, int kind,
                                        const CFI_cdesc_t *variable, const CFI_cdesc_t *buf,
                                        tutti__f_handle *r, int *ierr, const int64_t *id,
                                        const tutti__f_entries *entries) {
    field f;
    (void)field_take(&f, kind, variable, buf, id, entries);
    put_fields(x->p, batch_begin(x->p, NULL, &f, r), r, ierr);
}

TUTTI_API void tutti_f_exodus_get(const tutti__f_handle *x, tutti_count step, int kind,
                                  const CFI_cdesc_t *variable, const CFI_cdesc_t *buf, int *ierr,
                                  const int64_t *id, const tutti__f_entries *entries) {
    field f;
    (void)field_take(&f, kind, variable, buf, id, entries);
    get_fields(x->p, step, batch_begin(x->p, NULL, &f, NULL), NULL, ierr);
}

TUTTI_API void tutti_f_exodus_get_start(const tutti__f_handle *x, tutti_count step, int kind,
                                        const CFI_cdesc_t *variable, const CFI_cdesc_t *buf,
                                        tutti__f_handle *r, int *ierr, const int64_t *id,
                                        const tutti__f_entries *entries) {
    field f;
    (void)field_take(&f, kind, variable, buf, id, entries);
    get_fields(x->p, step, batch_begin(x->p, NULL, &f, r), r, ierr);
}

TUTTI_API void tutti_f_exodus_follow(const tutti__f_handle *x, tutti_count first, tutti_count last,
                                     int kind, const CFI_cdesc_t *variable, const CFI_cdesc_t *buf,
                                     int *ierr, const int64_t *id,
                                     const tutti__f_entries *entries) {
    field f;
    tutti_exodus_field c;
    void *copy = NULL;
    (void)field_take(&f, kind, variable, buf, id, entries);
    const int good = field_give(x->p, &f, first <= last ? last - first + 1 : 0, &c, &copy);
    /* without a field the call fails */
    const tutti_err err = good ? tutti_exodus_follow(x->p, first, last, &c)
                               : tutti_exodus_follow(x->p, first, last, NULL);
    tutti__f_copy_end(&f.array, copy, 1);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_field_offset(const tutti__f_handle *x, tutti_count step, int kind,
                                           const CFI_cdesc_t *variable, tutti_off *at, int *type,
                                           int *ierr, const int64_t *id) {
    char *name = tutti__f_text(variable);
    const tutti_exodus_field f = {.kind = (tutti_exodus_kind)kind,
                                  .id = id ? *id : 0,
                                  .variable = name && name[0] ? name : NULL};
    tutti_type its = TUTTI_BYTES;
    *at = 0;
    const tutti_err err = tutti_exodus_field_offset(x->p, step, &f, at, &its);
    *type = (int)its;
    free(name);
    tutti__f_end(err, ierr);
}

/* ---- arrays */

/* A piece of an array: tutti_exodus_array of the module. */
typedef struct piece {
    tutti_exodus_array of;
    tutti__f_entries entries;
    int64_t n; /* number of entries; -1: as many as `array` has */
    tutti__f_array array;
} piece;

enum { PIECE_BYTES = 80 * 8 };
_Static_assert(sizeof(piece) <= PIECE_BYTES, "tutti_exodus_array of the module is too small");

static tutti_exodus_array array_of(int array_kind, int kind, const int64_t *id,
                                   const int *component) {
    return (tutti_exodus_array){.array_kind = (tutti_exodus_array_kind)array_kind,
                                .kind = (tutti_exodus_kind)kind,
                                .id = id ? *id : 0,
                                .component = component ? *component : 0};
}

TUTTI_API void tutti_f_exodus_array_make(piece *p, int array_kind, int kind, const CFI_cdesc_t *buf,
                                         int *ierr, const int64_t *id, const int *component,
                                         const tutti_count *first, const tutti_count *n,
                                         const tutti__f_entries *entries) {
    memset(p, 0, sizeof *p);
    p->of = array_of(array_kind, kind, id, component);
    p->of.first = first ? *first : 0;
    p->n = n ? *n : -1;
    if (entries) {
        p->of.entries = entries->p;
        p->entries = *entries;
    }
    p->array = tutti__f_array_of(buf);
    p->of.type = (tutti_type)p->array.type;
    tutti__f_end(TUTTI_OK, ierr);
}

/* Convert a piece of an array to C; returns 0 if it is invalid. */
static int piece_give(const tutti_exodus *x, const piece *p, tutti_exodus_array *out, void **copy) {
    const tutti__f_array *v = &p->array;
    tutti_count all = 0, numbers = 1;
    tutti_type type = TUTTI_BYTES;
    *out = p->of;
    if (tutti_exodus_array_size(x, out, &all, &numbers, &type) != TUTTI_OK) numbers = 1;
    const int64_t here = v->element > 0 && v->bytes > 0 ? v->bytes / v->element : 0;
    out->n = p->n >= 0 || numbers < 1 ? p->n : here / numbers;
    const int64_t item = numbers * v->element;
    const tutti__f_shape shape = p->of.entries ? tutti__f_entries_shape(&p->entries, item, 1)
                                               : (tutti__f_shape){.item = item, .entries = out->n};
    if (item <= 0 || out->n < 0 || tutti__f_shape_bytes(&shape) == 0) {
        out->buf = v->base;
        if (v->type == TUTTI_BYTES) out->type = type; /* an array without elements */
        return 1;
    }
    out->buf = tutti__f_copy_begin(v, &shape, copy);
    return out->buf != NULL;
}

static void move_arrays(tutti_exodus *x, const CFI_cdesc_t *list, int is_put, int *ierr) {
    int n = (int)tutti__f_length(list);
    const piece *const pieces = tutti__f_list(list);
    tutti_exodus_array *all = calloc((size_t)n + 1, sizeof *all);
    void **copies = calloc((size_t)n + 1, sizeof *copies);
    int good = all && copies;
    if (!good) tutti__f_set_local_error(TUTTI_ERR_NOMEM, "out of memory for a list of arrays");
#define AT(i) ((const piece *)((const char *)pieces + (ptrdiff_t)(i)*PIECE_BYTES))
    for (int i = 0; i < n && good; i++) good = piece_give(x, AT(i), &all[i], &copies[i]);
    const tutti_exodus_array *arrays = good ? all : NULL; /* NULL makes the call fail */
    const tutti_count many = good ? n : 1;
    const tutti_err err = is_put ? tutti_exodus_put_arrays(x, many, arrays)
                                 : tutti_exodus_get_arrays(x, many, arrays);
    for (int i = 0; i < n && copies; i++)
        tutti__f_copy_end(&AT(i)->array, copies[i], !is_put && good);
#undef AT
    free(copies);
    free(all);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_put_arrays(const tutti__f_handle *x, const CFI_cdesc_t *arrays,
                                         int *ierr) {
    move_arrays(x->p, arrays, 1, ierr);
}

TUTTI_API void tutti_f_exodus_get_arrays(const tutti__f_handle *x, const CFI_cdesc_t *arrays,
                                         int *ierr) {
    move_arrays(x->p, arrays, 0, ierr);
}

TUTTI_API void tutti_f_exodus_array_size(const tutti__f_handle *x, int array_kind, int kind,
                                         tutti_count *entries, tutti_count *values, int *type,
                                         int *ierr, const int64_t *id, const int *component) {
    const tutti_exodus_array a = array_of(array_kind, kind, id, component);
    tutti_type its = TUTTI_BYTES;
    *entries = *values = 0;
    const tutti_err err = tutti_exodus_array_size(x->p, &a, entries, values, &its);
    *type = (int)its;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_array_offset(const tutti__f_handle *x, int array_kind, int kind,
                                           tutti_off *at, int *type, int *ierr, const int64_t *id,
                                           const int *component) {
    const tutti_exodus_array a = array_of(array_kind, kind, id, component);
    tutti_type its = TUTTI_BYTES;
    *at = 0;
    const tutti_err err = tutti_exodus_array_offset(x->p, &a, at, &its);
    *type = (int)its;
    tutti__f_end(err, ierr);
}

/* ---- entries */

TUTTI_API void tutti_f_exodus_decomposition(const tutti__f_handle *x, int kind,
                                            tutti__f_entries *out, int *ierr, const int64_t *id,
                                            const tutti_slice *slice, const CFI_cdesc_t *index,
                                            const CFI_cdesc_t *ids, const tutti_count *n,
                                            const CFI_cdesc_t *own, const CFI_cdesc_t *memory,
                                            const int *whole, const tutti_replicas_choice *choice) {
    tutti_decomposition *made = NULL;
    tutti_decomposition_spec spec = tutti__f_spec(index, ids, n, own, memory, whole);
    if (choice) spec.choice = *choice;
    if (slice) {
        spec.kind = TUTTI_BY_SLICE;
        spec.slice = *slice;
    }
    const tutti_err err =
        tutti_exodus_decomposition(x->p, (tutti_exodus_kind)kind, id ? *id : 0, &spec, &made);
    *out = tutti__f_entries_of(made, &spec, 1);
    tutti__f_end(err, ierr);
}

/* ---- notes */

TUTTI_API void tutti_f_exodus_note_set(const tutti__f_handle *x, const CFI_cdesc_t *name,
                                       const CFI_cdesc_t *value, int *ierr) {
    char *c_name = tutti__f_text(name);
    const tutti__f_array v = tutti__f_array_of(value);
    tutti_type type = TUTTI_BYTES;
    void *copy = NULL;
    const tutti_count n = value ? tutti__f_value_of(&v, &type) : 0;
    const void *at = value ? tutti__f_copy_begin(&v, NULL, &copy) : NULL;
    const tutti_err err =
        tutti_exodus_note_set(x->p, c_name, type, value && !at && v.base ? -1 : n, at);
    tutti__f_copy_end(&v, copy, 0);
    free(c_name);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_note_remove(const tutti__f_handle *x, const CFI_cdesc_t *name,
                                          int *ierr) {
    tutti_f_exodus_note_set(x, name, NULL, ierr);
}

TUTTI_API void tutti_f_exodus_note_get(const tutti__f_handle *x, const CFI_cdesc_t *name,
                                       const CFI_cdesc_t *value, int *ierr, int *type,
                                       tutti_count *count) {
    char *c_name = tutti__f_text(name);
    const tutti__f_array v = tutti__f_array_of(value);
    tutti_type its = TUTTI_BYTES;
    tutti_count n = 0;
    tutti_err err = tutti_exodus_note_get(x->p, c_name, &its, &n, NULL);
    if (err == TUTTI_OK && !v.absent) {
        tutti_type now = its;
        tutti_count room = n;
        void *all = malloc((size_t)(n * 16) + 1); /* large enough for any type */
        if (!all) tutti__f_set_local_error(TUTTI_ERR_NOMEM, "out of memory for the value");
        const int fits = all && tutti__f_value_fits(&v, its, n);
        err = tutti_exodus_note_get(x->p, fits ? c_name : NULL, &now, &room, all);
        tutti__f_settled();
        if (err == TUTTI_OK && now != its)
            err = tutti__f_error(TUTTI_ERR_STATE,
                                 "note '%s' has changed its type during the read: read it again",
                                 c_name);
        if (err == TUTTI_OK) tutti__f_value_take(&v, now, room, all);
        free(all);
    }
    if (type) *type = (int)its;
    if (count) *count = n;
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_note_size(const tutti__f_handle *x, const CFI_cdesc_t *name,
                                        int *type, tutti_count *count, int *ierr) {
    tutti_f_exodus_note_get(x, name, NULL, ierr, type, count);
}
