/* comm: check that the MPI of the program and its launcher are those for which this library was compiled.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WHICH_MPI_H
#define TUTTI_WHICH_MPI_H

#include "base/error_impl.h"

/* TUTTI_ERR_UNSUPPORTED if the process has another MPI as well, whose handles would be
 * misinterpreted.  Makes no MPI calls.  Not collective. */
tutti_err tutti__which_mpi(void) TUTTI_MUST_USE;

/* For calls that write: TUTTI_ERR_STATE if MPI_COMM_WORLD has one rank although a launcher has started several
 * processes, which then would write the same files independently.  TUTTI_SINGLE_RANK=1 in the environment
 * disables it.  Local; MPI must be initialized. */
tutti_err tutti__launch_check(void) TUTTI_MUST_USE;

#endif
