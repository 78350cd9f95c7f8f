/* TEST ranks=1,3 timeout=60 own=1 */
/* After a failed sync of the mesh no step can begin, although a second sync would succeed, because the
 * operating system may have dropped the data.  Close works, and the file can be created again.  If new_topology
 * fails to sync the mesh, it closes the new file, and later calls fail instead of using the file. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "io_faults.h"

static tutti_exodus *create_objects(const char *path) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    sample_define(x);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    sample_put_arrays(MPI_COMM_WORLD, x);
    return x;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[600];
    snprintf(path, sizeof path, "%s/mesh.e", getenv("TUTTI_TEST_DIR"));
    tutti_exodus *x = create_objects(path);
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "mesh.e$", 1, EIO);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_ERR_IO);
    CHECK(rank != ranks - 1 || io_fault_end() == 1, "the fault did not happen once");
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_ERR_STATE);
    CHECK(!x, "the handle is still there");

    x = create_objects(path);
    if (rank == ranks - 1) io_fault_set(IO_SYNC, "mesh.e$", 1, EIO);
    CHECK_SAME(tutti_exodus_new_topology(x), TUTTI_ERR_IO);
    CHECK(rank != ranks - 1 || io_fault_end() == 1, "the fault did not happen once");
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_refresh(x, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_new_topology(x), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);

    x = create_objects(path);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    MPI_Finalize();
    return check_done();
}
