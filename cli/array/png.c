/* PNG: signature, header, palette, compressed rows in pieces of up to 64 KiB, end.  Every piece is
 * followed by its checksum.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };

struct png_file {
    FILE *file;
    png_stream *stream;
    size_t width, n; /* n bytes are in the piece */
    uint32_t table[256];
    unsigned char piece[PIECE];
};

/* ---- chunks */

static void make_table(uint32_t *table) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t checksum(const png_file *p, uint32_t c, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) c = p->table[(c ^ bytes[i]) & 0xff] ^ (c >> 8);
    return c;
}

static void put_number(unsigned char *out, uint32_t n) {
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)(n >> (24 - 8 * i));
}

static void put_chunk(png_file *p, const char *name, const unsigned char *bytes, size_t n) {
    unsigned char head[8], tail[4];
    put_number(head, (uint32_t)n);
    memcpy(head + 4, name, 4);
    uint32_t c = checksum(p, 0xffffffffu, head + 4, 4);
    c = checksum(p, c, bytes, n);
    put_number(tail, ~c);
    fwrite(head, 1, sizeof head, p->file);
    if (n) fwrite(bytes, 1, n, p->file);
    fwrite(tail, 1, sizeof tail, p->file);
}

static void flush_piece(png_file *p) {
    if (p->n) put_chunk(p, "IDAT", p->piece, p->n);
    p->n = 0;
}

static void gather(void *context, const unsigned char *bytes, size_t n) {
    png_file *p = context;
    while (n > 0) {
        const size_t room = PIECE - p->n, part = n < room ? n : room;
        memcpy(p->piece + p->n, bytes, part);
        p->n += part;
        bytes += part;
        n -= part;
        if (p->n == PIECE) flush_piece(p);
    }
}

/* ---- pictures */

static void put_head(png_file *p, unsigned width, unsigned height, const png_colour *palette) {
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char head[13] = {[8] = 8, [9] = 3}; /* eight bits a pixel, with a palette */
    unsigned char colours[3 * PNG_COLOURS];
    put_number(head, width);
    put_number(head + 4, height);
    for (int i = 0; i < PNG_COLOURS; i++) memcpy(colours + 3 * i, &palette[i], 3);
    fwrite(signature, 1, sizeof signature, p->file);
    put_chunk(p, "IHDR", head, sizeof head);
    put_chunk(p, "PLTE", colours, sizeof colours);
}

png_file *png_begin(FILE *f, unsigned width, unsigned height, const png_colour *palette) {
    png_file *p = malloc(sizeof *p);
    if (!p) return NULL;
    p->file = f;
    p->width = width;
    p->n = 0;
    p->stream = png_stream_begin(gather, p);
    if (!p->stream) {
        free(p);
        return NULL;
    }
    make_table(p->table);
    put_head(p, width, height, palette);
    return p;
}

void png_row(png_file *p, const unsigned char *row) {
    static const unsigned char no_filter = 0;
    png_stream_put(p->stream, &no_filter, 1);
    png_stream_put(p->stream, row, p->width);
}

int png_end(png_file **p) {
    int failed = png_stream_end(&(*p)->stream);
    flush_piece(*p);
    put_chunk(*p, "IEND", NULL, 0);
    failed |= ferror((*p)->file) != 0;
    free(*p);
    *p = NULL;
    return failed;
}
