/* TEST ranks=1 timeout=60 */
/* Stored datasets of every version of the format: tests/dataset/golden (version 1) and golden_v2, with
 * metadata as SQL text.  They are read, repaired from the data file alone, and appended to.  Writing the same data
 * again produces the same data file as the newest version byte for byte, and the same metadata except for the
 * random id of the dataset.
 *
 * TUTTI_GOLDEN_WRITE=DIRECTORY writes new golden files; this is only needed for a new version of the format.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 5, HIGH = 2, WIDE = 3, CELLS = HIGH * WIDE };
static char path[512];
static const int64_t ids[NODES] = {40, 10, 30, 20, 50};
static const char title[] = "a tiny dataset";

static double heat(int64_t index, tutti_count i) {
    /* -1.5 is the fill value of entries that are not written */
    return index == 1 && i >= 4 ? -1.5 : 0.25 * (double)i + (double)index;
}
static float flow(int64_t index, tutti_count i) {
    return (float)(100 * index + i) / 8;
}
static int32_t count(tutti_count i) {
    return (int32_t)(1000 - 7 * i);
}

/* ---- writing */

static tutti_decomposition *some_of(tutti_dataset *d, const char *space, tutti_count n) {
    static const tutti_count positions[] = {0, 1, 2, 3, 4, 5};
    tutti_decomposition *p = NULL;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = n, .index = positions};
    CHECK_OK(tutti_decomposition_create(d, space, &spec, &p));
    return p;
}

static void describe_case(tutti_dataset *d) {
    const tutti_variable_spec t = {.space = "grid",
                                   .type = TUTTI_FLOAT64,
                                   .order = TUTTI_LITTLE_ENDIAN,
                                   .units = "K",
                                   .long_name = "temperature",
                                   .fill = -1.5};
    const tutti_variable_spec v = {.space = "grid",
                                   .item = TUTTI_VECTOR,
                                   .components = 2,
                                   .type = TUTTI_FLOAT32,
                                   .order = TUTTI_BIG_ENDIAN};
    const tutti_variable_spec n = {.space = "nodes",
                                   .type = TUTTI_INT32,
                                   .order = TUTTI_LITTLE_ENDIAN,
                                   .layout = TUTTI_RANKED};
    CHECK_OK(tutti_dataset_grid(d, "grid", 2, (tutti_count[]){HIGH, WIDE}));
    CHECK_OK(tutti_dataset_list(d, "nodes"));
    CHECK_OK(tutti_dataset_variable(d, "heat", &t));
    CHECK_OK(tutti_dataset_variable(d, "flow", &v));
    CHECK_OK(tutti_dataset_variable(d, "count", &n));
}

static void write_state(tutti_dataset *d, int64_t index) {
    double t[CELLS];
    float v[2 * CELLS];
    int32_t n[NODES];
    const double dt[3] = {0.5, 0.25, 0.125};
    for (tutti_count i = 0; i < CELLS; i++) t[i] = heat(index, i);
    for (tutti_count i = 0; i < 2 * CELLS; i++) v[i] = flow(index, i);
    for (tutti_count i = 0; i < NODES; i++) n[i] = count(i);
    tutti_decomposition *some = some_of(d, "grid", index == 1 ? 4 : CELLS),
                        *all = some_of(d, "grid", CELLS), *nodes = some_of(d, "nodes", NODES);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, index, 0.5 * (double)index));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"heat", some, TUTTI_FLOAT64, t}));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"flow", all, TUTTI_FLOAT32, v}));
    if (index == 0) CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"count", nodes, TUTTI_INT32, n}));
    const tutti_info_owner now = {NULL, tutti_dataset_segments(d)};
    CHECK_OK(tutti_dataset_info_set(d, &now, "dt", TUTTI_FLOAT64, 3, dt));
    CHECK_OK(tutti_dataset_commit(d));
    tutti_decomposition_free(&some);
    tutti_decomposition_free(&all);
    tutti_decomposition_free(&nodes);
}

static void write_all(void) {
    tutti_dataset *d = NULL;
    const tutti_dataset_options opt = visible();
    const int64_t seven = 7;
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                                &d));
    describe_case(d);
    CHECK_OK(
        tutti_dataset_info_set(d, NULL, "title", TUTTI_BYTES, (tutti_count)strlen(title), title));
    CHECK_OK(tutti_dataset_info_set(d, &(tutti_info_owner){"heat", -1}, "seven", TUTTI_INT64, 1,
                                    &seven));
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0));
    CHECK_OK(tutti_dataset_ids(d, "nodes", NODES, ids));
    CHECK_OK(tutti_dataset_commit(d));
    write_state(d, 0);
    write_state(d, 1);
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- reading */

static void read_all(int states) {
    tutti_dataset *d = NULL;
    const tutti_dataset_options opt = visible();
    char text[40] = "";
    tutti_type type;
    tutti_count n = sizeof text;
    tutti_segment g;
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &d));
    CHECK_OK(tutti_dataset_verify(d, NULL));
    CHECK_EQ(tutti_dataset_segments(d), 1 + states);
    CHECK_OK(tutti_dataset_info_get(d, NULL, "title", &type, &n, text));
    CHECK(type == TUTTI_BYTES && strcmp(text, title) == 0, "%s", text);
    int64_t seven = 0;
    n = 1;
    CHECK_OK(
        tutti_dataset_info_get(d, &(tutti_info_owner){"heat", -1}, "seven", &type, &n, &seven));
    CHECK_EQ(seven, 7);
    tutti_decomposition *all = some_of(d, "grid", CELLS);
    const tutti_decomposition_spec by = {.kind = TUTTI_BY_VALUE, .n = NODES, .ids = ids};
    tutti_decomposition *nodes = NULL;
    CHECK_OK(tutti_decomposition_create(d, "nodes", &by, &nodes));
    for (tutti_count s = 1; s <= states; s++) {
        double t[CELLS], v[2 * CELLS], dt[3] = {0};
        int64_t c[NODES];
        CHECK_OK(tutti_dataset_segment(d, s, &g));
        CHECK(g.kind == TUTTI_STATE && g.index == s - 1 && g.time == 0.5 * (double)(s - 1),
              "segment %d", (int)s);
        CHECK_OK(tutti_dataset_get(d, s, 1, &(tutti_get){"heat", all, TUTTI_FLOAT64, t}));
        CHECK_OK(tutti_dataset_get(d, s, 1, &(tutti_get){"flow", all, TUTTI_FLOAT64, v}));
        for (tutti_count i = 0; i < CELLS; i++) CHECK(t[i] == heat(s - 1, i), "heat %g", t[i]);
        for (tutti_count i = 0; i < 2 * CELLS; i++)
            CHECK(v[i] == (double)flow(s - 1, i), "flow %g", v[i]);
        const tutti_get counts = {"count", nodes, TUTTI_INT64, c};
        if (s == 1)
            CHECK_OK(tutti_dataset_get(d, s, 1, &counts));
        else
            CHECK_ERR(tutti_dataset_get(d, s, 1, &counts), TUTTI_ERR_NOT_FOUND);
        for (tutti_count i = 0; i < NODES && s == 1; i++) CHECK_EQ(c[i], count(i));
        n = 3;
        CHECK_OK(tutti_dataset_info_get(d, &(tutti_info_owner){NULL, s}, "dt", &type, &n, dt));
        CHECK(type == TUTTI_FLOAT64 && n == 3 && dt[2] == 0.125, "dt");
    }
    tutti_decomposition_free(&all);
    tutti_decomposition_free(&nodes);
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- metadata as SQL */

static char *sql_of(const char *name) {
    static const char *const queries[] = {
        "SELECT 'PRAGMA application_id=' || application_id || ';' FROM pragma_application_id",
        "SELECT 'PRAGMA user_version=' || user_version || ';' FROM pragma_user_version",
        "SELECT sql || ';' FROM sqlite_schema WHERE sql NOT NULL ORDER BY name"};
    static const char *const tables[] = {"dataset", "files",    "spaces", "variables", "segments",
                                         "sizes",   "sections", "infos",  "removed",   "archived"};
    sqlite3 *db = NULL;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    sqlite3_stmt *s = NULL;
    CHECK(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "%s", name);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        CHECK(sqlite3_prepare_v2(db, queries[q], -1, &s, NULL) == SQLITE_OK, "%s",
              sqlite3_errmsg(db));
        while (sqlite3_step(s) == SQLITE_ROW) fprintf(f, "%s\n", sqlite3_column_text(s, 0));
        sqlite3_finalize(s);
    }
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        char query[100];
        snprintf(query, sizeof query, "SELECT * FROM %s ORDER BY 1, 2%s", tables[t],
                 t ? ", 3" : "");
        CHECK(sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
        while (sqlite3_step(s) == SQLITE_ROW) {
            fprintf(f, "INSERT INTO %s VALUES(", tables[t]);
            const int is_id =
                t == 0 && strncmp((const char *)sqlite3_column_text(s, 0), "id_", 3) == 0;
            for (int i = 0; i < sqlite3_column_count(s); i++) {
                const unsigned char *blob = sqlite3_column_blob(s, i);
                if (i) fputs(",", f);
                if (is_id && i == 1)
                    fputs("0", f);
                else if (sqlite3_column_type(s, i) == SQLITE_NULL)
                    fputs("NULL", f);
                else if (sqlite3_column_type(s, i) == SQLITE_TEXT)
                    fprintf(f, "'%s'", (const char *)blob);
                else if (sqlite3_column_type(s, i) == SQLITE_BLOB) {
                    fputs("x'", f);
                    for (int j = 0; j < sqlite3_column_bytes(s, i); j++)
                        fprintf(f, "%02x", blob[j]);
                    fputs("'", f);
                } else
                    fprintf(f, "%s", sqlite3_column_text(s, i));
            }
            fputs(");\n", f);
        }
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
    fclose(f);
    return text;
}

/* ---- files */

static char *contents(const char *name, size_t *n_out) {
    char *text = NULL;
    size_t n = 0;
    FILE *in = fopen(name, "rb"), *out = open_memstream(&text, &n);
    CHECK(in != NULL, "%s", name);
    for (int c; in && (c = getc(in)) != EOF;) putc(c, out);
    if (in) fclose(in);
    fclose(out);
    *n_out = n;
    return text;
}

static void save_file(const char *name, const char *bytes, size_t n) {
    FILE *f = fopen(name, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "%s", name);
}

static void golden_name(const char *golden, const char *name, char out[700]) {
    snprintf(out, 700, TUTTI_SOURCE_DIR "/tests/dataset/%s/%s", golden, name);
}

static void place_name(const char *name, char out[700]) {
    snprintf(out, 700, "%s/%s", path, name);
}

/* Check that the library still writes the same files as when the golden files were created. */
static void write_same(const char *golden) {
    char name[700];
    const char *to = getenv("TUTTI_GOLDEN_WRITE");
    size_t n = 0, m = 0;
    dataset_remove(path);
    write_all();
    read_all(2);
    place_name("metadata.sqlite", name);
    char *sql = sql_of(name);
    place_name("data-000001.tutti", name);
    char *data = contents(name, &n);
    if (to) {
        snprintf(name, sizeof name, "%s/metadata.sql", to);
        save_file(name, sql, strlen(sql));
        snprintf(name, sizeof name, "%s/data-000001.tutti", to);
        save_file(name, data, n);
    }
    golden_name(golden, "data-000001.tutti", name);
    char *stored = contents(name, &m);
    CHECK(n == m && memcmp(data, stored, n) == 0, "the data file is another one");
    free(stored);
    golden_name(golden, "metadata.sql", name);
    stored = contents(name, &m);
    CHECK(m == strlen(sql) && memcmp(sql, stored, m) == 0, "the metadata are others:\n%s", sql);
    free(stored);
    free(data);
    free(sql);
    dataset_remove(path);
}

static void install_file(const char *golden) {
    char name[700];
    size_t n = 0, m = 0;
    sqlite3 *db = NULL;
    dataset_remove(path);
    CHECK(mkdir(path, 0777) == 0, "%s", path);
    golden_name(golden, "data-000001.tutti", name);
    char *data = contents(name, &n);
    place_name("data-000001.tutti", name);
    save_file(name, data, n);
    golden_name(golden, "metadata.sql", name);
    char *sql = contents(name, &m);
    place_name("metadata.sqlite", name);
    CHECK(sqlite3_open(name, &db) == SQLITE_OK &&
              sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    free(data);
    free(sql);
}

static void from_data_file(int states) {
    char name[700];
    place_name("metadata.sqlite", name);
    CHECK(unlink(name) == 0, "%s", name);
    CHECK_OK(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL));
    read_all(states);
}

static void append_values(int64_t index) {
    tutti_dataset *d = NULL;
    const tutti_dataset_options opt = visible();
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &d));
    write_state(d, index);
    CHECK_OK(tutti_dataset_close(&d));
}

int main(int argc, char **argv) {
    static const char *const GOLDEN[] = {"golden", "golden_v2"};
    harness_begin(&argc, &argv, 1273);
    snprintf(path, sizeof path, "%s/t1273.tutti", check_dir());
    write_same("golden_v2");
    for (int i = 0; i < 2; i++) {
        check_where(GOLDEN[i]);
        install_file(GOLDEN[i]);
        read_all(2);
        append_values(2);
        read_all(3);
        from_data_file(3);
        append_values(3);
        read_all(4);
        from_data_file(4);
        install_file(GOLDEN[i]);
        from_data_file(2);
    }
    dataset_remove(path);
    return harness_end();
}
