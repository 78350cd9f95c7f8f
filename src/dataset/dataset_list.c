/* dataset: list the contents of a dataset: spaces, variables, sections, chunks and names of infos;
 * verify a segment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/compressed.h"
#include "metadata/meta_impl.h"

#include <stdio.h>
#include <string.h>

/* Copy a row to the caller's struct, up to the size of the struct. */
static void copy_row(void *out, size_t struct_size, const void *row, size_t size) {
    if (!out) return;
    memset(out, 0, struct_size);
    memcpy(out, row, struct_size < size ? struct_size : size);
}

/* ---- spaces and variables */

tutti_count tutti_dataset_spaces(const tutti_dataset *d) {
    return tutti__dataset_live(d) == TUTTI_OK ? d->model.spaces_n : 0;
}

tutti_err tutti_dataset_space_row_sized(const tutti_dataset *d, tutti_count number,
                                        tutti_space_row *out, size_t struct_size) {
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(number >= 0 && number < d->model.spaces_n, TUTTI_ERR_NOT_FOUND,
                "space %lld does not exist (dataset has %lld)", (long long)number,
                (long long)d->model.spaces_n);
    const tutti__space *s = &d->model.spaces[number];
    const tutti__size *z = tutti__model_size(&d->model, s->id, INT64_MAX);
    tutti_space_row row = {.name = s->name, .is_list = s->kind == TUTTI__SPACE_LIST};
    if (z) {
        row.has_ids = z->has_ids;
        row.ndims = z->ndims;
        memcpy(row.shape, z->shape, (size_t)z->ndims * sizeof *z->shape);
    }
    copy_row(out, struct_size, &row, sizeof row);
    return TUTTI_OK;
}

/* Return whether the variable is one of the library, whose names contain ':'. */
static int is_own(const tutti__variable *v) {
    return strchr(v->name, ':') != NULL;
}

tutti_count tutti_dataset_variables(const tutti_dataset *d) {
    tutti_count n = 0;
    if (tutti__dataset_live(d) != TUTTI_OK) return 0;
    for (int64_t i = 0; i < d->model.variables_n; i++) n += !is_own(&d->model.variables[i]);
    return n;
}

tutti_err tutti_dataset_variable_row_sized(const tutti_dataset *d, tutti_count number,
                                           tutti_variable_row *out, size_t struct_size) {
    const tutti__variable *v = NULL;
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    tutti_count left = number;
    for (int64_t i = 0; i < d->model.variables_n && left >= 0; i++)
        if (!is_own(&d->model.variables[i]) && left-- == 0) v = &d->model.variables[i];
    TUTTI_CHECK(number >= 0 && v, TUTTI_ERR_NOT_FOUND,
                "variable %lld does not exist (dataset has %lld)", (long long)number,
                (long long)tutti_dataset_variables(d));
    const tutti__space *s = tutti__model_space_id(&d->model, v->space);
    const tutti_variable_row row = {.name = v->name,
                                    .values_per_item = tutti__variable_numbers(v),
                                    .spec = {.space = s ? s->name : "",
                                             .item = (tutti_item)v->item,
                                             .components = v->components,
                                             .type = (tutti_type)v->type,
                                             .layout = (tutti_layout)v->layout,
                                             .order = (tutti_byte_order)v->order,
                                             .units = v->units,
                                             .long_name = v->long_name,
                                             .fill = v->fill,
                                             .compress = v->compress}};
    copy_row(out, struct_size, &row, sizeof row);
    return TUTTI_OK;
}

/* ---- sections */

/* Arguments of a call that reads a section. */
typedef struct {
    const char *call, *variable;
    tutti_count segment;
    const char *invalid; /* error text for the first other argument that is invalid; NULL: none */
} section_query;

/* Check the arguments and find the section.   Collective. */
static tutti_err find_queried_section(tutti_dataset *d, const section_query *q,
                                      tutti__section *out) {
    const tutti__known *k = NULL;
    const tutti__variable *v = NULL;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = tutti__dataset_segment_check(d, q->segment);
    if (err == TUTTI_OK && (q->invalid || !q->variable))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s",
                               q->variable ? q->invalid : "variable is NULL");
    if (err == TUTTI_OK && !(v = tutti__model_variable(&d->model, q->variable)))
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "variable '%.60s' does not exist",
                               q->variable);
    tutti__call same = {.name = q->call, .what = "segment or variable"};
    if (err == TUTTI_OK)
        same.hash = tutti__hash(tutti__hash_text(TUTTI__HASH_START, q->variable), &q->segment,
                                sizeof q->segment);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    TUTTI_TRY(tutti__dataset_check_unchanged(d, tutti__sections_of(d, q->segment, &k)));
    const tutti__section *s = tutti__section_find(k, v ? v->id : 0, 0);
    TUTTI_CHECK(s, TUTTI_ERR_NOT_FOUND, "segment %lld has no variable '%s'", (long long)q->segment,
                q->variable);
    *out = *s;
    return TUTTI_OK;
}

tutti_err tutti_dataset_section_row_sized(tutti_dataset *d, tutti_count segment,
                                          const char *variable, tutti_section_row *out,
                                          size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    tutti__section s;
    const section_query q = {"section_row", variable, segment, out ? NULL : "out is NULL"};
    tutti_count entries = 0;
    tutti_off raw = 0;
    const tutti_err err = find_queried_section(d, &q, &s);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "section_row", err);
    const tutti__datafile *f = tutti__model_file_id(&d->model, d->model.segments[segment].file);
    const tutti__variable *v = tutti__model_variable_id(&d->model, s.variable);
    const tutti__size *z = tutti__model_size(&d->model, v->space, s.segment);
    if (!z || !tutti__shape_right(z->ndims, z->shape, &entries) ||
        !tutti__mul_ok(entries, tutti__item_bytes(v, s.type), &raw))
        raw = 0;
    const tutti_section_row row = {.type = (tutti_type)s.type,
                                   .bytes = s.bytes,
                                   .start = s.start,
                                   .file = f ? f->name : "",
                                   .has_checksums = s.summed,
                                   .raw_bytes = raw};
    copy_row(out, struct_size, &row, sizeof row);
    return TUTTI_OK;
}

/* ---- chunks */

/* Like find_queried_section, for a compressed section; also returns its file and chunk grid.
 * Collective. */
static tutti_err find_queried_chunks(tutti_dataset *d, const section_query *q, tutti__section *s,
                                     tutti_file **f, tutti__chunk_grid *g) {
    TUTTI_TRY(find_queried_section(d, q, s));
    TUTTI_CHECK(tutti__model_variable_id(&d->model, s->variable)->compress > 0, TUTTI_ERR_ARG,
                "variable '%s' is not compressed: it has no chunks", q->variable);
    const int64_t file = d->model.segments[q->segment].file;
    tutti_err err = tutti__dataset_file(d, tutti__model_file_id(&d->model, file), f);
    if (err == TUTTI_OK) err = tutti__compressed_grid(d, *f, s, g);
    return tutti__dataset_check_unchanged(d, err);
}

tutti_err tutti_dataset_chunks_sized(tutti_dataset *d, tutti_count segment, const char *variable,
                                     tutti_chunks *out, size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    tutti__section s;
    tutti_file *f = NULL;
    tutti__chunk_grid g = {0};
    const section_query q = {"chunks", variable, segment, out ? NULL : "out is NULL"};
    const tutti_err err = find_queried_chunks(d, &q, &s, &f, &g);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "chunks", err);
    const tutti__variable *v = tutti__model_variable_id(&d->model, s.variable);
    const tutti__size *z = tutti__model_size(&d->model, v->space, s.segment);
    tutti_chunks row = {.ndims = z->ndims,
                        .count = g.chunks,
                        .raw_bytes = (tutti_off)g.raw,
                        .value_bytes = g.number};
    for (int k = 0; k < z->ndims; k++)
        row.shape[k] = k < g.cut ? 1 : k == g.cut ? g.extent : z->shape[k];
    copy_row(out, struct_size, &row, sizeof row);
    return TUTTI_OK;
}

tutti_err tutti_dataset_chunk_bounds(tutti_dataset *d, tutti_count segment, const char *variable,
                                     tutti_count first, tutti_count n, tutti_off *bounds_out) {
    TUTTI_KEEP_ERRNO;
    tutti__section s;
    tutti_file *f = NULL;
    tutti__chunk_grid g = {0};
    char negative[64];
    snprintf(negative, sizeof negative, "%s is %lld: must be >= 0", first < 0 ? "first" : "n",
             (long long)(first < 0 ? first : n));
    const char *invalid = first < 0 || n < 0 ? negative : bounds_out ? NULL : "bounds_out is NULL";
    const section_query q = {"chunk_bounds", variable, segment, invalid};
    tutti_err err = find_queried_chunks(d, &q, &s, &f, &g);
    if (err == TUTTI_OK) {
        if (first > g.chunks || n > g.chunks - first)
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                   "first is %lld and n is %lld: the variable has %lld chunks",
                                   (long long)first, (long long)n, (long long)g.chunks);
        else
            err = tutti__compressed_table(f, &s, &g, first, n, bounds_out);
        for (tutti_count i = 0; i <= n && err == TUTTI_OK; i++) bounds_out[i] += s.start;
        err = tutti__dataset_check_unchanged(d, tutti__team_agree(d->team, err));
    }
    return tutti__dataset_named(d, "chunk_bounds", err);
}

/* ---- infos */

/* On rank 0, read the name of info `number`; it is "" if there is no such info. */
static tutti_err read_info_name(tutti__meta *m, int64_t variable, int64_t segment,
                                tutti_count number, char name_out[TUTTI__NAME]) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    name_out[0] = 0;
    if (m->empty) return TUTTI_OK;
    TUTTI_TRY(tutti__sql_prepare(m,
                                 "SELECT name FROM infos WHERE variable = ? AND segment = ?"
                                 " ORDER BY name LIMIT 1 OFFSET ?",
                                 &s));
    sqlite3_bind_int64(s, 1, variable);
    sqlite3_bind_int64(s, 2, segment);
    sqlite3_bind_int64(s, 3, number);
    tutti_err err = tutti__sql_step(m, s, &row);
    const char *name = row ? (const char *)sqlite3_column_text(s, 0) : "";
    if (err == TUTTI_OK && row && !(name && tutti__name_right(name, TUTTI__NAME)))
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "info %lld has an invalid name",
                               (long long)number);
    if (err == TUTTI_OK) snprintf(name_out, TUTTI__NAME, "%s", name);
    sqlite3_finalize(s);
    return err;
}

static tutti_err find_owner_ids(const tutti_dataset *d, const tutti_info_owner *owner,
                                int64_t ids[2]) {
    ids[0] = ids[1] = 0;
    if (!owner) return TUTTI_OK;
    TUTTI_CHECK(!owner->variable || owner->segment == -1, TUTTI_ERR_ARG,
                "infos have two owners, variable '%.60s' and segment %lld: only one is allowed",
                owner->variable, (long long)owner->segment);
    if (owner->variable) {
        const tutti__variable *v = tutti__model_variable(&d->model, owner->variable);
        TUTTI_CHECK(v, TUTTI_ERR_NOT_FOUND, "variable '%.60s' does not exist", owner->variable);
        ids[0] = v->id;
    } else if (owner->segment != -1) {
        TUTTI_TRY(tutti__dataset_segment_check(d, owner->segment));
        ids[1] = d->model.segments[owner->segment].id;
    }
    return TUTTI_OK;
}

tutti_err tutti_dataset_info_name(tutti_dataset *d, const tutti_info_owner *owner,
                                  tutti_count number, char *name_out) {
    TUTTI_KEEP_ERRNO;
    int64_t ids[2] = {0, 0};
    char name[TUTTI__NAME] = "";
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = find_owner_ids(d, owner, ids);
    if (err == TUTTI_OK && !(name_out && number >= 0))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               name_out ? "number is %lld: must be >= 0"
                                        : "argument name_out is NULL, but number is %lld",
                               (long long)number);
    const int64_t words[] = {ids[0], ids[1], number};
    const tutti__call same = {.name = "info_name",
                              .what = "the owner or the number",
                              .hash = tutti__hash(TUTTI__HASH_START, words, sizeof words)};
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    if (d->team->rank == 0) err = read_info_name(d->meta, ids[0], ids[1], number, name);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, name, (int)sizeof name);
    if (err == TUTTI_OK && !name[0])
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "info %lld does not exist",
                               (long long)number);
    if (err == TUTTI_OK && name_out) memcpy(name_out, name, sizeof name);
    return tutti__dataset_named(d, "info_name", err);
}

/* ---- verify */

tutti_err tutti_dataset_verify_segment(tutti_dataset *d, tutti_count segment,
                                       tutti_off *bytes_out) {
    TUTTI_KEEP_ERRNO;
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = segment == -1 ? TUTTI_OK : tutti__dataset_segment_check(d, segment);
    if (err == TUTTI_OK && segment >= 0) err = tutti__dataset_check_not_archived(d, segment);
    const tutti__call same = {.name = "verify_segment",
                              .what = "the segment",
                              .hash = tutti__hash(TUTTI__HASH_START, &segment, sizeof segment)};
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    if (segment >= 0) {
        err = tutti__checksums_compare(d, &d->model.segments[segment], NULL, &bytes);
        if (err == TUTTI_OK) err = tutti__compressed_verify(d, &d->model.segments[segment]);
    } else {
        err = tutti__team_agree(d->team, d->team->rank == 0 ? tutti__metadata_check(d) : TUTTI_OK);
    }
    err = tutti__dataset_check_unchanged(d, err);
    if (err == TUTTI_OK && bytes_out) *bytes_out = bytes;
    return tutti__dataset_named(d, "verify", err);
}
