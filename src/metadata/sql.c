/* metadata: the connection to SQLite: statements, errors, private copies of the database.
 *
 * In journal mode TRUNCATE, truncating the journal commits a transaction.  A killed writer leaves a
 * journal, which the next writer rolls back.  A reader cannot do this; it copies both files to a
 * temporary directory and rolls back there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"

/* ---- errors */

tutti_err tutti__sql_error(const tutti__meta *m, const char *what) {
    const int code = m->db ? sqlite3_extended_errcode(m->db) : SQLITE_NOMEM;
    const int sys = m->db ? sqlite3_system_errno(m->db) : 0;
    const char *text = m->db ? sqlite3_errmsg(m->db) : "out of memory";
    if (m->limited)
        return tutti__error_set(TUTTI_ERR_NO_SPACE, EFBIG, -1,
                                "cannot write the %s: file size limit (RLIMIT_FSIZE) exceeded",
                                what);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        TUTTI_FAIL(TUTTI_ERR_STATE, "cannot access the %s: locked by another program for %g s",
                   what, m->busy);
    case SQLITE_FULL:
        TUTTI_FAIL(TUTTI_ERR_NO_SPACE, "%s: %s", what, text);
    case SQLITE_NOMEM:
        TUTTI_FAIL(TUTTI_ERR_NOMEM, "%s: %s", what, text);
    case SQLITE_READONLY:
        TUTTI_FAIL(TUTTI_ERR_READ_ONLY, "%s: %s", what, text);
    case SQLITE_PERM:
        TUTTI_FAIL(TUTTI_ERR_PERMISSION, "%s: %s", what, text);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        return tutti__error_set(sys ? tutti__error_from_errno(sys) : TUTTI_ERR_IO, sys, -1,
                                "%s: %s", what, text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
        TUTTI_FAIL(TUTTI_ERR_FORMAT, "%s: %s", what, text);
    default:
        TUTTI_FAIL(TUTTI_ERR_IO, "%s: %s", what, text);
    }
}

/* Every call of SQLite may write, since the journal of a killed writer is rolled back first, so the
 * file size limit must be handled in all calls. */

tutti_err tutti__sql(tutti__meta *m, const char *text) {
    tutti__size_limit limit;
    tutti__size_limit_begin(&limit);
    const int got = sqlite3_exec(m->db, text, NULL, NULL, NULL);
    m->limited = tutti__size_limit_end(&limit);
    return got == SQLITE_OK ? TUTTI_OK : tutti__sql_error(m, "metadata");
}

tutti_err tutti__sql_prepare(tutti__meta *m, const char *text, sqlite3_stmt **out) {
    tutti__size_limit limit;
    *out = NULL;
    tutti__size_limit_begin(&limit);
    const int got = sqlite3_prepare_v2(m->db, text, -1, out, NULL);
    m->limited = tutti__size_limit_end(&limit);
    return got == SQLITE_OK ? TUTTI_OK : tutti__sql_error(m, "metadata");
}

/* Execute a step of a statement; *row_out is whether it returned a row. */
tutti_err tutti__sql_step(tutti__meta *m, sqlite3_stmt *s, int *row_out) {
    tutti__size_limit limit;
    tutti__size_limit_begin(&limit);
    const int got = sqlite3_step(s);
    m->limited = tutti__size_limit_end(&limit);
    *row_out = got == SQLITE_ROW;
    if (got == SQLITE_ROW || got == SQLITE_DONE) return TUTTI_OK;
    return tutti__sql_error(m, "metadata");
}

tutti_err tutti__sql_int(tutti__meta *m, const char *text, int64_t *out) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m, text, &s));
    const tutti_err err = tutti__sql_step(m, s, &row);
    *out = err == TUTTI_OK && row ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return err;
}

tutti_err tutti__sql_numbers(tutti__meta *m, const char *text, void *table, int64_t *n_out) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m, text, &s));
    const int columns = sqlite3_column_count(s);
    tutti_err err = tutti__sql_step(m, s, &row);
    while (err == TUTTI_OK && row) {
        int64_t *v = tutti__table_grow(table, n_out, (size_t)columns * sizeof *v);
        for (int i = 0; v && i < columns; i++) v[i] = sqlite3_column_int64(s, i);
        err = v ? tutti__sql_step(m, s, &row) : TUTTI_ERR_NOMEM;
    }
    sqlite3_finalize(s);
    return err;
}

/* ---- transactions */

void tutti__meta_rollback(tutti__meta *m) {
    TUTTI_KEEP_LAST_ERROR;
    tutti__size_limit limit;
    if (!m->db || sqlite3_get_autocommit(m->db)) return;
    tutti__size_limit_begin(&limit);
    sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL);
    (void)tutti__size_limit_end(&limit);
}

tutti_err tutti__meta_begin(tutti__meta *m) {
    return tutti__sql(m, "BEGIN IMMEDIATE");
}

tutti_err tutti__meta_end(tutti__meta *m, tutti_err err) {
    if (err == TUTTI_OK) err = tutti__sql(m, "COMMIT");
    if (err != TUTTI_OK) tutti__meta_rollback(m);
    return err;
}

tutti_err tutti__meta_commit(tutti__meta *m) {
    return tutti__meta_end(m, TUTTI_OK);
}

/* ---- opening, private copies */

tutti_err tutti__sql_open(tutti__meta *m, const char *path, int flags) {
    m->db = NULL;
    /* Suffixes of the database and the auxiliary files of SQLite.  They must be regular files,
     * since opening a FIFO would wait for its writer. */
    static const char *const ENDS[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        char name[TUTTI__PATH + 96];
        struct stat st;
        snprintf(name, sizeof name, "%s%s", path, ENDS[i]);
        TUTTI_CHECK(stat(name, &st) != 0 || S_ISREG(st.st_mode), TUTTI_ERR_FORMAT,
                    "'%s' is not a regular file", name);
    }
    if (sqlite3_open_v2(path, &m->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return tutti__sql_error(m, "metadata");
    sqlite3_busy_timeout(m->db, (int)(m->busy * 1000));
    sqlite3_db_config(m->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(m->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(m->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(m->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(m->db, SQLITE_LIMIT_LENGTH, 1 << 30);
    sqlite3_limit(m->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(m->db, SQLITE_LIMIT_VDBE_OP, 1 << 20);
    return tutti__sql(m, "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;"
                         " PRAGMA foreign_keys=OFF");
}

void tutti__sql_close(tutti__meta *m) {
    for (int i = 0; i < TUTTI__STATEMENTS; i++) {
        sqlite3_finalize(m->statement[i]);
        m->statement[i] = NULL;
    }
    tutti__size_limit limit;
    tutti__size_limit_begin(&limit);
    sqlite3_close(m->db);
    (void)tutti__size_limit_end(&limit);
    m->db = NULL;
}

static tutti_err copy_file(const char *from, const char *to) {
    char block[65536];
    tutti_err err = TUTTI_OK;
    tutti__size_limit limit;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) return tutti__error_sys(errno, -1, from);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) err = tutti__error_sys(errno, -1, to);
    ssize_t n = 0;
    tutti__size_limit_begin(&limit);
    while (err == TUTTI_OK && (n = read(in, block, sizeof block)) > 0)
        if (write(out, block, (size_t)n) != n)
            err = tutti__error_sys(errno ? errno : ENOSPC, -1, to);
    if (err == TUTTI_OK && n < 0) err = tutti__error_sys(errno, -1, from);
    (void)tutti__size_limit_end(&limit);
    close(in);
    if (out >= 0) close(out);
    return err;
}

/* Read the first bytes of a file, where a journal has a random number; zeros if the file is
 * shorter. */
static void read_first_bytes(const char *path, char to[64]) {
    memset(to, 0, 64);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (read(fd, to, 64) < 64) memset(to, 0, 64);
    close(fd);
}

/* The journal of a killed writer is rolled back in a copy.  A writer that opens the database at the
 * same time also rolls back and continues; then the journal has changed, and the copies do not
 * match. */
tutti_err tutti__sql_private_open(tutti__meta *m) {
    const char *tmp = secure_getenv("TMPDIR");
    char from[TUTTI__PATH + 64], to[TUTTI__PATH + 64], copy[TUTTI__PATH + 64], copied[64], now[64];
    snprintf(m->own, sizeof m->own, "%.3000s/tutti-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(m->own)) {
        m->own[0] = 0;
        return tutti__error_sys(errno, -1,
                                "cannot create a temporary directory for a copy of the metadata");
    }
    snprintf(copy, sizeof copy, "%s/" TUTTI__META_NAME, m->own);
    snprintf(to, sizeof to, "%s/" TUTTI__META_NAME "-journal", m->own);
    snprintf(from, sizeof from, "%s-journal", m->path);
    TUTTI_TRY(copy_file(from, to));
    TUTTI_TRY(copy_file(m->path, copy));
    tutti__sql_close(m);
    TUTTI_TRY(tutti__sql_open(m, copy, SQLITE_OPEN_READWRITE));
    read_first_bytes(to, copied);
    read_first_bytes(from, now);
    TUTTI_CHECK(memcmp(copied, now, sizeof now) == 0, TUTTI_ERR_STATE,
                "a writer is recovering '%s': open it again", m->path);
    return TUTTI_OK;
}

void tutti__sql_private_remove(tutti__meta *m) {
    char path[TUTTI__PATH + 64];
    if (!m->own[0]) return;
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, m->own);
    unlink(path);
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME "-journal", m->own);
    unlink(path);
    rmdir(m->own);
    m->own[0] = 0;
}

int tutti__sql_journal_hot(const tutti__meta *m) {
    char journal[TUTTI__PATH + 64];
    struct stat st;
    const int code = sqlite3_errcode(m->db);
    snprintf(journal, sizeof journal, "%s-journal", m->path);
    return (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) && stat(journal, &st) == 0 &&
           st.st_size > 0;
}
