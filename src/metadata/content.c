/* metadata: copy the bytes of segments, with checksums (content.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/content.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/size_limit.h"
#include "base/sums.h"

enum { PIECE = 65536, BUFFER = 16 * PIECE };

tutti_err tutti__bytes_read(int fd, tutti_off at, void *to, size_t n, const char *name) {
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(fd, (char *)to + done, n - done, at + (tutti_off)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tutti__error_sys(errno, at, name);
        TUTTI_CHECK(got > 0, TUTTI_ERR_FORMAT,
                    "short read of '%s': %zu of %zu bytes at offset %lld", name, done, n,
                    (long long)at);
        done += (size_t)got;
    }
    return TUTTI_OK;
}

tutti_err tutti__bytes_write(int fd, tutti_off at, const void *from, size_t n, const char *name) {
    if (tutti__limited_pwrite(fd, from, n, at) != 0) return tutti__error_sys(errno, at, name);
    return TUTTI_OK;
}

tutti_err tutti__stream_read(const tutti_stream *s, void *to, size_t n) {
    for (size_t done = 0; done < n;) {
        size_t got = 0;
        const int code = s->read(s->context, (char *)to + done, n - done, &got);
        if (code) return tutti__error_sys(code, -1, "cannot read from the stream of the archive");
        TUTTI_CHECK(got > 0, TUTTI_ERR_FORMAT, "short read of the archive: %zu of %zu bytes", done,
                    n);
        TUTTI_CHECK(got <= n - done, TUTTI_ERR_FORMAT,
                    "function read of the stream returned %zu bytes: at most %zu were requested",
                    got, n - done);
        done += got;
    }
    return TUTTI_OK;
}

tutti_err tutti__stream_write(const tutti_stream *s, const void *from, size_t n) {
    const int code = s->write(s->context, from, n);
    return code ? tutti__error_sys(code, -1, "cannot write to the stream of the archive")
                : TUTTI_OK;
}

tutti_err tutti__content_copy(const tutti__content *from, const tutti__content *to, tutti_off bytes,
                              uint64_t *sum_out) {
    const size_t pieces = (size_t)((bytes + PIECE - 1) / PIECE);
    uint64_t *checksums = tutti__malloc((pieces + 1) * sizeof *checksums);
    char *buf = tutti__malloc(BUFFER);
    tutti_err err = checksums && buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_off at = 0; at < bytes && err == TUTTI_OK; at += BUFFER) {
        const size_t n = (size_t)tutti__min(BUFFER, bytes - at);
        err = from->stream ? tutti__stream_read(from->stream, buf, n)
                           : tutti__bytes_read(from->fd, from->at + at, buf, n, from->name);
        for (size_t i = 0; i < n && err == TUTTI_OK; i += PIECE) {
            const uint64_t sum = tutti__checksum_of(buf + i, n - i < PIECE ? n - i : PIECE);
            checksums[((size_t)at + i) / PIECE] = htole64(sum);
        }
        if (err == TUTTI_OK && to)
            err = to->stream ? tutti__stream_write(to->stream, buf, n)
                             : tutti__bytes_write(to->fd, to->at + at, buf, n, to->name);
    }
    if (err == TUTTI_OK) *sum_out = tutti__checksum_of(checksums, pieces * sizeof *checksums);
    tutti__free(checksums);
    tutti__free(buf);
    return err;
}

tutti_err tutti__content_sum(const tutti__content *c, tutti_off bytes, uint64_t *sum_out) {
    return tutti__content_copy(c, NULL, bytes, sum_out);
}

/* ---- in an archive */

typedef struct {
    char magic[8];
    uint64_t version, segment, start, end, trailer, sum;
    uint64_t id[2]; /* zeros in version 1 */
} archive_head;

void tutti__archive_name(const uint64_t *id, const tutti__segment_row *g,
                         char out[TUTTI__ARCHIVE_NAME]) {
    if (id)
        snprintf(out, TUTTI__ARCHIVE_NAME, "segment-%016llx%016llx-%06lld.tutti",
                 (unsigned long long)id[0], (unsigned long long)id[1], (long long)g->id);
    else
        snprintf(out, TUTTI__ARCHIVE_NAME, "segment-%06lld.tutti", (long long)g->id);
}

void tutti__archive_head(const uint64_t *id, const tutti__segment_row *g, uint64_t sum,
                         char out[TUTTI__ARCHIVE_HEAD]) {
    const archive_head h = {.magic = "TUTTIARC",
                            .version = htole64(id ? 2 : 1),
                            .segment = htole64((uint64_t)g->id),
                            .start = htole64((uint64_t)g->start),
                            .end = htole64((uint64_t)g->end),
                            .trailer = htole64((uint64_t)g->trailer),
                            .sum = htole64(sum),
                            .id = {id ? htole64(id[0]) : 0, id ? htole64(id[1]) : 0}};
    memset(out, 0, TUTTI__ARCHIVE_HEAD);
    memcpy(out, &h, sizeof h);
}

tutti_err tutti__archive_head_check(const char h[TUTTI__ARCHIVE_HEAD], const uint64_t *id,
                                    const tutti__segment_row *g, uint64_t sum) {
    char want[TUTTI__ARCHIVE_HEAD], old[TUTTI__ARCHIVE_HEAD];
    archive_head is, ours;
    tutti__archive_head(id, g, sum, want);
    tutti__archive_head(NULL, g, sum, old);
    if (memcmp(h, want, sizeof want) == 0 || memcmp(h, old, sizeof old) == 0) return TUTTI_OK;
    memcpy(&is, h, sizeof is);
    memcpy(&ours, want, sizeof ours);
    TUTTI_CHECK(memcmp(is.magic, ours.magic, sizeof is.magic) == 0, TUTTI_ERR_FORMAT,
                "the file is not an archived segment");
    TUTTI_CHECK(le64toh(is.version) == 1 || le64toh(is.version) == 2, TUTTI_ERR_FORMAT,
                "the archived segment has format version %llu; this version of the library "
                "supports 1 and 2",
                (unsigned long long)le64toh(is.version));
    TUTTI_CHECK(le64toh(is.version) == 1 || memcmp(is.id, ours.id, sizeof is.id) == 0,
                TUTTI_ERR_FORMAT, "the archived segment belongs to another dataset");
    TUTTI_FAIL(TUTTI_ERR_FORMAT,
               "segment %lld of the archive differs from the segment that was archived",
               (long long)g->id);
}
