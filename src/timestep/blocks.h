/* timestep: checksums of extents of a file, by block.  A block is the bytes of an extent between
 * two multiples of TUTTI__BLOCK, counted from the start of the file or from another origin.
 * Checksums of blocks that one operation writes completely are computed during the transfer, each
 * on one rank (base/sums.h); all other blocks are read.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BLOCKS_H
#define TUTTI_BLOCKS_H

#include "base/sums.h"
#include "collective/layer.h"
#include "comm/vote.h"

/* Bytes of a block.  Sections of datasets of at least this size start at a multiple of it. */
enum { TUTTI__BLOCK = 65536 };

/* Return the number of blocks of an extent. */
static inline int64_t tutti__blocks_of(tutti_off start, tutti_off bytes) {
    return bytes == 0 ? 0 : (start + bytes - 1) / TUTTI__BLOCK - start / TUTTI__BLOCK + 1;
}

typedef struct tutti__summed {
    tutti_off start, bytes;
} tutti__summed;

/* Ascending extents, and the index of the first block of each in the table of all blocks. */
typedef struct tutti__block_list {
    /* file offset of block 0 (default: 0); set before the first extent is added */
    tutti_off origin;
    int64_t n;
    tutti__summed *of;
    int64_t *first; /* [n + 1] index of the first block of each extent */
} tutti__block_list;

/* Create a list with space for `room` extents, which are then added.   Not collective, like all
 * functions here unless stated otherwise. */
tutti_err tutti__blocks_make(int64_t capacity, tutti__block_list *out) TUTTI_MUST_USE;
void tutti__blocks_add(tutti__block_list *b, tutti_off start, tutti_off bytes);
void tutti__blocks_free(tutti__block_list *b);
/* Get the bytes [*lo, *hi) of a block of the table; returns the index of its extent. */
int64_t tutti__blocks_bounds(const tutti__block_list *b, int64_t block, tutti_off *lo,
                             tutti_off *hi);
/* Return the index in the table of block `at` of the file, and its extent; -1: no extent contains
 * the complete block. */
int64_t tutti__blocks_whole(const tutti__block_list *b, tutti_off at, int64_t *extent_out);

/* Compare blocks from ... from + n - 1 of a file with their checksums; *block_out is the first
 * block that differs; -1: none.
 * @return TUTTI_ERR_FORMAT if the file ends within a block */
tutti_err tutti__blocks_compare(tutti_file *f, const tutti__block_list *b, int64_t from, int64_t n,
                                const uint64_t *want, int64_t *block_out) TUTTI_MUST_USE;

/* Checksums of a list of blocks on rank 0, and the blocks whose checksums are not yet known. */
typedef struct tutti__block_table {
    int64_t n; /* number of blocks of the list */
    uint64_t *checksums;
    int64_t *missing; /* [missing_n] blocks whose checksums are not known, ascending */
    int64_t missing_n;
} tutti__block_table;

/* Create a table from the checksums that the ranks know, by block of the list. */
tutti_err tutti__block_table_make(const tutti__block_list *b, int64_t n,
                                  const tutti__checksum *known,
                                  tutti__block_table *out) TUTTI_MUST_USE;
/* Read the missing blocks and compute their checksums. */
tutti_err tutti__block_table_read(tutti_file *f, const tutti__block_list *b,
                                  tutti__block_table *t) TUTTI_MUST_USE;
/* Like tutti__block_table_read, distributed over all ranks.  Rank 0 returns the error of any rank;
 * the caller agrees on it.   Collective. */
tutti_err tutti__block_table_share(tutti__team *team, tutti_file *f, const tutti__block_list *b,
                                   tutti__block_table *t) TUTTI_MUST_USE;
void tutti__block_table_free(tutti__block_table *t);

/* Compute all checksums, from those that the ranks know (by block of the list, each on one rank)
 * and from the file.  *table_out: on rank 0 the table, which the caller frees.   Collective. */
tutti_err tutti__blocks_sum(tutti__team *t, tutti_file *f, const tutti__block_list *b, int64_t n,
                            const tutti__checksum *known, uint64_t **table_out) TUTTI_MUST_USE;

#endif
