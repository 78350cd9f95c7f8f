/* TEST ranks=1,2,3 timeout=120 */
/* Allocations in put_mesh and get_mesh fail on one rank: all ranks return the error, nothing hangs, no memory leaks,
 * and the next attempt succeeds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

static char path[512];
static tutti_exodus_options opt;
static int failing; /* the rank whose allocation fails */

/* Return whether the error means a failed allocation; the engine returns TUTTI_ERR_IO if a store cannot allocate. */
static int is_memory(tutti_err err) {
    return err == TUTTI_ERR_NOMEM ||
           (err == TUTTI_ERR_IO && strstr(tutti_last_message(), "cannot allocate"));
}

/* Let the n-th allocation of rank `failing` fail; return whether the call succeeded nevertheless. */
static int put_fails(const tutti_exodus_mesh *mesh, long n) {
    tutti_exodus *x = NULL;
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    CHECK_OK(world_define(x));
    if (rank == failing) tutti__memory_fail_after(n);
    const tutti_err err = same_everywhere(tutti_exodus_put_mesh(x, mesh));
    tutti__memory_fail_after(0);
    CHECK(err == TUTTI_OK || is_memory(err), "allocation %ld: %s: %s", n, tutti_error_name(err),
          tutti_last_message());
    CHECK_OK(tutti_exodus_close(&x));
    return err == TUTTI_OK;
}

static int get_fails(long n) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    const tutti_exodus_distribution deal = {.partitioner = (tutti_exodus_partitioner)(n % 3),
                                            .halo = (int)(n / 3 % 2)};
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    if (rank == failing) tutti__memory_fail_after(n);
    const tutti_err err = same_everywhere(tutti_exodus_get_mesh(x, &deal, &m));
    tutti__memory_fail_after(0);
    CHECK(err == TUTTI_OK || is_memory(err), "allocation %ld: %s: %s", n, tutti_error_name(err),
          tutti_last_message());
    CHECK_OK(tutti_exodus_close(&x));
    return err == TUTTI_OK;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1338);
    snprintf(path, sizeof path, "%s/t1338.e", check_dir());
    tutti_exodus_options_init(&opt);
    opt.overwrite = opt.nemesis = 1;
    opt.level = TUTTI_VISIBLE;
    opt.sidecar = opt.checksums = 0;
    const int full = getenv("TUTTI_TEST_TIER") && !strcmp(getenv("TUTTI_TEST_TIER"), "full");
    world_grid(1);
    world_arguments *local = world_arguments_of(1ull << rank);
    CHECK(put_fails(&local->mesh, 0) && get_fails(0),
          "put_mesh or get_mesh fails without a failed allocation");
    const account start = account_now();
    const long step = full ? 1 : ranks == 1 ? 5 : 23;
    for (failing = 0; failing < ranks; failing++) {
        long n = 1 + failing % step;
        while (!put_fails(&local->mesh, n) && n < 5000) n += step;
        CHECK(n > 100 && n < 5000, "put_mesh allocates %ld times", n);
        CHECK(put_fails(&local->mesh, 0), "put_mesh fails after the failed allocations");
        for (n = 1 + failing % step; !get_fails(n) && n < 5000;) n += step;
        CHECK(n > 100 && n < 5000, "get_mesh allocates %ld times", n);
    }
    free(local);
    MPI_Barrier(MPI_COMM_WORLD);
    account_check(start);
    MPI_Finalize();
    return check_done();
}
