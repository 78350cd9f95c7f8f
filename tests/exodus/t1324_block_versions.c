/* TEST ranks=1,3 timeout=60 */
/* Sidecars of versions 2 and 3, which divide records into checksum blocks in different ways: the file is
 * verified, damage is detected, steps are appended, and the sidecar keeps its version.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include <sqlite3.h>

enum { NODES = 6 };
static char path[600], beside[620];

static void golden_copy(const char *name, const char *to) {
    char from[700];
    int64_t n = 0;
    snprintf(from, sizeof from, "%s/tests/exodus/golden/%s", TUTTI_SOURCE_DIR, name);
    unsigned char *bytes = file_get(from, &n);
    file_put(to, bytes, n);
    free(bytes);
}

static int version_of(const char *database) {
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    CHECK(sqlite3_open(database, &db) == SQLITE_OK, "open");
    CHECK(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK, "prepare");
    CHECK(sqlite3_step(q) == SQLITE_ROW, "step");
    const int version = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return version;
}

static tutti_err verify_values(tutti_off *bytes) {
    tutti_exodus *x = NULL;
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_OK);
    CHECK(!tutti_exodus_warning(x)[0], "%s", tutti_exodus_warning(x));
    *bytes = 0;
    const tutti_err err = tutti_exodus_verify(x, bytes);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    return err;
}

/* Flip a bit of each step, one at a time; verify must report this step. */
static void damage_bytes(tutti_count steps) {
    int64_t n = 0;
    tutti_off bytes = 0;
    char step[40];
    unsigned char *good = file_get(path, &n);
    const int64_t record = 8 + 8 * NODES, first = n - steps * record;
    for (tutti_count s = 1; s <= steps; s++)
        for (int64_t k = 0; k < record; k += record - 9) {
            good[first + (s - 1) * record + k] ^= 4;
            file_put(path, good, n);
            CHECK_SAME(verify_values(&bytes), TUTTI_ERR_FORMAT);
            snprintf(step, sizeof step, "step %lld:", (long long)s);
            CHECK(strstr(tutti_last_message(), step), "%s", tutti_last_message());
            good[first + (s - 1) * record + k] ^= 4;
        }
    file_put(path, good, n);
    free(good);
    CHECK_SAME(verify_values(&bytes), TUTTI_OK);
    CHECK(bytes > steps * record, "%lld bytes", (long long)bytes);
}

static void append_values(tutti_count step) {
    tutti_exodus *x = NULL;
    tutti_decomposition *local = NULL;
    tutti_count first, n;
    double v[NODES];
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &x),
               TUTTI_OK);
    sample_piece(MPI_COMM_WORLD, NODES, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &local),
               TUTTI_OK);
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = "temperature",
                                      .type = TUTTI_FLOAT64,
                                      .buf = v,
                                      .entries = local};
    CHECK_SAME(tutti_exodus_get(x, 3, 1, &field), TUTTI_OK);
    for (tutti_count i = 0; i < n; i++) CHECK(v[i] == (double)(30 + first + i), "%g", v[i]);
    for (tutti_count s = step; s < step + 2; s++) {
        for (tutti_count i = 0; i < n; i++) v[i] = (double)(10 * s + first + i);
        CHECK_SAME(tutti_exodus_begin(x, 0.5 * (double)s), TUTTI_OK);
        CHECK_SAME(tutti_exodus_put(x, 1, &field), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    }
    tutti_decomposition_free(&local);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    char where[40], name[40];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/blocks.e", dir);
    snprintf(beside, sizeof beside, "%s.tutti", path);
    for (int version = 2; version <= 3; version++) {
        tutti_off bytes = 0;
        snprintf(where, sizeof where, "version %d", version);
        check_where(where);
        snprintf(name, sizeof name, "blocks_v%d.e.tutti", version);
        golden_copy("blocks.e", path);
        golden_copy(name, beside);
        CHECK_SAME(verify_values(&bytes), TUTTI_OK);
        damage_bytes(3);
        append_values(4);
        CHECK_EQ(version_of(beside), version);
        damage_bytes(5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return check_done();
}
