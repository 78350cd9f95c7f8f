/* TEST ranks=0 timeout=60 */
/* Each allocation of the set operations fails once: the error is reported, nothing leaks, and the
 * array of extents is unchanged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

#define SIDES 6
static tutti__side side[SIDES];

static void check_failures_of_disjoint(void) {
    for (long k = 1;; k++) {
        const long live = tutti__memory_live();
        int disjoint = -1;
        tutti_off where = -1;
        tutti__memory_fail_after(k);
        const tutti_err err = tutti__sides_disjoint(SIDES, side, 0, 1 << 20, &disjoint, &where);
        tutti__memory_fail_after(0);
        CHECK_EQ(tutti__memory_live(), live);
        if (err == TUTTI_OK) break;
        CHECK_EQ(err, TUTTI_ERR_NOMEM);
        CHECK_EQ(disjoint, -1);
        CHECK_EQ(where, -1);
    }
}

static void check_failures_of_union(void) {
    tutti__extents e = {0};
    CHECK_OK(tutti__sides_union(1, side, 0, 100, 0, &e));
    const size_t before = e.n;
    for (long k = 1;; k++) {
        tutti__memory_fail_after(k);
        const tutti_err err = tutti__sides_union(SIDES, side, 0, 1 << 20, 0, &e);
        tutti__memory_fail_after(0);
        if (err == TUTTI_OK) break;
        CHECK_EQ(err, TUTTI_ERR_NOMEM);
        CHECK_EQ(e.n, before);
    }
    tutti__extents_free(&e);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(212);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < SIDES; i++) {
            side[i] = zoo_vec(zoo_run(i * 10, 10), 30, 10 * SIDES);
            if (round % 2 && rnd(2)) {
                tutti__side_free(&side[i]);
                side[i] = zoo_any(3, 1);
            }
        }
        check_failures_of_disjoint();
        check_failures_of_union();
        for (int i = 0; i < SIDES; i++) tutti__side_free(&side[i]);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
