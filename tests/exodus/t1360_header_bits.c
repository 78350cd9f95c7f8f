/* TEST ranks=1,2 timeout=60 */
/* Every flipped bit of the header makes open or verify fail: also in the number of steps, which the hash of the header
 * does not include, and after steps were erased.  A sidecar of version 1 can still be read. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "exodus/exodus_impl.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

static char path[600];
static tutti_exodus_options opt;

static void put_steps(tutti_exodus *x, int n) {
    double energy = 2.5;
    for (int i = 0; i < n; i++) {
        CHECK_SAME(tutti_exodus_begin(x, (double)tutti_exodus_steps(x)), TUTTI_OK);
        const tutti_exodus_field f = {
            .kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = &energy};
        CHECK_SAME(tutti_exodus_put(x, 1, &f), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    }
}

static tutti_off file_write(void) {
    static const char *const names[] = {"energy"};
    tutti_exodus *x = NULL;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "bits", .dims = 1}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, 1, names), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    put_steps(x, 3);
    const tutti_off header = x->cdf.header_bytes;
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    return header;
}

/* Open, verify and close the file; return the first error. */
static tutti_err check_contents(void) {
    tutti_exodus *x = NULL;
    tutti_err err = tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &x);
    if (err != TUTTI_OK) return err;
    err = tutti_exodus_verify(x, NULL);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    return err;
}

static void flip_bit(tutti_off at, int bit) {
    if (rank == 0) {
        unsigned char byte = 0;
        const int fd = open(path, O_RDWR | O_CLOEXEC);
        CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1, "%s", path);
        byte ^= (unsigned char)(1 << bit);
        CHECK(pwrite(fd, &byte, 1, at) == 1, "%s", path);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void flip_all_bits(tutti_off header) {
    int flips = 0, undetected = 0;
    for (tutti_off at = 0; at < header; at++)
        for (int bit = 0; bit < 8; bit++) {
            flip_bit(at, bit);
            const tutti_err err = check_contents();
            if (err == TUTTI_OK && undetected++ == 0)
                CHECK(0, "bit %d of byte %lld is not detected", bit, (long long)at);
            flip_bit(at, bit);
            flips++;
        }
    CHECK(flips >= 462 && undetected == 0, "%d of %d flips are not detected", undetected, flips);
    CHECK_SAME(check_contents(), TUTTI_OK);
}

static void test_erased(void) {
    tutti_exodus *x = NULL;
    check_where("erased");
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_erase_after(x, 1), TUTTI_OK);
    CHECK_SAME(check_contents(), TUTTI_OK);
    put_steps(x, 1);
    CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK_SAME(check_contents(), TUTTI_OK);
    flip_bit(11, 0); /* 2 steps become 3, but the third does not exist */
    CHECK(check_contents() != TUTTI_OK, "3 steps");
    flip_bit(11, 0);
    flip_bit(11, 1); /* 2 steps become 0 */
    CHECK_SAME(check_contents(), TUTTI_ERR_FORMAT);
    flip_bit(11, 1);
}

/* Execute `sql` (NULL: nothing) in the sidecar; return the sidecar's version.  The sidecar can be changed to version 1
 * because no checksum block of this file crosses a multiple of 64 KiB; a writer converts it to version 2. */
static int version(const char *sql) {
    int out = -1;
    if (rank == 0) {
        char beside[620];
        sqlite3 *db = NULL;
        sqlite3_stmt *q = NULL;
        snprintf(beside, sizeof beside, "%s.tutti", path);
        CHECK(sqlite3_open(beside, &db) == SQLITE_OK, "%s", beside);
        if (sql) CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sql);
        sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &q, NULL);
        if (sqlite3_step(q) == SQLITE_ROW) out = sqlite3_column_int(q, 0);
        sqlite3_finalize(q);
        sqlite3_close(db);
    }
    MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return out;
}

static void test_old(void) {
    tutti_exodus *x = NULL;
    tutti_off bytes = 0;
    check_where("version 1");
    CHECK(version("DELETE FROM file WHERE key = 'steps'; PRAGMA user_version = 1") == 1, "1");
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(bytes > 0 && !tutti_exodus_warning(x)[0], "%s", tutti_exodus_warning(x));
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x),
               TUTTI_OK);
    put_steps(x, 1);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK(version(NULL) == 2, "%d", version(NULL));
    CHECK_SAME(check_contents(), TUTTI_OK);
    (void)version("PRAGMA user_version = 4"); /* the version is unknown */
    CHECK_SAME(check_contents(), TUTTI_ERR_FORMAT);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/bits.e", dir);
    const tutti_off header = file_write();
    CHECK_SAME(check_contents(), TUTTI_OK);
    if (ranks == 1) flip_all_bits(header);
    test_erased();
    test_old();
    MPI_Finalize();
    return check_done();
}
