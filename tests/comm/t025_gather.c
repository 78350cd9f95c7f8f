/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Rank 0 gathers bytes of all ranks in rank order, in one message or in many pieces.  If ranks fail or run
 * out of memory, no rank hangs, and rank 0 returns the error of the lowest failing rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/gather.h"
#include "comm/vote.h"
#include "harness.h"

static tutti__team *team;

enum { MOST = 5000 };

/* Return byte i of rank `who`. */
static char byte_of(int who, int64_t i) {
    return (char)(who * 31 + i * 7 + i / 251);
}

/* Gather bytes[r] bytes of each rank r while rank `failing` (-1: none) has an error. */
static void one(const int64_t *bytes, int failing) {
    char own[MOST];
    void *all = NULL;
    int64_t got = -1, at = 0;
    for (int64_t i = 0; i < bytes[rank]; i++) own[i] = byte_of(rank, i);
    const tutti_err err = tutti__team_gather(
        team, rank == failing ? tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "not today") : TUTTI_OK,
        own, bytes[rank], &all, &got);
    if (rank == 0 && failing >= 0) {
        CHECK_EQ(err, TUTTI_ERR_FORMAT);
        CHECK(strstr(tutti_last_message(), "not today"), "'%s'", tutti_last_message());
    }
    if (rank == 0 && failing < 0) {
        CHECK_EQ(err, TUTTI_OK);
        for (int who = 0; who < ranks; who++)
            for (int64_t i = 0; i < bytes[who]; i++, at++)
                CHECK(at < got && ((char *)all)[at] == byte_of(who, i), "byte %lld of rank %d",
                      (long long)i, who);
        CHECK_EQ(got, at);
    }
    CHECK((all != NULL) == (rank == 0 && err == TUTTI_OK), "bytes");
    tutti__free(all);
}

static void no_memory(void) {
    char own[100] = {0};
    for (int who = 0; who < ranks; who++)
        for (long at = 1, done = 0; !done && at < 20; at++) {
            void *all = NULL;
            int64_t got = 0;
            if (rank == who) tutti__memory_fail_after(at);
            tutti_err err = tutti__team_gather(team, TUTTI_OK, own, sizeof own, &all, &got);
            tutti__memory_fail_after(0);
            err = same_everywhere(tutti__team_agree(team, err));
            done = err == TUTTI_OK;
            CHECK(done || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
            tutti__free(all);
        }
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 25);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &team));
    for (int k = 0; k < 40; k++) {
        int64_t bytes[8];
        for (int who = 0; who < ranks; who++) bytes[who] = rnd(3) ? rnd(MOST) : 0;
        tutti__gather_set_piece(k % 2 ? 1 + rnd(700) : 1 << 30);
        one(bytes, -1);
        one(bytes, (int)rnd(ranks));
        no_memory();
    }
    tutti__gather_set_piece(1 << 30);
    tutti__team_give(&team);
    return harness_end();
}
