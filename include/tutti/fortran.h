/* Tutti: MPI's handles as other languages have them.
 *
 * Fortran knows communicators, datatypes and infos by integers (in mpi_f08: by a type with an integer
 * inside), and other languages get at them as such: mpi4py's `comm.py2f()`.  What such an integer
 * stands for, only a C function that was compiled for that MPI can say; a binding that is
 * interpreted has none but these.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_H
#define TUTTI_FORTRAN_H

#include <mpi.h>
#include <tutti/types.h>

TUTTI_BEGIN_DECLS

/** @name Handles of Fortran.   Local.
 *  MPI has been initialized, and not finalized: otherwise they are the null handle, too. */
/**@{*/
/** The communicator that Fortran has by this integer.
 *  @return MPI_COMM_NULL if there is none, as far as the MPI can tell: calls refuse that */
TUTTI_API MPI_Comm tutti_comm_f2c(int handle);

/** The datatype that Fortran has by this integer.   @return MPI_DATATYPE_NULL if there is none */
TUTTI_API MPI_Datatype tutti_datatype_f2c(int handle);

/** The info that Fortran has by this integer.   @return MPI_INFO_NULL if there is none */
TUTTI_API MPI_Info tutti_info_f2c(int handle);
/**@}*/

TUTTI_END_DECLS
#endif
