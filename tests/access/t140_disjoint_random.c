/* TEST ranks=0 timeout=60 */
/* tutti__sides_disjoint, tutti__sides_union and tutti__sides_shared compared with a count per
 * byte: random sets of sides, most of them made disjoint on purpose (blocks of arrays, cyclic
 * pieces, slices, random owners) and then, often, changed slightly.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

#define MOST 12

typedef struct {
    int n;
    tutti__side side[MOST];
} set;

static tutti_off cut_of(tutti_off total, int part, int parts) {
    return total * part / parts;
}

/* Create blocks of a 3-D array over a grid of owners. */
static void make_blocks(set *s) {
    const tutti_off shape[3] = {1 + rnd(12), 1 + rnd(12), 1 + rnd(40)}, element = 1 + rnd(8);
    const int grid[3] = {1 + (int)rnd(2), 1 + (int)rnd(3), 1 + (int)rnd(2)};
    s->n = 0;
    for (int i = 0; i < grid[0] * grid[1] * grid[2]; i++) {
        const int at[3] = {i / (grid[1] * grid[2]), i / grid[2] % grid[1], i % grid[2]};
        tutti_off lo[3], n[3];
        for (int d = 0; d < 3; d++) {
            lo[d] = cut_of(shape[d], at[d], grid[d]);
            n[d] = cut_of(shape[d], at[d] + 1, grid[d]) - lo[d];
        }
        const tutti_off row = shape[2] * element, plane = row * shape[1];
        tutti__side b = zoo_run(lo[0] * plane + lo[1] * row + lo[2] * element, n[2] * element);
        s->side[s->n++] = zoo_vec(zoo_vec(b, n[1], row), n[0], plane);
    }
}

/* Create pieces distributed cyclically, each a copy of some small side. */
static void make_cyclic(set *s) {
    tutti__side piece = zoo_any(2, 1);
    const tutti_off extent = tutti__side_hi(piece) - tutti__side_lo(piece) + rnd(2) * rnd(9);
    const tutti_count turns = 1 + rnd(9);
    s->n = 2 + (int)rnd(MOST - 1);
    for (int i = 0; i < s->n; i++)
        s->side[i] =
            zoo_vec(zoo_moved(zoo_again(piece), i * extent), turns + rnd(2), s->n * extent);
    tutti__side_free(&piece);
}

/* Create loops whose strides are different multiples of one distance. */
static void make_strides(set *s) {
    const tutti_off unit = 1 + rnd(20);
    s->n = 2 + (int)rnd(4);
    for (int i = 0; i < s->n; i++) {
        const tutti_off stride = unit * s->n * (1 + rnd(3));
        s->side[i] = zoo_vec(zoo_run(i * unit, 1 + rnd(unit)), 2 + rnd(60), stride);
    }
}

/* Create phases of one period, each assigned to the owners one after the other along the file
 * without gaps; one run or one count may be too large by one. */
static void make_phases(set *s) {
    const int phases = 2 + (int)rnd(3), wrong = (int)rnd(2 * MOST);
    const tutti_off unit = 1 + rnd(6);
    s->n = 0;
    for (int p = 0; p < phases; p++) {
        tutti_count from = rnd(4);
        for (int k = 1 + (int)rnd(3); k > 0 && s->n < MOST; k--) {
            const tutti_count copies = 1 + rnd(rnd(2) ? 12 : 90);
            const tutti_off bytes = unit + (s->n == wrong && rnd(2));
            const tutti_count extra = s->n == wrong && bytes == unit;
            const tutti_off at = (from * phases + p) * unit;
            s->side[s->n++] = zoo_vec(zoo_run(at, bytes), copies + extra, phases * unit);
            from += copies;
        }
    }
}

/* Create consecutive slices of one side. */
static void make_slices(set *s) {
    tutti__side whole = zoo_any(4, 1);
    const tutti_off bytes = tutti__side_bytes(whole);
    s->n = 2 + (int)rnd(MOST - 1);
    for (int i = 0; i < s->n; i++)
        CHECK_OK(tutti__side_slice(whole, cut_of(bytes, i, s->n), cut_of(bytes, i + 1, s->n),
                                   &s->side[i]));
    tutti__side_free(&whole);
}

/* Create lists of items; each item has one random owner or none. */
static void make_owners(set *s) {
    enum { ITEMS = 300 };
    const tutti_off item = (tutti_off)1 << rnd(6);
    int owner[ITEMS];
    s->n = 2 + (int)rnd(MOST - 1);
    for (int i = 0; i < ITEMS; i++) owner[i] = (int)rnd(s->n + 2);
    for (int k = 0; k < s->n; k++) {
        tutti_off at[ITEMS];
        int n = 0;
        for (int i = 0; i < ITEMS; i++)
            if (owner[i] == k) at[n++] = i * item;
        s->side[k] = (tutti__side){0, NULL};
        CHECK_OK(tutti__side_list(n, at, NULL, item, &s->side[k]));
    }
}

static void make_anything(set *s) {
    s->n = 1 + (int)rnd(MOST);
    for (int i = 0; i < s->n; i++) {
        s->side[i] = zoo_any(1 + (int)rnd(4), 1);
        s->side[i].disp += rnd(20) * rnd(2000);
    }
}

static void make_set(set *s) {
    static void (*const makers[])(set *) = {make_blocks, make_cyclic, make_strides, make_phases,
                                            make_slices, make_owners, make_anything};
    makers[rnd(7)](s);
    if (rnd(3) == 0) s->side[rnd(s->n)].disp += 1 + rnd(rnd(2) ? 3 : 300);
    if (s->n > 1 && rnd(8) == 0) {
        tutti__side *t = &s->side[rnd(s->n)], u = zoo_any(3, 1);
        tutti__side_free(t);
        *t = zoo_moved(u, rnd(500));
    }
}

/* Return the number of sides that contain byte base + i, for i in [0, size). */
static unsigned char *count_bytes(const set *s, tutti_off base, tutti_off size) {
    unsigned char *count = calloc((size_t)size + 1, 1);
    for (int i = 0; i < s->n; i++) {
        tutti_off *at = zoo_bytes(s->side[i]);
        for (tutti_off k = 0; k < tutti__side_bytes(s->side[i]); k++)
            if (at[k] >= base && at[k] < base + size) count[at[k] - base]++;
        free(at);
    }
    return count;
}

static void check_disjoint(const set *s, tutti_off lo, tutti_off hi) {
    unsigned char *count = count_bytes(s, lo, hi - lo);
    int wanted = 1, disjoint = -1;
    tutti_off where = -1;
    for (tutti_off i = 0; i < hi - lo; i++)
        if (count[i] > 1) wanted = 0;
    CHECK_OK(tutti__sides_disjoint(s->n, s->side, lo, hi, &disjoint, &where));
    CHECK_EQ(disjoint, wanted);
    if (!disjoint)
        CHECK(where >= lo && where < hi && count[where - lo] > 1, "where %lld", (long long)where);
    free(count);
}

static void check_union(const set *s, tutti_off lo, tutti_off hi, tutti_off max_gap) {
    unsigned char *count = count_bytes(s, lo, hi - lo);
    tutti__extents e = {0};
    size_t k = 1;
    if (rnd(2)) CHECK_OK(tutti__sides_union(1, &s->side[0], lo, lo + 1, 0, &e));
    const size_t before = e.n;
    CHECK_OK(tutti__sides_union(s->n, s->side, lo, hi, max_gap, &e));
    k = before;
    for (tutti_off at = lo; at < hi;) {
        if (!count[at - lo]) {
            at++;
            continue;
        }
        tutti_off end = at;
        for (tutti_off i = at; i < hi && i <= end + max_gap; i++)
            if (count[i - lo]) end = i + 1;
        CHECK(k < e.n, "%zu of %zu", k, e.n);
        if (k >= e.n) break;
        CHECK_EQ(e.v[k].offset, at);
        CHECK_EQ(e.v[k].bytes, end - at);
        k++;
        at = end;
    }
    CHECK_EQ(k, e.n);
    tutti__extents_free(&e);
    free(count);
}

/* Check the bytes of a side that an earlier side also contains. */
static void check_shared(const set *s, tutti_off lo, tutti_off hi) {
    const tutti__side *sides[MOST];
    tutti__extents e[MOST] = {0}, *out[MOST];
    int done = -1;
    for (int i = 0; i < s->n; i++) {
        sides[i] = &s->side[i];
        out[i] = &e[i];
    }
    CHECK_OK(tutti__sides_shared(s->n, sides, lo, hi, out, &done));
    unsigned char *before = calloc((size_t)(hi - lo) + 1, 1);
    for (int i = 0; i < s->n; i++) {
        tutti_off *at = zoo_bytes(s->side[i]);
        tutti_off shared = 0, told = 0;
        for (size_t k = 0; k < e[i].n; k++) {
            CHECK(k == 0 || e[i].v[k - 1].offset + e[i].v[k - 1].bytes < e[i].v[k].offset,
                  "extent %zu", k);
            for (tutti_off b = 0; b < e[i].v[k].bytes; b++, told++)
                CHECK_EQ(before[e[i].v[k].offset + b - lo], 1);
        }
        for (tutti_off k = 0; k < tutti__side_bytes(s->side[i]); k++) {
            if (at[k] < lo || at[k] >= hi) continue;
            shared += before[at[k] - lo];
            before[at[k] - lo] = 1;
        }
        CHECK_EQ(told, done ? shared : 0);
        free(at);
        tutti__extents_free(&e[i]);
    }
    free(before);
}

static void check_set(const set *s) {
    tutti_off first = INT64_MAX, end = 0;
    for (int i = 0; i < s->n; i++) {
        if (!s->side[i].node) continue;
        first = tutti__min(first, tutti__side_lo(s->side[i]));
        end = tutti__max(end, tutti__side_hi(s->side[i]));
    }
    if (first >= end) return;
    for (int k = 0; k < 3; k++) {
        const tutti_off lo = k ? first + rnd(end - first) : first - 5;
        const tutti_off hi = k ? lo + rnd(end - lo + 10) : end + 5;
        check_disjoint(s, lo, hi);
        check_union(s, lo, hi, rnd(2) ? 0 : rnd(60));
        check_shared(s, lo, hi);
    }
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(210);
    for (int i = 0; i < 800; i++) {
        set s;
        make_set(&s);
        check_set(&s);
        for (int k = 0; k < s.n; k++) tutti__side_free(&s.side[k]);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
