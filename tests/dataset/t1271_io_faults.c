/* TEST ranks=1,3 timeout=120 own=1 */
/* I/O errors: each write, sync and open fails once; the database cannot grow; the disk is full or read-only; the
 * database is locked by another program; data files are replaced by links; segments are erased.  All ranks get the
 * same error, the dataset is unchanged, and the same handle or the next writer continues.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/powercut_steps.h"
#include "small_disk.h"

#define RW (TUTTI_READ | TUTTI_WRITE)
static char path[512];

static tutti_dataset *open_file(const char *where, int mode, const char *io) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    const tutti_options file = options_of(io);
    opt.io = &file;
    opt.lock_timeout = 0.1;
    opt.level = TUTTI_DURABLE; /* syncs are among the calls that fail */
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, where, mode, &opt, &d), TUTTI_OK);
    if (d && (mode & TUTTI_WRITE)) powercut_describe(d);
    return d;
}

static void state_is(tutti_dataset *d, const char *want) {
    char state[500];
    CHECK(powercut_state(d, state, sizeof state), "%s", tutti_last_message());
    CHECK(strcmp(state, want) == 0, "it is '%s', not '%s'", state, want);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
}

/* ---- data files: the n-th call of a kind fails, and all later ones */

/* Let the n-th call of this kind and all later calls fail on some ranks; return whether a call failed. */
static int fault(const char *kind, int on, int n) {
    const int opens = strcmp(kind, "open") == 0;
    char io[100];
    dataset_remove(path);
    tutti_dataset *d = open_file(path, RW | TUTTI_CREATE, "method=two-phase");
    CHECK_OK(powercut_put(d, 0, 0));
    CHECK_OK(tutti_dataset_close(&d));
    snprintf(io, sizeof io, "method=two-phase fault=%d:%s:%d%s", on, kind, n,
             strcmp(kind, "short") == 0 ? "" : ":EIO");
    check_where(io);
    d = open_file(path, RW, io);
    const tutti_err err = same_everywhere(powercut_put(d, 1, 1));
    const int failed = err != TUTTI_OK;
    CHECK(!failed || err == (opens ? TUTTI_ERR_OPEN : TUTTI_ERR_IO), "%s", tutti_last_message());
    if (!opens || !failed) state_is(d, failed ? "0:0 | -1" : "0:0 1:1 | -1");
    (void)same_everywhere(tutti_dataset_close(&d)); /* the truncation may fail, too */
    d = open_file(path, RW, "");
    state_is(d, failed ? "0:0 | -1" : "0:0 1:1 | -1");
    CHECK_SAME(powercut_put(d, 2, 2), TUTTI_OK);
    state_is(d, failed ? "0:0 2:2 | -1" : "0:0 1:1 2:2 | -1");
    CHECK_OK(tutti_dataset_close(&d));
    return failed;
}

static void test_faults(void) {
    static const char *const kinds[] = {"write", "sync", "open", "resize", "short"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int n = 1;
        while (n < 30 && fault(kinds[k], 0, n)) n++;
        CHECK(n < 30 && (n > 1 || k > 2), "%s: fails up to %d", kinds[k], n);
        if (ranks > 1) fault(kinds[k], ranks - 1, 1);
    }
}

/* ---- the database cannot grow because of a limit on file sizes */

static void limit(rlim_t bytes) {
    const struct rlimit r = {bytes, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_FSIZE, &r) == 0, "setrlimit");
}

static void no_growth(void) {
    char name[600], text[40000], want[60] = "0:0 | -1";
    struct stat st = {0};
    check_where("no growth");
    dataset_remove(path);
    tutti_dataset *d = open_file(path, RW | TUTTI_CREATE, "");
    CHECK_OK(powercut_put(d, 0, 0));
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    CHECK(stat(name, &st) == 0, "%s", name);
    memset(text, 'x', sizeof text);
    limit((rlim_t)st.st_size + 4096);
    const tutti_err err =
        same_everywhere(tutti_dataset_info_set(d, NULL, "long", TUTTI_BYTES, sizeof text, text));
    CHECK(err == TUTTI_ERR_NO_SPACE || err == TUTTI_ERR_IO, "%s", tutti_last_message());
    state_is(d, want);
    limit(RLIM_INFINITY);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "long", TUTTI_BYTES, sizeof text, text), TUTTI_OK);
    /* the limit makes a commit fail; the commit is repeated without the limit */
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_OK(tutti_dataset_info_set(d, NULL, "longer", TUTTI_BYTES, sizeof text, text));
    CHECK(stat(name, &st) == 0, "%s", name);
    limit((rlim_t)st.st_size);
    const tutti_err again = same_everywhere(tutti_dataset_commit(d));
    /* there is no space in the data file or in the database */
    CHECK(again != TUTTI_OK, "there was room");
    limit(RLIM_INFINITY);
    state_is(d, want);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    state_is(d, "0:0 1:1 | -1");
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- another program has locked the database */

static void test_busy(void) {
    sqlite3 *db = NULL;
    char name[600];
    const int64_t one = 1;
    check_where("busy");
    dataset_remove(path);
    tutti_dataset *d = open_file(path, RW | TUTTI_CREATE, "");
    CHECK_OK(powercut_put(d, 0, 0));
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (rank == 0)
        CHECK(sqlite3_open(name, &db) == SQLITE_OK &&
                  sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK,
              "no lock");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(powercut_put(d, 1, 1), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "locked by another program for 0.1 s"), "%s",
          tutti_last_message());
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "number", TUTTI_INT64, 1, &one), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_erase_after(d, -1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_ERR_STATE);
    MPI_Barrier(MPI_COMM_WORLD);
    sqlite3_close(db);
    MPI_Barrier(MPI_COMM_WORLD);
    state_is(d, "0:0 | -1");
    CHECK_SAME(powercut_put(d, 1, 1), TUTTI_OK);
    state_is(d, "0:0 1:1 | -1");
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- data files replaced by dangling links */

static void test_links(void) {
    char name[600], away[600];
    double buf[POWERCUT_N];
    tutti_count lo, n;
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    check_where("links");
    dataset_remove(path);
    d = open_file(path, RW | TUTTI_CREATE, "");
    CHECK_OK(powercut_put(d, 0, 0));
    CHECK_OK(tutti_dataset_close(&d));
    snprintf(name, sizeof name, "%s/data-000001.tutti", path);
    snprintf(away, sizeof away, "%s.away", path);
    if (rank == 0) CHECK(rename(name, away) == 0 && symlink(away, name) == 0, "link");
    MPI_Barrier(MPI_COMM_WORLD);
    d = open_file(path, TUTTI_READ, "");
    tutti_decomposition *p = powercut_local_block(d, &lo, &n);
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"u", p, TUTTI_FLOAT64, buf}),
               TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_ERR_FORMAT);
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&d));
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, RW, &opt, &d), TUTTI_ERR_FORMAT);
    if (rank == 0) CHECK(rename(away, name) == 0, "back");
    MPI_Barrier(MPI_COMM_WORLD);
    d = open_file(path, RW, "");
    state_is(d, "0:0 | -1");
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- a segment is erased while a reader is active; a rank without entries */

static void test_erased(void) {
    double buf[POWERCUT_N];
    tutti_count lo, n;
    int changed = 0;
    check_where("erased");
    dataset_remove(path);
    tutti_dataset *d = open_file(path, RW | TUTTI_CREATE, "");
    CHECK_OK(powercut_put(d, 0, 0));
    CHECK_OK(powercut_put(d, 1, 1));
    tutti_dataset *e = open_file(path, TUTTI_READ, "");
    tutti_decomposition *p = powercut_local_block(e, &lo, &n);
    CHECK_OK(tutti_dataset_erase_after(d, 0));
    CHECK_SAME(tutti_dataset_get(e, 1, 1, &(tutti_get){"u", p, TUTTI_FLOAT64, buf}),
               TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_refresh(e, &changed), TUTTI_OK);
    CHECK(changed, "not changed");
    CHECK_SAME(tutti_dataset_get(e, 1, 1, &(tutti_get){"u", p, TUTTI_FLOAT64, buf}),
               TUTTI_ERR_NOT_FOUND);
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&e));
    /* only rank 0 has entries */
    const tutti_count position = 5;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = rank == 0, .index = rank == 0 ? &position : NULL};
    CHECK_SAME(tutti_decomposition_create(d, "x", &spec, &p), TUTTI_OK);
    buf[0] = 7;
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 1, 1));
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"w", p, TUTTI_FLOAT64, rank ? NULL : buf}),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    buf[0] = 0;
    CHECK_SAME(tutti_dataset_get(d, 1, 1, &(tutti_get){"w", p, TUTTI_FLOAT64, rank ? NULL : buf}),
               TUTTI_OK);
    CHECK(rank > 0 || buf[0] == 7, "%g", buf[0]);
    tutti_decomposition_free(&p);
    state_is(d, "0:0 1:1 | -1");
    CHECK_OK(tutti_dataset_close(&d));
}

/* ---- a disk that is full, then read-only */

static void full_disk(void) {
    char home[520], where[600], state[4000], again[4000];
    tutti_err err = TUTTI_OK;
    check_where("full");
    snprintf(home, sizeof home, "%s/t1271.disk", check_dir());
    if (rank == 0) (void)mkdir(home, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!namespace_enter() || !small_mounted(home, "512k", 512 << 10)) return;
    snprintf(where, sizeof where, "%s/d.tutti", home);
    tutti_dataset *d = open_file(where, RW | TUTTI_CREATE, "");
    int n = 0;
    while (n < 200 && (err = same_everywhere(powercut_put(d, n, n))) == TUTTI_OK) n++;
    CHECK_ERR(err, TUTTI_ERR_NO_SPACE);
    CHECK(n > 5 && n < 60, "%d", n);
    CHECK_EQ(tutti_dataset_segments(d), n);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK(powercut_state(d, state, sizeof state), "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    d = open_file(where, RW, ""); /* the disk is still full */
    state_is(d, state);
    CHECK_SAME(tutti_dataset_erase_after(d, 2), TUTTI_OK);
    CHECK_SAME(powercut_put(d, 500, 500), TUTTI_OK);
    CHECK(powercut_state(d, again, sizeof again), "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);

    check_where("read-only");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(mount(NULL, home, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0, "remount");
    MPI_Barrier(MPI_COMM_WORLD);
    tutti_dataset_options opt = visible();
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, where, RW, &opt, &d), TUTTI_ERR_READ_ONLY);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, where, NULL, NULL), TUTTI_ERR_READ_ONLY);
    snprintf(state, sizeof state, "%s/new.tutti", home);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, state, RW | TUTTI_CREATE, &opt, &d),
               TUTTI_ERR_READ_ONLY);
    d = open_file(where, TUTTI_READ, "");
    state_is(d, again);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(umount(home) == 0 && rmdir(home) == 0, "umount: %s", strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1271);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%s/t1271.tutti", check_dir());
    dataset_remove(path);
    test_faults();
    no_growth();
    test_busy();
    test_links();
    test_erased();
    dataset_remove(path);
    full_disk();
    return harness_end();
}
