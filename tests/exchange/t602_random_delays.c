/* TEST ranks=0 timeout=120 tsan=1 cores=2 */
/* The exchange of t601 with random delays, so that some threads are far ahead of others; more rounds if
 * TUTTI_TEST_TIER=full.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/scenes.h"

int main(void) {
    static const int crews[] = {8, 5, 3, 2};
    const char *tier = getenv("TUTTI_TEST_TIER");
    const int rounds = tier && strcmp(tier, "full") == 0 ? 400 : 24;
    const long live = tutti__memory_live();
    char where[80];
    check_seed(20261117);
    for (int i = 0; i < rounds; i++) {
        const int ranks = crews[i % 4], shape = (int)rnd(SCENE_SAME),
                  slots = 1 + (int)rnd(CREW_SLOTS);
        snprintf(where, sizeof where, "round %d: %d ranks, shape %d, %d sub-buffers", i, ranks,
                 shape, slots);
        check_where(where);
        scene_play(ranks, shape, slots, 1);
    }
    check_where("at the end");
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
