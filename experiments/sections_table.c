/* tutti-experiments sections: the sections.  Bounds are for an array of 4096 x 4096 elements; as in Thakur
 * and Choudhary, they start at 1 and upper bounds are included.  Other array sizes have sections of the same
 * shape.
 *
 * Common: their Table 1.  Overlapping: row I is that of their Table 2 (its other rows are not available); II
 * to IV overlap along columns, too, V to VII along rows, VIII to X along both, some with strides.  Distinct:
 * rows in blocks (their figure 3), half columns in every other file domain (their figure 7 B), small blocks,
 * and rows distributed cyclically.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/sections.h"

#include <string.h>

enum { PAPER_N = 4096 };

/* Bounds for rank p: lo + shift p : hi + shift p : stride. */
typedef struct {
    long lo, hi, shift, stride;
} bounds;

typedef struct {
    bounds dim[2];
    double paper; /* time of Direct / time of Extended Two-Phase in the paper */
} section_row;

static const section_row common_table[] = {
    {{{1, 100, 0, 1}, {1, 100, 0, 1}}, 3.842 / 1.027},
    {{{200, 300, 0, 1}, {200, 300, 0, 1}}, 4.145 / 0.883},
    {{{400, 800, 0, 1}, {400, 800, 0, 1}}, 32.57 / 3.692},
    {{{32, 64, 0, 1}, {128, 1024, 0, 1}}, 29.09 / 2.780},
    {{{1, 16, 0, 1}, {1, 4096, 0, 1}}, 118.2 / 3.241},
    {{{1, 4096, 0, 1}, {1, 16, 0, 1}}, 3.251 / 2.024},
};

static const section_row overlapping_table[] = {
    {{{1, 100, 0, 1}, {1, 100, 10, 1}}, 0},    {{{1, 400, 0, 1}, {1, 400, 100, 1}}, 0},
    {{{1, 1000, 0, 1}, {1, 200, 50, 1}}, 0},   {{{1, 400, 0, 2}, {1, 100, 20, 2}}, 0},
    {{{1, 100, 10, 1}, {1, 100, 0, 1}}, 0},    {{{1, 400, 100, 1}, {1, 400, 0, 1}}, 0},
    {{{1, 800, 20, 4}, {1, 200, 0, 1}}, 0},    {{{1, 100, 10, 1}, {1, 100, 10, 1}}, 0},
    {{{1, 800, 100, 1}, {1, 800, 100, 1}}, 0}, {{{1, 600, 30, 3}, {1, 600, 30, 3}}, 0},
};

enum { ROW_BLOCKS, HALF_COLUMNS, SMALL_BLOCKS, ROWS_IN_TURN, DISTINCT_ROWS };

static const section_row *row_of(const section_what *what) {
    const int row = what->row < section_rows(what->part) ? what->row : 0;
    return what->part == PART_COMMON ? &common_table[row] : &overlapping_table[row];
}

int section_rows(section_part part) {
    switch (part) {
    case PART_COMMON:
        return sizeof common_table / sizeof *common_table;
    case PART_OVERLAPPING:
        return sizeof overlapping_table / sizeof *overlapping_table;
    default:
        return DISTINCT_ROWS;
    }
}

const char *section_part_name(section_part part) {
    static const char *const names[] = {"common", "overlapping", "distinct"};
    return names[part];
}

double section_paper_ratio(const section_what *what) {
    return what->part == PART_COMMON ? row_of(what)->paper : 0;
}

/* ---- scaling */

static tutti_count scale_index(const section_what *what, long x) {
    return x * what->n / PAPER_N;
}

/* Scale the bounds of rank 0 to this array; in small arrays a section has at least one index, and a shift is
 * at least 1. */
static bounds scale_bounds(const section_what *what, const bounds *b) {
    bounds s = {.lo = 1 + scale_index(what, b->lo - 1),
                .hi = scale_index(what, b->hi),
                .stride = b->stride};
    if (s.hi < s.lo) s.hi = s.lo;
    s.shift = scale_index(what, b->shift);
    if (b->shift && s.shift < 1) s.shift = 1;
    return s;
}

static void use_bounds(const section_what *what, int d, const bounds *b, int p, tutti_slice *out) {
    const bounds s = scale_bounds(what, b);
    /* With many ranks, shifts wrap around at the end of the array. */
    const tutti_count rest = what->n - s.hi;
    const tutti_count shift = s.shift > 0 ? s.shift * (p % (rest / s.shift + 1)) : 0;
    out->lo[d] = s.lo - 1 + shift;
    out->hi[d] = s.hi + shift;
    out->stride[d] = s.stride;
}

static void use_range(int d, tutti_count lo, tutti_count hi, tutti_count stride, tutti_slice *out) {
    out->lo[d] = lo;
    out->hi[d] = hi;
    out->stride[d] = stride;
}

static void place_distinct(const section_what *what, int p, tutti_slice *out) {
    const tutti_count n = what->n, ranks = what->ranks, small = scale_index(what, 100) + 1;
    const tutti_count pair = p / 2, half = n / 2, each = n / ranks > 0 ? n / ranks : 1;
    switch (what->row) {
    case ROW_BLOCKS:
        use_range(0, n * p / ranks, n * (p + 1) / ranks, 1, out);
        use_range(1, 0, n, 1, out);
        break;
    case HALF_COLUMNS:
        use_range(0, p % 2 ? half : 0, p % 2 ? n : half, 1, out);
        use_range(1, 2 * pair * each, 2 * pair * each + each, 1, out);
        break;
    case SMALL_BLOCKS:
        use_range(0, n * p / ranks, n * p / ranks + (small < each ? small : each), 1, out);
        use_range(1, 0, small, 1, out);
        break;
    default:
        use_range(0, p, n, ranks, out);
        use_range(1, 0, scale_index(what, 64) + 1, 1, out);
    }
}

/* Extend a range of rows to whole blocks, since O_DIRECT transfers whole blocks. */
static void round_rows(const section_what *what, tutti_slice *s) {
    s->lo[0] -= s->lo[0] % SECTION_BLOCK;
    s->hi[0] = (s->hi[0] + SECTION_BLOCK - 1) / SECTION_BLOCK * SECTION_BLOCK;
    if (s->hi[0] > what->n) s->hi[0] = what->n;
    s->stride[0] = 1;
}

tutti_slice section_slice(const section_what *what, int p) {
    tutti_slice s = {.lo = {0}};
    if (what->part == PART_DISTINCT) {
        place_distinct(what, p, &s);
        return s;
    }
    for (int d = 0; d < 2; d++) use_bounds(what, d, &row_of(what)->dim[d], p, &s);
    if (what->whole_blocks) round_rows(what, &s);
    return s;
}

/* ---- names */

static int format_bounds(const bounds *b, char *out, size_t size) {
    if (b->shift)
        return snprintf(out, size, "%ld+%ldp:%ld+%ldp:%ld", b->lo, b->shift, b->hi, b->shift,
                        b->stride);
    return snprintf(out, size, "%ld:%ld:%ld", b->lo, b->hi, b->stride);
}

static void name_blocks(const section_what *what, char *out, size_t size) {
    const tutti_slice s = section_slice(what, 0);
    snprintf(out, size, "(%lld:%lld:1, %lld:%lld:%lld)", (long long)s.lo[0] + 1, (long long)s.hi[0],
             (long long)s.lo[1] + 1, (long long)s.hi[1], (long long)s.stride[1]);
}

void section_name(const section_what *what, char *out, size_t size) {
    static const char *const number[] = {"I",  "II",  "III",  "IV", "V",
                                         "VI", "VII", "VIII", "IX", "X"};
    static const char *const distinct[] = {"blocks of rows", "half columns, every other domain",
                                           "small blocks", "rows in turn"};
    int n = snprintf(out, size, "%s ", number[what->row]);
    if (what->part == PART_DISTINCT) {
        snprintf(out + n, size - (size_t)n, "%s", distinct[what->row]);
        return;
    }
    if (what->whole_blocks) {
        name_blocks(what, out + n, size - (size_t)n);
        return;
    }
    for (int d = 0; d < 2; d++) {
        const bounds b = scale_bounds(what, &row_of(what)->dim[d]);
        n += snprintf(out + n, size - (size_t)n, d ? ", " : "(");
        n += format_bounds(&b, out + n, size - (size_t)n);
    }
    snprintf(out + n, size - (size_t)n, ")");
}

/* ---- sizes */

static tutti_slice bounding_slice(const section_what *what) {
    tutti_slice all = section_slice(what, 0);
    for (int p = 1; p < what->ranks; p++) {
        const tutti_slice s = section_slice(what, p);
        for (int d = 0; d < 2; d++) {
            if (s.lo[d] < all.lo[d]) all.lo[d] = s.lo[d];
            if (s.hi[d] > all.hi[d]) all.hi[d] = s.hi[d];
        }
    }
    return all;
}

tutti_count section_bounding_rows(const section_what *what) {
    const tutti_slice all = bounding_slice(what);
    return all.hi[0] - all.lo[0];
}

tutti_off section_bounding_bytes(const section_what *what) {
    const tutti_slice all = bounding_slice(what);
    return (all.hi[1] - all.lo[1]) * section_bounding_rows(what) * (tutti_off)sizeof(double);
}

tutti_array_spec section_spec(tutti_count n) {
    return (tutti_array_spec){.ndims = 2,
                              .shape = {n, n},
                              .order = TUTTI_COL_MAJOR,
                              .type = TUTTI_FLOAT64,
                              .element_size = sizeof(double)};
}
