/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Number of collective operations in put_mesh and get_mesh: MPI collectives, and agreements between ranks by messages
 * or shared memory.  Exchanges of data are not counted, but the agreements that they need are.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

#include "comm/collective_count.h"

static char path[512];

static void check_counts(const char *what, const tutti_exodus_options *opt,
                         const tutti_exodus_mesh *mesh, const int most[2]) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *got = NULL;
    const tutti_exodus_distribution deal = {.partitioner = TUTTI_EXODUS_BY_ORDER};
    check_where(what);
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, opt, &x));
    CHECK_OK(world_define(x));
    int64_t before = tutti__collective_count();
    CHECK_OK(tutti_exodus_put_mesh(x, mesh));
    const int64_t put = tutti__collective_count() - before;
    CHECK_OK(tutti_exodus_close(&x));
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    before = tutti__collective_count();
    CHECK_OK(tutti_exodus_get_mesh(x, &deal, &got));
    const int64_t get = tutti__collective_count() - before;
    CHECK_OK(tutti_exodus_close(&x));
    if (getenv("TUTTI_TEST_SHOW") && rank == 0)
        printf("%s: put_mesh %lld, get_mesh %lld\n", what, (long long)put, (long long)get);
    CHECK(put <= most[0], "put_mesh has %lld collective communications", (long long)put);
    CHECK(get <= most[1], "get_mesh has %lld collective communications", (long long)get);
}

int main(int argc, char **argv) {
    tutti_exodus_options opt;
    harness_begin(&argc, &argv, 1341);
    snprintf(path, sizeof path, "%s/t1341.e", check_dir());
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    for (int copies = 0; copies < 2; copies++) {
        check_seed(1341 + copies); /* the same on all ranks */
        world_grid(copies);
        world_arguments *local = world_arguments_of(1ull << rank);
        check_counts("first", &opt, &local->mesh, (int[2]){1000, 1000});
        check_counts(copies ? "copies" : "no copies", &opt, &local->mesh, (int[2]){15, 44});
        free(local);
    }
    return harness_end();
}
