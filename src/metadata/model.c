/* metadata: search and validate the tables of a dataset in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sorted.h"
#include "base/utf8.h"

void tutti__model_free(tutti__model *m) {
    tutti__free(m->spaces);
    tutti__free(m->variables);
    tutti__free(m->sizes);
    tutti__free(m->files);
    tutti__free(m->segments);
    tutti__free(m->archived);
    *m = (tutti__model){0};
}

/* ---- search */

#define FIND(m, what, cond)                     \
    for (int64_t i = 0; i < (m)->what##_n; i++) \
        if (cond) return &(m)->what[i];         \
    return NULL

tutti__space *tutti__model_space(const tutti__model *m, const char *name) {
    FIND(m, spaces, strcmp(m->spaces[i].name, name) == 0);
}
tutti__variable *tutti__model_variable(const tutti__model *m, const char *name) {
    FIND(m, variables, strcmp(m->variables[i].name, name) == 0);
}
tutti__space *tutti__model_space_id(const tutti__model *m, int64_t id) {
    FIND(m, spaces, m->spaces[i].id == id);
}
tutti__variable *tutti__model_variable_id(const tutti__model *m, int64_t id) {
    FIND(m, variables, m->variables[i].id == id);
}
tutti__datafile *tutti__model_file_id(const tutti__model *m, int64_t id) {
    FIND(m, files, m->files[i].id == id);
}

static int compare_segment_id(const void *row, const void *id) {
    return ((const tutti__segment_row *)row)->id < *(const int64_t *)id ? -1 : 1;
}

/* Ids are ascending, so that a binary search finds them. */
tutti__segment_row *tutti__model_segment_id(const tutti__model *m, int64_t id) {
    const int64_t at = tutti__lower_bound_by(m->segments, m->segments_n, sizeof *m->segments, &id,
                                             compare_segment_id);
    return at < m->segments_n && m->segments[at].id == id ? &m->segments[at] : NULL;
}

tutti__size *tutti__model_size(const tutti__model *m, int64_t space, int64_t segment) {
    tutti__size *found = NULL;
    for (int64_t i = 0; i < m->sizes_n; i++) {
        tutti__size *s = &m->sizes[i];
        if (s->space == space && s->segment <= segment && (!found || s->segment >= found->segment))
            found = s;
    }
    return found;
}

/* ---- checks */

int tutti__text_right(const char *text, size_t capacity) {
    const size_t n = strnlen(text, capacity);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127) return 0;
    return n < capacity;
}

int tutti__name_right(const char *name, size_t capacity) {
    return name[0] != 0 && tutti__text_right(name, capacity);
}

int tutti__text_valid(const char *text, size_t capacity) {
    return tutti__text_right(text, capacity) && tutti__utf8_valid(text, strlen(text));
}

int tutti__name_valid(const char *name, size_t capacity) {
    return name[0] != 0 && tutti__text_valid(name, capacity);
}

int tutti__shape_right(int ndims, const tutti_count *shape, tutti_count *entries_out) {
    tutti_count all = 0;
    if (ndims < 1 || ndims > TUTTI_MAX_DIMS || !tutti_size_product(ndims, shape, &all) ||
        all > (tutti_count)1 << 56)
        return 0;
    if (entries_out) *entries_out = all;
    return 1;
}

/* Parse a shape such as "4,5,6". */
int tutti__shape_parse(const char *text, tutti__size *out) {
    for (out->ndims = 0; out->ndims < TUTTI_MAX_DIMS; text++) {
        char *end = NULL;
        if (*text < '0' || *text > '9') return 0;
        errno = 0;
        out->shape[out->ndims++] = strtoll(text, &end, 10);
        if (errno) return 0;
        if (!*end) return 1;
        if (*end != ',') return 0;
        text = end;
    }
    return 0;
}

tutti_count tutti__variable_numbers(const tutti__variable *v) {
    const tutti_count n = v->components;
    switch (v->item) {
    case TUTTI_SYM_TENSOR:
        return n * (n + 1) / 2;
    case TUTTI_TENSOR:
        return n * n;
    default:
        return n;
    }
}

tutti_off tutti__item_bytes(const tutti__variable *v, int type) {
    const tutti_off size = type == TUTTI_BYTES ? 1 : tutti_type_size((tutti_type)type);
    return tutti__variable_numbers(v) * size;
}

tutti_err tutti__variable_check(const tutti__variable *v) {
    const char *name = v->name;
    TUTTI_CHECK(v->item >= TUTTI_SCALAR && v->item <= TUTTI_VALUES, TUTTI_ERR_ARG,
                "variable '%s': unknown item %d", name, v->item);
    const int most = v->item == TUTTI_SYM_TENSOR || v->item == TUTTI_TENSOR ? 1 << 10 : 1 << 24;
    TUTTI_CHECK(v->components >= 1 && v->components <= most &&
                    (v->item != TUTTI_SCALAR || v->components == 1),
                TUTTI_ERR_ARG, "variable '%s': components is %d: must be 1 to %d", name,
                v->components, v->item == TUTTI_SCALAR ? 1 : most);
    TUTTI_CHECK(v->type == TUTTI_BYTES || tutti_type_size((tutti_type)v->type) > 0, TUTTI_ERR_ARG,
                "variable '%s': unknown type %d", name, v->type);
    TUTTI_CHECK(v->layout == TUTTI_GLOBAL || v->layout == TUTTI_RANKED, TUTTI_ERR_ARG,
                "variable '%s': unknown layout %d", name, v->layout);
    TUTTI_CHECK(v->order == TUTTI_LITTLE_ENDIAN || v->order == TUTTI_BIG_ENDIAN, TUTTI_ERR_ARG,
                "variable '%s': unknown byte order %d", name, v->order);
    TUTTI_CHECK(v->compress >= 0 && v->compress <= 19, TUTTI_ERR_ARG,
                "variable '%s': compress is %d: must be 0 to 19", name, v->compress);
    TUTTI_CHECK(v->compress == 0 || v->layout == TUTTI_GLOBAL, TUTTI_ERR_ARG,
                "variable '%s': variables with layout TUTTI_RANKED cannot be compressed", name);
    TUTTI_CHECK(tutti__text_right(v->units, TUTTI__UNITS), TUTTI_ERR_ARG,
                "variable '%s': units must have at most %d bytes and no control characters", name,
                TUTTI__UNITS - 1);
    TUTTI_CHECK(tutti__text_right(v->long_name, TUTTI__LONG_NAME), TUTTI_ERR_ARG,
                "variable '%s': long_name must have at most %d bytes and no control characters",
                name, TUTTI__LONG_NAME - 1);
    return TUTTI_OK;
}

int tutti__file_name_right(const char *name) {
    int n = 0, digits = 0;
    return sscanf(name, "data-%9d%n", &digits, &n) == 1 && n >= 11 && digits >= 0 &&
           (strcmp(name + n, ".tutti") == 0 || strcmp(name + n, ".nc") == 0) &&
           strspn(name + 5, "0123456789") == (size_t)n - 5;
}

int tutti__netcdf_name(const char *name) {
    const size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".nc") == 0;
}

static int compare_archived_id(const void *row, const void *segment) {
    return ((const tutti__archived *)row)->segment < *(const int64_t *)segment ? -1 : 1;
}

const tutti__archived *tutti__model_archived(const tutti__model *m, int64_t segment) {
    const int64_t at = tutti__lower_bound_by(m->archived, m->archived_n, sizeof *m->archived,
                                             &segment, compare_archived_id);
    return at < m->archived_n && m->archived[at].segment == segment ? &m->archived[at] : NULL;
}

int tutti__model_file_in_use(const tutti__model *m, int64_t file) {
    for (int64_t i = 0; i < m->segments_n; i++)
        if (m->segments[i].file == file && !tutti__model_archived(m, m->segments[i].id)) return 1;
    return 0;
}

static tutti_err check_segments(const tutti__model *m) {
    for (int64_t i = 0; i < m->segments_n; i++) {
        const tutti__segment_row *g = &m->segments[i], *before = i > 0 ? g - 1 : NULL;
        TUTTI_CHECK(g->kind == TUTTI_TOPOLOGY || g->kind == TUTTI_STATE, TUTTI_ERR_FORMAT,
                    "segment %lld has unknown kind %d", (long long)i, g->kind);
        TUTTI_CHECK(g->id >= 1 && g->id <= m->serial, TUTTI_ERR_FORMAT,
                    "segment %lld has id %lld: must be 1 to %lld", (long long)i, (long long)g->id,
                    (long long)m->serial);
        TUTTI_CHECK(!isnan(g->time), TUTTI_ERR_FORMAT, "time of segment %lld is NaN", (long long)i);
        TUTTI_CHECK(!before || (before->id < g->id &&
                                (before->index < g->index ||
                                 (before->index == g->index && before->kind < g->kind))),
                    TUTTI_ERR_FORMAT, "segments %lld and %lld are out of order", (long long)i - 1,
                    (long long)i);
        const tutti__datafile *f = tutti__model_file_id(m, g->file);
        TUTTI_CHECK(f, TUTTI_ERR_FORMAT,
                    "segment %lld refers to data file %lld, which does not exist", (long long)i,
                    (long long)g->file);
        TUTTI_CHECK(g->start >= 0 && g->start <= g->trailer &&
                        (tutti__is_netcdf(f) ? g->trailer == g->end : g->trailer < g->end) &&
                        g->end <= ((tutti_off)1 << 60),
                    TUTTI_ERR_FORMAT,
                    "segment %lld has an invalid range [%lld, %lld) of its data file, with the "
                    "trailer at %lld",
                    (long long)i, (long long)g->start, (long long)g->end, (long long)g->trailer);
    }
    return TUTTI_OK;
}

tutti_err tutti__model_check(const tutti__model *m) {
    TUTTI_CHECK(m->container == TUTTI_CONTAINER_NATIVE || m->container == TUTTI_CONTAINER_NETCDF,
                TUTTI_ERR_FORMAT, "unknown container %lld of data files", (long long)m->container);
    for (int64_t i = 0; i < m->files_n; i++) {
        const tutti__datafile *f = &m->files[i];
        TUTTI_CHECK(f->id >= 1, TUTTI_ERR_FORMAT, "data file '%s' has id %lld: must be >= 1",
                    f->name, (long long)f->id);
        TUTTI_CHECK(tutti__file_name_right(f->name) && tutti__is_netcdf(f) == (int)m->container,
                    TUTTI_ERR_FORMAT, "'%s' is not the name of a data file", f->name);
    }
    for (int64_t i = 0; i < m->spaces_n; i++) {
        const tutti__space *s = &m->spaces[i];
        TUTTI_CHECK(s->id >= 1, TUTTI_ERR_FORMAT, "space %lld has id %lld: must be >= 1",
                    (long long)i, (long long)s->id);
        TUTTI_CHECK(s->kind == TUTTI__SPACE_GRID || s->kind == TUTTI__SPACE_LIST, TUTTI_ERR_FORMAT,
                    "space %lld has unknown kind %d", (long long)i, (int)s->kind);
        TUTTI_CHECK(tutti__name_right(s->name, TUTTI__NAME), TUTTI_ERR_FORMAT,
                    "space %lld has an invalid name", (long long)i);
    }
    for (int64_t i = 0; i < m->variables_n; i++) {
        const tutti__variable *v = &m->variables[i];
        TUTTI_CHECK(v->id >= 1, TUTTI_ERR_FORMAT, "variable %lld has id %lld: must be >= 1",
                    (long long)i, (long long)v->id);
        TUTTI_CHECK(tutti__name_right(v->name, TUTTI__NAME), TUTTI_ERR_FORMAT,
                    "variable %lld has an invalid name", (long long)i);
        TUTTI_CHECK(tutti__model_space_id(m, v->space), TUTTI_ERR_FORMAT,
                    "variable '%s' refers to space %lld, which does not exist", v->name,
                    (long long)v->space);
        TUTTI_CHECK(tutti__variable_check(v) == TUTTI_OK, TUTTI_ERR_FORMAT, "%s",
                    tutti_last_error()->text);
    }
    TUTTI_TRY(check_segments(m));
    for (int64_t i = 0; i < m->archived_n; i++) {
        const int64_t id = m->archived[i].segment;
        TUTTI_CHECK(tutti__model_segment_id(m, id), TUTTI_ERR_FORMAT,
                    "archived segment with id %lld does not exist", (long long)id);
        TUTTI_CHECK(tutti__text_right(m->archived[i].place, TUTTI__PLACE), TUTTI_ERR_FORMAT,
                    "archived segment with id %lld has an invalid location", (long long)id);
    }
    for (int64_t i = 0; i < m->sizes_n; i++) {
        const tutti__size *s = &m->sizes[i];
        const tutti__space *space = tutti__model_space_id(m, s->space);
        TUTTI_CHECK(space, TUTTI_ERR_FORMAT, "a size refers to space %lld, which does not exist",
                    (long long)s->space);
        TUTTI_CHECK(tutti__shape_right(s->ndims, s->shape, NULL) &&
                        (space->kind == TUTTI__SPACE_GRID || s->ndims == 1),
                    TUTTI_ERR_FORMAT, "space '%s' has an invalid shape of %d dimensions",
                    space->name, s->ndims);
        TUTTI_CHECK(s->segment == 0 || tutti__model_segment_id(m, s->segment), TUTTI_ERR_FORMAT,
                    "a size of space '%s' refers to segment id %lld, which does not exist",
                    space->name, (long long)s->segment);
    }
    return TUTTI_OK;
}

tutti_err tutti__section_check(const tutti__model *m, const tutti__segment_row *g,
                               const tutti__section *s) {
    const tutti__variable *v = tutti__model_variable_id(m, s->variable);
    TUTTI_CHECK(v, TUTTI_ERR_FORMAT,
                "a section of segment %lld refers to variable id %lld, which does not exist",
                (long long)g->id, (long long)s->variable);
    TUTTI_CHECK(s->type == TUTTI_BYTES || tutti_type_size((tutti_type)s->type) > 0,
                TUTTI_ERR_FORMAT, "section '%s' of segment %lld has unknown type %d", v->name,
                (long long)g->id, s->type);
    TUTTI_CHECK(s->start >= g->start && s->bytes >= 0 && s->bytes <= g->trailer - s->start,
                TUTTI_ERR_FORMAT, "section '%s' of segment %lld is outside the segment", v->name,
                (long long)g->id);
    const int listed = s->list_segment != 0;
    TUTTI_CHECK(listed == (v->layout == TUTTI_RANKED), TUTTI_ERR_FORMAT,
                "section '%s' of segment %lld has %s", v->name, (long long)g->id,
                listed ? "a list of entries, but is not ranked" : "no list of entries");
    TUTTI_CHECK(
        !listed || tutti__model_segment_id(m, s->list_segment), TUTTI_ERR_FORMAT,
        "section '%s' of segment %lld refers to a list of entries in segment id %lld, which "
        "does not exist",
        v->name, (long long)g->id, (long long)s->list_segment);
    if (v->layout == TUTTI_GLOBAL && s->part == 0) {
        const tutti__size *size = tutti__model_size(m, v->space, g->id);
        tutti_count entries = 0;
        tutti_off bytes = 0;
        TUTTI_CHECK(size, TUTTI_ERR_FORMAT, "the space of section '%s' of segment %lld has no size",
                    v->name, (long long)g->id);
        TUTTI_CHECK(tutti__shape_right(size->ndims, size->shape, &entries) &&
                        tutti__mul_ok(entries, tutti__item_bytes(v, s->type), &bytes) &&
                        (v->compress > 0 || bytes == s->bytes),
                    TUTTI_ERR_FORMAT, "section '%s' of segment %lld has %lld bytes, expected %lld",
                    v->name, (long long)g->id, (long long)s->bytes, (long long)bytes);
    }
    return TUTTI_OK;
}

void tutti__model_sizes_drop(tutti__model *m, int64_t segment) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->sizes_n; i++)
        if (m->sizes[i].segment != segment) m->sizes[n++] = m->sizes[i];
    m->sizes_n = n;
}

void tutti__model_truncate(tutti__model *m, int64_t n) {
    for (; m->segments_n > n; m->segments_n--)
        tutti__model_sizes_drop(m, m->segments[m->segments_n - 1].id);
}
