/* mpiio: files in error handlers of Fortran programs.
 *
 * MPICH calls a handler written in Fortran with the C handle where an INTEGER is expected (4.0.2:
 * MPIR_File_call_errhandler_impl), so that the handler gets the lower half of a pointer, and cannot
 * use the file.  PMPI_File_f2c below detects such values: a number that is not an index of a file
 * is compared with the handles of the open files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>

#include "mpiio.h"

#ifdef MPICH_VERSION

enum { INDICES = 1 << 20 }; /* limit of Fortran indices, which MPICH counts from 1 */

static _Thread_local MPI_Fint wanted;
static _Thread_local MPI_File found;

static void compare_handle(mpiio_file *f) {
    if ((uint32_t)(uintptr_t)f->native == (uint32_t)wanted) found = f->native;
}

MPI_File PMPI_File_f2c(MPI_Fint index) {
    wanted = index;
    found = MPI_FILE_NULL;
    if (!mpiio_off() && (index < 0 || index >= INDICES)) mpiio_table_each(compare_handle);
    return found != MPI_FILE_NULL ? found : MPIIO_REAL(File_f2c)(index);
}
MPIIO_EXPORT(File_f2c);

#else
typedef int mpiio_nothing_to_do; /* Open MPI passes the correct number */
#endif
