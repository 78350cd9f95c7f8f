/* metadata: copy the bytes of a segment between data files, archive files and streams, with
 * checksums.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONTENT_H
#define TUTTI_CONTENT_H

#include "metadata/model.h"

/* Location of bytes: an offset of a file, or the current position of a stream. */
typedef struct tutti__content {
    int fd;                     /* file descriptor; -1: use `stream` */
    tutti_off at;               /* file offset of the first byte */
    const tutti_stream *stream; /* NULL: use `fd` */
    const char *name;           /* name for messages */
} tutti__content;

/* Compute the checksum of `bytes` bytes: XXH3 of the XXH3 values of pieces of 64 KiB, each stored
 * as 8 bytes, little-endian. */
tutti_err tutti__content_sum(const tutti__content *c, tutti_off bytes,
                             uint64_t *sum_out) TUTTI_MUST_USE;
/* Copy bytes (`to` may be NULL: only read them) and compute their checksum. */
tutti_err tutti__content_copy(const tutti__content *from, const tutti__content *to, tutti_off bytes,
                              uint64_t *sum_out) TUTTI_MUST_USE;
/* Read or write n bytes of a stream.  Reading fails with TUTTI_ERR_FORMAT if the stream ends
 * early. */
tutti_err tutti__stream_read(const tutti_stream *s, void *to, size_t n) TUTTI_MUST_USE;
tutti_err tutti__stream_write(const tutti_stream *s, const void *from, size_t n) TUTTI_MUST_USE;
/* Read or write n bytes of a file.  Reading fails with TUTTI_ERR_FORMAT if the file is too
 * short. */
tutti_err tutti__bytes_read(int fd, tutti_off at, void *to, size_t n,
                            const char *name) TUTTI_MUST_USE;
tutti_err tutti__bytes_write(int fd, tutti_off at, const void *from, size_t n,
                             const char *name) TUTTI_MUST_USE;

/* ---- a segment in an archive: the name of its file and the header before its bytes
 * (docs/reference/format.md) */
enum { TUTTI__ARCHIVE_HEAD = 512, TUTTI__ARCHIVE_NAME = 80 };
/* Make the file name and the header of a segment in an archive.  `id` is that of the dataset; NULL:
 * a file of version 1, which has no id. */
void tutti__archive_name(const uint64_t *id, const tutti__segment_row *g,
                         char out[TUTTI__ARCHIVE_NAME]);
void tutti__archive_head(const uint64_t *id, const tutti__segment_row *g, uint64_t sum,
                         char out[TUTTI__ARCHIVE_HEAD]);
/* Check that this is the header of this segment of this dataset with this checksum, in any version.
 * Fails with TUTTI_ERR_FORMAT otherwise. */
tutti_err tutti__archive_head_check(const char head[TUTTI__ARCHIVE_HEAD], const uint64_t *id,
                                    const tutti__segment_row *g, uint64_t sum) TUTTI_MUST_USE;

#endif
