/* access: queries about sets of views by marking their grains in a bitmap, one window of the file
 * after the other.  The queries determine grains that are marked twice, grains of a view that
 * earlier views have marked, or all marked grains.  They are exact for every pattern, and use one
 * bit per grain.
 *
 * Grains have a size in bytes that is the largest power of two that divides every start, length and
 * stride, so that a view has all bytes of a grain or none (within the range).  Ranges in which no
 * view has bytes, or only one view in a search for shared bytes, are skipped: the next window
 * starts at the smallest (second smallest) next byte of all views.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/list_read.h"
#include "access/side_set.h"

#define MAX_WORDS 8192 /* maximum words of the bitmap: 64 KiB */
#define MAX_SHIFT 32

typedef struct {
    const tutti__group *g;
    tutti_off *next; /* [g->n] offset of the first byte of each view that has not been processed */
    uint64_t *bits;  /* one bit per grain of the window */
    int shift;       /* grains have 1 << shift bytes */
    tutti_off lo;    /* offset of the first byte of the window */
    tutti_off base;  /* offset of the first grain of the window, <= lo */
    tutti_off end;   /* end of the window */
    tutti__extents *again; /* COLLECT: bytes of the current view that earlier views have marked */
    tutti_err err;         /* COLLECT: error of appending to `again` */
} bitmap;

/* Treatment of grains that are already marked: ignore them; report the first and stop marking;
 * collect all. */
typedef enum { PASS, TELL, COLLECT } again;

static void bitmap_free(bitmap *b) {
    tutti__free(b->next);
    tutti__free(b->bits);
}

static int shift_of(const tutti__group *g) {
    uint64_t all = (uint64_t)1 << MAX_SHIFT;
    for (size_t i = 0; i < g->n; i++)
        all |= (uint64_t)g->v[i].side.node->grain | (uint64_t)g->v[i].side.disp;
    return __builtin_ctzll(all);
}

static tutti_err bitmap_make(const tutti__group *g, bitmap *b) {
    const int shift = shift_of(g);
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

/* Move the window to the next range in which at least `views` (1 or 2) views may have bytes;
 * returns 0 if there is none. */
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

static inline void add_bits(uint64_t *bits, tutti_off first, tutti_off end) {
    const tutti_off last_word = (end - 1) >> 6;
    uint64_t mask = UINT64_MAX << (first & 63);
    for (tutti_off w = first >> 6; w < last_word; w++, mask = UINT64_MAX) bits[w] |= mask;
    bits[last_word] |= mask & UINT64_MAX >> (63 - ((end - 1) & 63));
}

/* Return the first bit in [at, end) that is set (or clear, if flip is UINT64_MAX); `end` if there
 * is none. */
static tutti_off find_bit(const uint64_t *bits, tutti_off at, tutti_off end, uint64_t flip) {
    uint64_t mask = UINT64_MAX << (at & 63);
    for (tutti_off w = at >> 6; w * 64 < end; w++, mask = UINT64_MAX) {
        const uint64_t word = (bits[w] ^ flip) & mask;
        if (word) return tutti__min(w * 64 + __builtin_ctzll(word), end);
    }
    return end;
}

/* Append the marked grains of bits [first, end), limited to the window. */
static tutti_err join_marks(const bitmap *b, tutti_off first, tutti_off end,
                            const tutti__joiner *j) {
    for (tutti_off at = first;;) {
        const tutti_off from = find_bit(b->bits, at, end, 0);
        if (from >= end) return TUTTI_OK;
        at = find_bit(b->bits, from, end, UINT64_MAX);
        TUTTI_TRY(tutti__join_extent(j, tutti__max(b->base + (from << b->shift), b->lo),
                                     tutti__min(b->base + (at << b->shift), b->end)));
    }
}

/* Set bits [first, end).  With TELL, return a bit that was already set; else -1. */
static inline tutti_off mark_bits(bitmap *b, tutti_off first, tutti_off end, again what) {
    if (what == TELL) {
        const tutti_off last_word = (end - 1) >> 6;
        uint64_t mask = UINT64_MAX << (first & 63);
        for (tutti_off w = first >> 6;; w++, mask = UINT64_MAX) {
            if (w == last_word) mask &= UINT64_MAX >> (63 - ((end - 1) & 63));
            const uint64_t both = b->bits[w] & mask;
            if (__builtin_expect(both != 0, 0)) return w * 64 + __builtin_ctzll(both);
            b->bits[w] |= mask;
            if (w == last_word) return -1;
        }
    }
    if (what == COLLECT && b->err == TUTTI_OK) {
        const tutti__joiner j = {b->again, 0, 0};
        b->err = join_marks(b, first, end, &j);
    }
    add_bits(b->bits, first, end);
    return -1;
}

/* Mark the runs of a burst up to the end of the window; the result is that of mark_bits. */
static inline tutti_off mark_burst(bitmap *b, const tutti__burst *burst, again what) {
    const tutti_off up = ((tutti_off)1 << b->shift) - 1;
    tutti_off at = burst->offset, bit = -1;
    for (tutti_count i = burst->count; i > 0 && at < b->end && bit < 0; i--, at += burst->stride) {
        const tutti_off end = tutti__min(at + burst->bytes, b->end);
        bit = mark_bits(b, (at - b->base) >> b->shift, (end - b->base + up) >> b->shift, what);
    }
    return bit;
}

/* Mark one run up to the end of the window; its bits are nearly always in one word.  The result is
 * that of mark_bits. */
static inline tutti_off mark_run(bitmap *b, tutti_off at, tutti_off bytes, again what) {
    const tutti_off end = tutti__min(at + bytes, b->end);
    const tutti_off first = (at - b->base) >> b->shift, last = (end - 1 - b->base) >> b->shift;
    if (__builtin_expect((first ^ last) >> 6 != 0, 0)) return mark_bits(b, first, last + 1, what);
    uint64_t *const word = &b->bits[first >> 6];
    const uint64_t mask = UINT64_MAX >> (63 - (last - first)) << (first & 63);
    if (what != PASS && __builtin_expect((*word & mask) != 0, 0))
        return mark_bits(b, first, last + 1, what);
    *word |= mask;
    return -1;
}

static inline tutti_off mark_view(bitmap *b, size_t i, again what) {
    const tutti__side s = b->g->v[i].side;
    const tutti_off from = tutti__side_tell(s, tutti__max(b->next[i], b->lo));
    tutti_off bit = -1, shown;
    tutti__cursor c;
    tutti__burst burst;

    /* items of a LIST are read without a cursor */
    if (s.node->kind == TUTTI__LIST) {
        const tutti__node *n = s.node;
        tutti__frame f = {.node = n, .origin = s.disp};
        tutti_off inside, item_bit;
        if (from >= n->bytes) return -1;
        tutti__list_seek(n, from, &f, &inside);
        tutti__list_reader r = tutti__reader_after(&f);
        tutti_off at = s.disp + f.item + inside, bytes = f.item_bytes - inside;
        for (tutti_count left = n->list.n - f.index; at < b->end; at += s.disp) {
            item_bit = mark_run(b, at, bytes, what);
            if (item_bit >= 0 || --left == 0) return item_bit;
            at = tutti__reader_next(&r, &bytes);
        }
        return -1;
    }
    tutti__cursor_seek(&c, s, from);
    if (!tutti__cursor_peek(&c, &burst)) return -1;
    do {
        if (burst.offset >= b->end) break;
        bit = mark_burst(b, &burst, what);
        shown = burst.bytes * burst.count;
    } while (bit < 0 && tutti__cursor_after(&c, shown, &burst));
    return bit;
}

/* Mark all views in the window.  With TELL, return a bit that two views have; else -1. */
static inline tutti_off mark_all(bitmap *b, again what) {
    for (size_t i = 0; i < b->g->n; i++) {
        if (b->next[i] >= b->end) continue;
        const tutti_off bit = mark_view(b, i, what);
        if (bit >= 0) return bit;
        b->next[i] = tutti__side_next(b->g->v[i].side, b->end);
    }
    return -1;
}

tutti_err tutti__group_by_marks(tutti__overlap *o, const tutti__group *g) {
    bitmap b;
    TUTTI_TRY(bitmap_make(g, &b));
    while (!o->shared && bitmap_move(&b, 2)) {
        const tutti_off bit = mark_all(&b, TELL);
        if (bit < 0) continue;
        o->shared = 1;
        o->where = tutti__max(b.base + (bit << b.shift), b.lo);
    }
    bitmap_free(&b);
    return TUTTI_OK;
}

/* ---- shared bytes */

int tutti__marks_are_few(const tutti__group *g) {
    /* number of bitmap words whose processing takes as long as marking one run */
    enum { EACH = 8 };
    tutti_count runs = 0;
    for (size_t i = 0; i < g->n; i++) runs += g->v[i].side.node->runs;
    return ((g->hi - g->lo) >> shift_of(g)) / 64 / EACH < runs;
}

tutti_err tutti__shared_by_marks(const tutti__group *g, tutti__extents *const *shared) {
    bitmap b;
    TUTTI_TRY(bitmap_make(g, &b));
    while (b.err == TUTTI_OK && bitmap_move(&b, 2))
        for (size_t i = 0; i < g->n; i++) {
            if (b.next[i] >= b.end) continue;
            b.again = shared[i];
            (void)mark_view(&b, i, COLLECT);
            b.next[i] = tutti__side_next(g->v[i].side, b.end);
        }
    bitmap_free(&b);
    return b.err;
}

/* ---- union */

tutti_err tutti__union_by_marks(const tutti__group *g, const tutti__joiner *j) {
    tutti_err err = TUTTI_OK;
    bitmap b;
    TUTTI_TRY(bitmap_make(g, &b));
    while (err == TUTTI_OK && bitmap_move(&b, 1)) {
        (void)mark_all(&b, PASS);
        err = join_marks(&b, 0, ((b.end - 1 - b.base) >> b.shift) + 1, j);
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
    TUTTI_TRY(tutti__grow(&io->v, io->n + 1, &io->capacity, sizeof *io->v));
    io->v[io->n++] = (tutti__extent){offset, end - offset};
    return TUTTI_OK;
}
