/* A small file system that fills up quickly: a tmpfs in a mount namespace shared by the test's ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SMALL_DISK_H
#define TUTTI_TESTS_SMALL_DISK_H

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

static inline int small_disk_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Move all ranks into one new mount namespace; return 0 if that is not permitted. */
static inline int namespace_enter(void) {
    const int rank = small_disk_rank();
    char name[64];
    long pid = (long)getpid();
    int ok = 1, all = 0;
    MPI_Bcast(&pid, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0)
        ok = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ok && rank != 0) {
        snprintf(name, sizeof name, "/proc/%ld/ns/mnt", pid);
        const int fd = open(name, O_RDONLY | O_CLOEXEC);
        ok = fd >= 0 && unshare(CLONE_FS) == 0 && setns(fd, CLONE_NEWNS) == 0;
        if (fd >= 0) close(fd);
    }
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Mount a tmpfs of this size (`bytes` as text: `size`) at `where`; return 0 unless exactly this file
 * system is mounted there, so that tests never fill another file system. */
static inline int small_mounted(const char *where, const char *size, int64_t bytes) {
    const int rank = small_disk_rank();
    int ok = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char data[40];
        struct statfs s;
        snprintf(data, sizeof data, "size=%s,mode=1777", size);
        ok = mount("tutti-test", where, "tmpfs", 0, data) == 0 && statfs(where, &s) == 0 &&
             (int64_t)s.f_blocks * s.f_bsize == bytes;
    }
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return ok;
}

#endif
