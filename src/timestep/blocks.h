/* timestep: checksums of extents of a file, by block.  A block is the bytes of an extent between two multiples of TUTTI__BLOCK,
 * counted from the start of the file or from another origin.  Checksums of blocks that one operation writes whole are
 * computed during the transfer, each on one rank (base/sums.h); all other blocks are read.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BLOCKS_H
#define TUTTI_BLOCKS_H

#include "base/sums.h"
#include "collective/layer.h"
#include "comm/vote.h"

enum {
    TUTTI__BLOCK = 65536
}; /* bytes; sections of datasets of at least this size start at a multiple */

/* Number of blocks of an extent. */
static inline int64_t tutti__blocks_of(tutti_off start, tutti_off bytes) {
    return bytes == 0 ? 0 : (start + bytes - 1) / TUTTI__BLOCK - start / TUTTI__BLOCK + 1;
}

typedef struct tutti__summed {
    tutti_off start, bytes;
} tutti__summed;

/* Ascending extents, and the index of the first block of each in the table of all blocks. */
typedef struct tutti__block_list {
    tutti_off origin; /* default: 0; set before the first extent is added */
    int64_t n;
    tutti__summed *of;
    int64_t *first; /* [n + 1] */
} tutti__block_list;

/* Create a list with room for `room` extents, which are then added.   Not collective, as all functions here unless stated. */
tutti_err tutti__blocks_make(int64_t room, tutti__block_list *out) TUTTI_MUST_USE;
void tutti__blocks_add(tutti__block_list *b, tutti_off start, tutti_off bytes);
void tutti__blocks_free(tutti__block_list *b);
/* The bytes of a block of the table; returns the index of its extent. */
int64_t tutti__blocks_bounds(const tutti__block_list *b, int64_t block, tutti_off *lo,
                             tutti_off *hi);
/* The index in the table of block `at` of the file, and its extent; -1: the block is not whole in one extent. */
int64_t tutti__blocks_whole(const tutti__block_list *b, tutti_off at, int64_t *extent_out);

/* Compare blocks from ... from + n - 1 of a file with their checksums: *block_out is the first that differs; -1: none.
 * @return TUTTI_ERR_FORMAT if the file ends within a block */
tutti_err tutti__blocks_compare(tutti_file *f, const tutti__block_list *b, int64_t from, int64_t n,
                                const uint64_t *want, int64_t *block_out) TUTTI_MUST_USE;

/* The checksums of a list on rank 0, and the blocks whose checksums are not known yet. */
typedef struct tutti__block_table {
    int64_t n; /* blocks of the list */
    uint64_t *sums;
    int64_t *missing; /* [missing_n] ascending */
    int64_t missing_n;
} tutti__block_table;

/* Create a table from the checksums of the ranks, by block of the list. */
tutti_err tutti__block_table_make(const tutti__block_list *b, int64_t n, const tutti__sum *known,
                                  tutti__block_table *out) TUTTI_MUST_USE;
/* Read the missing blocks. */
tutti_err tutti__block_table_read(tutti_file *f, const tutti__block_list *b,
                                  tutti__block_table *t) TUTTI_MUST_USE;
/* The same, distributed over all ranks.  Rank 0 returns the error of any rank; the caller agrees on it.   Collective. */
tutti_err tutti__block_table_share(tutti__team *team, tutti_file *f, const tutti__block_list *b,
                                   tutti__block_table *t) TUTTI_MUST_USE;
void tutti__block_table_free(tutti__block_table *t);

/* All checksums, from those of the ranks (by block of the list, each on one rank) and from the
 * file.  *table_out: on rank 0, to be freed.   Collective. */
tutti_err tutti__blocks_sum(tutti__team *t, tutti_file *f, const tutti__block_list *b, int64_t n,
                            const tutti__sum *known, uint64_t **table_out) TUTTI_MUST_USE;

#endif
