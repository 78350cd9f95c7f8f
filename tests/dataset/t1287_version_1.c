/* TEST ranks=1,3 timeout=60 */
/* Files of format version 1, written before version 2 existed (tests/dataset/golden_v1): an archive is restored from
 * a directory and from a stream; native and netCDF datasets are read without being changed, appended to and repaired.
 * Unknown versions are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"

enum { CELLS = 6 };
#define GOLDEN TUTTI_SOURCE_DIR "/tests/dataset/golden_v1"
static char path[512], place[512];
static tutti_dataset *d;

static double heat(int64_t index, tutti_count i) {
    return 0.25 * (double)i + (double)index;
}

static void file_copy(const char *from, const char *to) {
    char buf[65536];
    const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const ssize_t n = read(in, buf, sizeof buf);
    CHECK(in >= 0 && out >= 0 && n > 0 && write(out, buf, (size_t)n) == n, "%s", from);
    close(in);
    close(out);
}

static void run_sql(const char *text) {
    char name[600];
    sqlite3 *db = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(name, sizeof name, "%s/metadata.sqlite", path);
        CHECK(sqlite3_open(name, &db) == SQLITE_OK &&
                  sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK,
              "%s", sqlite3_errmsg(db));
        sqlite3_close(db);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t version_now(void) {
    char name[600];
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    CHECK(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_step(s) == SQLITE_ROW,
          "%s", name);
    const int64_t version = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    MPI_Barrier(MPI_COMM_WORLD);
    return version;
}

static void install_file(const char *which, const char *data) {
    char from[700], to[700];
    static char text[65536];
    dataset_remove(path);
    dataset_remove(place);
    if (rank == 0) {
        CHECK(mkdir(path, 0777) == 0 && mkdir(place, 0777) == 0, "%s", path);
        snprintf(from, sizeof from, GOLDEN "/%s/%s", which, data);
        snprintf(to, sizeof to, "%s/%s", path, data);
        file_copy(from, to);
        for (int i = 1; i <= 2; i++) {
            snprintf(from, sizeof from, GOLDEN "/away/segment-00000%d.tutti", i);
            snprintf(to, sizeof to, "%s/segment-00000%d.tutti", place, i);
            file_copy(from, to);
        }
        snprintf(from, sizeof from, GOLDEN "/%s/metadata.sql", which);
        FILE *f = fopen(from, "r");
        memset(text, 0, sizeof text);
        CHECK(f && fread(text, 1, sizeof text - 1, f) > 0, "%s", from);
        if (f) fclose(f);
    }
    run_sql(text);
}

static void open_file(int mode, tutti_err expect) {
    const tutti_dataset_options opt = visible();
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), expect);
}

static tutti_decomposition *decompose_cells(tutti_count *lo, tutti_count *hi) {
    tutti_decomposition *p = NULL;
    tutti_count index[CELLS];
    *lo = CELLS * rank / ranks;
    *hi = CELLS * (rank + 1) / ranks;
    for (tutti_count i = *lo; i < *hi; i++) index[i - *lo] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = *hi - *lo, .index = index};
    CHECK_SAME(tutti_decomposition_create(d, "grid", &spec, &p), TUTTI_OK);
    return p;
}

static void check_info(const char *name, const char *bytes, tutti_count n) {
    char got[32] = "";
    tutti_type type;
    tutti_count is = sizeof got;
    CHECK_SAME(tutti_dataset_info_get(d, NULL, name, &type, &is, got),
               bytes ? TUTTI_OK : TUTTI_ERR_NOT_FOUND);
    CHECK(!bytes || (is == n && memcmp(got, bytes, (size_t)n) == 0), "info %s", name);
}

/* Check the states with time indices `first` to `last`, and the infos; `late`: whether the info that was set
 * after the last commit exists. */
static void check_values(int64_t first, int64_t last, int late) {
    tutti_count lo, hi;
    tutti_decomposition *p = decompose_cells(&lo, &hi);
    double v[CELLS];
    CHECK_EQ(tutti_dataset_segments(d), last - first + 1);
    for (int64_t i = first; i <= last; i++) {
        tutti_count n = 1;
        tutti_type type;
        int64_t number = -1;
        CHECK_SAME(tutti_dataset_get(d, i - first, 1, &(tutti_get){"heat", p, TUTTI_FLOAT64, v}),
                   TUTTI_OK);
        for (tutti_count k = lo; k < hi; k++) CHECK(v[k - lo] == heat(i, k), "%g", v[k - lo]);
        if (i > 2) continue;
        CHECK_SAME(tutti_dataset_info_get(d, &(tutti_info_owner){NULL, i - first}, "n", &type, &n,
                                          &number),
                   TUTTI_OK);
        CHECK_EQ(number, i);
    }
    check_info("title", "a tiny archive", 14);
    check_info("raw", "\xff\0a\x80", 4);
    check_info("late", late ? "late" : NULL, 4);
    if (late) check_info("gone", NULL, 0);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void append_values(int64_t index) {
    tutti_count lo, hi;
    tutti_decomposition *p = decompose_cells(&lo, &hi);
    double v[CELLS];
    for (tutti_count k = lo; k < hi; k++) v[k - lo] = heat(index, k);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"heat", p, TUTTI_FLOAT64, v}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void test_repaired(void) {
    char name[600];
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (rank == 0) CHECK(unlink(name) == 0, "%s", name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_OK);
    open_file(TUTTI_READ | TUTTI_WRITE, TUTTI_OK);
}

/* ---- a stream that contains both archive files */

static char *tape;
static size_t tape_n, tape_at;

static int tape_read(void *context, void *bytes, size_t n, size_t *got) {
    (void)context;
    *got = n < tape_n - tape_at ? n : tape_n - tape_at;
    memcpy(bytes, tape + tape_at, *got);
    tape_at += *got;
    return 0;
}

static void tape_make(void) {
    char command[1200], name[600];
    struct stat st;
    if (rank != 0) return;
    snprintf(name, sizeof name, "%s/both.tar", place);
    snprintf(command, sizeof command,
             "tar --format=ustar -C '%s' -cf '%s' segment-000001.tutti segment-000002.tutti", place,
             name);
    CHECK(system(command) == 0 && stat(name, &st) == 0, "%s", command);
    tape = malloc((size_t)st.st_size);
    FILE *f = fopen(name, "rb");
    tape_n = f ? fread(tape, 1, (size_t)st.st_size, f) : 0;
    if (f) fclose(f);
    tape_at = 0;
}

static void test_archived(void) {
    check_where("archive");
    const tutti_stream in = {.read = tape_read};
    for (int by_stream = 0; by_stream < 2; by_stream++) {
        install_file("archive", "data-000001.tutti");
        open_file(TUTTI_READ, TUTTI_OK);
        CHECK_EQ(tutti_dataset_segments(d), 3);
        check_info("raw", "\xff\0a\x80", 4);
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
        CHECK_EQ(version_now(), 1); /* readers do not change the version */
        open_file(TUTTI_READ | TUTTI_WRITE, TUTTI_OK);
        CHECK_EQ(version_now(), 2);
        if (by_stream) {
            tape_make();
            CHECK_SAME(tutti_dataset_restore_stream(d, 0, 2, rank ? NULL : &in), TUTTI_OK);
            free(tape);
            tape = NULL;
        } else {
            CHECK_SAME(tutti_dataset_restore(d, 0, 2, place), TUTTI_OK);
        }
        check_values(0, 2, 1);
        append_values(3);
        check_values(0, 3, 1);
        test_repaired();
        check_values(0, 3, 1);
        CHECK_SAME(tutti_dataset_archive(d, 0, 1, place, NULL), TUTTI_OK);
        CHECK_SAME(tutti_dataset_restore(d, 0, 3, place), TUTTI_OK);
        check_values(0, 3, 1);
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    }
}

/* Repair from the version-1 trailer of one segment, which does not contain the info that was set later. */
static void repaired_first(void) {
    check_where("repair");
    install_file("archive", "data-000001.tutti");
    open_file(TUTTI_READ, TUTTI_OK);
    test_repaired();
    check_values(2, 2, 0);
    check_info("gone", "gone", 4);
    append_values(3);
    check_values(2, 3, 0);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_netcdf(void) {
    check_where("netCDF");
    install_file("netcdf", "data-000001.nc");
    open_file(TUTTI_READ, TUTTI_OK);
    check_values(0, 2, 1);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    CHECK_EQ(version_now(), 1);
    open_file(TUTTI_READ | TUTTI_WRITE, TUTTI_OK);
    append_values(3);
    check_values(0, 3, 1);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    CHECK_EQ(version_now(), 2);
    open_file(TUTTI_READ, TUTTI_OK);
    check_values(0, 3, 1);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void test_unknown(void) {
    check_where("unknown versions");
    install_file("archive", "data-000001.tutti");
    for (int version = 0; version < 5; version += 3) {
        char text[64];
        snprintf(text, sizeof text, "PRAGMA user_version=%d", version);
        run_sql(text);
        open_file(TUTTI_READ, TUTTI_ERR_FORMAT);
        CHECK(strstr(tutti_last_message(), "supports 1 to 2"), "%s", tutti_last_message());
        open_file(TUTTI_READ | TUTTI_WRITE, TUTTI_ERR_FORMAT);
        CHECK_EQ(version_now(), version);
    }
    /* data files of an unknown version are not treated as damaged, and repair does not change them */
    char data[600];
    unsigned char three = 3;
    snprintf(data, sizeof data, "%s/data-000001.tutti", path);
    if (rank == 0) {
        const int fd = open(data, O_RDWR);
        const off_t end = lseek(fd, 0, SEEK_END);
        CHECK(pwrite(fd, &three, 1, end - 56) == 1, "%s", data);
        close(fd);
    }
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_ERR_FORMAT);
    CHECK_EQ(version_now(), 3);
    /* the file of an archived segment has an unknown version */
    run_sql("PRAGMA user_version=1");
    char name[600];
    snprintf(name, sizeof name, "%s/segment-000001.tutti", place);
    if (rank == 0) {
        const int fd = open(name, O_WRONLY);
        CHECK(pwrite(fd, "\3", 1, 8) == 1, "%s", name);
        close(fd);
    }
    open_file(TUTTI_READ | TUTTI_WRITE, TUTTI_OK);
    CHECK_SAME(tutti_dataset_restore(d, 0, 0, place), TUTTI_ERR_FORMAT);
    CHECK(strstr(tutti_last_message(), "format version 3"), "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1287);
    snprintf(path, sizeof path, "%s/t1287.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1287.away", check_dir());
    test_archived();
    repaired_first();
    test_netcdf();
    test_unknown();
    dataset_remove(path);
    dataset_remove(place);
    return harness_end();
}
