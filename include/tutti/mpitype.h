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

/** A view that is read once, for many accesses. */
typedef struct tutti_view tutti_view;

/** The view of a file tiled with `filetype` from `displacement` on.   Local.
 *  The datatype may be freed afterwards.
 *  @param[in] filetype  as for tutti_access_from_view; no bytes at all are fine
 *  @param[out] v_out  free it with tutti_view_free
 *  @return TUTTI_ERR_ARG for one that goes backwards, names a byte twice or has negative displacements */
TUTTI_API tutti_err tutti_view_make(tutti_off displacement, MPI_Datatype filetype,
                                    tutti_view **v_out) TUTTI_MUST_USE;

/** The access of a view and a buffer, as tutti_access_from_view makes it.   Local.   Different threads may
 *  use one view at the same time. */
TUTTI_API tutti_err tutti_view_access(const tutti_view *v, tutti_off bytes_skipped,
                                      tutti_count count, MPI_Datatype memtype,
                                      tutti_access **out) TUTTI_MUST_USE;

/** Free a view and null the handle; NULL and a handle that is NULL are fine.   Local. */
TUTTI_API void tutti_view_free(tutti_view **v);

/** Bounds [lo, hi) of the bytes of its first tile, counted from the displacement; a filetype without bytes gives
 *  [0, 0).   Local. */
TUTTI_API void tutti_view_bounds(const tutti_view *v, tutti_off *lo, tutti_off *hi);

TUTTI_END_DECLS
#endif
