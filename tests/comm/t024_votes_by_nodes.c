/* TEST ranks=1,2,3,5,8 timeout=60 own=1 */
/* Votes of teams on several nodes, which the option `nodes` defines: reductions and errors are those of
 * all ranks, and only the first rank of each node sends messages, as many as recursive doubling over the
 * nodes needs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "collective/find.h"
#include "exchange/staging.h"

static int64_t messages; /* number of messages that this rank has sent */

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    messages++;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

/* Return the messages of one vote: each of the first 2^k senders, for the largest possible k, sends k
 * messages; each further sender sends one and receives one. */
static int64_t expected_messages(int senders) {
    int whole = 1, bits = 0;
    for (; whole <= senders / 2; whole *= 2) bits++;
    return (int64_t)whole * bits + 2 * (int64_t)(senders - whole);
}

static void check_vote(tutti__team *t, int round, int senders) {
    const int failing = (int)(mix(3, (uint64_t)round) % (uint64_t)(3 * ranks));
    int64_t least = (int64_t)mix((uint64_t)round, (uint64_t)rank) % 1000, most = least, sum = least;
    int64_t want[3] = {INT64_MAX, INT64_MIN, 0}, before = messages, sent = 0;
    const tutti__reduction all[] = {{TUTTI__MIN, &least}, {TUTTI__MAX, &most}, {TUTTI__SUM, &sum}};
    for (int r = 0; r < ranks; r++) {
        const int64_t v = (int64_t)mix((uint64_t)round, (uint64_t)r) % 1000;
        want[0] = tutti__min(want[0], v);
        want[1] = tutti__max(want[1], v);
        want[2] += v;
    }
    tutti_err local_err = TUTTI_OK;
    if (rank >= failing && failing < ranks)
        local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "round %d", round);
    CHECK_SAME(tutti__team_reduce(t, local_err, 3, all),
               failing < ranks ? TUTTI_ERR_ARG : TUTTI_OK);
    if (failing < ranks) CHECK_EQ(tutti_last_error()->rank, failing);
    CHECK(least == want[0] && most == want[1] && sum == want[2], "round %d", round);
    before = messages - before;
    CHECK(t->consensus.in_use == 0 || t->nodes.me == 0 || before == 0,
          "rank %d is not the first of its node and sent %lld messages", rank, (long long)before);
    MPI_Allreduce(&before, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sent, expected_messages(senders));
}

static void check_division(const char *nodes) {
    tutti__team *t = NULL;
    check_where(nodes);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, nodes, &t));
    CHECK_OK(tutti__staging_attach(t));
    for (int round = 0; round < 5; round++) check_vote(t, round, ranks);
    CHECK_SAME(tutti__consensus_make(t), TUTTI_OK);
    CHECK_EQ(t->consensus.in_use, t->nodes.largest > 1);
    CHECK_EQ(tutti__consensus_ready(t), ranks == 1 || t->nodes.n == 1);
    const int senders = t->nodes.largest == 1 ? ranks : t->nodes.n;
    for (int round = 0; round < 30; round++) {
        if (mix((uint64_t)round, 77) % (uint64_t)(8 * ranks) == (uint64_t)rank) usleep(100);
        check_vote(t, round, senders);
    }
    /* votes follow each other without another operation between them */
    for (int i = 0; i < 20; i++) {
        int64_t largest = rank + i;
        CHECK_OK(tutti__team_max(t, TUTTI_OK, &largest));
        CHECK_EQ(largest, ranks - 1 + i);
    }
    tutti__team_give(&t);
}

int main(int argc, char **argv) {
    static const char *const divisions[] = {"", "1", "2", "3", "rr:2", "rr:3", "1,2", "3,1,2"};
    harness_begin(&argc, &argv, 24);
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) check_division(divisions[i]);
    check_division("single");
    return harness_end();
}
