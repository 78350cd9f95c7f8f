/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Infos: text and raw bytes, names that are not UTF-8.  A trailer contains only the changes since the last commit, and
 * repair restores all infos from the data files alone: after changes and removals, and after dropping, erasing and
 * archiving segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"

enum { ENTRIES = 30 };
static char path[512], place[512];
static tutti_dataset *d;
static tutti_decomposition *p;
static int container, per_file;

static void open_file(int mode) {
    tutti_dataset_options opt = visible();
    opt.container = container;
    opt.indices_per_file = per_file;
    tutti_count index[ENTRIES];
    const tutti_count lo = ENTRIES * rank / ranks, hi = ENTRIES * (rank + 1) / ranks;
    for (tutti_count i = lo; i < hi; i++) index[i - lo] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = hi - lo, .index = index};
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), TUTTI_OK);
    if (mode & TUTTI_CREATE) {
        const tutti_variable_spec v = {
            .space = "line", .type = TUTTI_FLOAT64, .order = TUTTI_BIG_ENDIAN};
        CHECK_SAME(tutti_dataset_grid(d, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
        CHECK_SAME(tutti_dataset_variable(d, "v", &v), TUTTI_OK);
    }
    CHECK_SAME(tutti_decomposition_create(d, "line", &spec, &p), TUTTI_OK);
}

static void test_closed(void) {
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_created(void) {
    dataset_remove(path);
    dataset_remove(place);
    open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE);
}

static void state_begin(int64_t index) {
    double v[ENTRIES] = {0};
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_FLOAT64, v}), TUTTI_OK);
}

static void write_state(int64_t index) {
    state_begin(index);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

static void set_info(const tutti_info_owner *owner, const char *name, const char *text) {
    const tutti_count n = text ? (tutti_count)strlen(text) : 0;
    CHECK_SAME(tutti_dataset_info_set(d, owner, name, TUTTI_BYTES, n, text), TUTTI_OK);
}

/* Check that the info has the value `text`, or does not exist (NULL). */
static void check_info(const tutti_info_owner *owner, const char *name, const char *text) {
    char got[64] = "";
    tutti_type type;
    tutti_count n = sizeof got - 1;
    CHECK_SAME(tutti_dataset_info_get(d, owner, name, &type, &n, got),
               text ? TUTTI_OK : TUTTI_ERR_NOT_FOUND);
    CHECK(!text || strcmp(got, text) == 0, "%s is '%s', not '%s'", name, got, text);
}

static void test_repaired(void) {
    char name[600];
    test_closed();
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (rank == 0) CHECK(unlink(name) == 0, "%s", name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_OK);
    open_file(TUTTI_READ | TUTTI_WRITE);
}

/* ---- allowed contents */

static char *sql_type(const char *info) {
    static char type[16];
    char name[600];
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    CHECK(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "SELECT typeof(value) FROM infos WHERE name = ?", -1, &s,
                                 NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(db));
    sqlite3_bind_text(s, 1, info, -1, SQLITE_STATIC);
    CHECK(sqlite3_step(s) == SQLITE_ROW, "no info %s", info);
    snprintf(type, sizeof type, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
    MPI_Barrier(MPI_COMM_WORLD);
    return type;
}

static void bytes_and_text(void) {
    static const struct {
        const char *name, *value, *type;
        tutti_count n;
    } cases[] = {{"ascii", "plain", "text", 5},
                 {"umlaut", "K\xc3\xb6ln", "text", 5},
                 {"four", "\xf0\x9f\x8c\x8d", "text", 4},
                 {"latin1", "K\xf6ln", "blob", 4},
                 {"zero", "a\0b", "blob", 3},
                 {"overlong", "\xc0\xaf", "blob", 2},
                 {"surrogate", "\xed\xa0\x80", "blob", 3},
                 {"cut", "x\xe2\x82", "blob", 3}};
    static const char *const bad[] = {"K\xf6ln", "\xff", "a\xc0\xaf", "\xed\xa0\x80"};
    char got[16];
    tutti_type type;
    check_where("bytes and text");
    test_created();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (round == 0)
                CHECK_SAME(tutti_dataset_info_set(d, NULL, cases[i].name, TUTTI_BYTES, cases[i].n,
                                                  cases[i].value),
                           TUTTI_OK);
            tutti_count n = sizeof got;
            CHECK_SAME(tutti_dataset_info_get(d, NULL, cases[i].name, &type, &n, got), TUTTI_OK);
            CHECK(type == TUTTI_BYTES && n == cases[i].n &&
                      memcmp(got, cases[i].value, (size_t)n) == 0,
                  "%s", cases[i].name);
            CHECK(strcmp(sql_type(cases[i].name), cases[i].type) == 0, "%s is stored as %s",
                  cases[i].name, sql_type(cases[i].name));
        }
        write_state(round);
        if (round == 0 && container == TUTTI_CONTAINER_NATIVE) test_repaired();
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tutti_variable_spec v = {.space = "line", .type = TUTTI_FLOAT64};
        tutti_variable_spec units = v, name = v;
        units.units = name.long_name = bad[i];
        CHECK_SAME(tutti_dataset_info_set(d, NULL, bad[i], TUTTI_BYTES, 1, "x"), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_dataset_list(d, bad[i]), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_dataset_variable(d, bad[i], &v), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_dataset_variable(d, "new", &units), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_dataset_variable(d, "new", &name), TUTTI_ERR_ARG);
        if (container == TUTTI_CONTAINER_NATIVE)
            CHECK_SAME(tutti_dataset_archive(d, 0, 0, bad[i], NULL), TUTTI_ERR_ARG);
    }
    test_closed();
}

/* ---- trailers */

static tutti_off size_of(const char *name) {
    char full[700];
    struct stat st = {0};
    snprintf(full, sizeof full, "%s/%s", path, name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(stat(full, &st) == 0, "%s", full);
    MPI_Barrier(MPI_COMM_WORLD);
    return st.st_size;
}

/* A large info is stored in only one trailer. */
static void test_large(void) {
    enum { LARGE = 8 << 20 };
    char *text = malloc(LARGE), *got = malloc(LARGE);
    tutti_type type;
    tutti_count n = LARGE;
    check_where("large");
    test_created();
    memset(text, 'x', LARGE);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "large", TUTTI_BYTES, LARGE, text), TUTTI_OK);
    write_state(0);
    const tutti_off before = size_of("data-000001.tutti");
    for (int i = 1; i < 5; i++) write_state(i);
    const tutti_off grown = size_of("data-000001.tutti") - before;
    CHECK(before > LARGE && grown <= 4 * 8192, "4 states have %lld bytes", (long long)grown);
    test_repaired();
    CHECK_SAME(tutti_dataset_info_get(d, NULL, "large", &type, &n, got), TUTTI_OK);
    CHECK(n == LARGE && memcmp(got, text, LARGE) == 0, "large");
    write_state(6);
    CHECK(size_of("data-000001.tutti") <= before + 5 * 8192, "it was written again");
    test_closed();
    free(text);
    free(got);
}

/* Test every kind of change, in the trailers of several segments and of a commit with
 * begin_also. */
static void test_changes(void) {
    const tutti_info_owner v = {"v", -1}, first = {NULL, 0}, second = {NULL, 1};
    check_where("changes");
    test_created();
    set_info(NULL, "kept", "1");
    set_info(NULL, "changed", "1");
    set_info(NULL, "removed", "1");
    set_info(&v, "of v", "1");
    state_begin(0);
    set_info(&first, "of 0", "1");
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    set_info(NULL, "changed", "2");
    set_info(NULL, "removed", NULL);
    set_info(NULL, "again", "1");
    set_info(&first, "later of 0", "1");
    write_state(1);
    set_info(NULL, "again", NULL);
    write_state(2);
    set_info(NULL, "again", "2");
    set_info(&v, "of v", NULL);
    state_begin(3);
    set_info(NULL, "with 3", "1");
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 4, 0), TUTTI_OK);
    double x[ENTRIES] = {0};
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_FLOAT64, x}), TUTTI_OK);
    set_info(NULL, "with 4", "1");
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    for (int round = 0; round < 3; round++) {
        check_info(NULL, "kept", "1");
        check_info(NULL, "changed", "2");
        check_info(NULL, "removed", NULL);
        check_info(NULL, "again", "2");
        check_info(&v, "of v", NULL);
        check_info(&first, "of 0", "1");
        check_info(&first, "later of 0", "1");
        check_info(&second, "of 0", NULL);
        check_info(NULL, "with 3", "1");
        check_info(NULL, "with 4", "1");
        if (round == 1) write_state(5 + round);
        if (container == TUTTI_CONTAINER_NATIVE) test_repaired();
    }
    test_closed();
}

/* Infos survive when their trailers are removed: the oldest segments are dropped (except a topology, whose trailer
 * has older values), segments are archived, the newest segments are erased. */
static void lost_trailers(void) {
    check_where("dropped");
    test_created();
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    set_info(NULL, "a", "old");
    set_info(NULL, "b", "old");
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_resize(d, "nodes", 1, (tutti_count[]){7}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    set_info(NULL, "a", "new");
    set_info(NULL, "b", NULL);
    set_info(NULL, "c", "1");
    for (int i = 1; i < 7; i++) {
        if (i == 6) set_info(NULL, "d", "1"); /* drop_oldest writes this trailer again */
        write_state(i);
    }
    CHECK_SAME(tutti_dataset_drop_oldest(d, 2), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d), 4);
    for (int round = 0; round < 3; round++) {
        check_info(NULL, "a", "new");
        check_info(NULL, "b", NULL);
        check_info(NULL, "c", "1");
        check_info(NULL, "d", "1");
        if (round == 1) {
            write_state(7);
            CHECK_SAME(tutti_dataset_drop_oldest(d, 1), TUTTI_OK);
        }
        test_repaired();
    }
    test_closed();

    check_where("archived");
    test_created();
    set_info(NULL, "a", "1");
    for (int i = 0; i < 4; i++) write_state(i);
    set_info(NULL, "b", "1");
    write_state(4);
    write_state(5);
    CHECK_SAME(tutti_dataset_archive(d, 0, 4, place, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_restore(d, 0, 4, place), TUTTI_OK);
    CHECK_SAME(tutti_dataset_archive(d, 0, 4, place, NULL), TUTTI_OK);
    test_repaired(); /* archived segments are lost with the metadata, but infos are not */
    CHECK_EQ(tutti_dataset_segments(d), 1);
    check_info(NULL, "a", "1");
    check_info(NULL, "b", "1");
    test_closed();

    check_where("erased");
    test_created();
    write_state(0);
    write_state(1);
    set_info(NULL, "a", "1");
    write_state(2);
    write_state(3);
    CHECK_SAME(tutti_dataset_erase_after(d, 0), TUTTI_OK);
    check_info(NULL, "a", "1");
    write_state(2);
    test_repaired();
    check_info(NULL, "a", "1");
    test_closed();
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1279);
    snprintf(path, sizeof path, "%s/t1279.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1279.away", check_dir());
    for (container = 0; container < 2; container++) {
        bytes_and_text();
        test_changes();
    }
    container = 0;
    test_large();
    per_file = 2;
    test_changes();
    lost_trailers();
    dataset_remove(path);
    dataset_remove(place);
    return harness_end();
}
