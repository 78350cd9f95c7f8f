/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Agreement with every single failing rank and with sets of failing ranks: all ranks return the error of
 * the lowest failing rank and have an identical last error; numbers are reduced nevertheless.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "comm/vote.h"

static int rank, ranks;

/* Check that the last error is the same on all ranks, with this code, rank and text. */
static void same_error(tutti_err err, tutti_err code, int who, const char *text) {
    const tutti_error_info local_err = *tutti_last_error();
    tutti_error_info first = local_err;
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(err == code && local_err.code == code, "%s, not %s", tutti_error_name(err),
          tutti_error_name(code));
    CHECK(local_err.rank == who, "rank %d, not %d", local_err.rank, who);
    CHECK(strstr(local_err.text, text), "'%s' is not in '%s'", text, local_err.text);
    CHECK(local_err.sys_errno == first.sys_errno && local_err.offset == first.offset,
          "errno or offset");
    CHECK(local_err.rank == first.rank && local_err.code == first.code, "rank or code");
    CHECK(strcmp(local_err.operation, first.operation) == 0 &&
              strcmp(local_err.path, first.path) == 0,
          "where");
    CHECK(strcmp(local_err.text, first.text) == 0, "'%s' and '%s'", local_err.text, first.text);
}

/* Return the error code of rank `who` in a round and its text; on that rank, set the last error. */
static tutti_err make_error(int who, int round, tutti_err *code_out, char *text) {
    static const tutti_err codes[] = {TUTTI_ERR_IO, TUTTI_ERR_NOMEM, TUTTI_ERR_OPTION,
                                      TUTTI_ERR_NO_SPACE};
    const tutti_err code = codes[(who + round) % 4];
    snprintf(text, 64, "trouble %d of rank %d", round, who);
    *code_out = code;
    if (rank != who) return code;
    tutti__error_set(code, 5 + who, 1000 * who, "%s", text);
    tutti__error_context("write", "some/file", -1);
    return code;
}

/* Return the error of this rank if the ranks whose bits are set in `who` fail; store the code, the number
 * and the text of the lowest failing rank. */
static tutti_err error_of_rank(unsigned who, int round, tutti_err *code_out, int *lowest_out,
                               char *text) {
    tutti_err local_err = TUTTI_OK, code;
    char dummy[64];
    *lowest_out = -1;
    for (int r = ranks - 1; r >= 0; r--) {
        if (!(who >> r & 1)) continue;
        *lowest_out = r;
        (void)make_error(r, round, code_out, text);
        if (r == rank) local_err = make_error(r, round, &code, dummy);
    }
    return local_err;
}

static void check_agreement(unsigned who, int round) {
    tutti_err code = TUTTI_OK;
    int lowest;
    char text[64] = "";
    tutti__team *t = NULL;
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &t));
    const tutti_err err = tutti__team_agree(t, error_of_rank(who, round, &code, &lowest, text));
    if (lowest < 0)
        CHECK(err == TUTTI_OK, "%s", tutti_error_name(err));
    else
        same_error(err, code, lowest, text);
    tutti__team_give(&t);
}

static void check_vote(tutti__team *t, unsigned who, int round) {
    tutti_err code = TUTTI_OK;
    int lowest;
    char text[64] = "";
    enum { EACH = TUTTI__REDUCTIONS / 3, NUMBERS = 3 * EACH + 1 };
    int64_t least[EACH], most[EACH], sum[EACH], overflow = INT64_MAX - (rank == 0);
    tutti__reduction all[NUMBERS] = {{TUTTI__SUM, &overflow}};
    tutti__vote v;
    tutti__vote_init(&v);
    v.reductions = NUMBERS;
    v.reduction = all;
    v.ranges = TUTTI__RANGES;
    const tutti_err local_err = error_of_rank(who, round, &code, &lowest, text);
    for (int i = 0; i < EACH; i++) {
        least[i] = 100 * i - rank;
        most[i] = rank - 7;
        sum[i] = ((int64_t)1 << 40) + rank;
        all[3 * i + 1] = (tutti__reduction){TUTTI__MIN, &least[i]};
        all[3 * i + 2] = (tutti__reduction){TUTTI__MAX, &most[i]};
        all[3 * i + 3] = (tutti__reduction){TUTTI__SUM, &sum[i]};
    }
    for (int i = 0; i < TUTTI__RANGES; i++) v.range[i] = (tutti__range){i + rank, i - rank};
    const tutti_err err = tutti__team_vote(t, local_err, &v);
    if (lowest < 0)
        CHECK(err == TUTTI_OK && v.fail == INT64_MAX, "%s", tutti_error_name(err));
    else
        same_error(err, code, lowest, text);
    if (lowest >= 0) CHECK_EQ(v.fail, lowest);
    for (int i = 0; i < EACH; i++) {
        CHECK_EQ(least[i], 100 * i - (ranks - 1));
        CHECK_EQ(most[i], ranks - 8);
        CHECK_EQ(sum[i], ranks * ((int64_t)1 << 40) + ranks * (ranks - 1) / 2);
    }
    CHECK_EQ(overflow, ranks == 1 ? INT64_MAX - 1 : INT64_MAX);
    for (int i = 0; i < TUTTI__RANGES; i++)
        CHECK(v.range[i].min == i && v.range[i].max == i, "range %d", i);
    int64_t largest = -rank;
    CHECK(tutti__team_max(t, local_err, &largest) == err, "maximum");
    CHECK_EQ(largest, 0);
}

/* An error code without a recorded message gets its default text, not the text of an earlier error. */
static void unrecorded(tutti__team *t) {
    for (int who = 0; who < ranks; who++) {
        if (rank == who) tutti__error_set(TUTTI_ERR_IO, 5, 99, "long ago");
        const tutti_err err = tutti__team_agree(t, rank == who ? TUTTI_ERR_QUOTA : TUTTI_OK);
        same_error(err, TUTTI_ERR_QUOTA, who, tutti_strerror(TUTTI_ERR_QUOTA));
        tutti__error_clear();
    }
}

static void numbers(tutti__team *t) {
    int64_t v[3] = {rank, -1, (int64_t)1 << 50};
    CHECK_OK(tutti__team_sum(t, v, 3));
    CHECK_EQ(v[0], ranks * (ranks - 1) / 2);
    CHECK_EQ(v[1], -ranks);
    CHECK_EQ(v[2], ranks * ((int64_t)1 << 50));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261119);
    const long live = tutti__memory_live();
    tutti__team *t = NULL;
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &t));
    for (int r = 0; r < ranks; r++) {
        check_agreement(1u << r, r);
        check_vote(t, 1u << r, r);
    }
    for (int i = 0; i < 12; i++) {
        const unsigned who = i == 0 ? 0 : (unsigned)rnd(1 << ranks);
        check_agreement(who, i);
        check_vote(t, who, i);
    }
    unrecorded(t);
    numbers(t);
    tutti__team_give(&t);
    int bad = 0;
    MPI_Allreduce(&check_failures_, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done() || bad;
}
