/* TEST ranks=8 timeout=120 */
/* Restart on another number of ranks: N ranks write a mesh and a step; M ranks read them and append a step; N ranks
 * read the file again.  N and M are 1 to 8 (quick tier: some combinations).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/mesh_results.h"

static char path[512];
static tutti_exodus_options opt;

static void put_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, step, 0, f);
    CHECK_OK(tutti_exodus_begin(x, step));
    CHECK_OK(tutti_exodus_put(x, n, f));
    CHECK_OK(tutti_exodus_commit(x));
}

static void get_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, 0, 0, f);
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) v[i] = -7;
    CHECK_OK(tutti_exodus_get(x, step, n, f));
    fields_of(m, step, 1, f);
}

static void write_first(MPI_Comm comm) {
    tutti_exodus *x = NULL;
    world_arguments *local = world_arguments_of(1ull << rank);
    CHECK_OK(tutti_exodus_create(comm, path, &opt, &x));
    CHECK_OK(world_define(x));
    variables_define(x);
    CHECK_OK(tutti_exodus_put_mesh(x, &local->mesh));
    put_step(x, &local->mesh, 1);
    CHECK_OK(tutti_exodus_close(&x));
    free(local);
}

/* Read the mesh, compare steps 1 to `steps`, and append a step if `appends` is set. */
static void restart_run(MPI_Comm comm, tutti_exodus_partitioner by, int steps, int appends) {
    const tutti_exodus_distribution distribution = {.partitioner = by,
                                                    .halo = by == TUTTI_EXODUS_BY_CURVE};
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus *x = NULL;
    const int mode = appends ? TUTTI_READ | TUTTI_WRITE : TUTTI_READ;
    CHECK_OK(tutti_exodus_open(comm, path, mode, &opt, &x));
    CHECK_EQ(tutti_exodus_steps(x), steps);
    CHECK_OK(tutti_exodus_get_mesh(x, &distribution, &m));
    for (int s = 1; s <= steps; s++) get_step(x, m, s);
    if (appends) put_step(x, m, steps + 1);
    CHECK_OK(tutti_exodus_close(&x));
}

/* Create a communicator of the first `n` ranks, and set `rank` and `ranks` for it. */
static MPI_Comm first_ranks(int n) {
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
    ranks = n;
    return comm;
}

static void run_trial(int n, int m) {
    static const tutti_exodus_partitioner methods[] = {TUTTI_EXODUS_BY_ORDER, TUTTI_EXODUS_BY_METIS,
                                                       TUTTI_EXODUS_BY_CURVE};
    char where[64];
    snprintf(where, sizeof where, "%d ranks to %d", n, m);
    check_where(where);
    check_seed((uint64_t)(1342 + 8 * n + m)); /* the same on all ranks */
    MPI_Comm writers = first_ranks(n);
    world_grid(1);
    if (writers != MPI_COMM_NULL) write_first(writers);
    MPI_Comm readers = first_ranks(m);
    if (readers != MPI_COMM_NULL) restart_run(readers, methods[(n + m) % 3], 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    ranks = n;
    if (writers != MPI_COMM_NULL) restart_run(writers, methods[(n + 2 * m) % 3], 2, 0);
    if (writers != MPI_COMM_NULL) MPI_Comm_free(&writers);
    if (readers != MPI_COMM_NULL) MPI_Comm_free(&readers);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    const char *tier = getenv("TUTTI_TEST_TIER");
    harness_begin(&argc, &argv, 1342);
    const int all = ranks, full = tier && strcmp(tier, "full") == 0;
    const char *memory = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/t1342.e", memory ? memory : check_dir());
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    for (int n = 1; n <= all; n++)
        for (int m = 1; m <= all; m++)
            if (full || (n * 5 + m * 3) % 8 == 0 || n + m == all + 1) run_trial(n, m);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ranks = all;
    return harness_end();
}
