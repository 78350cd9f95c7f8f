/* comm: failed MPI calls as errors of Tutti.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPI_ERROR_H
#define TUTTI_MPI_ERROR_H

#include <mpi.h>
#include "base/error_impl.h"

/* Record a failed MPI call, with MPI's own text.  Not collective. */
void tutti__error_record_mpi(int mpi_code, const char *what);
/* The same, and the code to return. */
static inline tutti_err tutti__error_mpi(int mpi_code, const char *what) {
    tutti__error_record_mpi(mpi_code, what);
    return TUTTI_ERR_MPI;
}
/* Call it, and return if it fails. */
#define TUTTI_MPI(call)                                                \
    do {                                                               \
        const int mpi_ = (call);                                       \
        if (mpi_ != MPI_SUCCESS) return tutti__error_mpi(mpi_, #call); \
    } while (0)

#endif
