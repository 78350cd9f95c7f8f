/* TEST ranks=3 timeout=60 own=1 preload=mpiio */
/* Files are still open at MPI_Finalize, with used shared pointers and pending operations: MPI_Finalize returns,
 * and no file remains in /dev/shm.  A callback that MPI_Finalize calls, as in HDF5, can still close a file if the
 * program set the callback before it opened any file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <unistd.h>

#include "mpi_check.h"

/* Return the number of files of shared pointers in /dev/shm that this process has open. */
static int count_pointers(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[300], target[300] = "";
        snprintf(name, sizeof name, "/proc/self/fd/%s", e->d_name);
        if (readlink(name, target, sizeof target - 1) > 0)
            n += strncmp(target, "/dev/shm/#", 10) == 0 || strstr(target, "/tutti-shm-") != NULL;
    }
    if (d) closedir(d);
    return n;
}

static MPI_File late;
static int late_closed;

static int close_late(MPI_Comm self, int key, void *value, void *extra) {
    char word[5] = "late", back[5] = "";
    MPI_Request r;
    (void)self, (void)key, (void)value, (void)extra;
    CHECK_MPI(MPI_File_write_at_all(late, rank * 4, word, 4, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at(late, rank * 4, back, 4, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(strcmp(word, back) == 0, "read back '%s'", back);
    CHECK_MPI(MPI_File_iwrite_at(late, 100 + rank, word, 1, MPI_CHAR, &r));
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_close(&late));
    late_closed = 1;
    return MPI_SUCCESS;
}

static void at_finalize(void) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_late, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
    static char buf[4096];
    MPI_Request r;
    test_begin(&argc, &argv);
    at_finalize();
    late = test_open("late", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File fh = test_open("left", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File other = test_open("other", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_MPI(MPI_File_write_shared(fh, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite_at(late, 200, buf, 1, MPI_BYTE, &r));
    CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_at_all_begin(other, 4096 * rank, buf, 4096, MPI_BYTE));
    /* the file of the shared pointer of `fh` has already been unlinked */
    CHECK_EQ(count_pointers(), 0);
    MPI_Finalize();
    CHECK(late_closed, "the callback was not called");
    CHECK_EQ(count_pointers(), 0);
    return check_done();
}
