/* exodus: the sidecar database of a file.
 *
 * The sidecar may be missing, since all data of Exodus is in the file itself.  The sidecar contains
 * a hash of the header of its file, so that a file that another program has rewritten is not
 * reported as damaged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/sidecar.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "metadata/meta_impl.h"

/* Version 1 has no row `steps` in `file`; in versions 1 and 2, blocks of steps start at multiples
 * of their size in the file, not at the record. */
enum { APPLICATION = 0x54555445 /* "TUTE" */, WITH_STEPS = 2, RECORD_BLOCKS = 3, VERSION = 3 };

struct tutti__sidecar {
    tutti__meta sql; /* connection to the database */
    int64_t version;
};

static const char TABLES[] =
    "CREATE TABLE file(key TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE sums(step INTEGER PRIMARY KEY, blocks INTEGER NOT NULL, sums BLOB NOT NULL);"
    "CREATE TABLE topologies(kind TEXT NOT NULL, id INTEGER NOT NULL, topology TEXT NOT NULL,"
    " nodes INTEGER NOT NULL, PRIMARY KEY(kind, id)) WITHOUT ROWID;"
    "CREATE TABLE notes(name TEXT PRIMARY KEY NOT NULL, type TEXT NOT NULL,"
    " count INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;";

char *tutti__sidecar_path(const char *file) {
    const size_t n = strlen(file);
    char *path = tutti__malloc(n + 7);
    if (path) snprintf(path, n + 7, "%s.tutti", file);
    return path;
}

void tutti__sidecar_remove(const char *file) {
    char path[TUTTI__PATH + 32];
    snprintf(path, sizeof path, "%s.tutti", file);
    unlink(path);
    snprintf(path, sizeof path, "%s.tutti-journal", file);
    unlink(path);
}

/* ---- opening */

static tutti_err create_sidecar_object(const char *file, const tutti__sidecar_options *opt,
                                       tutti__sidecar **out) {
    TUTTI_CHECK(strlen(file) < TUTTI__PATH - 64, TUTTI_ERR_ARG,
                "path '%.60s...' has %zu bytes: at most %d are allowed", file, strlen(file),
                TUTTI__PATH - 65);
    TUTTI_CHECK(sqlite3_threadsafe(), TUTTI_ERR_UNSUPPORTED,
                "SQLite was built without support for threads");
    tutti__sidecar *s = tutti__calloc(1, sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    s->sql.lock = -1;
    s->sql.busy = opt->busy;
    s->sql.writes = opt->writes;
    s->version = VERSION;
    snprintf(s->sql.path, sizeof s->sql.path, "%s.tutti", file);
    *out = s;
    return TUTTI_OK;
}

void tutti__sidecar_close(tutti__sidecar **ps) {
    tutti__sidecar *s = *ps;
    *ps = NULL;
    if (!s) return;
    if (s->sql.db && s->sql.writes) /* remove the empty journal; an error is ignored */
        sqlite3_exec(s->sql.db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    if (s->sql.db) tutti__sql_close(&s->sql);
    tutti__sql_private_remove(&s->sql);
    tutti__free(s);
}

static tutti_err set_writer_pragmas(tutti__sidecar *s, int durable) {
    TUTTI_TRY(tutti__sql(&s->sql, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
    return tutti__sql(&s->sql, "PRAGMA journal_mode=TRUNCATE");
}

static tutti_err create_tables(tutti__sidecar *s, uint64_t header) {
    char text[256];
    snprintf(text, sizeof text,
             "PRAGMA application_id=%d; PRAGMA user_version=%d;"
             "INSERT INTO file VALUES('header', %lld); COMMIT",
             APPLICATION, VERSION, (long long)header);
    TUTTI_TRY(tutti__sql(&s->sql, "BEGIN IMMEDIATE"));
    tutti_err err = tutti__sql(&s->sql, TABLES);
    if (err == TUTTI_OK) err = tutti__sql(&s->sql, text);
    if (err != TUTTI_OK) tutti__meta_rollback(&s->sql);
    return err;
}

tutti_err tutti__sidecar_make(const char *file, const tutti__sidecar_options *opt,
                              tutti__sidecar **out) {
    tutti__sidecar *s = NULL;
    tutti__sidecar_remove(file);
    TUTTI_TRY(create_sidecar_object(file, opt, &s));
    tutti_err err =
        tutti__sql_open(&s->sql, s->sql.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (err == TUTTI_OK) err = set_writer_pragmas(s, opt->durable);
    if (err == TUTTI_OK) err = create_tables(s, opt->header);
    if (err == TUTTI_OK)
        *out = s;
    else
        tutti__sidecar_close(&s);
    return err;
}

/* Check that the database is the sidecar of this file. */
static tutti_err check_identity(tutti__sidecar *s, uint64_t header) {
    int64_t application = 0, of = 0;
    TUTTI_TRY(tutti__sql_int(&s->sql, "PRAGMA application_id", &application));
    TUTTI_TRY(tutti__sql_int(&s->sql, "PRAGMA user_version", &s->version));
    TUTTI_CHECK(application == APPLICATION, TUTTI_ERR_FORMAT, "the database is not a sidecar");
    TUTTI_CHECK(s->version >= 1 && s->version <= VERSION, TUTTI_ERR_FORMAT,
                "the sidecar has format version %lld: versions 1 to %d are supported",
                (long long)s->version, VERSION);
    TUTTI_TRY(tutti__sql_int(&s->sql, "SELECT value FROM file WHERE key = 'header'", &of));
    TUTTI_CHECK(of == (int64_t)header, TUTTI_ERR_FORMAT, "the sidecar belongs to another file");
    return TUTTI_OK;
}

int tutti__sidecar_has_record_blocks(const tutti__sidecar *s) {
    return s->version >= RECORD_BLOCKS;
}

/* This call upgrades version 1 to version 2, which has the row `steps`; the definition of blocks is
 * unchanged. */
tutti_err tutti__sidecar_set_steps(tutti__sidecar *s, tutti_count steps) {
    char text[160];
    snprintf(text, sizeof text,
             "BEGIN IMMEDIATE; INSERT OR REPLACE INTO file VALUES('steps', %lld);"
             "PRAGMA user_version=%d; COMMIT",
             (long long)steps, (int)tutti__max(s->version, WITH_STEPS));
    const tutti_err err = tutti__sql(&s->sql, text);
    if (err != TUTTI_OK) tutti__meta_rollback(&s->sql);
    return err;
}

tutti_err tutti__sidecar_steps(tutti__sidecar *s, tutti_count *out) {
    return tutti__sql_int(&s->sql, "SELECT coalesce(max(value), 0) FROM file WHERE key = 'steps'",
                          out);
}

static tutti_err open_for_reading(tutti__sidecar *s, uint64_t header) {
    tutti__sql_private_remove(&s->sql);
    TUTTI_TRY(tutti__sql_open(&s->sql, s->sql.path, SQLITE_OPEN_READONLY));
    tutti_err err = check_identity(s, header);
    if (err != TUTTI_OK && tutti__sql_journal_hot(&s->sql)) {
        err = tutti__sql_private_open(&s->sql);
        if (err == TUTTI_OK) err = check_identity(s, header);
    }
    return err;
}

static tutti_err open_existing(tutti__sidecar *s, const tutti__sidecar_options *opt) {
    tutti_err err = TUTTI_OK;
    if (opt->writes) {
        TUTTI_TRY(tutti__sql_open(&s->sql, s->sql.path, SQLITE_OPEN_READWRITE));
        TUTTI_TRY(check_identity(s, opt->header));
        return set_writer_pragmas(s, opt->durable);
    }
    for (int again = 0; again < 4; again++) {
        if (s->sql.db) tutti__sql_close(&s->sql);
        err = open_for_reading(s, opt->header);
        if (err != TUTTI_ERR_STATE || !s->sql.own[0]) break;
    }
    return err;
}

tutti_err tutti__sidecar_open(const char *file, const tutti__sidecar_options *opt, char *warning,
                              size_t capacity, tutti__sidecar **out) {
    tutti__sidecar *s = NULL;
    struct stat st;
    warning[0] = 0;
    *out = NULL;
    TUTTI_TRY(create_sidecar_object(file, opt, &s));
    tutti_err err = TUTTI_OK;
    if (lstat(s->sql.path, &st) != 0) {
        snprintf(warning, capacity, "'%.200s' is missing: the file has no checksums", s->sql.path);
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(warning, capacity, "'%.200s' is not a regular file: the file has no checksums",
                 s->sql.path);
    } else {
        err = open_existing(s, opt);
        if (err != TUTTI_OK && err != TUTTI_ERR_STATE && err != TUTTI_ERR_NOMEM) {
            snprintf(warning, capacity, "'%.120s' is not used: %.100s", s->sql.path,
                     tutti_last_error()->text);
            err = TUTTI_OK;
        }
    }
    if (err == TUTTI_OK && !warning[0]) {
        *out = s;
        return TUTTI_OK;
    }
    tutti__sidecar_close(&s);
    TUTTI_TRY(err);
    return opt->writes ? tutti__sidecar_make(file, opt, out) : TUTTI_OK;
}

/* ---- rows */

/* Execute a statement that returns no row. */
static tutti_err run_statement(tutti__sidecar *s, sqlite3_stmt *q) {
    int row = 0;
    const tutti_err err = tutti__sql_step(&s->sql, q, &row);
    sqlite3_finalize(q);
    return err;
}

tutti_err tutti__sidecar_add_sums(tutti__sidecar *s, tutti_count step, tutti_count n,
                                  const uint64_t *checksums) {
    sqlite3_stmt *q = NULL;
    uint64_t *le = tutti__malloc((size_t)n * sizeof *le);
    if (!le) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) le[i] = htole64(checksums[i]);
    tutti_err err = tutti__sql_prepare(&s->sql, "INSERT OR REPLACE INTO sums VALUES(?, ?, ?)", &q);
    if (err == TUTTI_OK) {
        sqlite3_bind_int64(q, 1, step);
        sqlite3_bind_int64(q, 2, n);
        sqlite3_bind_blob64(q, 3, le, (sqlite3_uint64)n * sizeof *le, SQLITE_STATIC);
        err = run_statement(s, q);
    }
    tutti__free(le);
    return err;
}

tutti_err tutti__sidecar_sums(tutti__sidecar *s, tutti_count step, uint64_t **out,
                              tutti_count *n_out) {
    sqlite3_stmt *q = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(&s->sql, "SELECT blocks, sums FROM sums WHERE step = ?", &q));
    sqlite3_bind_int64(q, 1, step);
    tutti_err err = tutti__sql_step(&s->sql, q, &row);
    if (err == TUTTI_OK && !row)
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "step %lld has no checksums",
                               (long long)step);
    if (err == TUTTI_OK) {
        const int64_t n = sqlite3_column_int64(q, 0), bytes = sqlite3_column_bytes(q, 1);
        uint64_t *checksums = NULL;
        if (n < 0 || bytes % 8 != 0 || n != bytes / 8)
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "step %lld has %lld checksums in %lld bytes: must have 8 bytes each",
                (long long)step, (long long)n, (long long)bytes);
        else if (!(checksums = tutti__malloc((size_t)bytes)))
            err = TUTTI_ERR_NOMEM;
        if (err == TUTTI_OK) {
            if (bytes > 0) memcpy(checksums, sqlite3_column_blob(q, 1), (size_t)bytes);
            for (int64_t i = 0; i < n; i++) checksums[i] = le64toh(checksums[i]);
            *out = checksums;
            *n_out = n;
        }
    }
    sqlite3_finalize(q);
    return err;
}

tutti_err tutti__sidecar_drop(tutti__sidecar *s, tutti_count after) {
    sqlite3_stmt *q = NULL;
    TUTTI_TRY(tutti__sql_prepare(&s->sql, "DELETE FROM sums WHERE step > ?", &q));
    sqlite3_bind_int64(q, 1, after);
    return run_statement(s, q);
}

/* ---- topologies of empty blocks */

static const char *const KINDS[] = {"", "", "element block", "edge block", "face block"};
enum { KINDS_N = 5 };

tutti_err tutti__sidecar_put_topologies(tutti__sidecar *s, tutti_count n,
                                        const tutti__sidecar_topology *v) {
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__sql(&s->sql, "BEGIN IMMEDIATE"));
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        sqlite3_stmt *q = NULL;
        err =
            tutti__sql_prepare(&s->sql, "INSERT OR REPLACE INTO topologies VALUES(?, ?, ?, ?)", &q);
        if (err != TUTTI_OK) break;
        sqlite3_bind_text(q, 1, KINDS[v[i].kind], -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, v[i].id);
        sqlite3_bind_text(q, 3, v[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 4, v[i].nodes);
        err = run_statement(s, q);
    }
    if (err == TUTTI_OK) err = tutti__sql(&s->sql, "COMMIT");
    if (err != TUTTI_OK) tutti__meta_rollback(&s->sql);
    return err;
}

static int read_topology(sqlite3_stmt *q, tutti__sidecar_topology *out) {
    const char *kind = (const char *)sqlite3_column_text(q, 0);
    const char *name = (const char *)sqlite3_column_text(q, 2);
    const int64_t nodes = sqlite3_column_int64(q, 3);
    *out = (tutti__sidecar_topology){.id = sqlite3_column_int64(q, 1)};
    for (int k = 2; kind && k < KINDS_N; k++)
        if (strcmp(kind, KINDS[k]) == 0) out->kind = k;
    if (!out->kind || !name || strlen(name) > 32 || nodes < 0 || nodes > INT32_MAX) return 0;
    out->nodes = (int)nodes;
    memcpy(out->name, name, strlen(name) + 1);
    return 1;
}

tutti_err tutti__sidecar_topologies(tutti__sidecar *s, tutti__sidecar_topology **out,
                                    tutti_count *n_out) {
    sqlite3_stmt *q = NULL;
    int row = 0;
    *out = NULL;
    *n_out = 0;
    TUTTI_TRY(tutti__sql_prepare(&s->sql, "SELECT kind, id, topology, nodes FROM topologies", &q));
    tutti_err err = tutti__sql_step(&s->sql, q, &row);
    while (err == TUTTI_OK && row) {
        tutti__sidecar_topology *t = tutti__table_grow(out, n_out, sizeof *t);
        if (!t) {
            err = TUTTI_ERR_NOMEM;
        } else if (!read_topology(q, t)) {
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "row %lld of the table of topologies is invalid",
                                   (long long)*n_out);
        } else {
            err = tutti__sql_step(&s->sql, q, &row);
        }
    }
    sqlite3_finalize(q);
    if (err != TUTTI_OK) {
        tutti__free(*out);
        *out = NULL;
        *n_out = 0;
    }
    return err;
}

/* ---- notes */

tutti_err tutti__sidecar_note_set(tutti__sidecar *s, const tutti__note *note) {
    sqlite3_stmt *q = NULL;
    if (note->count == 0) {
        TUTTI_TRY(tutti__sql_prepare(&s->sql, "DELETE FROM notes WHERE name = ?", &q));
        sqlite3_bind_text(q, 1, note->name, -1, SQLITE_STATIC);
        return run_statement(s, q);
    }
    TUTTI_TRY(tutti__sql_prepare(&s->sql, "INSERT OR REPLACE INTO notes VALUES(?, ?, ?, ?)", &q));
    sqlite3_bind_text(q, 1, note->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 2, tutti_type_name((tutti_type)note->type), -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 3, note->count);
    sqlite3_bind_blob64(q, 4, note->value, note->bytes, SQLITE_STATIC);
    return run_statement(s, q);
}

static tutti_err read_note(sqlite3_stmt *q, const char *name, tutti__note *out) {
    const char *word = (const char *)sqlite3_column_text(q, 0);
    const int64_t count = sqlite3_column_int64(q, 1), bytes = sqlite3_column_bytes(q, 2);
    tutti_type type = TUTTI_BYTES;
    TUTTI_CHECK(word && tutti_type_parse(word, &type) == TUTTI_OK, TUTTI_ERR_FORMAT,
                "note '%s': unknown type '%s'", name, word ? word : "NULL");
    const tutti_off size = type == TUTTI_BYTES ? 1 : tutti_type_size(type);
    tutti_off wanted = 0;
    TUTTI_CHECK(count > 0 && tutti__mul_ok(count, size, &wanted) && wanted == bytes,
                TUTTI_ERR_FORMAT,
                "note '%s' has %lld elements of type %s in %lld bytes: sizes do not match", name,
                (long long)count, word, (long long)bytes);
    void *value = tutti__malloc((size_t)bytes);
    if (!value) return TUTTI_ERR_NOMEM;
    *out = (tutti__note){.type = (int)type, .count = count, .bytes = (size_t)bytes};
    snprintf(out->name, sizeof out->name, "%s", name);
    out->value = memcpy(value, sqlite3_column_blob(q, 2), (size_t)bytes);
    return TUTTI_OK;
}

tutti_err tutti__sidecar_note_get(tutti__sidecar *s, const char *name, tutti__note *out) {
    sqlite3_stmt *q = NULL;
    int row = 0;
    TUTTI_TRY(
        tutti__sql_prepare(&s->sql, "SELECT type, count, value FROM notes WHERE name = ?", &q));
    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    tutti_err err = tutti__sql_step(&s->sql, q, &row);
    if (err == TUTTI_OK && !row)
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "the file has no note '%s'", name);
    if (err == TUTTI_OK) err = read_note(q, name, out);
    sqlite3_finalize(q);
    return err;
}

tutti_err tutti__sidecar_note_name(tutti__sidecar *s, tutti_count number, char name_out[128]) {
    sqlite3_stmt *q = NULL;
    int row = 0;
    TUTTI_TRY(
        tutti__sql_prepare(&s->sql, "SELECT name FROM notes ORDER BY name LIMIT 1 OFFSET ?", &q));
    sqlite3_bind_int64(q, 1, number);
    tutti_err err = tutti__sql_step(&s->sql, q, &row);
    const char *name = row ? (const char *)sqlite3_column_text(q, 0) : NULL;
    if (err == TUTTI_OK && !row)
        err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "note %lld does not exist",
                               (long long)number);
    else if (err == TUTTI_OK && (!name || strlen(name) >= 128))
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "note %lld has no valid name",
                               (long long)number);
    if (err == TUTTI_OK && name) memcpy(name_out, name, strlen(name) + 1);
    sqlite3_finalize(q);
    return err;
}
