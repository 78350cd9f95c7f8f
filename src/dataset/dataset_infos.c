/* dataset: infos: named values that belong to the dataset, a variable or a segment; rank 0 stores
 * them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <stdio.h>
#include <string.h>

/* Check owner and name.  The segment that is being written has the next number. */
static tutti_err check_info_owner(const tutti_dataset *d, const tutti_info_owner *owner,
                                  const char *name, tutti__info *out) {
    *out = (tutti__info){0};
    TUTTI_CHECK(name, TUTTI_ERR_ARG, "the name of the info is NULL");
    TUTTI_CHECK(
        tutti__name_right(name, TUTTI__NAME), TUTTI_ERR_ARG,
        "invalid name '%.60s' of an info: must have 1 to %d bytes and no control characters", name,
        TUTTI__NAME - 1);
    snprintf(out->name, sizeof out->name, "%s", name);
    if (!owner) return TUTTI_OK;
    TUTTI_CHECK(!owner->variable || owner->segment == -1, TUTTI_ERR_ARG,
                "info '%s' has two owners, a variable and a segment: only one is allowed", name);
    if (owner->variable) {
        const tutti__variable *v = tutti__model_variable(&d->model, owner->variable);
        TUTTI_CHECK(v, TUTTI_ERR_NOT_FOUND, "variable '%.60s' does not exist", owner->variable);
        out->variable = v->id;
    } else if (d->now.under_way && owner->segment == d->model.segments_n + d->waiting_n) {
        out->segment = d->now.segment.id;
    } else if (owner->segment != -1) {
        TUTTI_TRY(tutti__dataset_segment_check(d, owner->segment));
        out->segment = d->model.segments[owner->segment].id;
    }
    return TUTTI_OK;
}

/* Check a value, and set it in `io`, whose name is set. */
static tutti_err set_info_value(tutti__info *io, tutti_type type, tutti_count count,
                                const void *value) {
    const char *name = io->name;
    TUTTI_CHECK(count == 0 || tutti__name_valid(name, TUTTI__NAME), TUTTI_ERR_ARG,
                "the name '%.60s' of the info is not valid UTF-8", name);
    const tutti_off size = type == TUTTI_BYTES ? 1 : tutti_type_size(type);
    tutti_off bytes = 0;
    TUTTI_CHECK(size > 0, TUTTI_ERR_ARG, "info '%s': unknown type %d", name, (int)type);
    TUTTI_CHECK(count >= 0, TUTTI_ERR_ARG, "info '%s': count is %lld: must be >= 0", name,
                (long long)count);
    TUTTI_CHECK((count == 0) == (value == NULL), TUTTI_ERR_ARG,
                "info '%s': count is %lld, but argument value is %s", name, (long long)count,
                value ? "not NULL" : "NULL");
    TUTTI_CHECK(tutti__mul_ok(count, size, &bytes) && bytes <= 1 << 29, TUTTI_ERR_OVERFLOW,
                "info '%s' has %lld elements of %lld bytes: at most 2^29 bytes are allowed", name,
                (long long)count, (long long)size);
    io->type = (int)type;
    io->count = count;
    io->bytes = (size_t)bytes;
    io->value = (void *)(uintptr_t)value;
    return TUTTI_OK;
}

static int is_same_info(const tutti__info *a, const tutti__info *b) {
    return a->variable == b->variable && a->segment == b->segment && strcmp(a->name, b->name) == 0;
}

/* On rank 0, keep the info until the segment that is being written is committed. */
static tutti_err keep_info(tutti_dataset *d, const tutti__info *info) {
    tutti__info copy = *info, *at = NULL;
    copy.value = tutti__malloc(info->bytes);
    if (!copy.value) return TUTTI_ERR_NOMEM;
    if (info->bytes) memcpy(copy.value, info->value, info->bytes);
    for (int64_t i = 0; i < d->now.infos_n; i++)
        if (is_same_info(&d->now.infos[i], info)) at = &d->now.infos[i];
    if (at)
        tutti__free(at->value);
    else
        at = tutti__table_grow(&d->now.infos, &d->now.infos_n, sizeof *at);
    if (!at) {
        tutti__free(copy.value);
        return TUTTI_ERR_NOMEM;
    }
    *at = copy;
    return TUTTI_OK;
}

/* On rank 0, store the info at once, together with spaces and variables that are not stored yet. */
static tutti_err store_info(tutti_dataset *d, const tutti__info *info) {
    TUTTI_TRY(tutti__meta_begin(d->meta));
    tutti_err err = tutti__meta_add_fresh(d->meta, &d->model);
    if (err == TUTTI_OK) err = tutti__meta_info_set(d->meta, info);
    return tutti__meta_end(d->meta, err);
}

tutti_err tutti_dataset_info_set(tutti_dataset *d, const tutti_info_owner *owner, const char *name,
                                 tutti_type type, tutti_count count, const void *value) {
    TUTTI_KEEP_ERRNO;
    tutti__info info = {0};
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = tutti__dataset_writable(d);
    if (err == TUTTI_OK) err = check_info_owner(d, owner, name, &info);
    if (err == TUTTI_OK) err = set_info_value(&info, type, count, value);
    tutti__call same = {.name = "info_set", .what = "the info"};
    if (err == TUTTI_OK) {
        const int64_t words[] = {info.variable, info.segment, info.type, info.count};
        same.hash = tutti__hash_text(TUTTI__HASH_START, name);
        same.hash = tutti__hash(same.hash, words, sizeof words);
        if (info.bytes) same.hash = tutti__hash(same.hash, value, info.bytes);
    }
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    if (d->team->rank == 0) err = d->now.under_way ? keep_info(d, &info) : store_info(d, &info);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK && !d->now.under_way) {
        for (int64_t i = 0; i < d->model.spaces_n; i++) d->model.spaces[i].fresh = 0;
        for (int64_t i = 0; i < d->model.variables_n; i++) d->model.variables[i].fresh = 0;
        for (int64_t i = 0; i < d->model.sizes_n; i++) d->model.sizes[i].fresh = 0;
    }
    return tutti__dataset_named(d, "info_set", err);
}

/* On rank 0, read an info from the segment that is being written, or from the database. */
static tutti_err find_info(tutti_dataset *d, tutti__info *io) {
    for (int64_t i = 0; i < d->now.infos_n; i++) {
        const tutti__info *at = &d->now.infos[i];
        if (!is_same_info(at, io)) continue;
        TUTTI_CHECK(at->count > 0, TUTTI_ERR_NOT_FOUND, "info '%s' does not exist", io->name);
        void *copy = tutti__malloc(at->bytes);
        if (!copy) return TUTTI_ERR_NOMEM;
        *io = *at;
        io->value = memcpy(copy, at->value, at->bytes);
        return TUTTI_OK;
    }
    return tutti__meta_info_get(d->meta, io);
}

tutti_err tutti_dataset_info_get(tutti_dataset *d, const tutti_info_owner *owner, const char *name,
                                 tutti_type *type_out, tutti_count *count_out, void *value_out) {
    TUTTI_KEEP_ERRNO;
    tutti__info info = {0};
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = type_out && count_out
                        ? check_info_owner(d, owner, name, &info)
                        : tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL",
                                           type_out ? "count_out" : "type_out");
    tutti__call same = {.name = "info_get", .what = "the info"};
    if (err == TUTTI_OK) {
        const int64_t words[] = {info.variable, info.segment, value_out != NULL};
        same.hash = tutti__hash_text(TUTTI__HASH_START, name);
        same.hash = tutti__hash(same.hash, words, sizeof words);
    }
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    if (d->team->rank == 0) err = find_info(d, &info);
    err = tutti__team_agree(d->team, err);
    if (info.segment) err = tutti__dataset_check_unchanged(d, err);
    void *value = d->team->rank == 0 ? info.value : NULL;
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, &info, (int)sizeof info);
    if (err == TUTTI_OK && value_out) {
        if (*count_out < info.count)
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                   "info '%s' has %lld elements, but *count_out is %lld", name,
                                   (long long)info.count, (long long)*count_out);
        err = tutti__team_agree(d->team, err);
        if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(d->team, &value, &info.bytes);
        if (err == TUTTI_OK) memcpy(value_out, value, info.bytes);
    }
    if (err == TUTTI_OK) {
        *type_out = (tutti_type)info.type;
        *count_out = info.count;
    }
    tutti__free(value);
    return tutti__dataset_named(d, "info_get", err);
}
