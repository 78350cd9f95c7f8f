/* Tutti: MPI datatypes as accesses.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPITYPE_H
#define TUTTI_MPITYPE_H

#include <mpi.h>
#include <tutti/access.h>

TUTTI_BEGIN_DECLS

/** The access that MPI-IO means by a view and a buffer: `bytes_skipped` bytes of the view (a file tiled
 *  with `filetype` from `displacement` on) are left out, then count * size(memtype) bytes go
 *  to or come from `count` elements of `memtype`.  Any datatype, committed or not; nested strides stay nested.
 *  Local.
 *  @param[in] filetype  MPI_BYTE or any type with increasing, non-negative displacements
 *  @return TUTTI_ERR_ARG for a filetype of size 0 with bytes to move, or one that goes backwards */
TUTTI_API tutti_err tutti_access_from_view(tutti_off displacement, MPI_Datatype filetype,
                                           tutti_off bytes_skipped, tutti_count count,
                                           MPI_Datatype memtype, tutti_access **out) TUTTI_MUST_USE;

TUTTI_END_DECLS
#endif
