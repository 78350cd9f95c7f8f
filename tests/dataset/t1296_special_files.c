/* TEST ranks=1,3 timeout=60 */
/* The database of a dataset, the auxiliary files of SQLite, or the lock file are FIFOs, directories or links to a
 * device: every call that opens the dataset fails with a clear error, and no call blocks.  Repair rebuilds
 * the metadata nevertheless.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"

enum { ENTRIES = 10 };
static char path[512];

static void test_written(void) {
    tutti_dataset *d = NULL;
    tutti_decomposition *p = NULL;
    const tutti_dataset_options opt = visible();
    const tutti_variable_spec v = {.space = "line", .type = TUTTI_FLOAT64};
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = rank ? 0 : 1, .index = (tutti_count[]){0}};
    double x = 1;
    dataset_remove(path);
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "v", &v), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create(d, "line", &spec, &p), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"v", p, TUTTI_FLOAT64, &x}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static const char *const NAMES[] = {"metadata.sqlite", "metadata.sqlite-journal",
                                    "metadata.sqlite-wal", "metadata.sqlite-shm", "writer.lock"};
enum { FIFO, DIRECTORY, DEVICE, KINDS };

static void make_objects(const char *file, int kind) {
    char name[600];
    snprintf(name, sizeof name, "%s/%s", path, file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        (void)unlink(name);
        const int made = kind == DIRECTORY ? mkdir(name, 0777) == 0
                         : kind == DEVICE  ? symlink("/dev/zero", name) == 0
                                           : mkfifo(name, 0666) == 0;
        CHECK(made, "%s", name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_object(const char *file) {
    char name[600];
    snprintf(name, sizeof name, "%s/%s", path, file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && unlink(name) != 0) (void)rmdir(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_refused(int mode, tutti_err expect) {
    tutti_dataset *d = NULL;
    const tutti_dataset_options opt = visible();
    const tutti_err err = tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d);
    CHECK_SAME(err, expect);
    if (expect == TUTTI_OK)
        CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    else
        CHECK(strstr(tutti_last_message(), "not a regular file") ||
                  strstr(tutti_last_message(), "Is a directory"),
              "%s", tutti_last_message());
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1296);
    snprintf(path, sizeof path, "%s/t1296.tutti", check_dir());
    for (int i = 0; i < 5; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int is_lock = i == 4;
            const tutti_err writer =
                is_lock && kind == DIRECTORY ? TUTTI_ERR_IS_DIRECTORY : TUTTI_ERR_FORMAT;
            check_where(NAMES[i]);
            test_written();
            make_objects(NAMES[i], kind);
            check_refused(TUTTI_READ, is_lock ? TUTTI_OK : TUTTI_ERR_FORMAT);
            check_refused(TUTTI_READ | TUTTI_WRITE, writer);
            check_refused(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, writer);
            if (is_lock) remove_object("writer.lock");
            if (is_lock) continue;
            CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_OK);
            check_refused(TUTTI_READ | TUTTI_WRITE, TUTTI_OK);
            remove_object("metadata.sqlite.damaged");
            remove_object("metadata.sqlite.damaged-journal");
            remove_object("metadata.sqlite.damaged-wal");
            remove_object("metadata.sqlite.damaged-shm");
        }
    dataset_remove(path);
    return harness_end();
}
