/* metadata: write rows of the database, and encode them for trailers; infos.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta_impl.h"
#include "metadata/trailer.h"

#include <stdio.h>
#include <string.h>
#include "base/utf8.h"

/* ---- prepared statements */

enum {
    ADD_FILE,
    ADD_SPACE,
    ADD_VARIABLE,
    ADD_SEGMENT,
    END_SEGMENT,
    ADD_SIZE,
    ADD_SECTION,
    SET_KEY,
    DROP_SECTIONS,
    DROP_SIZES,
    DROP_SEGMENT,
    DROP_INFOS,
    DROP_FILE,
    DROP_ARCHIVED,
    SET_INFO,
    DROP_INFO,
    GET_INFO,
    SET_REMOVED,
    DROP_REMOVED,
    INFOS_WRITTEN,
    REMOVED_WRITTEN,
    INFOS_UNWRITTEN,
    REMOVED_UNWRITTEN,
    /* select the rows of a segment, one statement per table in the order of tutti__row_table */
    SELECT_ROWS,
    STATEMENTS = SELECT_ROWS + TUTTI__ROW_TABLES
};
_Static_assert((int)STATEMENTS == (int)TUTTI__STATEMENTS, "number of prepared statements");

static const char *const TEXT[TUTTI__STATEMENTS] = {
    [ADD_FILE] = "INSERT INTO files VALUES(?, ?, ?)",
    [ADD_SPACE] = "INSERT INTO spaces VALUES(?, ?, ?)",
    [ADD_VARIABLE] = "INSERT INTO variables VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_SEGMENT] = "INSERT INTO segments VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [END_SEGMENT] = "UPDATE segments SET trailer = ?, end = ? WHERE id = ?",
    [ADD_SIZE] = "INSERT OR REPLACE INTO sizes VALUES(?, ?, ?, ?)",
    [ADD_SECTION] = "INSERT INTO sections VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SET_KEY] = "INSERT OR REPLACE INTO dataset(value, key) VALUES(?, ?)",
    [DROP_SECTIONS] = "DELETE FROM sections WHERE segment = ?",
    [DROP_SIZES] = "DELETE FROM sizes WHERE segment = ?",
    [DROP_SEGMENT] = "DELETE FROM segments WHERE id = ?",
    [DROP_INFOS] = "DELETE FROM infos WHERE segment = ?",
    [DROP_FILE] = "DELETE FROM files WHERE id = ?",
    [DROP_ARCHIVED] = "DELETE FROM archived WHERE segment = ?",
    [SET_INFO] = "INSERT OR REPLACE INTO infos VALUES(?, ?, ?, ?, ?, ?, 0)",
    [DROP_INFO] = "DELETE FROM infos WHERE variable = ? AND segment = ? AND name = ?",
    [GET_INFO] = "SELECT type, count, value FROM infos WHERE (variable, segment, name) = (?, ?, ?)",
    [SET_REMOVED] = ("INSERT OR REPLACE INTO removed SELECT variable, segment, name, 0 FROM infos"
                     " WHERE (variable, segment, name) = (?, ?, ?)"),
    [DROP_REMOVED] = "DELETE FROM removed WHERE (variable, segment, name) = (?, ?, ?)",
    [INFOS_WRITTEN] = "UPDATE infos SET home = ? WHERE home = 0",
    [REMOVED_WRITTEN] = "UPDATE removed SET home = ? WHERE home = 0",
    [INFOS_UNWRITTEN] = "UPDATE infos SET home = 0 WHERE home = ?",
    [REMOVED_UNWRITTEN] = "UPDATE removed SET home = 0 WHERE home = ?",
    [SELECT_ROWS + TUTTI__ROW_SEGMENT] = "SELECT * FROM segments WHERE id = ?",
    [SELECT_ROWS + TUTTI__ROW_FILE] =
        "SELECT * FROM files WHERE id = (SELECT file FROM segments WHERE id = ?)",
    [SELECT_ROWS + TUTTI__ROW_SPACE] = "SELECT * FROM spaces WHERE ? ORDER BY id",
    [SELECT_ROWS + TUTTI__ROW_VARIABLE] = "SELECT * FROM variables WHERE ? ORDER BY id",
    [SELECT_ROWS + TUTTI__ROW_SIZE] =
        ("SELECT * FROM sizes WHERE segment = 0 OR (segment, space) IN (SELECT (SELECT b.segment"
         " FROM sizes AS b WHERE b.space = s.id AND b.segment <= ? ORDER BY b.segment DESC LIMIT "
         "1),"
         " s.id FROM spaces AS s) ORDER BY segment, space"),
    [SELECT_ROWS + TUTTI__ROW_SECTION] =
        "SELECT * FROM sections WHERE segment = ? ORDER BY start, bytes",
    [SELECT_ROWS + TUTTI__ROW_INFO] =
        ("SELECT variable, segment, name, type, count, value FROM infos WHERE home = 0 AND ?"
         " ORDER BY variable, segment, name"),
    [SELECT_ROWS + TUTTI__ROW_REMOVED] =
        ("SELECT variable, segment, name FROM removed WHERE home = 0 AND ?"
         " ORDER BY variable, segment, name"),
};

static tutti_err prepare_statement(tutti__meta *m, int which, sqlite3_stmt **out) {
    if (!m->statement[which]) TUTTI_TRY(tutti__sql_prepare(m, TEXT[which], &m->statement[which]));
    *out = m->statement[which];
    sqlite3_reset(*out);
    sqlite3_clear_bindings(*out);
    return TUTTI_OK;
}

static tutti_err run_statement(tutti__meta *m, sqlite3_stmt *s) {
    int row = 0;
    const tutti_err err = tutti__sql_step(m, s, &row);
    sqlite3_reset(s);
    return err;
}

/* Bind a text; "" is stored as NULL. */
static void bind_text(sqlite3_stmt *s, int at, const char *text) {
    if (text[0]) sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

tutti_err tutti__meta_add_file(tutti__meta *m, const tutti__datafile *f) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, ADD_FILE, &s));
    sqlite3_bind_int64(s, 1, f->id);
    bind_text(s, 2, f->name);
    bind_text(s, 3, tutti__is_netcdf(f) ? "netcdf" : "tutti");
    return run_statement(m, s);
}

tutti_err tutti__meta_add_segment(tutti__meta *m, const tutti__segment_row *g) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, ADD_SEGMENT, &s));
    sqlite3_bind_int64(s, 1, g->id);
    bind_text(s, 2, tutti__meta_word(TUTTI__WORD_KIND, g->kind));
    sqlite3_bind_int64(s, 3, g->index);
    sqlite3_bind_double(s, 4, g->time);
    sqlite3_bind_int64(s, 5, g->file);
    sqlite3_bind_int64(s, 6, g->start);
    sqlite3_bind_int64(s, 7, g->end);
    sqlite3_bind_int64(s, 8, g->trailer);
    sqlite3_bind_int64(s, 9, g->sections);
    return run_statement(m, s);
}

tutti_err tutti__meta_end_segment(tutti__meta *m, const tutti__segment_row *g) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, END_SEGMENT, &s));
    sqlite3_bind_int64(s, 1, g->trailer);
    sqlite3_bind_int64(s, 2, g->end);
    sqlite3_bind_int64(s, 3, g->id);
    return run_statement(m, s);
}

tutti_err tutti__meta_add_size(tutti__meta *m, const tutti__size *z) {
    sqlite3_stmt *s = NULL;
    char shape[TUTTI_MAX_DIMS * 21 + 1] = "";
    int n = 0;
    for (int i = 0; i < z->ndims; i++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%lld", i ? "," : "",
                      (long long)z->shape[i]);
    TUTTI_TRY(prepare_statement(m, ADD_SIZE, &s));
    sqlite3_bind_int64(s, 1, z->segment);
    sqlite3_bind_int64(s, 2, z->space);
    bind_text(s, 3, shape);
    sqlite3_bind_int64(s, 4, z->has_ids);
    return run_statement(m, s);
}

tutti_err tutti__meta_add_section(tutti__meta *m, const tutti__section *t) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, ADD_SECTION, &s));
    sqlite3_bind_int64(s, 1, t->segment);
    sqlite3_bind_int64(s, 2, t->variable);
    sqlite3_bind_int64(s, 3, t->part);
    sqlite3_bind_int64(s, 4, t->start);
    sqlite3_bind_int64(s, 5, t->bytes);
    bind_text(s, 6, tutti_type_name((tutti_type)t->type));
    if (t->summed) sqlite3_bind_int64(s, 7, (int64_t)t->sum);
    if (t->list_segment) sqlite3_bind_int64(s, 8, t->list_segment);
    if (t->list_segment) sqlite3_bind_int64(s, 9, t->list_part);
    return run_statement(m, s);
}

tutti_err tutti__meta_add_fresh(tutti__meta *m, const tutti__model *model) {
    sqlite3_stmt *s = NULL;
    for (int64_t i = 0; i < model->spaces_n; i++) {
        const tutti__space *p = &model->spaces[i];
        if (!p->fresh) continue;
        TUTTI_TRY(prepare_statement(m, ADD_SPACE, &s));
        sqlite3_bind_int64(s, 1, p->id);
        bind_text(s, 2, p->name);
        bind_text(s, 3, tutti__meta_word(TUTTI__WORD_SPACE, p->kind));
        TUTTI_TRY(run_statement(m, s));
    }
    for (int64_t i = 0; i < model->variables_n; i++) {
        const tutti__variable *v = &model->variables[i];
        if (!v->fresh) continue;
        TUTTI_TRY(prepare_statement(m, ADD_VARIABLE, &s));
        sqlite3_bind_int64(s, 1, v->id);
        bind_text(s, 2, v->name);
        sqlite3_bind_int64(s, 3, v->space);
        bind_text(s, 4, tutti__meta_word(TUTTI__WORD_ITEM, v->item));
        sqlite3_bind_int64(s, 5, v->components);
        bind_text(s, 6, tutti_type_name((tutti_type)v->type));
        bind_text(s, 7, tutti__meta_word(TUTTI__WORD_LAYOUT, v->layout));
        bind_text(s, 8, tutti__meta_word(TUTTI__WORD_ORDER, v->order));
        bind_text(s, 9, v->units);
        bind_text(s, 10, v->long_name);
        /* a REAL column cannot store NaN */
        sqlite3_bind_blob(s, 11, &v->fill, sizeof v->fill, SQLITE_STATIC);
        sqlite3_bind_int64(s, 12, v->compress);
        TUTTI_TRY(run_statement(m, s));
    }
    for (int64_t i = 0; i < model->sizes_n; i++)
        if (model->sizes[i].fresh && model->sizes[i].segment == 0)
            TUTTI_TRY(tutti__meta_add_size(m, &model->sizes[i]));
    return TUTTI_OK;
}

static tutti_err run_by_id(tutti__meta *m, int which, int64_t id) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, which, &s));
    sqlite3_bind_int64(s, 1, id);
    return run_statement(m, s);
}

tutti_err tutti__meta_remove_segment(tutti__meta *m, int64_t id) {
    TUTTI_TRY(run_by_id(m, DROP_SECTIONS, id));
    TUTTI_TRY(run_by_id(m, DROP_SIZES, id));
    TUTTI_TRY(run_by_id(m, DROP_INFOS, id));
    TUTTI_TRY(run_by_id(m, DROP_ARCHIVED, id));
    return run_by_id(m, DROP_SEGMENT, id);
}

tutti_err tutti__meta_remove_file(tutti__meta *m, int64_t id) {
    return run_by_id(m, DROP_FILE, id);
}

tutti_err tutti__meta_set(tutti__meta *m, const char *key, int64_t value) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, SET_KEY, &s));
    sqlite3_bind_int64(s, 1, value);
    bind_text(s, 2, key);
    return run_statement(m, s);
}

tutti_err tutti__meta_clear(tutti__meta *m, int64_t generation) {
    TUTTI_TRY(tutti__meta_begin(m));
    tutti_err err = tutti__sql(m, "DELETE FROM sections; DELETE FROM sizes; DELETE FROM infos;"
                                  "DELETE FROM segments; DELETE FROM variables;"
                                  "DELETE FROM spaces; DELETE FROM files;"
                                  "DELETE FROM archived; DELETE FROM removed;"
                                  "DELETE FROM dataset WHERE key = 'container'");
    if (err == TUTTI_OK) err = tutti__meta_set(m, "generation", generation);
    if (err == TUTTI_OK) err = tutti__meta_id_make(m);
    return tutti__meta_end(m, err);
}

/* ---- rows as bytes: the number of the table and of columns, then a letter and a value for each
 * column */

typedef struct {
    char *at;
    size_t n, capacity;
} bytes;

static tutti_err append_bytes(bytes *b, const void *data, size_t n) {
    if (b->n + n > b->capacity) {
        const size_t capacity = 2 * (b->n + n) + 256;
        char *more = tutti__realloc(b->at, capacity);
        if (!more) return TUTTI_ERR_NOMEM;
        b->at = more;
        b->capacity = capacity;
    }
    if (n) memcpy(b->at + b->n, data, n);
    b->n += n;
    return TUTTI_OK;
}

static tutti_err append_number(bytes *b, char letter, uint64_t v) {
    unsigned char word[9] = {(unsigned char)letter};
    for (int i = 0; i < 8; i++) word[1 + i] = (unsigned char)(v >> (8 * i));
    return append_bytes(b, word, sizeof word);
}

static tutti_err append_column(bytes *b, sqlite3_stmt *s, int i) {
    const size_t n = (size_t)sqlite3_column_bytes(s, i);
    double real = 0;
    uint64_t word = 0;
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        return append_number(b, 'i', (uint64_t)sqlite3_column_int64(s, i));
    case SQLITE_FLOAT:
        real = sqlite3_column_double(s, i);
        memcpy(&word, &real, sizeof word);
        return append_number(b, 'd', word);
    case SQLITE_TEXT:
        TUTTI_TRY(append_number(b, 't', n));
        return append_bytes(b, sqlite3_column_text(s, i), n);
    case SQLITE_BLOB:
        TUTTI_TRY(append_number(b, 'b', n));
        return append_bytes(b, sqlite3_column_blob(s, i), n);
    default:
        return append_number(b, 'n', 0);
    }
}

tutti_err tutti__meta_rows(tutti__meta *m, int64_t segment, int tables, char **out,
                           size_t *bytes_out) {
    bytes b = {NULL, 0, 0};
    tutti_err err = TUTTI_OK;
    for (int q = 0; q < tables && err == TUTTI_OK; q++) {
        sqlite3_stmt *s = NULL;
        int row = 0;
        err = prepare_statement(m, SELECT_ROWS + q, &s);
        if (err == TUTTI_OK) sqlite3_bind_int64(s, 1, segment);
        if (err == TUTTI_OK) err = tutti__sql_step(m, s, &row);
        while (err == TUTTI_OK && row) {
            err = append_number(&b, 'r', (uint64_t)q);
            if (err == TUTTI_OK) err = append_number(&b, 'c', (uint64_t)sqlite3_column_count(s));
            for (int i = 0; i < sqlite3_column_count(s) && err == TUTTI_OK; i++)
                err = append_column(&b, s, i);
            if (err == TUTTI_OK) err = tutti__sql_step(m, s, &row);
        }
        if (s) sqlite3_reset(s); /* also ends the read transaction of the statement */
    }
    if (err != TUTTI_OK) {
        tutti__free(b.at);
        return err;
    }
    *out = b.at;
    *bytes_out = b.n;
    return TUTTI_OK;
}

static void bind_cell(sqlite3_stmt *s, int at, const tutti__cell *c) {
    double real = 0;
    switch (c->kind) {
    case 'i':
        sqlite3_bind_int64(s, at, c->number);
        return;
    case 'd':
        memcpy(&real, &c->number, sizeof real);
        sqlite3_bind_double(s, at, real);
        return;
    case 't':
        sqlite3_bind_text64(s, at, c->text, c->bytes, SQLITE_STATIC, SQLITE_UTF8);
        return;
    case 'b':
        sqlite3_bind_blob64(s, at, c->bytes ? c->text : "", c->bytes, SQLITE_STATIC);
        return;
    default:
        sqlite3_bind_null(s, at);
    }
}

/* Run one statement with the cells of a row bound to its parameters. */
static tutti_err run_with_cells(tutti__meta *m, const char *text, const tutti__cell *cells, int n) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m, text, &s)); /* fails if the number of columns differs */
    for (int i = 0; i < n; i++) bind_cell(s, i + 1, &cells[i]);
    const tutti_err err = tutti__sql_step(m, s, &row);
    sqlite3_finalize(s);
    return err;
}

tutti_err tutti__meta_row_add(tutti__meta *m, const tutti__row *r) {
    static const char *const TABLES[TUTTI__ROW_INFO] = {"segments",  "files", "spaces",
                                                        "variables", "sizes", "sections"};
    char text[64 + 3 * TUTTI__ROW_COLUMNS];
    TUTTI_ASSERT(r->table < TUTTI__ROW_INFO);
    int n = snprintf(text, sizeof text, "INSERT INTO %s VALUES(?", TABLES[r->table]);
    for (int i = 1; i < r->columns; i++) n += snprintf(text + n, sizeof text - (size_t)n, ", ?");
    snprintf(text + n, sizeof text - (size_t)n, ")");
    return run_with_cells(m, text, r->cell, r->columns);
}

/* ---- infos and trailers: `home` is the segment whose trailer has a change; 0: no trailer has
 * it */

tutti_err tutti__meta_infos_written(tutti__meta *m, int64_t segment) {
    TUTTI_TRY(run_by_id(m, INFOS_WRITTEN, segment));
    return run_by_id(m, REMOVED_WRITTEN, segment);
}

tutti_err tutti__meta_infos_unwritten(tutti__meta *m, int64_t segment) {
    TUTTI_TRY(run_by_id(m, INFOS_UNWRITTEN, segment));
    return run_by_id(m, REMOVED_UNWRITTEN, segment);
}

tutti_err tutti__meta_infos_orphaned(tutti__meta *m, int64_t *n_out) {
#define ORPHANED                                                     \
    " SET home = 0 WHERE home <> 0 AND (home NOT IN (SELECT id FROM" \
    " segments) OR home IN (SELECT segment FROM archived))"
    /* remove records of removals that no older trailer contradicts */
    TUTTI_TRY(tutti__sql(m, "DELETE FROM removed WHERE home <> 0 AND NOT EXISTS"
                            " (SELECT 1 FROM segments WHERE id < removed.home)"));
    TUTTI_TRY(tutti__sql(m, "UPDATE infos" ORPHANED));
    *n_out = sqlite3_changes(m->db);
    TUTTI_TRY(tutti__sql(m, "UPDATE removed" ORPHANED));
    *n_out += sqlite3_changes(m->db);
    return TUTTI_OK;
#undef ORPHANED
}

tutti_err tutti__meta_infos_apply(tutti__meta *m, int64_t segment, int version, const char *rows,
                                  size_t n) {
    const tutti__cell home = {.kind = 'i', .number = segment};
    const char *at = rows;
    size_t left = n;
    tutti__row r;
    if (version == 1) TUTTI_TRY(tutti__sql(m, "DELETE FROM infos WHERE segment = 0"));
    while (tutti__row_next(&at, &left, &r) == 1) {
        const tutti__cell cells[4] = {r.cell[0], r.cell[1], r.cell[2], home};
        if (r.table != TUTTI__ROW_REMOVED) continue;
        if (r.cell[2].bytes == 0)
            TUTTI_TRY(tutti__sql(m, "DELETE FROM infos; DELETE FROM removed"));
        TUTTI_TRY(run_with_cells(m, "DELETE FROM infos WHERE (variable, segment, name) = (?, ?, ?)",
                                 cells, 3));
        TUTTI_TRY(run_with_cells(m, "INSERT OR REPLACE INTO removed VALUES(?, ?, ?, ?)", cells, 4));
    }
    while (tutti__row_next(&rows, &n, &r) == 1) {
        tutti__cell cells[7];
        if (r.table != TUTTI__ROW_INFO) continue;
        memcpy(cells, r.cell, 6 * sizeof *cells);
        cells[6] = home;
        if (cells[5].kind == 't' && !tutti__utf8_valid(cells[5].text, cells[5].bytes))
            cells[5].kind = 'b'; /* version 1 had no blobs */
        TUTTI_TRY(run_with_cells(
            m, "DELETE FROM removed WHERE (variable, segment, name) = (?, ?, ?)", cells, 3));
        TUTTI_TRY(run_with_cells(m, "INSERT OR REPLACE INTO infos VALUES(?, ?, ?, ?, ?, ?, ?)",
                                 cells, 7));
    }
    return TUTTI_OK;
}

tutti_err tutti__meta_infos_prune(tutti__meta *m) {
    return tutti__sql(m, "DELETE FROM infos WHERE segment <> 0 AND segment NOT IN"
                         " (SELECT id FROM segments);"
                         "DELETE FROM removed WHERE segment <> 0 AND segment NOT IN"
                         " (SELECT id FROM segments)");
}

/* ---- infos */

static void bind_owner(sqlite3_stmt *s, const tutti__info *i) {
    sqlite3_bind_int64(s, 1, i->variable);
    sqlite3_bind_int64(s, 2, i->segment);
    bind_text(s, 3, i->name);
}

tutti_err tutti__meta_info_set(tutti__meta *m, const tutti__info *i) {
    sqlite3_stmt *s = NULL;
    TUTTI_TRY(prepare_statement(m, i->count ? DROP_REMOVED : SET_REMOVED, &s));
    bind_owner(s, i);
    TUTTI_TRY(run_statement(m, s));
    TUTTI_TRY(prepare_statement(m, i->count ? SET_INFO : DROP_INFO, &s));
    bind_owner(s, i);
    if (i->count) {
        bind_text(s, 4, tutti_type_name((tutti_type)i->type));
        sqlite3_bind_int64(s, 5, i->count);
        if (i->bytes > INT32_MAX)
            TUTTI_FAIL(TUTTI_ERR_OVERFLOW, "info '%s' has %zu bytes: at most %d are allowed",
                       i->name, i->bytes, INT32_MAX);
        if (i->type == TUTTI_BYTES && tutti__utf8_valid(i->value, i->bytes))
            sqlite3_bind_text(s, 6, i->value, (int)i->bytes, SQLITE_STATIC);
        else
            sqlite3_bind_blob(s, 6, i->value, (int)i->bytes, SQLITE_STATIC);
    }
    return run_statement(m, s);
}

static tutti_err read_info(sqlite3_stmt *s, tutti__info *io) {
    tutti_type type = TUTTI_BYTES;
    const char *name = (const char *)sqlite3_column_text(s, 0);
    TUTTI_CHECK(name && tutti_type_parse(name, &type) == TUTTI_OK, TUTTI_ERR_FORMAT,
                "info '%s': unknown type '%s'", io->name, name ? name : "NULL");
    const void *value = sqlite3_column_blob(s, 2);
    const tutti_off size = type == TUTTI_BYTES ? 1 : tutti_type_size(type);
    tutti_off whole = 0;
    io->type = type;
    io->count = sqlite3_column_int64(s, 1);
    io->bytes = (size_t)sqlite3_column_bytes(s, 2);
    TUTTI_CHECK(io->count > 0 && tutti__mul_ok(io->count, size, &whole) &&
                    whole == (tutti_off)io->bytes && value,
                TUTTI_ERR_FORMAT,
                "info '%s' has %lld elements of type %s in %zu bytes: sizes do not match", io->name,
                (long long)io->count, name, io->bytes);
    io->value = tutti__malloc(io->bytes);
    if (!io->value) return TUTTI_ERR_NOMEM;
    memcpy(io->value, value, io->bytes);
    return TUTTI_OK;
}

tutti_err tutti__meta_info_get(tutti__meta *m, tutti__info *io) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    int64_t generation = 0;
    io->value = NULL;
    TUTTI_CHECK(!m->empty, TUTTI_ERR_NOT_FOUND, "info '%s' does not exist", io->name);
    TUTTI_TRY(tutti__meta_generation(m, &generation));
    TUTTI_TRY(prepare_statement(m, GET_INFO, &s));
    bind_owner(s, io);
    tutti_err err = tutti__sql_step(m, s, &row);
    if (err == TUTTI_OK && !row)
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "info '%s' does not exist", io->name);
    if (err == TUTTI_OK) err = read_info(s, io);
    sqlite3_reset(s);
    return err;
}
