/* Reference for the tests of accesses.  A model lists the file and memory offset of every byte of an
 * access in stream order; random accesses are created together with their models.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_ACCESS_REFERENCE_H
#define TUTTI_TESTS_ACCESS_REFERENCE_H

#include "access/node.h"
#include "check.h"

typedef struct model {
    int64_t n, capacity;
    int64_t *file, *memory;
    struct model *lost; /* bytes whose file offset occurs again later, or NULL */
} model;

static inline void model_add(model *m, int64_t file, int64_t memory) {
    if (m->n == m->capacity) {
        m->capacity = 2 * m->capacity + 64;
        m->file = realloc(m->file, (size_t)m->capacity * sizeof *m->file);
        m->memory = realloc(m->memory, (size_t)m->capacity * sizeof *m->memory);
    }
    m->file[m->n] = file;
    m->memory[m->n++] = memory;
}

static inline void model_add_run(model *m, int64_t file, int64_t memory, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i++) model_add(m, file + i, memory + i);
}

static inline void model_free(model *m) {
    if (m->lost) model_free(m->lost);
    free(m->lost);
    free(m->file);
    free(m->memory);
    *m = (model){0, 0, NULL, NULL, NULL};
}

static inline void model_lose(model *m, int64_t file, int64_t memory) {
    if (!m->lost) m->lost = calloc(1, sizeof *m->lost);
    model_add(m->lost, file, memory);
}
static inline int64_t model_lost(const model *m) {
    return m->lost ? m->lost->n : 0;
}

typedef struct {
    int64_t file, memory, rank;
} model_byte;

static inline int model_compare(const void *a, const void *b) {
    const model_byte *p = a, *q = b;
    if (p->file != q->file) return p->file < q->file ? -1 : 1;
    return p->rank < q->rank ? -1 : 1;
}

/* Sort by file offset; of several bytes at one file offset, keep the last and move the others to
 * `lost`. */
static inline void model_sort(model *m) {
    if (m->n == 0) return;
    model_byte *v = malloc((size_t)m->n * sizeof *v);
    for (int64_t i = 0; i < m->n; i++) v[i] = (model_byte){m->file[i], m->memory[i], i};
    qsort(v, (size_t)m->n, sizeof *v, model_compare);
    const int64_t n = m->n;
    m->n = 0;
    for (int64_t i = 0; i < n; i++)
        if (i + 1 == n || v[i].file != v[i + 1].file)
            model_add(m, v[i].file, v[i].memory);
        else
            model_lose(m, v[i].file, v[i].memory);
    free(v);
}

static inline int model_compare_places(const void *a, const void *b) {
    const model_byte *p = a, *q = b;
    if (p->file != q->file) return p->file < q->file ? -1 : 1;
    return (p->memory > q->memory) - (p->memory < q->memory);
}

/* Sort by file offset, then memory offset; keep all bytes. */
static inline void model_order(model *m) {
    model_byte *v = malloc((size_t)(m->n + 1) * sizeof *v);
    for (int64_t i = 0; i < m->n; i++) v[i] = (model_byte){m->file[i], m->memory[i], i};
    qsort(v, (size_t)m->n, sizeof *v, model_compare_places);
    for (int64_t i = 0; i < m->n; i++) m->file[i] = v[i].file, m->memory[i] = v[i].memory;
    free(v);
}

/* ---- comparing */

/* Check that the bytes of a side have the offsets at[0..n) in stream order. */
static inline void check_side(tutti__side s, const int64_t *at, int64_t n) {
    tutti__cursor c;
    tutti__burst b;
    int64_t p = 0;
    CHECK_EQ(tutti__side_bytes(s), n);
    tutti__cursor_seek(&c, s, 0);
    while (tutti__cursor_peek(&c, &b)) {
        for (int64_t i = 0; i < b.count; i++)
            for (int64_t k = 0; k < b.bytes; k++, p++)
                if (p >= n || at[p] != b.offset + i * b.stride + k) {
                    CHECK(0, "stream position %lld of %lld is at %lld, not at %lld", (long long)p,
                          (long long)n, (long long)(b.offset + i * b.stride + k),
                          (long long)(p < n ? at[p] : -1));
                    return;
                }
        tutti__cursor_skip(&c, b.count * b.bytes);
    }
    CHECK_EQ(p, n);
}

/* Return the file and memory offsets of all bytes of a mapping. */
static inline model mapping_model(const tutti__mapping *r) {
    model m = {0, 0, NULL, NULL, NULL};
    tutti__cursor cf, cm;
    tutti__burst f, b;
    tutti__cursor_seek(&cf, r->file, 0);
    tutti__cursor_seek(&cm, r->memory, 0);
    while (tutti__cursor_peek(&cf, &f) && tutti__cursor_peek(&cm, &b)) {
        const int64_t n = f.bytes < b.bytes ? f.bytes : b.bytes;
        model_add_run(&m, f.offset, b.offset, n);
        tutti__cursor_skip(&cf, n);
        tutti__cursor_skip(&cm, n);
    }
    return m;
}

/* Check that the repeats of `a` are the bytes of m->lost, in any order. */
static inline void check_repeats(const tutti_access *a, const model *m) {
    CHECK_EQ(tutti__side_bytes(a->repeats.file), model_lost(m));
    CHECK_EQ(tutti__side_bytes(a->repeats.memory), model_lost(m));
    CHECK_EQ(tutti_access_repeated(a), model_lost(m));
    if (!m->lost) return;
    model r = mapping_model(&a->repeats);
    model_order(&r);
    model_order(m->lost);
    for (int64_t i = 0; i < r.n && i < m->lost->n; i++)
        if (r.file[i] != m->lost->file[i] || r.memory[i] != m->lost->memory[i]) {
            CHECK(0, "repeat %lld of %lld is %lld at %lld, not %lld at %lld", (long long)i,
                  (long long)r.n, (long long)r.file[i], (long long)r.memory[i],
                  (long long)m->lost->file[i], (long long)m->lost->memory[i]);
            break;
        }
    model_free(&r);
}

static inline void check_model(const tutti_access *a, const model *m) {
    check_side(a->file, m->file, m->n);
    check_side(a->memory, m->memory, m->n);
    check_repeats(a, m);
}

/* ---- random accesses with their models.  Offsets are small, so that accesses often overlap. */

static inline tutti_access *random_access(int depth, model *m);

static inline tutti_access *random_contiguous(model *m) {
    const int64_t offset = rnd(200), bytes = rnd(40);
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(offset, bytes, &a));
    model_add_run(m, offset, 0, bytes);
    return a;
}

static inline tutti_access *random_vector(model *m) {
    const int64_t count = rnd(9), block = rnd(12);
    int64_t stride = rnd(3) ? block + rnd(10) : rnd(30) - 15;
    const int64_t offset = rnd(100) + (stride < 0 ? -stride * 9 : 0);
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_vector(offset, count, block, stride, &a));
    for (int64_t i = 0; i < count; i++) model_add_run(m, offset + i * stride, i * block, block);
    return a;
}

/* Create random runs: ascending, in any order, in any order with overlaps, or ascending with equal
 * lengths. */
static inline tutti_access *random_runs(model *m) {
    const int kind = (int)rnd(4);
    const int64_t n = rnd(8) ? rnd(20) : rnd(300), same = 1 + rnd(8);
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets);
    int64_t *lengths = calloc((size_t)n + 1, sizeof *lengths);
    int64_t at = rnd(50);
    for (int64_t i = 0; i < n; i++) {
        lengths[i] = kind == 3 ? same : rnd(9);
        offsets[i] = kind == 2 ? rnd(150) : at;
        at += lengths[i] + (rnd(3) ? rnd(7) : 0) + (rnd(20) ? 0 : rnd(400));
    }
    if (kind == 1)
        for (int64_t i = n - 1; i > 0; i--) {
            const int64_t k = rnd(i + 1), o = offsets[i], l = lengths[i];
            offsets[i] = offsets[k];
            lengths[i] = lengths[k];
            offsets[k] = o;
            lengths[k] = l;
        }
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_runs(n, offsets, lengths, &a));
    int64_t p = 0;
    for (int64_t i = 0; i < n; p += lengths[i++]) model_add_run(m, offsets[i], p, lengths[i]);
    free(offsets);
    free(lengths);
    return a;
}

static inline tutti_access *random_indices(model *m) {
    const int64_t n = rnd(40), size = 1 + rnd(6), offset = rnd(30), step = rnd(3);
    tutti_count index[40] = {0};
    for (int64_t i = 0; i < n; i++) index[i] = step && i ? index[i - 1] + step : rnd(60);
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_indices(offset, size, n, index, &a));
    for (int64_t i = 0; i < n; i++) model_add_run(m, offset + index[i] * size, i * size, size);
    return a;
}

/* Create random pieces that overlap in the file, in memory, in both or in neither. */
static inline tutti_access *random_pieces(model *m) {
    enum { MOST = 30 };
    const int64_t n = rnd(MOST), in_file = rnd(3), in_memory = rnd(3), order = rnd(2);
    tutti_off file[MOST] = {0}, memory[MOST] = {0}, length[MOST] = {0};
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = order ? i : n - 1 - i;
        length[i] = rnd(9);
        file[i] = in_file ? 12 * i : rnd(100);
        memory[i] = in_memory ? 10 * k - 50 : rnd(200) - 50;
    }
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_pieces(n, file, memory, length, &a));
    for (int64_t i = 0; i < n; i++) model_add_run(m, file[i], memory[i], length[i]);
    return a;
}

static inline int64_t memory_end(const model *m) {
    int64_t end = m->lost ? memory_end(m->lost) : 0;
    for (int64_t i = 0; i < m->n; i++)
        if (m->memory[i] + 1 > end) end = m->memory[i] + 1;
    return end;
}

/* Append the bytes of another model with both offsets shifted, and its `lost` bytes to m->lost. */
static inline void model_append(model *m, const model *from, int64_t file, int64_t memory) {
    for (int64_t k = 0; k < from->n; k++)
        model_add(m, from->file[k] + file, from->memory[k] + memory);
    for (int64_t k = 0; k < model_lost(from); k++)
        model_lose(m, from->lost->file[k] + file, from->lost->memory[k] + memory);
}

/* Move an access and its model by `by` bytes in the file. */
static inline void shift_access(tutti_access **a, model *m, int64_t by) {
    tutti_access *moved = NULL;
    tutti_access sides = tutti__access_share(*a);
    if (sides.file.node) sides.file.disp += by;
    if (sides.repeats.file.node) sides.repeats.file.disp += by;
    CHECK_OK(tutti__access_make_all(sides, &moved));
    for (int64_t i = 0; i < m->n; i++) m->file[i] += by;
    for (int64_t i = 0; i < model_lost(m); i++) m->lost->file[i] += by;
    tutti_access_free(a);
    *a = moved;
}

static inline tutti_access *random_concat(int depth, model *m) {
    tutti_access *part[5], *a = NULL;
    tutti_off offsets[5];
    const int n = (int)rnd(6), given = (int)rnd(2), same = rnd(4) == 0, apart = rnd(4) > 0;
    const int64_t gap = rnd(3) * rnd(30);
    int64_t at_file = 0;
    model pm[5] = {{0, 0, NULL, NULL, NULL}};
    for (int i = 0; i < n; i++) {
        pm[i] = (model){0, 0, NULL, NULL, NULL};
        if (same && i) {
            CHECK_OK(tutti_access_copy(part[0], &part[i]));
            model_append(&pm[i], &pm[0], 0, 0);
        } else {
            part[i] = random_access(depth - 1, &pm[i]);
        }
        if (apart) {
            shift_access(&part[i], &pm[i], at_file);
            tutti_access_bounds(part[i], NULL, &at_file);
            at_file += gap;
        }
        offsets[i] = rnd(500) - 100;
    }
    CHECK_OK(tutti_access_concat(n, (const tutti_access *const *)part, given ? offsets : NULL, &a));
    int64_t end = 0;
    for (int i = 0; i < n; i++) {
        const int64_t at = given ? offsets[i] : end, own = memory_end(&pm[i]);
        model_append(m, &pm[i], 0, at);
        if (pm[i].n && at + own > end) end = at + own;
        model_free(&pm[i]);
        tutti_access_free(&part[i]);
    }
    return a;
}

static inline tutti_access *random_tile(int depth, model *m) {
    model pm = {0, 0, NULL, NULL, NULL};
    tutti_access *part = random_access(depth - 1, &pm), *a = NULL;
    tutti_off lo, hi;
    tutti_access_bounds(part, &lo, &hi);
    const int64_t count = rnd(5), memory_stride = rnd(2) ? pm.n : rnd(100) - 20;
    const int64_t stride = rnd(4) ? hi - lo + rnd(20) : rnd(20) - (lo >= 100 ? 10 : 0);
    CHECK_OK(tutti_access_tile(part, count, stride, memory_stride, &a));
    for (int64_t i = 0; i < count; i++) model_append(m, &pm, i * stride, i * memory_stride);
    model_free(&pm);
    tutti_access_free(&part);
    return a;
}

/* Create a random access of at most `depth` nested levels; its model is sorted by file offset. */
static inline tutti_access *random_access(int depth, model *m) {
    tutti_access *a = NULL;
    switch (depth > 0 ? 2 + rnd(11) : rnd(5)) {
    case 0:
        a = random_contiguous(m);
        break;
    case 1:
        a = random_vector(m);
        break;
    case 2:
        a = random_runs(m);
        break;
    case 3:
        a = random_indices(m);
        break;
    case 4:
        a = random_pieces(m);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        a = random_concat(depth, m);
        break;
    default:
        a = random_tile(depth, m);
        break;
    }
    if (m->n == 0) { /* allocate the arrays also for an empty access */
        model_add(m, 0, 0);
        m->n = 0;
    }
    model_sort(m);
    return a;
}

#endif
