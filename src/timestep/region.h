/* timestep: checksums of a region of a file that several operations write: a step, or the mesh.
 *
 * The checksum of a block that one operation wrote completely is computed while its bytes are
 * transferred.  It is valid only if no other operation wrote to that block.  Each rank therefore
 * records the bytes of each of its operations; if there was more than one operation, the ranks
 * compare the first and the last operation of each block.
 *
 * Datasets do not use regions: a section of a dataset has blocks of its own, so that counting the
 * puts of the section is sufficient and needs no communication (segments/checksums.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REGION_H
#define TUTTI_REGION_H

#include "timestep/blocks.h"

typedef struct tutti__region tutti__region;

typedef struct tutti__region_spec {
    tutti_off start, end; /* bytes [start, end) of the file */
    tutti_off origin;     /* file offset at which block 0 starts */
    tutti_off base;       /* file offset that is the base of accesses of its operations */
} tutti__region_spec;

/* All functions accept NULL for a region without checksums, and are not collective unless
 * stated. */

/* Create a region that no operation has written to. */
tutti_err tutti__region_make(const tutti__region_spec *spec, tutti__region **out) TUTTI_MUST_USE;
void tutti__region_free(tutti__region **r);
/* Start another operation; must be called on all ranks, including those that refuse it. */
void tutti__region_next_operation(tutti__region *r);
/* Record the bytes that the operation writes.  *out is the destination of its checksums; NULL: none
 * are needed. */
tutti_err tutti__region_add_parts(tutti__region *r, int n, const tutti_part *parts,
                                  tutti__checksums **out) TUTTI_MUST_USE;
/* Start another operation that writes bytes [lo, hi) of the file, without checksums. */
tutti_err tutti__region_touch(tutti__region *r, tutti_off lo, tutti_off hi) TUTTI_MUST_USE;
/* Allocate memory that tutti__region_known needs. */
tutti_err tutti__region_reserve(tutti__region *r) TUTTI_MUST_USE;
/* Return the blocks of the region, which must not be NULL. */
const tutti__block_list *tutti__region_blocks(const tutti__region *r);
/* List the checksums that this rank knows of blocks that only one operation wrote, by block; the
 * caller frees *out.  A rank with an error passes it as local_err; it gets no checksums, and
 * returns this error.   Collective; the region must not be NULL.
 * @return an error of MPI or of this rank */
tutti_err tutti__region_known(tutti__region *r, tutti__team *team, tutti_err local_err,
                              tutti__checksum **out, int64_t *n_out) TUTTI_MUST_USE;

#endif
