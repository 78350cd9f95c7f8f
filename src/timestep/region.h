/* timestep: checksums of a region of a file that several operations write: a step, or the mesh.
 *
 * The checksum of a block that one operation wrote whole is computed while its bytes are transferred.  It is valid only if
 * no other operation wrote to that block.  Each rank therefore records the bytes of each of its operations; if there
 * was more than one operation, the ranks compare the first and the last operation of each block.
 *
 * Datasets do not use regions: a section of a dataset has blocks of its own, so that counting the puts of the section
 * is sufficient and needs no communication (segments/checksums.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REGION_H
#define TUTTI_REGION_H

#include "timestep/blocks.h"

typedef struct tutti__region tutti__region;

typedef struct tutti__region_spec {
    tutti_off start, end; /* bytes of the file */
    tutti_off origin;     /* offset of the file at which block 0 starts */
    tutti_off base;       /* offset of the file that accesses of its operations count from */
} tutti__region_spec;

/* All functions accept NULL for a region without checksums, and are not collective unless stated. */

/* Create a region that no operation has written to. */
tutti_err tutti__region_make(const tutti__region_spec *spec, tutti__region **out) TUTTI_MUST_USE;
void tutti__region_free(tutti__region **r);
/* Start another operation: on all ranks, also on those that refuse it. */
void tutti__region_next_operation(tutti__region *r);
/* Record the bytes that the operation writes.  *out receives its checksums; NULL: none are needed. */
tutti_err tutti__region_add_parts(tutti__region *r, int n, const tutti_part *parts,
                                  tutti__sums **out) TUTTI_MUST_USE;
/* Start another operation that writes bytes lo ... hi - 1 of the file, without checksums. */
tutti_err tutti__region_touch(tutti__region *r, tutti_off lo, tutti_off hi) TUTTI_MUST_USE;
/* Allocate memory that tutti__region_known needs. */
tutti_err tutti__region_reserve(tutti__region *r) TUTTI_MUST_USE;
/* The blocks of the region, which is not NULL. */
const tutti__block_list *tutti__region_blocks(const tutti__region *r);
/* List the checksums that this rank knows, by block, of blocks that one operation wrote; *out is to be freed.  A rank that
 * fails passes local_err, gets none and returns it.   Collective; not for NULL.
 * @return an error of MPI, or a local one */
tutti_err tutti__region_known(tutti__region *r, tutti__team *team, tutti_err local_err,
                              tutti__sum **out, int64_t *n_out) TUTTI_MUST_USE;

#endif
