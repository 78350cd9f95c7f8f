/* metadata: the database of a dataset: tables, writer's lock, opening and closing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/utf8.h"
#include "timestep/writer_lock.h"

enum { APPLICATION = 0x54555454 }; /* "TUTT" */

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

/* Upgrade from version 1 to 2.  The row without a name means that infos of older trailers are
 * invalid. */
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

/* SQL function tutti_is_text(value): return whether the value is UTF-8 without zero bytes. */
static void is_text(sqlite3_context *context, int n, sqlite3_value **values) {
    (void)n;
    const void *bytes = sqlite3_value_blob(values[0]);
    sqlite3_result_int(context, tutti__utf8_valid(bytes, (size_t)sqlite3_value_bytes(values[0])));
}

tutti_err tutti__meta_id_make(tutti__meta *m) {
    int64_t id[2];
    char text[160];
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return tutti__error_sys(errno, -1, "cannot generate a random id for the dataset");
    snprintf(text, sizeof text,
             "INSERT OR REPLACE INTO dataset VALUES('id_high', %lld), ('id_low', %lld)",
             (long long)id[0], (long long)id[1]);
    return tutti__sql(m, text);
}

/* Create all tables, or upgrade those of version 1; called in a transaction. */
static tutti_err write_tables(tutti__meta *m, int creates) {
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

/* Check that the file is the database of a dataset; *empty_out: it has no tables yet. */
static tutti_err check_database(tutti__meta *m, int *empty_out) {
    int64_t tables = 0, application = 0, version = 0;
    TUTTI_TRY(tutti__sql_int(m, "SELECT count(*) FROM sqlite_schema", &tables));
    TUTTI_TRY(tutti__sql_int(m, "PRAGMA application_id", &application));
    TUTTI_TRY(tutti__sql_int(m, "PRAGMA user_version", &version));
    *empty_out = tables == 0;
    if (*empty_out) return TUTTI_OK;
    TUTTI_CHECK(application == APPLICATION, TUTTI_ERR_FORMAT,
                "'%s' is not the metadata of a dataset", m->path);
    m->version = version;
    TUTTI_CHECK(version >= TUTTI__FORMAT_OLDEST && version <= TUTTI__FORMAT_VERSION,
                TUTTI_ERR_FORMAT,
                "'%s' has format version %lld; this version of the library supports %d to %d",
                m->path, (long long)version, TUTTI__FORMAT_OLDEST, TUTTI__FORMAT_VERSION);
    return TUTTI_OK;
}

/* ---- the lock of writers */

tutti_err tutti__dataset_lock(const char *directory, int without_locks, int *fd_out) {
    char path[TUTTI__PATH + 64];
    snprintf(path, sizeof path, "%s/" TUTTI__LOCK_NAME, directory);
    struct stat st;
    *fd_out = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (*fd_out < 0) return tutti__error_sys(errno, -1, "cannot open the writer's lock");
    TUTTI_CHECK(fstat(*fd_out, &st) == 0 && S_ISREG(st.st_mode), TUTTI_ERR_FORMAT,
                "'%s' is not a regular file", path);
    return tutti__writer_lock_acquire(
        &(tutti__writer_lock){.path = directory, .fd = *fd_out, .is_optional = without_locks});
}

/* ---- opening */

/* Check that a dataset without tables or metadata, which is new, has no data files.  If it has, the
 * metadata was lost, and a writer must not remove these files as leftovers. */
static tutti_err check_no_data_files(const tutti__meta *m) {
    DIR *dir = opendir(m->directory);
    struct dirent *e;
    struct stat st;
    int has = 0;
    while (dir && !has && (e = readdir(dir)))
        has = tutti__file_name_right(e->d_name) &&
              fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 4096;
    if (dir) closedir(dir);
    TUTTI_CHECK(!has, TUTTI_ERR_FORMAT,
                "'%s' has data files, but no metadata: run 'tutti repair' to rebuild the metadata",
                m->directory);
    return TUTTI_OK;
}

int tutti__meta_replaced(const tutti__meta *m) {
    struct stat st;
    return stat(m->path, &st) != 0 || st.st_dev != m->device || st.st_ino != m->inode;
}

static tutti_err try_open_reader(tutti__meta *m) {
    int empty = 0;
    struct stat st;
    tutti__sql_private_remove(m);
    if (stat(m->path, &st) != 0) return tutti__error_sys(errno, -1, m->path);
    m->device = st.st_dev;
    m->inode = st.st_ino;
    TUTTI_TRY(tutti__sql_open(m, m->path, SQLITE_OPEN_READONLY));
    tutti_err err = check_database(m, &empty);
    if (err != TUTTI_OK && tutti__sql_journal_hot(m)) {
        err = tutti__sql_private_open(m);
        if (err == TUTTI_OK) err = check_database(m, &empty);
    }
    m->empty = empty;
    return err == TUTTI_OK && empty ? check_no_data_files(m) : err;
}

static tutti_err open_reader(tutti__meta *m) {
    tutti_err err = try_open_reader(m);
    for (int again = 0; again < 3 && err == TUTTI_ERR_STATE && m->own[0]; again++) {
        tutti__sql_close(m);
        err = try_open_reader(m);
    }
    return err;
}

tutti_err tutti__meta_reopen(tutti__meta *m) {
    tutti__sql_close(m);
    return open_reader(m);
}

tutti_err tutti__directory_sync(const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return tutti__error_sys(errno, -1, "cannot open the directory of the dataset");
    const int bad = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return bad ? tutti__error_sys(bad, -1, "cannot sync the directory of the dataset") : TUTTI_OK;
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

static tutti_err open_writer(tutti__meta *m, const tutti__meta_options *opt) {
    int empty = 0;
    struct stat st;
    const int creates = (opt->mode & (TUTTI_CREATE | TUTTI_TRUNCATE)) != 0;
    if (creates && mkdir(m->directory, 0777) != 0 && errno != EEXIST)
        return tutti__error_sys(errno, -1, "cannot create the directory of the dataset");
    if (stat(m->directory, &st) != 0)
        return tutti__error_sys(errno, -1, "cannot access the directory of the dataset");
    TUTTI_CHECK(S_ISDIR(st.st_mode), TUTTI_ERR_FORMAT,
                "'%s' is not a directory: datasets are directories", m->directory);
    const int there = stat(m->path, &st) == 0;
    TUTTI_CHECK(there || creates, TUTTI_ERR_NOT_FOUND, "'%s' does not contain a dataset",
                m->directory);
    TUTTI_CHECK(!there || !(opt->mode & TUTTI_EXCLUSIVE), TUTTI_ERR_EXISTS,
                "'%s' already contains a dataset", m->directory);
    if (!opt->locked) TUTTI_TRY(tutti__dataset_lock(m->directory, opt->without_locks, &m->lock));
    TUTTI_TRY(
        tutti__sql_open(m, m->path, SQLITE_OPEN_READWRITE | (there ? 0 : SQLITE_OPEN_CREATE)));
    TUTTI_TRY(check_database(m, &empty));
    if (empty && !opt->name && !(opt->mode & TUTTI_TRUNCATE)) TUTTI_TRY(check_no_data_files(m));
    TUTTI_TRY(tutti__sql(m, opt->durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
    TUTTI_TRY(tutti__sql(m, "PRAGMA journal_mode=TRUNCATE"));
    if (empty || m->version < TUTTI__FORMAT_VERSION) {
        TUTTI_TRY(tutti__meta_begin(m));
        TUTTI_TRY(tutti__meta_end(m, write_tables(m, empty)));
        m->version = TUTTI__FORMAT_VERSION;
    }
    if (!opt->durable || opt->locked) return TUTTI_OK; /* a repair syncs file names itself */
    /* an earlier writer may not have synced the directory */
    TUTTI_TRY(tutti__meta_sync_directory(m));
    tutti__parent_sync(m->directory);
    return TUTTI_OK;
}

tutti_err tutti__meta_open(const char *directory, const tutti__meta_options *opt,
                           tutti__meta **out) {
    TUTTI_CHECK(strlen(directory) < TUTTI__PATH - 64, TUTTI_ERR_ARG,
                "the path has %zu bytes: at most %d are allowed", strlen(directory),
                TUTTI__PATH - 65);
    TUTTI_CHECK(sqlite3_threadsafe(), TUTTI_ERR_UNSUPPORTED,
                "SQLite was built without thread support");
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
        err = open_writer(m, opt);
    else if (stat(m->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        const int sys = errno;
        err = check_no_data_files(m);
        if (err == TUTTI_OK)
            err = tutti__error_set(sys == ENOENT ? TUTTI_ERR_NOT_FOUND : TUTTI_ERR_FORMAT, sys, -1,
                                   "'%s' does not contain a dataset", directory);
    } else
        err = open_reader(m);
    if (opt->version_out) *opt->version_out = m->version;
    if (err == TUTTI_OK)
        *out = m;
    else
        tutti__meta_close(&m);
    return err;
}

void tutti__meta_close(tutti__meta **pm) {
    TUTTI_KEEP_LAST_ERROR;
    tutti__meta *m = *pm;
    *pm = NULL;
    if (!m) return;
    if (m->db) tutti__sql_close(m);
    tutti__sql_private_remove(m);
    if (m->lock >= 0) close(m->lock);
    tutti__free(m);
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
