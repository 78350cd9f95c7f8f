/* access: sorting an irregular file side.  The access is expanded into pieces that are contiguous
 * in file and memory.  A stable sort orders them by file offset: a natural merge sort if there are
 * few ascending sequences, else a radix sort.  Where pieces overlap, a sweep along the file keeps
 * the last occurrence of each byte, and collects the replaced parts of the others.  The results are
 * converted to sides again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)
#define MANY_ROWS 64

typedef struct {
    tutti_off file, memory, bytes;
    tutti_count rank; /* position in the stream order; the highest rank is kept */
} piece;

static tutti_off end_of(const piece *p) {
    return p->file + p->bytes;
}

/* Append a piece; if it continues the last piece in file and memory, the two are merged. */
static void append_piece(piece *v, tutti_count *n, piece p) {
    piece *last = v + *n - 1;
    if (*n && end_of(last) == p.file && last->memory + last->bytes == p.memory)
        last->bytes += p.bytes;
    else
        v[(*n)++] = p;
}

/* ---- sorting */

/* Return the end of the ascending sequence that starts at index i. */
static tutti_count row_end(const piece *v, tutti_count n, tutti_count i) {
    while (i + 1 < n && v[i].file <= v[i + 1].file) i++;
    return i + 1;
}

/* Merge pairs of neighbouring ascending sequences of v into w; returns the number of resulting
 * sequences. */
static tutti_count merge_rows(const piece *v, tutti_count n, piece *w) {
    tutti_count rows = 0;
    for (tutti_count i = 0; i < n; rows++) {
        const tutti_count mid = row_end(v, n, i), end = mid < n ? row_end(v, n, mid) : n;
        const piece *a = v + i, *a_end = v + mid, *b = a_end, *b_end = v + end;
        piece *out = w + i;
        while (a < a_end && b < b_end) *out++ = b->file < a->file ? *b++ : *a++;
        memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
        out += a_end - a;
        memcpy(out, b, (size_t)(b_end - b) * sizeof *b);
        i = end;
    }
    return rows;
}

/* Sort v, with w as scratch memory; returns v or w, whichever has the result. */
static piece *sort_pieces(piece *v, tutti_count n, piece *w) {
    tutti_count rows = 0;
    for (tutti_count i = 0; i < n && rows < MANY_ROWS; rows++) i = row_end(v, n, i);
    if (rows >= MANY_ROWS) {
        tutti_off lo = v[0].file, hi = lo;
        for (tutti_count i = 1; i < n; i++) {
            lo = tutti__min(lo, v[i].file);
            hi = tutti__max(hi, v[i].file);
        }
        for (int shift = 0; shift < 63 && (hi - lo) >> shift; shift += RADIX_BITS) {
            /* sort by the digit of (file - lo) at bit `shift`, in one stable pass */
            tutti_count at[RADIX] = {0}, sum = 0;
            for (tutti_count i = 0; i < n; i++) at[(v[i].file - lo) >> shift & (RADIX - 1)]++;
            for (int d = 0; d < RADIX; d++) {
                const tutti_count count = at[d];
                at[d] = sum;
                sum += count;
            }
            for (tutti_count i = 0; i < n; i++)
                w[at[(v[i].file - lo) >> shift & (RADIX - 1)]++] = v[i];
            piece *swapped = v;
            v = w;
            w = swapped;
        }
        return v;
    }
    while (merge_rows(v, n, w) > 1) {
        piece *t = v;
        v = w;
        w = t;
    }
    return w;
}

/* ---- overlaps: a heap contains the pieces at the current offset, with the highest rank on top */

typedef struct {
    piece **v;
    tutti_count n;
} heap;

static void push_piece(heap *h, piece *p) {
    tutti_count i = h->n++;
    for (; i > 0 && h->v[(i - 1) / 2]->rank < p->rank; i = (i - 1) / 2) h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = p;
}

static void pop_piece(heap *h) {
    piece *p = h->v[--h->n];
    tutti_count i = 0;
    for (tutti_count k = 1; k < h->n; i = k, k = 2 * i + 1) {
        if (k + 1 < h->n && h->v[k + 1]->rank > h->v[k]->rank) k++;
        if (h->v[k]->rank <= p->rank) break;
        h->v[i] = h->v[k];
    }
    h->v[i] = p;
}

/* A growing list of pieces. */
typedef struct {
    piece *v;
    tutti_count n;
    size_t capacity;
} pieces;

static tutti_err add_lost_piece(pieces *l, piece p) {
    TUTTI_TRY(tutti__grow(&l->v, (size_t)l->n + 1, &l->capacity, sizeof *l->v));
    append_piece(l->v, &l->n, p);
    return TUTTI_OK;
}

/* Remove the bytes of a piece before file offset `to`. */
static void piece_cut(piece *p, tutti_off to) {
    p->memory += to - p->file;
    p->bytes -= to - p->file;
    p->file = to;
}

/* Write the kept parts of the sorted pieces v to w (capacity 2 n), and add the replaced parts to
 * `lost`.  Processed bytes are removed from the pieces in v. */
static tutti_err sweep_pieces(piece *v, tutti_count *n, heap *h, piece *w, pieces *lost) {
    tutti_count out = 0, i = 0;
    tutti_off at = 0;
    while (i < *n || h->n) {
        while (h->n && end_of(h->v[0]) <= at) pop_piece(h);
        if (!h->n && i == *n) break;
        if (!h->n) at = tutti__max(at, v[i].file);
        for (; i < *n && v[i].file <= at; i++) push_piece(h, &v[i]);
        while (h->n && end_of(h->v[0]) <= at) pop_piece(h);
        if (!h->n) continue;
        piece *top = h->v[0];
        const tutti_off to = i < *n ? tutti__min(end_of(top), v[i].file) : end_of(top);
        if (top->file < at) {
            TUTTI_TRY(add_lost_piece(lost, (piece){top->file, top->memory, at - top->file, 0}));
            piece_cut(top, at);
        }
        append_piece(w, &out, (piece){at, top->memory, to - at, 0});
        piece_cut(top, to);
        at = to;
    }
    for (i = 0; i < *n; i++)
        if (v[i].bytes > 0) TUTTI_TRY(add_lost_piece(lost, v[i]));
    *n = out;
    return TUTTI_OK;
}

/* ---- conversion to sides */

tutti_err tutti__mapping_list(tutti_count n, const tutti_off *file, const tutti_off *memory,
                              const tutti_off *lengths, tutti__mapping *out) {
    tutti__mapping m = {{0, NULL}, {0, NULL}};
    tutti_err err = tutti__side_list(n, file, lengths, 0, &m.file);
    if (err == TUTTI_OK) err = tutti__side_list(n, memory, lengths, 0, &m.memory);
    if (err == TUTTI_OK)
        *out = m;
    else
        tutti__mapping_free(&m);
    return err;
}

static tutti_err make_mapping(const piece *v, tutti_count n, tutti__mapping *out) {
    tutti_off *file = tutti__malloc((size_t)n * 3 * sizeof *file);
    if (!file) return TUTTI_ERR_NOMEM;
    tutti_off *memory = file + n, *lengths = memory + n;
    for (tutti_count i = 0; i < n; i++) {
        file[i] = v[i].file;
        memory[i] = v[i].memory;
        lengths[i] = v[i].bytes;
    }
    const tutti_err err = tutti__mapping_list(n, file, memory, lengths, out);
    tutti__free(file);
    return err;
}

/* Resolve overlaps of the sorted pieces v: write the kept parts to w, and make a mapping of the
 * replaced parts in the order of the file. */
static tutti_err cut_covered(piece *v, tutti_count *n, piece *w, tutti__mapping *lost_out) {
    heap h = {tutti__malloc((size_t)*n * sizeof *h.v), 0};
    pieces lost = {NULL, 0, 0};
    if (!h.v) return TUTTI_ERR_NOMEM;
    tutti_err err = sweep_pieces(v, n, &h, w, &lost);
    if (err == TUTTI_OK) {
        piece *scratch = tutti__malloc((size_t)lost.n * sizeof *scratch);
        err = scratch ? make_mapping(sort_pieces(lost.v, lost.n, scratch), lost.n, lost_out)
                      : TUTTI_ERR_NOMEM;
        tutti__free(scratch);
    }
    tutti__free(h.v);
    tutti__free(lost.v);
    return err;
}

tutti_err tutti__pieces_sort(tutti__mapping *io, tutti__mapping *lost_out) {
    const tutti_count most = tutti__side_runs(io->file) + tutti__side_runs(io->memory);
    TUTTI_CHECK(most <= TUTTI__MAX_RUNS, TUTTI_ERR_UNSUPPORTED,
                "cannot sort %lld runs: at most %lld are supported", (long long)most,
                (long long)TUTTI__MAX_RUNS);
    piece *v = tutti__malloc((size_t)most * 3 * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    tutti__mapping made = {{0, NULL}, {0, NULL}}, lost = {{0, NULL}, {0, NULL}};
    tutti__cursor cf, cm;
    tutti__burst f, m;
    tutti_count n = 0;
    tutti__cursor_seek(&cf, io->file, 0);
    tutti__cursor_seek(&cm, io->memory, 0);
    while (tutti__cursor_peek(&cf, &f) && tutti__cursor_peek(&cm, &m)) {
        const tutti_off bytes = tutti__min(f.bytes, m.bytes);
        append_piece(v, &n, (piece){f.offset, m.offset, bytes, n});
        tutti__cursor_skip(&cf, bytes);
        tutti__cursor_skip(&cm, bytes);
    }
    /* v has three parts: the first and the third are used for sorting, the first two for divided
     * pieces */
    piece *sorted = sort_pieces(v, n, v + 2 * most);
    tutti_err err = TUTTI_OK;
    int overlapping = 0;
    for (tutti_count i = 1; i < n && !overlapping; i++)
        overlapping = end_of(&sorted[i - 1]) > sorted[i].file;
    if (overlapping) {
        if (sorted == v) memcpy(v + 2 * most, v, (size_t)n * sizeof *v);
        err = cut_covered(v + 2 * most, &n, v, &lost);
        sorted = v;
    }
    if (err == TUTTI_OK) err = make_mapping(sorted, n, &made);
    tutti__free(v);
    if (err != TUTTI_OK) {
        tutti__mapping_free(&lost);
        return err;
    }
    TUTTI_ASSERT(tutti__side_monotone(made.file));
    TUTTI_ASSERT(tutti__side_bytes(made.file) + tutti__side_bytes(lost.file) ==
                 tutti__side_bytes(io->file));
    tutti__mapping_free(io);
    *io = made;
    *lost_out = lost;
    return TUTTI_OK;
}
