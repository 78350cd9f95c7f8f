/* store: determining whether a page of a file is in the page cache.
 *
 *   cachestat(2)          Linux 6.5: a query without side effects
 *   preadv2, RWF_NOWAIT   Linux 4.14: a read of one byte that fails if the page is not cached;
 *                         the kernel may then start to read the page, so a second query finds it
 *
 * Both fail on old kernels, on file systems without page cache, and for files of other users.  The
 * result is then unknown, which is not an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fdfile.h"
#include "store/store.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Number of the system call on all architectures, for C libraries that are older than the
 * kernel. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum { PAGE = 4096 };

/* The structs cachestat_range and cachestat of the kernel. */
typedef struct {
    uint64_t offset, bytes;
} cache_range;
typedef struct {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
} cache_counts;

static _Atomic int no_cachestat; /* whether the kernel does not have cachestat */

static int by_cachestat(int fd, tutti_off offset) {
    const cache_range range = {(uint64_t)(offset - offset % PAGE), PAGE};
    cache_counts counts = {.cached = 0};
    if (atomic_load_explicit(&no_cachestat, memory_order_relaxed)) return -1;
    if (syscall(SYS_cachestat, fd, &range, &counts, 0) == 0) return counts.cached > 0;
    if (errno == ENOSYS) atomic_store_explicit(&no_cachestat, 1, memory_order_relaxed);
    return -1;
}

static int by_read(int fd, tutti_off offset) {
    char byte;
    const struct iovec iov = {&byte, 1};
    const ssize_t n = preadv2(fd, &iov, 1, (off_t)offset, RWF_NOWAIT);
    if (n == 1) return 1;
    return n < 0 && errno == EAGAIN ? 0 : -1;
}

/* Returns -1 with direct_io, which bypasses the page cache. */
int tutti__fdfile_cached(tutti_store *s, tutti_off offset) {
    const tutti__fdfile *f = (const tutti__fdfile *)s;
    const int before = errno;
    struct stat st;
    if (f->align > 0) return -1;
    tutti__store_stats(s)->system_calls++;
    int cached = by_cachestat(f->fd, offset);
    if (cached < 0) {
        tutti__store_stats(s)->system_calls++;
        cached = by_read(f->fd, offset);
    } else if (cached == 0) { /* beyond the end of the file the result is unknown */
        tutti__store_stats(s)->system_calls++;
        if (fstat(f->fd, &st) != 0 || offset >= (tutti_off)st.st_size) cached = -1;
    }
    errno = before;
    return cached;
}
