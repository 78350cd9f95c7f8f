/* TEST ranks=1,2,3,5,8 timeout=60 */
/* MPI windows for sub-buffers have at least the requested size and begin on page boundaries.  They are
 * reused if large enough, rebuilt if one rank needs more or if they are much too large, and never shrink
 * while plans need them.  Bytes put into each window arrive.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "exchange/staging.h"

static int rank, ranks, pinned;

/* Each rank puts a byte into window k, of bytes[r] bytes, of each rank r; check the bytes that arrive. */
static void check_windows(const tutti__team *t, int k, const tutti_off *bytes) {
    const MPI_Win win = t->staging->rma_windows.win[k];
    unsigned char local = (unsigned char)(10 * k + rank + 1);
    MPI_Win_fence(0, win);
    for (int r = 0; r < ranks; r++)
        if (bytes[r] > rank)
            MPI_Put(&local, 1, MPI_BYTE, r,
                    tutti__rma_windows_shift(&t->staging->rma_windows, k, r) + rank, 1, MPI_BYTE,
                    win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int r = 0; r < ranks && r < bytes[rank]; r++)
        CHECK_EQ((unsigned char)t->staging->rma_windows.base[k][r], 10 * k + r + 1);
}

static tutti_off total(const tutti__rma_windows *w) {
    tutti_off sum = 0;
    for (int k = 0; k < w->n; k++) sum += w->bytes[k];
    return sum;
}

enum { ANEW, KEPT };

/* Ensure n windows of `local` bytes; all windows of a rank may have at most `max_bytes` bytes together. */
static void check_ensure(tutti__team *t, int n, tutti_off local, tutti_off max_bytes, int kept) {
    tutti_off bytes[64];
    const char *before = t->staging->rma_windows.base[0];
    const MPI_Win first = t->staging->rma_windows.win[0];
    CHECK_OK(tutti__rma_windows_ensure(t, n, local, max_bytes));
    CHECK(t->staging->rma_windows.n >= n, "%d windows", t->staging->rma_windows.n);
    for (int k = 0; k < n; k++)
        CHECK(t->staging->rma_windows.bytes[k] >= local, "%lld bytes",
              (long long)t->staging->rma_windows.bytes[k]);
    if (!pinned)
        CHECK(total(&t->staging->rma_windows) <= max_bytes, "%lld bytes",
              (long long)total(&t->staging->rma_windows));
    if (kept == KEPT)
        CHECK(t->staging->rma_windows.win[0] == first && t->staging->rma_windows.base[0] == before,
              "not kept");
    for (int k = 0; k < t->staging->rma_windows.n; k++)
        CHECK(t->staging->rma_windows.bytes[k] == 0 ||
                  (uintptr_t)t->staging->rma_windows.base[k] % 4096 == 0,
              "window %d is at %p", k, (void *)t->staging->rma_windows.base[k]);
    for (int k = 0; k < n; k++) {
        MPI_Allgather(&t->staging->rma_windows.bytes[k], 1, MPI_INT64_T, bytes, 1, MPI_INT64_T,
                      t->comm);
        check_windows(t, k, bytes);
    }
}

static void test_alone(tutti__team *t) {
    const int last = rank == ranks - 1;
    check_ensure(t, 2, rank == 0 ? 5000 : 0, 200000, ANEW); /* rank 0 is the only aggregator */
    check_ensure(t, 2, rank == 0 ? 5000 : 0, 200000, KEPT);
    check_ensure(t, 1, rank == 0 ? 100 : 0, 200000, KEPT);
    check_ensure(t, 2, last ? 70000 : 0, 200000, ANEW); /* the last rank is the only aggregator */
    CHECK_EQ(total(&t->staging->rma_windows), last ? 140000 : 0);
    check_ensure(t, 3, rank == 0 ? 5000 : 0, 200000, ANEW); /* one more window is needed */
    CHECK_EQ(total(&t->staging->rma_windows), rank == 0 ? 15000 : 0);
    check_ensure(t, 2, last ? 70000 : 0, 200000, ANEW);
    check_ensure(t, 4, 4000, 16000, ANEW);
    check_ensure(t, 1, 16000, 16000, ANEW); /* one large window replaces many small ones */
    check_ensure(t, 1, 3000, 3000, ANEW);   /* the existing window is too large */
    CHECK_EQ(total(&t->staging->rma_windows), 3000);
}

/* While plans need windows, windows are kept or grow. */
static void test_pinned(tutti__team *t) {
    check_ensure(t, 1, 64000, 64000, ANEW);
    pinned = 1;
    if (rank == 0) atomic_fetch_add(&t->staging->pins, 1); /* a plan exists on rank 0 only */
    check_ensure(t, 4, 16000, 64000, ANEW);
    CHECK_EQ(total(&t->staging->rma_windows), 64000 + 3 * 16000);
    check_ensure(t, 1, 64000, 64000, KEPT);
    check_ensure(t, 4, 16000, 64000, KEPT);
    if (rank == 0) atomic_fetch_sub(&t->staging->pins, 1);
    pinned = 0;
    check_ensure(t, 4, 16000, 64000, ANEW);
    CHECK_EQ(total(&t->staging->rma_windows), 64000);
}

int main(int argc, char **argv) {
    tutti__team *t = NULL;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(tutti__team_take(comm, "", &t));
    CHECK_OK(tutti__staging_attach(t));
    test_alone(t);
    test_pinned(t);
    tutti__team_give(&t);
    MPI_Comm_free(&comm); /* frees the team and its windows */
    CHECK_EQ(tutti__memory_live(), 0);
    const int rc = check_done();
    MPI_Finalize();
    return rc;
}
