/* base: unnamed files in /dev/shm.  They are preferred to memfd_create because the size of /dev/shm
 * limits the memory of all processes, whereas memfd pages are allocated until the kernel runs out
 * of memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 80, TRIES = 64 };

static void proc_path(char *path, long long pid, long long fd) {
    snprintf(path, NAME_BYTES, "/proc/%lld/fd/%lld", pid, fd);
}

/* Compose the path of the file while it has a name; the random part prevents other users from
 * guessing or occupying the path. */
static void name_path(char *path, const tutti__shared_memory *memory) {
    snprintf(path, NAME_BYTES, "/dev/shm/tutti-shm-%lld-%016llx", (long long)memory->pid,
             (unsigned long long)memory->random);
}

/* Open an unnamed file; without O_TMPFILE, a name exists between open and unlink. */
static int open_nameless(const tutti__shared_memory *memory) {
    char path[NAME_BYTES];
    int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
    name_path(path, memory);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) (void)unlink(path);
    return fd;
}

/* Allocate `bytes` bytes of the file; returns 0 or an errno value. */
static int allocate_pages(int fd, size_t bytes) {
    struct rlimit limit;
    int error = EINTR;
    /* posix_fallocate would raise SIGXFSZ */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) return EFBIG;
    for (int i = 0; i < TRIES && error == EINTR; i++) /* signals of a profiler interrupt the call */
        error = posix_fallocate(fd, 0, (off_t)bytes);
    return error;
}

int tutti__shared_memory_create(size_t bytes, tutti__shared_memory *out) {
    struct stat st;
    tutti__shared_memory memory = {.pid = (int64_t)getpid()};
    if (getrandom(&memory.random, sizeof memory.random, GRND_NONBLOCK) !=
        (ssize_t)sizeof memory.random)
        return -1;
    const int fd = open_nameless(&memory);
    if (fd < 0) return -1;
    int error = allocate_pages(fd, bytes);
    if (error == 0 && fstat(fd, &st) != 0) error = errno;
    if (error != 0) {
        (void)close(fd);
        errno = error;
        return -1;
    }
    memory.fd = fd;
    memory.device = (uint64_t)st.st_dev;
    memory.inode = (uint64_t)st.st_ino;
    *out = memory;
    return fd;
}

static int is_memory(const tutti__shared_memory *memory, const struct stat *st) {
    return S_ISREG(st->st_mode) && (uint64_t)st->st_dev == memory->device &&
           (uint64_t)st->st_ino == memory->inode;
}

/* In another PID namespace, pid may be that of another process and fd of any file type, for example
 * a pipe, on which open() would block.  Therefore the file is checked by stat() first. */
int tutti__shared_memory_open(const tutti__shared_memory *memory, int linked) {
    char path[NAME_BYTES];
    struct stat st;
    if (linked)
        name_path(path, memory);
    else
        proc_path(path, memory->pid, memory->fd);
    if (stat(path, &st) != 0) return -1;
    if (!is_memory(memory, &st)) {
        errno = ENOENT;
        return -1;
    }
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && is_memory(memory, &st))) return fd;
    (void)close(fd);
    errno = ENOENT;
    return -1;
}

int tutti__shared_memory_link(const tutti__shared_memory *memory) {
    char from[NAME_BYTES], to[NAME_BYTES];
    proc_path(from, (long long)getpid(), memory->fd);
    name_path(to, memory);
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

void tutti__shared_memory_unlink(const tutti__shared_memory *memory) {
    char path[NAME_BYTES];
    name_path(path, memory);
    (void)unlink(path);
}
