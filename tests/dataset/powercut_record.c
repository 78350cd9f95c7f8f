/* powercut_record.so: a preloaded library that records all changes of the files below $POWERCUT_ROOT in the
 * log $POWERCUT_LOG: contents, lengths, names and syncs (powercut.h).  powercut_disk.h replays the log.
 *
 * Each sync is recorded with its call site, so that the replay can omit the syncs of one call site.  The
 * call site is a hash of the return addresses in libtutti, relative to the library, so that all processes
 * compute the same hash.  All syncs by SQLite count as one call site.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/falloc.h>
#include "powercut.h"

enum { FDS = 4096 };
static char tracked[FDS];
static int log_fd = -1;
static const char *root;
static size_t root_n;
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

static void open_log(void) {
    pthread_mutex_lock(&log_mutex);
    if (log_fd == -1) {
        const char *name = getenv("POWERCUT_LOG");
        root = getenv("POWERCUT_ROOT");
        root_n = root ? strlen(root) : 0;
        log_fd = root && name ? (int)syscall(SYS_openat, AT_FDCWD, name,
                                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                              : -2;
    }
    pthread_mutex_unlock(&log_mutex);
}

/* Append one record with a single system call, because several processes append to the log. */
static void note_event(char what, uint64_t object, int64_t at, const void *data, size_t n) {
    const int keep = errno;
    const powercut_record r = {what, object, at, (int64_t)n};
    if (log_fd >= 0) {
        const struct iovec v[2] = {{(void *)(uintptr_t)&r, sizeof r}, {(void *)(uintptr_t)data, n}};
        if (syscall(SYS_writev, log_fd, v, 2) != (long)(sizeof r + n)) abort();
    }
    errno = keep;
}

/* Record that readers must find `state` from now on. */
void powercut_mark(const char *state);
void powercut_mark(const char *state) {
    open_log();
    note_event(POWERCUT_MARK, 0, 0, state, strlen(state));
}

static int is_inside_root(const char *path) {
    open_log();
    return log_fd >= 0 && strncmp(path, root, root_n) == 0 &&
           (path[root_n] == '/' || path[root_n] == 0);
}

static uint64_t object_of(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static int is_tracked(int fd) {
    return fd >= 0 && fd < FDS && tracked[fd];
}

static const char *full_path(int dirfd, const char *path, char *to) {
    char link[64];
    if (path[0] == '/') return path;
    ssize_t n = -1;
    if (dirfd == AT_FDCWD) {
        n = getcwd(to, PATH_MAX) ? (ssize_t)strlen(to) : -1;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
        n = readlink(link, to, PATH_MAX);
    }
    if (n < 0 || n + strlen(path) + 2 > PATH_MAX) return "";
    to[n] = '/';
    strcpy(to + n + 1, path);
    return to;
}

static int open_file(int dirfd, const char *path, int flags, unsigned mode) {
    char buffer[PATH_MAX + 1];
    const char *name = full_path(dirfd, path, buffer);
    struct stat st;
    const int is_recorded = is_inside_root(name);
    const int was = is_recorded && stat(name, &st) == 0;
    const int fd = (int)syscall(SYS_openat, dirfd, path, flags, mode);
    if (fd >= 0 && fd < FDS) tracked[fd] = (char)is_recorded;
    if (fd < 0 || !is_recorded) return fd;
    if (!was) note_event(POWERCUT_CREATE, object_of(fd), 0, name + root_n, strlen(name + root_n));
    if (was && (flags & O_TRUNC)) note_event(POWERCUT_LENGTH, object_of(fd), 0, NULL, 0);
    return fd;
}

#define OPEN(name)                                                                        \
    int name(const char *path, int flags, ...) {                                          \
        va_list args;                                                                     \
        va_start(args, flags);                                                            \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0; \
        va_end(args);                                                                     \
        return open_file(AT_FDCWD, path, flags, mode);                                    \
    }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                                      \
    int name(int dirfd, const char *path, int flags, ...) {                               \
        va_list args;                                                                     \
        va_start(args, flags);                                                            \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0; \
        va_end(args);                                                                     \
        return open_file(dirfd, path, flags, mode);                                       \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
    if (fd >= 0 && fd < FDS) tracked[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

#define PWRITE(name)                                                         \
    ssize_t name(int fd, const void *buf, size_t n, off_t at) {              \
        const ssize_t got = syscall(SYS_pwrite64, fd, buf, n, at);           \
        if (got > 0 && is_tracked(fd))                                       \
            note_event(POWERCUT_WRITE, object_of(fd), at, buf, (size_t)got); \
        return got;                                                          \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *buf, size_t n) {
    const off_t at = is_tracked(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
    const ssize_t got = syscall(SYS_write, fd, buf, n);
    if (got > 0 && is_tracked(fd)) note_event(POWERCUT_WRITE, object_of(fd), at, buf, (size_t)got);
    return got;
}

static void note_pieces(int fd, const struct iovec *v, int n, off_t at, ssize_t got) {
    for (int i = 0; i < n && got > 0; i++) {
        const size_t part = (ssize_t)v[i].iov_len < got ? v[i].iov_len : (size_t)got;
        note_event(POWERCUT_WRITE, object_of(fd), at, v[i].iov_base, part);
        at += (off_t)part;
        got -= (ssize_t)part;
    }
}

#define PWRITEV(name)                                                     \
    ssize_t name(int fd, const struct iovec *v, int n, off_t at) {        \
        const ssize_t got = syscall(SYS_pwritev, fd, v, (long)n, at, 0L); \
        if (is_tracked(fd)) note_pieces(fd, v, n, at, got);               \
        return got;                                                       \
    }
PWRITEV(pwritev)
PWRITEV(pwritev64)
#define PWRITEV2(name)                                                            \
    ssize_t name(int fd, const struct iovec *v, int n, off_t at, int flags) {     \
        const ssize_t got = syscall(SYS_pwritev2, fd, v, (long)n, at, 0L, flags); \
        if (is_tracked(fd)) note_pieces(fd, v, n, at, got);                       \
        return got;                                                               \
    }
PWRITEV2(pwritev2)
PWRITEV2(pwritev64v2)

#define FTRUNCATE(name)                                                                            \
    int name(int fd, off_t size) {                                                                 \
        const int got = (int)syscall(SYS_ftruncate, fd, size);                                     \
        if (got == 0 && is_tracked(fd)) note_event(POWERCUT_LENGTH, object_of(fd), size, NULL, 0); \
        return got;                                                                                \
    }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define TRUNCATE(name)                                                                             \
    int name(const char *path, off_t size) {                                                       \
        char buffer[PATH_MAX + 1];                                                                 \
        struct stat st;                                                                            \
        const int got = (int)syscall(SYS_truncate, path, size);                                    \
        if (got == 0 && is_inside_root(full_path(AT_FDCWD, path, buffer)) && stat(path, &st) == 0) \
            note_event(POWERCUT_LENGTH, (uint64_t)st.st_ino, size, NULL, 0);                       \
        return got;                                                                                \
    }
TRUNCATE(truncate)
TRUNCATE(truncate64)

#define FALLOCATE(name)                                                                  \
    int name(int fd, int mode, off_t at, off_t n) {                                      \
        struct stat st;                                                                  \
        const int64_t length = n;                                                        \
        const int got = (int)syscall(SYS_fallocate, fd, mode, at, n);                    \
        if (got != 0 || !is_tracked(fd) || fstat(fd, &st) != 0) return got;              \
        if (mode & FALLOC_FL_PUNCH_HOLE)                                                 \
            note_event(POWERCUT_PUNCH, (uint64_t)st.st_ino, at, &length, sizeof length); \
        else                                                                             \
            note_event(POWERCUT_LENGTH, (uint64_t)st.st_ino, st.st_size, NULL, 0);       \
        return got;                                                                      \
    }
FALLOCATE(fallocate)
FALLOCATE(fallocate64)
#define POSIX_FALLOCATE(name)                            \
    int name(int fd, off_t at, off_t n) {                \
        return fallocate(fd, 0, at, n) == 0 ? 0 : errno; \
    }
POSIX_FALLOCATE(posix_fallocate)
POSIX_FALLOCATE(posix_fallocate64)

/* Store the return addresses in libtutti as text ("+1a2b +3c4d"), or "SQLite". */
static void site_text(char *to, size_t size) {
    void *frames[40];
    const int n = backtrace(frames, 40);
    size_t at = 0;
    to[0] = 0;
    for (int i = 0; i < n && at + 40 < size; i++) {
        Dl_info where;
        if (!dladdr(frames[i], &where) || !where.dli_fname) continue;
        if (strstr(where.dli_fname, "sqlite3")) {
            strcpy(to, "SQLite");
            return;
        }
        if (!strstr(where.dli_fname, "libtutti")) continue;
        at += (size_t)snprintf(to + at, size - at, "+%lx ",
                               (unsigned long)((char *)frames[i] - (char *)where.dli_fbase));
    }
}

static void note_sync(int fd) {
    static int64_t known[256];
    static int known_n;
    char text[1600];
    int64_t site = 5381;
    if (!is_tracked(fd)) return;
    site_text(text, sizeof text);
    for (const char *c = text; *c; c++) site = (int64_t)((uint64_t)site * 33 + (unsigned char)*c);
    if (strcmp(text, "SQLite") == 0) site = POWERCUT_SQLITE;
    int seen = 0;
    pthread_mutex_lock(&log_mutex);
    for (int i = 0; i < known_n; i++) seen |= known[i] == site;
    if (!seen && known_n < 256) known[known_n++] = site;
    pthread_mutex_unlock(&log_mutex);
    if (!seen) note_event(POWERCUT_SITE, 0, site, text, strlen(text));
    note_event(POWERCUT_SYNC, object_of(fd), site, NULL, 0);
}
int fsync(int fd) {
    note_sync(fd);
    return 0;
}
int fdatasync(int fd) {
    note_sync(fd);
    return 0;
}

static void note_names(char what, const char *a, const char *b) {
    char text[2 * PATH_MAX + 2];
    const int n = snprintf(text, sizeof text, "%s%c%s", a + root_n, 0, b ? b + root_n : "");
    note_event(what, 0, 0, text, (size_t)n);
}

int unlinkat(int dirfd, const char *path, int flags) {
    char buffer[PATH_MAX + 1];
    const char *name = full_path(dirfd, path, buffer);
    const int got = (int)syscall(SYS_unlinkat, dirfd, path, flags);
    if (got == 0 && is_inside_root(name)) note_names(POWERCUT_UNLINK, name, NULL);
    return got;
}
int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}
int rename(const char *from, const char *to) {
    char a[PATH_MAX + 1], b[PATH_MAX + 1];
    const char *x = full_path(AT_FDCWD, from, a), *y = full_path(AT_FDCWD, to, b);
    const int got = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (got == 0 && is_inside_root(x) && is_inside_root(y)) note_names(POWERCUT_RENAME, x, y);
    return got;
}
int link(const char *from, const char *to) {
    char a[PATH_MAX + 1], b[PATH_MAX + 1];
    const char *x = full_path(AT_FDCWD, from, a), *y = full_path(AT_FDCWD, to, b);
    const int got = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (got == 0 && is_inside_root(x) && is_inside_root(y)) note_names(POWERCUT_LINK, x, y);
    return got;
}
int mkdir(const char *path, mode_t mode) {
    char buffer[PATH_MAX + 1];
    const char *name = full_path(AT_FDCWD, path, buffer);
    struct stat st;
    const int got = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (got == 0 && is_inside_root(name) && stat(path, &st) == 0)
        note_event(POWERCUT_MKDIR, (uint64_t)st.st_ino, 0, name + root_n, strlen(name + root_n));
    return got;
}
