/* TEST ranks=0 timeout=60 */
/* Set operations for thousands of simulated ranks.  Regular distributions are decided without visiting
 * each run (which would take hours), and one moved element is detected; irregular distributions are
 * decided with a bit map of a window of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

#define RANKS 4096
static tutti__side side[RANKS];

static void free_sides(void) {
    for (int r = 0; r < RANKS; r++) tutti__side_free(&side[r]);
}

static void check_answer(const char *name, int wanted, tutti_off lo, tutti_off hi) {
    int disjoint = -1;
    tutti_off where = -1;
    check_where(name);
    CHECK_OK(tutti__sides_disjoint(RANKS, side, lo, hi, &disjoint, &where));
    CHECK_EQ(disjoint, wanted);
    if (disjoint) return;
    int owners = 0;
    for (int r = 0; r < RANKS; r++) owners += tutti__side_bytes_in(side[r], where, where + 1) > 0;
    CHECK(owners > 1 && where >= lo && where < hi, "where %lld", (long long)where);
}

/* Check the whole pattern, a part that starts and ends within rows, and a copy with one side
 * shifted by one element. */
static void check_pattern(const char *name, tutti_off element, tutti_off total) {
    const int moved = 1 + (int)rnd(RANKS - 2);
    check_answer(name, 1, 0, total);
    check_answer(name, 1, total / 3 + 5, total / 7 * 6 + 1);
    side[moved].disp += element;
    check_answer(name, 0, 0, total);
    side[moved].disp -= element;
    tutti__extents e = {0};
    CHECK_OK(tutti__sides_union(RANKS, side, 7, total - 3, 0, &e));
    CHECK_EQ(e.n, 1);
    CHECK(e.n == 1 && e.v[0].offset == 7 && e.v[0].bytes == total - 10, "union");
    tutti__extents_free(&e);
    free_sides();
}

static tutti_off cut_of(tutti_off total, int part, int parts) {
    return total * part / parts;
}

static void blocks_2d(tutti_off rows, tutti_off columns, int down, int across) {
    const tutti_off element = 4, row = columns * element;
    for (int r = 0; r < RANKS; r++) {
        const int i = r / across, k = r % across;
        const tutti_off top = cut_of(rows, i, down), left = cut_of(columns, k, across);
        const tutti_off width = cut_of(columns, k + 1, across) - left;
        side[r] = zoo_vec(zoo_run(top * row + left * element, width * element),
                          cut_of(rows, i + 1, down) - top, row);
    }
    check_pattern(across == RANKS ? "columns" : "2-D blocks", element, rows * row);
}

static void blocks_3d(void) {
    const tutti_off n = 500000, element = 8, row = n * element, plane = n * row;
    for (int r = 0; r < RANKS; r++) {
        const int at[3] = {r / 256, r / 16 % 16, r % 16};
        tutti_off lo[3], size[3];
        for (int d = 0; d < 3; d++) {
            lo[d] = cut_of(n, at[d], 16);
            size[d] = cut_of(n, at[d] + 1, 16) - lo[d];
        }
        const tutti__side s =
            zoo_run(lo[0] * plane + lo[1] * row + lo[2] * element, size[2] * element);
        side[r] = zoo_vec(zoo_vec(s, size[1], row), size[0], plane);
    }
    check_pattern("3-D blocks", element, n * plane);
}

static void cyclic(const char *name, tutti_off piece, tutti_count pieces) {
    for (int r = 0; r < RANKS; r++)
        side[r] = zoo_vec(zoo_run(r * piece, piece), pieces / RANKS + (r < pieces % RANKS),
                          RANKS * piece);
    check_pattern(name, 1, pieces * piece);
}

/* Test blocks of 64 x 64 elements, distributed cyclically in two dimensions. */
static void block_cyclic(void) {
    const tutti_off n = 64 * 64 * 3000, element = 8, row = n * element;
    for (int r = 0; r < RANKS; r++) {
        tutti__side s = zoo_run((r / 64 * 64 * n + r % 64 * 64) * element, 64 * element);
        s = zoo_vec(zoo_vec(s, 3000, 64 * 64 * element), 64, row);
        side[r] = zoo_vec(s, 3000, 64 * 64 * row);
    }
    check_pattern("block-cyclic", element, n * row);
}

/* Check the union of all sides but rank 0's, which is several windows long, with owner[0..items). */
static void check_union_of_owners(const unsigned char *owner, tutti_count items, tutti_off item) {
    tutti__extents e = {0};
    size_t k = 0;
    CHECK_OK(tutti__sides_union(RANKS - 1, side + 1, 3, items * item - 1, 0, &e));
    for (tutti_count i = 0; i < items; i++) {
        const tutti_count first = i;
        if (owner[i] == 0) continue;
        while (i + 1 < items && owner[i + 1] != 0) i++;
        const tutti_off lo = tutti__max(first * item, 3);
        const tutti_off hi = tutti__min((i + 1) * item, items * item - 1);
        CHECK(k < e.n && e.v[k].offset == lo && e.v[k].bytes == hi - lo, "extent %zu", k);
        k++;
    }
    CHECK_EQ(k, e.n);
    tutti__extents_free(&e);
}

/* Test items of random owners, which cannot be decided by arithmetic. */
static void owners(int ranks, tutti_count items, tutti_off item) {
    tutti_off *at = malloc((size_t)items * sizeof *at);
    unsigned char *owner = malloc((size_t)items);
    for (tutti_count i = 0; i < items; i++) owner[i] = (unsigned char)rnd(ranks);
    for (int r = 0; r < ranks; r++) {
        tutti_count n = 0;
        for (tutti_count i = 0; i < items; i++)
            if (owner[i] == r) at[n++] = i * item;
        CHECK_OK(tutti__side_list(n, at, NULL, item, &side[r]));
    }
    check_answer("irregular", 1, 0, items * item);
    check_union_of_owners(owner, items, item);
    /* share one item near the end, in the last window */
    const tutti_off last = tutti__side_hi(side[1]);
    side[RANKS - 1] = zoo_run(last - 1, 1);
    check_answer("irregular", 0, 0, items * item);
    check_answer("irregular", 1, 0, last - 1);
    free(at), free(owner);
    free_sides();
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(211);
    blocks_2d(1000000000, 100000, 64, 64);
    blocks_2d(1000000000, 100000, 1, RANKS);
    blocks_2d(1000000001, 99991, 128, 32);
    blocks_3d();
    cyclic("cyclic rows", 4096, 100000000003);
    cyclic("interleaved", 512, 400000000000);
    block_cyclic();
    owners(8, 1 << 18, 64);
    owners(200, 1 << 17, 7);
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
