/* archive: rebuild metadata from the headers of netCDF data files.
 *
 * Spaces, variables, sizes and states are in the headers; checksums, infos and spaces without
 * variables are not.  Files are read in the order of their names.  A file that contradicts those
 * before it (of another dataset, or from before states were erased) is skipped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "archive/repair_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metadata/content.h"
#include "metadata/meta_impl.h"
#include "netcdf/netcdf.h"

/* State of a rebuild: the metadata of the files read so far. */
typedef struct {
    tutti__repair *r;
    tutti__model model;
    tutti__section *sections;
    int64_t sections_n;
} rebuilding;

/* A data file that is being read. */
typedef struct {
    const tutti__listed_file *there;
    const tutti__cdf *c;
    tutti__datafile row;
    int64_t topology; /* id of the file's topology segment; 0: none */
    tutti_count records;
} rebuilt_file;

#define FAIL_FORMAT(...) TUTTI_FAIL(TUTTI_ERR_FORMAT, __VA_ARGS__)

static const char *find_text_attribute(const tutti__cdf *c, tutti_count var, const char *name) {
    const tutti__cdf_att *a = tutti__cdf_find_att(c, var, name);
    return a && a->type == TUTTI__CDF_CHAR ? a->values : NULL;
}

/* ---- spaces */

/* Record the size of a space in this file: its topology sets the size, otherwise it is the initial
 * size. */
static tutti_err add_size(rebuilding *m, const rebuilt_file *f, const tutti__space *s,
                          const tutti__size *is) {
    tutti__size *now = tutti__model_size(&m->model, s->id, INT64_MAX);
    const int same = now && now->ndims == is->ndims &&
                     memcmp(now->shape, is->shape, (size_t)is->ndims * sizeof *is->shape) == 0;
    /* this file has already set the size */
    if (now && f->topology && now->segment == f->topology) {
        if (!same) FAIL_FORMAT("space '%s' has two sizes in one file", s->name);
        now->has_ids |= is->has_ids;
        return TUTTI_OK;
    }
    if (same && !is->has_ids) return TUTTI_OK;
    if (!f->topology && now)
        FAIL_FORMAT("the size of space '%s' changes without a topology", s->name);
    const int begins = !now && (s->kind == TUTTI__SPACE_GRID || !f->topology);
    tutti__size *z = TUTTI__GROW(&m->model, sizes);
    if (!z) return TUTTI_ERR_NOMEM;
    *z = *is;
    z->segment = begins ? 0 : f->topology;
    z->fresh = 1;
    return TUTTI_OK;
}

/* Find or add the space of a variable, whose size follows from the dimensions. */
static tutti_err add_space(rebuilding *m, const rebuilt_file *f, const tutti__cdf_var *v,
                           const char *name, const tutti__size *size, int64_t *out) {
    char first[TUTTI__NAME + 8];
    const char *dim = f->c->dims[v->dim[v->is_record]].name;
    tutti__space *s = tutti__model_space(&m->model, name);
    snprintf(first, sizeof first, "%s_0", name);
    const int kind = strcmp(dim, name) == 0    ? TUTTI__SPACE_LIST
                     : strcmp(dim, first) == 0 ? TUTTI__SPACE_GRID
                                               : -1;
    if (kind < 0 || (kind == TUTTI__SPACE_LIST && size->ndims != 1) ||
        !tutti__name_right(name, TUTTI__NAME) || (s && s->kind != kind))
        FAIL_FORMAT("the dimensions of variable '%s' do not match a space '%.60s'", v->name, name);
    if (!s) {
        s = TUTTI__GROW(&m->model, spaces);
        if (!s) return TUTTI_ERR_NOMEM;
        s->id = m->model.spaces_n;
        s->kind = kind;
        s->fresh = 1;
        snprintf(s->name, sizeof s->name, "%.*s", TUTTI__NAME - 1, name);
    }
    tutti__size is = *size;
    is.space = *out = s->id;
    return add_size(m, f, s, &is);
}

/* ---- variables */

static int parse_item(const char *word) {
    for (int i = TUTTI_SCALAR; word && i <= TUTTI_VALUES; i++)
        if (strcmp(word, tutti__meta_word(TUTTI__WORD_ITEM, i)) == 0) return i;
    return word ? -1 : TUTTI_SCALAR;
}

/* Return the number of components of an item that has `numbers` values; 0: there is no such
 * item. */
static int find_components(int item, tutti_count numbers) {
    tutti__variable v = {.item = item};
    for (v.components = 1; v.components < 1 << 24; v.components++) {
        const tutti_count n = tutti__variable_numbers(&v);
        if (n >= numbers) return n == numbers ? v.components : 0;
    }
    return 0;
}

static double read_fill_value(const tutti__cdf *c, tutti_count var, tutti_type type) {
    const tutti__cdf_att *a = tutti__cdf_find_att(c, var, "_FillValue");
    if (!a || a->n != 1 || tutti__cdf_number(a->type) != type) return 0;
    switch (a->type) {
#define VALUE(name, ctype)               \
    case TUTTI__CDF_##name: {            \
        ctype x;                         \
        memcpy(&x, a->values, sizeof x); \
        return (double)x;                \
    }
        VALUE(BYTE, int8_t)
        VALUE(SHORT, int16_t)
        VALUE(INT, int32_t)
        VALUE(FLOAT, float)
        VALUE(DOUBLE, double)
        VALUE(UBYTE, uint8_t)
        VALUE(USHORT, uint16_t)
        VALUE(UINT, uint32_t)
        VALUE(INT64, int64_t)
        VALUE(UINT64, uint64_t)
#undef VALUE
    default:
        return 0;
    }
}

/* Convert a variable of the file to a row, and get the size of its space. */
static tutti_err read_variable_row(const rebuilt_file *f, tutti_count var, tutti__variable *v,
                                   tutti__size *size) {
    const tutti__cdf_var *is = &f->c->vars[var];
    const char *space = find_text_attribute(f->c, var, "dataset_space"),
               *item = find_text_attribute(f->c, var, "dataset_item"),
               *units = find_text_attribute(f->c, var, "units"),
               *name = find_text_attribute(f->c, var, "long_name");
    const int ids = item && strcmp(item, "ids") == 0;
    *v = (tutti__variable){.item = ids ? TUTTI_SCALAR : parse_item(item),
                           .components = 1,
                           .layout = TUTTI_GLOBAL,
                           .order = TUTTI_BIG_ENDIAN,
                           .fresh = 1};
    const int ndims = is->ndims - is->is_record - (v->item != TUTTI_SCALAR);
    *size = (tutti__size){.ndims = ndims, .has_ids = ids};
    if (!space || v->item < 0 || ndims < 1 || ndims > TUTTI_MAX_DIMS ||
        (units && !tutti__text_right(units, TUTTI__UNITS)) ||
        (name && !tutti__text_right(name, TUTTI__LONG_NAME)) || strlen(is->name) >= TUTTI__NAME ||
        (ids && strlen(space) + 5 > TUTTI__NAME))
        FAIL_FORMAT("variable '%s' does not belong to a dataset", is->name);
    for (int d = 0; d < ndims; d++) size->shape[d] = f->c->dims[is->dim[is->is_record + d]].length;
    if (v->item != TUTTI_SCALAR)
        v->components = find_components(v->item, f->c->dims[is->dim[is->ndims - 1]].length);
    v->type = v->put_type = find_text_attribute(f->c, var, "dataset_type")
                                ? TUTTI_BYTES
                                : (int)tutti__cdf_number(is->type);
    v->fill = read_fill_value(f->c, var, tutti__cdf_number(is->type));
    snprintf(v->units, sizeof v->units, "%s", units ? units : "");
    snprintf(v->long_name, sizeof v->long_name, "%s", name ? name : "");
    if (ids)
        snprintf(v->name, sizeof v->name, "%.*s:ids", TUTTI__NAME - 5, space);
    else
        snprintf(v->name, sizeof v->name, "%.*s", TUTTI__NAME - 1, is->name);
    if (!tutti__name_right(v->name, TUTTI__NAME) || (ids && v->type != TUTTI_INT64) ||
        !tutti__shape_right(ndims, size->shape, NULL) || tutti__variable_check(v) != TUTTI_OK)
        FAIL_FORMAT("variable '%s' does not belong to a dataset", is->name);
    return TUTTI_OK;
}

/* Find or add the row of a variable; *out is its id. */
static tutti_err add_variable(rebuilding *m, const rebuilt_file *f, tutti_count var, int64_t *out,
                              int *type_out) {
    tutti__variable v;
    tutti__size size;
    TUTTI_TRY(read_variable_row(f, var, &v, &size));
    *type_out = v.type;
    TUTTI_TRY(add_space(m, f, &f->c->vars[var], find_text_attribute(f->c, var, "dataset_space"),
                        &size, &v.space));
    tutti__variable *is = tutti__model_variable(&m->model, v.name);
    if (is && (is->space != v.space || is->item != v.item || is->components != v.components))
        FAIL_FORMAT("variable '%s' has another definition in an earlier file", v.name);
    if (!is) {
        is = TUTTI__GROW(&m->model, variables);
        if (!is) return TUTTI_ERR_NOMEM;
        v.id = m->model.variables_n;
        *is = v;
    }
    *out = is->id;
    return TUTTI_OK;
}

/* ---- segments */

static tutti_err add_rebuilt_segment(rebuilding *m, const tutti__segment_row *g) {
    const tutti__segment_row *last =
        m->model.segments_n ? &m->model.segments[m->model.segments_n - 1] : NULL;
    if (isnan(g->time) ||
        (last && !(g->index > last->index || (g->index == last->index && g->kind > last->kind))))
        FAIL_FORMAT("time index %lld is out of order", (long long)g->index);
    tutti__segment_row *row = TUTTI__GROW(&m->model, segments);
    if (!row) return TUTTI_ERR_NOMEM;
    *row = *g;
    row->trailer = g->end;
    return TUTTI_OK;
}

/* Add the sections of one segment: fixed variables, or pieces of records. */
static tutti_err add_sections(rebuilding *m, const rebuilt_file *f, tutti__segment_row *g,
                              tutti_count record) {
    for (tutti_count i = 0; i < f->c->vars_n; i++) {
        const tutti__cdf_var *v = &f->c->vars[i];
        int64_t variable = 0;
        int type = 0;
        if (v->is_record != (g->kind == TUTTI_STATE) ||
            !find_text_attribute(f->c, i, "dataset_space"))
            continue;
        TUTTI_TRY(add_variable(m, f, i, &variable, &type));
        tutti__section *s = tutti__table_grow(&m->sections, &m->sections_n, sizeof *s);
        if (!s) return TUTTI_ERR_NOMEM;
        *s = (tutti__section){.segment = g->id,
                              .variable = variable,
                              .start = tutti__cdf_place(f->c, v, record),
                              .bytes = v->numbers * tutti__cdf_size(v->type),
                              .type = type};
        g->sections++;
    }
    return TUTTI_OK;
}

static tutti_err add_topology(rebuilding *m, rebuilt_file *f) {
    const tutti__cdf *c = f->c;
    const tutti__cdf_att *index = tutti__cdf_find_att(c, -1, "dataset_topology_index"),
                         *time = tutti__cdf_find_att(c, -1, "dataset_topology_time");
    tutti__segment_row g = {.id = m->model.serial + 1, .kind = TUTTI_TOPOLOGY, .file = f->row.id};
    tutti_off first = INT64_MAX;
    if (!index || !time) return TUTTI_OK;
    if (index->type != TUTTI__CDF_INT64 || index->n != 1 || time->type != TUTTI__CDF_DOUBLE ||
        time->n != 1)
        FAIL_FORMAT("the topology has no valid time");
    memcpy(&g.index, index->values, sizeof g.index);
    memcpy(&g.time, time->values, sizeof g.time);
    for (tutti_count i = 0; i < c->vars_n; i++)
        if (!c->vars[i].is_record) first = tutti__min(first, c->vars[i].begin);
    if (first < INT64_MAX) {
        g.start = tutti__align_down(first, TUTTI__NETCDF_ALIGN);
        g.end = c->fixed_end;
    } else { /* the segment has no sections */
        g.start = g.end = c->record_bytes ? c->record_begin
                                          : tutti__align_up(c->header_bytes, TUTTI__NETCDF_ALIGN);
    }
    if (g.start < c->header_bytes)
        FAIL_FORMAT("the header has %lld bytes, but the topology starts at offset %lld",
                    (long long)c->header_bytes, (long long)g.start);
    f->topology = m->model.serial = g.id;
    TUTTI_TRY(add_sections(m, f, &g, -1));
    return add_rebuilt_segment(m, &g);
}

static tutti_err add_states(rebuilding *m, rebuilt_file *f) {
    const tutti__cdf *c = f->c;
    const tutti_count time = tutti__cdf_find_var(c, "time"),
                      index = tutti__cdf_find_var(c, "time_index");
    if (!c->record_bytes) return TUTTI_OK;
    if (time < 0 || index < 0 || c->vars[time].type != TUTTI__CDF_DOUBLE ||
        c->vars[index].type != TUTTI__CDF_INT64 || c->vars[time].begin != c->record_begin ||
        c->vars[index].begin != c->record_begin + 8 || c->vars[time].bytes != 8 ||
        c->vars[index].bytes != 8)
        FAIL_FORMAT("records do not start with time and time_index");
    for (tutti_count k = 0; k < f->records; k++) {
        tutti__segment_row g = {.id = m->model.serial + 1,
                                .kind = TUTTI_STATE,
                                .file = f->row.id,
                                .start = c->record_begin + k * c->record_bytes};
        g.end = g.start + c->record_bytes;
        unsigned char bytes[TUTTI__NETCDF_TIME]; /* a state begins with its time */
        uint64_t words[2] = {0, 0};
        TUTTI_TRY(tutti__bytes_read(f->there->fd, g.start, bytes, sizeof bytes, f->row.name));
        for (int i = 0; i < TUTTI__NETCDF_TIME; i++) words[i / 8] = words[i / 8] << 8 | bytes[i];
        memcpy(&g.time, &words[0], sizeof g.time);
        memcpy(&g.index, &words[1], sizeof g.index);
        m->model.serial = g.id;
        TUTTI_TRY(add_sections(m, f, &g, k));
        TUTTI_TRY(add_rebuilt_segment(m, &g));
    }
    return TUTTI_OK;
}

/* ---- files */

static tutti_err check_dataset_file(const tutti__cdf *c) {
    const tutti__cdf_att *format = tutti__cdf_find_att(c, -1, "dataset_format");
    int32_t is = 0;
    if (format && format->type == TUTTI__CDF_INT && format->n == 1)
        memcpy(&is, format->values, sizeof is);
    if (c->version != 5 || is != 1) FAIL_FORMAT("not a data file of a dataset");
    for (tutti_count i = 0; i < c->vars_n; i++)
        if (!find_text_attribute(c, i, "dataset_space") && strcmp(c->vars[i].name, "time") != 0 &&
            strcmp(c->vars[i].name, "time_index") != 0)
            FAIL_FORMAT("variable '%s' does not belong to a dataset", c->vars[i].name);
    return TUTTI_OK;
}

/* Add the contents of a file to the model, which is inconsistent after an error. */
static tutti_err add_file(rebuilding *m, const tutti__listed_file *there) {
    rebuilt_file f = {.there = there};
    char path[4300];
    void *bytes = NULL;
    size_t n = 0;
    tutti_off size = 0;
    tutti__cdf c;
    snprintf(path, sizeof path, "%s/%s", m->r->directory, there->name);
    TUTTI_TRY(tutti__cdf_read_header(path, &bytes, &n, &size));
    tutti_err err = tutti__cdf_decode(bytes, n, size, &c);
    tutti__free(bytes);
    TUTTI_TRY(err);
    f.c = &c;
    f.row.id = strtoll(there->name + strlen("data-"), NULL, 10);
    memcpy(f.row.name, there->name, sizeof f.row.name);
    f.records = tutti__min(tutti__max(c.records, 0), tutti__cdf_records_in(&c, there->size));
    tutti__repair_lost(m->r, c.records - f.records, "'%s' is truncated before its last record",
                       there->name);
    tutti__datafile *row = TUTTI__GROW(&m->model, files);
    err = !row ? TUTTI_ERR_NOMEM : f.row.id < 1 ? TUTTI_ERR_FORMAT : check_dataset_file(&c);
    if (row) *row = f.row;
    if (err == TUTTI_OK) err = add_topology(m, &f);
    if (err == TUTTI_OK) err = add_states(m, &f);
    tutti__cdf_free(&c);
    return err;
}

/* ---- into the database */

static tutti_err write_rows(const rebuilding *m, tutti__meta *meta, int64_t generation) {
    const tutti__model *is = &m->model;
    TUTTI_TRY(tutti__meta_add_fresh(meta, is));
    for (int64_t i = 0; i < is->sizes_n; i++)
        if (is->sizes[i].segment) TUTTI_TRY(tutti__meta_add_size(meta, &is->sizes[i]));
    for (int64_t i = 0; i < is->files_n; i++)
        if (tutti__model_file_in_use(is, is->files[i].id))
            TUTTI_TRY(tutti__meta_add_file(meta, &is->files[i]));
    for (int64_t i = 0; i < is->segments_n; i++)
        TUTTI_TRY(tutti__meta_add_segment(meta, &is->segments[i]));
    for (int64_t i = 0; i < m->sections_n; i++)
        TUTTI_TRY(tutti__meta_add_section(meta, &m->sections[i]));
    TUTTI_TRY(tutti__meta_set(meta, "container", TUTTI_CONTAINER_NETCDF));
    TUTTI_TRY(tutti__meta_set(meta, "commit", is->serial + 1)); /* all segments are published */
    TUTTI_TRY(tutti__meta_set(meta, "serial", is->serial));
    return tutti__meta_set(meta, "generation", generation);
}

static tutti_err write_database(const rebuilding *m, const char *name, int64_t generation) {
    tutti__meta *meta = NULL;
    tutti__model model;
    tutti__meta_options opt = m->r->options;
    opt.name = name;
    opt.mode |= TUTTI_CREATE;
    TUTTI_TRY(tutti__meta_open(m->r->directory, &opt, &meta));
    tutti_err err = tutti__meta_begin(meta);
    if (err == TUTTI_OK) err = tutti__meta_end(meta, write_rows(m, meta, generation));
    if (err == TUTTI_OK) err = tutti__meta_load(meta, &model); /* this also validates it */
    if (err == TUTTI_OK) {
        for (int64_t i = 0; i < model.segments_n && err == TUTTI_OK; i++) {
            tutti__section *sections = NULL;
            int64_t n = 0;
            err = tutti__meta_sections(meta, &model, &model.segments[i], &sections, &n);
            tutti__free(sections);
        }
        tutti__model_free(&model);
    }
    tutti__meta_close(&meta);
    return err;
}

/* Read all files i with is_skipped[i] == 0; *wrong_out: index of the file that contradicts the
 * others, or -1. */
static tutti_err add_files(rebuilding *m, const unsigned char *is_skipped, int64_t *wrong_out) {
    tutti_err err = TUTTI_OK;
    *wrong_out = -1;
    for (int64_t i = 0; i < m->r->files_n && err == TUTTI_OK; i++) {
        const tutti__listed_file *f = &m->r->files[i];
        if (is_skipped[i] || f->fd < 0 || !tutti__netcdf_name(f->name)) continue;
        err = add_file(m, f);
        if (err == TUTTI_OK || err == TUTTI_ERR_NOMEM) continue;
        *wrong_out = i;
    }
    return err;
}

static void free_rebuilding(rebuilding *m) {
    tutti__model_free(&m->model);
    tutti__free(m->sections);
    m->sections = NULL;
    m->sections_n = 0;
}

tutti_err tutti__netcdf_rebuild(tutti__repair *r, const char *name, int64_t generation) {
    rebuilding m = {.r = r};
    int64_t failed = -1;
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", r->directory, name);
    remove(path); /* a repair that was killed may have left this file */
    snprintf(path, sizeof path, "%s/%s-journal", r->directory, name);
    remove(path);
    unsigned char *is_skipped = tutti__calloc((size_t)r->files_n + 1, 1);
    tutti_err err = is_skipped ? add_files(&m, is_skipped, &failed) : TUTTI_ERR_NOMEM;
    while (failed >= 0 && err != TUTTI_ERR_NOMEM) { /* repeat without the file that failed */
        tutti__repair_lost(r, 1, "'%s': %.180s", r->files[failed].name, tutti_last_error()->text);
        is_skipped[failed] = 1;
        free_rebuilding(&m);
        err = add_files(&m, is_skipped, &failed);
    }
    if (err == TUTTI_OK) err = write_database(&m, name, generation);
    r->report.segments = m.model.segments_n;
    free_rebuilding(&m);
    tutti__free(is_skipped);
    return err;
}
