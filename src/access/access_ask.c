/* access: public queries, iteration and serialisation.  An iterator advances one cursor on each
 * side and merges consecutive pieces that are contiguous in both.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

tutti_off tutti_access_bytes(const tutti_access *a) {
    return a ? tutti__side_bytes(a->file) : 0;
}

tutti_off tutti_access_repeated(const tutti_access *a) {
    return a ? tutti__side_bytes(a->repeats.file) : 0;
}

void tutti_access_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi) {
    if (lo) *lo = a ? tutti__side_lo(a->file) : 0;
    if (hi) *hi = a ? tutti__side_hi(a->file) : 0;
}

void tutti_access_memory_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi) {
    if (a && !tutti__handle_alive(&a->handle, &tutti__access_class)) a = NULL;
    const tutti__side s = a ? a->memory : (tutti__side){0, NULL};
    const tutti__side again = a && a->repeats.memory.node ? a->repeats.memory : s;
    if (lo) *lo = tutti__min(tutti__side_lo(s), tutti__side_lo(again));
    if (hi) *hi = tutti__max(tutti__side_hi(s), tutti__side_hi(again));
}

tutti_count tutti_access_runs_count(const tutti_access *a) {
    return a ? tutti__side_runs(a->file) : 0;
}

tutti_off tutti_access_bytes_in(const tutti_access *a, tutti_off lo, tutti_off hi) {
    return a ? tutti__side_bytes_in(a->file, lo, hi) : 0;
}

size_t tutti_access_size(const tutti_access *a) {
    if (!a) return 0;
    return sizeof *a + tutti__side_size(a->file) + tutti__side_size(a->memory) +
           tutti__side_size(a->repeats.file) + tutti__side_size(a->repeats.memory) -
           4 * sizeof(tutti__side);
}

uint64_t tutti_access_hash(const tutti_access *a) {
    if (!a) return 0;
    const uint64_t h = tutti__mix(tutti__side_hash(a->file), tutti__side_hash(a->memory));
    if (!a->repeats.file.node) return h;
    return tutti__mix(tutti__mix(h, tutti__side_hash(a->repeats.file)),
                      tutti__side_hash(a->repeats.memory));
}

int tutti_access_equal(const tutti_access *a, const tutti_access *b) {
    if (!a || !b) return a == b;
    return tutti__side_equal(a->file, b->file) && tutti__side_equal(a->memory, b->memory) &&
           tutti__side_equal(a->repeats.file, b->repeats.file) &&
           tutti__side_equal(a->repeats.memory, b->repeats.memory);
}

/* ---- iteration */

struct tutti_access_iter {
    tutti__cursor file, memory;
};

static void iter_seek(tutti_access_iter *it, const tutti_access *a, tutti_off stream) {
    tutti__cursor_seek(&it->file, a->file, stream);
    tutti__cursor_seek(&it->memory, a->memory, stream);
}

/* Get the next piece that is contiguous on both sides; returns 0 at the end. */
static int iter_peek(const tutti_access_iter *it, tutti_piece *p) {
    tutti__burst f, m;
    if (!tutti__cursor_peek(&it->file, &f) || !tutti__cursor_peek(&it->memory, &m)) return 0;
    *p = (tutti_piece){f.offset, m.offset, tutti__min(f.bytes, m.bytes)};
    return 1;
}

tutti_err tutti_access_iter_start(const tutti_access *a, tutti_off stream,
                                  tutti_access_iter **out) {
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(stream >= 0, TUTTI_ERR_ARG, "stream position is %lld: must be >= 0",
                (long long)stream);
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
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(piece, TUTTI_ERR_ARG, "argument piece is NULL");
    TUTTI_CHECK(p >= 0 && p < tutti_access_bytes(a), TUTTI_ERR_ARG,
                "stream position %lld is outside the access (%lld bytes)", (long long)p,
                (long long)tutti_access_bytes(a));
    iter_seek(&it, a, p);
    (void)iter_peek(&it, piece);
    return TUTTI_OK;
}

/* ---- serialisation: file side and memory side; with repeats, REPEATS_MARK, these two and the two
 * sides of the repeats */

static const unsigned char REPEATS_MARK[] = {0xa8, 0x01};
enum { MARK_SIZE = sizeof REPEATS_MARK };

size_t tutti_access_serialise(const tutti_access *a, void *buf, size_t size) {
    if (!a) return 0;
    const tutti_off lo = -TUTTI__OFF_LIMIT, hi = TUTTI__OFF_LIMIT;
    const tutti__side side[] = {a->file, a->memory, a->repeats.file, a->repeats.memory};
    const int n = a->repeats.file.node ? 4 : 2;
    size_t at[4], all = n == 4 ? MARK_SIZE : 0;
    for (int i = 0; i < n; i++) {
        at[i] = all;
        all += tutti__side_serialise(side[i], lo, hi, NULL, 0);
    }
    if (!buf || all > size) return all;
    if (n == 4) memcpy(buf, REPEATS_MARK, MARK_SIZE);
    for (int i = 0; i < n; i++)
        (void)tutti__side_serialise(side[i], lo, hi, (char *)buf + at[i], all - at[i]);
    return all;
}

static tutti_err parse_sides(const char *buf, size_t size, tutti_access *a) {
    tutti__side *const side[] = {&a->file, &a->memory, &a->repeats.file, &a->repeats.memory};
    const int repeats = size >= MARK_SIZE && memcmp(buf, REPEATS_MARK, MARK_SIZE) == 0;
    size_t at = repeats ? MARK_SIZE : 0, used = 0;
    for (int i = 0; i < (repeats ? 4 : 2); i++, at += used)
        TUTTI_TRY(tutti__side_parse(buf + at, size - at, i == 0, &used, side[i]));
    TUTTI_CHECK(at == size, TUTTI_ERR_FORMAT, "invalid serialised access: %zu extra bytes follow",
                size - at);
    TUTTI_CHECK(!repeats || a->repeats.file.node, TUTTI_ERR_FORMAT,
                "invalid serialised access: repeated bytes are announced, but none are listed");
    return TUTTI_OK;
}

tutti_err tutti_access_parse(const void *buf, size_t size, tutti_access **out) {
    tutti_access a = {.file = {0, NULL}};
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(buf || size == 0, TUTTI_ERR_ARG, "argument buf is NULL");
    tutti_err err = parse_sides(buf, size, &a);
    if (err != TUTTI_OK) {
        tutti__access_drop(&a);
        return err;
    }
    err = tutti__access_make_all(a, out);
    TUTTI_CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, TUTTI_ERR_FORMAT,
                "invalid serialised access: %.300s", tutti_last_error()->text);
    return err;
}
