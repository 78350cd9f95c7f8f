/* array: conversion of the header to and from bytes, and its access in the file.
 * docs/reference/format.md is the specification.
 *
 * The block at the start of the file has two slots with the same contents, each with a checksum.  A
 * change writes one slot after the other, so that one slot is always complete.  If both slots are
 * complete, the slot with the higher version is valid.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <limits.h>
#include <string.h>

enum {
    FORMAT = 1,
    SLOTS = 2,
    SLOT_BYTES = TUTTI__HEADER_BYTES / SLOTS,
    AT_FORMAT = 8,
    AT_PLACEMENT = 12,
    AT_VERSION = 16,
    AT_TYPE = 24,
    AT_ORDER = 28,
    AT_BYTE_ORDER = 32,
    AT_NDIMS = 36,
    AT_ELEMENT = 40,
    AT_OFFSET = 48,
    AT_BYTES = 56,
    AT_ID = 64,
    AT_RANKS = 72,
    AT_RANK = 76,
    AT_SHAPE = 80,                /* 8 bytes per dimension */
    AT_DIST = 208,                /* 16 bytes per dimension: kind, procs, block */
    AT_END = 464,                 /* zeros up to the checksum */
    AT_CHECKSUM = SLOT_BYTES - 8, /* checksum of the preceding bytes of the slot */
    LITTLE = 1,
    BIG = 2
};

/* Signature; as in PNG, it is not text, and detects conversion of line ends. */
static const unsigned char magic[8] = {0x89, 'T', 'T', 'A', '\r', '\n', 0x1a, '\n'};

static int native_byte_order(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? LITTLE : BIG;
}

/* ---- little-endian values */

static void store_le32(unsigned char *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(v >> (8 * i));
}

void tutti__store_le64(unsigned char *to, uint64_t v) {
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t load_le32(const unsigned char *from) {
    uint32_t v = 0;
    for (int i = 3; i >= 0; i--) v = v << 8 | from[i];
    return v;
}

uint64_t tutti__load_le64(const unsigned char *from) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | from[i];
    return v;
}

/* ---- writing */

void tutti__header_write(const tutti__header *h, unsigned char block[TUTTI__HEADER_BYTES]) {
    for (int i = 0; i < SLOTS; i++) {
        unsigned char *to = block + (ptrdiff_t)SLOT_BYTES * i;
        const tutti_array_spec *s = &h->spec;
        memset(to, 0, SLOT_BYTES);
        memcpy(to, magic, sizeof magic);
        store_le32(to + AT_FORMAT, FORMAT);
        store_le32(to + AT_PLACEMENT, (uint32_t)h->placement);
        tutti__store_le64(to + AT_VERSION, h->version);
        store_le32(to + AT_TYPE, (uint32_t)s->type);
        store_le32(to + AT_ORDER, (uint32_t)s->order);
        store_le32(to + AT_BYTE_ORDER, (uint32_t)native_byte_order());
        store_le32(to + AT_NDIMS, (uint32_t)s->ndims);
        tutti__store_le64(to + AT_ELEMENT, (uint64_t)s->element_size);
        tutti__store_le64(to + AT_OFFSET, (uint64_t)s->offset);
        tutti__store_le64(to + AT_BYTES, (uint64_t)h->bytes);
        tutti__store_le64(to + AT_ID, h->id);
        store_le32(to + AT_RANKS, (uint32_t)h->ranks);
        store_le32(to + AT_RANK, (uint32_t)h->rank);
        for (int d = 0; d < s->ndims; d++) {
            unsigned char *dist = to + AT_DIST + (ptrdiff_t)16 * d;
            tutti__store_le64(to + AT_SHAPE + (ptrdiff_t)8 * d, (uint64_t)s->shape[d]);
            if (h->placement != TUTTI__DESCRIPTOR) continue;
            store_le32(dist, (uint32_t)h->dim[d].kind);
            store_le32(dist + 4, (uint32_t)h->dim[d].procs);
            tutti__store_le64(dist + 8, (uint64_t)h->dim[d].block);
        }
        tutti__store_le64(to + AT_CHECKSUM, tutti__hash(TUTTI__HASH_START, to, AT_CHECKSUM));
    }
}

/* ---- reading; fields are validated, since the checksum only detects accidental damage */

static tutti_err read_int(const unsigned char *at, const char *what, int limit, int *out) {
    const uint32_t v = load_le32(at);
    TUTTI_CHECK(v <= (uint32_t)limit, TUTTI_ERR_FORMAT, "invalid header: %s is %lu: must be <= %d",
                what, (unsigned long)v, limit);
    *out = (int)v;
    return TUTTI_OK;
}

static tutti_err read_off64(const unsigned char *at, const char *what, tutti_off *out) {
    const uint64_t v = tutti__load_le64(at);
    TUTTI_CHECK(v <= (uint64_t)TUTTI__OFF_LIMIT, TUTTI_ERR_FORMAT,
                "invalid header: %s is %llu: must be < 2^62", what, (unsigned long long)v);
    *out = (tutti_off)v;
    return TUTTI_OK;
}

/* Check that the fields of a header are consistent. */
static tutti_err check_header(tutti__header *h) {
    tutti_array_spec s;
    tutti_off bytes;
    if (tutti__spec_check(&h->spec, &s, &bytes) != TUTTI_OK) {
        tutti_error_info info = *tutti_last_error();
        TUTTI_FAIL(TUTTI_ERR_FORMAT, "invalid header: %.300s", info.text);
    }
    TUTTI_CHECK(h->spec.element_size == s.element_size, TUTTI_ERR_FORMAT,
                "invalid header: element size is 0: must be %lld", (long long)s.element_size);
    TUTTI_CHECK(s.offset >= TUTTI__HEADER_BYTES, TUTTI_ERR_FORMAT,
                "invalid header: elements start at offset %lld: must be >= %d", (long long)s.offset,
                (int)TUTTI__HEADER_BYTES);
    TUTTI_CHECK(h->placement == TUTTI__DESCRIPTOR || h->bytes == bytes, TUTTI_ERR_FORMAT,
                "invalid header: size is %lld bytes, but the extents give %lld",
                (long long)h->bytes, (long long)bytes);
    TUTTI_CHECK(h->placement == TUTTI__GLOBAL || h->ranks >= 1, TUTTI_ERR_FORMAT,
                "invalid header: number of parts is 0: must be >= 1");
    TUTTI_CHECK(h->placement != TUTTI__PART || h->rank < h->ranks, TUTTI_ERR_FORMAT,
                "invalid header: part number is %d: must be < %d", h->rank, h->ranks);
    return TUTTI_OK;
}

static tutti_err read_slot(const unsigned char *from, tutti__header *out) {
    tutti__header h;
    int placement;
    memset(&h, 0, sizeof h);
    TUTTI_CHECK(memcmp(from, magic, sizeof magic) == 0, TUTTI_ERR_FORMAT,
                "the file is not an array file: wrong signature");
    const uint32_t format = load_le32(from + AT_FORMAT);
    TUTTI_CHECK(format <= FORMAT, TUTTI_ERR_FORMAT,
                "file has array format %lu: this library supports up to %d", (unsigned long)format,
                FORMAT);
    TUTTI_CHECK(tutti__load_le64(from + AT_CHECKSUM) ==
                    tutti__hash(TUTTI__HASH_START, from, AT_CHECKSUM),
                TUTTI_ERR_FORMAT, "the header is damaged: checksum mismatch");
    TUTTI_CHECK(format == FORMAT, TUTTI_ERR_FORMAT, "invalid header: format is 0: must be %d",
                FORMAT);
    TUTTI_TRY(read_int(from + AT_PLACEMENT, "placement", TUTTI__PART, &placement));
    h.placement = (tutti__placement)placement;
    h.version = tutti__load_le64(from + AT_VERSION);
    h.id = tutti__load_le64(from + AT_ID);
    TUTTI_TRY(read_int(from + AT_RANKS, "ranks", INT_MAX, &h.ranks));
    TUTTI_TRY(read_int(from + AT_RANK, "rank", INT_MAX, &h.rank));
    tutti_array_spec *s = &h.spec;
    int type, order;
    TUTTI_TRY(read_int(from + AT_TYPE, "type", INT_MAX, &type));
    TUTTI_TRY(read_int(from + AT_ORDER, "order", TUTTI_COL_MAJOR, &order));
    s->type = (tutti_type)type;
    s->order = (tutti_order)order;
    TUTTI_TRY(read_int(from + AT_NDIMS, "ndims", TUTTI_MAX_DIMS, &s->ndims));
    TUTTI_TRY(read_off64(from + AT_ELEMENT, "element size", &s->element_size));
    TUTTI_TRY(read_off64(from + AT_OFFSET, "offset", &s->offset));
    TUTTI_TRY(read_off64(from + AT_BYTES, "bytes", &h.bytes));
    int kind;
    for (int d = 0; d < h.spec.ndims; d++) {
        const unsigned char *dist = from + AT_DIST + (ptrdiff_t)16 * d;
        TUTTI_TRY(read_off64(from + AT_SHAPE + (ptrdiff_t)8 * d, "extent", &h.spec.shape[d]));
        TUTTI_TRY(read_int(dist, "distribution", TUTTI_DIST_RAGGED, &kind));
        h.dim[d].kind = (tutti_dist_kind)kind;
        TUTTI_TRY(read_int(dist + 4, "ranks in a dimension", INT_MAX, &h.dim[d].procs));
        TUTTI_TRY(read_off64(dist + 8, "block", &h.dim[d].block));
    }
    int byte_order;
    TUTTI_TRY(read_int(from + AT_BYTE_ORDER, "byte order", BIG, &byte_order));
    TUTTI_CHECK(byte_order >= LITTLE, TUTTI_ERR_FORMAT,
                "invalid header: byte order is 0: must be %d or %d", LITTLE, BIG);
    /* Elements of one byte, and elements of type bytes, have no byte order. */
    TUTTI_CHECK(byte_order == native_byte_order() || tutti_type_size(s->type) <= 1,
                TUTTI_ERR_FORMAT,
                "the elements are %s-endian: this machine has the other byte order",
                byte_order == LITTLE ? "little" : "big");
    TUTTI_TRY(check_header(&h));
    *out = h;
    return TUTTI_OK;
}

tutti_err tutti__header_read(const unsigned char block[TUTTI__HEADER_BYTES], tutti__header *out) {
    tutti__header second;
    const tutti_err err = read_slot(block, out);
    TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
    if (read_slot(block + SLOT_BYTES, &second) != TUTTI_OK) return err;
    if (err != TUTTI_OK || second.version > out->version) *out = second;
    return TUTTI_OK;
}

/* ---- headers in files, not collective */

tutti_err tutti__array_header_create(tutti_file *f, const tutti__header *h) {
    unsigned char block[TUTTI__HEADER_BYTES];
    tutti__header_write(h, block);
    TUTTI_TRY(tutti__resize_here(f, h->spec.offset + h->bytes));
    return tutti__write_here(f, 0, block, sizeof block);
}

tutti_err tutti__array_header_read(tutti_file *f, tutti__header *out) {
    unsigned char block[TUTTI__HEADER_BYTES];
    tutti_off size = 0;
    TUTTI_TRY(tutti__size_here(f, &size));
    TUTTI_CHECK(size >= (tutti_off)sizeof block, TUTTI_ERR_FORMAT,
                "the file is not an array file: it has only %lld bytes", (long long)size);
    TUTTI_TRY(tutti__read_here(f, 0, block, sizeof block));
    TUTTI_TRY(tutti__header_read(block, out));
    TUTTI_CHECK(size >= out->spec.offset + out->bytes, TUTTI_ERR_FORMAT,
                "file has %lld bytes, but the array in it ends at offset %lld", (long long)size,
                (long long)(out->spec.offset + out->bytes));
    return TUTTI_OK;
}

tutti_err tutti__array_header_update(tutti_array *a) {
    unsigned char block[TUTTI__HEADER_BYTES];
    tutti__header h = {
        .version = a->version, .placement = TUTTI__GLOBAL, .spec = a->local, .bytes = a->bytes};
    tutti__header_write(&h, block);
    for (tutti_off at = 0; at < (tutti_off)sizeof block; at += SLOT_BYTES) {
        TUTTI_TRY(tutti__write_here(a->file, at, block + at, SLOT_BYTES));
        TUTTI_TRY(tutti__sync_here(a->file));
    }
    return TUTTI_OK;
}
