/* Tutti: MPI handles of Fortran and other languages.
 *
 * Fortran represents communicators, datatypes and infos as integers (mpi_f08: as a type that
 * contains an integer), and other languages can obtain these integers, for example with
 * `comm.py2f()` of mpi4py.  Only a C function compiled for the same MPI can convert them; these
 * functions do so for interpreted languages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_H
#define TUTTI_FORTRAN_H

#include <mpi.h>
#include <tutti/types.h>

TUTTI_BEGIN_DECLS

/** @name Handles of Fortran
 *  MPI must be initialized and not finalized; otherwise the functions return the null handle. */
/**@{*/
/** Return the communicator of a Fortran handle.
 *  Not collective.
 *  @return MPI_COMM_NULL if the handle is invalid, as far as the MPI library detects it. */
TUTTI_API MPI_Comm tutti_comm_f2c(int handle);

/** Return the datatype of a Fortran handle.
 *  Not collective.
 *  @return MPI_DATATYPE_NULL if the handle is invalid. */
TUTTI_API MPI_Datatype tutti_datatype_f2c(int handle);

/** Return the info object of a Fortran handle.
 *  Not collective.
 *  @return MPI_INFO_NULL if the handle is invalid. */
TUTTI_API MPI_Info tutti_info_f2c(int handle);
/**@}*/

TUTTI_END_DECLS
#endif
