/* comm: converting MPI errors to Tutti errors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/mpi_error.h"

void tutti__error_record_mpi(int mpi_code, const char *what) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(mpi_code, text, &length) != MPI_SUCCESS) text[0] = '\0';
    tutti__error_record(TUTTI_ERR_MPI, 0, -1, "%.60s: %.300s", what, text);
}
