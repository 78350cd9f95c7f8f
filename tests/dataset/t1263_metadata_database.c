/* TEST ranks=0 timeout=60 */
/* The database of a dataset: locks, the journal of a killed writer, invalid rows.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

static char dir[512];
static const tutti__meta_options writer = {.mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                                           .busy = 0.2};
static const tutti__meta_options reader = {.mode = TUTTI_READ, .busy = 0.2};

static void run_sql(const char *text) {
    char path[600];
    sqlite3 *db = NULL;
    char *why = NULL;
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, dir);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK, "no database %s", path);
    CHECK(sqlite3_exec(db, text, NULL, NULL, &why) == SQLITE_OK, "%s: %s", text, why ? why : "");
    sqlite3_free(why);
    sqlite3_close(db);
}

/* Create metadata with a grid, a variable and two segments. */
static void fill_values(void) {
    tutti__meta *m = NULL;
    tutti__model model = {.serial = 2};
    tutti__space space = {.id = 1, .kind = TUTTI__SPACE_GRID, .fresh = 1, .name = "g"};
    tutti__variable v = {.id = 1,
                         .space = 1,
                         .components = 1,
                         .type = TUTTI_FLOAT64,
                         .order = TUTTI_LITTLE_ENDIAN,
                         .fresh = 1,
                         .name = "v"};
    tutti__size size = {.space = 1, .ndims = 1, .shape = {8}, .fresh = 1};
    const tutti__datafile f = {1, "data-000001.tutti"};
    model.spaces = &space;
    model.variables = &v;
    model.sizes = &size;
    model.spaces_n = model.variables_n = model.sizes_n = 1;
    CHECK_OK(tutti__meta_open(dir, &writer, &m));
    CHECK_OK(tutti__meta_begin(m));
    CHECK_OK(tutti__meta_add_fresh(m, &model));
    CHECK_OK(tutti__meta_add_file(m, &f));
    for (int i = 0; i < 2; i++) {
        const tutti__segment_row g = {.id = i + 1,
                                      .file = 1,
                                      .kind = TUTTI_STATE,
                                      .sections = 1,
                                      .index = i,
                                      .start = 4096 * (i + 1),
                                      .trailer = 4096 * (i + 1) + 64,
                                      .end = 4096 * (i + 2)};
        const tutti__section s = {.segment = i + 1,
                                  .variable = 1,
                                  .start = g.start,
                                  .bytes = 64,
                                  .type = TUTTI_FLOAT64,
                                  .summed = 1,
                                  .sum = 0xffffffff12345678u};
        CHECK_OK(tutti__meta_add_segment(m, &g));
        CHECK_OK(tutti__meta_add_section(m, &s));
    }
    CHECK_OK(tutti__meta_set(m, "serial", 2));
    CHECK_OK(tutti__meta_commit(m));
    tutti__meta_close(&m);
}

static void test_again(void) {
    tutti__meta *m = NULL;
    tutti__model model;
    tutti__section *s = NULL;
    int64_t n = 0;
    CHECK_OK(tutti__meta_open(dir, &reader, &m));
    CHECK_OK(tutti__meta_load(m, &model));
    CHECK(model.segments_n == 2 && model.variables_n == 1 && model.sizes[0].shape[0] == 8,
          "tables");
    CHECK_OK(tutti__meta_sections(m, &model, &model.segments[1], &s, &n));
    CHECK(n == 1 && s[0].sum == 0xffffffff12345678u && s[0].bytes == 64, "section");
    tutti__free(s);
    tutti__model_free(&model);
    CHECK_OK(tutti__meta_integrity(m));
    tutti__meta_close(&m);
}

/* Only one writer at a time is allowed, also within a process; the lock of a killed writer is released. */
static void test_locks(void) {
    tutti__meta *m = NULL, *other = NULL;
    check_where("locks");
    CHECK_OK(tutti__meta_open(dir, &writer, &m));
    CHECK_ERR(tutti__meta_open(dir, &writer, &other), TUTTI_ERR_STATE);
    test_again();
    CHECK_OK(tutti__meta_begin(m)); /* readers continue until the end of the transaction */
    test_again();
    tutti__meta_close(&m);
    const pid_t pid = fork();
    if (pid == 0) {
        if (tutti__meta_open(dir, &writer, &m) != TUTTI_OK) _exit(1);
        raise(SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "the child has ended itself");
    CHECK_OK(tutti__meta_open(dir, &writer, &m));
    tutti__meta_close(&m);
}

/* Kill a writer that has already written pages to the database: the next writer restores them from the journal.
 * readonly_first: a reader opens the database before. */
static void hot_journal(int readonly_first) {
    char path[600], text[100];
    struct stat st;
    check_where("journal");
    tutti__meta *before = NULL; /* the handle of a concurrent reader */
    tutti__model model;
    const tutti__meta_options reads = {.mode = TUTTI_READ, .busy = 1};
    CHECK_OK(tutti__meta_open(dir, &reads, &before));
    const pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *db = NULL;
        snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, dir);
        sqlite3_open(path, &db);
        sqlite3_exec(db, "PRAGMA journal_mode=TRUNCATE; PRAGMA cache_size=1; BEGIN IMMEDIATE;",
                     NULL, NULL, NULL);
        sqlite3_exec(db, "DELETE FROM segments", NULL, NULL, NULL);
        for (int i = 0; i < 2000; i++) {
            snprintf(text, sizeof text, "INSERT INTO spaces VALUES(%d, 'space %d', 'grid')", i + 10,
                     i);
            sqlite3_exec(db, text, NULL, NULL, NULL);
        }
        raise(SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "the child has ended itself");
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME "-journal", dir);
    CHECK(stat(path, &st) == 0 && st.st_size > 0, "there is no journal");
    CHECK_OK(tutti__meta_load(before, &model));
    CHECK(model.segments_n > 0, "the reader sees what was not committed");
    tutti__model_free(&model);
    tutti__meta_close(&before);
    if (readonly_first) {
        test_again();
        CHECK(stat(path, &st) == 0 && st.st_size > 0, "a reader has changed the dataset");
    }
    tutti__meta *m = NULL;
    CHECK_OK(tutti__meta_open(dir, &writer, &m));
    tutti__meta_close(&m);
    CHECK(stat(path, &st) != 0 || st.st_size == 0, "the journal is still there");
    test_again();
}

/* Invalid values in the database are detected. */
static void test_lies(void) {
    static const struct {
        const char *damage, *original;
    } v[] = {
        {"UPDATE files SET name='../../etc/passwd'", "UPDATE files SET name='data-000001.tutti'"},
        {"UPDATE files SET name='/tmp/data-000001.tutti'",
         "UPDATE files SET name='data-000001.tutti'"},
        {"UPDATE files SET name='data-1/../x.tutti'", "UPDATE files SET name='data-000001.tutti'"},
        {"UPDATE files SET container='zip'", "UPDATE files SET container='tutti'"},
        {"UPDATE segments SET start=-5 WHERE id=1", "UPDATE segments SET start=4096 WHERE id=1"},
        {"UPDATE segments SET end=9223372036854775807 WHERE id=1",
         "UPDATE segments SET end=8192 WHERE id=1"},
        {"UPDATE segments SET trailer=1 WHERE id=1", "UPDATE segments SET trailer=4160 WHERE id=1"},
        {"UPDATE segments SET file=7 WHERE id=1", "UPDATE segments SET file=1 WHERE id=1"},
        {"UPDATE segments SET kind='dream' WHERE id=1",
         "UPDATE segments SET kind='state' WHERE id=1"},
        {"UPDATE segments SET time_index=9 WHERE id=1",
         "UPDATE segments SET time_index=0 WHERE id=1"},
        {"UPDATE variables SET type='float65'", "UPDATE variables SET type='float64'"},
        {"UPDATE variables SET type=x'00ff'", "UPDATE variables SET type='float64'"},
        {"UPDATE variables SET components=-1", "UPDATE variables SET components=1"},
        {"UPDATE variables SET components=99999999999", "UPDATE variables SET components=1"},
        {"UPDATE variables SET space=5", "UPDATE variables SET space=1"},
        {"UPDATE variables SET fill='x'", "UPDATE variables SET fill=x'0000000000000000'"},
        {"UPDATE variables SET name=''", "UPDATE variables SET name='v'"},
        {"UPDATE variables SET name=hex(zeroblob(500))", "UPDATE variables SET name='v'"},
        {"UPDATE sizes SET shape='-1'", "UPDATE sizes SET shape='8'"},
        {"UPDATE sizes SET shape='4,'", "UPDATE sizes SET shape='8'"},
        {"UPDATE sizes SET shape='4000000000,4000000000,4000000000'", "UPDATE sizes SET shape='8'"},
        {"UPDATE sizes SET shape='1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1'",
         "UPDATE sizes SET shape='8'"},
        {"UPDATE spaces SET kind='moon'", "UPDATE spaces SET kind='grid'"},
        {"UPDATE dataset SET value=1 WHERE key='serial'",
         "UPDATE dataset SET value=2 WHERE key='serial'"},
        {"PRAGMA user_version=99", "PRAGMA user_version=2"},
        {"PRAGMA application_id=5", "PRAGMA application_id=1414878292"},
        {"ALTER TABLE sizes RENAME TO s", "ALTER TABLE s RENAME TO sizes"},
    };
    static const struct {
        const char *damage, *original;
    } sections[] = {
        {"UPDATE sections SET start=0 WHERE segment=1",
         "UPDATE sections SET start=4096 WHERE segment=1"},
        {"UPDATE sections SET bytes=65 WHERE segment=1",
         "UPDATE sections SET bytes=64 WHERE segment=1"},
        {"UPDATE sections SET bytes=-1 WHERE segment=1",
         "UPDATE sections SET bytes=64 WHERE segment=1"},
        {"UPDATE sections SET type='x' WHERE segment=1",
         "UPDATE sections SET type='float64' WHERE segment=1"},
        {"UPDATE sections SET list_segment=1 WHERE segment=1",
         "UPDATE sections SET list_segment=NULL WHERE segment=1"},
        {"UPDATE segments SET sections=2 WHERE id=1", "UPDATE segments SET sections=1 WHERE id=1"},
    };
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        tutti__meta *m = NULL;
        tutti__model model = {0};
        check_where(v[i].damage);
        run_sql(v[i].damage);
        tutti_err err = tutti__meta_open(dir, &reader, &m);
        if (err == TUTTI_OK) err = tutti__meta_load(m, &model);
        CHECK_ERR(err, TUTTI_ERR_FORMAT);
        tutti__model_free(&model);
        tutti__meta_close(&m);
        run_sql(v[i].original);
    }
    test_again();
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        tutti__meta *m = NULL;
        tutti__model model;
        tutti__section *s = NULL;
        int64_t n = 0;
        check_where(sections[i].damage);
        run_sql(sections[i].damage);
        CHECK_OK(tutti__meta_open(dir, &reader, &m));
        CHECK_OK(tutti__meta_load(m, &model));
        CHECK_ERR(tutti__meta_sections(m, &model, &model.segments[0], &s, &n), TUTTI_ERR_FORMAT);
        CHECK(!s && n == 0, "sections of a lie");
        tutti__model_free(&model);
        tutti__meta_close(&m);
        run_sql(sections[i].original);
    }
    test_again();
}

/* The database is locked by another connection: the library waits, then fails. */
static void test_busy(void) {
    tutti__meta *m = NULL;
    char path[600];
    sqlite3 *db = NULL;
    check_where("busy");
    CHECK_OK(tutti__meta_open(dir, &writer, &m));
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, dir);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK, "no database");
    CHECK(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK, "no lock");
    CHECK_ERR(tutti__meta_begin(m), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "another program"), "%s", tutti_last_message());
    sqlite3_close(db);
    CHECK_OK(tutti__meta_begin(m));
    tutti__meta_rollback(m);
    tutti__meta_close(&m);
}

int main(void) {
    const char *tmp = getenv("TUTTI_TEST_DIR");
    snprintf(dir, sizeof dir, "%s/t1263.tutti", tmp ? tmp : ".");
    check_seed(1263);
    fill_values();
    test_again();
    test_locks();
    hot_journal(0);
    hot_journal(1);
    test_busy();
    test_lies();
    return check_done();
}
