/* dataset: define, resize and find spaces and variables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <stdio.h>
#include <string.h>

/* Check a new name.  ':' is reserved for names of the library.  A name that already exists in a
 * dataset of format 1 is not checked. */
static tutti_err check_new_name(const tutti_dataset *d, const char *name, const char *what) {
    TUTTI_CHECK(name && name[0], TUTTI_ERR_ARG, "the name of the %s is %s", what,
                name ? "empty" : "NULL");
    TUTTI_CHECK(tutti__name_right(name, TUTTI__NAME) && !strchr(name, ':'), TUTTI_ERR_ARG,
                "invalid name '%.60s' of a %s: names have at most %d bytes, no ':' and no control "
                "characters",
                name, what, TUTTI__NAME - 1);
    TUTTI_CHECK(tutti__name_valid(name, TUTTI__NAME) || tutti__model_space(&d->model, name) ||
                    tutti__model_variable(&d->model, name),
                TUTTI_ERR_ARG, "the name '%.60s' of the %s is not valid UTF-8", name, what);
    return TUTTI_OK;
}

static tutti_err find_space(const tutti_dataset *d, const char *name, tutti__space **out) {
    TUTTI_CHECK(name && name[0], TUTTI_ERR_ARG, "the name of the space is %s",
                name ? "empty" : "NULL");
    *out = tutti__model_space(&d->model, name);
    TUTTI_CHECK(*out, TUTTI_ERR_NOT_FOUND, "space '%.60s' does not exist", name);
    return TUTTI_OK;
}

/* ---- spaces */

static int64_t find_next_id(const tutti__model *m, int variables) {
    int64_t most = 0;
    for (int64_t i = 0; !variables && i < m->spaces_n; i++)
        most = tutti__max(most, m->spaces[i].id);
    for (int64_t i = 0; variables && i < m->variables_n; i++)
        most = tutti__max(most, m->variables[i].id);
    return most + 1;
}

/* Add a space.  Rows are reserved in two tables first, so that adding them cannot fail.
 * Collective. */
static tutti_err add_space_row(tutti_dataset *d, const char *name, int kind, int ndims,
                               const tutti_count *shape) {
    tutti__model *m = &d->model;
    tutti__space *s = TUTTI__GROW(m, spaces);
    tutti__size *z = s && kind == TUTTI__SPACE_GRID ? TUTTI__GROW(m, sizes) : NULL;
    const tutti_err err = tutti__team_agree(
        d->team, s && (z || kind == TUTTI__SPACE_LIST) ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        if (s) m->spaces_n--;
        if (z) m->sizes_n--;
        return err;
    }
    s->id = find_next_id(m, 0);
    s->kind = kind;
    s->fresh = 1;
    snprintf(s->name, sizeof s->name, "%s", name);
    if (z) {
        *z = (tutti__size){.space = s->id, .ndims = ndims, .stamp = ++d->stamps, .fresh = 1};
        memcpy(z->shape, shape, (size_t)ndims * sizeof *shape);
    }
    return TUTTI_OK;
}

static tutti_err check_grid(const tutti_dataset *d, const char *name, int ndims,
                            const tutti_count *shape) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_TRY(check_new_name(d, name, "space"));
    TUTTI_TRY(d->container->space_check(&d->model, name, TUTTI__SPACE_GRID));
    TUTTI_CHECK(shape, TUTTI_ERR_ARG, "grid '%s': argument shape is NULL", name);
    TUTTI_CHECK(tutti__shape_right(ndims, shape, NULL), TUTTI_ERR_ARG,
                "grid '%s' has an invalid shape of %d dimensions: must have 1 to %d, with extents "
                ">= 0 and at most 2^56 entries",
                name, ndims, TUTTI_MAX_DIMS);
    const tutti__space *s = tutti__model_space(&d->model, name);
    if (!s) return TUTTI_OK;
    const tutti__size *z = tutti__model_size(&d->model, s->id, INT64_MAX);
    const int is_same_shape =
        z && z->ndims == ndims && memcmp(z->shape, shape, (size_t)ndims * sizeof *shape) == 0;
    TUTTI_CHECK(s->kind == TUTTI__SPACE_GRID && is_same_shape, TUTTI_ERR_EXISTS,
                "space '%s' already exists as %s", name,
                s->kind == TUTTI__SPACE_GRID ? "a grid of another shape" : "a list");
    return TUTTI_OK;
}

tutti_err tutti_dataset_grid(tutti_dataset *d, const char *name, int ndims,
                             const tutti_count *shape) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti_err local_err = check_grid(d, name, ndims, shape);
    tutti__call same = {.name = "grid", .what = "the grid's name or shape"};
    if (local_err == TUTTI_OK) {
        same.hash = tutti__hash_text(TUTTI__HASH_START, name);
        same.hash = tutti__hash(same.hash, shape, (size_t)ndims * sizeof *shape);
    }
    TUTTI_TRY(tutti__dataset_call(d, &same, local_err));
    if (tutti__model_space(&d->model, name)) return TUTTI_OK;
    return tutti__dataset_named(d, "grid", add_space_row(d, name, TUTTI__SPACE_GRID, ndims, shape));
}

static tutti_err check_list(const tutti_dataset *d, const char *name) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_TRY(check_new_name(d, name, "space"));
    TUTTI_TRY(d->container->space_check(&d->model, name, TUTTI__SPACE_LIST));
    const tutti__space *s = tutti__model_space(&d->model, name);
    TUTTI_CHECK(!s || s->kind == TUTTI__SPACE_LIST, TUTTI_ERR_EXISTS,
                "space '%s' already exists as a grid", name);
    return TUTTI_OK;
}

tutti_err tutti_dataset_list(tutti_dataset *d, const char *name) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti_err local_err = check_list(d, name);
    const tutti__call same = {.name = "list",
                              .what = "the list's name",
                              .hash = tutti__hash_text(TUTTI__HASH_START, name)};
    TUTTI_TRY(tutti__dataset_call(d, &same, local_err));
    if (tutti__model_space(&d->model, name)) return TUTTI_OK;
    return tutti__dataset_named(d, "list", add_space_row(d, name, TUTTI__SPACE_LIST, 0, NULL));
}

/* ---- sizes */

tutti_err tutti__space_resize(tutti_dataset *d, int64_t space, int ndims, const tutti_count *shape,
                              int ids) {
    tutti__size *z = tutti__model_size(&d->model, space, INT64_MAX);
    const int again = z && z->segment == d->now.segment.id;
    if (!again) z = TUTTI__GROW(&d->model, sizes);
    const tutti_err err = tutti__team_agree(d->team, z ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        if (z && !again) d->model.sizes_n--;
        return err;
    }
    *z = (tutti__size){.segment = d->now.segment.id,
                       .space = space,
                       .ndims = ndims,
                       .has_ids = ids,
                       .stamp = ++d->stamps,
                       .fresh = 1};
    memcpy(z->shape, shape, (size_t)ndims * sizeof *shape);
    return TUTTI_OK;
}

static tutti_err check_resize(const tutti_dataset *d, const char *space, int ndims,
                              const tutti_count *shape, tutti__space **s) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way && d->now.segment.kind == TUTTI_TOPOLOGY, TUTTI_ERR_STATE,
                "no topology segment has begun");
    TUTTI_TRY(find_space(d, space, s));
    TUTTI_CHECK(shape, TUTTI_ERR_ARG, "space '%s': argument shape is NULL", space);
    TUTTI_CHECK((*s)->kind == TUTTI__SPACE_GRID || ndims == 1, TUTTI_ERR_ARG,
                "list '%s': ndims is %d: must be 1", space, ndims);
    TUTTI_CHECK(tutti__shape_right(ndims, shape, NULL), TUTTI_ERR_ARG,
                "space '%s' has an invalid shape of %d dimensions: must have 1 to %d, with extents "
                ">= 0 and at most 2^56 entries",
                space, ndims, TUTTI_MAX_DIMS);
    /* The size cannot change once a section of this segment uses it. */
    for (int64_t k = 0; k < d->model.variables_n; k++) {
        const tutti__variable *v = &d->model.variables[k];
        if (v->space != (*s)->id) continue;
        for (int64_t i = 0; i < d->now.sections_n; i++)
            TUTTI_CHECK(d->now.sections[i].variable != v->id, TUTTI_ERR_STATE,
                        "variable '%s' was already written in this segment with the current size "
                        "of space '%s'",
                        v->name, (*s)->name);
    }
    return TUTTI_OK;
}

tutti_err tutti_dataset_resize(tutti_dataset *d, const char *space, int ndims,
                               const tutti_count *shape) {
    TUTTI_KEEP_ERRNO;
    tutti__space *s = NULL;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti_err local_err = check_resize(d, space, ndims, shape, &s);
    tutti__call same = {.name = "resize", .what = "the space or its shape"};
    if (local_err == TUTTI_OK) {
        same.hash = tutti__hash_text(TUTTI__HASH_START, space);
        same.hash = tutti__hash(same.hash, shape, (size_t)ndims * sizeof *shape);
    }
    TUTTI_TRY(tutti__dataset_call(d, &same, local_err));
    return tutti__dataset_named(d, "resize", tutti__space_resize(d, s->id, ndims, shape, 0));
}

tutti_err tutti__dataset_space(const tutti_dataset *d, const char *name, tutti_count segment,
                               tutti__space_view *out) {
    tutti__space *s = NULL;
    int64_t id = INT64_MAX;
    TUTTI_TRY(find_space(d, name, &s));
    if (segment != -1) {
        TUTTI_TRY(tutti__dataset_segment_check(d, segment));
        id = d->model.segments[segment].id;
    }
    const tutti__size *z = tutti__model_size(&d->model, s->id, id);
    TUTTI_CHECK(z, TUTTI_ERR_STATE, "list '%s' has no size: write a topology segment first", name);
    *out = (tutti__space_view){.space = (int)(s - d->model.spaces),
                               .ndims = z->ndims,
                               .stamp = z->stamp,
                               .has_ids = z->has_ids};
    memcpy(out->shape, z->shape, sizeof out->shape);
    if (!tutti__shape_right(z->ndims, z->shape, &out->entries)) out->entries = 0;
    return TUTTI_OK;
}

tutti_err tutti_dataset_shape(const tutti_dataset *d, const char *space, tutti_count segment,
                              int *ndims_out, tutti_count *shape_out) {
    tutti__space_view v;
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(ndims_out && shape_out, TUTTI_ERR_ARG, "argument %s is NULL",
                ndims_out ? "shape_out" : "ndims_out");
    TUTTI_TRY(tutti__dataset_named(d, "shape", tutti__dataset_space(d, space, segment, &v)));
    *ndims_out = v.ndims;
    memcpy(shape_out, v.shape, (size_t)v.ndims * sizeof *shape_out);
    return TUTTI_OK;
}

/* ---- variables */

static int default_byte_order(const tutti_dataset *d) {
    const uint16_t one = 1;
    if (d->container->order != TUTTI_NATIVE_ENDIAN) return d->container->order;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? TUTTI_LITTLE_ENDIAN : TUTTI_BIG_ENDIAN;
}

static tutti_err convert_spec(const tutti_dataset *d, const char *name,
                              const tutti_variable_spec *spec, tutti__variable *v) {
    tutti__space *s = NULL;
    unsigned char pattern[16];
    int size;
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_TRY(check_new_name(d, name, "variable"));
    TUTTI_CHECK(spec, TUTTI_ERR_ARG, "variable '%s': argument spec is NULL", name);
    TUTTI_CHECK_RESERVED(spec, "the spec of the variable");
    TUTTI_TRY(find_space(d, spec->space, &s));
    const int tensor = spec->item == TUTTI_SYM_TENSOR || spec->item == TUTTI_TENSOR;
    memset(v, 0, sizeof *v);
    v->space = s->id;
    v->item = (int)spec->item;
    v->components = spec->components ? spec->components : tensor ? 3 : 1;
    v->type = v->put_type = (int)spec->type;
    v->layout = (int)spec->layout;
    v->order = spec->order == TUTTI_NATIVE_ENDIAN ? default_byte_order(d) : (int)spec->order;
    v->fill = spec->fill;
    v->compress = spec->compress;
    snprintf(v->name, sizeof v->name, "%s", name);
    const char *units = spec->units ? spec->units : "";
    const char *long_name = spec->long_name ? spec->long_name : "";
    TUTTI_CHECK(tutti__text_right(units, TUTTI__UNITS), TUTTI_ERR_ARG,
                "variable '%s': units must have at most %d bytes and no control characters", name,
                TUTTI__UNITS - 1);
    TUTTI_CHECK(tutti__text_right(long_name, TUTTI__LONG_NAME), TUTTI_ERR_ARG,
                "variable '%s': long_name must have at most %d bytes and no control characters",
                name, TUTTI__LONG_NAME - 1);
    const int units_valid = tutti__text_valid(units, TUTTI__UNITS);
    TUTTI_CHECK((units_valid && tutti__text_valid(long_name, TUTTI__LONG_NAME)) ||
                    tutti__model_variable(&d->model, name),
                TUTTI_ERR_ARG, "variable '%s': %s is not valid UTF-8", name,
                units_valid ? "long_name" : "units");
    snprintf(v->units, sizeof v->units, "%s", units);
    snprintf(v->long_name, sizeof v->long_name, "%s", long_name);
    TUTTI_TRY(tutti__variable_check(v));
    TUTTI_TRY(d->container->variable_check(&d->model, v));
    TUTTI_TRY(tutti__fill_pattern(v->fill, v->type, v->order, pattern, &size));
    return TUTTI_OK;
}

static tutti_err check_variable(const tutti_dataset *d, const char *name,
                                const tutti_variable_spec *spec, tutti__variable *v) {
    TUTTI_TRY(convert_spec(d, name, spec, v));
    const tutti__variable *old = tutti__model_variable(&d->model, name);
    TUTTI_CHECK(
        !old ||
            (old->space == v->space && old->item == v->item && old->components == v->components &&
             old->type == v->type && old->layout == v->layout && old->order == v->order &&
             old->compress == v->compress && memcmp(&old->fill, &v->fill, sizeof old->fill) == 0 &&
             strcmp(old->units, v->units) == 0 && strcmp(old->long_name, v->long_name) == 0),
        TUTTI_ERR_EXISTS, "variable '%s' already exists with another definition", name);
    return TUTTI_OK;
}

static tutti_err add_variable_row(tutti_dataset *d, const tutti__variable *v,
                                  tutti__variable **out) {
    tutti__variable *new = TUTTI__GROW(&d->model, variables);
    const tutti_err err = tutti__team_agree(d->team, new ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        if (new) d->model.variables_n--;
        return err;
    }
    const int64_t id = find_next_id(&d->model, 1);
    *new = *v;
    new->id = id;
    new->fresh = 1;
    if (out) *out = new;
    return TUTTI_OK;
}

tutti_err tutti_dataset_variable(tutti_dataset *d, const char *name,
                                 const tutti_variable_spec *spec) {
    TUTTI_KEEP_ERRNO;
    tutti__variable v;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti_err local_err = check_variable(d, name, spec, &v);
    tutti__call same = {.name = "variable", .what = "the variable"};
    if (local_err == TUTTI_OK) same.hash = tutti__hash(TUTTI__HASH_START, &v, sizeof v);
    TUTTI_TRY(tutti__dataset_call(d, &same, local_err));
    if (tutti__model_variable(&d->model, name)) return TUTTI_OK;
    return tutti__dataset_named(d, "variable", add_variable_row(d, &v, NULL));
}

tutti_err tutti__own_variable(tutti_dataset *d, const tutti__space *space, const char *what,
                              tutti__variable **out) {
    char name[TUTTI__NAME + 16];
    tutti__variable v = {.space = space->id,
                         .item = TUTTI_SCALAR,
                         .components = 1,
                         .type = TUTTI_INT64,
                         .put_type = TUTTI_INT64,
                         .layout = TUTTI_GLOBAL,
                         .order = d->container->own_order};
    snprintf(name, sizeof name, "%s:%s", space->name, what);
    if (strlen(name) >= TUTTI__NAME)
        return tutti__team_agree(
            d->team, tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                      "the name '%s:%s' has %zu bytes: at most %d are allowed",
                                      space->name, what, strlen(name), TUTTI__NAME - 1));
    memcpy(v.name, name, strlen(name) + 1);
    *out = tutti__model_variable(&d->model, name);
    return *out ? TUTTI_OK : add_variable_row(d, &v, out);
}

static tutti_err check_put_type(const tutti_dataset *d, const char *variable, tutti_type type,
                                tutti__variable **v) {
    unsigned char pattern[16];
    int size;
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(variable, TUTTI_ERR_ARG, "the name of the variable is NULL");
    *v = tutti__model_variable(&d->model, variable);
    TUTTI_CHECK(*v, TUTTI_ERR_NOT_FOUND, "variable '%.60s' does not exist", variable);
    TUTTI_CHECK(tutti_type_size(type) > 0, TUTTI_ERR_ARG,
                "variable '%s': type is %d: must be a numeric type", variable, (int)type);
    TUTTI_CHECK((*v)->type != TUTTI_BYTES, TUTTI_ERR_ARG,
                "variable '%s' has type bytes, which cannot be changed", variable);
    TUTTI_TRY(d->container->type_check(variable, (int)type));
    return tutti__fill_pattern((*v)->fill, (int)type, (*v)->order, pattern, &size);
}

tutti_err tutti_dataset_put_type(tutti_dataset *d, const char *variable, tutti_type type) {
    TUTTI_KEEP_ERRNO;
    tutti__variable *v = NULL;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti_err local_err = check_put_type(d, variable, type, &v);
    const int word = (int)type;
    tutti__call same = {.name = "put_type",
                        .what = "the variable or its type",
                        .hash = tutti__hash_text(TUTTI__HASH_START, variable)};
    same.hash = tutti__hash(same.hash, &word, sizeof word);
    TUTTI_TRY(tutti__dataset_call(d, &same, local_err));
    v->put_type = word;
    return TUTTI_OK;
}
