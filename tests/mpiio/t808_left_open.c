/* TEST ranks=3 timeout=60 preload=mpiio */
/* Files that are still open at MPI_Finalize, their shared pointers used and something begun: it ends, and nothing is
 * left in /dev/shm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <unistd.h>

#include "mpi_check.h"

/* Pointers in /dev/shm that this process has open. */
static int pointers(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[300], target[300] = "";
        snprintf(name, sizeof name, "/proc/self/fd/%s", e->d_name);
        if (readlink(name, target, sizeof target - 1) > 0)
            n += strstr(target, "tutti-pointer") != NULL;
    }
    if (d) closedir(d);
    return n;
}

int main(int argc, char **argv) {
    static char buf[4096];
    test_begin(&argc, &argv);
    MPI_File fh = test_open("left", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File other = test_open("other", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_MPI(MPI_File_write_shared(fh, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_at_all_begin(other, 4096 * rank, buf, 4096, MPI_BYTE));
    CHECK_EQ(pointers(), 1);
    MPI_Finalize();
    CHECK_EQ(pointers(), 0);
    return check_done();
}
