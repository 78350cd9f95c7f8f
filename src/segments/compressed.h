/* segments: variables that are compressed: put and got.
 *
 *   compressed_put   entries go to the ranks that look after their chunks, which pack these
 *   compressed_get   who wants entries asks the ranks that look after their chunks
 *   compressed       what both have: who looks after what, entries chunk by chunk, headers
 *
 * Chunks (chunks.h) are dealt out to ranks in ranges that follow each other.  A rank needs memory for the
 * entries that it holds and for the chunks that it looks after.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COMPRESSED_H
#define TUTTI_COMPRESSED_H

#include "access/convert.h"
#include "comm/sparse.h"
#include "compression/chunks.h"
#include "segments/dataset_impl.h"

/* A variable and the memory of its numbers on this rank. */
typedef struct tutti__compressed {
    const tutti__variable *v;
    int type; /* in the file */
    tutti_decomposition *entries;
    tutti_type memory_type;
    void *buf; /* not changed by a put */
    int ieee;  /* values that are too large become infinities */
} tutti__compressed;

/* ---- compressed_put.c */

/* What this rank has of a section that has been packed. */
typedef struct tutti__packed_section {
    tutti_off bytes; /* of the section: of all ranks */
    tutti_off
        at[2]; /* where its pieces lie in it: rows of the table (rank 0: and the header), frames */
    tutti_off size[2]; /* how long they are */
    char *data;        /* both pieces; tutti__free */
} tutti__packed_section;
enum { TUTTI__PACKED_TOGETHER = 32 };
/* Pack the entries of at most TUTTI__PACKED_TOGETHER variables, each of a decomposition that is whole, for the segment being written.  Small variables go
 * together.   Collective; the same error on all ranks. */
tutti_err tutti__compressed_pack(tutti_dataset *d, int n, const tutti__compressed *from,
                                 tutti__packed_section *const *out) TUTTI_MUST_USE;
/* Its bytes in the file, if the section starts there.   Local. */
tutti_err tutti__packed_section_access(const tutti__packed_section *p, tutti_off start,
                                       tutti_access **out) TUTTI_MUST_USE;

/* ---- compressed_get.c */
/* Get entries of a section of a file.   Collective. */
tutti_err tutti__compressed_get(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                const tutti__compressed *to) TUTTI_MUST_USE;
/* All chunks of a segment can be unpacked.   Collective. */
tutti_err tutti__compressed_verify(tutti_dataset *d, const tutti__segment_row *g) TUTTI_MUST_USE;
/* Its header, read by rank 0.   Collective. */
tutti_err tutti__compressed_grid(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                 tutti__chunk_grid *out) TUTTI_MUST_USE;
/* Where chunks [first, first + n) begin and end, in bytes from the section's: [n + 1].   Local. */
tutti_err tutti__compressed_table(tutti_file *f, const tutti__section *s,
                                  const tutti__chunk_grid *g, tutti_count first, tutti_count n,
                                  tutti_off *bounds_out) TUTTI_MUST_USE;

/* ---- compressed.c */

/* What sections of that type are made of, as of a segment (an id).   0: there is no such size */
int tutti__chunked_of(const tutti_dataset *d, const tutti__variable *v, int type, int64_t segment,
                      tutti__chunked *out);

/* The chunks that a rank looks after: [*lo, *hi).   And the rank that looks after one. */
void tutti__chunks_share(const tutti__chunk_grid *g, int ranks, int rank, tutti_count *lo,
                         tutti_count *hi);
int tutti__chunk_keeper(const tutti__chunk_grid *g, int ranks, tutti_count chunk);

/* Entries of this rank that follow each other in a chunk and in memory. */
typedef struct tutti__chunk_piece {
    tutti_count position, memory, n;
    int keeper;
} tutti__chunk_piece;
/* Runs, piece by piece: chunks rise, and so do keepers.  Begins with k = done = 0. */
typedef struct tutti__chunk_walk {
    const tutti__entry_runs *runs;
    const tutti__chunk_grid *grid;
    int ranks;
    tutti_count k, done;
} tutti__chunk_walk;
int tutti__chunk_walk_next(tutti__chunk_walk *w, tutti__chunk_piece *out); /* 0: no more */

/* A piece as it travels; values may follow it. */
typedef struct tutti__chunk_record {
    int64_t position, n;
    int64_t variable; /* of those that are put together */
} tutti__chunk_record;

/* Messages to keepers, one after the other in a buffer: a piece of so many bytes comes next.  None gets
 * much longer than 64 MiB, with what is sent or answered. */
typedef struct tutti__chunk_mail {
    tutti__sparse_message *v;
    int64_t n;
    size_t answer; /* bytes of the answer to the last one */
} tutti__chunk_mail;
void tutti__chunk_mail_break(tutti__chunk_mail *m); /* the next piece begins a message */
tutti_err tutti__chunk_mail_add(tutti__chunk_mail *m, int keeper, char *at, size_t bytes,
                                size_t answer) TUTTI_MUST_USE;

/* How numbers change between memory and file. */
tutti_err tutti__compressed_conversion(const tutti__compressed *c,
                                       tutti__conversion *out) TUTTI_MUST_USE;
/* Say which entry it was that does not fit; the piece began with `position`. */
tutti_err tutti__compressed_misfit(const tutti__compressed *c, tutti_count position,
                                   tutti_count bad) TUTTI_MUST_USE;

#endif
