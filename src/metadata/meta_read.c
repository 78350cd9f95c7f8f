/* metadata: read and validate rows of the database.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta_impl.h"

#include <string.h>

/* ---- columns */

static const char *const ITEMS[] = {"scalar", "vector", "symmetric", "tensor", "values"};
static const char *const LAYOUTS[] = {"global", "ranked"};
static const char *const ORDERS[] = {"native", "little", "big"};
static const char *const SPACES[] = {"grid", "list"};
static const char *const KINDS[] = {"topology", "state"};
#define COUNT(names) ((int)(sizeof(names) / sizeof(names)[0]))

const char *tutti__meta_word(tutti__meta_words which, int value) {
    switch (which) {
    case TUTTI__WORD_ITEM:
        return ITEMS[value];
    case TUTTI__WORD_LAYOUT:
        return LAYOUTS[value];
    case TUTTI__WORD_ORDER:
        return ORDERS[value];
    case TUTTI__WORD_SPACE:
        return SPACES[value];
    default:
        return KINDS[value];
    }
}

/* Return the index of the name in a column; -1 if it is not one of the names. */
static int column_word(sqlite3_stmt *s, int column, const char *const *names, int n) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    for (int i = 0; text && i < n; i++)
        if (strcmp(text, names[i]) == 0) return i;
    return -1;
}

static int column_type(sqlite3_stmt *s, int column) {
    tutti_type type = TUTTI_BYTES;
    const char *text = (const char *)sqlite3_column_text(s, column);
    if (!text || tutti_type_parse(text, &type) != TUTTI_OK) return -1;
    return type;
}

/* Copy the text of a column (NULL is ""); returns 0 if it does not fit. */
static int column_text(sqlite3_stmt *s, int column, char *to, size_t capacity) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    const size_t n = text ? (size_t)sqlite3_column_bytes(s, column) : 0;
    if (n >= capacity || (text && strlen(text) != n)) return 0;
    memcpy(to, text ? text : "", n);
    to[n] = 0;
    return 1;
}

static int column_int(sqlite3_stmt *s, int column) {
    const int64_t v = sqlite3_column_int64(s, column);
    return v >= INT32_MIN && v <= INT32_MAX ? (int)v : -1;
}

static int read_file(sqlite3_stmt *s, tutti__model *m) {
    tutti__datafile *f = TUTTI__GROW(m, files);
    if (!f) return -1;
    f->id = sqlite3_column_int64(s, 0);
    const char *container = (const char *)sqlite3_column_text(s, 2);
    return column_text(s, 1, f->name, sizeof f->name) && container &&
           strcmp(container, tutti__is_netcdf(f) ? "netcdf" : "tutti") == 0;
}

static int read_space(sqlite3_stmt *s, tutti__model *m) {
    tutti__space *p = TUTTI__GROW(m, spaces);
    if (!p) return -1;
    p->id = sqlite3_column_int64(s, 0);
    p->kind = column_word(s, 2, SPACES, COUNT(SPACES));
    return column_text(s, 1, p->name, sizeof p->name) && p->kind >= 0;
}

static int read_variable(sqlite3_stmt *s, tutti__model *m) {
    tutti__variable *v = TUTTI__GROW(m, variables);
    if (!v) return -1;
    v->id = sqlite3_column_int64(s, 0);
    v->space = sqlite3_column_int64(s, 2);
    v->item = column_word(s, 3, ITEMS, COUNT(ITEMS));
    v->components = column_int(s, 4);
    v->type = v->put_type = column_type(s, 5);
    v->layout = column_word(s, 6, LAYOUTS, COUNT(LAYOUTS));
    v->order = column_word(s, 7, ORDERS, COUNT(ORDERS));
    if (sqlite3_column_type(s, 10) == SQLITE_BLOB && sqlite3_column_bytes(s, 10) == sizeof v->fill)
        memcpy(&v->fill, sqlite3_column_blob(s, 10), sizeof v->fill);
    else
        return 0;
    v->compress = column_int(s, 11);
    return column_text(s, 1, v->name, sizeof v->name) &&
           column_text(s, 8, v->units, sizeof v->units) &&
           column_text(s, 9, v->long_name, sizeof v->long_name);
}

static int read_segment(sqlite3_stmt *s, tutti__model *m) {
    tutti__segment_row *g = TUTTI__GROW(m, segments);
    if (!g) return -1;
    g->id = sqlite3_column_int64(s, 0);
    g->kind = column_word(s, 1, KINDS, COUNT(KINDS));
    g->index = sqlite3_column_int64(s, 2);
    g->time = sqlite3_column_double(s, 3);
    g->file = sqlite3_column_int64(s, 4);
    g->start = sqlite3_column_int64(s, 5);
    g->end = sqlite3_column_int64(s, 6);
    g->trailer = sqlite3_column_int64(s, 7);
    g->sections = column_int(s, 8);
    return g->kind >= 0 && g->sections >= 0;
}

static int read_size(sqlite3_stmt *s, tutti__model *m) {
    tutti__size *z = TUTTI__GROW(m, sizes);
    const char *shape = (const char *)sqlite3_column_text(s, 2);
    if (!z) return -1;
    z->segment = sqlite3_column_int64(s, 0);
    z->space = sqlite3_column_int64(s, 1);
    z->has_ids = sqlite3_column_int64(s, 3) != 0;
    return shape && tutti__shape_parse(shape, z);
}

static int read_archived(sqlite3_stmt *s, tutti__model *m) {
    tutti__archived *a = TUTTI__GROW(m, archived);
    if (!a) return -1;
    a->segment = sqlite3_column_int64(s, 0);
    a->sum = (uint64_t)sqlite3_column_int64(s, 2);
    return column_text(s, 1, a->place, sizeof a->place);
}

static int read_key(sqlite3_stmt *s, tutti__model *m) {
    const char *key = (const char *)sqlite3_column_text(s, 0);
    if (key && strcmp(key, "generation") == 0) m->generation = sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "serial") == 0) m->serial = sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "id_high") == 0) m->id[0] = (uint64_t)sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "id_low") == 0) m->id[1] = (uint64_t)sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "container") == 0) m->container = sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "commit") == 0) m->commit = sqlite3_column_int64(s, 1);
    if (key && strcmp(key, "defined") == 0) m->defined = sqlite3_column_int64(s, 1);
    /* these values are incremented and must not overflow */
    return key != NULL && m->generation >= 0 && m->generation <= INT64_MAX / 2 && m->serial >= 0 &&
           m->serial <= INT64_MAX / 2;
}

/* Read all rows of a table; `read` returns 1, 0 if the row is invalid, -1 if out of memory. */
static tutti_err read_table(tutti__meta *m, const char *query,
                            int (*read)(sqlite3_stmt *, tutti__model *), tutti__model *out) {
    sqlite3_stmt *s = NULL;
    int row = 0, sound = 1;
    TUTTI_TRY(tutti__sql_prepare(m, query, &s));
    tutti_err err = tutti__sql_step(m, s, &row);
    while (err == TUTTI_OK && row && (sound = read(s, out)) == 1) err = tutti__sql_step(m, s, &row);
    if (err == TUTTI_OK && sound < 0) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && sound == 0)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                               "the metadata contain an invalid row, returned by: %s", query);
    sqlite3_finalize(s);
    return err;
}

static tutti_err read_tables(tutti__meta *m, tutti__model *out) {
    int64_t archives = 0;
    TUTTI_TRY(
        tutti__sql_int(m, "SELECT count(*) FROM sqlite_schema WHERE name = 'archived'", &archives));
    if (archives)
        TUTTI_TRY(read_table(m, "SELECT segment, place, sum FROM archived ORDER BY segment",
                             read_archived, out));
    TUTTI_TRY(read_table(m, "SELECT key, value FROM dataset", read_key, out));
    TUTTI_TRY(read_table(m, "SELECT id, name, container FROM files ORDER BY id", read_file, out));
    TUTTI_TRY(read_table(m, "SELECT id, name, kind FROM spaces ORDER BY id", read_space, out));
    TUTTI_TRY(read_table(m,
                         "SELECT id, name, space, item, components, type, layout, byte_order,"
                         " units, long_name, fill, compress FROM variables ORDER BY id",
                         read_variable, out));
    TUTTI_TRY(read_table(m,
                         "SELECT id, kind, time_index, time, file, start, end, trailer, sections"
                         " FROM segments ORDER BY id",
                         read_segment, out));
    TUTTI_TRY(read_table(m, "SELECT segment, space, shape, ids FROM sizes ORDER BY segment, space",
                         read_size, out));
    return tutti__model_check(out);
}

tutti_err tutti__meta_generation(tutti__meta *m, int64_t *out) {
    static const char TEXT[] = "SELECT value FROM dataset WHERE key = 'generation'";
    *out = -1;
    if (!m->writes && tutti__meta_replaced(m)) return TUTTI_OK;
    if (m->empty) {
        *out = 0;
        return TUTTI_OK;
    }
    const tutti_err err = tutti__sql_int(m, TEXT, out);
    if (err == TUTTI_OK || m->writes || !tutti__sql_journal_hot(m)) return err;
    TUTTI_TRY(tutti__meta_reopen(m)); /* a writer was killed after the last call */
    return tutti__sql_int(m, TEXT, out);
}

tutti_err tutti__meta_load(tutti__meta *m, tutti__model *out) {
    int64_t generation = 0;
    *out = (tutti__model){0};
    /* The private copy may be out of date, or the database may have been created or replaced. */
    if (!m->writes && (m->own[0] || m->empty || tutti__meta_replaced(m)))
        TUTTI_TRY(tutti__meta_reopen(m));
    if (m->empty) return TUTTI_OK;
    TUTTI_TRY(tutti__meta_generation(m, &generation));
    TUTTI_TRY(tutti__sql(m, "BEGIN"));
    const tutti_err err = read_tables(m, out);
    tutti__meta_rollback(m);
    if (err != TUTTI_OK) tutti__model_free(out);
    return err;
}

static tutti_err read_sections(tutti__meta *m, sqlite3_stmt *s, const tutti__model *model,
                               const tutti__segment_row *g, tutti__section **out, int64_t *n) {
    int row = 0;
    tutti_off end = g->start;
    for (;;) {
        TUTTI_TRY(tutti__sql_step(m, s, &row));
        if (!row) return TUTTI_OK;
        tutti__section *t = tutti__table_grow(out, n, sizeof **out);
        if (!t) return TUTTI_ERR_NOMEM;
        t->segment = sqlite3_column_int64(s, 0);
        t->variable = sqlite3_column_int64(s, 1);
        t->part = sqlite3_column_int64(s, 2);
        t->start = sqlite3_column_int64(s, 3);
        t->bytes = sqlite3_column_int64(s, 4);
        t->type = column_type(s, 5);
        t->summed = sqlite3_column_type(s, 6) != SQLITE_NULL;
        t->sum = (uint64_t)sqlite3_column_int64(s, 6);
        t->list_segment = sqlite3_column_int64(s, 7);
        t->list_part = sqlite3_column_int64(s, 8);
        TUTTI_CHECK(t->part >= 0 && t->type >= 0, TUTTI_ERR_FORMAT,
                    "a section of segment %lld has part %lld and type %d: must be >= 0",
                    (long long)g->id, (long long)t->part, t->type);
        TUTTI_TRY(tutti__section_check(model, g, t));
        TUTTI_CHECK(t->start >= end, TUTTI_ERR_FORMAT, "sections of segment %lld overlap",
                    (long long)g->id);
        end = t->start + t->bytes;
    }
}

tutti_err tutti__meta_sections(tutti__meta *m, const tutti__model *model,
                               const tutti__segment_row *g, tutti__section **out, int64_t *n_out) {
    sqlite3_stmt *s = NULL;
    int64_t generation = 0;
    *out = NULL;
    *n_out = 0;
    TUTTI_TRY(tutti__meta_generation(m, &generation));
    TUTTI_TRY(tutti__sql_prepare(m,
                                 "SELECT segment, variable, part, start, bytes, type, sum,"
                                 " list_segment, list_part FROM sections WHERE segment = ?"
                                 " ORDER BY start, bytes",
                                 &s));
    sqlite3_bind_int64(s, 1, g->id);
    tutti_err err = read_sections(m, s, model, g, out, n_out);
    sqlite3_finalize(s);
    if (err == TUTTI_OK && *n_out == 0 && g->sections > 0)
        err = tutti__error_set(
            TUTTI_ERR_STATE, 0, -1,
            "segment %lld has been removed since the dataset was opened or refreshed",
            (long long)g->id);
    else if (err == TUTTI_OK && *n_out != g->sections)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                               "the metadata contain %lld sections of segment %lld: expected %d",
                               (long long)*n_out, (long long)g->id, g->sections);
    if (err != TUTTI_OK) {
        tutti__free(*out);
        *out = NULL;
        *n_out = 0;
    }
    return err;
}

tutti_err tutti__meta_list_uses(tutti__meta *m, tutti__list_use **out, int64_t *n_out) {
    return tutti__sql_numbers(m,
                              "SELECT DISTINCT segment, list_segment FROM sections"
                              " WHERE list_segment <> segment ORDER BY segment DESC",
                              out, n_out);
}

tutti_err tutti__meta_integrity(tutti__meta *m) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m, "PRAGMA integrity_check(1)", &s));
    tutti_err err = tutti__sql_step(m, s, &row);
    const char *text = row ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (err == TUTTI_OK && text && strcmp(text, "ok") != 0)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "metadata: %s", text);
    sqlite3_finalize(s);
    return err;
}
