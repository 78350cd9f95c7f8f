/* TEST ranks=2,3 timeout=60 own=1 preload=mpiio */
/* A rank that waits for a non-blocking collective sleeps until the last rank has started it: MPI_Wait, MPI_Waitall,
 * MPI_Waitany, with and without other requests, call sched_yield a bounded number of times.  Messages between the
 * waiting ranks arrive meanwhile.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi_check.h"

enum { LATE_MS = 333, BYTES = 4096, WARM = 12 };
/* Maximum number of yields.  MOST: one MPI call per millisecond, which may yield too, and the first yields.
 * MOST_MIXED, with other requests: a millisecond of yields, each with a call of MPI. */
enum { MOST = 2000, MOST_MIXED = 10000 };

static atomic_long yields;
static char data[BYTES];

/* Replaces the function of the C library. */
int sched_yield(void) {
    atomic_fetch_add(&yields, 1);
    return (int)syscall(SYS_sched_yield);
}

/* Rank 0 is late. */
static void be_late(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) (void)nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
    atomic_store(&yields, 0);
}

static void check_yields(long most, const char *what) {
    const long n = atomic_load(&yields);
    if (getenv("TUTTI_TEST_SHOW")) printf("rank %d: %s: %ld yields\n", rank, what, n);
    CHECK(n <= most, "%s: %ld yields", what, n);
}

static void start_write(MPI_File fh, int i, MPI_Request *r) {
    CHECK_MPI(MPI_File_iwrite_at_all(fh, ((MPI_Offset)i * size + rank) * BYTES, data, BYTES,
                                     MPI_BYTE, r));
}

static void wait_all_kinds(MPI_File fh) {
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[3];
    int which = -1, message = -1;
    be_late();
    start_write(fh, 0, &r[0]);
    CHECK_MPI(MPI_Wait(&r[0], &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), BYTES);
    check_yields(MOST, "MPI_Wait");

    be_late();
    start_write(fh, 0, &r[0]);
    start_write(fh, 1, &r[2]);
    CHECK_MPI(MPI_Waitall(3, r, statuses));
    CHECK_EQ(count_of(&statuses[2], MPI_BYTE), BYTES);
    check_yields(MOST, "MPI_Waitall");

    be_late();
    start_write(fh, 0, &r[1]);
    CHECK_MPI(MPI_Waitany(3, r, &which, &status));
    CHECK_EQ(which, 1);
    check_yields(MOST_MIXED, "MPI_Waitany");

    be_late();
    start_write(fh, 0, &r[0]);
    MPI_Irecv(&message, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &r[2]);
    CHECK_MPI(MPI_Waitall(3, r, statuses));
    CHECK_EQ(message, (rank + size - 1) % size);
    check_yields(MOST_MIXED, "MPI_Waitall with messages");
}

/* Rank 0 starts its operation only after the last rank, which waits for the operation, has sent a large message. */
static void send_while_waiting(MPI_File fh) {
    enum { LARGE = 4 << 20 };
    char *large = calloc(1, LARGE);
    MPI_Request r, sent = MPI_REQUEST_NULL;
    if (rank == size - 1) MPI_Isend(large, LARGE, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &sent);
    if (rank == 0) MPI_Recv(large, LARGE, MPI_BYTE, size - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start_write(fh, 0, &r);
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    free(large);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    MPI_File fh = test_open("waiting", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < WARM; i++) {
        MPI_Request r[2];
        MPI_Status statuses[2];
        start_write(fh, 0, &r[0]);
        start_write(fh, 1, &r[1]);
        CHECK_MPI(MPI_Waitall(2, r, statuses));
    }
    wait_all_kinds(fh);
    send_while_waiting(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
