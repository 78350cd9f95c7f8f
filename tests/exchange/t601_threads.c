/* TEST ranks=0 timeout=120 tsan=1 cores=2 */
/* The exchange `shm` with threads as ranks: every shape, number of ranks and number of sub-buffers, with
 * several cycles each, alternating writes and reads on the same staging memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/scenes.h"

int main(void) {
    static const int crews[] = {2, 3, 5, 8, 1};
    static const char *const names[] = {"blocks", "interleaved", "irregular", "holes"};
    const long live = tutti__memory_live();
    char where[80];
    check_seed(20261116);
    for (int n = 0; n < 5; n++)
        for (int shape = 0; shape < SCENE_SAME; shape++)
            for (int slots = 1; slots <= CREW_SLOTS; slots++) {
                snprintf(where, sizeof where, "%d ranks, %s, %d sub-buffers", crews[n],
                         names[shape], slots);
                check_where(where);
                scene_play(crews[n], shape, slots, 0);
            }
    check_where("at the end");
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
