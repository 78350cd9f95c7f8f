/* comm: is the MPI of the program the one that this library was compiled for?
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WHICH_MPI_H
#define TUTTI_WHICH_MPI_H

#include "base/error_impl.h"

/* TUTTI_ERR_UNSUPPORTED if the process has another MPI as well, whose handles would be taken for
 * ours. Calls nothing of MPI.  Local. */
tutti_err tutti__which_mpi(void) TUTTI_MUST_USE;

#endif
