/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Windows of MPI for sub-buffers: of the size asked for, in pages of their own, kept when they suffice,
 * made anew when one rank needs more; what is put into each of them arrives there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "exchange/rma_windows.h"

static int rank, ranks;

/* Every rank puts a byte into every window of every rank that has one. */
static void used_together(const tutti__team *t, int n, const tutti_off *bytes) {
    for (int k = 0; k < n; k++) {
        const MPI_Win win = t->windows.win[k];
        unsigned char mine = (unsigned char)(10 * k + rank + 1);
        MPI_Win_fence(0, win);
        for (int r = 0; r < ranks; r++)
            if (bytes[r] > rank)
                MPI_Put(&mine, 1, MPI_BYTE, r, tutti__windows_shift(&t->windows, k, r) + rank, 1,
                        MPI_BYTE, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        for (int r = 0; r < ranks && r < bytes[rank]; r++)
            CHECK_EQ((unsigned char)t->windows.base[k][r], 10 * k + r + 1);
    }
}

static void ensured(tutti__team *t, int n, tutti_off mine, int kept) {
    tutti_off bytes[64];
    const char *before = t->windows.base[0];
    const MPI_Win first = t->windows.win[0];
    CHECK_OK(tutti__windows_ensure(t, n, mine));
    CHECK(t->windows.n >= n && t->windows.bytes >= mine, "%d windows", t->windows.n);
    if (kept) CHECK(t->windows.win[0] == first && t->windows.base[0] == before, "not kept");
    for (int k = 0; k < t->windows.n && mine > 0; k++)
        CHECK((uintptr_t)t->windows.base[k] % 4096 == 0, "window %d is at %p", k,
              (void *)t->windows.base[k]);
    MPI_Allgather(&t->windows.bytes, 1, MPI_INT64_T, bytes, 1, MPI_INT64_T, t->comm);
    used_together(t, n, bytes);
}

int main(int argc, char **argv) {
    tutti__team *t = NULL;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(tutti__team_take(comm, "", &t));
    ensured(t, 2, rank == 0 ? 5000 : 0, 0); /* one aggregator */
    ensured(t, 2, rank == 0 ? 5000 : 0, 1);
    ensured(t, 1, rank == 0 ? 100 : 0, 1);
    ensured(t, 2, rank == ranks - 1 ? 70000 : 0, 0); /* another one */
    ensured(t, 3, rank == 0 ? 5000 : 0, 0);          /* one more window */
    ensured(t, 3, rank == ranks - 1 ? 70000 : 0, 1); /* the old sizes are still there */
    tutti__team_give(&t);
    MPI_Comm_free(&comm); /* frees the team and its windows */
    CHECK_EQ(tutti__memory_live(), 0);
    const int rc = check_done();
    MPI_Finalize();
    return rc;
}
