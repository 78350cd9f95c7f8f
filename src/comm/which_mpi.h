/* comm: checking that MPI library and launcher of the program are those for which this library was
 * built.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WHICH_MPI_H
#define TUTTI_WHICH_MPI_H

#include "base/error_impl.h"

/* Fail with TUTTI_ERR_UNSUPPORTED if the process has loaded another MPI library as well, whose
 * handles would be misinterpreted.  Makes no MPI calls.  Not collective. */
tutti_err tutti__which_mpi(void) TUTTI_MUST_USE;

/* Fail with TUTTI_ERR_STATE if MPI_COMM_WORLD has one rank although a launcher has started several
 * processes, which would write the same files independently; called before writing.
 * TUTTI_SINGLE_RANK=1 in the environment disables the check.  Not collective; MPI must be
 * initialized. */
tutti_err tutti__launch_check(void) TUTTI_MUST_USE;

#endif
