/* fortran: datasets and decompositions.  Specs are passed as arguments, owners of infos as a
 * variable and a segment.
 *
 * Grids are row-major in the file, and arrays column-major in memory: the first dimension here is
 * the last one there.  Shapes and slices are therefore reversed, and elements have the same order
 * in both, without transposing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

TUTTI_API void tutti_f_dataset_open(const int *comm, const CFI_cdesc_t *path, int mode,
                                    tutti__f_handle *d, int *ierr, const tutti_dataset_options *opt,
                                    const tutti_options *io) {
    char *c_path = tutti__f_text(path);
    tutti_dataset_options all;
    tutti_dataset *made = NULL;
    tutti_dataset_options_init(&all);
    if (opt) all = *opt;
    if (io) all.io = io;
    const tutti_err err = tutti_dataset_open(tutti_comm_f2c(*comm), c_path, mode, &all, &made);
    d->p = made;
    free(c_path);
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_dataset_open)

/* ---- spaces */

TUTTI_API void tutti_f_dataset_grid(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                    const CFI_cdesc_t *shape, int *ierr) {
    char *c_name = tutti__f_text(name);
    tutti__f_counts c;
    tutti__f_counts_of(shape, &c);
    tutti__f_turn(c.n, c.value);
    const tutti_err err = tutti_dataset_grid(d->p, c_name, c.n, c.list);
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_resize(const tutti__f_handle *d, const CFI_cdesc_t *space,
                                      const CFI_cdesc_t *shape, int *ierr) {
    char *c_space = tutti__f_text(space);
    tutti__f_counts c;
    tutti__f_counts_of(shape, &c);
    tutti__f_turn(c.n, c.value);
    const tutti_err err = tutti_dataset_resize(d->p, c_space, c.n, c.list);
    free(c_space);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_shape(const tutti__f_handle *d, const CFI_cdesc_t *space,
                                     tutti_count segment, int *ndims, tutti_count *shape,
                                     int *ierr) {
    char *c_space = tutti__f_text(space);
    *ndims = 0;
    const tutti_err err = tutti_dataset_shape(d->p, c_space, segment, ndims, shape);
    if (err == TUTTI_OK) tutti__f_turn(*ndims, shape);
    free(c_space);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_space_row(const tutti__f_handle *d, tutti_count number,
                                         tutti_space_row *row, int *ierr) {
    memset(row, 0, sizeof *row);
    const tutti_err err = tutti_dataset_space_row(d->p, number, row);
    tutti__f_turn(row->ndims, row->shape);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_chunks(const tutti__f_handle *d, tutti_count segment,
                                      const CFI_cdesc_t *variable, tutti_chunks *out, int *ierr) {
    char *c_variable = tutti__f_text(variable);
    memset(out, 0, sizeof *out);
    const tutti_err err = tutti_dataset_chunks(d->p, segment, c_variable, out);
    tutti__f_turn(out->ndims, out->shape);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_variable(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                        const CFI_cdesc_t *space, int type, int *ierr,
                                        const int *item, const int *components, const int *layout,
                                        const int *order, const CFI_cdesc_t *units,
                                        const CFI_cdesc_t *long_name, const double *fill,
                                        const int *compress) {
    char *c_name = tutti__f_text(name), *c_space = tutti__f_text(space);
    char *c_units = tutti__f_text(units), *c_long_name = tutti__f_text(long_name);
    const tutti_variable_spec spec = {.space = c_space,
                                      .item = (tutti_item)(item ? *item : TUTTI_SCALAR),
                                      .components = components ? *components : 0,
                                      .type = (tutti_type)type,
                                      .layout = (tutti_layout)(layout ? *layout : TUTTI_GLOBAL),
                                      .order =
                                          (tutti_byte_order)(order ? *order : TUTTI_NATIVE_ENDIAN),
                                      .units = c_units,
                                      .long_name = c_long_name,
                                      .fill = fill ? *fill : 0,
                                      .compress = compress ? *compress : 0};
    const tutti_err err = tutti_dataset_variable(d->p, c_name, &spec);
    free(c_name);
    free(c_space);
    free(c_units);
    free(c_long_name);
    tutti__f_end(err, ierr);
}

/* ---- put and get */

/* A variable, its entries and an array: tutti_put and tutti_get of the module. */
typedef struct item {
    char variable[256];
    tutti__f_entries entries;
    int64_t type;
    tutti__f_array array;
} item;

enum { ITEM_BYTES = 96 * 8 };
_Static_assert(sizeof(item) <= ITEM_BYTES, "tutti_put of the module is too small");

static const item *item_at(const CFI_cdesc_t *items, int i) {
    return (const item *)((const char *)items->base_addr + (ptrdiff_t)i * ITEM_BYTES);
}

static void item_take(item *t, const CFI_cdesc_t *variable, const tutti__f_entries *entries,
                      const CFI_cdesc_t *buf, const int *type) {
    memset(t, 0, sizeof *t);
    /* a name that is too long becomes empty, so that the call fails */
    (void)tutti__f_name(variable, t->variable, sizeof t->variable);
    t->entries = *entries;
    t->array = tutti__f_array_of(buf);
    t->type = type ? *type : t->array.type;
}

TUTTI_API void tutti_f_item_make(item *t, const CFI_cdesc_t *variable,
                                 const tutti__f_entries *entries, const CFI_cdesc_t *buf, int *ierr,
                                 const int *type) {
    item_take(t, variable, entries, buf, type);
    tutti__f_end(t->variable[0]
                     ? TUTTI_OK
                     : tutti__f_error(TUTTI_ERR_ARG, "variable name must have 1 to 127 bytes"),
                 ierr);
}

TUTTI_API extern __typeof__(tutti_f_item_make) tutti_f_item_make_get
    __attribute__((alias("tutti_f_item_make")));

/* Return the number of values per item of a variable; 0 if it does not exist. */
static tutti_count numbers_of(const tutti_dataset *d, const char *variable, tutti_type *type) {
    tutti_variable_row row;
    for (tutti_count i = 0; i < tutti_dataset_variables(d); i++)
        if (tutti_dataset_variable_row(d, i, &row) == TUTTI_OK && strcmp(row.name, variable) == 0) {
            *type = row.spec.type;
            return row.values_per_item;
        }
    return 0;
}

/* Return the buffer of `times` states of a variable, which may be a copy of its array, or NULL
 * after an error. */
static void *item_buffer(const tutti_dataset *d, const item *t, tutti_count times,
                         tutti_decomposition **entries, void **copy) {
    const tutti__f_array *v = &t->array;
    tutti_type file = TUTTI_BYTES;
    const tutti_count numbers = numbers_of(d, t->variable, &file);
    *entries = t->entries.p;
    if (times == 0 || tutti_decomposition_entries(t->entries.p) <= 0) return v->base;
    *entries = NULL;
    if (t->type == TUTTI_BYTES ? file != TUTTI_BYTES : !tutti__f_holds(v, (tutti_type)t->type, 0)) {
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "variable '%s': array must have elements of type %s", t->variable,
                                 t->type == TUTTI_BYTES ? "integer, real or complex"
                                                        : tutti_type_name((tutti_type)t->type));
        return NULL;
    }
    const tutti_off size = t->type == TUTTI_BYTES ? 1 : v->element;
    const tutti__f_shape shape = tutti__f_entries_shape(&t->entries, numbers * size, times);
    void *base = tutti__f_copy_begin(v, &shape, copy);
    if (base) *entries = t->entries.p;
    return base;
}

/* Put or get a list or one variable, blocking or with a request. */
static tutti_err put_variables(tutti_dataset *d, const CFI_cdesc_t *items, const item *one,
                               tutti__f_handle *r) {
    const int n = one ? 1 : (int)tutti__f_length(items);
    tutti_put *puts = calloc((size_t)n + 1, sizeof *puts);
    void **copies = calloc((size_t)n + 1, sizeof *copies);
    tutti_request *made = NULL;
    const int all = puts && copies ? n : -1; /* -1 makes the call fail */
    for (int i = 0; i < all; i++) {
        const item *t = one ? one : item_at(items, i);
        puts[i] = (tutti_put){.variable = t->variable, .type = (tutti_type)t->type};
        puts[i].buf = item_buffer(d, t, 1, &puts[i].entries, r ? NULL : &copies[i]);
    }
    const tutti_err err =
        r ? tutti_dataset_put_start(d, all, puts, &made) : tutti_dataset_put(d, all, puts);
    if (r) r->p = made;
    for (int i = 0; i < all; i++) free(copies[i]);
    free(copies);
    free(puts);
    tutti__f_settled();
    return err;
}

static tutti_err get_variables(tutti_dataset *d, tutti_count segment, const CFI_cdesc_t *items,
                               const item *one, tutti__f_handle *r) {
    const int n = one ? 1 : (int)tutti__f_length(items);
    tutti_get *gets = calloc((size_t)n + 1, sizeof *gets);
    void **copies = calloc((size_t)n + 1, sizeof *copies);
    tutti_request *made = NULL;
    const int all = gets && copies ? n : -1;
    for (int i = 0; i < all; i++) {
        const item *t = one ? one : item_at(items, i);
        gets[i] = (tutti_get){.variable = t->variable, .type = (tutti_type)t->type};
        gets[i].buf = item_buffer(d, t, 1, &gets[i].entries, r ? NULL : &copies[i]);
    }
    const tutti_err err = r ? tutti_dataset_get_start(d, segment, all, gets, &made)
                            : tutti_dataset_get(d, segment, all, gets);
    if (r) r->p = made;
    for (int i = 0; i < all; i++)
        tutti__f_copy_end(one ? &one->array : &item_at(items, i)->array, copies[i], 1);
    free(copies);
    free(gets);
    tutti__f_settled();
    return err;
}

TUTTI_API void tutti_f_dataset_put_all(const tutti__f_handle *d, const CFI_cdesc_t *puts,
                                       int *ierr) {
    tutti__f_end(put_variables(d->p, puts, NULL, NULL), ierr);
}

TUTTI_API void tutti_f_dataset_put_start_all(const tutti__f_handle *d, const CFI_cdesc_t *puts,
                                             tutti__f_handle *r, int *ierr) {
    tutti__f_end(put_variables(d->p, puts, NULL, r), ierr);
}

TUTTI_API void tutti_f_dataset_put(const tutti__f_handle *d, const CFI_cdesc_t *variable,
                                   const tutti__f_entries *entries, const CFI_cdesc_t *buf,
                                   int *ierr, const int *type) {
    item t;
    item_take(&t, variable, entries, buf, type);
    tutti__f_end(put_variables(d->p, NULL, &t, NULL), ierr);
}

TUTTI_API void tutti_f_dataset_put_start(const tutti__f_handle *d, const CFI_cdesc_t *variable,
                                         const tutti__f_entries *entries, const CFI_cdesc_t *buf,
                                         tutti__f_handle *r, int *ierr, const int *type) {
    item t;
    item_take(&t, variable, entries, buf, type);
    tutti__f_end(put_variables(d->p, NULL, &t, r), ierr);
}

TUTTI_API void tutti_f_dataset_get_all(const tutti__f_handle *d, tutti_count segment,
                                       const CFI_cdesc_t *gets, int *ierr) {
    tutti__f_end(get_variables(d->p, segment, gets, NULL, NULL), ierr);
}

TUTTI_API void tutti_f_dataset_get_start_all(const tutti__f_handle *d, tutti_count segment,
                                             const CFI_cdesc_t *gets, tutti__f_handle *r,
                                             int *ierr) {
    tutti__f_end(get_variables(d->p, segment, gets, NULL, r), ierr);
}

TUTTI_API void tutti_f_dataset_get(const tutti__f_handle *d, tutti_count segment,
                                   const CFI_cdesc_t *variable, const tutti__f_entries *entries,
                                   const CFI_cdesc_t *buf, int *ierr, const int *type) {
    item t;
    item_take(&t, variable, entries, buf, type);
    tutti__f_end(get_variables(d->p, segment, NULL, &t, NULL), ierr);
}

TUTTI_API void tutti_f_dataset_get_start(const tutti__f_handle *d, tutti_count segment,
                                         const CFI_cdesc_t *variable,
                                         const tutti__f_entries *entries, const CFI_cdesc_t *buf,
                                         tutti__f_handle *r, int *ierr, const int *type) {
    item t;
    item_take(&t, variable, entries, buf, type);
    tutti__f_end(get_variables(d->p, segment, NULL, &t, r), ierr);
}

/* Only a collective call could determine which segments have the variable: the array must be large
 * enough for all. */
TUTTI_API void tutti_f_dataset_follow(const tutti__f_handle *d, tutti_count first, tutti_count last,
                                      const CFI_cdesc_t *variable, const tutti__f_entries *entries,
                                      const CFI_cdesc_t *buf, tutti_count *count, int *ierr,
                                      const int *type) {
    item t;
    const tutti_count end = tutti_dataset_segments(d->p) - 1;
    const tutti_count times = (last < end ? last : end) - first + 1;
    item_take(&t, variable, entries, buf, type);
    tutti_get of = {.variable = t.variable, .type = (tutti_type)t.type};
    void *copy = NULL;
    of.buf = item_buffer(d->p, &t, first >= 0 && times > 0 ? times : 0, &of.entries, &copy);
    const tutti_err err = tutti_dataset_follow(d->p, first, last, &of, count);
    tutti__f_copy_end(&t.array, copy, 1);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

/* ---- infos */

tutti_count tutti__f_value_of(const tutti__f_array *v, tutti_type *type) {
    *type = (tutti_type)v->type;
    if (v->element == 0) return 0;
    if (v->type != TUTTI_BYTES) return v->bytes / v->element;
    tutti_count n = v->bytes;
    while (v->rank == 0 && n > 0 && v->base[n - 1] == ' ') n--;
    return n;
}

TUTTI_API void tutti_f_dataset_info_set(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                        const CFI_cdesc_t *value, int *ierr,
                                        const CFI_cdesc_t *variable, const tutti_count *segment) {
    char *c_name = tutti__f_text(name), *c_variable = tutti__f_text(variable);
    const tutti_info_owner owner = {c_variable, segment ? *segment : -1};
    const tutti__f_array v = tutti__f_array_of(value);
    tutti_type type = TUTTI_BYTES;
    tutti_count n = value ? tutti__f_value_of(&v, &type) : 0;
    void *copy = NULL;
    const void *at = value ? tutti__f_copy_begin(&v, NULL, &copy) : NULL;
    if (value && !at && v.base) n = -1; /* out of memory: the call fails on all ranks */
    const tutti_err err = tutti_dataset_info_set(d->p, &owner, c_name, type, n, at);
    tutti__f_copy_end(&v, copy, 0);
    tutti__f_settled();
    free(c_name);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_info_remove(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                           int *ierr, const CFI_cdesc_t *variable,
                                           const tutti_count *segment) {
    tutti_f_dataset_info_set(d, name, NULL, ierr, variable, segment);
}

int tutti__f_value_fits(const tutti__f_array *v, tutti_type type, tutti_count count) {
    const tutti_off bytes = count * (type == TUTTI_BYTES ? 1 : tutti_type_size(type));
    const char *why = NULL;
    if (!tutti__f_holds(v, type, 1))
        why = "array has another type than the value";
    else if (!v->contiguous)
        why = "array for the value is not contiguous";
    else if (v->bytes >= 0 && v->bytes < bytes)
        why = "array is too small for the value";
    if (why) tutti__f_set_local_error(TUTTI_ERR_ARG, "%s", why);
    return !why;
}

void tutti__f_value_take(const tutti__f_array *v, tutti_type type, tutti_count count,
                         const void *value) {
    if (!v->base) return;
    if (type == TUTTI_BYTES && v->bytes > 0) memset(v->base, ' ', (size_t)v->bytes);
    memcpy(v->base, value, (size_t)(count * (type == TUTTI_BYTES ? 1 : tutti_type_size(type))));
}

/* Get an info: first its type and size, then, if the arrays of all ranks are large enough, its
 * value.  A rank whose array is too small passes no name, and all ranks return its error. */
static tutti_err info_get(tutti_dataset *d, const tutti_info_owner *owner, const char *name,
                          const tutti__f_array *v, tutti_type *type, tutti_count *count) {
    tutti_err err = tutti_dataset_info_get(d, owner, name, type, count, NULL);
    if (err != TUTTI_OK || v->absent) return err;
    tutti_type now = *type;
    tutti_count room = *count;
    void *all = malloc((size_t)(*count * 16) + 1); /* large enough for any type */
    if (!all) tutti__f_set_local_error(TUTTI_ERR_NOMEM, "out of memory for the value");
    const int fits = all && tutti__f_value_fits(v, *type, *count);
    err = tutti_dataset_info_get(d, owner, fits ? name : NULL, &now, &room, all);
    tutti__f_settled();
    if (err == TUTTI_OK && now != *type)
        err = tutti__f_error(TUTTI_ERR_STATE,
                             "info '%s' has changed its type during the read: read it again", name);
    if (err == TUTTI_OK) tutti__f_value_take(v, now, room, all);
    free(all);
    return err;
}

TUTTI_API void tutti_f_dataset_info_get(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                        const CFI_cdesc_t *value, int *ierr, int *type,
                                        tutti_count *count, const CFI_cdesc_t *variable,
                                        const tutti_count *segment) {
    char *c_name = tutti__f_text(name), *c_variable = tutti__f_text(variable);
    const tutti_info_owner owner = {c_variable, segment ? *segment : -1};
    const tutti__f_array v = tutti__f_array_of(value);
    tutti_type its_type = TUTTI_BYTES;
    tutti_count its_count = 0;
    const tutti_err err = info_get(d->p, &owner, c_name, &v, &its_type, &its_count);
    if (type) *type = (int)its_type;
    if (count) *count = its_count;
    free(c_name);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_info_size(const tutti__f_handle *d, const CFI_cdesc_t *name,
                                         int *type, tutti_count *count, int *ierr,
                                         const CFI_cdesc_t *variable, const tutti_count *segment) {
    tutti_f_dataset_info_get(d, name, NULL, ierr, type, count, variable, segment);
}

TUTTI_API void tutti_f_dataset_info_name(const tutti__f_handle *d, tutti_count number,
                                         const CFI_cdesc_t *name, int *ierr,
                                         const CFI_cdesc_t *variable, const tutti_count *segment) {
    char *c_variable = tutti__f_text(variable), found[128] = "";
    const tutti_info_owner owner = {c_variable, segment ? *segment : -1};
    const tutti_err err = tutti_dataset_info_name(d->p, &owner, number, found);
    tutti__f_put_text(name, found);
    free(c_variable);
    tutti__f_end(err, ierr);
}

/* ---- decompositions */

static tutti_decomposition_kind kind_of(const void *index, const void *ids, const void *n) {
    if (index && ids) return TUTTI_BY_BOTH;
    if (index) return TUTTI_BY_INDEX;
    if (ids) return TUTTI_BY_VALUE;
    return n ? TUTTI_BY_RANK_ORDER : TUTTI_DECOMPOSITION_UNSET;
}

/* Return the number of entries of memory that a buffer needs; -1: some are before its start. */
static int64_t reach_of(const tutti_decomposition_spec *spec, int64_t n) {
    int64_t reach = n;
    for (int64_t i = 0; i < spec->n && spec->memory; i++) {
        if (spec->memory[i] < 0) return -1;
        if (spec->memory[i] >= reach) reach = spec->memory[i] + 1;
    }
    return reach;
}

tutti_decomposition_spec tutti__f_spec(const CFI_cdesc_t *index, const CFI_cdesc_t *ids,
                                       const tutti_count *n, const CFI_cdesc_t *own,
                                       const CFI_cdesc_t *memory, const int *whole) {
    tutti_decomposition_spec spec = {.kind = kind_of(index, ids, n),
                                     .n = n ? *n : 0,
                                     .index = tutti__f_list(index),
                                     .ids = tutti__f_list(ids),
                                     .own = tutti__f_list(own),
                                     .memory = tutti__f_list(memory),
                                     .whole = whole ? *whole : 0};
    if (index || ids) spec.n = tutti__f_length(index ? index : ids);
    if (!tutti__f_fits(ids, spec.n) || !tutti__f_fits(own, spec.n) ||
        !tutti__f_fits(memory, spec.n) || reach_of(&spec, 0) < 0)
        spec.n = -1;
    return spec;
}

tutti__f_entries tutti__f_entries_of(tutti_decomposition *made,
                                     const tutti_decomposition_spec *spec, int ndims) {
    tutti__f_entries e = {.p = made};
    if (!made) return e;
    e.reach = reach_of(spec, tutti_decomposition_entries(made));
    if (spec->kind == TUTTI_BY_SLICE && e.reach > 0) {
        e.ndims = ndims;
        tutti_slice_count(ndims, &spec->slice, e.count);
        for (int d = 0; d < ndims && spec->slice_memory; d++)
            e.count[d] = spec->slice_memory->shape[d];
        tutti__f_turn(ndims, e.count);
    }
    return e;
}

tutti__f_shape tutti__f_entries_shape(const tutti__f_entries *e, int64_t item, int64_t times) {
    return (tutti__f_shape){.item = item,
                            .ndims = (int)e->ndims,
                            .count = e->count,
                            .entries = e->reach,
                            .times = times};
}

TUTTI_API void tutti_f_decomposition_create(const tutti__f_handle *d, const CFI_cdesc_t *space,
                                            tutti__f_entries *out, int *ierr,
                                            const tutti_slice *slice, const CFI_cdesc_t *index,
                                            const CFI_cdesc_t *ids, const tutti_count *n,
                                            const CFI_cdesc_t *own, const CFI_cdesc_t *memory,
                                            const int *whole, const tutti_replicas_choice *choice,
                                            const tutti_count *segment,
                                            const tutti_section *slice_memory) {
    char *c_space = tutti__f_text(space);
    tutti_decomposition *made = NULL;
    const tutti_count at = segment ? *segment : -1;
    tutti_decomposition_spec spec = tutti__f_spec(index, ids, n, own, memory, whole);
    tutti_section around = slice_memory ? *slice_memory : (tutti_section){0};
    int ndims = 0;
    if (choice) spec.choice = *choice;
    if (slice_memory) spec.slice_memory = &around;
    if (slice) {
        tutti_count shape[TUTTI_MAX_DIMS];
        spec.slice = *slice;
        spec.kind = TUTTI_BY_SLICE;
        if (tutti_dataset_shape(d->p, c_space, at, &ndims, shape) == TUTTI_OK) {
            tutti__f_turn(ndims, spec.slice.lo);
            tutti__f_turn(ndims, spec.slice.hi);
            tutti__f_turn(ndims, spec.slice.stride);
            tutti__f_turn(ndims, around.shape);
            tutti__f_turn(ndims, around.lo);
            tutti__f_turn(ndims, around.hi);
            tutti__f_turn(ndims, around.stride);
            around.order = around.order == TUTTI_COL_MAJOR ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
        }
    }
    const tutti_err err = tutti_decomposition_create_at(d->p, c_space, at, &spec, &made);
    *out = tutti__f_entries_of(made, &spec, ndims);
    free(c_space);
    tutti__f_end(err, ierr);
}
