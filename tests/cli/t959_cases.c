/* TEST ranks=0 timeout=60 */
/* Random cases are identical for the same seed and different for another seed; 200 cases contain every pair
 * of levels of the experiment's factors; with too few cases the number of missing pairs is returned.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "experiments/cases.c"

enum { FACTORS = 7, MOST = 200 };
static const int levels[FACTORS] = {14, 6, 3, 3, 2, 2, 2};

/* Return the number of pairs of levels that no case has. */
static int count_missing(const int *level, int n) {
    int missing = 0;
    for (int f = 0; f < FACTORS; f++)
        for (int g = f + 1; g < FACTORS; g++)
            for (int a = 0; a < levels[f]; a++)
                for (int b = 0; b < levels[g]; b++) {
                    int seen = 0;
                    for (int i = 0; i < n; i++)
                        seen |= level[i * FACTORS + f] == a && level[i * FACTORS + g] == b;
                    missing += !seen;
                }
    return missing;
}

int main(void) {
    static int first[MOST * FACTORS], again[MOST * FACTORS], other[MOST * FACTORS];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        CHECK_EQ(cases_draw(FACTORS, levels, MOST, seed, first), 0);
        CHECK_EQ(count_missing(first, MOST), 0);
        for (int i = 0; i < MOST * FACTORS; i++)
            CHECK(first[i] >= 0 && first[i] < levels[i % FACTORS], "level %d of %d", first[i],
                  levels[i % FACTORS]);
    }
    CHECK_EQ(cases_draw(FACTORS, levels, MOST, 5, again), 0);
    CHECK_EQ(memcmp(first, again, sizeof first), 0);
    CHECK_EQ(cases_draw(FACTORS, levels, MOST, 6, other), 0);
    CHECK(memcmp(first, other, sizeof first) != 0, "seeds 5 and 6 give the same cases");
    /* the 14 x 6 pairs of the first two factors need 84 cases; the greedy algorithm needs a few more */
    CHECK_EQ(cases_draw(FACTORS, levels, 110, 1, first), 0);
    const int missing = cases_draw(FACTORS, levels, 10, 1, first);
    CHECK(missing > 0, "ten cases cannot have all pairs");
    CHECK_EQ(missing, count_missing(first, 10));
    return check_done();
}
