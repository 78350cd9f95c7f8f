/* timestep: the lock that prevents a second writer of an object.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WRITER_LOCK_H
#define TUTTI_WRITER_LOCK_H

#include "base/memory.h"

/* Bytes of an open file that a writer locks, and the object that it writes. */
typedef struct tutti__writer_lock {
    const char *path; /* path of the object, for messages */
    int fd;
    tutti_off start, bytes; /* locked bytes; `bytes` 0: to the end of the file */
    int is_optional; /* continue without the lock if the file system does not support locks */
} tutti__writer_lock;

/* Acquire the lock.  It is an open file description lock: it is released when all duplicates of the
 * descriptor are closed.   Not collective.
 * @return TUTTI_ERR_STATE if another writer holds it, TUTTI_ERR_UNSUPPORTED if the file system has
 *     no locks */
tutti_err tutti__writer_lock_acquire(const tutti__writer_lock *lock) TUTTI_MUST_USE;

#endif
