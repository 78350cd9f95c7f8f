/* TEST ranks=0 timeout=60 */
/* Sides whose small holes are closed: their union is the union of the original sides with the same
 * maximum gap; the time does not depend on the number of copies of a loop.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

static int same_extents(const tutti__extents *a, const tutti__extents *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}

static void one_set(void) {
    enum { MOST = 4 };
    tutti__side s[MOST], c[MOST];
    const int n = 1 + (int)rnd(MOST);
    const tutti_off gap = rnd(2) ? rnd(60) : rnd(4);
    tutti__extents want = {0}, have = {0};
    for (int i = 0; i < n; i++) {
        s[i] = zoo_moved(zoo_any(3, 1), rnd(200));
        CHECK_OK(tutti__side_coarse(s[i], gap, &c[i]));
        CHECK_EQ(tutti__side_lo(s[i]), tutti__side_lo(c[i]));
        CHECK_EQ(tutti__side_hi(s[i]), tutti__side_hi(c[i]));
        CHECK(tutti__side_runs(c[i]) <= tutti__side_runs(s[i]), "more runs than before");
    }
    CHECK_OK(tutti__sides_union(n, s, 0, TUTTI__OFF_LIMIT, gap, &want));
    CHECK_OK(tutti__sides_union(n, c, 0, TUTTI__OFF_LIMIT, gap, &have));
    CHECK(same_extents(&want, &have), "%zu and %zu runs with gap %lld", want.n, have.n,
          (long long)gap);
    for (int i = 0; i < n; i++) {
        tutti__side_free(&s[i]);
        tutti__side_free(&c[i]);
    }
    tutti__extents_free(&want);
    tutti__extents_free(&have);
}

/* A section of a large array becomes one run per column, without a loop over its 4 million rows. */
static void test_section(void) {
    const tutti_count rows = (tutti_count)1 << 24;
    tutti__side c = {0, NULL};
    tutti__side s = zoo_vec(zoo_vec(zoo_run(0, 8), rows / 4, 16), 1000, 8 * rows);
    CHECK_OK(tutti__side_coarse(s, 64, &c));
    CHECK_EQ(tutti__side_runs(c), 1000);
    CHECK_EQ(tutti__side_bytes(c), 1000 * (rows / 4 * 16 - 8));
    tutti__side_free(&c);
    CHECK_OK(tutti__side_coarse(s, 8 * rows, &c));
    CHECK_EQ(tutti__side_runs(c), 1);
    tutti__side_free(&c);
    tutti__side_free(&s);
}

int main(void) {
    check_seed(108);
    for (int i = 0; i < 6000 && check_failures_ == 0; i++) one_set();
    test_section();
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
