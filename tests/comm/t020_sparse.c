/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Sparse exchange: few and many messages, empty and large ones, to the same rank and to others; several
 * rounds without a barrier between them, in which a message must not arrive in the next round; rounds of
 * different teams; and ranks that run out of memory: no rank hangs, and no message is lost without an
 * error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/sparse_random.h"

static int rank, ranks;

static tutti_err check_delivery(tutti__team *t, const post *p, int *n_out,
                                tutti__sparse_message **in_out) {
    tutti__sparse_message *out = post_write(p, rank);
    const tutti_err err = tutti__sparse_exchange(t, post_count(p, rank), out, n_out, in_out);
    post_burn(p, rank, out);
    return err;
}

static void one_round(tutti__team *t, int most, size_t large) {
    const post p = {rnd64() >> 8, ranks, most, large};
    tutti__sparse_message *in = NULL;
    int n = -1;
    CHECK_OK(check_delivery(t, &p, &n, &in));
    post_check(&p, rank, n, in);
    tutti__sparse_free(n, &in);
    CHECK(in == NULL, "not nulled");
}

/* Test rounds in which no rank sends, one rank sends to all, and all ranks send to one. */
static void special(tutti__team *t) {
    tutti__sparse_message out[8], *in = NULL;
    int n = -1;
    CHECK_OK(tutti__sparse_exchange(t, 0, NULL, &n, &in));
    CHECK_EQ(n, 0);
    tutti__sparse_free(n, &in);
    for (int who = 0; who < ranks; who++) {
        for (int r = 0; r < ranks; r++) out[r] = (tutti__sparse_message){r, sizeof who, &who};
        CHECK_OK(tutti__sparse_exchange(t, rank == who ? ranks : 0, out, &n, &in));
        CHECK(n == 1 && in[0].rank == who && memcmp(in[0].data, &who, sizeof who) == 0, "from %d",
              who);
        tutti__sparse_free(n, &in);
        out[0] = (tutti__sparse_message){who, sizeof rank, &rank};
        CHECK_OK(tutti__sparse_exchange(t, 1, out, &n, &in));
        CHECK_EQ(n, rank == who ? ranks : 0);
        for (int i = 0; i < n; i++)
            CHECK(in[i].rank == i && memcmp(in[i].data, &i, sizeof i) == 0, "letter %d", i);
        tutti__sparse_free(n, &in);
    }
}

/* Let the k-th allocation of rank `who` fail: only that rank may return TUTTI_ERR_NOMEM; if all ranks
 * have sent, each rank that succeeds receives all its messages. */
static void without_memory(tutti__team *t, int who, int k) {
    const post p = {rnd64() >> 8, ranks, 8, 50};
    tutti__sparse_message *in = NULL;
    int n = -1;
    const long live = tutti__memory_live();
    tutti__sparse_message *out = post_write(&p, rank);
    if (rank == who) tutti__memory_fail_after(k);
    const tutti_err err = tutti__sparse_exchange(t, post_count(&p, rank), out, &n, &in);
    tutti__memory_fail_after(0);
    CHECK(err == TUTTI_OK || (rank == who && err == TUTTI_ERR_NOMEM), "%s", tutti_error_name(err));
    int all_sent = 1, code = err == TUTTI_OK;
    MPI_Allreduce(&code, &all_sent, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (err == TUTTI_OK && (all_sent || k > 1)) post_check(&p, rank, n, in);
    if (err == TUTTI_OK) tutti__sparse_free(n, &in);
    CHECK(in == NULL && tutti__memory_live() == live, "memory is left");
    post_burn(&p, rank, out);
}

/* Rounds of two teams alternate; no team receives messages of the other. */
static void two_teams(tutti__team *t) {
    tutti__team *u = NULL;
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &u));
    for (int i = 0; u && i < 6; i++) one_round(i % 2 ? t : u, 6, 3000);
    tutti__team_give(&u);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261118u + (unsigned)ranks);
    const long live = tutti__memory_live();
    tutti__team *t = NULL;
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &t));
    if (t) {
        special(t);
        for (int i = 0; i < 40; i++) one_round(t, 1 + (int)rnd(6), 1 + (size_t)rnd(2000));
        one_round(t, 300, 20);
        for (int i = 0; i < 3; i++) one_round(t, 4, 3 << 20);
        for (int k = 1; k <= 12; k++)
            for (int who = 0; who < ranks; who++) without_memory(t, who, k);
        two_teams(t);
    }
    tutti__team_give(&t);
    int bad = 0;
    MPI_Allreduce(&check_failures_, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done() || bad;
}
