/* Programs for single measurements on MPI ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "measure/standalone.h"

#include <mpi.h>

extern void (*standalone_abort)(int code);

/* With code 2, wrong arguments, all ranks call this function; other failures may be on one rank only. */
static void end_ranks(int code) {
    if (code == 2)
        MPI_Finalize();
    else
        MPI_Abort(MPI_COMM_WORLD, code);
}

int standalone_start_mpi(const standalone *p, int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &standalone_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &standalone_ranks);
    standalone_abort = end_ranks;
    return standalone_start(p, *argc, *argv);
}

int standalone_end_mpi(void) {
    const int code = standalone_end();
    fflush(stdout);
    MPI_Finalize();
    return code;
}

static double reduce_value(double value, MPI_Op op) {
    double all = 0;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

double standalone_slowest(double value) {
    return reduce_value(value, MPI_MAX);
}

double standalone_sum(double value) {
    return reduce_value(value, MPI_SUM);
}

double standalone_together(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return measure_now();
}
