/* powercut_dataset write DIRECTORY durable|visible   creates the dataset DIRECTORY/d.tutti, makes every
 * change that a writer can make, including an archive in DIRECTORY/archive and a repair, and
 * reports the state of the dataset after each change to powercut_record.so.
 *
 * powercut_dataset replay LOG DIRECTORY EVERY SEED all|each|none   replays the log with power cuts
 * (powercut_disk.h).  After each cut the dataset can be opened, is in the state before or after the cut,
 * has all values including archived values, and can be written.
 *
 * TEST_CONTAINER=netcdf: data files are netCDF.  TEST_VALIDATOR: check them with ncvalidator.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "powercut_disk.h"

#include <dlfcn.h>
#include "powercut_steps.h"

/* States are texts of powercut_state().  Prefix "damage ": the metadata may be damaged, and a repair
 * restores this state.  Prefix "repair ": like "damage ", and the damaged metadata must not be lost.  Suffixes
 * "#name=records": number of records of each netCDF file.  "?" is any state. */
static const char *const EMPTY = "| -1", *const DAMAGE = "damage ", *const REPAIR = "repair ";

static int is_netcdf(void) {
    return powercut_container() == TUTTI_CONTAINER_NETCDF;
}

/* Return the number of records (< 256) in the header of a netCDF file (CDF-5), or -1 if the file has no
 * valid header. */
static int netcdf_records(const char *name) {
    unsigned char head[12] = "";
    const int fd = open(name, O_RDONLY);
    const int is_right = fd >= 0 && pread(fd, head, 12, 0) == 12 && memcmp(head, "CDF\5", 4) == 0;
    if (fd >= 0) close(fd);
    return is_right ? head[11] : -1;
}

static void records_text(const char *dir, char *to, size_t size) {
    char name[1000];
    size_t n = strlen(to);
    DIR *list = opendir(dir);
    for (struct dirent *e; list && (e = readdir(list));) {
        if (!strstr(e->d_name, ".nc")) continue;
        snprintf(name, sizeof name, "%.700s/%.255s", dir, e->d_name);
        n += (size_t)snprintf(to + n, size - n, "#%s=%d", e->d_name, netcdf_records(name));
    }
    if (list) closedir(list);
}

/* ---- write */

static tutti_dataset *dataset;
static void (*mark)(const char *);
static char path[700], archive[700];
static tutti_dataset_options opt;

static void check_expected(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "%s: %s\n", what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Record that readers must find `state` from now on. */
static void report_result(const char *state) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && mark) mark(state);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void report_state(void) {
    char state[2000];
    if (!powercut_state(dataset, state, sizeof state)) check_expected(TUTTI_ERR_STATE, "state");
    records_text(path, state, sizeof state);
    report_result(state);
}

static void open_dataset(int more, int per_file) {
    opt.indices_per_file = per_file;
    check_expected(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | more, &opt, &dataset),
        "open");
    powercut_describe(dataset);
}

static void open_again(int more, int per_file) {
    check_expected(tutti_dataset_close(&dataset), "close");
    open_dataset(more, per_file);
    report_state();
}

static void put_values(int64_t index, double time) {
    check_expected(powercut_put(dataset, index, time), "put");
    report_state();
}

/* Write two segments in one commit; with one index per file, they are in two files. */
static void put_two(int64_t index, double time) {
    check_expected(tutti_dataset_begin(dataset, TUTTI_STATE, index, time), "begin");
    check_expected(powercut_put_values(dataset, time), "put");
    check_expected(tutti_dataset_begin_also(dataset, TUTTI_STATE, index + 1, time + 1),
                   "begin_also");
    check_expected(powercut_put_values(dataset, time + 1), "put");
    check_expected(tutti_dataset_commit(dataset), "commit");
    report_state();
}

static void set_number(int64_t n) {
    check_expected(tutti_dataset_info_set(dataset, NULL, "number", TUTTI_INT64, 1, &n), "info");
    report_state();
}

/* Damage the metadata and repair the dataset from the copies of the metadata in the data files. */
static void repair_dataset(void) {
    char state[2200], meta[800];
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    strcpy(state, DAMAGE);
    if (!powercut_state(dataset, state + strlen(DAMAGE), 2000))
        check_expected(TUTTI_ERR_STATE, "state");
    check_expected(tutti_dataset_close(&dataset), "close");
    report_result(state);
    snprintf(meta, sizeof meta, "%s/metadata.sqlite", path);
    const int fd = rank == 0 ? open(meta, O_WRONLY) : -1;
    if (rank == 0 &&
        (fd < 0 || pwrite(fd, meta, 100, 0) != 100 || fsync(fd) != 0 || close(fd) != 0))
        abort();
    memcpy(state, REPAIR, strlen(REPAIR));
    report_result(state);
    check_expected(tutti_dataset_repair(MPI_COMM_WORLD, path, &opt, NULL), "repair");
    report_result(state + strlen(REPAIR));
    open_dataset(0, opt.indices_per_file);
    report_state();
}

/* Write a segment without syncs, then one with syncs: the second commit makes all data durable. */
static void write_visible_first(int level) {
    report_result("?");
    opt.level = TUTTI_VISIBLE;
    open_dataset(TUTTI_CREATE, 0);
    check_expected(powercut_put(dataset, 0, 0), "put");
    check_expected(tutti_dataset_close(&dataset), "close");
    opt.level = level;
    open_dataset(0, 0);
    put_values(1, 1);
}

/* Replace the files in the archive by copies that were never synced, as if a program had been killed before
 * its sync: the next archive call must sync them. */
static void replace_copies_unsynced(void) {
    static char bytes[1 << 20];
    char from[900], to[1000];
    DIR *list = opendir(archive);
    for (struct dirent *e; list && (e = readdir(list));) {
        if (e->d_name[0] == '.') continue;
        snprintf(from, sizeof from, "%.600s/%.255s", archive, e->d_name);
        snprintf(to, sizeof to, "%s.copy", from);
        const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0666);
        const ssize_t n = read(in, bytes, sizeof bytes);
        if (n <= 0 || write(out, bytes, (size_t)n) != n || rename(to, from) != 0) abort();
        close(in);
        close(out);
    }
    if (list) closedir(list);
}

static void archive_and_restore(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int again = 0; again < 2; again++) {
        check_expected(tutti_dataset_archive(dataset, 0, 1, archive, NULL), "archive");
        report_state();
        check_expected(tutti_dataset_restore(dataset, 0, 1, archive), "restore");
        report_state();
        if (rank == 0 && !again) replace_copies_unsynced();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void write_everything(int level) {
    write_visible_first(level);
    if (!is_netcdf()) set_number(1); /* netCDF files have no copies of infos: a repair loses them */
    put_values(2, 2);
    if (!is_netcdf()) archive_and_restore(); /* makes a hole in a data file that is kept */
    /* this segment is discarded */
    check_expected(tutti_dataset_begin(dataset, TUTTI_STATE, 3, 3), "begin");
    check_expected(tutti_dataset_discard(dataset), "discard");
    report_state();
    open_again(0, 2); /* files have two indices from now on */
    put_values(4, 4);
    put_values(5, 5);
    if (!is_netcdf()) set_number(2);
    put_values(6, 6);
    repair_dataset();
    set_number(3);
    check_expected(tutti_dataset_erase_after(dataset, 3), "erase");
    report_state();
    put_values(5, 5.5);
    put_values(6, 6.5);
    put_values(8, 8);
    check_expected(tutti_dataset_drop_oldest(dataset, 2), "drop");
    report_state();
    open_again(0, 1);
    put_two(9, 9);
    if (!is_netcdf()) { /* archive the only segment of a file: the file is removed, then restored */
        const tutti_count last = tutti_dataset_segments(dataset) - 1;
        check_expected(tutti_dataset_archive(dataset, last, last, archive, NULL), "archive");
        report_state();
        put_values(11, 11); /* syncs the directory */
        check_expected(tutti_dataset_restore(dataset, last, last, archive), "restore");
        report_state();
    }
    put_values(12, 12);
    check_expected(tutti_dataset_erase_after(dataset, -1), "erase all");
    report_state();
    put_values(0, 0.25);
    open_again(TUTTI_CREATE | TUTTI_TRUNCATE, 0);
    put_values(3, 3.25);
    put_values(4, 4.25);
    check_expected(tutti_dataset_close(&dataset), "close");
}

/* ---- replay */

static char why[700];

static const char *set_error(const char *what) {
    snprintf(why, sizeof why, "%s: %.600s", what, tutti_last_message());
    return why;
}

static const char *values_check(tutti_dataset *d) {
    static double buf[POWERCUT_N];
    tutti_count lo, n;
    const char *wrong = NULL;
    if (tutti_dataset_verify(d, NULL)) return set_error("verify");
    if (tutti_dataset_segments(d) == 0) return NULL;
    tutti_decomposition *p = powercut_local_block(d, &lo, &n);
    for (tutti_count s = 0; s < tutti_dataset_segments(d) && !wrong; s++) {
        tutti_segment g;
        if (tutti_dataset_segment(d, s, &g)) wrong = set_error("segment");
        for (int k = 0; k < 2 && !wrong; k++) {
            const tutti_get get = {k ? "w" : "u", p, TUTTI_FLOAT64, buf};
            if (tutti_dataset_get(d, s, 1, &get)) wrong = set_error("get");
            for (tutti_count i = 0; i < n && !wrong; i++)
                if (buf[i] != powercut_value(g.time, lo + i)) wrong = set_error("wrong value");
        }
    }
    tutti_decomposition_free(&p);
    return wrong;
}

/* Return whether each netCDF file has the number of records of state `was` or of state `will`. */
static int records_right(const char *was, const char *will) {
    char name[100], path_of[900];
    int expected, n;
    for (was = strchr(was, '#'); was && sscanf(was, "#%99[^=]=%d%n", name, &expected, &n) == 2;
         was += n) {
        snprintf(path_of, sizeof path_of, "%s/%s", path, name);
        const int is = netcdf_records(path_of);
        char *later = strstr((char *)(uintptr_t)will, name);
        if (is != expected && later && is != atoi(later + strlen(name) + 1)) return 0;
    }
    return 1;
}

static int same_state(const char *state, const char *expected) {
    const size_t n = strcspn(expected, "#");
    return strlen(state) == n && strncmp(state, expected, n) == 0;
}

static const char *dataset_check(tutti_dataset *d, const char *was, const char *will) {
    char state[2000];
    const char *wrong = NULL;
    if (!powercut_state(d, state, sizeof state)) return set_error("state");
    if (!same_state(state, was) && !same_state(state, will)) {
        snprintf(why, sizeof why, "the state is '%.180s', not '%.180s' or '%.180s'", state, was,
                 will);
        return why;
    }
    if (!powercut_valid(path)) return set_error("ncvalidator");
    if (strchr(state, '@') && tutti_dataset_restore(d, 0, tutti_dataset_segments(d) - 1, archive))
        return set_error("restore");
    wrong = values_check(d);
    if (wrong) return wrong;
    powercut_describe(d);
    if (powercut_put(d, 1000, 7)) return set_error("write after the cut");
    return tutti_dataset_verify(d, NULL) ? set_error("verify after the cut") : NULL;
}

/* Return whether the damaged metadata still exist, possibly under another name. */
static int damaged_are_kept(void) {
    char name[900], head[16] = "";
    struct stat st;
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    const int fd = open(name, O_RDONLY);
    const int is_old =
        fd >= 0 && pread(fd, head, 15, 0) == 15 && strcmp(head, "SQLite format 3") != 0;
    if (fd >= 0) close(fd);
    snprintf(name, sizeof name, "%s/metadata.sqlite.damaged", path);
    return is_old || stat(name, &st) == 0;
}

static const char *check_after_cut(const char *where, const char *was, const char *will) {
    tutti_dataset *d = NULL;
    struct stat st;
    const int is_damaged = strncmp(was, DAMAGE, strlen(DAMAGE)) == 0,
              is_repaired = strncmp(was, REPAIR, strlen(REPAIR)) == 0;
    snprintf(path, sizeof path, "%s/d.tutti", where);
    snprintf(archive, sizeof archive, "%s/archive", where);
    if (strcmp(was, "?") == 0) return NULL;
    if (!same_state(EMPTY, was) && stat(path, &st) != 0) return set_error("the dataset is missing");
    if (is_damaged || is_repaired) was += strlen(DAMAGE);
    if (strncmp(will, DAMAGE, strlen(DAMAGE)) == 0 || strncmp(will, REPAIR, strlen(REPAIR)) == 0)
        will += strlen(DAMAGE);
    if (is_repaired && !damaged_are_kept()) return set_error("the damaged metadata are lost");
    if ((is_damaged || is_repaired) && tutti_dataset_repair(MPI_COMM_WORLD, path, &opt, NULL))
        return set_error("repair");
    if (!records_right(was, will)) return set_error("number of records");
    const int mode = TUTTI_READ | TUTTI_WRITE | (same_state(EMPTY, was) ? TUTTI_CREATE : 0);
    if (tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d)) return set_error("open");
    const char *wrong = dataset_check(d, was, will);
    if (tutti_dataset_close(&d) && !wrong) wrong = set_error("close");
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = 0;
    tutti_dataset_options_init(&opt);
    opt.container = powercut_container();
    if (strcmp(argv[1], "replay") == 0) {
        opt.level = TUTTI_VISIBLE;
        code = powercut_replay(argv + 2, EMPTY, check_after_cut);
    } else {
        mark = (void (*)(const char *))dlsym(RTLD_DEFAULT, "powercut_mark");
        snprintf(path, sizeof path, "%s/d.tutti", argv[2]);
        snprintf(archive, sizeof archive, "%s/archive", argv[2]);
        write_everything(strcmp(argv[3], "durable") == 0 ? TUTTI_DURABLE : TUTTI_VISIBLE);
    }
    fflush(NULL);
    MPI_Finalize();
    return code;
}
