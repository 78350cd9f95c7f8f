/* comm: converting MPI errors to Tutti errors.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPI_ERROR_H
#define TUTTI_MPI_ERROR_H

#include <mpi.h>
#include "base/error_impl.h"

/* Record a failed MPI call with the text of MPI_Error_string.  Not collective. */
void tutti__error_record_mpi(int mpi_code, const char *what);
/* Record a failed MPI call and return TUTTI_ERR_MPI.  Not collective. */
static inline tutti_err tutti__error_mpi(int mpi_code, const char *what) {
    tutti__error_record_mpi(mpi_code, what);
    return TUTTI_ERR_MPI;
}
/* Execute an MPI call; if it fails, return TUTTI_ERR_MPI from the calling function. */
#define TUTTI_MPI(call)                                                \
    do {                                                               \
        const int mpi_ = (call);                                       \
        if (mpi_ != MPI_SUCCESS) return tutti__error_mpi(mpi_, #call); \
    } while (0)

#endif
