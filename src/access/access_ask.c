/* access: the public questions, walks and serialisation.  A walk moves one cursor along each side
 * and joins steps that are contiguous in both.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

tutti_off tutti_access_bytes(const tutti_access *a) {
    return a ? tutti__side_bytes(a->file) : 0;
}

void tutti_access_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi) {
    if (lo) *lo = a ? tutti__side_lo(a->file) : 0;
    if (hi) *hi = a ? tutti__side_hi(a->file) : 0;
}

void tutti_access_memory_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi) {
    if (lo) *lo = a ? tutti__side_lo(a->memory) : 0;
    if (hi) *hi = a ? tutti__side_hi(a->memory) : 0;
}

tutti_count tutti_access_runs_count(const tutti_access *a) {
    return a ? tutti__side_runs(a->file) : 0;
}

tutti_off tutti_access_bytes_in(const tutti_access *a, tutti_off lo, tutti_off hi) {
    return a ? tutti__side_bytes_in(a->file, lo, hi) : 0;
}

size_t tutti_access_size(const tutti_access *a) {
    if (!a) return 0;
    return sizeof *a + tutti__side_size(a->file) + tutti__side_size(a->memory) -
           2 * sizeof(tutti__side);
}

uint64_t tutti_access_hash(const tutti_access *a) {
    return a ? tutti__mix(tutti__side_hash(a->file), tutti__side_hash(a->memory)) : 0;
}

int tutti_access_equal(const tutti_access *a, const tutti_access *b) {
    if (!a || !b) return a == b;
    return tutti__side_equal(a->file, b->file) && tutti__side_equal(a->memory, b->memory);
}

/* ---- walking */

struct tutti_access_iter {
    tutti__cursor file, memory;
};

static void iter_seek(tutti_access_iter *it, const tutti_access *a, tutti_off stream) {
    tutti__cursor_seek(&it->file, a->file, stream);
    tutti__cursor_seek(&it->memory, a->memory, stream);
}

/* What lies ahead on both sides; 0 at the end. */
static int iter_peek(const tutti_access_iter *it, tutti_piece *p) {
    tutti__burst f, m;
    if (!tutti__cursor_peek(&it->file, &f) || !tutti__cursor_peek(&it->memory, &m)) return 0;
    *p = (tutti_piece){f.offset, m.offset, tutti__min(f.bytes, m.bytes)};
    return 1;
}

tutti_err tutti_access_iter_start(const tutti_access *a, tutti_off stream,
                                  tutti_access_iter **out) {
    TUTTI_CHECK(a && out, TUTTI_ERR_ARG, "NULL argument");
    TUTTI_CHECK(stream >= 0, TUTTI_ERR_ARG, "stream position %lld", (long long)stream);
    tutti_access_iter *it = tutti__malloc(sizeof *it);
    if (!it) return TUTTI_ERR_NOMEM;
    iter_seek(it, a, stream);
    *out = it;
    return TUTTI_OK;
}

int tutti_access_iter_next(tutti_access_iter *it, tutti_piece *piece) {
    tutti_piece p, next;
    if (!iter_peek(it, &p)) return 0;
    next = p;
    do {
        tutti__cursor_skip(&it->file, next.bytes);
        tutti__cursor_skip(&it->memory, next.bytes);
        if (next.file != p.file) p.bytes += next.bytes;
    } while (iter_peek(it, &next) && next.file == p.file + p.bytes &&
             next.memory == p.memory + p.bytes);
    *piece = p;
    return 1;
}

void tutti_access_iter_free(tutti_access_iter **it) {
    if (!it) return;
    tutti__free(*it);
    *it = NULL;
}

tutti_err tutti_access_seek(const tutti_access *a, tutti_off p, tutti_piece *piece) {
    tutti_access_iter it;
    TUTTI_CHECK(a && piece, TUTTI_ERR_ARG, "NULL argument");
    TUTTI_CHECK(p >= 0 && p < tutti_access_bytes(a), TUTTI_ERR_ARG,
                "stream position %lld of an access of %lld bytes", (long long)p,
                (long long)tutti_access_bytes(a));
    iter_seek(&it, a, p);
    (void)iter_peek(&it, piece);
    return TUTTI_OK;
}

/* ---- passing on: the file side, then the memory side */

size_t tutti_access_serialise(const tutti_access *a, void *buf, size_t size) {
    if (!a) return 0;
    const tutti_off lo = -TUTTI__OFF_LIMIT, hi = TUTTI__OFF_LIMIT;
    const size_t file = tutti__side_serialise(a->file, lo, hi, NULL, 0);
    const size_t all = file + tutti__side_serialise(a->memory, lo, hi, NULL, 0);
    if (buf && all <= size) {
        (void)tutti__side_serialise(a->file, lo, hi, buf, file);
        (void)tutti__side_serialise(a->memory, lo, hi, (char *)buf + file, all - file);
    }
    return all;
}

/* The memory side that follows `used` bytes in; it must be the last thing there. */
static tutti_err parse_memory(const void *buf, size_t size, size_t used, tutti__side *out) {
    size_t more = 0;
    tutti__side s = {0, NULL};
    TUTTI_TRY(tutti__side_parse((const char *)buf + used, size - used, 0, &more, &s));
    if (used + more == size) {
        *out = s;
        return TUTTI_OK;
    }
    tutti__side_free(&s);
    TUTTI_FAIL(TUTTI_ERR_FORMAT, "%zu bytes after the end of a description", size - used - more);
}

tutti_err tutti_access_parse(const void *buf, size_t size, tutti_access **out) {
    tutti__side file = {0, NULL}, memory = {0, NULL};
    size_t used = 0;
    TUTTI_CHECK(out && (buf || size == 0), TUTTI_ERR_ARG, "NULL argument");
    TUTTI_TRY(tutti__side_parse(buf, size, 1, &used, &file));
    tutti_err err = parse_memory(buf, size, used, &memory);
    if (err != TUTTI_OK) {
        tutti__side_free(&file);
        return err;
    }
    err = tutti__access_make(file, memory, out);
    TUTTI_CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, TUTTI_ERR_FORMAT,
                "the two sides of a description do not fit together");
    return err;
}
