/* netcdf: headers of netCDF data files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "netcdf/netcdf.h"

#include <stdio.h>
#include <string.h>
#include "metadata/meta_impl.h"

#define TIME "time"
#define TIME_INDEX "time_index"

void tutti__ncfile_free(tutti__ncfile *f) {
    tutti__free(f->fixed);
    tutti__free(f->state);
    *f = (tutti__ncfile){0};
}

/* ---- names */

/* Format the name of dimension d of a space; lists have one dimension. */
static void format_dimension_name(const tutti__space *s, int d, char out[TUTTI__NAME + 8]) {
    if (s->kind == TUTTI__SPACE_LIST)
        snprintf(out, TUTTI__NAME + 8, "%s", s->name);
    else
        snprintf(out, TUTTI__NAME + 8, "%s_%d", s->name, d);
}

static int is_dimension_name(const char *name, const tutti__space *s) {
    char of[TUTTI__NAME + 8];
    for (int d = 0; d < (s->kind == TUTTI__SPACE_LIST ? 1 : TUTTI_MAX_DIMS); d++) {
        format_dimension_name(s, d, of);
        if (strcmp(of, name) == 0) return 1;
    }
    return 0;
}

/* Check a name that is valid in a dataset; fails with TUTTI_ERR_UNSUPPORTED if netCDF does not
 * allow it. */
static tutti_err check_netcdf_name(const char *name, const char *what) {
    if (tutti__cdf_name_check(name, what) == TUTTI_OK) return TUTTI_OK;
    TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED,
               "netCDF cannot store %s '%.60s': a name must begin with a letter, a digit or _, and "
               "must not end with a space or contain '/'",
               what, name);
}

tutti_err tutti__netcdf_space_check(const tutti__model *m, const char *name, int kind) {
    tutti__space new = {.kind = kind};
    char other[TUTTI__NAME + 8];
    TUTTI_TRY(check_netcdf_name(name, "space"));
    snprintf(new.name, sizeof new.name, "%s", name);
    TUTTI_CHECK(!is_dimension_name(TIME, &new) && strncmp(name, "components_", 11) != 0,
                TUTTI_ERR_UNSUPPORTED,
                "netCDF cannot store space '%s': dimension names '" TIME
                "' and 'components_...' are reserved",
                name);
    for (int64_t i = 0; i < m->spaces_n; i++) {
        const tutti__space *s = &m->spaces[i];
        if (strcmp(s->name, name) == 0) continue;
        int clash = kind == TUTTI__SPACE_LIST && is_dimension_name(name, s);
        clash = clash || (s->kind == TUTTI__SPACE_LIST && is_dimension_name(s->name, &new));
        TUTTI_CHECK(!clash, TUTTI_ERR_UNSUPPORTED,
                    "netCDF cannot store spaces '%s' and '%s': dimensions would have the same name",
                    s->name, name);
    }
    snprintf(other, sizeof other, "%s_ids", name);
    TUTTI_CHECK(kind == TUTTI__SPACE_GRID || !tutti__model_variable(m, other),
                TUTTI_ERR_UNSUPPORTED,
                "netCDF cannot store list '%s' together with variable '%s': its ids have that name",
                name, other);
    return TUTTI_OK;
}

tutti_err tutti__netcdf_type_check(const char *variable, int type) {
    TUTTI_CHECK(type == TUTTI_BYTES || tutti__cdf_of_number((tutti_type)type) != 0,
                TUTTI_ERR_UNSUPPORTED, "variable '%s': netCDF cannot store type %s", variable,
                tutti_type_name((tutti_type)type));
    return TUTTI_OK;
}

tutti_err tutti__netcdf_variable_check(const tutti__model *m, const tutti__variable *v) {
    TUTTI_TRY(check_netcdf_name(v->name, "variable"));
    TUTTI_TRY(tutti__netcdf_type_check(v->name, v->type));
    TUTTI_CHECK(v->layout == TUTTI_GLOBAL, TUTTI_ERR_UNSUPPORTED,
                "variable '%s': netCDF supports only layout TUTTI_GLOBAL, not TUTTI_RANKED",
                v->name);
    TUTTI_CHECK(v->compress == 0, TUTTI_ERR_UNSUPPORTED,
                "variable '%s': netCDF classic files cannot be compressed", v->name);
    TUTTI_CHECK(v->order == TUTTI_BIG_ENDIAN, TUTTI_ERR_UNSUPPORTED,
                "variable '%s': byte order of netCDF files must be big-endian", v->name);
    TUTTI_CHECK(strcmp(v->name, TIME) != 0 && strcmp(v->name, TIME_INDEX) != 0,
                TUTTI_ERR_UNSUPPORTED, "netCDF cannot store variable '%s': the name is reserved",
                v->name);
    for (int64_t i = 0; i < m->spaces_n; i++) {
        char ids[TUTTI__NAME + 8];
        snprintf(ids, sizeof ids, "%s_ids", m->spaces[i].name);
        TUTTI_CHECK(m->spaces[i].kind == TUTTI__SPACE_GRID || strcmp(ids, v->name) != 0,
                    TUTTI_ERR_UNSUPPORTED,
                    "netCDF cannot store variable '%s': the ids of list '%s' have that name",
                    v->name, m->spaces[i].name);
    }
    return TUTTI_OK;
}

tutti_off tutti__netcdf_header_most(const tutti__model *m) {
    tutti_off n = 1024; /* magic, lists, attributes of the file, time */
    for (int64_t i = 0; i < m->spaces_n; i++)
        n += (TUTTI_MAX_DIMS + 1) * ((tutti_off)strlen(m->spaces[i].name) + 32);
    for (int64_t i = 0; i < m->variables_n; i++) {
        const tutti__variable *v = &m->variables[i];
        const tutti__space *s = tutti__model_space_id(m, v->space);
        n += 512 + 8 * TUTTI_MAX_DIMS +
             (tutti_off)(strlen(v->name) + strlen(v->units) + strlen(v->long_name) +
                         strlen(s->name));
    }
    return n;
}

/* ---- rows */

static tutti_err add_dimension(tutti__cdf *c, const char *name, tutti_count length,
                               tutti_count *out) {
    *out = tutti__cdf_find_dim(c, name);
    if (*out < 0) return tutti__cdf_add_dim(c, name, length, out);
    TUTTI_CHECK(c->dims[*out].length == length, TUTTI_ERR_UNSUPPORTED,
                "netCDF cannot store dimension '%s' with two lengths, %lld and %lld", name,
                (long long)c->dims[*out].length, (long long)length);
    return TUTTI_OK;
}

/* Add the attributes that netCDF readers use, and those that a repair needs. */
static tutti_err add_attributes(tutti__cdf *c, tutti_count var, const tutti__model *m,
                                const tutti__variable *v, int type) {
    const tutti__space *s = tutti__model_space_id(m, v->space);
    const int own = strchr(v->name, ':') != NULL;
    if (v->units[0]) TUTTI_TRY(tutti__cdf_put_text(c, var, "units", v->units));
    if (v->long_name[0]) TUTTI_TRY(tutti__cdf_put_text(c, var, "long_name", v->long_name));
    if (v->fill != 0) { /* with fill value 0, readers would treat zeros as missing values */
        union {
            unsigned char bytes[16];
            double aligned;
        } pattern;
        int size = 1;
        TUTTI_TRY(tutti__fill_pattern(v->fill, type, TUTTI_NATIVE_ENDIAN, pattern.bytes, &size));
        TUTTI_TRY(tutti__cdf_put_att(c, var, "_FillValue", c->vars[var].type, 1, pattern.bytes));
    }
    TUTTI_TRY(tutti__cdf_put_text(c, var, "dataset_space", s->name));
    if (own) return tutti__cdf_put_text(c, var, "dataset_item", "ids");
    if (v->item != TUTTI_SCALAR)
        TUTTI_TRY(tutti__cdf_put_text(c, var, "dataset_item",
                                      tutti__meta_word(TUTTI__WORD_ITEM, v->item)));
    return type == TUTTI_BYTES ? tutti__cdf_put_text(c, var, "dataset_type", "bytes") : TUTTI_OK;
}

static tutti_err add_netcdf_variable(tutti__cdf *c, const tutti__model *m, const tutti__section *s,
                                     int is_record) {
    const tutti__variable *v = tutti__model_variable_id(m, s->variable);
    const tutti__space *space = tutti__model_space_id(m, v->space);
    const tutti__size *z = tutti__model_size(m, v->space, s->segment);
    tutti_count dims[TUTTI_MAX_DIMS + 2], var = -1;
    char name[TUTTI__NAME + 8];
    int n = 0;
    if (is_record) dims[n++] = c->record_dim;
    for (int d = 0; d < z->ndims; d++) {
        format_dimension_name(space, d, name);
        TUTTI_TRY(add_dimension(c, name, z->shape[d], &dims[n++]));
    }
    if (v->item != TUTTI_SCALAR) {
        const tutti_count numbers = tutti__variable_numbers(v);
        snprintf(name, sizeof name, "components_%lld", (long long)numbers);
        TUTTI_TRY(add_dimension(c, name, numbers, &dims[n++]));
    }
    const int type =
        s->type == TUTTI_BYTES ? TUTTI__CDF_UBYTE : tutti__cdf_of_number((tutti_type)s->type);
    memcpy(name, v->name, TUTTI__NAME); /* "nodes:ids" becomes "nodes_ids" */
    char *colon = strrchr(name, ':');
    if (colon) *colon = '_';
    TUTTI_TRY(tutti__cdf_add_var(c, name, type, n, dims, &var));
    return add_attributes(c, var, m, v, s->type);
}

static tutti_err add_rows(tutti__cdf *c, const tutti__model *m, const tutti__ncfile *f) {
    const int32_t format = 1;
    tutti_count var = -1;
    TUTTI_TRY(tutti__cdf_put_att(c, -1, "dataset_format", TUTTI__CDF_INT, 1, &format));
    if (f->topology.id) {
        TUTTI_TRY(tutti__cdf_put_att(c, -1, "dataset_topology_index", TUTTI__CDF_INT64, 1,
                                     &f->topology.index));
        TUTTI_TRY(tutti__cdf_put_att(c, -1, "dataset_topology_time", TUTTI__CDF_DOUBLE, 1,
                                     &f->topology.time));
    }
    if (f->first.id) TUTTI_TRY(tutti__cdf_add_dim(c, TIME, 0, NULL));
    for (int64_t i = 0; i < f->fixed_n; i++) TUTTI_TRY(add_netcdf_variable(c, m, &f->fixed[i], 0));
    if (!f->first.id) return TUTTI_OK;
    TUTTI_TRY(tutti__cdf_add_var(c, TIME, TUTTI__CDF_DOUBLE, 1, &c->record_dim, &var));
    TUTTI_TRY(tutti__cdf_add_var(c, TIME_INDEX, TUTTI__CDF_INT64, 1, &c->record_dim, &var));
    for (int64_t i = 0; i < f->state_n; i++) TUTTI_TRY(add_netcdf_variable(c, m, &f->state[i], 1));
    return TUTTI_OK;
}

/* Set the offsets of variables to those of sections. */
static tutti_err set_offsets(tutti__cdf *c, const tutti__ncfile *f) {
    TUTTI_TRY(tutti__cdf_layout(c, NULL));
    tutti__cdf_var *v = c->vars;
    for (int64_t i = 0; i < f->fixed_n; i++) v++->begin = f->fixed[i].start;
    c->fixed_end = f->fixed_n ? v[-1].begin + v[-1].bytes : c->header_bytes;
    c->record_begin = c->fixed_end;
    if (f->first.id) {
        c->record_begin = f->first.start;
        v++->begin = f->first.start;
        v++->begin = f->first.start + 8;
        for (int64_t i = 0; i < f->state_n; i++) v++->begin = f->state[i].start;
        TUTTI_ASSERT(c->record_bytes == f->first.end - f->first.start);
    }
    c->records = f->records;
    TUTTI_CHECK(c->header_bytes <= f->area, TUTTI_ERR_UNSUPPORTED,
                "the netCDF header has %lld bytes, but only %lld are reserved: define variables "
                "before the first segment of a data file begins",
                (long long)c->header_bytes, (long long)f->area);
    return TUTTI_OK;
}

tutti_err tutti__netcdf_rows(const tutti__model *m, const tutti__ncfile *f, tutti__cdf *out) {
    tutti__cdf c;
    tutti__cdf_init(&c, 5);
    tutti_err err = add_rows(&c, m, f);
    if (err == TUTTI_OK) err = set_offsets(&c, f);
    if (err == TUTTI_OK)
        *out = c;
    else
        tutti__cdf_free(&c);
    return err;
}

tutti_err tutti__netcdf_header(const tutti__model *m, const tutti__ncfile *f, void **out,
                               tutti_off *bytes_out) {
    tutti__cdf c;
    TUTTI_TRY(tutti__netcdf_rows(m, f, &c));
    const tutti_err err = tutti__cdf_encode(&c, out);
    *bytes_out = c.header_bytes;
    tutti__cdf_free(&c);
    return err;
}

void tutti__netcdf_time(const tutti__segment_row *g, unsigned char out[TUTTI__NETCDF_TIME]) {
    uint64_t words[2];
    memcpy(&words[0], &g->time, 8);
    memcpy(&words[1], &g->index, 8);
    for (int i = 0; i < TUTTI__NETCDF_TIME; i++)
        out[i] = (unsigned char)(words[i / 8] >> 8 * (7 - i % 8));
}
