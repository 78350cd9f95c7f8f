/* Fuzz target: the reader of compressed sections (header, table and frames).  A valid section is
 * decompressed; any other fails with TUTTI_ERR_FORMAT.  t1267_fuzz_chunks.sh builds and runs this target;
 * compiled with -DWRITE the program writes a small corpus to DIR.
 *
 *     byte 0        dimensions - 1 (2 bits), values per item - 1 (2 bits), size of a number (4 bits)
 *     bytes 1 to 4  extents
 *     the rest      the section
 * SPDX-License-Identifier: BSD-3-Clause */
#include "compression/chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 5 };

/* Return the section described by the first HEAD bytes. */
static tutti__chunked described(const uint8_t *data, tutti_count shape[4]) {
    static const int sizes[] = {1, 2, 4, 8, 16};
    const int number = sizes[(data[0] >> 4) % 5];
    for (int k = 0; k < 4; k++) shape[k] = data[1 + k];
    return (tutti__chunked){.ndims = 1 + (data[0] & 3),
                            .shape = shape,
                            .item = number * (1 + (data[0] >> 2 & 3)),
                            .number = number};
}

/* Decompress all chunks of a section, like compressed_get.c, but in memory. */
static tutti_err unpack_all(const tutti__chunk_grid *g, const uint8_t *section, tutti_off bytes) {
    tutti__chunk_codec codec = {0};
    tutti_off begin = tutti__chunks_begin(g);
    tutti_off *ends = tutti__malloc((size_t)g->chunks * sizeof *ends);
    char *raw = tutti__malloc(g->raw);
    tutti_err err = ends && raw ? tutti__chunk_codec_make(g, 0, &codec) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && g->chunks > 0) {
        memcpy(ends, section + TUTTI__CHUNKS_HEADER, (size_t)g->chunks * sizeof *ends);
        tutti__chunks_table_turn(ends, g->chunks);
        err = tutti__chunks_table_check(g, 0, g->chunks, begin, ends, bytes);
    }
    for (tutti_count k = 0; k < g->chunks && err == TUTTI_OK; k++) {
        err = tutti__chunk_unpack(&codec, section + begin, (size_t)(ends[k] - begin), raw);
        begin = ends[k];
    }
    tutti__chunk_codec_free(&codec);
    tutti__free(ends);
    tutti__free(raw);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tutti_count shape[4], all = 1, seen = 0;
    tutti__chunk_grid g;
    if (size < HEAD + TUTTI__CHUNKS_HEADER) return 0;
    const tutti__chunked of = described(data, shape);
    const tutti_off bytes = (tutti_off)(size - HEAD);
    for (int k = 0; k < of.ndims; k++) all *= shape[k];
    if (tutti__chunks_head_read(data + HEAD, &of, bytes, &g) != TUTTI_OK) return 0;
    for (tutti_count k = 0; k < g.chunks; k++) seen += tutti__chunk_filled(&g, k);
    if (seen != all) abort(); /* every entry must be in exactly one chunk */
    if (all > 0) {
        const tutti__chunk_place last = tutti__chunk_find(&g, all - 1);
        if (last.chunk != g.chunks - 1 || last.left != 1) abort();
    }
    const tutti_err err = unpack_all(&g, data + HEAD, bytes);
    if (err != TUTTI_OK && err != TUTTI_ERR_FORMAT && err != TUTTI_ERR_NOMEM) abort();
    return 0;
}

#ifdef WRITE
/* Write file number i of the corpus, a valid section. */
static void seed_write(const char *directory, int i) {
    static const uint8_t shapes[][4] = {{200}, {9, 50}, {3, 4, 20}, {2, 3, 4, 7}, {5, 0}, {1}};
    uint8_t head[HEAD] = {(uint8_t)(i % 6 < 4 ? i % 6 : i % 6 == 4 ? 1 : 0)};
    tutti_count shape[4];
    tutti__chunk_grid g;
    tutti__chunk_codec codec;
    char path[4096];
    head[0] = (uint8_t)(head[0] | (i % 4) << 2 | (i % 5) << 4);
    memcpy(head + 1, shapes[i % 6], 4);
    const tutti__chunked of = described(head, shape);
    tutti__chunks_cut(&of, 300, &g);
    const size_t bound = tutti__chunk_bound(g.raw);
    const tutti_off begin = tutti__chunks_begin(&g);
    uint8_t *section = tutti__calloc(1, (size_t)begin + (size_t)g.chunks * bound);
    uint8_t *raw = tutti__malloc(g.raw);
    tutti_off end = begin;
    snprintf(path, sizeof path, "%s/seed-%02d", directory, i);
    FILE *f = fopen(path, "wb");
    if (!section || !raw || !f || tutti__chunk_codec_make(&g, 1 + i % 4, &codec) != TUTTI_OK)
        exit(1);
    tutti__chunks_head(&g, section);
    for (tutti_count k = 0; k < g.chunks; k++) {
        size_t frame = 0;
        for (size_t b = 0; b < g.raw; b++) raw[b] = (uint8_t)(i % 2 ? b / 8 : b * b >> 3);
        if (tutti__chunk_pack(&codec, raw, section + end, bound, &frame) != TUTTI_OK) exit(1);
        end += (tutti_off)frame;
        tutti_off word = end;
        tutti__chunks_table_turn(&word, 1);
        memcpy(section + TUTTI__CHUNKS_HEADER + 8 * k, &word, sizeof word);
    }
    if (unpack_all(&g, section, end) != TUTTI_OK) abort();
    fwrite(head, 1, sizeof head, f);
    fwrite(section, 1, (size_t)end, f);
    if (fclose(f) != 0) exit(1);
    tutti__chunk_codec_free(&codec);
    tutti__free(section);
    tutti__free(raw);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    for (int i = 0; i < 30; i++) seed_write(argv[1], i);
    return 0;
}
#endif
