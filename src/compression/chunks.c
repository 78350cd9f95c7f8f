/* compression: divide spaces into chunks; compress and decompress chunks (chunks.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "compression/chunks.h"

#include <endian.h>
#include <string.h>
#include <zstd.h>

/* ---- chunk grids */

/* Compute the grid that divides dimension `cut` into pieces of `extent` indices; returns 0 if they
 * are invalid. */
static int compute_grid(const tutti__chunked *of, tutti_off cut, tutti_count extent,
                        tutti__chunk_grid *out) {
    tutti_count outer = 1, inner = 1;
    tutti_off raw = 0;
    if (cut < 0 || cut >= of->ndims || of->item < 1 || of->number < 1) return 0;
    for (int d = 0; d < of->ndims; d++) {
        tutti_count *side = d < cut ? &outer : &inner;
        if (d != cut && !tutti__mul_ok(*side, of->shape[d], side)) return 0;
    }
    const tutti_count along = of->shape[cut];
    *out =
        (tutti__chunk_grid){.cut = (int)cut, .extent = 1, .item = of->item, .number = of->number};
    if (outer == 0 || inner == 0 || along == 0) { /* an empty space has no chunks */
        out->entries = 1;
        out->raw = (size_t)of->item;
        return cut == 0 && extent == 1;
    }
    if (extent < 1 || extent > along || !tutti__mul_ok(extent, inner, &out->entries) ||
        !tutti__mul_ok(out->entries, of->item, &raw) || raw > TUTTI__CHUNK_MOST ||
        raw % of->number != 0 || !tutti__mul_ok(along, inner, &out->row))
        return 0;
    out->extent = extent;
    out->raw = (size_t)raw;
    out->a_row = (along + extent - 1) / extent;
    return tutti__mul_ok(outer, out->a_row, &out->chunks);
}

void tutti__chunks_cut(const tutti__chunked *of, tutti_off about, tutti__chunk_grid *out) {
    int cut = of->ndims - 1;
    tutti_off inner = of->item, more;
    while (cut > 0 && tutti__mul_ok(inner, tutti__max(1, of->shape[cut]), &more) && more <= about) {
        inner = more;
        cut--;
    }
    const tutti_count along = of->shape[cut];
    const tutti_count most = tutti__max(1, tutti__min(along, about / inner));
    const tutti_count pieces = (along + most - 1) / most;
    if (along > 0 && compute_grid(of, cut, (along + pieces - 1) / pieces, out)) return;
    (void)compute_grid(of, 0, 1, out);
}

tutti__chunk_place tutti__chunk_find(const tutti__chunk_grid *g, tutti_count position) {
    const tutti_count in_row = position % g->row;
    const tutti_count first = in_row % g->entries;
    return (tutti__chunk_place){
        .chunk = position / g->row * g->a_row + in_row / g->entries,
        .first = first,
        .left = tutti__min(g->entries - first, g->row - in_row),
    };
}

tutti_count tutti__chunk_filled(const tutti__chunk_grid *g, tutti_count chunk) {
    return tutti__min(g->entries, g->row - chunk % g->a_row * g->entries);
}

/* ---- header and table: int64, little-endian */

/* Fields of the header, in this order; two zeros follow. */
enum { CODEC, CHUNKS, RAW, NUMBER, CUT, EXTENT };
enum { SHUFFLE_ZSTD = 1 };

static void write_word(unsigned char *head, int i, int64_t value) {
    const uint64_t le = htole64((uint64_t)value);
    memcpy(head + 8 * i, &le, sizeof le);
}

static int64_t read_word_at(const unsigned char *head, int i) {
    uint64_t le;
    memcpy(&le, head + 8 * i, sizeof le);
    return (int64_t)le64toh(le);
}

void tutti__chunks_head(const tutti__chunk_grid *g, unsigned char out[TUTTI__CHUNKS_HEADER]) {
    memset(out, 0, TUTTI__CHUNKS_HEADER);
    write_word(out, CODEC, SHUFFLE_ZSTD);
    write_word(out, CHUNKS, g->chunks);
    write_word(out, RAW, (int64_t)g->raw);
    write_word(out, NUMBER, g->number);
    write_word(out, CUT, g->cut);
    write_word(out, EXTENT, g->extent);
}

tutti_err tutti__chunks_head_read(const unsigned char head[TUTTI__CHUNKS_HEADER],
                                  const tutti__chunked *of, tutti_off bytes,
                                  tutti__chunk_grid *out) {
    tutti__chunk_grid g;
    TUTTI_CHECK(read_word_at(head, CODEC) == SHUFFLE_ZSTD, TUTTI_ERR_FORMAT,
                "unknown compression method %lld", (long long)read_word_at(head, CODEC));
    TUTTI_CHECK(compute_grid(of, read_word_at(head, CUT), read_word_at(head, EXTENT), &g) &&
                    g.chunks == read_word_at(head, CHUNKS) &&
                    (int64_t)g.raw == read_word_at(head, RAW) &&
                    g.number == read_word_at(head, NUMBER) && read_word_at(head, EXTENT + 1) == 0 &&
                    read_word_at(head, EXTENT + 2) == 0,
                TUTTI_ERR_FORMAT,
                "chunk header has %lld chunks of %lld bytes, with extent %lld along dimension "
                "%lld: does not match the section",
                (long long)read_word_at(head, CHUNKS), (long long)read_word_at(head, RAW),
                (long long)read_word_at(head, EXTENT), (long long)read_word_at(head, CUT));
    TUTTI_CHECK(bytes >= TUTTI__CHUNKS_HEADER && g.chunks <= (bytes - TUTTI__CHUNKS_HEADER) / 8 &&
                    (g.chunks > 0 || bytes == TUTTI__CHUNKS_HEADER),
                TUTTI_ERR_FORMAT,
                "the chunk header has %lld chunks, but the section has %lld bytes",
                (long long)g.chunks, (long long)bytes);
    *out = g;
    return TUTTI_OK;
}

tutti_off tutti__chunks_begin(const tutti__chunk_grid *g) {
    return TUTTI__CHUNKS_HEADER + 8 * g->chunks;
}

void tutti__chunks_table_turn(tutti_off *ends, tutti_count n) {
    for (tutti_count i = 0; i < n; i++) ends[i] = (tutti_off)le64toh((uint64_t)ends[i]);
}

tutti_err tutti__chunks_table_check(const tutti__chunk_grid *g, tutti_count first, tutti_count n,
                                    tutti_off begin, const tutti_off *ends, tutti_off bytes) {
    for (tutti_count i = 0; i < n; i++) {
        const tutti_off at = i == 0 ? begin : ends[i - 1];
        const tutti_off least = tutti__chunks_begin(g);
        TUTTI_CHECK((first + i == 0 ? at == least : at > least) && ends[i] > at &&
                        (first + i == g->chunks - 1 ? ends[i] == bytes : ends[i] < bytes),
                    TUTTI_ERR_FORMAT,
                    "chunk %lld has range [%lld, %lld): must follow the previous chunk, within the "
                    "%lld bytes of the section",
                    (long long)(first + i), (long long)at, (long long)ends[i], (long long)bytes);
    }
    return TUTTI_OK;
}

/* ---- one chunk */

/* Values per tile of the byte shuffle, which stores the first bytes of all values, then the second
 * bytes, and so on; a tile fits in the cache. */
enum { TILE = 2048 };

static void shuffle_bytes(unsigned char *restrict to, const unsigned char *restrict from,
                          size_t numbers, size_t size) {
    for (size_t tile = 0; tile < numbers; tile += TILE) {
        const size_t end = numbers - tile < TILE ? numbers : tile + TILE;
        for (size_t k = 0; k < size; k++)
            for (size_t i = tile; i < end; i++) to[k * numbers + i] = from[i * size + k];
    }
}

static void unshuffle_bytes(unsigned char *restrict to, const unsigned char *restrict from,
                            size_t numbers, size_t size) {
    for (size_t tile = 0; tile < numbers; tile += TILE) {
        const size_t end = numbers - tile < TILE ? numbers : tile + TILE;
        for (size_t k = 0; k < size; k++)
            for (size_t i = tile; i < end; i++) to[i * size + k] = from[k * numbers + i];
    }
}

tutti_err tutti__chunk_codec_make(const tutti__chunk_grid *g, int level, tutti__chunk_codec *out) {
    ZSTD_CCtx *context = NULL;
    *out = (tutti__chunk_codec){.number = g->number, .raw = g->raw};
    out->shuffled = tutti__malloc(g->raw);
    if (!out->shuffled) return TUTTI_ERR_NOMEM;
    if (level == 0) return TUTTI_OK;
    context = ZSTD_createCCtx();
    out->context = context;
    const int right =
        context && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
    if (right) return TUTTI_OK;
    tutti__chunk_codec_free(out);
    TUTTI_FAIL(TUTTI_ERR_NOMEM, "cannot create a zstd context for level %d", level);
}

void tutti__chunk_codec_free(tutti__chunk_codec *c) {
    ZSTD_freeCCtx(c->context);
    tutti__free(c->shuffled);
    *c = (tutti__chunk_codec){0};
}

size_t tutti__chunk_bound(size_t raw) {
    return ZSTD_compressBound(raw) + 64; /* 64 bytes for the checksum */
}

tutti_err tutti__chunk_pack(tutti__chunk_codec *c, const void *raw, void *frame, size_t capacity,
                            size_t *bytes_out) {
    const void *from = raw;
    if (c->number > 1) {
        shuffle_bytes(c->shuffled, raw, c->raw / (size_t)c->number, (size_t)c->number);
        from = c->shuffled;
    }
    const size_t bytes = ZSTD_compress2(c->context, frame, capacity, from, c->raw);
    TUTTI_CHECK(!ZSTD_isError(bytes), TUTTI_ERR_NOMEM, "zstd: %s", ZSTD_getErrorName(bytes));
    *bytes_out = bytes;
    return TUTTI_OK;
}

tutti_err tutti__chunk_unpack(tutti__chunk_codec *c, const void *frame, size_t bytes,
                              void *raw_out) {
    TUTTI_CHECK(ZSTD_getFrameContentSize(frame, bytes) == c->raw &&
                    ZSTD_findFrameCompressedSize(frame, bytes) == bytes,
                TUTTI_ERR_FORMAT, "%zu bytes are not a zstd frame of a chunk of %zu bytes", bytes,
                c->raw);
    const size_t got = ZSTD_decompress(c->number > 1 ? c->shuffled : raw_out, c->raw, frame, bytes);
    TUTTI_CHECK(!ZSTD_isError(got) && got == c->raw, TUTTI_ERR_FORMAT, "zstd: %s",
                ZSTD_isError(got) ? ZSTD_getErrorName(got)
                                  : "decompressed data is shorter than the chunk");
    if (c->number > 1)
        unshuffle_bytes(raw_out, c->shuffled, c->raw / (size_t)c->number, (size_t)c->number);
    return TUTTI_OK;
}
