/* timestep: the lock of a writer (writer_lock.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/writer_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

tutti_err tutti__writer_lock_acquire(const tutti__writer_lock *lock) {
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)lock->start,
                          .l_len = (off_t)lock->bytes};
    if (fcntl(lock->fd, F_OFD_SETLK, &range) == 0) return TUTTI_OK;
    const int why = errno;
    TUTTI_CHECK(why != EAGAIN && why != EACCES, TUTTI_ERR_STATE,
                "another program has '%s' open for writing", lock->path);
    if (lock->is_optional) return TUTTI_OK;
    TUTTI_FAIL(
        TUTTI_ERR_UNSUPPORTED,
        "the file system of '%s' has no locks (%s); option without_locks continues without locks",
        lock->path, strerror(why));
}
