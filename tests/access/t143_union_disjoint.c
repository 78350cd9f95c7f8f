/* TEST ranks=0 timeout=60 */
/* tutti__sides_union of sides that are known to be disjoint: the same runs as without this knowledge, and no
 * bitmap for ranges that the sides fill: the array of extents is the only allocation besides the views.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

enum { SIDES = 4, ITEMS = 4096 };
static tutti__side side[SIDES];

/* Distribute ITEMS values of 8 bytes at random; those at which `has_holes` allows it belong to no side. */
static void distribute_items(int has_holes) {
    static tutti_off at[SIDES][ITEMS];
    tutti_count n[SIDES] = {0};
    for (int i = 0; i < ITEMS; i++) {
        const int owner = (int)rnd(SIDES + has_holes);
        if (owner < SIDES) at[owner][n[owner]++] = 8 * (tutti_off)i;
    }
    for (int s = 0; s < SIDES; s++) CHECK_OK(tutti__side_list(n[s], at[s], NULL, 8, &side[s]));
}

/* Return the number of allocations of a union of all sides within [lo, hi). */
static long count_allocations(tutti_off lo, tutti_off hi, int disjoint, tutti__extents *io) {
    for (long k = 1;; k++) {
        *io = (tutti__extents){.disjoint = disjoint};
        tutti__memory_fail_after(k);
        const tutti_err err = tutti__sides_union(SIDES, side, lo, hi, 0, io);
        tutti__memory_fail_after(0);
        if (err == TUTTI_OK) return k - 1;
        CHECK_EQ(err, TUTTI_ERR_NOMEM);
        tutti__extents_free(io);
    }
}

static void check_union(int has_holes) {
    const tutti_off lo = rnd(8 * ITEMS / 2), hi = lo + 1 + rnd(8 * ITEMS / 2);
    tutti__extents want, have;
    const long searched = count_allocations(lo, hi, 0, &want);
    const long known = count_allocations(lo, hi, 1, &have);
    CHECK_EQ(have.n, want.n);
    for (size_t i = 0; i < want.n && i < have.n; i++) {
        CHECK_EQ(have.v[i].offset, want.v[i].offset);
        CHECK_EQ(have.v[i].bytes, want.v[i].bytes);
    }
    CHECK(known <= searched, "%ld allocations, %ld without the knowledge", known, searched);
    if (!has_holes) CHECK_EQ(known, 2);
    tutti__extents_free(&want);
    tutti__extents_free(&have);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(213);
    for (int round = 0; round < 200; round++) {
        distribute_items(round % 2);
        check_union(round % 2);
        for (int s = 0; s < SIDES; s++) tutti__side_free(&side[s]);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
