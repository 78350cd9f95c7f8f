/* dataset: the database: opened, locked, read.
 *
 * Journal mode TRUNCATE: a commit is the truncation of the journal, and a killed writer leaves one that
 * the next writer rolls back.  Who may only read and meets such a journal cannot: it takes a private
 * copy of both files and rolls back there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/meta_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"
#include "base/utf8.h"

enum { APPLICATION = 0x54555454 }; /* "TUTT" */

/* ---- errors */

tutti_err tutti__sql_error(const tutti__meta *m, const char *what) {
    const int code = m->db ? sqlite3_extended_errcode(m->db) : SQLITE_NOMEM;
    const int sys = m->db ? sqlite3_system_errno(m->db) : 0;
    const char *text = m->db ? sqlite3_errmsg(m->db) : "out of memory";
    if (m->limited)
        return tutti__error_set(TUTTI_ERR_NO_SPACE, EFBIG, -1,
                                "%s: the limit of file sizes (RLIMIT_FSIZE) is reached", what);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        TUTTI_FAIL(TUTTI_ERR_STATE, "%s: another program has had the metadata for %g s", what,
                   m->busy);
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

/* Any of these calls may write: a journal that was left is rolled back first. */

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

/* *row_out: there is one. */
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

void tutti__meta_rollback(tutti__meta *m) {
    tutti__size_limit limit;
    if (!m->db || sqlite3_get_autocommit(m->db)) return;
    tutti__size_limit_begin(&limit);
    sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL);
    (void)tutti__size_limit_end(&limit);
}

/* ---- the tables */

static const char TABLES[] =
    "CREATE TABLE dataset(key TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE files(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " container TEXT NOT NULL);"
    "CREATE TABLE spaces(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL);"
    "CREATE TABLE variables(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " space INTEGER NOT NULL, item TEXT NOT NULL, components INTEGER NOT NULL,"
    " type TEXT NOT NULL, layout TEXT NOT NULL, byte_order TEXT NOT NULL, units TEXT,"
    " long_name TEXT, fill BLOB NOT NULL, compress INTEGER NOT NULL);"
    "CREATE TABLE segments(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
    " time_index INTEGER NOT NULL, time REAL NOT NULL, file INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL, trailer INTEGER NOT NULL,"
    " sections INTEGER NOT NULL, UNIQUE(time_index, kind));"
    "CREATE TABLE sizes(segment INTEGER NOT NULL, space INTEGER NOT NULL, shape TEXT NOT NULL,"
    " ids INTEGER NOT NULL, PRIMARY KEY(segment, space)) WITHOUT ROWID;"
    "CREATE TABLE sections(segment INTEGER NOT NULL, variable INTEGER NOT NULL,"
    " part INTEGER NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL, type TEXT NOT NULL,"
    " sum INTEGER, list_segment INTEGER, list_part INTEGER,"
    " PRIMARY KEY(segment, variable, part)) WITHOUT ROWID;"
    "CREATE TABLE infos(variable INTEGER NOT NULL, segment INTEGER NOT NULL, name TEXT NOT NULL,"
    " type TEXT NOT NULL, count INTEGER NOT NULL, value BLOB NOT NULL,"
    " PRIMARY KEY(variable, segment, name)) WITHOUT ROWID;"
    "INSERT INTO dataset VALUES('generation', 1), ('serial', 0);";

/* From version 1 to 2.  The row without a name says that no older trailer has an info that still holds. */
static const char UPGRADE[] =
    "CREATE TABLE IF NOT EXISTS archived(segment INTEGER PRIMARY KEY, place TEXT NOT NULL,"
    " sum INTEGER NOT NULL);"
    "ALTER TABLE infos ADD COLUMN home INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX infos_pending ON infos(home) WHERE home = 0;"
    "CREATE TABLE removed(variable INTEGER NOT NULL, segment INTEGER NOT NULL, name TEXT NOT NULL,"
    " home INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(variable, segment, name)) WITHOUT ROWID;"
    "INSERT INTO removed SELECT 0, 0, '', 0 FROM segments LIMIT 1;"
    "UPDATE infos SET value = CAST(value AS BLOB)"
    " WHERE typeof(value) = 'text' AND NOT tutti_is_text(value);";

/* tutti_is_text(value): is it UTF-8 without zero bytes? */
static void is_text(sqlite3_context *context, int n, sqlite3_value **values) {
    (void)n;
    const void *bytes = sqlite3_value_blob(values[0]);
    sqlite3_result_int(context, tutti__utf8_valid(bytes, (size_t)sqlite3_value_bytes(values[0])));
}

tutti_err tutti__meta_id_make(tutti__meta *m) {
    int64_t id[2];
    char text[160];
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return tutti__error_sys(errno, -1, "random id of the dataset");
    snprintf(text, sizeof text,
             "INSERT OR REPLACE INTO dataset VALUES('id_high', %lld), ('id_low', %lld)",
             (long long)id[0], (long long)id[1]);
    return tutti__sql(m, text);
}

/* In a transaction: all tables, or what those of version 1 lack. */
static tutti_err tables_write(tutti__meta *m, int creates) {
    char more[96];
    snprintf(more, sizeof more, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION,
             TUTTI__FORMAT_VERSION);
    if (creates) TUTTI_TRY(tutti__sql(m, TABLES));
    if (sqlite3_create_function_v2(m->db, "tutti_is_text", 1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                   is_text, NULL, NULL, NULL) != SQLITE_OK)
        return tutti__sql_error(m, "metadata");
    TUTTI_TRY(tutti__sql(m, UPGRADE));
    TUTTI_TRY(tutti__meta_id_make(m));
    return tutti__sql(m, more);
}

static tutti_err tables_make(tutti__meta *m, int creates) {
    TUTTI_TRY(tutti__sql(m, "BEGIN IMMEDIATE"));
    tutti_err err = tables_write(m, creates);
    if (err == TUTTI_OK) err = tutti__sql(m, "COMMIT");
    if (err == TUTTI_OK) {
        m->version = TUTTI__FORMAT_VERSION;
        return TUTTI_OK;
    }
    const tutti_error_info why = *tutti_last_error();
    tutti__meta_rollback(m);
    tutti__error_assign(&why);
    return err;
}

/* Is it a database of ours?  *empty_out: it has no table yet. */
static tutti_err identify(tutti__meta *m, int *empty_out) {
    int64_t tables = 0, application = 0, version = 0;
    TUTTI_TRY(tutti__sql_int(m, "SELECT count(*) FROM sqlite_schema", &tables));
    TUTTI_TRY(tutti__sql_int(m, "PRAGMA application_id", &application));
    TUTTI_TRY(tutti__sql_int(m, "PRAGMA user_version", &version));
    *empty_out = tables == 0;
    if (*empty_out) return TUTTI_OK;
    TUTTI_CHECK(application == APPLICATION, TUTTI_ERR_FORMAT,
                "'%s' is a database, but not of a dataset", m->path);
    m->version = version;
    TUTTI_CHECK(version >= TUTTI__FORMAT_OLDEST && version <= TUTTI__FORMAT_VERSION,
                TUTTI_ERR_FORMAT,
                "'%s' has format version %lld; this version of the library supports %d to %d",
                m->path, (long long)version, TUTTI__FORMAT_OLDEST, TUTTI__FORMAT_VERSION);
    return TUTTI_OK;
}

/* ---- the lock of writers */

tutti_err tutti__writer_lock(const char *directory, int without_locks, int *fd_out) {
    char path[TUTTI__PATH + 64];
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/" TUTTI__LOCK_NAME, directory);
    struct stat st;
    *fd_out = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (*fd_out < 0) return tutti__error_sys(errno, -1, "the writer's lock");
    TUTTI_CHECK(fstat(*fd_out, &st) == 0 && S_ISREG(st.st_mode), TUTTI_ERR_FORMAT,
                "not a regular file: '%s'", path);
    if (fcntl(*fd_out, F_OFD_SETLK, &all) == 0) return TUTTI_OK;
    TUTTI_CHECK(errno != EAGAIN && errno != EACCES, TUTTI_ERR_STATE,
                "another program has '%s' open for writing", directory);
    if (without_locks) return TUTTI_OK;
    const int why = errno;
    TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED,
               "the file system of '%s' has no locks (%s); option without_locks goes on without",
               directory, strerror(why));
}

/* ---- opening */

/* The database and the files that SQLite keeps beside it: opening a FIFO would wait for its writer. */
static tutti_err files_regular(const char *path) {
    static const char *const ENDS[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        char name[TUTTI__PATH + 96];
        struct stat st;
        snprintf(name, sizeof name, "%s%s", path, ENDS[i]);
        TUTTI_CHECK(stat(name, &st) != 0 || S_ISREG(st.st_mode), TUTTI_ERR_FORMAT,
                    "not a regular file: '%s'", name);
    }
    return TUTTI_OK;
}

tutti_err tutti__sql_open(tutti__meta *m, const char *path, int flags) {
    m->db = NULL;
    TUTTI_TRY(files_regular(path));
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

static tutti_err file_copy(const char *from, const char *to) {
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

/* The first bytes of a file, where a journal has a number that no other has; 0s where it is shorter. */
static void beginning(const char *path, char to[64]) {
    memset(to, 0, 64);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (read(fd, to, 64) < 64) memset(to, 0, 64);
    close(fd);
}

/* A journal of somebody who was killed: roll back in a copy.  A writer that comes meanwhile rolls back
 * too and goes on: then the journal is another one, and the copies do not belong together. */
tutti_err tutti__sql_private_open(tutti__meta *m) {
    const char *tmp = secure_getenv("TMPDIR");
    char from[TUTTI__PATH + 64], to[TUTTI__PATH + 64], copied[64], now[64];
    snprintf(m->own, sizeof m->own, "%.3000s/tutti-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(m->own)) {
        m->own[0] = 0;
        return tutti__error_sys(errno, -1, "a place for a copy of the metadata");
    }
    snprintf(to, sizeof to, "%s/" TUTTI__META_NAME "-journal", m->own);
    snprintf(from, sizeof from, "%s-journal", m->path);
    TUTTI_TRY(file_copy(from, to));
    snprintf(to, sizeof to, "%s/" TUTTI__META_NAME, m->own);
    TUTTI_TRY(file_copy(m->path, to));
    tutti__sql_close(m);
    TUTTI_TRY(tutti__sql_open(m, to, SQLITE_OPEN_READWRITE));
    strcat(to, "-journal");
    beginning(to, copied);
    beginning(from, now);
    TUTTI_CHECK(memcmp(copied, now, sizeof now) == 0, TUTTI_ERR_STATE,
                "a writer has begun to mend '%s': open it again", m->path);
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

/* Metadata without tables, or none, are those of a new dataset.  If there are data, they have been lost:
 * nothing is begun that would take the data for leftovers. */
static tutti_err no_data(const tutti__meta *m) {
    DIR *dir = opendir(m->directory);
    struct dirent *e;
    struct stat st;
    int has = 0;
    while (dir && !has && (e = readdir(dir)))
        has = tutti__file_name_right(e->d_name) &&
              fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 4096;
    if (dir) closedir(dir);
    TUTTI_CHECK(!has, TUTTI_ERR_FORMAT,
                "'%s' has data, but its metadata are gone: tutti repair brings them back",
                m->directory);
    return TUTTI_OK;
}

/* Did the last statement fail because somebody was killed? */
int tutti__sql_journal_hot(const tutti__meta *m) {
    char journal[TUTTI__PATH + 64];
    struct stat st;
    const int code = sqlite3_errcode(m->db);
    snprintf(journal, sizeof journal, "%s-journal", m->path);
    return (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) && stat(journal, &st) == 0 &&
           st.st_size > 0;
}

/* Readers: is the database at the path the one that was opened? */
static int replaced(const tutti__meta *m) {
    struct stat st;
    return stat(m->path, &st) != 0 || st.st_dev != m->device || st.st_ino != m->inode;
}

static tutti_err reader_try(tutti__meta *m) {
    int empty = 0;
    struct stat st;
    tutti__sql_private_remove(m);
    if (stat(m->path, &st) != 0) return tutti__error_sys(errno, -1, m->path);
    m->device = st.st_dev;
    m->inode = st.st_ino;
    TUTTI_TRY(tutti__sql_open(m, m->path, SQLITE_OPEN_READONLY));
    tutti_err err = identify(m, &empty);
    if (err != TUTTI_OK && tutti__sql_journal_hot(m)) {
        err = tutti__sql_private_open(m);
        if (err == TUTTI_OK) err = identify(m, &empty);
    }
    m->empty = empty;
    return err == TUTTI_OK && empty ? no_data(m) : err;
}

static tutti_err reader_open(tutti__meta *m) {
    tutti_err err = reader_try(m);
    for (int again = 0; again < 3 && err == TUTTI_ERR_STATE && m->own[0]; again++) {
        tutti__sql_close(m);
        err = reader_try(m);
    }
    return err;
}

tutti_err tutti__directory_sync(const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return tutti__error_sys(errno, -1, path);
    const int bad = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return bad ? tutti__error_sys(bad, -1, "the directory of the dataset") : TUTTI_OK;
}

tutti_err tutti__meta_sync_directory(tutti__meta *m) {
    return tutti__directory_sync(m->directory);
}

void tutti__parent_sync(const char *directory) {
    char path[TUTTI__PATH + 8];
    snprintf(path, sizeof path, "%s/..", directory);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

static tutti_err writer_open(tutti__meta *m, const tutti__meta_options *opt) {
    int empty = 0;
    struct stat st;
    const int creates = (opt->mode & (TUTTI_CREATE | TUTTI_TRUNCATE)) != 0;
    if (creates && mkdir(m->directory, 0777) != 0 && errno != EEXIST)
        return tutti__error_sys(errno, -1, "the directory of the dataset");
    if (stat(m->directory, &st) != 0)
        return tutti__error_sys(errno, -1, "the directory of the dataset");
    TUTTI_CHECK(S_ISDIR(st.st_mode), TUTTI_ERR_FORMAT, "'%s' is a file: datasets are directories",
                m->directory);
    const int there = stat(m->path, &st) == 0;
    TUTTI_CHECK(there || creates, TUTTI_ERR_NOT_FOUND, "'%s' has no dataset", m->directory);
    TUTTI_CHECK(!there || !(opt->mode & TUTTI_EXCLUSIVE), TUTTI_ERR_EXISTS,
                "'%s' has a dataset already", m->directory);
    if (!opt->locked) TUTTI_TRY(tutti__writer_lock(m->directory, opt->without_locks, &m->lock));
    TUTTI_TRY(
        tutti__sql_open(m, m->path, SQLITE_OPEN_READWRITE | (there ? 0 : SQLITE_OPEN_CREATE)));
    TUTTI_TRY(identify(m, &empty));
    if (empty && !opt->name && !(opt->mode & TUTTI_TRUNCATE)) TUTTI_TRY(no_data(m));
    TUTTI_TRY(tutti__sql(m, opt->durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
    TUTTI_TRY(tutti__sql(m, "PRAGMA journal_mode=TRUNCATE"));
    if (empty || m->version < TUTTI__FORMAT_VERSION) TUTTI_TRY(tables_make(m, empty));
    if (!opt->durable || opt->locked) return TUTTI_OK; /* a repair syncs names itself */
    TUTTI_TRY(tutti__meta_sync_directory(m));          /* an earlier writer may not have done it */
    tutti__parent_sync(m->directory);
    return TUTTI_OK;
}

tutti_err tutti__meta_open(const char *directory, const tutti__meta_options *opt,
                           tutti__meta **out) {
    TUTTI_CHECK(strlen(directory) < TUTTI__PATH - 64, TUTTI_ERR_ARG, "the path is too long");
    TUTTI_CHECK(sqlite3_threadsafe(), TUTTI_ERR_UNSUPPORTED,
                "this SQLite was built for programs without threads");
    tutti__meta *m = tutti__calloc(1, sizeof *m);
    if (!m) return TUTTI_ERR_NOMEM;
    m->lock = -1;
    m->busy = opt->busy;
    m->writes = (opt->mode & TUTTI_WRITE) != 0;
    snprintf(m->directory, sizeof m->directory, "%s", directory);
    snprintf(m->path, sizeof m->path, "%s/%s", m->directory,
             opt->name ? opt->name : TUTTI__META_NAME);
    tutti_err err = TUTTI_OK;
    struct stat st;
    if (m->writes)
        err = writer_open(m, opt);
    else if (stat(m->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        const int sys = errno;
        err = no_data(m);
        if (err == TUTTI_OK)
            err = tutti__error_set(sys == ENOENT ? TUTTI_ERR_NOT_FOUND : TUTTI_ERR_FORMAT, sys, -1,
                                   "'%s' has no dataset", directory);
    } else
        err = reader_open(m);
    if (opt->version_out) *opt->version_out = m->version;
    if (err == TUTTI_OK)
        *out = m;
    else
        tutti__meta_close(&m);
    return err;
}

void tutti__meta_close(tutti__meta **pm) {
    tutti__meta *m = *pm;
    *pm = NULL;
    if (!m) return;
    if (m->db) tutti__sql_close(m);
    tutti__sql_private_remove(m);
    if (m->lock >= 0) close(m->lock);
    tutti__free(m);
}

/* ---- reading */

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

/* Which of the names a column has; -1: none. */
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

/* Text that fits; NULL is "". */
static int column_text(sqlite3_stmt *s, int column, char *to, size_t room) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    const size_t n = text ? (size_t)sqlite3_column_bytes(s, column) : 0;
    if (n >= room || (text && strlen(text) != n)) return 0;
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
    /* numbers that are counted up: far from the end of 64 bits */
    return key != NULL && m->generation >= 0 && m->generation <= INT64_MAX / 2 && m->serial >= 0 &&
           m->serial <= INT64_MAX / 2;
}

/* Every row of a table; `read` says 1, 0: it makes no sense, -1: no memory. */
static tutti_err table_read(tutti__meta *m, const char *query,
                            int (*read)(sqlite3_stmt *, tutti__model *), tutti__model *out) {
    sqlite3_stmt *s = NULL;
    int row = 0, sound = 1;
    TUTTI_TRY(tutti__sql_prepare(m, query, &s));
    tutti_err err = tutti__sql_step(m, s, &row);
    while (err == TUTTI_OK && row && (sound = read(s, out)) == 1) err = tutti__sql_step(m, s, &row);
    if (err == TUTTI_OK && sound < 0) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && sound == 0)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "a row of the metadata makes no sense: %s",
                               query);
    sqlite3_finalize(s);
    return err;
}

static tutti_err tables_read(tutti__meta *m, tutti__model *out) {
    int64_t archives = 0;
    TUTTI_TRY(
        tutti__sql_int(m, "SELECT count(*) FROM sqlite_schema WHERE name = 'archived'", &archives));
    if (archives)
        TUTTI_TRY(table_read(m, "SELECT segment, place, sum FROM archived ORDER BY segment",
                             read_archived, out));
    TUTTI_TRY(table_read(m, "SELECT key, value FROM dataset", read_key, out));
    TUTTI_TRY(table_read(m, "SELECT id, name, container FROM files ORDER BY id", read_file, out));
    TUTTI_TRY(table_read(m, "SELECT id, name, kind FROM spaces ORDER BY id", read_space, out));
    TUTTI_TRY(table_read(m,
                         "SELECT id, name, space, item, components, type, layout, byte_order,"
                         " units, long_name, fill, compress FROM variables ORDER BY id",
                         read_variable, out));
    TUTTI_TRY(table_read(m,
                         "SELECT id, kind, time_index, time, file, start, end, trailer, sections"
                         " FROM segments ORDER BY id",
                         read_segment, out));
    TUTTI_TRY(table_read(m, "SELECT segment, space, shape, ids FROM sizes ORDER BY segment, space",
                         read_size, out));
    return tutti__model_check(out);
}

tutti_err tutti__meta_generation(tutti__meta *m, int64_t *out) {
    static const char TEXT[] = "SELECT value FROM dataset WHERE key = 'generation'";
    *out = -1;
    if (!m->writes && replaced(m)) return TUTTI_OK;
    if (m->empty) {
        *out = 0;
        return TUTTI_OK;
    }
    const tutti_err err = tutti__sql_int(m, TEXT, out);
    if (err == TUTTI_OK || m->writes || !tutti__sql_journal_hot(m)) return err;
    tutti__sql_close(m); /* the writer was killed since the last look */
    TUTTI_TRY(reader_open(m));
    return tutti__sql_int(m, TEXT, out);
}

tutti_err tutti__meta_load(tutti__meta *m, tutti__model *out) {
    int64_t generation = 0;
    *out = (tutti__model){0};
    if (!m->writes && (m->own[0] || m->empty || replaced(m))) { /* the copy was of then */
        tutti__sql_close(m);
        TUTTI_TRY(reader_open(m));
    }
    if (m->empty) return TUTTI_OK;
    TUTTI_TRY(tutti__meta_generation(m, &generation));
    TUTTI_TRY(tutti__sql(m, "BEGIN"));
    const tutti_err err = tables_read(m, out);
    tutti__meta_rollback(m);
    if (err != TUTTI_OK) tutti__model_free(out);
    return err;
}

static int read_section(sqlite3_stmt *s, tutti__section *t) {
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
    return t->part >= 0 && t->type >= 0;
}

static tutti_err sections_read(tutti__meta *m, sqlite3_stmt *s, const tutti__model *model,
                               const tutti__segment_row *g, tutti__section **out, int64_t *n) {
    int row = 0;
    tutti_off end = g->start;
    for (;;) {
        TUTTI_TRY(tutti__sql_step(m, s, &row));
        if (!row) return TUTTI_OK;
        tutti__section *t = tutti__table_grow(out, n, sizeof **out);
        if (!t) return TUTTI_ERR_NOMEM;
        TUTTI_CHECK(read_section(s, t), TUTTI_ERR_FORMAT, "a section of segment %lld is none",
                    (long long)g->id);
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
    tutti_err err = sections_read(m, s, model, g, out, n_out);
    sqlite3_finalize(s);
    if (err == TUTTI_OK && *n_out == 0 && g->sections > 0)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                               "segment %lld has been taken away since the dataset was looked at",
                               (long long)g->id);
    else if (err == TUTTI_OK && *n_out != g->sections)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "segment %lld has %lld sections of %d",
                               (long long)g->id, (long long)*n_out, g->sections);
    if (err != TUTTI_OK) {
        tutti__free(*out);
        *out = NULL;
        *n_out = 0;
    }
    return err;
}

tutti_err tutti__meta_list_uses(tutti__meta *m, tutti__list_use **out, int64_t *n_out) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m,
                                 "SELECT DISTINCT segment, list_segment FROM sections"
                                 " WHERE list_segment <> segment ORDER BY segment DESC",
                                 &s));
    tutti_err err = tutti__sql_step(m, s, &row);
    while (err == TUTTI_OK && row) {
        tutti__list_use *use = tutti__table_grow(out, n_out, sizeof **out);
        if (use) *use = (tutti__list_use){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
        err = use ? tutti__sql_step(m, s, &row) : TUTTI_ERR_NOMEM;
    }
    sqlite3_finalize(s);
    return err;
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

void tutti__meta_sweep(tutti__meta *m, const tutti__model *model) {
    DIR *dir = opendir(m->directory);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        int known = !tutti__file_name_right(e->d_name);
        for (int64_t i = 0; i < model->files_n && !known; i++)
            known = strcmp(model->files[i].name, e->d_name) == 0;
        if (!known) unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir) closedir(dir);
}
