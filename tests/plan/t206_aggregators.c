/* TEST ranks=0 timeout=60 */
/* The choice of aggregators is even over groups and inside each group, and the same on every call.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

enum { MOST = 300 };

static void check_choice(const char *what, const tutti__topology *t, int wanted, int n,
                         const int *expected) {
    int rank[MOST];
    check_where(what);
    CHECK_EQ(tutti__aggregators_choose(t, wanted, INT64_MAX, 1, rank), n);
    for (int i = 0; i < n; i++) CHECK_EQ(rank[i], expected[i]);
    check_where("");
}

static void check_known(void) {
    const int one[8] = {0}, halves[8] = {0, 0, 0, 0, 1, 1, 1, 1},
              robin[8] = {0, 1, 0, 1, 0, 1, 0, 1}, uneven[8] = {0, 0, 0, 0, 0, 0, 1, 1},
              each[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const tutti__topology t1 = {8, 1, one}, t2 = {8, 2, halves}, tr = {8, 2, robin},
                          tu = {8, 2, uneven}, t8 = {8, 8, each};
    check_choice("one group, all", &t1, 0, 8, (int[]){0, 1, 2, 3, 4, 5, 6, 7});
    check_choice("one group, 3", &t1, 3, 3, (int[]){0, 2, 5});
    check_choice("one group, too many", &t1, 99, 8, (int[]){0, 1, 2, 3, 4, 5, 6, 7});
    check_choice("halves, 1", &t2, 1, 1, (int[]){0});
    check_choice("halves, 2", &t2, 2, 2, (int[]){0, 4});
    check_choice("halves, 4", &t2, 4, 4, (int[]){0, 2, 4, 6});
    check_choice("halves, 5", &t2, 5, 5, (int[]){0, 1, 2, 4, 6});
    check_choice("round robin, all", &tr, 0, 8, (int[]){0, 2, 4, 6, 1, 3, 5, 7});
    check_choice("round robin, 4", &tr, 4, 4, (int[]){0, 4, 1, 5});
    check_choice("uneven, 4", &tu, 4, 4, (int[]){0, 3, 6, 7});
    check_choice("uneven, 6", &tu, 6, 6, (int[]){0, 1, 3, 4, 6, 7});
    check_choice("single ranks, 3", &t8, 3, 3, (int[]){0, 3, 6});
    check_choice("single ranks, all", &t8, 0, 8, (int[]){0, 1, 2, 3, 4, 5, 6, 7});
}

/* A small request gets few aggregators. */
static void check_small(void) {
    const int group[6] = {0, 0, 0, 1, 1, 1};
    const tutti__topology t = {6, 2, group};
    int rank[6];
    CHECK_EQ(tutti__aggregators_choose(&t, 0, 0, 1000, rank), 1);
    CHECK_EQ(rank[0], 0);
    CHECK_EQ(tutti__aggregators_choose(&t, 0, 999, 1000, rank), 1);
    CHECK_EQ(tutti__aggregators_choose(&t, 0, 2000, 1000, rank), 2);
    CHECK(rank[0] == 0 && rank[1] == 3, "one a group");
    CHECK_EQ(tutti__aggregators_choose(&t, 0, 6000, 1000, rank), 6);
    CHECK_EQ(tutti__aggregators_choose(&t, 2, INT64_MAX, 1, rank), 2);
    CHECK_EQ(tutti__aggregators_choose(&t, 2, 1500, 1000, rank), 1);
}

/* Check that the choice is ordered by group and rank without repeats, and that the numbers of aggregators of
 * two groups differ by at most one, unless all ranks of the smaller group are chosen. */
static void check_spread(const tutti__topology *t, int n, const int *rank) {
    int size[MOST] = {0}, given[MOST] = {0};
    for (int r = 0; r < t->ranks; r++) size[t->group_of[r]]++;
    for (int i = 0; i < n; i++) {
        const int g = t->group_of[rank[i]];
        given[g]++;
        if (i == 0) continue;
        const int before = t->group_of[rank[i - 1]];
        CHECK(before < g || (before == g && rank[i - 1] < rank[i]), "order at %d", i);
    }
    for (int g = 0; g < t->groups; g++)
        for (int h = 0; h < t->groups; h++)
            CHECK(given[g] == size[g] || given[h] <= given[g] + 1, "groups %d: %d, %d: %d", g,
                  given[g], h, given[h]);
}

static void check_random(void) {
    int group[MOST], rank[MOST], again[MOST];
    const int ranks = 1 + (int)rnd(MOST), groups = 1 + (int)rnd(rnd(2) ? ranks : 6);
    const int wanted = (int)rnd(2 * ranks);
    const int contiguous = (int)rnd(2);
    for (int r = 0; r < ranks; r++)
        group[r] = contiguous ? (int)((long)r * groups / ranks) : (int)rnd(groups);
    const tutti__topology t = {ranks, groups, group};
    const int n = tutti__aggregators_choose(&t, wanted, INT64_MAX, 1, rank);
    CHECK_EQ(n, wanted == 0 || wanted > ranks ? ranks : wanted);
    check_spread(&t, n, rank);
    CHECK_EQ(tutti__aggregators_choose(&t, wanted, INT64_MAX, 1, again), n);
    CHECK(memcmp(rank, again, (size_t)n * sizeof *rank) == 0, "not the same again");
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(106);
    check_known();
    check_small();
    for (int i = 0; i < 2000; i++) check_random();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
