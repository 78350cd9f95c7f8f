/* Tutti: accesses from MPI datatypes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPITYPE_H
#define TUTTI_MPITYPE_H

#include <mpi.h>
#include <tutti/access.h>

TUTTI_BEGIN_DECLS

/** Make the access that MPI-IO defines by a view and a buffer.
 *  Not collective.
 *  The file is tiled with `filetype` beginning at `displacement`.  The first `bytes_skipped`
 *  bytes of this view are skipped; the next count * size(memtype) bytes correspond to `count`
 *  elements of `memtype`.  Datatypes need not be committed; nested strides stay nested.
 *  @param[in] filetype  MPI_BYTE or any type with increasing, non-negative displacements.
 *  @return TUTTI_ERR_ARG if the filetype has size 0 and there are bytes to transfer, or if its
 *      displacements decrease. */
TUTTI_API tutti_err tutti_access_from_view(tutti_off displacement, MPI_Datatype filetype,
                                           tutti_off bytes_skipped, tutti_count count,
                                           MPI_Datatype memtype, tutti_access **out) TUTTI_MUST_USE;

/** A view that is analysed once and used for many accesses. */
typedef struct tutti_view tutti_view;

/** Make a view of a file tiled with `filetype` beginning at `displacement`.
 *  Not collective.
 *  The datatype may be freed afterwards.
 *  @param[in] filetype  as for tutti_access_from_view; it may have size 0.
 *  @param[out] v_out    free it with tutti_view_free.
 *  @return TUTTI_ERR_ARG if displacements decrease or are negative, or a byte is named twice. */
TUTTI_API tutti_err tutti_view_make(tutti_off displacement, MPI_Datatype filetype,
                                    tutti_view **v_out) TUTTI_MUST_USE;

/** Make the access of a view and a buffer, as tutti_access_from_view does.
 *  Not collective.
 *  Different threads may use one view at the same time. */
TUTTI_API tutti_err tutti_view_access(const tutti_view *v, tutti_off bytes_skipped,
                                      tutti_count count, MPI_Datatype memtype,
                                      tutti_access **out) TUTTI_MUST_USE;

/** Free a view and set the handle to NULL.
 *  Not collective.
 *  `v` and *v may be NULL. */
TUTTI_API void tutti_view_free(tutti_view **v);

/** Return the bounds [lo, hi) of the bytes of the first tile, relative to the displacement.
 *  Not collective.
 *  A filetype of size 0 has the bounds [0, 0). */
TUTTI_API void tutti_view_bounds(const tutti_view *v, tutti_off *lo, tutti_off *hi);

TUTTI_END_DECLS
#endif
