/* Faults of the file system: the n-th write, sync or truncation of a file whose path contains some
 * text fails on this rank, and so do all later ones until the fault ends.  The test is a separate
 * program (own=1).  Syncs that do not fail do nothing: no test depends on them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_IO_FAULTS_H
#define TUTTI_TESTS_IO_FAULTS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

typedef enum { IO_NO_FAULT, IO_WRITE, IO_SYNC, IO_CUT } io_call;

static struct {
    io_call call;
    const char *path; /* a part of the file's path; with a trailing '$': the end of the path */
    int code;         /* errno */
    _Atomic int left; /* calls before the first that fails */
    _Atomic int hits; /* calls that have failed */
} io_fault;

/* Let the n-th matching call (1: the next one) and all later ones fail with errno `code`.  Replaces
 * an earlier fault. */
static inline void io_fault_set(io_call call, const char *path, int n, int code) {
    io_fault.call = call;
    io_fault.path = path;
    io_fault.code = code;
    atomic_store(&io_fault.hits, 0);
    atomic_store(&io_fault.left, n - 1);
}

/* Disable the fault; return the number of calls that failed. */
static inline int io_fault_end(void) {
    io_fault.call = IO_NO_FAULT;
    return atomic_load(&io_fault.hits);
}

static inline int io_fails(io_call call, int fd) {
    char name[64], path[4096];
    if (io_fault.call != call || !io_fault.path) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof path - 2);
    if (n <= 0) return 0;
    path[n] = 0;
    strcat(path, "$");
    if (!strstr(path, io_fault.path) || atomic_fetch_sub(&io_fault.left, 1) > 0) return 0;
    atomic_fetch_add(&io_fault.hits, 1);
    errno = io_fault.code;
    return 1;
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at) {
    return io_fails(IO_WRITE, fd) ? -1 : syscall(SYS_pwrite64, fd, buf, n, at);
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) {
    return io_fails(IO_WRITE, fd) ? -1 : syscall(SYS_pwritev, fd, v, n, at, 0);
}

int ftruncate(int fd, off_t size) {
    return io_fails(IO_CUT, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd) {
    return io_fails(IO_SYNC, fd) ? -1 : 0;
}

int fdatasync(int fd) {
    return io_fails(IO_SYNC, fd) ? -1 : 0;
}

#endif
