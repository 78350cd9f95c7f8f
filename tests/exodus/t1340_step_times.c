/* TEST ranks=1,2,3 timeout=60 */
/* The time of a step is always stored with a correct checksum: also if the step has no values, or values that were
 * refused at first. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[600];
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus_field v[SAMPLE_FIELDS];
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    double times[3] = {0};
    snprintf(path, sizeof path, "%s/times.e", getenv("TUTTI_TEST_DIR"));
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.real_bytes = 4;
    sample_write(MPI_COMM_WORLD, path, &opt, 1);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x),
               TUTTI_OK);
    sample_decompose(MPI_COMM_WORLD, x, p);

    check_where("a step without values");
    CHECK_SAME(tutti_exodus_begin(x, 50), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);

    check_where("values that were refused at first");
    sample_step_fields(p, 3, v);
    double *first = v[0].buf;
    const double right = first[0];
    CHECK_SAME(tutti_exodus_begin(x, 60), TUTTI_OK);
    if (tutti_decomposition_entries(p[0]) > 0) first[0] = 1e300; /* does not fit into float32 */
    CHECK_SAME(tutti_exodus_put(x, 1, v), TUTTI_ERR_VALUE);
    first[0] = right;
    CHECK_SAME(tutti_exodus_put(x, 1, v), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);

    CHECK_SAME(tutti_exodus_times(x, 1, 3, times), TUTTI_OK);
    CHECK(times[0] == sample_time(1) && times[1] == 50 && times[2] == 60, "%g %g %g", times[0],
          times[1], times[2]);
    CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_OK);
    for (int f = 0; f < SAMPLE_FIELDS; f++) {
        free(v[f].buf);
        tutti_decomposition_free(&p[f]);
    }
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    MPI_Finalize();
    return check_done();
}
