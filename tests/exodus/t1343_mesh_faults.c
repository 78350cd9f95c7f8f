/* TEST ranks=1,3 timeout=100 own=1 */
/* Each write, sync and truncation in put_mesh fails once: all ranks return the same error, nothing hangs, a file that
 * can be opened is complete, and the next attempt succeeds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

#include "one_fault.h"

static char path[600], reference[600];
static tutti_exodus_options opt;
static const tutti_exodus_mesh *mesh;

enum { PUT };

static int run_round(int at, fault_kind what, int n) {
    static char where[100];
    tutti_exodus *x = NULL, *again = NULL;
    if (what == FAULT_VALUE || what == FAULT_BUSY) return 0;
    snprintf(where, sizeof where, "%s, %d", fault_names[what], n);
    check_where(where);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_OK(same_everywhere(world_define(x)));
    fault_plan(at, what, n);
    const tutti_err err = TRY(PUT, tutti_exodus_put_mesh(x, mesh));
    const int hit = fault.hit;
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    /* the file can be of this attempt or of the previous attempt */
    if (err == TUTTI_OK || same_everywhere(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL,
                                                             &again)) == TUTTI_OK)
        files_same(path, reference);
    if (again) CHECK_OK(tutti_exodus_close(&again));
    return hit;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1343);
    const char *memory = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/t1343.e", memory ? memory : check_dir());
    snprintf(reference, sizeof reference, "%s/t1343-reference.e", memory ? memory : check_dir());
    fault.data = "/t1343.e$";
    fault.meta = "/t1343.e.tutti";
    snprintf(fault.database, sizeof fault.database, "%s.tutti", path);
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    check_seed(1343);
    world_grid(1);
    world_arguments *local = world_arguments_of(1ull << rank);
    mesh = &local->mesh;
    CHECK_SAME(world_write(MPI_COMM_WORLD, reference, &opt, mesh), TUTTI_OK);
    const int hits = fault_table(PUT, run_round);
    CHECK(hits > (ranks == 1 ? 6 : 3), "%d faults", hits);
    check_where("");
    CHECK_SAME(world_write(MPI_COMM_WORLD, path, &opt, mesh), TUTTI_OK);
    files_same(path, reference);
    free(local);
    return harness_end();
}
