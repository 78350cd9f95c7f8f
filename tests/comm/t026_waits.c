/* TEST ranks=2,3 timeout=60 own=1 */
/* Waiting ranks sleep: the first rank is late by a third of a second in a consensus, a vote by messages, a message of a
 * sparse exchange, and a thread.  Meanwhile the other ranks call sched_yield only a bounded number of times, which
 * does not depend on the time waited.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comm/by_thread.h"
#include "comm/consensus.h"
#include "comm/sparse.h"
#include "comm/vote.h"
#include "comm/wait.h"
#include "exchange/staging.h"

enum { LATE_MS = 333, CALLS_OF_MPI = 1000 };
/* Maximum number of yields.  In shared memory: 20 us of yields, and one call of MPI per millisecond, which
 * may yield too.  With messages: a millisecond of yields, each with a call of MPI. */
enum { MOST_SHARED = 400 + CALLS_OF_MPI, MOST_MESSAGES = 10000 };

static atomic_long yields;

/* Replaces the function of the C library. */
int sched_yield(void) {
    atomic_fetch_add(&yields, 1);
    return (int)syscall(SYS_sched_yield);
}

static void sleep_ms(long ms) {
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void be_late(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) sleep_ms(LATE_MS);
    atomic_store(&yields, 0);
}

static void check_yields(long most, const char *what) {
    const long n = atomic_load(&yields);
    if (getenv("TUTTI_TEST_SHOW")) printf("rank %d: %s: %ld yields\n", rank, what, n);
    CHECK(n <= most, "%s: %ld yields", what, n);
}

static tutti_err sleep_in_thread(void *context) {
    sleep_ms(*(const long *)context);
    return TUTTI_OK;
}

static void do_nothing(void *context) {
    (void)context;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 26);
    tutti__team *t = NULL;
    long late = LATE_MS;
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &t));
    CHECK_OK(tutti__staging_attach(t));
    be_late();
    CHECK_OK(tutti__team_agree(t, TUTTI_OK));
    check_yields(MOST_MESSAGES, "vote by messages");

    tutti__segment memory = {NULL, 0, 0};
    CHECK_OK(tutti__segment_make(t, 1, tutti__consensus_bytes(t), &memory));
    tutti__consensus_use(t, memory.base);
    be_late();
    CHECK_EQ(tutti__consensus(t, 1, 0, NULL), 1);
    check_yields(MOST_SHARED, "consensus");

    be_late();
    CHECK_OK(tutti__by_thread_meanwhile(sleep_in_thread, &late, do_nothing, NULL));
    check_yields(5 * MOST_MESSAGES, "thread"); /* the wait is one of those for transfers */

    be_late();
    tutti__sparse_message *in = NULL;
    int n = 0;
    const tutti__sparse_message to = {(rank + 1) % ranks, sizeof late, &late};
    CHECK_OK(tutti__sparse_exchange(t, 1, &to, &n, &in));
    CHECK_EQ(n, 1);
    check_yields(MOST_MESSAGES, "sparse exchange");
    tutti__sparse_free(n, &in);
    tutti__segment_drop(&memory);
    memset(&t->consensus, 0, sizeof t->consensus);
    tutti__team_give(&t);
    return harness_end();
}
