/* base: checksums of blocks of a file, computed while the file is written.
 *
 * Block k is bytes [start + k * bytes, start + (k + 1) * bytes) of the file; the last block may be
 * shorter and ends at `end`.  A block has a checksum if one operation writes all of it; the rank
 * that has the block in memory, an aggregator or the owner of the bytes, adds it to the checksums
 * of its request, so at most one rank has a given block.  No rank has the block if the operation
 * was executed by a user's plan at a displacement that differs from the planned one by a fraction
 * of a block, because then windows divide blocks.  A missing checksum is not reported, but a
 * checksum is never wrong.  A layer that needs all checksums reads the missing blocks back.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SUMS_H
#define TUTTI_SUMS_H

#include "base/memory.h"

typedef struct tutti__checksum {
    tutti_off block; /* index of the block */
    uint64_t hash;   /* XXH3, 64 bits, without a seed */
} tutti__checksum;

typedef struct tutti__checksums {
    tutti_off bytes;    /* bytes of a block: a power of two, at least TUTTI__SUMS_LEAST */
    tutti_off start;    /* file offset of block 0 */
    tutti_off end;      /* file offset where the last block ends; 0: all blocks are full */
    tutti__checksum *v; /* the n checksums, in any order */
    size_t n, capacity;
} tutti__checksums;

#define TUTTI__SUMS_LEAST 512
#define TUTTI__SUMS_MOST (16 << 20)

/* Return the largest s->start + k * unit that is <= `at`; `unit` is a power of two. */
static inline tutti_off tutti__checksums_floor(const tutti__checksums *s, tutti_off at,
                                               tutti_off unit) {
    return ((at - s->start) & -unit) + s->start;
}
/* Return the start of the first block that starts at or after `at`; *end_out is the end of that
 * block. */
static inline tutti_off tutti__checksums_next(const tutti__checksums *s, tutti_off at,
                                              tutti_off *end_out) {
    const tutti_off start = tutti__checksums_floor(s, at + s->bytes - 1, s->bytes);
    const int is_last = start < s->end && s->end < start + s->bytes;
    *end_out = is_last ? s->end : start + s->bytes;
    return start;
}

/* Return the checksum of `bytes` bytes. */
uint64_t tutti__checksum_of(const void *data, size_t bytes);
/* Add the checksums of the blocks that are completely within `bytes` bytes `data` of the file at
 * `offset`. */
tutti_err tutti__checksums_add(tutti__checksums *s, tutti_off offset, const void *data,
                               tutti_off bytes) TUTTI_MUST_USE;
void tutti__checksums_free(tutti__checksums *s);

#endif
