/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Consensus: results and ranges are those of reductions over all ranks; data that ranks have stored in
 * shared memory before is visible afterwards; exactly one rank claims the work, and the others receive
 * its result.  Random ranks are late.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "comm/consensus.h"
#include "exchange/staging.h"

enum { ROUNDS = 1000 };

static int64_t number(int round, int who, int i) {
    return (int64_t)(mix((uint64_t)round, (uint64_t)(who * 64 + i)) % 7) - 3;
}

/* Return whether rank `who` contributes no value to range i of a round. */
static int is_silent(int round, int who, int i) {
    return mix((uint64_t)round + 5, (uint64_t)(who * 64 + i)) % 3 == 0;
}

static int64_t yes_of(int round, int who) {
    return mix((uint64_t)round + 9, (uint64_t)who) % 8 ? 7 : 5;
}

static void answers(tutti__team *t, int round) {
    const int n = (int)(mix(7, (uint64_t)round) % (TUTTI__CONSENSUS_RANGES + 1));
    tutti__range got[TUTTI__CONSENSUS_RANGES];
    int64_t all = 7;
    for (int i = 0; i < n; i++) {
        const int64_t v = number(round, rank, i);
        got[i] = is_silent(round, rank, i) ? tutti__range_none() : (tutti__range){v, v};
    }
    const int64_t yes = tutti__consensus(t, yes_of(round, rank), n, got);
    for (int r = 0; r < ranks; r++) all &= yes_of(round, r);
    CHECK_EQ(yes, all);
    for (int i = 0; i < n; i++) {
        tutti__range want = tutti__range_none();
        for (int r = 0; r < ranks; r++) {
            const int64_t v = number(round, r, i);
            if (is_silent(round, r, i)) continue;
            if (v < want.min) want.min = v;
            if (v > want.max) want.max = v;
        }
        CHECK(got[i].min == want.min && got[i].max == want.max, "round %d, number %d", round, i);
    }
}

/* Check sums of numbers, which are INT64_MAX if they overflow. */
static void sums(tutti__team *t, int round) {
    const int64_t large = INT64_MAX / 2 + 1;
    int64_t want = 0;
    tutti__range local[2] = {tutti__range_of(number(round, rank, 0)), tutti__range_of(large)};
    const int64_t own = local[0].min;
    for (int r = 0; r < ranks; r++) want += number(round, r, 0);
    CHECK_EQ(tutti__consensus(t, 1, 2, local), 1);
    CHECK_EQ(tutti__consensus_sum(t, 0, own), want);
    CHECK(ranks == 1 || tutti__consensus_sum(t, 1, large) == INT64_MAX, "no overflow");
}

/* Check that one rank claims the work and finds the values that all ranks have stored. */
static void do_work(tutti__team *t, int round) {
    const int who = round % 3 ? -1 : round % ranks;
    int64_t *local = (int64_t *)(void *)tutti__consensus_data(t) + rank;
    *local = 1000 * round + rank;
    CHECK_EQ(tutti__consensus(t, 1, 0, NULL), 1);
    const int claimed = tutti__consensus_work_claim(t, who);
    int well = 1;
    if (claimed) {
        const int64_t *v = (const int64_t *)(void *)tutti__consensus_last_data(t);
        for (int r = 0; r < ranks; r++) well &= v[r] == 1000 * round + r;
        CHECK(well, "round %d: what others put there is not there", round);
        well = round % 5 != 0;
        tutti__consensus_work_end(t, well);
    } else {
        CHECK_EQ(tutti__consensus_work_outcome(t), round % 5 != 0);
    }
    if (round % 50 == 0) CHECK_EQ(sum_all(claimed), 1);
    CHECK(who < 0 || claimed == (rank == who), "round %d: not who was meant", round);
}

/* Rank 1 arrives only after rank 0, which waits in the consensus, has progressed a large MPI message. */
static void mpi_moves_on(tutti__team *t) {
    enum { BYTES = 4 << 20 };
    char *v = calloc(1, BYTES);
    MPI_Request r = MPI_REQUEST_NULL;
    if (ranks > 1 && rank == 0) MPI_Isend(v, BYTES, MPI_BYTE, 1, 77, MPI_COMM_WORLD, &r);
    if (rank == 1) MPI_Recv(v, BYTES, MPI_BYTE, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    (void)tutti__consensus(t, 1, 0, NULL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    free(v);
}

static void agreement(tutti__team *t) {
    for (int i = 0; i < 20; i++) {
        const int who = (int)rnd(ranks + 1);
        tutti_err local = TUTTI_OK;
        if (who == rank) local = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "rank %d", rank);
        CHECK_SAME(tutti__team_agree(t, local), who < ranks ? TUTTI_ERR_ARG : TUTTI_OK);
        if (who < ranks) CHECK_EQ(tutti_last_error()->rank, who);
    }
}

/* A vote in shared memory gives the same reductions as by messages, and the lowest failing rank's error. */
static void votes(tutti__team *t, int round) {
    const int fails = (int)(mix(11, (uint64_t)round) % (uint64_t)(2 * ranks));
    int64_t least = number(round, rank, 0), most = least, sum = least;
    const tutti__reduction all[] = {{TUTTI__MIN, &least}, {TUTTI__MAX, &most}, {TUTTI__SUM, &sum}};
    int64_t want[3] = {INT64_MAX, INT64_MIN, 0};
    for (int r = 0; r < ranks; r++) {
        const int64_t v = number(round, r, 0);
        want[0] = v < want[0] ? v : want[0];
        want[1] = v > want[1] ? v : want[1];
        want[2] += v;
    }
    const int failing = rank >= fails && fails < ranks;
    const tutti_err local =
        failing ? tutti__error_set(TUTTI_ERR_ARG, 0, -1, "round %d", round) : TUTTI_OK;
    const tutti_err err = tutti__team_reduce(t, local, 3, all);
    CHECK_EQ(err, fails < ranks ? TUTTI_ERR_ARG : TUTTI_OK);
    if (fails < ranks) CHECK_EQ(tutti_last_error()->rank, fails);
    CHECK(least == want[0] && most == want[1] && sum == want[2], "round %d", round);
}

int main(int argc, char **argv) {
    tutti__team *t = NULL;
    tutti__segment memory = {NULL, 0, 0};
    harness_begin(&argc, &argv, 23);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &t));
    const size_t bytes = tutti__consensus_bytes(t);
    CHECK_EQ(bytes > 0, ranks > 1);
    if (ranks > 1) {
        CHECK_OK(tutti__segment_make(t, 1, bytes, &memory));
        CHECK(!tutti__consensus_ready(t), "no board yet");
        CHECK_OK(tutti__staging_attach(t)); /* the team then frees the memory */
        t->staging->consensus = memory;
        tutti__consensus_use(t, memory.base);
    }
    CHECK(tutti__consensus_ready(t), "the team cannot nod");
    for (int round = 0; round < ROUNDS && check_failures_ < 20; round++) {
        if (rnd(200) == rank) usleep(100);
        answers(t, round);
        sums(t, round);
        if (round % 4 == 0) votes(t, round);
        if (ranks > 1) do_work(t, round);
        if (round % 300 == 0) mpi_moves_on(t);
    }
    agreement(t);
    tutti__team_give(&t);
    return harness_end();
}
