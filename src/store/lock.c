/* store: locks on a range of a file with a descriptor.
 *
 * An open file description lock (F_OFD_SETLKW) excludes every other open of the file, also in this
 * process.  Kernels without such locks use POSIX locks, which belong to the process and are
 * released when any descriptor of the file is closed.  Waiting for a lock blocks in the kernel,
 * because a lock is held only during file accesses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fdfile.h"
#include "store/store.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>

static int lock_with(int fd, int command, short type, tutti_off lo, tutti_off hi) {
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = lo, .l_len = hi - lo};
    int failed;
    do failed = fcntl(fd, command, &l);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

static short type_of(int kind) {
    if (kind == 0) return F_UNLCK;
    return kind == TUTTI_STORE_WRITE ? F_WRLCK : F_RDLCK;
}

tutti_err tutti__fdfile_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi) {
    const int fd = ((tutti__fdfile *)s)->fd;
    if (lo >= hi) return TUTTI_OK;
    tutti__store_stats(s)->system_calls++;
    int code = lock_with(fd, F_OFD_SETLKW, type_of(kind), lo, hi);
    if (code == EINVAL) code = lock_with(fd, F_SETLKW, type_of(kind), lo, hi);
    if (code == 0) return TUTTI_OK;
    if (code == ENOLCK || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL)
        return tutti__error_set(TUTTI_ERR_UNSUPPORTED, code, lo,
                                "file system does not support locks (atomic mode)");
    return tutti__error_sys(code, lo, "lock");
}
