/* compression: divide a space into chunks; compress and decompress chunks.
 *
 * A chunk is a range of consecutive entries in row-major order with the shape 1 x ... x 1 x c x
 * N(k+1) x ... x N(last): dimension k is divided into pieces of c indices, earlier dimensions into
 * single indices, and later dimensions are not divided.  The chunks form a regular grid, as Zarr
 * requires:
 *
 *     4 x 10 entries, k = 1, c = 4       0 0 0 0 1 1 1 1 2 2 . .      . padding: the fill value
 *                                        3 3 3 3 4 4 4 4 5 5 . .
 *                                        6 ...
 *
 * Each chunk is compressed separately: the bytes of values are shuffled (all first bytes, all
 * second bytes, ...), then compressed to one zstd frame.  docs/reference/format.md specifies the
 * bytes of a section.  The module uses neither MPI nor files, and validates all data that it
 * decodes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CHUNKS_H
#define TUTTI_CHUNKS_H

#include <tutti/types.h>
#include "base/memory.h"

enum {
    TUTTI__CHUNK_BYTES = 1 << 20, /* approximate uncompressed bytes of a chunk */
    TUTTI__CHUNK_MOST = 1 << 28,  /* maximum uncompressed bytes of a chunk: the largest item */
    TUTTI__CHUNKS_HEADER = 64     /* bytes before the table */
};

/* The space and items of a section. */
typedef struct tutti__chunked {
    int ndims;
    const tutti_count *shape; /* shape of the space */
    tutti_off item;           /* bytes of an entry */
    int number;               /* bytes per value, for the byte shuffle */
} tutti__chunked;

/* The division of a space into chunks. */
typedef struct tutti__chunk_grid {
    int cut;             /* dimension that is divided */
    tutti_count extent;  /* indices per piece of dimension `cut` */
    tutti_count row;     /* entries of all indices of `cut`: N(k) x N(k+1) x ... */
    tutti_count entries; /* entries of a chunk, including padding */
    tutti_count a_row;   /* number of chunks per `row` entries */
    tutti_count chunks;
    tutti_off item;
    int number;
    size_t raw; /* bytes of a chunk before it is compressed */
} tutti__chunk_grid;

/* Divide the space into chunks of about `about` bytes, never within an item. */
void tutti__chunks_cut(const tutti__chunked *of, tutti_off about, tutti__chunk_grid *out);

/* Location of an entry. */
typedef struct tutti__chunk_place {
    tutti_count chunk, first; /* the entry is entry `first` of chunk `chunk` */
    tutti_count left;         /* entries of the chunk starting with this one, without padding */
} tutti__chunk_place;
tutti__chunk_place tutti__chunk_find(const tutti__chunk_grid *g, tutti_count position);
/* Return the number of entries of a chunk without padding. */
tutti_count tutti__chunk_filled(const tutti__chunk_grid *g, tutti_count chunk);

/* ---- the header, and the table of ends of frames */
void tutti__chunks_head(const tutti__chunk_grid *g, unsigned char out[TUTTI__CHUNKS_HEADER]);
/* Decode the header of a section of `bytes` bytes.  Fails with TUTTI_ERR_FORMAT if it is not
 * one. */
tutti_err tutti__chunks_head_read(const unsigned char head[TUTTI__CHUNKS_HEADER],
                                  const tutti__chunked *of, tutti_off bytes,
                                  tutti__chunk_grid *out) TUTTI_MUST_USE;
/* Return the offset of the first frame in the section. */
tutti_off tutti__chunks_begin(const tutti__chunk_grid *g);
/* Convert rows of the table between the byte order of the file and that of this machine, in
 * place. */
void tutti__chunks_table_turn(tutti_off *ends, tutti_count n);
/* Check that chunks [first, first + n) can begin at `begin` and end at ends[0 ... n - 1] in a
 * section of this size.  Fails with TUTTI_ERR_FORMAT otherwise. */
tutti_err tutti__chunks_table_check(const tutti__chunk_grid *g, tutti_count first, tutti_count n,
                                    tutti_off begin, const tutti_off *ends,
                                    tutti_off bytes) TUTTI_MUST_USE;

/* ---- one chunk */
/* State of compression for one thread; with level 0 it can only decompress.  Release it with
 * tutti__chunk_codec_free. */
typedef struct tutti__chunk_codec {
    void *context;           /* context of zstd */
    unsigned char *shuffled; /* [raw] */
    int number;
    size_t raw;
} tutti__chunk_codec;
tutti_err tutti__chunk_codec_make(const tutti__chunk_grid *g, int level,
                                  tutti__chunk_codec *out) TUTTI_MUST_USE;
void tutti__chunk_codec_free(tutti__chunk_codec *c);
/* Return the maximum size of a frame in bytes. */
size_t tutti__chunk_bound(size_t raw);
/* Compress [g->raw] bytes at `raw` into `frame`; `room` is at least tutti__chunk_bound.  The result
 * is the same on all ranks. */
tutti_err tutti__chunk_pack(tutti__chunk_codec *c, const void *raw, void *frame, size_t capacity,
                            size_t *bytes_out) TUTTI_MUST_USE;
/* Decompress a frame to g->raw bytes.  Fails with TUTTI_ERR_FORMAT if it is not one frame of this
 * size. */
tutti_err tutti__chunk_unpack(tutti__chunk_codec *c, const void *frame, size_t bytes,
                              void *raw_out) TUTTI_MUST_USE;

#endif
