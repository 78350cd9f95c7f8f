/* TEST ranks=1,2,3,5 timeout=60 */
/* Results on the entries that put_mesh and get_mesh record: written by ranks with copies, read with another
 * distribution with halos, and a step appended after get_mesh.  Nodes, blocks, sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/mesh_results.h"

static char path[512];
static void put_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, step, 0, f);
    CHECK_OK(same_everywhere(tutti_exodus_begin(x, step)));
    CHECK_OK(same_everywhere(tutti_exodus_put(x, n, f)));
    CHECK_OK(same_everywhere(tutti_exodus_commit(x)));
}

static void get_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, 0, 0, f);
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) v[i] = -7;
    CHECK_OK(same_everywhere(tutti_exodus_get(x, step, n, f)));
    fields_of(m, step, 1, f);
}

static void run_trial(int k) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    if (k % 2)
        world_grid(1);
    else
        world_random(1, 0);
    if (world.entries[W_ELEMENT] == 0) return;
    world_arguments *local = world_arguments_of(1ull << rank);
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    CHECK_OK(world_define(x));
    variables_define(x);
    CHECK_OK(same_everywhere(tutti_exodus_put_mesh(x, &local->mesh)));
    put_step(x, &local->mesh, 1);
    get_step(x, &local->mesh, 1);
    CHECK_OK(tutti_exodus_close(&x));
    free(local);
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x));
    CHECK_OK(tutti_exodus_get_mesh(
        x,
        &(tutti_exodus_distribution){
            .partitioner = k % 2 ? TUTTI_EXODUS_BY_METIS : TUTTI_EXODUS_BY_CURVE, .halo = 1},
        &m));
    get_step(x, m, 1);
    put_step(x, m, 2); /* halo entries are copies */
    get_step(x, m, 2);
    CHECK_OK(tutti_exodus_close(&x));
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    CHECK_OK(tutti_exodus_get_mesh(
        x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_ON_ROOT}, &m));
    for (int step = 1; step <= 2; step++) get_step(x, m, step);
    CHECK_OK(tutti_exodus_close(&x));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1335);
    snprintf(path, sizeof path, "%s/t1335.e", check_dir());
    for (int k = 0; k < 2; k++) {
        check_state_ = check_seed_ + (uint64_t)k * 1000003;
        run_trial(k);
    }
    MPI_Finalize();
    return check_done();
}
