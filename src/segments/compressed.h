/* segments: write and read compressed variables.
 *
 *   compressed_put   entries are sent to the owners of their chunks, which compress them
 *   compressed_get   entries are requested from the owners of their chunks
 *   compressed       common functions: owners of chunks, entries by chunk, headers
 *
 * Chunks (chunks.h) are distributed to ranks in contiguous ranges.  A rank needs memory for its
 * entries and for the chunks that it owns.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COMPRESSED_H
#define TUTTI_COMPRESSED_H

#include "access/convert.h"
#include "comm/sparse.h"
#include "compression/chunks.h"
#include "segments/dataset_impl.h"

/* A variable and its values in the memory of this rank. */
typedef struct tutti__compressed {
    const tutti__variable *v;
    int type; /* type in the file */
    tutti_decomposition *entries;
    tutti_type memory_type;
    void *buf; /* unchanged by a put */
    int ieee;  /* whether values that are too large become infinities */
} tutti__compressed;

/* ---- compressed_put.c */

/* This rank's share of a compressed section. */
typedef struct tutti__packed_section {
    tutti_off bytes; /* bytes of the section, for all ranks */
    /* offsets of this rank's pieces: rows of the table (on rank 0 also the header), and frames */
    tutti_off at[2];
    tutti_off size[2]; /* lengths of the pieces */
    char *data;        /* both pieces; freed with tutti__free */
} tutti__packed_section;
enum { TUTTI__PACKED_TOGETHER = 32 };
/* Pack the entries of at most TUTTI__PACKED_TOGETHER variables, each with a decomposition of the
 * whole space, for the segment being written.  Small variables are packed together.   Collective;
 * returns the same error on all ranks. */
tutti_err tutti__compressed_pack(tutti_dataset *d, int n, const tutti__compressed *from,
                                 tutti__packed_section *const *out) TUTTI_MUST_USE;
/* Make an access of this rank's pieces in the file for a section that begins at `start`.   Not
 * collective. */
tutti_err tutti__packed_section_access(const tutti__packed_section *p, tutti_off start,
                                       tutti_access **out) TUTTI_MUST_USE;

/* ---- compressed_get.c */
/* Get entries of a section of a file.   Collective. */
tutti_err tutti__compressed_get(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                const tutti__compressed *to) TUTTI_MUST_USE;
/* Check that all chunks of a segment can be decompressed.   Collective. */
tutti_err tutti__compressed_verify(tutti_dataset *d, const tutti__segment_row *g) TUTTI_MUST_USE;
/* Read the header of a section on rank 0 and broadcast it.   Collective. */
tutti_err tutti__compressed_grid(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                 tutti__chunk_grid *out) TUTTI_MUST_USE;
/* Get the bounds of chunks [first, first + n) in bytes from the start of the section, [n + 1]
 * values.   Not collective. */
tutti_err tutti__compressed_table(tutti_file *f, const tutti__section *s,
                                  const tutti__chunk_grid *g, tutti_count first, tutti_count n,
                                  tutti_off *bounds_out) TUTTI_MUST_USE;

/* ---- compressed.c */

/* Describe the space and the items of a section of type `type`, as of a segment (an id).  Returns 0
 * if the space has no size. */
int tutti__chunked_of(const tutti_dataset *d, const tutti__variable *v, int type, int64_t segment,
                      tutti__chunked *out);

/* Get the chunks that a rank owns, [*lo, *hi); return the owner of a chunk. */
void tutti__chunks_share(const tutti__chunk_grid *g, int ranks, int rank, tutti_count *lo,
                         tutti_count *hi);
int tutti__chunk_owner(const tutti__chunk_grid *g, int ranks, tutti_count chunk);

/* Entries of this rank that are consecutive in a chunk and in memory. */
typedef struct tutti__chunk_piece {
    tutti_count position, memory, n;
    int owner;
} tutti__chunk_piece;
/* Iterator over the pieces of runs, in ascending order of chunks, and therefore of owners.  It
 * starts with k = done = 0. */
typedef struct tutti__chunk_walk {
    const tutti__entry_runs *runs;
    const tutti__chunk_grid *grid;
    int ranks;
    tutti_count k, done;
} tutti__chunk_walk;
/* Get the next piece; returns 0 at the end. */
int tutti__chunk_walk_next(tutti__chunk_walk *w, tutti__chunk_piece *out);

/* A piece in a message; values may follow it. */
typedef struct tutti__chunk_record {
    int64_t position, n;
    int64_t variable; /* index among the variables that are put together */
} tutti__chunk_record;

/* Messages to owners, one after the other in a buffer.  The size of a message, and of its answer,
 * is limited to about 64 MiB. */
typedef struct tutti__chunk_mail {
    tutti__sparse_message *v;
    int64_t n;
    size_t answer; /* bytes of the answer to the last message */
} tutti__chunk_mail;
void tutti__chunk_mail_break(tutti__chunk_mail *m); /* the next piece begins a message */
tutti_err tutti__chunk_mail_add(tutti__chunk_mail *m, int owner, char *at, size_t bytes,
                                size_t answer) TUTTI_MUST_USE;

/* Make the conversion of values between memory and file. */
tutti_err tutti__compressed_conversion(const tutti__compressed *c,
                                       tutti__conversion *out) TUTTI_MUST_USE;
/* Add to the last error the entry that cannot be converted; the piece starts at `position`. */
tutti_err tutti__compressed_misfit(const tutti__compressed *c, tutti_count position,
                                   tutti_count bad) TUTTI_MUST_USE;

#endif
