/* The compressed stream of a PNG file: by zlib where the command was built with it; otherwise the same
 * format with blocks that are stored as they are, which needs nothing and gives larger files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef TUTTI_HAVE_ZLIB

#include <zlib.h>

struct png_stream {
    png_sink *sink;
    void *context;
    z_stream z;
    int failed;
};

png_stream *png_stream_begin(png_sink *sink, void *context) {
    png_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->sink = sink;
    s->context = context;
    if (deflateInit(&s->z, Z_DEFAULT_COMPRESSION) == Z_OK) return s;
    free(s);
    return NULL;
}

static void push(png_stream *s, int flush) {
    unsigned char out[1 << 14];
    do {
        s->z.next_out = out;
        s->z.avail_out = sizeof out;
        s->failed |= deflate(&s->z, flush) == Z_STREAM_ERROR;
        s->sink(s->context, out, sizeof out - s->z.avail_out);
    } while (s->z.avail_out == 0);
}

void png_stream_put(png_stream *s, const unsigned char *bytes, size_t n) {
    while (n > 0) {
        const size_t part = n < 1 << 30 ? n : 1 << 30;
        s->z.next_in = (unsigned char *)bytes;
        s->z.avail_in = (unsigned)part;
        push(s, Z_NO_FLUSH);
        bytes += part;
        n -= part;
    }
}

int png_stream_end(png_stream **s) {
    push(*s, Z_FINISH);
    const int failed = (*s)->failed | (deflateEnd(&(*s)->z) != Z_OK);
    free(*s);
    *s = NULL;
    return failed;
}

#else

enum { BLOCK = 65535, PRIME = 65521 };

struct png_stream {
    png_sink *sink;
    void *context;
    uint32_t a, b; /* of the checksum Adler-32 */
    size_t n;
    unsigned char block[BLOCK];
};

png_stream *png_stream_begin(png_sink *sink, void *context) {
    static const unsigned char head[2] = {0x78, 0x01};
    png_stream *s = malloc(sizeof *s);
    if (!s) return NULL;
    s->sink = sink;
    s->context = context;
    s->a = 1;
    s->b = 0;
    s->n = 0;
    sink(context, head, sizeof head);
    return s;
}

static void put_block(png_stream *s, int is_last) {
    const unsigned n = (unsigned)s->n, complement = ~n;
    const unsigned char head[5] = {(unsigned char)is_last, (unsigned char)n,
                                   (unsigned char)(n >> 8), (unsigned char)complement,
                                   (unsigned char)(complement >> 8)};
    s->sink(s->context, head, sizeof head);
    s->sink(s->context, s->block, s->n);
    s->n = 0;
}

void png_stream_put(png_stream *s, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->a = (s->a + bytes[i]) % PRIME;
        s->b = (s->b + s->a) % PRIME;
    }
    while (n > 0) {
        const size_t room = BLOCK - s->n, part = n < room ? n : room;
        if (part > 0) memcpy(s->block + s->n, bytes, part);
        s->n += part;
        bytes += part;
        n -= part;
        if (s->n == BLOCK && n > 0) put_block(s, 0);
    }
}

int png_stream_end(png_stream **s) {
    const unsigned char tail[4] = {(unsigned char)((*s)->b >> 8), (unsigned char)(*s)->b,
                                   (unsigned char)((*s)->a >> 8), (unsigned char)(*s)->a};
    put_block(*s, 1);
    (*s)->sink((*s)->context, tail, sizeof tail);
    free(*s);
    *s = NULL;
    return 0;
}

#endif
