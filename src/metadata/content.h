/* metadata: copy the bytes of a segment between data files, archive files and streams, with checksums. No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONTENT_H
#define TUTTI_CONTENT_H

#include "metadata/model.h"

/* Location of the bytes: an offset of a file, or the current position of a stream. */
typedef struct tutti__content {
    int fd;                     /* or -1 */
    tutti_off at;               /* its first byte */
    const tutti_stream *stream; /* or NULL */
    const char *name;           /* for messages */
} tutti__content;

/* The checksum of `bytes` bytes: XXH3 of the XXH3 of pieces of 64 KiB, 8 bytes each, little-endian. */
tutti_err tutti__content_sum(const tutti__content *c, tutti_off bytes,
                             uint64_t *sum_out) TUTTI_MUST_USE;
/* Copy bytes (`to` NULL: only read them) and compute their checksum. */
tutti_err tutti__content_copy(const tutti__content *from, const tutti__content *to, tutti_off bytes,
                              uint64_t *sum_out) TUTTI_MUST_USE;
/* Read n bytes of a stream. TUTTI_ERR_FORMAT: it is too short. */
tutti_err tutti__stream_read(const tutti_stream *s, void *to, size_t n) TUTTI_MUST_USE;
tutti_err tutti__stream_write(const tutti_stream *s, const void *from, size_t n) TUTTI_MUST_USE;
/* Read or write n bytes of a file. TUTTI_ERR_FORMAT: it is too short. */
tutti_err tutti__bytes_read(int fd, tutti_off at, void *to, size_t n,
                            const char *name) TUTTI_MUST_USE;
tutti_err tutti__bytes_write(int fd, tutti_off at, const void *from, size_t n,
                             const char *name) TUTTI_MUST_USE;

/* ---- a segment in an archive: the name of its file and the header before its bytes (docs/reference/format.md) */
enum { TUTTI__ARCHIVE_HEAD = 512, TUTTI__ARCHIVE_NAME = 80 };
/* `id`: of the dataset; NULL: a file of version 1, without an id. */
void tutti__archive_name(const uint64_t *id, const tutti__segment_row *g,
                         char out[TUTTI__ARCHIVE_NAME]);
void tutti__archive_head(const uint64_t *id, const tutti__segment_row *g, uint64_t sum,
                         char out[TUTTI__ARCHIVE_HEAD]);
/* TUTTI_ERR_FORMAT: it is not the header of this segment of this dataset with this checksum, in any version. */
tutti_err tutti__archive_head_check(const char head[TUTTI__ARCHIVE_HEAD], const uint64_t *id,
                                    const tutti__segment_row *g, uint64_t sum) TUTTI_MUST_USE;

#endif
