/* mpiio: errors.  Functions return error classes, never new codes: programs compare classes
 * directly, and MPICH 4.0 has wrong texts for codes that are added to its classes.  The exact
 * message is stored per thread, and the MPI_Error_string of this library appends it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpiio.h"

static _Thread_local int last_code;
static _Thread_local char last_text[768];

/* ---- messages */

int mpiio_complain(int mpi_class, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(last_text, sizeof last_text, fmt, args);
    va_end(args);
    last_code = mpi_class;
    return mpi_class;
}

int mpiio_complain_tutti(tutti_err err) {
    if (err == TUTTI_OK) return MPI_SUCCESS;
    return mpiio_complain(mpiio_class_of(err, tutti_last_error()), "%s", tutti_last_message());
}

void mpiio_refuse(int complaint) {
    int mpi_class = complaint;
    PMPI_Error_class(complaint, &mpi_class);
    tutti_set_local_error(TUTTI_ERR_ARG, mpi_class, mpiio_message(complaint));
}

const char *mpiio_message(int code) {
    return code == last_code ? last_text : "";
}

static int class_of_errno(int sys_errno) {
    switch (sys_errno) {
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
        return MPI_ERR_BAD_FILE;
    case ETXTBSY:
    case EBUSY:
        return MPI_ERR_FILE_IN_USE;
    default:
        return MPI_SUCCESS;
    }
}

int mpiio_class_of(tutti_err err, const tutti_error_info *info) {
    /* class that a rank passed to mpiio_refuse */
    if (err != TUTTI_OK && info->detail != 0) return info->detail;
    const int finer = err == TUTTI_OK ? MPI_SUCCESS : class_of_errno(info->sys_errno);
    if (finer != MPI_SUCCESS) return finer;
    switch (err) {
    case TUTTI_OK:
        return MPI_SUCCESS;
    case TUTTI_ERR_ARG:
    case TUTTI_ERR_OVERFLOW:
        return MPI_ERR_ARG;
    case TUTTI_ERR_MODE:
    case TUTTI_ERR_PERMISSION:
        return MPI_ERR_ACCESS;
    case TUTTI_ERR_NOMEM:
        return MPI_ERR_NO_MEM;
    case TUTTI_ERR_UNSUPPORTED:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case TUTTI_ERR_NOT_FOUND:
        return MPI_ERR_NO_SUCH_FILE;
    case TUTTI_ERR_EXISTS:
        return MPI_ERR_FILE_EXISTS;
    case TUTTI_ERR_IS_DIRECTORY:
        return MPI_ERR_BAD_FILE;
    case TUTTI_ERR_READ_ONLY:
        return MPI_ERR_READ_ONLY;
    case TUTTI_ERR_OPTION:
        return MPI_ERR_INFO_VALUE;
    case TUTTI_ERR_MISMATCH:
        return MPI_ERR_NOT_SAME;
    case TUTTI_ERR_NO_SPACE:
        return MPI_ERR_NO_SPACE;
    case TUTTI_ERR_QUOTA:
        return MPI_ERR_QUOTA;
    case TUTTI_ERR_MPI:
    case TUTTI_ERR_CANCELLED:
        return MPI_ERR_OTHER;
    default:
        return MPI_ERR_IO;
    }
}

/* ---- MPI_Error_string */

int PMPI_Error_string(int code, char *text, int *length) {
    const int rc = MPIIO_REAL(Error_string)(code, text, length);
    const char *message = mpiio_message(code);
    if (rc != MPI_SUCCESS || code == MPI_SUCCESS || !message[0]) return rc;
    size_t n = strlen(text);
    for (const char *from = ": "; n + 1 < MPI_MAX_ERROR_STRING && *from; from++) text[n++] = *from;
    for (; n + 1 < MPI_MAX_ERROR_STRING && *message; message++) text[n++] = *message;
    text[n] = '\0';
    *length = (int)n;
    return rc;
}
MPIIO_EXPORT(Error_string);
