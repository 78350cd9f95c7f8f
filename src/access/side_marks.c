/* access: sets of views decided by marking their grains in a bitmap, one window of the file after
 * the other.  Exact for every pattern; the cost is a few nanoseconds a run and a bit a grain.
 *
 * A grain is the largest power of two that divides every start, length and stride: a view has all
 * of it or nothing (as far as the range goes).  Stretches where no view has bytes, or only one
 * while looking for shared ones, are skipped: the next window starts at the smallest (second
 * smallest) next byte of all views.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/list_read.h"
#include "access/side_set.h"

#define MAX_WORDS 8192 /* 64 KiB */
#define MAX_SHIFT 32

typedef struct {
    const tutti__group *g;
    tutti_off *next; /* of every view: its first byte from the window on */
    uint64_t *bits;
    int shift;
    tutti_off lo;   /* where the window's bytes start, */
    tutti_off base; /* its first grain, */
    tutti_off end;  /* its end */
} bitmap;

static void bitmap_free(bitmap *b) {
    tutti__free(b->next);
    tutti__free(b->bits);
}

static tutti_err bitmap_make(const tutti__group *g, bitmap *b) {
    uint64_t all = (uint64_t)1 << MAX_SHIFT;
    for (size_t i = 0; i < g->n; i++)
        all |= (uint64_t)g->v[i].side.node->grain | (uint64_t)g->v[i].side.disp;
    const int shift = __builtin_ctzll(all);
    const tutti_off words = ((g->hi - g->lo) >> shift) / 64 + 2;
    *b = (bitmap){.g = g, .shift = shift};
    b->next = tutti__malloc(g->n * sizeof *b->next);
    b->bits = tutti__malloc((size_t)tutti__min(words, MAX_WORDS) * sizeof *b->bits);
    if (!b->next || !b->bits) {
        bitmap_free(b);
        return TUTTI_ERR_NOMEM;
    }
    for (size_t i = 0; i < g->n; i++) {
        const tutti__view *v = &g->v[i];
        b->next[i] = v->first >= g->lo ? v->first : tutti__side_next(v->side, g->lo);
    }
    return TUTTI_OK;
}

/* Move the window to where `views` (1 or 2) views may have bytes; 0 if there are none. */
static int bitmap_move(bitmap *b, int views) {
    const tutti_off span = (tutti_off)MAX_WORDS * 64 << b->shift;
    tutti_off first = TUTTI__OFF_END, second = TUTTI__OFF_END;
    for (size_t i = 0; i < b->g->n; i++) {
        second = tutti__min(second, tutti__max(first, b->next[i]));
        first = tutti__min(first, b->next[i]);
    }
    b->lo = views == 1 ? first : second;
    if (b->lo >= b->g->hi) return 0;
    b->base = tutti__align_down(b->lo, (tutti_off)1 << b->shift);
    b->end = b->g->hi - b->base > span ? b->base + span : b->g->hi;
    memset(b->bits, 0, (size_t)((((b->end - 1 - b->base) >> b->shift) / 64 + 1) * 8));
    return 1;
}

/* Set bits [first, end); -1, or one that was set already. */
static inline tutti_off set_bits(uint64_t *bits, tutti_off first, tutti_off end) {
    const tutti_off last_word = (end - 1) >> 6;
    uint64_t mask = UINT64_MAX << (first & 63);
    for (tutti_off w = first >> 6;; w++, mask = UINT64_MAX) {
        if (w == last_word) mask &= UINT64_MAX >> (63 - ((end - 1) & 63));
        const uint64_t both = bits[w] & mask;
        if (__builtin_expect(both != 0, 0)) return w * 64 + __builtin_ctzll(both);
        bits[w] |= mask;
        if (w == last_word) return -1;
    }
}

static inline void add_bits(uint64_t *bits, tutti_off first, tutti_off end) {
    const tutti_off last_word = (end - 1) >> 6;
    uint64_t mask = UINT64_MAX << (first & 63);
    for (tutti_off w = first >> 6; w < last_word; w++, mask = UINT64_MAX) bits[w] |= mask;
    bits[last_word] |= mask & UINT64_MAX >> (63 - ((end - 1) & 63));
}

/* The runs of a burst up to the window's end; -1, or a bit that was set already if `strict`. */
static inline tutti_off mark_burst(const bitmap *b, const tutti__burst *burst, int strict) {
    const tutti_off up = ((tutti_off)1 << b->shift) - 1;
    tutti_off at = burst->offset;
    for (tutti_count i = burst->count; i > 0 && at < b->end; i--, at += burst->stride) {
        const tutti_off end = tutti__min(at + burst->bytes, b->end);
        const tutti_off first_bit = (at - b->base) >> b->shift;
        const tutti_off end_bit = (end - b->base + up) >> b->shift;
        if (strict) {
            const tutti_off bit = set_bits(b->bits, first_bit, end_bit);
            if (bit >= 0) return bit;
        } else {
            add_bits(b->bits, first_bit, end_bit);
        }
    }
    return -1;
}

/* One run up to the window's end; nearly always its bits are in one word. */
static inline tutti_off mark_run(const bitmap *b, tutti_off at, tutti_off bytes, int strict) {
    const tutti_off end = tutti__min(at + bytes, b->end);
    const tutti_off first = (at - b->base) >> b->shift, last = (end - 1 - b->base) >> b->shift;
    if (__builtin_expect((first ^ last) >> 6 != 0, 0)) {
        if (strict) return set_bits(b->bits, first, last + 1);
        add_bits(b->bits, first, last + 1);
        return -1;
    }
    uint64_t *const word = &b->bits[first >> 6];
    const uint64_t mask = UINT64_MAX >> (63 - (last - first)) << (first & 63);
    if (strict && __builtin_expect((*word & mask) != 0, 0))
        return (first & ~(tutti_off)63) + __builtin_ctzll(*word & mask);
    *word |= mask;
    return -1;
}

/* The items of a LIST from a stream position on, read in line. */
static inline tutti_off mark_list(const bitmap *b, tutti__side s, tutti_off stream, int strict) {
    const tutti__node *n = s.node;
    tutti__frame f = {.node = n, .origin = s.disp};
    tutti_off inside, bit;
    if (stream >= n->bytes) return -1;
    tutti__list_seek(n, stream, &f, &inside);
    tutti__list_reader r = tutti__reader_after(&f);
    tutti_off at = s.disp + f.item + inside, bytes = f.item_bytes - inside;
    for (tutti_count left = n->list.n - f.index; at < b->end; at += s.disp) {
        bit = mark_run(b, at, bytes, strict);
        if (bit >= 0 || --left == 0) return bit;
        at = tutti__reader_next(&r, &bytes);
    }
    return -1;
}

static inline tutti_off mark_view(const bitmap *b, size_t i, int strict) {
    const tutti__side s = b->g->v[i].side;
    const tutti_off from = tutti__side_tell(s, tutti__max(b->next[i], b->lo));
    tutti_off bit = -1, shown;
    tutti__cursor c;
    tutti__burst burst;

    if (s.node->kind == TUTTI__LIST) return mark_list(b, s, from, strict);
    tutti__cursor_seek(&c, s, from);
    if (!tutti__cursor_peek(&c, &burst)) return -1;
    do {
        if (burst.offset >= b->end) break;
        bit = mark_burst(b, &burst, strict);
        shown = burst.bytes * burst.count;
    } while (bit < 0 && tutti__cursor_after(&c, shown, &burst));
    return bit;
}

/* All views in the window; -1, or a bit that two of them have if `strict`. */
static inline tutti_off mark_all(bitmap *b, int strict) {
    for (size_t i = 0; i < b->g->n; i++) {
        if (b->next[i] >= b->end) continue;
        const tutti_off bit = mark_view(b, i, strict);
        if (bit >= 0) return bit;
        b->next[i] = tutti__side_next(b->g->v[i].side, b->end);
    }
    return -1;
}

tutti_err tutti__group_by_marks(tutti__overlap *o, const tutti__group *g) {
    bitmap b;
    TUTTI_TRY(bitmap_make(g, &b));
    while (!o->shared && bitmap_move(&b, 2)) {
        const tutti_off bit = mark_all(&b, 1);
        if (bit < 0) continue;
        o->shared = 1;
        o->where = tutti__max(b.base + (bit << b.shift), b.lo);
    }
    bitmap_free(&b);
    return TUTTI_OK;
}

/* ---- union */

/* The first bit from `at` on that is set (or, with flip = all ones, clear); at most `end`. */
static tutti_off find_bit(const uint64_t *bits, tutti_off at, tutti_off end, uint64_t flip) {
    uint64_t mask = UINT64_MAX << (at & 63);
    for (tutti_off w = at >> 6; w * 64 < end; w++, mask = UINT64_MAX) {
        const uint64_t word = (bits[w] ^ flip) & mask;
        if (word) return tutti__min(w * 64 + __builtin_ctzll(word), end);
    }
    return end;
}

static tutti_err join_marks(const bitmap *b, const tutti__joiner *j) {
    const tutti_off bits = ((b->end - 1 - b->base) >> b->shift) + 1;
    for (tutti_off at = 0;;) {
        const tutti_off first = find_bit(b->bits, at, bits, 0);
        if (first >= bits) return TUTTI_OK;
        at = find_bit(b->bits, first, bits, UINT64_MAX);
        TUTTI_TRY(tutti__join_extent(j, tutti__max(b->base + (first << b->shift), b->lo),
                                     tutti__min(b->base + (at << b->shift), b->end)));
    }
}

tutti_err tutti__union_by_marks(const tutti__group *g, const tutti__joiner *j) {
    tutti_err err = TUTTI_OK;
    bitmap b;
    TUTTI_TRY(bitmap_make(g, &b));
    while (err == TUTTI_OK && bitmap_move(&b, 1)) {
        (void)mark_all(&b, 0);
        err = join_marks(&b, j);
    }
    bitmap_free(&b);
    return err;
}

tutti_err tutti__join_extent(const tutti__joiner *j, tutti_off offset, tutti_off end) {
    tutti__extents *io = j->io;
    if (io->n > j->own) {
        tutti__extent *last = &io->v[io->n - 1];
        if (offset - (last->offset + last->bytes) <= j->max_gap) {
            last->bytes = tutti__max(last->bytes, end - last->offset);
            return TUTTI_OK;
        }
    }
    if (io->n == io->room) {
        const size_t room = io->room ? 2 * io->room : 16;
        tutti__extent *v = tutti__realloc(io->v, room * sizeof *v);
        if (!v) return TUTTI_ERR_NOMEM;
        io->v = v;
        io->room = room;
    }
    io->v[io->n++] = (tutti__extent){offset, end - offset};
    return TUTTI_OK;
}
