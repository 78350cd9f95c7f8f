/* dataset: checksums of extents of a file, in blocks: the bytes of an extent between two multiples of
 * TUTTI__BLOCK, counted from the start of the file or from another origin.  Those that one operation wrote whole were summed as they passed by, each on
 * some rank (base/sums.h); all others are read back.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BLOCKS_H
#define TUTTI_BLOCKS_H

#include "base/sums.h"
#include "collective/layer.h"
#include "comm/vote.h"
#include "metadata/trailer.h"

typedef struct tutti__summed {
    tutti_off start, bytes;
} tutti__summed;

/* Extents that rise, and where the blocks of each begin in the table of all. */
typedef struct tutti__block_list {
    tutti_off origin; /* 0, unless it is set before the first extent is added */
    int64_t n;
    tutti__summed *of;
    int64_t *first; /* [n + 1] */
} tutti__block_list;

/* Room for so many; then they are added.   Local, as is everything but tutti__blocks_sum. */
tutti_err tutti__blocks_make(int64_t room, tutti__block_list *out) TUTTI_MUST_USE;
void tutti__blocks_add(tutti__block_list *b, tutti_off start, tutti_off bytes);
void tutti__blocks_free(tutti__block_list *b);
/* The bytes of a block of the table; returns which extent it is of. */
int64_t tutti__blocks_bounds(const tutti__block_list *b, int64_t block, tutti_off *lo,
                             tutti_off *hi);
/* Block `at` of the file, in the table, and its extent; -1: it is not all of one extent's. */
int64_t tutti__blocks_whole(const tutti__block_list *b, tutti_off at, int64_t *extent_out);

/* Sums of the blocks list[0 ... n - 1] of the table, of a file that is being written: what lies behind its
 * end will be zeros.  NULL: from `from` on, of a file that must have them. */
tutti_err tutti__blocks_read(tutti_file *f, const tutti__block_list *b, const int64_t *list,
                             int64_t from, int64_t n, uint64_t *sums_out) TUTTI_MUST_USE;
/* All sums, from those that the ranks know (by their place in the table, each by one rank) and from the
 * file: a table on rank 0, to be freed.   Collective. */
tutti_err tutti__blocks_sum(tutti__team *t, tutti_file *f, const tutti__block_list *b, int64_t n,
                            const tutti__sum *known, uint64_t **table_out) TUTTI_MUST_USE;

#endif
