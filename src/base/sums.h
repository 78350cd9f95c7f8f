/* base: checksums of blocks of a file, computed while it is written.
 *
 * Block k is bytes [start + k * bytes, start + (k + 1) * bytes) of the file; the last one may be
 * shorter: it ends at `end`.  A block has a checksum if one operation writes all of it; the rank that
 * has it in memory, an aggregator or the owner of the bytes, adds it to the checksums of its own
 * request.  So each such block is in the checksums of at most one rank, and of exactly one unless the
 * operation was executed by a plan of the caller at another displacement than planned: if that is
 * not a multiple of the block, windows divide blocks, which then have no checksum.  A
 * checksum may be missing, without a report, but is never wrong.  A layer that needs all of them
 * reads the missing blocks back.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SUMS_H
#define TUTTI_SUMS_H

#include "base/memory.h"

typedef struct tutti__sum {
    tutti_off block;
    uint64_t hash; /* XXH3, 64 bits, without a seed */
} tutti__sum;

typedef struct tutti__sums {
    tutti_off bytes; /* of a block: a power of two, TUTTI__SUMS_LEAST or more */
    tutti_off start; /* of block 0 */
    tutti_off end;   /* end of the last block; 0: no last block */
    tutti__sum *v;   /* in no order */
    size_t n, room;
} tutti__sums;

#define TUTTI__SUMS_LEAST 512
#define TUTTI__SUMS_MOST (16 << 20)

/* The largest start + k * unit that is <= `at`; `unit` is a power of two. */
static inline tutti_off tutti__sums_floor(const tutti__sums *s, tutti_off at, tutti_off unit) {
    return ((at - s->start) & -unit) + s->start;
}
/* The first block that starts at or after `at`: its start, and its end. */
static inline tutti_off tutti__sums_next(const tutti__sums *s, tutti_off at, tutti_off *end_out) {
    const tutti_off start = tutti__sums_floor(s, at + s->bytes - 1, s->bytes);
    const int is_last = start < s->end && s->end < start + s->bytes;
    *end_out = is_last ? s->end : start + s->bytes;
    return start;
}

uint64_t tutti__sum_of(const void *data, size_t bytes);
/* Add the blocks that are within `bytes` bytes of the file at `offset`. */
tutti_err tutti__sums_add(tutti__sums *s, tutti_off offset, const void *data,
                          tutti_off bytes) TUTTI_MUST_USE;
void tutti__sums_free(tutti__sums *s);

#endif
