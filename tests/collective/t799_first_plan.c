/* TEST ranks=1,2,3,5,8 timeout=60 own=1 */
/* The first operation on a file, if the ranks of its team share memory: its answers contain what ranks contribute to the
 * plan, so that it takes two collective communications, or three if aggregators compare descriptions.  The plan is the
 * one that a vote by messages makes.  Errors of one rank, ranks without bytes, and parts are as with a vote.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/collective_count.h"
#include "harness.h"

enum { WARM = 12, BLOCK = 512, KINDS = 6 };

static const char *const kind_name[KINDS] = {"contiguous",        "cyclic", "reversed", "empty",
                                             "all but one empty", "large"};

/* Return the access of this rank in one of the shapes, with at most 64 KiB of memory. */
static tutti_access *access_of_kind(int kind) {
    tutti_access *a = NULL;
    const tutti_off large = 16 * BLOCK;
    switch (kind) {
    case 1:
        CHECK_OK(
            tutti_access_vector((tutti_off)rank * BLOCK, 20, BLOCK, (tutti_off)ranks * BLOCK, &a));
        break;
    case 2:
        CHECK_OK(tutti_access_contiguous((tutti_off)(ranks - 1 - rank) * BLOCK, BLOCK, &a));
        break;
    case 3:
        CHECK_OK(tutti_access_contiguous(0, 0, &a));
        break;
    case 4:
        CHECK_OK(tutti_access_contiguous(100, rank == ranks - 1 ? BLOCK : 0, &a));
        break;
    default:
        CHECK_OK(tutti_access_contiguous((kind == 5 ? large : BLOCK) * rank,
                                         kind == 5 ? large : BLOCK, &a));
    }
    return a;
}

static unsigned char buf[64 << 10], seen[64 << 10];
static char path[512], text[2][KINDS][2][1024];

/* Write and read a new file; record the explanations of the plans, and return the collective communications of the
 * write. */
static int64_t first_operations(MPI_Comm comm, int kind, char explanation[2][1024]) {
    tutti_file *f = NULL;
    tutti_access *a = access_of_kind(kind);
    const tutti_off bytes = tutti_access_bytes(a);
    tutti_off count = -1;
    tutti_options opt = options_of("");
    CHECK_SAME(tutti_file_open(comm, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f),
               TUTTI_OK);
    for (tutti_off i = 0; i < bytes; i++) buf[i] = (unsigned char)(7 * i + 31 * rank + kind);
    const int64_t before = tutti__collective_count();
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    const int64_t n = tutti__collective_count() - before;
    CHECK_EQ(count, bytes);
    snprintf(explanation[0], sizeof text[0][0][0], "%s", tutti_file_explain(f));
    memset(seen, 0, sizeof seen);
    CHECK_SAME(tutti_file_read(f, a, seen, &count), TUTTI_OK);
    snprintf(explanation[1], sizeof text[0][0][1], "%s", tutti_file_explain(f));
    CHECK_EQ(count, bytes);
    CHECK(memcmp(seen, buf, (size_t)bytes) == 0, "%s: other bytes", kind_name[kind]);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    return n;
}

/* Make the team of `comm` share memory: the shared memory is made after some votes, and stays with the team. */
static void warm_team(MPI_Comm comm) {
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_options opt = options_of("plan_cache=0");
    CHECK_OK(tutti_access_contiguous(rank, 1, &a));
    CHECK_SAME(tutti_file_open(comm, path, TUTTI_WRITE | TUTTI_CREATE, &opt, &f), TUTTI_OK);
    for (int i = 0; i < WARM; i++) CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

static void check_refusal(MPI_Comm comm) {
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_options opt = options_of("");
    CHECK_OK(tutti_access_contiguous((tutti_off)rank * BLOCK, BLOCK, &a));
    CHECK_SAME(tutti_file_open(comm, path, TUTTI_WRITE | TUTTI_CREATE, &opt, &f), TUTTI_OK);
    for (int who = 0; who < ranks; who++) {
        CHECK_SAME(tutti_file_write(f, rank == who ? NULL : a, buf, NULL), TUTTI_ERR_ARG);
        CHECK_EQ(tutti_last_error()->rank, who);
    }
    CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    harness_begin(&argc, &argv, 799);
    snprintf(path, sizeof path, "%s", scratch_path("first"));
    for (int kind = 0; kind < KINDS; kind++) { /* each communicator has a new team, which votes */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        (void)first_operations(comm, kind, text[0][kind]);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    warm_team(comm);
    for (int kind = 0; kind < KINDS; kind++) {
        const int64_t n = first_operations(comm, kind, text[1][kind]);
        if (getenv("TUTTI_TEST_SHOW") && rank == 0)
            printf("%s: %lld, %s\n", kind_name[kind], (long long)n, text[1][kind][0]);
        /* the aggregators of kind 0 also agree on the memory of the plan */
        const int most = kind == 5 ? 2 : 3;
        if (kind == 0 || kind == 5)
            CHECK(n <= most, "%s: %lld communications", kind_name[kind], (long long)n);
        for (int k = 0; k < 2; k++)
            CHECK(strcmp(text[0][kind][k], text[1][kind][k]) == 0, "%s: '%s', by messages '%s'",
                  kind_name[kind], text[1][kind][k], text[0][kind][k]);
    }
    check_refusal(comm);
    MPI_Comm_free(&comm);
    file_remove(path);
    return harness_end();
}
